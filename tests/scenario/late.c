/* SPDX-License-Identifier: BSD-3-Clause
 *
 * late.c - one rank computes for long in each step, and its neighbour waits for it: while a
 * checkpoint is under way all but these two stand at the safepoint, and the neighbour sleeps. It
 * does not wait for one that has stopped, so the checkpoint must not be called off.
 */
#include <unistd.h>

#include "scenario.h"

enum { STEPS = 10, LATE_US = 400000 };

static uint64_t sum;
static int step;

static void body(void *arg)
{
    (void)arg;
    while (step < STEPS) {
        FTRMA_Safepoint();
        uint64_t x = mix(sum + (uint64_t)(me * STEPS + step)), y, left;
        MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (me == 1)
            usleep(LATE_US);
        MPI_Sendrecv(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, &left, 1, MPI_UINT64_T,
                     (me + np - 1) % np, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = mix(sum ^ y ^ left);
        step++;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    FTRMA_Protect(&sum, sizeof sum);
    FTRMA_Protect(&step, sizeof step);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(sum);
}
