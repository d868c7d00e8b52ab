/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timeline.h - what ftrma-timeline draws from a trace of ftrun: rows (processes), with spans and
 * marks on them.
 */
#ifndef FT_TOOLS_TIMELINE_H
#define FT_TOOLS_TIMELINE_H

#include <stddef.h>
#include <stdio.h>

/* How a span is drawn. */
enum lane {
    LANE_BAND,  /* across all rows: concerns all processes */
    LANE_ROLE,  /* what a process is; under all else */
    LANE_SLEEP, /* the same of a spare: a thin line */
    LANE_BAR,   /* what it does */
    LANE_STATE, /* what holds meanwhile: a thin line under the bars */
};

struct kind {
    const char *name; /* name of the events in the trace */
    enum lane lane;
    const char *colour, *pattern; /* pattern: a path on a square of 8 by 8, drawn in white */
    const char *legend, *label;   /* label: inside of a wide enough bar */
};
enum { KIND_WORKS, KIND_SLEEPS, KINDS = 17 };
extern const struct kind kinds[KINDS];

struct span {
    int row, kind;
    double begin, end; /* ms since the start of the job */
    const char *what;
};

enum mark_kind { MARK_LOST, MARK_TAKES, MARK_LIVE, MARK_KINDS };
extern const struct mark_info {
    const char *shape, *legend; /* shape: SVG around 0,0 */
} mark_info[MARK_KINDS];

struct mark {
    int row;
    enum mark_kind kind;
    double at;
    char label[40];
    const char *what;
};

struct row {
    char name[40], before[100]; /* "rank 2"; "slot 5 on node1, was spare 0" */
};

struct loss {
    int row;
    double from, to; /* of the loss and its recovery */
    const char *what;
};

struct timeline {
    struct row *row;
    struct span *span; /* by row, then by begin */
    struct mark *mark; /* by row, then by time */
    struct loss *loss; /* by time */
    int rows;
    size_t spans, marks, losses;
    double begin, end; /* what is shown */
};

/* Reads a trace; ends the program with status 2 if the file is none. The timeline is used as long
 * as the program runs. */
void timeline_read(struct timeline *t, const char *path);
void timeline_svg(const struct timeline *t, FILE *f);
void timeline_page(const struct timeline *t, const char *name, FILE *f);

void timeline_patterns(FILE *f);            /* <defs> of the kinds' fills: url(#k0) and so on */
void timeline_text(const char *s, FILE *f); /* escaped for XML */
_Noreturn void timeline_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *timeline_grow(void *p, size_t bytes);

#endif
