/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order_event.h - what the order machine hears and says (order.h).
 *
 * What the caller owes:
 *  - The first event is GENERATION, with generation 0 at the start. No message is handed in before
 *    it. All processes get the same `first` and the same other fields. If the role of a process
 *    changed with the generation, MILESTONE comes just before GENERATION, and at the latest before
 *    the READY of the first order. While the machine is ending, MILESTONE is only noted. A process
 *    counts as a rank in setup until it says otherwise, so one without a rank says MILESTONE(NONE)
 *    at the start. [A root that is a rank now, and still counts as none, would give DONE.]
 *  - The messages of agree.h travel on the same FIFO channels. A DECIDED action is answered by
 *    GENERATION (with MILESTONE before it, if any) before the next message is handed in. Then a
 *    message of a later generation than one's own never matters. A decision g for the newest known
 *    set goes down the very tree of g, so parents are in g before their children, and to each
 *    child DECIDE comes before ORDER. Such a message comes only if one of both knew a larger
 *    failed set: the child has dropped the DECIDE, or g went down the tree of a larger set
 *    (agree.h, second round). Then g will be superseded soon. The machine drops the message, which
 *    only stops g.
 *  - ENDING comes after each step of agree after which a ballot is open (ft_agree_pending), also
 *    if that step adopted a decision. Orders that were given before it and are not carried out yet
 *    are forgotten: agree.h says why (COMMIT).
 *  - Adopting a decision finishes what the old generation had begun, before GENERATION is fed. A
 *    process that has staged version data.committed flips to it. [Each has staged it: nobody flips
 *    before all have staged.] Unless a rollback follows, the process also does what the COMMIT
 *    would have done. Version 1: it enters body. FT_AGREE_RUN_OVER, _UNPROTECTED: it leaves
 *    FTRMA_Run. FT_AGREE_DONE: it leaves MPI_Finalize. Any other checkpoint under way is
 *    forgotten, as by CANCEL.
 *  - EXECUTE is the last action of a step. An order replaces the one before it, even if that was
 *    not carried out: CANCEL after FT_OE_LATE does so.
 */
#ifndef FT_PROTO_ORDER_EVENT_H
#define FT_PROTO_ORDER_EVENT_H

#include "proto/order_msg.h"

enum ft_order_event_kind {
    /* a generation begins; it has failed, first, arg and the fields after that */
    FT_OE_GENERATION = 1,
    FT_OE_MSG,   /* a message from a neighbour in the tree */
    FT_OE_READY, /* this process has carried out the order `seq` */
    /* TARGET `seq`: main of this process has waited in the library for some time. This counts as
     * READY, and a later FT_OE_READY of the same seq is ignored. */
    FT_OE_STUCK,
    FT_OE_MILESTONE, /* the rank of this process has come to a milestone, or its role has changed */
    /* The next two are for the root. Others ignore them. */
    FT_OE_DUE,  /* a periodic checkpoint is due */
    FT_OE_LATE, /* TARGET is to be cancelled: it takes too long, or somebody cannot do it (why:
                   ready.not_ok) */
    /* A replay has diverged (R0): all go back to the committed version in this generation. This
     * happens at most once in a generation. */
    FT_OE_ROLLBACK,
    /* A ballot on failures is open here. Nothing of this generation counts any more. */
    FT_OE_ENDING,
};
struct ft_order_event {
    enum ft_order_event_kind kind;
    int from;
    const struct ft_order_msg *msg;
    /* GENERATION. first: REJOIN, RECOVER or NONE. It is REJOIN also if nobody was replaced, to
     * finish one that was interrupted. */
    uint32_t generation;
    const struct ft_bitset *failed;
    enum ft_order_kind first;
    /* GENERATION: the version for RECOVER. MILESTONE: enum ft_milestone. DUE: the number of the
     * safepoint that the checkpoint is due at; 0: any */
    uint64_t arg;
    uint64_t committed; /* GENERATION: the version that all agree is committed; 0: none */
    int run_over; /* GENERATION: the exit's checkpoint is committed or cancelled (UNPROTECTED), or
                   * the entry's is cancelled (REFUSED) */
    /* GENERATION. 0: there are no checksum processes. Then all agree on entry and exit by an order
     * LEAVE without CUT, and after a failure the first order is REJOIN. */
    int checkpoints;
    uint32_t seq;          /* READY, STUCK */
    struct ft_ready ready; /* READY */
};

enum ft_order_action_kind { FT_OA_SEND = 1, FT_OA_EXECUTE };
struct ft_order_action {
    enum ft_order_action_kind kind;
    int to;                  /* SEND */
    struct ft_order_msg msg; /* SEND */
    uint32_t seq;            /* EXECUTE: the answer is FT_OE_READY of this seq */
    enum ft_order_kind order;
    uint64_t arg;
    uint32_t flags;
};
/* A step has fewer: MILESTONE, READY, or ORDER to two children and EXECUTE. */
#define FT_ORDER_MAX_ACTIONS 12
struct ft_order_actions {
    int n;
    struct ft_order_action a[FT_ORDER_MAX_ACTIONS];
};

#endif
