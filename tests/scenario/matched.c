/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matched.c - rank 1 comes late to receive what rank 0 sends synchronously. Meanwhile the last rank
 * comes to a nonblocking barrier, and rank 0, which waits in its send, begins the next round of it.
 * [Rank 0 is lost there: the round in its home log does not say that the send was over.]
 */
#include <unistd.h>

#include "scenario.h"

enum { SYNC = 1, AFTER = 2, LOOKS = 300, LOOK_US = 10000 }; /* looks for 3 s */

static struct {
    uint64_t over, sum;
} state;

static void send_both(void)
{
    uint64_t x[2] = {mix(1), mix(2)};
    MPI_Ssend(&x[0], 1, MPI_UINT64_T, 1, SYNC, MPI_COMM_WORLD);
    MPI_Send(&x[1], 1, MPI_UINT64_T, 1, AFTER, MPI_COMM_WORLD);
}

/* As long as this rank has received nothing, rank 0 cannot have gone on. */
static void receive_late(void)
{
    uint64_t x[2];
    int flag;
    for (int i = 0; i < LOOKS; i++) {
        MPI_Iprobe(0, AFTER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        usleep(LOOK_US);
    }
    MPI_Recv(&x[0], 1, MPI_UINT64_T, 0, SYNC, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&x[1], 1, MPI_UINT64_T, 0, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(x[0] == mix(1) && x[1] == mix(2));
    state.sum = x[0] + x[1];
}

static void body(void *arg)
{
    MPI_Request barrier;
    (void)arg;
    for (; !state.over; state.over = 1) {
        FTRMA_Safepoint();
        if (me == np - 1)
            usleep(300000); /* rank 0 is in its send by then */
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        if (me == 0)
            send_both();
        if (me == 1)
            receive_late();
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK(np > 2);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(body, NULL) == MPI_SUCCESS);
    return finish(state.sum);
}
