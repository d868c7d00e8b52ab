/* SPDX-License-Identifier: BSD-3-Clause
 *
 * orphans.c - ranks free synchronous sends that are over by the time of a checkpoint: in setup
 * before FTRMA_Run, in body before each safepoint, and before body's end.
 */
#include <mpi.h>
#include <stdio.h>

#include "ftrma.h"

enum { ROUNDS = 6 };
static struct {
    long round, sum;
} st;

/* The next rank has it when this returns. */
static void send_and_forget(void)
{
    int rank, size;
    long x, y;
    MPI_Request r;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static long out; /* a replacement repeats it: it must stay as it is until it is sent */
    out = x = rank + st.round;
    MPI_Issend(&out, 1, MPI_LONG, (rank + 1) % size, 0, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Recv(&y, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    st.sum = st.sum * 31 + x + y;
}

static void body(void *arg)
{
    (void)arg;
    for (; st.round < ROUNDS; st.round++) {
        FTRMA_Safepoint();
        send_and_forget();
    }
}

int main(int argc, char **argv)
{
    int rank;
    long all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    send_and_forget();
    FTRMA_Protect(&st, sizeof st);
    if (FTRMA_Run(body, NULL) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&st.sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("result: %ld\n", all);
    MPI_Finalize();
    return 0;
}
