/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_reduce.c - reductions and scans (MPI-3.1, 5.9 to 5.11).
 *
 * Elements of contiguous types go to the engine in place. Others (pairs with holes, derived types
 * with user-defined operations) are laid out in scratch memory as in the buffer, `stride` bytes
 * apart, since the operation expects that. The holes are moved too, but only the type's own bytes
 * are written back.
 */
#include <string.h>

#include "alog/log.h"
#include "coll/isched.h"
#include "mpi/coll_inter.h"

static void *element(const struct ft_op *o, const void *buf, size_t i)
{
    return (void *)((uintptr_t)buf + (uintptr_t)((ptrdiff_t)i * o->type.extent));
}

static void spread(const struct ft_op *o, const void *buf, size_t count, char *staged)
{
    memset(staged, 0, count * o->stride);
    for (size_t i = 0; i < count; i++)
        memcpy(staged + i * o->stride, (char *)element(o, buf, i) + o->type.true_lb,
               (size_t)o->type.true_extent);
    if (FT_UNLIKELY(ft_check_data) && o->reducer.clear)
        o->reducer.clear(o, staged, count);
}

static void write_back(const struct ft_op *o, const void *staged, size_t count, void *buf)
{
    char *bytes = ft_scratch(FT_SCRATCH_ELEMENT, o->type.size);
    for (size_t i = 0; i < count; i++) {
        ft_pack(&o->type,
                (const void *)((uintptr_t)staged + i * o->stride - (uintptr_t)o->type.true_lb), 1,
                bytes);
        ft_unpack(&o->type, bytes, o->type.size, element(o, buf, i));
    }
}

/* The same as a step of a schedule. */
struct staged_result {
    const struct ft_op *o;
    void *buf, *staged;
    size_t count;
};

static void spread_step(void *arg)
{
    const struct staged_result *g = arg;
    spread(g->o, g->buf, g->count, g->staged);
}

static void write_back_step(void *arg)
{
    const struct staged_result *g = arg;
    write_back(g->o, g->staged, g->count, g->buf);
}

static struct staged_result *keep(struct ft_sched *s, struct staged_result g)
{
    struct staged_result *own = ft_sched_memory(s, sizeof *own);
    *own = g;
    return own;
}

/* An operation that lives as long as the schedule needs it. */
static const struct ft_op *op_of(struct ft_sched *s, MPI_Op op, const struct ft_type *t,
                                 struct ft_op *store)
{
    struct ft_op *o = s ? ft_sched_memory(s, sizeof *o) : store;
    ft_op_init(o, op, t);
    if (s && !o->type.contiguous) /* now: when its last step runs depends on what comes (heap.c) */
        (void)ft_scratch(FT_SCRATCH_ELEMENT, ft_max_u64(o->type.size, o->stride));
    return o;
}

static const void *stage_out(struct ft_sched *s, const struct ft_op *o, const void *buf,
                             size_t count)
{
    if (FT_LIKELY(o->type.contiguous))
        return buf;
    char *staged = ft_stage_memory(s, FT_SCRATCH_REDUCE_IN, count * o->stride);
    if (s)
        ft_sched_call(s, spread_step,
                      keep(s, (struct staged_result){o, (void *)(uintptr_t)buf, staged, count}));
    else
        spread(o, buf, count, staged);
    return staged;
}

static void *stage_in(struct ft_sched *s, const struct ft_op *o, void *buf, size_t count)
{
    return FT_LIKELY(o->type.contiguous)
               ? buf
               : ft_stage_memory(s, FT_SCRATCH_REDUCE_OUT, count * o->stride);
}

static void stage_in_done(struct ft_sched *s, const struct ft_op *o, void *staged, size_t count,
                          void *buf)
{
    if (FT_LIKELY(o->type.contiguous))
        return;
    ft_stage_arrived(s);
    if (s)
        ft_sched_call(s, write_back_step, keep(s, (struct staged_result){o, buf, staged, count}));
    else
        write_back(o, staged, count, buf);
}

static int check(int count, const struct ft_type *t, MPI_Op op)
{
    return !t                  ? MPI_ERR_TYPE
           : count < 0         ? MPI_ERR_COUNT
           : op == MPI_OP_NULL ? MPI_ERR_OP
                               : MPI_SUCCESS;
}

/* Memory for the result at rank 0 of this process's group in an intercommunicator. */
static void *room_at_first(const struct ft_comm *c, struct ft_sched *s, size_t bytes,
                           enum ft_scratch_use use)
{
    return c->local.rank == 0 ? ft_stage_memory(s, use, bytes) : NULL;
}

static inline int reduce(struct ft_comm *c, const void *sendbuf, void *recvbuf, int count,
                         MPI_Datatype type, MPI_Op op, int root, struct ft_sched *s,
                         const char *call)
{
    struct ft_type store;
    struct ft_op opstore;
    const struct ft_type *t = ft_type_of(type, &store);
    struct ft_rooted r;
    int at_root = ft_coll_at_root(c, root), code = ft_coll_rooted(c, root, &r);

    FT_CHECK(!code, c->handle, code, call);
    if (r.idle)
        return MPI_SUCCESS;
    code = check(count, t, op);
    FT_CHECK(!code, c->handle, code, call);
    FT_CHECK((at_root && !c->inter) || sendbuf != MPI_IN_PLACE, c->handle, MPI_ERR_BUFFER, call);
    if (count == 0 || t->size == 0)
        return MPI_SUCCESS;
    const struct ft_op *o = op_of(s, op, t, &opstore);
    const void *in =
        at_root && c->inter
            ? NULL
            : stage_out(s, o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (size_t)count);
    void *out = at_root ? stage_in(s, o, recvbuf, (size_t)count) : NULL;
    if (c->inter)
        ft_coll_reduce_to_root(c, s, &r, in,
                               room_at_first(c, s, (size_t)count * o->stride, FT_SCRATCH_SEND), out,
                               (size_t)count, o->stride, &o->reducer);
    else if (s)
        ft_sched_reduce_to(s, &c->ctx, in, out, (size_t)count, o->stride, &o->reducer, root);
    else
        ft_reduce(&c->ctx, in, out, (size_t)count, o->stride, &o->reducer, root);
    if (at_root)
        stage_in_done(s, o, out, (size_t)count, recvbuf);
    return MPI_SUCCESS;
}

FT_COLL_FORMS(Reduce, reduce, reduce,
              (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root),
              (sendbuf, recvbuf, count, type, op, root))

/* Allreduce, scan and exscan differ only in the engine's function. */
struct engine {
    void (*now)(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
                size_t esize, const struct ft_reducer *op);
    void (*steps)(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                  size_t count, size_t esize, const struct ft_reducer *op);
    int keeps_first; /* the result at rank 0 is undefined: its buffer is not changed */
    int across;      /* there is a form for intercommunicators */
};

/* For an intercommunicator: each member gets the reduction of the other group's operands. */
static void allreduce_across(struct ft_comm *c, struct ft_sched *s, const struct ft_op *o,
                             const void *in, void *out, size_t count)
{
    void *own = room_at_first(c, s, count * o->stride, FT_SCRATCH_SEND);
    ft_coll_reduce_across(c, s, in, own, out, count, o->stride, &o->reducer);
    FT_ENGINE(s, bcast, &c->local, out, count * o->stride, 0);
}

static inline int reduce_to_all(struct ft_comm *c, const void *sendbuf, void *recvbuf, int count,
                                MPI_Datatype type, MPI_Op op, struct engine engine,
                                struct ft_sched *s, const char *call)
{
    struct ft_type store;
    struct ft_op opstore;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = c->inter && !engine.across ? MPI_ERR_COMM : check(count, t, op);

    if (!code && c->inter && sendbuf == MPI_IN_PLACE)
        code = MPI_ERR_BUFFER;
    FT_CHECK(!code, c->handle, code, call);
    if (count == 0 || t->size == 0)
        return MPI_SUCCESS;
    const struct ft_op *o = op_of(s, op, t, &opstore);
    const void *in = stage_out(s, o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (size_t)count);
    void *out = stage_in(s, o, recvbuf, (size_t)count);
    if (c->inter)
        allreduce_across(c, s, o, in, out, (size_t)count);
    else if (s)
        engine.steps(s, &c->ctx, in, out, (size_t)count, o->stride, &o->reducer);
    else
        engine.now(&c->ctx, in, out, (size_t)count, o->stride, &o->reducer);
    if (!engine.keeps_first || c->ctx.rank > 0)
        stage_in_done(s, o, out, (size_t)count, recvbuf);
    return MPI_SUCCESS;
}

#define REDUCE_TO_ALL(X, x, ...)                                                                 \
    static inline int x(struct ft_comm *c, const void *sendbuf, void *recvbuf, int count,        \
                        MPI_Datatype type, MPI_Op op, struct ft_sched *s, const char *call)      \
    {                                                                                            \
        return reduce_to_all(c, sendbuf, recvbuf, count, type, op,                               \
                             (struct engine){ft_##x, ft_sched_##x, __VA_ARGS__}, s, call);       \
    }                                                                                            \
    FT_COLL_FORMS(X, x, x,                                                                       \
                  (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op), \
                  (sendbuf, recvbuf, count, type, op))
REDUCE_TO_ALL(Allreduce, allreduce, 0, 1)
REDUCE_TO_ALL(Scan, scan, 0, 0)
REDUCE_TO_ALL(Exscan, exscan, 1, 0)

/* For an intercommunicator: each member gets its part of the reduction of the other group's
 * operands. lens: in elements, converted to bytes here. */
static void reduce_scatter_across(struct ft_comm *c, struct ft_sched *s, const struct ft_op *o,
                                  const void *in, void *out, size_t *lens, size_t total)
{
    size_t bytes = total * o->stride, at = 0,
           *offs = ft_scratch(FT_SCRATCH_SOFFS, (size_t)c->local.size * sizeof *offs);
    void *own = room_at_first(c, s, bytes, FT_SCRATCH_SEND),
         *sum = room_at_first(c, s, bytes, FT_SCRATCH_RECV);

    for (int i = 0; i < c->local.size; i++) {
        offs[i] = at;
        at += lens[i] *= o->stride;
    }
    ft_coll_reduce_across(c, s, in, own, sum, total, o->stride, &o->reducer);
    FT_ENGINE(s, scatterv, &c->local, sum, offs, lens, out, lens[c->local.rank], 0);
}

/* counts NULL: `count` elements for each member. */
static int scatter(struct ft_comm *c, const void *sendbuf, void *recvbuf, const int *counts,
                   int count, MPI_Datatype type, MPI_Op op, struct ft_sched *s, const char *call)
{
    struct ft_type store;
    struct ft_op opstore;
    const struct ft_type *t = ft_type_of(type, &store);
    size_t n = (size_t)c->local.size, total = 0,
           *lens = ft_scratch(FT_SCRATCH_SLENS, n * sizeof *lens);

    FT_CHECK(!c->inter || sendbuf != MPI_IN_PLACE, c->handle, MPI_ERR_BUFFER, call);
    for (size_t i = 0; i < n; i++) {
        int code = check(counts ? counts[i] : count, t, op);
        FT_CHECK(!code, c->handle, code, call);
        lens[i] = (size_t)(counts ? counts[i] : count);
        total += lens[i];
    }
    if (total == 0 || t->size == 0)
        return MPI_SUCCESS;
    const struct ft_op *o = op_of(s, op, t, &opstore);
    size_t mine = lens[c->ctx.rank];
    const void *in = stage_out(s, o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, total);
    void *out = stage_in(s, o, recvbuf, mine);
    if (c->inter)
        reduce_scatter_across(c, s, o, in, out, lens, total);
    else
        FT_ENGINE(s, reduce_scatter, &c->ctx, in, out, lens, o->stride, &o->reducer);
    stage_in_done(s, o, out, mine, recvbuf);
    return MPI_SUCCESS;
}

static inline int reduce_scatter(struct ft_comm *c, const void *sendbuf, void *recvbuf,
                                 const int recvcounts[], MPI_Datatype type, MPI_Op op,
                                 struct ft_sched *s, const char *call)
{
    return scatter(c, sendbuf, recvbuf, recvcounts, 0, type, op, s, call);
}

static inline int reduce_scatter_block(struct ft_comm *c, const void *sendbuf, void *recvbuf,
                                       int recvcount, MPI_Datatype type, MPI_Op op,
                                       struct ft_sched *s, const char *call)
{
    return scatter(c, sendbuf, recvbuf, NULL, recvcount, type, op, s, call);
}

FT_COLL_FORMS(Reduce_scatter, reduce_scatter, reduce_scatter,
              (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type,
               MPI_Op op),
              (sendbuf, recvbuf, recvcounts, type, op))
FT_COLL_FORMS(Reduce_scatter_block, reduce_scatter_block, reduce_scatter_block,
              (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op),
              (sendbuf, recvbuf, recvcount, type, op))
