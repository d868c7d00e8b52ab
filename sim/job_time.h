/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_time.h - jobs in virtual time: what happens by itself, and what is measured.
 */
#ifndef FT_SIM_JOB_TIME_H
#define FT_SIM_JOB_TIME_H

#include "model_job.h"

void job_arm(struct sim *s, int p); /* after a step of p */
void job_timed_start(struct sim *s);
void job_timed_crashed(struct sim *s, int p);
/* After a step of the root's machine; `was` is its state before. */
void job_measure(struct sim *s, const struct ft_order *was, const struct ft_order *is);

#endif
