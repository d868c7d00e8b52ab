/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gather.c - gatherv and scatterv, linear: one message between the root and each other member.
 *
 * Why not a tree: each byte must be copied into or out of the root's memory once in any case, and
 * here it is copied straight between the log and its place. A tree forwards half of all bytes in
 * every round, packs and unpacks them, and only the root knows the lengths. A tree would only save
 * messages at the root, at a tenth of a microsecond each, which does not matter up to some hundred
 * members.
 */
#include "coll/coll_internal.h"

#define UNDER_WAY 8

void ft_gatherv(const struct ft_ctx *c, const void *sendbuf, size_t sendlen, void *recvbuf,
                const size_t *offs, const size_t *lens, int root)
{
    ft_coll_enter(c);
    FT_ASSERT(root >= 0 && root < c->size);
    if (c->rank != root) {
        if (sendlen > 0)
            ft_coll_send(c, FT_TAG_GATHER, root, sendbuf, sendlen);
        ft_coll_leave();
        return;
    }
    for (int i = 0; i < c->size; i++) {
        if (i != root && lens[i] > 0)
            ft_coll_recv(c, FT_TAG_GATHER, i, ft_coll_at(recvbuf, offs[i]), lens[i]);
        ft_failpoint(COLL_ROUND);
    }
    /* Last, because the others may be waiting for their parts to be copied. */
    ft_coll_copy_own(c, FT_TAG_GATHER, ft_coll_at(recvbuf, offs[root]), lens[root], sendbuf,
                     sendlen);
    ft_coll_leave();
}

/* Sends to all others. Receivers that copy messages themselves can do so at the same time. */
static void send_at_once(const struct ft_ctx *c, const void *sendbuf, const size_t *offs,
                         const size_t *lens)
{
    struct ft_req req[UNDER_WAY];
    for (int done = 0; done < c->size; done += UNDER_WAY) {
        int n = c->size - done < UNDER_WAY ? c->size - done : UNDER_WAY;
        for (int i = 0; i < n; i++)
            if (done + i != c->rank && lens[done + i] > 0)
                ft_coll_isend(&req[i], c, FT_TAG_SCATTER, done + i,
                              ft_coll_at(sendbuf, offs[done + i]), lens[done + i]);
        for (int i = 0; i < n; i++)
            if (done + i != c->rank && lens[done + i] > 0)
                ft_coll_finish(&req[i]);
    }
}

void ft_scatterv(const struct ft_ctx *c, const void *sendbuf, const size_t *offs,
                 const size_t *lens, void *recvbuf, size_t recvlen, int root)
{
    ft_coll_enter(c);
    FT_ASSERT(root >= 0 && root < c->size);
    if (c->rank != root) {
        if (recvlen > 0)
            ft_coll_recv(c, FT_TAG_SCATTER, root, recvbuf, recvlen);
        ft_coll_leave();
        return;
    }
    size_t longest = 0;
    for (int i = 0; i < c->size; i++)
        longest = lens[i] > longest ? lens[i] : longest;
    if (ft_msg_copied_once(longest))
        send_at_once(c, sendbuf, offs, lens);
    for (int i = 0; i < c->size; i++) {
        if (i == root)
            ft_coll_copy_own(c, FT_TAG_SCATTER, recvbuf, recvlen, ft_coll_at(sendbuf, offs[i]),
                             lens[i]);
        else if (lens[i] > 0 && !ft_msg_copied_once(longest))
            ft_coll_send(c, FT_TAG_SCATTER, i, ft_coll_at(sendbuf, offs[i]), lens[i]);
        ft_failpoint(COLL_ROUND);
    }
    ft_coll_leave();
}
