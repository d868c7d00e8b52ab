/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fences.c - [one counter for all groups deadlocks: fences on {p, q} and {p, r}]: windows over
 * pairs that share a process.
 */
#include "scenario.h"

enum { ROUNDS = 6, CELLS = 512 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *mem[2];
static MPI_Win
    win[2]; /* [0]: with rank 1 of the pair {0, 1}, {2, 3}; [1]: of the pair {0, 2}, {1, 3} */
static MPI_Comm pair[2];

static void exchange(int k)
{
    uint64_t out[CELLS];
    int rank;
    MPI_Comm_rank(pair[k], &rank);
    for (int i = 0; i < CELLS; i++)
        out[i] = mix(state.sum + (uint64_t)i);
    MPI_Win_fence(0, win[k]);
    MPI_Put(out, CELLS, MPI_UINT64_T, 1 - rank, 0, CELLS, MPI_UINT64_T, win[k]);
    MPI_Win_fence(0, win[k]);
    for (int i = 0; i < CELLS; i += 17)
        state.sum = mix(state.sum ^ mem[k][i]);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        for (uint64_t i = 0; i <= state.round % 3; i++)
            exchange(0);
        exchange(1);
        if (state.round % 2)
            exchange(0);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(np == 4);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &pair[0]);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &pair[1]);
    for (int k = 0; k < 2; k++) {
        MPI_Win_allocate(CELLS * 8, 8, MPI_INFO_NULL, pair[k], &mem[k], &win[k]);
        memset(mem[k], 0, CELLS * 8);
        MPI_Barrier(pair[k]);
    }
    state.sum = mix((uint64_t)me);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    for (int k = 0; k < 2; k++) {
        MPI_Win_free(&win[k]);
        MPI_Comm_free(&pair[k]);
    }
    return finish(state.sum);
}
