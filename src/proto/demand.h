/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.h - demand checkpoints (protocol 7): one rank takes an image alone, and its group's codeword over the members' latest
 * images follows, while the coordinated checkpoint stays whole beside it. Two machines without I/O.
 *
 *      p (its logs are long)     CH, checksum process        q, whose logs they are
 *          ASK(q) ----------------->  TAKE ------------------>  WANTED: main copies at its next safepoint
 *                                     FOLDING  <-- TAKEN(d) --  TAKEN
 *                                     tags d
 *                                     TAGGED  -- COMMITTED(d)-> flips: d is its latest image, others may drop what it covers
 *                                     IDLE    <-- ACK(d) -----  NONE
 *
 * - TAKE counts in the generation that it came from, which may be one that q has still to adopt.
 * - CH's tag is the commit. [q flips first, p drops its records, q is lost before CH has the codeword.] So: CH's tag, then the
 *   owner, then those who logged for it.
 * - One staging at a time in a group, and the old codeword stays until ACK.
 * - `stream`: q has no room for a third image, and writes the new one over its latest one, piece by piece. So CH first *lifts*
 *   the latest image of q out of the latest codeword, into its staged one: LIFTING, before TAKE. From then on that image is in
 *   the old codeword alone, for q; and what others of the group need of it is in the staged one. Then CH adds the new image to
 *   the staged codeword. What q has begun to overwrite cannot be dropped: a new generation voids nothing of it. CH asks anew,
 *   and q answers with what it has taken. [It asked in vain, q being at it: TAKEN comes when TAKE has come.] If CH is lost, q
 *   flips by itself, as it has nothing else that the replacement could compute with: two of the group are lost if q is lost
 *   before that is done. If q is lost, its latest image is what the old codeword says.
 * - A new generation voids what is under way. Who has taken d and finds CH's tag to be d flips [COMMITTED was lost], else d is
 *   dropped. That is safe since CH does not tag, nor q flip, between its vote and its adoption of the decision: the runtime feeds
 *   nothing but ASK and TAKE meanwhile. [q finds an old tag, drops d and begins another image in its place, and CH tags d.] A CH
 *   that was lost has told nobody: d is dropped, and the replacement computes the codeword from what the members say that their
 *   latest images are.
 * - q answers an order to copy for a coordinated checkpoint only when it is in NONE, or in WANTED, which it
 *   declines.
 */
#ifndef FT_PROTO_DEMAND_H
#define FT_PROTO_DEMAND_H

#include "base/base.h"

enum ft_demand_kind {
    FT_DEMAND_ASK = 1,   /* to CH */
    FT_DEMAND_TAKE,      /* to q */
    FT_DEMAND_TAKEN,     /* to CH; version 0: declined */
    FT_DEMAND_COMMITTED, /* to q; version 0: called off */
    FT_DEMAND_ACK,       /* to CH */
};
struct ft_demand_msg {
    uint32_t kind, generation;
    int32_t rank; /* q */
    uint32_t pad;
    uint64_t version;
};

/* --- the checksum process --- */

enum ft_demand_ch_state { FT_CH_IDLE, FT_CH_LIFTING, FT_CH_ASKED, FT_CH_FOLDING, FT_CH_TAGGED };
struct ft_demand_ch {
    enum ft_demand_ch_state state;
    int stream; /* set by the caller, as in the owner */
    uint32_t generation;
    int rank; /* staging for it */
    uint64_t version;
    struct ft_bitset wanted; /* ranks that were asked for */
};
enum ft_demand_act { FT_DEMAND_NOTHING = 0, FT_DEMAND_SEND, FT_DEMAND_LIFT, FT_DEMAND_FOLD, FT_DEMAND_TAG };
struct ft_demand_action { /* SEND: msg to rank. LIFT: main stages the latest codeword without the image of msg.rank. FOLD: main
                             computes the codeword with msg.version of msg.rank. TAG: publish it, then SEND msg */
    enum ft_demand_act act;
    struct ft_demand_msg msg;
};

void ft_demand_ch_reset(struct ft_demand_ch *m, uint32_t generation); /* a rollback: all is void, wishes as well */
/* A new generation: what is under way is void, but for what q may have begun to overwrite. lost: that is who was lost. Wishes
 * stay, since they may come from a generation that this process has still to adopt. */
struct ft_demand_action ft_demand_ch_generation(struct ft_demand_ch *m, uint32_t generation, int lost);
/* A message has come. */
struct ft_demand_action ft_demand_ch_msg(struct ft_demand_ch *m, const struct ft_demand_msg *msg);
/* Nothing forbids to begin a staging now: no order is under way, the group is whole. nranks: of the job. */
struct ft_demand_action ft_demand_ch_ready(struct ft_demand_ch *m, int nranks);
/* Main has computed the codeword, or lifted an image out of it; ok 0: it could not. */
struct ft_demand_action ft_demand_ch_lifted(struct ft_demand_ch *m, int ok);
struct ft_demand_action ft_demand_ch_folded(struct ft_demand_ch *m, int ok);

/* --- the owner --- */

enum ft_demand_owner_state { FT_OWNER_NONE, FT_OWNER_WANTED, FT_OWNER_TAKEN };
struct ft_demand_owner {
    enum ft_demand_owner_state state;
    int stream;
    uint32_t generation;
    uint64_t wanted_in; /* 1 + the generation that the last TAKE came from, 0: none is open */
    uint64_t version;
    uint64_t latest; /* last flipped to; 0: none */
};
/* A new generation. tag: version of this rank's image in the latest codeword, 0: there is nobody who could say. over: the image
 * that was taken lies over the latest one. Returns 1 when it has flipped to m->latest; *answer is to be sent (kind 0: nothing).
 */
int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank, uint64_t tag, int over,
                               struct ft_demand_msg *answer);
void ft_demand_owner_drop(struct ft_demand_owner *m); /* a rollback: whatever is under way is void */
/* Returns 1 when it has flipped to m->latest; then, too, *answer is to be sent (kind 0: nothing). */
int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg, struct ft_demand_msg *answer);
int ft_demand_owner_wants(const struct ft_demand_owner *m); /* main is to take an image at its next safepoint */
/* Main has taken the image; version 0: it declines. The answer is to be sent, if it has a kind; if it has none, the image is
 * void, or, where it lies over the latest one, kept until it is asked for. */
struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version, int over);
/* The same, over the latest one, and the checksum process that had asked for it was lost meanwhile: it flips. */
void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version);

#endif
