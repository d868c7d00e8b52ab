/* SPDX-License-Identifier: BSD-3-Clause
 *
 * locks.c - dead ranks hold locks, exclusive or shared, while others wait for them. A counter is
 * read and written under exclusive locks, and readers with a shared lock see its two halves equal.
 */
#include "scenario.h"

enum { ROUNDS = 6, TURNS = 6 };

static struct {
    uint64_t round, seen;
} state;
static uint64_t *mem;
static MPI_Win win;

static void raise_counter(int at)
{
    uint64_t v[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at, 0, win);
    MPI_Get(v, 2, MPI_UINT64_T, at, 0, 2, MPI_UINT64_T, win);
    MPI_Win_flush(at, win);
    CHECK(v[0] == v[1]);
    v[0]++;
    v[1]++;
    MPI_Put(&v[0], 1, MPI_UINT64_T, at, 0, 1, MPI_UINT64_T, win);
    MPI_Put(&v[1], 1, MPI_UINT64_T, at, 1, 1, MPI_UINT64_T, win);
    MPI_Win_unlock(at, win);
}

static void look(int at)
{
    uint64_t v[2];
    MPI_Win_lock(MPI_LOCK_SHARED, at, 0, win);
    MPI_Get(v, 2, MPI_UINT64_T, at, 0, 2, MPI_UINT64_T, win);
    MPI_Win_unlock(at, win);
    CHECK(v[0] == v[1]);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        for (int i = 0; i < TURNS; i++) {
            raise_counter(i % np);
            look((i + me) % np);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    mem[0] = mem[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    uint64_t mine = mem[0], all;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (uint64_t)np * ROUNDS * TURNS);
    MPI_Win_free(&win);
    return finish(mine);
}
