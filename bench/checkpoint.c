/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checkpoint.c - a program that protects memory and passes safepoints, and that measures what its
 * ranks' memory can do: a memcpy of the protected bytes by all ranks at once. What checkpoints and
 * recoveries take is in ftrun's report.
 *
 *   bench_checkpoint [MIB [SAFEPOINTS [busy]]]
 *
 * At the end rank 0 copies 16 MiB by itself: what times of other machines are scaled by.
 *
 * Between two safepoints each rank copies (once everybody is there), and waits otherwise, so that
 * the copies meet no parity that is still being computed; with `busy` it computes instead, as a
 * program would. Who waits makes a call of MPI each millisecond: it is in these that a program
 * hears of a loss, and that a replacement finds that there is nothing left to repeat.
 */
#include <ftrma.h>

#include "bench.h"

#define PAUSE_MS 150
#define BUSY_SECONDS 0.15

struct run {
    char *data, *copy;
    size_t bytes;
    int safepoints, busy;
    double setup; /* seconds; this process's own */
    struct {
        int next; /* protected */
        double seconds[64];
    } done;
};

/* The time that the slowest rank takes. */
static double copy_together(struct run *r)
{
    double most;
    if (!r->copy) /* not protected, and not part of setup, which a replacement has to run again */
        r->copy = bench_alloc(r->bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    memcpy(r->copy, r->data, r->bytes);
    __asm__ volatile("" ::: "memory");
    t = MPI_Wtime() - t;
    MPI_Allreduce(&t, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

#define ALONE ((size_t)16 << 20)

/* GB/s of rank 0 with nobody beside it. */
static double copy_alone(struct run *r)
{
    double v[BENCH_BATCHES];
    for (int i = -2; i < BENCH_BATCHES; i++) {
        double t = MPI_Wtime();
        memcpy(r->copy, r->data, ALONE);
        __asm__ volatile("" ::: "memory");
        v[i < 0 ? 0 : i] = 1e-9 * (double)ALONE / (MPI_Wtime() - t);
    }
    return bench_median(v, BENCH_BATCHES);
}

static void wait_a_while(void)
{
    for (int i = 0, there; i < PAUSE_MS; i++) {
        usleep(1000);
        MPI_Iprobe((bench_rank + 1) % bench_size, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
}

static void compute(struct run *r)
{
    for (double t0 = MPI_Wtime(); MPI_Wtime() - t0 < BUSY_SECONDS;)
        for (size_t i = 0; i < 65536; i++)
            r->data[i] = (char)(r->data[i] * 3 + 1);
}

static void body(void *arg)
{
    struct run *r = arg;
    if (FTRMA_Replaced(NULL, NULL, 0)) /* nothing but this has to be repaired */
        MPI_Allreduce(MPI_IN_PLACE, &r->done.next, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    while (r->done.next < r->safepoints) {
        FTRMA_Safepoint(); /* first: a replacement comes to it before it needs anybody */
        if (r->busy)
            compute(r);
        else
            wait_a_while();
        r->done.seconds[r->done.next] = copy_together(r);
        r->done.next++;
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static struct run r;
    bench_start(&argc, &argv, "checkpoint");
    r.bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
    r.safepoints = argc > 2 ? atoi(argv[2]) : 10;
    r.busy = argc > 3 && strcmp(argv[3], "busy") == 0;
    if (r.bytes == 0 || r.safepoints < 1 || r.safepoints > 64) {
        fprintf(stderr, "usage: bench_checkpoint [MIB [SAFEPOINTS (1 to 64) [busy]]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double t0 = bench_now();
    r.data = bench_alloc(r.bytes);
    r.setup = bench_now() - t0;
    FTRMA_Unprotect(&r, sizeof r); /* all of it but what is protected */
    if (FTRMA_Protect(r.data, r.bytes) != MPI_SUCCESS ||
        FTRMA_Protect(&r.done, sizeof r.done) != MPI_SUCCESS || FTRMA_Run(body, &r) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bench_figure("memcpy,together", r.bytes, 1e3 * bench_median(r.done.seconds, r.safepoints),
                 "ms");
    if (bench_rank == 0 && r.bytes >= ALONE)
        bench_figure("memcpy,alone", ALONE, copy_alone(&r), "GB/s");
    MPI_Barrier(MPI_COMM_WORLD);
    /* the replacement's as well: how much of its setup was the program's own */
    printf("setup: %d %zu %.3f ms\n", bench_rank, r.bytes, 1e3 * r.setup);
    fflush(stdout);
    free(r.copy);
    free(r.data);
    MPI_Finalize();
    return 0;
}
