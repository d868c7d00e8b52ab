/* SPDX-License-Identifier: BSD-3-Clause
 *
 * testament.h - what a process that carries a rank leaves to those who survive it: one struct in
 * its slot of the board, where every living process of its node can read it after its death.
 *
 * Its process alone writes it. When the process is dead (D1) nobody writes it any more, so all who
 * read it then read the same. What they read goes into their votes (proto/exposure.h): nobody
 * decides anything by what it has read here itself.
 */
#ifndef FT_BASE_TESTAMENT_H
#define FT_BASE_TESTAMENT_H

#include "base/base.h"

struct ft_testament {
    FT_ALIGNED_LINE _Atomic uint64_t calls; /* calls(p) of L0; by main */
    _Atomic uint64_t
        position; /* milestone << 56 | number of the safepoint that was reached last; by main */
    _Atomic uint64_t events; /* actions of its kept segments; by main */
    /* The committed version from whose cut on its own log of actions is complete. UINT64_MAX:
     * actions of the run are missing. By main */
    _Atomic uint64_t own_from;
    /* The committed version from which on no window of MPI_Win_allocate_shared matters. UINT64_MAX:
     * it has one with others. 0: it never had one. By main */
    _Atomic uint64_t shared_until;
    _Atomic uint64_t heap_from; /* where the program's heap begins; 0: not fixed yet. By main */
    _Atomic uint64_t arena_at;  /* where its arena lies */
    _Atomic uint64_t strayed;   /* struct ft_seen_place (transport/seen.h); by main */
    /* version of the latest image, as in its control block, where it is stored next; by the agent
     */
    FT_ALIGNED_LINE _Atomic uint64_t latest;
    /* 1 + the slot of the process that keeps its log of actions; 0: the log outlives all. By main
     */
    _Atomic uint32_t home;
};

#endif
