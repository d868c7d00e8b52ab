/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_internal.h - the steps of which the algorithms consist.
 *
 * A step names its partner by its rank in the group; only here this becomes a world rank. No step
 * deadlocks, whatever the sizes: where two members send to each other, both use ft_coll_exchange,
 * which never waits for its send before it has received.
 */
#ifndef FT_COLL_COLL_INTERNAL_H
#define FT_COLL_COLL_INTERNAL_H

#include <string.h>

#include "base/failpoint.h"
#include "coll/coll_tags.h"
#include "coll/reduce_tree.h"
#include "msg/msg.h"

/* ft_coll_scratch for bytes > 0. Lack of memory ends the job, since others wait for what is sent
 * from there. */
void *ft_coll_need(const struct ft_ctx *c, int index, size_t bytes);

static inline void ft_coll_enter(const struct ft_ctx *c)
{
    FT_ASSERT(c->rank >= 0 && c->rank < c->size);
    FT_ASSERT(c->id < FT_CTX_COLL);
    ft_failpoint(COLL_ENTER);
}

static inline void ft_coll_leave(void) { ft_failpoint(COLL_LEAVE); }

static inline void ft_coll_isend(struct ft_req *req, const struct ft_ctx *c, enum ft_coll_tag tag,
                                 int dst, const void *buf, size_t len)
{
    ft_msg_isend(req, c->id | FT_CTX_COLL, c->world[dst], tag, buf, len);
}

/* Usually the message went into the log at once, and there is nothing to wait for. */
static inline void ft_coll_finish(struct ft_req *req)
{
    if (FT_UNLIKELY(!ft_msg_done(req)))
        ft_msg_wait(req);
}

static inline void ft_coll_send(const struct ft_ctx *c, enum ft_coll_tag tag, int dst,
                                const void *buf, size_t len)
{
    ft_msg_send(c->id | FT_CTX_COLL, c->world[dst], tag, buf, len);
}

static inline void ft_coll_recv(const struct ft_ctx *c, enum ft_coll_tag tag, int src, void *buf,
                                size_t len)
{
    struct ft_msg_status st;
    ft_msg_recv(c->id | FT_CTX_COLL, c->world[src], tag, buf, len, &st);
    if (FT_UNLIKELY(st.error != FT_OK || st.bytes != len))
        ft_coll_came_short(c, tag, src, buf, st.bytes, len);
}

/* Sends to dst and receives from src. A side without bytes has no message, because both ends know
 * the length. The buffers must not overlap. */
static inline void ft_coll_exchange(const struct ft_ctx *c, enum ft_coll_tag tag, int dst,
                                    const void *sbuf, size_t slen, int src, void *rbuf, size_t rlen)
{
    struct ft_req req = {0};
    if (slen > 0)
        ft_coll_isend(&req, c, tag, dst, sbuf, slen);
    if (rlen > 0)
        ft_coll_recv(c, tag, src, rbuf, rlen);
    if (slen > 0)
        ft_coll_finish(&req);
}

/* base + off. Defined also if base is NULL because there is no data. */
static inline void *ft_coll_at(const void *base, size_t off)
{
    return (void *)((uintptr_t)base + off);
}

/* In place means that both are the same address. Buffers may be NULL when nothing is copied. */
static inline void ft_coll_copy(void *dst, const void *src, size_t len)
{
    if (len > 0 && dst != src)
        memcpy(dst, src, len);
}

/* Copies a member's part of its own data. There is no message, but the lengths must still fit. */
static inline void ft_coll_copy_own(const struct ft_ctx *c, enum ft_coll_tag tag, void *dst,
                                    size_t want, const void *src, size_t len)
{
    if (FT_UNLIKELY(len != want))
        ft_coll_bad_length(c, tag, c->rank, len, want);
    ft_coll_copy(dst, src, len < want ? len : want);
}

/* Groups up to this size do without trees for short messages: every member is one step away, so
 * nobody waits for one who waits for a third. */
#define FT_COLL_FEW 4
#define FT_COLL_SHORT ((size_t)1024)
static inline int ft_coll_at_once(const struct ft_ctx *c, size_t bytes)
{
    return c->size <= FT_COLL_FEW && bytes <= FT_COLL_SHORT;
}

static inline int ft_coll_next(const struct ft_ctx *c, int k) { return (c->rank + k) % c->size; }
static inline int ft_coll_prev(const struct ft_ctx *c, int k)
{
    return (c->rank + c->size - k) % c->size;
}

#endif
