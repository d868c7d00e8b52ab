/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan.h - a channel is a log with a cursor (M1). The writer's side.
 *
 * All that p has said to q lies in chunks in p's arena; q reads it there. One writer, one reader; a record exists once its
 * sequence number is published, so a writer that dies at any instruction damages nobody.
 *
 *   ft_chan_hdr                      ft_chunk                                     ft_chunk
 *   +--------------+                 +------+-----+-----+---------+------+        +------+-----
 *   | head[setup]  |---------------->| next | rec | rec | rec ... | LINK |------->| next | rec ...
 *   | head[run] ...|                 +------+-----+-----+---------+------+        +------+-----
 *   +--------------+
 *
 * A record is a header of 32 bytes and its data, in whole cache lines; a short message (up to 32 bytes) is one line. A message
 * longer than what a record takes goes in fragments: the first names context, tag and total length.
 *
 * Eras. Sequence numbers are era << 40 | n. Era 0 is setup: its chunks are kept for the whole run, so that a replacement can be
 * fed from them. The run's eras begin with the first checkpoint and anew with each rollback; what becomes of their chunks is a
 * matter of `enum ft_keep`. What follows FTRMA_Run is the last era, kept again. The sequence of records is a function of the
 * place where a log began and of the messages alone, never of time: a replacement that begins at its image's place and repeats
 * what was said after it writes the same records under the same numbers.
 *
 * Images that are taken alone (demand checkpoints). The receiver's says up to which number it has consumed a channel: what lies
 * before is needed no more (ft_chan_cover), and a replaced receiver finds its place by that number. The sender's holds what the
 * receiver may still need of it (ft_chan_tail_save), since those records are lost with it and are not repeated.
 *
 * Cuts. When an image of version v is taken, each of the process's channels notes in its header where it stands. A replaced
 * reader that restores its image of v begins there (R7), so what lies behind the newest committed cut is kept, in
 * eras that say so.
 */
#ifndef FT_ALOG_CHAN_H
#define FT_ALOG_CHAN_H

#include "alog/log.h"
#include "alog/unkept.h"
#include "transport/transport.h"

#define FT_ERA_SETUP 0u
#define FT_ERA_FIRST 1u          /* after the first checkpoint; a rollback in generation g begins era FT_ERA_FIRST + g */
#define FT_ERA_POST 0xffffffu    /* after FTRMA_Run */
#define FT_SEQ(era, n) (((uint64_t)(era) << 40) | (n))

enum ft_segment { FT_SEG_SETUP, FT_SEG_RUN, FT_SEG_POST, FT_SEG_COUNT };
static inline enum ft_segment ft_era_segment(uint32_t era)
{
    return era == FT_ERA_SETUP ? FT_SEG_SETUP : era == FT_ERA_POST ? FT_SEG_POST : FT_SEG_RUN;
}

/* When a chunk may be used again: once the reader has released it; when all of it lies before the newest committed cut, too;
 * never. */
enum ft_keep { FT_KEEP_NONE, FT_KEEP_CUT, FT_KEEP_ALL };

struct ft_rec {
    _Atomic uint64_t seq; /* 1 + its number, once it is there */
    uint32_t ctx;
    int32_t tag;
    uint32_t here; /* bytes of data in this record */
    uint16_t flags;
    _Atomic uint16_t matched; /* SYNC: 1 when a receive has this message; FAR: when it was copied. Written by the reader alone, who may say it again */
    uint64_t total; /* FIRST: bytes of the whole message; else offset of these in it */
    char data[];
};
_Static_assert(sizeof(struct ft_rec) == 32, "half a line");
enum {
    FT_REC_FIRST = 1,
    FT_REC_LAST = 2,
    FT_REC_LINK = 4,
    FT_REC_SYNC = 8, /* of a FIRST: its sender waits for the match */
    FT_REC_FAR = 16, /* FIRST and LAST: data is the address of the message at its sender, who waits until it was copied from there */
};

#define FT_CHAN_CHUNK (64ull << 10) /* bytes of a chunk but a log's first */
struct ft_chunk {
    _Atomic uint64_t next; /* offset in the writer's arena */
    uint64_t index;        /* in its era */
    uint64_t bytes;
    uint64_t first;        /* number of its first record */
    uint64_t begin;        /* where that lies, bytes from the chunk's own begin */
    uint64_t hash;         /* of all that was said in the era before it (R0) */
    uint64_t pad[2];
};
_Static_assert(sizeof(struct ft_chunk) == FT_CACHE_LINE, "one line");

/* A running hash of what is said on a channel, kept by writer and reader alike: envelopes, or (FTRMA_CHECK=data) the data as well. */
static inline uint64_t ft_chan_hash(uint64_t h, const struct ft_rec *rec)
{
    if (rec->flags & FT_REC_FIRST)
        h = ft_hash_word(h, rec->total ^ (uint64_t)rec->ctx << 32 ^ (uint64_t)(uint32_t)rec->tag << 16);
    return FT_UNLIKELY(ft_check_data) ? ft_hash_bytes(h, rec->data, rec->here) : h;
}

/* Where a channel stood when its writer took the image of a version; or, since its reader's latest image covers more, a place behind
 * that from which on it is whole. Written by the writer, version last (0: nothing is noted).
 * Offsets in its arena; chunk 0: there was none, what follows begins with the segment's first. */
struct ft_chan_cut {
    _Atomic uint64_t version, seq, chunk, pos;
};

/* In the writer's arena; its offset is announced in the reader's control block. */
struct ft_chan_hdr {
    _Atomic uint64_t era;                /* of the run segment */
    _Atomic uint64_t head[FT_SEG_COUNT]; /* first chunk, 0: none yet; of no use once that was used again */
    struct ft_chan_cut cut[2];           /* of version v in [v & 1] */
    _Atomic uint64_t behind;             /* number of the first record behind the writer's newest image */
    _Atomic uint64_t starved;            /* the writer wants a chunk and has none: the reader gives back what it can */
};

/* The same place for the writer's own image: all that the numbers and bounds of the records that follow depend on. */
struct ft_chan_place {
    uint64_t seq;   /* of the next record */
    uint64_t index; /* of the chunk where it will lie (or the LINK to the next) */
    uint64_t pos;   /* bytes from that chunk's begin; 0: the channel was not open */
    uint64_t hash;  /* of what was said before */
};

struct ft_chan_writer {
    int slot; /* of the reader, now */
    uint64_t hdr_off;
    struct ft_chan_hdr *hdr;
    struct ft_ctl *peer;  /* the reader's control block */
    uint32_t era;
    uint64_t seq;         /* of the next record */
    struct ft_chunk *cur, *oldest;
    char *pos, *end;      /* in cur; end leaves a line for the LINK */
    char *clean;          /* the words where sequence numbers may come are zero in [pos, clean] */
    uint64_t live;        /* chunks of this era from oldest to cur */
    uint64_t next_index, begin; /* of the next chunk; where the first record lies in the log's first */
    uint64_t hash;        /* of what was said in this era */
    enum ft_keep keep;
    uint64_t no_room;     /* the bytes that the arena had no room for, when the last append stopped; 0: it stopped for the budget */
    /* the last synchronous message: its first record, that one's number, and its chunk's index */
    struct ft_rec *sync;
    uint64_t sync_seq, sync_chunk;
    uint64_t cut_version[2], cut_before[2]; /* the cuts in hdr: chunks with lower indices lie wholly before them */
};

/* Log memory of the whole process, all channels: `limit` bytes are not to be exceeded, but by two chunks a channel whose records are not
 * kept, without which it could not go on. `kept` counts chunks that are never reused. */
struct ft_log_budget {
    uint64_t used, limit, kept;
};
extern struct ft_log_budget ft_log_budget;
/* Why a chunk was refused. */
static inline enum ft_unkept ft_log_refused(void)
{
    int full = ft_log_budget.used + FT_CHAN_CHUNK > ft_log_budget.limit;
    return full ? FT_UNKEPT_LIMIT : FT_UNKEPT_ROOM;
}
/* Newest version that is committed. Set by the agent; looked at when a chunk is wanted, so that a commit itself costs nothing. */
extern _Atomic uint64_t ft_msg_committed;

/* Prepares a channel from own to slot in `era`; announces it. FT_ERR_NOMEM, FT_ERR_DEAD. */
enum ft_status ft_chan_open(struct ft_chan_writer *w, struct ft_tp *tp, int slot, uint32_t era, enum ft_keep keep);
/* The reader is now carried by another slot: announces the same log there. */
enum ft_status ft_chan_rebind(struct ft_chan_writer *w, struct ft_tp *tp, int slot);
/* Begins a new era with an empty log, noted as the cut of `version` (0: of none); run-segment chunks are freed, kept segments
 * stay for replay. */
void ft_chan_begin_era(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t era, enum ft_keep keep, uint64_t version);
/* In a log that is still empty: it goes on where another process's stood (a place of the same era), noted as the cut of
 * `version`. */
void ft_chan_begin_at(struct ft_chan_writer *w, uint64_t version, const struct ft_chan_place *at);
/* Notes the cut of `version`. A version that was noted before, and not committed, is noted anew; there is room for the committed
 * one and the next. */
void ft_chan_cut(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version);
/* The same of an image that holds what its reader may still need, from this chunk on (ft_chan_tail): the cut is noted at its
 * begin. */
void ft_chan_cut_tail(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, const struct ft_chunk *tail);
struct ft_chan_place ft_chan_place(const struct ft_chan_writer *w);
/* The reader's latest image, taken alone since the committed one of `version`, needs nothing before record seq: chunks before it are
 * freed (those that the reader has released), and the place of the cut of `version` is moved behind them. Only while nobody reads
 * this log in order to replace the reader. Returns how many. */
int ft_chan_cover(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, uint64_t seq);
/* What the reader has not released, for the writer's own image: its first chunk (NULL: nothing), the bytes of all, and they. */
struct ft_chunk *ft_chan_tail(const struct ft_chan_writer *w, struct ft_tp *tp);
uint64_t ft_chan_tail_bytes(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from);
void ft_chan_tail_save(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from, char *out);
/* In a log that is still empty: it holds what another process's held, and goes on behind it, at `end`. FT_ERR_NOMEM. */
enum ft_status ft_chan_tail_load(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, const char *saved, uint64_t bytes,
                                 const struct ft_chan_place *end);
/* The messages that such a tail holds from record `from` on, which is a message's first: says each again, behind what the log
 * holds. FT_ERR_NOMEM. */
enum ft_status ft_chan_tail_again(struct ft_chan_writer *w, struct ft_tp *tp, const char *saved, uint64_t bytes, uint64_t from);
/* Frees the chunks that may be used again; returns how many. */
int ft_chan_trim(struct ft_chan_writer *w, struct ft_tp *tp);
/* Appends the part of a message from *done on, as far as there is room; advances *done. Returns 1 when the message is complete.
 * `patience`: polls to wait for the reader to release a chunk before a new one is taken (a long message that is being
 * read then stays in cache). Never blocks otherwise: over the budget it returns 0. */
int ft_chan_append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag, const void *buf, size_t len, size_t *done, int patience);
/* Whether a short message of so many bytes would be one record where the log stands: then ft_chan_append says 1. */
static inline int ft_chan_has_room(const struct ft_chan_writer *w, size_t len)
{
    return len <= 4096 && w->end - w->pos >= (ptrdiff_t)(sizeof(struct ft_rec) + len);
}
/* The same, a synchronous message: w->sync, sync_seq and sync_chunk say where it begins. */
int ft_chan_append_sync(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag, const void *buf, size_t len,
                        size_t *done, int patience);
/* The envelope of a message that stays where it is, at buf, until its receiver has copied it. In logs that nobody is replayed from. */
int ft_chan_append_far(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag, const void *buf, size_t len);
/* Chunks that the reader has released in this era: all that began in them has been matched. */
uint64_t ft_chan_released(const struct ft_chan_writer *w, const struct ft_tp *tp);

#endif
