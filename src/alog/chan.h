/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan.h - a channel is a log with a cursor (M1). The writer's side.
 *
 * All that p has said to q lies in chunks in p's arena; q reads it there. One writer, one reader; a
 * record exists once its sequence number is published, so a writer that dies at any instruction
 * damages nobody.
 *
 *   ft_chan_hdr                      ft_chunk                                     ft_chunk
 *   +--------------+                 +------+-----+-----+---------+------+        +------+-----
 *   | head[setup]  |---------------->| next | rec | rec | rec ... | LINK |------->| next | rec ...
 *   | head[run] ...|                 +------+-----+-----+---------+------+        +------+-----
 *   +--------------+
 *
 * A record is a header of 32 bytes and its data, in whole cache lines; a short message (up to 32
 * bytes) is one line. A message longer than what a record takes goes in fragments: the first names
 * context, tag and total length.
 *
 * Eras, cuts, and what images hold of a channel: chan_record.h.
 */
#ifndef FT_ALOG_CHAN_H
#define FT_ALOG_CHAN_H

#include "alog/chan_record.h"
#include "alog/log_budget.h"
#include "alog/unkept.h"
#include "base/engine.h"
#include "base/version.h"
#include "transport/transport.h"

struct ft_chan_writer {
    int slot; /* of the reader, now */
    uint64_t hdr_off;
    struct ft_chan_hdr *hdr;
    struct ft_ctl *peer; /* the reader's control block */
    uint32_t era;
    uint64_t seq; /* of the next record */
    struct ft_chunk *cur, *oldest;
    char *pos, *end; /* in cur; end leaves a line for the LINK */
    char *clean;     /* the words where sequence numbers may come are zero in [pos, clean] */
    uint64_t live;   /* chunks of this era from oldest to cur */
    uint64_t next_index,
        begin;     /* of the next chunk; where the first record lies in the log's first */
    uint64_t hash; /* of what was said in this era */
    enum ft_keep keep;
    uint64_t no_room; /* the bytes that the arena had no room for, when the last append stopped; 0:
                         it stopped for the budget */
    /* the last synchronous message: its first record, that one's number, and its chunk's index */
    struct ft_rec *sync;
    uint64_t sync_seq, sync_chunk;
    uint64_t cut_version[2],
        cut_before[2]; /* the cuts in hdr: chunks with lower indices lie wholly before them */
};

/* Prepares a channel from own to slot in `era`; announces it. FT_ERR_NOMEM, FT_ERR_DEAD. */
enum ft_status ft_chan_open(struct ft_chan_writer *w, struct ft_tp *tp, int slot, uint32_t era,
                            enum ft_keep keep);
/* The reader is now carried by another slot: announces the same log there. */
enum ft_status ft_chan_rebind(struct ft_chan_writer *w, struct ft_tp *tp, int slot);
/* Begins a new era with an empty log, noted as the cut of `version` (0: of none); run-segment
 * chunks are freed, kept segments stay for replay. */
void ft_chan_begin_era(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t era, enum ft_keep keep,
                       uint64_t version);
/* In a log that is still empty: it goes on where another process's stood (a place of the same era),
 * noted as the cut of `version`. */
void ft_chan_begin_at(struct ft_chan_writer *w, uint64_t version, const struct ft_chan_place *at);
/* Notes the cut of `version`. A version that was noted before, and not committed, is noted anew;
 * there is room for the committed one and the next. */
void ft_chan_cut(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version);
/* The same of an image that holds what its reader may still need, from this chunk on
 * (ft_chan_tail): the cut is noted at its begin. */
void ft_chan_cut_tail(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                      const struct ft_chunk *tail);
struct ft_chan_place ft_chan_place(const struct ft_chan_writer *w);
/* The reader's latest image, taken alone since the committed one of `version`, needs nothing before
 * record seq: chunks before it are freed (those that the reader has released), and the place of the
 * cut of `version` is moved after them. Only while nobody reads this log in order to replace the
 * reader. Returns how many. */
int ft_chan_cover(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, uint64_t seq);
/* What the reader has not released, for the writer's own image: its first chunk (NULL: nothing),
 * the bytes of all, and they. */
struct ft_chunk *ft_chan_tail(const struct ft_chan_writer *w, struct ft_tp *tp);
uint64_t ft_chan_tail_bytes(const struct ft_chan_writer *w, struct ft_tp *tp,
                            struct ft_chunk *from);
void ft_chan_tail_save(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from,
                       char *out);
/* In a log that is still empty: it holds what another process's held, and goes on after it, at
 * `end`. FT_ERR_NOMEM. */
enum ft_status ft_chan_tail_load(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                                 const char *saved, uint64_t bytes,
                                 const struct ft_chan_place *end);
/* The messages that such a tail holds from record `from` on, which is a message's first: says each
 * again, after what the log holds. FT_ERR_NOMEM. */
enum ft_status ft_chan_resend_tail(struct ft_chan_writer *w, struct ft_tp *tp, const char *saved,
                                   uint64_t bytes, uint64_t from);
/* Frees the chunks that may be used again; returns how many. */
int ft_chan_trim(struct ft_chan_writer *w, struct ft_tp *tp);
/* Appends the part of a message from *done on, as far as there is room; advances *done. Returns 1
 * when the message is complete. `patience`: polls to wait for the reader to release a chunk before
 * a new one is taken (a long message that is being read then stays in cache). Never blocks
 * otherwise: over the budget it returns 0. */
int ft_chan_append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                   const void *buf, size_t len, size_t *done, int patience);
/* Whether a short message of so many bytes would be one record where the log stands: then
 * ft_chan_append says 1. */
static inline int ft_chan_has_room(const struct ft_chan_writer *w, size_t len)
{
    return len <= 4096 && w->end - w->pos >= (ptrdiff_t)(sizeof(struct ft_rec) + len);
}
/* The same, a synchronous message: w->sync, sync_seq and sync_chunk say where it begins. */
int ft_chan_append_sync(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                        const void *buf, size_t len, size_t *done, int patience);
/* The envelope of a message that stays where it is, at buf, until its receiver has copied it. In
 * logs that nobody is replayed from. */
int ft_chan_append_far(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                       const void *buf, size_t len);
/* Chunks that the reader has released in this era: all that began in them has been matched. */
uint64_t ft_chan_released(const struct ft_chan_writer *w, const struct ft_tp *tp);

#endif
