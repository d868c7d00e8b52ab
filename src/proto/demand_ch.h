/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_ch.h - the machine of a checksum process in demand checkpoints (demand.h).
 */
#ifndef FT_PROTO_DEMAND_CH_H
#define FT_PROTO_DEMAND_CH_H

#include "proto/demand_msg.h"

enum ft_demand_ch_state {
    FT_CH_IDLE,
    FT_CH_LIFTING, /* the lead: the codeword without the old image is being made */
    FT_CH_ASKED,
    FT_CH_FOLDING,
    FT_CH_TAGGING, /* the lead: it waits until its helpers have tagged */
    FT_CH_TAGGED,
    FT_CH_RESUMING, /* the lead: it will ask again, by ft_demand_ch_resume */
    FT_CH_LIFTS,    /* a helper */
    FT_CH_LIFTED,
    FT_CH_FOLDS,
    FT_CH_STAGED,
    FT_CH_HOLDS, /* it has tagged */
};
struct ft_demand_ch {
    enum ft_demand_ch_state state;
    int stream; /* the caller sets it, as in the owner */
    int index;  /* its index in the group; the caller sets it before the first event */
    int lead;   /* the index of the lead */
    uint32_t generation, round; /* round: as in messages; the caller sets it */
    int rank;                   /* the rank that is staged for */
    uint64_t version;
    uint32_t chain, waits;   /* bits by index: CHs that take part; those of them that have not done
                                the step yet */
    int bad, again;          /* one of them could not do it; q was asked for what it has begun */
    struct ft_bitset wanted; /* ranks whose image was asked for */
    /* The image in the codeword that was computed last, until the next staging begins; in the one
     * that was tagged last; in the one that was tagged before that. Version 0: none. */
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
/* LIFT: main stages the latest codeword without the image of msg.rank. FOLD: main computes the
 * codeword with image msg.version of msg.rank. TAG: publish that codeword. UNTAG: the codeword
 * before is the latest one again. SEND: only send. After each of them, if msg.kind is not 0, msg is
 * sent: to the CHs of the group whose bits are in `to`, or to the rank if `to` is 0. */
struct ft_demand_action {
    enum ft_demand_act act;
    struct ft_demand_msg msg;
    uint32_t to;
};

/* A rollback voids everything, and the wishes, too. */
void ft_demand_ch_reset(struct ft_demand_ch *m, uint32_t generation);
/* A new generation voids what is under way, except what q may have begun to overwrite. Wishes stay,
 * since they may come from a generation that this process has still to adopt. */
struct ft_demand_ch_news {
    uint32_t generation;
    int lost;       /* m->rank was lost */
    int lead;       /* the index of the CH that leads now */
    uint32_t there; /* bits: CHs that have whole codewords, and had them before */
    uint64_t tag;   /* the lead's tag of m->rank; 0: not what was staged here */
};
struct ft_demand_action ft_demand_ch_generation(struct ft_demand_ch *m,
                                                const struct ft_demand_ch_news *news);
/* All of m->chain have adopted the generation. In RESUMING, q is asked again. */
struct ft_demand_action ft_demand_ch_resume(struct ft_demand_ch *m);
/* A message has come. */
struct ft_demand_action ft_demand_ch_msg(struct ft_demand_ch *m, const struct ft_demand_msg *msg);
/* The lead may begin a staging now: no order is under way, the group is whole, and all have adopted
 * the generation. nranks: of the job. all: a bit for each CH of the group. */
struct ft_demand_action ft_demand_ch_ready(struct ft_demand_ch *m, int nranks, uint32_t all);
/* Main has lifted an image out of the codeword, or has computed the codeword; ok 0: it could not.
 */
struct ft_demand_action ft_demand_ch_lifted(struct ft_demand_ch *m, int ok);
struct ft_demand_action ft_demand_ch_folded(struct ft_demand_ch *m, int ok);

#endif
