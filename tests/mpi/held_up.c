/* SPDX-License-Identifier: BSD-3-Clause
 *
 * held_up.c - more than a small log holds is received before a message that was sent first: one
 * that nobody waits for, one whose sender waits, and one that is itself longer than the log.
 */
#include "check.h"

#include <stdint.h>
#include <string.h>

enum { LONG = 1024, MANY = 512 }; /* 4 MiB in all */

static uint64_t in[LONG], out[LONG], longest_in[MANY * LONG], longest_out[MANY * LONG];
static int right, left;

static void many(void)
{
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < LONG; k++)
            out[k] = (uint64_t)(i * LONG + k);
        MPI_Sendrecv(out, LONG, MPI_UINT64_T, right, 2, in, LONG, MPI_UINT64_T, left, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == (uint64_t)(i * LONG) && in[LONG - 1] == in[0] + LONG - 1);
    }
}

static void after_one(int synchronous)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int first = me + 1, got = 0;
    if (synchronous)
        MPI_Issend(&first, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Send(&first, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    many();
    MPI_Recv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == left + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The messages of the barrier come after it. */
static void after_a_long_one(int synchronous)
{
    MPI_Request request;
    for (int k = 0; k < MANY * LONG; k++)
        longest_out[k] = (uint64_t)me * MANY * LONG + (uint64_t)k;
    memset(longest_in, 0, sizeof longest_in);
    (synchronous ? MPI_Issend : MPI_Isend)(longest_out, MANY * LONG, MPI_UINT64_T, right, 7,
                                           MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    many();
    MPI_Recv(longest_in, MANY * LONG, MPI_UINT64_T, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < MANY * LONG; k++)
        CHECK(longest_in[k] == (uint64_t)left * MANY * LONG + (uint64_t)k);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    right = (me + 1) % np, left = (me + np - 1) % np;
    for (int synchronous = 0; synchronous <= 1; synchronous++) {
        after_one(synchronous);
        after_a_long_one(synchronous);
    }
    return finish();
}
