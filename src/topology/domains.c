/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domains.c - queries on a hierarchy of failure domains. Reading one: domains_parse.c.
 */
#include "topology/domains.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void ft_domains_finish(struct ft_domains *d)
{
    for (int k = 1; k <= d->nlevels; k++) {
        struct ft_domain_level *l = &d->level[k];
        for (int i = 0; l->element && i < l->count; i++)
            free(l->element[i]);
        free(l->element);
        free(l->parent);
    }
    free(d->on_node);
    memset(d, 0, sizeof *d);
}

int ft_domains_level(const struct ft_domains *d, const char *name)
{
    for (int k = 1; k <= d->nlevels; k++)
        if (strcmp(d->level[k].name, name) == 0)
            return k;
    return 0;
}

int ft_domains_at(const struct ft_domains *d, int node, int level)
{
    int e = node;
    FT_ASSERT(level >= 1 && level <= d->nlevels && node >= 0 && node < d->level[1].count);
    for (int k = 1; k < level; k++)
        e = d->level[k].parent[e];
    return e;
}

const char *ft_domains_name(const struct ft_domains *d, int level, int element, char *out,
                            size_t size)
{
    const struct ft_domain_level *l = &d->level[level];
    FT_ASSERT(level >= 1 && level <= d->nlevels && element >= 0 && element < l->count);
    if (l->element)
        snprintf(out, size, "%s", l->element[element]);
    else
        snprintf(out, size, "%s%d", l->name, element);
    return out;
}

int ft_domains_find(const struct ft_domains *d, int level, const char *element)
{
    const struct ft_domain_level *l = &d->level[level];
    char name[FT_DOMAIN_NAME + 16];
    FT_ASSERT(level >= 1 && level <= d->nlevels);
    for (int i = 0; i < l->count; i++)
        if (strcmp(ft_domains_name(d, level, i, name, sizeof name), element) == 0)
            return i;
    return -1;
}

int ft_domains_node_of(const struct ft_domains *d, int p)
{
    FT_ASSERT(p >= 0);
    if (d->per_node > 0)
        return p / d->per_node < d->level[1].count ? p / d->per_node : -1;
    return p < d->nprocesses ? d->on_node[p] : -1;
}

void ft_domains_spread(const struct ft_domains *d, int n, int *node)
{
    for (int p = 0; p < n; p++)
        node[p] = (int)((int64_t)p * d->level[1].count / n);
}

static int together(const char *const *host, const int *node, int p, int q)
{
    return node ? node[p] == node[q] : strcmp(host[p], host[q]) == 0;
}

enum ft_status ft_domains_discover(const char *const *host, const int *node, int n,
                                   struct ft_domains *d)
{
    struct ft_domains new = {.nlevels = 1, .nprocesses = n};
    struct ft_domain_level *l = &new.level[1];
    FT_ASSERT(n > 0);
    strcpy(l->name, "node");
    new.on_node = malloc((size_t)n * sizeof *new.on_node);
    l->element = calloc((size_t)n, sizeof *l->element);
    if (!new.on_node || !l->element)
        goto nomem;
    for (int p = 0; p < n; p++) {
        int q = p > 0 && together(host, node, p - 1, p) ? p - 1 : 0; /* usually the one before */
        while (q < p && !together(host, node, q, p))
            q++;
        if (q == p && !(l->element[l->count] = strdup(host[p])))
            goto nomem;
        new.on_node[p] = q < p ? new.on_node[q] : l->count++;
    }
    *d = new;
    return FT_OK;
nomem:
    ft_domains_finish(&new);
    return FT_ERR_NOMEM;
}
