/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sizes.c [TIMES] - each rank protects a different number of bytes, from one to a megabyte, or so
 * many times as many, and changes all of them in each step. If bytes are rebuilt wrongly, or too
 * few or too many of them, the result changes.
 */
#include <ftrma.h>
#include <mpi.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 8 };

static struct {
    uint64_t step, token;
} state;
static uint8_t *data;
static size_t bytes;
static int me, np;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 29;
    return x * 0x9e3779b97f4a7c15ull;
}

static void body(void *arg)
{
    (void)arg;
    for (; state.step < STEPS; state.step++) {
        FTRMA_Safepoint();
        uint64_t sum = 0, from;
        for (size_t i = 0; i < bytes; i++) {
            data[i] = (uint8_t)(data[i] * 5 + mix(i ^ state.token) + 1);
            sum = sum * 31 + data[i];
        }
        state.token = mix(state.token ^ sum);
        MPI_Sendrecv(&state.token, 1, MPI_UINT64_T, (me + 1) % np, 1, &from, 1, MPI_UINT64_T,
                     (me + np - 1) % np, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        state.token ^= mix(from);
    }
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {99991, 1, 1048573, 300007};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    bytes = sizes[me % 4] * (size_t)(argc > 1 ? atoi(argv[1]) : 1);
    data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)mix(i * 4 + (size_t)me);
    state.token = mix((uint64_t)me + 1);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Protect(data, bytes);
    FTRMA_Run(body, NULL);
    uint64_t all = 0;
    MPI_Reduce(&state.token, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("result: %016" PRIx64 "\n", all);
    MPI_Finalize();
    free(data);
    return 0;
}
