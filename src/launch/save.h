/* SPDX-License-Identifier: BSD-3-Clause
 *
 * save.h - ftrun's part in --save and --restart: the directory, the writers one after the other,
 * and what a set must have for this job to go on from it. Nothing here waits for a disk while a job
 * runs.
 */
#ifndef FT_LAUNCH_SAVE_H
#define FT_LAUNCH_SAVE_H

#include <sys/types.h>

#include "launch/options.h"
#include "launch/report.h"
#include "launch/sets.h"
#include "launch/writer.h"

struct ft_save {
    char dir[PATH_MAX]; /* empty: nothing is saved */
    int64_t every;
    int held;                /* descriptor by which dir is held; -1 */
    unsigned number;         /* of the newest set, begun or not */
    struct ft_manifest self; /* what a manifest of this job says */
    struct ft_written *out;
    pid_t writer; /* 0: none is under way */
    uint64_t began_ns, request, version;
    uint64_t seen_bytes, seen_ticks; /* how far it had come when ftrun looked last, at looked_ns */
    uint64_t looked_ns, still_ns;    /* and for how long nothing had moved then */
    unsigned last_number;            /* of the newest set that this ftrun has written, and */
    uint64_t last_version;           /* its checkpoint; 0: none */
    unsigned failed;                 /* sets that were given up */
    int said;                        /* the error that was said last; 0: none */
    struct ft_arena_of { /* of each rank: how many carriers it had before the last one that was
                          * seen; that one's arena
                          */
        int64_t incarnation;
        int fd;     /* both -1: none was seen */
        int before; /* the arena of the carrier before, until there is a newer checkpoint; -1 */
        uint64_t committed; /* then */
    } * arena;
    struct ft_set from; /* number 0: the job begins anew */
};

/* Both before anything is started, and once. 0: it cannot be, which was said. program, library:
 * their files. groups: of the job, and valid as long as it lives; NULL: not known. */
int ft_save_open(struct ft_save *s, const struct ft_options *o, const char *program,
                 const char *library, const struct ft_groups *groups,
                 void (*say)(const char *line));
/* Chooses the newest set in dir that is whole and that this job can go on from. */
int ft_save_choose(struct ft_save *s, const struct ft_options *o, const char *dir,
                   void (*say)(const char *line));
/* Of each attempt: a new board. */
void ft_save_begin(struct ft_save *s, struct ft_board *b);
/* Starts a writer if there is something to write. */
void ft_save_step(struct ft_save *s, struct ft_board *b);
/* The job is lost: the newest checkpoint is saved as well, whether it was due or not. 1: a writer
 * is under way. */
int ft_save_last(struct ft_save *s, struct ft_board *b);
/* Whether the writer, for which ftrun waits, has written nothing and computed nothing for a minute.
 */
int ft_save_stands_still(struct ft_save *s, uint64_t now_ns);
/* A child has ended. 1: it was the writer. report may be NULL. */
int ft_save_reaped(struct ft_save *s, struct ft_board *b, struct ft_report *report, pid_t pid,
                   int status, void (*say)(const char *line));
/* All children are dead: what a writer has begun goes. */
void ft_save_drop(struct ft_save *s);
void ft_save_close(struct ft_save *s);

#endif
