/* SPDX-License-Identifier: BSD-3-Clause
 *
 * in_run.c - FTT_Open inside of FTRMA_Run: refused by name if the run is logged. Otherwise the
 * transport works there, also in a body that is entered again.
 */
#include <ftrma.h>
#include <ftrma_transport.h>
#include <mpi.h>
#include <stdio.h>

static FTT_Transport *t;
static int opened;

static void body(void *arg)
{
    static int mine; /* it stays published when body is left for a recovery */
    int *status = arg, got = -1;
    if (!opened)
        *status = FTT_Open(&t);
    opened = 1;
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
    int status = -1, rank;
    MPI_Init(&argc, &argv);
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
