/* SPDX-License-Identifier: BSD-3-Clause
 *
 * saved_job.h - what is saved to files, and what the job began from (F1 to F9), on the board.
 */
#ifndef FT_BASE_SAVED_JOB_H
#define FT_BASE_SAVED_JOB_H

#include "base/base.h"

/* Requests are numbered from 1; one
 * at a time: the next is made when `over` has come to `asked`. */
#define FT_SAVED_PATH 4096
struct ft_board_save {
    int64_t every; /* each checkpoint whose version this divides is saved; 0: none. Set before
                      anything is started */
    uint64_t job;  /* names this job in files; set before anything is started */
    char from[FT_SAVED_PATH]; /* the directory of the set that all go on from; empty: the job begins
                                 anew. Likewise */
    uint64_t from_job;        /* the job that has written it */
    _Atomic uint64_t version; /* what is asked for; by the root's agent, before `asked` */
    _Atomic uint64_t asked;   /* number of the newest request; by the root's agent */
    _Atomic uint64_t ready;   /* of the newest one that is committed; by all agents */
    _Atomic uint64_t over;    /* of the newest one that was written, or given up; by ftrun alone */
    _Atomic uint32_t held;    /* ftrun has all ranks' arenas open; by ftrun */
    _Atomic uint64_t
        committed;            /* the newest checkpoint that somebody has committed; by all agents */
    _Atomic uint32_t differs; /* a rank has said that setup sent other data; by the first */
    _Atomic uint32_t gone_on; /* all ranks have gone on from `from`; by the root's agent */
    _Atomic uint32_t failpoint; /* as a slot's last_failpoint, of the writer */
    _Atomic uint64_t failpoint_ns, injected;
};

#endif
