/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup_pair.c - in setup rank 0 puts into rank 1's window, and rank 1 keeps what it finds there in
 * memory that is not protected: both run setup again when they are lost.
 */
#include <mpi.h>
#include <stdio.h>

#include "ftrma.h"

static long round_, found;

static void body(void *arg)
{
    (void)arg;
    for (; round_ < 4; round_++) {
        FTRMA_Safepoint();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    long *part, x = 4711;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    *part = 0;
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Put(&x, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        found = *part;
    MPI_Win_fence(0, win);
    *part = 0;
    FTRMA_Protect(&round_, sizeof round_);
    FTRMA_Run(body, NULL);
    if (rank == 1)
        printf("result: %ld\n", found);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
