/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h - what the small MPI programs in this folder share. Each is an ordinary MPI program for 1
 * to 5 ranks: rank 0 prints `ok`, or the failing line appears on stderr and the exit status is not
 * 0. They pass on plain Open MPI too, which shows that they are right.
 */
#ifndef CHECK_H
#define CHECK_H

#include "../checked.h"

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
}

static inline int finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        puts("ok");
    return MPI_Finalize();
}

static inline int count_in(const MPI_Status *s, MPI_Datatype t)
{
    int n;
    MPI_Get_count(s, t, &n);
    return n;
}

#endif
