/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_main.h - the mutants of model demand, and its mains.
 */
#ifndef FT_SIM_DEMAND_MAIN_H
#define FT_SIM_DEMAND_MAIN_H

#include "model_demand.h"

enum demand_mutant {
    M_FLIPS_FIRST = 1, /* the owner is told before the codeword is tagged */
    M_NO_FREEZE,       /* a checksum process goes on between its vote and its adoption */
    M_LOST_MAIL,       /* COMMITTED is lost, without a failure */
    M_NO_LIFT,         /* a member overwrites an image that nobody else has */
    M_LATE_TAKE,       /* a member's main begins an image between its agent's vote and adoption */
    M_DROPS_OVER,      /* a new generation voids what lies over the latest image */
    M_OWN_TAGS, /* in a new generation, each checksum process goes by what it has tagged itself */
    M_TAKES_AGAIN, /* the next lead asks for any image, not only for one that was begun */
    M_THAWS,       /* nobody is frozen while a ballot is open */
    M_COPIES,      /* an order to copy does not wait for an image that is under way */
    M_WISHES,      /* an image is still wished in a rollback */
    M_TELLS_FIRST, /* in a new generation the lead tells ranks its tags before its helpers */
    M_UNSAID       /* a codeword is rebuilt before all members have named their images */
};

/* demand_main.c: a main, and what its process has published. */
void demand_publish(struct sim *s, int p, const struct ft_action *a);
int demand_lies_over(const struct sim *s, int p);
/* Fills in p's group for the checks. */
void demand_group(const struct sim *s, int p, struct sim_group *g);
void demand_copy_main(const struct sim *s, int p, struct ft_main *m);
int demand_obeys_at_once(struct demand_proc *me);
void demand_answers(struct demand_proc *me, uint64_t version);
uint64_t demand_alone(uint64_t n); /* the n-th image of a rank */
void demand_computes(struct sim *s, int p, int ok);
void demand_begins(struct sim *s, int p);
void demand_declines(struct demand_proc *me);
void demand_copies(struct sim *s, int p);

#endif
