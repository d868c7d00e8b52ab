/* SPDX-License-Identifier: BSD-3-Clause
 *
 * op.c - operations as the engine's reducers. The host's PMPI_Reduce_local does the work, also for
 * user-defined operations. Sums, and maxima and minima of integers, of the most common types are
 * computed here, elementwise, and so give the same bits.
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

#define ADD(a, b) ((a) + (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define APPLY(name, type, OP, attribute)                                             \
    attribute static void name(void *arg, const void *in, void *inout, size_t count) \
    {                                                                                \
        const type *restrict a = in;                                                 \
        type *restrict b = inout;                                                    \
        (void)arg;                                                                   \
        for (size_t i = 0; i < count; i++)                                           \
            b[i] = (type)OP(b[i], a[i]);                                             \
    }
/* Signed sums wrap around, as the host's do in practice: they are computed unsigned. The tables are
 * indexed by enum ft_kind; NULL: use the host. */
#define APPLY_ALL(suffix, attribute)                                                            \
    APPLY(sum_u32##suffix, uint32_t, ADD, attribute)                                            \
    APPLY(sum_u64##suffix, uint64_t, ADD, attribute)                                            \
    APPLY(sum_float##suffix, float, ADD, attribute)                                             \
    APPLY(sum_double##suffix, double, ADD, attribute)                                           \
    APPLY(max_i32##suffix, int32_t, MAX, attribute)                                             \
    APPLY(max_u32##suffix, uint32_t, MAX, attribute)                                            \
    APPLY(max_i64##suffix, int64_t, MAX, attribute)                                             \
    APPLY(max_u64##suffix, uint64_t, MAX, attribute)                                            \
    APPLY(min_i32##suffix, int32_t, MIN, attribute)                                             \
    APPLY(min_u32##suffix, uint32_t, MIN, attribute)                                            \
    APPLY(min_i64##suffix, int64_t, MIN, attribute)                                             \
    APPLY(min_u64##suffix, uint64_t, MIN, attribute)                                            \
    static const struct own_ops own_ops##suffix = {                                             \
        {NULL, sum_u32##suffix, sum_u32##suffix, sum_u64##suffix, sum_u64##suffix,              \
         sum_float##suffix, sum_double##suffix},                                                \
        {NULL, max_i32##suffix, max_u32##suffix, max_i64##suffix, max_u64##suffix, NULL, NULL}, \
        {NULL, min_i32##suffix, min_u32##suffix, min_i64##suffix, min_u64##suffix, NULL, NULL}};

typedef void apply_fn(void *arg, const void *in, void *inout, size_t count);
struct own_ops {
    apply_fn *sum[FT_KIND_DOUBLE + 1], *max[FT_KIND_DOUBLE + 1], *min[FT_KIND_DOUBLE + 1];
};
APPLY_ALL(, )
#ifdef __x86_64__
/* The same elementwise operations, so the same bits. */
APPLY_ALL(_avx2, __attribute__((target("avx2"))))
static const struct own_ops *choose(void)
{
    return __builtin_cpu_supports("avx2") ? &own_ops_avx2 : &own_ops;
}
#else
static const struct own_ops *choose(void) { return &own_ops; }
#endif

void ft_op_init(struct ft_op *o, MPI_Op op, const struct ft_type *t)
{
    static const struct own_ops *ops;
    if (FT_UNLIKELY(!ops))
        ops = choose();
    FT_ASSERT(t->kind < FT_COUNTOF(ops->sum));
    apply_fn *own = op == MPI_SUM   ? ops->sum[t->kind]
                    : op == MPI_MAX ? ops->max[t->kind]
                    : op == MPI_MIN ? ops->min[t->kind]
                                    : NULL;

    o->op = op;
    o->type = *t;
    o->stride = (size_t)(t->extent >= t->true_extent ? t->extent : t->true_extent);
    o->reducer = (struct ft_reducer){own ? own : apply_host, o, 1,
                                     t->contiguous && !t->padded ? NULL : clear};
    if (!own)
        HOST(Op_commutative)(op, &o->reducer.commutative);
}

FT_MPI(int, Op_free, (MPI_Op * op))
{
    int later = ft_free_later(&(struct ft_later){
        *op, MPI_DATATYPE_NULL}); /* nonblocking collectives may still combine with it */
    if (later < 0)
        return HOST(Op_free)(op);
    FT_CHECK(later == MPI_SUCCESS, MPI_COMM_WORLD, later, "MPI_Op_free");
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
