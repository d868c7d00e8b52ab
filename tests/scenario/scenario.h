/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scenario.h - what the programs of this folder share, beside program.h. Each plays one
 * interleaving, for 2 ranks or more.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "../program.h"
#include "ftrma.h"

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
}

#endif
