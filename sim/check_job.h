/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_job.h - what must hold in a job. The models call these where it happens.
 */
#ifndef FT_SIM_CHECK_JOB_H
#define FT_SIM_CHECK_JOB_H

#include "model_job.h"

void job_check_adopted(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback);
void job_check_nodes(struct sim *s, int p, const struct ft_decision *d, int lost, int rollback);
void job_note_said(struct sim *s,
                   int p); /* notes what a step of p has answered, before p may die */
void job_check_orders(struct sim *s, int p, uint32_t generation,
                      uint32_t seq); /* after a step of p */
void job_check_copies(struct sim *s, int p,
                      const struct ft_command_arg *a); /* main is about to copy */
void job_check_image(
    struct sim *s, int p,
    const struct ft_command_arg *a);                /* p is about to take its image in a snapshot */
void job_check_access(struct sim *s, int p, int q); /* p begins an access to q */
/* heirs: what p's process knows of them */
const struct ft_heir *job_heirs(const struct sim *s, int p);
void job_note_vote(struct sim *s, int p);
void job_check_told(struct sim *s, int p, const struct ft_command_arg *a);
void job_note_told(struct sim *s, int p, uint32_t generation);
void job_check_restores(struct sim *s, int p, const struct ft_command_arg *a);
void job_check_fails(struct sim *s, int p);
void job_check_left(struct sim *s, int p);
void job_check_log(struct sim *s, int p, int home);
/* Returns 1 if what a rebuild needs is there; 0 if some of it is lost, which will be known soon. */
int job_check_sources(struct sim *s, int p, uint64_t version);
void job_check_publishes(struct sim *s, int p, const struct ft_action *a);
extern const struct sim_checker sim_check_job;

#endif
