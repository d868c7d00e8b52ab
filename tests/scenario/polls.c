/* SPDX-License-Identifier: BSD-3-Clause
 *
 * polls.c - before each safepoint but the first, an even rank polls for a message that the odd rank
 * next to it sends after the same safepoint. The odd one stands there, or has gone on with its
 * image of a snapshot, so each checkpoint has to be called off. It must not take longer each time.
 */
#include "scenario.h"

enum { TURNS = 3, ASKS = 1, ANSWERS };

static struct {
    int step;
    uint64_t sum;
} st;

static uint64_t poll_by_probe(int from)
{
    uint64_t x;
    int there = 0;
    while (!there)
        MPI_Iprobe(from, ASKS, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&x, 1, MPI_UINT64_T, from, ASKS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return x;
}

static uint64_t poll_by_test(int from)
{
    uint64_t x;
    int there = 0;
    MPI_Request q;
    MPI_Irecv(&x, 1, MPI_UINT64_T, from, ASKS, MPI_COMM_WORLD, &q);
    while (!there)
        MPI_Test(&q, &there, MPI_STATUS_IGNORE);
    return x;
}

static uint64_t ask(int of, uint64_t x)
{
    uint64_t y;
    MPI_Send(&x, 1, MPI_UINT64_T, of, ASKS, MPI_COMM_WORLD);
    MPI_Recv(&y, 1, MPI_UINT64_T, of, ANSWERS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return y;
}

static uint64_t answer(int to, int turn)
{
    uint64_t x = turn % 2 ? poll_by_test(to) : poll_by_probe(to), y = mix(x + st.sum);
    MPI_Send(&y, 1, MPI_UINT64_T, to, ANSWERS, MPI_COMM_WORLD);
    return x;
}

static void body(void *arg)
{
    (void)arg;
    for (; st.step <= TURNS; st.step++) {
        FTRMA_Safepoint();
        int turn = st.step - me % 2;
        if (turn >= 0 && turn < TURNS)
            st.sum = mix(st.sum ^ (me % 2 ? ask(me - 1, st.sum) : answer(me + 1, turn)));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(np % 2 == 0);
    st.sum = (uint64_t)me;
    FTRMA_Protect(&st, sizeof st);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(st.sum);
}
