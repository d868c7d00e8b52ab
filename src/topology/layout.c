/* SPDX-License-Identifier: BSD-3-Clause
 *
 * layout.c - places a job on its machine.
 */
#include "topology/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/refuse.h"

void ft_job_layout_finish(struct ft_job_layout *l)
{
    ft_domains_finish(&l->domains);
    ft_groups_finish(&l->groups);
    ft_placement_finish(&l->place);
    free(l->node_of);
    memset(l, 0, sizeof *l);
}

/* Where slots are, if nodes are cut for the job: node by node. */
static void number_nodes(const struct ft_job_layout_ask *a, int *node_of)
{
    struct ft_spread_ask cut = ft_job_layout_spread(a);
    struct ft_spread_node node[a->nnodes];
    ft_spread_counts(&cut, node);
    for (int e = 0, s = 0; e < a->nnodes; e++)
        for (int n = node[e].ranks + node[e].checksums + node[e].spares; n > 0; n--)
            node_of[s++] = e;
}

/* Finds out where slots are. */
static enum ft_status find_nodes(const struct ft_job_layout_ask *a, const char *const *host,
                                 struct ft_job_layout *l, char *why, size_t size)
{
    int missing = 0, named_node = -1;
    const char *named = NULL; /* the host that was looked up last: usually also the next one's */
    enum ft_status st = FT_OK;
    for (int s = 0; s < l->nslots && !a->text; s++)
        missing += !host[s];
    if (missing)
        return FT_ERR_AGAIN;
    if (a->nnodes > 1)
        number_nodes(a, l->node_of);
    st = a->text
             ? ft_domains_parse(a->file, a->text, a->len, &l->domains, why, size)
             : ft_domains_discover(host, a->nnodes > 1 ? l->node_of : NULL, l->nslots, &l->domains);
    if (st != FT_OK)
        return st;
    for (int s = 0; s < l->nslots; s++) {
        l->node_of[s] = ft_domains_node_of(&l->domains, s);
        if (l->node_of[s] >= 0)
            continue;
        if (!host[s]) {
            missing = 1;
            continue;
        }
        if (!named || strcmp(named, host[s]) != 0)
            named_node = ft_domains_find(&l->domains, 1, host[s]);
        named = host[s];
        l->node_of[s] = named_node;
        if (named_node < 0)
            return ft_refuse(why, size,
                             "%s: it does not say where process %d is: no %s has the name of its "
                             "host, '%s', and no 'process' "
                             "line names it",
                             a->file, s, l->domains.level[1].name, named);
    }
    return missing ? FT_ERR_AGAIN : FT_OK;
}

/* Finds the level that `aware` names. */
static enum ft_status find_level(const struct ft_job_layout_ask *a, const struct ft_domains *d,
                                 int *level, char *why, size_t size)
{
    size_t n = 0;
    char names[FT_DOMAIN_LEVELS * (FT_DOMAIN_NAME + 1) + 1] = "";
    *level = FT_AWARE_BEST;
    if (!*a->aware || strcmp(a->aware, "best") == 0)
        return FT_OK;
    *level = strcmp(a->aware, "none") == 0 ? 0 : ft_domains_level(d, a->aware);
    if (*level > 0 || strcmp(a->aware, "none") == 0)
        return FT_OK;
    for (int k = 1; k <= d->nlevels; k++)
        n += (size_t)snprintf(names + n, sizeof names - n, " %s", d->level[k].name);
    return ft_refuse(why, size, "'%s' is no level of failure domains. The levels are:%s", a->aware,
                     names);
}

struct ft_spread_ask ft_job_layout_spread(const struct ft_job_layout_ask *a)
{
    return (struct ft_spread_ask){.nranks = a->nranks,
                                  .nchecksums = a->nchecksums,
                                  .parity = a->parity,
                                  .nspares = a->nspares,
                                  .nnodes = a->nnodes};
}

static enum ft_status make(const struct ft_job_layout_ask *a, const char *const *host,
                           struct ft_job_layout *l, char *why, size_t size)
{
    int level = 0;
    l->nslots = a->nranks + a->nchecksums + a->nspares;
    l->known = a->text || *a->aware || (a->nnodes > 1 && a->nchecksums > 0);
    if (!(l->node_of = calloc((size_t)l->nslots, sizeof *l->node_of)))
        return FT_ERR_NOMEM;
    enum ft_status st = l->known ? find_nodes(a, host, l, why, size) : FT_OK;
    if (st == FT_OK && l->known)
        st = find_level(a, &l->domains, &level, why, size);
    if (st != FT_OK || (a->nchecksums == 0 && a->nnodes < 2))
        return st;
    struct ft_place_ask p = {
        .nranks = a->nranks, .nchecksums = a->nchecksums, .parity = a->parity, .aware = level};
    struct ft_spread_ask cut = ft_job_layout_spread(a);
    st = a->nnodes > 1 ? ft_spread(&cut, &l->place)
                       : ft_place(l->known ? &l->domains : NULL, l->node_of, l->nslots, &p,
                                  &l->place, why, size);
    if (st != FT_OK || a->nchecksums == 0)
        return st;
    l->aware = level == FT_AWARE_BEST ? l->place.aware : level;
    return ft_groups_init(&l->groups, a->nranks, a->nchecksums, a->parity, l->place.group_of, why,
                          size);
}

enum ft_status ft_job_layout_make(const struct ft_job_layout_ask *ask, const char *const *host,
                                  struct ft_job_layout *out, char *why, size_t size)
{
    struct ft_job_layout l = {0};
    enum ft_status st = make(ask, host, &l, why, size);
    if (st == FT_OK)
        *out = l;
    else
        ft_job_layout_finish(&l);
    return st;
}

enum ft_role ft_job_layout_role(const struct ft_job_layout *l, int nranks, int nchecksums, int slot,
                                int *index)
{
    int positions = nranks + nchecksums;
    const int *pos_of = l->place.pos_of;
    int pos = pos_of ? pos_of[slot] : slot < positions ? slot : -1;
    if (pos >= 0) {
        *index = pos < nranks ? pos : pos - nranks;
        return pos < nranks ? FT_ROLE_RANK : FT_ROLE_CHECKSUM;
    }
    *index = pos_of ? 0 : slot - positions;
    for (int s = 0; pos_of && s < slot; s++)
        *index += pos_of[s] < 0;
    return FT_ROLE_SPARE;
}
