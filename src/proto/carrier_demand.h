/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_demand.h - what a carrier remembers of images that ranks take alone (C8): the two
 * machines of proto/demand.h, and what stands between them and main. carrier_demand.c and
 * carrier_codeword.c have the behaviour.
 *
 *   main's logs are long --> ASK to the lead of the group of the rank that has most of them
 *   TAKE --> the owner wishes an image (WISH); main's `taken` --> TAKEN;
 *            COMMITTED --> PUBLISH LATEST (the owner flips)
 *   a checksum process gives main LIFT or FOLD; main's answer --> PUBLISH LATEST (it tags)
 *
 * A carrier is *frozen* while a ballot is open, in a rollback, and in a new generation until the
 * lead of its group has said its tag (TAG_IS). A frozen carrier hears only ASK and TAKE. It wishes
 * nothing, takes no image over that main has made, and neither tags nor flips.
 */
#ifndef FT_PROTO_CARRIER_DEMAND_H
#define FT_PROTO_CARRIER_DEMAND_H

#include "proto/demand.h"

#define FT_DEMAND_CODEWORDS 8 /* at least as many as a group may have (erasure.h) */

struct ft_carry_demand {
    uint32_t round, pad; /* how many rollbacks this generation has had */
    struct ft_demand_ch ch;
    struct ft_demand_owner owner;
    int32_t awaits;     /* TAG_IS of this generation has not come yet */
    uint32_t unsettled; /* the lead: a bit by index for each helper that has not said TAG_HEARD */
    struct ft_demand_ch_news news; /* given to `ch` when TAG_IS has come */
    /* What each checksum process of the group, by index, has said of the next generation, with
     * TAG_IS; kind 0: nothing */
    struct ft_demand_msg tag_is[FT_DEMAND_CODEWORDS];
    uint64_t at_vote; /* frozen: the latest image or codeword at that time; else 0 */
    /* Fields of a rank. */
    uint32_t asked_by; /* a bit by index for each checksum process that is to be rebuilt, and that
                        * LATEST_IS goes to */
    int32_t wished;    /* WISH was said, and holds unless main was taking an image then */
    uint32_t
        orphaned;   /* the generation since which nobody is left who could say the tag; 0: none */
    uint32_t given; /* 1 + the generation in which it gave up its latest image for a coordinated
                     * one that is not committed yet; 0: it has not */
    uint32_t cover_in; /* 1 + the generation in which it asked for an image that covers it */
    uint64_t cover_at; /* the committed version at that time */
    uint32_t all_in;   /* the generation in which it asked for a coordinated image */
    uint32_t live_in;  /* 1 + the newest generation in which all ranks were seen live */
    int32_t cover_due; /* it will ask as soon as all ranks are live */
    /* Fields of a checksum process. */
    int32_t fold; /* enum ft_command: LIFT or FOLD, which main is to be given; or FT_CMD_NONE */
    int32_t fold_rank;
    uint64_t fold_version;
    uint64_t folding;  /* the number of the LIFT or FOLD whose answer counts; 0: none does */
    uint64_t folded;   /* the codeword that was computed last */
    uint64_t untagged; /* the codeword that was the latest one before the present one */
    uint32_t here;     /* what FT_LOOK_GROUP has shown in this generation */
    /* Fields of a checksum process that is to be rebuilt. */
    int32_t members;       /* number of ranks in its group */
    uint32_t said_in;      /* the generation that `said` is about */
    struct ft_bitset said; /* the ranks that have said LATEST_IS in it */
    int32_t said_again;    /* one of them has said another image while the codeword was computed */
};

#endif
