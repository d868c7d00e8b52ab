/* SPDX-License-Identifier: BSD-3-Clause
 *
 * inside.h - the mark of an access to a window (L5).
 */
#ifndef FT_RMA_INSIDE_H
#define FT_RMA_INSIDE_H

#include "transport/ctl.h"
#include "transport/wait.h"

/* While this is set no recovery begins to read what this process logs (L5). An access sets it, and
 * then checks that its target is still the one that it knows. The agent sets ft_attention, issues a
 * membarrier, and waits for this to clear. */
extern FT_STATE(_Atomic uint32_t *, ft_rma_inside); /* in the own control block */
#define ft_rma_inside FT_MY(ft_rma_inside)
static inline uint32_t ft_begin_inside(void)
{
    atomic_store_explicit(ft_rma_inside, FT_INSIDE, memory_order_relaxed);
    /* the agent's membarrier is the processor's part of this fence */
    atomic_signal_fence(memory_order_seq_cst);
    /* A process that sees what is written now also sees calls(p) of this call (L1), and cannot
     * change what was read before it. No instruction on x86-64. [p begins call n and puts a flag, q
     * sees it before n, and its put back counts as one of call n - 1.] */
    atomic_thread_fence(memory_order_release);
    return atomic_load_explicit(&ft_attention, memory_order_relaxed);
}
/* Returns the news there are; 0: none. */
static inline uint32_t ft_begin_access(void)
{
    return ft_begin_inside() & ~(uint32_t)(FT_ATT_REPLAY | FT_ATT_WORK | FT_ATT_RELEASE);
}
/* For accesses that do not matter to a snapshot: lock words, stamps, the own logs. */
static inline int ft_enter_access(void)
{
    return FT_LIKELY((ft_begin_access() & ~(uint32_t)FT_ATT_SNAPSHOT) == 0);
}
/* Also without a replay, a snapshot, or work that goes on. */
static inline int ft_enter_quiet(void) { return FT_LIKELY(ft_begin_inside() == 0); }
static inline int ft_anything_to_attend(void)
{
    return atomic_load_explicit(&ft_attention, memory_order_relaxed) != 0;
}
static inline void ft_leave_access(void)
{
    atomic_store_explicit(ft_rma_inside, 0, memory_order_release);
}

#endif
