/* SPDX-License-Identifier: BSD-3-Clause
 *
 * told.c - a program that repairs itself: a chain of cells, in pieces, one on each rank. Each rank
 * also keeps a copy of its left neighbour's piece. If a rank is lost, the others keep their memory,
 * the new one gets its piece from its right neighbour, and nobody goes back.
 *
 *   ftrun -n 4 --recovery program --inject rank=2,point=coll.enter,hit=120 ./told
 *
 * Two neighbours that are lost at once are more than it can repair; then it begins again.
 */
#include <ftrma.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 1000
#define STEPS 300
#define MAX_NEW 64

/* Of two steps: the newest one that is complete, and the one that is being made of it. */
static double piece[2][CELLS], copy[2][CELLS]; /* copy: of the left neighbour's */
static int step, rank, size, left, right, repairs;

static void begin(void)
{
    for (int i = 0; i < CELLS; i++) {
        piece[0][i] = sin(0.001 * (rank * CELLS + i));
        copy[0][i] = sin(0.001 * (left * CELLS + i));
    }
    step = 0;
}

static int is_new(int r, const int *new, int n)
{
    for (int i = 0; i < n; i++)
        if (new[i] == r)
            return 1;
    return 0;
}

/* The step to go on from: all survivors have it, as nobody begins another one before all have
 * finished it. */
static void repair(const int *new, int n)
{
    int mine = is_new(rank, new, n) ? INT_MAX : step, beyond = n > MAX_NEW;
    for (int i = 0; i < n && i < MAX_NEW; i++)
        beyond |= is_new((new[i] + 1) % size, new, n);
    if (beyond) {
        begin();
        return;
    }
    MPI_Allreduce(&mine, &step, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) { /* its piece from the right, and its copy from the left */
        int next = (new[i] + 1) % size, before = (new[i] + size - 1) % size;
        if (rank == next)
            MPI_Send(copy[step % 2], CELLS, MPI_DOUBLE, new[i], 1, MPI_COMM_WORLD);
        if (rank == before)
            MPI_Send(piece[step % 2], CELLS, MPI_DOUBLE, new[i], 2, MPI_COMM_WORLD);
        if (rank == new[i]) {
            MPI_Recv(piece[step % 2], CELLS, MPI_DOUBLE, next, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Recv(copy[step % 2], CELLS, MPI_DOUBLE, before, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }
}

static void body(void *arg)
{
    int new[MAX_NEW], n = FTRMA_Replaced(new, NULL, MAX_NEW);
    double sum = 0, all = 0;
    (void)arg;
    if (n) {
        repair(new, n);
        repairs++;
    }
    while (step < STEPS) {
        FTRMA_Safepoint(); /* all that was lost is there again */
        const double *was = piece[step % 2];
        double *now = piece[(step + 1) % 2], before, after;
        MPI_Sendrecv(&was[CELLS - 1], 1, MPI_DOUBLE, right, 3, &before, 1, MPI_DOUBLE, left, 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&was[0], 1, MPI_DOUBLE, left, 4, &after, 1, MPI_DOUBLE, right, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = 0;
        for (int i = 0; i < CELLS; i++) {
            double l = i ? was[i - 1] : before, r = i < CELLS - 1 ? was[i + 1] : after;
            now[i] = was[i] + 0.25 * (l - 2 * was[i] + r);
            sum += now[i] * now[i];
        }
        MPI_Sendrecv(now, CELLS, MPI_DOUBLE, right, 5, copy[(step + 1) % 2], CELLS, MPI_DOUBLE,
                     left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        step++; /* complete here; nobody writes over the one before until all have come here */
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    double sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    begin();
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < CELLS; i++)
        sum += piece[step % 2][i] * piece[step % 2][i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %.15g after %d steps\nrepaired: %d\n", all, step, repairs);
    MPI_Finalize();
    return 0;
}
