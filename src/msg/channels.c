/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channels.c - the message layer's part in starts, replacements, checkpoints and rollbacks.
 */
#include "msg/channels.h"

#include <stdlib.h>
#include <string.h>

#include "msg/msg_internal.h"
#include "msg/wild.h"

/* In an image: one of these in front of each message, data padded to 8 bytes. */
struct saved {
    int32_t source, tag;
    uint32_t ctx, pad;
    uint64_t bytes;
};

_Atomic int ft_msg_not_replayable;

void ft_msg_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t wildcards)
{
    ft_m = (struct ft_msg){.tp = tp, .nranks = nranks, .myrank = myrank, .era = FT_ERA_SETUP, .keep = 1};
    ft_m.in = calloc((size_t)nranks, sizeof *ft_m.in);
    ft_m.out = calloc((size_t)nranks, sizeof *ft_m.out);
    ft_m.active = calloc((size_t)nranks, sizeof *ft_m.active);
    FT_ASSERT(ft_m.in && ft_m.out && ft_m.active);
    for (int i = 0; i < nranks; i++) {
        ft_m.in[i].rank = i;
        ft_m.in[i].slot = slot_of[i];
    }
    ft_wild_init(tp, nranks, myrank, slot_of, replacement, wildcards);
    ft_reader_adopt();
}

void ft_msg_rebind(int rank, int slot)
{
    FT_ASSERT(rank >= 0 && rank < ft_m.nranks);
    ft_reader_rebind(&ft_m.in[rank], slot);
    if (ft_m.out[rank].hdr && ft_chan_rebind(&ft_m.out[rank], ft_m.tp, slot) != FT_OK)
        ft_m.out[rank].slot = slot; /* it is dead as well: the next generation rebinds again */
    ft_wild_rebind(rank, slot);
    ft_reader_adopt();
}

static void scan_all(void)
{
    ft_reader_adopt();
    for (int i = 0; i < ft_m.nactive; i++)
        ft_reader_poll(&ft_m.in[ft_m.active[i]]);
}

size_t ft_msg_pending_bytes(void)
{
    size_t n = 0;
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
    for (int i = 0; i < ft_m.nranks; i++)
        for (struct ft_inmsg *e = ft_m.in[i].head; e; e = e->next) {
            struct saved s = {.source = i, .tag = e->tag, .ctx = e->ctx, .bytes = e->total};
            memcpy(out, &s, sizeof s);
            copy_out(&ft_m.in[i], e, out + sizeof s);
            memset(out + sizeof s + e->total, 0, ft_align_up(e->total, 8) - e->total);
            out += sizeof s + ft_align_up(e->total, 8);
        }
}

void ft_msg_begin_era(uint32_t era, int keep, const char *saved, size_t bytes)
{
    FT_ASSERT(era > ft_m.era);
    ft_m.era = era;
    ft_m.keep = keep;
    ft_m.any = ft_m.sends = (struct ft_reqlist){NULL, NULL};
    ft_msg_active = 0;
    for (int i = 0; i < ft_m.nranks; i++) {
        ft_reader_reset(&ft_m.in[i]);
        if (ft_m.out[i].hdr)
            ft_chan_begin_era(&ft_m.out[i], ft_m.tp, era, keep);
    }
    for (size_t at = 0; at < bytes;) {
        struct saved s;
        memcpy(&s, saved + at, sizeof s);
        at += sizeof s;
        FT_ASSERT(s.source >= 0 && s.source < ft_m.nranks && s.bytes <= bytes - at);
        ft_reader_inject(&ft_m.in[s.source], s.ctx, s.tag, saved + at, s.bytes);
        at += ft_align_up(s.bytes, 8);
    }
    ft_reader_adopt();
}

uint32_t ft_msg_era(void) { return ft_m.era; }

void ft_msg_stop_keeping(void)
{
    ft_m.keep = 0;
    for (int i = 0; i < ft_m.nranks; i++)
        ft_m.out[i].keep = 0;
}
