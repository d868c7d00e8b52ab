/* SPDX-License-Identifier: BSD-3-Clause
 *
 * closer.c - a program that closes all descriptors that it does not know, as daemons do, and uses
 * their numbers for other files: pipes that are ready for reading. It does so when MPI has started,
 * and in the middle of its run. Its result does not depend on that.
 *
 *   edges_closer HOW STEPS     HOW: none, close, range, from, dup, raw (by the system call, which
 * no library sees) edges_closer full STEPS    instead it opens all that it can, so that there is no
 * descriptor left edges_closer taken STEPS   both: raw, and all numbers are taken again
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ftrma.h>

#define N 20000
#define HIGHEST 1200

static long cell[N]; /* a window; its pages are shared in place */
static long sum[64];
static struct {
    long step, total;
} state;
static MPI_Win win;
static int rank, size, steps;
static const char *how;

static void take_numbers(int most)
{
    int p[2];
    for (int i = 0; i < most; i++)
        if (pipe(p) != 0 || write(p[1], "ready", 5) != 5)
            return;
}

static void wipe(void)
{
    int null = strcmp(how, "dup") == 0 ? open("/dev/null", O_RDWR) : -1;
    if (strcmp(how, "none") == 0)
        return;
    if (strcmp(how, "range") == 0)
        (void)close_range(3, ~0u, 0);
    if (strcmp(how, "from") == 0)
        closefrom(3);
    for (int fd = 3; fd < HIGHEST; fd++) {
        if (strcmp(how, "close") == 0)
            close(fd);
        else if (strcmp(how, "raw") == 0 || strcmp(how, "taken") == 0)
            syscall(SYS_close, fd);
        else if (strcmp(how, "dup") == 0 && fd != null)
            (void)!dup2(null, fd);
    }
    int all = strcmp(how, "full") == 0 || strcmp(how, "taken") == 0;
    take_numbers(all ? 1 << 20 : 40);
    if (all)
        while (open("/dev/null", O_RDONLY) >= 0)
            ;
}

static void body(void *arg)
{
    (void)arg;
    while (state.step < steps) {
        FTRMA_Safepoint();
        if (state.step == steps / 2)
            wipe();
        for (int to = 0; to < size; to++) {
            long v = state.step * 100 + rank;
            MPI_Accumulate(&v, 1, MPI_LONG, to, (MPI_Aint)(state.step * 7 + rank) % N, 1, MPI_LONG,
                           MPI_SUM, win);
            MPI_Put(&v, 1, MPI_LONG, to, N - 1 - rank, 1, MPI_LONG, win);
        }
        MPI_Win_fence(0, win);
        long all = 0, mine = cell[(state.step * 7) % N] + cell[N - 1];
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Win_fence(0, win);
        state.total = state.total * 31 + all;
        state.step++;
    }
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "none";
    steps = argc > 2 ? atoi(argv[2]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wipe();
    MPI_Win_create(cell, sizeof cell, sizeof cell[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    FTRMA_Protect(&state, sizeof state);
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Reduce(cell, sum, 64, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 64; i++)
        state.total = state.total * 31 + sum[i];
    if (rank == 0)
        printf("result %lx\n", state.total);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
