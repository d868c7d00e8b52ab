/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epoch.c - rank 0 adds to a word of its window by loads and stores, in an epoch that is open at
 * each safepoint, and rank 1 by calls, under an exclusive lock:  epoch KIND
 *
 *   KIND  all: MPI_Win_lock_all. own: MPI_Win_lock of the own part, shared. setup-all, setup-own:
 *         the first of them in setup
 *
 * If there is a file $EPOCH_DIES, rank 0 removes it, and kills itself between a load and its store.
 * An addition that is lost, because both have the word at a time, shows in the result.
 */
#include <ftrma.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 12, WAIT_US = 20000 };

static int step, me, all, in_setup;
static MPI_Win win;
static volatile long *word;
static const char *dies;

static void open_epoch(void)
{
    if (all)
        MPI_Win_lock_all(0, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
}

static void close_epoch(void)
{
    if (all)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(0, win);
}

static void add_here(void)
{
    long was = *word;
    usleep(WAIT_US);
    if (dies && unlink(dies) == 0)
        raise(SIGKILL);
    *word = was + 1;
    close_epoch();
    open_epoch();
}

static void add_there(void)
{
    long x;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    x++;
    MPI_Put(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
}

static void body(void *arg)
{
    (void)arg;
    if (me == 0 && !in_setup)
        open_epoch();
    for (; step < ROUNDS; step++) {
        FTRMA_Safepoint();
        if (me == 0)
            add_here();
        else if (me == 1)
            add_there();
    }
    if (me == 0 && !in_setup)
        close_epoch();
}

int main(int argc, char **argv)
{
    long *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const char *kind = argc > 1 ? argv[1] : "all";
    all = strstr(kind, "all") != NULL;
    in_setup = strncmp(kind, "setup", 5) == 0;
    dies = getenv("EPOCH_DIES");
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    word = base;
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&step, sizeof step);
    if (me == 0 && in_setup)
        open_epoch();
    FTRMA_Run(body, NULL);
    if (me == 0 && in_setup)
        close_epoch();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %ld of %d\n", *word, 2 * ROUNDS);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
