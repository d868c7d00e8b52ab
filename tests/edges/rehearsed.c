/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rehearsed.c - a loop that passes values around a ring, correct except for what its argument says:
 *
 *   nothing      it is right
 *   array        one of its two arrays is not protected
 *   loop         its loop variable is not protected: a replacement begins at 0
 *   short        it makes an iteration more on rank 0 than on the others, failure or not
 *   times        it is right, and prints times and process ids
 *   input        rank 0 reads numbers from standard input, and no rank calls FTRMA_Run
 *   fails        it ends with status 3
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrma.h"

enum { ITERATIONS = 24, CELLS = 64 };

static struct {
    int iteration;
    double sum;
} at;
static double sent[CELLS], kept[CELLS];
static const char *what;
static int rank, size;

static int is(const char *word) { return strcmp(what, word) == 0; }

static void step(int it)
{
    double got[CELLS], mine = 0, all;
    MPI_Sendrecv(sent, CELLS, MPI_DOUBLE, (rank + 1) % size, 0, got, CELLS, MPI_DOUBLE,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < CELLS; i++) {
        kept[i] = 0.5 * kept[i] + got[i] + it;
        sent[i] = kept[i] / (1 + i % 7);
        mine += sent[i];
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    at.sum += all;
}

static void body(void *arg)
{
    (void)arg;
    int local = 0, *it = is("loop") ? &local : &at.iteration,
        last = ITERATIONS + (is("short") && rank == 0);
    while (*it < last) {
        FTRMA_Safepoint();
        step(*it);
        ++*it;
    }
}

static int input(void)
{
    long v[2] = {0, 0};
    for (long n; rank == 0 && scanf("%ld", &n) == 1; v[0] += n)
        v[1]++;
    MPI_Bcast(v, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    printf("rank %d: %ld numbers, sum %ld\n", rank, v[1], v[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    what = argc > 1 ? argv[1] : "nothing";
    if (is("input"))
        return input();
    double begin = MPI_Wtime();
    for (int i = 0; i < CELLS; i++)
        sent[i] = rank + i;
    FTRMA_Protect(&at, sizeof at);
    FTRMA_Protect(sent, sizeof sent);
    if (!is("array"))
        FTRMA_Protect(kept, sizeof kept);
    FTRMA_Run(body, NULL);
    if (rank == 0)
        printf("sum %.17g\n", at.sum);
    if (is("times"))
        printf("rank %d, process %d: took %.6f s\n", rank, (int)getpid(), MPI_Wtime() - begin);
    MPI_Finalize();
    return is("fails") ? 3 : 0;
}
