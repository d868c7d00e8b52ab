/* SPDX-License-Identifier: BSD-3-Clause
 *
 * barrier.c - dissemination: in round k a member notifies the member 2^k after it and hears from
 * the one 2^k before it. After ceil(log2 size) rounds each has heard from all, directly or not. A
 * member's sends depend on nothing but its own call.
 *
 * In a small group rank 0 hears from all and then notifies all. Nobody needs more steps, there are
 * fewer messages, and rank 0, which often distributes something after a barrier, leaves it first.
 */
#include "coll/coll_internal.h"

static void by_rank_0(const struct ft_ctx *c)
{
    if (c->rank > 0) {
        ft_coll_send(c, FT_TAG_BARRIER, 0, NULL, 0);
        ft_coll_recv(c, FT_TAG_BARRIER, 0, NULL, 0);
        ft_failpoint(COLL_ROUND);
        return;
    }
    for (int i = 1; i < c->size; i++)
        ft_coll_recv(c, FT_TAG_BARRIER, i, NULL, 0);
    ft_failpoint(COLL_ROUND);
    for (int i = 1; i < c->size; i++)
        ft_coll_send(c, FT_TAG_BARRIER, i, NULL, 0);
}

/* Each member notifies every other: the last one to come continues at once. */
static void by_all(const struct ft_ctx *c)
{
    struct ft_req req[FT_COLL_FEW];
    for (int k = 1; k < c->size; k++)
        ft_coll_isend(&req[k], c, FT_TAG_BARRIER, ft_coll_next(c, k), NULL, 0);
    for (int k = 1; k < c->size; k++)
        ft_coll_recv(c, FT_TAG_BARRIER, ft_coll_prev(c, k), NULL, 0);
    for (int k = 1; k < c->size; k++)
        ft_coll_finish(&req[k]);
    ft_failpoint(COLL_ROUND);
}

static void dissemination(const struct ft_ctx *c)
{
    for (int k = 1; k < c->size; k *= 2) {
        struct ft_req req = {0};
        ft_coll_isend(&req, c, FT_TAG_BARRIER, ft_coll_next(c, k), NULL, 0);
        ft_coll_recv(c, FT_TAG_BARRIER, ft_coll_prev(c, k), NULL, 0);
        ft_coll_finish(&req);
        ft_failpoint(COLL_ROUND);
    }
}

void ft_gsync(const struct ft_ctx *c)
{
    ft_coll_enter(c);
    if (c->size <= FT_COLL_FEW)
        by_all(c);
    else
        dissemination(c);
    ft_coll_leave();
}

void ft_barrier(const struct ft_ctx *c)
{
    ft_coll_enter(c);
    if (c->size > 2 && c->size <= FT_COLL_FEW)
        by_rank_0(c);
    else
        dissemination(c);
    ft_coll_leave();
}
