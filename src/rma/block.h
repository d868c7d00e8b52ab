/* SPDX-License-Identifier: BSD-3-Clause
 *
 * block.h - windows of MPI_Win_allocate_shared: a block of one process's memory.
 */
#ifndef FT_RMA_BLOCK_H
#define FT_RMA_BLOCK_H

#include "rma/rma_internal.h"

/* Whether any of this memory belongs to such a window; whether all of it does, to one: then it may
 * be a part of another window. */
int ft_block_has(const void *p, size_t bytes);
int ft_block_holds(const void *p, size_t bytes);
/* Where w's own part, which is such memory, lies now. */
void ft_block_lend(const struct ft_win *w, struct ft_win_entry *e);
/* Making it: all parts' sizes are known (begin), then all parts are published (join). */
enum ft_status ft_block_begin(struct ft_win *w, int apart);
enum ft_status ft_block_join(struct ft_win *w);
/* It was freed before the image that this process will restore: there is no memory. */
int ft_block_gone(const struct ft_win *w);
/* Where target's part is mapped here. */
char *ft_block_part(const struct ft_win *w, int target);
void ft_block_cut(uint64_t version);
void ft_block_free(struct ft_win *w);

#endif
