/* SPDX-License-Identifier: BSD-3-Clause
 *
 * testament.h - what a process that carries a rank leaves to the survivors. It is one struct in the
 * process's slot of the board, which every living process of the node can read after the death.
 *
 * Only its process writes it. When the process is dead (D1) nobody writes it any more, so all
 * readers then read the same. A reader puts what it has read into its vote (proto/exposure.h), and
 * decides nothing by it alone.
 */
#ifndef FT_BASE_TESTAMENT_H
#define FT_BASE_TESTAMENT_H

#include "base/base.h"

struct ft_testament {
    FT_ALIGNED_LINE _Atomic uint64_t calls; /* calls(p) of L0; written by main */
    /* milestone << 56 | number of the safepoint that was reached last, or FT_TESTAMENT_OPEN; written by
     * main */
    _Atomic uint64_t position;
    _Atomic uint64_t events; /* actions of its kept segments; written by main */
    /* The committed version from whose cut on its own log of actions is complete. UINT64_MAX:
     * actions of the run are missing. Written by main. */
    _Atomic uint64_t own_from;
    /* The committed version from which on no window of MPI_Win_allocate_shared matters. UINT64_MAX:
     * it has one together with other ranks. 0: it never had one. Written by main. */
    _Atomic uint64_t shared_until;
    /* where the program's heap begins; 0: not fixed yet. Written by main */
    _Atomic uint64_t heap_from;
    _Atomic uint64_t arena_at; /* the address of its arena */
    _Atomic uint64_t strayed;  /* struct ft_seen_place (transport/seen.h); written by main */
    /* bits of enum ft_unkept (alog/unkept.h): what its logs do not have of what happened outside of
     * FTRMA_Run; written by main */
    _Atomic uint64_t unkept;
    _Atomic uint64_t log_here; /* 1: all of its rank's home log is on its node; written by main */
    /* Version of the latest image, as in its control block, where it is stored next. There it is 0
     * when the image was given up, and here it stays. Written by the agent. */
    FT_ALIGNED_LINE _Atomic uint64_t latest;
    /* Twice the version that it has committed, and 1 more if that is the exit's. It is stored
     * before main goes on from that. Written by the agent. */
    _Atomic uint64_t committed;
};
/* In setup: it has opened a transport (src/ftt), so the others go on meanwhile. */
#define FT_TESTAMENT_OPEN (1ull << 55)

#endif
