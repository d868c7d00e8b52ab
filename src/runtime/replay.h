/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay.h - local recovery, on main (replay.c).
 */
#ifndef FT_RUNTIME_REPLAY_H
#define FT_RUNTIME_REPLAY_H

#include "image/image.h"
#include "runtime/rt.h"

void ft_rt_replay_init(void);
void ft_rt_replay_setup(struct ft_rt *rt);
/* main calls it at each door and in each wait while it replays */
void ft_rt_replay_step(struct ft_rt *rt);
void ft_rt_replay_idle(struct ft_rt *rt); /* the agent calls it while main makes no calls */
void ft_rt_replay_restored(struct ft_rt *rt, const struct ft_image *im, const char *engine,
                           int same_era);
void ft_rt_replay_rolled_back(struct ft_rt *rt, const struct ft_image *im, const char *engine);
void ft_rt_replay_told(struct ft_rt *rt); /* in a told recovery nothing is repeated */
void ft_rt_replay_at_safepoint(struct ft_rt *rt);
/* Waits until it is live, unless it has to restore an image first. */
void ft_rt_replay_finish(struct ft_rt *rt);
void ft_rt_replay_drop(struct ft_rt *rt);

#endif
