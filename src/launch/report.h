/* SPDX-License-Identifier: BSD-3-Clause
 *
 * report.h - what happened, for --report and --trace: events drained from the board while the job
 * runs, and what is made of them.
 *
 * Times in the report are microseconds: *when_us* since the start of the job, everything else
 * durations.
 */
#ifndef FT_LAUNCH_REPORT_H
#define FT_LAUNCH_REPORT_H

#include <stdio.h>

#include "base/board.h"
#include "launch/watch.h"

/* Routine events kept at the most, and as many others (64 MiB each); later ones are counted as
 * lost. */
#define FT_REPORT_EVENTS (1u << 20)

/* Counted up when a key of the report gets another meaning, or goes. New keys may come without it.
 */
#define FT_REPORT_SCHEMA 1

struct ft_report_event {
    int slot; /* nslots: ftrun itself */
    struct ft_event ev;
};

struct ft_report {
    struct ft_board *b;
    char **command;              /* ftrun's own, as typed; NULL: not known */
    int restarts;                /* of this job by ftrun itself, before the one that is reported */
    struct ft_event_place *next; /* per slot: the first events not yet read */
    struct ft_report_event *ev;
    size_t count, routine, room; /* routine: of count */
    uint64_t lost;
    void (*hear)(void *arg,
                 const struct ft_event *e); /* is given each event that is drained, if it is set */
    void *hear_arg;
};

enum ft_status ft_report_create(struct ft_board *b, struct ft_report **out);
void ft_report_destroy(struct ft_report *r);
/* Takes over all events that were recorded since. */
void ft_report_drain(struct ft_report *r);
/* An event of ftrun's own. */
void ft_report_add(struct ft_report *r, const struct ft_event *ev);
/* Sorts the events by time; call before writing. */
void ft_report_sort(struct ft_report *r);
/* Whether some process has acted as entry number n of FTRMA_INJECT says. */
int ft_report_injected(const struct ft_board *b, int entry);
const char *ft_signal_name(int sig); /* "SIGSEGV"; until the next call */
void ft_report_write(const struct ft_report *r, const struct ft_verdict *v, FILE *f);
void ft_report_write_trace(const struct ft_report *r, FILE *f);

/* The signal that ended a process, with FT_CORE_DUMPED; 0: not known. The kernel does not say it of
 * one that was reaped at once, but --inject kills by SIGKILL alone. */
int ft_report_death(const struct ft_board_slot *s);

#endif
