/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alltoall.c - alltoallv by pairwise exchange: in step k everyone sends to the k-th after it and receives from the k-th before
 * it, so that no member is the target of all at once. Pairs without data exchange nothing.
 */
#include "coll/coll_internal.h"

void ft_alltoallv(const struct ft_ctx *c, const void *sendbuf, const size_t *soffs, const size_t *slens, void *recvbuf,
                  const size_t *roffs, const size_t *rlens)
{
    ft_coll_enter(c);
    int me = c->rank;
    ft_coll_copy_own(c, FT_TAG_ALLTOALL, ft_coll_at(recvbuf, roffs[me]), rlens[me], ft_coll_at(sendbuf, soffs[me]), slens[me]);
    for (int k = 1; k < c->size; k++) {
        int dst = ft_coll_next(c, k), src = ft_coll_prev(c, k);
        ft_coll_exchange(c, FT_TAG_ALLTOALL, dst, ft_coll_at(sendbuf, soffs[dst]), slens[dst], src,
                         ft_coll_at(recvbuf, roffs[src]), rlens[src]);
        ft_failpoint(COLL_ROUND);
    }
    ft_coll_leave();
}
