/* SPDX-License-Identifier: BSD-3-Clause
 *
 * flight.c - [q, copied, consumes m while p still copies]: senders run ahead of receivers across
 * safepoints, so that each checkpoint has messages in flight, long and short, and they are received
 * in another order than sent. None is lost or doubled.
 */
#include "scenario.h"

enum { ROUNDS = 16, AHEAD = 5, LONG = 4000 };

static struct {
    uint64_t round, sum;
} state;
static uint64_t *buf;

static uint64_t item(uint64_t from, uint64_t r, uint64_t i)
{
    return mix(from * 1000003 + r * 5003 + i);
}
static int length(uint64_t r) { return r % 3 == 2 ? LONG : 4; }

static void send(uint64_t r)
{
    for (int to = 0; to < np; to++) {
        for (int i = 0; i < length(r); i++)
            buf[i] = item((uint64_t)me, r, (uint64_t)i);
        if (to != me)
            MPI_Send(buf, length(r), MPI_UINT64_T, to, (int)(r % 2), MPI_COMM_WORLD);
    }
}

static void receive(uint64_t r, int from)
{
    int n;
    MPI_Status st;
    MPI_Recv(buf, LONG, MPI_UINT64_T, from, (int)(r % 2), MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_UINT64_T, &n);
    CHECK(n == length(r));
    for (int i = 0; i < n; i++)
        CHECK(buf[i] == item((uint64_t)from, r, (uint64_t)i));
    state.sum = mix(state.sum ^ buf[n - 1]);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS + AHEAD + 1; state.round++) {
        FTRMA_Safepoint();
        uint64_t r = state.round;
        if (r < ROUNDS)
            send(r);
        if (r > AHEAD && r % 2 == 0) /* two rounds at once, the later first */
            for (int from = 0; from < np; from++)
                if (from != me) {
                    receive(r - AHEAD, from);
                    receive(r - AHEAD - 1, from);
                }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    buf = room(LONG * sizeof *buf);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag); /* nothing doubled */
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    return finish(state.sum);
}
