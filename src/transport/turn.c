/* SPDX-License-Identifier: BSD-3-Clause
 *
 * turn.c - see turn.h.
 */
#include "transport/turn.h"

#include <sched.h>

#include "transport/wait.h"

FT_STATE(_Atomic int, ft_in_call) = 1;
FT_STATIC(_Atomic int, agents);
#define agents FT_MY(agents)

void ft_turn_await(void)
{
    while (FT_UNLIKELY(atomic_load_explicit(&agents, memory_order_acquire)))
        sched_yield();
}

void ft_enter(void)
{
    (void)ft_mark_call();
    ft_turn_await();
}

void ft_leave(void) { atomic_store_explicit(&ft_in_call, 0, memory_order_release); }

uint32_t ft_turn_take(uint32_t bits)
{
    if (!(atomic_load(&ft_attention) & bits) ||
        atomic_load_explicit(&ft_in_call, memory_order_relaxed))
        return 0;
    atomic_store(&agents, 1);
    ft_wait_fence();
    /* Main may have been inside since and have cleared what was set. It would not look the next
     * time. */
    uint32_t set = atomic_load_explicit(&ft_in_call, memory_order_acquire)
                       ? 0
                       : atomic_load(&ft_attention) & bits;
    if (!set)
        ft_turn_give();
    return set;
}

void ft_turn_give(void) { atomic_store_explicit(&agents, 0, memory_order_release); }
