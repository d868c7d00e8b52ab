/* SPDX-License-Identifier: BSD-3-Clause
 *
 * alltoall.c - sends data straight from its owners to where it belongs, in all directions at once:
 * alltoallv, and the same for allgather (allgather.c) and reduce_scatter (reduce_scatter.c).
 *
 * A member sends to those after it and receives from those before it, the nearest first, so that no
 * member is the target of all at once. It sends to UNDER_WAY of them before it waits for any. With
 * fewer cores than ranks each wait is a process switch, and steps that waited for their partners
 * would have one each. Pairs without data exchange nothing.
 */
#include "coll/coll_internal.h"
#include "coll/spread.h"

#define UNDER_WAY 8

void ft_coll_spread(const struct ft_ctx *c, enum ft_coll_tag tag, ft_coll_parts *parts,
                    const void *arg)
{
    struct ft_req req[UNDER_WAY];
    for (int first = 1; first < c->size; first += UNDER_WAY) {
        int end = c->size - first < UNDER_WAY ? c->size : first + UNDER_WAY, n = 0;
        for (int k = first; k < end; k++) {
            struct ft_coll_part s = parts(arg, ft_coll_next(c, k), 1);
            req[n] = (struct ft_req){0};
            if (s.len > 0)
                ft_coll_isend(&req[n++], c, tag, ft_coll_next(c, k), s.at, s.len);
        }
        for (int k = first; k < end; k++) {
            struct ft_coll_part r = parts(arg, ft_coll_prev(c, k), 0);
            if (r.len > 0)
                ft_coll_recv(c, tag, ft_coll_prev(c, k), r.at, r.len);
            ft_failpoint(COLL_ROUND);
        }
        for (int i = 0; i < n; i++)
            ft_coll_finish(&req[i]);
    }
}

struct vectors {
    const void *sendbuf;
    void *recvbuf;
    const size_t *soffs, *slens, *roffs, *rlens;
};

static struct ft_coll_part part(const void *arg, int member, int sent)
{
    const struct vectors *v = arg;
    return sent ? (struct ft_coll_part){ft_coll_at(v->sendbuf, v->soffs[member]), v->slens[member]}
                : (struct ft_coll_part){ft_coll_at(v->recvbuf, v->roffs[member]), v->rlens[member]};
}

void ft_alltoallv(const struct ft_ctx *c, const void *sendbuf, const size_t *soffs,
                  const size_t *slens, void *recvbuf, const size_t *roffs, const size_t *rlens)
{
    struct vectors v = {sendbuf, recvbuf, soffs, slens, roffs, rlens};
    int me = c->rank;
    ft_coll_enter(c);
    ft_coll_spread(c, FT_TAG_ALLTOALL, part, &v);
    ft_coll_copy_own(c, FT_TAG_ALLTOALL, ft_coll_at(recvbuf, roffs[me]), rlens[me],
                     ft_coll_at(sendbuf, soffs[me]), slens[me]);
    ft_coll_leave();
}
