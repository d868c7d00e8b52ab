/* SPDX-License-Identifier: BSD-3-Clause
 *
 * said.c - see said.h.
 */
#include "alog/said.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct said_walk {
    struct ft_said said;
    XXH3_state_t message; /* the message that is being read */
};

static void read_record(struct said_walk *w, const struct ft_rec *r)
{
    if (r->flags & FT_REC_FIRST) {
        uint64_t envelope[] = {r->total, r->ctx, (uint64_t)(uint32_t)r->tag};
        w->said.messages++;
        w->said.envelopes += XXH3_64bits(envelope, sizeof envelope);
        XXH3_64bits_reset(&w->message);
        XXH3_64bits_update(&w->message, envelope, sizeof envelope);
    }
    if (!(r->flags & FT_REC_FAR)) /* otherwise its data is an address */
        XXH3_64bits_update(&w->message, r->data, r->here);
    if (r->flags & FT_REC_LAST)
        w->said.data += XXH3_64bits_digest(&w->message);
}

/* Reads the records of a chunk up to its LINK, or to `end`. */
static void read_chunk(struct said_walk *w, const struct ft_chunk *c, const char *end)
{
    const char *at = (const char *)c + c->begin;
    while (at < end) {
        const struct ft_rec *r = (const struct ft_rec *)(const void *)at;
        if (r->flags & FT_REC_LINK)
            return;
        read_record(w, r);
        at += ft_align_up(sizeof *r + r->here, FT_CACHE_LINE);
    }
}

struct ft_said ft_said_in_setup(const struct ft_chan_writer *w, struct ft_tp *tp)
{
    struct said_walk walk = {.said = {0}};
    const struct ft_chunk *c = w->oldest;
    FT_ASSERT(!w->hdr || w->era == FT_ERA_SETUP);
    if (w->hdr && (w->keep != FT_KEEP_ALL || (c && c->index != 0)))
        return (struct ft_said){.messages = UINT64_MAX};
    for (uint64_t next; c; c = next ? ft_arena_ptr(tp->own, next) : NULL) {
        next = c == w->cur ? 0 : atomic_load_explicit(&c->next, memory_order_relaxed);
        read_chunk(&walk, c, c == w->cur ? w->pos : (const char *)c + c->bytes);
    }
    return walk.said;
}
