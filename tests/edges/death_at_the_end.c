/* SPDX-License-Identifier: BSD-3-Clause
 *
 * death_at_the_end.c - what a program may do in MPI_Finalize and after it: an attribute of
 * MPI_COMM_SELF is deleted, MPI_Finalized is asked, and a line printed.
 */
#include <mpi.h>
#include <stdio.h>

static int rank;

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    printf("rank %d deletes its attribute\n", rank);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key, over = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Finalized(&over);
    if (over)
        return 3;
    MPI_Finalize();
    MPI_Finalized(&over);
    if (!over)
        return 4;
    printf("rank %d after MPI_Finalize\n", rank);
    return 0;
}
