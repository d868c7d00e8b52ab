/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cut.h - a snapshot under way (C9): what messages and accesses to windows check before they act.
 *
 * A process is *before* the cut until its main has taken its image, and *after* it until the
 * snapshot is over. Nothing may flow from after to before: a process that is before does not read
 * what a process that is after has said. C9 has all the cases. With no snapshot under way ft_cut is
 * 0, FT_ATT_SNAPSHOT is clear, and nothing of this is looked at.
 */
#ifndef FT_TRANSPORT_CUT_H
#define FT_TRANSPORT_CUT_H

#include "base/engine.h"
#include "transport/arena.h"

/* The number of the snapshot under way; 0: there is none. Written by the agent. */
extern FT_STATE(_Atomic uint64_t, ft_cut);
/* The number of the snapshot that the newest image belongs to. Written by main. */
extern FT_STATE(_Atomic uint64_t, ft_cut_mine);
/* 1: gets from a process that is after the cut wait for the snapshot's end (delay). */
extern FT_STATE(int, ft_cut_holds_gets);
extern FT_STATE(int, ft_cut_possible); /* there may be snapshots: set once at start */
/* Time that main has waited at gates since the last reader reset it. */
extern FT_STATE(uint64_t, ft_cut_held_ns);
/* Main cannot go on before the snapshot is over, so it must be called off. Set by the runtime. */
extern FT_STATE(__typeof__(void (*)(void)), ft_cut_call_off);
#define ft_cut FT_MY(ft_cut)
#define ft_cut_mine FT_MY(ft_cut_mine)
#define ft_cut_holds_gets FT_MY(ft_cut_holds_gets)
#define ft_cut_possible FT_MY(ft_cut_possible)
#define ft_cut_held_ns FT_MY(ft_cut_held_ns)
#define ft_cut_call_off FT_MY(ft_cut_call_off)

/* Called by the agent. All processes see the snapshot before any is after the cut. Main sees it at
 * its next access, as soon as it is not inside one. */
void ft_cut_begin(uint64_t snapshot);
void ft_cut_end(void); /* if main waits for this, the caller must ring it */

/* Called by main. Returns the snapshot if this process is before the cut in it; else 0. */
static inline uint64_t ft_cut_before(void)
{
    uint64_t w = atomic_load_explicit(&ft_cut, memory_order_acquire);
    return FT_UNLIKELY(w != 0) && atomic_load_explicit(&ft_cut_mine, memory_order_relaxed) != w ? w
                                                                                                : 0;
}
static inline uint64_t ft_cut_after(void)
{
    uint64_t w = atomic_load_explicit(&ft_cut, memory_order_acquire);
    return FT_UNLIKELY(w != 0) && atomic_load_explicit(&ft_cut_mine, memory_order_relaxed) == w ? w
                                                                                                : 0;
}
/* Called by main: its image is complete. */
void ft_cut_taken(struct ft_ctl *own, uint64_t snapshot);
static inline int ft_cut_has_image(const struct ft_ctl *of, uint64_t snapshot)
{
    return atomic_load_explicit(&of->snapshot_copied, memory_order_acquire) == snapshot;
}

#endif
