/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wildcard.c - MPI_ANY_SOURCE and MPI_ANY_TAG: a master that takes what comes, on the world and on
 * a communicator with another order of ranks; wildcards never match collectives' messages; order of
 * posting.
 */
#include "check.h"

enum { EACH = 20 };

static void master(MPI_Comm comm)
{
    int rank, size;
    MPI_Status s;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank != 0) {
        for (int i = 0; i < EACH; i++) {
            int v[2] = {rank, i};
            MPI_Send(v, 2, MPI_INT, 0, 10 + i, comm);
        }
    } else {
        int next[64] = {0};
        for (int i = 0; i < EACH * (size - 1); i++) {
            int v[2];
            if (i % 2) {
                MPI_Recv(v, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s);
            } else {
                MPI_Request q;
                MPI_Irecv(v, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &q);
                MPI_Wait(&q, &s);
            }
            CHECK(s.MPI_SOURCE == v[0] && s.MPI_TAG == 10 + v[1] && next[v[0]] == v[1]);
            next[v[0]]++;
        }
    }
    MPI_Barrier(comm);
}

/* A wildcard that is open while a collective runs must not take its messages. */
static void beside_collectives(void)
{
    int v = -1, sum = 0;
    MPI_Request q;
    MPI_Status s;

    MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q);
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == np * (np - 1) / 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&me, 1, MPI_INT, (me + 1) % np, 0, MPI_COMM_WORLD);
    MPI_Wait(&q, &s);
    CHECK(v == (me + np - 1) % np && s.MPI_SOURCE == v && s.MPI_TAG == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Receives match in the order of their posting, wildcards or not. */
static void posting_order(void)
{
    int right = (me + 1) % np, left = (me + np - 1) % np, a = 0, b = 0, c = 0;
    MPI_Request q[3];

    MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(&b, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &q[1]);
    MPI_Irecv(&c, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &q[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i <= 3; i++)
        MPI_Send(&i, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    CHECK(a == 1 && b == 2 && c == 3);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Comm reversed, some;

    start(&argc, &argv);
    master(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &reversed);
    master(reversed);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, np - me, &some);
    master(some);
    MPI_Comm_free(&some);
    MPI_Comm_free(&reversed);
    beside_collectives();
    posting_order();
    return finish();
}
