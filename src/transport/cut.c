/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cut.c - the state of a snapshot under way.
 */
#include "transport/cut.h"

#include "transport/wait.h"

FT_STATE(_Atomic uint64_t, ft_cut);
FT_STATE(_Atomic uint64_t, ft_cut_mine);
FT_STATE(int, ft_cut_holds_gets);
FT_STATE(int, ft_cut_possible);
FT_STATE(uint64_t, ft_cut_held_ns);

static void nobody(void) {}
FT_STATE(__typeof__(void (*)(void)), ft_cut_call_off) = nobody;

void ft_cut_begin(uint64_t snapshot)
{
    atomic_store(&ft_cut, snapshot);
    atomic_fetch_or(&ft_attention, FT_ATT_SNAPSHOT);
}

void ft_cut_end(void)
{
    atomic_store(&ft_cut, 0);
    atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_SNAPSHOT);
}

void ft_cut_taken(struct ft_ctl *own, uint64_t snapshot)
{
    atomic_store(&ft_cut_mine, snapshot);
    atomic_store_explicit(&own->snapshot_copied, snapshot, memory_order_release);
}
