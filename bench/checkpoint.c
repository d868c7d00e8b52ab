/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checkpoint.c - a program that protects memory and passes safepoints, and that measures what its ranks' memory can do: a memcpy
 * of the protected bytes by all ranks at once. What checkpoints and recoveries take is in ftrun's report.
 *
 *   bench_checkpoint [MIB [SAFEPOINTS [busy]]]
 *
 * Between two safepoints each rank copies (once everybody is there), and waits otherwise, so that the copies meet no parity that
 * is still being computed; with `busy` it computes instead, as a program would.
 */
#include <ftrma.h>

#include "bench.h"

#define PAUSE_US 150000
#define BUSY_SECONDS 0.15

struct run {
    char *data, *copy;
    size_t bytes;
    int safepoints, busy;
    struct {
        int next; /* protected */
        double seconds[64];
    } done;
};

/* The time that the slowest rank takes. */
static double copy_together(struct run *r)
{
    double most;
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    memcpy(r->copy, r->data, r->bytes);
    __asm__ volatile("" ::: "memory");
    t = MPI_Wtime() - t;
    MPI_Allreduce(&t, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
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
    if (!r->copy) /* not protected, and not part of setup, which a replacement has to run again */
        r->copy = bench_alloc(r->bytes);
    while (r->done.next < r->safepoints) {
        FTRMA_Safepoint(); /* first: a replacement comes to it before it needs anybody */
        if (r->busy)
            compute(r);
        else
            usleep(PAUSE_US);
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
    double t0 = MPI_Wtime();
    r.data = bench_alloc(r.bytes);
    /* every rank's, and the replacement's as well: how much of its setup is the program's own */
    printf("setup: %zu %.3f ms\n", r.bytes, 1e3 * (MPI_Wtime() - t0));
    fflush(stdout);
    if (FTRMA_Protect(r.data, r.bytes) != MPI_SUCCESS || FTRMA_Protect(&r.done, sizeof r.done) != MPI_SUCCESS ||
        FTRMA_Run(body, &r) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    bench_figure("memcpy,together", r.bytes, 1e3 * bench_median(r.done.seconds, r.safepoints), "ms");
    free(r.copy);
    free(r.data);
    MPI_Finalize();
    return 0;
}
