/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_run.h - how the simulator is run: step by step, at random, or in every order; and
 * transcripts.
 */
#ifndef FT_SIM_RUN_H
#define FT_SIM_RUN_H

#include "sim.h"

void sim_init(struct sim *s, const struct sim_model *m, const struct sim_options *o);
void sim_finish(struct sim *s);

/* Timed: makes the next thing happen. Returns 0 if nothing is left, or something is wrong. */
int sim_step(struct sim *s);
int sim_step_until(struct sim *s, int (*done)(const struct sim *s)); /* 1: it is */
/* From now on, messages of `from` to `to` take `ticks` longer. */
void sim_delay(struct sim *s, int from, int to, uint64_t ticks);
/* Free: all choices except cuts. Returns how many of them have to happen at some time. */
int sim_choices(struct sim *s, struct sim_choices *out);
int sim_do(struct sim *s, const struct sim_choice *c); /* returns the number of sends in the step */
void sim_quiet(struct sim *s);                         /* runs the checkers for the end */
/* Runs to the end, free or timed. Returns 1 if nothing is wrong. */
int sim_random(struct sim *s, uint64_t max_steps);
/* places.c: prints what has happened where. Returns 1 if all has happened that must. */
int sim_print_places(const struct sim *s, FILE *out);

/* explore.c: tries every order. Returns 1 if nothing is wrong. If some run is wrong, s has the
 * history of one with the fewest steps of those that were tried. */
struct sim_explored {
    uint64_t states, quiet;
    int complete; /* 0: max_states was reached */
};
int sim_explore(struct sim *s, uint64_t max_states, struct sim_explored *out);

/* --- history.c --- */
/* Shortens a run that is wrong. s->history is what remains, and s is in the state after it. */
void sim_shrink(struct sim *s);
void sim_print_history(struct sim *s,
                       FILE *out); /* writes a transcript, and runs it once more for that */
/* Runs a transcript. Returns 1 with s in the state after it; 0 if it cannot be read, and prints
 * why. *expected: what was wrong by the transcript, or "". */
int sim_replay(struct sim *s, FILE *in, char *expected, size_t size);

#endif
