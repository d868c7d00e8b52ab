/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wave.h - a snapshot under way (C9): what messages and accesses to windows ask before they act.
 *
 * A process is *before* until its main has taken its image, then *behind* until the wave is over. Nothing may flow from behind to
 * before: what a process that is behind has said, one that is before does not read; and so on, as C9 has it. With no
 * wave under way ft_wave is 0 and FT_ATT_WAVE is clear, and nothing of this is looked at.
 */
#ifndef FT_TRANSPORT_WAVE_H
#define FT_TRANSPORT_WAVE_H

#include "transport/arena.h"

extern _Atomic uint64_t ft_wave;      /* its number; 0: none. Written by the agent */
extern _Atomic uint64_t ft_wave_mine; /* number of the one that the newest image belongs to. Written by main */
extern int ft_wave_holds_gets;        /* gets from a process that is behind wait for the wave's end (delay) */
extern int ft_wave_possible;          /* there may be waves: set once at start */
extern uint64_t ft_wave_held_ns;      /* that main has waited at gates since somebody took note of it */
extern void (*ft_wave_call_off)(void); /* main cannot go on before the wave is over: it is to be called off. Set by the runtime */

/* Agent: all see the wave before anybody is behind. Main sees it at its next access, once nobody is inside one. */
void ft_wave_begin(uint64_t wave);
void ft_wave_end(void); /* main, if it waits for this, is to be rung */

/* Main. The wave, if this process is before (behind) in it; else 0. */
static inline uint64_t ft_wave_before(void)
{
    uint64_t w = atomic_load_explicit(&ft_wave, memory_order_acquire);
    return FT_UNLIKELY(w != 0) && atomic_load_explicit(&ft_wave_mine, memory_order_relaxed) != w ? w : 0;
}
static inline uint64_t ft_wave_behind(void)
{
    uint64_t w = atomic_load_explicit(&ft_wave, memory_order_acquire);
    return FT_UNLIKELY(w != 0) && atomic_load_explicit(&ft_wave_mine, memory_order_relaxed) == w ? w : 0;
}
/* Main: its image is whole. */
void ft_wave_taken(struct ft_ctl *own, uint64_t wave);
static inline int ft_wave_has_image(const struct ft_ctl *of, uint64_t wave)
{
    return atomic_load_explicit(&of->wave_copied, memory_order_acquire) == wave;
}

#endif
