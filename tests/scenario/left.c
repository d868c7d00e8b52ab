/* SPDX-License-Identifier: BSD-3-Clause
 *
 * left.c - body ends with an open receive and with messages under way: there is no checkpoint at
 * its end, and they are completed after FTRMA_Run.
 */
#include "scenario.h"

enum { ROUNDS = 3, LONG = 20000 };

static struct {
    uint64_t round, sum;
} state;

static uint64_t early[LONG], late[LONG];
static MPI_Request open_one;

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        uint64_t y, x = mix(state.sum + (uint64_t)me);
        FTRMA_Safepoint();
        MPI_Sendrecv(&x, 1, MPI_UINT64_T, (me + 1) % np, 3, &y, 1, MPI_UINT64_T, (me + np - 1) % np,
                     3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        state.sum = mix(state.sum ^ y);
    }
    for (int i = 0; i < LONG; i++)
        early[i] = mix(state.sum + (uint64_t)i);
    MPI_Irecv(late, LONG, MPI_UINT64_T, (me + np - 1) % np, 2, MPI_COMM_WORLD, &open_one);
    MPI_Send(early, LONG, MPI_UINT64_T, (me + 1) % np, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static uint64_t in[LONG];
    start(&argc, &argv);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    MPI_Send(early, LONG, MPI_UINT64_T, (me + 1) % np, 2, MPI_COMM_WORLD);
    MPI_Wait(&open_one, MPI_STATUS_IGNORE);
    MPI_Recv(in, LONG, MPI_UINT64_T, (me + np - 1) % np, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < LONG; i++)
        CHECK(in[i] == late[i]);
    return finish(state.sum ^ in[LONG - 1]);
}
