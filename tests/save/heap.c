/* SPDX-License-Identifier: BSD-3-Clause
 *
 * heap.c - a pointer into the heap is kept in protected memory. Body looks whether it is where
 * setup's memory lies now, and goes on with that memory by the pointer only.
 *
 * With $HEAP_BEFORE it allocates 5 MiB before MPI_Init, as a host may do inside of it.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 12, WORDS = 5000, BLOCKS = 160, BLOCK = 32 << 10 };

static struct {
    long step, sum;
    long *at;
} state;
static long *data; /* what setup was given: not protected */
static void *volatile before[BLOCKS];

static void body(void *arg)
{
    int me = *(int *)arg;
    while (state.step < STEPS) {
        FTRMA_Safepoint();
        if (state.at != data) {
            printf("WRONG: rank %d has its data at %p, and its pointer says %p\n", me, (void *)data,
                   (void *)state.at);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        for (long i = 0; i < WORDS; i++)
            state.sum += (state.at[i] = 3 * state.at[i] + i + me) % 1000;
        MPI_Barrier(MPI_COMM_WORLD);
        state.step++;
    }
}

int main(int argc, char **argv)
{
    int me;
    long all = 0;
    for (int i = 0; getenv("HEAP_BEFORE") && i < BLOCKS; i++)
        before[i] = malloc(BLOCK);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    data = calloc(WORDS, sizeof *data);
    if (!data)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state.at = data;
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Protect(data, WORDS * sizeof *data);
    FTRMA_Run(body, &me);
    MPI_Reduce(&state.sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %ld\n", all);
    MPI_Finalize();
    return 0;
}
