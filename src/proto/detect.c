/* SPDX-License-Identifier: BSD-3-Clause
 *
 * detect.c - a ring of watchers over the living slots of a node.
 */
#include "proto/detect.h"

#include <stdio.h>
#include <string.h>

#include "proto/tree.h"

static void push(struct ft_detect_actions *out, enum ft_detect_action_kind kind, int slot)
{
    FT_ASSERT(out->n < FT_DETECT_MAX_ACTIONS);
    out->a[out->n++] = (struct ft_detect_action){.kind = kind, .slot = slot};
}

/* Begins to watch the next living slot of the node, unless it is watched already. */
static void watch_next(struct ft_detect *m, struct ft_detect_actions *out)
{
    struct ft_bitset skip = m->dead;
    for (int s = 0; s < m->nslots; s++)
        if (!ft_bit_get(&m->local, s))
            ft_bit_set(&skip, s);
    int next = ft_ring_next(m->nslots, &skip, m->self);
    if (next == m->watching)
        return;
    m->watching = next;
    m->silent = 0;
    m->killed = 0;
    if (next < 0)
        return;
    push(out, FT_DETECT_ACT_WATCH, next);
    if (m->limit > 0)
        push(out, FT_DETECT_ACT_PING, next);
}

static void on_tick(struct ft_detect *m, struct ft_detect_actions *out)
{
    if (m->watching < 0 || m->limit == 0 || m->killed)
        return;
    if (++m->silent < m->limit) {
        push(out, FT_DETECT_ACT_PING, m->watching);
        return;
    }
    m->killed = 1; /* it is not dead before its exit was seen: it could wake up and write */
    push(out, FT_DETECT_ACT_KILL, m->watching);
}

void ft_detect_init(struct ft_detect *m, int self, int nslots, const struct ft_bitset *local,
                    int limit, struct ft_detect_actions *actions)
{
    FT_ASSERT(ft_bit_get(local, self));
    FT_ASSERT(limit == 0 || limit >= 2); /* with 1 a single late tick would kill */
    memset(m, 0, sizeof *m);
    m->self = self;
    m->nslots = nslots;
    m->limit = limit;
    m->local = *local;
    m->watching = -1;
    actions->n = 0;
    watch_next(m, actions);
}

void ft_detect_step(struct ft_detect *m, const struct ft_detect_event *ev,
                    struct ft_detect_actions *actions)
{
    actions->n = 0;
    if (ev->kind == FT_DETECT_EV_TICK) {
        on_tick(m, actions);
        return;
    }
    if (ev->kind == FT_DETECT_EV_ALIVE) {
        FT_ASSERT(ev->slot >= 0 && ev->slot < m->nslots && ev->slot != m->self);
        if (ev->slot == m->watching)
            m->silent = 0;
        return;
    }
    FT_ASSERT(!ft_bit_get(ev->set, m->self));
    if (!ft_bitset_merge(&m->dead, ev->set))
        return;
    if (ev->kind == FT_DETECT_EV_EXITED) {
        push(actions, FT_DETECT_ACT_FAILED, -1);
        actions->a[0].set = ev->set;
    }
    watch_next(m, actions);
}

void ft_detect_check(const struct ft_detect *m)
{
    FT_ASSERT(!ft_bit_get(&m->dead, m->self) && m->watching != m->self);
    FT_ASSERT(m->watching < 0 ||
              (ft_bit_get(&m->local, m->watching) && !ft_bit_get(&m->dead, m->watching)));
    FT_ASSERT(m->silent >= 0 && m->silent <= m->limit && (!m->killed || m->watching >= 0));
}

int ft_detect_dump(const struct ft_detect *m, char *out, int size)
{
    return snprintf(out, (size_t)size, "detect: slot %d watches %d, silent %d of %d%s, %d dead",
                    m->self, m->watching, m->silent, m->limit, m->killed ? ", killed" : "",
                    ft_bitset_count(&m->dead));
}
