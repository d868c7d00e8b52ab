/* SPDX-License-Identifier: BSD-3-Clause
 *
 * report.h - what happened, for --report and --trace: events that are drained from the board while
 * the job runs, and the documents made from them.
 *
 * Times in the report are microseconds: *when_us* since the start of the job, everything else
 * durations.
 */
#ifndef FT_LAUNCH_REPORT_H
#define FT_LAUNCH_REPORT_H

#include <stdio.h>

#include "base/board.h"
#include "launch/watch.h"

/* The largest number of routine events that are kept, and of others (64 MiB each); later ones are
 * counted as lost. */
#define FT_REPORT_EVENTS (1u << 20)

/* Incremented when a key of the report changes its meaning or is removed. New keys may come without
 * that. */
#define FT_REPORT_SCHEMA 1

struct ft_report_event {
    int slot; /* nslots: ftrun itself */
    struct ft_event ev;
};

struct ft_report {
    struct ft_board *b;
    char **command;              /* ftrun's own, as typed; NULL: not known */
    const struct ft_board *on[FT_NODES]; /* boards of nodes, which have what was sent */
    int restarts;                /* of this job by ftrun itself, before the reported one */
    struct ft_event_place *next; /* by slot: the first events not read yet */
    struct ft_report_event *ev;
    size_t count, routine, room; /* routine: of count */
    uint64_t lost;
    void (*hear)(void *arg, const struct ft_event *e); /* gets each event that is drained, if set */
    void *hear_arg;
};

enum ft_status ft_report_create(struct ft_board *b, struct ft_report **out);
void ft_report_destroy(struct ft_report *r);
/* Takes all events that were recorded since the last call. */
void ft_report_drain(struct ft_report *r);
/* Adds an event of ftrun's own. */
void ft_report_add(struct ft_report *r, const struct ft_event *ev);
/* Sorts the events by time; call before writing. */
void ft_report_sort(struct ft_report *r);
/* Whether some process has carried out entry number n of FTRMA_INJECT. */
int ft_report_injected(const struct ft_board *b, int entry);
/* Whether a slot's process was lost with its node. Nobody has seen it die: *e is the event of that. */
int ft_report_lost_with_node(const struct ft_report *r, int slot, struct ft_event *e);
const char *ft_signal_name(int sig); /* "SIGSEGV"; until the next call */
void ft_report_write(const struct ft_report *r, const struct ft_verdict *v, FILE *f);
/* A line for each link between two nodes. */
void ft_report_write_links(const struct ft_report *r, FILE *f);
void ft_report_write_trace(const struct ft_report *r, FILE *f);

/* The signal that ended a process, with FT_CORE_DUMPED; 0: not known. The kernel does not tell it
 * for a process that was reaped at once, but --inject kills only by SIGKILL. */
int ft_report_death(const struct ft_board_slot *s);

#endif
