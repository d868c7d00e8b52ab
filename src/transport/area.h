/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.h - addresses for what the program sees: windows, memory of MPI_Alloc_mem.
 *
 *   begin                                                                    end
 *   |guard| block |guard ...| block |  free  |guard| block |guard|   free     |
 *
 * Pointers to such memory keep their meaning in a replacement, so where a block lies depends on the
 * program's own calls and on nothing else: the lowest place that is large enough, given which
 * blocks there are. Nothing of the library's lies in an area. Between two blocks, and at both ends,
 * there is a page at least that is no block's; who uses an area sees to it that no access succeeds
 * there.
 *
 * An area only counts. Thread rules: none; the caller serialises.
 */
#ifndef FT_TRANSPORT_AREA_H
#define FT_TRANSPORT_AREA_H

#include "base/base.h"

struct ft_area_block {
    uint64_t at, bytes; /* whole pages */
    uint64_t real; /* where the memory lies; another place than `at` if those addresses were not to
                      be had */
    uint64_t mark; /* the user's */
};

struct ft_area {
    uint64_t begin, end;         /* multiples of FT_AREA_COARSE */
    struct ft_area_block *block; /* by address */
    size_t n, cap;
};
/* blocks of this size or more begin at a multiple of it: huge pages */
#define FT_AREA_COARSE (2ull << 20)

/* No memory is taken before the first block. */
void ft_area_init(struct ft_area *a, uint64_t begin, uint64_t end);
void ft_area_finish(struct ft_area *a);
/* The new block, NULL: no room. Valid until the next call that changes the area. bytes are rounded
 * up to pages. */
struct ft_area_block *ft_area_take(struct ft_area *a, uint64_t bytes);
/* A block at this very place, in which there is none; at and bytes are those of a block that once
 * was. NULL: no memory. */
struct ft_area_block *ft_area_take_at(struct ft_area *a, uint64_t at, uint64_t bytes);
/* The block that begins at `at`; the first that has bytes, or a guard page, in [at, at + bytes).
 * NULL: there is none. */
struct ft_area_block *ft_area_block_at(const struct ft_area *a, uint64_t at);
struct ft_area_block *ft_area_first_in(const struct ft_area *a, uint64_t at, uint64_t bytes);
void ft_area_give_back(struct ft_area *a, struct ft_area_block *b);
static inline int ft_area_has(const struct ft_area *a, uint64_t at)
{
    return at >= a->begin && at < a->end;
}
/* Structure self-check: asserts. */
void ft_area_check(const struct ft_area *a);

#endif
