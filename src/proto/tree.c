/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tree.c - the binary tree and the ring over the living slots.
 */
#include "proto/tree.h"

void ft_tree_make(struct ft_tree *t, int nslots, const struct ft_bitset *failed, int self)
{
    FT_ASSERT(nslots > 0 && nslots <= FT_MAX_SLOTS && self >= 0 && self < nslots);
    FT_ASSERT(!ft_bit_get(failed, self));
    int pos = 0;
    for (int s = 0; s < self; s++)
        pos += !ft_bit_get(failed, s);

    *t = (struct ft_tree){.root = -1, .parent = -1, .child = {-1, -1}};
    for (int s = 0, i = 0; s < nslots; s++) {
        if (ft_bit_get(failed, s))
            continue;
        if (i == 0)
            t->root = s;
        if (pos > 0 && i == (pos - 1) / 2)
            t->parent = s;
        if (i == 2 * pos + 1 || i == 2 * pos + 2)
            t->child[t->nchildren++] = s;
        t->size = ++i;
    }
    FT_ASSERT(t->size > pos && (t->parent < 0) == (t->root == self));
}

int ft_ring_next(int nslots, const struct ft_bitset *failed, int self)
{
    FT_ASSERT(nslots <= FT_MAX_SLOTS && self >= 0 && self < nslots);
    for (int k = 1; k < nslots; k++) {
        int s = (self + k) % nslots;
        if (!ft_bit_get(failed, s))
            return s;
    }
    return -1;
}
