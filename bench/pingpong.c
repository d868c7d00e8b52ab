/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pingpong.c - two-sided and collective calls: ping-pong (one way and back) between ranks 0 and 1,
 * barrier, allreduce.
 *
 *   bench_pingpong [body|safepoints|setup|touch [REPEATS]]
 *                              REPEATS: calls in a batch for the shortest messages
 *
 * In `body`, everything happens inside FTRMA_Run, where a program spends its life, and no safepoint
 * is passed: each message stays in memory that was never used before. In `safepoints` one stands
 * before each batch, so that with `ftrun --checkpoint every:K` logs are trimmed. In `setup`, as in
 * a program that does not know of the library, logs are kept for replay until they reach their
 * limit.
 *
 * `touch` is what the first of these cannot avoid: both ranks map new memory of a tmpfs, rank 0
 * writes it, rank 1 reads it, and both do so again. The figure is the processor time that the first
 * time takes more, both ranks together, for a message of a size there and back. `cold` is what the
 * second case cannot avoid: how much more the second of these times takes than to pass as many
 * bytes on through a few that stay in caches.
 */
#include <fcntl.h>
#include <ftrma.h>
#include <sys/mman.h>

#include "bench.h"

struct message {
    char *buf;
    int bytes;
};

static void ping_pong(void *arg)
{
    struct message *m = arg;
    int peer = 1 - bench_rank;
    if (bench_rank == 0) {
        MPI_Send(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(m->buf, m->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
}

static void barrier(void *arg)
{
    (void)arg;
    MPI_Barrier(MPI_COMM_WORLD);
}

struct vector {
    double *in, *out;
    int count;
};

static void allreduce(void *arg)
{
    struct vector *v = arg;
    MPI_Allreduce(v->in, v->out, v->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* How often in a batch: long messages and crowded cores less. */
static int often(int repeats, size_t bytes)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN), n = repeats;
    n = n * 4096 / (long)(4096 + bytes);
    n = bench_size > cores ? n / 10 : n;
    return n < 20 ? 20 : (int)n;
}

static const int sizes[] = {8, 64, 1024, 8192, 65536, 262144, 1048576};
static int safepoints;

static void before_batch(void)
{
    if (safepoints)
        FTRMA_Safepoint();
}

static void measure(void *arg)
{
    static const int counts[] = {1, 128, 16384};
    int repeats = *(int *)arg;

    for (size_t i = 0; bench_size == 2 && i < sizeof sizes / sizeof sizes[0]; i++) {
        struct message m = {bench_alloc((size_t)sizes[i]), sizes[i]};
        double t = bench_time(ping_pong, &m, often(repeats, (size_t)sizes[i]));
        bench_figure("pingpong", (size_t)sizes[i], 1e6 * t, "us");
        free(m.buf);
    }
    bench_figure("barrier", 0, 1e6 * bench_time(barrier, NULL, often(repeats, 0)), "us");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t bytes = (size_t)counts[i] * sizeof(double);
        struct vector v = {bench_alloc(bytes), bench_alloc(bytes), counts[i]};
        double t = bench_time(allreduce, &v, often(repeats, bytes));
        bench_figure("allreduce", bytes, 1e6 * t, "us");
        free(v.in);
        free(v.out);
    }
}

#define TOUCHED ((size_t)64 << 20)
#define HOT ((size_t)256 << 10)
#define RECORD ((size_t)32) /* before the data of each message; records begin at lines */
#define FRAGMENT ((size_t)16 << 10)

/* Seconds of processor time: others that share the cores are to add nothing to a floor. */
static double spent(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What both ranks spend to pass TOUCHED bytes on through so many: rank 0 writes, then rank 1 reads.
 */
static double pass_on(char *p, size_t through)
{
    double mine = 0, both;
    volatile char sink = 0;
    for (size_t done = 0; done < TOUCHED; done += through) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t0 = spent();
        if (bench_rank == 0) {
            memset(p, 1, through);
            mine += spent() - t0;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        t0 = spent();
        if (bench_rank == 1) {
            for (size_t i = 0; i < through; i += 64)
                sink = p[i];
            mine += spent() - t0;
        }
    }
    (void)sink;
    MPI_Reduce(&mine, &both, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return both;
}

/* Of a message there and back, for each size. each: seconds for a byte. */
static void touch_figures(const char *name, double each)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = (size_t)sizes[i], records = (n + FRAGMENT - 1) / FRAGMENT;
        size_t bytes = (n + records * RECORD + 63) / 64 * 64;
        bench_figure(name, n, 1e6 * each * 2 * (double)bytes, "us");
    }
}

/* As an arena takes memory: file space by the mebibyte, mapped at once. */
static void touch(void)
{
    char name[64];
    int pid = (int)getpid();
    double v[BENCH_BATCHES], cold[BENCH_BATCHES];
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int b = 0; b < BENCH_BATCHES; b++) {
        snprintf(name, sizeof name, "/bench_touch.%d.%d", pid, b);
        int fd = bench_rank == 0 ? shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
        if (bench_rank == 0 && (fd < 0 || ftruncate(fd, (off_t)TOUCHED) != 0))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench_rank != 0)
            fd = shm_open(name, O_RDWR, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (bench_rank == 0)
            shm_unlink(name);
        char *p =
            fd < 0 ? MAP_FAILED : mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            MPI_Abort(MPI_COMM_WORLD, 1);
        double t0 = spent();
        for (size_t at = 0; bench_rank == 0 && at < TOUCHED; at += (size_t)1 << 20) {
            if (posix_fallocate(fd, (off_t)at, 1 << 20) != 0)
                MPI_Abort(MPI_COMM_WORLD, 1);
#ifdef MADV_POPULATE_WRITE
            (void)madvise(p + at, (size_t)1 << 20, MADV_POPULATE_WRITE);
#endif
        }
        double took = spent() - t0, first = pass_on(p, TOUCHED), again = pass_on(p, TOUCHED);
        v[b] = (took + first - again) / (double)TOUCHED;
        (void)pass_on(p, HOT);
        cold[b] = (again - pass_on(p, HOT)) / (double)TOUCHED;
        munmap(p, TOUCHED);
        close(fd);
    }
    touch_figures("touch", bench_median(v, BENCH_BATCHES));
    touch_figures("cold", bench_median(cold, BENCH_BATCHES));
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, "pingpong");
    if (argc > 1 && strcmp(argv[1], "touch") == 0) {
        if (bench_size == 2)
            touch();
        MPI_Finalize();
        return bench_size != 2;
    }
    safepoints = argc > 1 && strcmp(argv[1], "safepoints") == 0;
    bench_before = before_batch;
    int outside = argc > 1 && strcmp(argv[1], "setup") == 0,
        repeats = argc > 2 ? atoi(argv[2]) : 5000;
    if (outside)
        measure(&repeats);
    else if (FTRMA_Run(measure, &repeats) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
