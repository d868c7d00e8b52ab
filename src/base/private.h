/* SPDX-License-Identifier: BSD-3-Clause
 *
 * private.h - memory for what main and agent share, outside of the program's heap: pages of the heap may be turned into
 * shared ones in place (MPI_Win_create), and nobody but main may write to them meanwhile.
 */
#ifndef FT_BASE_PRIVATE_H
#define FT_BASE_PRIVATE_H

#include <stddef.h>
#include <sys/mman.h>

/* Zeroed pages of our own; NULL when there are none. */
static inline void *ft_private_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
static inline void ft_private_free(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

#endif
