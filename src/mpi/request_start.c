/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_start.c - nonblocking sends and receives (MPI-3.1, 3.7) and persistent ones (3.9): both
 * are a request made and started.
 */
#include "base/offheap.h"
#include "mpi/icoll.h"

struct ft_request *ft_request_make(struct ft_comm *c, int is_recv, void *buf, int count,
                                   const struct ft_type *t, int peer, int tag)
{
    struct ft_request *q = ft_request_get();

    if (!q)
        return NULL;
    q->is_recv = (uint8_t)is_recv;
    q->buf = buf;
    q->count = count;
    q->type = t->handle;
    q->peer = peer;
    q->tag = tag;
    q->comm = c;
    c->refs++;
    /* what is sent is packed when it starts, and needs its type no longer */
    if (is_recv && !t->contiguous)
        ft_request_pin(q);
    return q;
}

/* Makes the request active. Returns the address of its contiguous bytes; NULL: no memory. */
static void *activate(struct ft_request *q, const struct ft_type *t, size_t bytes)
{
    void *data = q->buf;

    FT_ASSERT(q->in_use && !q->active);
    if (!t->contiguous && bytes > 0) {
        q->packed = data = ft_offheap_try(bytes);
        if (!data)
            return NULL;
        if (!q->is_recv)
            ft_pack(t, q->buf, (size_t)q->count, data);
    }
    q->active = 1;
    ft_msg_active++;
    return data ? data : q; /* an empty buffer may be NULL */
}

enum ft_status ft_request_start_taken(struct ft_request *q, const struct ft_type *t,
                                      struct ft_inmsg *taken)
{
    size_t bytes = (size_t)q->count * t->size;
    void *data = activate(q, t, bytes);

    if (!data)
        return FT_ERR_NOMEM;
    ft_msg_mrecv(&q->r, taken, q->comm->ctx.world[q->peer], data, bytes);
    return FT_OK;
}

enum ft_status ft_request_start(struct ft_request *q, const struct ft_type *t)
{
    size_t bytes = (size_t)q->count * t->size;
    void *data = activate(q, t, bytes);

    if (!data)
        return FT_ERR_NOMEM;
    if (q->is_recv)
        ft_msg_irecv(&q->r, q->comm->ctx.id, ft_world_source(q->comm, q->peer),
                     ft_engine_tag(q->tag), data, bytes);
    else if (FT_UNLIKELY(q->mode == FT_SEND_BUFFERED))
        ft_msg_ibsend(&q->r, q->comm->ctx.id, q->comm->ctx.world[q->peer], q->tag, data, bytes);
    else if (FT_LIKELY(q->mode != FT_SEND_SYNC))
        ft_msg_isend(&q->r, q->comm->ctx.id, q->comm->ctx.world[q->peer], q->tag, data, bytes);
    else
        ft_msg_issend(&q->r, q->comm->ctx.id, q->comm->ctx.world[q->peer], q->tag, data, bytes);
    return FT_OK;
}

static inline struct ft_request *with_mode(struct ft_request *q, enum ft_send_mode mode)
{
    if (FT_LIKELY(q != NULL))
        q->mode = (uint8_t)mode;
    return q;
}

int ft_request_start_new(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                         const char *call)
{
    if (FT_UNLIKELY(!q))
        return ft_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, call);
    if (FT_UNLIKELY(ft_request_start(q, t) != FT_OK)) {
        MPI_Comm comm = q->comm->handle;
        ft_request_put(q);
        return ft_error(comm, MPI_ERR_NO_MEM, call);
    }
    if (!q->is_recv && ft_msg_done(&q->r)) { /* the usual case: the message is in the log already */
        ft_request_settle(q);
        ft_request_put(q);
        *request = FT_REQUEST_DONE;
    } else {
        *request = (MPI_Request)(void *)q;
    }
    return MPI_SUCCESS;
}

static inline int isend(struct ft_comm *c, const void *buf, int count, MPI_Datatype type, int dest,
                        int tag, MPI_Request *request, enum ft_send_mode mode, const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_send(c, count, t, dest, tag);

    if (FT_UNLIKELY(code))
        return ft_error(c->handle, code, call);
    if (FT_UNLIKELY(dest == MPI_PROC_NULL)) {
        *request = FT_REQUEST_DONE;
        return MPI_SUCCESS;
    }
    if (FT_LIKELY(mode == FT_SEND_STANDARD && t->contiguous) &&
        FT_LIKELY(
            ft_msg_send_short(c->ctx.id, c->ctx.world[dest], tag, buf, (size_t)count * t->size))) {
        *request = FT_REQUEST_DONE;
        return MPI_SUCCESS;
    }
    return ft_request_start_new(
        with_mode(ft_request_make(c, 0, (void *)buf, count, t, dest, tag), mode), t, request, call);
}

#define START_SEND(X, mode)                                                                  \
    FT_MPI(int, X,                                                                           \
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
            MPI_Request *request))                                                           \
    {                                                                                        \
        ft_door();                                                                           \
        struct ft_comm *c = ft_comm_of(comm);                                                \
        FT_COMM_OR_HOST(c, comm, X, (buf, count, type, dest, tag, comm, request));           \
        return isend(c, buf, count, type, dest, tag, request, mode, "MPI_" #X);              \
    }
START_SEND(Isend, FT_SEND_STANDARD)
START_SEND(Irsend, FT_SEND_STANDARD)
START_SEND(Issend, FT_SEND_SYNC)

FT_MPI(int, Irecv,
       (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
        MPI_Request *request))
{
    struct ft_type store;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Irecv, (buf, count, type, source, tag, comm, request));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_recv(c, count, t, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Irecv");
    if (FT_UNLIKELY(source == MPI_PROC_NULL)) {
        *request = FT_REQUEST_NULL_RECV;
        return MPI_SUCCESS;
    }
    return ft_request_start_new(ft_request_make(c, 1, buf, count, t, source, tag), t, request,
                                "MPI_Irecv");
}

#ifdef FT_HOST_HAS_MPI4
/* ---- both halves of an exchange at once (MPI-4.0, 3.10) ---- */
/* The send does not wait for anybody. It goes first, so both buffers may be the same. */
static int exchange(struct ft_comm *c, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                    int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Request *request, const char *call)
{
    struct ft_type sstore, rstore;
    const struct ft_type *st = ft_type_of(sendtype, &sstore), *rt = ft_type_of(recvtype, &rstore);
    int code = ft_check_send(c, sendcount, st, dest, sendtag);

    if (!code)
        code = ft_check_recv(c, recvcount, rt, source, recvtag);
    if (!code && dest != MPI_PROC_NULL)
        code = ft_send_away(c, sendbuf, sendcount, st, dest, sendtag);
    FT_CHECK(!code, c->handle, code, call);
    if (source == MPI_PROC_NULL) {
        *request = FT_REQUEST_NULL_RECV;
        return MPI_SUCCESS;
    }
    return ft_request_start_new(ft_request_make(c, 1, recvbuf, recvcount, rt, source, recvtag), rt,
                                request, call);
}

FT_MPI(int, Isendrecv,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
        void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
        MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Isendrecv,
                    (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                     source, recvtag, comm, request));
    return exchange(c, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                    source, recvtag, request, "MPI_Isendrecv");
}

FT_MPI(int, Isendrecv_replace,
       (void *buf, int count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
        MPI_Comm comm, MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Isendrecv_replace,
                    (buf, count, type, dest, sendtag, source, recvtag, comm, request));
    return exchange(c, buf, count, type, dest, sendtag, buf, count, type, source, recvtag, request,
                    "MPI_Isendrecv_replace");
}
#endif

/* ---- persistent requests ---- */
int ft_request_persist(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                       const char *call)
{
    if (!q)
        return ft_error(MPI_COMM_WORLD, MPI_ERR_NO_MEM, call);
    if (!q->pinned && !t->predefined)
        ft_request_pin(q);
    q->persistent = 1;
    q->in_body = (uint8_t)ft_runtime_in_body();
    *request = (MPI_Request)(void *)q;
    return MPI_SUCCESS;
}

static int send_init(struct ft_comm *c, const void *buf, int count, MPI_Datatype type, int dest,
                     int tag, MPI_Request *request, enum ft_send_mode mode, const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_send(c, count, t, dest, tag);

    if (code)
        return ft_error(c->handle, code, call);
    return ft_request_persist(
        with_mode(ft_request_make(c, 0, (void *)buf, count, t, dest, tag), mode), t, request, call);
}

#define SEND_INIT(X, mode)                                                                   \
    FT_MPI(int, X,                                                                           \
           (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
            MPI_Request *request))                                                           \
    {                                                                                        \
        struct ft_comm *c = ft_comm_of(comm);                                                \
        FT_COMM_OR_HOST(c, comm, X, (buf, count, type, dest, tag, comm, request));           \
        return send_init(c, buf, count, type, dest, tag, request, mode, "MPI_" #X);          \
    }
SEND_INIT(Send_init, FT_SEND_STANDARD)
SEND_INIT(Rsend_init, FT_SEND_STANDARD)
SEND_INIT(Ssend_init, FT_SEND_SYNC)
SEND_INIT(Bsend_init, FT_SEND_BUFFERED)

FT_MPI(int, Recv_init,
       (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
        MPI_Request *request))
{
    struct ft_type store;
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Recv_init, (buf, count, type, source, tag, comm, request));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = ft_check_recv(c, count, t, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Recv_init");
    return ft_request_persist(ft_request_make(c, 1, buf, count, t, source, tag), t, request,
                              "MPI_Recv_init");
}

static int done_at_once(struct ft_request *q)
{
    q->active = 1;
    ft_msg_active++;
    q->r.state = FT_REQ_DONE;
    q->r.status = (struct ft_msg_status){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG};
    return MPI_SUCCESS;
}

static int start(MPI_Request *request, const char *call)
{
    struct ft_type store;
    struct ft_request *q = ft_request_of(*request);
    const struct ft_type *t;

    if (!q || !q->in_use || !q->persistent || q->active)
        return ft_error(MPI_COMM_WORLD, MPI_ERR_REQUEST, call);
    if (q->part) {
        ft_partitioned_start(q);
        return MPI_SUCCESS;
    }
    if (q->sched) {
        ft_icoll_start(q);
        return MPI_SUCCESS;
    }
    if (q->peer == MPI_PROC_NULL)
        return done_at_once(q);
    t = ft_type_of(q->type, &store);
    if (q->mode == FT_SEND_BUFFERED) {
        int code = t ? ft_bsend(q->comm, q->buf, q->count, t, q->peer, q->tag) : MPI_ERR_TYPE;
        return code ? ft_error(q->comm->handle, code, call) : done_at_once(q);
    }
    if (!t || ft_request_start(q, t) != FT_OK)
        return ft_error(q->comm->handle, MPI_ERR_NO_MEM, call);
    return MPI_SUCCESS;
}

FT_MPI(int, Start, (MPI_Request * request))
{
    ft_door();
    if (!ft_request_of(*request))
        return HOST(Start)(request);
    return start(request, "MPI_Start");
}

FT_MPI(int, Startall, (int count, MPI_Request *requests))
{
    int code = MPI_SUCCESS;
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Startall");
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = ft_request_of(requests[i]) ? start(&requests[i], "MPI_Startall")
                                          : HOST(Start)(&requests[i]);
    return code;
}
