/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xor.c - XOR parity: by ISA-L where all pointers can be aligned together, by plain words
 * elsewhere.
 */
#include "erasure/erasure.h"

#include <stdint.h>
#include <string.h>

#include <isa-l/raid.h>

#include "base/base.h"

#define LANE 32 /* xor_gen wants its pointers aligned to this */
/* Sources in one pass; more sources are added in further passes over the parity. */
#define BATCH 32
/* Bytes in one call of xor_gen, whose length is an int; a multiple of LANE. */
#define PIECE (1u << 20)
/* The plain code passes over its destination once for each source, in blocks that stay in L1. */
#define BLOCK ((size_t)4096)

static void xor_into(uint8_t *restrict dst, const uint8_t *restrict src, size_t len)
{
    size_t i = 0;
    for (; i + 32 <= len; i += 32) {
        uint64_t a[4], b[4];
        memcpy(a, dst + i, sizeof a);
        memcpy(b, src + i, sizeof b);
        for (int k = 0; k < 4; k++)
            a[k] ^= b[k];
        memcpy(dst + i, a, sizeof a);
    }
    for (; i < len; i++)
        dst[i] ^= src[i];
}

/* any alignment, any length; dst may be src[0] */
static void xor_plain(uint8_t *dst, const uint8_t *const *src, int n, size_t len)
{
    for (size_t at = 0; at < len; at += BLOCK) {
        size_t part = ft_min_u64(BLOCK, len - at);
        if (dst != src[0])
            memcpy(dst + at, src[0] + at, part);
        for (int i = 1; i < n; i++)
            xor_into(dst + at, src[i] + at, part);
    }
}

/* dst, all of src, and len are multiples of LANE; n >= 2. dst may be src[0], since xor_gen reads
 * all sources of a vector before it writes that vector. */
static void xor_lanes(uint8_t *dst, const uint8_t *const *src, int n, size_t len)
{
    void *array[BATCH + 1];
    FT_ASSERT(n >= 2 && n <= BATCH);
    for (size_t at = 0; at < len; at += PIECE) {
        for (int i = 0; i < n; i++)
            array[i] =
                (void *)(uintptr_t)(src[i] + at); /* read only: ISA-L's prototype has no const */
        array[n] = dst + at;
        int failed = xor_gen(n + 1, (int)ft_min_u64(PIECE, len - at), array);
        FT_ASSERT(!failed); /* it refuses only too few pointers */
    }
#if defined(__x86_64__)
    /* The SSE and AVX variants of xor_gen use non-temporal stores, which a later release store does
     * not order, and end without a fence. */
    __builtin_ia32_sfence();
#endif
}

static int same_phase(const uint8_t *dst, const uint8_t *const *src, int n)
{
    uintptr_t differ = 0;
    for (int i = 0; i < n; i++)
        differ |= (uintptr_t)dst ^ (uintptr_t)src[i];
    return differ % LANE == 0;
}

static int disjoint(const uint8_t *a, const uint8_t *b, size_t len)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y ? y - x >= len : x - y >= len;
}

/* dst = XOR of n sources, all len > 0 bytes long; dst may be src[0]. May change src. */
static void xor_stretch(uint8_t *dst, const uint8_t **src, int n, size_t len)
{
    for (int i = 0; i < n; i++)
        FT_ASSERT(disjoint(dst, src[i], len) || (i == 0 && dst == src[0]));
    if (n == 0) {
        memset(dst, 0, len);
        return;
    }
    if (n > 1 && len >= 2 * LANE && same_phase(dst, src, n)) {
        size_t head = -(uintptr_t)dst % LANE;
        size_t body = (len - head) / LANE * LANE;
        xor_plain(dst, src, n, head);
        for (int i = 0; i < n; i++)
            src[i] += head;
        xor_lanes(dst + head, src, n, body);
        for (int i = 0; i < n; i++)
            src[i] += body;
        dst += head + body;
        len -= head + body;
    }
    xor_plain(dst, src, n, len);
}

void ft_erasure_xor_encode(void *parity, const void *const *srcs, const size_t *lens, int n,
                           size_t off, size_t len)
{
    FT_ASSERT(n >= 0);
    FT_ASSERT(len <= SIZE_MAX - off);
    uint8_t *out = parity;
    size_t end;
    /* Cuts where an image ends, so that within a stretch each source is there completely or not at
     * all. */
    for (size_t at = off; at < off + len; at = end) {
        end = off + len;
        for (int i = 0; i < n; i++)
            if (lens[i] > at)
                end = ft_min_u64(end, lens[i]);
        const uint8_t *src[BATCH];
        int k = 0;
        for (int i = 0; i < n; i++) {
            if (lens[i] <= at)
                continue;
            if (k == BATCH) {
                xor_stretch(out + (at - off), src, k, end - at);
                src[0] = out + (at - off);
                k = 1;
            }
            src[k++] = (const uint8_t *)srcs[i] + at;
        }
        xor_stretch(out + (at - off), src, k, end - at);
    }
}

void ft_erasure_xor_update(void *parity, const void *old_img, const void *new_img, size_t len)
{
    if (len > 0)
        xor_stretch(parity, (const uint8_t *[]){parity, old_img, new_img}, 3, len);
}

void ft_erasure_xor_encode_ref(void *parity, const void *const *srcs, const size_t *lens, int n,
                               size_t off, size_t len)
{
    uint8_t *out = parity;
    for (size_t at = 0; at < len; at++) {
        uint8_t sum = 0;
        for (int i = 0; i < n; i++)
            if (off + at < lens[i])
                sum ^= ((const uint8_t *)srcs[i])[off + at];
        out[at] = sum;
    }
}

void ft_erasure_xor_update_ref(void *parity, const void *old_img, const void *new_img, size_t len)
{
    for (size_t at = 0; at < len; at++)
        ((uint8_t *)parity)[at] ^= ((const uint8_t *)old_img)[at] ^ ((const uint8_t *)new_img)[at];
}
