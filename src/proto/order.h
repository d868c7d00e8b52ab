/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.h - the living processes in step: checkpoints and rollbacks as a sequence of orders (P1, C2
 * to C6, G1). A machine without I/O.
 *
 * In each generation the root of the tree over the living slots issues orders, one after the other.
 * An order travels down the tree; each process carries it out and says READY with a value; values
 * merge on the way up; with all of them the root chooses the next order. So no process is ever more
 * than one order ahead of another, and "all have ..." is known before "now ...". A decision on
 * failures (a new generation) ends whatever was going on; messages of other generations are
 * dropped, and so are those of the generation's dead. [A root decides generation 3, gives its first
 * order and dies, and nobody lives who had adopted it: the others decide another generation 3, with
 * the root among the dead, and then its order arrives.]
 *
 * Besides, each rank's *milestone* (how far it is: setup, at FTRMA_Run's entry, body over, in
 * MPI_Finalize) travels up whenever the minimum over a subtree changes: this is how the root knows
 * that a first or last checkpoint is due, and when all are done. A new generation's parents start
 * from SETUP until they hear, and the root heeds milestones only when its first order is done. At
 * RESTORE each process sets them back to RUN for its whole subtree: all are parked, so none is on
 * its way. [A rank's OVER from before the rollback would count after it.]
 *
 *   checkpoint:   PROPOSE -> (promises) -> TARGET(S) -> (arrived) -> CUT(v) -> (copied) ->
 *                 LEAVE(v) -> (parity staged) -> COMMIT(v) -> (flipped).
 *                 At any "not ok" or stuck: CANCEL.
 *   entry, exit:  CUT(v) -> LEAVE(v) -> COMMIT(v): the milestone says that all have arrived.
 *                 Flags FT_ORDER_ENTRY, FT_ORDER_EXIT on each of these orders. Tried once in a
 *                 generation. When it is cancelled, FTRMA_Run returns an error without running body
 *                 (ENTRY: vote FT_AGREE_REFUSED from then on), or is left unprotected (EXIT:
 *                 FT_AGREE_UNPROTECTED). [Retrying: mains are blocked, nothing would change, for
 *                 ever.]
 *                 Without checksum processes: LEAVE(0) with ENTRY, LEAVE(FT_SP_OVER) with EXIT,
 *                 given again in every generation, so that a replacement gets them too: idempotent
 *                 for those who had them.
 *                 "Not ok" because a replay diverged: RECOVER in its place. [The exit's, called
 *                 off: all would leave FTRMA_Run with what they have.]
 *   snapshot:     the same with FT_ORDER_SNAPSHOT from TARGET on: each main takes its image when it
 *                 comes to S and goes on, so that TARGET is answered with the image taken, and CUT
 *                 at once. One that is called off is tried again; after MAX_SNAPSHOTS_OFF in a row
 *                 there is a checkpoint by a barrier. The same holds when a process says that there
 *                 can be no snapshot (READY no_snapshot).
 *   rollback:     RECOVER(v) -> (parked, rebuilt) -> RESTORE(v) -> (restored) -> RESUME(v)
 *   replay only:  REJOIN -> (mapped): the replacement runs alone, from its image and from logs.
 *                 RECOVER follows if that fails.
 *   end:          DONE
 *
 * Root of generation g: the lowest living slot. Versions of checkpoints count 1, 2, ...; a
 * cancelled number is used again.
 *
 * What the runtime owes:
 *  - The first event is GENERATION (generation 0 at the start), before any message is handed in.
 * Every process gets `first` and the rest of the same; MILESTONE, if a role changed with it, comes
 * just before it (it is only noted while the machine is ending), in any case before the READY of
 * the first order. A process counts as a rank in setup until it says otherwise: those without a
 * rank say MILESTONE(NONE) at the start. [A root that is a rank now and still counts as none would
 * give DONE.]
 *  - agree.h's messages travel on the same FIFO channels, and a DECIDED action is answered by
 * (MILESTONE and) GENERATION before the next message is handed in. Then a message of a generation
 * above one's own never matters: a decision g for the newest known set goes down the very tree of
 * g, so parents are in g before their children, and to each child DECIDE comes before ORDER. It can
 * only come when a larger failed set was known to one of both (the child has dropped the DECIDE, or
 * g went down the tree of a larger set: agree.h, second round). Then g is about to be superseded,
 * and losing its messages does no harm but to stop it. They are dropped.
 *  - ENDING after each step of agree after which a ballot is open (ft_agree_pending), also when
 * that step adopted a decision. Orders given before it and not yet carried out are forgotten:
 * agree.h says why (COMMIT).
 *  - Adopting a decision finishes what the old generation had begun, before GENERATION is fed: who
 * has staged version data.committed flips to it (each has: nobody flips before all have staged),
 * and, unless a rollback follows, does what the COMMIT would have done: version 1: enter body;
 * FT_AGREE_RUN_OVER, _UNPROTECTED: leave FTRMA_Run; FT_AGREE_DONE: leave MPI_Finalize. Any other
 * checkpoint under way is forgotten, as by CANCEL.
 *  - EXECUTE is the last action of a step. An order replaces the one before it, carried out or not:
 * CANCEL after FT_OE_LATE.
 */
#ifndef FT_PROTO_ORDER_H
#define FT_PROTO_ORDER_H

#include "proto/tree.h"

enum ft_order_kind {
    FT_ORDER_NONE = 0,
    FT_ORDER_PROPOSE, /* READY: max = number of the first safepoint that the main can still be
                         stopped at (main waits there until the next order); FT_SP_NONE from
                         processes without a rank, FT_SP_OVER (taken as NONE): body is over */
    FT_ORDER_TARGET,  /* arg = safepoint number S. READY when the main stands at S (or its body is
                         over); not_ok: no image can be  taken there */
    FT_ORDER_CUT, /* arg = version. Everybody has arrived: mains copy. READY when copied: bytes; ok
                     = 0: no room */
    FT_ORDER_LEAVE,   /* arg = version. All copied: mains go on; checksum processes compute. READY
                         (checksum: when staged) */
    FT_ORDER_COMMIT,  /* arg = version. Complete everywhere: flip. READY when flipped */
    FT_ORDER_CANCEL,  /* arg = enum ft_skip_reason. Forget the checkpoint under way, mains go on.
                         READY */
    FT_ORDER_RECOVER, /* arg = version. Mains park, replacements run setup and rebuild. READY when
                         parked and rebuilt */
    FT_ORDER_RESTORE, /* arg = version. READY when own memory is as in the image and channels are
                         reset */
    FT_ORDER_RESUME,  /* arg = version. Enter body again. READY at once */
    FT_ORDER_REJOIN,  /* READY when the new generation's arenas are mapped */
    FT_ORDER_DONE,    /* MPI_Finalize may be left. READY at once */
};
#define FT_SP_NONE 0ull
#define FT_SP_OVER UINT64_MAX

#define FT_ORDER_ENTRY 1u    /* flags: this belongs to the checkpoint of FTRMA_Run's entry ... */
#define FT_ORDER_SNAPSHOT 4u /* TARGET and what follows: mains do not stand still */
#define FT_ORDER_EXIT 2u     /* ... or exit: with its COMMIT mains leave FTRMA_Run */

enum ft_milestone {
    FT_MILE_SETUP = 0,
    FT_MILE_RUN,
    FT_MILE_OVER,
    FT_MILE_FINALIZE,
    FT_MILE_NONE, /* carries no rank: above all */
};

/* What READY carries; merged: max, min, sum, or. */
struct ft_ready {
    uint64_t max;     /* PROPOSE: largest promise that is neither NONE nor OVER */
    uint64_t bytes;   /* CUT: sum of image bytes */
    uint32_t not_ok;  /* or-ed: enum ft_skip_reason, the largest wins (max) */
    uint32_t stuck;   /* TARGET: or: somebody has not arrived and waits in the library (counts as
                         answered; see STUCK) */
    uint32_t running; /* or: somebody carries a rank whose body is not over */
    uint32_t no_snapshot; /* PROPOSE: or: no snapshot can be taken now */
};

enum ft_order_msg_kind { FT_OM_ORDER = 1, FT_OM_READY, FT_OM_MILESTONE };
struct ft_order_msg {
    uint32_t kind;
    uint32_t generation;
    uint32_t seq;   /* of the order within the generation */
    uint32_t order; /* enum ft_order_kind (ORDER) / enum ft_milestone (MILESTONE) */
    uint64_t arg;
    uint32_t flags; /* ORDER: FT_ORDER_ENTRY, FT_ORDER_EXIT */
    uint32_t pad;
    struct ft_ready ready;
};

enum ft_order_event_kind {
    FT_OE_GENERATION = 1, /* a generation begins: failed set, first order to give if we are its root
                             (REJOIN, RECOVER or NONE), arg */
    FT_OE_MSG,            /* from a tree neighbour */
    FT_OE_READY,          /* this process has carried out the order `seq` */
    FT_OE_STUCK, /* TARGET `seq`: this process's main waits in the library for longer than a moment;
                    counts as its READY. A later FT_OE_READY for the same seq is ignored */
    FT_OE_MILESTONE, /* this process's rank reached a milestone (or it became/ceased to be a rank)
                      */
    FT_OE_DUE,       /* root: a periodic checkpoint is due (clock). Others: ignored */
    FT_OE_LATE, /* root: an order TARGET has been open for too long, or (ready.not_ok: why) cannot be
                   carried out by somebody: cancel it. Others: ignored */
    FT_OE_ROLLBACK, /* root: a replay diverged (R0): all go back to the committed version, in this
                       generation. Once at most in one. Others: ignored */
    FT_OE_ENDING,   /* a ballot on failures is open here: nothing of this generation counts any more
                     */
};
struct ft_order_event {
    enum ft_order_event_kind kind;
    int from;
    const struct ft_order_msg *msg;
    uint32_t generation;            /* GENERATION */
    const struct ft_bitset *failed; /* GENERATION */
    enum ft_order_kind first; /* GENERATION: NONE, REJOIN (also when nobody was replaced: finishes
                                 one that was interrupted), RECOVER */
    uint64_t arg; /* GENERATION: version, for RECOVER. MILESTONE: enum ft_milestone. DUE: number of
                     the safepoint that it is due at, 0: any */
    uint64_t committed; /* GENERATION: agreed committed version (0: none) */
    int run_over;    /* GENERATION: the exit checkpoint is committed, or it or that of the entry was
                        cancelled (UNPROTECTED, REFUSED) */
    int checkpoints; /* GENERATION: 0 = off: there are no checksum processes. Then entry and exit
                        need no checkpoint: they are agreed by a LEAVE order without CUT, and a
                        failure is REJOIN always */
    uint32_t seq;    /* READY, STUCK */
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

struct ft_order {
    int self, nslots;
    int active;  /* between GENERATION and ENDING */
    int started; /* GENERATION was heard at all */
    uint32_t generation;
    struct ft_bitset failed; /* of this generation */
    struct ft_tree tree;
    /* the order under way here; NONE once this subtree has answered (root: once it is idle) */
    uint32_t seq; /* of the newest order */
    enum ft_order_kind order;
    uint64_t arg;
    uint32_t flags;
    int own_ready, child_ready[2];
    struct ft_ready own, child[2];
    /* milestones */
    int own_mile, child_mile[2], sent_mile;
    /* root only */
    uint64_t committed; /* newest version all have */
    int snapshots;      /* checkpoints are snapshots; set once, after init */
    int snapshots_off;  /* called off, in a row */
    uint64_t target;    /* of the newest TARGET */
    int due, run_over, done, checkpoints, entered, rollback;
    int rolled, again; /* in this generation: RECOVER was given; a checkpoint at either end was
                          begun again */
};

void ft_order_init(struct ft_order *m, int self, int nslots);
void ft_order_step(struct ft_order *m, const struct ft_order_event *ev,
                   struct ft_order_actions *actions);
int ft_order_is_root(const struct ft_order *m);
void ft_order_check(const struct ft_order *m);
int ft_order_dump(const struct ft_order *m, char *out, int size);

#endif
