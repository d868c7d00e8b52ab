/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tree.h - the binary tree over the living slots on which votes and orders travel (D2; DHARMA
 * 3.2.1). Position i of the list of living slots (ascending) has parent (i-1)/2 and children 2i+1,
 * 2i+2, so all who know the same failed set see the same tree. And the ring over them, on which
 * each watches the next (D1).
 */
#ifndef FT_PROTO_TREE_H
#define FT_PROTO_TREE_H

#include "base/base.h"

struct ft_tree {
    int root, parent; /* parent -1 at the root */
    int nchildren, child[2];
    int size; /* living slots */
};
/* self must not be in failed. */
void ft_tree_make(struct ft_tree *t, int nslots, const struct ft_bitset *failed, int self);
/* The next slot after self that is not in failed, ascending, cyclic; -1: there is none but self. */
int ft_ring_next(int nslots, const struct ft_bitset *failed, int self);

#endif
