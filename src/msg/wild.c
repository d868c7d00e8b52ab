/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wild.c - wildcard outcomes at the log home. A word an event, one writer: no event is ever half there.
 */
#include "msg/wild.h"

#include <stdlib.h>
#include <string.h>

#include "msg/channels.h"

static struct {
    struct ft_tp *tp;
    int home_rank, slot;
    struct ft_ctl *home; /* NULL: alone */
    uint32_t next, known;
    uint32_t *copy; /* [FT_WILD_MAX]: 1 + source */
} g;

static void fill_home(void)
{
    for (uint32_t i = 0; i < FT_WILD_MAX && g.home; i++)
        atomic_store_explicit(&g.home->wild[i], g.copy[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

void ft_wild_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t recorded)
{
    g.tp = tp;
    g.home_rank = (myrank + 1) % nranks;
    g.slot = slot_of[g.home_rank];
    g.home = nranks > 1 ? ft_tp_ctl(tp, g.slot) : NULL;
    g.copy = calloc(FT_WILD_MAX, sizeof *g.copy);
    FT_ASSERT(g.copy);
    uint32_t found = 0;
    if (replacement && g.home)
        for (uint32_t i = 0; i < FT_WILD_MAX; i++) {
            g.copy[i] = atomic_load_explicit(&g.home->wild[i], memory_order_acquire);
            found += g.copy[i] != 0;
        }
    if (replacement && found < recorded)
        ft_msg_not_replayable = 1; /* the log home was lost at the same time */
    g.known = replacement ? FT_WILD_MAX : 0;
    atomic_store(&tp->board->slot[tp->self].wildcards, found);
}

uint32_t ft_wild_next(void) { return g.next++; }
uint32_t ft_wild_peek(void) { return g.next; }

int ft_wild_recorded(uint32_t n) { return n < g.known ? (int)g.copy[n] - 1 : -1; }

void ft_wild_record(uint32_t n, int source)
{
    if (n >= FT_WILD_MAX) {
        ft_msg_not_replayable = 1;
        return;
    }
    if (g.copy[n] == (uint32_t)source + 1)
        return;
    g.copy[n] = (uint32_t)source + 1;
    if (g.home)
        atomic_store_explicit(&g.home->wild[n], g.copy[n], memory_order_release);
    else
        ft_msg_not_replayable = 1; /* nobody to keep it */
    atomic_fetch_add(&g.tp->board->slot[g.tp->self].wildcards, 1);
}

void ft_wild_rebind(int rank, int slot)
{
    if (rank != g.home_rank || !g.home)
        return;
    g.slot = slot;
    struct ft_ctl *c = ft_tp_ctl(g.tp, slot);
    if (c) { /* else it is dead as well, and the next generation brings another */
        g.home = c;
        fill_home();
    }
}
