/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cost.h - what ftrma-sim shows beside single runs: tables.
 */
#ifndef FT_SIM_COST_H
#define FT_SIM_COST_H

#include "sim.h"

/* Which algorithms let gets overlap or cross, by every order of n processes with o->ops each.
 * Returns 0 when a row is not as the algorithm promises. */
int sim_table(const struct sim_options *o, uint64_t max_states);
/* What a model costs for 2 .. o->n processes, in messages and ticks. 0: a count is not the
 * formula's, which is said. */
int sim_cost(const struct sim_model *m, const struct sim_options *o);

#endif
