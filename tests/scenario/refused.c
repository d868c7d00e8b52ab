/* SPDX-License-Identifier: BSD-3-Clause
 *
 * refused.c - a receive is open when FTRMA_Run is called. So its first checkpoint is called off,
 * FTRMA_Run reports this, and the program goes on without it. A replacement gets the same answer,
 * also if the lost process was far beyond that point.
 */
#include "scenario.h"

enum { ROUNDS = 12 };

static int ran;

static void body(void *arg)
{
    (void)arg;
    ran = 1;
}

int main(int argc, char **argv)
{
    static uint64_t sum, in;
    MPI_Request open_one;
    start(&argc, &argv);
    FTRMA_Protect(&sum, sizeof sum);
    MPI_Irecv(&in, 1, MPI_UINT64_T, (me + np - 1) % np, 1, MPI_COMM_WORLD, &open_one);
    CHECK(FTRMA_Run(body, NULL) == MPI_ERR_OTHER && !ran);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t x = mix(sum + (uint64_t)(me * ROUNDS + i)), y;
        FTRMA_Safepoint();
        MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        sum = mix(sum ^ y);
        if (i == ROUNDS / 2) {
            MPI_Send(&sum, 1, MPI_UINT64_T, (me + 1) % np, 1, MPI_COMM_WORLD);
            MPI_Wait(&open_one, MPI_STATUS_IGNORE);
            sum ^= in;
        }
    }
    CHECK(FTRMA_Run(body, NULL) == MPI_ERR_OTHER && !ran);
    return finish(sum);
}
