/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.c - the message layer's part in starts, replacements, checkpoints and rollbacks.
 */
#include "msg/channels.h"

#include <stdlib.h>
#include <string.h>

#include "alog/log.h"
#include "msg/msg_internal.h"
#include "msg/wild.h"

/* In an image: this, a place for each outgoing channel, and then the messages, */
struct head {
    uint32_t era, nranks;
};
/* with one of these in front of each, data padded to 8 bytes. */
struct saved {
    int32_t source, tag;
    uint32_t ctx, pad;
    uint64_t bytes;
};

_Atomic int ft_msg_not_replayable;

/* To the carrier of the reader's rank: what was seen of its former ones. 0 there: not yet said. */
static void say_seen(struct ft_reader *r)
{
    atomic_store_explicit(&ft_m.tp->own->ctl->peer[r->slot].seen, r->seen + 1, memory_order_release);
}

void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t wildcards)
{
    ft_m = (struct ft_msg){.tp = tp, .nranks = nranks, .myrank = myrank, .era = FT_ERA_SETUP, .keep = FT_KEEP_ALL};
    ft_m.in = calloc((size_t)nranks, sizeof *ft_m.in);
    ft_m.out = calloc((size_t)nranks, sizeof *ft_m.out);
    ft_m.active = calloc((size_t)nranks, sizeof *ft_m.active);
    ft_m.begin = calloc((size_t)nranks, sizeof *ft_m.begin);
    FT_ASSERT(ft_m.in && ft_m.out && ft_m.active && ft_m.begin);
    for (int i = 0; i < nranks; i++) {
        ft_m.in[i].rank = i;
        ft_m.in[i].slot = slot_of[i];
        say_seen(&ft_m.in[i]); /* it may be a replacement that asks: nothing was seen */
    }
    (void)wildcards;
    ft_m.replacement = replacement;
    ft_wild_reset(0);
    ft_reader_adopt();
}

void ft_msg_rebind(int rank, int slot)
{
    FT_ASSERT(rank >= 0 && rank < ft_m.nranks);
    ft_reader_rebind(&ft_m.in[rank], slot);
    say_seen(&ft_m.in[rank]);
    if (ft_m.out[rank].hdr && ft_chan_rebind(&ft_m.out[rank], ft_m.tp, slot) != FT_OK)
        ft_m.out[rank].slot = slot; /* it is dead as well: the next generation rebinds again */
    ft_reader_adopt();
    ft_m.tp->ops->ring(ft_m.tp, slot); /* it may wait for what was just said */
}

static void scan_all(void)
{
    ft_reader_adopt();
    for (int i = 0; i < ft_m.nactive; i++)
        ft_reader_poll(&ft_m.in[ft_m.active[i]]);
}

size_t ft_msg_head_bytes(void) { return sizeof(struct head) + (size_t)ft_m.nranks * sizeof(struct ft_chan_place); }

size_t ft_msg_pending_bytes(void)
{
    size_t n = ft_msg_head_bytes();
    scan_all();
    for (int i = 0; i < ft_m.nranks; i++)
        for (struct ft_inmsg *e = ft_m.in[i].head; e; e = e->next) {
            FT_ASSERT(!e->req && e->scanned == e->total); /* no active requests, and senders stand still */
            n += sizeof(struct saved) + ft_align_up(e->total, 8);
        }
    return n;
}

static void copy_out(struct ft_reader *r, struct ft_inmsg *e, char *out)
{
    if (e->flat) {
        memcpy(out, e->flat, e->total);
        return;
    }
    char *pos = (char *)e->rec;
    struct ft_chunk *chunk = e->chunk;
    for (size_t left = e->total; left;) {
        struct ft_rec *rec = (struct ft_rec *)(void *)pos;
        if (rec->flags & FT_REC_LINK) {
            chunk = (struct ft_chunk *)(void *)(r->base + atomic_load_explicit(&chunk->next, memory_order_acquire));
            pos = (char *)(chunk + 1);
            continue;
        }
        memcpy(out, rec->data, rec->here);
        out += rec->here;
        left -= rec->here;
        pos += ft_align_up(sizeof *rec + rec->here, FT_CACHE_LINE);
    }
}

void ft_msg_pending_save(char *out)
{
    struct head h = {.era = ft_m.era, .nranks = (uint32_t)ft_m.nranks};
    memcpy(out, &h, sizeof h);
    out += sizeof h;
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_chan_place at = ft_m.out[i].hdr ? ft_chan_place(&ft_m.out[i]) : ft_m.begin[i];
        memcpy(out, &at, sizeof at);
        out += sizeof at;
    }
    for (int i = 0; i < ft_m.nranks; i++)
        for (struct ft_inmsg *e = ft_m.in[i].head; e; e = e->next) {
            struct saved s = {.source = i, .tag = e->tag, .ctx = e->ctx, .bytes = e->total};
            memcpy(out, &s, sizeof s);
            copy_out(&ft_m.in[i], e, out + sizeof s);
            memset(out + sizeof s + e->total, 0, ft_align_up(e->total, 8) - e->total);
            out += sizeof s + ft_align_up(e->total, 8);
        }
}

/* What was not received is copied out of the sender's log: a replaced sender begins behind it. */
static void flatten(struct ft_reader *r)
{
    for (struct ft_inmsg *e = r->head; e; e = e->next) {
        FT_ASSERT(!e->req && e->scanned == e->total && (e->flat || e->rec));
        if (e->flat)
            continue;
        char *flat = malloc(e->total ? e->total : 1);
        FT_ASSERT(flat);
        copy_out(r, e, flat);
        e->flat = flat;
        e->rec = NULL;
        e->chunk = NULL;
    }
    ft_reader_release(r);
}

void ft_msg_cut(uint64_t version)
{
    FT_ASSERT(version > 0);
    if (ft_m.keep == FT_KEEP_CUT) {
        uint64_t dropped = UINT64_MAX;
        atomic_compare_exchange_strong(&ft_log_whole_from, &dropped, version);
    }
    for (int i = 0; i < ft_m.nranks; i++) {
        struct ft_chan_writer *w = &ft_m.out[i];
        if (ft_m.keep == FT_KEEP_CUT) {
            flatten(&ft_m.in[i]);
            ft_m.in[i].cut_hash[version & 1] = ft_m.in[i].hash;
            w->keep = FT_KEEP_CUT;
        }
        if (w->hdr)
            ft_chan_cut(w, ft_m.tp, version);
    }
}

static void begin_era(uint32_t era, enum ft_keep keep, uint64_t version)
{
    FT_ASSERT(era > ft_m.era);
    ft_m.era = era;
    ft_m.keep = keep;
    ft_m.version = version;
    ft_m.any = ft_m.sends = (struct ft_reqlist){NULL, NULL};
    ft_msg_active = 0;
    if (keep == FT_KEEP_CUT)
        atomic_store(&ft_log_whole_from, version);
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_reader_reset(&ft_m.in[i]);
        ft_m.begin[i] = (struct ft_chan_place){0};
        if (ft_m.out[i].hdr)
            ft_chan_begin_era(&ft_m.out[i], ft_m.tp, era, keep, version);
    }
}

static void inject(const char *saved, size_t bytes)
{
    for (size_t at = bytes ? ft_msg_head_bytes() : 0; at < bytes;) {
        struct saved s;
        memcpy(&s, saved + at, sizeof s);
        at += sizeof s;
        FT_ASSERT(s.source >= 0 && s.source < ft_m.nranks && s.bytes <= bytes - at);
        ft_reader_inject(&ft_m.in[s.source], s.ctx, s.tag, saved + at, s.bytes);
        at += ft_align_up(s.bytes, 8);
    }
    ft_reader_adopt();
}

void ft_msg_begin_era(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved, size_t bytes)
{
    begin_era(era, keep, version);
    inject(saved, bytes);
}

/* Protocol 8, R7: messages of f under their old numbers, messages to f from the image's cut on. An image of an older era crossed
 * a rollback, with which all numbers began anew. */
void ft_msg_resume(uint32_t era, enum ft_keep keep, uint64_t version, const char *saved, size_t bytes)
{
    struct head h = {0};
    FT_ASSERT(version > 0);
    begin_era(era, keep, version);
    if (bytes) {
        memcpy(&h, saved, sizeof h);
        FT_ASSERT(h.nranks == (uint32_t)ft_m.nranks && h.era <= era);
    }
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_m.in[i].resume_version = version;
        if (h.era != era)
            continue;
        memcpy(&ft_m.begin[i], saved + sizeof h + (size_t)i * sizeof *ft_m.begin, sizeof *ft_m.begin);
        if (ft_m.begin[i].pos && ft_m.out[i].hdr)
            ft_chan_begin_at(&ft_m.out[i], version, &ft_m.begin[i]);
    }
    inject(saved, bytes);
}

static void nobody_asks(int rank) { (void)rank; }
void (*ft_msg_diverged)(int rank) = nobody_asks;

int ft_msg_evidence_missed(void)
{
    for (int i = 0; i < ft_m.nranks; i++) {
        const struct ft_chan_writer *w = &ft_m.out[i];
        const struct ft_ctl *ctl = i != ft_m.myrank ? ft_tp_ctl(ft_m.tp, ft_m.in[i].slot) : NULL;
        uint64_t seen = ctl ? atomic_load_explicit(&ctl->peer[ft_m.tp->self].seen, memory_order_acquire) : 0;
        if (seen > 1 && (w->hdr ? w->seq : 0) < seen - 1)
            return 1;
    }
    return 0;
}

int ft_msg_evidence_passed(void)
{
    for (int i = 0; i < ft_m.nranks; i++) {
        if (i == ft_m.myrank)
            continue;
        const struct ft_chan_writer *w = &ft_m.out[i];
        const struct ft_ctl *ctl = ft_tp_ctl(ft_m.tp, ft_m.in[i].slot);
        uint64_t seen = ctl ? atomic_load_explicit(&ctl->peer[ft_m.tp->self].seen, memory_order_acquire) : 0;
        uint64_t next = w->hdr ? w->seq : ft_m.begin[i].pos ? ft_m.begin[i].seq : FT_SEQ(ft_m.era, 0);
        if (seen == 0 || next < seen - 1)
            return 0;
    }
    return 1;
}

uint32_t ft_msg_era(void) { return ft_m.era; }

void ft_msg_stop_keeping(void)
{
    ft_m.keep = FT_KEEP_NONE;
    for (int i = 0; i < ft_m.nranks; i++)
        ft_m.out[i].keep = FT_KEEP_NONE;
}

enum ft_keep ft_msg_keep_now(void)
{
    return ft_m.keep == FT_KEEP_CUT && atomic_load(&ft_log_whole_from) == UINT64_MAX ? FT_KEEP_NONE : ft_m.keep;
}

int ft_msg_make_room(const struct ft_chan_writer *refused)
{
    if (refused->keep == FT_KEEP_NONE)
        return 0; /* its reader will release some */
    if (ft_m.keep == FT_KEEP_ALL) { /* what is consumed is kept no longer, and nobody can be replayed from here on */
        ft_msg_not_replayable = 1;
        ft_msg_stop_keeping();
        return 0;
    }
    int freed = 0;
    for (int i = 0; i < ft_m.nranks; i++) /* other channels may not have wanted a chunk since the last commit */
        if (ft_m.out[i].hdr)
            freed += ft_chan_trim(&ft_m.out[i], ft_m.tp);
    if (freed)
        return 1;
    ft_exposure_begin();
    atomic_store(&ft_log_whole_from, UINT64_MAX); /* until the next cut (protocol 6, the budget) */
    for (int i = 0; i < ft_m.nranks; i++)
        ft_m.out[i].keep = FT_KEEP_NONE;
    return 0;
}
