/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far.c - one-sided calls of rank 0 towards the last rank, each with its flush. That rank waits in
 * a barrier; then it computes, and calls nothing of MPI for COMPUTES seconds.
 *
 *   bench_far [CASE]       only CASE, of 8 bytes: put, get, fetch_and_op, get_accumulate_100
 *                          (a hundred calls and one flush); or start: a job that does nothing
 *
 * While the target computes, the figure is how many fetch_and_ops were completed within that time,
 * and the longest one: where the target has to be inside of MPI there are none, and one takes as
 * long as the target computes.
 */
#include <ftrma.h>

#include "bench.h"

#define LARGEST ((size_t)1 << 20)
#define COMPUTES 1.0 /* seconds */
#define BATCH 0.01   /* seconds */

static struct {
    MPI_Win win;
    char *buf;
    int bytes, target;
} w;

static void put(void)
{
    MPI_Put(w.buf, w.bytes, MPI_BYTE, w.target, 64, w.bytes, MPI_BYTE, w.win);
    MPI_Win_flush(w.target, w.win);
}

static void get(void)
{
    MPI_Get(w.buf, w.bytes, MPI_BYTE, w.target, 64, w.bytes, MPI_BYTE, w.win);
    MPI_Win_flush(w.target, w.win);
}

static void fetch_add(void)
{
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, w.target, 0, MPI_SUM, w.win);
    MPI_Win_flush(w.target, w.win);
}

#define BURST 100 /* as the name of its case says */

static void get_accumulates(void)
{
    static const long one = 1;
    long *old = (long *)(void *)w.buf;
    for (int i = 0; i < BURST; i++)
        MPI_Get_accumulate(&one, 1, MPI_LONG, old + i, 1, MPI_LONG, w.target, 0, 1, MPI_LONG,
                           MPI_SUM, w.win);
    MPI_Win_flush(w.target, w.win);
}

static const struct call {
    const char *name;
    void (*step)(void);
    int bytes;
} calls[] = {{"put", put, 8},
             {"get", get, 8},
             {"fetch_and_op", fetch_add, 8},
             {"get_accumulate_100", get_accumulates, 8},
             {"put", put, 65536},
             {"get", get, 65536},
             {"put", put, (int)LARGEST},
             {"get", get, (int)LARGEST}};

static double batch(const void *arg, long n)
{
    const struct call *c = arg;
    w.bytes = c->bytes;
    return bench_slowest(c->step, n, bench_rank == 0);
}

static void waiting(const struct call *c)
{
    double v[BENCH_BATCHES];
    long n = bench_fit(batch, c, BATCH);
    for (int i = 0; i < BENCH_BATCHES; i++)
        v[i] = batch(c, n);
    bench_figure(c->name, (size_t)c->bytes, 1e6 * bench_median(v, BENCH_BATCHES), "us");
}

static void compute(double until)
{
    volatile double x = 1;
    while (bench_now() < until)
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
}

static void computing(void)
{
    long done = 0;
    double longest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double t0 = bench_now(), until = t0 + COMPUTES;
    if (bench_rank == w.target)
        compute(until);
    while (bench_rank == 0) {
        double t = bench_now();
        if (t >= until)
            break;
        fetch_add();
        double took = bench_now() - t;
        longest = took > longest ? took : longest;
        done += t + took < until;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    bench_figure("computing.fetch_and_op.done", 8, (double)done, "calls");
    bench_figure("computing.fetch_and_op.longest", 8, 1e6 * longest, "us");
}

static void body(void *arg)
{
    const char *only = arg;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!only || (strcmp(only, calls[i].name) == 0 && calls[i].bytes == 8))
            waiting(&calls[i]);
    if (!only)
        computing();
    MPI_Win_unlock_all(w.win);
}

int main(int argc, char **argv)
{
    void *base;
    char *only = argc > 1 ? argv[1] : NULL;
    bench_start(&argc, &argv, "far");
    if (only && strcmp(only, "start") == 0) {
        MPI_Finalize();
        return 0;
    }
    w.target = bench_size - 1;
    w.buf = bench_alloc(LARGEST);
    MPI_Win_allocate((MPI_Aint)(LARGEST + 64), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w.win);
    memset(base, 0, LARGEST + 64);
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Run(body, only);
    MPI_Win_free(&w.win);
    MPI_Finalize();
    return 0;
}
