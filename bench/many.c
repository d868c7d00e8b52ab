/* SPDX-License-Identifier: BSD-3-Clause
 *
 * many.c - what a call costs when there is much that it does not use.
 *
 *   bench_many windows N     N windows; calls on the last one
 *   bench_many requests N    N receives that nothing has come for yet; at last all of it comes
 *   bench_many ranks         calls between ranks 0 and 1, while all others sleep
 *
 * Each figure is that of the fastest batch, so that others who use the cores hardly matter. The
 * name of a case has the number: put+flush.windows.1000.
 */
#include <ftrma.h>

#include "bench.h"

enum { EACH = 200, AHEAD = 50, TAG = 1, TAG_PENDING = 1000 };
static const char *what;
static int n, batches = 200;
static MPI_Comm pair; /* ranks 0 and 1 */
static MPI_Win win;

static void put(void)
{
    long x = 1;
    MPI_Put(&x, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void add(void)
{
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 8, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void lock_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
}

static void fastest(const char *call, void (*step)(void))
{
    char name[64];
    double best = 1e9;
    for (int b = 0; b < batches; b++) {
        double t0 = bench_now();
        for (int i = 0; i < EACH; i++)
            step();
        double each = (bench_now() - t0) / EACH;
        best = each < best ? each : best;
    }
    snprintf(name, sizeof name, "%s.%s.%d", call, what, n);
    bench_figure(name, 8, 1e9 * best, "ns");
}

/* Messages that are there already, so that nobody waits for a processor meanwhile. */
static void receives(void)
{
    char name[64];
    long x = 0;
    double best = 1e9;
    for (int b = 0; b < batches; b++) {
        for (int i = 0; bench_rank == 0 && i < AHEAD; i++)
            MPI_Send(&x, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Barrier(pair);
        double t0 = bench_now();
        for (int i = 0; bench_rank == 1 && i < AHEAD; i++)
            MPI_Recv(&x, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double each = (bench_now() - t0) / AHEAD;
        best = each < best ? each : best;
    }
    MPI_Bcast(&best, 1, MPI_DOUBLE, 1, pair);
    snprintf(name, sizeof name, "recv.%s.%d", what, n);
    bench_figure(name, 8, 1e9 * best, "ns");
}

static void accesses(void)
{
    if (bench_rank != 0)
        return;
    fastest("lock+unlock", lock_unlock);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    fastest("put+flush", put);
    fastest("fetch_and_op+flush", add);
    MPI_Win_unlock_all(win);
}

static MPI_Request *pending;
static void test_last(void)
{
    int done;
    MPI_Test(&pending[n - 1], &done, MPI_STATUS_IGNORE);
}

static void receive_send(void)
{
    long x = 0, y;
    MPI_Request r;
    MPI_Irecv(&y, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &r);
    MPI_Send(&x, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Rank 0 sends to itself, so that it waits for nobody. */
static void requests(void)
{
    if (bench_rank != 0)
        return;
    char name[64];
    long *to = bench_alloc((size_t)n * sizeof *to);
    pending = bench_alloc((size_t)n * sizeof(MPI_Request));
    double t0 = bench_now();
    for (int i = 0; i < n; i++)
        MPI_Irecv(&to[i], 8, MPI_BYTE, 0, TAG_PENDING + i, MPI_COMM_WORLD, &pending[i]);
    double posted = bench_now() - t0;
    fastest("irecv+send+wait", receive_send);
    fastest("test", test_last);
    t0 = bench_now();
    for (int i = 0; i < n; i++)
        MPI_Send(&to[i], 8, MPI_BYTE, 0, TAG_PENDING + i, MPI_COMM_WORLD);
    MPI_Waitall(n, pending, MPI_STATUSES_IGNORE);
    snprintf(name, sizeof name, "irecv+send+waitall.%s.%d", what, n);
    bench_figure(name, 8, 1e9 * (posted + bench_now() - t0) / n, "ns");
    free(to);
    free(pending);
}

static void body(void *arg)
{
    (void)arg;
    MPI_Request all;
    int over = 0;
    if (strcmp(what, "requests") == 0) {
        requests();
    } else {
        accesses();
        if (bench_rank < 2)
            receives();
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (MPI_Test(&all, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over)
        usleep(bench_rank < 2 ? 100 : 20000);
}

int main(int argc, char **argv)
{
    void *base;
    what = argc > 1 ? argv[1] : "";
    bench_start(&argc, &argv, "many");
    n = strcmp(what, "ranks") == 0 ? bench_size : argc > 2 ? atoi(argv[2]) : 0;
    if (bench_size < 2 || n < 1) {
        fprintf(stderr, "usage: bench_many windows N | requests N | ranks, with 2 ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_split(MPI_COMM_WORLD, bench_rank < 2 ? 0 : MPI_UNDEFINED, 0, &pair);
    int windows = strcmp(what, "windows") == 0 ? n : 1;
    MPI_Win *all = bench_alloc((size_t)windows * sizeof *all);
    for (int i = 0; i < windows; i++)
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &all[i]);
    win = all[windows - 1];
    int ran = FTRMA_Run(body, NULL);
    for (int i = 0; i < windows; i++)
        MPI_Win_free(&all[i]);
    free(all);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    MPI_Finalize();
    return ran != MPI_SUCCESS;
}
