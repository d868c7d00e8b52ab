/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan_record.h - the parts of a channel (chan.h): records, chunks, and the places that others need
 * to know.
 *
 * Eras. Sequence numbers are era << 48 | n. Era 0 is setup: its chunks are kept for the entire run,
 * so that a replacement can be fed from them. The run's first era begins with the first checkpoint,
 * and each rollback begins a new one; `enum ft_keep` says what becomes of their chunks. What
 * follows FTRMA_Run is the last era, and is kept again. The sequence of records depends only on the
 * place where a log began and on the messages, never on time. So a replacement that begins at its
 * image's place and repeats what was said after it writes the same records under the same numbers.
 *
 * Images that are taken alone (demand checkpoints). The receiver's image says up to which number it
 * has consumed a channel. Records before that are no longer needed (ft_chan_cover), and a
 * replacement of the receiver finds its place by that number. The sender's image holds what the
 * receiver may still need of the channel (ft_chan_tail_save), since those records are lost with the
 * sender and are not repeated.
 *
 * Cuts. When an image of version v is taken, each of the process's channels notes in its header
 * where it stands. A replacement of the reader that restores its image of v begins there (R7). So
 * what lies after the newest committed cut is kept, in eras that require it.
 */
#ifndef FT_ALOG_CHAN_RECORD_H
#define FT_ALOG_CHAN_RECORD_H

#include "alog/log.h"
#include "base/version.h"

enum ft_segment { FT_SEG_SETUP, FT_SEG_RUN, FT_SEG_POST, FT_SEG_COUNT };
static inline enum ft_segment ft_era_segment(uint32_t era)
{
    return era == FT_ERA_SETUP ? FT_SEG_SETUP : era == FT_ERA_POST ? FT_SEG_POST : FT_SEG_RUN;
}

/* When a chunk may be reused. NONE: once the reader has released it. CUT: when, in addition, all of
 * it lies before the newest committed cut. ALL: never. */
enum ft_keep { FT_KEEP_NONE, FT_KEEP_CUT, FT_KEEP_ALL };

struct ft_rec {
    _Atomic uint64_t seq; /* 1 + its number; stored when the record is complete */
    uint32_t ctx;
    int32_t tag;
    uint32_t here; /* bytes of data in this record */
    uint16_t flags;
    /* SYNC: 1 when a receive has matched this message; FAR: 1 when it was copied. Only the reader
     * writes it, possibly twice */
    _Atomic uint16_t matched;
    uint64_t total; /* FIRST: bytes of the entire message; else offset of these bytes in it */
    char data[];
};
_Static_assert(sizeof(struct ft_rec) == 32, "half a line");
enum {
    FT_REC_FIRST = 1,
    FT_REC_LAST = 2,
    FT_REC_LINK = 4,
    FT_REC_SYNC = 8, /* with FIRST: its sender waits for the match */
    /* FIRST and LAST: data is the address of the message at its sender, which waits until the
     * message was copied from there */
    FT_REC_FAR = 16,
};

#define FT_CHAN_CHUNK (64ull << 10) /* size of every chunk but a log's first */
struct ft_chunk {
    _Atomic uint64_t next; /* offset in the writer's arena */
    uint64_t index;        /* number of the chunk in its era */
    uint64_t bytes;
    uint64_t first; /* number of its first record */
    uint64_t begin; /* where that record lies, in bytes from the chunk's begin */
    uint64_t hash;  /* of all records of the era before it (R0) */
    uint64_t pad[2];
};
_Static_assert(sizeof(struct ft_chunk) == FT_CACHE_LINE, "one line");

/* A running hash of the messages on a channel, which writer and reader both keep: of envelopes, or
 * (FTRMA_CHECK=data) also of the data. */
static inline uint64_t ft_chan_hash(uint64_t h, const struct ft_rec *rec)
{
    if (rec->flags & FT_REC_FIRST)
        h = ft_hash_word(h, rec->total ^ (uint64_t)rec->ctx << 32 ^
                                (uint64_t)(uint32_t)rec->tag << 16);
    return FT_UNLIKELY(ft_check_data) ? ft_hash_bytes(h, rec->data, rec->here) : h;
}

/* Where a channel stood when its writer took the image of a version. If its reader's latest image
 * covers more, it is a later place, from which on the channel is complete. Only the writer writes
 * it, version last (0: nothing is noted). Offsets in its arena; chunk 0: there was no chunk, and
 * what follows begins with the segment's first. */
struct ft_chan_cut {
    _Atomic uint64_t version, seq, chunk, pos, hash; /* hash: of all records of the era before it */
};

/* A channel's header in the writer's arena. Its offset is announced in the reader's control
 * block. */
struct ft_chan_hdr {
    _Atomic uint64_t era; /* of the run segment */
    /* Offset of the first chunk; 0: none yet. No longer valid once that chunk was reused. */
    _Atomic uint64_t head[FT_SEG_COUNT];
    struct ft_chan_cut cut[2];    /* of version v in [v & 1] */
    _Atomic uint64_t after_image; /* number of the first record after the writer's newest image */
    _Atomic uint64_t wants_chunk; /* the writer has none: the reader should release what it can */
    /* For a reader on another node (gate/relay.h). since: the first era of the run whose log it
     * finds whole, from the cut of version `from` on (0: its begin). turned: older logs are left
     * alone. copying: the gateway is in one. asks: are all before this number there? placed: are */
    _Atomic uint64_t since, from, turned, asks;
    FT_ALIGNED_LINE _Atomic uint64_t copying, placed;
    _Atomic uint64_t stuck; /* the reader has read all before it, and can release nothing */
};

/* A channel's place for the writer's own image: everything that determines the numbers and bounds
 * of the records that follow. */
struct ft_chan_place {
    uint64_t seq;   /* number of the next record */
    uint64_t index; /* of the chunk where it will lie, or where the LINK to that chunk lies */
    uint64_t pos;   /* in bytes from that chunk's begin; 0: the channel was not open */
    uint64_t hash;  /* of all records before */
};

#endif
