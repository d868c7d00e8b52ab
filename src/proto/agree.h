/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agree.h - agreement on who failed (D2; DHARMA 3.2.1; Hursey et al. 2011). A machine without I/O.
 *
 * Each process holds a growing set F of slots that it knows to have failed. Its ballot is F itself:
 * in the tree over the slots outside F it waits for its children's votes for the same F, merges
 * them with its own data, and votes to its parent. The root of tree(F), with all votes, decides:
 * generation g+1 := (F, merged data), and sends the decision down. Whoever learns a larger set,
 * from its detector or from any message, merges it, abandons the old ballot, tells its new tree
 * neighbours and the next one on the ring (ANNOUNCE) and starts again.
 *
 * Sometimes there are two rounds. Each vote says which decisions are in its subtree: the newest,
 * and the lowest generation. When they differ [a parent died between its children's DECIDEs], the
 * root does not decide yet: it sends the newest down again (the last epoch's result is kept until
 * the next one), those who lack it adopt it, and all vote again for the same F. So a decision is
 * made only when all voters hold the one before it. Both do not go in one message, for two reasons.
 * (1) a process that misses that message would lack two generations, and with further deaths any
 * number; (2) votes must describe the generation that they build on: [a spare that was given a rank
 * by a decision that it missed would vote without itself in `incomplete`, and a second loss in its
 * group would pass for the first]. For the same reason no vote is given between DECIDED and
 * ADOPTED.
 *
 * Safety: no two living processes ever adopt different decisions of one generation. Say D = (g+1,
 * F) was decided, and B, a larger set, is decided with all votes saying g. Then whoever adopted D
 * is in B: an adopter outside of B got D along a chain of DECIDEs that starts at the root of
 * tree(F). The first process of the chain outside of B is that root, or heard of D from a sender in
 * B. The root's set was F when it decided, the other one's did not contain that sender (messages of
 * slots in one's F are dropped): both knew D before they voted for B, against the assumption.
 * Besides, a DECIDE for another ballot than one's own is dropped: what was voted stays true.
 *
 * Liveness: once crashes stop, every living process comes to the same F, provided that a process
 * whose next one on the ring (ft_ring_next of its F) is dead learns of that in the end (on one node
 * this is detect.h's watch; a detector that tells everybody will do too). For then, for each living
 * process, the next living one has at least its F, all the way round. The tree alone is not enough:
 * [0 and 1 dead, 2 knows of 0 and tells its only neighbour 1, 3 knows of 1 and tells its only
 * neighbour 0].
 *
 * What the runtime owes:
 *  - Channels are reliable and FIFO between living processes. F holds dead processes only (D1: no
 *    zombies).
 *  - Actions are carried out in their order. SENDs of a step come before its DECIDED: the new
 *    generation's orders come after them.
 *  - After a DECIDED action was carried out (mapping, incomplete ... are those of the new
 *    generation) the very next event is ADOPTED.
 *  - A VOTE action is answered by LOCAL, with this process's contribution, which says what the
 *    voter knows of those in F. [It is made before a message is looked at, and that message names
 *    one more that has failed: what the voter knows of that one is missing from its vote.] Other
 *    events may come before LOCAL. One that enlarges F takes the request back, which `asking`
 *    says, and another VOTE follows in its time.
 *  - While ft_agree_pending(), nothing that `local` reports may change on account of an order:
 *    after each step the order machine is told FT_OE_ENDING when a ballot is open, and orders
 *    handed out but not yet carried out are forgotten. [A process votes "committed 3", then a
 *    COMMIT that was on its way makes it flip to 4, then all are told to go back to 3.]
 *
 * If nobody fails meanwhile, there are O(n) messages in O(log n) steps. Thread rules: none; the
 * caller serialises.
 */
#ifndef FT_PROTO_AGREE_H
#define FT_PROTO_AGREE_H

#include "proto/decision.h"
#include "proto/tree.h"

enum ft_agree_action_kind { FT_AGREE_ACT_SEND = 1, FT_AGREE_ACT_VOTE, FT_AGREE_ACT_DECIDED };
struct ft_agree_action {
    enum ft_agree_action_kind kind;
    int to;                      /* SEND */
    struct ft_agree_msg msg;     /* SEND */
    struct ft_decision decision; /* DECIDED: adopt it; generations come one by one. DECIDED and VOTE
                                    are the last of a step */
};
#define FT_AGREE_MAX_ACTIONS 8 /* a step's bound: ANNOUNCE to 4, VOTE; DECIDE to 2, DECIDED */
struct ft_agree_actions {
    int n;
    struct ft_agree_action a[FT_AGREE_MAX_ACTIONS];
};

enum ft_agree_event_kind {
    FT_AGREE_EV_FAILED = 1,
    FT_AGREE_EV_MSG,
    FT_AGREE_EV_LOCAL,   /* the answer to VOTE, while `asking` */
    FT_AGREE_EV_ADOPTED, /* the DECIDED action was carried out */
};
struct ft_agree_event {
    enum ft_agree_event_kind kind;
    const struct ft_bitset *failed; /* FAILED: who; a node's processes all in one event */
    int slot;                       /* MSG: from whom */
    const struct ft_agree_msg *msg; /* MSG */
    struct ft_agree_data local;     /* LOCAL: this process's own contribution as of now */
};

struct ft_agree {
    int self, nslots;
    struct ft_bitset failed;    /* F */
    struct ft_decision last;    /* newest adopted */
    struct ft_agree_data local; /* own contribution as voted */
    struct ft_tree tree;        /* of F */
    int voted;                  /* in this round of this ballot; all child_voted are set then */
    int asking;                 /* VOTE was said, LOCAL not yet heard, and F has not grown since */
    int adopting;               /* DECIDED was said, ADOPTED not yet heard */
    int child_voted[2];         /* for this F, in this round, by child position */
    struct ft_agree_msg child_vote[2];
};

void ft_agree_init(struct ft_agree *m, int self, int nslots);
/* Takes one event, fills actions (n set to 0 first). A message from a slot in F is dropped. */
void ft_agree_step(struct ft_agree *m, const struct ft_agree_event *ev,
                   struct ft_agree_actions *actions);
/* 1 while a ballot is open: F is larger than the last decision's set. */
int ft_agree_pending(const struct ft_agree *m);
void ft_agree_check(const struct ft_agree *m);                    /* asserts its invariants */
int ft_agree_dump(const struct ft_agree *m, char *out, int size); /* one line */

#endif
