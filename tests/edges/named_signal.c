/* SPDX-License-Identifier: BSD-3-Clause
 *
 * named_signal.c - rank R kills itself by signal S: the first process that carries it, or each.
 *
 *   edges_named_signal R S [always]
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* 1 in the first process of the job that asks. */
static int first(void)
{
    char name[64];
    snprintf(name, sizeof name, "once.%d", (int)getppid());
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    return fd >= 0 && close(fd) == 0;
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == atoi(argv[1]) && (argc > 3 || first())) {
        signal(atoi(argv[2]), SIG_DFL);
        raise(atoi(argv[2]));
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum over %d ranks: %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
