/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wave.c - the words of a snapshot under way.
 */
#include "transport/wave.h"

#include "transport/wait.h"

_Atomic uint64_t ft_wave, ft_wave_mine;
int ft_wave_holds_gets, ft_wave_possible;
uint64_t ft_wave_held_ns;

static void nobody(void) {}
void (*ft_wave_call_off)(void) = nobody;

void ft_wave_begin(uint64_t wave)
{
    atomic_store(&ft_wave, wave);
    atomic_fetch_or(&ft_attention, FT_ATT_WAVE);
}

void ft_wave_end(void)
{
    atomic_store(&ft_wave, 0);
    atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_WAVE);
}

void ft_wave_taken(struct ft_ctl *own, uint64_t wave)
{
    atomic_store(&ft_wave_mine, wave);
    atomic_store_explicit(&own->wave_copied, wave, memory_order_release);
}
