/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agree.c - agreement on the failed set: ballots over the tree of the living. agree.h argues why
 * this is safe.
 */
#include "proto/agree.h"

#include <stdio.h>
#include <string.h>

static struct ft_agree_action *push(struct ft_agree_actions *out, enum ft_agree_action_kind kind)
{
    FT_ASSERT(out->n < FT_AGREE_MAX_ACTIONS);
    struct ft_agree_action *a = &out->a[out->n++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    return a;
}

static struct ft_agree_msg *push_send(const struct ft_agree *m, struct ft_agree_actions *out,
                                      int to, enum ft_agree_kind kind)
{
    FT_ASSERT(to >= 0 && to != m->self && !ft_bit_get(&m->failed, to));
    struct ft_agree_action *a = push(out, FT_AGREE_ACT_SEND);
    a->to = to;
    a->msg.kind = kind;
    a->msg.failed = m->failed;
    return &a->msg;
}

void ft_agree_merge(struct ft_agree_data *a, const struct ft_agree_data *b)
{
    a->committed = ft_max_u64(a->committed, b->committed);
    a->flags |= b->flags;
    a->shared_until = ft_max_u64(a->shared_until, b->shared_until);
    ft_exposers_merge(&a->exposers, &b->exposers);
    ft_bitset_merge(&a->incomplete, &b->incomplete);
    ft_testimonies_merge(&a->told, &b->told);
}

static void open_round(struct ft_agree *m)
{
    m->voted = m->asking = 0;
    m->child_voted[0] = m->child_voted[1] = 0;
}

/* F grew: begins a new ballot, over a new tree. The next one on the ring is told as well: liveness,
 * agree.h. */
static void open_ballot(struct ft_agree *m, struct ft_agree_actions *out)
{
    ft_tree_make(&m->tree, m->nslots, &m->failed, m->self);
    open_round(m);

    const struct ft_tree *t = &m->tree;
    int next = ft_ring_next(m->nslots, &m->failed, m->self);
    if (t->parent >= 0)
        push_send(m, out, t->parent, FT_AGREE_ANNOUNCE);
    for (int i = 0; i < t->nchildren; i++)
        push_send(m, out, t->child[i], FT_AGREE_ANNOUNCE);
    if (next >= 0 && next != t->parent && next != t->child[0] && next != t->child[1])
        push_send(m, out, next, FT_AGREE_ANNOUNCE);
}

static void send_decision(const struct ft_agree *m, const struct ft_decision *d,
                          struct ft_agree_actions *out)
{
    for (int i = 0; i < m->tree.nchildren; i++)
        push_send(m, out, m->tree.child[i], FT_AGREE_DECIDE)->last = *d;
}

static void adopt(struct ft_agree *m, const struct ft_decision *d, struct ft_agree_actions *out)
{
    FT_ASSERT(d->generation == m->last.generation + 1);
    FT_ASSERT(!m->adopting && !ft_bit_get(&d->failed, m->self));
    m->last = *d;
    m->adopting = 1;
    push(out, FT_AGREE_ACT_DECIDED)->decision = *d;
}

/* Passes a decision on and adopts it. A decision that is not of this ballot was an earlier one:
 * another round of votes follows. */
static void decide(struct ft_agree *m, const struct ft_decision *d, struct ft_agree_actions *out)
{
    send_decision(m, d, out);
    if (!ft_bitset_equal(&d->failed, &m->failed))
        open_round(m);
    if (d->generation > m->last.generation)
        adopt(m, d, out);
}

/* Asks for the own contribution as soon as all children have voted. */
static void try_vote(struct ft_agree *m, struct ft_agree_actions *out)
{
    if (!ft_agree_pending(m) || m->voted || m->asking || m->adopting)
        return;
    for (int i = 0; i < m->tree.nchildren; i++)
        if (!m->child_voted[i])
            return;
    m->asking = 1;
    push(out, FT_AGREE_ACT_VOTE);
}

/* Votes, or, as the root, decides. */
static void vote(struct ft_agree *m, const struct ft_agree_data *local,
                 struct ft_agree_actions *out)
{
    const struct ft_tree *t = &m->tree;
    m->asking = 0;
    m->voted = 1;
    m->local = *local;
    struct ft_agree_data data = *local;
    const struct ft_decision *newest = &m->last;
    uint32_t oldest = m->last.generation;
    for (int i = 0; i < t->nchildren; i++) {
        const struct ft_agree_msg *v = &m->child_vote[i];
        ft_agree_merge(&data, &v->data);
        if (v->last.generation > newest->generation)
            newest = &v->last;
        if (v->oldest < oldest)
            oldest = v->oldest;
    }
    FT_ASSERT(newest->generation - oldest <= 1);

    if (t->parent >= 0) {
        struct ft_agree_msg *v = push_send(m, out, t->parent, FT_AGREE_VOTE);
        v->oldest = oldest;
        v->data = data;
        v->last = *newest;
        return;
    }
    struct ft_decision d = *newest;
    if (oldest == newest->generation) {
        memset(&d, 0, sizeof d);
        d.generation = newest->generation + 1;
        d.failed = m->failed;
        d.data = data;
    }
    decide(m, &d, out);
}

static void on_vote(struct ft_agree *m, int from, const struct ft_agree_msg *msg)
{
    FT_ASSERT(from == m->tree.child[0] || from == m->tree.child[1]);
    int i = from == m->tree.child[1];
    FT_ASSERT(!m->child_voted[i] && !m->voted);
    m->child_voted[i] = 1;
    m->child_vote[i] = *msg;
}

static void on_message(struct ft_agree *m, const struct ft_agree_event *ev,
                       struct ft_agree_actions *out)
{
    const struct ft_agree_msg *msg = ev->msg;
    if (ft_bit_get(&m->failed, ev->slot))
        return;
    FT_ASSERT(!ft_bit_get(&msg->failed, m->self)); /* no zombies: the dead do not read */
    if (ft_bitset_merge(&m->failed, &msg->failed))
        open_ballot(m, out);
    if (ft_bitset_equal(&m->failed, &msg->failed)) { /* otherwise it is of a ballot that is over */
        if (msg->kind == FT_AGREE_VOTE) {
            on_vote(m, ev->slot, msg);
        } else if (msg->kind == FT_AGREE_DECIDE) {
            FT_ASSERT(ev->slot == m->tree.parent && m->voted &&
                      msg->last.generation >= m->last.generation);
            decide(m, &msg->last, out);
        }
    }
    try_vote(m, out);
}

void ft_agree_init(struct ft_agree *m, int self, int nslots)
{
    memset(m, 0, sizeof *m);
    m->self = self;
    m->nslots = nslots;
    ft_tree_make(&m->tree, nslots, &m->failed, self);
}

void ft_agree_step(struct ft_agree *m, const struct ft_agree_event *ev,
                   struct ft_agree_actions *actions)
{
    actions->n = 0;
    FT_ASSERT(m->adopting == (ev->kind == FT_AGREE_EV_ADOPTED));
    FT_ASSERT(m->asking || ev->kind != FT_AGREE_EV_LOCAL);
    switch (ev->kind) {
    case FT_AGREE_EV_FAILED:
        FT_ASSERT(!ft_bit_get(ev->failed, m->self));
        if (!ft_bitset_merge(&m->failed, ev->failed))
            return;
        open_ballot(m, actions);
        try_vote(m, actions);
        break;
    case FT_AGREE_EV_MSG:
        FT_ASSERT(ev->slot >= 0 && ev->slot < m->nslots && ev->slot != m->self);
        on_message(m, ev, actions);
        break;
    case FT_AGREE_EV_LOCAL: vote(m, &ev->local, actions); break;
    case FT_AGREE_EV_ADOPTED:
        m->adopting = 0;
        try_vote(m, actions);
        break;
    }
}

int ft_agree_pending(const struct ft_agree *m)
{
    return !ft_bitset_equal(&m->failed, &m->last.failed);
}

void ft_agree_check(const struct ft_agree *m)
{
    struct ft_bitset f = m->failed;
    struct ft_tree t;
    FT_ASSERT(!ft_bit_get(&f, m->self));
    FT_ASSERT(!ft_bitset_merge(&f, &m->last.failed)); /* what was decided stays known */
    ft_tree_make(&t, m->nslots, &m->failed, m->self);
    FT_ASSERT(t.parent == m->tree.parent && t.nchildren == m->tree.nchildren &&
              t.size == m->tree.size);
    for (int i = 0; i < 2; i++) {
        FT_ASSERT(t.child[i] == m->tree.child[i]);
        FT_ASSERT(!m->child_voted[i] || ft_bitset_equal(&m->child_vote[i].failed, &m->failed));
        FT_ASSERT(!m->child_voted[i] || i < t.nchildren);
        FT_ASSERT(!m->voted || m->child_voted[i] || i >= t.nchildren);
    }
}

int ft_agree_dump(const struct ft_agree *m, char *out, int size)
{
    return snprintf(out, (size_t)size,
                    "agree: slot %d of %d, generation %u, failed %d (decided %d), parent %d, "
                    "children %d, votes %d%d%s%s",
                    m->self, m->nslots, m->last.generation, ft_bitset_count(&m->failed),
                    ft_bitset_count(&m->last.failed), m->tree.parent, m->tree.nchildren,
                    m->child_voted[0], m->child_voted[1], m->voted ? ", voted" : "",
                    m->adopting ? ", adopting" : "");
}
