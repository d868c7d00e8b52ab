/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan.h - a channel is a log with a cursor (protocol 6). The writer's side.
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
 * A record is a header of 32 bytes and its data, in whole cache lines; a short message (up to 32 bytes) is one line. A message longer than
 * what a record takes goes in fragments: the first names context, tag and total length.
 *
 * Eras. Sequence numbers are era << 40 | n. Era 0 is setup: its chunks are kept for the whole run, so that a replacement can be
 * fed from them. The run's eras begin with the first checkpoint and anew with each rollback; their chunks are used again once the
 * reader has released them (while recovery is global). What follows FTRMA_Run is the last era, kept again. In eras that are
 * kept the sequence of records is a function of the messages alone, never of time: a replacement that repeats them writes the same
 * records under the same numbers.
 */
#ifndef FT_ALOG_CHAN_H
#define FT_ALOG_CHAN_H

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

struct ft_rec {
    _Atomic uint64_t seq; /* 1 + its number, once it is there */
    uint32_t ctx;
    int32_t tag;
    uint32_t here; /* bytes of data in this record */
    uint32_t flags;
    uint64_t total; /* FIRST: bytes of the whole message; else offset of these in it */
    char data[];
};
_Static_assert(sizeof(struct ft_rec) == 32, "half a line");
enum { FT_REC_FIRST = 1, FT_REC_LAST = 2, FT_REC_LINK = 4 };

struct ft_chunk {
    _Atomic uint64_t next; /* offset in the writer's arena */
    uint64_t index;        /* in its era */
    uint64_t bytes;
    uint64_t pad[5];
};
_Static_assert(sizeof(struct ft_chunk) == FT_CACHE_LINE, "one line");

/* In the writer's arena; its offset is announced in the reader's control block. */
struct ft_chan_hdr {
    _Atomic uint64_t era;                /* of the run segment */
    _Atomic uint64_t head[FT_SEG_COUNT]; /* first chunk, 0: none yet */
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
    uint64_t next_index;
    int keep;             /* this era's chunks are kept */
};

/* Log memory of the whole process, all channels: `limit` bytes are not to be exceeded, but by two chunks a channel whose records are not
 * kept, without which it could not go on. `kept` counts chunks that are never reused. */
struct ft_log_budget {
    uint64_t used, limit, kept;
};
extern struct ft_log_budget ft_log_budget;

/* Prepares a channel from own to slot in `era`; announces it. FT_ERR_NOMEM, FT_ERR_DEAD. */
enum ft_status ft_chan_open(struct ft_chan_writer *w, struct ft_tp *tp, int slot, uint32_t era, int keep);
/* The reader is now carried by another slot: announces the same log there. */
enum ft_status ft_chan_rebind(struct ft_chan_writer *w, struct ft_tp *tp, int slot);
/* Begins a new era with an empty log; run-segment chunks are freed, kept segments stay for replay. */
void ft_chan_begin_era(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t era, int keep);
/* Appends the part of a message from *done on, as far as there is room; advances *done. Returns 1 when the message is complete.
 * `patience`: polls to wait for the reader to release a chunk before a new one is taken (a long message that is being
 * read then stays in cache). Never blocks otherwise: over the budget it returns 0. */
int ft_chan_append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag, const void *buf, size_t len, size_t *done, int patience);

#endif
