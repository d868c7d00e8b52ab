/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reduce.c - reduce and allreduce, along the tree of reduce_tree.h.
 *
 * The second rank of each folded pair hands its operand to the first and, in allreduce, gets the
 * result from it. Among the leaves:
 *
 *   short   in a small group everybody sends its operand to all who want the result, and these
 *           follow the tree by themselves.
 *   small   allreduce: recursive doubling; reduce: a binomial tree, whose last step is the root's:
 *           a tree that ended at the root would have another order for another root. Also reduce
 *           in a small group, whatever the length: half as many bytes are moved.
 *   large   recursive halving: in the step of distance 1, 2, 4... the two give each other one half
 *           of what they have left and combine the other. Allreduce then goes the steps back,
 *           doubling; reduce gathers the shares at the root. (Rabenseifner, Optimization of
 *           Collective Reduction Operations, 2004.) As the distances grow, the steps follow the
 *           tree, and the larger pieces stay among neighbours. Two ranks just swap halves twice.
 */
#include "coll/coll_internal.h"
#include "coll/spread.h"

#define LARGE ((size_t)16 * 1024)

/* Elements lo <= i < hi. */
struct element_range {
    size_t lo, hi;
};

/* Sends for which nobody waits yet. What halve_down gives away is not written to before regather
 * brings it back, and the partner has read it by then. What regather sends is not written to any
 * more. With fewer cores than ranks each wait is a process switch, and without logs, where the
 * partner reads from this process's memory, there would be one for each step. */
struct under_way {
    struct ft_req req[2 * 31]; /* two for each bit of a leaf */
    int n;
};

/* What this member has of the result so far. `cur` is the caller's sendbuf, which is not written
 * to, until there is something new in `a` or `b`. All three are addressed like the full vector. The
 * result must end up in a; in place, cur starts as a. */
struct partial {
    const struct ft_ctx *c;
    enum ft_coll_tag tag;
    const struct ft_reducer *op;
    size_t esize;
    const char *cur;
    char *a, *b;
    struct under_way *later; /* NULL: each step ends with its send */
};

static struct element_range half(struct element_range r, int upper)
{
    size_t mid = r.lo + (r.hi - r.lo) / 2;
    return upper ? (struct element_range){mid, r.hi} : (struct element_range){r.lo, mid};
}

/* The elements that are left to a leaf after the halving steps of all distances below
 * `distance`. */
static struct element_range share(size_t count, int leaf, int distance)
{
    struct element_range r = {0, count};
    for (int d = 1; d < distance; d *= 2)
        r = half(r, leaf & d);
    return r;
}

static void send_range(const struct partial *p, int dst, const char *from, struct element_range r)
{
    ft_coll_send(p->c, p->tag, dst, from + r.lo * p->esize, (r.hi - r.lo) * p->esize);
}

static void send_later(struct partial *p, int dst, const char *from, struct element_range r)
{
    FT_ASSERT(p->later->n < (int)FT_COUNTOF(p->later->req));
    struct ft_req *req = &p->later->req[p->later->n++];
    *req = (struct ft_req){0};
    ft_coll_isend(req, p->c, p->tag, dst, from + r.lo * p->esize, (r.hi - r.lo) * p->esize);
}

static void finish_all(struct partial *p)
{
    for (int i = 0; i < p->later->n; i++)
        ft_coll_finish(&p->later->req[i]);
    p->later = NULL;
}

static void recv_range(const struct partial *p, int src, char *into, struct element_range r)
{
    ft_coll_recv(p->c, p->tag, src, into + r.lo * p->esize, (r.hi - r.lo) * p->esize);
}

/* Moves r to where the result must be. */
static void settle(struct partial *p, struct element_range r)
{
    ft_coll_copy(p->a + r.lo * p->esize, p->cur + r.lo * p->esize, (r.hi - r.lo) * p->esize);
    p->cur = p->a;
}

/* Receives `keep` of the partner's partial result and combines it with the own, the lower rank's on
 * the left. Meanwhile it sends the partner `give` of the own, if that is not empty. The result is
 * written over the right operand, so a copy is needed only if that is the caller's sendbuf. */
static void combine(struct partial *p, int partner, struct element_range give,
                    struct element_range keep)
{
    size_t at = keep.lo * p->esize, count = keep.hi - keep.lo;
    int theirs_left = partner < p->c->rank;
    int gives = give.hi > give.lo && !p->later;
    struct ft_req req = {0};
    FT_ASSERT(partner != p->c->rank && count > 0);

    if (gives)
        ft_coll_isend(&req, p->c, p->tag, partner, p->cur + give.lo * p->esize,
                      (give.hi - give.lo) * p->esize);
    else if (p->later)
        send_later(p, partner, p->cur, give);
    if (theirs_left && p->cur != p->a && p->cur != p->b)
        settle(p, keep);
    char *theirs = p->cur == p->a ? p->b : p->a;
    recv_range(p, partner, theirs, keep);
    if (gives)
        ft_coll_finish(&req);
    if (theirs_left) {
        p->op->apply(p->op->arg, theirs + at, (p->cur == p->a ? p->a : p->b) + at, count);
    } else {
        p->op->apply(p->op->arg, p->cur + at, theirs + at, count);
        p->cur = theirs;
    }
    ft_failpoint(COLL_ROUND);
}

/* Returns the leaf for which this member stands; -1 when it is the second of a pair and has handed
 * its operand over. */
static int fold(struct partial *p, struct ft_coll_tree t, struct element_range all)
{
    int rank = p->c->rank;
    if (rank >= 2 * t.folded)
        return rank - t.folded;
    if (rank % 2 == 1) {
        send_range(p, rank - 1, p->cur, all);
        ft_failpoint(COLL_ROUND);
        return -1;
    }
    combine(p, rank + 1, (struct element_range){0, 0}, all);
    return rank / 2;
}

/* All operands are in the places of their ranks; the result goes to recvbuf. */
static void reduce_all(const struct ft_ctx *c, char *operands, const void *own, void *recvbuf,
                       size_t count, size_t esize, const struct ft_reducer *op)
{
    memcpy(operands + (size_t)c->rank * count * esize, own, count * esize);
    memcpy(recvbuf, ft_coll_reduce_here(operands, c->size, count, esize, op), count * esize);
}

/* The exchange of allreduce for short vectors: each sends the same to all, and receives each vector
 * into its place. */
struct short_vectors {
    const void *own;
    size_t bytes;
    char *operands;
};

static struct ft_coll_part part(const void *arg, int member, int sent)
{
    const struct short_vectors *v = arg;
    return (struct ft_coll_part){
        sent ? ft_coll_at(v->own, 0) : v->operands + (size_t)member * v->bytes, v->bytes};
}

static int is_large(struct ft_coll_tree t, size_t count, size_t esize)
{
    return count * esize >= LARGE && count >= (size_t)t.leaves; /* no share is empty */
}

static void double_up(struct partial *p, struct ft_coll_tree t, int leaf, struct element_range all)
{
    for (int d = 1; d < t.leaves; d *= 2)
        combine(p, ft_coll_leaf_first(t, leaf ^ d), all, all);
    settle(p, all);
}

static void halve_down(struct partial *p, struct ft_coll_tree t, int leaf, size_t count)
{
    for (int d = 1; d < t.leaves; d *= 2) {
        struct element_range r = share(count, leaf, d);
        combine(p, ft_coll_leaf_first(t, leaf ^ d), half(r, !(leaf & d)), half(r, leaf & d));
    }
}

/* The steps of halve_down backwards: each brings back what was given away in that step. */
static void regather(struct partial *p, struct ft_coll_tree t, int leaf, size_t count)
{
    settle(p, share(count, leaf, t.leaves));
    for (int d = t.leaves / 2; d > 0; d /= 2) {
        struct element_range have = share(count, leaf, 2 * d), lack = share(count, leaf ^ d, 2 * d);
        int partner = ft_coll_leaf_first(t, leaf ^ d);
        send_later(p, partner, p->a, have);
        recv_range(p, partner, p->a, lack);
        ft_failpoint(COLL_ROUND);
    }
}

void ft_allreduce(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
                  size_t esize, const struct ft_reducer *op)
{
    ft_coll_enter(c);
    if (count == 0 || c->size == 1) {
        ft_coll_copy(recvbuf, sendbuf, count * esize);
        ft_coll_leave();
        return;
    }
    FT_ASSERT(esize > 0);
    if (ft_coll_at_once(c, count * esize)) {
        char *operands = ft_coll_need(c, 0, count * esize * (size_t)c->size);
        ft_coll_spread(c, FT_TAG_ALLREDUCE, part,
                       &(struct short_vectors){sendbuf, count * esize, operands});
        reduce_all(c, operands, sendbuf, recvbuf, count, esize, op);
        ft_coll_leave();
        return;
    }
    struct ft_coll_tree t = ft_coll_tree_of(c->size);
    struct element_range all = {0, count};
    struct partial p = {
        c, FT_TAG_ALLREDUCE, op, esize, sendbuf, recvbuf, ft_coll_need(c, 1, count * esize), NULL};
    int leaf = fold(&p, t, all);
    if (leaf < 0) {
        recv_range(&p, c->rank - 1, recvbuf, all);
    } else {
        if (is_large(t, count, esize)) {
            struct under_way later;
            later.n = 0;
            p.later = &later;
            halve_down(&p, t, leaf, count);
            regather(&p, t, leaf, count);
            finish_all(&p);
        } else {
            double_up(&p, t, leaf, all);
        }
        if (c->rank < 2 * t.folded)
            send_range(&p, c->rank + 1, recvbuf, all);
    }
    ft_coll_leave();
}

/* Small reduce among the leaves. The last two, or one of them, send to the root. */
static void climb(struct partial *p, struct ft_coll_tree t, int leaf, struct element_range all,
                  int root)
{
    int d = 1, top = t.leaves / 2, left = ft_coll_leaf_first(t, 0),
        right = ft_coll_leaf_first(t, top), rank = p->c->rank;
    for (; leaf >= 0 && d < top && !(leaf & d); d *= 2)
        combine(p, ft_coll_leaf_first(t, leaf + d), (struct element_range){0, 0}, all);
    if (leaf >= 0 && d < top)
        send_range(p, ft_coll_leaf_first(t, leaf - d), p->cur, all);
    else if (leaf >= 0 && rank != root)
        send_range(p, root, p->cur, all);
    if (rank != root)
        return;
    if (rank == left || rank == right) {
        combine(p, rank == left ? right : left, (struct element_range){0, 0}, all);
        settle(p, all);
        return;
    }
    recv_range(p, left, p->b, all);
    recv_range(p, right, p->a, all);
    p->op->apply(p->op->arg, p->b, p->a, all.hi);
}

/* Short vectors in a small group: the root receives all. */
static void flat(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
                 size_t esize, const struct ft_reducer *op, int root)
{
    size_t bytes = count * esize;
    if (c->rank != root) {
        ft_coll_send(c, FT_TAG_REDUCE, root, sendbuf, bytes);
        return;
    }
    char *operands = ft_coll_need(c, 0, bytes * (size_t)c->size);
    for (int i = 0; i < c->size; i++)
        if (i != root)
            ft_coll_recv(c, FT_TAG_REDUCE, i, operands + (size_t)i * bytes, bytes);
    ft_failpoint(COLL_ROUND);
    reduce_all(c, operands, sendbuf, recvbuf, count, esize, op);
}

/* Large reduce: the root receives every leaf's share into its place. */
static void collect(struct partial *p, struct ft_coll_tree t, int leaf, size_t count, int root)
{
    if (p->c->rank != root) {
        if (leaf >= 0)
            send_range(p, root, p->cur, share(count, leaf, t.leaves));
        return;
    }
    if (leaf >= 0)
        settle(p, share(count, leaf, t.leaves));
    for (int l = 0; l < t.leaves; l++) {
        if (l == leaf)
            continue;
        recv_range(p, ft_coll_leaf_first(t, l), p->a, share(count, l, t.leaves));
        ft_failpoint(COLL_ROUND);
    }
}

void ft_reduce(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t count,
               size_t esize, const struct ft_reducer *op, int root)
{
    ft_coll_enter(c);
    FT_ASSERT(root >= 0 && root < c->size);
    if (count == 0 || c->size == 1) {
        ft_coll_copy(recvbuf, sendbuf, count * esize);
        ft_coll_leave();
        return;
    }
    FT_ASSERT(esize > 0);
    size_t bytes = count * esize;
    if (ft_coll_at_once(c, bytes)) {
        flat(c, sendbuf, recvbuf, count, esize, op, root);
        ft_coll_leave();
        return;
    }
    struct ft_coll_tree t = ft_coll_tree_of(c->size);
    struct element_range all = {0, count};
    void *a = c->rank == root ? recvbuf : ft_coll_need(c, 0, bytes);
    struct partial p = {c, FT_TAG_REDUCE, op, esize, sendbuf, a, ft_coll_need(c, 1, bytes), NULL};
    int leaf = fold(&p, t, all);
    if (c->size > FT_COLL_FEW && is_large(t, count, esize)) {
        struct under_way later;
        later.n = 0;
        p.later = leaf >= 0 ? &later : NULL;
        if (leaf >= 0)
            halve_down(&p, t, leaf, count);
        collect(&p, t, leaf, count, root);
        if (leaf >= 0)
            finish_all(&p);
    } else {
        climb(&p, t, leaf, all, root);
    }
    ft_coll_leave();
}
