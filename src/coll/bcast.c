/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bcast.c - binomial tree; a pipelined chain when there are more segments than members.
 *
 * The tree has the fewest rounds, but its root copies the data log2(size) times. In the chain each
 * member sends once, and with ranks placed node by node the data enters each node once. The price
 * is size-2 segments of delay, so the chain needs many segments. With two members both are the
 * same, except that messages already flow in fragments.
 */
#include "coll/coll_internal.h"

#define FLAT 8                      /* up to this many members all read from one process's memory */
#define SEGMENT ((size_t)32 * 1024) /* stays in the cache between its receive and its send */

/* v is the distance from the root. */
static int rank_of(const struct ft_ctx *c, int v, int root) { return (v + root) % c->size; }

static void binomial(const struct ft_ctx *c, int v, void *buf, size_t bytes, int root)
{
    int low =
        1; /* lowest bit set in v; for the root the first power of two that is not below size */
    while (low < c->size && !(v & low))
        low *= 2;
    if (v > 0) {
        ft_coll_recv(c, FT_TAG_BCAST, rank_of(c, v - low, root), buf, bytes);
        ft_failpoint(COLL_ROUND);
    }
    for (int m = low / 2; m > 0; m /= 2) {
        if (v + m >= c->size)
            continue;
        ft_coll_send(c, FT_TAG_BCAST, rank_of(c, v + m, root), buf, bytes);
        ft_failpoint(COLL_ROUND);
    }
}

static void chain(const struct ft_ctx *c, int v, char *buf, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += SEGMENT) {
        size_t len = ft_min_u64(SEGMENT, bytes - at);
        if (v > 0)
            ft_coll_recv(c, FT_TAG_BCAST, rank_of(c, v + c->size - 1, root), buf + at, len);
        if (v < c->size - 1)
            ft_coll_send(c, FT_TAG_BCAST, rank_of(c, v + 1, root), buf + at, len);
        ft_failpoint(COLL_ROUND);
    }
}

/* All receive at once from the root's memory: messages that their receivers copy, and short ones in
 * a small group. */
static void flat(const struct ft_ctx *c, int v, void *buf, size_t bytes, int root)
{
    struct ft_req req[FLAT];
    if (v > 0) {
        ft_coll_recv(c, FT_TAG_BCAST, root, buf, bytes);
        ft_failpoint(COLL_ROUND);
        return;
    }
    for (int i = 1; i < c->size; i++)
        ft_coll_isend(&req[i], c, FT_TAG_BCAST, rank_of(c, i, root), buf, bytes);
    for (int i = 1; i < c->size; i++) {
        ft_coll_finish(&req[i]);
        ft_failpoint(COLL_ROUND);
    }
}

void ft_bcast(const struct ft_ctx *c, void *buf, size_t bytes, int root)
{
    ft_coll_enter(c);
    FT_ASSERT(root >= 0 && root < c->size);
    int v = ft_coll_prev(c, root);
    if (bytes > 0 && (ft_coll_at_once(c, bytes) || (c->size <= FLAT && ft_msg_copied_once(bytes))))
        flat(c, v, buf, bytes, root);
    else if (bytes > 0 && c->size > 2 && bytes / SEGMENT >= (size_t)c->size)
        chain(c, v, buf, bytes, root);
    else if (bytes > 0)
        binomial(c, v, buf, bytes, root);
    ft_coll_leave();
}
