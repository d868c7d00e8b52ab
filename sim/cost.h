/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cost.h - the tables that ftrma-sim prints.
 */
#ifndef FT_SIM_COST_H
#define FT_SIM_COST_H

#include "sim.h"

/* Prints which snapshot algorithms let gets overlap or cross the cut. Tries every order of n
 * processes with o->ops operations each. Returns 0 if a row is not as the algorithm promises. */
int sim_table(const struct sim_options *o, uint64_t max_states);
/* Prints what a model costs for 2 .. o->n processes, in messages and ticks. Returns 0 if a count is
 * not as by the formula, and prints that. */
int sim_cost(const struct sim_model *m, const struct sim_options *o);

#endif
