/* SPDX-License-Identifier: BSD-3-Clause
 *
 * snapshot.c - the wave of markers. The five algorithms differ in when a process enters the wave,
 * takes its image, and is done.
 */
#include "proto/snapshot.h"

#include <string.h>

static const char *const names[] = {"vanilla", "delay", "peek", "double", "partial"};

const char *ft_snap_name(enum ft_snap_alg alg)
{
    return (unsigned)alg < FT_COUNTOF(names) ? names[alg] : NULL;
}

int ft_snap_by_name(const char *name)
{
    for (int i = 0; i < (int)FT_COUNTOF(names); i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

size_t ft_snap_bytes(int n)
{
    return sizeof(struct ft_snap) + (size_t)n * sizeof(struct ft_snap_peer);
}

void ft_snap_init(struct ft_snap *m, enum ft_snap_alg alg, int self, int n)
{
    FT_ASSERT(self >= 0 && self < n && ft_snap_name(alg));
    memset(m, 0, ft_snap_bytes(n));
    m->alg = alg;
    m->self = self;
    m->n = n;
}

static void push(struct ft_snap_actions *out, enum ft_snap_act act, enum ft_snap_marker marker,
                 int to)
{
    FT_ASSERT(out->n < FT_SNAP_MAX_ACTIONS);
    out->a[out->n++] = (struct ft_snap_action){act, marker, to};
}

static void take(struct ft_snap *m, struct ft_snap_actions *out)
{
    FT_ASSERT(m->taken + 1 == m->wave);
    m->taken = m->wave;
    push(out, FT_SNAP_ACT_TAKE, 0, -1);
}

static void begin(struct ft_snap *m, struct ft_snap_actions *out)
{
    m->wave++;
    m->phase = FT_SNAP_WAITING;
    if (m->alg != FT_SNAP_PARTIAL || !m->gets)
        return;
    for (int q = 0; q < m->n; q++) {
        m->peer[q].flush = m->peer[q].gets > 0;
        m->nflush += m->peer[q].flush;
    }
    push(out, FT_SNAP_ACT_FLUSH, FT_SNAP_FLUSH, -1);
}

/* What this process waited for before it may enter the wave is there. */
static int may_enter(const struct ft_snap *m)
{
    return m->alg == FT_SNAP_PEEK ? m->gets == 0 : m->nflush == 0;
}

static void over(struct ft_snap *m, struct ft_snap_actions *out)
{
    m->phase = FT_SNAP_IDLE;
    m->nfirst = m->nsecond = 0;
    for (int q = 0; q < m->n; q++) {
        struct ft_snap_peer *o = &m->peer[q];
        o->first = o->next;
        m->nfirst += o->next;
        o->second = o->next = 0;
    }
    m->nnext = 0;
    push(out, FT_SNAP_ACT_OVER, 0, -1);
}

/* Takes all steps that the counts allow by now. */
static void advance(struct ft_snap *m, struct ft_snap_actions *out)
{
    if (m->phase == FT_SNAP_WAITING && may_enter(m)) {
        m->phase = FT_SNAP_WAVE;
        if (m->alg <= FT_SNAP_PEEK)
            take(m, out);
        push(out, FT_SNAP_ACT_FLOOD, FT_SNAP_FIRST, -1);
    }
    if (m->phase != FT_SNAP_WAVE || m->nfirst < m->n - 1)
        return;
    if (m->taken < m->wave && (m->alg != FT_SNAP_DOUBLE || m->gets == 0)) {
        take(m, out);
        if (m->alg == FT_SNAP_DOUBLE)
            push(out, FT_SNAP_ACT_FLOOD, FT_SNAP_SECOND, -1);
    }
    if (m->taken == m->wave && (m->alg != FT_SNAP_DOUBLE || m->nsecond == m->n - 1))
        over(m, out);
}

void ft_snap_start(struct ft_snap *m, struct ft_snap_actions *out)
{
    out->n = 0;
    if (m->phase != FT_SNAP_IDLE)
        return;
    begin(m, out);
    advance(m, out);
}

static void on_first(struct ft_snap *m, struct ft_snap_peer *o, struct ft_snap_actions *out)
{
    if (o->first) { /* It has ended this wave and begun the next one, which cannot end without this
                       process. */
        FT_ASSERT(!o->next);
        o->next = 1;
        m->nnext++;
        return;
    }
    o->first = 1;
    m->nfirst++;
    if (m->phase == FT_SNAP_IDLE)
        begin(m, out);
}

void ft_snap_marker(struct ft_snap *m, int from, enum ft_snap_marker marker,
                    struct ft_snap_actions *out)
{
    struct ft_snap_peer *o = &m->peer[from];
    out->n = 0;
    FT_ASSERT(from >= 0 && from < m->n && from != m->self);
    switch (marker) {
    case FT_SNAP_FIRST: on_first(m, o, out); break;
    case FT_SNAP_SECOND:
        FT_ASSERT(m->alg == FT_SNAP_DOUBLE && m->phase == FT_SNAP_WAVE && o->first && !o->second);
        o->second = 1;
        m->nsecond++;
        break;
    case FT_SNAP_FLUSH: push(out, FT_SNAP_ACT_SEND, FT_SNAP_FLUSHED, from); break;
    case FT_SNAP_FLUSHED:
        FT_ASSERT(o->flush && !o->gets); /* the data came ahead of the answer */
        o->flush = 0;
        m->nflush--;
        break;
    }
    advance(m, out);
    if (m->phase == FT_SNAP_IDLE &&
        m->nfirst >
            0) { /* this wave has ended, and the next one had reached this process already */
        begin(m, out);
        advance(m, out);
    }
}

int ft_snap_may_issue(const struct ft_snap *m) { return m->phase == FT_SNAP_IDLE; }

void ft_snap_issued(struct ft_snap *m, int target)
{
    FT_ASSERT(ft_snap_may_issue(m) && target >= 0 && target < m->n && target != m->self);
    m->peer[target].gets++;
    m->gets++;
}

int ft_snap_arrives(struct ft_snap *m, int from, struct ft_snap_actions *out)
{
    out->n = 0;
    if (m->phase != FT_SNAP_WAVE)
        return 0;
    if (m->alg == FT_SNAP_PARTIAL && m->taken < m->wave && m->peer[from].first)
        take(m, out); /* The wave is over there, so all markers are on their way, and nobody has a
                         get under way. */
    return m->taken == m->wave && !m->peer[from].first;
}

int ft_snap_may_answer(const struct ft_snap *m)
{
    return m->alg != FT_SNAP_DELAY || m->phase == FT_SNAP_IDLE;
}

int ft_snap_answered(struct ft_snap *m, int target, uint32_t target_taken,
                     struct ft_snap_actions *out)
{
    int use = m->alg != FT_SNAP_PEEK || target_taken <= m->taken;
    out->n = 0;
    FT_ASSERT(m->peer[target].gets > 0);
    m->peer[target].gets--;
    m->gets--;
    advance(m, out);
    if (m->phase == FT_SNAP_IDLE && m->nfirst > 0) {
        begin(m, out);
        advance(m, out);
    }
    return use;
}

void ft_snap_check(const struct ft_snap *m)
{
    uint32_t gets = 0;
    int first = 0, second = 0, flush = 0, next = 0;
    for (int q = 0; q < m->n; q++) {
        const struct ft_snap_peer *o = &m->peer[q];
        gets += o->gets;
        first += o->first;
        second += o->second;
        flush += o->flush;
        next += o->next;
    }
    FT_ASSERT(gets == m->gets && first == m->nfirst && second == m->nsecond && flush == m->nflush &&
              next == m->nnext);
    FT_ASSERT(m->taken <= m->wave && m->wave <= m->taken + 1);
    FT_ASSERT(m->phase != FT_SNAP_IDLE || (m->taken == m->wave && !first && !flush));
    FT_ASSERT(m->phase != FT_SNAP_WAITING || (m->taken < m->wave && (flush || gets)));
    FT_ASSERT(m->alg != FT_SNAP_PARTIAL || m->phase != FT_SNAP_WAVE || !gets);
}
