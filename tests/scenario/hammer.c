/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hammer.c - [q copies ACC, p accumulates, q copies the window: applied twice] and [p, done,
 * accumulates into q, which is still copying]: atomics without pause, across checkpoints, onto
 * large windows; each is counted exactly once.
 */
#include "scenario.h"

enum { ROUNDS = 12, STEPS = 40, CELLS = 1 << 17, VECTOR = 3000 };

static struct {
    uint64_t round, issued;
} state;
static uint64_t *mem, *ones;
static MPI_Win win;

static void body(void *arg)
{
    uint64_t one = 1, was;
    (void)arg;
    MPI_Win_lock_all(0, win);
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        for (int i = 0; i < STEPS; i++) {
            int to = (me + 1 + i) % np;
            MPI_Fetch_and_op(&one, &was, MPI_UINT64_T, to, i % 2 ? 0 : CELLS - 1, MPI_SUM, win);
            MPI_Win_flush(to, win);
            state.issued++;
        }
        MPI_Accumulate(ones, VECTOR, MPI_UINT64_T, (me + 1) % np, CELLS / 2, VECTOR, MPI_UINT64_T,
                       MPI_SUM, win);
        MPI_Win_flush((me + 1) % np, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate(CELLS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, CELLS * 8);
    ones = room(VECTOR * sizeof *ones);
    for (int i = 0; i < VECTOR; i++)
        ones[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    uint64_t counted = mem[0] + mem[CELLS - 1], all[2], mine[2] = {counted, state.issued};
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == (uint64_t)np * ROUNDS * STEPS && all[1] == all[0]);
    for (int i = 0; i < VECTOR; i++)
        CHECK(mem[CELLS / 2 + i] == ROUNDS);
    uint64_t sum = all[0] + mem[CELLS / 2];
    MPI_Win_free(&win);
    return finish(sum);
}
