/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the agent's own state, and what its files share.
 */
#ifndef FT_RUNTIME_AGENT_H
#define FT_RUNTIME_AGENT_H

#include "proto/snapshot.h"
#include "recover/process.h"
#include "runtime/ckpt.h"
#include "runtime/latest.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "runtime/sentinel.h"

_Static_assert(sizeof(struct ft_mail) <= FT_MAIL_BYTES, "a mail holds any message");

#define FT_NOWHERE FT_PLACES /* main is under way, or under a command */

struct ft_agent {
    struct ft_rt *rt;
    int record;              /* the descriptor of record.h's file; -1: there is none */
    ptrdiff_t engine;        /* of its thread */
    struct ft_main main;     /* what it has said last */
    struct ft_main recorded; /* of that what the record has */
    uint64_t told_moves;     /* its moves, when the order machine was told of its milestone */
    uint32_t asks;           /* what it has asked for, and not yet got */
    uint64_t let_go; /* the safepoint that it was last told to leave: it is promised no more */
    uint64_t
        restored_at; /* the one that its restored image stands at: it is not held there again */
    struct ft_agree agree;
    struct ft_detect detect;
    struct ft_order order;
    struct ft_mapping map;
    int parent;              /* the process that started this one */
    uint64_t launcher_start; /* ftrun's start time; 0: it is not watched */
    uint64_t orphan_ns;      /* when who started us is to be looked at next */
    struct ft_sentinel watch;
    int mails_wait; /* for their receivers to take others */
    /* the order under way here: NONE once answered */
    enum ft_order_kind kind;
    uint32_t seq, flags;
    uint64_t arg;
    uint64_t waiting_for;    /* number of the command whose answer the order waits for */
    struct ft_answer result; /* of that, or the one before */
    /* a failure under way */
    uint64_t noticed_ns; /* when this process first heard of it; 0: none */
    int restarting;      /* the job goes on from files, and RESUME is not yet carried out */
    int rolling;         /* a rollback was decided, RESUME not yet carried out */
    int late; /* this replacement goes back alone (in the run, or after FTRMA_Run): step of its way
                 to its image */
    int become_rank; /* a rank was assigned: main goes on with it as soon as it stands free */
    int free_main; /* main may stand at a safepoint of a checkpoint that is forgotten: let it go on
                    */
    int refusing;  /* the root has told all that FTRMA_Run runs nothing, and waits for their answers
                    */
    int unprotected;  /* FTRMA_Run is left without the exit's checkpoint */
    int run_over;     /* the exit's checkpoint is committed */
    int finished;     /* MPI_Finalize may be left */
    int incomplete;   /* carries a position whose image or codeword is not yet here */
    int no_replay;    /* body was entered with neither checkpoint nor logs */
    uint32_t refused; /* FTRMA_Run runs nothing: why its first checkpoint was called off */
    uint32_t asked;   /* 1 + the generation in which a rollback was asked for */
    int replayed;     /* main was replaying when we looked last */
    int rebind_due;   /* it was told of a generation, and may have made no call since */
    uint32_t
        awaited;   /* 1 + the generation in which it was said that all wait for main's next call */
    int quiet_due; /* main may still be inside an access to a process that is lost */
    struct ft_bitset lost, released; /* slots of the dead whose arenas are to be given back, and
                                        whose were (release.c) */
    int release_due;                 /* main is to do that, and may have made no call since */
    uint32_t run_era;                /* of the run's messages, agreed */
    struct ft_exposure exposure;     /* by decisions alone; the plan keeps it */
    /* this rank has asked for an image that covers it: 1 + generation, committed version; for a
     * checkpoint: generation */
    uint64_t cover_asked[2], all_asked;
    int cover_due; /* it will, as soon as all are live */
    /* demand checkpoints: of a checksum process, of a rank; the image to be folded in, the command
     * that does it */
    struct ft_demand_ch ch;
    struct ft_demand_owner owner;
    uint64_t fold_due, folding;
    struct ft_answer fold_result; /* of the last LIFT or FOLD */
    enum ft_command fold_by;      /* FOLD, or LIFT */
    int fold_rank;
    uint64_t untagged; /* version of the codeword that was the latest before the one that is */
    uint32_t orphaned; /* generation in which the last of this rank's checksum processes was lost */
    uint32_t given; /* 1 + the generation in which the latest image was given up, for a coordinated
                       one; 0: it is there */
    uint64_t room_for; /* what a checksum process's group had to protect, and room for it, when it
                          was looked at last */
    int taking;        /* main was told that an image is wanted, and has not answered */
    /* a snapshot (runtime/snapshot.c) */
    uint64_t snapshot; /* under way here; 0: none */
    int snapshot_step; /* of this process's part in it */
    int snapshot_taken,
        snapshot_said;           /* its image is whole; that it is to be called off was said */
    struct ft_snap *snap;        /* the machine; NULL: there are no snapshots */
    struct ft_snap_actions todo; /* what it wants, `done` of which are carried out */
    int done;
    struct ft_bitset
        heard[2]; /* ranks whose first, second marker is here and not yet handed to the machine */
    uint64_t due_again_ns;
    uint64_t due_said; /* the safepoint that main stands at and that was told of; it may have left
                          one and be at the next unseen */
    /* clocks of the root */
    uint64_t next_due_ns, target_since_ns, cut_ns, last_commit_ns;
    double cost_s; /* of the last checkpoint, known to all: any of them may be the next root */
    uint64_t safepoints_at_commit;
    /* is main stuck? */
    uint64_t tick_ns, stuck_progress;
    int stuck_ticks;
    int64_t limit_ms; /* of silence */
    uint64_t ping_ns; /* next tick of the detector */
    /* nothing moves any more (still.c). limit: seconds; from: [nranks], of the root; was: what main
     * had done at the last look */
    struct {
        uint64_t next_ns, was[4];
        uint32_t naps, answered, *from;
        int64_t limit;
        enum { FT_STILL_MOVING = 0, FT_STILL_ASKED, FT_STILL_SAID, FT_STILL_ENDING } step;
    } still;
};
extern FT_STATE(struct ft_agent *, ft_a);
#define ft_a FT_MY(ft_a)

/* agent.c */
void ft_agent_look(struct ft_agent *a); /* copies what main says of itself */
void ft_agent_forget_asks(struct ft_agent *a, uint32_t what);
void ft_agent_hold(struct ft_agent *a, uint64_t hold); /* and looks at main */
/* A command to main, which stands where it takes it; none may be outstanding. */
uint64_t ft_agent_issue(struct ft_agent *a, enum ft_command c, struct ft_command_arg arg);
int ft_agent_takes(const struct ft_agent *a, enum ft_command c); /* main can be told that now */
enum ft_milestone ft_agent_milestone(const struct ft_agent *a);
void ft_agent_run_over(struct ft_agent *a); /* that is so from now on, and main is told */
void ft_agent_finished(struct ft_agent *a);
int ft_agent_main_busy(const struct ft_agent *a); /* a command is outstanding */
enum ft_place ft_agent_standing(
    const struct ft_agent *a); /* where main stands; NOWHERE while a command is outstanding */
int ft_agent_next_in_line(const struct ft_agent *a); /* a spare that will be called upon first */
void ft_agent_reserve(struct ft_agent *a);           /* FT_CMD_RESERVE */
void ft_agent_attention(struct ft_agent *a, uint32_t what);
void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void ft_agent_order_event(struct ft_agent *a, struct ft_order_event *ev);
/* What never changes in a process; also what the record begins with. */
void ft_agent_cfg(struct ft_agent *a, struct ft_process_cfg *cfg);

#endif
