/* SPDX-License-Identifier: BSD-3-Clause
 *
 * requests.c - requests active at every second safepoint: it is passed over, the next one is not.
 */
#include "scenario.h"

enum { ROUNDS = 10 };

static struct {
    uint64_t round, sum;
} state;

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        uint64_t x = mix(state.round + (uint64_t)me), y = 0;
        MPI_Request req[2];
        FTRMA_Safepoint();
        MPI_Irecv(&y, 1, MPI_UINT64_T, (me + np - 1) % np, 1, MPI_COMM_WORLD, &req[0]);
        FTRMA_Safepoint();
        MPI_Isend(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        CHECK(y == mix(state.round + (uint64_t)((me + np - 1) % np)));
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
