/* SPDX-License-Identifier: BSD-3-Clause
 *
 * watch.h - decides whether the job is over, and how it ended: from the board, and from which
 * processes, and whether mpirun, are alive. mpirun's own exit status says little once it was told
 * to let survivors live.
 */
#ifndef FT_LAUNCH_WATCH_H
#define FT_LAUNCH_WATCH_H

#include "base/board.h"

struct ft_watch {
    struct ft_board *b;
    const char *program; /* for messages */
    char node[256];      /* where ftrun runs */
    /* which slots' processes have ended, on other hosts; NULL: they are on this one, and looked at */
    const unsigned char *gone;
    /* the node of a process that is not there, if it is not empty; or NULL */
    const char *elsewhere;
    uint64_t ticks;                /* of mpirun, as seen last */
    int started;                   /* mpirun has had other processes below it */
    uint64_t looked_ns, passed_ns; /* when the last look was; from the one before to it */
    int lingers; /* there is nothing left to wait for but processes that should end by themselves;
                    and for how long, counted in looks that ftrun lived through */
    uint64_t lingered_ns;
    /* of a job on several nodes: how long a process has been known to have been killed before the
     * end of MPI_Init, counted likewise */
    uint64_t killed_ns;
};

/* What is known of mpirun. */
struct ft_mpirun {
    int gone; /* it has ended; status is waitpid's */
    int status;
    int descendants;       /* our other descendants, if it was worth counting them; -1: not known */
    struct ft_proc itself; /* as found out with these */
};

struct ft_verdict {
    const char *result;    /* "ok", "failed", "lost" */
    int status;            /* ftrun's exit status */
    enum ft_reason reason; /* "lost": why */
    char message[1200];    /* empty: nothing to say */
};

/* The verdict that the job is lost, with this reason and its message. */
#define ft_verdict_lost(v, id, ...)                                                               \
    (*(v) =                                                                                       \
         (struct ft_verdict){.result = "lost", .status = FT_EXIT_LOST, .reason = FT_REASON_##id}, \
     ft_reason_say((v)->message, sizeof(v)->message, id, ##__VA_ARGS__))

/* 1 when the job is over: then *v holds. */
int ft_watch_step(struct ft_watch *w, uint64_t now_ns, const struct ft_mpirun *m,
                  struct ft_verdict *v);
/* Whether m->descendants is worth computing (it means a look at all processes of the machine). */
int ft_watch_wants_descendants(const struct ft_watch *w);
/* The slot of the process that carries rank r now, or carried it last; -1: there never was one. */
int ft_watch_carrier(struct ft_board *b, int rank);

#endif
