/* SPDX-License-Identifier: BSD-3-Clause
 *
 * survival.h - what a job on several nodes would not survive: said before it starts, with the
 * options that would change it.
 */
#ifndef FT_LAUNCH_SURVIVAL_H
#define FT_LAUNCH_SURVIVAL_H

#include "launch/options.h"
#include "topology/node_spread.h"

/* The numbers of the job, for its nodes. */
struct ft_spread_ask ft_survival_spread(const struct ft_options *o);
/* Whether a program calls FTRMA_Run. NOT: it calls MPI_Init itself, and FTRMA_Run at most in a
 * library of its own. PLAIN: it calls FTT_Open and not MPI_Init. UNKNOWN: its calls are elsewhere,
 * or it cannot be read. */
enum ft_survival_run { FT_RUN_NOT, FT_RUN_CALLED, FT_RUN_PLAIN, FT_RUN_UNKNOWN };
enum ft_survival_run ft_survival_run(const char *path);
/* One line, without its end. 0: the loss of any one node is survived. */
int ft_survival_line(const struct ft_spread_ask *a, enum ft_survival_run run, char *line,
                     size_t size);
/* Says the line; with -v also that all is survived. Nothing for a job on one node. */
void ft_survival_say(const struct ft_options *o, const char *path, void (*say)(const char *line));

#endif
