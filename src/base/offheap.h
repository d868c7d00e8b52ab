/* SPDX-License-Identifier: BSD-3-Clause
 *
 * offheap.h - memory for main at moments that a replay does not repeat, for example for messages
 * that came early. It does not come from the program's heap, whose addresses must not depend on
 * such moments (runtime/heap.c).
 *
 * Blocks have sizes of powers of two. They are cut from mappings that are never returned, and large
 * ones have mappings of their own, some of which are kept for the next block of that size. Only
 * main may call this, or the agent in its place (transport/turn.h): inside a call (runtime_door.h).
 * Lack of memory ends the process, except in ft_offheap_try, which then returns NULL.
 */
#ifndef FT_BASE_OFFHEAP_H
#define FT_BASE_OFFHEAP_H

#include <stddef.h>

void *ft_offheap_alloc(size_t bytes); /* contents undefined */
void *ft_offheap_try(size_t bytes);   /* likewise */
void *ft_offheap_zeroed(size_t bytes);
void *ft_offheap_realloc(void *p, size_t bytes); /* p may be NULL */
void ft_offheap_free(void *p);

#endif
