/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user.c - a user's program: each rank adds its number to the window of all others, ten times.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 10

struct state {
    MPI_Win win;
    long *sum; /* the window */
    int round, rank, size;
};

static void body(void *arg)
{
    struct state *s = arg;
    for (; s->round < ROUNDS; s->round++) {
        long mine = s->rank + 1;
        FTRMA_Safepoint();
        MPI_Win_fence(0, s->win);
        for (int q = 0; q < s->size; q++)
            MPI_Accumulate(&mine, 1, MPI_LONG, q, 0, 1, MPI_LONG, MPI_SUM, s->win);
        MPI_Win_fence(0, s->win);
    }
}

int main(int argc, char **argv)
{
    static struct state s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    MPI_Win_allocate(sizeof *s.sum, sizeof *s.sum, MPI_INFO_NULL, MPI_COMM_WORLD, &s.sum, &s.win);
    *s.sum = 0;
    FTRMA_Protect(&s.round, sizeof s.round);
    if (FTRMA_Run(body, &s) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    long expected = ROUNDS * (long)s.size * (s.size + 1) / 2, sum = *s.sum;
    MPI_Win_free(&s.win);
    if (s.rank == 0)
        printf("sum %ld, expected %ld\n", sum, expected);
    MPI_Finalize();
    return sum != expected;
}
