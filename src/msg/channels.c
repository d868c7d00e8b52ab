/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.c - the message layer's part in starts, replacements, checkpoints and rollbacks.
 */
#include "msg/channels.h"

#include <stdlib.h>
#include <string.h>

#include "alog/log.h"
#include "alog/whole.h"
#include "base/near.h"
#include "base/offheap.h"
#include "msg/msg_internal.h"
#include "msg/wild.h"
#include "transport/polled.h"
#include "transport/wait.h"

/* The messages' part of an image begins with this head. Then come one of the next struct for each
 * rank, the tails of outgoing channels, and the messages, */
struct saved_ends_head {
    uint32_t era, nranks, alone, pad;
};
struct ends {
    struct ft_chan_place out; /* the place where the channel to the rank goes on */
    uint64_t tail_bytes;      /* alone: size of the tail that the rank may still need */
    uint64_t in_seq, in_hash; /* what was consumed of the channel from the rank */
};
/* each with one of these in front and its data padded to 8 bytes. */
struct saved_message {
    int32_t source, tag;
    uint32_t ctx, pad;
    uint64_t bytes;
};

/* Tells the carrier of the reader's rank, before say_seen, which synchronous messages of its former
 * carriers were seen here and are matched by no receive: their number, then their sequence numbers.
 * It cannot ask when it needs to know, because this process may be in no call that looks at
 * messages, or in one that waits for that carrier. */
#define NOT_KNOWN 1 /* stored in place of the list's offset: there was no room for the list */
static void say_unmatched(struct ft_reader *r)
{
    uint64_t n = 0, *list;
    for (const struct ft_inmsg *e = r->head; e; e = e->next)
        n += e->sync && !e->req;
    ft_arena_free(ft_m.tp->own, r->unmatched); /* it is of a carrier that is dead by now */
    r->unmatched = n ? ft_arena_alloc(ft_m.tp->own, (n + 1) * sizeof *list, FT_CACHE_LINE) : 0;
    if (r->unmatched) {
        list = ft_arena_ptr(ft_m.tp->own, r->unmatched);
        *list++ = n;
        for (const struct ft_inmsg *e = r->head; e; e = e->next)
            if (e->sync && !e->req)
                *list++ = e->seq;
    }
    atomic_store_explicit(&ft_m.tp->own->ctl->peer[r->slot].unmatched,
                          n && !r->unmatched ? NOT_KNOWN : r->unmatched, memory_order_relaxed);
}

int ft_msg_matched_before(int dst, uint64_t seq)
{
    int slot = ft_m.in[dst].slot;
    const struct ft_ctl *ctl = dst != ft_m.myrank ? ft_tp_ctl(ft_m.tp, slot) : NULL;
    uint64_t seen =
        ctl ? atomic_load_explicit(&ctl->peer[ft_m.tp->self].seen, memory_order_acquire) : 0;
    if (seen == 0 || seq >= seen - 1)
        return 0; /* a message that is new there: the receiver will say so */
    uint64_t off = atomic_load_explicit(&ctl->peer[ft_m.tp->self].unmatched, memory_order_relaxed);
    if (off == 0 || off == NOT_KNOWN)
        return off == 0;
    const char *base = ft_m.tp->ops->map(ft_m.tp, slot, 0, ft_m.tp->own->bytes, FT_TP_LOG);
    const uint64_t *list = base ? (const void *)(base + off) : NULL;
    for (uint64_t i = 1; list && i <= list[0]; i++)
        if (list[i] == seq)
            return 0;
    return list != NULL;
}

/* Tells the carrier of the reader's rank what was seen of its former carriers' messages. 0 there:
 * not told yet. */
static void say_seen(struct ft_reader *r)
{
    atomic_store_explicit(&ft_m.tp->own->ctl->peer[r->slot].seen, r->seen + 1,
                          memory_order_release);
}

void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement)
{
    ft_m = (struct ft_msg){
        .tp = tp, .nranks = nranks, .myrank = myrank, .era = FT_ERA_SETUP, .keep = FT_KEEP_ALL};
    ft_m.in = calloc((size_t)nranks, sizeof *ft_m.in);
    ft_m.out = calloc((size_t)nranks, sizeof *ft_m.out);
    ft_m.active = calloc((size_t)nranks, sizeof *ft_m.active);
    ft_m.begin = calloc((size_t)nranks, sizeof *ft_m.begin);
    ft_m.tail = calloc((size_t)nranks, sizeof *ft_m.tail);
    FT_ASSERT(ft_m.in && ft_m.out && ft_m.active && ft_m.begin && ft_m.tail);
    for (int i = 0; i < nranks; i++) {
        ft_m.in[i].rank = i;
        ft_m.in[i].slot = slot_of[i];
        say_seen(&ft_m.in[i]); /* a replacement may be asking: nothing was seen */
    }
    ft_m.replacement = replacement;
    ft_wild_reset(0);
    ft_reader_adopt();
    ft_wait_messages = ft_msg_progress;
}

void ft_msg_rebind(int rank, int slot)
{
    FT_ASSERT(rank >= 0 && rank < ft_m.nranks);
    ft_reader_rebind(&ft_m.in[rank], slot);
    say_unmatched(&ft_m.in[rank]);
    say_seen(&ft_m.in[rank]);
    if (ft_m.out[rank].hdr && ft_chan_rebind(&ft_m.out[rank], ft_m.tp, slot) != FT_OK)
        /* this carrier is dead as well: the next generation rebinds again */
        ft_m.out[rank].slot = slot;
    ft_reader_adopt();
    ft_m.tp->ops->ring(ft_m.tp, slot); /* it may be waiting for what was just said */
}

static void scan_all(void)
{
    ft_reader_adopt();
    for (int i = 0; i < ft_m.nactive; i++)
        ft_reader_poll(&ft_m.in[ft_m.active[i]]);
    ft_msg_absorb();
}

size_t ft_msg_head_bytes(void)
{
    return sizeof(struct saved_ends_head) + (size_t)ft_m.nranks * sizeof(struct ends);
}

/* Returns the next message of a channel for the image. A last message that is not complete yet is
 * read again by whoever restores the image. */
static struct ft_inmsg *for_image(const struct ft_reader *r, struct ft_inmsg *e)
{
    return e == r->current ? NULL : e;
}

size_t ft_msg_pending_bytes(int alone)
{
    size_t n = ft_msg_head_bytes();
    scan_all();
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_reader *r = &ft_m.in[i];
        ft_m.tail[i] = alone && ft_m.out[i].hdr ? ft_chan_tail(&ft_m.out[i], ft_m.tp) : NULL;
        n += ft_chan_tail_bytes(&ft_m.out[i], ft_m.tp, ft_m.tail[i]);
        FT_ASSERT(alone || !r->current);
        for (struct ft_inmsg *e = for_image(r, r->head); e; e = for_image(r, e->next)) {
            FT_ASSERT(!e->req &&
                      /* there are no active requests, so the message is complete */
                      e->scanned == e->total);
            n += sizeof(struct saved_message) + ft_align_up(e->total, 8);
        }
    }
    return n;
}

int ft_msg_settled(void)
{
    scan_all();
    return ft_msg_was_settled();
}

int ft_msg_was_settled(void)
{
    if (ft_m.sends.head || ft_m.any.head || ft_m.held)
        return 0;
    for (int i = 0; i < ft_m.nranks; i++) {
        const struct ft_reader *r = &ft_m.in[i];
        if (r->nposted || r->skipping || (r->current && r->seq < r->seen))
            return 0;
        for (const struct ft_inmsg *e = r->head; e; e = e->next)
            if (e->req || e->sync ||
                /* sync: nobody would tell the sender of a message from an image. flat: the log may
                 * have lost the begin of what is to be read again */
                (e->scanned < e->total && (e != r->current || e->flat)))
                return 0;
    }
    return 1;
}

uint64_t ft_msg_position(int rank)
{
    const struct ft_reader *r = &ft_m.in[rank];
    if (r->seq < r->seen) /* a former carrier had said more than the present one has repeated */
        return r->seen;
    return r->current ? r->current->seq : r->seq;
}

int ft_msg_covered(int rank, uint64_t version, uint64_t seq)
{
    struct ft_chan_writer *w = &ft_m.out[rank];
    /* [Its record is matched and covered; the chunk is freed, the reader replaced, and nobody looks
     * at it before.] */
    if (ft_m.syncs.head)
        ft_msg_look_at_syncs();
    return w->hdr ? ft_chan_cover(w, ft_m.tp, version, seq) : 0;
}

uint64_t ft_msg_kept_for(int rank)
{
    const struct ft_chan_writer *w = &ft_m.out[rank];
    return w->hdr && w->keep == FT_KEEP_CUT ? w->live * FT_CHAN_CHUNK : 0;
}

/* What has come of it. */
static void copy_out(struct ft_reader *r, struct ft_inmsg *e, char *out)
{
    if (e->flat) {
        memcpy(out, e->flat, e->scanned);
        return;
    }
    char *pos = (char *)e->rec;
    struct ft_chunk *chunk = e->chunk;
    for (size_t left = e->scanned; left;) {
        struct ft_rec *rec = (struct ft_rec *)(void *)pos;
        if (rec->flags & FT_REC_LINK) {
            chunk = (struct ft_chunk *)(void *)(r->base + atomic_load_explicit(
                                                              &chunk->next, memory_order_acquire));
            pos = (char *)(chunk + 1);
            continue;
        }
        memcpy(out, rec->data, rec->here);
        out += rec->here;
        left -= rec->here;
        pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
    }
}

static char *save_ends(char *out, int alone)
{
    struct saved_ends_head h = {
        .era = ft_m.era, .nranks = (uint32_t)ft_m.nranks, .alone = (uint32_t)alone};
    memcpy(out, &h, sizeof h);
    out += sizeof h;
    for (int i = 0; i < ft_m.nranks; i++, out += sizeof(struct ends)) {
        const struct ft_reader *r = &ft_m.in[i];
        struct ends e = {.out = ft_m.out[i].hdr ? ft_chan_place(&ft_m.out[i]) : ft_m.begin[i],
                         .tail_bytes = ft_chan_tail_bytes(&ft_m.out[i], ft_m.tp, ft_m.tail[i]),
                         .in_seq = ft_msg_position(i),
                         .in_hash = r->seq < r->seen ? r->seen_hash
                                    : r->current     ? r->before
                                                     : r->hash};
        memcpy(out, &e, sizeof e);
    }
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_chan_tail_save(&ft_m.out[i], ft_m.tp, ft_m.tail[i], out);
        out += ft_chan_tail_bytes(&ft_m.out[i], ft_m.tp, ft_m.tail[i]);
    }
    return out;
}

void ft_msg_pending_save(char *out, int alone)
{
    out = save_ends(out, alone);
    for (int i = 0; i < ft_m.nranks; i++)
        for (struct ft_inmsg *e = for_image(&ft_m.in[i], ft_m.in[i].head); e;
             e = for_image(&ft_m.in[i], e->next)) {
            struct saved_message s = {.source = i, .tag = e->tag, .ctx = e->ctx, .bytes = e->total};
            memcpy(out, &s, sizeof s);
            copy_out(&ft_m.in[i], e, out + sizeof s);
            memset(out + sizeof s + e->total, 0, ft_align_up(e->total, 8) - e->total);
            out += sizeof s + ft_align_up(e->total, 8);
        }
}

void ft_reader_flatten(struct ft_reader *r)
{
    for (struct ft_inmsg *e = r->head; e; e = e->next) {
        if (e->flat || e->sync || e->far || e->req || !e->rec)
            continue;
        char *flat = ft_offheap_alloc(e->total);
        FT_ASSERT(flat);
        copy_out(r, e, flat);
        e->flat = flat;
        e->copied = e->scanned;
        e->rec = NULL;
        e->chunk = NULL;
    }
    ft_reader_release(r);
}

/* Copies what was not received out of the sender's log, since a replaced sender begins after it.
 * Not a message whose sender waits: the sender has an active request, so this image will not be
 * committed, and the record must still be marked. */
static void flatten(struct ft_reader *r)
{
    for (struct ft_inmsg *e = r->head; e; e = e->next)
        FT_ASSERT(!e->req && e->scanned == e->total && (e->flat || e->rec));
    ft_reader_flatten(r);
}

static struct ends ends_of(const char *saved, int rank)
{
    struct ends e;
    memcpy(&e, saved + sizeof(struct saved_ends_head) + (size_t)rank * sizeof e, sizeof e);
    return e;
}

void ft_msg_release_all(void)
{
    ft_m.unreleased = 0;
    for (int i = 0; i < ft_m.nactive; i++)
        ft_reader_release(&ft_m.in[ft_m.active[i]]);
}

/* The cut in a snapshot, where nobody stands still. What a reader may need of a channel is in the
 * writer's image, so nothing is copied here. */
static void cut_in_snapshot(uint64_t version)
{
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_chan_writer *w = &ft_m.out[i];
        atomic_store_explicit(&ft_m.tp->own->ctl->peer[i].snapshot_pos, ft_msg_position(i),
                              memory_order_release);
        if (ft_m.keep == FT_KEEP_CUT)
            w->keep = FT_KEEP_CUT;
        if (w->hdr)
            ft_chan_cut_tail(w, ft_m.tp, version, ft_m.tail[i]);
    }
}

uint64_t ft_msg_saved_position(const char *saved, int rank) { return ends_of(saved, rank).in_seq; }

enum ft_status ft_msg_resend(const char *saved, int dst, uint64_t from)
{
    size_t at = ft_msg_head_bytes();
    for (int i = 0; i < dst; i++)
        at += ends_of(saved, i).tail_bytes;
    struct ends e = ends_of(saved, dst);
    if (e.tail_bytes == 0 || e.out.seq <= from)
        return FT_OK;
    ft_msg_open(dst);
    return ft_chan_resend_tail(&ft_m.out[dst], ft_m.tp, saved + at, e.tail_bytes, from);
}

void ft_msg_saved_elsewhere(char *saved)
{
    struct saved_ends_head h;
    memcpy(&h, saved, sizeof h);
    h.era = FT_ERA_SETUP;
    memcpy(saved, &h, sizeof h);
}

int ft_msg_saved_in_snapshot(const char *saved, size_t bytes)
{
    struct saved_ends_head h = {0};
    if (bytes)
        memcpy(&h, saved, sizeof h);
    return h.alone != 0;
}

void ft_msg_cut(uint64_t version, int snapshot)
{
    FT_ASSERT(version > 0);
    if (ft_m.keep == FT_KEEP_CUT) {
        ft_whole_others_again(version);
    }
    if (snapshot) {
        cut_in_snapshot(version);
        return;
    }
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_chan_writer *w = &ft_m.out[i];
        if (ft_m.keep == FT_KEEP_CUT) {
            flatten(&ft_m.in[i]);
            w->keep = FT_KEEP_CUT;
        }
        if (w->hdr)
            ft_chan_cut(w, ft_m.tp, version);
    }
}

/* No gateway reads the logs of the run that end now. It copies a frame at most. */
static void turn_to(uint32_t era)
{
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_waiter w = FT_WAITER_ALONE;
        while (ft_m.out[i].hdr && ft_chan_turn(&ft_m.out[i], era))
            ft_wait(&w);
        ft_wait_end(&w);
    }
}

int ft_msg_placed(void)
{
    int all = 1;
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_chan_writer *w = &ft_m.out[i];
        if (w->hdr && !ft_board_near(ft_m.tp->board, w->slot) &&
            ft_board_slot_end(ft_m.tp->board, w->slot) == FT_SLOT_THERE)
            all &= ft_chan_placed(w);
    }
    return all;
}

static void begin_era(uint32_t era, enum ft_keep keep, uint64_t version)
{
    FT_ASSERT(era > ft_m.era);
    turn_to(era);
    ft_m.era = era;
    ft_m.keep = keep;
    ft_m.keeps_nothing = keep == FT_KEEP_NONE;
    ft_m.version = version;
    ft_m.any = ft_m.sends = ft_m.syncs = (struct ft_reqlist){NULL, NULL};
    memset(ft_m.tagged, 0, sizeof ft_m.tagged);
    ft_m.posting = 0;
    ft_m.posted = UINT32_MAX; /* the next receive is the first of its call */
    ft_msg_active = 0;
    if (keep == FT_KEEP_CUT)
        ft_whole_others_restored(version);
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_reader_reset(&ft_m.in[i]);
        ft_m.begin[i] = (struct ft_chan_place){0};
        if (ft_m.out[i].hdr)
            ft_chan_begin_era(&ft_m.out[i], ft_m.tp, era, keep, version);
    }
}

static void inject(const char *saved, size_t bytes)
{
    size_t at = bytes ? ft_msg_head_bytes() : 0;
    for (int i = 0; bytes && i < ft_m.nranks; i++)
        at += ends_of(saved, i).tail_bytes;
    while (at < bytes) {
        struct saved_message s;
        memcpy(&s, saved + at, sizeof s);
        at += sizeof s;
        FT_ASSERT(s.source >= 0 && s.source < ft_m.nranks && s.bytes <= bytes - at);
        ft_reader_inject(&ft_m.in[s.source], s.ctx, s.tag, saved + at, s.bytes);
        at += ft_align_up(s.bytes, 8);
    }
    ft_reader_adopt();
}

void ft_msg_begin_era(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                      size_t bytes)
{
    begin_era(era, keep, version);
    inject(saved, bytes);
}

/* Restores one channel in each direction, as the image has them. An image that was taken alone
 * brings back the records that its reader may need. This channel is opened at once, since the
 * reader may wait for just these records. */
static void resume_ends(int rank, uint64_t version, const struct ends *e, const char *tail)
{
    struct ft_reader *r = &ft_m.in[rank];
    struct ft_chan_writer *w = &ft_m.out[rank];
    r->seq = r->seen = e->in_seq;
    r->hash = e->in_hash;
    if (e->tail_bytes) {
        ft_msg_open(rank);
        while (ft_chan_tail_load(w, ft_m.tp, version, tail, e->tail_bytes, &e->out) != FT_OK)
            if (!ft_no_room(e->tail_bytes))
                FT_ASSERT(!"no room for the records that an image holds");
        return;
    }
    ft_m.begin[rank] = e->out;
    if (e->out.pos && w->hdr)
        ft_chan_begin_at(w, version, &e->out);
}

/* R7: writes messages of f under their old numbers, and reads messages to f from the image's place
 * on. An image of an older era has crossed a rollback, which started all numbers again. */
void ft_msg_resume(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved,
                   size_t bytes)
{
    struct saved_ends_head h = {0};
    FT_ASSERT(version > 0);
    begin_era(era, keep, version);
    if (bytes) {
        memcpy(&h, saved, sizeof h);
        FT_ASSERT(h.nranks == (uint32_t)ft_m.nranks && h.era <= era);
    }
    size_t tail = ft_msg_head_bytes();
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_m.in[i].resume_version = version;
        if (h.era != era)
            continue;
        struct ends e = ends_of(saved, i);
        resume_ends(i, version, &e, saved + tail);
        tail += e.tail_bytes;
    }
    inject(saved, bytes);
}

static void nobody_asks(int rank, const struct ft_mismatch *mismatch)
{
    (void)rank, (void)mismatch;
}
FT_STATE(ft_msg_diverged_fn *, ft_msg_diverged) = nobody_asks;

/* 1 + how far rank i has seen this rank's messages; 0: it has not yet told this carrier. */
static uint64_t seen_by(int i)
{
    const struct ft_ctl *ctl = ft_tp_ctl(ft_m.tp, ft_m.in[i].slot);
    return ctl ? atomic_load_explicit(&ctl->peer[ft_m.tp->self].seen, memory_order_acquire) : 0;
}

/* The same for what this carrier has said to rank i. The channel may not be open yet, though the
 * image says where it goes on. */
static uint64_t said_to(int i)
{
    const struct ft_chan_writer *w = &ft_m.out[i];
    return 1 + (w->hdr ? w->seq : ft_m.begin[i].pos ? ft_m.begin[i].seq : FT_SEQ(ft_m.era, 0));
}

int ft_msg_evidence_missed(void)
{
    for (int i = 0; i < ft_m.nranks; i++)
        if (i != ft_m.myrank && said_to(i) < seen_by(i))
            return 1 + i;
    return 0;
}

int ft_msg_evidence_passed(void)
{
    for (int i = 0; i < ft_m.nranks; i++) {
        if (i == ft_m.myrank)
            continue;
        uint64_t seen = seen_by(i);
        if (seen == 0 || said_to(i) < seen)
            return 0;
    }
    return 1;
}

uint32_t ft_msg_era(void) { return ft_m.era; }

struct ft_said ft_msg_said(int rank) { return ft_said_in_setup(&ft_m.out[rank], ft_m.tp); }

static void stop_keeping(void)
{
    ft_m.keep = FT_KEEP_NONE;
    for (int i = 0; i < ft_m.nranks; i++)
        ft_m.out[i].keep = FT_KEEP_NONE;
}

void ft_msg_stop_keeping(void)
{
    stop_keeping();
    ft_m.keeps_nothing = 1;
}

enum ft_keep ft_msg_keep_now(void)
{
    return ft_m.keep == FT_KEEP_CUT && ft_whole_misses_others() ? FT_KEEP_NONE : ft_m.keep;
}

static int trim_all(void)
{
    int freed = 0;
    for (int i = 0; i < ft_m.nranks; i++)
        if (ft_m.out[i].hdr)
            freed += ft_chan_trim(&ft_m.out[i], ft_m.tp);
    return freed;
}

/* From now on records that readers have released are not kept. In the run this lasts until the next
 * cut (M2, P5); otherwise nobody can be replayed from here on. Returns 0 if they must be kept for
 * now (E1). [What a lost rank had released would be written over.] */
static int keep_no_longer(void)
{
    int all = ft_m.keep == FT_KEEP_ALL;
    ft_whole_lost(all ? FT_WHOLE_KEPT : FT_WHOLE_OTHERS, ft_log_refused());
    if (ft_whole_frozen())
        return 0;
    if (all)
        stop_keeping();
    for (int i = 0; i < ft_m.nranks && !all; i++)
        ft_m.out[i].keep = FT_KEEP_NONE;
    return 1;
}

int ft_msg_make_room(const struct ft_chan_writer *refused)
{
    if (refused->keep == FT_KEEP_NONE) {
        if (trim_all())
            return 1;
        if (!refused->no_room)
            return 0; /* its reader will release some chunk */
        /* With two chunks its reader can release one: it has read the chunk, or copies the messages
         * out of it that it has not received (wants_chunk), or it says that it cannot. */
        return (refused->live < 2 || ft_chan_stuck(refused)) && ft_no_room(refused->no_room);
    }
    if (ft_m.keep == FT_KEEP_CUT &&
        trim_all()) /* other channels may not have wanted a chunk since the last commit */
        return 1;
    if (keep_no_longer())
        return 0;
    return refused->no_room ? ft_no_room(refused->no_room) : 1; /* the limit does not count */
}

int ft_msg_room_to_open(uint64_t bytes)
{
    if (trim_all())
        return 1;
    if (ft_msg_keep_now() != FT_KEEP_NONE && keep_no_longer())
        return 1;
    return ft_no_room(bytes);
}
