/* SPDX-License-Identifier: BSD-3-Clause
 *
 * isched.c - schedules of collectives that move data.
 *
 * All data that goes straight from its owner to where it belongs is sent in round 0. Gather,
 * scatter, allgather and alltoall have only that round. So nobody forwards for others, these
 * collectives make progress as soon as everybody has started, and they need no note at the log
 * home. The price is size-1 messages for each member in allgather, where the blocking one takes
 * fewer for short blocks.
 */
#include "coll/isched.h"
#include "coll/coll_internal.h"
#include "coll/sched.h"

/* A side without bytes has no message, because both ends know the length. */
static void send_to(struct ft_sched *s, const struct ft_ctx *c, int dst, const void *buf,
                    size_t off, size_t len)
{
    if (len > 0)
        ft_sched_send(s, c->world[dst], ft_coll_at(buf, off), len);
}

static void recv_from(struct ft_sched *s, const struct ft_ctx *c, int src, void *buf, size_t off,
                      size_t len)
{
    if (len > 0)
        ft_sched_recv(s, c->world[src], ft_coll_at(buf, off), len);
}

static void copy_own(struct ft_sched *s, const struct ft_ctx *c, enum ft_coll_tag kind, void *dst,
                     size_t want, const void *src, size_t len)
{
    if (FT_UNLIKELY(len != want))
        ft_sched_mismatch(s, c->rank, len, want);
    (void)kind;
    ft_sched_copy(s, dst, src, len < want ? len : want);
}

/* As barrier.c: dissemination. */
void ft_sched_barrier(struct ft_sched *s, const struct ft_ctx *c)
{
    for (int k = 1; k < c->size; k *= 2) {
        ft_sched_send(s, c->world[ft_coll_next(c, k)], NULL, 0);
        ft_sched_recv(s, c->world[ft_coll_prev(c, k)], NULL, 0);
        ft_sched_round(s);
    }
}

/* As bcast.c: a binomial tree, for any length. v is the distance from the root. */
void ft_sched_bcast(struct ft_sched *s, const struct ft_ctx *c, void *buf, size_t bytes, int root)
{
    FT_ASSERT(root >= 0 && root < c->size);
    int v = ft_coll_prev(c, root), low = 1;
    while (low < c->size && !(v & low))
        low *= 2;
    if (v > 0) {
        recv_from(s, c, (v - low + root) % c->size, buf, 0, bytes);
        ft_sched_round(s);
    }
    for (int m = low / 2; m > 0; m /= 2)
        if (v + m < c->size)
            send_to(s, c, (v + m + root) % c->size, buf, 0, bytes);
}

void ft_sched_gatherv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                      size_t sendlen, void *recvbuf, const size_t *offs, const size_t *lens,
                      int root)
{
    FT_ASSERT(root >= 0 && root < c->size);
    if (c->rank != root) {
        send_to(s, c, root, sendbuf, 0, sendlen);
        return;
    }
    copy_own(s, c, FT_TAG_GATHER, ft_coll_at(recvbuf, offs[root]), lens[root], sendbuf, sendlen);
    for (int i = 0; i < c->size; i++)
        if (i != root)
            recv_from(s, c, i, recvbuf, offs[i], lens[i]);
}

void ft_sched_scatterv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                       const size_t *offs, const size_t *lens, void *recvbuf, size_t recvlen,
                       int root)
{
    FT_ASSERT(root >= 0 && root < c->size);
    if (c->rank != root) {
        recv_from(s, c, root, recvbuf, 0, recvlen);
        return;
    }
    copy_own(s, c, FT_TAG_SCATTER, recvbuf, recvlen, ft_coll_at(sendbuf, offs[root]), lens[root]);
    for (int i = 0; i < c->size; i++)
        if (i != root)
            send_to(s, c, i, sendbuf, offs[i], lens[i]);
}

void ft_sched_allgatherv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                         size_t sendlen, void *recvbuf, const size_t *offs, const size_t *lens)
{
    copy_own(s, c, FT_TAG_ALLGATHER, ft_coll_at(recvbuf, offs[c->rank]), lens[c->rank], sendbuf,
             sendlen);
    for (int k = 1; k < c->size; k++) {
        int src = ft_coll_prev(c, k);
        send_to(s, c, ft_coll_next(c, k), sendbuf, 0, sendlen);
        recv_from(s, c, src, recvbuf, offs[src], lens[src]);
    }
}

void ft_sched_alltoallv(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        const size_t *soffs, const size_t *slens, void *recvbuf,
                        const size_t *roffs, const size_t *rlens)
{
    int me = c->rank;
    copy_own(s, c, FT_TAG_ALLTOALL, ft_coll_at(recvbuf, roffs[me]), rlens[me],
             ft_coll_at(sendbuf, soffs[me]), slens[me]);
    for (int k = 1; k < c->size; k++) {
        int dst = ft_coll_next(c, k), src = ft_coll_prev(c, k);
        send_to(s, c, dst, sendbuf, soffs[dst], slens[dst]);
        recv_from(s, c, src, recvbuf, roffs[src], rlens[src]);
    }
}
