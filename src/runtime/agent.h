/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the agent's own state, and what its files share.
 */
#ifndef FT_RUNTIME_AGENT_H
#define FT_RUNTIME_AGENT_H

#include "proto/demand.h"
#include "runtime/rt.h"

enum ft_mail_kind { FT_MAIL_AGREE = 1, FT_MAIL_ORDER, FT_MAIL_PING, FT_MAIL_PONG, FT_MAIL_DUE, FT_MAIL_ROLLBACK, FT_MAIL_DEMAND };

struct ft_mail {
    uint32_t kind, pad;
    union {
        struct ft_agree_msg agree;
        struct ft_order_msg order;
        struct ft_demand_msg demand;
    } u;
};
_Static_assert(sizeof(struct ft_mail) <= FT_MAIL_BYTES, "a mail holds any message");

struct ft_agent {
    struct ft_rt *rt;
    struct ft_agree agree;
    struct ft_detect detect;
    struct ft_order order;
    struct ft_mapping map;
    int wake, watch_fd, parent_fd, launcher_fd;
    int watching;
    /* the order under way here: NONE once answered */
    enum ft_order_kind kind;
    uint32_t seq, flags;
    uint64_t arg;
    uint64_t waiting_for; /* number of the command whose end the order waits for */
    /* a failure under way */
    uint64_t noticed_ns; /* when this process first heard of it; 0: none */
    int rolling;         /* a rollback was decided, RESUME not yet carried out */
    int late;            /* this replacement goes back alone (in the run, or behind FTRMA_Run): step of its way to its image */
    int become_rank;     /* a rank was assigned: main goes on with it as soon as it stands free */
    int free_main;       /* main may stand at a safepoint of a checkpoint that is forgotten: let it go on */
    int unprotected;
    uint32_t asked;      /* 1 + the generation in which a rollback was asked for */
    int replayed;        /* main was replaying when we looked last */
    int quiet_due;       /* main may still be inside an access to a process that is lost */
    uint32_t run_era;    /* of the run's messages, agreed */
    struct ft_bitset exposed; /* ranks whose LG was lost with its home; until the next checkpoint */
    uint64_t *stale;          /* [nranks]: 1 + version of an image that a loss has made useless for going back alone: exposed while
                                 that is the rank's latest; 0: none (demand.c) */
    int told_milestone;
    /* demand checkpoints: of a checksum process, of a rank; the image to be folded in, the command that does it */
    struct ft_demand_ch ch;
    struct ft_demand_owner owner;
    uint64_t fold_due, folding;
    int taking; /* main was told that an image is wanted, and has not answered */
    uint64_t due_said; /* the safepoint that main stands at and that was told of; it may have left one and be at the next unseen */
    /* clocks of the root */
    uint64_t next_due_ns, target_since_ns, cut_ns, last_commit_ns;
    double cost_s; /* of the last checkpoint, known to all: any of them may be the next root */
    uint64_t safepoints_at_commit;
    /* is main stuck? */
    uint64_t tick_ns, stuck_progress;
    int stuck_ticks;
    int64_t limit_ms; /* of silence */
    uint64_t ping_ns; /* next tick of the detector */
    /* deaths of each position at one place */
    int *deaths;
    uint64_t *place;
};
extern struct ft_agent *ft_a;

/* agent.c */
uint64_t ft_agent_issue(struct ft_agent *a, enum ft_command c, uint64_t arg); /* a command to main; none may be outstanding */
int ft_agent_main_busy(const struct ft_agent *a);                             /* a command is outstanding */
enum ft_station ft_agent_standing(const struct ft_agent *a);                  /* where main stands; NONE while a command is outstanding */
void ft_agent_attention(struct ft_agent *a, uint32_t what);
void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void ft_agent_order_event(struct ft_agent *a, struct ft_order_event *ev);
struct ft_agree_data ft_agent_local(struct ft_agent *a);

/* orders.c: carrying out orders */
void ft_orders_begin(struct ft_agent *a, const struct ft_order_action *act);
void ft_orders_poll(struct ft_agent *a); /* goes on with the order under way, as far as main has come */
void ft_orders_clock(struct ft_agent *a, uint64_t now);

/* demand.c */
void ft_demand_mail(struct ft_agent *a, int from, const struct ft_demand_msg *msg);
void ft_demand_poll(struct ft_agent *a);
/* A coordinated image is to be taken, main stands: declines what was not begun. 0: something is still under way. */
int ft_demand_settled(struct ft_agent *a);
void ft_demand_void(struct ft_agent *a);   /* a rollback begins */
void ft_demand_forget(struct ft_agent *a); /* mains are parked: what was taken since the checkpoint counts no more */
/* A decision is being adopted, a->map is the new one, rt->slot_of the old one. rank: that this process carries since before, -1: none. */
void ft_demand_generation(struct ft_agent *a, const struct ft_decision *d, int rank, int rollback);

/* Ranks that are exposed since the image that they would go back to does not fit any more; or'ed into the set. */
void ft_demand_exposed(struct ft_agent *a, struct ft_bitset *exposed);
/* This process goes back alone to an image that was taken alone: what it had logged for the others before is gone. */
void ft_demand_restored(struct ft_agent *a);
void ft_agent_covered(struct ft_agent *a); /* all are covered again: a commit, or a rollback */

/* generation.c: adopting a decision */
void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d);

#endif
