/* SPDX-License-Identifier: BSD-3-Clause
 *
 * allgather.c - allgather and allgatherv: direct exchange in small groups; else Bruck's algorithm
 * for small blocks, a ring for large ones.
 *
 * When each block comes straight from its owner (alltoall.c), there is one step, but blocks come
 * from memory that was not written just now. Bruck (Bruck et al., Efficient Algorithms for
 * All-to-All Communications, 1997) doubles what a member has in each of ceil(log2 size) rounds, for
 * any size, at the price of packing. The ring takes size-1 rounds, but moves each block straight to
 * its place and only between neighbours. The choice depends only on what all members know: size and
 * lengths.
 */
#include "coll/coll_internal.h"
#include "coll/spread.h"

#define SMALL_BLOCK ((size_t)4 * 1024)
#define SMALL_GROUP 8

/* Where each member's block lies in recvbuf: lens[i] bytes at offs[i], or, if these are NULL,
 * `each` bytes one after the other. */
struct blocks {
    const size_t *offs, *lens;
    size_t each;
};

static size_t block_len(const struct blocks *b, int i) { return b->lens ? b->lens[i] : b->each; }
static size_t block_off(const struct blocks *b, int i)
{
    return b->lens ? b->offs[i] : b->each * (size_t)i;
}

/* The number of bytes in n blocks from the first on, cyclically. */
static size_t span(const struct ft_ctx *c, const struct blocks *b, int first, int n)
{
    size_t sum = 0;
    for (int k = 0; k < n; k++)
        sum += block_len(b, (first + k) % c->size);
    return sum;
}

/* The working buffer holds this member's block, then the next member's, and so on; before the round
 * of distance n it holds the first n. */
static void bruck(const struct ft_ctx *c, const struct blocks *b, const void *own, void *recvbuf,
                  size_t total)
{
    char *work = ft_coll_need(c, 0, total);
    size_t have = block_len(b, c->rank);
    ft_coll_copy(work, own, have);
    for (int n = 1; n < c->size; n *= 2) {
        int more = n < c->size - n ? n : c->size - n;
        int src = ft_coll_next(c, n);
        size_t slen = span(c, b, c->rank, more), rlen = span(c, b, src, more);
        FT_ASSERT(slen <= have && have + rlen <= total);
        ft_coll_exchange(c, FT_TAG_ALLGATHER, ft_coll_prev(c, n), work, slen, src, work + have,
                         rlen);
        have += rlen;
        ft_failpoint(COLL_ROUND);
    }
    FT_ASSERT(have == total);
    for (int k = 0; k < c->size; k++) {
        int i = ft_coll_next(c, k);
        ft_coll_copy(ft_coll_at(recvbuf, block_off(b, i)), work, block_len(b, i));
        work += block_len(b, i);
    }
}

struct straight {
    const struct blocks *b;
    const void *own;
    size_t len; /* of `own` */
    void *recvbuf;
};

static struct ft_coll_part part(const void *arg, int member, int sent)
{
    const struct straight *s = arg;
    return sent ? (struct ft_coll_part){ft_coll_at(s->own, 0), s->len}
                : (struct ft_coll_part){ft_coll_at(s->recvbuf, block_off(s->b, member)),
                                        block_len(s->b, member)};
}

static void ring(const struct ft_ctx *c, const struct blocks *b, const void *own, void *recvbuf)
{
    ft_coll_copy(ft_coll_at(recvbuf, block_off(b, c->rank)), own, block_len(b, c->rank));
    for (int k = 0; k < c->size - 1; k++) {
        int give = ft_coll_prev(c, k), take = ft_coll_prev(c, k + 1);
        ft_coll_exchange(c, FT_TAG_ALLGATHER, ft_coll_next(c, 1),
                         ft_coll_at(recvbuf, block_off(b, give)), block_len(b, give),
                         ft_coll_prev(c, 1), ft_coll_at(recvbuf, block_off(b, take)),
                         block_len(b, take));
        ft_failpoint(COLL_ROUND);
    }
}

static void allgather(const struct ft_ctx *c, const struct blocks *b, const void *own,
                      void *recvbuf)
{
    size_t total = span(c, b, 0, c->size);
    if (total == 0)
        return;
    if (c->size <= SMALL_GROUP) {
        size_t len = block_len(b, c->rank);
        ft_coll_spread(c, FT_TAG_ALLGATHER, part, &(struct straight){b, own, len, recvbuf});
        ft_coll_copy(ft_coll_at(recvbuf, block_off(b, c->rank)), own, len);
    } else if (total / (size_t)c->size <= SMALL_BLOCK) {
        bruck(c, b, own, recvbuf, total);
    } else {
        ring(c, b, own, recvbuf);
    }
}

void ft_allgather(const struct ft_ctx *c, const void *sendbuf, void *recvbuf, size_t bytes)
{
    struct blocks b = {NULL, NULL, bytes};
    ft_coll_enter(c);
    allgather(c, &b, sendbuf, recvbuf);
    ft_coll_leave();
}

void ft_allgatherv(const struct ft_ctx *c, const void *sendbuf, size_t sendlen, void *recvbuf,
                   const size_t *offs, const size_t *lens)
{
    struct blocks b = {offs, lens, 0};
    ft_coll_enter(c);
    if (FT_UNLIKELY(sendlen != lens[c->rank]))
        ft_coll_bad_length(c, FT_TAG_ALLGATHER, c->rank, sendlen, lens[c->rank]);
    allgather(c, &b, sendbuf, recvbuf);
    ft_coll_leave();
}
