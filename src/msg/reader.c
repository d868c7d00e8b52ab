/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reader.c - the cursor over a channel log, and the processing of the records that it passes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/offheap.h"
#include "msg/msg_internal.h"
#include "msg/posted.h"
#include "msg/wild.h"
#include "transport/wait.h"

FT_STATIC(struct ft_inmsg *, spare_entries);
#define spare_entries FT_MY(spare_entries)

static struct ft_inmsg *entry_new(void)
{
    struct ft_inmsg *e = spare_entries;
    if (e)
        spare_entries = e->next;
    else
        e = ft_offheap_alloc(sizeof *e);
    FT_ASSERT(e);
    memset(e, 0, sizeof *e);
    return e;
}

static void entry_free(struct ft_inmsg *e)
{
    ft_offheap_free(e->flat);
    e->next = spare_entries;
    spare_entries = e;
}

static void list_append(struct ft_reader *r, struct ft_inmsg *e)
{
    e->prev = r->tail;
    e->next = NULL;
    if (r->tail)
        r->tail->next = e;
    else
        r->head = e;
    r->tail = e;
}

static void list_remove(struct ft_reader *r, struct ft_inmsg *e)
{
    if (e->prev)
        e->prev->next = e->next;
    else
        r->head = e->next;
    if (e->next)
        e->next->prev = e->prev;
    else
        r->tail = e->prev;
}

/* Tells the sender which chunks are no longer needed: those before the oldest unexpected message
 * and before the cursor. */
void ft_reader_release(struct ft_reader *r)
{
    if (FT_UNLIKELY(ft_cut_after() !=
                    /* the sender's image may have to hold what this process's image does not */
                    0)) {
        ft_m.unreleased = 1;
        return;
    }
    const struct ft_inmsg *e = r->head;
    while (e && (e->flat ||
                 e->req)) /* a message that is being received needs nothing before the cursor */
        e = e->next;
    uint64_t index = e && e->rec ? e->chunk_index : r->chunk ? r->chunk->index : 0;
    uint64_t v = FT_SEQ(ft_m.era, index);
    if (v > r->released) {
        r->released = v;
        atomic_store_explicit(&ft_m.tp->own->ctl->peer[r->slot].released, v, memory_order_release);
    }
}

struct spot {
    struct ft_chunk *chunk;
    char *pos;
    uint64_t seq;
};

/* For a replacement that restores its image: finds where the sender stood at its cut of that
 * version. Returns 0 if there is no such place in this era; then all of the era comes after the
 * cut. */
static int find_cut(const struct ft_reader *r, struct spot *at)
{
    struct ft_chan_cut *c = &r->hdr->cut[r->resume_version & 1];
    if (atomic_load_explicit(&c->version, memory_order_acquire) != r->resume_version)
        return 0;
    uint64_t seq = atomic_load_explicit(&c->seq, memory_order_relaxed),
             off = atomic_load_explicit(&c->chunk, memory_order_relaxed);
    if (FT_SEQ_ERA(seq) != ft_m.era || !off)
        return 0;
    *at = (struct spot){(struct ft_chunk *)(void *)(r->base + off),
                        r->base + atomic_load_explicit(&c->pos, memory_order_relaxed), seq};
    return 1;
}

static int find_head(const struct ft_reader *r, struct spot *at)
{
    enum ft_segment seg = ft_era_segment(ft_m.era);
    if (seg == FT_SEG_RUN && atomic_load_explicit(&r->hdr->era, memory_order_acquire) != ft_m.era)
        return 0;
    uint64_t off = atomic_load_explicit(&r->hdr->head[seg], memory_order_acquire);
    if (!off)
        return 0;
    struct ft_chunk *c = (struct ft_chunk *)(void *)(r->base + off);
    *at = (struct spot){c, (char *)c + c->begin,
                        /* first: a replacement that resumed does not have the era's first chunk */
                        c->first};
    return 1;
}

/* Walks on to record seq. Returns 0 if it, or one before it, is not there yet. */
static int walk(const struct ft_reader *r, struct spot *at, uint64_t seq)
{
    while (at->seq < seq) {
        struct ft_rec *rec = (struct ft_rec *)(void *)at->pos;
        if (atomic_load_explicit(&rec->seq, memory_order_acquire) != at->seq + 1)
            return 0;
        at->seq++;
        if (rec->flags & FT_REC_LINK) {
            at->chunk =
                (struct ft_chunk *)(void *)(r->base + atomic_load_explicit(&at->chunk->next,
                                                                           memory_order_acquire));
            at->pos = (char *)(at->chunk + 1);
        } else {
            at->pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
        }
    }
    return 1;
}

static int locate(struct ft_reader *r)
{
    struct spot at;
    if (!r->hdr)
        return 0;
    if (FT_UNLIKELY(r->resume_version != 0)) {
        if (!find_cut(r, &at) && !find_head(r, &at))
            return 0;
        FT_ASSERT(at.seq <= r->seq); /* else messages would be missing */
        if (!walk(r, &at, r->seq))
            return 0;
        r->resume_version = 0;
    } else {
        if (!find_head(r, &at))
            return 0;
        FT_ASSERT(at.seq <= r->seen); /* the same */
        r->seq = at.seq;
        r->hash = at.chunk->hash;
    }
    r->chunk = at.chunk;
    r->pos = at.pos;
    return 1;
}

/* The sender said the next message after its image, and this process is before its own: it must not
 * see the message yet. This is checked after the record was seen, because then all that the sender
 * knew of the snapshot is known here. */
static int from_behind(const struct ft_reader *r)
{
    uint64_t snapshot = ft_cut_before();
    const struct ft_ctl *ctl = snapshot ? ft_tp_ctl(ft_m.tp, r->slot) : NULL;
    return ctl && ft_cut_has_image(ctl, snapshot) &&
           r->seq >= atomic_load_explicit(&r->hdr->after_image, memory_order_acquire);
}

static void say_differs(struct ft_reader *r, const struct ft_mismatch *mismatch)
{
    if (!r->differs++)
        ft_msg_diverged(r->rank, mismatch); /* may not return */
}

/* R0. The lost process had come this far. What its replacement has said by now must be what it had
 * said. [It sends something longer, which fills a chunk, and the last of as many records is the
 * link to the next one.] */
static void compare_at_seen(struct ft_reader *r)
{
    if (FT_UNLIKELY(r->seq == r->seen) && r->hash != r->seen_hash) {
        struct ft_mismatch mismatch = {0};
        ft_mismatch_hash(&mismatch,
                         ft_check_data ? "hash of their envelopes and data"
                                       : "hash of their envelopes",
                         r->hash, r->seen_hash);
        say_differs(r, &mismatch);
    }
}

struct ft_rec *ft_reader_peek(struct ft_reader *r)
{
    if (FT_UNLIKELY(!r->pos) && !locate(r))
        return NULL;
    for (;;) {
        struct ft_rec *rec = (struct ft_rec *)(void *)r->pos;
        FT_ASSERT(rec);
        if (atomic_load_explicit(&rec->seq, memory_order_acquire) != r->seq + 1)
            return NULL;
        if (FT_UNLIKELY(atomic_load_explicit(&ft_cut, memory_order_relaxed) != 0) && from_behind(r))
            return NULL;
        if (FT_LIKELY(!(rec->flags & FT_REC_LINK)))
            return rec;
        r->chunk =
            (struct ft_chunk *)(void *)(r->base + atomic_load_explicit(&r->chunk->next,
                                                                       memory_order_acquire));
        r->pos = (char *)(r->chunk + 1);
        /* [The next chunk is empty so far. The begin of a message that is in part here is released,
         * and the sender is replaced by one whose log begins with that chunk.] */
        if (r->current && r->current->upto == r->seq)
            r->current->upto++;
        r->seq++;
        ft_reader_release(r);
        compare_at_seen(r);
    }
}

void ft_reader_pass(struct ft_reader *r, struct ft_rec *rec)
{
    r->pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
    r->seq++;
}

void ft_req_complete(struct ft_req *req, int source, int tag, size_t total)
{
    FT_ASSERT(req->state == FT_REQ_ACTIVE);
    req->status = (struct ft_msg_status){.source = source,
                                         .tag = tag,
                                         .bytes = total < req->len ? total : req->len,
                                         .error = total > req->len ? FT_ERR_TRUNC : FT_OK};
    req->entry = NULL;
    req->state = FT_REQ_DONE;
    atomic_store_explicit(&ft_wait_progress,
                          atomic_load_explicit(&ft_wait_progress, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void tell_sender(struct ft_reader *r, struct ft_rec *rec)
{
    atomic_store_explicit(&rec->matched, 1, memory_order_release);
    ft_m.tp->ops->ring(ft_m.tp, r->slot);
    ft_failpoint(MSG_SYNC_TOLD);
}

/* M7. First the home log notes that this process has come this far. [The sender, told, tells
 * others; this process is lost, and its replacement, live before it has come here, asks in vain
 * what the lost one did not ask.] */
static void matched(struct ft_reader *r, struct ft_rec *rec, uint64_t call)
{
    ft_homelog_reached(call);
    ft_failpoint(MSG_SYNC_MATCH);
    if (rec) /* else a replaced sender has not repeated it yet: begin_message */
        tell_sender(r, rec);
}

void ft_rec_matched(struct ft_reader *r, struct ft_rec *rec, uint64_t call)
{
    if (FT_UNLIKELY(rec->flags & FT_REC_SYNC))
        matched(r, rec, call);
}

#define FAR_TRIES 20000 /* takes some seconds */

void ft_rec_fetch(struct ft_reader *r, struct ft_rec *rec, void *to, size_t n)
{
    struct ft_waiter w = FT_WAITER_ALONE;
    uint64_t addr;
    FT_ASSERT(rec);
    memcpy(&addr, rec->data, sizeof addr);
    enum ft_status st;
    for (int i = 0; (st = ft_tp_read_far(ft_m.tp, r->slot, addr, to, n)) != FT_OK; i++) {
        FT_ASSERT(st == FT_ERR_DEAD ||
                  /* the sender lives, so its program has sent memory that does not exist */
                  i < FAR_TRIES);
        ft_wait(&w); /* the sender has died: all go back, and this does not return */
    }
    ft_wait_end(&w);
    tell_sender(r, rec);
}

void ft_reader_absorb(struct ft_reader *r)
{
    for (struct ft_inmsg *e = r->head; e; e = e->next) {
        if (!e->far || e->flat || e->req)
            continue;
        uint64_t addr;
        memcpy(&addr, e->rec->data, sizeof addr);
        char *flat = ft_offheap_alloc(e->total);
        FT_ASSERT(flat);
        if (ft_tp_read_far(ft_m.tp, r->slot, addr, flat, e->total) != FT_OK) {
            ft_offheap_free(flat); /* see above */
            continue;
        }
        e->flat = flat;
        tell_sender(r, e->rec);
        e->rec = NULL;
        e->chunk = NULL;
    }
    ft_reader_release(r);
}

/* Where the bytes of a message are copied to, and for how many there is room. */
struct dest {
    char *at;
    size_t bytes;
};
static struct dest dest_of(const struct ft_inmsg *e)
{
    return e->req ? (struct dest){e->req->buf, e->req->len} : (struct dest){e->flat, e->total};
}

static void copy_part(struct ft_inmsg *e, const char *data, size_t here)
{
    struct dest to = dest_of(e);
    if (e->copied < to.bytes)
        memcpy(to.at + e->copied, data, ft_min_u64(here, to.bytes - e->copied));
    e->copied += here;
}

static void finish(struct ft_reader *r, struct ft_inmsg *e)
{
    struct ft_req *req = e->req;
    FT_ASSERT(e->copied == e->total);
    ft_failpoint(MSG_RECV_COPIED);
    list_remove(r, e);
    ft_req_complete(req, r->rank, e->tag, e->total);
    entry_free(e);
    ft_reader_release(r);
    ft_failpoint(MSG_RECV_DONE);
}

static void note_wildcard(struct ft_req *req, int source)
{
    if (FT_UNLIKELY(req->wild != 0)) {
        ft_wild_record(req->wild - 1, source);
        req->wild = 0;
    }
}

static struct ft_req *first_in(const struct ft_reqlist *l, uint32_t ctx, int tag)
{
    struct ft_req *q = l->head;
    while (q && !ft_msg_matches(ctx, tag, q->ctx, q->tag))
        q = q->next;
    return q;
}

static struct ft_req *earlier(struct ft_req *a, struct ft_req *b)
{
    return a && (!b || a->posted_nth < b->posted_nth) ? a : b;
}

/* Returns the earliest posted receive that matches; NULL: there is none. */
static struct ft_req *first_posted(const struct ft_reader *r, uint32_t ctx, int tag)
{
    struct ft_req *a = ft_tagged(r->rank, ctx, tag)->head;
    while (a && !(a->tag == tag && a->ctx == ctx && a->peer == r->rank))
        a = a->next;
    return earlier(a, earlier(first_in(&r->any_tag, ctx, tag), first_in(&ft_m.any, ctx, tag)));
}

/* The same, removed from its list. */
static struct ft_req *match_posted(struct ft_reader *r, uint32_t ctx, int tag)
{
    struct ft_req *q = first_posted(r, ctx, tag);
    if (!q)
        return NULL;
    ft_unpost(q);
    note_wildcard(q, r->rank);
    return q;
}

/* A replacement finds messages in the logs long before it repeats the time at which they came. For
 * most receives this does not matter. But a receive that had nothing when the process was lost, or
 * when it was cancelled, would take a message that had not come. So the first message that would go
 * to such a receive, and all after it, count as not arrived. */
static int held_back(const struct ft_reader *r, uint32_t ctx, int tag)
{
    const struct ft_req *q = ft_replay == FT_REPLAY ? first_posted(r, ctx, tag) : NULL;
    return q && q->held;
}

/* Matches messages that were passed before the posting of a receive that holds them back, and whose
 * time has now come. Returns 0 if some are still held back. */
static int match_again(struct ft_reader *r)
{
    for (struct ft_inmsg *e = r->head, *next; e; e = next) {
        next = e->next;
        if (!ft_inmsg_unexpected(e))
            continue;
        if (held_back(r, e->ctx, e->tag))
            return 0;
        struct ft_req *q = match_posted(r, e->ctx, e->tag);
        if (q)
            ft_inmsg_receive(r, e, q);
    }
    return 1;
}

/* --- a replaced sender says again what was seen of its former carriers (R0) --- */

static void envelope_differs(struct ft_reader *r, const struct ft_rec *is, uint32_t ctx, int tag,
                             uint64_t total)
{
    struct ft_mismatch mismatch = {0};
    ft_mismatch_number(&mismatch, "tag", is->tag, tag);
    ft_mismatch_number(&mismatch, "bytes", (int64_t)is->total, (int64_t)total);
    ft_mismatch_number(&mismatch, "context", is->ctx, ctx);
    say_differs(r, &mismatch);
}

static void data_differs(struct ft_reader *r, int tag, uint64_t from, const char *is, size_t nis,
                         const void *was, size_t nwas)
{
    struct ft_mismatch mismatch = {0};
    char what[80];
    size_t at = 0;
    while (at < nis && at < nwas && is[at] == ((const char *)was)[at])
        at++;
    snprintf(what, sizeof what, "data of a message of tag %d from its byte %" PRIu64 " on", tag,
             from + at);
    ft_mismatch_data(&mismatch, what, is + at, ft_min_u64(nis - at, 8), (const char *)was + at,
                     ft_min_u64(nwas - at, 8));
    say_differs(r, &mismatch);
}

/* Compares the record at the cursor, if more is known of the former record with this number than
 * the hash of all that was seen. */
static void compare(struct ft_reader *r, const struct ft_rec *rec)
{
    const struct ft_heard *h = &r->heard[r->seq % FT_HEARD];
    if (h->seq != r->seq + 1 || r->differs)
        return;
    uint64_t hash = ft_chan_hash(r->hash, rec);
    if (hash == h->hash)
        return;
    int first = rec->flags & h->flags & FT_REC_FIRST;
    size_t nis = ft_min_u64(rec->here, sizeof h->data), nwas = ft_min_u64(h->here, sizeof h->data);
    if (first && (rec->tag != h->tag || rec->total != h->total || rec->ctx != h->ctx)) {
        envelope_differs(r, rec, h->ctx, h->tag, h->total);
    } else if (ft_check_data && (nis != nwas || memcmp(rec->data, &h->data, nis) != 0)) {
        data_differs(r, rec->tag, first ? 0 : rec->total, rec->data, nis, &h->data, nwas);
    } else { /* before or after what is known */
        struct ft_mismatch mismatch = {0};
        ft_mismatch_hash(&mismatch,
                         ft_check_data ? "hash of their envelopes and data"
                                       : "hash of their envelopes",
                         hash, h->hash);
        say_differs(r, &mismatch);
    }
}

/* Compares the rest of a message of which a part had been copied, to its place. */
static void compare_partial(struct ft_reader *r, const struct ft_inmsg *e, const struct ft_rec *rec)
{
    struct dest dest = dest_of(e);
    uint64_t at = rec->flags & FT_REC_FIRST ? 0 : rec->total,
             known = ft_min_u64(e->copied, dest.bytes);
    if (at >= known)
        return;
    const char *was = dest.at + at;
    size_t n = ft_min_u64(rec->here, known - at);
    if (memcmp(rec->data, was, n) != 0)
        data_differs(r, rec->tag, at, rec->data, n, was, n);
}

/* Finds or makes the entry of the message whose first record is at the cursor. NULL: it was
 * consumed before (skipping), or it is completely handled. */
static struct ft_inmsg *begin_message(struct ft_reader *r, struct ft_rec *rec)
{
    struct ft_inmsg *e;
    if (FT_UNLIKELY(r->seq < r->seen)) {
        for (e = r->head; e && (e->seq != r->seq || (e->flat && e->scanned == e->total));
             e = e->next)
            ;
        r->skipping = e == NULL;
        if (FT_UNLIKELY(rec->flags & FT_REC_SYNC) && (!e || e->req))
            tell_sender(r, rec); /* the sender is another process now */
        if (!e)
            return NULL;
        if (e->ctx != rec->ctx || e->tag != rec->tag || e->total != rec->total)
            envelope_differs(r, rec, e->ctx, e->tag, e->total);
    } else {
        struct ft_req *req = match_posted(r, rec->ctx, rec->tag);
        if (req) {
            ft_failpoint(MSG_RECV_MATCH);
            ft_rec_matched(r, rec, req->call);
        }
        if (req && (rec->flags & FT_REC_LAST)) {
            size_t all = ft_rec_bytes(rec), n = all < req->len ? all : req->len;
            if (FT_UNLIKELY(rec->flags & FT_REC_FAR))
                ft_rec_fetch(r, rec, req->buf, n);
            else if (n)
                memcpy(req->buf, rec->data, n);
            ft_failpoint(MSG_RECV_COPIED);
            r->skipping = 1; /* this record is all of it */
            ft_req_complete(req, r->rank, rec->tag, rec->total);
            return NULL;
        }
        e = entry_new();
        *e = (struct ft_inmsg){.seq = r->seq,
                               .ctx = rec->ctx,
                               .tag = rec->tag,
                               .total = rec->total,
                               .req = req,
                               .sync = (rec->flags & FT_REC_SYNC) != 0,
                               .far = (rec->flags & FT_REC_FAR) != 0};
        list_append(r, e);
        if (req)
            req->entry = e;
    }
    e->rec = rec;
    e->chunk = r->chunk;
    e->chunk_index = r->chunk->index;
    return e;
}

/* A log that a replacement took over from an image begins where this reader had released what lies
 * before, perhaps inside a message. */
static void begin_inside(struct ft_reader *r)
{
    FT_ASSERT(r->seq <= r->seen);
    struct ft_inmsg *e = r->head;
    while (e && (e->seq >= r->seq || e->upto < r->seq || e->scanned == e->total))
        e = e->next;
    r->current = e;
    r->skipping = e == NULL;
}

static void pass_record(struct ft_reader *r, struct ft_rec *rec)
{
    if (rec->flags & FT_REC_FIRST) {
        FT_ASSERT(!r->current);
        r->before = r->hash;
        r->current = begin_message(r, rec);
    }
    if (FT_UNLIKELY(!r->current && !r->skipping && !(rec->flags & FT_REC_FIRST)))
        begin_inside(r);
    int last = rec->flags & FT_REC_LAST;
    struct ft_inmsg *e = r->current;
    if (e && r->seq >= e->upto) {
        if (e->req || e->flat)
            copy_part(e, rec->data, rec->here);
        e->scanned += ft_rec_bytes(rec);
        e->upto = r->seq + 1;
    } else if (e && ft_check_data) {
        compare_partial(r, e, rec);
    }
    if (FT_UNLIKELY(r->seq < r->seen))
        compare(r, rec);
    ft_reader_note(r, rec);
    ft_reader_pass(r, rec);
    compare_at_seen(r);
    if (last) {
        r->current = NULL;
        r->skipping = 0;
        if (e && e->req)
            finish(r, e);
        else if (!e)
            /* received completely, or repeated by a replacement and consumed before */
            ft_failpoint(MSG_RECV_DONE);
    }
}

/* The sender waits for room. [p sends a, then more than there is room for; this process receives
 * that first: a would hold up all chunks after it.] A synchronous message stays, since its sender
 * looks for the mark in its record: the sender may take a chunk more for what comes after it. */
static void give_room(struct ft_reader *r)
{
    ft_reader_absorb(r);
    ft_reader_flatten(r);
    if (r->chunk && r->released < FT_SEQ(ft_m.era, r->chunk->index))
        atomic_store_explicit(&r->hdr->stuck, r->seq, memory_order_release);
}

static inline void poll(struct ft_reader *r, const struct ft_req *until)
{
    struct ft_rec *rec;
    if (FT_UNLIKELY(ft_m.held) && !match_again(r))
        return;
    while ((!until || until->state == FT_REQ_ACTIVE) && (rec = ft_reader_peek(r))) {
        if (FT_UNLIKELY(ft_m.held) && (rec->flags & FT_REC_FIRST) && r->seq >= r->seen &&
            held_back(r, rec->ctx, rec->tag))
            return;
        pass_record(r, rec);
    }
    if (FT_UNLIKELY(r->head != NULL) && r->hdr &&
        atomic_load_explicit(&r->hdr->wants_chunk, memory_order_acquire))
        give_room(r);
}

void ft_reader_poll(struct ft_reader *r) { poll(r, NULL); }
void ft_reader_poll_for(struct ft_reader *r, const struct ft_req *req) { poll(r, req); }

struct ft_inmsg *ft_reader_find(struct ft_reader *r, uint32_t ctx, int tag)
{
    struct ft_inmsg *e = r->head;
    while (e && (!ft_inmsg_unexpected(e) || !ft_msg_matches(e->ctx, e->tag, ctx, tag))) {
        if (FT_UNLIKELY(ft_m.held) && ft_inmsg_unexpected(e) && held_back(r, e->ctx, e->tag))
            return NULL;
        e = e->next;
    }
    if (FT_UNLIKELY(ft_m.held) && e && held_back(r, e->ctx, e->tag))
        return NULL;
    return e;
}

void ft_inmsg_receive(struct ft_reader *r, struct ft_inmsg *e, struct ft_req *req)
{
    FT_ASSERT(!e->req && req->state == FT_REQ_ACTIVE);
    note_wildcard(req, r->rank);
    ft_failpoint(MSG_RECV_MATCH);
    if (FT_UNLIKELY(e->sync))
        matched(r, e->rec, req->call);
    e->req = req;
    req->entry = e;
    if (e->flat) {
        e->copied = 0;
        copy_part(e, e->flat, e->scanned);
        ft_offheap_free(e->flat);
        e->flat = NULL;
    } else if (e->far) {
        ft_rec_fetch(r, e->rec, req->buf, e->total < req->len ? e->total : req->len);
        e->copied = e->total;
    } else if (e->rec) { /* this part has been passed; the rest is copied as it passes */
        char *pos = (char *)e->rec;
        struct ft_chunk *chunk = e->chunk;
        size_t left = e->scanned;
        while (left || e->total == 0) {
            struct ft_rec *rec = (struct ft_rec *)(void *)pos;
            if (rec->flags & FT_REC_LINK) {
                chunk =
                    (struct ft_chunk *)(void *)(r->base + atomic_load_explicit(
                                                              &chunk->next, memory_order_acquire));
                pos = (char *)(chunk + 1);
                continue;
            }
            copy_part(e, rec->data, rec->here);
            left -= rec->here;
            pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
            if (e->total == 0)
                break;
        }
    }
    if (e->copied == e->total && e != r->current)
        finish(r, e);
    else
        /* its rest may be waiting for the chunks that it has held up so far */
        ft_reader_release(r);
}

void ft_reader_inject(struct ft_reader *r, uint32_t ctx, int tag, const char *data, size_t bytes)
{
    struct ft_inmsg *e = entry_new();
    *e = (struct ft_inmsg){
        .ctx = ctx, .tag = tag, .total = bytes, .scanned = bytes, .flat = ft_offheap_alloc(bytes)};
    FT_ASSERT(e->flat);
    memcpy(e->flat, data, bytes);
    list_append(r, e);
}

void ft_reader_reset(struct ft_reader *r)
{
    while (r->head) {
        struct ft_inmsg *e = r->head;
        list_remove(r, e);
        entry_free(e);
    }
    r->any_tag = (struct ft_reqlist){NULL, NULL};
    r->nposted = 0;
    r->current = NULL;
    r->skipping = 0;
    r->chunk = NULL;
    r->pos = NULL;
    r->seq = r->seen = FT_SEQ(ft_m.era, 0);
    r->hash = 0;
    r->differs = 0;
    r->released = 0;
    r->resume_version = 0;
}

void ft_reader_rebind(struct ft_reader *r, int slot)
{
    r->slot = slot;
    r->hdr = NULL;
    r->base = NULL;
    r->chunk = NULL;
    r->pos = NULL;
    r->current = NULL;
    r->skipping = r->differs = 0;
    if (r->seq >= r->seen) { /* else it died while it repeated what an earlier carrier had said */
        r->seen = r->seq;
        r->seen_hash = r->hash;
    }
    r->resume_version = 0;
    r->seq = FT_SEQ(
        ft_m.era,
        0); /* until the new writer's first chunk says where the log begins, and with which hash */
    r->released = 0; /* this carrier has been told nothing yet */
    for (struct ft_inmsg *e = r->head; e; e = e->next) {
        e->rec = NULL; /* and with it chunk_index, which is of the former writer's chunks */
        if (!e->req && !e->flat) /* it is read again from its begin */
            e->scanned = e->copied = e->upto = 0;
    }
}

void ft_reader_adopt(void)
{
    struct ft_ctl *own = ft_m.tp->own->ctl;
    ft_m.announced = atomic_load_explicit(&own->announced, memory_order_acquire);
    ft_m.nactive = 0;
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_reader *r = &ft_m.in[i];
        uint64_t off =
            r->hdr ? 0 : atomic_load_explicit(&own->peer[r->slot].chan, memory_order_acquire);
        if (!off && !r->hdr &&
            ft_m.replacement) { /* it may not have found out yet who carries this rank */
            const struct ft_ctl *ctl = ft_tp_ctl(ft_m.tp, r->slot);
            off = ctl ? atomic_load_explicit(&ctl->peer[ft_m.myrank].out, memory_order_acquire) : 0;
        }
        if (off) {
            r->base = ft_m.tp->ops->map(ft_m.tp, r->slot, 0, ft_m.tp->own->bytes, FT_TP_LOG);
            if (r->base)
                r->hdr = (struct ft_chan_hdr *)(void *)(r->base + off);
        }
        if (r->hdr || r->head)
            ft_m.active[ft_m.nactive++] = i;
    }
}
