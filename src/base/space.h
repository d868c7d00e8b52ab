/* SPDX-License-Identifier: BSD-3-Clause
 *
 * space.h - whether a process may map all that it has to: the limit on address space (ulimit -v)
 * against the arenas of a job.
 */
#ifndef FT_BASE_SPACE_H
#define FT_BASE_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* 1: a process of a job of nprocs, whose arenas have so many bytes of addresses each, has room for
 * them and for itself under the limit that holds for the caller. 0: why says what the limit is,
 * what is needed and what helps. */
int ft_space_suffices(int nprocs, uint64_t arena_bytes, char *why, size_t size);
/* The same for a given limit in bytes. */
int ft_space_suffices_in(uint64_t limit, int nprocs, uint64_t arena_bytes, char *why, size_t size);

#endif
