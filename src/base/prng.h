/* SPDX-License-Identifier: BSD-3-Clause
 *
 * prng.h - splitmix64: small, seedable, good enough for tests and fault schedules.
 */
#ifndef FT_BASE_PRNG_H
#define FT_BASE_PRNG_H

#include <stdint.h>

struct ft_prng {
    uint64_t s;
};

static inline uint64_t ft_prng_next(struct ft_prng *p)
{
    uint64_t z = (p->s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* A uniform number in [0, n) for n > 0; the bias is below n / 2^64. */
static inline uint64_t ft_prng_below(struct ft_prng *p, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)ft_prng_next(p) * n) >> 64);
}

#endif
