/* SPDX-License-Identifier: BSD-3-Clause
 *
 * space.c - see space.h.
 */
#include "base/space.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/base.h"

#define MIB (1ull << 20)
#define ITSELF (1ull << 30)       /* addresses for the program, its libraries and the host MPI */
#define ARENA_LEAST (64ull << 20) /* a smaller arena does not help: it would be full at once */

/* A process maps the arena of each process, and needs the same space once more for its home log.
 */
static uint64_t maps(int nprocs) { return (uint64_t)nprocs + 1; }

int ft_space_suffices_in(uint64_t limit, int nprocs, uint64_t arena_bytes, char *why, size_t size)
{
    uint64_t most = limit > ITSELF ? (limit - ITSELF) / maps(nprocs) & ~(2 * MIB - 1) : 0;
    if (arena_bytes <= most)
        return 1;
    int n = snprintf(why, size,
                     "the limit on address space is %llu MiB (ulimit -v), but each process of a "
                     "job of %d maps %llu arenas of %llu MiB: "
                     "lift the limit (ulimit -v unlimited)",
                     (unsigned long long)(limit / MIB), nprocs, (unsigned long long)maps(nprocs),
                     (unsigned long long)(arena_bytes / MIB));
    if (most >= ARENA_LEAST && n > 0 && (size_t)n < size)
        snprintf(why + n, size - (size_t)n, ", or make arenas smaller (FTRMA_ARENA_SIZE=%lluM)",
                 (unsigned long long)(most / MIB));
    return 0;
}

int ft_space_suffices(int nprocs, uint64_t arena_bytes, char *why, size_t size)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
        return 1;
    return ft_space_suffices_in(r.rlim_cur, nprocs, arena_bytes, why, size);
}
