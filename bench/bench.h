/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bench.h - what the measuring programs share: the configuration that each prints first, and
 * medians of batches.
 *
 * Every figure is one line on rank 0's standard output, which bench/run.sh collects:
 *   bench: CASE BYTES VALUE UNIT
 */
#ifndef BENCH_H
#define BENCH_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_BATCHES 21 /* of each figure in one run; the median of them is reported */

static int bench_rank, bench_size;
static int bench_batches =
    BENCH_BATCHES; /* where a program lets them be chosen; before bench_start */

/* The first "model name" of this machine. */
static inline void bench_cpu(char *out, size_t room)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(out, room, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !colon)
            continue;
        snprintf(out, room, "%s", colon + 2);
        out[strcspn(out, "\n")] = '\0';
        break;
    }
    if (f)
        fclose(f);
}

static inline void bench_start(int *argc, char ***argv, const char *what)
{
    char cpu[128], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_size);
    if (bench_rank != 0)
        return;
    bench_cpu(cpu, sizeof cpu);
    MPI_Get_library_version(version, &len);
    version[strcspn(version, ",\n")] = '\0';
    printf("config: %s; %d ranks on %ld cores; %s; %s; ftrma %s; ", what, bench_size,
           sysconf(_SC_NPROCESSORS_ONLN), cpu, version,
           dlsym(NULL, "FTRMA_Run") ? "loaded" : "not loaded");
    printf("compiler %s; medians of %d batches a run\n", __VERSION__, bench_batches);
    fflush(stdout);
}

static inline void bench_figure(const char *name, size_t bytes, double value, const char *unit)
{
    if (bench_rank == 0) {
        printf("bench: %s %zu %.6g %s\n", name, bytes, value, unit);
        fflush(stdout);
    }
}

static inline int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, bench_by_value);
    return v[n / 2];
}

/* Seconds of the system's clock. Not MPI_Wtime, which says to a replacement what it had said to the
 * lost process. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Memory that is there: every page was written. */
static inline void *bench_alloc(size_t bytes)
{
    void *p = NULL;
    if (posix_memalign(&p, 4096, bytes) != 0 || !p) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(p, 1 + bench_rank, bytes);
    return p;
}

/* Calls in a batch that takes about `seconds`, by what the first ones take. `batch` does n of them
 * and returns the seconds of each, the same on all ranks. With 0 seconds it is one call. */
static inline long bench_fit(double (*batch)(const void *arg, long n), const void *arg,
                             double seconds)
{
    long n = 1;
    double each = batch(arg, n);
    while (seconds > 0 && each * (double)n < seconds / 8 && n < 10000000) {
        n *= 4;
        each = batch(arg, n);
    }
    double fit = seconds / (each > 1e-9 ? each : 1e-9);
    return fit < 1 ? 1 : (long)fit;
}

/* Seconds of n calls of `step`, each; 0 where this rank takes no part; of all ranks the slowest
 * one's, on all of them. */
static inline double bench_slowest(void (*step)(void), long n, int takes_part)
{
    double mine = 0, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double t0 = MPI_Wtime();
    for (long i = 0; takes_part && i < n; i++)
        step();
    if (takes_part)
        mine = (MPI_Wtime() - t0) / (double)n;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Called before each batch of bench_time; NULL: nothing. */
static void (*bench_before)(void);

/* Seconds that one call of `step` takes, the median of the batches; all ranks call it, each gets
 * its own clock's figure. */
static inline double bench_time(void (*step)(void *), void *arg, int each)
{
    double v[BENCH_BATCHES];
    for (int i = 0; i < each / 4 + 1; i++)
        step(arg);
    for (int b = 0; b < BENCH_BATCHES; b++) {
        if (bench_before)
            bench_before();
        MPI_Barrier(MPI_COMM_WORLD);
        double t0 = MPI_Wtime();
        for (int i = 0; i < each; i++)
            step(arg);
        v[b] = (MPI_Wtime() - t0) / each;
    }
    return bench_median(v, BENCH_BATCHES);
}

#endif
