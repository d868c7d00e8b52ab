/* SPDX-License-Identifier: BSD-3-Clause
 *
 * node_spread.c - places a job on nodes that are cut for it: numbers first, then groups by a flow.
 *
 *   node e --(m less the group's checksum processes there)--> group g --(its size)-->
 */
#include "topology/node_spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/groups.h"

static int total(const struct ft_spread_node *n) { return n->ranks + n->checksums + n->spares; }

static struct ft_spread_node *emptiest(struct ft_spread_node *node, int n)
{
    int best = 0;
    for (int e = 1; e < n; e++)
        if (total(&node[e]) < total(&node[best]))
            best = e;
    return &node[best];
}

void ft_spread_counts(const struct ft_spread_ask *a, struct ft_spread_node *node)
{
    for (int e = 0; e < a->nnodes; e++)
        node[e] = (struct ft_spread_node){.ranks = (int)((int64_t)a->nranks * (e + 1) / a->nnodes -
                                                         (int64_t)a->nranks * e / a->nnodes)};
    for (int c = 0; c < a->nchecksums; c++)
        emptiest(node, a->nnodes)->checksums++;
    for (int s = 0; s < a->nspares; s++)
        emptiest(node, a->nnodes)->spares++;
}

/* ---- groups ---- */

/* Ranks of each node in each group. */
struct spread_flow {
    int nnodes, ngroups;
    int *ranks, *checksums;              /* [nnodes * ngroups] */
    int most;                            /* of a group on one node */
    int *size;                           /* [ngroups]: ranks so far */
    int *from_node, *from_group, *queue; /* of the search: the predecessor of a group, of a node */
};

/* Gives one more rank of node e a group that has fewer than `size` ranks; moves others where
 * necessary. 0: there is no way. */
static int add_rank(struct spread_flow *f, int e, int size)
{
    int head = 0, tail = 0, ng = f->ngroups;
    memset(f->from_node, 0xff, (size_t)ng * sizeof *f->from_node);
    memset(f->from_group, 0xff, (size_t)f->nnodes * sizeof *f->from_group);
    for (f->queue[tail++] = e; head < tail; head++) {
        int from = f->queue[head];
        for (int g = 0; g < ng; g++) {
            int at = from * ng + g;
            if (f->from_node[g] >= 0 || f->ranks[at] + f->checksums[at] >= f->most)
                continue;
            f->from_node[g] = from;
            if (f->size[g] < size) {
                f->size[g]++;
                for (int who = from;; g = f->from_group[who], who = f->from_node[g]) { /* back */
                    f->ranks[who * ng + g]++;
                    if (who == e)
                        return 1;
                    f->ranks[who * ng + f->from_group[who]]--;
                }
            }
            for (int k = 0; k < f->nnodes; k++) /* it is full: a rank of another node could leave */
                if (k != e && f->from_group[k] < 0 && f->ranks[k * ng + g] > 0) {
                    f->from_group[k] = g;
                    f->queue[tail++] = k;
                }
        }
    }
    return 0;
}

/* Groups of equal size, or one more, with at most f->most members on a node. 0: impossible. */
static int deal(struct spread_flow *f, const struct ft_spread_ask *a,
                const struct ft_spread_node *node)
{
    int least = a->nranks / f->ngroups, left[a->nnodes], dealt = 0;
    memset(f->ranks, 0, (size_t)f->nnodes * (size_t)f->ngroups * sizeof *f->ranks);
    memset(f->size, 0, (size_t)f->ngroups * sizeof *f->size);
    for (int i = 0; i < f->nnodes * f->ngroups; i++)
        if (f->checksums[i] > f->most)
            return 0;
    for (int e = 0; e < a->nnodes; e++)
        left[e] = node[e].ranks;
    for (int size = least; size <= least + 1; size++) {
        for (int e = 0; e < a->nnodes; e++)
            for (; left[e] > 0 && add_rank(f, e, size); left[e]--)
                dealt++;
        if (size == least && dealt < least * f->ngroups)
            return 0;
    }
    return dealt == a->nranks;
}

static void write_positions(const struct spread_flow *f, const struct ft_spread_ask *a,
                            const struct ft_spread_node *node, struct ft_placement *p)
{
    int slot = 0, rank = 0, given[f->ngroups];
    memset(given, 0, sizeof given);
    for (int e = 0; e < f->nnodes; e++) {
        for (int g = 0; g < f->ngroups; g++)
            for (int k = f->ranks[e * f->ngroups + g]; k > 0; k--) {
                p->slot_of[rank] = slot;
                p->group_of[rank] = g;
                p->pos_of[slot++] = rank++;
            }
        for (int g = 0; g < f->ngroups; g++)
            for (int k = f->checksums[e * f->ngroups + g]; k > 0; k--) {
                int pos = a->nranks + g * a->parity + given[g]++;
                p->slot_of[pos] = slot;
                p->group_of[pos] = g;
                p->pos_of[slot++] = pos;
            }
        for (int k = node[e].spares; k > 0; k--)
            p->pos_of[slot++] = -1;
    }
    FT_ASSERT(slot == p->nprocesses && rank == a->nranks);
}

/* Checksum processes are dealt out to groups in turn, in the order of their nodes. */
static void deal_checksums(struct spread_flow *f, const struct ft_spread_node *node)
{
    for (int e = 0, g = 0; e < f->nnodes; e++)
        for (int k = node[e].checksums; k > 0; k--, g = (g + 1) % f->ngroups)
            f->checksums[e * f->ngroups + g]++;
}

/* Without checksum processes there are no groups. */
static void write_ranks(const struct ft_spread_ask *a, const struct ft_spread_node *node,
                        struct ft_placement *p)
{
    int slot = 0, rank = 0;
    for (int e = 0; e < a->nnodes; e++) {
        for (int k = node[e].ranks; k > 0; k--) {
            p->slot_of[rank] = slot;
            p->group_of[rank] = -1;
            p->pos_of[slot++] = rank++;
        }
        for (int k = node[e].spares; k > 0; k--)
            p->pos_of[slot++] = -1;
    }
    FT_ASSERT(slot == p->nprocesses && rank == a->nranks);
}

enum ft_status ft_spread(const struct ft_spread_ask *a, struct ft_placement *out)
{
    FT_ASSERT(a->nnodes > 0);
    size_t nn = (size_t)a->nnodes, ng = (size_t)(a->nchecksums / a->parity), cells = nn * ng;
    struct ft_placement p = {.nprocesses = a->nranks + a->nchecksums + a->nspares,
                             .npositions = a->nranks + a->nchecksums,
                             .ngroups = (int)ng,
                             .parity = a->parity};
    struct ft_spread_node *node = malloc(nn * sizeof *node);
    int *room = calloc(2 * cells + 2 * ng + 2 * nn, sizeof *room);
    p.slot_of = malloc((size_t)p.npositions * sizeof *p.slot_of);
    p.group_of = malloc((size_t)p.npositions * sizeof *p.group_of);
    p.pos_of = malloc((size_t)p.nprocesses * sizeof *p.pos_of);
    if (!node || !room || !p.slot_of || !p.group_of || !p.pos_of) {
        free(node);
        free(room);
        ft_placement_finish(&p);
        return FT_ERR_NOMEM;
    }
    struct spread_flow f = {.nnodes = a->nnodes,
                            .ngroups = (int)ng,
                            .most = a->parity,
                            .ranks = room,
                            .checksums = room + cells,
                            .size = room + 2 * cells,
                            .from_node = room + 2 * cells + ng,
                            .from_group = room + 2 * cells + 2 * ng,
                            .queue = room + 2 * cells + 2 * ng + nn};
    ft_spread_counts(a, node);
    if (ng == 0) {
        write_ranks(a, node, &p);
    } else {
        deal_checksums(&f, node);
        while (!deal(&f, a, node))
            f.most++;
        write_positions(&f, a, node, &p);
        p.aware = f.most == a->parity;
    }
    free(node);
    free(room);
    *out = p;
    return FT_OK;
}

/* ---- what the loss of a node would end ---- */

static void find_gap(const struct ft_spread_ask *a, const struct ft_placement *p,
                     const struct ft_spread_node *node, int e, int from, struct ft_spread_gap *gap)
{
    *gap = (struct ft_spread_gap){.node = e, .carries = node[e].ranks + node[e].checksums};
    gap->spares = a->nspares - node[e].spares;
    if (!p && !a->plain) {
        gap->why = FT_SPREAD_NO_CHECKSUMS;
        return;
    }
    int end = from + gap->carries;
    for (int s = from; p && s < end; s++) {
        int members = 0, group = p->group_of[p->pos_of[s]];
        for (int k = from; k < end; k++)
            members += p->group_of[p->pos_of[k]] == group;
        if (members > gap->members) {
            gap->members = members;
            gap->group = group;
        }
    }
    if (gap->members > a->parity)
        gap->why = FT_SPREAD_GROUP;
    else if (gap->carries > gap->spares)
        gap->why = FT_SPREAD_SPARES;
}

void ft_spread_gap(const struct ft_spread_ask *a, const struct ft_placement *p,
                   struct ft_spread_gap *gap)
{
    struct ft_spread_node node[a->nnodes];
    struct ft_spread_gap first = {.why = FT_SPREAD_SURVIVED}, one;
    ft_spread_counts(a, node);
    for (int e = 0, from = 0, nodes = 0; e < a->nnodes; from += total(&node[e++])) {
        find_gap(a, p, node, e, from, &one);
        nodes += one.why != FT_SPREAD_SURVIVED;
        if (first.why == FT_SPREAD_SURVIVED)
            first = one;
        first.nodes = nodes;
    }
    *gap = first;
}

int ft_spread_spares(const struct ft_spread_ask *a)
{
    struct ft_spread_node node[a->nnodes];
    struct ft_spread_ask with = *a;
    if (a->nnodes < 2)
        return 0;
    int others = a->nnodes - 1, positions = a->nranks + a->nchecksums;
    for (with.nspares = (positions + others - 1) / others;; with.nspares++) {
        int enough = 1;
        ft_spread_counts(&with, node);
        for (int e = 0; e < a->nnodes; e++)
            enough &= total(&node[e]) <= with.nspares;
        if (enough)
            return with.nspares;
    }
}

/* With so many checksum processes, and spares enough. */
static int has_gap(const struct ft_spread_ask *a)
{
    struct ft_placement p;
    struct ft_spread_gap gap;
    if (ft_spread(a, &p) != FT_OK)
        return -1;
    ft_spread_gap(a, &p, &gap);
    ft_placement_finish(&p);
    return gap.why != FT_SPREAD_SURVIVED;
}

int ft_spread_enough(const struct ft_spread_ask *a, struct ft_spread_ask *enough)
{
    char why[200];
    for (int m = a->parity; m > 0; m--) {
        /* fewer than that never are enough */
        int least = a->nnodes > 1 ? (a->nranks + a->nnodes - 2) / (a->nnodes - 1) : a->nranks + 1;
        if (least < a->nchecksums)
            least = a->nchecksums;
        for (int c = (least + m - 1) / m * m; c <= a->nranks; c += m) {
            struct ft_spread_ask with = *a;
            with.parity = m;
            with.nchecksums = c;
            if (ft_groups_check(a->nranks, c, m, why, sizeof why) != FT_OK ||
                a->nranks > c / m * FT_GROUP_MEMBERS)
                continue;
            with.nspares = ft_spread_spares(&with);
            if (with.nspares < a->nspares)
                with.nspares = a->nspares;
            if (a->nranks + c + with.nspares > FT_MAX_SLOTS)
                continue;
            int gap = has_gap(&with);
            if (gap == 0)
                *enough = with;
            if (gap <= 0)
                return gap < 0 ? -1 : 1;
        }
    }
    return 0;
}
