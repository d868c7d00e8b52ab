/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cut.h - a snapshot under way (C9): what messages and accesses to windows ask before they act.
 *
 * A process is *before* until its main has taken its image, then *after* until the snapshot is
 * over. Nothing may flow from after to before: what a process that is after has said, one that is
 * before does not read; and so on, as C9 has it. With no snapshot under way ft_cut is 0 and
 * FT_ATT_SNAPSHOT is clear, and nothing of this is looked at.
 */
#ifndef FT_TRANSPORT_CUT_H
#define FT_TRANSPORT_CUT_H

#include "base/engine.h"
#include "transport/arena.h"

/* Its number; 0: none. Written by the agent. */
extern FT_STATE(_Atomic uint64_t, ft_cut);
/* The number of the snapshot that the newest image belongs to. Written by main. */
extern FT_STATE(_Atomic uint64_t, ft_cut_mine);
/* Gets from a process that is after wait for the snapshot's end (delay). */
extern FT_STATE(int, ft_cut_holds_gets);
extern FT_STATE(int, ft_cut_possible); /* there may be snapshots: set once at start */
/* How long main has waited at gates since somebody took note of it. */
extern FT_STATE(uint64_t, ft_cut_held_ns);
/* Main cannot go on before the snapshot is over: it is to be called off. Set by the runtime. */
extern FT_STATE(__typeof__(void (*)(void)), ft_cut_call_off);
#define ft_cut FT_MY(ft_cut)
#define ft_cut_mine FT_MY(ft_cut_mine)
#define ft_cut_holds_gets FT_MY(ft_cut_holds_gets)
#define ft_cut_possible FT_MY(ft_cut_possible)
#define ft_cut_held_ns FT_MY(ft_cut_held_ns)
#define ft_cut_call_off FT_MY(ft_cut_call_off)

/* Agent: all see the snapshot before anybody is after. Main sees it at its next access, once
 * nobody is inside one. */
void ft_cut_begin(uint64_t snapshot);
void ft_cut_end(void); /* main, if it waits for this, is to be rung */

/* Main. The snapshot, if this process is before (behind) in it; else 0. */
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
/* Main: its image is whole. */
void ft_cut_taken(struct ft_ctl *own, uint64_t snapshot);
static inline int ft_cut_has_image(const struct ft_ctl *of, uint64_t snapshot)
{
    return atomic_load_explicit(&of->snapshot_copied, memory_order_acquire) == snapshot;
}

#endif
