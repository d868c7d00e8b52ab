/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fold.c - sums, maxima and minima, elementwise.
 */
#include "base/fold.h"

#include "base/base.h"

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

struct own_ops {
    ft_fold_fn *sum[FT_KIND_DOUBLE + 1], *max[FT_KIND_DOUBLE + 1], *min[FT_KIND_DOUBLE + 1];
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

ft_fold_fn *ft_fold(enum ft_fold_op op, enum ft_kind kind)
{
    static const struct own_ops *ops;
    if (FT_UNLIKELY(!ops))
        ops = choose();
    FT_ASSERT((size_t)kind < FT_COUNTOF(ops->sum));
    switch (op) {
    case FT_FOLD_SUM: return ops->sum[kind];
    case FT_FOLD_MAX: return ops->max[kind];
    case FT_FOLD_MIN: return ops->min[kind];
    default: return NULL;
    }
}
