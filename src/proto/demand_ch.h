/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_ch.h - a checksum process in demand checkpoints (demand.h).
 */
#ifndef FT_PROTO_DEMAND_CH_H
#define FT_PROTO_DEMAND_CH_H

#include "proto/demand_msg.h"

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
    uint32_t chain, waits;   /* bits, by index: those that take part; have not yet done the step */
    int bad, again;          /* one of them could not; q was asked for what it had begun */
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
/* LIFT: main stages the latest codeword without the image of msg.rank. FOLD: main computes the
 * codeword with msg.version of msg.rank. TAG: publish it. UNTAG: the one before is the latest
 * again. After that, and with SEND nothing but that, if msg.kind is not 0: send msg to these CHs of
 * the group; `to` 0: to the rank. */
struct ft_demand_action {
    enum ft_demand_act act;
    struct ft_demand_msg msg;
    uint32_t to;
};

/* A rollback: all is void, wishes as well. */
void ft_demand_ch_reset(struct ft_demand_ch *m, uint32_t generation);
/* A new generation: what is under way is void, but for what q may have begun to overwrite. Wishes
 * stay, since they may come from a generation that this process has still to adopt. */
struct ft_demand_ch_news {
    uint32_t generation;
    int lost;       /* m->rank was lost */
    int lead;       /* the index of the one that leads now */
    uint32_t there; /* bits: those that have whole codewords, and had them before */
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

#endif
