/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spares.c - assigns spares to lost positions such that Eq. 6 holds for as many as possible: a flow
 * from groups that have lost members to elements that have spares, augmented one position at a
 * time.
 *
 *   group g --(m less what g still has in e)--> element e --(its spares)-->
 */
#include <string.h>

#include "base/base.h"
#include "topology/placement.h"

struct net {
    int ngroups, nelements; /* those that matter, renumbered in their order */
    int *group, *element;   /* of lost[i]; of spare[i] */
    int *flow, *cap;        /* [ngroups * nelements] */
    int *room;              /* [nelements]: spares that are left */
    int *from_group, *from_element,
        *queue; /* of the search: the predecessor of an element, of a group; -1 */
};

/* Numbers the distinct values in key[n] from 0 in their order. map: [values], -1 each. Returns how
 * many. */
static int renumber(const int *key, int n, int *map, int *out)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (map[key[i]] < 0)
            map[key[i]] = count++;
        out[i] = map[key[i]];
    }
    return count;
}

/* Finds a place for one more member of group g; moves others where necessary. */
static int augment(struct net *f, int g)
{
    int head = 0, tail = 0;
    memset(f->from_group, 0xff, (size_t)f->nelements * sizeof *f->from_group);
    memset(f->from_element, 0xff, (size_t)f->ngroups * sizeof *f->from_element);
    for (f->queue[tail++] = g; head < tail; head++) {
        int from = f->queue[head];
        for (int e = 0; e < f->nelements; e++) {
            int at = from * f->nelements + e;
            if (f->from_group[e] >= 0 || f->flow[at] >= f->cap[at])
                continue;
            f->from_group[e] = from;
            if (f->room[e] > 0) {
                f->room[e]--;
                for (int who = from;;
                     e = f->from_element[who], who = f->from_group[e]) { /* back along the path */
                    f->flow[who * f->nelements + e]++;
                    if (who == g)
                        return 1;
                    f->flow[who * f->nelements + f->from_element[who]]--;
                }
            }
            /* it is full: a member of another group could leave */
            for (int h = 0; h < f->ngroups; h++)
                if (h != g && f->from_element[h] < 0 && f->flow[h * f->nelements + e] > 0) {
                    f->from_element[h] = e;
                    f->queue[tail++] = h;
                }
        }
    }
    return 0;
}

/* The first remaining spare in the share of the lost position's group; -1: there is none. */
static int pick(struct net *f, int lost, int nspares, const int *used)
{
    for (int s = 0; s < nspares; s++) {
        int *flow = &f->flow[f->group[lost] * f->nelements + f->element[s]];
        if (!used[s] && *flow > 0) {
            --*flow;
            return s;
        }
    }
    return -1;
}

/* The memory of the search, cut out of one array, because it runs where nothing may be
 * allocated. */
struct scratch {
    int *next;
};

static int *cut(struct scratch *s, size_t n, int value)
{
    int *p = s->next;
    for (size_t i = 0; i < n; i++)
        p[i] = value;
    s->next += n;
    return p;
}

size_t ft_place_spares_scratch(const struct ft_domains *d, int npositions, int nspares)
{
    size_t s = (size_t)nspares, elements = 0;
    for (int k = 1; k <= d->nlevels; k++)
        elements = ft_max_u64(elements, (size_t)d->level[k].count);
    return 2 * s * s + 9 * s + 2 * (size_t)npositions + elements; /* as many lost as spares */
}

int ft_place_spares(const struct ft_domains *d, int aware, int parity, const int *group_of,
                    const int *node_at, int npositions, const int *lost, int nlost,
                    const int *spare_node, int nspares, int *taken, int *scratch)
{
    FT_ASSERT(nlost <= nspares);
    for (int i = 0; i < nlost; i++)
        taken[i] = i;
    if (aware == 0 || nlost == 0)
        return 0;
    struct scratch room = {scratch};
    size_t np = (size_t)npositions, nl = (size_t)nlost, ns = (size_t)nspares;
    int *at = cut(&room, ns, 0), *used = cut(&room, ns, 0), *gone = cut(&room, np, 0),
        *groups = cut(&room, nl, 0);
    int *group_map = cut(&room, np, -1),
        *element_map = cut(&room, (size_t)d->level[aware].count, -1), broken = 0;
    for (int i = 0; i < nlost; i++) {
        groups[i] = group_of[lost[i]];
        gone[lost[i]] = 1;
    }
    for (int s = 0; s < nspares; s++)
        at[s] = ft_domains_at(d, spare_node[s], aware);
    struct net f = {.group = cut(&room, nl, 0), .element = cut(&room, ns, 0)};
    f.ngroups = renumber(groups, nlost, group_map, f.group);
    f.nelements = renumber(at, nspares, element_map, f.element);
    f.flow = cut(&room, (size_t)f.ngroups * (size_t)f.nelements, 0);
    f.cap = cut(&room, (size_t)f.ngroups * (size_t)f.nelements, parity);
    f.room = cut(&room, ns, 0);
    f.from_group = cut(&room, ns, 0);
    f.from_element = cut(&room, nl, 0);
    f.queue = cut(&room, nl, 0);
    FT_ASSERT(room.next <= scratch + ft_place_spares_scratch(d, npositions, nspares));
    for (int s = 0; s < nspares; s++)
        f.room[f.element[s]]++;
    for (int p = 0; p < npositions; p++) {
        int e = gone[p] ? -1 : element_map[ft_domains_at(d, node_at[p], aware)],
            g = group_map[group_of[p]];
        if (e >= 0 && g >= 0)
            f.cap[g * f.nelements + e]--;
    }
    for (int i = 0; i < nlost; i++)
        broken += !augment(&f, f.group[i]);
    for (int i = 0; i < nlost; i++)
        if ((taken[i] = pick(&f, i, nspares, used)) >= 0)
            used[taken[i]] = 1;
    for (int i = 0, s = 0; i < nlost; i++) {
        while (taken[i] < 0 && used[s])
            s++;
        if (taken[i] < 0)
            used[taken[i] = s] = 1;
    }
    return broken;
}
