/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma.c - one-sided calls of rank 0 towards rank 1: put of 8 bytes and flush, fetch_and_op and flush, put of 16 MiB beside a
 * memcpy of as much by the same process into its own part of the window. Rank 1 waits in a barrier.
 *
 *   bench_rma [allocate|create [REPEATS]]     how the window is made
 */
#include <ftrma.h>

#include "bench.h"

#define LARGE ((size_t)16 << 20)

struct access {
    MPI_Win win;
    char *buf, *own; /* own: this process's part of the window */
    size_t bytes;
};
static struct access window;
static const char *how;

static void put(void *arg)
{
    struct access *a = arg;
    MPI_Put(a->buf, (int)a->bytes, MPI_BYTE, 1, 64, (int)a->bytes, MPI_BYTE, a->win);
    MPI_Win_flush(1, a->win);
}

static void fetch_add(void *arg)
{
    struct access *a = arg;
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, a->win);
    MPI_Win_flush(1, a->win);
}

static void copy(void *arg)
{
    struct access *a = arg;
    memcpy(a->own + 64, a->buf, a->bytes);
    __asm__ volatile("" ::: "memory"); /* no copy may be left out */
}

static double timed(void (*step)(void *), void *arg, int each)
{
    double t0 = MPI_Wtime();
    for (int i = 0; i < each; i++)
        step(arg);
    return (MPI_Wtime() - t0) / each;
}

/* As bench_time, on rank 0 alone. With `other`, batches of the two take turns, and *beside is the median of its own. */
static double time_alone(void (*step)(void *), void (*other)(void *), void *arg, int each, double *beside)
{
    double v[BENCH_BATCHES], w[BENCH_BATCHES];
    if (bench_rank != 0)
        return 0;
    for (int b = -1; b < BENCH_BATCHES; b++) { /* the first ones warm up */
        v[b < 0 ? 0 : b] = timed(step, arg, each);
        if (other)
            w[b < 0 ? 0 : b] = timed(other, arg, each);
    }
    if (other)
        *beside = bench_median(w, BENCH_BATCHES);
    return bench_median(v, BENCH_BATCHES);
}

static void figure(const char *what, size_t bytes, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "%s,%s", what, how);
    bench_figure(name, bytes, value, unit);
}

static void measure(void *arg)
{
    struct access a = window;
    int repeats = *(int *)arg;
    double gigabytes = 1e-9 * (double)LARGE;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, a.win);
    a.bytes = 8;
    figure("put+flush", 8, 1e6 * time_alone(put, NULL, &a, repeats, NULL), "us");
    figure("fetch_and_op+flush", 8, 1e6 * time_alone(fetch_add, NULL, &a, repeats, NULL), "us");
    a.bytes = LARGE;
    double copied = 0, put_large = time_alone(put, copy, &a, 4, &copied);
    figure("put+flush", LARGE, gigabytes / put_large, "GB/s");
    figure("memcpy", LARGE, gigabytes / copied, "GB/s");
    MPI_Win_unlock_all(a.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "rma");
    int create = argc > 1 && strcmp(argv[1], "create") == 0, repeats = argc > 2 ? atoi(argv[2]) : 20000;
    how = create ? "create" : "allocate";
    window.buf = bench_alloc(LARGE);
    if (create) {
        window.own = bench_alloc(LARGE + 4096);
        MPI_Win_create(window.own, (MPI_Aint)(LARGE + 4096), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.win);
    } else {
        MPI_Win_allocate((MPI_Aint)(LARGE + 4096), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window.own, &window.win);
    }
    memset(window.own, 0, LARGE + 4096);
    MPI_Barrier(MPI_COMM_WORLD);
    if (FTRMA_Run(measure, &repeats) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&window.win);
    if (create)
        free(window.own);
    free(window.buf);
    MPI_Finalize();
    return 0;
}
