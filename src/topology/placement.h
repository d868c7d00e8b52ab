/* SPDX-License-Identifier: BSD-3-Clause
 *
 * placement.h - chooses groups and checksum processes such that at most m members of a group
 * (including its checksum processes) share an element at any level up to the aware one: Eq. 6 of
 * the paper. Then the loss of any one element of these levels costs each group at most m members,
 * which its m codewords can restore.
 *
 * Processes are taken in the order of their nodes and dealt out to the groups in turn, like cards:
 *
 *   node        0       1       2     |      3       4
 *   process   0 1 2   3 4 5   6 7 8   |   9 10 11  12 13
 *   group     0 1 2   0 1 2   0 1 2   |   0  1  2   .  .
 *
 * Here are 3 groups with m = 1, so 9 ranks (0 to 8), 3 checksum processes (9 to 11) and 2 spares.
 *
 * An element, at any level, is a run in this order (domains.h). A run of u processes gives a group
 * at most ceil(u / groups), and no way of dealing gives less, so this one order is the best at all
 * levels at once. Eq. 6 at a level is u <= m * groups for each of its elements. So an element that
 * holds more leaves the rest of its processes as spares. If all elements together cannot take all
 * members, no placement can, as each group takes at most m from each element. Elements are nested,
 * so Eq. 6 at a level implies it at the levels below.
 *
 * The last m of each group are its checksum processes. Spares that can be chosen freely are the
 * last in the order: entire elements, as far as possible, without a member of any group, so that
 * they can replace any loss without breaking Eq. 6. Ranks are numbered like the processes: rank 0
 * is the process with the lowest number that became a rank.
 */
#ifndef FT_TOPOLOGY_PLACEMENT_H
#define FT_TOPOLOGY_PLACEMENT_H

#include "topology/domains.h"

struct ft_place_ask {
    int nranks;     /* >= 1 */
    int nchecksums; /* in all; a multiple of parity */
    int parity;     /* m: codewords a group, 1 to 8. Groups: nchecksums / parity */
    /* level; 0: spread as well as possible, require nothing; FT_AWARE_BEST: the highest possible
     * level */
    int aware;
};
#define FT_AWARE_BEST (-1)

/* Positions are those of recover/plan.h: rank r is r, checksum process c is nranks + c; group i has
 * the checksum processes i * parity ... i * parity + parity - 1. */
struct ft_placement {
    int nprocesses, npositions, ngroups, parity;
    int aware;     /* the highest level at which Eq. 6 holds, at least the requested one; 0: none */
    int *slot_of;  /* [npositions]: the process that carries it */
    int *pos_of;   /* [nprocesses]: -1: spare */
    int *group_of; /* [npositions] */
};

/* Places processes 0 .. n - 1; process p is on node node_of[p] (0 <= node_of[p] <
 * d->level[1].count). Processes beyond ask's positions are spares. O(n + elements). FT_ERR_ARG with
 * why (what is impossible, at which level, and the best possible level) and *out unchanged;
 * FT_ERR_NOMEM. d may be NULL with aware 0 or FT_AWARE_BEST: then position p is process p, and rank
 * r is in group r mod groups. */
enum ft_status ft_place(const struct ft_domains *d, const int *node_of, int n,
                        const struct ft_place_ask *ask, struct ft_placement *out, char *why,
                        size_t size);
void ft_placement_finish(struct ft_placement *p);

/* Returns the highest level up to which Eq. 6 holds for npositions positions in the given groups,
 * at nodes node_at[position]; 0: none; -1: no memory. O(n + elements) for each level. */
int ft_place_aware(const struct ft_domains *d, const int *node_at, const int *group_of,
                   int npositions, int ngroups, int parity);

/* Which spare takes which lost position, such that as many of these as possible keep Eq. 6 at
 * `aware` (0: in their order). Returns how many do not.
 *   node_at[npositions]  nodes of the positions; those of lost ones are not looked at
 *   lost[nlost]          positions
 *   spare_node[nspares]  nodes of the spares, nspares >= nlost, in the order in which they are
 * taken where there is a choice taken[nlost]         out: an index among the spares for each lost
 * position scratch              ft_place_spares_scratch ints: nothing is allocated */
int ft_place_spares(const struct ft_domains *d, int aware, int parity, const int *group_of,
                    const int *node_at, int npositions, const int *lost, int nlost,
                    const int *spare_node, int nspares, int *taken, int *scratch);
size_t ft_place_spares_scratch(const struct ft_domains *d, int npositions, int nspares);

#endif
