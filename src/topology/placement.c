/* SPDX-License-Identifier: BSD-3-Clause
 *
 * placement.c - deals processes out to groups (Eq. 6).
 */
#include "topology/placement.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/groups.h"
#include "topology/refuse.h"

void ft_placement_finish(struct ft_placement *p)
{
    free(p->slot_of);
    free(p->pos_of);
    free(p->group_of);
    memset(p, 0, sizeof *p);
}

static const char *level_name(const struct ft_domains *d, int level)
{
    return level > 0 ? d->level[level].name : "none";
}

/* Counts the processes in each element of a level; NULL: no memory. */
static int *count_at(const struct ft_domains *d, const int *node_of, int n, int level)
{
    int *count = calloc((size_t)d->level[level].count, sizeof *count);
    for (int p = 0; count && p < n; p++)
        count[ft_domains_at(d, node_of[p], level)]++;
    return count;
}

/* The number of members that all elements of a level can take together, with at most m of each
 * group in one element. -1: no memory. */
static int64_t capacity(const struct ft_domains *d, const int *node_of, int n, int level,
                        int ngroups, int parity)
{
    int64_t all = 0, most = (int64_t)ngroups * parity;
    int *count = count_at(d, node_of, n, level);
    if (!count)
        return -1;
    for (int e = 0; e < d->level[level].count; e++)
        all += count[e] < most ? count[e] : most;
    free(count);
    return all;
}

static enum ft_status check_ask(const struct ft_domains *d, int n, const struct ft_place_ask *a,
                                char *why, size_t size)
{
    int nlevels = d ? d->nlevels : 0;
    enum ft_status st = ft_groups_check(a->nranks, a->nchecksums, a->parity, why, size);
    if (st != FT_OK)
        return st;
    if (n - a->nchecksums < a->nranks)
        return ft_refuse(why, size,
                         "%d processes are too few for %d ranks and %d checksum processes", n,
                         a->nranks, a->nchecksums);
    if (a->aware < FT_AWARE_BEST || a->aware > nlevels)
        return ft_refuse(why, size, "there is no level %d: the levels are 1 to %d", a->aware,
                         nlevels);
    return FT_OK;
}

/* Finds the highest level at which a placement is possible. FT_ERR_ARG with why when that is not
 * enough. */
static enum ft_status find_level(const struct ft_domains *d, const int *node_of, int n,
                                 const struct ft_place_ask *a, int *best, char *why, size_t size)
{
    int64_t need = (int64_t)a->nranks + a->nchecksums, room = 0, wanted_room = 0;
    int ngroups = a->nchecksums / a->parity, level = d ? d->nlevels : 0;
    for (; level > 0; level--) { /* what holds at a level holds below it */
        room = capacity(d, node_of, n, level, ngroups, a->parity);
        if (room < 0)
            return FT_ERR_NOMEM;
        if (level == a->aware)
            wanted_room = room;
        if (room >= need)
            break;
    }
    *best = level;
    if (level >= a->aware)
        return FT_OK;
    return ft_refuse(why, size,
                     "no placement is aware of level %s: with no more than %d of each of %d groups "
                     "in one %s, the %d of them take %lld "
                     "of %lld ranks and checksum processes. The best level that is possible is %s",
                     level_name(d, a->aware), a->parity, ngroups, level_name(d, a->aware),
                     d->level[a->aware].count, (long long)wanted_room, (long long)need,
                     level_name(d, level));
}

/* Sorts the processes by node into order[]: a counting sort. */
static enum ft_status order_of_nodes(const struct ft_domains *d, const int *node_of, int n,
                                     int *order)
{
    int *at = calloc((size_t)d->level[1].count + 1, sizeof *at);
    if (!at)
        return FT_ERR_NOMEM;
    for (int p = 0; p < n; p++)
        at[node_of[p] + 1]++;
    for (int e = 1; e < d->level[1].count; e++)
        at[e] += at[e - 1];
    for (int p = 0; p < n; p++)
        order[at[node_of[p]]++] = p;
    free(at);
    return FT_OK;
}

/* Moves the processes that get positions to the front of order[n]: at most `most` from an element,
 * the first ones. */
static void choose(const struct ft_domains *d, const int *node_of, int level, int64_t most,
                   int *order, int n, int npositions)
{
    int taken = 0, element = -1, kept = 0;
    for (int i = 0; i < n && kept < npositions; i++) {
        int e = level > 0 ? ft_domains_at(d, node_of[order[i]], level) : -1;
        taken = e == element ? taken + 1 : 1;
        element = e;
        if (level == 0 || taken <= most)
            order[kept++] = order[i];
    }
    FT_ASSERT(kept == npositions); /* find_level has counted them */
}

/* Assigns positions to the chosen processes: the last m of each group in the order are its checksum
 * processes. Without levels this order has no advantage, and a process keeps its number. */
static void give_positions(const int *order, int dealt, const struct ft_place_ask *a,
                           struct ft_placement *out)
{
    int g = out->ngroups, rank = 0;
    for (int i = 0; !dealt && i < out->npositions; i++) {
        out->slot_of[i] = i;
        out->group_of[i] = i < a->nranks ? i % g : (i - a->nranks) / a->parity;
    }
    for (int i = 0; !dealt && i < out->nprocesses; i++)
        out->pos_of[i] = i < out->npositions ? i : -1;
    if (!dealt)
        return;
    for (int i = 0; i < out->nprocesses; i++)
        out->pos_of[i] = -1;
    for (int i = 0; i < out->npositions; i++)
        out->pos_of[order[i]] = i % g; /* its group, for now */
    for (int i = a->nranks; i < out->npositions; i++) {
        /* The last nchecksums of the order are m rounds of the groups. */
        int group = i % g, pos = a->nranks + group * a->parity + (i - a->nranks) / g;
        out->slot_of[pos] = order[i];
        out->group_of[pos] = group;
        out->pos_of[order[i]] = -1;
    }
    for (int p = 0; p < out->nprocesses; p++)
        if (out->pos_of[p] >= 0) {
            out->group_of[rank] = out->pos_of[p];
            out->slot_of[rank++] = p;
        }
    for (int i = 0; i < out->npositions; i++)
        out->pos_of[out->slot_of[i]] = i;
    FT_ASSERT(rank == a->nranks);
}

enum ft_status ft_place(const struct ft_domains *d, const int *node_of, int n,
                        const struct ft_place_ask *ask, struct ft_placement *out, char *why,
                        size_t size)
{
    int best = 0;
    enum ft_status st = check_ask(d, n, ask, why, size);
    if (st == FT_OK)
        st = find_level(d, node_of, n, ask, &best, why, size);
    if (st != FT_OK)
        return st;
    struct ft_placement p = {.nprocesses = n,
                             .npositions = ask->nranks + ask->nchecksums,
                             .ngroups = ask->nchecksums / ask->parity,
                             .parity = ask->parity};
    int *order = malloc((size_t)n * sizeof *order);
    p.slot_of = malloc((size_t)p.npositions * sizeof *p.slot_of);
    p.group_of = malloc((size_t)p.npositions * sizeof *p.group_of);
    p.pos_of = malloc((size_t)n * sizeof *p.pos_of);
    st = order && p.slot_of && p.group_of && p.pos_of ? FT_OK : FT_ERR_NOMEM;
    for (int i = 0; st == FT_OK && !d && i < n; i++)
        order[i] = i;
    if (st == FT_OK && d)
        st = order_of_nodes(d, node_of, n, order);
    if (st == FT_OK) {
        choose(d, node_of, ask->aware == FT_AWARE_BEST ? best : ask->aware,
               (int64_t)p.ngroups * p.parity, order, n, p.npositions);
        give_positions(order, d != NULL, ask, &p);
        for (int i = 0; i < p.npositions; i++)
            order[i] = d ? node_of[p.slot_of[i]] : 0;
        p.aware = d ? ft_place_aware(d, order, p.group_of, p.npositions, p.ngroups, p.parity) : 0;
        st = p.aware < 0 ? FT_ERR_NOMEM : FT_OK;
        FT_ASSERT(st != FT_OK || p.aware >= ask->aware);
    }
    if (st == FT_OK)
        *out = p;
    else
        ft_placement_finish(&p);
    free(order);
    return st;
}

int ft_place_aware(const struct ft_domains *d, const int *node_at, const int *group_of,
                   int npositions, int ngroups, int parity)
{
    int *order = malloc((size_t)npositions * sizeof *order),
        *seen = malloc(2 * (size_t)ngroups * sizeof *seen), level = 0;
    if (!order || !seen || order_of_nodes(d, node_at, npositions, order) != FT_OK)
        level = -1;
    for (int good = level >= 0; good && level < d->nlevels; level += good) {
        for (int g = 0; g < ngroups; g++)
            seen[2 * g] = -1;
        for (int i = 0; i < npositions && good;
             i++) { /* elements are runs: remember the last one of each group, and its count */
            int e = ft_domains_at(d, node_at[order[i]], level + 1),
                *s = &seen[2 * group_of[order[i]]];
            s[1] = s[0] == e ? s[1] + 1 : 1;
            s[0] = e;
            good = s[1] <= parity;
        }
    }
    free(order);
    free(seen);
    return level;
}
