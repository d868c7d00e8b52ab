/* SPDX-License-Identifier: BSD-3-Clause
 *
 * turn.h - who acts for this process: main while it is in the library; the agent while the program
 * makes no calls and something cannot wait for the next one. [q computes for long, or polls its
 * window: f' is not live before q has said what it saw of f. f' polls its window: the put that it
 * polls for may wait for f' to be live.]
 *
 * Main marks by a plain store that it is in a call, and then looks at ft_attention (wait.h). If
 * that is set, main waits for the end of the agent's turn. The agent takes a turn only while
 * ft_attention is set: it announces the turn, issues a membarrier, and looks at main's mark. Either
 * main has seen the turn, or the agent sees the mark and steps back.
 */
#ifndef FT_TRANSPORT_TURN_H
#define FT_TRANSPORT_TURN_H

#include "base/base.h"
#include "base/engine.h"

extern FT_STATE(_Atomic int, ft_in_call); /* 1 at first */
#define ft_in_call FT_MY(ft_in_call)

/* Called by main at the begin of a call. Returns what ft_unmark_call needs at its end, since calls
 * are nested. After it main must look at ft_attention: ft_turn_await. */
static inline int ft_mark_call(void)
{
    int was = atomic_load_explicit(&ft_in_call, memory_order_relaxed);
    atomic_store_explicit(&ft_in_call, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the agent's membarrier does the rest */
    return was;
}
static inline void ft_unmark_call(const int *was)
{
    atomic_store_explicit(&ft_in_call, *was, memory_order_release);
}
void ft_turn_await(void);

/* Called by main where the end of the call is not the end of a function. */
void ft_enter(void);
void ft_leave(void);

/* Called by the agent: takes the turn until ft_turn_give. Returns those of `bits` that are set in
 * ft_attention, which only main clears; 0: it did not get the turn. */
uint32_t ft_turn_take(uint32_t bits);
void ft_turn_give(void);

#endif
