/* SPDX-License-Identifier: BSD-3-Clause
 *
 * area.h - chooses addresses for what the program sees: windows and memory of MPI_Alloc_mem.
 *
 *   begin                                                                    end
 *   |guard| block |guard ...| block |  free  |guard| block |guard|   free     |
 *
 * Pointers to such memory keep their meaning in a replacement. So the place of a block depends on
 * the program's own calls and on nothing else: it is the lowest gap that is large enough, given the
 * blocks there are. Nothing of the library's own lies in an area. Between two blocks, and at both
 * ends, at least one page belongs to no block; the user of an area makes sure that no access to
 * such a page succeeds.
 *
 * An area only does the bookkeeping. It has no lock: its caller serialises.
 */
#ifndef FT_TRANSPORT_AREA_H
#define FT_TRANSPORT_AREA_H

#include "base/base.h"

struct ft_area_block {
    uint64_t at, bytes; /* whole pages */
    /* where the memory lies; differs from `at` if those addresses could not be had */
    uint64_t real;
    uint64_t mark; /* free for the user of the area */
};

struct ft_area {
    uint64_t begin, end;         /* multiples of FT_AREA_COARSE */
    struct ft_area_block *block; /* ordered by address */
    size_t n, cap;
};
/* Blocks of this size or more begin at a multiple of it, for huge pages. */
#define FT_AREA_COARSE (2ull << 20)

/* Allocates nothing before the first block. */
void ft_area_init(struct ft_area *a, uint64_t begin, uint64_t end);
void ft_area_finish(struct ft_area *a);
/* Returns a new block of `bytes`, rounded up to pages; NULL: no room. Valid until the next call
 * that changes the area. */
struct ft_area_block *ft_area_take(struct ft_area *a, uint64_t bytes);
/* Takes the block at this address again; at and bytes are those of a former block, and nothing lies
 * there now. NULL: no memory. */
struct ft_area_block *ft_area_take_at(struct ft_area *a, uint64_t at, uint64_t bytes);
/* ft_area_block_at: the block that begins at `at`. ft_area_first_in: the first block that has
 * bytes, or a guard page, in [at, at + bytes). NULL: there is none. */
struct ft_area_block *ft_area_block_at(const struct ft_area *a, uint64_t at);
struct ft_area_block *ft_area_first_in(const struct ft_area *a, uint64_t at, uint64_t bytes);
void ft_area_give_back(struct ft_area *a, struct ft_area_block *b);
static inline int ft_area_has(const struct ft_area *a, uint64_t at)
{
    return at >= a->begin && at < a->end;
}
/* Checks the structure by assertions. */
void ft_area_check(const struct ft_area *a);

#endif
