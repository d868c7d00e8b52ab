/* SPDX-License-Identifier: BSD-3-Clause
 *
 * attached.h - looks in the table of what is attached to a dynamic window (winpart.h). The caller
 * has seen that the table does not change, or looks at its version before and afterwards.
 */
#ifndef FT_RMA_ATTACHED_H
#define FT_RMA_ATTACHED_H

#include "rma/winpart.h"

static inline uint64_t ft_attached_get(const _Atomic uint64_t *x)
{
    return atomic_load_explicit(x, memory_order_relaxed);
}

/* Returns how many of n entries are not above (addr, bytes): the index where such an entry
 * belongs. */
static inline size_t ft_attached_position(const struct ft_attached *t, size_t n, uint64_t addr,
                                          uint64_t bytes)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        uint64_t a = ft_attached_get(&t[mid].addr);
        if (a < addr || (a == addr && ft_attached_get(&t[mid].bytes) <= bytes))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The result of a lookup: [begin, end) lies at off of the owner's arena. */
struct ft_attached_found {
    uint64_t begin, end, off;
};

/* Finds the regions around addr, without a gap, as far as `last`. Nothing there: begin = end. */
static inline void ft_attached_around(const struct ft_attached *t, size_t n, uint64_t addr,
                                      uint64_t last, struct ft_attached_found *f)
{
    size_t i = t ? ft_attached_position(t, n, addr, UINT64_MAX) : 0;
    while (i > 0 && ft_attached_get(&t[i - 1].bytes) == 0)
        i--;
    *f = (struct ft_attached_found){0, 0, 0};
    if (i == 0)
        return;
    f->begin = ft_attached_get(&t[i - 1].addr);
    f->end = f->begin + ft_attached_get(&t[i - 1].bytes);
    f->off = ft_attached_get(&t[i - 1].off);
    for (; i < n && f->end < last && ft_attached_get(&t[i].addr) == f->end &&
           ft_attached_get(&t[i].off) - f->off == f->end - f->begin;
         i++)
        f->end += ft_attached_get(&t[i].bytes);
}

/* [addr, addr + len) lies in what was found. */
static inline int ft_attached_has(const struct ft_attached_found *f, uint64_t addr, uint64_t len)
{
    return addr >= f->begin && addr - f->begin < f->end - f->begin && len <= f->end - addr;
}

#endif
