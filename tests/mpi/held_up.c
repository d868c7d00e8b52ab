/* SPDX-License-Identifier: BSD-3-Clause
 *
 * held_up.c - more than a small log holds is received before a message that was sent first.
 */
#include "check.h"

#include <stdint.h>

enum { LONG = 1024, MANY = 512 }; /* 4 MiB in all */

int main(int argc, char **argv)
{
    static uint64_t in[LONG], out[LONG];
    start(&argc, &argv);
    int right = (me + 1) % np, left = (me + np - 1) % np, first = me + 1, got = 0;
    MPI_Send(&first, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < LONG; k++)
            out[k] = (uint64_t)(i * LONG + k);
        MPI_Sendrecv(out, LONG, MPI_UINT64_T, right, 2, in, LONG, MPI_UINT64_T, left, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == (uint64_t)(i * LONG) && in[LONG - 1] == in[0] + LONG - 1);
    }
    MPI_Recv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == left + 1);
    return finish();
}
