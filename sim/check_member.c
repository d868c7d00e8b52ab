/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_member.c - what must hold in jobs on several nodes. All members adopt one decision, about
 * the dead and nodes that are out. When it is adopted, all that the dead had submitted to this node
 * was applied, or never will be. No node is out while its lease lasts, and its lease does not begin
 * again after that. A lost node is out in the end, and the others agree on it.
 */
#include "model_member.h"

static int is_member(const struct sim *s, int slot)
{
    const struct mb_world *w = mb_world(s);
    return sim_alive(s, mb_process(w, slot)) && !mb_node(w, mb_node_of(w, slot))->said;
}

void mb_check_adopted(struct sim *s, int slot, const struct ft_decision *d)
{
    struct mb_world *w = mb_world(s);
    const struct ft_fence *fence = &mb_node(w, mb_node_of(w, slot))->fence;
    int here = mb_node_of(w, slot);
    uint64_t h = sim_hash(d, sizeof *d) | 1;
    if (!is_member(s, slot))
        return;
    for (int f = 0; f < mb_slots(w); f++) {
        const struct mb_slot *lost = mb_slot(w, f);
        int node = mb_node_of(w, f);
        if (!ft_bit_get(&d->failed, f))
            continue;
        if (sim_alive(s, mb_process(w, f)) && !mb_node(w, node)->said)
            sim_wrong(s, "slot %d was declared failed, and lives on a node that is a member", f);
        if (node == here || ft_bit_get(&fence->out, node))
            continue;
        int way = mb_way(w, f, here);
        for (int c = 0; c < FT_FENCE_CLASSES && way < MB_NODES; c++)
            if (lost->queued == (uint32_t)(1 + c + 2 * here) ||
                lost->sent[way][c] != lost->applied[way][c])
                sim_wrong(s,
                          "slot %d adopts that %d has failed, while something of it is under way "
                          "to its node",
                          slot, f);
    }
    if (d->generation > MB_GENERATIONS)
        return;
    mb_slot(w, slot)->log[d->generation] = h;
    for (int q = 0; q < mb_slots(w); q++)
        if (q != slot && is_member(s, q) && !ft_bit_get(&d->failed, q) &&
            mb_slot(w, q)->log[d->generation] && mb_slot(w, q)->log[d->generation] != h)
            sim_wrong(s, "two decisions for generation %u: at %d and %d", d->generation, q, slot);
}

void mb_check_applied(struct sim *s, int node, int from)
{
    const struct mb_world *w = mb_world(s);
    for (int i = node * w->each; i < (node + 1) * w->each; i++)
        if (is_member(s, i) && ft_bit_get(&mb_slot(w, i)->last.failed, from))
            sim_wrong(s,
                      "something of slot %d is applied on node %d after slot %d has adopted that "
                      "it has failed",
                      from, node, i);
}

void mb_check_out(struct sim *s, const struct ft_arbiter_action *a)
{
    const struct mb_world *w = mb_world(s);
    for (int k = 0; k < w->nodes; k++) {
        const struct mb_node *n = mb_node(w, k);
        if (!ft_bit_get(&a->nodes, k) || a->why != FT_OUT_LEASE)
            continue;
        if (sim_alive(s, mb_keeper(w, k)) && ft_lease_lasts(&n->lease, w->now))
            sim_wrong(s, "node %d is out while its lease lasts", k);
        if (2 * (w->arbiter_steps - n->steps_at_grant) < MB_LEASE)
            sim_wrong(s, "node %d is out, since the arbiter stood still", k);
    }
}

static void check_node(struct sim *s, int k)
{
    const struct mb_world *w = mb_world(s);
    const struct mb_node *n = mb_node(w, k);
    if (n->said && n->why == FT_OUT_LEASE && sim_alive(s, mb_keeper(w, k)) &&
        ft_lease_lasts(&n->lease, w->now))
        sim_wrong(s, "node %d is out, and its lease has begun again", k);
    for (int i = k * w->each; i < (k + 1) * w->each; i++)
        if (sim_alive(s, mb_process(w, i)))
            ft_agree_check(&mb_slot(w, i)->agree);
}

/* In virtual time there are many nodes, and only that of p is looked at. */
static void step(struct sim *s, int p)
{
    const struct mb_world *w = mb_world(s);
    if (!s->o.timed || p == 0)
        ft_arbiter_check(&w->arbiter);
    if (s->o.timed && p > 0)
        check_node(s, mb_node_at(w, p));
    for (int k = 0; k < w->nodes && !s->o.timed; k++)
        check_node(s, k);
}

static void quiet(struct sim *s)
{
    const struct mb_world *w = mb_world(s);
    struct ft_bitset lost = {{0}};
    for (int i = 0; i < mb_slots(w); i++)
        if (!is_member(s, i))
            ft_bit_set(&lost, i);
    for (int k = 0; k < w->nodes; k++)
        if ((mb_node(w, k)->dead || mb_node(w, k)->hung) && !mb_node(w, k)->said &&
            k != w->arbiter.cfg.own)
            sim_wrong(s, "node %d %s, and is not out", k,
                      mb_node(w, k)->dead ? "has lost its power" : "has a gateway that hangs");
    for (int k = 0; k < w->nodes && s->o.timed; k++)
        if (mb_node(w, k)->said && !mb_node(w, k)->hurt)
            sim_wrong(s, "node %d is out, and nothing of it had failed", k);
    for (int i = 0; i < mb_slots(w); i++)
        if (is_member(s, i) && !mb_node(w, mb_node_of(w, i))->hung &&
            !ft_bitset_equal(&mb_slot(w, i)->last.failed, &lost))
            sim_wrong(s, "slot %d waits for ever: it knows of %d that are lost, and there are %d",
                      i, ft_bitset_count(&mb_slot(w, i)->last.failed), ft_bitset_count(&lost));
}

const struct sim_checker sim_check_member = {"member", step, quiet};
