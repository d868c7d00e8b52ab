/* SPDX-License-Identifier: BSD-3-Clause
 *
 * in_run.c - the transport and FTRMA_Run. It is opened before, and works in a body that is entered
 * again. In body it is refused by name.
 *
 *   ftt_in_run [body]     body: it is opened there
 */
#include <ftrma.h>
#include <ftrma_transport.h>
#include <mpi.h>
#include <stdio.h>

static FTT_Transport *t;
static int in_body;

static void body(void *arg)
{
    static int mine; /* it stays published when body is left for a recovery */
    int *status = arg, got = -1;
    if (in_body)
        *status = FTT_Open(&t);
    if (*status != FTT_OK)
        return;
    mine = 100 + FTT_Rank(t);
    *status = FTT_Publish(t, "number", &mine, sizeof mine);
    for (int r = 0; *status == FTT_OK && r < FTT_Size(t); r++) {
        *status = FTT_Fetch(t, r, "number", &got, sizeof got);
        if (got != 100 + r)
            *status = -1;
    }
    FTRMA_Safepoint();
}

int main(int argc, char **argv)
{
    int status = FTT_OK, rank;
    MPI_Init(&argc, &argv);
    in_body = argc > 1;
    if (!in_body)
        status = FTT_Open(&t);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (FTRMA_Run(body, &status) != MPI_SUCCESS)
        return 1;
    if (t && status == FTT_OK)
        status = FTT_Close(t);
    if (rank == 0)
        printf("result: %s\n", FTT_Status_text(status));
    MPI_Finalize();
    return 0;
}
