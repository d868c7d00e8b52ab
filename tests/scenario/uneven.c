/* SPDX-License-Identifier: BSD-3-Clause
 *
 * uneven.c - checkpoints that cannot be: ranks pass differing numbers of safepoints, and one waits
 * for a message of another that is stopped at one. They are called off, and the job ends right.
 */
#include "scenario.h"

enum { ROUNDS = 8 };

static struct {
    uint64_t round, sum;
} state;

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        uint64_t x = state.round, y;
        for (int i = 0; i <= me; i++) /* rank r passes r + 1 for each of rank 0's */
            FTRMA_Safepoint();
        MPI_Sendrecv(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, &y, 1, MPI_UINT64_T, (me + np - 1) % np,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(x == y);
        state.sum = mix(state.sum ^ y);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(state.sum);
}
