/* SPDX-License-Identifier: BSD-3-Clause
 *
 * threads.c - rank 1 makes some of its calls in another thread while main waits for it: it is
 * exposed and all go back when it is lost; others are replaced alone.
 */
#include "protect.h"

#include <pthread.h>

static struct {
    uint64_t round, sum;
} state;

static int left(void) { return (me + np - 1) % np; }
static int right(void) { return (me + 1) % np; }

static void exchange(uint64_t tag)
{
    uint64_t out = mix(state.sum + tag), in = 0;
    MPI_Request r;
    MPI_Irecv(&in, 1, MPI_UINT64_T, left(), (int)tag, MPI_COMM_WORLD, &r);
    MPI_Send(&out, 1, MPI_UINT64_T, right(), (int)tag, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    state.sum = mix(state.sum ^ in);
}

static void *second(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < 4; i++)
        exchange(state.round * 16 + i);
    return NULL;
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < opt.rounds; state.round++) {
        pthread_t t;
        safepoint();
        if (me == 1) {
            CHECK(pthread_create(&t, NULL, second, NULL) == 0);
            CHECK(pthread_join(t, NULL) == 0);
        } else {
            second(NULL);
        }
        for (uint64_t i = 4; i < 8; i++)
            exchange(state.round * 16 + i);
    }
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK(provided >= MPI_THREAD_SERIALIZED);
    start_up(argc, argv, 16);
    protect(&state, sizeof state);
    run(body, NULL);
    return finish(state.sum);
}
