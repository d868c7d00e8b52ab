/* SPDX-License-Identifier: BSD-3-Clause
 *
 * op.c - operations as the engine's reducers. The host's PMPI_Reduce_local does the work, user-defined operations included; sums,
 * and maxima and minima of integers, of the commonest types are computed here: elementwise, hence with the same bits.
 */
#include <limits.h>
#include <stdlib.h>

#include "mpi/mpi_internal.h"

/* out = in op out through the host, whose elements lie `extent` apart and begin true_lb before their first byte */
static void apply_host(void *arg, const void *in, void *inout, size_t count)
{
    const struct ft_op *o = arg;
    size_t piece = (ptrdiff_t)o->stride == o->type.extent ? INT_MAX : 1;

    for (size_t i = 0; i < count; i += piece) {
        size_t n = ft_min_u64(piece, count - i), off = i * o->stride - (size_t)o->type.true_lb;
        if (HOST(Reduce_local)((const void *)((uintptr_t)in + off), (void *)((uintptr_t)inout + off), (int)n, o->type.handle,
                               o->op))
            ft_error_fatal(MPI_ERR_OP, "a reduction");
    }
}

#define ADD(a, b) ((a) + (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define APPLY(name, type, OP)                                                                                                    \
    static void name(void *arg, const void *in, void *inout, size_t count)                                                       \
    {                                                                                                                            \
        const type *restrict a = in;                                                                                             \
        type *restrict b = inout;                                                                                                \
        (void)arg;                                                                                                               \
        for (size_t i = 0; i < count; i++)                                                                                       \
            b[i] = (type)OP(b[i], a[i]);                                                                                         \
    }
/* signed sums wrap around, as the host's do in practice: computed unsigned */
APPLY(sum_u32, uint32_t, ADD)
APPLY(sum_u64, uint64_t, ADD)
APPLY(sum_float, float, ADD)
APPLY(sum_double, double, ADD)
APPLY(max_i32, int32_t, MAX)
APPLY(max_u32, uint32_t, MAX)
APPLY(max_i64, int64_t, MAX)
APPLY(max_u64, uint64_t, MAX)
APPLY(min_i32, int32_t, MIN)
APPLY(min_u32, uint32_t, MIN)
APPLY(min_i64, int64_t, MIN)
APPLY(min_u64, uint64_t, MIN)

typedef void apply_fn(void *arg, const void *in, void *inout, size_t count);
/* by enum ft_kind; NULL: the host */
static apply_fn *const sums[] = {NULL, sum_u32, sum_u32, sum_u64, sum_u64, sum_float, sum_double};
static apply_fn *const maxima[] = {NULL, max_i32, max_u32, max_i64, max_u64, NULL, NULL};
static apply_fn *const minima[] = {NULL, min_i32, min_u32, min_i64, min_u64, NULL, NULL};

void ft_op_init(struct ft_op *o, MPI_Op op, const struct ft_type *t)
{
    apply_fn *own = op == MPI_SUM ? sums[t->kind] : op == MPI_MAX ? maxima[t->kind] : op == MPI_MIN ? minima[t->kind] : NULL;

    FT_ASSERT(t->kind < FT_COUNTOF(sums));
    o->op = op;
    o->type = *t;
    o->stride = (size_t)(t->extent >= t->true_extent ? t->extent : t->true_extent);
    o->reducer = (struct ft_reducer){own ? own : apply_host, o, 1};
    if (!own)
        HOST(Op_commutative)(op, &o->reducer.commutative);
}

FT_MPI(int, Op_free, (MPI_Op * op))
{
    int later = ft_free_later(&(struct ft_later){*op, MPI_DATATYPE_NULL}); /* nonblocking collectives may still combine with it */
    if (later < 0)
        return HOST(Op_free)(op);
    FT_CHECK(later == MPI_SUCCESS, MPI_COMM_WORLD, later, "MPI_Op_free");
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
