/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.h - ftrun's command line. Most options are settings by another name: they are put into
 * the environment when they are read. So a setting means the same however it is given, and is
 * checked in one place.
 */
#ifndef FT_LAUNCH_OPTIONS_H
#define FT_LAUNCH_OPTIONS_H

#include <stdio.h>

#include "base/board.h"
#include "base/settings.h"

enum ft_ftrun_task {
    FT_TASK_RUN,
    FT_TASK_HELP,
    FT_TASK_SETTINGS,
    FT_TASK_REASONS,
    FT_TASK_VERSION,
    FT_TASK_FAILPOINTS
};

#define FT_HANDED_MOST 200

struct ft_options {
    enum ft_ftrun_task task;
    int nranks, nchecksums, parity, nspares, verbose, quiet;
    /* --save: the directory, and the interval in checkpoints; --restart: the directory; --restarts:
     * how often ftrun restarts by itself. NULL, 0: not given. */
    const char *save, *restart, *restarts_text;
    int64_t save_every;
    int restarts, mixed;
    const char *virtual_nodes_text; /* --virtual-nodes; NULL: not given */
    int virtual_nodes;              /* nodes of the job, virtual or hosts; 0: it is on one node */
    const char *rsh;                /* reaches other hosts; NULL: not given */
    int nhosts;                     /* --host names several; 0: they do not */
    const char *host[FT_NODES];
    int rehearse; /* deaths to rehearse; 0: an ordinary run */
    const char *report, *trace, *hosts, *hostfile, *host_args; /* NULL: not given */
    const char *handed[FT_HANDED_MOST];                        /* words for mpirun's command line */
    int nhanded;
    int host_decides; /* some of these may decide where processes run, */
    int places;       /* and some of them say so, as --map-by does */
    char **command;   /* argv of ftrun itself */
    char **program;   /* argv of the program, NULL-terminated; NULL: none */
};

/* Reads the command line, and checks all that can be checked without looking at the machine. On
 * FT_ERR_ARG err says which option is bad and what to do. Sets the environment variables of the
 * settings that were given as options. On success those that shape the job (checksums, parity,
 * spares, verbose, checkpoint) are all set. */
enum ft_status ft_options_parse(int argc, char **argv, struct ft_options *o, char *err, int errlen);

void ft_print_help(FILE *f);
void ft_print_settings(FILE *f);   /* print.c */
void ft_print_failpoints(FILE *f); /* print.c */
/* print.c: prints what the options ask for to standard output. 0 with errno: it could not be
 * written. */
int ft_print_task(enum ft_ftrun_task task);

#endif
