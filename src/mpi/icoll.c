/* SPDX-License-Identifier: BSD-3-Clause
 *
 * icoll.c - requests of nonblocking and persistent collectives (MPI-3.1, 5.12; MPI-4.0, 6.13). They
 * are over when their schedule is, which the schedule notes in the engine's request. So code that
 * completes requests need not know more.
 */
#include "mpi/icoll.h"

#include <stdio.h>

FT_STATE(struct ft_comm *, ft_coll_listener);
FT_STATE(int, ft_coll_has_heard);

static void mismatched(uint32_t ctx, int blocking, const char *what)
{
    struct ft_comm *c = blocking ? ft_coll_listener : ft_comm_of_context(ctx);
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    if (c && c->ctx.id == ctx && HOST(Comm_get_errhandler)(c->handle, &handler) == MPI_SUCCESS &&
        handler != MPI_ERRORS_ARE_FATAL) {
        HOST(Errhandler_free)(&handler);
        ft_coll_has_heard |= blocking;
        return;
    }
    char text[300];
    snprintf(text, sizeof text,
             "MPI_ERR_TRUNCATE (MPI_ERRORS_ARE_FATAL): %s. The members passed counts or types that "
             "do not match",
             what);
    ft_runtime_abort(MPI_ERR_TRUNCATE, text);
}

void ft_coll_listen(void) { ft_coll_mismatched = mismatched; }

void ft_coll_listen_reset(void)
{
    ft_coll_listener = NULL;
    ft_coll_has_heard = 0;
}

int ft_coll_raise(struct ft_comm *c, const char *call)
{
    ft_coll_has_heard = 0;
    return ft_error(c->handle, MPI_ERR_TRUNCATE, call);
}

struct ft_request *ft_icoll_begin(struct ft_comm *c, const char *name, const char *call)
{
    int tag = ft_sched_tag(c->ctx.id);
    struct ft_request *q = ft_request_get();

    if (FT_UNLIKELY(!q)) {
        ft_error(c->handle, MPI_ERR_NO_MEM, call);
        return NULL;
    }
    q->is_recv = 0;
    q->peer = 0;
    q->comm = c;
    c->refs++;
    ft_request_pin(q); /* types and operations stay alive */
    q->sched = ft_sched_new(name, c->ctx.id, tag);
    return q;
}

void ft_icoll_start(struct ft_request *q)
{
    FT_ASSERT(q->in_use && !q->active);
    q->active = 1;
    ft_msg_active++;
    /* a process that waits for it is rung, as for a receive */
    q->r = (struct ft_req){.is_recv = 1};
    ft_sched_start(q->sched, &q->r.state);
}

int ft_icoll_commit(struct ft_request *q, int code, int persistent, MPI_Request *request)
{
    if (FT_UNLIKELY(code != MPI_SUCCESS)) {
        ft_request_put(q);
        return code;
    }
    q->persistent = (uint8_t)persistent;
    q->in_body = (uint8_t)ft_runtime_in_body();
    *request = (MPI_Request)(void *)q;
    if (persistent)
        return MPI_SUCCESS;
    /* Over or not, its memory is freed when the program completes it: that comes at the same call in
     * a replay (heap.c), and whether it is over now depends on what has come. */
    ft_icoll_start(q);
    return MPI_SUCCESS;
}

/* ---- staging as steps ---- */
struct staged {
    struct ft_type type;
    void *user, *packed;
    size_t n; /* pack: elements; unpack: bytes */
};

static void pack(void *arg)
{
    const struct staged *g = arg;
    ft_pack(&g->type, g->user, g->n, g->packed);
}

static void unpack(void *arg)
{
    const struct staged *g = arg;
    ft_unpack(&g->type, g->packed, g->n, g->user);
}

static void stage_step(struct ft_sched *s, void (*fn)(void *arg), struct staged g)
{
    struct staged *own = ft_sched_memory(s, sizeof *own);
    if (g.n == 0)
        return;
    *own = g;
    ft_sched_call(s, fn, own);
}

void ft_stage_pack_step(struct ft_sched *s, const struct ft_type *t, const void *buf, size_t count,
                        void *out)
{
    stage_step(s, pack, (struct staged){*t, (void *)(uintptr_t)buf, out, count});
}

void ft_stage_unpack_step(struct ft_sched *s, const struct ft_type *t, const void *in, size_t bytes,
                          void *buf)
{
    stage_step(s, unpack, (struct staged){*t, buf, (void *)(uintptr_t)in, bytes});
}
