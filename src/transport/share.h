/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.h - pages of the program that become shared ones in place, so that others can access a
 * window that lies in them.
 */
#ifndef FT_TRANSPORT_SHARE_H
#define FT_TRANSPORT_SHARE_H

#include "transport/arena.h"

/* Turns the pages of [addr, addr + bytes) into shared ones in place (those that are not yet) and
 * returns the offset of addr. The program's stack, heap, static data: contents and addresses stay.
 * Main thread only; no other thread may write to these pages meanwhile. FT_ERR_NOMEM, FT_ERR_SYS.
 */
enum ft_status ft_arena_share(struct ft_arena *a, void *addr, uint64_t bytes, uint64_t *off);
/* The same where thousands are shared: takes time by the number of ranges, not of the process's
 * mappings. Pages on which a range lies are taken to be shared, which they are unless the program
 * has mapped others over them. */
enum ft_status ft_arena_share_one_of_many(struct ft_arena *a, void *addr, uint64_t bytes,
                                          uint64_t *off);
/* The end of a share with the same arguments: pages on which no other shared range lies become
 * private ones again. */
void ft_arena_unshare(struct ft_arena *a, void *addr, uint64_t bytes);

#endif
