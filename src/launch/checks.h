/* SPDX-License-Identifier: BSD-3-Clause
 *
 * checks.h - what ftrun checks before it starts anything: names of settings, room for arenas, and
 * how the job lies on the machine. Each says by `say` what is wrong.
 */
#ifndef FT_LAUNCH_CHECKS_H
#define FT_LAUNCH_CHECKS_H

#include "launch/options.h"
#include "topology/layout.h"

typedef void ft_check_say(const char *line);

/* Warns of settings in the environment that do not exist. */
void ft_check_names(ft_check_say *say);
/* 0: the job cannot be started. ft_check_room looks at this machine, for the processes that it will
 * have. */
int ft_check_room(int nprocs, ft_check_say *say);
int ft_check_space(int nprocs, ft_check_say *say);
/* Also makes the layout, as far as it is known before there are processes; *placed: it is. */
int ft_check_layout(const struct ft_options *o, struct ft_job_layout *l, int *placed,
                    ft_check_say *say);

#endif
