/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sentinel.h - watches one other process (D1).
 */
#ifndef FT_RUNTIME_SENTINEL_H
#define FT_RUNTIME_SENTINEL_H

#include "base/board.h"

struct ft_sentinel {
    struct ft_board *board;
    int self;
    int watching;     /* the slot; -1: none yet */
    int known_dead;   /* it has ended, and the machine knows that */
    int kill_due;     /* it has to be killed, which was not possible yet */
    int looks_left;   /* how many more looks may be needed to see its threads end */
    uint64_t look_ns; /* time of the next look */
    /* it may have ended, so the agent must look; sentinel and agent write it */
    _Atomic int alarm;
    _Atomic uint32_t watched; /* 1 + watching, for the sentinel; 0: none yet */
};

/* The agent calls the rest. */
void *ft_sentinel_main(void *watch); /* the function of its thread */
void ft_sentinel_begin(struct ft_sentinel *w, int slot);
int ft_sentinel_is_dead(struct ft_sentinel *w, uint64_t now);
/* 1: it has begun to end, or to execute another program. The agent then looks each millisecond. */
int ft_sentinel_is_ending(const struct ft_sentinel *w);
/* Tries to kill it; kill_due stays set if that was not possible. */
void ft_sentinel_kill(struct ft_sentinel *w);
/* For the calling thread: agents and sentinels run as soon as they are woken. */
void ft_run_promptly(void);

#endif
