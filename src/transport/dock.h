/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dock.h - what lies in a process's arena for the endpoints of others (src/ftt), which map it: bells,
 * how far lanes were read, and a lane to each slot. The control block says where. A gateway makes
 * docks for the stand-ins of processes of other nodes: to the processes of its node these are the
 * docks of those.
 */
#ifndef FT_TRANSPORT_DOCK_H
#define FT_TRANSPORT_DOCK_H

#include "transport/arena.h"
#include "transport/lane.h"

enum { FT_BELL_HELPER, FT_BELL_PROGRAM };
struct ft_dock {
    /* a sleeper sets its bit in `sleeps`, and sleeps on its bell, a futex */
    FT_ALIGNED_LINE _Atomic uint32_t sleeps;
    _Atomic uint32_t bell[2];
    FT_ALIGNED_LINE int32_t from, n; /* the slots that have lanes: the first, and how many */
    uint64_t taken_at, lane_at;      /* offsets from here, of [n] */
    uint64_t tables_at;              /* src/ftt/tables.h; 0: of a stand-in, which has none */
};
struct ft_taken { /* how many bytes of the lane from that slot the owner has read */
    FT_ALIGNED_LINE _Atomic uint64_t bytes;
};

/* Makes a dock for n slots, and as many zero bytes at tables_at. Its offset; 0: there is no room. */
uint64_t ft_dock_make(struct ft_arena *a, int from, int n, uint64_t tables);
/* The dock whose control block this is, at the begin of its arena; NULL: there is none yet. */
struct ft_dock *ft_dock_of(const void *arena);

static inline struct ft_lane *ft_dock_lane(const struct ft_dock *d, int to)
{
    return (struct ft_lane *)(void *)((char *)(uintptr_t)d + d->lane_at) + (to - d->from);
}
static inline _Atomic uint64_t *ft_dock_taken(const struct ft_dock *d, int from)
{
    return &((struct ft_taken *)(void *)((char *)(uintptr_t)d + d->taken_at) + (from - d->from))
                ->bytes;
}

void ft_wake(struct ft_dock *d, int who);
/* Something is in a lane to the owner of this dock. The caller has issued a fence since: either a
 * sleeper sees that, or it is woken. */
void ft_dock_ring(struct ft_dock *d);

#endif
