/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_state.h - the state of a carrier (carrier.h).
 */
#ifndef FT_PROTO_CARRIER_STATE_H
#define FT_PROTO_CARRIER_STATE_H

#include "proto/action.h"
#include "proto/carrier_cfg.h"
#include "proto/carrier_demand.h"
#include "proto/carrier_snapshot.h"

struct ft_due { /* when something is due, in ns; 0: not set, unless a comment says otherwise */
    uint64_t next_ns;   /* the root: a checkpoint */
    uint64_t target_ns; /* the root: when it gave the order TARGET */
    uint64_t cut_ns, commit_ns;
    uint64_t safepoints; /* number of the safepoint at the last commit */
    uint64_t waited_ns;  /* since then: how long all TARGETs have taken that are over */
    uint64_t long_ns;    /* a checkpoint is to be asked for, as logs are long */
    uint64_t again_ns;   /* a checkpoint is to be asked for once more */
    uint64_t retry_ns;   /* another try, after something could not be rebuilt or did not park */
    uint64_t noticed_ns; /* when the failure under way was noticed */
    double cost_s;       /* seconds that the last checkpoint took */
};

struct ft_carrier {
    enum ft_carrier_state state;
    int32_t pos;  /* the rank, or nranks + the checksum process; -1: a spare */
    int32_t next; /* a spare that will be taken next */
    uint32_t generation, facts, why;
    /* The process (recover/process.h) sets the fields up to `snapshots_off`. */
    int32_t root, settled; /* this is the root; the root has no order under way */
    int32_t open;          /* a ballot is open */
    int32_t left_unknown;  /* this process does not know yet what the lost one has left */
    int32_t by_loss;       /* its latest image is older than the loss of another rank
                            * (FT_EXPOSED_BY_LOSS) */
    int32_t snapshots_off; /* the root: how many snapshots in a row were called off */
    struct ft_main heard;  /* what main has said last */
    struct {               /* the order under way; NONE once it is answered */
        enum ft_order_kind kind;
        uint32_t seq, flags;
        int32_t step;
        uint64_t arg;
    } order;
    struct { /* the outstanding command; NONE once it is answered */
        enum ft_command kind;
        uint32_t seq; /* of the order that it belongs to; 0: none */
        uint64_t number, version, snapshot;
        uint32_t head;
    } cmd;
    uint64_t commands;       /* number of commands given so far */
    uint64_t hold, released; /* the hold in force; the safepoint that main was last released from */
    uint64_t committed,
        complete; /* the committed version; the newest version that is complete here */
    /* A version that is or was committed, and whose image or codeword is complete here; 0: none */
    uint64_t own;
    uint64_t head;   /* a replacement: the version of which it has what setup is told; 0: none */
    uint64_t latest; /* the published version of an image or codeword made since then; 0: none */
    /* A replacement: the version of this rank's image by the lead's tag. A checksum process: the
     * version of the codeword of latest images that it has rebuilt. 0: not known yet. */
    uint64_t tag;
    /* told: the committed version whose image or codeword is not here and can never be made again;
     * 0: none */
    uint64_t lacks;
    uint64_t restored_at; /* the safepoint of the restored image */
    uint64_t room;        /* the number of bytes that room was made for */
    uint64_t parking;     /* 1 + main's moves when it was last asked to park; 0: it was not */
    uint32_t run_era;
    int32_t incomplete, alone, refusing;
    int32_t is_new, bare; /* told: this rank is new; some new rank has no image */
    int32_t wants_room;
    int32_t asks_back;   /* main's replay has diverged, and asks for a rollback */
    uint32_t looks;      /* what AWAIT has named */
    uint32_t quiet_owed; /* the generation whose `rejoined` is not published yet; 0: none */
    uint32_t rejoined;
    uint32_t told_back, told_await; /* 1 + the generation in which it was said */
    uint64_t told_due;              /* the safepoint at which a checkpoint was asked for */
    uint32_t answered_seq;          /* seq of the newest order that was answered */
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
