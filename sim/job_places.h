/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_places.h - where in a job things happen. A place is an order, or a state of the carrier.
 */
#ifndef FT_SIM_JOB_PLACES_H
#define FT_SIM_JOB_PLACES_H

#include "sim.h"

enum job_what {
    JOB_REFUSED_COPY,
    JOB_REFUSED_PARITY,
    JOB_REFUSED_REBUILD,
    JOB_CANNOT,   /* main stands at a safepoint where no image can be taken */
    JOB_FAILED,   /* main leaves a run that was refused */
    JOB_TOLD,     /* a replacement hears with its role that the run was refused */
    JOB_DIVERGED, /* a replacement diverges */
    JOB_FOUND,    /* a survivor finds out that a replacement has diverged */
    JOB_STUCK,
    JOB_CALLED_OFF, /* main cannot go on before a snapshot is over */
    JOB_DIED,
    JOB_TAKEN,    /* an image taken alone was copied */
    JOB_TAGGED,   /* it is in a codeword */
    JOB_FLIPPED,  /* it is the latest image of its rank */
    JOB_DECLINED, /* the rank declines to take one */
    JOB_WHATS
};
/* Whether it is to happen to p now, as enum sim_idle; -1: not here. */
int job_when(const struct sim *s, int p, enum job_what what);
/* Adds the choice that p does `act` with q, if `what` is to happen there. */
void job_may_come(const struct sim *s, int p, int act, int q, enum job_what what,
                  struct sim_choices *out);
void job_draw_places(struct sim *s);
void job_draw_alone(struct sim *s); /* draws what --demand needs besides */
void job_happens(struct sim *s, int p, enum job_what what);
extern const struct sim_places job_places;

#endif
