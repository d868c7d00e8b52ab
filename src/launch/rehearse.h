/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rehearse.h - ftrun --rehearse: runs a job twice without a death, then several times with one, at
 * a place that is drawn from what the first two have passed, and reports the differences.
 */
#ifndef FT_LAUNCH_REHEARSE_H
#define FT_LAUNCH_REHEARSE_H

#include "launch/trial.h"

#define FT_EXIT_REHEARSAL 76 /* the runs differed, or no death could be produced */

/* Returns ftrun's exit status. Progress and findings go to stdout. */
int ft_rehearse(const struct ft_options *o, ft_trial_job *job);

#endif
