/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.c - who replaces whom, and what is to be done: the ladder (D4, A1).
 */
#include "recover/plan.h"

#include "alog/unkept.h"
#include "base/board.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE (-1)
#define DEAD (-2)

static int npositions(const struct ft_mapping *m)
{
    return m->nranks + m->nchecksums;
}

static int nslots(const struct ft_mapping *m)
{
    return npositions(m) + m->nspares;
}

enum ft_status ft_mapping_init(struct ft_mapping *m, int nranks, int nchecksums, int nspares, const int *slot_of)
{
    memset(m, 0, sizeof *m);
    if (nranks < 1 || nchecksums < 0 || nspares < 0 || nranks > FT_MAX_SLOTS || nchecksums > FT_MAX_SLOTS - nranks ||
        nspares > FT_MAX_SLOTS - nranks - nchecksums)
        return FT_ERR_ARG;
    m->nranks = nranks;
    m->nchecksums = nchecksums;
    m->nspares = nspares;
    m->slot_of = malloc((size_t)npositions(m) * sizeof *m->slot_of);
    m->incarnation = calloc((size_t)npositions(m), sizeof *m->incarnation);
    m->pos_of = malloc((size_t)nslots(m) * sizeof *m->pos_of);
    if (!m->slot_of || !m->incarnation || !m->pos_of) {
        ft_mapping_finish(m);
        return FT_ERR_NOMEM;
    }
    for (int s = 0; s < nslots(m); s++)
        m->pos_of[s] = SPARE;
    for (int p = 0; p < npositions(m); p++) {
        m->slot_of[p] = slot_of ? slot_of[p] : p;
        m->pos_of[m->slot_of[p]] = p;
    }
    return FT_OK;
}

void ft_mapping_finish(struct ft_mapping *m)
{
    free(m->slot_of);
    free(m->incarnation);
    free(m->pos_of);
    memset(m, 0, sizeof *m);
}

/* ---- words ---- */

struct text {
    char *out;
    size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->out + t->len, t->size - t->len, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->len = t->len + (size_t)n < t->size ? t->len + (size_t)n : t->size - 1;
}

/* The first of many are enough: what comes behind them in the message matters more. */
#define NAMED 12

static void say_positions(struct text *t, const struct ft_mapping *m, const int *pos, int n)
{
    char name[FT_DOMAIN_NAME + 16];
    for (int i = 0; i < n && i < NAMED; i++) {
        const char *sep = i == 0 ? "" : i == n - 1 ? " and " : ", ";
        if (pos[i] < m->nranks)
            say(t, "%srank %d", sep, pos[i]);
        else
            say(t, "%schecksum process %d", sep, pos[i] - m->nranks);
        if (m->where)
            say(t, " (%s)", ft_domains_name(m->where->domains, 1, m->where->node_of[m->slot_of[pos[i]]], name, sizeof name));
    }
    if (n > NAMED)
        say(t, " and %d more", n - NAMED);
}

/* The smallest element that all of several lost ones were in: what probably failed. */
static void say_shared(struct text *t, const struct ft_mapping *m, const int *pos, int n)
{
    char name[FT_DOMAIN_NAME + 16];
    const struct ft_where *w = m->where;
    for (int k = 1; w && n > 1 && n <= NAMED && k <= w->domains->nlevels; k++) {
        int e = ft_domains_at(w->domains, w->node_of[m->slot_of[pos[0]]], k), same = 1;
        for (int i = 1; i < n; i++)
            same += ft_domains_at(w->domains, w->node_of[m->slot_of[pos[i]]], k) == e;
        if (same == n) {
            say(t, ", all of them in %s %s", w->domains->level[k].name, ft_domains_name(w->domains, k, e, name, sizeof name));
            return;
        }
    }
}

static void say_group(struct text *t, const struct ft_groups *g, int group)
{
    int n = ft_group_size(g, group);
    say(t, "group %d (checksum process%s", group, g->parity > 1 ? "es" : "");
    for (int i = 0; i < g->parity; i++)
        say(t, " %d", ft_group_checksum(g, group, i));
    say(t, ", ranks");
    for (int i = 0; i < n && i < NAMED; i++)
        say(t, " %d", ft_group_member(g, group, i));
    say(t, n > NAMED ? " ... %d of them)" : ")", n);
}

/* ---- what was lost ---- */

struct losses {
    int ndead, nranks_dead;         /* positions whose slot died now */
    int ranks_open, checksums_open; /* living, but not yet in possession of their image or codeword */
    int nspares;                    /* living spares */
};

static int is_dead(const struct ft_mapping *m, const struct ft_decision *d, int pos)
{
    return ft_bit_get(&d->failed, m->slot_of[pos]);
}

static int is_lost(const struct ft_mapping *m, const struct ft_decision *d, int pos)
{
    return is_dead(m, d, pos) || ft_bit_get(&d->data.incomplete, m->slot_of[pos]);
}

static struct losses count_losses(const struct ft_mapping *m, const struct ft_decision *d)
{
    struct losses l = {0};
    for (int p = 0; p < npositions(m); p++) {
        int rank = p < m->nranks, dead = is_dead(m, d, p), open = !dead && is_lost(m, d, p);
        l.ndead += dead;
        l.nranks_dead += dead && rank;
        l.ranks_open += open && rank;
        l.checksums_open += open && !rank;
    }
    for (int s = 0; s < nslots(m); s++)
        l.nspares += m->pos_of[s] == SPARE && !ft_bit_get(&d->failed, s);
    return l;
}

/* Dead positions, for messages: the first NAMED + 1. Returns how many there are. */
static int list_dead(const struct ft_mapping *m, const struct ft_decision *d, int ranks_only, int *pos)
{
    int n = 0;
    for (int p = 0; p < (ranks_only ? m->nranks : npositions(m)); p++)
        if (is_dead(m, d, p)) {
            if (n <= NAMED)
                pos[n] = p;
            n++;
        }
    return n;
}

/* A1: more than m of a group lost. Says so and returns 1. */
static int group_is_lost(const struct ft_mapping *m, const struct ft_groups *g, const struct ft_decision *d, struct text *t)
{
    for (int group = 0; group < g->ngroups; group++) {
        int lost[NAMED + 1], n = 0, blocks = ft_group_size(g, group) + g->parity;
        for (int i = 0; i < blocks; i++) {
            int pos = ft_group_block(g, group, i);
            if (!is_lost(m, d, pos))
                continue;
            if (n <= NAMED)
                lost[n] = pos;
            n++;
        }
        if (n <= g->parity)
            continue;
        say_group(t, g, group);
        say(t, " lost ");
        say_positions(t, m, lost, n);
        say_shared(t, m, lost, n);
        say(t, " after checkpoint %llu: with --parity %d it can rebuild %d lost member%s at a time; start with a larger --parity",
            (unsigned long long)d->data.committed, g->parity, g->parity, g->parity == 1 ? "" : "s");
        return 1;
    }
    return 0;
}

static int has_way_back(const struct ft_decision *d)
{
    return d->data.committed > 0 && !(d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED));
}

/* Whether the one lost rank, x, can repeat the one-sided communication of setup (or of what follows FTRMA_Run). */
static int phase_is_logged(const struct ft_mapping *m, const struct ft_decision *d, const struct losses *l, int x)
{
    int in_run = d->data.committed > 0 && !(d->data.flags & FT_AGREE_RUN_OVER);
    return m->local && l->nranks_dead == 1 && l->ranks_open == 0 && (in_run || !ft_bit_get(&d->data.exposed, x));
}

/* What of setup, or of what follows FTRMA_Run, is not kept; NULL: all of it is. */
static const char *unkept(uint64_t flags)
{
    static const struct {
        enum ft_unkept bit;
        const char *why;
    } table[] = {
        {FT_UNKEPT_FILE, "several ranks have opened a file together outside of FTRMA_Run, and one rank alone cannot repeat that"},
        {FT_UNKEPT_THREADS, "several threads called MPI outside of FTRMA_Run, and the order of their calls cannot be repeated"},
        {FT_UNKEPT_LIMIT, "the logs of what happened outside of FTRMA_Run went over their limit and were dropped: "
                          "start with a larger --log-limit"},
        {FT_UNKEPT_ROOM, "there was no memory for the logs of what happened outside of FTRMA_Run, and they were dropped: "
                         "let FTRMA_ARENA_DIR name a directory with more room"},
        {FT_UNKEPT_GETS, "gets outside of FTRMA_Run are not logged (--log puts), and cannot be repeated: start with --log all"},
        {FT_UNKEPT_LONG, "an epoch outside of FTRMA_Run had more accesses in it than one log record holds"},
        {FT_UNKEPT_UNDONE, "an operation outside of FTRMA_Run was undone when a process died in the middle of it, and the log still has it"},
    };
    for (size_t i = 0; i < FT_COUNTOF(table); i++)
        if (flags & FT_AGREE_UNKEPT(table[i].bit))
            return table[i].why;
    return NULL;
}

/* Why one-sided communication of setup, or of what follows FTRMA_Run, cannot be repeated by the lost rank x. */
static const char *phase_unlogged(const struct ft_mapping *m, const struct ft_decision *d, const struct losses *l,
                                  int x)
{
    if (l->nranks_dead > 1)
        return "one-sided communication was used outside of FTRMA_Run, and only one rank at a time can repeat it";
    if (l->ranks_open > 0)
        return "one-sided communication was used outside of FTRMA_Run, and the replacement of another rank was still repeating "
               "its own";
    if (!m->local && m->why_not == FT_FALLBACK_NO_LOGS)
        return "one-sided communication was used outside of FTRMA_Run, and it is not logged (--log off)";
    if (!m->local)
        return "one-sided communication was used outside of FTRMA_Run, and it is not logged (--recovery global)";
    if (ft_bit_get(&d->data.exposed, x))
        return "one-sided communication was used outside of FTRMA_Run, and part of the log of what this rank did is missing";
    return NULL;
}

static void say_no_spare(struct text *t, int needed, int left, int at_start)
{
    say(t, needed == 1 ? " was lost, and no spare is left" : " were lost, which needs %d spares, and ", needed);
    if (needed > 1)
        say(t, left == 0 ? "none is left" : left == 1 ? "1 is left" : "%d are left", left);
    say(t, ": start with --spares %d", at_start + needed - left);
}

/* 1, with a message, when the job cannot go on. */
static int cannot_go_on(const struct ft_mapping *m, const struct ft_groups *g, const struct ft_decision *d,
                        const struct losses *l, int recovery_possible, struct text *t)
{
    int pos[NAMED + 1] = {0}, n = list_dead(m, d, 1, pos);
    const char *why = NULL;
    if (g && d->data.committed > 0 && group_is_lost(m, g, d, t))
        return 1;
    if (l->nranks_dead > 0 && !recovery_possible)
        why = "this job keeps no logs that a replacement could read (--log off)";
    else if (l->nranks_dead > 0 && d->data.flags & FT_AGREE_NO_REPLAY)
        why = "the body of FTRMA_Run was entered with neither a checkpoint nor logs, so a replacement has nothing to start from";
    else if (l->nranks_dead > 0 && unkept(d->data.flags))
        why = unkept(d->data.flags);
    else if (l->nranks_dead > 0 && d->data.flags & FT_AGREE_UNPROTECTED)
        why = "FTRMA_Run has returned without its last checkpoint, which had been called off, so there is nothing to go back to";
    else if (l->nranks_dead > 0 && d->data.flags & FT_AGREE_PHASE_RMA && !phase_is_logged(m, d, l, pos[0]))
        why = phase_unlogged(m, d, l, pos[0]);
    else if (l->nranks_dead > 0 && d->data.flags & FT_AGREE_SHARED && !has_way_back(d))
        why = "it shared memory with other ranks (MPI_Win_allocate_shared), whose loads and stores cannot be logged, and there is no "
              "checkpoint to go back to";
    if (!why && l->ndead > l->nspares) {
        n = list_dead(m, d, 0, pos);
        say_positions(t, m, pos, n);
        say_no_spare(t, l->ndead, l->nspares, m->nspares);
        return 1;
    }
    if (!why)
        return 0;
    say_positions(t, m, pos, n);
    for (int i = 0, named = 0; g && i < n && i <= NAMED && named < 2; i++, named++) {
        int group = ft_group_of_position(g, pos[i]);
        say(t, named ? ", " : " of ");
        say_group(t, g, group);
    }
    say(t, " %s lost: %s", n == 1 ? "was" : "were", why);
    FT_ASSERT(t->len > 0);
    return 1;
}

/* Which of the living spares takes which of the lost positions: in their order, or such that Eq. 6 holds up to the highest level
 * that it can, down to the one that was asked for; if not even there, for as many as it can. */
static void choose_spares(const struct ft_mapping *m, const int *lost, int nlost, const int *spare, int nspares, int *taken,
                          struct ft_plan *out)
{
    struct ft_where *w = m->where;
    for (int i = 0; i < nlost; i++)
        taken[i] = i;
    if (!w || nlost == 0)
        return;
    int node_at[npositions(m)], spare_node[nspares];
    for (int p = 0; p < npositions(m); p++)
        node_at[p] = w->node_of[m->slot_of[p]];
    for (int s = 0; s < nspares; s++)
        spare_node[s] = w->node_of[spare[s]];
    int level = w->holds > w->aware ? w->holds : w->aware;
    for (; level > 0; level--) {
        out->unaware = ft_place_spares(w->domains, level, w->parity, w->group_of, node_at, npositions(m), lost, nlost, spare_node,
                                       nspares, taken, w->scratch);
        if (out->unaware == 0 || level == w->aware)
            break;
    }
    if (level == 0)
        out->unaware = 0; /* nothing was asked for */
    w->holds = out->unaware ? 0 : level < w->holds ? level : w->holds;
}

/* D4. */
static void assign(struct ft_mapping *m, const struct ft_decision *d, struct ft_plan *out)
{
    FT_ASSERT(npositions(m) > 0 && nslots(m) > 0);
    int replace = !(d->data.flags & FT_AGREE_DONE), nlost = 0, nspares = 0;
    int lost[npositions(m)], taken[npositions(m)], spare[nslots(m)];
    for (int p = 0; replace && p < npositions(m); p++)
        if (is_dead(m, d, p))
            lost[nlost++] = p;
    for (int s = 0; s < nslots(m); s++) {
        if (ft_bit_get(&d->failed, s))
            m->pos_of[s] = DEAD;
        if (m->pos_of[s] == SPARE)
            spare[nspares++] = s;
    }
    FT_ASSERT(nlost <= nspares); /* there were enough */
    choose_spares(m, lost, nlost, spare, nspares, taken, out);
    for (int i = 0; i < nlost; i++) {
        int p = lost[i], s = spare[taken[i]];
        m->slot_of[p] = s;
        m->pos_of[s] = p;
        m->incarnation[p]++;
        if (out->nreplaced < (int)FT_COUNTOF(out->replaced))
            out->replaced[out->nreplaced] = p;
        out->nreplaced++;
    }
    m->generation = d->generation;
}

/* Why a lost rank cannot go back alone; NONE: it can. */
static enum ft_fallback why_all(const struct ft_mapping *m, const struct ft_decision *d, const struct losses *l)
{
    if (!m->local)
        return (enum ft_fallback)(m->why_not ? m->why_not : FT_FALLBACK_ASKED);
    if (d->data.flags & FT_AGREE_ROLLBACK)
        return FT_FALLBACK_UNDER_WAY;
    if (l->nranks_dead > 1)
        return FT_FALLBACK_SEVERAL;
    if (d->data.flags & FT_AGREE_SHARED)
        return FT_FALLBACK_SHARED;
    for (int r = 0; r < m->nranks; r++)
        if (is_dead(m, d, r) && ft_bit_get(&d->data.exposed, r))
            return FT_FALLBACK_EXPOSED;
    return FT_FALLBACK_NONE;
}

static enum ft_plan_kind choose(const struct ft_mapping *m, const struct ft_decision *d, const struct losses *l, int *why)
{
    uint64_t flags = d->data.flags;
    int way_back = has_way_back(d);
    if (flags & FT_AGREE_DONE)
        return FT_PLAN_NOTHING;
    *why = why_all(m, d, l);
    if (way_back && (l->nranks_dead || l->ranks_open || flags & FT_AGREE_ROLLBACK) && *why != FT_FALLBACK_NONE)
        return FT_PLAN_ROLLBACK;
    *why = FT_FALLBACK_NONE;
    if (l->ndead || l->ranks_open || l->checksums_open)
        return FT_PLAN_REJOIN;
    return FT_PLAN_NOTHING;
}

void ft_plan_make(struct ft_mapping *m, const struct ft_groups *g, const struct ft_decision *d, int recovery_possible,
                  struct ft_plan *out)
{
    FT_ASSERT(d->generation == m->generation + 1);
    if (m->nchecksums == 0)
        g = NULL;
    FT_ASSERT(g ? g->nchecksums == m->nchecksums && g->nranks == m->nranks : m->nchecksums == 0);
    memset(out, 0, sizeof *out);
    struct text t = {.out = out->message, .size = sizeof out->message};
    struct losses l = count_losses(m, d);
    out->version = d->data.committed;
    if (!(d->data.flags & FT_AGREE_DONE) && cannot_go_on(m, g, d, &l, recovery_possible, &t)) {
        out->kind = FT_PLAN_LOST;
        return;
    }
    out->kind = choose(m, d, &l, &out->why);
    assign(m, d, out);
}

int ft_plan_dump(const struct ft_plan *p, char *out, int size)
{
    static const char *const name[] = {"nothing", "rejoin", "rollback", "lost"};
    struct text t = {.out = out, .size = (size_t)size};
    say(&t, "plan: %s, version %llu, replaced %d:", name[p->kind], (unsigned long long)p->version, p->nreplaced);
    for (int i = 0; i < p->nreplaced && i < (int)FT_COUNTOF(p->replaced); i++)
        say(&t, " %d", p->replaced[i]);
    if (p->kind == FT_PLAN_LOST)
        say(&t, " %s", p->message);
    return (int)t.len;
}
