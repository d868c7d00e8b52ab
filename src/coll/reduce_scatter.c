/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce_scatter.c - each member sends every other its part directly, as in alltoall.c, and reduces
 * the parts that it receives.
 *
 * This moves the fewest bytes for any lengths and sizes. All operands of a part meet in one place,
 * so they can be combined along the same tree as in reduce.c, whatever the order of arrival. The
 * size-1 messages of a member are cheap up to some hundred members.
 */
#include "coll/coll_internal.h"
#include "coll/spread.h"

char *ft_coll_reduce_here(char *operands, int size, size_t count, size_t esize,
                          const struct ft_reducer *op)
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

struct scatter_parts {
    const void *sendbuf;
    const size_t *before, *counts; /* [size]: elements */
    size_t esize, own;             /* own: bytes of one operand here */
    char *operands;
};

static struct ft_coll_part part(const void *arg, int member, int sent)
{
    const struct scatter_parts *p = arg;
    if (sent)
        return (struct ft_coll_part){ft_coll_at(p->sendbuf, p->before[member] * p->esize),
                                     p->counts[member] * p->esize};
    return (struct ft_coll_part){p->own > 0 ? p->operands + (size_t)member * p->own : NULL, p->own};
}

void ft_reduce_scatter(const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                       const size_t *counts, size_t esize, const struct ft_reducer *op)
{
    ft_coll_enter(c);
    size_t own = counts[c->rank] * esize;
    char *operands = own > 0 ? ft_coll_need(c, 0, own * (size_t)c->size) : NULL;
    size_t *before = ft_coll_need(c, 1, (size_t)c->size * sizeof *before);
    before[0] = 0;
    for (int i = 1; i < c->size; i++)
        before[i] = before[i - 1] + counts[i - 1];
    if (own > 0)
        memcpy(operands + (size_t)c->rank * own, ft_coll_at(sendbuf, before[c->rank] * esize), own);
    ft_coll_spread(c, FT_TAG_REDUCE_SCATTER, part,
                   &(struct scatter_parts){sendbuf, before, counts, esize, own, operands});
    /* Not earlier: recvbuf may be the buffer that was sent from. */
    if (own > 0)
        memcpy(recvbuf, ft_coll_reduce_here(operands, c->size, counts[c->rank], esize, op), own);
    ft_coll_leave();
}
