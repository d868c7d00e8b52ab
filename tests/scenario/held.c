/* SPDX-License-Identifier: BSD-3-Clause
 *
 * held.c - rank 0 says more than its log holds, and rank 1 receives first what was said last:
 * behind a message that is longer than the log, and behind a synchronous one. [p dies in the
 * middle: q has copied out of its log what had come.]
 */
#include "scenario.h"

enum { ROUNDS = 6, WORDS = 3 << 17, PIECES = 96, PIECE = WORDS / PIECES }; /* 3 MiB */

static struct {
    uint64_t round, sum;
} state;
static uint64_t *buf;

static void fill(uint64_t key)
{
    for (size_t i = 0; i < WORDS; i++)
        buf[i] = mix(key * 1000003 + i);
}

static void take(uint64_t key)
{
    for (size_t i = 0; i < WORDS; i++)
        CHECK(buf[i] == mix(key * 1000003 + i));
    state.sum = mix(state.sum ^ buf[WORDS - 1]);
}

static void behind_a_long_one(uint64_t r)
{
    MPI_Request q;
    fill(r);
    if (me == 0 && r % 4 == 0)
        MPI_Isend(buf, WORDS, MPI_UINT64_T, 1, 7, MPI_COMM_WORLD, &q);
    else if (me == 0)
        MPI_Issend(buf, WORDS, MPI_UINT64_T, 1, 7, MPI_COMM_WORLD, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    memset(buf, 0, me == 1 ? WORDS * sizeof *buf : 0);
    if (me == 1)
        MPI_Recv(buf, WORDS, MPI_UINT64_T, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(r);
}

static void behind_a_synchronous_one(uint64_t r)
{
    MPI_Request q;
    uint64_t word = mix(r);
    fill(r);
    if (me == 0) {
        MPI_Issend(&word, 1, MPI_UINT64_T, 1, 1, MPI_COMM_WORLD, &q);
        for (int i = 0; i < PIECES; i++)
            MPI_Send(&buf[i * PIECE], PIECE, MPI_UINT64_T, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        memset(buf, 0, WORDS * sizeof *buf);
        for (int i = 0; i < PIECES; i++)
            MPI_Recv(&buf[i * PIECE], PIECE, MPI_UINT64_T, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(word == mix(r));
    take(r);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        FTRMA_Safepoint();
        (state.round % 2 ? behind_a_synchronous_one : behind_a_long_one)(state.round);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    buf = room(WORDS * sizeof *buf);
    FTRMA_Protect(&state, sizeof state);
    FTRMA_Unprotect(buf, WORDS * sizeof *buf);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(state.sum);
}
