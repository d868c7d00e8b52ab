/* SPDX-License-Identifier: BSD-3-Clause
 *
 * code.c - Reed-Solomon codewords: a Cauchy matrix, with ISA-L's arithmetic or a plain baseline.
 */
#include <string.h>

#include <isa-l/erasure_code.h>

#include "base/base.h"
#include "erasure/erasure.h"

#define TABLE 32                   /* bytes that ISA-L wants for a coefficient */
#define PIECE ((size_t)(1u << 20)) /* bytes in one call of ISA-L, whose length is an int */

/* x_r ^ y_j of codeword r and member j; never 0. */
static uint8_t cauchy(int codeword, int member)
{
    FT_ASSERT(codeword >= 0 && codeword < FT_ERASURE_MAX_PARITY && member >= 0 &&
              member < FT_ERASURE_MAX_MEMBERS);
    return (uint8_t)((FT_ERASURE_MAX_MEMBERS + codeword) ^ member);
}

uint8_t ft_erasure_coefficient(int codeword, int member)
{
    return gf_mul(cauchy(0, member), gf_inv(cauchy(codeword, member)));
}

/* Finds the lost members, and equally many available codewords. Returns how many; -1: there are not
 * enough codewords. */
static int choose(int k, int m, const uint8_t *have, int wanted, int *lost, int *row)
{
    int nlost = 0, nrows = 0;
    for (int j = 0; j < k; j++)
        if (!have[j] || j == wanted) {
            if (nlost == m)
                return -1;
            lost[nlost++] = j;
        }
    for (int r = 0; r < m && nrows < nlost; r++)
        if (have[k + r] && k + r != wanted)
            row[nrows++] = r;
    return nrows == nlost ? nlost : -1;
}

enum ft_status ft_erasure_solve(int k, int m, const uint8_t *have, int wanted, int *source,
                                uint8_t *coef)
{
    int lost[FT_ERASURE_MAX_PARITY], row[FT_ERASURE_MAX_PARITY], n = 0;
    uint8_t part[FT_ERASURE_MAX_PARITY * FT_ERASURE_MAX_PARITY], inverse[sizeof part],
        weight[FT_ERASURE_MAX_PARITY];
    FT_ASSERT(k >= 1 && k <= FT_ERASURE_MAX_MEMBERS && m >= 1 && m <= FT_ERASURE_MAX_PARITY &&
              wanted >= 0 && wanted < k + m);
    int e = choose(k, m, have, wanted, lost, row);
    if (e < 0)
        return FT_ERR_RANGE;
    for (int i = 0; i < e; i++)
        for (int j = 0; j < e; j++)
            part[i * e + j] = ft_erasure_coefficient(row[i], lost[j]);
    int singular = e > 0 && gf_invert_matrix(part, inverse, e);
    FT_ASSERT(!singular); /* a square part of a Cauchy matrix */
    /* Lost members are x_j = sum over i of inverse[j][i] (P_i + the living members' part of it).
     * The wanted block is one of them, or a codeword, which is a sum of all members. weight[i]: the
     * factor of P_i + ... in it. */
    for (int i = 0; i < e; i++) {
        weight[i] = 0;
        for (int j = 0; j < e; j++) {
            uint8_t share =
                wanted < k ? lost[j] == wanted : ft_erasure_coefficient(wanted - k, lost[j]);
            weight[i] ^= gf_mul(share, inverse[j * e + i]);
        }
    }
    for (int j = 0; j < k; j++) {
        if (!have[j] || j == wanted)
            continue;
        uint8_t c = wanted < k ? 0 : ft_erasure_coefficient(wanted - k, j);
        for (int i = 0; i < e; i++)
            c ^= gf_mul(weight[i], ft_erasure_coefficient(row[i], j));
        source[n] = j;
        coef[n++] = c;
    }
    for (int i = 0; i < e; i++) {
        source[n] = k + row[i];
        coef[n++] = weight[i];
    }
    FT_ASSERT(n == k);
    return FT_OK;
}

/* out = sum of n sources, all len bytes long; nothing overlaps. */
static void sum(uint8_t *out, const uint8_t **src, uint8_t *coef, int n, size_t len)
{
    uint8_t table[FT_ERASURE_MAX_MEMBERS * TABLE], *data[FT_ERASURE_MAX_MEMBERS];
    if (n == 0) {
        memset(out, 0, len);
        return;
    }
    ec_init_tables(n, 1, coef, table);
    for (size_t at = 0; at < len; at += PIECE) {
        for (int i = 0; i < n; i++)
            data[i] =
                (uint8_t *)(uintptr_t)(src[i] + at); /* read only: ISA-L's prototype has no const */
        uint8_t *to = out + at;
        ec_encode_data((int)ft_min_u64(PIECE, len - at), n, 1, table, data, &to);
    }
}

void ft_erasure_combine(void *out, const void *const *srcs, const size_t *lens, const uint8_t *coef,
                        int n, size_t off, size_t len)
{
    FT_ASSERT(n >= 0 && n <= FT_ERASURE_MAX_MEMBERS && len <= SIZE_MAX - off);
    int ones = 0;
    for (int i = 0; i < n; i++)
        ones += coef[i] == 1;
    if (ones == n) {
        ft_erasure_xor_encode(out, srcs, lens, n, off, len);
        return;
    }
    size_t end;
    /* Cuts where an image ends, so that within a stretch each source is there completely or not at
     * all. */
    for (size_t at = off; at < off + len; at = end) {
        const uint8_t *src[FT_ERASURE_MAX_MEMBERS];
        uint8_t part[FT_ERASURE_MAX_MEMBERS];
        int k = 0;
        end = off + len;
        for (int i = 0; i < n; i++) {
            if (lens[i] <= at || coef[i] == 0)
                continue;
            end = ft_min_u64(end, lens[i]);
            src[k] = (const uint8_t *)srcs[i] + at;
            part[k++] = coef[i];
        }
        sum((uint8_t *)out + (at - off), src, part, k, end - at);
    }
#if defined(__x86_64__)
    __builtin_ia32_sfence(); /* some variants store non-temporally */
#endif
}

void ft_erasure_diff(void *diff, const void *old_img, const void *new_img, size_t len)
{
    const void *srcs[2] = {old_img, new_img};
    if (diff == new_img) { /* only the first source may be the destination */
        srcs[0] = new_img;
        srcs[1] = old_img;
    }
    ft_erasure_xor_encode(diff, srcs, (const size_t[]){len, len}, 2, 0, len);
}

void ft_erasure_update(void *const *codewords, const int *row, int n, int member, const void *diff,
                       size_t len)
{
    uint8_t table[FT_ERASURE_MAX_PARITY * TABLE], coef[FT_ERASURE_MAX_PARITY],
        *to[FT_ERASURE_MAX_PARITY];
    FT_ASSERT(n >= 0 && n <= FT_ERASURE_MAX_PARITY);
    if (n == 1 && row[0] == 0) {
        ft_erasure_xor_encode(codewords[0], (const void *[]){codewords[0], diff},
                              (const size_t[]){len, len}, 2, 0, len);
        return;
    }
    for (int i = 0; i < n; i++)
        coef[i] = ft_erasure_coefficient(row[i], member);
    if (n > 0)
        ec_init_tables(1, n, coef, table);
    for (size_t at = 0; n > 0 && at < len; at += PIECE) {
        for (int i = 0; i < n; i++)
            to[i] = (uint8_t *)codewords[i] + at;
        ec_encode_data_update((int)ft_min_u64(PIECE, len - at), 1, n, 0, table,
                              (uint8_t *)(uintptr_t)diff + at, to);
    }
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

/* ---- the baseline ---- */

uint8_t ft_erasure_mul_ref(uint8_t a, uint8_t b)
{
    unsigned sum = 0, x = a;
    for (int i = 0; i < 8; i++) {
        if (b >> i & 1)
            sum ^= x;
        x = x << 1 ^ (x & 0x80 ? 0x11d : 0);
    }
    return (uint8_t)sum;
}

uint8_t ft_erasure_coefficient_ref(int codeword, int member)
{
    for (int c = 1; c < 256; c++)
        if (ft_erasure_mul_ref((uint8_t)c, cauchy(codeword, member)) == cauchy(0, member))
            return (uint8_t)c;
    return 0;
}

void ft_erasure_combine_ref(void *out, const void *const *srcs, const size_t *lens,
                            const uint8_t *coef, int n, size_t off, size_t len)
{
    for (size_t at = 0; at < len; at++) {
        uint8_t all = 0;
        for (int i = 0; i < n; i++)
            if (off + at < lens[i])
                all ^= ft_erasure_mul_ref(coef[i], ((const uint8_t *)srcs[i])[off + at]);
        ((uint8_t *)out)[at] = all;
    }
}

void ft_erasure_update_ref(void *const *codewords, const int *row, int n, int member,
                           const void *diff, size_t len)
{
    for (int i = 0; i < n; i++)
        for (size_t at = 0; at < len; at++)
            ((uint8_t *)codewords[i])[at] ^= ft_erasure_mul_ref(
                ft_erasure_coefficient_ref(row[i], member), ((const uint8_t *)diff)[at]);
}
