/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce_scatter.c - everybody sends each member its part directly, pairwise as in alltoall.c, and each reduces what it has got.
 *
 * This moves the fewest bytes for any lengths and sizes, and since all operands of a part meet in one place, they can be
 * combined along the same tree as in reduce.c, whatever the order they came in. The size-1 messages of a member are cheap up to
 * some hundred members.
 */
#include "coll/coll_internal.h"

/* Reduces size operands of count elements that stand in rank order; a node's result takes the place of its last operand. Returns
 * the place of the root's: the last. */
static char *reduce_here(char *operands, int size, size_t count, size_t esize, const struct ft_reducer *op)
{
    struct ft_coll_tree t = ft_coll_tree_of(size);
    size_t bytes = count * esize;
    for (int leaf = 0; leaf < t.folded; leaf++) {
        char *left = operands + (size_t)ft_coll_leaf_first(t, leaf) * bytes;
        op->apply(op->arg, left, left + bytes, count);
    }
    for (int d = 1; d < t.leaves; d *= 2) {
        for (int leaf = d - 1; leaf + d < t.leaves; leaf += 2 * d) {
            char *left = operands + (size_t)ft_coll_leaf_last(t, leaf) * bytes;
            char *right = operands + (size_t)ft_coll_leaf_last(t, leaf + d) * bytes;
            op->apply(op->arg, left, right, count);
        }
    }
    FT_ASSERT(ft_coll_leaf_last(t, t.leaves - 1) == size - 1);
    return operands + (size_t)(size - 1) * bytes;
}

static size_t sum_before(const size_t *counts, int end)
{
    size_t sum = 0;
    for (int i = 0; i < end; i++)
        sum += counts[i];
    return sum;
}

void ft_reduce_scatter(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, const size_t *counts, size_t esize,
                       const struct ft_reducer *op)
{
    ft_coll_enter(c);
    size_t own = counts[c->rank] * esize;
    char *operands = own > 0 ? ft_coll_need(c, 0, own * (size_t)c->size) : NULL;
    size_t before = sum_before(counts, c->rank);
    if (own > 0)
        memcpy(operands + (size_t)c->rank * own, ft_coll_at(sendbuf, before * esize), own);
    for (int k = 1; k < c->size; k++) {
        int dst = ft_coll_next(c, k), src = ft_coll_prev(c, k);
        before = dst == 0 ? 0 : before + counts[dst - 1];
        ft_coll_exchange(c, FT_TAG_REDUCE_SCATTER, dst, ft_coll_at(sendbuf, before * esize), counts[dst] * esize, src,
                         own > 0 ? operands + (size_t)src * own : NULL, own);
        ft_failpoint(COLL_ROUND);
    }
    /* only now: recvbuf may be the buffer that was sent from */
    if (own > 0)
        memcpy(recvbuf, reduce_here(operands, c->size, counts[c->rank], esize, op), own);
    ft_coll_leave();
}
