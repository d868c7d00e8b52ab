/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gsync.c - a program that synchronizes with fences only, as the paper's "Gsync" scheme and its
 * Algorithm 2 want it. Each value that is put is put once, and no word has two writers in one
 * phase.
 */
#include "../program.h"
#include "ftrma.h"

#define STEPS 12

static MPI_Win win;
static uint64_t *mine, seen, step;

/* In each phase the ranks put to one half of the words, and get from the other. A checkpoint comes
 * right after a gsync and before any access. */
static void work(void *arg)
{
    (void)arg;
    for (; step < STEPS; step++) {
        uint64_t half = step % 2, got[2] = {0}, n = (uint64_t)np;
        FTRMA_Safepoint();
        for (int d = 1; d < np; d++) {
            int q = (me + d) % np;
            uint64_t v = 1000 * (step + 1) + 10 * (uint64_t)me + (uint64_t)q;
            /* a word has another writer each time: one phase must be over before the next begins */
            MPI_Aint word = (MPI_Aint)(half * n + ((uint64_t)me + step / 2) % n);
            MPI_Put(&v, 1, MPI_UINT64_T, q, word, 1, MPI_UINT64_T, win);
        }
        for (int i = 0; i < 2; i++) {
            MPI_Aint word = (MPI_Aint)((1 - half) * n + ((uint64_t)(me + i) + step) % n);
            MPI_Get(&got[i], 1, MPI_UINT64_T, (me + 1) % np, word, 1, MPI_UINT64_T, win);
        }
        MPI_Win_fence(0, win);
        seen = mix(seen + got[0] + 3 * got[1] + 5 * mine[half * n]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Win_allocate((MPI_Aint)(16 * np), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_fence(0, win);
    FTRMA_Protect(&seen, sizeof seen);
    FTRMA_Protect(&step, sizeof step);
    FTRMA_Run(work, NULL);
    for (int i = 0; i < 2 * np; i++)
        seen = mix(seen + mine[i]);
    MPI_Win_free(&win);
    return finish(seen);
}
