/* SPDX-License-Identifier: BSD-3-Clause
 *
 * turn.h - who acts for this process: main while it is in the library, the agent while the program
 * makes no calls and there is something that cannot wait for the next one. [q computes for long, or
 * polls its window: f' is not live before q has said what it saw of f. f' polls its window: what it
 * polls for may wait for f' to be live.]
 *
 * Main marks by a plain store that it is in a call, then looks at ft_attention (wait.h), and where
 * that is set waits for the agent's turn to be over. The agent takes its turn only while
 * ft_attention is set: it says so, issues a membarrier, and looks at main's mark: either main has
 * seen the turn, or the agent sees the mark, and steps back.
 */
#ifndef FT_TRANSPORT_TURN_H
#define FT_TRANSPORT_TURN_H

#include "base/base.h"
#include "base/engine.h"

extern FT_STATE(_Atomic int, ft_in_call); /* 1 at first */
#define ft_in_call FT_MY(ft_in_call)

/* Main, at the begin of a call, and what it is to be given at the end (calls are nested). Then it
 * must look at ft_attention: ft_turn_await. */
static inline int ft_mark_call(void)
{
    int was = atomic_load_explicit(&ft_in_call, memory_order_relaxed);
    atomic_store_explicit(&ft_in_call, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the rest is the agent's membarrier */
    return was;
}
static inline void ft_unmark_call(const int *was)
{
    atomic_store_explicit(&ft_in_call, *was, memory_order_release);
}
void ft_turn_await(void);

/* Main, where there is no function whose end is that of the call. */
void ft_enter(void);
void ft_leave(void);

/* The agent: has its turn until ft_turn_give, and what of `bits` is set in ft_attention now, which
 * only main clears; 0: it has no turn. */
uint32_t ft_turn_take(uint32_t bits);
void ft_turn_give(void);

#endif
