/* SPDX-License-Identifier: BSD-3-Clause
 *
 * offheap.h - memory that main needs at times of its own: for what a replay reads, for messages
 * that came early. Not from the program's heap, whose addresses must not depend on it
 * (runtime/heap.c).
 *
 * Blocks come in sizes of powers of two from mappings that are kept. Main only, or the agent in its
 * place (transport/turn.h). Never NULL: no memory ends the process.
 */
#ifndef FT_BASE_OFFHEAP_H
#define FT_BASE_OFFHEAP_H

#include <stddef.h>

void *ft_offheap_alloc(size_t bytes); /* of any content */
void *ft_offheap_zeroed(size_t bytes);
void *ft_offheap_realloc(void *p, size_t bytes); /* p may be NULL */
void ft_offheap_free(void *p);

#endif
