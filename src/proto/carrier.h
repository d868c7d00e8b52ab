/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier.h - what a process carries, and what it does about decisions and orders. A machine
 * without I/O: it hears what main says of itself (proto/place.h), what the order machine and the
 * generations ask for, and what was seen of the others, and says what is to be done. It gives main
 * one command at a time. recover/process.h feeds it, and carries nothing out either.
 *
 *   SPARE, SERVING            no rank: idle, or a checksum process at its post
 *   ASSIGNED                  has a position, and its image or codeword is not yet here
 *   SETUP, ENTRY, BODY, HELD, OVER, AFTER, FINALIZE     where main is (proto/place.h)
 *   RETURN                    a replacement at the entry, alone: image, restore, go
 *   PARKING, PARKED, RESTORED a rollback: main is to leave its call; stands; is as in the image
 *   GONE                      was let go
 *
 * A *leaving* command (ft_command_leaves) changes the state when it is given: main is not promised
 * any more. [It is counted as held, and leaves.]
 *
 * Invariants (ft_carrier_check; the simulator and debug builds look after each step):
 *  (1) One command at most is outstanding, one that its place takes. An answer MOVED is never taken
 *      for done.
 *  (2) With a ballot open no order is carried out, and nothing is tagged or flipped: what was voted
 *      stays true.
 *  (3) READY is said once for an order, of the newest seq.
 *  (4) `incomplete` is voted just from ASSIGNED until the image is whole.
 *  (5) RESTORE(v) is given only with v whole here; PROPOSE is not answered in a replay; COPY is
 *      given only while no image that this rank takes alone is under way.
 *  (6) rejoined = g is published only after ATTENTION of g, when nobody here is inside an access.
 *  (7) From PARKING to RESTORED no order but RECOVER, RESTORE, RESUME is carried out, and nothing
 *      is wished, tagged or flipped.
 *  (8) HELD without an order, a hold or a number of its own that is due is released in the same
 *      step.
 *  (9) GONE is final.
 *
 * In a snapshot (C9), (2) means that with a ballot open no image is taken and no marker sent or
 * heard; (5) that COPY is given only when this process has entered and nobody is inside an access
 * to its windows; (7) that a snapshot is void with its generation, and in a rollback.
 */
#ifndef FT_PROTO_CARRIER_H
#define FT_PROTO_CARRIER_H

#include "proto/action.h"
#include "proto/agree.h"
#include "proto/broken.h"
#include "proto/carrier_demand.h"
#include "proto/carrier_snapshot.h"

enum ft_carrier_state {
    FT_CS_SPARE = 0,
    FT_CS_SERVING,
    FT_CS_ASSIGNED,
    FT_CS_SETUP,
    FT_CS_ENTRY,
    FT_CS_RETURN,
    FT_CS_BODY,
    FT_CS_HELD,
    FT_CS_OVER,
    FT_CS_PARKING,
    FT_CS_PARKED,
    FT_CS_RESTORED,
    FT_CS_AFTER,
    FT_CS_FINALIZE,
    FT_CS_GONE,
    FT_CARRIER_STATES
};
const char *ft_carrier_state_name(enum ft_carrier_state s);

/* The same in all processes, but for self. Never changes. */
struct ft_carrier_cfg {
    int nranks;
    int parity;      /* checksum processes of a group */
    int checkpoints; /* there are checksum processes, and checkpoints are taken */
    int logs;        /* the run is logged */
    int every;       /* mains stop at each multiple of it; 0: by the clock */
    double mtbf;     /* seconds, for the clock */
    int demand, stream;
    int snapshot; /* enum ft_snap_alg; FT_SNAP_VANILLA: there are none */
    int told;     /* the program handles losses: survivors keep their memory */
    int restart;  /* the job goes on from files: all go back to the first checkpoint */
    int broken;   /* the simulator breaks one thing: enum ft_broken */
};
/* --- the machine --- */

enum {                           /* facts */
       FT_FACT_RUN_OVER = 1,     /* the exit's checkpoint is committed */
       FT_FACT_REFUSED = 2,      /* FTRMA_Run runs nothing: `why` */
       FT_FACT_UNPROTECTED = 4,  /* FTRMA_Run is left without the exit's checkpoint */
       FT_FACT_DONE = 8,         /* MPI_Finalize may be left */
       FT_FACT_NO_REPLAY = 16,   /* body was entered with neither checkpoint nor logs */
       FT_FACT_ENTERED = 32,     /* no checkpoints: all have come to the entry */
       FT_FACT_LEFT = 64,        /* no checkpoints: all have come to body's end */
       FT_FACT_ROLLING = 128,    /* a rollback was decided, and RESUME is not yet carried out */
       FT_FACT_RESTARTING = 256, /* cfg.restart, and RESUME is not yet carried out */
       FT_FACT_UNDER_WAY = 512,  /* images of the next checkpoint are being taken */
       FT_FACT_HARMED = 1024,    /* there was a failure */
       FT_FACT_TOLD = 2048,      /* ROLLING, and survivors keep their memory (G5) */
       FT_FACT_REPAIRING = 4096, /* ... after it, until main comes to a safepoint of body */
};

struct ft_due {         /* clocks */
    uint64_t next_ns;   /* root: a checkpoint is due; 0: none */
    uint64_t target_ns; /* root: the order TARGET was given; 0: not */
    uint64_t cut_ns, commit_ns;
    uint64_t safepoints; /* at the last commit */
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
    int32_t root, settled; /* set by the process: this is the root; no order is under way there */
    int32_t open;          /* set by the process: a ballot is open */
    int32_t left_unknown; /* set by the process: what the lost one has left is not known yet */
    int32_t by_loss; /* set by the process: the latest image is older than the loss of another rank
                      * (FT_EXPOSED_BY_LOSS) */
    int32_t snapshots_off; /* set by the process, for the root: called off in a row */
    struct ft_main heard;  /* what main has said last */
    struct {               /* the order under way; NONE once answered */
        enum ft_order_kind kind;
        uint32_t seq, flags;
        int32_t step;
        uint64_t arg;
    } order;
    struct { /* the command outstanding; NONE once answered */
        enum ft_command kind;
        uint32_t seq; /* of the order that it is for; 0: for none */
        uint64_t number, version, snapshot;
    } cmd;
    uint64_t commands;            /* given so far */
    uint64_t hold, released;      /* in force; the safepoint that main was let go from last */
    uint64_t committed, complete; /* version agreed; the newest that is complete here */
    uint64_t
        own; /* the version, committed once, whose image or codeword is complete here; 0: none */
    uint64_t latest; /* version of an image or codeword made since, as published; 0: none */
    uint64_t tag;    /* a replacement: what the lead's tag says of this rank; of a checksum process,
                      * the codeword of the latest images that it has asked for; 0: not yet */
    uint64_t lacks;  /* told: the committed version of which there is no image or codeword here, and
                      * none can be made; 0: none */
    uint64_t restored_at; /* safepoint that the restored image stands at */
    uint64_t room;        /* that was prepared for */
    uint64_t parking;     /* 1 + main's moves when it was asked to park last; 0: not asked */
    uint32_t run_era;
    int32_t incomplete, alone, refusing;
    int32_t is_new, bare; /* told: this rank is among those that are new; one of them has no
                           * image */
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

void ft_carrier_init(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int pos);
/* Each adds to out. `now`: nanoseconds of a clock that does not go back. */
void ft_carrier_main(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     const struct ft_main *m, struct ft_actions *out);
void ft_carrier_seen(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     uint32_t look, uint64_t value, struct ft_actions *out);
/* An order is handed out; it takes the place of the one before it. */
void ft_carrier_order(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                      const struct ft_order_action *order, struct ft_actions *out);
/* A ballot is open: the order under way is forgotten. */
void ft_carrier_ending(struct ft_carrier *c, const struct ft_carrier_cfg *cfg,
                       struct ft_actions *out);
/* A mail DEMAND. */
void ft_carrier_demand(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       const struct ft_demand_msg *msg, struct ft_actions *out);
/* What this process says of itself in a vote; or'ed into d. */
void ft_carrier_vote(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int self,
                     struct ft_agree_data *d);
/* A decision is adopted. rollback: all go back; rejoin: replacements run alone; pos: own position
 * from now on. */
struct ft_carrier_news {
    uint32_t generation;
    int pos, rollback, rejoin;
    int told, is_new, bare; /* see struct ft_plan, ft_heir; bare: one of those that are new has no
                             * image */
    uint64_t lacks;         /* of pos */
    const struct ft_agree_data *data;
    /* of the group of pos: the checksum process that leads, by index, or ~ that, if none is left
     * that could say its tag; bits: which of them had whole codewords and live */
    int lead;
    uint32_t there;
    int index;      /* own index among them; -1: a rank, or a spare */
    int members;    /* ranks of the group */
    int lost_owner; /* the rank that demand.ch is at was lost */
};
void ft_carrier_adopted(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                        const struct ft_carrier_news *news, struct ft_actions *out);
void ft_carrier_time(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     struct ft_actions *out);
void ft_carrier_job_over(struct ft_carrier *c); /* the board says so */
/* A marker of a snapshot has come from a rank. */
void ft_carrier_marker(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t number,
                       int rank, enum ft_snap_marker kind);
/* The answer to FT_DO_SNAPSHOT: what the machine wants. */
void ft_carrier_snapshot(struct ft_carrier *c, const struct ft_snap_actions *todo);
/* The end of each step: goes on with the order, and chooses a command for main. */
void ft_carrier_choose(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       struct ft_actions *out);
uint64_t ft_carrier_expiry(const struct ft_carrier *c); /* UINT64_MAX: never */
/* What the order machine is to know of main. */
enum ft_milestone ft_carrier_milestone(const struct ft_carrier *c,
                                       const struct ft_carrier_cfg *cfg);
void ft_carrier_check(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg);
int ft_carrier_dump(const struct ft_carrier *c, char *out, int size);

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
