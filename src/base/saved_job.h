/* SPDX-License-Identifier: BSD-3-Clause
 *
 * saved_job.h - the part of the board about sets in files: what is saved, and what the job began
 * from (F1 to F9).
 */
#ifndef FT_BASE_SAVED_JOB_H
#define FT_BASE_SAVED_JOB_H

#include "base/base.h"

/* Requests are numbered from 1. There is one at a time: the next one is made when `over` has
 * reached `asked`. */
#define FT_SAVED_PATH 4096
struct ft_board_save {
    /* each checkpoint whose version this divides is saved; 0: none. Set before anything is started
     * */
    int64_t every;
    uint64_t job; /* identifies this job in files; set before anything is started */
    /* the directory of the set from which all go on; empty: the job starts from nothing. Set before
     * anything is started */
    char from[FT_SAVED_PATH];
    uint64_t from_job; /* the job that wrote that set */
    /* the version that is asked for; the root's agent writes it before `asked` */
    _Atomic uint64_t version;
    _Atomic uint64_t asked; /* number of the newest request; written by the root's agent */
    /* number of the newest request whose version is committed; written by all agents */
    _Atomic uint64_t ready;
    /* number of the newest request that was written or given up; written by ftrun alone */
    _Atomic uint64_t over;
    _Atomic uint32_t held; /* ftrun has the arenas of all ranks open; written by ftrun */
    /* the newest checkpoint that any process has committed; written by all agents */
    _Atomic uint64_t committed;
    /* a rank has said that its setup sent other data; written by the first such rank */
    _Atomic uint32_t differs;
    _Atomic uint32_t gone_on; /* all ranks have gone on from `from`; written by the root's agent */
    _Atomic uint64_t written; /* bytes, by the writer that is at work on this node */
    _Atomic uint32_t failpoint; /* the writer's last_failpoint, as in a slot */
    _Atomic uint64_t failpoint_ns, injected;
};

#endif
