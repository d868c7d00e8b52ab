/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scenario.h - what the programs of this folder share. Each plays one interleaving, for 2 ranks or more, checks what it sees, and prints
 * `result: <hex>`, which must be the same whatever fails.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "ftrma.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;

#define CHECK(cond)                                                                                                            \
    do {                                                                                                                       \
        if (!(cond)) {                                                                                                         \
            fprintf(stderr, "%s:%d: rank %d of %d: %s does not hold\n", __FILE__, __LINE__, me, np, #cond);                    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                                      \
        }                                                                                                                      \
    } while (0)

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    return (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
}

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
}

/* Everybody's number goes into the result. */
static inline int finish(uint64_t mine)
{
    uint64_t x = mix(mine + (uint64_t)me), all = 0;
    MPI_Allreduce(&x, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("result: %016" PRIx64 "\n", all);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}

static inline void *room(size_t bytes)
{
    void *p = calloc(1, bytes);
    CHECK(p);
    return p;
}

#endif
