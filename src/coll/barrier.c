/* SPDX-License-Identifier: BSD-3-Clause
 *
 * barrier.c - dissemination: in round k a member tells the one 2^k after it and hears from the one 2^k before it. After
 * ceil(log2 size) rounds each has heard, directly or not, from all. Nothing but its own call holds up what a member sends.
 */
#include "coll/coll_internal.h"

void ft_barrier(const struct ft_ctx *c)
{
    ft_coll_enter(c);
    for (int k = 1; k < c->size; k *= 2) {
        struct ft_req req = {0};
        ft_coll_isend(&req, c, FT_TAG_BARRIER, ft_coll_next(c, k), NULL, 0);
        ft_coll_recv(c, FT_TAG_BARRIER, ft_coll_prev(c, k), NULL, 0);
        ft_coll_finish(&req);
        ft_failpoint(COLL_ROUND);
    }
    ft_coll_leave();
}
