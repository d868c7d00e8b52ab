/* SPDX-License-Identifier: BSD-3-Clause
 *
 * block.h - windows of MPI_Win_allocate_shared: parts of one block of memory.
 */
#ifndef FT_RMA_BLOCK_H
#define FT_RMA_BLOCK_H

#include "rma/rma_internal.h"

/* ft_block_has: whether any of this memory belongs to such a window. The other: whether all of it
 * belongs to one; then it may be a part of another window. */
int ft_block_has(const void *p, size_t bytes);
int ft_block_holds(const void *p, size_t bytes);
/* Writes where w's own part, which is such memory, lies now. */
void ft_block_lend(const struct ft_win *w, struct ft_win_entry *e);
/* The two steps of making a block: when the sizes of all parts are known (begin), and when all
 * parts are published (join). */
enum ft_status ft_block_begin(struct ft_win *w, int apart);
enum ft_status ft_block_join(struct ft_win *w);
/* The window was freed before the image that this process will restore: it has no memory. */
int ft_block_gone(const struct ft_win *w);
/* The address of target's part in this process. */
char *ft_block_part(const struct ft_win *w, int target);
void ft_block_cut(uint64_t version);
void ft_block_free(struct ft_win *w);

#endif
