/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fold.c - the predefined operations, elementwise.
 */
#include "base/fold.h"

#include "base/base.h"

#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define BAND(a, b) ((a) & (b))
#define BOR(a, b) ((a) | (b))
#define BXOR(a, b) ((a) ^ (b))
#define LAND(a, b) ((a) && (b))
#define LOR(a, b) ((a) || (b))
#define LXOR(a, b) (!(a) != !(b))

/* Elements of `type` are computed as numbers of the type `as`. */
#define APPLY(op, OP, kind, type, as, suffix, attribute)                              \
    attribute static void op##_##kind##suffix(void *arg, const void *in, void *inout, \
                                              size_t count)                           \
    {                                                                                 \
        const type *restrict a = in;                                                  \
        type *restrict b = inout;                                                     \
        (void)arg;                                                                    \
        for (size_t i = 0; i < count; i++)                                            \
            b[i] = (type)OP((as)b[i], (as)a[i]);                                      \
    }
/* Signed sums and products wrap around, as the host's do in practice: they are computed unsigned.
 */
#define APPLY_INTEGER(kind, type, whole, suffix, attribute) \
    APPLY(sum, SUM, kind, type, whole, suffix, attribute)   \
    APPLY(prod, PROD, kind, type, whole, suffix, attribute) \
    APPLY(max, MAX, kind, type, type, suffix, attribute)    \
    APPLY(min, MIN, kind, type, type, suffix, attribute)    \
    APPLY(band, BAND, kind, type, whole, suffix, attribute) \
    APPLY(bor, BOR, kind, type, whole, suffix, attribute)   \
    APPLY(bxor, BXOR, kind, type, whole, suffix, attribute) \
    APPLY(land, LAND, kind, type, type, suffix, attribute)  \
    APPLY(lor, LOR, kind, type, type, suffix, attribute)    \
    APPLY(lxor, LXOR, kind, type, type, suffix, attribute)
#define APPLY_FLOAT(kind, type, suffix, attribute)       \
    APPLY(sum, SUM, kind, type, type, suffix, attribute) \
    APPLY(prod, PROD, kind, type, type, suffix, attribute)

#define INTEGER(kind, suffix)                                                       \
    {                                                                               \
        [FT_FOLD_SUM] = sum_##kind##suffix, [FT_FOLD_PROD] = prod_##kind##suffix,   \
        [FT_FOLD_MAX] = max_##kind##suffix, [FT_FOLD_MIN] = min_##kind##suffix,     \
        [FT_FOLD_BAND] = band_##kind##suffix, [FT_FOLD_BOR] = bor_##kind##suffix,   \
        [FT_FOLD_BXOR] = bxor_##kind##suffix, [FT_FOLD_LAND] = land_##kind##suffix, \
        [FT_FOLD_LOR] = lor_##kind##suffix, [FT_FOLD_LXOR] = lxor_##kind##suffix    \
    }
#define FLOAT(kind, suffix)                                                      \
    {                                                                            \
        [FT_FOLD_SUM] = sum_##kind##suffix, [FT_FOLD_PROD] = prod_##kind##suffix \
    }

/* NULL: use the host. */
typedef ft_fold_fn *const own_ops[FT_KINDS][FT_FOLDS];
#define APPLY_ALL(suffix, attribute)                                                     \
    APPLY_INTEGER(i8, int8_t, uint32_t, suffix, attribute)                               \
    APPLY_INTEGER(u8, uint8_t, uint32_t, suffix, attribute)                              \
    APPLY_INTEGER(i16, int16_t, uint32_t, suffix, attribute)                             \
    APPLY_INTEGER(u16, uint16_t, uint32_t, suffix, attribute)                            \
    APPLY_INTEGER(i32, int32_t, uint32_t, suffix, attribute)                             \
    APPLY_INTEGER(u32, uint32_t, uint32_t, suffix, attribute)                            \
    APPLY_INTEGER(i64, int64_t, uint64_t, suffix, attribute)                             \
    APPLY_INTEGER(u64, uint64_t, uint64_t, suffix, attribute)                            \
    APPLY_FLOAT(float, float, suffix, attribute)                                         \
    APPLY_FLOAT(double, double, suffix, attribute)                                       \
    static own_ops own##suffix = {                                                       \
        [FT_KIND_INT8] = INTEGER(i8, suffix),   [FT_KIND_UINT8] = INTEGER(u8, suffix),   \
        [FT_KIND_INT16] = INTEGER(i16, suffix), [FT_KIND_UINT16] = INTEGER(u16, suffix), \
        [FT_KIND_INT32] = INTEGER(i32, suffix), [FT_KIND_UINT32] = INTEGER(u32, suffix), \
        [FT_KIND_INT64] = INTEGER(i64, suffix), [FT_KIND_UINT64] = INTEGER(u64, suffix), \
        [FT_KIND_FLOAT] = FLOAT(float, suffix), [FT_KIND_DOUBLE] = FLOAT(double, suffix)};

APPLY_ALL(, )
#ifdef __x86_64__
/* The same elementwise operations, so the same bits. */
APPLY_ALL(_avx2, __attribute__((target("avx2"))))
static own_ops *choose(void) { return __builtin_cpu_supports("avx2") ? &own_avx2 : &own; }
#else
static own_ops *choose(void) { return &own; }
#endif

size_t ft_kind_bytes(enum ft_kind k)
{
    static const unsigned char bytes[FT_KINDS] = {
        [FT_KIND_INT8] = 1,  [FT_KIND_UINT8] = 1,  [FT_KIND_INT16] = 2, [FT_KIND_UINT16] = 2,
        [FT_KIND_INT32] = 4, [FT_KIND_UINT32] = 4, [FT_KIND_INT64] = 8, [FT_KIND_UINT64] = 8,
        [FT_KIND_FLOAT] = 4, [FT_KIND_DOUBLE] = 8};
    FT_ASSERT((size_t)k < FT_KINDS);
    return bytes[k];
}

ft_fold_fn *ft_fold(enum ft_fold_op op, enum ft_kind kind)
{
    static own_ops *ops;
    if (FT_UNLIKELY(!ops))
        ops = choose();
    FT_ASSERT((size_t)kind < FT_KINDS && (size_t)op < FT_FOLDS);
    return (*ops)[kind][op];
}
