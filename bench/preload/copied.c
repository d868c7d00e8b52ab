/* SPDX-License-Identifier: BSD-3-Clause
 *
 * copied.c - preloaded under a program without the library: what it puts is copied once more, to
 * memory that is not read again, as a log of puts must do at least. No envelope, no hash, no order,
 * nothing kept: what is left of a run's time over plain mpirun is the price of the bytes alone on
 * this machine.
 *
 * BENCH_COPIED_MIB (192): the ring that the copies go round, a rank; larger than the caches, as
 * what a log keeps between two checkpoints is. BENCH_COPIED_WARM (1): it is touched before the
 * program begins; 0: with the first copies, as memory for logs is. Contiguous types only.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/copy.h"

static char *ring;
static size_t room, at;

__attribute__((constructor)) static void make_ring(void)
{
    const char *mib = getenv("BENCH_COPIED_MIB"), *warm = getenv("BENCH_COPIED_WARM");
    room = (size_t)(mib ? atoi(mib) : 192) << 20;
    ring = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        abort();
    if (!warm || atoi(warm))
        memset(ring, 1, room);
}

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint disp, int tcount,
            MPI_Datatype ttype, MPI_Win win)
{
    int size;
    MPI_Group group;
    int me;
    MPI_Win_get_group(win, &group);
    MPI_Group_rank(group, &me);
    MPI_Group_free(&group);
    PMPI_Type_size(type, &size);
    size_t bytes = (size_t)count * (size_t)size;
    if (target != me && bytes <= room) { /* what a process puts to itself is not logged either */
        if (bytes > room - at)
            at = 0;
        ft_copy_past(ring + at, origin, bytes);
        at += bytes;
    }
    return PMPI_Put(origin, count, type, target, disp, tcount, ttype, win);
}
