/* SPDX-License-Identifier: BSD-3-Clause
 *
 * epoch.c - rank 0 adds to a word of a window by loads and stores, in an epoch that is open at
 * each safepoint, and rank 1 by calls, under an exclusive lock:  epoch KIND
 *
 *   KIND  all: the word is rank 0's, MPI_Win_lock_all. own: MPI_Win_lock of that part, shared.
 *         common: the word is rank 2's, in a window of MPI_Win_allocate_shared, MPI_Win_lock_all.
 *         setup-all, setup-own, setup-common: the first of them in setup
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

static int step, me, owner, all, in_setup;
static MPI_Win win;
static volatile long *word;
static const char *dies;

static void open_epoch(void)
{
    if (all)
        MPI_Win_lock_all(0, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, win);
}

static void close_epoch(void)
{
    if (all)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(owner, win);
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
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
    MPI_Get(&x, 1, MPI_LONG, owner, 0, 1, MPI_LONG, win);
    MPI_Win_flush(owner, win);
    x++;
    MPI_Put(&x, 1, MPI_LONG, owner, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(owner, win);
}

/* [After a restart each rank would wait here for the words of the epochs that follow.] */
static void look_at_next(void)
{
    int n, next;
    long x;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    next = (me + 1) % n;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Get(&x, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(next, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void body(void *arg)
{
    (void)arg;
    if (!in_setup)
        look_at_next();
    if (me == 0 && !in_setup)
        open_epoch();
    for (; step < ROUNDS; step++) {
        FTRMA_Safepoint();
        if (me == 0)
            add_here();
        else if (me == 1)
            add_there();
    }
    if (me == 0)
        close_epoch();
    MPI_Barrier(MPI_COMM_WORLD); /* rank 1 has made all its additions */
    if (me == 0 && in_setup)
        open_epoch();
}

int main(int argc, char **argv)
{
    long *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const char *kind = argc > 1 ? argv[1] : "all";
    int common = strstr(kind, "common") != NULL;
    all = common || strstr(kind, "all");
    owner = common ? 2 : 0;
    in_setup = strncmp(kind, "setup", 5) == 0;
    dies = getenv("EPOCH_DIES");
    if (common)
        MPI_Win_allocate_shared(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                &win);
    else
        MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    word = base;
    if (common) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(win, owner, &bytes, &unit, &base);
        word = base;
    }
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
