/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sim_run.h - running the simulator: step by step, at random, in every order; and transcripts.
 */
#ifndef FT_SIM_RUN_H
#define FT_SIM_RUN_H

#include "sim.h"

void sim_init(struct sim *s, const struct sim_model *m, const struct sim_options *o);
void sim_finish(struct sim *s);

/* Timed: the next thing that happens; 0: nothing is left, or something is wrong. */
int sim_step(struct sim *s);
int sim_step_until(struct sim *s, int (*done)(const struct sim *s)); /* 1: it is */
/* What `from` sends to `to` takes so much longer from now on. */
void sim_delay(struct sim *s, int from, int to, uint64_t ticks);
/* Free: all but cuts. Returns how many of them must happen sometime. */
int sim_choices(struct sim *s, struct sim_choices *out);
int sim_do(struct sim *s, const struct sim_choice *c); /* returns the number of sends in the step */
void sim_quiet(struct sim *s);                         /* runs the checkers for the end */
/* Free or timed, to the end. 1: nothing is wrong. */
int sim_random(struct sim *s, uint64_t max_steps);
/* places.c: prints what happened where. 1: each has come where it must. */
int sim_print_places(const struct sim *s, FILE *out);

/* explore.c: every order. It stops at the first run that is wrong, whose history is in s then: of
 * those tried, one with the fewest steps. 1: nothing is wrong. */
struct sim_explored {
    uint64_t states, quiet;
    int complete; /* 0: max_states was reached */
};
int sim_explore(struct sim *s, uint64_t max_states, struct sim_explored *out);

/* --- history.c --- */
/* Shortens a run that is wrong. s->history is what is left, and the state is the one after it. */
void sim_shrink(struct sim *s);
void sim_print_history(struct sim *s, FILE *out); /* a transcript; runs it once more */
/* Runs a transcript. 1: s is as after it; 0: it cannot be read, which is said. *expected: what it
 * says was wrong, or "". */
int sim_replay(struct sim *s, FILE *in, char *expected, size_t size);

#endif
