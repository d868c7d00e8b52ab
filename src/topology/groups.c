/* SPDX-License-Identifier: BSD-3-Clause
 *
 * groups.c - strided groups.
 */
#include "topology/groups.h"

#include "base/base.h"

enum ft_status ft_groups_init(struct ft_groups *g, int nranks, int nchecksums)
{
    if (nchecksums < 1 || nchecksums > nranks || nranks > FT_MAX_SLOTS - nchecksums)
        return FT_ERR_ARG;
    *g = (struct ft_groups){.nranks = nranks, .nchecksums = nchecksums};
    return FT_OK;
}

int ft_group_of_rank(const struct ft_groups *g, int rank)
{
    FT_ASSERT(rank >= 0 && rank < g->nranks);
    return rank % g->nchecksums;
}

int ft_group_index_of_rank(const struct ft_groups *g, int rank)
{
    FT_ASSERT(rank >= 0 && rank < g->nranks);
    return rank / g->nchecksums;
}

int ft_group_size(const struct ft_groups *g, int group)
{
    FT_ASSERT(group >= 0 && group < g->nchecksums);
    return g->nranks / g->nchecksums + (group < g->nranks % g->nchecksums);
}

int ft_group_member(const struct ft_groups *g, int group, int index)
{
    FT_ASSERT(index >= 0 && index < ft_group_size(g, group));
    return group + index * g->nchecksums;
}

int ft_group_checksum(const struct ft_groups *g, int group)
{
    FT_ASSERT(group >= 0 && group < g->nchecksums);
    return group;
}

int ft_group_of_checksum(const struct ft_groups *g, int checksum)
{
    FT_ASSERT(checksum >= 0 && checksum < g->nchecksums);
    return checksum;
}
