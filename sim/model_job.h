/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.h - entire jobs: processes that run the machines of recover/process.h, and mains that
 * run a program from setup to MPI_Finalize (sim_main.h).
 */
#ifndef FT_SIM_MODEL_JOB_H
#define FT_SIM_MODEL_JOB_H

#include "base/board.h"
#include "sim_main.h"

#define JOB_MAX 9 /* processes, in free runs */
#define JOB_GENERATIONS (JOB_MAX + 2)
#define JOB_VERSIONS 64

struct job_proc {
    struct sim_main main;
    int32_t moving, obeying, parking, due,
        seeing;                /* timed: timers under way; seeing: 1 + of whom */
    int32_t asked;             /* for its vote, and has not answered yet */
    struct ft_bitset dead;     /* whose testaments that vote is to tell */
    struct ft_process process; /* and what follows it */
};
/* Timed: what was measured, in ticks and messages. A checkpoint: from PROPOSE until all have
 * flipped; a recovery: from the death until all go on. */
struct job_cost {
    uint64_t began, sent, under_way, n, ticks, messages; /* n of them, and their sums */
};
struct job_world {
    int32_t nranks, nchecksums, dues, refuses, no_run, lost, forgeries, local, diverges;
    int32_t every, parity; /* every: mains stop of themselves at each multiple of it, 0: at none */
    int32_t slow;          /* agents look at their mains a while after these have changed */
    int32_t accesses;      /* that mains may still begin, which last a while */
    int32_t node_slots;    /* processes on each node; 0: all are on one, which is not lost */
    uint32_t node_deaths;  /* bit k: the k-th death takes its node */
    int32_t alone;         /* just one checkpoint, between entry and exit */
    int32_t deaths, told;  /* told: the program handles losses (G5) */
    uint64_t nodes_lost;   /* likewise by node; of each who was on it then: */
    struct ft_bitset lost_with_node;
    int32_t alg, offs; /* enum ft_snap_alg; mains that may still find that they cannot go on before
                        * a snapshot is over */
    uint8_t at[16];    /* --everywhere: where each of enum job_what is to happen */
    int32_t stuck, ranks_die; /* --everywhere: mains that may still get stuck; nobody else dies, */
    uint64_t die_at;          /* ... and not before this safepoint */
    struct ft_bitset crashed;
    uint64_t length;                      /* safepoints of a body */
    uint64_t commits, cancels, rollbacks; /* by process; not part of the state: 0 in a search */
    uint64_t snapshots, offed;            /* committed, called off; likewise */
    uint64_t live; /* replacements that went back alone, and came to where the lost process was;
                      likewise */
    /* --demand: images that mains may still ask for, with `stream`; how many were flipped to */
    int32_t asks, stream;
    uint64_t taken_alone;
    struct ft_bitset failed[JOB_GENERATIONS];
    uint32_t superseded[JOB_GENERATIONS]; /* order ended by LATE */
    struct job_cost checkpoint, recovery;
    /* then, by rank: image[JOB_VERSIONS], the safepoint at its cut, and reached, the furthest that
     * others may have seen; by generation and process: adopted, a hash of the decision, 0: none,
     * and said, READY for this order; then the processes */
};
static inline struct job_world *job_world(const struct sim *s)
{
    return (struct job_world *)s->world;
}
size_t job_images_bytes(const struct sim_options *o);
static inline size_t job_proc_bytes(const struct sim_options *o)
{
    size_t n = (size_t)o->n;
    return (sizeof(struct job_proc) + n * (3 * sizeof(int32_t) + sizeof(struct ft_fate)) +
            (o->timed ? 0 : n * sizeof(struct ft_heir)) + (o->alg ? ft_snap_bytes(o->n) : 0) +
            job_images_bytes(o) + 15) &
           ~(size_t)7;
}
static inline uint64_t *job_image(const struct sim *s, int rank, uint64_t version)
{
    return (uint64_t *)(s->world + sizeof(struct job_world)) + (size_t)rank * JOB_VERSIONS +
           version;
}
static inline uint64_t *job_reached(const struct sim *s, int rank)
{
    return job_image(s, s->o.n, 0) + rank;
}
static inline uint64_t *job_adopted(const struct sim *s, uint32_t g, int p)
{
    return job_reached(s, s->o.n) + (size_t)g * (size_t)s->o.n + p;
}
static inline uint32_t *job_said(const struct sim *s, uint32_t g, int p)
{
    return (uint32_t *)job_adopted(s, JOB_GENERATIONS, 0) + (size_t)g * (size_t)s->o.n + p;
}
static inline size_t job_procs_at(int n)
{
    size_t m = (size_t)n;
    return (sizeof(struct job_world) + m * (JOB_VERSIONS + 1 + JOB_GENERATIONS) * 8 +
            m * JOB_GENERATIONS * 4 + 7) &
           ~(size_t)7;
}
static inline struct job_proc *job_proc(const struct sim *s, int p)
{
    return (struct job_proc *)(s->world + job_procs_at(s->o.n) + (size_t)p * job_proc_bytes(&s->o));
}
static inline struct ft_process *job_process(const struct sim *s, int p)
{
    return &job_proc(s, p)->process;
}
/* The other processes that were on q's node when that was lost, and q. */
static inline int job_node(const struct sim *s, int q)
{
    return job_world(s)->node_slots ? q / job_world(s)->node_slots : 0;
}
static inline int job_lost_with_node(const struct sim *s, int q)
{
    return ft_bit_get(&job_world(s)->lost_with_node, q);
}
/* Rank that p carries, as it believes; -1: none. */
static inline int job_rank(const struct sim *s, int p)
{
    int pos = job_process(s, p)->carrier.pos;
    return pos < job_world(s)->nranks ? pos : -1;
}

/* What can be broken: flags of the machine (carrier.h), or lies of the model. */
enum job_mutant {
    M_NO_ENDING = 1, /* orders go on while a ballot is open */
    M_FORGED,        /* a parent takes a child for ready that is not */
    M_LOST_COMMIT,   /* the order to commit never comes to the last process */
    M_TRIMMED,       /* logs are cut when an image is made, not when it is committed */
    M_EAGER_COMMIT,  /* an image counts as committed when it is staged */
    M_DUE_ONCE, /* who has asked for a checkpoint at a safepoint does not ask again after a rollback
                   in the same generation */
    M_EARLY_PROMISE, /* a replacement promises a safepoint before it is where the lost process was
                      */
    M_READY_TWICE,   /* an order is answered twice */
    M_VOTES_WHOLE,   /* a replacement without its image votes as if it had it */
    M_UNBUILT,       /* it says that it is ready to restore without its image */
    M_REJOINS_EARLY, /* a process says that it goes by the new carriers while main accesses an old
                        one */
    M_HOLDS,         /* a main that is held for nothing is not let go */
    M_KEEPS_HOLD,    /* what main was held for is not called off in a rollback */
    M_TOLD_EARLY,    /* the root leaves a refused run before all have heard of that */
    M_LEFT_UNKNOWN,  /* a replacement begins without what the lost process has left */
    M_OWN_WITNESS,   /* a plan is made of what each has read of the dead itself */
    M_SNAPSHOT_GOES_ON,
    M_UNGATED,
    M_TOUCHED,
    M_KEEPS_SNAPSHOT,
    M_EARLY_GATE,
    M_SILENT,
    M_SNAPSHOT_STAYS,
    M_UNTAKEN,       /* of snapshots: carrier.h */
    M_UNAWAITED,     /* the agent says that nobody is inside an access while somebody is */
    M_STALE_PROMISE, /* the agent looks at main before it has asked it to stop, not after */
    M_NO_NODE,       /* a vote does not say that somebody was lost with a node */
    M_NO_REPLAYING,  /* a replacement does not say that it is not live yet */
    M_HASTY,         /* who has heard that somebody of a lost node failed votes before it has heard
                        that the node is out */
    M_TOLD_FORGETS,  /* told recovery: who has not come to a safepoint since does not say so */
    M_TOLD_KEEPS,    /* a new rank does not restore its image */
    M_TOLD_REBUILDS, /* who lacks its image for good does not know */
    M_COPIES_OVER,   /* of images alone, from here on: carrier.h */
    M_WISHES_ON,
    M_THAWS,
    M_TELLS_FIRST,
    M_UNSAID,
    M_FOLDS_OVER,
    M_FOLDS_FROZEN,
    M_FORGETS_GIVEN,
    M_OLD_ROUND,
    M_HEARS_LATE,
    M_TAKES_EARLY, /* main takes an image alone while somebody repeats what a lost process did */
};

/* job_main.c: the program */
void job_main_moves(struct sim *s, int p, int how);
void job_main_obeys(struct sim *s, int p, int how);
void job_main_accesses(struct sim *s, int p, int rank); /* begins one, or ends it */
void job_main_calls_off(struct sim *s, int p);
void job_main_arrives(struct sim *s, int p, int how); /* at the safepoint that it has reached */
int job_main_passes(const struct sim_main *m, const struct sim_main *to); /* the gate, with a put */

/* job_time.c: what happens by itself in virtual time, and what is measured */
enum {
    JOB_SEES,
    JOB_OBEYS,
    JOB_MOVES,
    JOB_LOOKS,
    JOB_PARKS,
    JOB_ACCESSES,
    JOB_IS_DUE,
    JOB_TIME,
    JOB_IS_STUCK,
    JOB_FORGES,
    JOB_DIVERGES,
    JOB_DIES,
    JOB_HEARS_OUT,
    JOB_UNTOUCHED,
    JOB_CALLS_OFF,
    JOB_ASKS,
    JOB_BEGINS,
    JOB_COPIES,
    JOB_DECLINES,
    JOB_SEES_LIVE,
    JOB_SEES_GROUP,
};
void job_arm(struct sim *s, int p); /* after a step of p */
void job_timed_start(struct sim *s);
void job_timed_crashed(struct sim *s, int p);
void job_measure(struct sim *s, const struct ft_order *was,
                 const struct ft_order *is); /* a step of the root's machine */

/* Of the job under way. */
const struct ft_groups *job_groups(void);
const struct ft_process_cfg *job_cfg(void);

/* job_places.c: what happened to p, under which order and in which state of its carrier */
enum job_what {
    JOB_REFUSED_COPY,
    JOB_REFUSED_PARITY,
    JOB_REFUSED_REBUILD,
    JOB_CANNOT,   /* it stands at a safepoint where no image can be taken */
    JOB_FAILED,   /* it leaves a run that was refused */
    JOB_TOLD,     /* a replacement hears that with its role */
    JOB_DIVERGED, /* a replacement */
    JOB_FOUND,    /* a survivor finds out that one has diverged */
    JOB_STUCK,
    JOB_CALLED_OFF, /* it cannot go on before a snapshot is over */
    JOB_DIED,
    JOB_TAKEN,    /* an image alone was copied, */
    JOB_TAGGED,   /* ... is in a codeword, */
    JOB_FLIPPED,  /* ... is its rank's latest one */
    JOB_DECLINED, /* it takes none */
    JOB_WHATS
};
/* Whether it is to happen to p now: enum sim_idle; -1: not here. */
int job_when(const struct sim *s, int p, enum job_what what);
void job_draw_places(struct sim *s);
void job_draw_alone(struct sim *s); /* --demand, besides */
void job_happens(struct sim *s, int p, enum job_what what);
extern const struct sim_places job_places;

/* check_job.c: looked at where it happens. */
void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback);
void job_check_nodes(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback);
void job_note_said(struct sim *s, int p); /* what a step of p has answered, before it may die */
void job_check_orders(struct sim *s, int p, uint32_t generation, uint32_t seq); /* a step of p */
void job_check_copies(struct sim *s, int p, const struct ft_command_arg *a); /* main is about to */
void job_check_image(struct sim *s, int p, const struct ft_command_arg *a);  /* of a snapshot */
void job_check_access(struct sim *s, int p, int q);                          /* p begins one to q */
/* heirs: as p's process knows them */
const struct ft_heir *job_heirs(const struct sim *s, int p);
void job_note_vote(struct sim *s, int p);
void job_check_told(struct sim *s, int p, const struct ft_command_arg *a);
void job_note_told(struct sim *s, int p, uint32_t generation);
void job_check_restores(struct sim *s, int p, const struct ft_command_arg *a);
void job_check_fails(struct sim *s, int p);
void job_check_left(struct sim *s, int p);
/* 1: what a rebuild needs is there; 0: some of it has gone, and its loss will come to be known. */
int job_check_sources(struct sim *s, int p, uint64_t version);
void job_check_publishes(struct sim *s, int p, const struct ft_action *a);
extern const struct sim_checker sim_check_job;

#endif
