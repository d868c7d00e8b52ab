/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the agent's own state, and what its files share.
 */
#ifndef FT_RUNTIME_AGENT_H
#define FT_RUNTIME_AGENT_H

#include "runtime/rt.h"

enum ft_mail_kind { FT_MAIL_AGREE = 1, FT_MAIL_ORDER, FT_MAIL_PING, FT_MAIL_PONG, FT_MAIL_DUE, FT_MAIL_ROLLBACK };

struct ft_mail {
    uint32_t kind, pad;
    union {
        struct ft_agree_msg agree;
        struct ft_order_msg order;
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
    int told_milestone;
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

/* generation.c: adopting a decision */
void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d);

#endif
