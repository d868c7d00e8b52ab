/* SPDX-License-Identifier: BSD-3-Clause
 *
 * group.c - groups are the host's own objects, in which the host's process r stands for rank r.
 * Only this process's own rank differs from what the host believes: a replacement sits in another
 * slot than its rank's number.
 */
#include "mpi/mpi_internal.h"

void ft_group_ranks(MPI_Group group, int n, int *out)
{
    int *index = ft_scratch(FT_SCRATCH_PIECE, ((size_t)n + 1) * sizeof *index);

    for (int i = 0; i < n; i++)
        index[i] = i;
    if (n > 0)
        HOST(Group_translate_ranks)(group, n, index, ft_world_group, out);
}

FT_MPI(int, Group_rank, (MPI_Group group, int *rank))
{
    if (!ft_mpi_up || group == MPI_GROUP_NULL)
        return HOST(Group_rank)(group, rank);
    int me = ft_my_rank();
    return HOST(Group_translate_ranks)(ft_world_group, 1, &me, group, rank);
}
