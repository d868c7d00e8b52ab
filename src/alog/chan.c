/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan.c - appends to a channel log. Every message passes here, so there is no lock, and no system
 * call unless a new chunk is needed or the reader sleeps.
 */
#include "alog/chan.h"

#include <string.h>

#include "alog/log.h"
#include "alog/whole.h"
#include "base/failpoint.h"
#include "base/offheap.h"

#define FIRST_CHUNK 4096ull /* a pair that exchanges little costs one page */
#define CHUNK FT_CHAN_CHUNK
#define QUOTA 4 /* chunks in flight; with more, a writer prefers to wait for the reader */
#define FRAGMENT (16ull << 10) /* the reader copies one while the writer copies the next */
#define CLEAN_AHEAD 8          /* lines */

FT_STATE(struct ft_log_memory, ft_log_budget) = {.limit = 256ull << 20};
FT_STATE(_Atomic uint64_t, ft_msg_committed);

static struct ft_chunk *chunk_at(struct ft_tp *tp, uint64_t off)
{
    return off ? ft_arena_ptr(tp->own, off) : NULL;
}

static void announce(struct ft_chan_writer *w, struct ft_tp *tp)
{
    atomic_store_explicit(&w->peer->peer[tp->self].chan, w->hdr_off, memory_order_release);
    atomic_fetch_add_explicit(&w->peer->announced, 1, memory_order_release);
    ft_tp_shm_ring_ctl(w->peer);
}

enum ft_status ft_chan_open(struct ft_chan_writer *w, struct ft_tp *tp, int slot, uint32_t era,
                            enum ft_keep keep)
{
    *w = (struct ft_chan_writer){.slot = slot,
                                 .era = era,
                                 .keep = keep,
                                 .seq = FT_SEQ(era, 0),
                                 .begin = sizeof(struct ft_chunk)};
    w->peer = ft_tp_ctl(tp, slot);
    if (!w->peer)
        return FT_ERR_DEAD;
    w->hdr_off = ft_arena_alloc(tp->own, sizeof *w->hdr, FT_CACHE_LINE);
    if (!w->hdr_off)
        return FT_ERR_NOMEM;
    w->hdr = ft_arena_ptr(tp->own, w->hdr_off);
    atomic_store_explicit(&w->hdr->era, 0, memory_order_relaxed);
    for (int i = 0; i < FT_SEG_COUNT; i++)
        atomic_store_explicit(&w->hdr->head[i], 0, memory_order_relaxed);
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&w->hdr->cut[i].version, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->after_image, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->wants_chunk, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->since, era, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->from, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->turned, era, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->asks, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->copying, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->placed, 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->stuck, 0, memory_order_relaxed);
    announce(w, tp);
    return FT_OK;
}

/* A control block that takes the place of the carrier's when that carrier was lost before it could
 * be reached. Nothing is ever said in it. The control block of the former carrier may be given
 * back. */
FT_STATIC(struct ft_ctl *, of_nobody);
#define of_nobody FT_MY(of_nobody)

static struct ft_ctl *nobody(struct ft_tp *tp)
{
    if (!of_nobody)
        of_nobody =
            ft_offheap_zeroed(sizeof *of_nobody + (size_t)tp->nslots * sizeof of_nobody->peer[0]);
    return of_nobody;
}

enum ft_status ft_chan_rebind(struct ft_chan_writer *w, struct ft_tp *tp, int slot)
{
    struct ft_ctl *peer = ft_tp_ctl(tp, slot);
    if (!peer) { /* messages written meanwhile ring nobody, and nobody releases chunks */
        w->peer = nobody(tp);
        FT_ASSERT(w->peer);
        return FT_ERR_DEAD;
    }
    w->peer = peer;
    w->slot = slot;
    /* The begin of the present log of the run may have been reused; what follows the newest
     * committed cut, where it is kept, is there. A channel that was opened after the cut did not
     * note it: it is there from its begin. */
    uint64_t v = atomic_load_explicit(&ft_msg_committed, memory_order_acquire);
    int lost = ft_era_segment(w->era) == FT_SEG_RUN && w->keep != FT_KEEP_CUT,
        cut = !lost && v && w->cut_version[v & 1] == v;
    atomic_store_explicit(&w->hdr->from, cut ? v : 0, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->since, w->era + (uint32_t)lost, memory_order_relaxed);
    atomic_store_explicit(&w->hdr->placed, 0, memory_order_relaxed);
    announce(w, tp);
    return FT_OK;
}

static void free_chunk(struct ft_tp *tp, struct ft_chunk *c)
{
    ft_log_budget.used -= c->bytes;
    ft_arena_free(tp->own, ft_arena_off(tp->own, c));
}

/* `before`: index of the first chunk that does not lie entirely before the place. */
static void note_cut(struct ft_chan_writer *w, uint64_t version, uint64_t seq, uint64_t chunk,
                     uint64_t pos, uint64_t before, uint64_t hash)
{
    struct ft_chan_cut *c = &w->hdr->cut[version & 1];
    atomic_store_explicit(&c->version, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&c->seq, seq, memory_order_relaxed);
    atomic_store_explicit(&c->chunk, chunk, memory_order_relaxed);
    atomic_store_explicit(&c->pos, pos, memory_order_relaxed);
    atomic_store_explicit(&c->hash, hash, memory_order_relaxed);
    atomic_store_explicit(&c->version, version, memory_order_release);
    w->cut_version[version & 1] = version;
    w->cut_before[version & 1] = before;
}

struct ft_chan_place ft_chan_place(const struct ft_chan_writer *w)
{
    if (!w->cur)
        return (struct ft_chan_place){w->seq, w->next_index, w->begin, w->hash};
    return (struct ft_chan_place){w->seq, w->cur->index, (uint64_t)(w->pos - (char *)w->cur),
                                  w->hash};
}

void ft_chan_cut(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version)
{
    FT_ASSERT(version > 0);
    uint64_t before = ft_chan_place(w).index;
    atomic_store_explicit(&w->hdr->after_image, w->seq, memory_order_release);
    if (w->cur)
        note_cut(w, version, w->seq, ft_arena_off(tp->own, w->cur), ft_arena_off(tp->own, w->pos),
                 before, w->hash);
    else
        note_cut(w, version, w->seq, 0, 0, before, w->hash);
}

void ft_chan_cut_tail(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                      const struct ft_chunk *tail)
{
    if (!tail) {
        ft_chan_cut(w, tp, version);
        return;
    }
    uint64_t off = ft_arena_off(tp->own, tail);
    note_cut(w, version, tail->first, off, off + tail->begin, tail->index, tail->hash);
    atomic_store_explicit(&w->hdr->after_image, w->seq, memory_order_release);
}

void ft_chan_begin_at(struct ft_chan_writer *w, uint64_t version, const struct ft_chan_place *at)
{
    FT_ASSERT(!w->cur && FT_SEQ_ERA(at->seq) == w->era && at->pos >= sizeof(struct ft_chunk) &&
              at->pos % FT_CACHE_LINE == 0);
    w->seq = at->seq;
    w->next_index = at->index;
    w->begin = at->pos;
    w->hash = at->hash;
    if (version)
        note_cut(w, version, w->seq, 0, 0, at->index, w->hash);
}

/* Either the gateway sees the new era before it reads, or this process sees that it reads. */
int ft_chan_turn(struct ft_chan_writer *w, uint32_t era)
{
    atomic_store(&w->hdr->turned, era);
    return atomic_load(&w->hdr->copying) != 0;
}

int ft_chan_placed(struct ft_chan_writer *w)
{
    if (!w->cur || /* nothing was said in this era */
        atomic_load_explicit(&w->hdr->since, memory_order_relaxed) > w->era ||
        atomic_load_explicit(&w->hdr->placed, memory_order_acquire) == w->seq)
        return 1;
    if (atomic_load_explicit(&w->hdr->asks, memory_order_relaxed) != w->seq) {
        atomic_store_explicit(&w->hdr->asks, w->seq, memory_order_release);
        ft_tp_shm_ring_ctl(w->peer);
    }
    return 0;
}

void ft_chan_begin_era(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t era, enum ft_keep keep,
                       uint64_t version)
{
    FT_ASSERT(era > w->era);
    atomic_store(&w->hdr->turned, era);
    if (ft_era_segment(w->era) == FT_SEG_RUN) {
        for (struct ft_chunk *c = w->oldest, *next; c; c = next) {
            next = c == w->cur ? NULL
                               : chunk_at(tp, atomic_load_explicit(&c->next, memory_order_relaxed));
            free_chunk(tp, c);
        }
        atomic_store_explicit(&w->hdr->head[FT_SEG_RUN], 0, memory_order_release);
    }
    atomic_store_explicit(&w->hdr->from, 0, memory_order_relaxed);
    w->era = era;
    w->keep = keep;
    w->seq = FT_SEQ(era, 0);
    w->cur = w->oldest = NULL;
    w->pos = w->end = w->clean = NULL;
    w->live = w->next_index = w->hash = 0;
    w->begin = sizeof(struct ft_chunk);
    for (int i = 0; i < 2; i++) {
        w->cut_version[i] = 0;
        atomic_store_explicit(&w->hdr->cut[i].version, 0, memory_order_release);
    }
    if (version)
        note_cut(w, version, w->seq, 0, 0, 0, 0);
}

/* Zeroes the sequence words of the next lines, so that a reader that looks there does not see the
 * chunk's former use. */
static void clean_ahead(struct ft_chan_writer *w, char *from)
{
    char *last = w->end; /* including the LINK line */
    for (int i = 0; i < CLEAN_AHEAD && from <= last; i++, from += FT_CACHE_LINE)
        atomic_store_explicit((_Atomic uint64_t *)(void *)from, 0, memory_order_relaxed);
    w->clean = from - FT_CACHE_LINE;
}

static void publish(struct ft_chan_writer *w, struct ft_rec *r, char *next)
{
    w->hash = ft_chan_hash(w->hash, r);
    if (next > w->clean)
        clean_ahead(w, next);
    ft_failpoint(MSG_SEND_HALF);
    atomic_store_explicit(&r->seq, ++w->seq, memory_order_release);
    w->pos = next;
}

static void publish_head(struct ft_chan_writer *w, uint64_t off)
{
    enum ft_segment seg = ft_era_segment(w->era);
    atomic_store_explicit(&w->hdr->head[seg], off, memory_order_release);
    if (seg == FT_SEG_RUN)
        atomic_store_explicit(&w->hdr->era, w->era, memory_order_release);
}

static void enter_chunk(struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *c)
{
    uint64_t off = ft_arena_off(tp->own, c);
    char *first = (char *)c + (w->cur ? sizeof *c : w->begin),
         *end = (char *)c + c->bytes - FT_CACHE_LINE;
    FT_ASSERT(first <= end);
    c->first = w->cur ? w->seq + 1 : w->seq;
    c->begin = (uint64_t)(first - (char *)c);
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    c->index = w->next_index++;
    c->hash = w->hash;
    if (w->cur) {
        struct ft_rec *link = (struct ft_rec *)(void *)w->pos;
        struct ft_chunk *before = w->cur;
        w->end = end;
        clean_ahead(w, first);
        link->flags = FT_REC_LINK;
        atomic_store_explicit(&before->next, off, memory_order_relaxed);
        atomic_store_explicit(&link->seq, ++w->seq, memory_order_release);
    } else {
        w->end = end;
        clean_ahead(w, first);
        w->oldest = c;
        publish_head(w, off);
    }
    w->cur = c;
    w->pos = first;
    w->live++;
}

uint64_t ft_chan_released(const struct ft_chan_writer *w, const struct ft_tp *tp)
{
    uint64_t v = atomic_load_explicit(&w->peer->peer[tp->self].released, memory_order_acquire);
    return FT_SEQ_ERA(v) == w->era ? FT_SEQ_NUMBER(v) : 0;
}

/* Chunks below this index may be reused. This follows from the cut's index, never from the chunk
 * that the cut names: while nothing was kept, that chunk may have become another one. */
static uint64_t reusable(const struct ft_chan_writer *w, const struct ft_tp *tp)
{
    if (w->keep == FT_KEEP_ALL)
        return 0;
    if (w->keep == FT_KEEP_NONE)
        return ft_chan_released(w, tp);
    uint64_t v = atomic_load_explicit(&ft_msg_committed, memory_order_acquire);
    return v && w->cut_version[v & 1] == v
               ? ft_min_u64(w->cut_before[v & 1], ft_chan_released(w, tp))
               : 0;
}

static struct ft_chunk *pop_oldest(struct ft_chan_writer *w, struct ft_tp *tp)
{
    struct ft_chunk *c = w->oldest;
    if (!c || c == w->cur || c->index >= reusable(w, tp))
        return NULL;
    w->oldest = chunk_at(tp, atomic_load_explicit(&c->next, memory_order_relaxed));
    w->live--;
    return c;
}

int ft_chan_trim(struct ft_chan_writer *w, struct ft_tp *tp)
{
    int n = 0;
    for (struct ft_chunk *c; (c = pop_oldest(w, tp)); n++)
        free_chunk(tp, c);
    return n;
}

static struct ft_chunk *chunk_after(const struct ft_chan_writer *w, struct ft_tp *tp,
                                    const struct ft_chunk *c)
{
    return c == w->cur ? NULL : chunk_at(tp, atomic_load_explicit(&c->next, memory_order_relaxed));
}

int ft_chan_cover(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, uint64_t seq)
{
    int n = 0;
    uint64_t before = ft_chan_released(w, tp);
    if (w->keep != FT_KEEP_CUT || FT_SEQ_ERA(seq) != w->era)
        return 0;
    for (struct ft_chunk *c = w->oldest, *next;
         c && (next = chunk_after(w, tp, c)) && next->first <= seq && c->index < before;
         c = next, n++) {
        int noted =
            w->cut_version[version & 1] == version && w->cut_before[version & 1] >= next->index;
        if (!noted) /* first: a reader that comes from the cut must not get here */
            note_cut(w, version, next->first, ft_arena_off(tp->own, next),
                     ft_arena_off(tp->own, next) + next->begin, next->index, next->hash);
        w->oldest = next;
        w->live--;
        free_chunk(tp, c);
    }
    return n;
}

/* In an image: a chunk's header, and the part of it that is in use. */
static uint64_t in_use(const struct ft_chan_writer *w, const struct ft_chunk *c)
{
    return c == w->cur ? (uint64_t)(w->pos - (const char *)c) : c->bytes;
}

struct ft_chunk *ft_chan_tail(const struct ft_chan_writer *w, struct ft_tp *tp)
{
    uint64_t before = ft_chan_released(w, tp);
    struct ft_chunk *c = w->oldest;
    while (c && c != w->cur && c->index < before)
        c = chunk_after(w, tp, c);
    return c;
}

uint64_t ft_chan_tail_bytes(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from)
{
    uint64_t n = 0;
    for (struct ft_chunk *c = from; c; c = chunk_after(w, tp, c))
        n += in_use(w, c);
    return n;
}

void ft_chan_tail_save(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from,
                       char *out)
{
    for (struct ft_chunk *c = from; c; c = chunk_after(w, tp, c)) {
        memcpy(out, c, in_use(w, c));
        out += in_use(w, c);
    }
}

/* Drops what was loaded of a tail before memory ran out. */
static void drop_loaded(struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *first)
{
    for (struct ft_chunk *c = first, *next; c; c = next) {
        next = chunk_at(tp, atomic_load_explicit(&c->next, memory_order_relaxed));
        free_chunk(tp, c);
    }
    w->live = 0;
}

enum ft_status ft_chan_tail_load(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                                 const char *saved, uint64_t bytes, const struct ft_chan_place *end)
{
    FT_ASSERT(!w->cur && FT_SEQ_ERA(end->seq) == w->era);
    struct ft_chunk *first = NULL, *last = NULL;
    for (uint64_t at = 0; at < bytes;) { /* readers do not see any of it yet */
        struct ft_chunk h;
        memcpy(&h, saved + at, sizeof h);
        uint64_t n = ft_min_u64(h.bytes, bytes - at),
                 off = ft_arena_alloc(tp->own, h.bytes, FT_CACHE_LINE);
        if (!off) {
            drop_loaded(w, tp, first);
            return FT_ERR_NOMEM;
        }
        struct ft_chunk *c = ft_arena_ptr(tp->own, off);
        memcpy(c, saved + at, n);
        atomic_store_explicit(&c->next, 0, memory_order_relaxed);
        ft_log_budget.used += c->bytes;
        if (last)
            atomic_store_explicit(&last->next, off, memory_order_relaxed);
        first = first ? first : c;
        last = c;
        at += n;
        w->live++;
    }
    FT_ASSERT(last && last->index == end->index && end->pos <= last->bytes - FT_CACHE_LINE);
    w->oldest = first;
    w->cur = last;
    w->seq = end->seq;
    w->hash = end->hash;
    w->next_index = last->index + 1;
    w->pos = (char *)last + end->pos;
    w->end = (char *)last + last->bytes - FT_CACHE_LINE;
    clean_ahead(w, w->pos);
    note_cut(w, version, first->first, 0, 0, first->index, first->hash);
    publish_head(w, ft_arena_off(tp->own, first));
    ft_tp_shm_ring_ctl(w->peer);
    return FT_OK;
}

static struct ft_chunk *take_released(struct ft_chan_writer *w, struct ft_tp *tp)
{
    for (struct ft_chunk *c; (c = pop_oldest(w, tp));) {
        if (c->bytes == CHUNK && w->live < QUOTA)
            return c;
        free_chunk(tp, c);
    }
    return NULL;
}

int ft_chan_stuck(const struct ft_chan_writer *w)
{
    return atomic_load_explicit(&w->hdr->stuck, memory_order_acquire) == w->seq;
}

static struct ft_chunk *new_chunk(struct ft_chan_writer *w, struct ft_tp *tp)
{
    uint64_t bytes = w->next_index == 0 ? FIRST_CHUNK : CHUNK;
    if (w->keep == FT_KEEP_CUT)
        ft_log_pressed(bytes);
    /* Two chunks can always be had. Otherwise, when the kept logs have used up the rest of the
     * budget, a reader that has read everything would wait for ever. So would one that has, and
     * can release nothing. */
    w->no_room = 0;
    if (ft_log_budget.used + bytes > ft_log_budget.limit &&
        (w->keep != FT_KEEP_NONE ? !ft_whole_frozen() : w->live >= 2 && !ft_chan_stuck(w)))
        return NULL;
    uint64_t off = ft_arena_alloc(tp->own, bytes, FT_CACHE_LINE);
    if (!off) {
        w->no_room = bytes;
        return NULL;
    }
    ft_log_budget.used += bytes;
    if (w->keep == FT_KEEP_ALL)
        ft_log_budget.kept += bytes;
    struct ft_chunk *c = ft_arena_ptr(tp->own, off);
    c->bytes = bytes;
    return c;
}

static int next_chunk(struct ft_chan_writer *w, struct ft_tp *tp, int patience)
{
    struct ft_chunk *c = take_released(w, tp);
    while (!c && w->keep == FT_KEEP_NONE && w->live >= QUOTA && patience-- > 0) {
        ft_cpu_relax();
        c = take_released(w, tp);
    }
    if (!c)
        c = new_chunk(w, tp);
    atomic_store_explicit(&w->hdr->wants_chunk, !c, memory_order_release);
    if (!c)
        return 0;
    enter_chunk(w, tp, c);
    return 1;
}

/* total: bytes of the message. awaited: FT_REC_SYNC if the sender waits for the message's match. */
static inline int append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                         const void *buf, size_t len, size_t total, size_t *done, int patience,
                         uint16_t awaited)
{
    size_t at = *done;
    int first = at == 0;
    do {
        while (!w->cur ||
               w->end - w->pos <
                   FT_CACHE_LINE) { /* more than once where a log begins at a chunk's end */
            if (!next_chunk(w, tp, patience)) {
                *done = at;
                ft_tp_shm_ring_ctl(w->peer);
                return 0;
            }
        }
        struct ft_rec *r = (struct ft_rec *)(void *)w->pos;
        size_t room = (size_t)(w->end - w->pos) - sizeof *r, here = len - at;
        here = here < room ? here : room;
        here = here < FRAGMENT ? here : FRAGMENT;
        r->ctx = ctx;
        r->tag = tag;
        r->here = (uint32_t)here;
        r->total = first ? total : at;
        r->flags = (uint16_t)((first ? FT_REC_FIRST : 0) | (at + here == len ? FT_REC_LAST : 0));
        if (awaited && first) {
            r->flags |= awaited;
            atomic_store_explicit(&r->matched, 0, memory_order_relaxed);
            w->sync = r;
            w->sync_seq = w->seq;
            w->sync_chunk = w->cur->index;
        }
        if (here)
            memcpy(r->data, (const char *)buf + at, here);
        at += here;
        publish(w, r, w->pos + ft_align_up(sizeof *r + here, FT_CACHE_LINE));
        if (at < len) {
            ft_failpoint(MSG_FRAG);
            ft_tp_shm_ring_ctl(w->peer);
        }
        first = 0;
    } while (at < len);
    *done = at;
    ft_tp_shm_ring_ctl(w->peer);
    return 1;
}

int ft_chan_append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                   const void *buf, size_t len, size_t *done, int patience)
{
    return append(w, tp, ctx, tag, buf, len, len, done, patience, 0);
}

int ft_chan_append_sync(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                        const void *buf, size_t len, size_t *done, int patience)
{
    return append(w, tp, ctx, tag, buf, len, len, done, patience, FT_REC_SYNC);
}

int ft_chan_append_far(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                       const void *buf, size_t len)
{
    uint64_t addr = (uintptr_t)buf;
    size_t done = 0;
    return append(w, tp, ctx, tag, &addr, sizeof addr, len, &done, 0, FT_REC_FAR);
}

/* A message of the tail, as far as it was read. */
struct resend {
    uint32_t ctx;
    int tag;
    char *data; /* NULL: no message is open */
    size_t here, total;
};

static enum ft_status resend(struct ft_chan_writer *w, struct ft_tp *tp, struct resend *m)
{
    size_t done = 0;
    int said = ft_chan_append(w, tp, m->ctx, m->tag, m->data, m->here, &done, 0);
    ft_offheap_free(m->data);
    m->data = NULL;
    return said ? FT_OK : FT_ERR_NOMEM;
}

static enum ft_status collect_piece(struct ft_chan_writer *w, struct ft_tp *tp, struct resend *m,
                                    const struct ft_rec *rec, const char *data)
{
    if (rec->flags & FT_REC_FIRST)
        *m = (struct resend){.ctx = rec->ctx,
                             .tag = rec->tag,
                             .total = rec->total,
                             .data = ft_offheap_alloc(rec->total + 1)};
    FT_ASSERT(m->data && rec->here <= m->total - m->here);
    memcpy(m->data + m->here, data, rec->here);
    m->here += rec->here;
    return rec->flags & FT_REC_LAST ? resend(w, tp, m) : FT_OK;
}

enum ft_status ft_chan_resend_tail(struct ft_chan_writer *w, struct ft_tp *tp, const char *saved,
                                   uint64_t bytes, uint64_t from)
{
    struct resend m = {.data = NULL};
    enum ft_status st = FT_OK;
    for (uint64_t at = 0; at < bytes && st == FT_OK;) {
        struct ft_chunk c;
        struct ft_rec rec;
        memcpy(&c, saved + at, sizeof c);
        uint64_t n = ft_min_u64(c.bytes, bytes - at), pos = c.begin;
        for (uint64_t seq = c.first; pos + sizeof rec <= n && st == FT_OK; seq++) {
            memcpy(&rec, saved + at + pos, sizeof rec);
            FT_ASSERT(atomic_load_explicit(&rec.seq, memory_order_relaxed) == seq + 1);
            if (rec.flags & FT_REC_LINK)
                break;
            if (seq >= from)
                st = collect_piece(w, tp, &m, &rec, saved + at + pos + sizeof rec);
            pos += ft_align_up(sizeof rec + rec.here, FT_CACHE_LINE);
        }
        at += n;
    }
    ft_offheap_free(m.data);
    return st;
}
