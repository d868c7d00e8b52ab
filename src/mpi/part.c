/* SPDX-License-Identifier: BSD-3-Clause
 *
 * part.c - partitioned communication (MPI-4.0, 4.2), where the host's header has it.
 *
 * Each pair of a send and a receive has a lane: a context and tag of its own. On it each partition
 * that the sender marks ready is one message, or two: its place, and its bytes. They are sent in
 * the calls that mark them ready, so their order is the program's. The receiver takes them as they
 * come, by a schedule that only receives (coll/sched.h), so no note is needed. The result of
 * MPI_Parrived depends on timing and is an outcome.
 *
 *     MPI_Pready(2)  MPI_Pready(0)                     sender's partitions
 *     [at 2n|bytes]  [at 0|bytes]   ...   ->           the lane: in order, since nothing else goes
 * there missing[]    receiver's partitions: bytes that have not come yet
 *
 * Lanes are matched without messages: both sides count the requests made for a tag, in order
 * (ft_sched_nth), and the number becomes a part of the engine's tag. So no binding must be kept in
 * an image. The two sides need not have the same partitions; only the total number of bytes must be
 * equal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/icoll.h"
#include "mpi/outcome.h"

#ifdef FT_HOST_HAS_MPI4 /* else: part_none.c */
#define SHORT 480       /* bytes of a partition that are sent with the head */
/* Requests made in sequence with one tag use this many different lanes, then the first again: */
#define SMALL_TAG (1 << 20)
#define LANES 1024 /* of a small tag; a larger tag has one lane */

struct partition_head {
    uint64_t at, bytes; /* of this partition, packed */
    uint64_t total;
    uint64_t of; /* total of all partitions */
};
struct message {
    struct partition_head head;
    char data[SHORT];
};

struct ft_partitioned {
    struct ft_partitioned *next, *prev; /* list of all */
    struct ft_comm *comm;
    int sends, tag, peer; /* the engine's tag; world rank */
    int n;                /* partitions */
    size_t count, bytes;  /* of one partition: elements, bytes when packed */
    struct ft_type type;
    char *user, *packed; /* equal if the type is contiguous */
    /* a send */
    struct message *out; /* [n]; or [n] heads only */
    struct ft_req *sent; /* [2 n] in order of sending */
    uint8_t *ready;      /* [n] */
    int left;            /* not marked ready yet */
    size_t nsent, nover; /* numbers in sent[]: begun; known to be over, a prefix */
    /* a receive */
    struct message in;
    struct ft_req r;
    int awaits_data; /* r receives the bytes of in.head; else it receives a head */
    uint64_t came;   /* partitions of the sender that have arrived */
    size_t *missing; /* [n] */
};

FT_STATIC(struct ft_partitioned *, partitioned); /* all, in a list */
#define partitioned FT_MY(partitioned)

static uint32_t context(const struct ft_partitioned *p)
{
    return p->comm->ctx.id | FT_CTX_PART | FT_CTX_COLL;
}

/* ---- the receiver ---- */
static void await_head(struct ft_partitioned *p)
{
    p->awaits_data = 0;
    ft_msg_irecv(&p->r, context(p), p->peer, p->tag, &p->in, sizeof p->in);
}

static void wrong(const struct ft_partitioned *p)
{
    char what[160];
    snprintf(what, sizeof what,
             "a partitioned receive has %zu bytes in all its partitions, and rank %d of "
             "MPI_COMM_WORLD sends %llu",
             (size_t)p->n * p->bytes, p->peer, (unsigned long long)p->in.head.total);
    ft_coll_give_up(what);
}

/* Bytes [at, at + n) of the data are in place. */
static void landed(struct ft_partitioned *p, size_t at, size_t n)
{
    for (size_t end = at + n; at < end;) {
        size_t i = at / p->bytes, here = (i + 1) * p->bytes - at;
        if (here > end - at)
            here = end - at;
        p->missing[i] -= here;
        if (p->missing[i] == 0 && p->packed != p->user)
            ft_unpack(&p->type, p->packed + i * p->bytes, p->bytes,
                      p->user + (ptrdiff_t)(i * p->count) * p->type.extent);
        at += here;
    }
    p->came++;
}

/* Processes what p->r has received. */
static void take(struct ft_partitioned *p)
{
    const struct partition_head *h = &p->in.head;
    size_t got = p->r.status.bytes;

    if (!p->awaits_data) {
        if (p->r.status.error != FT_OK || got < sizeof *h ||
            h->total != (uint64_t)p->n * p->bytes || h->bytes > h->total ||
            h->at > h->total - h->bytes) /* not a sum, which could overflow */
            wrong(p);
        got -= sizeof *h;
        if (got == 0 && h->bytes > 0) {
            p->awaits_data = 1;
            ft_msg_irecv(&p->r, context(p), p->peer, p->tag, p->packed + h->at, h->bytes);
            return;
        }
        if (got != h->bytes) /* before it is copied: it could be more than there is room for */
            wrong(p);
        if (got > 0)
            memcpy(p->packed + h->at, p->in.data, got);
    } else if (got != h->bytes) {
        wrong(p);
    }
    landed(p, h->at, h->bytes);
    if (p->came < h->of)
        await_head(p);
}

static int receive(void *arg)
{
    struct ft_request *q = arg;
    struct ft_partitioned *p = q->part;
    int moved = 0;

    while (ft_msg_done(&p->r)) {
        moved = FT_POLL_MOVED;
        take(p);
        if (p->came > 0 && p->came == p->in.head.of) {
            q->r.status = (struct ft_msg_status){
                .source = p->peer, .tag = q->tag, .bytes = (size_t)p->n * p->bytes};
            return FT_POLL_OVER | moved;
        }
    }
    return moved;
}

static int has_arrived(const struct ft_request *q, int partition)
{
    return ft_msg_done(&q->r) || (q->part->bytes > 0 && q->part->missing[partition] == 0);
}

/* Whether this partition is there, or was when the lost process made this call. */
static int arrived(struct ft_request *q, int partition)
{
    struct ft_waiter w = FT_WAITER_INIT;

    switch (ft_outcome_flag()) {
    case FT_OUTCOME_KNOWN:
        while (!has_arrived(q, partition))
            ft_wait(&w);
        ft_wait_end(&w);
        return 1;
    case FT_OUTCOME_NONE: return 0;
    case FT_OUTCOME_OPEN: break;
    }
    if (!has_arrived(q, partition))
        ft_sched_progress();
    if (!has_arrived(q, partition))
        return 0;
    ft_outcome_note_flag();
    return 1;
}

/* ---- the sender ---- */
/* All partitions are marked ready, and some wait for room in the log. */
static int rest_is_sent(void *arg)
{
    const struct ft_request *q = arg;
    struct ft_partitioned *p = q->part;

    while (p->nover < p->nsent && ft_msg_done(&p->sent[p->nover]))
        p->nover++;
    return p->nover == p->nsent ? FT_POLL_OVER : FT_POLL_UNRUNG;
}

static void send_bytes(struct ft_partitioned *p, const void *buf, size_t bytes)
{
    struct ft_req *r = &p->sent[p->nsent++];
    ft_msg_isend(r, context(p), p->peer, p->tag, buf, bytes);
}

static void send_partition(struct ft_partitioned *p, int i)
{
    int is_short = p->bytes <= SHORT;
    struct partition_head *h =
        is_short ? &p->out[i].head : (struct partition_head *)(void *)p->out + i;
    char *data = p->packed + (size_t)i * p->bytes;

    if (p->packed != p->user)
        ft_pack(&p->type, p->user + (ptrdiff_t)((size_t)i * p->count) * p->type.extent, p->count,
                data);
    *h = (struct partition_head){.at = (size_t)i * p->bytes,
                                 .bytes = p->bytes,
                                 .total = (size_t)p->n * p->bytes,
                                 .of = (uint64_t)p->n};
    if (is_short && p->bytes > 0)
        memcpy(p->out[i].data, data, p->bytes);
    send_bytes(p, h, sizeof *h + (is_short ? p->bytes : 0));
    if (!is_short)
        send_bytes(p, data, p->bytes);
}

static int mark(struct ft_request *q, int partition)
{
    struct ft_partitioned *p = q->part;

    if (partition < 0 || partition >= p->n || p->ready[partition])
        return MPI_ERR_ARG;
    p->ready[partition] = 1;
    send_partition(p, partition);
    if (--p->left == 0) {
        if (rest_is_sent(q) & FT_POLL_OVER)
            q->r.state = FT_REQ_DONE;
        else
            ft_sched_start(q->sched, &q->r.state);
    }
    return MPI_SUCCESS;
}

/* ---- making, starting, freeing ---- */
void ft_partitioned_start(struct ft_request *q)
{
    struct ft_partitioned *p = q->part;

    if (!p->sends) {
        for (int i = 0; i < p->n; i++)
            p->missing[i] = p->bytes;
        p->came = 0;
        await_head(p);
        ft_icoll_start(q);
        return;
    }
    memset(p->ready, 0, (size_t)p->n);
    p->left = p->n;
    p->nsent = p->nover = 0;
    q->active = 1;
    ft_msg_active++;
    q->r = (struct ft_req){.state = FT_REQ_ACTIVE, .is_recv = 1};
}

/* Chooses the next lane for this tag. Returns 0 if it is still in use. */
static int choose_lane(struct ft_partitioned *p, int tag)
{
    uint32_t nth = ft_sched_nth(p->comm->ctx.id | FT_CTX_PART, 2 * p->peer + p->sends, tag);

    p->tag = tag < SMALL_TAG ? INT32_MIN + (int)(nth % LANES) * SMALL_TAG + tag : tag;
    for (const struct ft_partitioned *o = partitioned; o; o = o->next)
        if (o->comm == p->comm && o->peer == p->peer && o->sends == p->sends && o->tag == p->tag)
            return 0;
    return 1;
}

/* Memory is the schedule's. */
static void make_room(struct ft_partitioned *p, struct ft_sched *s)
{
    size_t n = (size_t)p->n;

    p->packed = p->type.contiguous ? p->user : ft_sched_memory(s, n * p->bytes);
    if (p->sends) {
        p->out = ft_sched_memory(s, n * (p->bytes <= SHORT ? sizeof *p->out : sizeof p->out->head));
        p->sent = ft_sched_memory(s, 2 * n * sizeof *p->sent);
        p->ready = ft_sched_memory(s, n);
    } else {
        p->missing = ft_sched_memory(s, n * sizeof *p->missing);
    }
}

static int make(struct ft_comm *c, int sends, const void *buf, int n, MPI_Count count,
                MPI_Datatype type, int peer, int tag, MPI_Request *request, const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = n < 0 || count < 0
                   ? MPI_ERR_COUNT
                   : ft_check_send(c, 0, t, peer, tag); /* a receive allows no wildcards either */
    size_t bytes, total;

    if (!code && (__builtin_mul_overflow((size_t)count, t->size, &bytes) ||
                  __builtin_mul_overflow(bytes, (size_t)n, &total)))
        code = MPI_ERR_COUNT;
    FT_CHECK(!code, c->handle, code, call);
    ft_door_unattended();
    struct ft_request *q = ft_request_get();
    FT_CHECK(q, c->handle, MPI_ERR_NO_MEM, call);
    q->is_recv = (uint8_t)!sends;
    q->peer = peer;
    q->tag = tag;
    q->type = type;
    q->comm = c;
    c->refs++;
    if (peer == MPI_PROC_NULL || n == 0) {
        q->peer = MPI_PROC_NULL;
        return ft_request_persist(q, t, request, call);
    }
    q->sched = ft_sched_new("partitioned communication", c->ctx.id | FT_CTX_PART, tag);
    struct ft_partitioned *p = ft_sched_memory(q->sched, sizeof *p);
    *p = (struct ft_partitioned){.comm = c,
                                 .sends = sends,
                                 .peer = c->ctx.world[peer],
                                 .n = n,
                                 .count = (size_t)count,
                                 .bytes = bytes,
                                 .type = *t,
                                 .user = (char *)(uintptr_t)buf};
    if (!choose_lane(p, tag)) {
        ft_request_put(q);
        return ft_error(c->handle, MPI_ERR_TAG, call);
    }
    make_room(p, q->sched);
    ft_sched_poll(q->sched, sends ? rest_is_sent : receive, q);
    q->part = p;
    p->next = partitioned;
    p->prev = NULL;
    if (partitioned)
        partitioned->prev = p;
    partitioned = p;
    return ft_request_persist(q, t, request, call);
}

void ft_partitioned_free(struct ft_request *q)
{
    struct ft_partitioned *p = q->part;

    if (!p)
        return;
    *(p->prev ? &p->prev->next : &partitioned) = p->next;
    if (p->next)
        p->next->prev = p->prev;
    q->part = NULL;
}

FT_MPI(int, Psend_init,
       (const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
        MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Psend_init,
                    (buf, partitions, count, type, dest, tag, comm, info, request));
    return make(c, 1, buf, partitions, count, type, dest, tag, request, "MPI_Psend_init");
}

FT_MPI(int, Precv_init,
       (void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
        MPI_Comm comm, MPI_Info info, MPI_Request *request))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Precv_init,
                    (buf, partitions, count, type, source, tag, comm, info, request));
    return make(c, 0, buf, partitions, count, type, source, tag, request, "MPI_Precv_init");
}

/* Returns the request if partitions of it can be marked ready. NULL: see *code, which is
 * MPI_SUCCESS if there is nobody to send to. */
static struct ft_request *sender_of(MPI_Request request, int *code, const char *call)
{
    struct ft_request *q = ft_request_of(request);

    *code = MPI_SUCCESS;
    if (q && q->in_use && q->active && q->persistent && !q->is_recv &&
        (q->part || (q->peer == MPI_PROC_NULL && !q->sched)))
        return q->part ? q : NULL;
    *code = ft_error(q && q->in_use && q->comm ? q->comm->handle : MPI_COMM_WORLD, MPI_ERR_REQUEST,
                     call);
    return NULL;
}

FT_MPI(int, Pready, (int partition, MPI_Request request))
{
    int code;

    if (!ft_mpi_up)
        return HOST(Pready)(partition, request);
    ft_door();
    struct ft_request *q = sender_of(request, &code, "MPI_Pready");
    if (!q || (code = mark(q, partition)) == MPI_SUCCESS)
        return code;
    return ft_error(q->comm->handle, code, "MPI_Pready");
}

FT_MPI(int, Pready_range, (int low, int high, MPI_Request request))
{
    int code;

    if (!ft_mpi_up)
        return HOST(Pready_range)(low, high, request);
    ft_door();
    struct ft_request *q = sender_of(request, &code, "MPI_Pready_range");
    if (!q)
        return code;
    for (int i = low; i <= high && !code; i++)
        code = mark(q, i);
    return code ? ft_error(q->comm->handle, code, "MPI_Pready_range") : MPI_SUCCESS;
}

FT_MPI(int, Pready_list, (int length, int list[], MPI_Request request))
{
    int code;

    if (!ft_mpi_up)
        return HOST(Pready_list)(length, list, request);
    ft_door();
    struct ft_request *q = sender_of(request, &code, "MPI_Pready_list");
    if (!q)
        return code;
    for (int i = 0; i < length && !code; i++)
        code = mark(q, list[i]);
    return code ? ft_error(q->comm->handle, code, "MPI_Pready_list") : MPI_SUCCESS;
}

FT_MPI(int, Parrived, (MPI_Request request, int partition, int *flag))
{
    struct ft_request *q = ft_request_of(request);

    if (!ft_mpi_up || (!q && request != MPI_REQUEST_NULL))
        return HOST(Parrived)(request, partition, flag);
    ft_door();
    if (!q || !q->active || (q->is_recv && q->peer == MPI_PROC_NULL)) {
        *flag = 1; /* also a null or inactive request */
        return MPI_SUCCESS;
    }
    FT_CHECK(q->part && q->is_recv, q->comm->handle, MPI_ERR_REQUEST, "MPI_Parrived");
    FT_CHECK(partition >= 0 && partition < q->part->n, q->comm->handle, MPI_ERR_ARG,
             "MPI_Parrived");
    *flag = arrived(q, partition);
    ft_outcome_polled(*flag);
    return MPI_SUCCESS;
}
#endif
