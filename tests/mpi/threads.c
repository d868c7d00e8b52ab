/* SPDX-License-Identifier: BSD-3-Clause
 *
 * threads.c - MPI_THREAD_SERIALIZED: calls from two threads, one at a time; requests that one
 * begins and the other completes.
 */
#include "check.h"

#include <pthread.h>

static int right(void) { return (me + 1) % np; }
static int left(void) { return (me + np - 1) % np; }

static MPI_Request req[2];
static int in[1000], out[1000];

static void post(int tag)
{
    for (int i = 0; i < 1000; i++) {
        out[i] = me * 1000 + tag + i;
        in[i] = -1;
    }
    MPI_Irecv(in, 1000, MPI_INT, left(), tag, MPI_COMM_WORLD, &req[0]);
    MPI_Issend(out, 1000, MPI_INT, right(), tag, MPI_COMM_WORLD, &req[1]);
}

static void complete(int tag)
{
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 1000; i++)
        CHECK(in[i] == left() * 1000 + tag + i);
}

static void *other(void *arg)
{
    int tag = *(int *)arg, is_main = 1, sum = 0;
    MPI_Is_thread_main(&is_main);
    CHECK(!is_main);
    if (tag % 2)
        post(tag);
    complete(tag);
    post(tag + 100);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == np * (np - 1) / 2);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, asked = -1, is_main = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    CHECK(provided >= MPI_THREAD_SERIALIZED);
    MPI_Query_thread(&asked);
    MPI_Is_thread_main(&is_main);
    CHECK(asked == provided && is_main);
    for (int tag = 0; tag < 10; tag++) {
        pthread_t t;
        if (tag % 2 == 0)
            post(tag);
        CHECK(pthread_create(&t, NULL, other, &tag) == 0);
        CHECK(pthread_join(t, NULL) == 0);
        complete(tag + 100);
    }
    return finish();
}
