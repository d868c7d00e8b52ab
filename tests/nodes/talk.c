/* SPDX-License-Identifier: BSD-3-Clause
 *
 * talk.c - a ring, collectives, long and synchronous messages; each rank prints what it came to.
 *
 *   talk            does that
 *   talk kill R     rank R kills itself in the middle
 *   talk exit R     ... or ends with status 3
 *   talk window     all make a shared window together
 *   talk file       all open a file together
 *   talk errors     rank 0 also writes a line to standard error
 *   talk wait FILE  rank 0 makes FILE, and all wait until it has gone
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONG_MESSAGE (3 << 20)

static int me, np;

static int ring(int rounds)
{
    int mine = me, theirs;
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(&mine, 1, MPI_INT, (me + 1) % np, 7, &theirs, 1, MPI_INT, (me + np - 1) % np,
                     7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = theirs + 1;
    }
    return mine;
}

static unsigned long long_ones(void)
{
    unsigned char *out = malloc(LONG_MESSAGE), *in = malloc(LONG_MESSAGE);
    unsigned long sum = 0;
    MPI_Request r[2];
    for (int i = 0; i < LONG_MESSAGE; i++)
        out[i] = (unsigned char)(i * 7 + me);
    MPI_Irecv(in, LONG_MESSAGE, MPI_BYTE, (me + 1) % np, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Issend(out, LONG_MESSAGE, MPI_BYTE, (me + np - 1) % np, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LONG_MESSAGE; i++)
        sum = sum * 31 + in[i];
    free(out);
    free(in);
    return sum;
}

static double collectives(void)
{
    double x[3] = {me + 0.1, 1.0 / (me + 1), -me}, y[3], all[64] = {0};
    MPI_Allreduce(x, y, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(&y[1], 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Bcast(&y[0], 1, MPI_DOUBLE, np - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return y[0] + y[2] + all[np - 1];
}

static void stop(const char *how)
{
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    exit(3);
}

static void until_it_has_gone(const char *name)
{
    int there = 1;
    FILE *f = me == 0 ? fopen(name, "w") : NULL;
    if (f)
        fclose(f);
    while (there) {
        there = access(name, F_OK) == 0;
        usleep(1000);
        MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *more = argc > 2 ? argv[2] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (np > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    int stops = (strcmp(what, "kill") == 0 || strcmp(what, "exit") == 0) && atoi(more) == me;
    int came_to = ring(100);
    if (strcmp(what, "errors") == 0 && me == 0)
        fprintf(stderr, "an error\n");
    if (stops)
        stop(what);
    if (strcmp(what, "wait") == 0)
        until_it_has_gone(more);
    if (strcmp(what, "window") == 0) {
        MPI_Win w;
        void *base;
        MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    }
    if (strcmp(what, "file") == 0) {
        MPI_File f;
        MPI_File_open(MPI_COMM_WORLD, "it", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    }
    unsigned long sum = long_ones();
    double c = collectives();
    came_to += ring(10);
    printf("rank %d of %d: %d, %lx, %.17g\n", me, np, came_to, sum, c);
    MPI_Finalize();
    return 0;
}
