/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_fence.c - knows from whom nothing more can come: processes that are closed, nodes that are
 * out. member.h explains the rules.
 */
#include <string.h>

#include "proto/member.h"

void ft_fence_init(struct ft_fence *m, int self, int nnodes, int nslots, const uint16_t *node_of,
                   uint64_t limit)
{
    FT_ASSERT(self >= 0 && self < nnodes && nnodes <= FT_MAX_NODES && nslots <= FT_MAX_SLOTS &&
              limit >= 2);
    memset(m, 0, sizeof *m);
    m->self = self;
    m->nnodes = nnodes;
    m->nslots = nslots;
    m->limit = limit;
    memcpy(m->node_of, node_of, (size_t)nslots * sizeof *node_of);
}

static int is_closed(const struct ft_fence *m, int slot)
{
    return ft_bit_get(&m->closed[FT_FENCE_OPS], slot) && ft_bit_get(&m->closed[FT_FENCE_MSG], slot);
}

int ft_fence_holds(const struct ft_fence *m, const struct ft_bitset *slots)
{
    for (int s = 0; s < m->nslots; s++)
        if (ft_bit_get(slots, s) && !is_closed(m, s) && !ft_bit_get(&m->out, m->node_of[s]))
            return 0;
    return 1;
}

static void on_exit_here(struct ft_fence *m, int slot, struct ft_fence_actions *out)
{
    FT_ASSERT(m->node_of[slot] == m->self);
    if (is_closed(m, slot))
        return;
    ft_bit_set(&m->closed[FT_FENCE_OPS], slot);
    ft_bit_set(&m->closed[FT_FENCE_MSG], slot);
    out->closed = slot;
    ft_bit_set(&out->failed, slot);
}

static void on_closed(struct ft_fence *m, const struct ft_fence_event *ev,
                      struct ft_fence_actions *out)
{
    FT_ASSERT(m->node_of[ev->slot] != m->self && ev->class < FT_FENCE_CLASSES);
    if (ft_bit_get(&m->out, m->node_of[ev->slot]))
        return;
    ft_bit_set(&m->closed[ev->class], ev->slot);
    if (is_closed(m, ev->slot))
        ft_bit_set(&out->failed, ev->slot);
}

/* All slots of the nodes fail in one event. [Half of them: a rank is given to a spare of the same
 * node.] */
static void on_out(struct ft_fence *m, const struct ft_bitset *nodes, struct ft_fence_actions *out)
{
    for (int k = 0; k < m->nnodes; k++)
        if (k != m->self && ft_bit_get(nodes, k) && !ft_bit_get(&m->out, k))
            ft_bit_set(&out->disconnect, k);
    ft_bitset_merge(&m->out, &out->disconnect);
    for (int s = 0; s < m->nslots; s++)
        if (ft_bit_get(&out->disconnect, m->node_of[s]) && !is_closed(m, s))
            ft_bit_set(&out->failed, s);
}

static void on_time(struct ft_fence *m, uint64_t now, struct ft_fence_actions *out)
{
    for (int k = 0; k < m->nnodes; k++) {
        uint64_t wait = ft_bit_get(&m->reported, k) ? m->limit / 2 : m->limit;
        if (!ft_bit_get(&m->broken, k) || ft_bit_get(&m->out, k) || now - m->since[k] < wait)
            continue;
        m->since[k] = now;
        ft_bit_set(&m->reported, k);
        ft_bit_set(&out->report, k);
    }
}

void ft_fence_step(struct ft_fence *m, const struct ft_fence_event *ev,
                   struct ft_fence_actions *out)
{
    memset(out, 0, sizeof *out);
    out->closed = -1;
    switch (ev->kind) {
    case FT_FENCE_EXITED: on_exit_here(m, ev->slot, out); break;
    case FT_FENCE_CLOSED: on_closed(m, ev, out); break;
    case FT_FENCE_OUT: on_out(m, &ev->nodes, out); break;
    case FT_FENCE_BROKEN:
        if (ft_bit_get(&m->broken, ev->node))
            break;
        ft_bit_set(&m->broken, ev->node);
        m->since[ev->node] = ev->now;
        break;
    case FT_FENCE_MENDED:
        if (ft_bit_get(&m->reported, ev->node))
            ft_bit_set(&out->reachable, ev->node);
        ft_bit_clear(&m->broken, ev->node);
        ft_bit_clear(&m->reported, ev->node);
        break;
    case FT_FENCE_TIME: on_time(m, ev->now, out); break;
    }
}
