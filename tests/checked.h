/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checked.h - for MPI programs that check what they see: prints where a check failed.
 */
#ifndef TEST_CHECKED_H
#define TEST_CHECKED_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;

#define CHECK(cond)                                                                             \
    do {                                                                                        \
        if (!(cond)) {                                                                          \
            fprintf(stderr, "%s:%d: rank %d of %d: %s does not hold\n", __FILE__, __LINE__, me, \
                    np, #cond);                                                                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                       \
        }                                                                                       \
    } while (0)

#endif
