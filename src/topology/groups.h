/* SPDX-License-Identifier: BSD-3-Clause
 *
 * groups.h - who is in which group. A group is the ranks whose images share codewords; it outlives as many losses as it has
 * checksum processes: one, with one checksum process a group.
 *
 *   10 ranks, 3 checksum processes        group 0: ranks 0 3 6 9   checksum process 0
 *                                         group 1: ranks 1 4 7     checksum process 1
 *                                         group 2: ranks 2 5 8     checksum process 2
 *
 * Strided, not contiguous: rank r is in group r mod K. Launchers fill a node with neighbouring ranks, so what fails together (a
 * socket, a node, a rack) is a run of neighbours, and a group should not have two of them. Of any run of c ranks a group has at
 * most ceil(c / K): with at most K ranks a node, a node's death costs each group at most one member. Contiguous blocks would put
 * such a run into one group and lose the job. The price: where a launcher deals ranks out over n nodes in turn (rank r on node
 * r mod n), a node's death may cost a group several members when n and K have a common divisor. Place by filling nodes.
 * Where checksum processes run is not decided here; one on the node of a member of its group is that node's second loss.
 */
#ifndef FT_TOPOLOGY_GROUPS_H
#define FT_TOPOLOGY_GROUPS_H

#include "base/status.h"

struct ft_groups {
    int nranks;
    int nchecksums; /* = number of groups; 1 <= nchecksums <= nranks */
};

/* FT_ERR_ARG, with *g as it was, unless 1 <= nchecksums <= nranks and both together fit a job (FT_MAX_SLOTS). */
enum ft_status ft_groups_init(struct ft_groups *g, int nranks, int nchecksums);

/* Arguments out of range are bugs. ft_group_member(g, ft_group_of_rank(g, r), ft_group_index_of_rank(g, r)) == r for all ranks
 * r; a group's members ascend with their index; sizes differ by at most one. */
int ft_group_of_rank(const struct ft_groups *g, int rank);
int ft_group_index_of_rank(const struct ft_groups *g, int rank);
int ft_group_size(const struct ft_groups *g, int group);
int ft_group_member(const struct ft_groups *g, int group, int index); /* a rank; 0 <= index < size */

/* Index of the group's checksum process among the checksum processes, and the way back. */
int ft_group_checksum(const struct ft_groups *g, int group);
int ft_group_of_checksum(const struct ft_groups *g, int checksum);

#endif
