/* SPDX-License-Identifier: BSD-3-Clause
 *
 * busy.c - one-sided accesses to a process that computes and calls nothing of MPI. The last rank is
 * the target. It leaves its loop after a second at the earliest, and only when it has seen by plain
 * loads that all others have done all their accesses: whatever needs the target never ends.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20, WORDS = 4096, LONG = 100000, GIVE_UP = 100 };

/* The part: the counters that all change, then what each origin has for itself. */
enum { DONE, SUM, TICKETS, LOCKED, SHARED_WORDS };

static int me, np;
static MPI_Win win;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(int holds, const char *what)
{
    if (holds)
        return;
    printf("rank %d: %s\n", me, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(const volatile double *part)
{
    double begun = now(), x = 0;
    while (now() - begun < 1 || part[DONE] < np - 1) {
        for (int i = 0; i < 100000; i++)
            x += 1.0 / (1 + i);
        must(now() - begun < GIVE_UP, "the accesses of others do not come to an end");
    }
    must(x > 0, "nothing was computed");
}

/* Under an exclusive lock: reads a counter, and writes the next number. */
static void count_locked(int target)
{
    double n = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&n, 1, MPI_DOUBLE, target, LOCKED, 1, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    n++;
    MPI_Put(&n, 1, MPI_DOUBLE, target, LOCKED, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(target, win);
}

static void access_it(int target, double *longer)
{
    MPI_Aint own = SHARED_WORDS + (MPI_Aint)me * LONG;
    double one = 1, ticket, back[WORDS];
    for (int r = 0; r < ROUNDS; r++) {
        count_locked(target);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
        for (int i = 0; i < LONG; i++)
            longer[i] = me + i * (r + 1);
        MPI_Put(longer, LONG, MPI_DOUBLE, target, own, LONG, MPI_DOUBLE, win);
        for (int i = 0; i < LONG; i++) /* the buffer is free again when the call returns */
            longer[i] = -1;
        MPI_Fetch_and_op(&one, &ticket, MPI_DOUBLE, target, TICKETS, MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_DOUBLE, target, SUM, 1, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_flush(target, win);
        must(ticket >= r && ticket < (np - 1) * ROUNDS, "no such ticket");
        for (int i = 0; i < WORDS; i += WORDS / 64) /* several in flight */
            MPI_Get(back + i, WORDS / 64, MPI_DOUBLE, target, own + i, WORDS / 64, MPI_DOUBLE, win);
        MPI_Win_flush_local(target, win);
        for (int i = 0; i < WORDS; i++)
            must(back[i] == me + i * (r + 1), "it does not get what it has put");
        MPI_Win_unlock(target, win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, target, DONE, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_unlock(target, win);
}

int main(int argc, char **argv)
{
    double *part, *longer = malloc(LONG * sizeof *longer);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    int target = np - 1;
    MPI_Aint words = me == target ? SHARED_WORDS + (MPI_Aint)np * LONG : 0;
    MPI_Win_allocate(words * (MPI_Aint)sizeof *part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &part, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == target)
        compute(part);
    else
        access_it(target, longer);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == target) {
        double all = (np - 1) * ROUNDS;
        must(part[SUM] == all && part[TICKETS] == all && part[LOCKED] == all, "some are missing");
        for (int p = 0; p < target; p++)
            for (int i = 0; i < LONG; i++)
                must(part[SHARED_WORDS + p * LONG + i] == p + i * ROUNDS, "what was put is wrong");
        printf("ok\n");
    }
    MPI_Win_free(&win);
    free(longer);
    MPI_Finalize();
    return 0;
}
