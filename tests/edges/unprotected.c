/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unprotected.c - a program that computes with several arrays and protects one of them.
 *
 *   unprotected HOW [ITERATIONS]
 *     HOW    forget: nothing is said of the others; protect: they are protected; scratch: body
 * writes them before it reads them, and they are given to FTRMA_Unprotect; threads: as forget,
 * while another thread takes and gives back memory; sparse: as forget, with a terabyte of which
 * nothing was touched
 */
#define _GNU_SOURCE
#include <ftrma.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define N 10000
#define LARGE ((size_t)4 << 30)
#define LARGER ((size_t)1 << 40)

double common_u[N];
static double u[N];
static double protected_u[N];
double *grid;
static char never_touched[64 << 20];
_Thread_local char
    own[128 << 10]; /* so much that the mapping of the main thread's own storage is looked at */
static int iteration, iterations = 20, rank;
static int scratch;
static const char *volatile words = "printed before each safepoint";
static atomic_int stop;

static double
    *others[4]; /* static data with and without a name outside of this file, heap, mapping */

static void place(void)
{
    /* far from what Open MPI maps, at the same place in all ranks */
    void *p = mmap((void *)0x300000000000, sizeof u, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    others[0] = common_u;
    others[1] = u;
    others[2] = grid = calloc(N, sizeof(double));
    others[3] = p;
    if (p == MAP_FAILED || !grid)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *map_and_unmap(void *unused)
{
    while (!atomic_load(&stop)) {
        char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p != MAP_FAILED) {
            memset(p, 1, 1 << 20);
            munmap(p, 1 << 20);
        }
        free(memset(malloc(200000), 1, 200000));
    }
    return unused;
}

static void body(void *arg)
{
    (void)arg;
    while (iteration < iterations) {
        FTRMA_Safepoint();
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < N; i++) {
                double *v = others[k];
                if (scratch)
                    v[i] = protected_u[i] + iteration;
                v[i] = v[i] * 0.75 + rank + i + iteration;
                protected_u[i] = protected_u[i] * 0.5 + v[i];
            }
        double *all = malloc(sizeof u); /* the collective has a buffer of its own, which lives on */
        if (!all)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Allreduce(u, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        protected_u[1] += all[N - 1];
        free(all);
        double sum = 0, mine = protected_u[N - 1];
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        protected_u[0] += sum;
        iteration++;
        if (rank == 0) {
            printf("%d: %s\n", iteration,
                   words); /* stdio has a buffer of its own, and the C library variables */
            fprintf(stderr, "so far: %d\n", iteration);
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argc > 1 ? argv[1] : "forget";
    iterations = argc > 2 ? atoi(argv[2]) : iterations;
    place();
    void *guarded = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t large = strcmp(how, "sparse") == 0 ? LARGER : LARGE;
    char *sparse = mmap(NULL, large, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (guarded == MAP_FAILED || (sparse != MAP_FAILED && sparse[large / 2]) ||
        never_touched[sizeof never_touched / 2])
        MPI_Abort(MPI_COMM_WORLD, 1);
    FTRMA_Protect(protected_u, sizeof protected_u);
    FTRMA_Protect(&iteration, sizeof iteration);
    scratch = strcmp(how, "scratch") == 0;
    for (int k = 0; k < 4; k++) {
        if (strcmp(how, "protect") == 0)
            FTRMA_Protect(others[k], sizeof u);
        if (scratch && FTRMA_Unprotect(others[k], sizeof u) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int threads =
        strcmp(how, "threads") == 0 && pthread_create(&other, NULL, map_and_unmap, NULL) == 0;
    FTRMA_Run(body, NULL);
    if (threads) {
        atomic_store(&stop, 1);
        pthread_join(other, NULL);
    }
    double sum = 0, all = 0;
    for (int i = 0; i < N; i++)
        sum += protected_u[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum: %.17g\n", all);
    MPI_Finalize();
    return 0;
}
