/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_passive.c - lock_all with flushes: puts that arrive while the target only computes;
 * request-based accesses; several windows.
 */
#include "check.h"

enum { N = 1000 };

/* Rank 0 makes no MPI call until it has seen, in its own memory, that the data of all has come. */
static void computing_target(MPI_Win win, volatile long *mem)
{
    long data[N], flag = 1;

    if (me == 0) {
        for (int r = 1; r < np; r++)
            while (__atomic_load_n(&mem[r * (N + 8)], __ATOMIC_ACQUIRE) == 0)
                ;
        for (int r = 1; r < np; r++)
            for (int i = 0; i < N; i++)
                CHECK(mem[r * (N + 8) + 8 + i] == r * 10000L + i);
    } else {
        for (int i = 0; i < N; i++)
            data[i] = me * 10000L + i;
        MPI_Put(data, N, MPI_LONG, 0, me * (N + 8) + 8, N, MPI_LONG, win);
        MPI_Win_flush(0, win);
        MPI_Put(&flag, 1, MPI_LONG, 0, me * (N + 8), 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void flushes(MPI_Win win)
{
    int right = (me + 1) % np;
    long out, in;

    for (int i = 0; i < 100; i++) {
        out = me * 100L + i;
        MPI_Put(&out, 1, MPI_LONG, right, 3, 1, MPI_LONG, win);
        MPI_Win_flush_local(right, win);
        out = -1; /* the buffer is ours again */
        MPI_Win_flush(right, win);
        MPI_Get(&in, 1, MPI_LONG, right, 3, 1, MPI_LONG, win);
        MPI_Win_flush_local_all(win);
        CHECK(in == me * 100L + i);
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void requests(MPI_Win win)
{
    int right = (me + 1) % np, left = (me + np - 1) % np;
    long out[4] = {me, me + 1, me + 2, me + 3}, in[4] = {0}, more = 10, old = 0;
    MPI_Request q[3];

    MPI_Rput(out, 4, MPI_LONG, right, 0, 4, MPI_LONG, win, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    CHECK(q[0] == MPI_REQUEST_NULL);
    MPI_Win_flush(right, win);
    MPI_Rget(in, 4, MPI_LONG, right, 0, 4, MPI_LONG, win, &q[0]);
    MPI_Irecv(&old, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, &q[1]); /* of both kinds in one call */
    MPI_Isend(out, 1, MPI_LONG, right, 5, MPI_COMM_WORLD, &q[2]);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    CHECK(in[0] == me && in[3] == me + 3 && old == left);
    MPI_Raccumulate(&more, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget_accumulate(&more, 1, MPI_LONG, &old, 1, MPI_LONG, right, 1, 1, MPI_LONG, MPI_SUM, win,
                        &q[0]);
    int flag = 0;
    while (!flag)
        MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
    CHECK(old == me + 11);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long *mem, *other;
    MPI_Win win, second;

    start(&argc, &argv);
    MPI_Win_allocate((MPI_Aint)(np * (N + 8) * sizeof *mem), sizeof *mem, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &mem, &win);
    MPI_Win_allocate(8 * sizeof *other, sizeof *other, MPI_INFO_NULL, MPI_COMM_WORLD, &other,
                     &second);
    memset(mem, 0, (size_t)np * (N + 8) * sizeof *mem);
    memset(other, 0, 8 * sizeof *other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_lock_all(0, second);
    computing_target(win, mem);
    flushes(second);
    flushes(win);
    requests(second);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(second);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Win_free(&second);
    return finish();
}
