/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shared.c - a window that all load from and store to directly, by pointers that body keeps: the
 * loss of any member is everybody's rollback. Beside it a shared window of each process alone, one
 * that comes and goes within a round, and one that is made of the same memory: of each rank's
 * predecessor's part.
 */
#include "scenario.h"

enum { ROUNDS = 8, WORDS = 700 };

static struct {
    uint64_t round, sum;
    uint64_t *part[16]; /* where each rank's part is mapped here */
} state;
static MPI_Win win, own_win, lent;
static uint64_t *mine, *own;

static void add(uint64_t x) { state.sum = mix(state.sum ^ mix(x + 1)); }

static void meet(void)
{
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
}

/* Within a round: no checkpoint sees it. */
static void passing(void)
{
    MPI_Win w;
    uint64_t *here, *first;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &here, &w);
    MPI_Win_shared_query(w, 0, &bytes, &unit, &first);
    MPI_Win_fence(0, w);
    first[(me + 1) % np * 8] = state.sum;
    MPI_Win_fence(0, w);
    add(here[0]);
    MPI_Win_free(&w);
}

static void body(void *arg)
{
    (void)arg;
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, lent);
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        for (int r = 0; r < np; r++) /* my words of each part follow from what they were */
            for (int i = me; i < WORDS; i += np)
                state.part[r][i] = mix(state.part[r][i] + state.sum + (uint64_t)i);
        meet();
        for (int i = 0; i < WORDS; i += 7)
            add(mine[i]);
        add(state.part[(me + 1) % np][(int)state.round]);
        meet();
        MPI_Win w = state.round % 2 ? win : lent; /* the same word */
        int target = (me + (w == win ? 1 : 2)) % np;
        MPI_Put(&state.sum, 1, MPI_UINT64_T, target, me, 1, MPI_UINT64_T, w);
        MPI_Win_flush(target, w);
        own[state.round] = state.sum;
        add(own[0]);
        if (state.round % 3 == 1)
            passing();
        meet();
    }
    MPI_Win_unlock_all(lent);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    MPI_Aint bytes;
    int unit;
    start(&argc, &argv);
    CHECK(np <= 16);
    MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_allocate_shared(ROUNDS * 8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &own, &own_win);
    for (int r = 0; r < np; r++)
        MPI_Win_shared_query(win, r, &bytes, &unit, &state.part[r]);
    MPI_Win_create(state.part[(me + np - 1) % np], WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &lent);
    for (int i = 0; i < WORDS; i++)
        mine[i] = mix((uint64_t)(me * WORDS + i));
    state.sum = mix((uint64_t)me + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    for (int i = 0; i < WORDS; i++)
        add(mine[i]);
    MPI_Win_free(&lent);
    MPI_Win_free(&own_win);
    MPI_Win_free(&win);
    return finish(state.sum);
}
