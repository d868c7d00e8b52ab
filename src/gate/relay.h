/* SPDX-License-Identifier: BSD-3-Clause
 *
 * relay.h - a channel that crosses from one node to another (M1). Functions of memory, without I/O
 * or clock.
 *
 *   node A                                     node B
 *   p's log  --out--> items of MSG frames --in--> an equal log in the arena of p's stand-in --> q
 *            <----- RELEASED, MATCHED, STUCK ------
 *
 * The gateway of A is a second reader of p's log, and that of B writes the same records again: the
 * same chunks, numbers and LINK records. So p's writer and q's reader are what they are on one
 * node. p uses a chunk again when q has released it, and q cannot have released what has not been
 * copied here.
 *
 * Eras. A reader that comes later (the carrier of a replaced rank) is given the kept segments from
 * their begins, and of the run the present era: from the cut that the writer names (`from`, R7), or
 * from its begin if that is still there. When the writer turns to a
 * new era of the run it frees the old one's chunks. [The gateway is copying from one of them.] So
 * the gateway says that it copies, then looks at `turned`; the writer stores `turned`, then waits
 * while the gateway copies. It does the same before it writes into a record that was matched. [The
 * reader's word is late, and the gateway writes where the record was.]
 */
#ifndef FT_GATE_RELAY_H
#define FT_GATE_RELAY_H

#include "alog/chan_record.h"
#include "gate/item.h"
#include "transport/transport.h"

/* A synchronous message whose sender waits. */
struct ft_relay_sync {
    struct ft_rec *rec;
    uint64_t number, chunk;
};
struct ft_relay_syncs {
    int n, room;
    struct ft_relay_sync *of;
};

/* The writer's node. */
struct ft_relay_out {
    int from, to;
    char *base;              /* of the writer's arena */
    struct ft_chan_hdr *hdr; /* NULL: it has not said anything */
    struct ft_chunk *chunk;  /* NULL: there is none yet */
    char *pos;
    uint64_t seq; /* of the next record */
    uint64_t era; /* of the chunk */
    uint64_t asked;
    int setup_told; /* all of it */
    /* of the chunk, where it begins on the other node; pos 0: where it begins here */
    struct ft_chan_place cut;
    int chunk_told, wants;
    struct ft_relay_syncs syncs;
};

void ft_relay_out_begin(struct ft_relay_out *r, int from, int to, char *base, uint64_t hdr);
/* Items of what is new, as far as there is room: their bytes; 0: none, or no room. */
size_t ft_relay_out_take(struct ft_relay_out *r, void *out, size_t room);
/* What the reader says. peer: its entry for the writer, in the control block of its stand-in. */
void ft_relay_out_released(struct ft_relay_out *r, struct ft_ctl_peer *peer, uint64_t value);
void ft_relay_out_matched(struct ft_relay_out *r, uint64_t number);

/* The reader's node. */
struct ft_relay_in {
    int from, to;
    struct ft_arena *arena; /* of the writer's stand-in */
    struct ft_ctl *reader;  /* the reader's control block */
    uint64_t hdr_off;
    struct ft_chan_hdr *hdr;
    struct ft_chunk *oldest, *cur;
    struct ft_chunk *left; /* of eras before; the reader may still be there */
    char *pos;
    uint64_t seq, released, stuck;
    struct ft_relay_syncs syncs;
};

/* FT_ERR_NOMEM. */
enum ft_status ft_relay_in_begin(struct ft_relay_in *r, int from, int to, struct ft_arena *arena,
                                 struct ft_ctl *reader);
/* An item of the channel, and what follows it. FT_ERR_NOMEM: the arena is full; FT_ERR_ARG: it does
 * not go on where the last one ended. */
enum ft_status ft_relay_in_take(struct ft_relay_in *r, const struct ft_item *item,
                                const void *data);
/* What the reader has said since: one item, of which nothing follows. 0: nothing. */
int ft_relay_in_say(struct ft_relay_in *r, struct ft_item *out);

/* The process of this node is gone, or all ends: nobody reads or writes the channel here any more.
 */
void ft_relay_out_end(struct ft_relay_out *r);
void ft_relay_in_end(struct ft_relay_in *r);

#endif
