/* SPDX-License-Identifier: BSD-3-Clause
 *
 * save.h - checkpoints in files: ftrun writes them, and a job can go on from them.
 */
#ifndef FT_RUNTIME_SAVE_H
#define FT_RUNTIME_SAVE_H

#include "runtime/rt.h"

/* save.c: checkpoints that ftrun writes to files (F1 to F5). pinned: the version whose image must
 * not be overwritten while it is being written; 0: none. */
uint64_t ft_save_pinned(const struct ft_rt *rt);
void ft_save_await_held(struct ft_rt *rt); /* main, at FTRMA_Run's entry */
void ft_save_committed(struct ft_rt *rt,
                       uint64_t version); /* agent: this process has committed it */
/* restart.c: the job goes on from such files (F6 to F9). wanted: whether it does. load: main loads
 * the image in place of the copy for the first checkpoint. */
int ft_restart_wanted(const struct ft_rt *rt);
/* where this rank's heap began in the saved job; 0: nowhere in particular */
uint64_t ft_restart_heap(struct ft_rt *rt);
/* the home log of setup is needed although nobody is ever replaced: it is compared at a restart */
int ft_restart_compares(const struct ft_rt *rt);
struct ft_answer ft_restart_load(struct ft_rt *rt, uint64_t version);
/* What is compared besides calls and results. made: a communicator or window was made. sent: is
 * called at the end of setup, before a replay of setup is over. */
void ft_restart_note_made(struct ft_rt *rt);
void ft_restart_note_sent(struct ft_rt *rt);

#endif
