/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay_agent.h - a record that a real process has made (runtime/record.h), run again: its events
 * are fed to a process of recover/process.h, whose actions must be those of the record.
 *
 * An action may come at an earlier event, never another one or none. What is compared, and what the
 * timing decides and so is left out, is the same as in `scripts/records.sh compare`.
 */
#ifndef FT_SIM_REPLAY_AGENT_H
#define FT_SIM_REPLAY_AGENT_H

#include <stddef.h>

/* Processes of the job that the file is a record from; 0: it is not readable as a record. */
int sim_agent_slots(const char *path);
/* Prints what differs. 0: nothing does; 1: something; 2: the record cannot be run. */
int sim_agent_replay(const char *path);

/* --- replay_compare.c: two lists of actions --- */

enum { SIM_RECORDED, SIM_AGAIN };
struct sim_said;
struct sim_compared {
    int n, cap;
    struct sim_said *said;
    struct { /* of each list */
        char hold[24];
        unsigned seq;
        int answers; /* first of the answers to the newest order, in said; -1: there is none */
    } list[2];
    int last;  /* the last event */
    int apart; /* they did different things at some event, or the record is not exact */
    const char *const *line; /* of the file: an action belongs to the event in line[event] */
};
/* text: a record's line of an action, after its letter and time. */
void sim_compared_add(struct sim_compared *c, int list, const char *text, int event);
int sim_compared_differences(struct sim_compared *c); /* prints and counts them; frees */

#endif
