/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tell.h - prints events: with -v a line for each, in the order of their times; without, a line for
 * each loss.
 *
 * Processes record events on the board independently of each other. ft_tell_horizon returns a time
 * up to which all events are there.
 */
#ifndef FT_LAUNCH_TELL_H
#define FT_LAUNCH_TELL_H

#include "base/board.h"

struct ft_tell;

/* The losses of a job's earlier runs (--restarts); zero before the first. */
struct ft_tell_sum {
    int runs, losses;
    int outcome[9]; /* by their outcomes */
};

/* verbose: 0 prints only losses, 1 also the events that tell, 2 all. quiet: losses are not printed.
 * say: prints a line; it gets no newline. sum: ft_tell_end adds this run to it. */
enum ft_status ft_tell_create(struct ft_board *b, int verbose, int quiet,
                              void (*say)(void *arg, const char *line), void *arg,
                              struct ft_tell_sum *sum, struct ft_tell **out);
void ft_tell_destroy(struct ft_tell *t);
/* Events that are recorded after this call have later times. To be called before the events are
 * read. */
uint64_t ft_tell_horizon(struct ft_tell *t, uint64_t now_ns);
/* Takes an event of the board, in any order. */
void ft_tell_hear(struct ft_tell *t, const struct ft_event *e);
/* Prints what was heard up to this time. */
void ft_tell_step(struct ft_tell *t, uint64_t horizon_ns);
/* To be called after the last event: prints all that was heard, the losses that were not recovered,
 * and, if this run was not lost, the sum of all runs. over_ns: when the launcher knew that the job
 * was over; a later death is no loss. */
void ft_tell_end(struct ft_tell *t, uint64_t over_ns, int job_lost);
/* Whether a line has named (or will name) the cause of death of this slot's process. */
int ft_tell_names(const struct ft_tell *t, int slot);

#endif
