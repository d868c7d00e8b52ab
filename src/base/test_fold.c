/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fold.h"
#include "base/prng.h"
#include "base/test_seeded.h"

#define MOST 70 /* several vectors of any processor, and a rest */

/* One element, as C computes it; wide: unsigned, and no narrower than int. */
#define BY_HAND(name, type, wide)                                     \
    static void name(enum ft_fold_op op, const char *in, char *inout) \
    {                                                                 \
        type a, b;                                                    \
        memcpy(&a, in, sizeof a);                                     \
        memcpy(&b, inout, sizeof b);                                  \
        switch (op) {                                                 \
        case FT_FOLD_SUM: b = (type)((wide)b + (wide)a); break;       \
        case FT_FOLD_PROD: b = (type)((wide)b * (wide)a); break;      \
        case FT_FOLD_MAX: b = a > b ? a : b; break;                   \
        case FT_FOLD_MIN:                                             \
            b = a < b ? a : b;                                        \
            break;                                                    \
            BITS_##name(type) default : fail();                       \
        }                                                             \
        memcpy(inout, &b, sizeof b);                                  \
    }
#define BITS(type)                                          \
    case FT_FOLD_BAND: b = (type)(a & b); break;            \
    case FT_FOLD_BOR: b = (type)(a | b); break;             \
    case FT_FOLD_BXOR: b = (type)(a ^ b); break;            \
    case FT_FOLD_LAND: b = (type)(a != 0 && b != 0); break; \
    case FT_FOLD_LOR: b = (type)(a != 0 || b != 0); break;  \
    case FT_FOLD_LXOR:                                      \
        b = (type)((a != 0) != (b != 0));                   \
        break;
#define BITS_i8 BITS
#define BITS_u8 BITS
#define BITS_i16 BITS
#define BITS_u16 BITS
#define BITS_i32 BITS
#define BITS_u32 BITS
#define BITS_i64 BITS
#define BITS_u64 BITS
#define BITS_f32(type)
#define BITS_f64(type)
BY_HAND(i8, int8_t, uint32_t)
BY_HAND(u8, uint8_t, uint32_t)
BY_HAND(i16, int16_t, uint32_t)
BY_HAND(u16, uint16_t, uint32_t)
BY_HAND(i32, int32_t, uint32_t)
BY_HAND(u32, uint32_t, uint32_t)
BY_HAND(i64, int64_t, uint64_t)
BY_HAND(u64, uint64_t, uint64_t)
BY_HAND(f32, float, float)
BY_HAND(f64, double, double)

typedef void one_fn(enum ft_fold_op op, const char *in, char *inout);
static one_fn *const one[] = {
    [FT_KIND_INT8] = i8,   [FT_KIND_UINT8] = u8,   [FT_KIND_INT16] = i16, [FT_KIND_UINT16] = u16,
    [FT_KIND_INT32] = i32, [FT_KIND_UINT32] = u32, [FT_KIND_INT64] = i64, [FT_KIND_UINT64] = u64,
    [FT_KIND_FLOAT] = f32, [FT_KIND_DOUBLE] = f64};

/* Numbers of both signs, one in four of them 0; of floating point none that is not a number. */
static void draw(struct ft_prng *r, enum ft_kind kind, char *to)
{
    int64_t x = ft_prng_below(r, 4) ? (int64_t)ft_prng_next(r) : 0;
    float f = (float)x / 3;
    double d = (double)x / 3;
    const void *from = kind == FT_KIND_FLOAT    ? (void *)&f
                       : kind == FT_KIND_DOUBLE ? (void *)&d
                                                : &x;
    memcpy(to, from, ft_kind_bytes(kind));
}

/* Every length up to some vectors, at every place of an element in a line: the bits are those of
 * one element after the other, and nothing beside them changes. */
static void bits_are_those_of_single_elements(void **state)
{
    (void)state;
    struct ft_prng r = {seed};
    _Alignas(64) char in[8 * (MOST + 8)], is[sizeof in], want[sizeof in];
    for (enum ft_kind k = FT_KIND_INT8; k < FT_KINDS; k++)
        for (enum ft_fold_op op = FT_FOLD_SUM; op < FT_FOLDS; op++) {
            ft_fold_fn *fold = ft_fold(op, k);
            size_t one_bytes = ft_kind_bytes(k);
            if (!fold) { /* maxima of floating point are the host's */
                HOLDS(op > FT_FOLD_PROD && k >= FT_KIND_FLOAT);
                continue;
            }
            for (size_t n = 0; n <= MOST; n++) {
                size_t from = n % 8 * one_bytes, to = n / 8 % 8 * one_bytes;
                for (size_t at = 0; at < sizeof in; at += one_bytes) {
                    draw(&r, k, in + at);
                    draw(&r, k, is + at);
                }
                memcpy(want, is, sizeof is);
                for (size_t i = 0; i < n; i++)
                    one[k](op, in + from + i * one_bytes, want + to + i * one_bytes);
                fold(NULL, in + from, is + to, n);
                HOLDS(memcmp(is, want, sizeof is) == 0);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_those_of_single_elements)};
    return cmocka_run_group_tests(tests, seeded, NULL);
}
