/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_job.h - whole jobs: agreement, assignment (src/recover/plan.h) and orders (src/proto/order.h), with a model of the
 * runtime that carries orders out after a while, and programs from setup to MPI_Finalize.
 */
#ifndef FT_SIM_MODEL_JOB_H
#define FT_SIM_MODEL_JOB_H

#include "base/board.h"
#include "proto/agree.h"
#include "proto/order.h"
#include "recover/plan.h"
#include "sim.h"

#define JOB_MAX 9 /* processes, in free runs */
#define JOB_GENERATIONS (JOB_MAX + 2)
#define JOB_VERSIONS 64

enum job_place { JOB_NOWHERE, JOB_SETUP, JOB_ENTRY, JOB_BODY, JOB_HELD, JOB_OVER, JOB_POST, JOB_FINAL, JOB_LEFT };

struct job_proc {
    struct ft_agree agree;
    struct ft_order order;
    uint32_t generation;
    int32_t rank; /* -1: checksum process or spare */
    int32_t place;
    uint64_t sp, hold; /* safepoints passed; where to stop, 0: nowhere */
    int32_t parked, incomplete, rollback, run_over, unprotected, done, entry_failed, was_stuck;
    uint64_t copied, staged, flipped;
    uint64_t oldest;                       /* version that its logs, which die with it, reach back to */
    struct ft_order_action todo;           /* order handed out and not yet carried out; order NONE: none */
    int32_t replaying;                     /* 1: goes back alone, and is not yet where the lost process was */
    uint64_t restored_at;                  /* safepoint of the image that it went back to */
    uint64_t due_said;                     /* every: safepoint at which it asked for a checkpoint */
    uint32_t asked;                        /* 1 + generation in which it asked for a rollback */
    int32_t moving, carrying, due, seeing; /* timed: timers under way; seeing: 1 + of whom */
    int32_t map[]; /* who carries what, as it believes (struct ft_mapping): pos_of, slot_of, incarnation, n each */
};
/* Timed: what was measured, in ticks and messages. A checkpoint: from PROPOSE until all have flipped; a recovery: from the death
 * until all go on. */
struct job_cost {
    uint64_t began, sent, under_way, n, ticks, messages; /* n of them, and their sums */
};
struct job_world {
    int32_t nranks, nchecksums, dues, refuses, no_run, lost, forgeries, local, diverges;
    int32_t every, parity; /* every: mains stop of themselves at each multiple of it, 0: at none */
    struct ft_bitset crashed;
    uint64_t length;                      /* safepoints of a body */
    uint64_t commits, cancels, rollbacks; /* by process; not part of the state: 0 in a search */
    uint64_t live; /* replacements that went back alone, and came to where the lost process was; likewise */
    struct ft_bitset failed[JOB_GENERATIONS];
    uint32_t superseded[JOB_GENERATIONS]; /* order ended by LATE */
    struct job_cost checkpoint, recovery;
    /* then, by rank: image[JOB_VERSIONS], the safepoint at its cut, and reached, the furthest that others may have seen; by
     * generation and process: adopted, a hash of the decision, 0: none, and said, READY for this order; then the processes */
};
static inline struct job_world *job_world(const struct sim *s) { return (struct job_world *)s->world; }
static inline size_t job_proc_bytes(int n)
{
    return (sizeof(struct job_proc) + 3 * (size_t)n * sizeof(int32_t) + 7) & ~(size_t)7;
}
static inline uint64_t *job_image(const struct sim *s, int rank, uint64_t version)
{
    return (uint64_t *)(s->world + sizeof(struct job_world)) + (size_t)rank * JOB_VERSIONS + version;
}
static inline uint64_t *job_reached(const struct sim *s, int rank) { return job_image(s, s->o.n, 0) + rank; }
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
    return (sizeof(struct job_world) + m * (JOB_VERSIONS + 1 + JOB_GENERATIONS) * 8 + m * JOB_GENERATIONS * 4 + 7) & ~(size_t)7;
}
static inline struct job_proc *job_proc(const struct sim *s, int p)
{
    return (struct job_proc *)(s->world + job_procs_at(s->o.n) + (size_t)p * job_proc_bytes(s->o.n));
}

/* job_time.c: what happens by itself in virtual time, and what is measured */
enum { JOB_SEES, JOB_CARRIES_OUT, JOB_MOVES, JOB_IS_DUE, JOB_IS_LATE, JOB_FORGES, JOB_DIVERGES, JOB_DIES, JOB_ASKS };
int job_can_move(const struct job_proc *me);
int job_can_carry_out(const struct job_proc *me);
void job_arm(struct sim *s, int p); /* after a step of p */
void job_timed_start(struct sim *s);
void job_timed_crashed(struct sim *s, int p);
void job_measure(struct sim *s, const struct ft_order *was, const struct ft_order *is); /* a step of the root's machine */

/* check_job.c: looked at where it happens. */
void job_check_decision(struct sim *s, int p, const struct ft_decision *d);
void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int rollback);
void job_check_order(struct sim *s, int p, const struct ft_order_action *a); /* handed out */
void job_check_carried_out(struct sim *s, int p);                            /* is about to be */
extern const struct sim_checker sim_check_job;

#endif
