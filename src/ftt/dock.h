/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dock.h - what lies in a process's arena for the endpoints of others, which map it: bells, table of
 * buffers, names, how far lanes were read, and a lane to each rank. The control block says where.
 */
#ifndef FT_FTT_DOCK_H
#define FT_FTT_DOCK_H

#include "ftt/lane.h"
#include "ftt/stall.h"

#define FT_BUFFERS 4096
struct ft_public {              /* written by its owner, serial last */
    _Atomic uint32_t serial;    /* 0: free */
    uint32_t is_private;        /* `at` is an address in the owner's own memory; else in its arena */
    uint64_t at, bytes;
};
enum { FT_BELL_HELPER, FT_BELL_PROGRAM };
struct ft_dock {
    /* a sleeper sets its bit in `sleeps`, and sleeps on its bell, a futex */
    FT_ALIGNED_LINE _Atomic uint32_t sleeps;
    _Atomic uint32_t bell[2];
    FT_ALIGNED_LINE struct ft_public buffer[FT_BUFFERS];
    FT_ALIGNED_LINE struct ft_stall stall[FT_STALLS];
    FT_ALIGNED_LINE uint64_t taken_at, lane_at; /* offsets from here */
};
struct ft_taken { /* [n]: ft_lane_taken of the lane from rank i */
    FT_ALIGNED_LINE _Atomic uint64_t far;
};

void ft_wake(struct ft_dock *d, int who); /* progress.c */

#endif
