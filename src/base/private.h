/* SPDX-License-Identifier: BSD-3-Clause
 *
 * private.h - memory that main and agent share, outside of the program's heap. MPI_Win_create may
 * turn pages of the heap into shared ones in place, and nobody but main may write to them
 * meanwhile.
 */
#ifndef FT_BASE_PRIVATE_H
#define FT_BASE_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

/* Returns zeroed pages of the library's own, or NULL when there is no memory. Any thread. */
void *ft_private_alloc(size_t bytes);
void ft_private_free(void *p, size_t bytes); /* p may be NULL */
/* ft_private_claim marks memory that the library has from elsewhere as not the program's: a
 * mapping, or a block of the heap that is never freed. ft_private_disclaim takes the mark away.
 * Only blocks of at least FT_PRIVATE_LEAST bytes matter. */
#define FT_PRIVATE_LEAST ((size_t)64 << 10)
void ft_private_claim(const void *p, size_t bytes);
void ft_private_disclaim(const void *p);
/* Calls `each` for all that is the library's now, as far as there was room to remember it. None of
 * it is the program's memory. */
void ft_private_each(void (*each)(void *arg, uint64_t from, uint64_t to), void *arg);

#endif
