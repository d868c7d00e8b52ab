/* SPDX-License-Identifier: BSD-3-Clause
 *
 * save.c - the agents' part in writing checkpoints to files, and in going on from them: the root
 * requests a version on the board, on several nodes all on theirs, all report when it is committed,
 * and a process of ftrun writes it (F1 to F5, F8, F10).
 */
#include "runtime/agent.h"

uint64_t ft_save_pinned(const struct ft_rt *rt)
{
    const struct ft_board_save *s = &rt->board->save;
    uint64_t over = atomic_load(&s->over);
    if (!ft_is_rank(rt))
        return 0; /* codewords are not saved */
    return atomic_load(&s->asked) != over ? atomic_load(&s->version) : 0;
}

#define HELD_NS 60000000000ull /* long, for a machine with much else to do */

/* Waits once. Otherwise a short job could be lost, with its images, before ftrun has looked at it.
 * Without descriptors ftrun cannot look. */
void ft_save_await_held(struct ft_rt *rt)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    uint64_t end = ft_now_ns() + HELD_NS;
    if (!rt->board->save.every || rt->replacement || atomic_load(&rt->board->save.held))
        return;
    ft_board_ring_launcher(rt->board);
    while (!atomic_load(&rt->board->save.held) && ft_now_ns() < end)
        ft_wait(&w);
    ft_wait_end(&w);
}

void ft_save_ask(struct ft_agent *a, uint64_t wanted)
{
    struct ft_board_save *s = &a->rt->board->save;
    int root = ft_order_is_root(&a->p->order);
    if (!s->every || a->p->carrier.facts & FT_FACT_RESTARTING ||
        wanted % (uint64_t)s->every != 0 || (!root && a->rt->board->nodes.n == 0))
        return;
    uint64_t asked = atomic_load(&s->asked), version = atomic_load(&s->version);
    if (asked == atomic_load(&s->over)) {
        atomic_store(&s->version, wanted); /* of one node all write the same */
        (void)atomic_compare_exchange_strong(&s->asked, &asked, asked + 1);
    } else if (root && version != wanted) { /* else it was asked for before, and called off */
        ft_rt_event(a->rt, FT_EV_SAVE_PASSED, FT_WHO_NONE, (int64_t)wanted, (int64_t)version, 0, 0);
    }
}

void ft_save_committed(struct ft_rt *rt, uint64_t version)
{
    struct ft_board_save *s = &rt->board->save;
    uint64_t asked = atomic_load(&s->asked), was = atomic_load(&s->committed);
    while (was < version && !atomic_compare_exchange_weak(&s->committed, &was, version))
        ;
    if (asked == atomic_load(&s->over) || atomic_load(&s->version) != version ||
        atomic_load(&s->ready) == asked)
        return;
    atomic_store(&s->ready, asked);
    ft_board_ring_launcher(rt->board);
}

void ft_save_gone_on(struct ft_agent *a)
{
    if (!ft_order_is_root(&a->p->order))
        return;
    atomic_store(&a->rt->board->save.gone_on, 1);
    ft_rt_event(a->rt, FT_EV_RESTARTED, FT_WHO_NONE, 0, 0, 0, 0);
}
