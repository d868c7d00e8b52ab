/* SPDX-License-Identifier: BSD-3-Clause
 *
 * save.h - ftrun's part in --save and --restart: the directory, the writers one after the other,
 * and what a set must have so that this job can go on from it. While a job runs nothing here waits
 * for a disk.
 */
#ifndef FT_LAUNCH_SAVE_H
#define FT_LAUNCH_SAVE_H

#include <sys/types.h>

#include "launch/held.h"
#include "launch/options.h"
#include "launch/remote.h"
#include "launch/report.h"
#include "launch/sets.h"
#include "launch/writer.h"

struct ft_save {
    char dir[PATH_MAX]; /* empty: nothing is saved */
    int64_t every;
    int lock;                /* the descriptor that holds dir; -1 */
    unsigned number;         /* of the newest set, begun or complete */
    unsigned first;          /* what it was at first: sets up to it are of earlier jobs */
    struct ft_manifest self; /* this job's data for manifests */
    struct ft_written *out;
    pid_t writer; /* 0: none is under way */
    uint64_t began_ns, request, version;
    uint64_t seen_bytes, seen_ticks; /* its progress when ftrun looked last, at looked_ns */
    uint64_t looked_ns, still_ns;    /* still_ns: how long nothing had moved then */
    unsigned last_number;            /* of the newest set that this ftrun has written, and */
    uint64_t last_version;           /* its checkpoint; 0: none */
    unsigned failed;                 /* sets that were given up */
    int said;                        /* the error that was printed last; 0: none */
    struct ft_held held;
    struct ft_remote *remote; /* NULL: all images are on this machine */
    const struct ft_stdin *input; /* set by ftrun: writers keep nothing of it. It may be NULL */
    enum ft_writing_part part; /* of the writer */
    uint64_t waiting;          /* hosts that write their files of the set under way */
    struct ft_manifest_rank *rank; /* [nranks]: what is known of these files */
    int *at;                       /* [nranks]: the host that writes it */
    char dropped[600];             /* why the set is given up when all have answered; empty: no */
    struct ft_set from; /* number 0: the job starts from nothing */
};

/* Both are called once, before anything is started. 0: it failed, which was printed. program,
 * library: their files. groups: of the job, valid as long as it lives; NULL: not known. */
int ft_save_open(struct ft_save *s, const struct ft_options *o, const char *program,
                 const char *library, const struct ft_groups *groups,
                 void (*say)(const char *line));
/* Chooses the newest complete set in dir from which this job can go on. */
int ft_save_choose(struct ft_save *s, const struct ft_options *o, const char *dir,
                   void (*say)(const char *line));
/* The job was lost: chooses what ftrun itself restarts it from, the newest set that it has written,
 * or else the one that the job went on from. 0: there is none, which was printed. */
int ft_save_choose_own(struct ft_save *s, const struct ft_options *o,
                       void (*say)(const char *line));
/* Called for each attempt, with its new board. */
void ft_save_begin(struct ft_save *s, struct ft_board *b);
/* The nodes of the job are these hosts. Before the start. */
void ft_save_on_hosts(struct ft_save *s, struct ft_remote *remote);
/* A set is being written. */
int ft_save_busy(const struct ft_save *s);
/* Starts a writer if there is something to write, and hears what hosts have written. */
void ft_save_step(struct ft_save *s, struct ft_board *b);
/* The job is lost: also saves the newest checkpoint, whether it was due or not. Returns 1 if a
 * writer is under way. */
int ft_save_last(struct ft_save *s, struct ft_board *b);
/* Whether the writer, for which ftrun waits, has written and computed nothing for a minute. */
int ft_save_stands_still(struct ft_save *s, uint64_t now_ns);
/* A child has ended. Returns 1 if it was the writer. report may be NULL. */
int ft_save_reaped(struct ft_save *s, struct ft_board *b, struct ft_report *report, pid_t pid,
                   int status, void (*say)(const char *line));
/* All children are dead: removes what a writer has begun. */
void ft_save_drop(struct ft_save *s);
void ft_save_close(struct ft_save *s);

#endif
