/* SPDX-License-Identifier: BSD-3-Clause
 *
 * behind.c - [p has left Run when f needs a rollback]: a long tail of messages after FTRMA_Run, in
 * which processes die. The replacement repeats setup, takes the image of body's end and repeats the
 * tail.
 */
#include "scenario.h"

enum { ROUNDS = 3, TAIL = 6, LONG = 20000 };

static struct {
    uint64_t round, sum;
} state;

static void ring(uint64_t r, MPI_Comm c)
{
    static uint64_t out[LONG], in[LONG];
    FTRMA_Unprotect(out, sizeof out);
    FTRMA_Unprotect(in, sizeof in);
    MPI_Status st;
    for (int i = 0; i < LONG; i++)
        out[i] = mix(state.sum + r + (uint64_t)i);
    int n = r % 2 ? LONG : 3;
    MPI_Sendrecv(out, n, MPI_UINT64_T, (me + 1) % np, (int)r, in, LONG, MPI_UINT64_T,
                 (me + np - 1) % np, (int)r, c, &st);
    int got;
    MPI_Get_count(&st, MPI_UINT64_T, &got);
    CHECK(got == n);
    state.sum = mix(state.sum ^ in[n - 1] ^ in[0]);
}

static void body(void *arg)
{
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        ring(state.round, *(MPI_Comm *)arg);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm c;
    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, &c) == MPI_SUCCESS);
    CHECK(state.round == ROUNDS);
    for (uint64_t r = 0; r < TAIL; r++) {
        uint64_t total;
        ring(100 + r, c);
        MPI_Allreduce(&state.sum, &total, 1, MPI_UINT64_T, MPI_SUM, c);
        state.sum ^= total;
    }
    MPI_Comm_free(&c);
    return finish(state.sum);
}
