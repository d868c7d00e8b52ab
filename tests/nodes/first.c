/* SPDX-License-Identifier: BSD-3-Clause
 *
 * first.c - rank 1 alone accesses the window of a rank on another node in setup: no log has that, and no process that
 * survives it has done the like. "put": it puts there, and the target changes what was put. "get": it gets what the
 * target changes later.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define STEPS 20

static MPI_Win win;
static long *mine, got;
static int rank, step;

static void body(void *arg)
{
    (void)arg;
    for (; step < STEPS; step++) {
        FTRMA_Safepoint();
        MPI_Barrier(MPI_COMM_WORLD);
        mine[0] += rank == 3;
    }
}

int main(int argc, char **argv)
{
    long sum = 0, part;
    int put = argc < 2 || strcmp(argv[1], "get") != 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    mine[0] = 100;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        long seven = 7;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
        if (put)
            MPI_Put(&seven, 1, MPI_LONG, 3, 0, 1, MPI_LONG, win);
        else
            MPI_Get(&got, 1, MPI_LONG, 3, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(3, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc < 3)
        FTRMA_Protect(&step, sizeof step);
    if (argc < 3)
        FTRMA_Run(body, NULL);
    else /* without FTRMA_Run */
        body(NULL);
    part = mine[0] + got;
    MPI_Reduce(&part, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %ld\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
