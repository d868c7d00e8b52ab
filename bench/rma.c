/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma.c - one-sided calls of rank 0 towards rank 1, each with its flush, while rank 1 waits in a
 * barrier; and, with more ranks, what they do together.
 *
 *   bench_rma [allocate|create [MILLISECONDS [BATCHES]]]     how the window is made; a batch takes
 * about MILLISECONDS (10), or is one call (0)
 *
 * Two ranks: put, get, fetch_and_op and compare_and_swap of 8 bytes; an exclusive lock and unlock
 * beside two compare_and_swaps, which is what such a lock is at least; accumulate of 1 MiB of
 * doubles; strided and indexed puts, and rows put as columns, beside a loop written by hand; put of
 * 16 MiB beside a memcpy. What stands beside is of the same process, from the same buffer into its
 * own part of the same window, in turns with the call. More ranks: fence; all adding to one counter
 * of rank 0, beside plain processor atomics of all on one line of shared memory.
 *
 * Between batches is a safepoint, so that with `ftrun --checkpoint every:K` logs are trimmed;
 * nothing is protected, as nobody is to be killed.
 */
#include <fcntl.h>
#include <ftrma.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "bench.h"

#define LARGE ((size_t)16 << 20)
#define MIDDLE ((size_t)1 << 20)
#define BLOCKS 4096 /* of strided and indexed puts: of 64 bytes, each second place */
#define BLOCK ((size_t)64)

static struct {
    MPI_Win win;
    char *buf, *own; /* own: this process's part of the window */
    size_t bytes;
    MPI_Datatype strided, indexed, column[2]; /* of matrices of doubles, order[] wide */
    size_t at[BLOCKS];                        /* where indexed blocks lie: bytes */
    _Atomic long *line;                       /* shared by all, no window */
} w;
static const char *how;
static double seconds = 0.01; /* of a batch */

static void put(void)
{
    MPI_Put(w.buf, (int)w.bytes, MPI_BYTE, 1, 64, (int)w.bytes, MPI_BYTE, w.win);
    MPI_Win_flush(1, w.win);
}

static void get(void)
{
    MPI_Get(w.buf, (int)w.bytes, MPI_BYTE, 1, 64, (int)w.bytes, MPI_BYTE, w.win);
    MPI_Win_flush(1, w.win);
}

static void fetch_add(void)
{
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, w.win);
    MPI_Win_flush(1, w.win);
}

static void compare_swap(void)
{
    long one = 1, none = 0, old;
    MPI_Compare_and_swap(&one, &none, &old, MPI_LONG, 1, 0, w.win);
    MPI_Win_flush(1, w.win);
}

static void lock_unlock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
    MPI_Win_unlock(1, w.win);
}

static void swap_pair(void)
{
    compare_swap();
    compare_swap();
}

static void accumulate(void)
{
    int n = (int)(w.bytes / sizeof(double));
    MPI_Accumulate(w.buf, n, MPI_DOUBLE, 1, 64, n, MPI_DOUBLE, MPI_SUM, w.win);
    MPI_Win_flush(1, w.win);
}

static void add_loop(void)
{
    const double *from = (const double *)(const void *)w.buf;
    double *to = (double *)(void *)(w.own + 64);
    for (size_t i = 0; i < w.bytes / sizeof(double); i++)
        to[i] += from[i];
    __asm__ volatile("" ::: "memory"); /* nothing may be left out */
}

static void put_as(MPI_Datatype type)
{
    MPI_Put(w.buf, 1, type, 1, 64, 1, type, w.win);
    MPI_Win_flush(1, w.win);
}

/* Eight rows of a matrix become columns of another, as in a transpose: these lie in the same lines
 * of the target. */
static const int order[2] = {500, 1024};

static void transpose(void)
{
    int k = w.bytes != (size_t)order[0] * 64, n = order[k];
    for (size_t i = 0; i < 8; i++)
        MPI_Put(w.buf + 8 * i * (size_t)n, n, MPI_DOUBLE, 1, (MPI_Aint)(64 + 8 * i), 1, w.column[k],
                w.win);
    MPI_Win_flush(1, w.win);
}

static void transpose_loop(void)
{
    size_t n = w.bytes / 64;
    for (size_t i = 0; i < 8; i++) {
        const double *from = (const double *)(const void *)w.buf + i * n;
        double *to = (double *)(void *)(w.own + 64) + i;
        for (size_t k = 0; k < n; k++)
            to[k * n] = from[k];
    }
    __asm__ volatile("" ::: "memory");
}

static void put_strided(void) { put_as(w.strided); }
static void put_indexed(void) { put_as(w.indexed); }

static void strided_loop(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        memcpy(w.own + 64 + 2 * i * BLOCK, w.buf + 2 * i * BLOCK, BLOCK);
    __asm__ volatile("" ::: "memory");
}

static void indexed_loop(void)
{
    for (size_t i = 0; i < BLOCKS; i++)
        memcpy(w.own + 64 + w.at[i], w.buf + w.at[i], BLOCK);
    __asm__ volatile("" ::: "memory");
}

static void copy(void)
{
    memcpy(w.own + 64, w.buf, w.bytes);
    __asm__ volatile("" ::: "memory");
}

static void fence(void) { MPI_Win_fence(0, w.win); }

static void put_fence(void)
{
    MPI_Put(w.buf, 8, MPI_BYTE, (bench_rank + 1) % bench_size, 64, 8, MPI_BYTE, w.win);
    MPI_Win_fence(0, w.win);
}

static void counter(void)
{
    long one = 1, old;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, w.win);
    MPI_Win_flush(0, w.win);
}

static void plain_counter(void) { atomic_fetch_add(w.line, 1); }

enum epoch { LOCKED, NONE, FENCED }; /* around a batch: lock_all, nothing, a fence */

/* `beside` is done in turns with the call. GB/s where `large` is set, else microseconds. */
static const struct point {
    const char *name;
    void (*step)(void);
    const char *beside;
    void (*other)(void);
    size_t bytes;
    int many; /* all ranks do it */
    enum epoch epoch;
} points[] = {
    {"put+flush", put, NULL, NULL, 8, 0, LOCKED},
    {"get+flush", get, NULL, NULL, 8, 0, LOCKED},
    {"fetch_and_op+flush", fetch_add, NULL, NULL, 8, 0, LOCKED},
    {"compare_and_swap+flush", compare_swap, NULL, NULL, 8, 0, LOCKED},
    {"swap_pair", swap_pair, NULL, NULL, 8, 0, LOCKED},
    {"lock+unlock", lock_unlock, NULL, NULL, 0, 0, NONE},
    {"accumulate+flush", accumulate, "add_loop", add_loop, MIDDLE, 0, LOCKED},
    {"strided_put+flush", put_strided, "strided_loop", strided_loop, BLOCKS *BLOCK, 0, LOCKED},
    {"indexed_put+flush", put_indexed, "indexed_loop", indexed_loop, BLOCKS *BLOCK, 0, LOCKED},
    {"transpose+flush", transpose, "transpose_loop", transpose_loop, 500 * 64, 0, LOCKED},
    {"transpose+flush", transpose, "transpose_loop", transpose_loop, 1024 * 64, 0, LOCKED},
    {"put+flush", put, "memcpy", copy, LARGE, 0, LOCKED},
    {"fence", fence, NULL, NULL, 0, 1, FENCED},
    {"put+fence", put_fence, NULL, NULL, 8, 1, FENCED},
    {"one_atomic", plain_counter, NULL, NULL, 8, 0, NONE},
    {"counter", counter, "plain_atomic", plain_counter, 8, 1, LOCKED},
};

static int takes_part(const struct point *p) { return p->many || bench_rank == 0; }
static double batch(const void *p, long n)
{
    return bench_slowest(((const struct point *)p)->step, n, takes_part(p));
}
static double batch_beside(const void *p, long n)
{
    return bench_slowest(((const struct point *)p)->other, n, takes_part(p));
}

static void enter(enum epoch e)
{
    if (e == LOCKED)
        MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
    else if (e == FENCED)
        MPI_Win_fence(0, w.win);
}

static void leave(enum epoch e)
{
    if (e == LOCKED)
        MPI_Win_unlock_all(w.win);
    else if (e == FENCED)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
}

static void figure(const char *what, size_t bytes, double took)
{
    char name[64];
    snprintf(name, sizeof name, "%s,%s", what, how);
    if (bytes == LARGE)
        bench_figure(name, bytes, 1e-9 * (double)bytes / took, "GB/s");
    else
        bench_figure(name, bytes, 1e6 * took, "us");
}

static void measure(const struct point *p)
{
    double v[BENCH_BATCHES], beside[BENCH_BATCHES];
    double took = p->many
                      ? 4 * seconds
                      : seconds; /* longer than a time slice, so that ranks that share cores meet */
    w.bytes = p->bytes;
    enter(p->epoch);
    long n = bench_fit(batch, p, took);
    leave(p->epoch);
    long m = p->other ? bench_fit(batch_beside, p, took) : 0;
    for (int b = 0; b < bench_batches; b++) {
        FTRMA_Safepoint();
        enter(p->epoch);
        v[b] = batch(p, n);
        leave(p->epoch);
        if (p->other)
            beside[b] = batch_beside(p, m);
    }
    figure(p->name, p->bytes, bench_median(v, bench_batches));
    if (p->other)
        figure(p->beside, p->bytes, bench_median(beside, bench_batches));
}

static void body(void *arg)
{
    const char *only = arg;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (only ? strcmp(only, points[i].name) == 0 : points[i].many == (bench_size > 2))
            measure(&points[i]);
}

/* Blocks in an order of their own, none twice, as far apart as the strided ones. */
static void types(void)
{
    int where[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        where[i] = i * 1237 % BLOCKS * 2 * (int)BLOCK; /* 1237 is odd: all are met */
        w.at[i] = (size_t)where[i];
    }
    MPI_Type_vector(BLOCKS, (int)BLOCK, 2 * (int)BLOCK, MPI_BYTE, &w.strided);
    MPI_Type_create_indexed_block(BLOCKS, (int)BLOCK, where, MPI_BYTE, &w.indexed);
    for (int k = 0; k < 2; k++) {
        MPI_Type_vector(order[k], 1, order[k], MPI_DOUBLE, &w.column[k]);
        MPI_Type_commit(&w.column[k]);
    }
    MPI_Type_commit(&w.strided);
    MPI_Type_commit(&w.indexed);
}

/* A line of memory that all map, by a name that is gone again when all have it. */
static void share_line(void)
{
    char name[64];
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/bench_rma.%d", pid);
    int fd = -1;
    if (bench_rank == 0 &&
        ((fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600)) < 0 || ftruncate(fd, 4096) != 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench_rank != 0 && (fd = shm_open(name, O_RDWR, 0)) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
    if (bench_rank == 0)
        shm_unlink(name);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    w.line = p;
}

int main(int argc, char **argv)
{
    int create = argc > 1 && strcmp(argv[1], "create") == 0;
    seconds = argc > 2 ? 1e-3 * atof(argv[2]) : seconds;
    bench_batches = argc > 3 ? atoi(argv[3]) : bench_batches;
    bench_start(&argc, &argv, "rma");
    if (bench_batches < 1 || bench_batches > BENCH_BATCHES || bench_size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    how = create ? "create" : "allocate";
    w.buf = bench_alloc(LARGE);
    memset(w.buf, 0, LARGE); /* sums stay numbers */
    if (create) {
        w.own = bench_alloc(LARGE + 4096);
        MPI_Win_create(w.own, (MPI_Aint)(LARGE + 4096), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    } else {
        MPI_Win_allocate((MPI_Aint)(LARGE + 4096), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.own,
                         &w.win);
    }
    memset(w.own, 0, LARGE + 4096);
    types();
    share_line();
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Unprotect(&w, sizeof w);
    if (FTRMA_Run(body, argc > 4 ? argv[4] : NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_free(&w.strided);
    MPI_Type_free(&w.indexed);
    MPI_Win_free(&w.win);
    if (create)
        free(w.own);
    free(w.buf);
    munmap((void *)w.line, 4096);
    MPI_Finalize();
    return 0;
}
