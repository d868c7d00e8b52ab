/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_time.c - jobs on very many nodes, in virtual time. A lease is 16 latencies. Keepers,
 * gateways and the arbiter look at their clocks eight times in a lease. In the second and third
 * lease --crashes faults come: a node loses its power, its gateway hangs, it does not hear the
 * arbiter for two leases, it does not reach another node for some time, or a slot dies. Four leases
 * later all must be known.
 */
#include "member_time.h"

static uint64_t latency(struct sim *s)
{
    return 1 + ft_prng_below(&s->rng, (uint64_t)s->o.latency);
}
static uint64_t period(const struct mb_world *w) { return w->lease / MB_LEASE; }

static void draw_fault(struct sim *s)
{
    struct mb_world *w = mb_world(s);
    int own = s->o.seed % 3 == 0,
        node = own + (int)ft_prng_below(&s->rng, (uint64_t)(w->nodes - own)),
        other = (node + 1 + (int)ft_prng_below(&s->rng, (uint64_t)(w->nodes - 1))) % w->nodes,
        keeper = mb_keeper(w, node), gateway = mb_gateway(w, node);
    uint64_t at = w->lease + ft_prng_below(&s->rng, 2 * w->lease);
    switch (ft_prng_below(&s->rng, 5)) {
    case 0: sim_after(s, keeper, at, MB_POWER, 0); break;
    case 1: sim_after(s, gateway, at, MB_HANGS, 0); break;
    case 2:
        sim_after(s, keeper, at, MB_BREAKS, w->nodes);
        sim_after(s, keeper, at + 2 * w->lease, MB_MENDS, w->nodes);
        break;
    case 3:
        sim_after(s, gateway, at, MB_BREAKS, other);
        sim_after(s, gateway, at + ft_prng_below(&s->rng, 2 * w->lease), MB_MENDS, other);
        break;
    default: sim_after(s, mb_process(w, node * w->each + w->each - 1), at, MB_DIES, 0); break;
    }
}

void mb_timed_start(struct sim *s)
{
    struct mb_world *w = mb_world(s);
    int near = w->nodes < MB_NODES ? w->nodes : MB_NODES;
    w->lease = 16 * (uint64_t)s->o.latency;
    w->calm = 3 * w->lease;
    w->end = w->calm + 4 * w->lease;
    sim_after(s, 0, period(w), MB_ARBITER, 0);
    for (int k = 0; k < w->nodes; k++) {
        sim_after(s, mb_keeper(w, k), 1 + ft_prng_below(&s->rng, period(w)), MB_KEEPER, 0);
        sim_after(s, mb_gateway(w, k), 1 + ft_prng_below(&s->rng, period(w)), MB_GATEWAY, 0);
    }
    for (int i = 0; i < mb_slots(w); i++)
        for (int k = 0; k < s->o.ops && near > 1; k++) {
            int to = (mb_node_of(w, i) + 1 + (int)ft_prng_below(&s->rng, (uint64_t)(near - 1))) %
                     w->nodes;
            sim_after(s, mb_process(w, i), 1 + ft_prng_below(&s->rng, w->calm), MB_SUBMITS,
                      2 * to + (int)ft_prng_below(&s->rng, FT_FENCE_CLASSES));
        }
    for (int k = 0; k < w->faults; k++)
        draw_fault(s);
}

void mb_timed_slot_died(struct sim *s, int slot)
{
    struct mb_world *w = mb_world(s);
    sim_after(s, mb_gateway(w, mb_node_of(w, slot)), latency(s), MB_SEES, slot);
}

void mb_timed_node_gone(struct sim *s, int node)
{
    struct mb_world *w = mb_world(s);
    for (int k = 0; k < w->nodes; k++)
        if (k != node && sim_alive(s, mb_gateway(w, k)) &&
            !ft_bit_get(&mb_node(w, k)->fence.out, node))
            sim_after(s, mb_gateway(w, k), latency(s), MB_BREAKS, node);
}

static int may_change_link(struct sim *s, struct mb_node *n, int what, int *q)
{
    struct mb_world *w = mb_world(s);
    if (*q == w->nodes) { /* that to the arbiter */
        n->hurt = 1;
        *q = -1;
        return what == MB_BREAKS || n->deaf;
    }
    int gone = !mb_serves(s, *q);
    if (n->hung || ft_bit_get(&n->fence.out, *q) ||
        ft_bit_get(&n->fence.broken, *q) == (what == MB_BREAKS))
        return 0;
    if (what == MB_BREAKS && !gone)
        n->hurt = mb_node(w, *q)->hurt = 1;
    return what == MB_BREAKS || !gone;
}

int mb_timed_may(struct sim *s, int p, int what, int *q)
{
    struct mb_world *w = mb_world(s);
    if (p == 0) /* the arbiter */
        return what != MB_REAPED || !mb_node(w, *q)->said;
    struct mb_node *n = mb_node(w, mb_node_at(w, p));
    switch (what) {
    case MB_GATEWAY: return !n->hung;
    case MB_SENDS: return !n->hung && mb_slot(w, *q)->queued;
    case MB_SEES: return !n->hung && !mb_slot(w, *q)->exited && !mb_slot(w, *q)->queued;
    case MB_ANSWERS: return mb_is_asked(s, mb_slot_at(w, p));
    case MB_SUBMITS:
        return !mb_slot(w, mb_slot_at(w, p))->queued && !ft_bit_get(&n->fence.out, *q / 2);
    case MB_BREAKS:
    case MB_MENDS: return may_change_link(s, n, what, q);
    default: return 1;
    }
}

/* Whoever is asked for its vote answers as soon as it may. */
static void answer(struct sim *s, int node)
{
    struct mb_world *w = mb_world(s);
    for (int i = node * w->each; i < (node + 1) * w->each; i++) {
        struct mb_slot *me = mb_slot(w, i);
        if (me->answering || !sim_alive(s, mb_process(w, i)) || !mb_is_asked(s, i))
            continue;
        me->answering = 1;
        sim_after(s, mb_process(w, i), 1, MB_ANSWERS, 0);
    }
}

void mb_timed_acted(struct sim *s, int p, int what, int q)
{
    struct mb_world *w = mb_world(s);
    int node = mb_node_at(w, p);
    switch (what) {
    case MB_ARBITER:
    case MB_KEEPER:
    case MB_GATEWAY:
        if (s->now + period(w) <= w->end)
            sim_after(s, p, period(w), what, 0);
        break;
    case MB_SUBMITS:
        if (mb_slot(w, mb_slot_at(w, p))->queued)
            sim_after(s, mb_gateway(w, node), latency(s), MB_SENDS, mb_slot_at(w, p));
        break;
    case MB_SEES: /* it still has to send what the slot had submitted */
        if (!mb_slot(w, q)->exited && !mb_node(w, node)->hung)
            sim_after(s, p, 1, MB_SEES, q);
        break;
    case MB_POWER: /* its guardian may say so, elsewhere the lease decides */
        mb_node(w, node)->hurt = 1;
        if (node % 2)
            sim_after(s, 0, latency(s), MB_REAPED, node);
        break;
    case MB_HANGS: mb_node(w, node)->hurt = 1; break;
    case MB_ANSWERS: mb_slot(w, mb_slot_at(w, p))->answering = 0; break;
    }
    if (p > 0)
        answer(s, node);
}
