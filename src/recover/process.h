/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process.h - one process as the protocol sees it: agreement, detection, orders, the carrier, and
 * who carries what. Plain bytes without pointers, which can be copied, compared and hashed; its
 * size depends on the job (ft_process_bytes). It knows no clock, no thread, no memory of others.
 * Agent (runtime/shell.c) and simulator feed it events and carry its actions out, in their order.
 *
 * ft_process_step takes one event. What one machine says to the next goes through a queue that is
 * empty at the end of the step; so nothing is called from inside of itself, and a decision, its
 * adoption and the first order of the new generation can be one step.
 *
 * What the shell owes:
 *  - MAIN: a copy of main's half of the mailbox, whenever it differs from the one before, and after
 *    each step that had the action HOLD or WISH.
 *  - WITNESS is answered by WITNESSED: of all slots that are new in the failed set, the shell
 *    knows then that they are closed (all that they had submitted has come), or that they are out,
 *    which FAILED has said. Other events may come before. A new WITNESS takes the place of the one
 *    before it.
 *  - Actions are carried out in their order before the next event is handed in.
 *  - TIME at ft_process_expiry, or later.
 */
#ifndef FT_RECOVER_PROCESS_H
#define FT_RECOVER_PROCESS_H

#include "proto/agree.h"
#include "proto/carrier.h"
#include "proto/detect.h"
#include "proto/exposure.h"
#include "proto/order.h"
#include "recover/plan.h"
#include "recover/process_mail.h"

struct ft_process_cfg {
    int self, nslots, nranks, nchecksums;
    int silence;        /* ticks after which a silent process is killed; 0: never */
    int plain;          /* no MPI: what is lost with a node is nothing that a replacement needs */
    int local, why_not; /* as in struct ft_mapping */
    const int *slot_of; /* [nranks + nchecksums] at the start; NULL: position p at slot p */
    const struct ft_groups *groups; /* NULL: no checksum processes */
    struct ft_where *where;         /* NULL: nothing is known */
    struct ft_bitset neighbours;    /* slots of this node */
    struct ft_carrier_cfg carrier;
};

enum ft_process_event_kind {
    FT_PE_MAIN = 1,  /* main */
    FT_PE_MAIL,      /* from, mail */
    FT_PE_EXITED,    /* set: these have ended; orderly: after MPI_Finalize */
    FT_PE_ALIVE,     /* slot is there */
    FT_PE_TICK,      /* of the detector */
    FT_PE_TIME,      /* ft_process_expiry has come */
    FT_PE_JOB_OVER,  /* the board says that the job is done */
    FT_PE_WITNESSED, /* local: what this process knows that is not in the machine */
    FT_PE_SEEN,      /* look: one FT_LOOK_*, value */
    FT_PE_FAILED,    /* set: known to have failed, from elsewhere than by detection. node: they were
                        lost with their node; all of its slots come in one event */
};
struct ft_process_event {
    enum ft_process_event_kind kind;
    int slot, orderly, node;
    const struct ft_bitset *set;
    uint64_t now;
    uint32_t look;
    uint64_t value;
    const struct ft_main *main;
    const struct ft_mail *mail;
    const struct ft_agree_data *local;
};

struct ft_process_actions {
    struct ft_actions act;
    struct ft_bitset set; /* of WITNESS */
    uint32_t answered;    /* bits, 1 << enum ft_order_kind: orders that were carried out */
    int nmails;
    struct ft_mail mail[24];
    struct ft_testimony left;    /* of INHERIT */
    struct ft_plan plan;         /* of BIND, LOST */
    struct ft_decision decision; /* the same, and of REPAIR */
};

struct ft_process {
    struct ft_agree agree;
    struct ft_detect detect;
    struct ft_order order;
    struct ft_carrier carrier;
    struct ft_exposure exposure;
    uint32_t generation;  /* of the mapping */
    int32_t told;         /* milestone that the order machine was told of last */
    int32_t lost;         /* the job cannot go on */
    int32_t left_by;      /* 1 + the slot of the process whose rank this one carries now, while it has
                             not heard what that one left; 0: it has, or carries none so */
    struct ft_bitset out; /* slots that were lost with their node */
    /* slot_of, incarnation [nranks + nchecksums], pos_of [nslots]; then, by group, who leads it
     * (lead_word in process.c) [nchecksums]; where the home logs are [nranks]; a fate for each rank;
     * the machine of snapshots */
    int32_t map[];
};

size_t ft_process_bytes(const struct ft_process_cfg *cfg);
void ft_process_init(struct ft_process *p, const struct ft_process_cfg *cfg, uint64_t now,
                     struct ft_process_actions *out);
/* Fills out. */
void ft_process_step(struct ft_process *p, const struct ft_process_cfg *cfg,
                     const struct ft_process_event *ev, struct ft_process_actions *out);
uint64_t ft_process_expiry(const struct ft_process *p); /* UINT64_MAX: never */
void ft_process_check(const struct ft_process *p, const struct ft_process_cfg *cfg);
int ft_process_dump(const struct ft_process *p, const struct ft_process_cfg *cfg, char *out,
                    int size);
/* Who carries what; a view of p's memory. */
struct ft_mapping ft_process_map(struct ft_process *p, const struct ft_process_cfg *cfg);
/* The checksum process that leads a group, by its index there; ~ that, if none is left that could
 * say its tag. */
int ft_process_lead(struct ft_process *p, const struct ft_process_cfg *cfg, int group);
const char *ft_do_name(enum ft_do kind);
const char *ft_process_event_name(enum ft_process_event_kind kind);

#endif
