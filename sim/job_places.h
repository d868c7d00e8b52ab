/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_places.h - where in a job things happen: under which order, and in which state of the
 * carrier.
 */
#ifndef FT_SIM_JOB_PLACES_H
#define FT_SIM_JOB_PLACES_H

#include "sim.h"

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
/* p may do `act` with q, where `what` is to happen. */
void job_may_come(const struct sim *s, int p, int act, int q, enum job_what what,
                  struct sim_choices *out);
void job_draw_places(struct sim *s);
void job_draw_alone(struct sim *s); /* --demand, besides */
void job_happens(struct sim *s, int p, enum job_what what);
extern const struct sim_places job_places;

#endif
