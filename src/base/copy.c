/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copy.c - copies past the caches. On x86-64 they use the streaming stores that all such processors
 * have.
 */
#include "base/copy.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE 64u

#if defined(__x86_64__)
/* Copies full lines from an aligned place on, and returns the bytes copied. dst NULL: there is no
 * second destination. */
static inline size_t lines(char *past, char *dst, const char *src, size_t n)
{
    size_t at = 0;
    for (; n - at >= LINE; at += LINE)
        for (size_t i = at; i < at + LINE; i += sizeof(__m128i)) {
            __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(src + i));
            _mm_stream_si128((__m128i *)(void *)(past + i), x);
            if (dst)
                _mm_storeu_si128((__m128i *)(void *)(dst + i), x);
        }
    _mm_sfence();
    return at;
}
#endif

static inline void copy(char *past, char *dst, const char *src, size_t n)
{
    size_t head = 0, body = 0;
#if defined(__x86_64__)
    head = -(uintptr_t)past & (LINE - 1);
    if (n >= head + LINE)
        body = lines(past + head, dst ? dst + head : NULL, src + head, n - head);
    else
        head = 0;
#endif
    size_t tail = head + body;
    memcpy(past, src, head);
    memcpy(past + tail, src + tail, n - tail);
    if (dst) {
        memcpy(dst, src, head);
        memcpy(dst + tail, src + tail, n - tail);
    }
}

void ft_copy_past(void *past, const void *src, size_t n) { copy(past, NULL, src, n); }

void ft_copy_past_and_to(void *past, void *dst, const void *src, size_t n)
{
    copy(past, dst, src, n);
}
