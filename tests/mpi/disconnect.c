/* SPDX-License-Identifier: BSD-3-Clause
 *
 * disconnect.c - MPI_Comm_disconnect waits for what is under way on its communicator, also where
 * the program has freed the request. Then the buffers are the program's again.
 */
#include "check.h"

enum { WORDS = 1 << 20, ROUNDS = 4 };
static long out[WORDS], in[WORDS];

/* Rank 0 writes to its buffer as soon as it may. */
static void of_sends(int synchronous, int round)
{
    MPI_Comm comm;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (me == np - 1) /* one rank: to itself */
        MPI_Irecv(in, WORDS, MPI_LONG, 0, 1, comm, &r);
    if (me == 0) {
        MPI_Request s;
        for (int i = 0; i < WORDS; i++)
            out[i] = round * WORDS + i;
        (synchronous ? MPI_Issend : MPI_Isend)(out, WORDS, MPI_LONG, np - 1, 1, comm, &s);
        MPI_Request_free(&s);
        MPI_Comm_disconnect(&comm);
        for (int i = 0; i < WORDS; i++)
            out[i] = -1;
    }
    if (me == np - 1) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int i = 0; i < WORDS; i++)
            CHECK(in[i] == round * WORDS + i);
    }
    if (me != 0)
        MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
}

/* Also data with holes is where it belongs; what is under way elsewhere is not waited for. */
static void of_receives(void)
{
    MPI_Comm comm;
    MPI_Request r, other;
    MPI_Datatype gaps;
    int right = (me + 1) % np, left = (me + np - 1) % np, token = 0, got[8] = {0},
        mine[4] = {1, 2, 3, me};
    MPI_Type_vector(4, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Irecv(&token, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &other);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(got, 1, gaps, left, 2, comm, &r);
    MPI_Request_free(&r);
    MPI_Type_free(&gaps);
    MPI_Barrier(comm);
    MPI_Send(mine, 4, MPI_INT, right, 2, comm);
    MPI_Comm_disconnect(&comm);
    for (int i = 0; i < 4; i++)
        CHECK(got[2 * i] == (i < 3 ? i + 1 : left) && got[2 * i + 1] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&right, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    CHECK(token == me);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        of_sends(round % 2, round);
    of_receives();
    return finish();
}
