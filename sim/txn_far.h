/* SPDX-License-Identifier: BSD-3-Clause
 *
 * txn_far.h - model txn-far: the ranks of model txn on two or three nodes. What crosses nodes goes
 * through lanes of three records (src/transport/lane.c runs here), as src/ftt and src/gate/lanes.c
 * do it:
 *
 *   a's own lane --takes--> link, class OPS --arrives--> lane of a's stand-in --reads--> b
 *   what a sees of `taken` <--arrives-- link, class CONTROL <--tells-- how far b has read
 *
 * Links break and come again: what was under way goes once more, from what the other end says it
 * wants next. (src/wire/link.h does so; unit.wire.test_link has its property test.) A gateway ends
 * with all of its node. A process ends, and its gateway goes on with what it has written, or, as
 * drawn, with what it had written a while before.
 */
#ifndef FT_SIM_TXN_FAR_H
#define FT_SIM_TXN_FAR_H

#include "model_txn.h"
#include "transport/lane.h"

#define FAR_RANKS 4
#define FAR_DEATHS 3
#define FAR_SLOTS (FAR_RANKS + FAR_DEATHS)
#define FAR_NODES 3
#define FAR_WAITING 16 /* frames of one endpoint to one peer that have no room in the lane */
#define FAR_WAY 6      /* items on one class of a link */
#define FAR_BREAKS 2

enum { FAR_OPS, FAR_CONTROL, FAR_CLASSES };
enum far_broken { /* mutants, after those of the machine */
                  FAR_LANE_AGAIN =
                      FT_TXN_FORGETS_ACK +
                      1,           /* a lane belongs to a rank, and begins again with its carrier */
                  FAR_TAKEN_EARLY, /* the gateway says `taken` when it has taken a record, not its
                                      reader */
                  FAR_NO_ROOM,     /* a frame that has no room in its lane is dropped */
                  FAR_ALL_AGAIN, /* a link that comes again sends all that was not acknowledged, and
                                    that counts */
                  FAR_GOES_ON,   /* a link that comes again goes on with what was never sent */
                  FAR_UNSAID,    /* what `taken` was told before a link broke is not told again */
                  FAR_LAST
};

struct far_item {
    uint8_t from, to; /* slots of the lane: its writer and its reader */
    uint8_t pad[6];
    uint64_t at;
    unsigned char record[FT_CACHE_LINE]; /* OPS */
};
struct far_way { /* numbers of items; acked <= want <= sent <= next */
    uint32_t acked, want, sent, next;
    struct far_item item[FAR_WAY];
};
struct far_link { /* from one node to another */
    struct far_way way[FAR_CLASSES];
    uint8_t down, pad[7];
};
struct far_lane {              /* from one slot to another */
    struct ft_lane own, there; /* of the writer, and of its stand-in on the reader's node */
    struct ft_lane_at came;    /* the reader's gateway has written so far */
    uint64_t read;             /* the writer's gateway has taken so far */
    uint64_t taken, told;      /* said by the reader; told to the writer's gateway */
    uint64_t freed;            /* what the writer sees of that */
    uint64_t ends;             /* the writer is lost: its gateway takes nothing from there on */
};
struct far_peer { /* of an endpoint (struct ft_peer) */
    uint64_t read;
    struct ft_lane_at written;
    uint32_t n, pad;
    struct ft_txn_frame waiting[FAR_WAITING];
};
struct txn_far {
    uint8_t nodes, nslots, gone, breaks;                    /* gone: bits, nodes */
    uint8_t node_of[FAR_SLOTS], slot[TXN_LIVES][FAR_RANKS]; /* slot: [generation][rank] */
    uint8_t pad[1];
    struct far_link link[FAR_NODES][FAR_NODES];
    /* struct far_peer [n][n], struct far_lane [slots][slots] */
};
static inline int txn_is_far(const struct sim *s) { return s->m == &sim_model_txn_far; }
static inline struct txn_far *txn_far(const struct sim *s)
{
    return (struct txn_far *)(s->world + sizeof(struct txn_world) +
                              (size_t)s->o.n * ft_txn_bytes(s->o.n, TXN_ROOM));
}

static inline int far_slots(const struct sim_options *o)
{
    return o->n + (o->crashes < FAR_DEATHS ? o->crashes : FAR_DEATHS);
}
size_t far_bytes(const struct sim_options *o); /* beside the ranks and their machines */

void far_start(struct sim *s);
/* Whether p and q are on two nodes, in p's generation. */
int far_between(const struct sim *s, int p, int q);
void far_send(struct sim *s, int p, int q, const struct ft_txn_frame *f);
/* p adopts what comes after generation `before`. */
void far_adopts(struct sim *s, int p, int before);
/* The rank, or all ranks of the node, are lost in the newest generation, which has just begun: new
 * slots. */
void far_dies(struct sim *s, int p, int lost, int elsewhere);
int far_may_die(const struct sim *s, int p, int elsewhere);

/* What gateways, links and readers do; acts from `first` on. */
void far_can(struct sim *s, struct sim_choices *out, int first);
void far_act(struct sim *s, int p, int what, int q);

/* model_txn.c: p takes a frame. */
void txn_heard(struct sim *s, int p, int from, const struct ft_txn_frame *f);
void txn_replaced(struct sim *s, int p); /* one more is lost, and begins in the newest generation */
void txn_new_generation(struct sim *s);

#endif
