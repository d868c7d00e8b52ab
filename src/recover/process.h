/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process.h - one process as the protocol sees it: agreement, detection, orders, the carrier, and
 * who carries what. It is plain bytes without pointers, which can be copied, compared and hashed.
 * Its size depends on the job (ft_process_bytes). It knows no clock, no thread, and no memory of
 * others. The agent (runtime/shell.c) and the simulator feed it events, and carry out its actions
 * in their order.
 *
 * ft_process_step takes one event. What one machine says to the next goes through a queue, which is
 * empty at the end of the step. So no function calls itself, and a decision, its adoption and the
 * first order of the new generation can be one step.
 *
 * What the shell owes:
 *  - MAIN is a copy of main's half of the mailbox. It comes whenever that differs from the copy
 *    before, and after each step that had the action HOLD or WISH.
 *  - WITNESS is answered by WITNESSED. By then the shell knows of each slot that is new in the
 *    failed set that it is closed (all that it had submitted has come), or that FAILED has said it
 *    is out. Other events may come before. A new WITNESS replaces the one before.
 *  - All actions are carried out, in their order, before the next event is handed in.
 *  - TIME comes at ft_process_expiry or later.
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
    int silence; /* ticks after which a silent process is killed; 0: never */
    int plain; /* the program does not use MPI: a replacement needs nothing that is lost with a node
                */
    int local, why_not; /* as in struct ft_mapping */
    const int *slot_of; /* [nranks + nchecksums] at the start; NULL: position p at slot p */
    const struct ft_groups *groups; /* NULL: there are no checksum processes */
    struct ft_where *where;         /* NULL: failure domains are not known */
    struct ft_bitset neighbours;    /* slots of this node */
    struct ft_carrier_cfg carrier;
};

enum ft_process_event_kind {
    FT_PE_MAIN = 1,  /* main */
    FT_PE_MAIL,      /* from, mail */
    FT_PE_EXITED,    /* set: these slots have ended; orderly: after MPI_Finalize */
    FT_PE_ALIVE,     /* slot is there */
    FT_PE_TICK,      /* a tick of the detector */
    FT_PE_TIME,      /* ft_process_expiry has come */
    FT_PE_JOB_OVER,  /* the board says that the job is done */
    FT_PE_WITNESSED, /* local: what this process knows that is not in the machine */
    FT_PE_SEEN,      /* look: one FT_LOOK_*, value */
    FT_PE_FAILED,    /* set: slots that have failed, which others than the detector say. node: they
                      * were lost with    their node, and all of its slots come in one event */
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
    struct ft_bitset set; /* the slots of WITNESS */
    uint32_t answered;    /* bits 1 << enum ft_order_kind: orders that this step has answered */
    int waits;            /* TARGET was answered for a main that sleeps in a call (STUCK) */
    int nmails;
    struct ft_mail mail[24];
    struct ft_testimony left;    /* belongs to INHERIT */
    struct ft_plan plan;         /* belongs to BIND and LOST */
    struct ft_decision decision; /* belongs to these and to REPAIR */
};

struct ft_process {
    struct ft_agree agree;
    struct ft_detect detect;
    struct ft_order order;
    struct ft_carrier carrier;
    struct ft_exposure exposure;
    uint32_t generation; /* of the mapping */
    int32_t told;        /* the milestone that the order machine was told last */
    int32_t lost;        /* the job cannot go on */
    int32_t left_by; /* 1 + the slot of the lost process whose rank this one carries now, until it
                      * hears what that one has left; 0: it has heard it, or has replaced nobody */
    struct ft_bitset out; /* slots that were lost with their node */
    /* slot_of and incarnation [nranks + nchecksums]; pos_of [nslots]; the lead of each group
     * (ft_pstep_lead_word) [nchecksums]; where the home logs are [nranks]; the fate of each rank;
     * the machine of snapshots */
    int32_t map[];
};

size_t ft_process_bytes(const struct ft_process_cfg *cfg);
void ft_process_init(struct ft_process *p, const struct ft_process_cfg *cfg, uint64_t now,
                     struct ft_process_actions *out);
/* Fills out. */
void ft_process_step(struct ft_process *p, const struct ft_process_cfg *cfg,
                     const struct ft_process_event *ev, struct ft_process_actions *out);
uint64_t ft_process_expiry(const struct ft_process *p); /* UINT64_MAX: no clock is set */
void ft_process_check(const struct ft_process *p, const struct ft_process_cfg *cfg);
int ft_process_dump(const struct ft_process *p, const struct ft_process_cfg *cfg, char *out,
                    int size);
/* Which slot carries which position: a view of p's memory. */
struct ft_mapping ft_process_map(struct ft_process *p, const struct ft_process_cfg *cfg);
/* The index of the checksum process that leads a group; its complement if no living one can say the
 * tag. */
int ft_process_lead(struct ft_process *p, const struct ft_process_cfg *cfg, int group);
const char *ft_do_name(enum ft_do kind);
const char *ft_process_event_name(enum ft_process_event_kind kind);

#endif
