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

#define JOB_MAX 9
#define JOB_GENERATIONS (JOB_MAX + 2)
#define JOB_VERSIONS 64

enum job_place { JOB_NOWHERE, JOB_SETUP, JOB_ENTRY, JOB_BODY, JOB_HELD, JOB_OVER, JOB_POST, JOB_FINAL, JOB_LEFT };

struct job_proc {
    struct ft_agree agree;
    struct ft_order order;
    int32_t pos_of[JOB_MAX], slot_of[JOB_MAX]; /* who carries what, as it believes (struct ft_mapping) */
    uint32_t incarnation[JOB_MAX], generation;
    int32_t rank; /* -1: checksum process or spare */
    int32_t place;
    uint64_t sp, hold; /* safepoints passed; where to stop, 0: nowhere */
    int32_t parked, incomplete, rollback, run_over, unprotected, done, entry_failed, was_stuck;
    uint64_t copied, staged, flipped;
    uint64_t oldest;             /* version that its logs, which die with it, reach back to */
    struct ft_order_action todo; /* order handed out and not yet carried out; order NONE: none */
};
struct job_world {
    int32_t nranks, nchecksums, dues, refuses, no_run, lost, forgeries;
    uint32_t crashed;
    uint64_t length;                       /* safepoints of a body */
    uint64_t commits, cancels, rollbacks;  /* by process; not part of the state: 0 in a search */
    uint64_t image[JOB_MAX][JOB_VERSIONS]; /* by rank: safepoint at its cut */
    struct ft_bitset failed[JOB_GENERATIONS];
    uint64_t adopted[JOB_GENERATIONS][JOB_MAX];                           /* hash of the decision, 0: none */
    uint32_t said[JOB_GENERATIONS][JOB_MAX], superseded[JOB_GENERATIONS]; /* READY said for order; order ended by LATE */
    struct job_proc p[JOB_MAX];
};
static inline struct job_world *job_world(const struct sim *s) { return (struct job_world *)s->world; }

/* check_job.c: looked at where it happens. */
void job_check_decision(struct sim *s, int p, const struct ft_decision *d);
void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int rollback);
void job_check_order(struct sim *s, int p, const struct ft_order_action *a); /* handed out */
void job_check_carried_out(struct sim *s, int p);                            /* is about to be */
extern const struct sim_checker sim_check_job;

#endif
