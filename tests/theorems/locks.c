/* SPDX-License-Identifier: BSD-3-Clause
 *
 * locks.c - a program that synchronizes with locks only, as the paper's "Locks" scheme and its
 * Algorithm 3 want it: each rank adds to a number at each other one, under an exclusive lock, and
 * writes a word of its own. With "shared" it holds shared locks on all the time, over checkpoints
 * as well, and writes its own words only.
 */
#include "../program.h"
#include "ftrma.h"

#define STEPS 12

static MPI_Win win;
static uint64_t *mine, step;
static int shared;

static void add_to(int q)
{
    uint64_t n, v = 1000 * (step + 1) + 10 * (uint64_t)me + (uint64_t)q;
    if (shared) {
        MPI_Put(&v, 1, MPI_UINT64_T, q, 1 + me, 1, MPI_UINT64_T, win);
        if (step % 3)
            MPI_Win_flush(q, win);
        return;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, q, 0, win);
    MPI_Get(&n, 1, MPI_UINT64_T, q, 0, 1, MPI_UINT64_T, win);
    MPI_Win_flush(q, win);
    n++;
    MPI_Put(&n, 1, MPI_UINT64_T, q, 0, 1, MPI_UINT64_T, win);
    MPI_Put(&v, 1, MPI_UINT64_T, q, 1 + me, 1, MPI_UINT64_T, win);
    MPI_Win_unlock(q, win);
}

static void work(void *arg)
{
    (void)arg;
    if (shared)
        MPI_Win_lock_all(0, win);
    for (; step < STEPS; step++) {
        FTRMA_Safepoint();
        for (int d = 1; d < np; d++)
            add_to((me + d) % np);
    }
    if (shared)
        MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    shared = argc > 1;
    MPI_Win_allocate((MPI_Aint)(8 * (np + 1)), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    FTRMA_Protect(&step, sizeof step);
    FTRMA_Run(work, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t seen = 0;
    for (int i = 0; i <= np; i++)
        seen = mix(seen + mine[i]);
    CHECK(shared || mine[0] == (uint64_t)(STEPS * (np - 1)));
    MPI_Win_free(&win);
    return finish(seen);
}
