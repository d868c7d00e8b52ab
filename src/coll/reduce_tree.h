/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce_tree.h - the tree that every reduction follows.
 */
#ifndef FT_COLL_REDUCE_TREE_H
#define FT_COLL_REDUCE_TREE_H

#include "coll/coll.h"

/*
 * The tree of reduce, allreduce and reduce_scatter: a function of the group's size alone, so that
 * all three give the same bits, for every count, root and algorithm. Its leaves are a power of two;
 * the first `folded` of them are pairs. With 6 ranks:
 *
 *        ((0 1) (2 3)) (4 5)     folded = 2, leaves = 4
 *
 * Every node covers consecutive ranks and combines left op right, which is correct for operations
 * that do not commute.
 */
struct ft_coll_tree {
    int leaves, folded;
};

static inline struct ft_coll_tree ft_coll_tree_of(int size)
{
    struct ft_coll_tree t = {1, 0};
    while (t.leaves <= size / 2)
        t.leaves *= 2;
    t.folded = size - t.leaves;
    FT_ASSERT(t.folded >= 0 && t.folded < t.leaves);
    return t;
}

/* The first and the last rank of a leaf. */
static inline int ft_coll_leaf_first(struct ft_coll_tree t, int leaf)
{
    return leaf < t.folded ? 2 * leaf : leaf + t.folded;
}
static inline int ft_coll_leaf_last(struct ft_coll_tree t, int leaf)
{
    return leaf < t.folded ? 2 * leaf + 1 : leaf + t.folded;
}

/* Reduces, along that tree, size operands of count elements that stand in rank order. A node's
 * result takes the place of its last operand. Returns the place of the root's result: the last
 * (reduce_scatter.c). */
char *ft_coll_reduce_here(char *operands, int size, size_t count, size_t esize,
                          const struct ft_reducer *op);

#endif
