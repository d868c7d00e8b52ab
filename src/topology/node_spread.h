/* SPDX-License-Identifier: BSD-3-Clause
 *
 * node_spread.h - places a job on nodes that are cut for it (ftrun --virtual-nodes), so that it
 * survives the loss of any one node wherever the numbers of processes allow that. placement.h
 * places processes that are where they are.
 *
 *   6 ranks, 3 checksum processes (parity 1), 6 spares, 3 nodes:
 *
 *   node0  rank 0 (group 1)  rank 1 (2)  checksum process 0  spare 0  spare 1
 *   node1  rank 2 (group 0)  rank 3 (2)  checksum process 1  spare 2  spare 3
 *   node2  rank 4 (group 0)  rank 5 (1)  checksum process 2  spare 4  spare 5
 *
 * - Ranks lie in blocks: neighbours share a node, and all nodes have as many, or one more.
 * - Checksum processes, then spares, go to the node that has the fewest processes by then.
 * - No node holds more than m members of a group if that is possible, which it is when the ranks
 *   are at most (nodes - 1) * nchecksums: each member of a group then finds a node. If it is not,
 *   no node holds more than it must.
 * - Each node leaves as many spares on the others as it carries positions, if there are enough: all
 *   nodes together have (nodes - 1) times as many spares as positions then.
 *
 * A node's processes have neighbouring slots: its ranks, its checksum processes, its spares.
 */
#ifndef FT_TOPOLOGY_NODE_SPREAD_H
#define FT_TOPOLOGY_NODE_SPREAD_H

#include "topology/placement.h"

struct ft_spread_ask {
    int nranks, nchecksums, parity, nspares;
    int nnodes; /* >= 1 */
    int plain;  /* a lost rank needs a spare, and no checkpoint to go back to */
};

/* What is on a node. */
struct ft_spread_node {
    int ranks, checksums, spares;
};

/* node[nnodes]. */
void ft_spread_counts(const struct ft_spread_ask *a, struct ft_spread_node *node);
/* Deals ranks, checksum processes and spares to the nodes, and ranks to groups (-1 where nchecksums
 * is 0); ft_groups_check agrees. FT_ERR_NOMEM.
 * out->aware is 1 if no node holds more than m members of a group, else 0. */
enum ft_status ft_spread(const struct ft_spread_ask *a, struct ft_placement *out);

/* Why the loss of a node would end the job. */
enum ft_spread_why {
    FT_SPREAD_SURVIVED,
    FT_SPREAD_NO_CHECKSUMS, /* there is nothing to go back to */
    FT_SPREAD_GROUP,        /* it holds `members` of `group`, more than the parity */
    FT_SPREAD_SPARES        /* it carries `carries` positions; other nodes have `spares` spares */
};
struct ft_spread_gap {
    enum ft_spread_why why;
    int nodes; /* the loss of so many nodes would end the job; the first of them is */
    int node;
    int group, members, carries, spares;
};
/* Of that placement; NULL without checksum processes. */
void ft_spread_gap(const struct ft_spread_ask *a, const struct ft_placement *p,
                   struct ft_spread_gap *gap);
/* The least that has no gap: at least as many checksum processes and spares as *a asks for, and its
 * parity, or a smaller one if that leaves no way. 0: there is none; -1: no memory. */
int ft_spread_enough(const struct ft_spread_ask *a, struct ft_spread_ask *enough);
/* The fewest spares with which the loss of any one node leaves enough of them. */
int ft_spread_spares(const struct ft_spread_ask *a);

#endif
