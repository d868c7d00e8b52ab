/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order_event.h - what the order machine hears and says (order.h).
 *
 * What the caller owes:
 *  - The first event is GENERATION (generation 0 at the start), before any message is handed in.
 *    Every process gets the same `first` and all else. If its role changed with the generation,
 *    MILESTONE comes just before it, in any case before the READY of the first order; while the
 *    machine is ending, it is only noted. A process counts as a rank in setup until it says
 *    otherwise, so a process without a rank says MILESTONE(NONE) at the start. [A root that is a
 *    rank now and still counts as none would give DONE.]
 *  - The messages of agree.h travel on the same FIFO channels. A DECIDED action is answered by
 *    (MILESTONE and) GENERATION before the next message is handed in. Then a message of a
 *    generation above one's own never matters: a decision g for the newest known set goes down the
 *    very tree of g, so parents are in g before their children, and to each child DECIDE comes
 *    before ORDER. Such a message comes only when one of both knew a larger failed set: the child
 *    has dropped the DECIDE, or g went down the tree of a larger set (agree.h, second round). Then
 *    g is about to be superseded. The machine drops the message, which merely stops g.
 *  - ENDING comes after each step of agree after which a ballot is open (ft_agree_pending), also
 *    when that step adopted a decision. Orders that were given before it and are not yet carried
 *    out are forgotten: agree.h says why (COMMIT).
 *  - Adopting a decision finishes what the old generation had begun, before GENERATION is fed. A
 *    process that has staged version data.committed flips to it. [Each has: nobody flips before all
 *    have staged.] Unless a rollback follows, it also does what the COMMIT would have done. Version
 *    1: it enters body. FT_AGREE_RUN_OVER, _UNPROTECTED: it leaves FTRMA_Run. FT_AGREE_DONE: it
 *    leaves MPI_Finalize. Any other checkpoint under way is forgotten, as by CANCEL.
 *  - EXECUTE is the last action of a step. An order replaces the one before it, whether that was
 *    carried out or not: CANCEL after FT_OE_LATE.
 */
#ifndef FT_PROTO_ORDER_EVENT_H
#define FT_PROTO_ORDER_EVENT_H

#include "proto/order_msg.h"

enum ft_order_event_kind {
    /* a generation begins: failed, first, arg and what follows these */
    FT_OE_GENERATION = 1,
    FT_OE_MSG,   /* from a tree neighbour */
    FT_OE_READY, /* this process has carried out the order `seq` */
    /* TARGET `seq`: main of this process waits in the library for longer than a moment. It counts
     * as READY. A later FT_OE_READY for the same seq is ignored */
    FT_OE_STUCK,
    FT_OE_MILESTONE, /* the rank of this process has come to a milestone, or its role has changed */
    /* The root only; others ignore these. */
    FT_OE_DUE,  /* a periodic checkpoint is due */
    FT_OE_LATE, /* cancel TARGET: it takes too long, or (ready.not_ok: why) somebody cannot do it */
    /* A replay diverged (R0): all go back to the committed version in this generation, at most once
     * in it. */
    FT_OE_ROLLBACK,
    /* A ballot on failures is open here: nothing of this generation counts any more. */
    FT_OE_ENDING,
};
struct ft_order_event {
    enum ft_order_event_kind kind;
    int from;
    const struct ft_order_msg *msg;
    /* GENERATION. first: REJOIN (also when nobody was replaced: it finishes one that was
     * interrupted), RECOVER or NONE */
    uint32_t generation;
    const struct ft_bitset *failed;
    enum ft_order_kind first;
    /* GENERATION: version, for RECOVER. MILESTONE: enum ft_milestone. DUE: number of the safepoint
     * that it is due at, 0: any */
    uint64_t arg;
    uint64_t committed; /* GENERATION: the version that is committed by agreement; 0: none */
    int run_over;       /* GENERATION: the exit's checkpoint is committed, or it or the entry's was
                         * cancelled (UNPROTECTED, REFUSED) */
    /* GENERATION. 0: there are no checksum processes. Then entry and exit need no checkpoint: they
     * are agreed by an order LEAVE without CUT, and after a failure the first order is REJOIN */
    int checkpoints;
    uint32_t seq;          /* READY, STUCK */
    struct ft_ready ready; /* READY */
};

enum ft_order_action_kind { FT_OA_SEND = 1, FT_OA_EXECUTE };
struct ft_order_action {
    enum ft_order_action_kind kind;
    int to;                  /* SEND */
    struct ft_order_msg msg; /* SEND */
    uint32_t seq;            /* EXECUTE: answer with FT_OE_READY of this seq */
    enum ft_order_kind order;
    uint64_t arg;
    uint32_t flags;
};
/* more than a step's bound: MILESTONE, READY or ORDER to 2, EXECUTE */
#define FT_ORDER_MAX_ACTIONS 12
struct ft_order_actions {
    int n;
    struct ft_order_action a[FT_ORDER_MAX_ACTIONS];
};

#endif
