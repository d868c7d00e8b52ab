/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pauses.c - each step ends with a pause, in which what a checkpoint does beside the program ends:
 * so a rank that dies at a safepoint dies after the checkpoint before it was committed. A step that
 * is repeated has no second pause: the others would wait for it until they count as stuck.
 */
#include <unistd.h>

#include "round.h"

enum { STEPS = 6, PAUSE_US = 150000 };

static uint64_t sum;
static int step;

static void body(void *arg)
{
    (void)arg;
    int repeated = step ? step : -1;
    while (step < STEPS) {
        FTRMA_Safepoint();
        sum = round_of_all(sum, mix(sum + (uint64_t)(me * STEPS + step)), 0);
        if (step++ != repeated)
            usleep(PAUSE_US);
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
