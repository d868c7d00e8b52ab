/* SPDX-License-Identifier: BSD-3-Clause
 *
 * round.h - a step that all ranks take together.
 */
#ifndef SCENARIO_ROUND_H
#define SCENARIO_ROUND_H

#include <unistd.h>

#include "scenario.h"

static inline uint64_t round_begin(uint64_t x)
{
    uint64_t y;
    MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return y;
}

/* y: what begin returned for x. Returns the next sum. */
static inline uint64_t round_end(uint64_t sum, uint64_t x, uint64_t y)
{
    uint64_t left;
    MPI_Sendrecv(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, &left, 1, MPI_UINT64_T, (me + np - 1) % np,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return mix(sum ^ y ^ left);
}

/* late_us: this rank computes for so long in the middle of the step. */
static inline uint64_t round_of_all(uint64_t sum, uint64_t x, unsigned late_us)
{
    uint64_t y = round_begin(x);
    if (late_us)
        usleep(late_us);
    return round_end(sum, x, y);
}

#endif
