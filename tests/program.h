/* SPDX-License-Identifier: BSD-3-Clause
 *
 * program.h - shared by the programs of the jobs' tests: each checks what it sees, and prints
 * `result: <hex>`, a hash over what all ranks computed, which must be the same whatever fails.
 */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include "checked.h"

#include <inttypes.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ (x >> 27)) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ (x >> 33);
}

/* Everybody's hash goes into the result. */
static inline int finish(uint64_t mine)
{
    uint64_t x = mix(mine + (uint64_t)me * UINT64_C(0x9e3779b97f4a7c15)), all = 0;
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
