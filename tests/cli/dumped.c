/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dumped.c - for dump.sh: rank 0 writes its pid to the file that its argument names, then accesses
 * rank 1's window in a way whose log is known.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, got = 0;
    long *base, put = 0x1122334455667788, one = 1, old = -1, read = -1;
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(10 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    MPI_Win_fence(0, w);
    if (rank == 0) {
        FILE *f = argc > 1 ? fopen(argv[1], "w") : NULL;
        if (f) {
            fprintf(f, "%d\n", (int)getpid());
            fclose(f);
        }
        MPI_Send(&put, 1, MPI_LONG, 2, 42, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
        for (int i = 0; i < 3; i++)
            MPI_Put(&put, 1, MPI_LONG, 1, 2 + i, 1, MPI_LONG, w);
        MPI_Win_flush(1, w);
        MPI_Put(&one, 1, MPI_LONG, 1, 5, 1, MPI_LONG, w);
        MPI_Get(&read, 1, MPI_LONG, 1, 3, 1, MPI_LONG, w);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 6, MPI_SUM, w);
        MPI_Win_unlock(1, w);
        got = read == put && old == 0;
    } else if (rank == 2) {
        MPI_Recv(&read, 1, MPI_LONG, 0, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        got = read == put;
    }
    MPI_Win_fence(0, w);
    if (rank == 1)
        got = base[2] == put && base[4] == put && base[5] == 1 && base[6] == 1;
    printf("rank %d: %s\n", rank, got ? "right" : "wrong");
    MPI_Win_free(&w);
    MPI_Finalize();
    return !got;
}
