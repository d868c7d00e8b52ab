/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_arbiter.c - decides which nodes are out. member.h explains the rules.
 */
#include <string.h>

#include "proto/member.h"

void ft_arbiter_init(struct ft_arbiter *m, const struct ft_arbiter_cfg *cfg, const uint32_t *ranks,
                     uint64_t now)
{
    FT_ASSERT(cfg->nnodes > 0 && cfg->nnodes <= FT_MAX_NODES && cfg->own < cfg->nnodes &&
              cfg->tick > 0);
    memset(m, 0, sizeof *m);
    m->cfg = *cfg;
    m->now = now;
    for (int i = 0; i < cfg->nnodes; i++)
        m->node[i].ranks = ranks[i];
}

static void put_out(struct ft_arbiter *m, int node, enum ft_out_why why,
                    struct ft_arbiter_action *out)
{
    FT_ASSERT(!m->node[node].out);
    m->node[node].out = 1;
    out->kind = FT_ARBITER_OUT;
    out->why = why;
    ft_bit_set(&out->nodes, node);
}

/* ---- leases ---- */

/* Called at each event. [A grant counts from the last tick, when the request had not yet been sent:
 * the lease is over here first.] */
static void live_on(struct ft_arbiter *m, uint64_t now)
{
    uint64_t gap = now - m->now;
    m->now = now;
    if (gap <= 2 * m->cfg.tick) {
        m->lived += gap;
        return;
    }
    for (int i = 0; i < m->cfg.nnodes; i++)
        m->node[i].granted = m->lived;
}

static int is_over(const struct ft_arbiter *m, int node)
{
    uint64_t lease = m->node[node].asked ? m->cfg.lease : ft_max_u64(m->cfg.first, m->cfg.lease);
    return m->lived - m->node[node].granted > lease + m->cfg.drift;
}

static void look_at_leases(struct ft_arbiter *m, struct ft_arbiter_action *out)
{
    for (int i = 0; i < m->cfg.nnodes; i++)
        if (i != m->cfg.own && !m->node[i].out && is_over(m, i))
            put_out(m, i, FT_OUT_LEASE, out);
}

static void tell_out(const struct ft_arbiter *m, int node, struct ft_arbiter_action *out)
{
    out->kind = FT_ARBITER_TELL_OUT;
    out->node = node;
    for (int i = 0; i < m->cfg.nnodes; i++)
        if (m->node[i].out)
            ft_bit_set(&out->nodes, i);
}

static void renew(struct ft_arbiter *m, const struct ft_arbiter_event *ev,
                  struct ft_arbiter_action *out)
{
    struct ft_arbiter_node *node = &m->node[ev->node];
    if (node->out) {
        tell_out(m, ev->node, out);
        return;
    }
    out->kind = FT_ARBITER_GRANT;
    out->node = ev->node;
    out->sent = ev->sent;
    node->granted = m->lived;
    node->asked = 1;
}

/* ---- reports ---- */

static int find_pair(const struct ft_arbiter *m, int a, int b)
{
    for (int i = 0; i < m->npairs; i++)
        if (m->pair[i].a == a && m->pair[i].b == b)
            return i;
    return -1;
}

static void note_report(struct ft_arbiter *m, const struct ft_arbiter_event *ev)
{
    int a = ev->node < ev->about ? ev->node : ev->about,
        b = ev->node < ev->about ? ev->about : ev->node;
    FT_ASSERT(a >= 0 && a < b && b < m->cfg.nnodes);
    int at = find_pair(m, a, b);
    if (m->node[a].out || m->node[b].out)
        return;
    if (ev->reachable && at >= 0) {
        m->pair[at] = m->pair[--m->npairs];
    } else if (!ev->reachable && at < 0 && m->npairs < FT_MEMBER_PAIRS) {
        if (m->npairs == 0)
            m->since = m->lived;
        m->pair[m->npairs].a = (uint16_t)a;
        m->pair[m->npairs++].b = (uint16_t)b;
    }
}

static void forget_pairs_of_out(struct ft_arbiter *m)
{
    int n = 0;
    for (int i = 0; i < m->npairs; i++)
        if (!m->node[m->pair[i].a].out && !m->node[m->pair[i].b].out)
            m->pair[n++] = m->pair[i];
    m->npairs = n;
}

static int unreachable_peers(const struct ft_arbiter *m, int node, const struct ft_bitset *without)
{
    int n = 0;
    for (int i = 0; i < m->npairs; i++) {
        int a = m->pair[i].a, b = m->pair[i].b;
        n += (a == node || b == node) && !ft_bit_get(without, a) && !ft_bit_get(without, b);
    }
    return n;
}

/* It has missed a request for its lease: keepers ask each quarter of it. */
static int is_silent(const struct ft_arbiter *m, int node)
{
    return node != m->cfg.own && m->lived - m->node[node].granted > m->cfg.lease / 2;
}

/* Whether i should go out rather than j. */
static int rather(const struct ft_arbiter *m, int i, int ni, int j, int nj)
{
    if (is_silent(m, i) != is_silent(m, j))
        return is_silent(m, i);
    if (ni != nj)
        return ni > nj;
    if (i == m->cfg.own || j == m->cfg.own)
        return j == m->cfg.own;
    if (m->node[i].ranks != m->node[j].ranks)
        return m->node[i].ranks < m->node[j].ranks;
    return i > j;
}

/* The reported node that should go out first, not counting those in `without`; -1: there is
 * none. */
static int worst(const struct ft_arbiter *m, const struct ft_bitset *without)
{
    int found = -1, most = 0;
    for (int i = 0; i < 2 * m->npairs; i++) {
        int node = i % 2 ? m->pair[i / 2].b : m->pair[i / 2].a,
            n = unreachable_peers(m, node, without);
        if (n > 0 && (found < 0 || rather(m, node, n, found, most))) {
            found = node;
            most = n;
        }
    }
    return found;
}

/* The number of nodes that would have to go out until no two of the others are reported. */
static int all_to_go(const struct ft_arbiter *m)
{
    struct ft_bitset gone = {{0}};
    int n = 0;
    for (int node; (node = worst(m, &gone)) >= 0; n++)
        ft_bit_set(&gone, node);
    return n;
}

/* After a quarter of a lease all that have lost the same node have reported it. */
static void look_at_reports(struct ft_arbiter *m, struct ft_arbiter_action *out)
{
    static const struct ft_bitset nobody;
    uint64_t waited = m->lived - m->since, wait = m->cfg.lease / 4;
    if (m->npairs == 0)
        return;
    if (all_to_go(m) > m->cfg.bearable)
        wait += m->cfg.lease;
    if (waited < wait)
        return;
    put_out(m, worst(m, &nobody), FT_OUT_UNREACHABLE, out);
    m->npairs = 0; /* nodes that are still unreachable are reported again */
}

void ft_arbiter_step(struct ft_arbiter *m, const struct ft_arbiter_event *ev,
                     struct ft_arbiter_action *out)
{
    memset(out, 0, sizeof *out);
    live_on(m, ev->now);
    switch (ev->kind) {
    case FT_ARBITER_TIME:
        look_at_leases(m, out);
        if (!out->kind)
            look_at_reports(m, out);
        break;
    case FT_ARBITER_RENEW: renew(m, ev, out); break;
    case FT_ARBITER_REPORT:
        if (!m->node[ev->node].out)
            note_report(m, ev);
        break;
    case FT_ARBITER_ENDED:
        if (!m->node[ev->node].out)
            put_out(m, ev->node, FT_OUT_ENDED, out);
        break;
    case FT_ARBITER_BACK: tell_out(m, ev->node, out); break;
    }
    if (out->kind == FT_ARBITER_OUT)
        forget_pairs_of_out(m);
}

void ft_arbiter_check(const struct ft_arbiter *m)
{
    for (int i = 0; i < m->npairs; i++) {
        FT_ASSERT(m->pair[i].a < m->pair[i].b && m->pair[i].b < m->cfg.nnodes);
        FT_ASSERT(!m->node[m->pair[i].a].out && !m->node[m->pair[i].b].out);
        FT_ASSERT(find_pair(m, m->pair[i].a, m->pair[i].b) == i);
    }
    for (int i = 0; i < m->cfg.nnodes; i++)
        FT_ASSERT(m->node[i].granted <= m->lived);
}
