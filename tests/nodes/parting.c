/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parting.c - the last thing that all ranks but rank 0 do in body is to send to rank 0, which
 * receives after FTRMA_Run. So where the node of rank 0 is lost at the end of its body, and links
 * are late, the others wait at the end of theirs until what they have said has come to a node that
 * is lost.
 */
#include "ftrma.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 6 };

static struct {
    uint64_t round, sum;
} state;
static int me, np;

static void body(void *arg)
{
    (void)arg;
    while (state.round < ROUNDS) {
        FTRMA_Safepoint();
        uint64_t mine = state.sum + (uint64_t)me, all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        state.sum = all * 3 + ++state.round;
    }
    uint64_t last = state.sum + (uint64_t)me;
    if (me > 0)
        MPI_Send(&last, 1, MPI_UINT64_T, 0, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Run(body, NULL);
    if (me == 0) {
        uint64_t sum = state.sum;
        for (int r = 1; r < np; r++) {
            uint64_t theirs;
            MPI_Recv(&theirs, 1, MPI_UINT64_T, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum = sum * 5 + theirs;
        }
        printf("result: %" PRIx64 "\n", sum);
    }
    MPI_Finalize();
    return 0;
}
