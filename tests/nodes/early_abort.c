/* SPDX-License-Identifier: BSD-3-Clause
 *
 * early_abort.c - process 1 calls MPI_Abort before MPI_Init, where the others wait for it.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && strcmp(rank, "1") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
