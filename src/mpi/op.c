/* SPDX-License-Identifier: BSD-3-Clause
 *
 * op.c - operations as the engine's reducers. The host's PMPI_Reduce_local does the work, also for
 * user-defined operations; but for what the library computes (base/fold.h).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "alog/log.h"
#include "mpi/typemap.h"

/* out = in op out by the host. Its elements lie `extent` apart and begin true_lb before their first
 * byte. */
static void apply_host(void *arg, const void *in, void *inout, size_t count)
{
    const struct ft_op *o = arg;
    size_t piece = (ptrdiff_t)o->stride == o->type.extent ? INT_MAX : 1;

    for (size_t i = 0; i < count; i += piece) {
        size_t n = ft_min_u64(piece, count - i), off = i * o->stride - (size_t)o->type.true_lb;
        if (HOST(Reduce_local)((const void *)((uintptr_t)in + off),
                               (void *)((uintptr_t)inout + off), (int)n, o->type.handle, o->op))
            ft_error_fatal(MPI_ERR_OP, "a reduction");
    }
    if (FT_UNLIKELY(ft_check_data) && o->reducer.clear)
        o->reducer.clear(o, inout, count); /* it may be sent on */
}

/* The function `clear` of struct ft_reducer, for elements as the operation sees them. For
 * predefined types nothing is allocated, because perhaps only a replay calls it. */
static void clear(const void *arg, void *data, size_t count)
{
    const struct ft_op *o = arg;
    const struct ft_typemap *l = ft_typemap_of(&o->type, FT_BY_VALUES);
    char room[64],
        *values = o->stride <= sizeof room ? room : ft_scratch(FT_SCRATCH_ELEMENT, o->stride);

    for (char *e = data; l && count > 0; e += o->stride, count--) {
        memset(values, 0, o->stride);
        for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
            for (size_t k = 0; k < p->n; k++) {
                ptrdiff_t at = p->off - o->type.true_lb + (ptrdiff_t)k * p->stride;
                memcpy(values + at, e + at, p->len);
            }
        memcpy(e, values, o->stride);
    }
}

static enum ft_fold_op fold_of(MPI_Op op)
{
    static const struct {
        MPI_Op op;
        enum ft_fold_op fold;
    } known[] = {{MPI_SUM, FT_FOLD_SUM},   {MPI_MAX, FT_FOLD_MAX},   {MPI_MIN, FT_FOLD_MIN},
                 {MPI_PROD, FT_FOLD_PROD}, {MPI_BAND, FT_FOLD_BAND}, {MPI_BOR, FT_FOLD_BOR},
                 {MPI_BXOR, FT_FOLD_BXOR}, {MPI_LAND, FT_FOLD_LAND}, {MPI_LOR, FT_FOLD_LOR},
                 {MPI_LXOR, FT_FOLD_LXOR}};
    for (size_t i = 0; i < FT_COUNTOF(known); i++)
        if (known[i].op == op)
            return known[i].fold;
    return FT_FOLD_NONE;
}

void ft_op_init(struct ft_op *o, MPI_Op op, const struct ft_type *t)
{
    enum ft_fold_op fold = fold_of(op);
    ft_fold_fn *own = ft_fold(fold, t->kind);

    o->op = op;
    o->type = *t;
    o->stride = (size_t)(t->extent >= t->true_extent ? t->extent : t->true_extent);
    o->reducer = (struct ft_reducer){.apply = own ? own : apply_host,
                                     .arg = o,
                                     .commutative = 1,
                                     .clear = t->contiguous && !t->padded ? NULL : clear,
                                     .fold = own ? fold : FT_FOLD_NONE,
                                     .kind = t->kind};
    if (!own)
        HOST(Op_commutative)(op, &o->reducer.commutative);
}

FT_MPI(int, Op_free, (MPI_Op * op))
{
    /* nonblocking collectives may still combine with it */
    int later = ft_free_later(*op, MPI_DATATYPE_NULL);
    if (later < 0)
        return HOST(Op_free)(op);
    FT_CHECK(later == MPI_SUCCESS, MPI_COMM_WORLD, later, "MPI_Op_free");
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
