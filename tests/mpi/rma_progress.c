/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_progress.c - messages whose receive is posted go on while the receiver waits for a lock, or
 * polls a window. Pairs of ranks: the even one sends.
 */
#include "check.h"

#include <string.h>

enum { LONG = 64 << 10, FAST = 4 << 20 };

static MPI_Win win;
static int *flag, other;
static char *data, *in;

/* The sender has the lock, and lets go of it when its message was received. */
static void lock(int bytes, int synchronous)
{
    MPI_Request r;
    if (me % 2) {
        memset(in, 0, (size_t)bytes);
        MPI_Irecv(in, bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
        MPI_Win_unlock(other, win);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(in[0] == 'x' && in[bytes - 1] == 'x');
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (synchronous)
            MPI_Ssend(data, bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD);
        else
            MPI_Send(data, bytes, MPI_BYTE, other, 5, MPI_COMM_WORLD);
        MPI_Win_unlock(me, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static int by_fetch(void)
{
    int zero = 0, now;
    MPI_Fetch_and_op(&zero, &now, MPI_INT, me, 0, MPI_NO_OP, win);
    MPI_Win_flush(me, win);
    return now;
}

static int by_get(void)
{
    int now = -1;
    MPI_Get(&now, 1, MPI_INT, me, 0, 1, MPI_INT, win);
    MPI_Win_flush(me, win);
    return now;
}

static int by_local_flush(void)
{
    int now = -1;
    MPI_Get(&now, 1, MPI_INT, me, 0, 1, MPI_INT, win);
    MPI_Win_flush_local_all(win);
    return now;
}

static int by_request(void)
{
    MPI_Request r;
    int now = -1, over = 0;
    MPI_Rget(&now, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r);
    while (!over)
        MPI_Test(&r, &over, MPI_STATUS_IGNORE);
    return now;
}

static int by_load(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    int now = *(volatile int *)flag;
    MPI_Win_unlock(me, win);
    return now;
}

static int by_load_of_all(void)
{
    MPI_Win_lock_all(0, win);
    int now = *(volatile int *)flag;
    MPI_Win_unlock_all(win);
    return now;
}

static int by_counting(void) /* each round changes something */
{
    int one = 1, sum, now = -1;
    MPI_Fetch_and_op(&one, &sum, MPI_INT, me, 1, MPI_SUM, win);
    MPI_Get(&now, 1, MPI_INT, me, 0, 1, MPI_INT, win);
    MPI_Win_flush(me, win);
    return now;
}

static const struct {
    int (*look)(void);
    int locks_all; /* one epoch for all rounds */
} ways[] = {{by_fetch, 1}, {by_get, 1},         {by_local_flush, 1}, {by_request, 1},
            {by_load, 0},  {by_load_of_all, 0}, {by_counting, 1}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The sender sets a flag in the receiver's window after that. */
static void poll(int round, int (*look)(void), int locks_all)
{
    MPI_Request r;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me % 2) {
        MPI_Irecv(in, LONG, MPI_BYTE, other, 6, MPI_COMM_WORLD, &r);
        if (locks_all)
            MPI_Win_lock_all(0, win);
        while (look() < round) {
        }
        if (locks_all)
            MPI_Win_unlock_all(win);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Ssend(data, LONG, MPI_BYTE, other, 6, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
        MPI_Accumulate(&round, 1, MPI_INT, other, 0, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_unlock(other, win);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    other = me ^ 1;
    if (np % 2)
        return finish();
    data = malloc(FAST);
    in = malloc(FAST);
    CHECK(data && in);
    memset(data, 'x', FAST);
    MPI_Win_allocate(2 * sizeof *flag, sizeof *flag, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
    flag[0] = flag[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) {
        lock(4, 1);
        lock(LONG, 1);
        lock(LONG, 0);
        lock(FAST, 0);
        for (int k = 0; k < WAYS; k++)
            poll(i * WAYS + k + 1, ways[k].look, ways[k].locks_all);
    }
    MPI_Win_free(&win);
    free(data);
    free(in);
    return finish();
}
