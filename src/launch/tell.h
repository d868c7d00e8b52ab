/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tell.h - what ftrun says of events: a line for each with -v, in the order of their times, and a
 * line for each loss.
 *
 * Processes record events on the board independently of each other. ft_tell_horizon says up to what
 * time all events are there.
 */
#ifndef FT_LAUNCH_TELL_H
#define FT_LAUNCH_TELL_H

#include "base/board.h"

struct ft_tell;

/* The losses of the runs of a job that are over (--restarts); zero before the first. */
struct ft_tell_sum {
    int runs, losses;
    int outcome[8]; /* by what became of them */
};

/* verbose: 0 tells losses alone, 1 also the events that tell, 2 all. quiet: losses are not told.
 * say: a line without a newline. sum: ft_tell_end adds this run to it. */
enum ft_status ft_tell_create(struct ft_board *b, int verbose, int quiet,
                              void (*say)(void *arg, const char *line), void *arg,
                              struct ft_tell_sum *sum, struct ft_tell **out);
void ft_tell_destroy(struct ft_tell *t);
/* Events that are recorded after this call have later times. Call it before the events are read. */
uint64_t ft_tell_horizon(struct ft_tell *t, uint64_t now_ns);
/* An event of the board, in any order. */
void ft_tell_hear(struct ft_tell *t, const struct ft_event *e);
/* Tells what was heard up to this time. */
void ft_tell_step(struct ft_tell *t, uint64_t horizon_ns);
/* After the last event: tells all that was heard, the losses that were not recovered, and the sum
 * of all runs if this one was not lost. over_ns: when the launcher knew that the job was over; a
 * death after that is no loss. */
void ft_tell_end(struct ft_tell *t, uint64_t over_ns, int job_lost);
/* Whether a line has named (or will name) what this slot's process died of. */
int ft_tell_names(const struct ft_tell *t, int slot);

#endif
