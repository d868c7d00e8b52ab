/* SPDX-License-Identifier: BSD-3-Clause
 *
 * relay.c - copying a channel's log from one node to another.
 */
#include "gate/relay.h"

#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"

/* ---- messages whose senders wait ---- */

static void sync_add(struct ft_relay_syncs *s, struct ft_rec *rec, uint64_t number, uint64_t chunk)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->of = ft_need(reallocarray(s->of, (size_t)s->room, sizeof *s->of),
                        (size_t)s->room * sizeof *s->of, "messages whose senders wait");
    }
    s->of[s->n++] = (struct ft_relay_sync){rec, number, chunk};
}

static void sync_drop(struct ft_relay_syncs *s, int i)
{
    memmove(&s->of[i], &s->of[i + 1], (size_t)(--s->n - i) * sizeof *s->of);
}

/* Those of chunks that were released have been matched. */
static void sync_released(struct ft_relay_syncs *s, uint64_t chunks)
{
    for (int i = s->n - 1; i >= 0; i--)
        if (s->of[i].chunk < chunks)
            sync_drop(s, i);
}

static uint64_t chunks_of(uint64_t released) { return FT_SEQ_NUMBER(released); }

static uint64_t size_of(const struct ft_rec *rec)
{
    return ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
}

/* ---- out ---- */

void ft_relay_out_begin(struct ft_relay_out *r, int from, int to, char *base, uint64_t hdr)
{
    *r = (struct ft_relay_out){.from = from, .to = to, .base = base};
    r->hdr = (struct ft_chan_hdr *)(void *)(base + hdr);
}

void ft_relay_out_end(struct ft_relay_out *r)
{
    free(r->syncs.of);
    *r = (struct ft_relay_out){.hdr = NULL};
}

/* Items are put one after the other into a frame. */
struct relay_frame {
    char *out;
    size_t room, used;
};

static struct ft_item *put_item(struct ft_relay_out *r, struct relay_frame *f, int kind,
                                uint32_t bytes)
{
    if (f->room - f->used < ft_item_size(bytes))
        return NULL;
    struct ft_item *item = (struct ft_item *)(void *)(f->out + f->used);
    *item = (struct ft_item){.kind = (uint16_t)kind, .from = r->from, .to = r->to, .bytes = bytes};
    f->used += ft_item_size(bytes);
    return item;
}

static int tell_chunk(struct ft_relay_out *r, struct relay_frame *f)
{
    const struct ft_chunk *c = r->chunk;
    struct ft_item *item = put_item(r, f, FT_ITEM_CHUNK, 0);
    if (!item)
        return 0;
    item->at = c->index;
    item->number = c->bytes;
    item->of[0] = r->cut.pos ? r->cut.seq : c->first;
    item->of[1] = r->cut.pos ? r->cut.pos : c->begin;
    item->of[2] = r->cut.pos ? r->cut.hash : c->hash;
    return r->chunk_told = 1;
}

static int begin_at(struct ft_relay_out *r, uint64_t era, uint64_t off)
{
    if (!off)
        return 0;
    r->chunk = (struct ft_chunk *)(void *)(r->base + off);
    r->pos = (char *)r->chunk + r->chunk->begin;
    r->seq = r->chunk->first;
    r->era = era;
    r->chunk_told = 0;
    r->cut.pos = 0;
    return 1;
}

/* Where the writer stood at the cut of a version, and a chunk was there. 0: there is no such place;
 * then all of the era comes after it. */
static int begin_at_cut(struct ft_relay_out *r, uint64_t era, uint64_t version)
{
    const struct ft_chan_cut *c = &r->hdr->cut[version & 1];
    if (atomic_load_explicit(&c->version, memory_order_acquire) != version)
        return 0;
    uint64_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed),
             off = atomic_load_explicit(&c->chunk, memory_order_relaxed);
    if (FT_SEQ_ERA(seq) != era || !begin_at(r, era, off))
        return 0;
    r->pos = r->base + atomic_load_explicit(&c->pos, memory_order_relaxed);
    r->seq = seq;
    r->cut = (struct ft_chan_place){.seq = seq,
                                    .pos = (uint64_t)(r->pos - (char *)r->chunk),
                                    .hash = atomic_load_explicit(&c->hash, memory_order_relaxed)};
    ft_failpoint(GATE_CUT);
    return 1;
}

/* The first chunk of the segment that comes next. */
static int find_first(struct ft_relay_out *r, uint64_t turned)
{
    enum ft_segment seg = r->setup_told ? ft_era_segment((uint32_t)turned) : FT_SEG_SETUP;
    if (!r->setup_told) {
        if (begin_at(r, FT_ERA_SETUP, atomic_load(&r->hdr->head[seg])))
            return 1;
        if (turned == FT_ERA_SETUP)
            return 0;
        r->setup_told = 1; /* nothing was said in it */
        return find_first(r, turned);
    }
    if (seg == FT_SEG_RUN &&
        (atomic_load(&r->hdr->era) != turned || atomic_load(&r->hdr->since) > turned))
        return 0;
    uint64_t version = atomic_load_explicit(&r->hdr->from, memory_order_acquire);
    if (seg == FT_SEG_RUN && version && begin_at_cut(r, turned, version))
        return 1;
    return begin_at(r, turned, atomic_load(&r->hdr->head[seg]));
}

static struct ft_rec *next_record(const struct ft_relay_out *r)
{
    struct ft_rec *rec = (struct ft_rec *)(void *)r->pos;
    return atomic_load_explicit(&rec->seq, memory_order_acquire) == r->seq + 1 ? rec : NULL;
}

/* The records that are there, up to a LINK: an item; 0: none, or no room for the first. */
static int tell_records(struct ft_relay_out *r, struct relay_frame *f)
{
    struct ft_item *item = NULL;
    size_t room = f->room - f->used > sizeof *item ? f->room - f->used - sizeof *item : 0;
    char *from = r->pos;
    uint64_t first = r->seq, bytes = 0;
    for (struct ft_rec *rec; (rec = next_record(r)) && !(rec->flags & FT_REC_LINK);) {
        FT_ASSERT(!(rec->flags & FT_REC_FAR)); /* ft_tp_reads_far says no to other nodes */
        if (bytes + size_of(rec) > room)
            break;
        if (rec->flags & FT_REC_SYNC)
            sync_add(&r->syncs, rec, r->seq, r->chunk->index);
        bytes += size_of(rec);
        r->pos += size_of(rec);
        r->seq++;
    }
    if (bytes == 0)
        return 0;
    item = put_item(r, f, FT_ITEM_RECORDS, (uint32_t)bytes);
    FT_ASSERT(item);
    item->at = (uint64_t)(from - (char *)r->chunk);
    item->number = first;
    memcpy(item + 1, from, bytes);
    return 1;
}

/* On to the next chunk; 0: there is none. */
static int follow_link(struct ft_relay_out *r)
{
    struct ft_rec *rec = next_record(r);
    if (!rec || !(rec->flags & FT_REC_LINK))
        return 0;
    uint64_t off = atomic_load_explicit(&r->chunk->next, memory_order_acquire);
    r->chunk = (struct ft_chunk *)(void *)(r->base + off);
    r->pos = (char *)(r->chunk + 1);
    r->seq++;
    r->chunk_told = 0;
    r->cut.pos = 0;
    return 1;
}

/* What the writer has freed, or is about to. */
static void leave(struct ft_relay_out *r)
{
    r->chunk = NULL;
    r->syncs.n = 0;
}

static void tell_state(struct ft_relay_out *r, struct relay_frame *f)
{
    struct ft_item *item;
    int wants = atomic_load_explicit(&r->hdr->wants_chunk, memory_order_acquire) != 0;
    uint64_t asks = atomic_load_explicit(&r->hdr->asks, memory_order_acquire);
    if (wants != r->wants && (item = put_item(r, f, FT_ITEM_WANTS, 0))) {
        item->at = (uint64_t)wants;
        r->wants = wants;
    }
    if (asks != r->asked && r->chunk && asks == r->seq &&
        (item = put_item(r, f, FT_ITEM_ASKS, 0))) {
        item->number = asks;
        r->asked = asks;
    }
}

static void tell(struct ft_relay_out *r, struct relay_frame *f)
{
    uint64_t turned = atomic_load(&r->hdr->turned); /* before what has been said is looked at */
    if (r->chunk && r->era != FT_ERA_SETUP && r->era != turned) {
        ft_failpoint(GATE_TURN);
        leave(r);
    }
    while (r->chunk || find_first(r, turned)) {
        do {
            if (!r->chunk_told && !tell_chunk(r, f))
                return;
            while (tell_records(r, f))
                ;
        } while (follow_link(r));
        tell_state(r, f);
        if (r->era == turned || next_record(r))
            return;
        r->setup_told = 1; /* the writer said nothing in it after it had turned */
        ft_failpoint(GATE_TURN);
        leave(r);
    }
}

static int something_new(const struct ft_relay_out *r)
{
    return !r->chunk || next_record(r) || r->era != atomic_load(&r->hdr->turned) ||
           atomic_load(&r->hdr->asks) != r->asked ||
           (atomic_load(&r->hdr->wants_chunk) != 0) != r->wants;
}

size_t ft_relay_out_take(struct ft_relay_out *r, void *out, size_t room)
{
    struct relay_frame f = {.out = out, .room = room};
    if (!something_new(r))
        return 0;
    atomic_store(&r->hdr->copying, 1);
    tell(r, &f);
    atomic_store_explicit(&r->hdr->copying, 0, memory_order_release);
    return f.used;
}

void ft_relay_out_released(struct ft_relay_out *r, struct ft_ctl_peer *peer, uint64_t value)
{
    if (FT_SEQ_ERA(value) == r->era) /* first: from now on their places may be others' */
        sync_released(&r->syncs, chunks_of(value));
    atomic_store_explicit(&peer->released, value, memory_order_release);
}

static void matched(struct ft_relay_out *r, uint64_t number)
{
    for (int i = 0; i < r->syncs.n; i++)
        if (r->syncs.of[i].number == number) {
            atomic_store_explicit(&r->syncs.of[i].rec->matched, 1, memory_order_release);
            sync_drop(&r->syncs, i);
            return;
        }
}

void ft_relay_out_matched(struct ft_relay_out *r, uint64_t number)
{
    uint32_t era = FT_SEQ_ERA(number);
    atomic_store(&r->hdr->copying, 1); /* the writer frees no record meanwhile */
    if (era == FT_ERA_SETUP || era == atomic_load(&r->hdr->turned))
        matched(r, number); /* else the record may be gone, and nobody waits for it */
    atomic_store_explicit(&r->hdr->copying, 0, memory_order_release);
}

/* ---- in ---- */

enum ft_status ft_relay_in_begin(struct ft_relay_in *r, int from, int to, struct ft_arena *arena,
                                 struct ft_ctl *reader)
{
    *r = (struct ft_relay_in){.from = from, .to = to, .arena = arena, .reader = reader};
    r->hdr_off = ft_arena_alloc(arena, sizeof *r->hdr, FT_CACHE_LINE);
    if (!r->hdr_off)
        return FT_ERR_NOMEM;
    r->hdr = ft_arena_ptr(arena, r->hdr_off);
    memset((void *)r->hdr, 0, sizeof *r->hdr);
    atomic_store_explicit(&reader->peer[from].chan, r->hdr_off, memory_order_release);
    atomic_fetch_add_explicit(&reader->announced, 1, memory_order_release);
    ft_tp_shm_ring_ctl(reader);
    return FT_OK;
}

/* Where a record may begin, nothing is there yet. */
static void clean(struct ft_chunk *c)
{
    for (char *p = (char *)c + c->begin; p < (char *)c + c->bytes; p += FT_CACHE_LINE)
        atomic_store_explicit((_Atomic uint64_t *)(void *)p, 0, memory_order_relaxed);
}

static void free_chunks(struct ft_relay_in *r, struct ft_chunk *c)
{
    for (struct ft_chunk *next; c; c = next) {
        uint64_t off = atomic_load_explicit(&c->next, memory_order_relaxed);
        next = off ? ft_arena_ptr(r->arena, off) : NULL;
        ft_arena_free(r->arena, ft_arena_off(r->arena, c));
    }
}

static void free_left(struct ft_relay_in *r)
{
    free_chunks(r, r->left);
    r->left = NULL;
}

void ft_relay_in_end(struct ft_relay_in *r)
{
    free(r->syncs.of);
    if (r->hdr) {
        free_left(r);
        free_chunks(r, r->oldest);
        ft_arena_free(r->arena, r->hdr_off);
    }
    *r = (struct ft_relay_in){.hdr = NULL};
}

/* A new log begins. The reader is still in the one before, until it says something about this one.
 * Of the logs before that it has let go: all stood when the writer turned. */
static void turn(struct ft_relay_in *r)
{
    free_left(r);
    r->left = r->oldest;
    r->oldest = r->cur = NULL;
    r->syncs.n = 0;
}

static uint64_t make_chunk(struct ft_relay_in *r, const struct ft_item *item)
{
    uint64_t off = ft_arena_alloc(r->arena, item->number, FT_CACHE_LINE);
    if (!off)
        return 0;
    struct ft_chunk *c = ft_arena_ptr(r->arena, off);
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    c->index = item->at;
    c->bytes = item->number;
    c->first = item->of[0];
    c->begin = item->of[1];
    c->hash = item->of[2];
    clean(c);
    return off;
}

static void publish_head(struct ft_relay_in *r, uint64_t off, uint32_t era)
{
    enum ft_segment seg = ft_era_segment(era);
    atomic_store_explicit(&r->hdr->head[seg], off, memory_order_release);
    if (seg == FT_SEG_RUN)
        atomic_store_explicit(&r->hdr->era, era, memory_order_release);
}

static enum ft_status take_chunk(struct ft_relay_in *r, const struct ft_item *item)
{
    uint64_t begin = item->of[1], bytes = item->number, first = item->of[0];
    int follows = r->cur && FT_SEQ_ERA(first) == FT_SEQ_ERA(r->seq);
    if (item->bytes || begin < sizeof(struct ft_chunk) || begin % FT_CACHE_LINE ||
        bytes % FT_CACHE_LINE || begin + FT_CACHE_LINE > bytes || bytes > FT_CHAN_CHUNK ||
        (follows && (first != r->seq + 1 || item->at != r->cur->index + 1)) ||
        (r->cur && first < r->seq))
        return FT_ERR_ARG;
    uint64_t off = make_chunk(r, item);
    if (!off)
        return FT_ERR_NOMEM;
    struct ft_chunk *c = ft_arena_ptr(r->arena, off);
    if (follows) {
        struct ft_rec *link = (struct ft_rec *)(void *)r->pos;
        link->flags = FT_REC_LINK;
        atomic_store_explicit(&r->cur->next, off, memory_order_relaxed);
        atomic_store_explicit(&link->seq, ++r->seq, memory_order_release);
    } else {
        turn(r);
        r->oldest = c;
        r->seq = first;
        publish_head(r, off, FT_SEQ_ERA(first));
    }
    r->cur = c;
    r->pos = (char *)c + begin;
    return FT_OK;
}

/* The number of a record is stored after all else of it. */
static enum ft_status take_records(struct ft_relay_in *r, const struct ft_item *item,
                                   const char *data)
{
    if (!r->cur || item->at != (uint64_t)(r->pos - (char *)r->cur) || item->number != r->seq ||
        item->at + item->bytes + FT_CACHE_LINE > r->cur->bytes)
        return FT_ERR_ARG;
    for (const char *end = data + item->bytes; data < end;) {
        struct ft_rec *rec = (struct ft_rec *)(void *)r->pos, copy;
        if ((size_t)(end - data) < sizeof copy)
            return FT_ERR_ARG;
        memcpy(&copy, data, sizeof copy);
        uint64_t bytes = size_of(&copy), skip = offsetof(struct ft_rec, ctx);
        if (bytes > (uint64_t)(end - data) || copy.flags & (FT_REC_LINK | FT_REC_FAR))
            return FT_ERR_ARG;
        memcpy(r->pos + skip, data + skip, bytes - skip);
        atomic_store_explicit(&rec->matched, 0, memory_order_relaxed);
        if (copy.flags & FT_REC_SYNC)
            sync_add(&r->syncs, rec, r->seq, r->cur->index);
        atomic_store_explicit(&rec->seq, ++r->seq, memory_order_release);
        r->pos += bytes;
        data += bytes;
    }
    return FT_OK;
}

enum ft_status ft_relay_in_take(struct ft_relay_in *r, const struct ft_item *item, const void *data)
{
    enum ft_status st = FT_OK;
    switch (item->kind) {
    case FT_ITEM_CHUNK: st = take_chunk(r, item); break;
    case FT_ITEM_RECORDS: st = take_records(r, item, data); break;
    case FT_ITEM_ASKS: return r->cur && item->number == r->seq ? FT_OK : FT_ERR_ARG;
    case FT_ITEM_WANTS:
        atomic_store_explicit(&r->hdr->wants_chunk, item->at, memory_order_release);
        break;
    default: return FT_ERR_ARG;
    }
    ft_tp_shm_ring_ctl(r->reader);
    return st;
}

static void free_released(struct ft_relay_in *r)
{
    uint64_t n = chunks_of(r->released);
    while (r->oldest && r->oldest != r->cur && r->oldest->index < n) {
        struct ft_chunk *c = r->oldest;
        r->oldest = ft_arena_ptr(r->arena, atomic_load_explicit(&c->next, memory_order_relaxed));
        ft_arena_free(r->arena, ft_arena_off(r->arena, c));
    }
}

int ft_relay_in_say(struct ft_relay_in *r, struct ft_item *out)
{
    *out = (struct ft_item){.from = r->from, .to = r->to};
    uint64_t value = atomic_load_explicit(&r->reader->peer[r->from].released, memory_order_acquire);
    for (int i = 0; i < r->syncs.n; i++)
        if (atomic_load_explicit(&r->syncs.of[i].rec->matched, memory_order_acquire)) {
            out->kind = FT_ITEM_MATCHED;
            out->number = r->syncs.of[i].number;
            sync_drop(&r->syncs, i);
            return 1;
        }
    uint64_t stuck = atomic_load_explicit(&r->hdr->stuck, memory_order_acquire);
    if (stuck != r->stuck && stuck == r->seq) { /* else it has something to read */
        out->kind = FT_ITEM_STUCK;
        out->number = r->stuck = stuck;
        return 1;
    }
    if (value == r->released || !r->cur || FT_SEQ_ERA(value) != FT_SEQ_ERA(r->seq))
        return 0;
    free_left(r); /* the reader is in this log */
    out->kind = FT_ITEM_RELEASED;
    out->at = r->released = value;
    sync_released(&r->syncs, chunks_of(value)); /* who hears it knows that they are matched */
    free_released(r);
    return 1;
}
