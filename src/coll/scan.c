/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scan.c - scan and exscan: from rank to rank in small groups, else by recursive doubling.
 *
 * In a small group a member combines the operands before it from left to right, and the order does
 * not depend on the count. Short operands come from all members before it. Of longer vectors each
 * member passes on the result up to itself, which moves the fewest bytes.
 *
 * Recursive doubling: after the step of distance d a member knows the reduction over its aligned
 * block of 2d ranks, and over those ranks of the block that are before it (scan: and itself). Where
 * the group ends inside a block, the block's reduction may lack ranks. It is then the last block,
 * and nobody after it asks. Everything is combined in rank order. In the last step only the later
 * ranks learn something, as nobody asks for a block's reduction any more.
 */
#include "coll/coll_internal.h"

static void doubling(const struct ft_ctx *c, enum ft_coll_tag tag, const void *sendbuf,
                     void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op)
{
    FT_ASSERT(esize > 0);
    size_t bytes = count * esize;
    char *block = ft_coll_need(c, 0, bytes), *theirs = ft_coll_need(c, 1, bytes);
    int have = tag == FT_TAG_SCAN; /* recvbuf holds something */
    /* The block's reduction so far: in place there, or in `block`. */
    const char *cur = sendbuf;
    if (have)
        ft_coll_copy(recvbuf, sendbuf, bytes);
    for (int d = 1; d < c->size; d *= 2) {
        int partner = c->rank ^ d;
        if (partner >= c->size)
            continue;
        int before = partner < c->rank, last = 2 * d >= c->size;
        ft_coll_exchange(c, tag, partner, cur, last && before ? 0 : bytes, partner, theirs,
                         last && !before ? 0 : bytes);
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

/* Both forms for small groups. */
static void few(const struct ft_ctx *c, enum ft_coll_tag tag, const void *sendbuf, void *recvbuf,
                size_t count, size_t esize, const struct ft_reducer *op)
{
    size_t bytes = count * esize;
    int rank = c->rank, scans = tag == FT_TAG_SCAN, each = bytes <= FT_COLL_SHORT,
        sums = scans || (!each && rank > 0);
    char *before = ft_coll_need(c, 0, bytes), *next = ft_coll_need(c, 1, bytes),
         *sum = scans ? recvbuf : next;
    struct ft_req req[FT_COLL_FEW];
    int sent = 0;
    for (int i = rank + 1; i < c->size && (each || rank + i == 1); i++)
        ft_coll_isend(&req[sent++], c, tag, i, sendbuf, bytes);
    if (sums)
        ft_coll_copy(sum, sendbuf, bytes);
    for (int i = each ? 0 : rank - 1; i >= 0 && i < rank; i++) {
        int first = i == 0 || !each;
        ft_coll_recv(c, tag, i, first ? before : next, bytes);
        ft_failpoint(COLL_ROUND);
        if (first)
            continue;
        op->apply(op->arg, before, next, count);
        char *t = before;
        before = next;
        next = t;
    }
    for (int i = 0; i < sent; i++) /* before recvbuf changes: it may be sendbuf */
        ft_coll_finish(&req[i]);
    if (rank == 0)
        return;
    if (sums)
        op->apply(op->arg, before, sum, count);
    if (!each && rank + 1 < c->size)
        ft_coll_send(c, tag, rank + 1, sum, bytes);
    if (!scans)
        memcpy(recvbuf, before, bytes);
}

static void combine_before(const struct ft_ctx *c, enum ft_coll_tag tag, const void *sendbuf,
                           void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op)
{
    ft_coll_enter(c);
    if (count > 0 && c->size <= FT_COLL_FEW)
        few(c, tag, sendbuf, recvbuf, count, esize, op);
    else if (count > 0)
        doubling(c, tag, sendbuf, recvbuf, count, esize, op);
    ft_coll_leave();
}

void ft_scan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count, size_t esize,
             const struct ft_reducer *op)
{
    combine_before(c, FT_TAG_SCAN, sendbuf, recvbuf, count, esize, op);
}

void ft_exscan(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
               size_t esize, const struct ft_reducer *op)
{
    combine_before(c, FT_TAG_EXSCAN, sendbuf, recvbuf, count, esize, op);
}
