/* SPDX-License-Identifier: BSD-3-Clause
 *
 * section.c - ranks 2 and 3, on one node, put to rank 1 and count at rank 0, on two other nodes, as
 * fast as they can: each is inside of the critical section of rank 0's part again and again, with a
 * put to rank 1 that is not flushed.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 5, TURNS = 500, WORDS = 4 };

static MPI_Win win;
static long *mine, put[TURNS], old[TURNS];
static const long one = 1;
static int me, step;

static void body(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(0, win);
    for (; step < STEPS; step++) {
        FTRMA_Safepoint();
        for (int i = 0; me >= 2 && i < TURNS; i++) {
            put[i] = (long)step * TURNS + i;
            MPI_Put(&put[i], 1, MPI_LONG, 1, me, 1, MPI_LONG, win);
            MPI_Fetch_and_op(&one, &old[i], MPI_LONG, 0, 0, MPI_SUM, win);
        }
        MPI_Win_flush_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long sum = 0, part = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    for (int i = 0; i < WORDS; i++)
        mine[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&step, sizeof step);
    FTRMA_Run(body, NULL);
    for (int i = 0; i < WORDS; i++)
        part = 31 * part + mine[i];
    MPI_Reduce(&part, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %ld\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
