/* SPDX-License-Identifier: BSD-3-Clause
 *
 * head.c - images whose head is long: messages of some megabytes cross each safepoint. Their first
 * region is scratch, which is left out. Setup makes a shared window, which a replacement is told of
 * in that head (G2).
 */
#include <ftrma.h>
#include <mpi.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 8, MESSAGES = 16, WORDS = 1 << 16, FEW = 1 << 10 };

static struct {
    uint64_t step, sent, sum;
} state;
static uint64_t scratch[WORDS], *shared;
static int me, np;

static void body(void *arg)
{
    (void)arg;
    for (; state.step < STEPS; state.step++, state.sent = 0) {
        for (; !state.sent; state.sent = 1)
            for (uint64_t m = 0; m < MESSAGES; m++) {
                for (uint64_t i = 0; i < WORDS; i++)
                    scratch[i] = (state.sum + i * m) * 0x9e3779b97f4a7c15ull;
                MPI_Send(scratch, WORDS, MPI_UINT64_T, (me + 1) % np, (int)m, MPI_COMM_WORLD);
            }
        FTRMA_Safepoint();
        for (int m = 0; m < MESSAGES; m++) {
            MPI_Recv(scratch, WORDS, MPI_UINT64_T, (me + np - 1) % np, m, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            for (uint64_t i = 0; i < WORDS; i++)
                state.sum = state.sum * 31 + scratch[i];
        }
        shared[state.step % FEW] = state.sum;
    }
}

int main(int argc, char **argv)
{
    uint64_t all = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    FTRMA_Protect(scratch, sizeof scratch);
    FTRMA_Unprotect(scratch, sizeof scratch);
    FTRMA_Protect(&state, sizeof state);
    MPI_Win_allocate_shared(FEW * sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &shared, &win);
    shared[FEW - 1] = state.sum = (uint64_t)me + 1;
    FTRMA_Run(body, NULL);
    for (int i = 0; i < FEW; i++)
        state.sum = state.sum * 31 + shared[i];
    MPI_Reduce(&state.sum, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %016" PRIx64 "\n", all);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
