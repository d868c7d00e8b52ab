/* SPDX-License-Identifier: BSD-3-Clause
 *
 * groups.c - tables of groups.
 */
#include "topology/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/refuse.h"

enum ft_status ft_groups_check(int nranks, int nchecksums, int parity, char *why, size_t size)
{
    if (parity < 1 || parity > FT_GROUP_PARITY)
        return ft_refuse(why, size, "parity %d: must be from 1 to %d", parity, FT_GROUP_PARITY);
    if (nranks < 1 || nchecksums < 1 || nchecksums % parity != 0)
        return ft_refuse(
            why, size,
            "%d checksum processes: must be a multiple of the parity, %d, which each group has",
            nchecksums, parity);
    int ngroups = nchecksums / parity;
    if (nranks / ngroups < parity)
        return ft_refuse(why, size,
                         "parity %d is larger than a group: %d ranks in %d group%s are %d each",
                         parity, nranks, ngroups, ngroups == 1 ? "" : "s", nranks / ngroups);
    return FT_OK;
}

enum ft_status ft_groups_init(struct ft_groups *g, int nranks, int nchecksums, int parity,
                              const int *group_of, char *why, size_t size)
{
    enum ft_status st = ft_groups_check(nranks, nchecksums, parity, why, size);
    if (st != FT_OK)
        return st;
    if (nranks > FT_MAX_SLOTS || nchecksums > FT_MAX_SLOTS - nranks)
        return ft_refuse(why, size,
                         "%d ranks and %d checksum processes are together more than %d processes",
                         nranks, nchecksums, FT_MAX_SLOTS);
    if (nranks > (int64_t)nchecksums / parity * FT_GROUP_MEMBERS)
        return ft_refuse(
            why, size, "a group has at most %d ranks: %d ranks need at least %d checksum processes",
            FT_GROUP_MEMBERS, nranks, (nranks + FT_GROUP_MEMBERS - 1) / FT_GROUP_MEMBERS * parity);
    struct ft_groups new = {.nranks = nranks,
                            .nchecksums = nchecksums,
                            .parity = parity,
                            .ngroups = nchecksums / parity};
    new.group_of = malloc((size_t)nranks * sizeof(int));
    new.index_of = malloc((size_t)nranks * sizeof(int));
    new.member = malloc((size_t)nranks * sizeof(int));
    new.first = calloc((size_t) new.ngroups + 1, sizeof(int));
    if (!new.group_of || !new.index_of || !new.member || !new.first) {
        ft_groups_finish(&new);
        return FT_ERR_NOMEM;
    }
    for (int r = 0; r < nranks; r++) {
        new.group_of[r] = group_of ? group_of[r] : r % new.ngroups;
        FT_ASSERT(new.group_of[r] >= 0 && new.group_of[r] < new.ngroups);
        new.index_of[r] = new.first[new.group_of[r] + 1]++;
    }
    for (int i = 0; i < new.ngroups; i++) {
        FT_ASSERT(new.first[i + 1] >= parity &&new.first[i + 1] <= FT_GROUP_MEMBERS);
        new.first[i + 1] += new.first[i];
    }
    for (int r = 0; r < nranks; r++)
        new.member[new.first[new.group_of[r]] + new.index_of[r]] = r;
    *g = new;
    return FT_OK;
}

void ft_groups_finish(struct ft_groups *g)
{
    free(g->group_of);
    free(g->index_of);
    free(g->first);
    free(g->member);
    memset(g, 0, sizeof *g);
}

int ft_group_of_rank(const struct ft_groups *g, int rank)
{
    FT_ASSERT(rank >= 0 && rank < g->nranks);
    return g->group_of[rank];
}

int ft_group_index_of_rank(const struct ft_groups *g, int rank)
{
    FT_ASSERT(rank >= 0 && rank < g->nranks);
    return g->index_of[rank];
}

int ft_group_size(const struct ft_groups *g, int group)
{
    FT_ASSERT(group >= 0 && group < g->ngroups);
    return g->first[group + 1] - g->first[group];
}

int ft_group_member(const struct ft_groups *g, int group, int index)
{
    FT_ASSERT(index >= 0 && index < ft_group_size(g, group));
    return g->member[g->first[group] + index];
}

int ft_group_checksum(const struct ft_groups *g, int group, int i)
{
    FT_ASSERT(group >= 0 && group < g->ngroups && i >= 0 && i < g->parity);
    return group * g->parity + i;
}

int ft_group_of_checksum(const struct ft_groups *g, int checksum)
{
    FT_ASSERT(checksum >= 0 && checksum < g->nchecksums);
    return checksum / g->parity;
}

int ft_group_of_position(const struct ft_groups *g, int pos)
{
    return pos < g->nranks ? ft_group_of_rank(g, pos) : ft_group_of_checksum(g, pos - g->nranks);
}

int ft_group_block(const struct ft_groups *g, int group, int block)
{
    int size = ft_group_size(g, group);
    return block < size ? ft_group_member(g, group, block)
                        : g->nranks + ft_group_checksum(g, group, block - size);
}

int ft_group_block_of_position(const struct ft_groups *g, int pos)
{
    int c = pos - g->nranks;
    return c < 0 ? ft_group_index_of_rank(g, pos)
                 : ft_group_size(g, ft_group_of_checksum(g, c)) + c % g->parity;
}
