/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partitioned.c - MPI-4.0, 4: partitions marked ready in any order and looked at one by one, fewer
 * on the other side, matching in the order of the inits, completion together with other requests.
 */
#include "partitioned.h"

#ifdef HAVE_PARTITIONED
#include <pthread.h>

/* Requests for one tag are matched in the order in which they were made, however they are started.
 */
static void in_order_of_init(void)
{
    enum { N = 3, EACH = 5, PARTS = 2 };
    MPI_Request snd[N], rcv[N];

    for (int i = 0; i < N; i++)
        MPI_Psend_init(out + i * PARTS * EACH, PARTS, EACH, MPI_INT, right(), 4, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &snd[i]);
    for (int i = 0; i < N; i++)
        MPI_Precv_init(in + i * PARTS * EACH, PARTS, EACH, MPI_INT, left(), 4, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &rcv[i]);
    for (int round = 0; round < 3; round++) {
        fill(N * PARTS * EACH, round);
        for (int i = N; i-- > 0;)
            MPI_Start(&snd[i]);
        for (int i = 0; i < N; i++)
            MPI_Start(&rcv[(i + 1) % N]);
        for (int p = 0; p < PARTS; p++)
            for (int i = N; i-- > 0;)
                MPI_Pready(p, snd[i]);
        MPI_Waitall(N, rcv, MPI_STATUSES_IGNORE);
        MPI_Waitall(N, snd, MPI_STATUSES_IGNORE);
        verify(0, N * PARTS * EACH, round);
    }
    for (int i = 0; i < N; i++) {
        MPI_Request_free(&snd[i]);
        MPI_Request_free(&rcv[i]);
    }
}

/* Nothing is over before all is marked; other requests are completed beside. */
static void together(void)
{
    MPI_Request req[4];
    int flag = 1, got = -1, done = 0, index, other = me;

    fill(40, 0);
    MPI_Psend_init(out, 4, 10, MPI_INT, right(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, 4, 10, MPI_INT, left(), 6, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Startall(2, req);
    MPI_Pready_range(0, 2, req[0]);
    MPI_Test(&req[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Test(&req[1], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Parrived(req[1], 3, &flag);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(&got, 1, MPI_INT, left(), 6, MPI_COMM_WORLD,
              &req[2]); /* the same tag, and yet another message */
    MPI_Isend(&other, 1, MPI_INT, right(), 6, MPI_COMM_WORLD, &req[3]);
    MPI_Pready(3, req[0]);
    for (; done < 4; done++) {
        MPI_Waitany(4, req, &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < 4);
    }
    MPI_Waitany(4, req, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED && got == left());
    verify(0, 40, 0);
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
}

/* Each partition goes when it is ready: the next is marked when the other side says that this one
 * has come. */
static void one_by_one(void)
{
    enum { PARTS = 5, EACH = 700 };
    MPI_Request req[2];
    int flag;

    fill(PARTS * EACH, 0);
    MPI_Psend_init(out, PARTS, EACH, MPI_INT, right(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, PARTS, EACH, MPI_INT, left(), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    MPI_Startall(2, req);
    for (int i = PARTS; i-- > 0;) {
        MPI_Pready(i, req[0]);
        for (flag = 0; !flag;)
            MPI_Parrived(req[1], i, &flag);
        verify(i * EACH, EACH, 0);
        MPI_Sendrecv(&i, 1, MPI_INT, left(), 8, &flag, 1, MPI_INT, right(), 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(flag == i);
    }
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
}

/* Partitions are marked by threads, one at a time. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static MPI_Request by_threads;

static void *marks(void *arg)
{
    for (int i = *(int *)arg; i < 12; i += 3) {
        pthread_mutex_lock(&turn);
        MPI_Pready(i, by_threads);
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t t[3];
    int first[3] = {0, 1, 2};
    MPI_Request rcv;

    fill(12 * 4, 0);
    MPI_Psend_init(out, 12, 4, MPI_INT, right(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &by_threads);
    MPI_Precv_init(in, 4, 12, MPI_INT, left(), 9, MPI_COMM_WORLD, MPI_INFO_NULL, &rcv);
    MPI_Start(&rcv);
    MPI_Start(&by_threads);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&t[i], NULL, marks, &first[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    MPI_Wait(&by_threads, MPI_STATUS_IGNORE);
    MPI_Wait(&rcv, MPI_STATUS_IGNORE);
    verify(0, 48, 0);
    MPI_Request_free(&by_threads);
    MPI_Request_free(&rcv);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    uneven(4, 6, 4);
    uneven(4, 6, 3);
    uneven(6, 4, 1);
    uneven(12, 10000, 5);
    in_order_of_init();
    together();
    one_by_one();
    if (provided >= MPI_THREAD_SERIALIZED)
        threads();
    return finish();
}
#else
int main(int argc, char **argv)
{
    start(&argc, &argv);
    return finish();
}
#endif
