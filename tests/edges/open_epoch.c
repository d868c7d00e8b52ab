/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open_epoch.c - each rank puts into the next one's window, and flushes at every fourth safepoint
 * only: its epoch is open over most checkpoints. Rank 1, which is to be lost, flushes before each
 * safepoint: an open epoch of its own would take all ranks back until the checkpoint is committed.
 */
#include <mpi.h>
#include <stdio.h>

#include "ftrma.h"

enum { ROUNDS = 40 };
static long round_, sum;
static long *part;
static MPI_Win win;

static void body(void *arg)
{
    (void)arg;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (round_ < ROUNDS) {
        FTRMA_Safepoint();
        if (round_ % 4 == 3)
            MPI_Win_flush_all(win);
        long v = round_ * 10 + rank;
        MPI_Put(&v, 1, MPI_LONG, (rank + 1) % size, round_, 1, MPI_LONG, win);
        MPI_Barrier(MPI_COMM_WORLD); /* the target may be lost here, after the put, */
        MPI_Barrier(MPI_COMM_WORLD); /* and is another process at the next safepoint */
        if (rank == 1)
            MPI_Win_flush_all(win);
        sum += v;
        round_++;
    }
}

int main(int argc, char **argv)
{
    long all;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(ROUNDS * (MPI_Aint)sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &part, &win);
    for (int i = 0; i < ROUNDS; i++)
        part[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    FTRMA_Protect(&round_, sizeof round_);
    FTRMA_Protect(&sum, sizeof sum);
    FTRMA_Run(body, NULL);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++)
        sum = (long)((unsigned long)sum * 31 + (unsigned long)part[i]);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %lx\n", all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
