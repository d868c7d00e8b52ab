/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.h - demand checkpoints (C8): one rank takes an image alone, and its group's codeword over
 * the members' latest images follows, while the coordinated checkpoint stays whole beside it. Two
 * machines without I/O.
 *
 *    p (its logs are long)    CH, checksum process              q, whose logs they are
 *        ASK(q) ------------->  ASKED    -- TAKE ------------>  WANTED: main copies at its next
 *                                                               safepoint
 *                               FOLDING  <-- TAKEN(d) --------  TAKEN
 *                               tags d
 *                               TAGGED   -- COMMITTED(d) ---->  flips: d is its latest image, and
 *                               IDLE     <-- ACK(d) ----------  others may drop what it covers; NONE
 *
 * - TAKE counts in the generation that it came from, which may be one that q has still to adopt.
 * - CH's tag is the commit. [q flips first, p drops its records, q is lost before CH has the
 * codeword.] So: CH's tag, then the owner, then those who logged for it.
 * - One staging at a time in a group, and the old codeword stays until ACK.
 * - `stream`: q has no room for a third image, and writes the new one over its latest one, piece by
 * piece. So CH first *lifts* the latest image of q out of the latest codeword, into its staged one:
 * LIFTING, before TAKE. From then on that image is in the old codeword alone, for q; and what
 * others of the group need of it is in the staged one. Then CH adds the new image to the staged
 * codeword. What q has begun to overwrite cannot be dropped: a new generation voids nothing of it.
 * CH asks again, and q answers with what it has taken, or declines if it had not begun. [It asks
 * while q is at it: TAKEN comes when TAKE has come.] If CH is lost, and there is no other, q
 * flips by itself, as it has nothing else that the replacement could compute with: too many of the
 * group are lost if q is lost before that is done. If q is lost, its latest image is what the old
 * codeword says.
 * - A new generation voids what is under way. If q has taken d and CH's tag is d, q flips
 * [COMMITTED was lost]; else d is dropped. That is safe since CH does not tag, nor q flip, between
 * its vote and its adoption of the decision: the runtime feeds nothing but ASK and TAKE meanwhile.
 * [q finds an old tag, drops d and begins another image in its place, and CH tags d.] A CH that was
 * lost has told nobody: d is dropped, and the replacement computes the codeword from what the
 * members say that their latest images are.
 * - A rollback without a new generation voids all of it, too, at each process when it hears of it.
 * Messages say how often all have gone back in their generation: what is of before is void. [TAKEN
 * of before a rollback comes when CH has asked again: it would tag an image that q has forgotten.]
 * CH is fed TAKEN also before it has resumed, and answers that it is called off. [q had been told
 * to TAKE before, has resumed sooner than CH, and hands it in: it would wait for COMMITTED for
 * ever.] TAKEN that is said twice, as q was told to TAKE twice, is one. [The second would call off
 * what is folded.]
 * - q answers an order to copy for a coordinated checkpoint only when it is in NONE, or in WANTED,
 * which it declines.
 * - A group with several codewords has as many CHs. One of them *leads*, the one drawn above; the
 * others, its helpers, do each step that it tells them of (LIFT_IT, FOLD_IT, TAG_IT), at the same
 * time as it does, but for the tag, which it sets when all of them have. So: all have lifted, TAKE;
 * all have staged d, the helpers tag d, CH's tag, the owner. What counts is CH's tag.
 * - In a new generation each helper goes by the lead's tag: who has staged d, as all have then,
 * tags it if the lead has; who has tagged it and the lead has not goes back to the codeword before,
 * which is there until the next staging. The lead stays as long as it lives, else it is one of
 * those that are left with whole codewords: whichever, as q has not flipped unless all have tagged.
 * [Each goes by its own tag: one holds d and another one not, and what is rebuilt of both is
 * garbage.]
 * - The lead says its tag by a message, TAG_IS, when it has adopted the generation. First to its
 * helpers; those that go by it say TAG_HEARD. When all have, it tells the group's ranks and those
 * checksum processes that are to be rebuilt. Until TAG_IS has come they are as between vote and
 * adoption: they hear nothing but ASK and TAKE. [q is told first, and drops d; the lead is lost
 * before a helper is told, which has tagged d and leads now: it names an image that is gone.] [The
 * lead is lost when some of the helpers have gone back: what they have staged is there still, and
 * they tag it again if the next lead has it tagged.] A lead says which image it has tagged last,
 * and which one it was of: a helper that has tagged another one was a step ahead of it. A replaced
 * checksum process takes that for its own: [it leads next, and the others would go back from what
 * it knows nothing of].
 * - A checksum process that is to be rebuilt computes its codeword from what the ranks of its group
 * say that their latest images are (LATEST_IS), when all have said it. A rank says it when it goes by
 * the lead's tag, or at once if nobody leads; and again whenever that changes, which makes void what
 * was computed meanwhile. [It reads what the ranks publish instead: q has still to flip to the image
 * that the lead has tagged.]
 * - CH's second TAKE, in the new generation, is for what q has begun to overwrite only, and with
 * those that are left. [A replaced helper has computed its codeword with the latest image of q,
 * which goes in a staging that it does not take part in.] It is sent when all of them have adopted
 * the generation, as a staging is begun.
 */
#ifndef FT_PROTO_DEMAND_H
#define FT_PROTO_DEMAND_H

#include "base/base.h"

enum ft_demand_kind {
    FT_DEMAND_ASK = 1, /* to CH */
    FT_DEMAND_TAKE, /* to q; version not 0: only what it has begun to write over its latest image */
    FT_DEMAND_TAKEN,     /* to CH; version 0: declined */
    FT_DEMAND_COMMITTED, /* to q; version 0: called off */
    FT_DEMAND_ACK,       /* to CH */
    FT_DEMAND_LIFT_IT,   /* CH to its helpers */
    FT_DEMAND_FOLD_IT,
    FT_DEMAND_TAG_IT,
    FT_DEMAND_DONE, /* a helper to CH; version 0: it could not */
    /* the lead, in a new generation. To checksum processes: the image, and whose, that it has
     * tagged last. To rank q: the version of q's image in its latest codeword */
    FT_DEMAND_TAG_IS,
    FT_DEMAND_TAG_HEARD, /* a helper to the lead: it goes by that */
    /* a rank to a checksum process that is to be rebuilt: the version of its latest image */
    FT_DEMAND_LATEST_IS,
};
struct ft_demand_msg {
    uint32_t kind, generation;
    int32_t rank; /* q */
    uint32_t ch;  /* DONE: which helper says so */
    uint64_t version;
    uint32_t round, pad; /* how often all have gone back in this generation */
};

/* --- the checksum process --- */

enum ft_demand_ch_state {
    FT_CH_IDLE,
    FT_CH_LIFTING, /* the lead */
    FT_CH_ASKED,
    FT_CH_FOLDING,
    FT_CH_TAGGING, /* the helpers are told to */
    FT_CH_TAGGED,
    FT_CH_RESUMING, /* it is to ask again, see ft_demand_ch_resume */
    FT_CH_LIFTS,    /* a helper */
    FT_CH_LIFTED,
    FT_CH_FOLDS,
    FT_CH_STAGED,
    FT_CH_HOLDS, /* has tagged */
};
struct ft_demand_ch {
    enum ft_demand_ch_state state;
    int stream; /* set by the caller, as in the owner */
    int index;  /* which of the group's it is: by the caller, before anything happens */
    int lead;   /* who leads */
    uint32_t generation, round; /* round: by the caller, as in messages */
    int rank;                   /* staging for it */
    uint64_t version;
    uint32_t chain, waits;   /* bits, by index: who takes part; who has not yet done the step */
    int bad, again;          /* somebody could not; q was asked for what it had begun */
    struct ft_bitset wanted; /* ranks that were asked for */
    /* The codeword that was computed last has this image (until the next staging begins); the one
     * that was tagged last has; the one that was tagged before has. Version 0: none */
    struct ft_demand_image {
        int32_t rank, pad;
        uint64_t version;
    } staged, tagged, before;
};
enum ft_demand_act {
    FT_DEMAND_NOTHING = 0,
    FT_DEMAND_SEND,
    FT_DEMAND_LIFT,
    FT_DEMAND_FOLD,
    FT_DEMAND_TAG,
    FT_DEMAND_UNTAG
};
struct ft_demand_action { /* LIFT: main stages the latest codeword without the image of msg.rank.
                             FOLD: main computes the codeword with msg.version of msg.rank. TAG:
                             publish it. UNTAG: the one before is the latest again. Then, or with
                             SEND only that, if msg.kind is not 0: msg to these CHs of the group; to
                             0: to the rank */
    enum ft_demand_act act;
    struct ft_demand_msg msg;
    uint32_t to;
};

void ft_demand_ch_reset(struct ft_demand_ch *m,
                        uint32_t generation); /* a rollback: all is void, wishes as well */
/* A new generation: what is under way is void, but for what q may have begun to overwrite. Wishes
 * stay, since they may come from a generation that this process has still to adopt. */
struct ft_demand_ch_news {
    uint32_t generation;
    int lost;       /* that is who was lost: m->rank */
    int lead;       /* who leads now */
    uint32_t there; /* bits: who has whole codewords, and had before */
    uint64_t tag;   /* of m->rank, at the lead; 0: not the one that was staged here */
};
struct ft_demand_action ft_demand_ch_generation(struct ft_demand_ch *m,
                                                const struct ft_demand_ch_news *news);
/* All of m->chain have adopted the generation: in RESUMING, q is asked again. */
struct ft_demand_action ft_demand_ch_resume(struct ft_demand_ch *m);
/* A message has come. */
struct ft_demand_action ft_demand_ch_msg(struct ft_demand_ch *m, const struct ft_demand_msg *msg);
/* Nothing forbids to begin a staging now: no order is under way, the group is whole, and all have
 * adopted the generation. nranks: of the job. all: bits, the group's CHs. The lead only. */
struct ft_demand_action ft_demand_ch_ready(struct ft_demand_ch *m, int nranks, uint32_t all);
/* Main has computed the codeword, or lifted an image out of it; ok 0: it could not. */
struct ft_demand_action ft_demand_ch_lifted(struct ft_demand_ch *m, int ok);
struct ft_demand_action ft_demand_ch_folded(struct ft_demand_ch *m, int ok);

/* --- the owner --- */

enum ft_demand_owner_state { FT_OWNER_NONE, FT_OWNER_WANTED, FT_OWNER_TAKEN };
struct ft_demand_owner {
    enum ft_demand_owner_state state;
    int stream;
    uint32_t generation, round;
    uint64_t wanted_in; /* 1 + the generation that the last TAKE came from, 0: none is open */
    int begun_only;     /* that one asks for what was begun */
    uint64_t version;
    uint64_t latest; /* last flipped to; 0: none */
};
/* A new generation. tag: version of this rank's image in the latest codeword, 0: there is nobody
 * who could say. over: the image that was taken lies over the latest one. Returns 1 when it has
 * flipped to m->latest; *answer is to be sent (kind 0: nothing).
 */
int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank,
                               uint64_t tag, int over, struct ft_demand_msg *answer);
void ft_demand_owner_drop(
    struct ft_demand_owner *m); /* a rollback: whatever is under way is void */
/* Returns 1 when it has flipped to m->latest; then, too, *answer is to be sent (kind 0: nothing).
 */
int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg,
                        struct ft_demand_msg *answer);
int ft_demand_owner_wants(
    const struct ft_demand_owner *m); /* main is to take an image at its next safepoint */
/* Main is waited for if it has begun to write over the latest image; if it has not, nothing is
 * wanted: say 0 for it. */
int ft_demand_owner_ends(const struct ft_demand_owner *m);
/* Main has taken the image; version 0: it declines. The answer is to be sent, if it has a kind; if
 * it has none, the image is void, or, where it lies over the latest one, kept until it is asked
 * for. */
struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version,
                                           int over);
/* The same, over the latest one, and the checksum process that had asked for it was lost meanwhile:
 * it flips. */
void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version);

#endif
