/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eligible.h - the order in which a replay applies others' puts and combining operations: rule R4.
 * Algorithms 2 and 3 of "Fault Tolerance for Remote Memory Access Programming Models" are special
 * cases. Pure.
 *
 * An action may be applied once the replaying process has begun `lo` calls. Of the actions that may
 * be applied, the one with the smallest stamp T always comes next, at once; actions without a stamp
 * (their epoch is open) come last. [q's put has landed, and is not flushed; f polls for it, and
 * tells r: f' must find it.] If one action happened before another, its lo is not larger, and
 * nothing happened after an open one. So one sort by (max(lo, first call), T) gives the order: n
 * log n, where the paper repeats a minimum.
 */
#ifndef FT_ALOG_ELIGIBLE_H
#define FT_ALOG_ELIGIBLE_H

#include "base/base.h"

struct ft_eligible_act {
    uint64_t lo;    /* calls that the replaying process had begun */
    uint64_t stamp; /* T; 0: none */
    /* the order within one source. It breaks ties (pieces of one put have one stamp), and orders
     * actions without a stamp */
    uint64_t serial;
    int source;       /* rank */
    const void *what; /* for the caller */
};

struct ft_eligible {
    struct ft_eligible_act *act; /* the caller's array, sorted */
    size_t n, next;
};

/* Sorts the n actions for a process that begins its replay with `calls` calls begun. The array
 * remains the caller's. Does not allocate. */
void ft_eligible_begin(struct ft_eligible *o, struct ft_eligible_act *acts, size_t n,
                       uint64_t calls);
/* Returns the next action to apply when `calls` calls have begun; NULL: none is eligible. */
const struct ft_eligible_act *ft_eligible_next(struct ft_eligible *o, uint64_t calls);
/* Returns the largest lo; 0: there are none. It shows how far the lost process had come: when that
 * many calls have begun, no action is left. */
uint64_t ft_eligible_last_call(const struct ft_eligible *o);
/* Returns the largest stamp; 0: there is none. */
uint64_t ft_eligible_last_stamp(const struct ft_eligible *o);

#endif
