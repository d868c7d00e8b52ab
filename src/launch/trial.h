/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trial.h - one job of a rehearsal: a child of ftrun, with a directory for what it prints and
 * keeps, the same standard input as every other one, and a time limit. Its results are in memory
 * that it shares with its parent.
 *
 *   DIR/out.R, DIR/err.R   what rank R printed
 *   DIR/stdout             what came by mpirun instead
 *   DIR/words              stderr: ftrun's words, the library's, mpirun's
 *   DIR/memory.*, hits.*   base/kept.h
 */
#ifndef FT_LAUNCH_TRIAL_H
#define FT_LAUNCH_TRIAL_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "launch/options.h"
#include "launch/report.h"

struct ft_trial {
    int ended;              /* the child came to its end and has filled in what follows */
    int lost;               /* the job was lost */
    char message[1200];     /* ftrun's */
    int died;               /* a rank died at a failpoint that was injected; */
    int rank, milestone;    /* its number, and where it was: enum ft_milestone */
    uint64_t at;            /* and the number of its last safepoint */
    uint64_t safepoints;    /* of the rank with the fewest */
    uint64_t commits;       /* checkpoints committed */
    uint64_t called_off;    /* checkpoints called off */
    int why;                /* enum ft_skip_reason of the last of them */
    uint64_t live, resumed; /* local recoveries, rollbacks */
    uint64_t diverged;      /* replays */
};

struct ft_trials {
    char dir[PATH_MAX - 64]; /* of all */
    struct ft_trial *told;   /* shared */
    sigset_t caught;
    int signal_fd, spool_fd; /* spool: what was read of our stdin */
    int input;               /* there is more of it to read */
};

/* Runs the job in the child: its output goes to dir, its results to its parent. Returns ftrun's
 * exit status. */
typedef int ft_trial_job(const struct ft_options *o, struct ft_trial *told, const char *dir);

/* Makes the directory and takes over signals. 0 with errno: it failed. */
int ft_trials_begin(struct ft_trials *t);
/* Kills what is left, and removes the directory. */
void ft_trials_end(struct ft_trials *t);
/* Runs one job with dir (below t->dir; made here) and waits for it. Returns its exit status; -1: it
 * was ended at limit_ns (0: no limit; pauses by SIGTSTP do not count); -2: it could not be started
 * (errno); -3 - N: signal N to ftrun ended it. */
int ft_trial_run(struct ft_trials *t, const struct ft_options *o, const char *dir,
                 uint64_t limit_ns, ft_trial_job *job);
/* In the child, at its end: fills in `told` from the board and the drained report. */
void ft_trial_tell(struct ft_trial *told, struct ft_board *b, const struct ft_report *r,
                   const struct ft_verdict *v);

#endif
