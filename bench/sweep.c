/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sweep.c - two-sided calls over all sizes: latency, bandwidth, message rate (pairs of ranks), and
 * the usual collectives.
 *
 *   bench_sweep [-c CASE[,CASE]...] [-n MIN] [-m MAX] [-x FACTOR] [-b BATCHES] [-t MILLISECONDS]
 *
 * Sizes go from MIN (1) to MAX (4194304) bytes, each FACTOR (2) times the previous one. They are
 * the size of a message; of the entire vector in reductions; of one rank's block in gather,
 * scatter, allgather and alltoall; barrier has none. Every figure is the median of BATCHES (5)
 * batches of about MILLISECONDS (10) each, in microseconds for a call or a message, by the slowest
 * rank's clock. With -t 0 a batch is one call: a trial, not a measurement.
 *
 * Between batches is a safepoint, so that with `ftrun --checkpoint every:K` logs are trimmed;
 * nothing is protected, as nobody is to be killed.
 */
#include <ftrma.h>

#include <stdint.h>

#include "bench.h"

#define TAG 7
#define WINDOW 64                       /* messages under way, in bandwidth and rate */
#define WINDOW_BYTES ((size_t)32 << 20) /* fewer of the large ones */

static struct {
    const char *cases;
    size_t min, max, factor;
    double seconds;
} opt = {NULL, 1, (size_t)4 << 20, 2, 0.01};

/* The buffers of a step; count and type are those of the reductions. */
static struct {
    size_t bytes;
    char *in, *out;
    int count, width;
    MPI_Datatype type;
    int *counts; /* of reduce_scatter */
} now;

static int len(void) { return (int)now.bytes; }

static void latency(void)
{
    int peer = 1 - bench_rank;
    if (bench_rank == 0) {
        MPI_Send(now.in, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(now.out, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (bench_rank == 1) {
        MPI_Recv(now.out, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(now.in, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    }
}

/* Each message has its own room at the receiver. */
static void receives(int peer, MPI_Request *r)
{
    for (int i = 0; i < now.width; i++)
        MPI_Irecv(now.out + (size_t)i * now.bytes, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD,
                  &r[i]);
}

static void sends(int peer, MPI_Request *r)
{
    for (int i = 0; i < now.width; i++)
        MPI_Isend(now.in, len(), MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &r[i]);
}

/* A window of messages one way, and a word back. */
static void bandwidth(void)
{
    MPI_Request r[WINDOW];
    char word = 0;
    if (bench_rank == 0) {
        sends(1, r);
        MPI_Waitall(now.width, r, MPI_STATUSES_IGNORE);
        MPI_Recv(&word, 1, MPI_BYTE, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (bench_rank == 1) {
        receives(0, r);
        MPI_Waitall(now.width, r, MPI_STATUSES_IGNORE);
        MPI_Send(&word, 1, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD);
    }
}

/* All pairs at once, both ways. */
static void rate(void)
{
    MPI_Request r[2 * WINDOW];
    int peer = bench_rank ^ 1;
    if (peer >= bench_size)
        return;
    receives(peer, r);
    sends(peer, r + now.width);
    MPI_Waitall(2 * now.width, r, MPI_STATUSES_IGNORE);
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(now.in, len(), MPI_BYTE, 0, MPI_COMM_WORLD); }
static void reduce(void)
{
    MPI_Reduce(now.in, now.out, now.count, now.type, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(void)
{
    MPI_Allreduce(now.in, now.out, now.count, now.type, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(void) { MPI_Scan(now.in, now.out, now.count, now.type, MPI_SUM, MPI_COMM_WORLD); }
static void reduce_scatter(void)
{
    MPI_Reduce_scatter(now.in, now.out, now.counts, now.type, MPI_SUM, MPI_COMM_WORLD);
}
static void gather(void)
{
    MPI_Gather(now.in, len(), MPI_BYTE, now.out, len(), MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void scatter(void)
{
    MPI_Scatter(now.in, len(), MPI_BYTE, now.out, len(), MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void allgather(void)
{
    MPI_Allgather(now.in, len(), MPI_BYTE, now.out, len(), MPI_BYTE, MPI_COMM_WORLD);
}
static void alltoall(void)
{
    MPI_Alltoall(now.in, len(), MPI_BYTE, now.out, len(), MPI_BYTE, MPI_COMM_WORLD);
}

enum extent { ONE, EMPTY, MESSAGES, BLOCKS }; /* how many times `bytes` the buffers are */

static const struct point {
    const char *name;
    void (*step)(void);
    enum extent extent;
    int pair;   /* of ranks 0 and 1: measured with two ranks alone */
    size_t max; /* larger ones are left out */
} points[] = {
    {"latency", latency, ONE, 1, SIZE_MAX},
    {"bandwidth", bandwidth, MESSAGES, 1, SIZE_MAX},
    {"rate", rate, MESSAGES, 0, 8192},
    {"barrier", barrier, EMPTY, 0, SIZE_MAX},
    {"bcast", bcast, ONE, 0, SIZE_MAX},
    {"reduce", reduce, ONE, 0, SIZE_MAX},
    {"allreduce", allreduce, ONE, 0, SIZE_MAX},
    {"gather", gather, BLOCKS, 0, SIZE_MAX},
    {"scatter", scatter, BLOCKS, 0, SIZE_MAX},
    {"allgather", allgather, BLOCKS, 0, SIZE_MAX},
    {"alltoall", alltoall, BLOCKS, 0, SIZE_MAX},
    {"reduce_scatter", reduce_scatter, ONE, 0, SIZE_MAX},
    {"scan", scan, ONE, 0, SIZE_MAX},
};

static int wanted(const char *name)
{
    size_t n = strlen(name);
    for (const char *p = opt.cases; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && strncmp(p, name, n) == 0)
            return 1;
    return !opt.cases;
}

/* Of a collective, each call by itself and the mean of the ranks: a barrier that is not timed keeps
 * one call from running into the next. */
static double one_by_one(void (*step)(void), long n)
{
    double mine = 0, sum;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < n; i++) {
        double t0 = MPI_Wtime();
        step();
        mine += MPI_Wtime() - t0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / (double)n / bench_size;
}

static double batch(const void *arg, long n)
{
    const struct point *p = arg;
    return p->pair || p->extent == MESSAGES || p->extent == EMPTY ? bench_slowest(p->step, n, 1)
                                                                  : one_by_one(p->step, n);
}

static void prepare(enum extent extent, size_t bytes)
{
    size_t wide = bytes ? WINDOW_BYTES / bytes : WINDOW;
    now.bytes = bytes;
    now.width = wide > WINDOW ? WINDOW : (int)wide;
    now.type = bytes % sizeof(double) ? MPI_SIGNED_CHAR : MPI_DOUBLE;
    now.count = (int)(bytes % sizeof(double) ? bytes : bytes / sizeof(double));
    for (int i = 0; i < bench_size; i++)
        now.counts[i] = now.count / bench_size + (i < now.count % bench_size);
    size_t times = extent == BLOCKS     ? (size_t)bench_size
                   : extent == MESSAGES ? (size_t)now.width
                                        : 1;
    now.in = bench_alloc(times * bytes + 1);
    now.out = bench_alloc(times * bytes + 1);
    memset(now.in, 0, times * bytes); /* sums stay numbers */
    FTRMA_Unprotect(now.in, times * bytes + 1);
    FTRMA_Unprotect(now.out, times * bytes + 1);
}

static void measure(const struct point *p, size_t bytes)
{
    double *v = bench_alloc((size_t)bench_batches * sizeof *v);
    prepare(p->extent, bytes);
    FTRMA_Safepoint();
    long n = bench_fit(batch, p, opt.seconds);
    for (int b = 0; b < bench_batches; b++) {
        FTRMA_Safepoint();
        v[b] = batch(p, n);
    }
    bench_figure(p->name, bytes,
                 1e6 * bench_median(v, bench_batches) /
                     (p->extent == MESSAGES ? now.width
                      : p->pair             ? 2
                                            : 1),
                 "us");
    free(now.in);
    free(now.out);
    free(v);
}

static void body(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        const struct point *p = &points[i];
        if (!wanted(p->name) || (p->pair && bench_size > 2))
            continue;
        for (size_t b = opt.min; b <= opt.max && b <= p->max; b *= opt.factor) {
            measure(p, p->extent == EMPTY ? 0 : b);
            if (p->extent == EMPTY)
                break;
        }
    }
}

static int options(int argc, char **argv)
{
    for (int o; (o = getopt(argc, argv, "c:n:m:x:b:t:")) != -1;) {
        long v = o == 'c' || o == '?' ? 0 : atol(optarg);
        switch (o) {
        case 'c': opt.cases = optarg; break;
        case 'n': opt.min = (size_t)v; break;
        case 'm': opt.max = (size_t)v; break;
        case 'x': opt.factor = (size_t)v; break;
        case 'b': bench_batches = (int)v; break;
        case 't': opt.seconds = 1e-3 * (double)v; break;
        default: return 0;
        }
    }
    return opt.min > 0 && opt.max <= WINDOW_BYTES && opt.factor > 1 && opt.factor <= 4096 &&
           bench_batches > 0 && opt.seconds >= 0;
}

int main(int argc, char **argv)
{
    bench_batches = 5;
    int good = options(argc, argv);
    bench_start(&argc, &argv, "sweep");
    if (!good || bench_size < 2) {
        if (bench_rank == 0)
            fprintf(stderr, "usage: bench_sweep [-c CASES] [-n MIN] [-m MAX] [-x FACTOR] [-b "
                            "BATCHES] [-t MILLISECONDS], 2 ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    now.counts = bench_alloc((size_t)bench_size * sizeof *now.counts);
    FTRMA_Unprotect(&now, sizeof now);
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(now.counts);
    MPI_Finalize();
    return 0;
}
