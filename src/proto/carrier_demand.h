/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_demand.h - what a carrier keeps of images that ranks take alone (C8): the two machines of
 * proto/demand.h, and what stands between them and main. carrier_demand.c has what it does.
 *
 *   main asks for an image (its logs are long) --> ASK to the lead of the group with the longest
 *   TAKE --> owner: WISH to main; main's `taken` --> TAKEN; COMMITTED --> PUBLISH LATEST (it flips)
 *   a checksum process: LIFT, FOLD to main; its answer; PUBLISH LATEST (it tags)
 *
 * It is *frozen*: with a ballot open; in a rollback; and in a new generation until the lead of its
 * group has said its tag (TAG_IS). Then it hears nothing but ASK and TAKE, wishes nothing, takes
 * over nothing that main has made, and neither tags nor flips.
 */
#ifndef FT_PROTO_CARRIER_DEMAND_H
#define FT_PROTO_CARRIER_DEMAND_H

#include "proto/demand.h"

struct ft_carry_demand {
    uint32_t round, pad; /* how often all have gone back in this generation */
    struct ft_demand_ch ch;
    struct ft_demand_owner owner;
    int32_t awaits;     /* TAG_IS of this generation */
    uint32_t unsettled; /* lead: helpers, bits by index, that have not yet said TAG_HEARD */
    struct ft_demand_ch_news news; /* for `ch`, when TAG_IS has come */
    struct ft_demand_msg tag_is;   /* the newest that has come; kind 0: none */
    uint64_t at_vote;              /* the latest image or codeword, when it was frozen; else 0 */
    /* a rank */
    uint32_t asked_by; /* checksum processes, bits by index, that are to be rebuilt: LATEST_IS */
    int32_t wished;    /* WISH is in force, unless main was at an image when it was said */
    uint32_t orphaned; /* generation that left nobody who could say the tag; 0: none */
    uint32_t given;    /* 1 + the generation in which it gave up its latest image for a coordinated
                        * one, which is not yet committed; 0: not */
    uint32_t cover_in; /* 1 + the generation in which it asked for an image that covers it, */
    uint64_t cover_at; /* ... and the committed version; */
    uint32_t all_in;   /* generation in which it asked for a coordinated one */
    uint32_t live_in;  /* 1 + the newest generation in which all ranks were seen live */
    int32_t cover_due; /* it will ask, as soon as they are */
    /* a checksum process */
    int32_t fold; /* enum ft_command: LIFT or FOLD is to be given; FT_CMD_NONE */
    int32_t fold_rank;
    uint64_t fold_version;
    uint64_t folding;  /* number of the LIFT or FOLD whose answer counts; 0: none */
    uint64_t folded;   /* the codeword that was computed last */
    uint64_t untagged; /* the one that was the latest before the one that is */
    uint32_t here;     /* FT_LOOK_GROUP, as seen in this generation */
    /* ... that is to be rebuilt */
    int32_t members;       /* ranks of its group */
    uint32_t said_in;      /* the generation in which these ranks have said LATEST_IS: */
    struct ft_bitset said; /* ... */
    int32_t said_again;     /* one has said something else while the codeword was computed */
};

#endif
