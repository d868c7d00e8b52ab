/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_main.h - the program that the mains of a simulated job run.
 */
#ifndef FT_SIM_JOB_MAIN_H
#define FT_SIM_JOB_MAIN_H

#include "model_job.h"

void job_main_moves(struct sim *s, int p, int how);
void job_main_obeys(struct sim *s, int p, int how);
void job_main_accesses(struct sim *s, int p, int rank); /* begins an access, or ends it */
void job_main_calls_off(struct sim *s, int p);
void job_main_arrives(struct sim *s, int p,
                      int how); /* it comes to the safepoint that it has reached */
int job_main_passes(const struct sim_main *m,
                    const struct sim_main *to); /* whether a put passes the gate */

#endif
