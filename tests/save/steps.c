/* SPDX-License-Identifier: BSD-3-Clause
 *
 * steps.c - a program whose every step can be seen: rank 0 prints a line a step, all look at the clock, setup reads
 * standard input and does what the environment says: STEPS_ADD is added to an atomic's word, STEPS_BYTES are in a
 * window, STEPS_COMMS communicators are made, STEPS_BARE: FTRMA_Run is not called; STEPS_EXIT is the exit status;
 * STEPS_TAKE is a directory that gets the name STEPS_TO after step 50.
 */
#include <ftrma.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    int step;
    unsigned long long sum;
    double clock;
} state;
static int rank, size, steps;
static unsigned long long *word, add;
static MPI_Win win;

static void work(void *arg)
{
    (void)arg;
    for (; state.step < steps; state.step++) {
        FTRMA_Safepoint();
        double now = MPI_Wtime();
        if (now < state.clock) {
            fprintf(stderr, "rank %d: the clock went back from %f to %f\n", rank, state.clock, now);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        state.clock = now;
        unsigned long long v = state.sum * 31 + (unsigned)(rank + state.step), old;
        MPI_Win_fence(0, win);
        MPI_Put(&v, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 0, 1, MPI_UNSIGNED_LONG_LONG, win);
        MPI_Win_fence(0, win);
        MPI_Sendrecv(word, 1, MPI_UNSIGNED_LONG_LONG, (rank + 2) % size, 5, &old, 1, MPI_UNSIGNED_LONG_LONG,
                     (rank + size - 2) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        state.sum = word[0] ^ old ^ add;
        if (rank == 0)
            printf("step %d\n", state.step);
        if (rank == 0 && state.step == 50 && getenv("STEPS_TAKE"))
            rename(getenv("STEPS_TAKE"), getenv("STEPS_TO"));
    }
}

static int number(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }

static void setup(void)
{
    MPI_Comm comm;
    unsigned long long first = (unsigned long long)number("STEPS_ADD", 1), one = 1;
    MPI_Win_allocate(number("STEPS_BYTES", 16), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    for (int i = 0; i < number("STEPS_COMMS", 1); i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    word[1] = first;
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(&one, &add, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 1, MPI_SUM, win);
    MPI_Win_fence(0, win);
    char line[64] = "0\n";
    if (rank == 0 && !fgets(line, sizeof line, stdin))
        strcpy(line, "0\n");
    MPI_Bcast(line, sizeof line, MPI_CHAR, 0, MPI_COMM_WORLD);
    state.sum = strtoull(line, NULL, 10);
    if (rank == 0)
        printf("setup\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atoi(argv[1]) : 30;
    setup();
    FTRMA_Protect(&state, sizeof state);
    if (getenv("STEPS_BARE"))
        work(NULL);
    else
        FTRMA_Run(work, NULL);
    unsigned long long sum = 0;
    MPI_Reduce(&state.sum, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %016llx\n", sum);
    MPI_Win_free(&win);
    MPI_Finalize();
    return number("STEPS_EXIT", 0);
}
