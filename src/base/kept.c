/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kept.c - computes the word of a block of memory.
 */
#include "base/kept.h"

#include <string.h>

uint64_t ft_kept_word(const void *data, size_t n)
{
    uint64_t h = 0, w;
    const char *p = data;
    if (n <= sizeof h) {
        memcpy(&h, p, n);
        return h;
    }
    for (h = n; n >= sizeof w; n -= sizeof w, p += sizeof w) {
        memcpy(&w, p, sizeof w);
        h = (h ^ w) * 0x9e3779b97f4a7c15ull; /* one-to-one in w */
        h ^= h >> 29;
    }
    w = 0;
    memcpy(&w, p, n);
    h = (h ^ w) * 0xbf58476d1ce4e5b9ull;
    return h ^ (h >> 32);
}
