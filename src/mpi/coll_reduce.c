/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_reduce.c - collectives that combine (MPI-3.1, 5.9 to 5.11).
 *
 * Elements of contiguous types go to the engine where they lie. Others (pairs with holes, derived types under user-defined
 * operations) are laid out in scratch memory as they lie in memory, `stride` bytes apart, since the operation wants them so; the
 * holes travel along, but only the type's own bytes are written back.
 */
#include <string.h>

#include "mpi/mpi_internal.h"

static void *element(const struct ft_op *o, const void *buf, size_t i)
{
    return (void *)((uintptr_t)buf + (uintptr_t)((ptrdiff_t)i * o->type.extent));
}

static const void *stage_out(const struct ft_op *o, const void *buf, size_t count)
{
    if (FT_LIKELY(o->type.contiguous))
        return buf;
    char *staged = ft_scratch(FT_SCRATCH_REDUCE_IN, count * o->stride);
    memset(staged, 0, count * o->stride);
    for (size_t i = 0; i < count; i++)
        memcpy(staged + i * o->stride, (char *)element(o, buf, i) + o->type.true_lb, (size_t)o->type.true_extent);
    return staged;
}

static void *stage_in(const struct ft_op *o, void *buf, size_t count)
{
    return FT_LIKELY(o->type.contiguous) ? buf : ft_scratch(FT_SCRATCH_REDUCE_OUT, count * o->stride);
}

static void stage_in_done(const struct ft_op *o, const void *staged, size_t count, void *buf)
{
    if (FT_LIKELY(o->type.contiguous))
        return;
    char *bytes = ft_scratch(FT_SCRATCH_RECV, o->type.size);
    for (size_t i = 0; i < count; i++) {
        ft_pack(&o->type, (const void *)((uintptr_t)staged + i * o->stride - (uintptr_t)o->type.true_lb), 1, bytes);
        ft_unpack(&o->type, bytes, o->type.size, element(o, buf, i));
    }
}

static int check(int count, const struct ft_type *t, MPI_Op op)
{
    return !t ? MPI_ERR_TYPE : count < 0 ? MPI_ERR_COUNT : op == MPI_OP_NULL ? MPI_ERR_OP : MPI_SUCCESS;
}

FT_MPI(int, Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm))
{
    struct ft_type store;
    struct ft_op o;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Reduce, (sendbuf, recvbuf, count, type, op, root, comm));
    const struct ft_type *t = ft_type_of(type, &store);
    int code = check(count, t, op), at_root = root == c->ctx.rank;

    FT_CHECK(!code, comm, code, "MPI_Reduce");
    FT_CHECK((unsigned)root < (unsigned)c->ctx.size, comm, MPI_ERR_ROOT, "MPI_Reduce");
    FT_CHECK(at_root || sendbuf != MPI_IN_PLACE, comm, MPI_ERR_BUFFER, "MPI_Reduce");
    if (count == 0 || t->size == 0)
        return MPI_SUCCESS;
    ft_op_init(&o, op, t);
    const void *in = stage_out(&o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (size_t)count);
    void *out = at_root ? stage_in(&o, recvbuf, (size_t)count) : NULL;
    ft_reduce(&c->ctx, in, out, (size_t)count, o.stride, &o.reducer, root);
    if (at_root)
        stage_in_done(&o, out, (size_t)count, recvbuf);
    return MPI_SUCCESS;
}

/* Allreduce, scan and exscan differ in the engine's function only. */
typedef void reduction(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count, size_t esize,
                       const struct ft_reducer *op);

static inline int reduce_to_all(struct ft_comm *c, const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                reduction *engine, int keeps_first, const char *call)
{
    struct ft_type store;
    struct ft_op o;
    const struct ft_type *t = ft_type_of(type, &store);
    int code = check(count, t, op);

    FT_CHECK(!code, c->handle, code, call);
    if (count == 0 || t->size == 0)
        return MPI_SUCCESS;
    ft_op_init(&o, op, t);
    const void *in = stage_out(&o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (size_t)count);
    void *out = stage_in(&o, recvbuf, (size_t)count);
    engine(&c->ctx, in, out, (size_t)count, o.stride, &o.reducer);
    if (!keeps_first || c->ctx.rank > 0)
        stage_in_done(&o, out, (size_t)count, recvbuf);
    return MPI_SUCCESS;
}

FT_MPI(int, Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Allreduce, (sendbuf, recvbuf, count, type, op, comm));
    return reduce_to_all(c, sendbuf, recvbuf, count, type, op, ft_allreduce, 0, "MPI_Allreduce");
}

FT_MPI(int, Scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Scan, (sendbuf, recvbuf, count, type, op, comm));
    return reduce_to_all(c, sendbuf, recvbuf, count, type, op, ft_scan, 0, "MPI_Scan");
}

/* What rank 0 receives is undefined: it is left as it is. */
FT_MPI(int, Exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Exscan, (sendbuf, recvbuf, count, type, op, comm));
    return reduce_to_all(c, sendbuf, recvbuf, count, type, op, ft_exscan, 1, "MPI_Exscan");
}

/* counts NULL: `count` elements to everybody */
static int reduce_scatter(struct ft_comm *c, const void *sendbuf, void *recvbuf, const int *counts, int count, MPI_Datatype type,
                          MPI_Op op, const char *call)
{
    struct ft_type store;
    struct ft_op o;
    const struct ft_type *t = ft_type_of(type, &store);
    size_t n = (size_t)c->ctx.size, total = 0, *lens = ft_scratch(FT_SCRATCH_SLENS, n * sizeof *lens);

    for (size_t i = 0; i < n; i++) {
        int code = check(counts ? counts[i] : count, t, op);
        FT_CHECK(!code, c->handle, code, call);
        lens[i] = (size_t)(counts ? counts[i] : count);
        total += lens[i];
    }
    if (total == 0 || t->size == 0)
        return MPI_SUCCESS;
    ft_op_init(&o, op, t);
    size_t mine = lens[c->ctx.rank];
    const void *in = stage_out(&o, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, total);
    void *out = stage_in(&o, recvbuf, mine);
    ft_reduce_scatter(&c->ctx, in, out, lens, o.stride, &o.reducer);
    stage_in_done(&o, out, mine, recvbuf);
    return MPI_SUCCESS;
}

FT_MPI(int, Reduce_scatter,
       (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Reduce_scatter, (sendbuf, recvbuf, recvcounts, type, op, comm));
    return reduce_scatter(c, sendbuf, recvbuf, recvcounts, 0, type, op, "MPI_Reduce_scatter");
}

FT_MPI(int, Reduce_scatter_block,
       (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Reduce_scatter_block, (sendbuf, recvbuf, recvcount, type, op, comm));
    return reduce_scatter(c, sendbuf, recvbuf, NULL, recvcount, type, op, "MPI_Reduce_scatter_block");
}
