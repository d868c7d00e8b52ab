/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.h - a step that all ranks take together.
 */
#ifndef SCENARIO_ROUND_H
#define SCENARIO_ROUND_H

#include <unistd.h>

#include "scenario.h"

/* late_us: this rank computes for so long in the middle of the step. Returns the next sum. */
static inline uint64_t round_of_all(uint64_t sum, uint64_t x, unsigned late_us)
{
    uint64_t y, left;
    MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (late_us)
        usleep(late_us);
    MPI_Sendrecv(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, &left, 1, MPI_UINT64_T, (me + np - 1) % np,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return mix(sum ^ y ^ left);
}

#endif
