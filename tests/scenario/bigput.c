/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bigput.c - [p, inside a long put, overwrites q's restored window]: all are nearly always inside a
 * put of several MiB when a process dies. A window that was written after it was restored shows in
 * the sums.
 */
#include "scenario.h"

enum { ROUNDS = 8, CELLS = 1 << 19 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *mem, *out;
static MPI_Win win;

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        for (int i = 0; i < CELLS; i++) /* what round - 1 left there is part of what is sent on */
            out[i] = mem[i] + mix(state.round + (uint64_t)(i + me));
        MPI_Win_fence(0, win);
        MPI_Put(out, CELLS, MPI_UINT64_T, (me + 1) % np, 0, CELLS, MPI_UINT64_T, win);
        MPI_Win_fence(0, win);
        uint64_t h = 0;
        for (int i = 0; i < CELLS; i++)
            h = (h + mem[i]) * 3;
        state.sum = mix(state.sum ^ h);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate((MPI_Aint)CELLS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    out = room((size_t)CELLS * 8);
    memset(mem, 0, (size_t)CELLS * 8);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Unprotect(out, (size_t)CELLS * 8);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    uint64_t sum = state.sum;
    MPI_Win_free(&win);
    free(out);
    return finish(sum);
}
