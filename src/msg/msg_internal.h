/* SPDX-License-Identifier: BSD-3-Clause
 *
 * msg_internal.h - the state of the message layer, and what its files call in each other.
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
    /* by that policy no rank keeps messages: they need not be in the logs at all */
    int keeps_nothing;
    uint64_t version;           /* with which the era began, or from which this process resumed */
    struct ft_reader *in;       /* [nranks] */
    struct ft_chan_writer *out; /* [nranks]; hdr NULL: not open */
    /* [nranks]: resumed, and not open yet: where the log begins; else pos 0 */
    struct ft_chan_place *begin;
    struct ft_chunk *
        *tail; /* [nranks]: while an image is taken alone: the part of the channel that is in it */
    int *active, nactive; /* readers with a channel */
    uint32_t announced;
    struct ft_reqlist any;               /* receives from any source */
    struct ft_reqlist tagged[FT_TAGGED]; /* receives with source and tag: posted.h */
    struct ft_reqlist sends;             /* waiting for room, in order */
    struct ft_reqlist syncs;             /* completely in the log, waiting for the match */
    uint64_t nposted;
    /* The call in which a receive was posted last, and its number in that call; of this era. [A
     * survivor goes back, and posts the first receive after its image in a call with the same
     * number as an earlier one: it cancels it as the second, and its replacement has no second.] */
    uint64_t posting;
    uint32_t posted;
    int rotate;     /* where the search for any source begins */
    int unreleased; /* a snapshot has put off ft_reader_release */
    int held;       /* some receives are, or were, held back (ft_reader_poll) */
};
extern FT_STATE(struct ft_msg, ft_m);
#define ft_m FT_MY(ft_m)

void ft_reqlist_add(struct ft_reqlist *l, struct ft_req *r);
void ft_reqlist_remove(struct ft_reqlist *l, struct ft_req *r);

/* reader.c */
void ft_reader_reset(struct ft_reader *r);
void ft_reader_rebind(struct ft_reader *r, int slot);
/* Passes all records there are, matches and copies them. poll_for: until req has its message. */
void ft_reader_poll(struct ft_reader *r);
void ft_reader_poll_for(struct ft_reader *r, const struct ft_req *req);
/* Returns the next record without passing it, or NULL. Passes LINKs. */
struct ft_rec *ft_reader_peek(struct ft_reader *r);
void ft_reader_release(struct ft_reader *r); /* tells the sender which chunks it may reuse */
void ft_reader_pass(struct ft_reader *r, struct ft_rec *rec);
void ft_reader_adopt(void); /* finds channels that were announced */
/* Returns the first unexpected message that matches. */
struct ft_inmsg *ft_reader_find(struct ft_reader *r, uint32_t ctx, int tag);
static inline int ft_inmsg_unexpected(const struct ft_inmsg *e) { return !e->req && !e->taken; }
/* A message that begins with this record is matched by a receive of this call, and the home log has
 * that: tells the sender of a synchronous one. */
void ft_rec_matched(struct ft_reader *r, struct ft_rec *rec, uint64_t call);
/* Copies n bytes of the message from the sender's memory, and tells it. Waits only for a rollback.
 */
void ft_rec_fetch(struct ft_reader *r, struct ft_rec *rec, void *to, size_t n);
void ft_reader_absorb(struct ft_reader *r); /* ft_msg_absorb */
/* copies unreceived messages out of the sender's log, and releases it */
void ft_reader_flatten(struct ft_reader *r);
static inline size_t ft_rec_bytes(const struct ft_rec *rec)
{
    return FT_UNLIKELY(rec->flags & FT_REC_FAR) ? rec->total : rec->here;
}
/* Gives an unexpected message to req. */
void ft_inmsg_receive(struct ft_reader *r, struct ft_inmsg *e, struct ft_req *req);
void ft_reader_inject(struct ft_reader *r, uint32_t ctx, int tag, const char *data, size_t bytes);

/* msg.c */
void ft_msg_open(int dst);       /* opens the channel to dst if necessary; may wait */
void ft_msg_look_at_syncs(void); /* which synchronous sends are matched */

/* channels.c */
enum ft_keep ft_msg_keep_now(void); /* for a channel that is opened */
/* In a replacement: the receiver has matched this message when a former carrier sent it. */
int ft_msg_matched_before(int dst, uint64_t seq);
/* A channel was refused a chunk. Gives up keeping what the era's policy allows. Returns 1 if there
 * may be room now; 0: try again after the reader has released some, or nothing is kept from here
 * on. Does not return where nobody can release any (ft_no_room). */
int ft_msg_make_room(const struct ft_chan_writer *refused);
int ft_msg_room_to_open(uint64_t bytes); /* the same for a channel's header */

/* Hashes the record at the cursor: a message's envelope, or its data. */
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
