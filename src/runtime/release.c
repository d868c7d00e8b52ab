/* SPDX-License-Identifier: BSD-3-Clause
 *
 * release.c - gives back the arenas of the dead (D5). Each process unmaps and closes them for
 * itself, and with the last one the kernel frees the memory. There are two steps. First the agent
 * forgets: nobody here asks for that slot any more. Then main gives back, at the door of a call,
 * where it holds no address in another's arena. The agent does so where main makes no calls, or
 * carries no rank.
 */
#include "alog/homelog.h"
#include "runtime/agent.h"

void ft_release_lost(struct ft_agent *a, const struct ft_decision *d)
{
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&d->failed, i) && !ft_bit_get(&a->released, i)) {
            uint32_t unknown = 0;
            atomic_compare_exchange_strong(&a->rt->board->slot[i].lost_in, &unknown, d->generation);
            ft_bit_set(&a->lost, i);
        }
    a->lost_in = d->generation;
}

/* All that was forgotten up to a generation: nobody here holds an address in it any more. The
 * gateways wait for this word of all processes. */
static void let_go(struct ft_rt *rt)
{
    uint32_t upto = atomic_load(&rt->forgot);
    rt->tp.ops->release(&rt->tp);
    atomic_store(&rt->arena.ctl->let_go, upto);
    ft_failpoint(RELEASE_DONE);
}

/* All positions are carried by processes that have adopted this generation, and that others may
 * access. Then all votes, plans and replays that could look at the dead are over. */
static int all_are_back(const struct ft_agent *a)
{
    const struct ft_rt *rt = a->rt;
    struct ft_mapping map = ft_agent_map(a);
    for (int p = 0; p < rt->board->nranks + rt->board->nchecksums; p++) {
        const struct ft_ctl *ctl = ft_tp_ctl((struct ft_tp *)(uintptr_t)&rt->tp, map.slot_of[p]);
        if (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire) ||
            atomic_load_explicit(&ctl->rejoined, memory_order_acquire) <
                atomic_load(&rt->box.generation))
            return 0;
    }
    return 1;
}

/* This process uses the new carriers, and nothing is under way here that began with the old
 * ones. */
static int goes_by_new(const struct ft_agent *a)
{
    const struct ft_rt *rt = a->rt;
    const struct ft_carrier *c = &a->p->carrier;
    if (c->facts & FT_FACT_ROLLING || c->alone || c->state == FT_CS_ASSIGNED || c->quiet_owed ||
        c->heard.replaying || c->incomplete || c->open)
        return 0;
    if (ft_is_rank(rt))
        return atomic_load(&rt->bound_in) == atomic_load(&rt->box.generation);
    return !ft_agent_main_busy(
        a); /* under no command: one may be reading what is left of a lost member */
}

void ft_release_poll(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (ft_bitset_empty(&a->lost) || !goes_by_new(a) || !all_are_back(a))
        return;
    for (int i = 0; i < rt->nslots; i++)
        if (ft_bit_get(&a->lost, i)) {
            rt->tp.ops->forget(&rt->tp, i);
            ft_bit_set(&a->released, i);
            ft_bit_clear(&a->lost, i);
        }
    atomic_store(&rt->forgot, a->lost_in);
    ft_failpoint(RELEASE_FORGOTTEN);
    if (ft_is_rank(rt)) {
        a->release_due = 1;
        ft_agent_attention(a, FT_ATT_RELEASE);
    } else {
        let_go(rt);
    }
}

/* Called by main at a door, or by the agent in its place. A replay reads logs in place: then at the
 * next door. */
void ft_rt_release(struct ft_rt *rt)
{
    if (ft_replay != FT_LIVE || (atomic_load(&ft_attention) & FT_ATT_REPLAY))
        return;
    let_go(rt);
}
