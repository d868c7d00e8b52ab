/* SPDX-License-Identifier: BSD-3-Clause
 *
 * msg_internal.h - the state of messages, and what reader, sender and channels ask of each other.
 */
#ifndef FT_MSG_INTERNAL_H
#define FT_MSG_INTERNAL_H

#include <string.h>

#include "alog/log.h"
#include "base/engine.h"
#include "msg/channels.h"
#include "msg/reader.h"
#include "transport/cut.h"

struct ft_msg {
    struct ft_tp *tp;
    int nranks, myrank;
    int replacement; /* this process carries its rank after another */
    uint32_t era;
    enum ft_keep keep; /* the era's policy */
    int keeps_nothing; /* by that policy, of all ranks: messages need not be in the logs at all */
    uint64_t version;  /* that the era began with, or that was resumed from */
    struct ft_reader *in;       /* [nranks] */
    struct ft_chan_writer *out; /* [nranks]; hdr NULL: never talked */
    struct ft_chan_place
        *begin; /* [nranks]: resumed, and not open yet: where the log begins; else pos 0 */
    struct ft_chunk *
        *tail; /* [nranks]: while an image is taken alone: what of the channel is in it */
    int *active, nactive; /* readers with a channel */
    uint32_t announced;
    struct ft_reqlist any;   /* receives from any source */
    struct ft_reqlist sends; /* waiting for room, in order */
    struct ft_reqlist syncs; /* wholly in the log, waiting for the match */
    uint64_t nposted;
    /* the call that a receive was posted in last, and as which of that call. Of this era. [A
     * survivor goes back, and posts the first receive after its image in a call of the number that
     * it had posted one in: it cancels it as the second, and its replacement has no second.] */
    uint64_t posting;
    uint32_t posted;
    int rotate;     /* where the search for any source begins */
    int unreleased; /* a snapshot put off ft_reader_release */
    int held;       /* there are, or were, receives that are held back (ft_reader_poll) */
};
extern FT_STATE(struct ft_msg, ft_m);
#define ft_m FT_MY(ft_m)

void ft_reqlist_add(struct ft_reqlist *l, struct ft_req *r);
void ft_reqlist_remove(struct ft_reqlist *l, struct ft_req *r);

/* reader.c */
void ft_reader_reset(struct ft_reader *r);
void ft_reader_rebind(struct ft_reader *r, int slot);
void ft_reader_poll(
    struct ft_reader *r); /* passes all records that are there, matching and copying */
void ft_reader_poll_for(struct ft_reader *r,
                        const struct ft_req *req); /* the same, until req has its message */
/* Next record that is there, without passing it; NULL. Passes LINKs. */
struct ft_rec *ft_reader_peek(struct ft_reader *r);
void ft_reader_release(struct ft_reader *r); /* tells the sender which chunks are needed no more */
void ft_reader_pass(struct ft_reader *r, struct ft_rec *rec);
void ft_reader_adopt(void); /* looks for channels that were announced */
struct ft_inmsg *ft_reader_find(struct ft_reader *r, uint32_t ctx,
                                int tag); /* first unexpected message that matches */
static inline int ft_inmsg_unexpected(const struct ft_inmsg *e) { return !e->req && !e->taken; }
/* A message that begins with this record is matched, by a receive of this call: if it is a
 * synchronous one its sender is told. What the match depends on is at the log home. */
void ft_rec_matched(struct ft_reader *r, struct ft_rec *rec, uint64_t call);
/* The message of this record, as far as n bytes, from its sender's memory; who is told. Waits only
 * for a rollback. */
void ft_rec_fetch(struct ft_reader *r, struct ft_rec *rec, void *to, size_t n);
void ft_reader_absorb(struct ft_reader *r);  /* ft_msg_absorb */
void ft_reader_flatten(struct ft_reader *r); /* copies what is not received out of the sender's log,
                                                and gives it back */
static inline size_t ft_rec_bytes(const struct ft_rec *rec)
{
    return FT_UNLIKELY(rec->flags & FT_REC_FAR) ? rec->total : rec->here;
}
void ft_inmsg_receive(struct ft_reader *r, struct ft_inmsg *e,
                      struct ft_req *req); /* gives an unexpected message to req */
void ft_reader_inject(struct ft_reader *r, uint32_t ctx, int tag, const char *data, size_t bytes);

/* msg.c */
void ft_msg_open(int dst); /* the channel to dst, if it is not open; may wait */

/* channels.c */
enum ft_keep ft_msg_keep_now(void); /* for a channel that is opened */
/* In a replacement: its message of this number to rank dst was seen by its receiver at a former
 * carrier, and was matched then. */
int ft_msg_matched_before(int dst, uint64_t seq);
/* A channel was refused a chunk: gives up keeping what the era's policy lets go. 1: there may be
 * room now. 0: the reader gives some back, or nothing is kept from here on; to be tried again.
 * Where nobody can give any back it does not return (ft_no_room). */
int ft_msg_make_room(const struct ft_chan_writer *refused);
int ft_msg_room_to_open(
    uint64_t bytes); /* there is no memory for a channel's header: 1: there may be some now */

/* The envelope of a message at the cursor, or data of one. */
static inline void ft_reader_note(struct ft_reader *r, const struct ft_rec *rec)
{
    struct ft_heard *h = &r->heard[r->seq % FT_HEARD];
    r->hash = ft_chan_hash(r->hash, rec);
    *h = (struct ft_heard){.seq = r->seq + 1,
                           .hash = r->hash,
                           .total = rec->total,
                           .ctx = rec->ctx,
                           .tag = rec->tag,
                           .here = rec->here,
                           .flags = rec->flags};
    if (FT_UNLIKELY(ft_check_data))
        memcpy(&h->data, rec->data, rec->here < sizeof h->data ? rec->here : sizeof h->data);
}

static inline int ft_msg_matches(uint32_t ctx, int tag, uint32_t rctx, int rtag)
{
    return ctx == rctx && (tag == rtag || (rtag == FT_ANY_TAG && tag >= 0));
}
void ft_req_complete(struct ft_req *req, int source, int tag, size_t total);

#endif
