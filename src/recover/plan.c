/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.c - decides who replaces whom, and what is to be done (D4, A1).
 */
#include "recover/plan.h"

#include "alog/unkept.h"
#include "base/board.h"
#include "base/join.h"
#include "proto/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPARE (-1)
#define DEAD (-2)

static int npositions(const struct ft_mapping *m) { return m->nranks + m->nchecksums; }

static int nslots(const struct ft_mapping *m) { return npositions(m) + m->nspares; }

enum ft_status ft_mapping_init(struct ft_mapping *m, int nranks, int nchecksums, int nspares,
                               const int *slot_of)
{
    memset(m, 0, sizeof *m);
    if (nranks < 1 || nchecksums < 0 || nspares < 0 || nranks > FT_MAX_SLOTS ||
        nchecksums > FT_MAX_SLOTS - nranks || nspares > FT_MAX_SLOTS - nranks - nchecksums)
        return FT_ERR_ARG;
    m->nranks = nranks;
    m->nchecksums = nchecksums;
    m->nspares = nspares;
    m->slot_of = malloc((size_t)npositions(m) * sizeof *m->slot_of);
    m->incarnation = calloc((size_t)npositions(m), sizeof *m->incarnation);
    m->pos_of = malloc((size_t)nslots(m) * sizeof *m->pos_of);
    m->fate = calloc((size_t)nranks, sizeof *m->fate);
    m->heir = calloc((size_t)npositions(m), sizeof *m->heir);
    m->home = malloc((size_t)nranks * sizeof *m->home);
    if (!m->slot_of || !m->incarnation || !m->pos_of || !m->fate || !m->heir || !m->home) {
        ft_mapping_finish(m);
        return FT_ERR_NOMEM;
    }
    for (int s = 0; s < nslots(m); s++)
        m->pos_of[s] = SPARE;
    for (int p = 0; p < npositions(m); p++) {
        m->slot_of[p] = slot_of ? slot_of[p] : p;
        m->pos_of[m->slot_of[p]] = p;
    }
    memcpy(m->home, m->slot_of, (size_t)nranks * sizeof *m->home);
    return FT_OK;
}

void ft_mapping_finish(struct ft_mapping *m)
{
    free(m->slot_of);
    free(m->incarnation);
    free(m->pos_of);
    free(m->fate);
    free(m->heir);
    free(m->home);
    memset(m, 0, sizeof *m);
}

/* ---- words ---- */

/* Of many positions the message names the first ones, since what follows matters more. */
#define NAMED 12

static void say_positions(struct ft_joined *t, const struct ft_mapping *m, const int *pos, int n)
{
    char name[FT_DOMAIN_NAME + 16];
    for (int i = 0; i < n && i < NAMED; i++) {
        const char *sep = i == 0 ? "" : i == n - 1 ? " and " : ", ";
        if (pos[i] < m->nranks)
            ft_join(t, "%srank %d", sep, pos[i]);
        else
            ft_join(t, "%schecksum process %d", sep, pos[i] - m->nranks);
        if (m->where)
            ft_join(t, " (%s)",
                    ft_domains_name(m->where->domains, 1, m->where->node_of[m->slot_of[pos[i]]],
                                    name, sizeof name));
    }
    if (n > NAMED)
        ft_join(t, " and %d more", n - NAMED);
}

/* Names the smallest failure domain that all lost positions were in, as that has probably failed.
 */
static void say_shared(struct ft_joined *t, const struct ft_mapping *m, const int *pos, int n)
{
    char name[FT_DOMAIN_NAME + 16];
    const struct ft_where *w = m->where;
    for (int k = 1; w && n > 1 && n <= NAMED && k <= w->domains->nlevels; k++) {
        int e = ft_domains_at(w->domains, w->node_of[m->slot_of[pos[0]]], k), same = 1;
        for (int i = 1; i < n; i++)
            same += ft_domains_at(w->domains, w->node_of[m->slot_of[pos[i]]], k) == e;
        if (same == n) {
            ft_join(t, ", all of them in %s %s", w->domains->level[k].name,
                    ft_domains_name(w->domains, k, e, name, sizeof name));
            return;
        }
    }
}

static void say_group(struct ft_joined *t, const struct ft_groups *g, int group)
{
    int n = ft_group_size(g, group);
    ft_join(t, "group %d (checksum process%s", group, g->parity > 1 ? "es" : "");
    for (int i = 0; i < g->parity; i++)
        ft_join(t, " %d", ft_group_checksum(g, group, i));
    ft_join(t, ", ranks");
    for (int i = 0; i < n && i < NAMED; i++)
        ft_join(t, " %d", ft_group_member(g, group, i));
    ft_join(t, n > NAMED ? " ... %d of them)" : ")", n);
}

/* ---- what was lost ---- */

struct losses {
    int ndead, nranks_dead; /* positions whose slot is newly dead */
    int ranks_open,
        checksums_open; /* those that live and do not have their image or codeword yet */
    int nspares;        /* living spares */
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
static int list_dead(const struct ft_mapping *m, const struct ft_decision *d, int ranks_only,
                     int *pos)
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

#define SUBJECT 600 /* bytes of a text that names what was lost */

/* The job cannot go on, and says why. */
#define LOST(out, id, ...)                                       \
    ((out)->kind = FT_PLAN_LOST, (out)->reason = FT_REASON_##id, \
     ft_reason_say((out)->message, sizeof(out)->message, id, ##__VA_ARGS__))

/* A1: if more than m of a group are lost, says so and returns 1. */
static int group_is_lost(const struct ft_mapping *m, const struct ft_groups *g,
                         const struct ft_decision *d, struct ft_plan *out)
{
    char named[120 + 8 * NAMED] = "", members[SUBJECT] = "";
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
        struct ft_joined who = {.out = named, .size = sizeof named};
        struct ft_joined which = {.out = members, .size = sizeof members};
        say_group(&who, g, group);
        say_positions(&which, m, lost, n);
        say_shared(&which, m, lost, n);
        LOST(out, GROUP_LOST, named, members, (unsigned long long)d->data.committed, g->parity);
        return 1;
    }
    return 0;
}

static int has_way_back(const struct ft_decision *d)
{
    return d->data.committed > 0 && !(d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED));
}

/* The program handles the loss, and survivors have a memory to keep. */
static int is_told(const struct ft_mapping *m, const struct ft_decision *d)
{
    return m->told && has_way_back(d) && !(d->data.flags & FT_AGREE_RESTARTING);
}

static int is_exposed(const struct ft_mapping *m, const struct ft_exposure *x,
                      const struct ft_decision *d, int r)
{
    return ft_exposure_of(x, d->data.committed, has_way_back(d), r, m->slot_of[r],
                          &d->data.exposers, &d->data.told) != FT_EXPOSED_NOT;
}

/* A lost rank had a shared window with others, and nobody has recorded its loads and stores there.
 */
static int had_shared(const struct ft_decision *d)
{
    return d->data.committed < d->data.shared_until;
}

#define MOST_DEATHS 3 /* deaths of a rank at one place before it is called a bug of the program */

/* If the program handles losses, all enter body again, so the others have gone on, and no rank is
 * where it was. Those that use a transport go on at any time. */
static int survivors_went_on(const struct ft_testimony *told)
{
    uint64_t at = told->position >> 56;
    return at == FT_MILE_RUN || at == FT_MILE_OVER || (told->position & FT_TESTAMENT_OPEN);
}

/* D7. A rank that dies again and again at one place has a bug. One that came beyond that place has
 * not: a program without safepoints is at one milestone all the time. */
static int dies_again(const struct ft_mapping *m, const struct ft_decision *d, struct ft_plan *out)
{
    for (int r = 0; m->fate && r < m->nranks; r++) {
        const struct ft_testimony *told = ft_testimony_of(&d->data.told, m->slot_of[r]);
        struct ft_fate *f = &m->fate[r];
        if (!is_dead(m, d, r) || !told)
            continue;
        int beyond = told->position != f->position || told->calls > f->calls;
        f->deaths = beyond ? 1 : f->deaths + 1;
        f->position = told->position;
        f->calls = told->calls;
        f->most_calls = ft_max_u64(f->most_calls, told->calls);
        if (f->deaths < MOST_DEATHS || (m->told && survivors_went_on(told)))
            continue;
        LOST(out, SAME_PLACE, r, MOST_DEATHS,
             f->position >> 56 == FT_MILE_SETUP ? "in setup"
             : f->position >> 56 == FT_MILE_RUN ? "in body"
                                                : "after body",
             (unsigned long long)(f->position & 0xffffffffffffffull), (unsigned long long)f->calls);
        return 1;
    }
    return 0;
}

/* Whether the one lost rank, r, can repeat the one-sided communication of setup (or of what follows
 * FTRMA_Run). */
static int phase_is_logged(const struct ft_mapping *m, const struct ft_exposure *x,
                           const struct ft_decision *d, const struct losses *l, int r)
{
    int in_run = d->data.committed > 0 && !(d->data.flags & FT_AGREE_RUN_OVER);
    return m->local && l->nranks_dead == 1 && l->ranks_open == 0 &&
           (in_run || !is_exposed(m, x, d, r));
}

/* Why not all that happened in setup, or after FTRMA_Run, is kept; NONE: it is. */
static enum ft_reason unkept(uint64_t flags)
{
    static const struct {
        enum ft_unkept bit;
        enum ft_reason reason;
    } table[] = {
        {FT_UNKEPT_NODES, FT_REASON_OUTSIDE_NODES}, /* logs are dropped then, for want of use */
        {FT_UNKEPT_FILE, FT_REASON_OUTSIDE_FILE},
        {FT_UNKEPT_THREADS, FT_REASON_OUTSIDE_THREADS},
        {FT_UNKEPT_LIMIT, FT_REASON_OUTSIDE_LIMIT},
        {FT_UNKEPT_ROOM, FT_REASON_OUTSIDE_ROOM},
        {FT_UNKEPT_GETS, FT_REASON_OUTSIDE_GETS},
        {FT_UNKEPT_LONG, FT_REASON_OUTSIDE_LONG},
        {FT_UNKEPT_UNDONE, FT_REASON_OUTSIDE_UNDONE},
    };
    for (size_t i = 0; i < FT_COUNTOF(table); i++)
        if (flags & FT_AGREE_UNKEPT(table[i].bit))
            return table[i].reason;
    return FT_REASON_NONE;
}

/* Why one-sided communication of setup, or of what follows FTRMA_Run, cannot be repeated by the
 * lost rank r. */
static enum ft_reason phase_unlogged(const struct ft_mapping *m, const struct ft_exposure *x,
                                     const struct ft_decision *d, const struct losses *l, int r)
{
    if (l->nranks_dead > 1)
        return FT_REASON_OUTSIDE_SEVERAL;
    if (l->ranks_open > 0)
        return FT_REASON_OUTSIDE_REPEATING;
    if (!m->local)
        return m->why_not == FT_FALLBACK_NO_LOGS ? FT_REASON_OUTSIDE_LOG_OFF
                                                 : FT_REASON_OUTSIDE_GLOBAL;
    return is_exposed(m, x, d, r) ? FT_REASON_OUTSIDE_PART : FT_REASON_NONE;
}

/* Why no replacement of the lost ranks can start; NONE: it can. r: one of these ranks. */
static enum ft_reason why_no_start(const struct ft_mapping *m, const struct ft_exposure *x,
                                   const struct ft_decision *d, const struct losses *l,
                                   int recovery_possible, int r)
{
    uint64_t flags = d->data.flags;
    if (l->nranks_dead == 0)
        return FT_REASON_NONE;
    if (!recovery_possible)
        return FT_REASON_NO_LOGS;
    if (flags & FT_AGREE_NO_REPLAY)
        return FT_REASON_NO_START;
    if (unkept(flags))
        return unkept(flags);
    if (flags & FT_AGREE_UNPROTECTED)
        return FT_REASON_LOST_EXIT_IMAGE;
    if (flags & FT_AGREE_PHASE_RMA && !phase_is_logged(m, x, d, l, r))
        return phase_unlogged(m, x, d, l, r);
    if (had_shared(d) && !has_way_back(d))
        return FT_REASON_SHARED_WINDOW;
    return FT_REASON_NONE;
}

/* A node was lost, and with it what a rank would need to go back alone: its home log, and what
 * others had submitted to it. [A rank's replacement replays while its home log is still on the lost
 * node.] */
static int node_takes_back(const struct ft_decision *d, const struct losses *l)
{
    return d->data.flags & FT_AGREE_NODE &&
           (l->nranks_dead || l->ranks_open || d->data.flags & FT_AGREE_REPLAYING);
}

static int node_is_the_end(const struct ft_mapping *m, const struct ft_decision *d,
                           const struct losses *l, struct ft_plan *out)
{
    char subject[SUBJECT] = "none of its processes carried a rank";
    struct ft_joined t = {.out = subject, .size = sizeof subject};
    int pos[NAMED + 1] = {0}, n = list_dead(m, d, 1, pos);
    if (!node_takes_back(d, l) || has_way_back(d))
        return 0;
    say_positions(&t, m, pos, n);
    LOST(out, NODE_LOST, subject);
    return 1;
}

/* Writes the message of a reason that names only who was lost. */
static void lost_by(struct ft_plan *out, enum ft_reason reason, const char *who)
{
    switch (reason) {
#define CASE(id) \
    case FT_REASON_##id: LOST(out, id, who); break
        CASE(NO_LOGS);
        CASE(NO_START);
        CASE(LOST_EXIT_IMAGE);
        CASE(OUTSIDE_FILE);
        CASE(OUTSIDE_THREADS);
        CASE(OUTSIDE_LIMIT);
        CASE(OUTSIDE_ROOM);
        CASE(OUTSIDE_GETS);
        CASE(OUTSIDE_LONG);
        CASE(OUTSIDE_UNDONE);
        CASE(OUTSIDE_NODES);
        CASE(OUTSIDE_SEVERAL);
        CASE(OUTSIDE_REPEATING);
        CASE(OUTSIDE_LOG_OFF);
        CASE(OUTSIDE_GLOBAL);
        CASE(OUTSIDE_PART);
        CASE(SHARED_WINDOW);
#undef CASE
    default: FT_ASSERT(!"no reason of a plan");
    }
}

/* Returns 1, with the reason and a message, if the job cannot go on. */
static int cannot_go_on(const struct ft_mapping *m, const struct ft_exposure *x,
                        const struct ft_groups *g, const struct ft_decision *d,
                        const struct losses *l, int recovery_possible, struct ft_plan *out)
{
    char subject[SUBJECT] = "";
    struct ft_joined t = {.out = subject, .size = sizeof subject - sizeof " were"};
    int pos[NAMED + 1] = {0}, n = list_dead(m, d, 1, pos);
    if (dies_again(m, d, out))
        return 1;
    if (l->nranks_dead > 0 && d->data.flags & FT_AGREE_FILES) {
        LOST(out, FILE_OPEN, pos[0]);
        return 1;
    }
    if (g && d->data.committed > 0 && !is_told(m, d) && group_is_lost(m, g, d, out))
        return 1;
    if (node_is_the_end(m, d, l, out))
        return 1;
    enum ft_reason why = why_no_start(m, x, d, l, recovery_possible, pos[0]);
    if (!why && l->ndead <= l->nspares)
        return 0;
    if (!why)
        n = list_dead(m, d, 0, pos);
    say_positions(&t, m, pos, n);
    for (int i = 0, named = 0; why && g && i < n && i <= NAMED && named < 2; i++, named++) {
        int group = ft_group_of_position(g, pos[i]);
        ft_join(&t, named ? ", " : " of ");
        say_group(&t, g, group);
    }
    t.size = sizeof subject;
    ft_join(&t, " %s", n == 1 ? "was" : "were");
    if (why)
        lost_by(out, why, subject);
    else
        LOST(out, NO_SPARE, subject, l->ndead, l->nspares, m->nspares + l->ndead - l->nspares);
    return 1;
}

/* Chooses which living spare takes which lost position. They are taken in their order, or such that
 * Eq. 6 holds up to the highest possible level, at least the one that was asked for. If that is not
 * possible, it holds for as many positions as possible. */
static void choose_spares(const struct ft_mapping *m, const int *lost, int nlost, const int *spare,
                          int nspares, int *taken, struct ft_plan *out)
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
        out->unaware =
            ft_place_spares(w->domains, level, w->parity, w->group_of, node_at, npositions(m), lost,
                            nlost, spare_node, nspares, taken, w->scratch);
        if (out->unaware == 0 || level == w->aware)
            break;
    }
    if (level == 0)
        out->unaware = 0; /* no level was asked for */
    w->holds = out->unaware ? 0 : level < w->holds ? level : w->holds;
}

/* R12. The home log of a lost rank is on the node of its last carrier, unless that one was a
 * replacement that had not fetched it yet. */
static void note_homes(struct ft_mapping *m, const struct ft_decision *d)
{
    for (int r = 0; r < m->nranks; r++) {
        const struct ft_testimony *t = ft_testimony_of(&d->data.told, m->slot_of[r]);
        if (is_dead(m, d, r) && (!t || t->log_here))
            m->home[r] = m->slot_of[r];
    }
}

/* The rank that is lost alone, and whose replacement should be where its home log is; -1: none. */
static int stays(const struct ft_mapping *m, const struct ft_decision *d)
{
    int lost = -1, n = 0;
    for (int r = 0; m->local == FT_LOCAL_ON_NODE && m->where && r < m->nranks; r++)
        if (is_dead(m, d, r)) {
            lost = r;
            n++;
        }
    return n == 1 ? lost : -1;
}

/* The first living spare on the node of a slot; -1: there is none. */
static int spare_there(const struct ft_mapping *m, const struct ft_decision *d, int slot)
{
    for (int s = 0; s < nslots(m); s++)
        if (m->pos_of[s] == SPARE && !ft_bit_get(&d->failed, s) &&
            m->where->node_of[s] == m->where->node_of[slot])
            return s;
    return -1;
}

static void give(struct ft_mapping *m, int pos, int spare, struct ft_plan *out)
{
    m->slot_of[pos] = spare;
    m->pos_of[spare] = pos;
    m->incarnation[pos]++;
    if (out->nreplaced < (int)FT_COUNTOF(out->replaced))
        out->replaced[out->nreplaced] = pos;
    out->nreplaced++;
}

/* D4. */
static void assign(struct ft_mapping *m, const struct ft_decision *d, struct ft_plan *out)
{
    FT_ASSERT(npositions(m) > 0 && nslots(m) > 0);
    int replace = !(d->data.flags & FT_AGREE_DONE), nlost = 0, nspares = 0;
    int lost[npositions(m)], taken[npositions(m)], spare[nslots(m)];
    int stay = stays(m, d), at = replace && stay >= 0 ? spare_there(m, d, m->home[stay]) : -1;
    for (int p = 0; replace && p < npositions(m); p++)
        if (is_dead(m, d, p) && (at < 0 || p != stay))
            lost[nlost++] = p;
    for (int s = 0; s < nslots(m); s++)
        if (ft_bit_get(&d->failed, s))
            m->pos_of[s] = DEAD;
    if (at >= 0)
        give(m, stay, at, out);
    for (int s = 0; s < nslots(m); s++)
        if (m->pos_of[s] == SPARE)
            spare[nspares++] = s;
    FT_ASSERT(nlost <= nspares); /* there were enough */
    choose_spares(m, lost, nlost, spare, nspares, taken, out);
    for (int i = 0; i < nlost; i++)
        give(m, lost[i], spare[taken[i]], out);
    m->generation = d->generation;
}

/* Why a lost rank cannot go back alone; NONE: it can. */
static enum ft_fallback why_all(const struct ft_mapping *m, const struct ft_exposure *x,
                                const struct ft_decision *d, const struct losses *l)
{
    if (!m->local)
        return (enum ft_fallback)(m->why_not ? m->why_not : FT_FALLBACK_ASKED);
    if (d->data.flags & FT_AGREE_ROLLBACK)
        return FT_FALLBACK_UNDER_WAY;
    if (node_takes_back(d, l))
        return FT_FALLBACK_NODE;
    if (l->nranks_dead > 1)
        return FT_FALLBACK_SEVERAL;
    if (had_shared(d))
        return FT_FALLBACK_SHARED;
    for (int r = 0; r < m->nranks; r++)
        if (is_dead(m, d, r) && is_exposed(m, x, d, r))
            return FT_FALLBACK_EXPOSED;
    return FT_FALLBACK_NONE;
}

static enum ft_plan_kind choose(const struct ft_mapping *m, const struct ft_exposure *x,
                                const struct ft_decision *d, const struct losses *l, int *why)
{
    uint64_t flags = d->data.flags;
    int way_back = has_way_back(d);
    if (flags & FT_AGREE_DONE)
        return FT_PLAN_NOTHING;
    *why = why_all(m, x, d, l);
    if (way_back &&
        (l->nranks_dead || l->ranks_open || flags & FT_AGREE_ROLLBACK || node_takes_back(d, l)) &&
        *why != FT_FALLBACK_NONE)
        return FT_PLAN_ROLLBACK;
    *why = FT_FALLBACK_NONE;
    if (l->ndead || l->ranks_open || l->checksums_open)
        return FT_PLAN_REJOIN;
    return FT_PLAN_NOTHING;
}

/* Notes whom the losses of this decision expose. m is the old mapping. */
static void note_losses(const struct ft_mapping *m, struct ft_exposure *x,
                        const struct ft_decision *d, enum ft_plan_kind kind)
{
    if (kind == FT_PLAN_ROLLBACK ||
        !has_way_back(d)) { /* without a way back, logs are kept for ever */
        ft_exposure_clear(x);
        return;
    }
    for (int r = 0; kind == FT_PLAN_REJOIN && r < m->nranks; r++)
        if (is_dead(m, d, r))
            ft_exposure_lost(x, d->generation, d->data.committed, r,
                             ft_testimony_of(&d->data.told, m->slot_of[r]));
}

/* Notes which blocks of the committed version cannot be made any more, because more than its parity
 * of a group are lost. Blocks that were lost for good before count, too. */
static void note_lacks(const struct ft_mapping *m, const struct ft_groups *g,
                       const struct ft_decision *d)
{
    uint64_t v = d->data.committed;
    for (int group = 0; g && group < g->ngroups; group++) {
        int lost = 0, blocks = ft_group_size(g, group) + g->parity;
        for (int i = 0; i < blocks; i++) {
            int pos = ft_group_block(g, group, i);
            lost += is_lost(m, d, pos) || m->heir[pos].lacks == v;
        }
        for (int i = 0; lost > g->parity && i < blocks; i++) {
            int pos = ft_group_block(g, group, i);
            if (is_lost(m, d, pos))
                m->heir[pos].lacks = v;
        }
    }
}

/* G5. Notes which ranks are new, and which images they have. Until all have come to a safepoint
 * again, a rank that was new stays new. m is the old mapping. */
static void note_heirs(const struct ft_mapping *m, const struct ft_groups *g,
                       const struct ft_decision *d, struct ft_plan *out)
{
    int again = (out->told || out->kind != FT_PLAN_ROLLBACK) &&
                d->data.flags & (FT_AGREE_ROLLBACK | FT_AGREE_REPAIRING);
    if (!m->told)
        return;
    if (is_told(m, d))
        note_lacks(m, g, d);
    for (int r = 0; r < m->nranks; r++) {
        struct ft_heir *a = &m->heir[r];
        a->is_new = (again && a->is_new) || (out->told && is_dead(m, d, r));
        a->version = a->is_new && a->lacks != d->data.committed ? d->data.committed : 0;
        out->nnew += a->is_new != 0;
        out->nbare += a->is_new && !a->version;
    }
}

void ft_plan_all_went_back(struct ft_mapping *m, struct ft_exposure *x)
{
    for (int r = 0; m->fate && r < m->nranks; r++)
        m->fate[r].most_calls = 0;
    ft_exposure_clear(x);
}

void ft_plan_make(struct ft_mapping *m, struct ft_exposure *x, const struct ft_groups *g,
                  const struct ft_decision *d, int recovery_possible, struct ft_plan *out)
{
    FT_ASSERT(d->generation == m->generation + 1);
    if (m->nchecksums == 0)
        g = NULL;
    FT_ASSERT(g ? g->nchecksums == m->nchecksums && g->nranks == m->nranks : m->nchecksums == 0);
    memset(out, 0, sizeof *out);
    struct losses l = count_losses(m, d);
    out->version = d->data.committed;
    /* A job that is done does not have to survive losses any more. */
    if (!(d->data.flags & FT_AGREE_DONE) && cannot_go_on(m, x, g, d, &l, recovery_possible, out))
        return;
    out->kind = choose(m, x, d, &l, &out->why);
    out->told = out->kind == FT_PLAN_ROLLBACK && is_told(m, d);
    note_losses(m, x, d, out->kind);
    note_heirs(m, g, d, out);
    note_homes(m, d);
    assign(m, d, out);
}

int ft_plan_dump(const struct ft_plan *p, char *out, int size)
{
    static const char *const name[] = {"nothing", "rejoin", "rollback", "lost"};
    struct ft_joined t = {.out = out, .size = (size_t)size};
    ft_join(&t, "plan: %s, version %llu, replaced %d:", name[p->kind],
            (unsigned long long)p->version, p->nreplaced);
    for (int i = 0; i < p->nreplaced && i < (int)FT_COUNTOF(p->replaced); i++)
        ft_join(&t, " %d", p->replaced[i]);
    if (p->kind == FT_PLAN_LOST)
        ft_join(&t, " %s", p->message);
    return (int)t.len;
}
