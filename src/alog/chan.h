/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chan.h - channels: logs of messages with a cursor (M1). This is the writer's side.
 *
 * All messages from p to q lie in chunks in p's arena, where q reads them. There is one writer and
 * one reader. A record exists once its sequence number is published, so a writer that dies at any
 * instruction damages nobody.
 *
 *   ft_chan_hdr                      ft_chunk                                     ft_chunk
 *   +--------------+                 +------+-----+-----+---------+------+        +------+-----
 *   | head[setup]  |---------------->| next | rec | rec | rec ... | LINK |------->| next | rec ...
 *   | head[run] ...|                 +------+-----+-----+---------+------+        +------+-----
 *   +--------------+
 *
 * A record is a header of 32 bytes and its data, in complete cache lines; a short message (up to 32
 * bytes) is one line. A message too long for one record goes in fragments; the first names context,
 * tag and total length.
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
    int slot; /* slot of the reader's present carrier */
    uint64_t hdr_off;
    struct ft_chan_hdr *hdr;
    struct ft_ctl *peer; /* the reader's control block */
    uint32_t era;
    uint64_t seq; /* number of the next record */
    struct ft_chunk *cur, *oldest;
    char *pos, *end; /* in cur; end leaves one line for the LINK */
    char *clean;     /* words in [pos, clean] where a sequence number may stand are zero */
    uint64_t live;   /* chunks of this era from oldest to cur */
    uint64_t next_index,
        begin;     /* of the next chunk; where the first record lies in the log's first */
    uint64_t hash; /* of all records of this era */
    enum ft_keep keep;
    /* Bytes for which the arena had no room at the last append; 0: it stopped for the budget. */
    uint64_t no_room;
    /* The last synchronous message: its first record, that record's number, and its chunk's
     * index. */
    struct ft_rec *sync;
    uint64_t sync_seq, sync_chunk;
    uint64_t cut_version[2],
        cut_before[2]; /* the cuts in hdr: chunks with lower indices lie entirely before them */
};

/* Opens a channel to slot in `era`, and announces it. FT_ERR_NOMEM, FT_ERR_DEAD. */
enum ft_status ft_chan_open(struct ft_chan_writer *w, struct ft_tp *tp, int slot, uint32_t era,
                            enum ft_keep keep);
/* The reader is now carried by another slot: announces the same log to it. */
enum ft_status ft_chan_rebind(struct ft_chan_writer *w, struct ft_tp *tp, int slot);
/* Begins a new era with an empty log, and notes its begin as the cut of `version` (0: of none).
 * Chunks of the run are freed; kept segments stay for replay. ft_chan_turn comes first, until it
 * returns 0: a gateway may be copying those chunks. */
int ft_chan_turn(struct ft_chan_writer *w, uint32_t era);
void ft_chan_begin_era(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t era, enum ft_keep keep,
                       uint64_t version);
/* For an empty log: goes on at a place of another one, of this era: the cut of `version`. */
void ft_chan_begin_at(struct ft_chan_writer *w, uint64_t version, const struct ft_chan_place *at);
/* Notes the cut of `version`. There is room for the committed cut and the next one. A version that
 * was noted but not committed may be noted again. */
void ft_chan_cut(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version);
/* For an image that holds what its reader may still need: the cut is the begin of chunk `tail`. */
void ft_chan_cut_tail(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                      const struct ft_chunk *tail);
struct ft_chan_place ft_chan_place(const struct ft_chan_writer *w);
/* The reader has taken an image alone since the committed one of `version`, and this image needs
 * nothing before record seq. Frees the chunks before it that the reader has released, and moves the
 * cut of `version` after them. Only while nobody reads this log in order to replace the reader.
 * Returns the number of chunks freed. */
int ft_chan_cover(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version, uint64_t seq);
/* What the reader has not released, for the writer's own image: its first chunk (NULL: there is
 * none), its size, and a copy to `out`. */
struct ft_chunk *ft_chan_tail(const struct ft_chan_writer *w, struct ft_tp *tp);
uint64_t ft_chan_tail_bytes(const struct ft_chan_writer *w, struct ft_tp *tp,
                            struct ft_chunk *from);
void ft_chan_tail_save(const struct ft_chan_writer *w, struct ft_tp *tp, struct ft_chunk *from,
                       char *out);
/* For a log that is still empty: loads what another process's log held, and continues after it, at
 * `end`. FT_ERR_NOMEM. */
enum ft_status ft_chan_tail_load(struct ft_chan_writer *w, struct ft_tp *tp, uint64_t version,
                                 const char *saved, uint64_t bytes,
                                 const struct ft_chan_place *end);
/* Sends such a tail's messages again, from record `from`, a message's first, on. FT_ERR_NOMEM. */
enum ft_status ft_chan_resend_tail(struct ft_chan_writer *w, struct ft_tp *tp, const char *saved,
                                   uint64_t bytes, uint64_t from);
/* Frees the chunks that may be reused, and returns how many these were. */
int ft_chan_trim(struct ft_chan_writer *w, struct ft_tp *tp);
/* Appends as much of a message as there is room for, from *done on, and advances *done. 1: all of
 * it; 0: over the budget. `patience`: polls for a released chunk before a new one is taken, so that
 * a long message that is being read stays in cache. Otherwise never blocks. */
int ft_chan_append(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                   const void *buf, size_t len, size_t *done, int patience);
/* A short message of len bytes would be one record here: then ft_chan_append returns 1. */
static inline int ft_chan_has_room(const struct ft_chan_writer *w, size_t len)
{
    return len <= 4096 && w->end - w->pos >= (ptrdiff_t)(sizeof(struct ft_rec) + len);
}
/* The same for a synchronous message. w->sync, sync_seq and sync_chunk then say where it begins. */
int ft_chan_append_sync(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                        const void *buf, size_t len, size_t *done, int patience);
/* The envelope of a message whose receiver copies it from buf. No replay reads this log. */
int ft_chan_append_far(struct ft_chan_writer *w, struct ft_tp *tp, uint32_t ctx, int tag,
                       const void *buf, size_t len);
int ft_chan_stuck(const struct ft_chan_writer *w); /* its reader has read all, and cannot release */
/* How many chunks of this era the reader has released: all messages that began there are matched */
uint64_t ft_chan_released(const struct ft_chan_writer *w, const struct ft_tp *tp);
/* Whether all records so far are on the reader's node, which is another one. If not, it asks. */
int ft_chan_placed(struct ft_chan_writer *w);

#endif
