/* SPDX-License-Identifier: BSD-3-Clause
 *
 * late.c - one rank computes for long in each step, and its neighbour waits for it: while a
 * checkpoint is under way all but these two stand at the safepoint, and the neighbour sleeps. It
 * does not wait for one that has stopped, so the checkpoint must not be called off.
 */
#include "round.h"

enum { STEPS = 10, LATE_US = 400000 };

static uint64_t sum;
static int step;

static void body(void *arg)
{
    (void)arg;
    while (step < STEPS) {
        FTRMA_Safepoint();
        sum = round_of_all(sum, mix(sum + (uint64_t)(me * STEPS + step)), me == 1 ? LATE_US : 0);
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
