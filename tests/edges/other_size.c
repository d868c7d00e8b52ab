/* SPDX-License-Identifier: BSD-3-Clause
 *
 * other_size.c - rank 1's window has another size in each process that carries it: an error of the
 * program.
 */
#include <unistd.h>

#include "../program.h"

int main(int argc, char **argv)
{
    uint64_t *mine, one = 1;
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    MPI_Win_allocate((MPI_Aint)(8 * (1 + (me == 1 ? getpid() % 10007 : 0))), 8, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &mine, &w);
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; i++) {
        MPI_Win_fence(0, w);
        MPI_Accumulate(&one, 1, MPI_UINT64_T, (me + 1) % np, 0, 1, MPI_UINT64_T, MPI_SUM, w);
        MPI_Win_fence(0, w);
    }
    uint64_t sum = *mine;
    MPI_Win_free(&w);
    return finish(sum);
}
