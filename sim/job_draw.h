/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_draw.h - what the seed draws of a simulated job.
 */
#ifndef FT_SIM_JOB_DRAW_H
#define FT_SIM_JOB_DRAW_H

#include "sim.h"

void job_draw(struct sim *s); /* for free runs; timed ones have job_timed_start */
/* Sets groups and the configuration of processes, after the world was drawn. */
void job_configure(const struct sim *s);

#endif
