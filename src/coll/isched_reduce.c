/* SPDX-License-Identifier: BSD-3-Clause
 *
 * isched_reduce.c - schedules of reductions and scans. They follow the same tree, or steps, as the
 * blocking ones (reduce.c, scan.c, reduce_scatter.c), with complete vectors for any count, and so
 * give the same bits.
 */
#include "coll/coll_internal.h"
#include "coll/isched.h"
#include "coll/sched.h"

/* What this member has of the result so far. cur is the caller's sendbuf, which is not written to,
 * or one of a and b. The result must end up in a; in place, cur starts as a. */
struct scheduled_partial {
    struct ft_sched *s;
    const struct ft_ctx *c;
    const struct ft_reducer *op;
    size_t count, bytes;
    const char *cur;
    char *a, *b;
};

static void send_cur(const struct scheduled_partial *p, int dst)
{
    ft_sched_send(p->s, p->c->world[dst], p->cur, p->bytes);
}

static void settle(struct scheduled_partial *p)
{
    ft_sched_copy(p->s, p->a, p->cur, p->bytes);
    p->cur = p->a;
}

/* Receives the partner's partial result and combines it with the own, the lower rank's on the left.
 * give: sends the own one as well. The result is written over the right operand. */
static void combine(struct scheduled_partial *p, int partner, int give)
{
    int theirs_left = partner < p->c->rank;

    if (give)
        send_cur(p, partner);
    if (theirs_left && p->cur != p->a && p->cur != p->b)
        settle(p);
    char *theirs = p->cur == p->a ? p->b : p->a;
    ft_sched_recv(p->s, p->c->world[partner], theirs, p->bytes);
    ft_sched_round(p->s);
    if (theirs_left) {
        ft_sched_reduce(p->s, p->op, theirs, p->cur == p->a ? p->a : p->b, p->count);
    } else {
        ft_sched_reduce(p->s, p->op, p->cur, theirs, p->count);
        p->cur = theirs;
    }
}

/* Returns the leaf for which this member stands; -1 when it is the second of a pair and hands its
 * operand over. */
static int fold(struct scheduled_partial *p, struct ft_coll_tree t)
{
    int rank = p->c->rank;
    if (rank >= 2 * t.folded)
        return rank - t.folded;
    if (rank % 2 == 1) {
        send_cur(p, rank - 1);
        return -1;
    }
    combine(p, rank + 1, 0);
    return rank / 2;
}

void ft_sched_allreduce(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op)
{
    size_t bytes = count * esize;
    if (count == 0 || c->size == 1) {
        ft_sched_copy(s, recvbuf, sendbuf, bytes);
        return;
    }
    struct ft_coll_tree t = ft_coll_tree_of(c->size);
    struct scheduled_partial p = {s,     c,       op,      count,
                                  bytes, sendbuf, recvbuf, ft_sched_memory(s, bytes)};
    int leaf = fold(&p, t);
    if (leaf < 0) { /* what comes has waited for what was sent, also if both are one buffer */
        ft_sched_recv(s, c->world[c->rank - 1], recvbuf, bytes);
        return;
    }
    for (int d = 1; d < t.leaves; d *= 2)
        combine(&p, ft_coll_leaf_first(t, leaf ^ d), 1);
    settle(&p);
    if (c->rank < 2 * t.folded)
        send_cur(&p, c->rank + 1);
}

void ft_sched_reduce_to(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                        void *recvbuf, size_t count, size_t esize, const struct ft_reducer *op,
                        int root)
{
    size_t bytes = count * esize;
    FT_ASSERT(root >= 0 && root < c->size);
    if (count == 0 || c->size == 1) {
        ft_sched_copy(s, recvbuf, sendbuf, bytes);
        return;
    }
    struct ft_coll_tree t = ft_coll_tree_of(c->size);
    char *a = c->rank == root ? recvbuf : ft_sched_memory(s, bytes);
    struct scheduled_partial p = {s, c, op, count, bytes, sendbuf, a, ft_sched_memory(s, bytes)};
    int leaf = fold(&p, t), d = 1;
    for (; leaf >= 0 && d < t.leaves && !(leaf & d); d *= 2)
        combine(&p, ft_coll_leaf_first(t, leaf + d), 0);
    if (leaf > 0)
        send_cur(&p, ft_coll_leaf_first(t, leaf - d));
    if (root == 0 && leaf == 0) {
        settle(&p);
    } else if (leaf == 0) {
        send_cur(&p, root);
    } else if (c->rank == root) {
        ft_sched_round(s); /* what it has sent may have been in a */
        ft_sched_recv(s, c->world[0], a, bytes);
    }
}

/* As `few` in scan.c, from rank to rank for any count. */
static void scan_few(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                     size_t count, size_t bytes, const struct ft_reducer *op, int exclusive)
{
    int passes_on = c->rank + 1 < c->size, sums = !exclusive || passes_on;
    if (c->rank == 0) {
        if (passes_on)
            ft_sched_send(s, c->world[1], sendbuf, bytes);
        if (!exclusive)
            ft_sched_copy(s, recvbuf, sendbuf, bytes);
        return;
    }
    char *before = ft_sched_memory(s, bytes),
         *sum = exclusive ? ft_sched_memory(s, bytes) : recvbuf;
    if (sums)
        ft_sched_copy(s, sum, sendbuf, bytes);
    ft_sched_recv(s, c->world[c->rank - 1], before, bytes);
    ft_sched_round(s);
    if (sums)
        ft_sched_reduce(s, op, before, sum, count);
    if (passes_on)
        ft_sched_send(s, c->world[c->rank + 1], sum, bytes);
    if (exclusive)
        ft_sched_copy(s, recvbuf, before, bytes);
}

/* exclusive: recvbuf holds nothing at the begin. */
static void scan(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                 size_t count, size_t esize, const struct ft_reducer *op, int exclusive)
{
    size_t bytes = count * esize;
    if (bytes == 0)
        return;
    if (c->size <= FT_COLL_FEW) {
        scan_few(s, c, sendbuf, recvbuf, count, bytes, op, exclusive);
        return;
    }
    char *block = ft_sched_memory(s, bytes), *theirs = ft_sched_memory(s, bytes);
    int have = !exclusive;
    ft_sched_copy(s, block, sendbuf, bytes);
    if (have)
        ft_sched_copy(s, recvbuf, sendbuf, bytes);
    for (int d = 1; d < c->size; d *= 2) {
        int partner = c->rank ^ d;
        if (partner >= c->size)
            continue;
        int before = partner < c->rank, last = 2 * d >= c->size; /* see scan.c */
        if (!last || !before)
            ft_sched_send(s, c->world[partner], block, bytes);
        if (!last || before)
            ft_sched_recv(s, c->world[partner], theirs, bytes);
        ft_sched_round(s);
        if (before && have)
            ft_sched_reduce(s, op, theirs, recvbuf, count);
        else if (before)
            ft_sched_copy(s, recvbuf, theirs, bytes);
        have |= before;
        if (!last && before) {
            ft_sched_reduce(s, op, theirs, block, count);
        } else if (!last) {
            ft_sched_reduce(s, op, block, theirs, count);
            char *t = block;
            block = theirs;
            theirs = t;
        }
    }
    FT_ASSERT(have || c->rank == 0);
}

void ft_sched_scan(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                   size_t count, size_t esize, const struct ft_reducer *op)
{
    scan(s, c, sendbuf, recvbuf, count, esize, op, 0);
}

void ft_sched_exscan(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf, void *recvbuf,
                     size_t count, size_t esize, const struct ft_reducer *op)
{
    scan(s, c, sendbuf, recvbuf, count, esize, op, 1);
}

/* As reduce_here in reduce_scatter.c. The result takes the last operand's place. */
static void reduce_here(struct ft_sched *s, char *operands, int size, size_t count, size_t esize,
                        const struct ft_reducer *op)
{
    struct ft_coll_tree t = ft_coll_tree_of(size);
    size_t bytes = count * esize;
    for (int leaf = 0; leaf < t.folded; leaf++) {
        char *left = operands + (size_t)ft_coll_leaf_first(t, leaf) * bytes;
        ft_sched_reduce(s, op, left, left + bytes, count);
    }
    for (int d = 1; d < t.leaves; d *= 2)
        for (int leaf = d - 1; leaf + d < t.leaves; leaf += 2 * d)
            ft_sched_reduce(s, op, operands + (size_t)ft_coll_leaf_last(t, leaf) * bytes,
                            operands + (size_t)ft_coll_leaf_last(t, leaf + d) * bytes, count);
}

void ft_sched_reduce_scatter(struct ft_sched *s, const struct ft_ctx *c, const void *sendbuf,
                             void *recvbuf, const size_t *counts, size_t esize,
                             const struct ft_reducer *op)
{
    size_t own = counts[c->rank] * esize, before = 0;
    char *operands = ft_sched_memory(s, own * (size_t)c->size);
    for (int i = 0; i < c->size; i++) {
        const void *part = ft_coll_at(sendbuf, before * esize);
        if (i == c->rank)
            ft_sched_copy(s, operands + (size_t)i * own, part, own);
        else if (counts[i] > 0)
            ft_sched_send(s, c->world[i], part, counts[i] * esize);
        before += counts[i];
    }
    for (int i = 0; own > 0 && i < c->size; i++)
        if (i != c->rank)
            ft_sched_recv(s, c->world[i], operands + (size_t)i * own, own);
    ft_sched_round(s); /* recvbuf may be the buffer that was sent from */
    reduce_here(s, operands, c->size, counts[c->rank], esize, op);
    ft_sched_copy(s, recvbuf, operands + (size_t)(c->size - 1) * own, own);
}
