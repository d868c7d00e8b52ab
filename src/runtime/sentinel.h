/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sentinel.h - the process that this one watches (D1).
 */
#ifndef FT_RUNTIME_SENTINEL_H
#define FT_RUNTIME_SENTINEL_H

#include "base/board.h"

struct ft_sentinel {
    struct ft_board *board;
    int self;
    int watching;             /* slot; -1: nobody yet */
    int known_dead;           /* it has ended, and that is known */
    int kill_due;             /* it is to be killed, which could not yet be done */
    int looks_left;           /* that may still be taken for the end of its threads */
    uint64_t look_ns;         /* when it is to be looked at next */
    _Atomic int alarm;        /* it may have ended: the agent is to look. Sentinel, agent */
    _Atomic uint32_t watched; /* 1 + watching, for the sentinel; 0: nobody yet */
};

/* The rest is called by the agent. */
void *ft_sentinel_main(void *watch); /* a thread's function */
void ft_sentinel_begin(struct ft_sentinel *w, int slot);
int ft_sentinel_is_dead(struct ft_sentinel *w, uint64_t now);
/* It has begun to end, or to execute another program: it is to be looked at each millisecond. */
int ft_sentinel_is_ending(const struct ft_sentinel *w);
/* Tries to kill it; kill_due stays set where that was not possible. */
void ft_sentinel_kill(struct ft_sentinel *w);
/* The calling thread: agents and sentinels run as soon as they are woken. */
void ft_run_promptly(void);

#endif
