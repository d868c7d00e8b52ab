/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scan.c - scan and exscan by recursive doubling.
 *
 * After the step of distance d a member knows the reduction over the aligned block of 2d ranks that it is in, and over those
 * of them before it (scan: and itself). Where the group ends inside a block, the reduction over the block may lack ranks; it is
 * then the last block, and nobody behind it asks. Everything is combined in rank order. In the last step only those behind
 * learn something: what a block holds is not asked for any more.
 */
#include "coll/coll_internal.h"

static void scan(const struct ft_ctx *c, enum ft_coll_tag tag, const void *sendbuf, void *recvbuf, size_t count, size_t esize,
                 const struct ft_reducer *op)
{
    FT_ASSERT(esize > 0);
    size_t bytes = count * esize;
    char *block = ft_coll_need(c, 0, bytes), *theirs = ft_coll_need(c, 1, bytes);
    int have = tag == FT_TAG_SCAN; /* recvbuf holds something */
    /* What the block comes to so far: there, or in block. */
    const char *cur = sendbuf;
    if (have)
        ft_coll_copy(recvbuf, sendbuf, bytes);
    for (int d = 1; d < c->size; d *= 2) {
        int partner = c->rank ^ d;
        if (partner >= c->size)
            continue;
        int before = partner < c->rank, last = 2 * d >= c->size;
        ft_coll_exchange(c, tag, partner, cur, last && before ? 0 : bytes, partner, theirs, last && !before ? 0 : bytes);
        if (before && !last && cur != block)
            cur = memcpy(block, cur, bytes); /* before recvbuf changes: it may be sendbuf */
        if (before && have)
            op->apply(op->arg, theirs, recvbuf, count);
        else if (before)
            memcpy(recvbuf, theirs, bytes);
        have |= before;
        if (!last && before) {
            op->apply(op->arg, theirs, block, count);
        } else if (!last) {
            op->apply(op->arg, cur, theirs, count);
            char *t = block;
            cur = block = theirs;
            theirs = t;
        }
        ft_failpoint(COLL_ROUND);
    }
    FT_ASSERT(have || c->rank == 0);
}

void ft_scan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op)
{
    ft_coll_enter(c);
    if (count > 0)
        scan(c, FT_TAG_SCAN, sendbuf, recvbuf, count, esize, op);
    ft_coll_leave();
}

void ft_exscan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count, size_t esize,
               const struct ft_reducer *op)
{
    ft_coll_enter(c);
    if (count > 0)
        scan(c, FT_TAG_EXSCAN, sendbuf, recvbuf, count, esize, op);
    ft_coll_leave();
}
