/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.h - turns pages of the program into shared ones in place, so that others can access a
 * window that lies in them.
 */
#ifndef FT_TRANSPORT_SHARE_H
#define FT_TRANSPORT_SHARE_H

#include "transport/arena.h"

/* Turns the pages of [addr, addr + bytes) into shared ones in place, as far as they are not yet,
 * and returns the offset of addr in *off. The pages may be of the program's stack, heap or static
 * data; contents and addresses stay. Main only; no other thread may write to these pages meanwhile.
 * FT_ERR_NOMEM, FT_ERR_SYS; FT_ERR_RANGE: there is no memory. */
enum ft_status ft_arena_share(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off);
/* The same for programs that share thousands of ranges: its time depends on the number of ranges,
 * not of the process's mappings. It takes pages with a range on them for shared, which is wrong
 * only if the program has mapped others over them. */
enum ft_status ft_arena_share_one_of_many(struct ft_arena *a, void *addr, uint64_t bytes,
                                          uint64_t *off);
/* Ends a share with the same arguments: pages on which no other shared range lies become private
 * again. */
void ft_arena_unshare(struct ft_arena *a, void *addr, uint64_t bytes);
/* For a fork (apart.h). ft_share_any: 1 if some range is shared. ft_share_copy: in the child, on a
 * stack that is not shared, turns all pages into private ones, and leaves the parent's as they are.
 * Returns 0 if there is no memory. Async-signal-safe. */
int ft_share_any(void);
int ft_share_copy(void);

#endif
