/* SPDX-License-Identifier: BSD-3-Clause
 *
 * private.h - memory for what main and agent share, outside of the program's heap: pages of the
 * heap may be turned into shared ones in place (MPI_Win_create), and nobody but main may write to
 * them meanwhile.
 */
#ifndef FT_BASE_PRIVATE_H
#define FT_BASE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed pages of our own; NULL when there are none. Any thread. */
void *ft_private_alloc(size_t bytes);
void ft_private_free(void *p, size_t bytes); /* p may be NULL */
/* Addresses that we have otherwise and that are no program's, too: mapped, or a block of the heap
 * that lives on; and no longer. Of blocks only those of FT_PRIVATE_LEAST bytes or more matter. */
#define FT_PRIVATE_LEAST ((size_t)64 << 10)
void ft_private_claim(const void *p, size_t bytes);
void ft_private_disclaim(const void *p);
/* What is ours now, as far as there was room to remember it: no memory of the program's. */
void ft_private_each(void (*each)(void *arg, uint64_t from, uint64_t to), void *arg);

#endif
