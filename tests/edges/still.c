/* SPDX-License-Identifier: BSD-3-Clause
 *
 * still.c - ranks 0 and 2 are over soon; rank 1 is not, for as long as its argument says:
 *
 *   computes N   it makes no call for N seconds, then sends what the others wait for
 *   tests N      it looks in a loop of MPI_Test for a message that comes after N seconds
 *   ring         no rank is over: each waits for the one before it
 *   finalize     rank 1 waits for a message from rank 0, which is in MPI_Finalize
 *   stopped N    rank 1 waits for rank 0, which is stopped for N seconds (by a signal from its
 * child)
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrma.h"

static const char *what;
static int rank, size, value;
static unsigned seconds;

static int is(const char *word) { return strcmp(what, word) == 0; }

/* Stops this process; a child continues it after `seconds`. */
static void stop(void)
{
    pid_t self = getpid();
    if (fork() == 0) {
        sleep(seconds);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void await(int from)
{
    MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void tell(int to) { MPI_Send(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD); }

static void test(int from)
{
    MPI_Request r;
    int done = 0;
    MPI_Irecv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &r);
    while (!done)
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
}

static void body(void *arg)
{
    (void)arg;
    FTRMA_Safepoint();
    if (is("ring")) {
        await((rank + size - 1) % size);
    } else if (is("computes") && rank == 1) {
        sleep(seconds);
        tell(0);
    } else if (is("computes") && rank == 0) {
        await(1);
    } else if (is("tests") && rank == 1) {
        test(0);
    } else if (is("tests") && rank == 0) {
        sleep(seconds);
        tell(1);
    } else if (is("stopped") && rank == 0) {
        stop();
        tell(1);
    } else if (is("stopped") && rank == 1) {
        await(0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    what = argc > 1 ? argv[1] : "";
    seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    if (!is("finalize"))
        FTRMA_Run(body, NULL);
    else if (rank == 1)
        await(0);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
