/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ending.c - an MPI program for the tests of ftrun that ends in the way its arguments say:
 *
 *   cli_ending HOW [WHO [STATUS]]      WHO: the rank that does it, the others go on (default all);
 * STATUS: default 0
 *
 * Before MPI_Init, WHO is the process's number in the host's job.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how = "ok";
static int who = -1, status;

static int does(const char *what, int rank)
{
    return strcmp(how, what) == 0 && (who < 0 || who == rank);
}

static void die(int sig)
{
    signal(sig, SIG_DFL);
    kill(getpid(), sig);
}

static void before_init(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    int slot = text ? atoi(text) : 0;
    if (does("segv-before", slot))
        die(SIGSEGV);
    if (does("exit-before", slot))
        exit(status);
    if (does("_exit-before", slot))
        _exit(status);
    if (does("no-mpi", slot)) {
        printf("no MPI here\n");
        exit(status);
    }
}

/* How many processors this rank may use, and the first one. */
static void print_processors(int rank)
{
    cpu_set_t set;
    int first = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    while (!CPU_ISSET(first, &set))
        first++;
    printf("processors of rank %d: %d %d\n", rank, CPU_COUNT(&set), first);
    fflush(stdout);
}

/* A rank's output must arrive even if the rank ends right after it. */
static void before_finalize(int rank)
{
    if (does("exit", rank)) {
        printf("last words of rank %d\n", rank);
        exit(status);
    }
    if (does("_exit", rank))
        _exit(status);
    if (does("_Exit", rank))
        _Exit(status);
    if (does("quick_exit", rank))
        quick_exit(status);
    if (does("cpus", rank))
        print_processors(rank);
    if (does("abort", rank))
        MPI_Abort(MPI_COMM_WORLD, status);
    if (does("segv", rank))
        die(SIGSEGV);
    if (does("child", rank) && fork() == 0)
        _exit(status);
    if (does("forever", rank)) {
        if (rank == 0) {
            printf("under way\n");
            fflush(stdout);
        }
        for (;;)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void finalize(void) { MPI_Finalize(); }

int main(int argc, char **argv)
{
    int rank, size, sum;
    if (argc > 1)
        how = argv[1];
    if (argc > 2)
        who = atoi(argv[2]);
    if (argc > 3)
        status = atoi(argv[3]);
    before_init();
    if (does("atexit", -1))
        atexit(finalize);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    before_finalize(rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        return 99;
    if (rank == 0)
        printf("sum over %d ranks: %d\n", size, sum);
    if (does("atexit", rank))
        exit(status);
    MPI_Finalize();
    if (does("kill-after", rank))
        die(SIGKILL);
    if (does("_exit-after", rank))
        _exit(status);
    return does("exit-after", rank) ? status : 0;
}
