/* SPDX-License-Identifier: BSD-3-Clause
 *
 * groups.h - which rank is in which group. A group is the ranks whose images share codewords. It
 * survives as many losses as it has checksum processes, its *parity* m; losses of checksum
 * processes count.
 *
 *   10 ranks, 6 checksum processes, m = 2        group 0: ranks 0 3 6 9   checksum processes 0 1
 *                                                group 1: ranks 1 4 7     checksum processes 2 3
 *                                                group 2: ranks 2 5 8     checksum processes 4 5
 *
 * If failure domains are known, placement.h makes the groups. Otherwise groups are strided, not
 * contiguous: rank r is in group r mod (number of groups). Launchers fill a node with neighbouring
 * ranks, so what fails together (a socket, a node, a rack) is a run of neighbours, and a group
 * should have few of them. Of any run of c ranks a group has at most ceil(c / groups). Contiguous
 * blocks would put such a run into one group, and lose the job. The price: if a launcher deals
 * ranks out over n nodes in turn (rank r on node r mod n), a node's death may cost a group several
 * members when n and the number of groups have a common divisor.
 */
#ifndef FT_TOPOLOGY_GROUPS_H
#define FT_TOPOLOGY_GROUPS_H

#include <stddef.h>

#include "base/status.h"

#define FT_GROUP_MEMBERS 128 /* at most: erasure.h */
#define FT_GROUP_PARITY 8

struct ft_groups {
    int nranks;
    int nchecksums;
    int parity;               /* m: checksum processes of a group */
    int ngroups;              /* nchecksums / parity */
    int *group_of, *index_of; /* [nranks] */
    int *first;               /* [ngroups + 1]: index in `member` of each group's first rank */
    int *member;              /* [nranks]: ranks, group by group, ascending */
};

/* Returns FT_OK if 1 <= parity <= 8, nchecksums is a multiple of it, and each group has at least
 * `parity` ranks; else FT_ERR_ARG, and why. */
enum ft_status ft_groups_check(int nranks, int nchecksums, int parity, char *why, size_t size);
/* group_of[nranks], copied; NULL: strided. FT_ERR_ARG, with why and *g unchanged: ft_groups_check
 * fails, a group would have more than 128 ranks, or the job is too large (FT_MAX_SLOTS).
 * FT_ERR_NOMEM. */
enum ft_status ft_groups_init(struct ft_groups *g, int nranks, int nchecksums, int parity,
                              const int *group_of, char *why, size_t size);
void ft_groups_finish(struct ft_groups *g); /* frees */

/* Arguments out of range are bugs. ft_group_member(g, ft_group_of_rank(g, r),
 * ft_group_index_of_rank(g, r)) == r for all ranks r. A group's members ascend with their index.
 * Strided groups differ in size by at most one. */
int ft_group_of_rank(const struct ft_groups *g, int rank);
int ft_group_index_of_rank(const struct ft_groups *g, int rank);
int ft_group_size(const struct ft_groups *g, int group); /* ranks */
int ft_group_member(const struct ft_groups *g, int group,
                    int index); /* a rank; 0 <= index < size */

/* The number of the group's i-th checksum process (0 <= i < parity) among all checksum processes,
 * and the inverse. It keeps codeword i. */
int ft_group_checksum(const struct ft_groups *g, int group, int i);
int ft_group_of_checksum(const struct ft_groups *g, int checksum);

/* By position (rank r: r, checksum process c: nranks + c). A group's blocks are those of erasure.h:
 * members, then codewords; size + parity in all. */
int ft_group_of_position(const struct ft_groups *g, int pos);
int ft_group_block(const struct ft_groups *g, int group, int block); /* its position */
int ft_group_block_of_position(const struct ft_groups *g, int pos);

#endif
