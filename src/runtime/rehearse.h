/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rehearse.h - what a rank records for ftrun --rehearse, on main. Does nothing in other runs.
 */
#ifndef FT_RUNTIME_REHEARSE_H
#define FT_RUNTIME_REHEARSE_H

#include "runtime/rt.h"

void ft_rehearse_init(struct ft_rt *rt); /* before failpoints are armed */
void ft_rehearse_body_begins(struct ft_rt *rt);
void ft_rehearse_stopped(struct ft_rt *rt); /* for a checkpoint, at a safepoint */
void ft_rehearse_body_ends(struct ft_rt *rt);
/* with checkpoints: all stand still for the exit checkpoint */
void ft_rehearse_run_over(struct ft_rt *rt);
void ft_rehearse_finalize(struct ft_rt *rt);

#endif
