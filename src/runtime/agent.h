/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the agent's own state, and what its files share.
 */
#ifndef FT_RUNTIME_AGENT_H
#define FT_RUNTIME_AGENT_H

#include "proto/demand.h"
#include "runtime/rt.h"

enum ft_mail_kind { FT_MAIL_AGREE = 1, FT_MAIL_ORDER, FT_MAIL_PING, FT_MAIL_PONG, FT_MAIL_DUE, FT_MAIL_ROLLBACK, FT_MAIL_DEMAND,
                    FT_MAIL_MARKER, FT_MAIL_WAVE_OFF };

struct ft_marker { /* of a snapshot */
    uint64_t wave;
    int32_t rank; /* from */
    uint32_t kind; /* enum ft_snap_marker */
};

struct ft_mail {
    uint32_t kind, pad;
    union {
        struct ft_agree_msg agree;
        struct ft_order_msg order;
        struct ft_demand_msg demand;
        struct ft_marker marker;
        uint64_t number; /* DUE: the safepoint. WAVE_OFF: the wave */
    } u;
};
_Static_assert(sizeof(struct ft_mail) <= FT_MAIL_BYTES, "a mail holds any message");

struct ft_agent {
    struct ft_rt *rt;
    struct ft_agree agree;
    struct ft_detect detect;
    struct ft_order order;
    struct ft_mapping map;
    int parent;              /* the process that started this one */
    uint64_t launcher_start; /* ftrun's start time; 0: it is not watched */
    uint64_t look_ns, orphan_ns; /* when the watched process, and who started us, are to be looked at next */
    int watching;
    int mails_wait;      /* for their receivers to take others */
    int kill_due;        /* the watched process is to be killed, which could not yet be done */
    _Atomic int alarm;   /* the watched process may have ended: the agent is to look */
    int looks; /* that may still be taken at the watched process, for the end of its threads (is_spent) */
    _Atomic uint32_t watched; /* 1 + watching, for the sentinel; 0: nobody yet */
    /* the order under way here: NONE once answered */
    enum ft_order_kind kind;
    uint32_t seq, flags;
    uint64_t arg;
    uint64_t waiting_for; /* number of the command whose end the order waits for */
    /* a failure under way */
    uint64_t noticed_ns; /* when this process first heard of it; 0: none */
    int restarting;      /* the job goes on from files, and RESUME is not yet carried out */
    int rolling;         /* a rollback was decided, RESUME not yet carried out */
    int late;            /* this replacement goes back alone (in the run, or behind FTRMA_Run): step of its way to its image */
    int become_rank;     /* a rank was assigned: main goes on with it as soon as it stands free */
    int free_main;       /* main may stand at a safepoint of a checkpoint that is forgotten: let it go on */
    int refusing;        /* the root has told all that FTRMA_Run runs nothing, and waits for their answers */
    int unprotected;
    uint32_t asked;      /* 1 + the generation in which a rollback was asked for */
    int replayed;        /* main was replaying when we looked last */
    int rebind_due;      /* it was told of a generation, and may have made no call since */
    uint32_t awaited;    /* 1 + the generation in which it was said that all wait for main's next call */
    int quiet_due;       /* main may still be inside an access to a process that is lost */
    struct ft_bitset lost, released; /* slots of the dead whose arenas are to be given back, and whose were (release.c) */
    int release_due;     /* main is to do that, and may have made no call since */
    uint32_t run_era;    /* of the run's messages, agreed */
    /* [nranks]: rank r is exposed unless its latest image was asked for in this generation or later (0: it is not). by_all:
     * whatever image it has; by_alone: if it has taken one alone. Until the next checkpoint (demand.c) */
    uint32_t *by_all, *by_alone;
    /* this rank has asked for an image that covers it: 1 + generation, committed version; for a checkpoint: generation */
    uint64_t cover_asked[2], all_asked;
    int cover_due; /* it will, as soon as all are live */
    int told_milestone;
    /* demand checkpoints: of a checksum process, of a rank; the image to be folded in, the command that does it */
    struct ft_demand_ch ch;
    struct ft_demand_owner owner;
    uint64_t fold_due, folding;
    enum ft_command fold_by; /* FOLD, or LIFT */
    int fold_rank;
    uint64_t untagged; /* version of the codeword that was the latest before the one that is */
    uint32_t orphaned; /* generation in which the last of this rank's checksum processes was lost */
    uint32_t given;    /* 1 + the generation in which the latest image was given up, for a coordinated one; 0: it is there */
    uint64_t room_for; /* what a checksum process's group had to protect, and room for it, when it was looked at last */
    int taking; /* main was told that an image is wanted, and has not answered */
    /* a snapshot (runtime/snapshot.c) */
    uint64_t wave;               /* under way here; 0: none */
    int wave_step;               /* of this process's part in it */
    int wave_taken, wave_said;   /* its image is whole; that it is to be called off was said */
    struct ft_snap *snap;        /* the machine; NULL: there are no snapshots */
    struct ft_snap_actions todo; /* what it wants, `done` of which are carried out */
    int done;
    struct ft_bitset heard[2];   /* ranks whose first, second marker is here and not yet handed to the machine */
    uint64_t due_again_ns;
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
    /* nothing moves any more (still.c). limit: seconds; from: [nranks], of the root; was: what main had done at the last look */
    struct {
        uint64_t next_ns, was[4];
        uint32_t naps, answered, *from;
        int64_t limit;
        enum { FT_STILL_MOVING = 0, FT_STILL_ASKED, FT_STILL_SAID, FT_STILL_ENDING } step;
    } still;
    /* deaths of each rank at one place, and where it died last (D7) */
    int *deaths;
    struct ft_place {
        uint64_t position, calls; /* as on the board */
    } * place;
};
extern struct ft_agent *ft_a;

/* agent.c */
uint64_t ft_agent_issue(struct ft_agent *a, enum ft_command c, uint64_t arg); /* a command to main; none may be outstanding */
int ft_agent_main_busy(const struct ft_agent *a);                             /* a command is outstanding */
enum ft_station ft_agent_standing(const struct ft_agent *a);                  /* where main stands; NONE while a command is outstanding */
int ft_agent_next_in_line(const struct ft_agent *a); /* a spare that will be called upon first */
void ft_agent_room(struct ft_agent *a);              /* FT_CMD_ROOM */
void ft_agent_attention(struct ft_agent *a, uint32_t what);
void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void ft_agent_order_event(struct ft_agent *a, struct ft_order_event *ev);
struct ft_agree_data ft_agent_local(struct ft_agent *a);

/* orders.c: carrying out orders */
void ft_orders_begin(struct ft_agent *a, const struct ft_order_action *act);
void ft_orders_poll(struct ft_agent *a); /* goes on with the order under way, as far as main has come */
void ft_orders_clock(struct ft_agent *a, uint64_t now);

void ft_orders_ready(struct ft_agent *a, struct ft_ready r); /* the order under way is carried out */
void ft_orders_release(struct ft_agent *a);                  /* main leaves the safepoint that it stands at */
int ft_orders_in_body(const struct ft_rt *rt);
int ft_orders_nobody_inside(void); /* no access to a window is under way that began before this was asked; 0: not known yet */
void ft_orders_ask_root(struct ft_agent *a, enum ft_mail_kind kind, enum ft_order_event_kind event, uint64_t number);

/* snapshot.c: the part of an order PROPOSE, TARGET that is a snapshot's */
void ft_snapshot_start(struct ft_agent *a);    /* the agent's start */
int ft_snapshot_propose(struct ft_agent *a);   /* 1: this process sees the wave from here on */
void ft_snapshot_poll(struct ft_agent *a);     /* main stands at the target, or has body behind it */
void ft_snapshot_mail(struct ft_agent *a, const struct ft_marker *m);
void ft_snapshot_end(struct ft_agent *a);      /* over, or called off */
void ft_snapshot_watch(struct ft_agent *a);    /* asks the root to call it off if main has asked for that */

/* demand.c */
void ft_demand_mail(struct ft_agent *a, int from, const struct ft_demand_msg *msg);
void ft_demand_poll(struct ft_agent *a);
/* Whatever checksum processes have tagged is seen from here on, also when they are lost. */
void ft_demand_look(struct ft_agent *a);
/* Main is about to be told to take a coordinated image: with `stream` it lies over the latest one. Until that is committed all
 * are exposed. */
void ft_demand_give_up_latest(struct ft_agent *a);
void ft_demand_freeze(struct ft_agent *a); /* a vote may be about to be sent: main begins no image from here on */
/* A coordinated image is to be taken, main stands: declines what was not begun. 0: something is still under way. */
int ft_demand_settled(struct ft_agent *a);
void ft_demand_void(struct ft_agent *a);   /* a rollback begins */
void ft_demand_forget(struct ft_agent *a); /* mains are parked: what was taken since the checkpoint counts no more */
/* A decision is being adopted, a->map is the new one, rt->slot_of the old one. rank: that this process carries since before, -1:
 * none. in_run: there is an image, and FTRMA_Run is not over. */
void ft_demand_generation(struct ft_agent *a, const struct ft_decision *d, int rank, int rollback, int in_run);

/* Ranks that are exposed since the image that they would go back to does not fit any more, or what was logged for it was lost
 * with another; or'ed into the set. */
void ft_demand_exposed(struct ft_agent *a, struct ft_bitset *exposed);
void ft_agent_covered(struct ft_agent *a); /* all are covered again: a commit, or a rollback */

/* save.c. ask: root, all have copied for the order under way: this version is to be saved, if it is due. go_back: the first checkpoint,
 * which is from files, is committed; gone_on: all have gone back to it */
void ft_save_ask(struct ft_agent *a);
void ft_save_go_back(struct ft_agent *a);
void ft_save_gone_on(struct ft_agent *a);
/* release.c: who is lost by this decision; then, when all is well again, their arenas are given back */
void ft_release_lost(struct ft_agent *a, const struct ft_decision *d);
void ft_release_poll(struct ft_agent *a);
/* still.c: who waits for whom when nothing moves any more */
void ft_still_start(struct ft_agent *a);
void ft_still_look(struct ft_agent *a, uint64_t now);

/* generation.c: adopting a decision */
void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d);

#endif
