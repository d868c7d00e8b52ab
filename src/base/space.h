/* SPDX-License-Identifier: BSD-3-Clause
 *
 * space.h - checks that a process can map everything that it has to: compares the limit on address
 * space (ulimit -v) with the arenas of a job.
 */
#ifndef FT_BASE_SPACE_H
#define FT_BASE_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* Returns 1 if a process of a job of nprocs processes has room for itself and for all arenas, of
 * arena_bytes of addresses each, under the caller's limit. Returns 0 if not: then `why` gives the
 * limit, what is needed, and what helps. */
int ft_space_suffices(int nprocs, uint64_t arena_bytes, char *why, size_t size);
/* The same for a given limit in bytes. */
int ft_space_suffices_in(uint64_t limit, int nprocs, uint64_t arena_bytes, char *why, size_t size);

#endif
