/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hole.h - pairs with a hole: MPI_DOUBLE_INT has 12 bytes of 16, MPI_SHORT_INT 2 and 4 of 8. What
 * is in the hole is other data of the program. Whoever combines with the pair writes around it,
 * there, in logs, and when the pair is put back.
 */
#ifndef FT_BASE_HOLE_H
#define FT_BASE_HOLE_H

#include <string.h>

#include "base/base.h"

/* The elements are `stride` bytes apart; bytes at to at + len of each are no data. stride 0: there
 * is no hole, and all is data. */
struct ft_hole {
    uint16_t at : 5, len : 5, stride : 6;
};
#define FT_NO_HOLE ((struct ft_hole){0, 0, 0})
_Static_assert(sizeof(struct ft_hole) == 2, "it has a place in the header of an action");

static inline int ft_hole_is_sound(struct ft_hole h, uint64_t bytes)
{
    return h.stride == 0 || (h.at + h.len <= h.stride && bytes % h.stride == 0);
}

/* Moves *at to the next byte of data, unless it is at one. Returns how many follow it; 0: it was
 * the end. */
static inline size_t ft_hole_data(struct ft_hole h, size_t bytes, size_t *at)
{
    if (h.stride && *at % h.stride == h.at)
        *at += h.len;
    if (*at >= bytes)
        return 0;
    size_t in = h.stride ? *at % h.stride : 0;
    return !h.stride ? bytes - *at : in < h.at ? h.at - in : h.stride - in;
}

/* Copies the data of some elements, and leaves the holes there as they are. Each run of a word is
 * one store: others may look at it at any time. */
static inline void ft_hole_copy(void *to, const void *from, size_t bytes, struct ft_hole h)
{
    for (size_t at = 0, n; (n = ft_hole_data(h, bytes, &at)) > 0; at += n) {
        char *t = (char *)to + at;
        const char *f = (const char *)from + at;
        if (n == 8)
            memcpy(t, f, 8);
        else if (n == 4)
            memcpy(t, f, 4);
        else
            memcpy(t, f, n);
    }
}

#endif
