/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_state.h - what a carrier keeps (carrier.h).
 */
#ifndef FT_PROTO_CARRIER_STATE_H
#define FT_PROTO_CARRIER_STATE_H

#include "proto/action.h"
#include "proto/carrier_cfg.h"
#include "proto/carrier_demand.h"
#include "proto/carrier_snapshot.h"

struct ft_due {         /* clocks */
    uint64_t next_ns;   /* root: a checkpoint is due; 0: none */
    uint64_t target_ns; /* root: the order TARGET was given; 0: not */
    uint64_t cut_ns, commit_ns;
    uint64_t safepoints; /* at the last commit */
    uint64_t long_ns;    /* logs are long: a checkpoint is to be asked for; 0: none */
    uint64_t again_ns;   /* a checkpoint that was asked for is to be asked for again */
    uint64_t retry_ns;   /* what could not be rebuilt, or did not park, is tried again; 0: none */
    uint64_t noticed_ns; /* of a failure under way; 0: none */
    double cost_s;       /* of the last checkpoint */
};

struct ft_carrier {
    enum ft_carrier_state state;
    int32_t pos;  /* rank, or nranks + checksum process; -1: spare */
    int32_t next; /* a spare that is next in line */
    uint32_t generation, facts, why;
    /* set by the process (recover/process.h), until `heard`: */
    int32_t root, settled; /* this is the root; no order is under way there */
    int32_t open;          /* a ballot is open */
    int32_t left_unknown;  /* it is not known yet what the lost one has left */
    int32_t by_loss;       /* the latest image is older than the loss of another rank
                            * (FT_EXPOSED_BY_LOSS) */
    int32_t snapshots_off; /* the root: snapshots that were called off in a row */
    struct ft_main heard;  /* what main has said last */
    struct {               /* the order under way; NONE when it is answered */
        enum ft_order_kind kind;
        uint32_t seq, flags;
        int32_t step;
        uint64_t arg;
    } order;
    struct { /* the command outstanding; NONE when it is answered */
        enum ft_command kind;
        uint32_t seq; /* of the order that it is for; 0: for none */
        uint64_t number, version, snapshot;
    } cmd;
    uint64_t commands;            /* given so far */
    uint64_t hold, released;      /* in force; the safepoint that main was let go from last */
    uint64_t committed, complete; /* version agreed; the newest that is complete here */
    /* The version whose image or codeword is complete here, and which is or was committed; 0: none
     */
    uint64_t own;
    uint64_t latest; /* version of an image or codeword made since, as published; 0: none */
    /* A replacement: the version that the lead's tag says of this rank. A checksum process: the
     * codeword of the latest images that it has asked for. 0: not known yet. */
    uint64_t tag;
    /* told: the committed version of which no image or codeword is here, and none can be made; 0:
     * none */
    uint64_t lacks;
    uint64_t restored_at; /* safepoint that the restored image stands at */
    uint64_t room;        /* that was prepared for */
    uint64_t parking;     /* 1 + main's moves when it was asked to park last; 0: not asked */
    uint32_t run_era;
    int32_t incomplete, alone, refusing;
    int32_t is_new, bare; /* told: this rank is new; one of those that are new has no image */
    int32_t wants_room;
    int32_t asks_back;   /* main's replay has diverged */
    uint32_t looks;      /* AWAIT said */
    uint32_t quiet_owed; /* generation whose `rejoined` is not yet published; 0: none */
    uint32_t rejoined;
    uint32_t told_back, told_await; /* 1 + generation in which it was said */
    uint64_t told_due;              /* the safepoint that a checkpoint was asked for at */
    uint32_t answered_seq;          /* of the newest order that was answered */
    struct ft_due due;
    struct ft_carry_demand demand;
    struct ft_carry_snapshot snapshot;
};

static inline int ft_carrier_is_rank(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg)
{
    return c->pos >= 0 && c->pos < cfg->nranks;
}
static inline int ft_carrier_is_checksum(const struct ft_carrier *c,
                                         const struct ft_carrier_cfg *cfg)
{
    return c->pos >= cfg->nranks;
}

#endif
