/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan_record.h - what a channel is made of (chan.h): records, chunks, and the places that others
 * need to know.
 *
 * Eras. Sequence numbers are era << 40 | n. Era 0 is setup: its chunks are kept for the whole run,
 * so that a replacement can be fed from them. The run's eras begin with the first checkpoint and
 * anew with each rollback; what becomes of their chunks is a matter of `enum ft_keep`. What follows
 * FTRMA_Run is the last era, kept again. The sequence of records is a function of the place where a
 * log began and of the messages alone, never of time: a replacement that begins at its image's
 * place and repeats what was said after it writes the same records under the same numbers.
 *
 * Images that are taken alone (demand checkpoints). The receiver's says up to which number it has
 * consumed a channel: what lies before is needed no more (ft_chan_cover), and a replaced receiver
 * finds its place by that number. The sender's holds what the receiver may still need of it
 * (ft_chan_tail_save), since those records are lost with it and are not repeated.
 *
 * Cuts. When an image of version v is taken, each of the process's channels notes in its header
 * where it stands. A replaced reader that restores its image of v begins there (R7), so what lies
 * after the newest committed cut is kept, in eras that say so.
 */
#ifndef FT_ALOG_CHAN_RECORD_H
#define FT_ALOG_CHAN_RECORD_H

#include "alog/log.h"
#include "base/version.h"

#define FT_SEQ(era, n) (((uint64_t)(era) << 40) | (n))

enum ft_segment { FT_SEG_SETUP, FT_SEG_RUN, FT_SEG_POST, FT_SEG_COUNT };
static inline enum ft_segment ft_era_segment(uint32_t era)
{
    return era == FT_ERA_SETUP ? FT_SEG_SETUP : era == FT_ERA_POST ? FT_SEG_POST : FT_SEG_RUN;
}

/* When a chunk may be used again: once the reader has released it; when all of it lies before the
 * newest committed cut, too; never. */
enum ft_keep { FT_KEEP_NONE, FT_KEEP_CUT, FT_KEEP_ALL };

struct ft_rec {
    _Atomic uint64_t seq; /* 1 + its number, once it is there */
    uint32_t ctx;
    int32_t tag;
    uint32_t here; /* bytes of data in this record */
    uint16_t flags;
    _Atomic uint16_t matched; /* SYNC: 1 when a receive has this message; FAR: when it was copied.
                                 Written by the reader alone, who may say it again */
    uint64_t total;           /* FIRST: bytes of the whole message; else offset of these in it */
    char data[];
};
_Static_assert(sizeof(struct ft_rec) == 32, "half a line");
enum {
    FT_REC_FIRST = 1,
    FT_REC_LAST = 2,
    FT_REC_LINK = 4,
    FT_REC_SYNC = 8, /* of a FIRST: its sender waits for the match */
    FT_REC_FAR = 16, /* FIRST and LAST: data is the address of the message at its sender, who waits
                        until it was copied from there */
};

#define FT_CHAN_CHUNK (64ull << 10) /* bytes of a chunk but a log's first */
struct ft_chunk {
    _Atomic uint64_t next; /* offset in the writer's arena */
    uint64_t index;        /* in its era */
    uint64_t bytes;
    uint64_t first; /* number of its first record */
    uint64_t begin; /* where that lies, bytes from the chunk's own begin */
    uint64_t hash;  /* of all that was said in the era before it (R0) */
    uint64_t pad[2];
};
_Static_assert(sizeof(struct ft_chunk) == FT_CACHE_LINE, "one line");

/* A running hash of what is said on a channel, kept by writer and reader alike: envelopes, or
 * (FTRMA_CHECK=data) the data as well. */
static inline uint64_t ft_chan_hash(uint64_t h, const struct ft_rec *rec)
{
    if (rec->flags & FT_REC_FIRST)
        h = ft_hash_word(h, rec->total ^ (uint64_t)rec->ctx << 32 ^
                                (uint64_t)(uint32_t)rec->tag << 16);
    return FT_UNLIKELY(ft_check_data) ? ft_hash_bytes(h, rec->data, rec->here) : h;
}

/* Where a channel stood when its writer took the image of a version; or, since its reader's latest
 * image covers more, a place after that from which on it is whole. Written by the writer, version
 * last (0: nothing is noted). Offsets in its arena; chunk 0: there was none, what follows begins
 * with the segment's first. */
struct ft_chan_cut {
    _Atomic uint64_t version, seq, chunk, pos;
};

/* In the writer's arena; its offset is announced in the reader's control block. */
struct ft_chan_hdr {
    _Atomic uint64_t era; /* of the run segment */
    _Atomic uint64_t
        head[FT_SEG_COUNT];       /* first chunk, 0: none yet; of no use once that was used again */
    struct ft_chan_cut cut[2];    /* of version v in [v & 1] */
    _Atomic uint64_t after_image; /* number of the first record after the writer's newest image */
    _Atomic uint64_t
        wants_chunk; /* the writer wants a chunk and has none: the reader gives back what it can */
};

/* The same place for the writer's own image: all that the numbers and bounds of the records that
 * follow depend on. */
struct ft_chan_place {
    uint64_t seq;   /* of the next record */
    uint64_t index; /* of the chunk where it will lie (or the LINK to the next) */
    uint64_t pos;   /* bytes from that chunk's begin; 0: the channel was not open */
    uint64_t hash;  /* of what was said before */
};

#endif
