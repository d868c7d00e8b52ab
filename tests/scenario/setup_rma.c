/* SPDX-License-Identifier: BSD-3-Clause
 *
 * setup_rma.c - setup writes to other processes' windows. Message logs cannot repeat that: a rank's
 * death loses the job, and it says why.
 */
#include "scenario.h"

static uint64_t round_, *mem;

static void body(void *arg)
{
    (void)arg;
    for (; round_ < 4; round_++) {
        FTRMA_Safepoint();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    start(&argc, &argv);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    uint64_t x = mix((uint64_t)me);
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_UINT64_T, (me + 1) % np, 0, 1, MPI_UINT64_T, win);
    MPI_Win_fence(0, win);
    FTRMA_Protect(&round_, sizeof round_);
    FTRMA_Run(body, NULL);
    uint64_t got = mem[0];
    MPI_Win_free(&win);
    return finish(got);
}
