/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_lock.c - MPI_Win_lock: exclusive locks exclude (increments by get and put), shared ones
 * share, readers see no half-written record. MPI_Win_lock_all shares with all, and protects loads and
 * stores, too.
 */
#include "check.h"

#include <sched.h>

enum { TIMES = 200, N = 32 };

static void exclusive(MPI_Win win, long *mem, int target)
{
    long v;

    if (me == target) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
        mem[0] = 0;
        MPI_Win_unlock(me, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        v++;
        MPI_Put(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Get(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(target, win);
    CHECK(v == (long)np * TIMES);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Writers fill a record under exclusive locks, readers look at it under shared ones. */
static void records(MPI_Win win, long *mem, int target)
{
    long rec[N];

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    memset(mem, 0, N * sizeof *mem);
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        if (me % 2 == 0) {
            for (int k = 0; k < N; k++)
                rec[k] = me * TIMES + i;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Put(rec, N, MPI_LONG, target, 0, N, MPI_LONG, win);
            MPI_Win_unlock(target, win);
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
            MPI_Get(rec, N, MPI_LONG, target, 0, N, MPI_LONG, win);
            MPI_Win_unlock(target, win);
            for (int k = 1; k < N; k++)
                CHECK(rec[k] == rec[0]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All hold a shared lock on rank 0 at once: the barrier inside would hang otherwise. */
static void shared(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Put(&(long){me}, 1, MPI_LONG, 0, me, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Locks on several targets at a time, taken in one order. */
static void several(MPI_Win win, long *mem)
{
    for (int t = 0; t < np; t++)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, win);
    for (int t = 0; t < np; t++)
        MPI_Put(&(long){me}, 1, MPI_LONG, t, 1, 1, MPI_LONG, win);
    for (int t = np - 1; t >= 0; t--)
        MPI_Win_unlock(t, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    long last = mem[1], first;
    MPI_Win_unlock(me, win);
    MPI_Allreduce(&last, &first, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    CHECK(first == last); /* the same rank came last everywhere */
}

/* `writer` stores a record at `at` by itself, within lock_all; the others see it whole when they have
 * `owner`, where it lies, for themselves. */
static void stores(MPI_Comm comm, MPI_Win win, volatile long *at, int owner, int writer)
{
    long rec[N];
    int self;
    MPI_Comm_rank(comm, &self);
    MPI_Win_lock_all(0, win);
    for (int k = 0; self == writer && k < N; k++)
        at[k] = 0;
    MPI_Win_unlock_all(win);
    MPI_Barrier(comm);
    for (int i = 1; i <= TIMES; i++) {
        if (self == writer) {
            MPI_Win_lock_all(0, win);
            for (int k = 0; k < N; k++) {
                at[k] = i;
                if (k == N / 2)
                    sched_yield();
            }
            MPI_Win_unlock_all(win);
        } else {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
            MPI_Get(rec, N, MPI_LONG, owner, 0, N, MPI_LONG, win);
            MPI_Win_unlock(owner, win);
            for (int k = 1; k < N; k++)
                CHECK(rec[k] == rec[0]);
        }
    }
    MPI_Barrier(comm);
}

/* The own part; and that of another, in memory that all of a node share. */
static void lock_all(MPI_Win win, long *mem)
{
    MPI_Comm node;
    MPI_Win together;
    int self, n, unit;
    MPI_Aint bytes;
    long *own, *first;
    for (int t = 0; t < np; t++)
        stores(MPI_COMM_WORLD, win, mem, t, t);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &self);
    MPI_Comm_size(node, &n);
    MPI_Win_allocate_shared(N * sizeof *own, sizeof *own, MPI_INFO_NULL, node, &own, &together);
    MPI_Win_shared_query(together, 0, &bytes, &unit, &first);
    stores(node, together, first, 0, n - 1);
    MPI_Win_free(&together);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    long *mem;
    MPI_Win win;

    start(&argc, &argv);
    MPI_Win_allocate(N * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, N * sizeof *mem);
    MPI_Barrier(MPI_COMM_WORLD);
    exclusive(win, mem, 0);
    exclusive(win, mem, np - 1);
    records(win, mem, np / 2);
    shared(win);
    several(win, mem);
    lock_all(win, mem);
    MPI_Win_free(&win);
    return finish();
}
