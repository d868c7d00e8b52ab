/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eligible.h - the order in which others' puts and combining operations are applied in a replay:
 * rule R4, with Algorithms 2 and 3 of "Fault Tolerance for Remote Memory Access Programming Models"
 * as special cases. Pure.
 *
 * An action may be applied once the replaying process has begun `lo` calls; of those that may,
 * always the one with the smallest stamp T comes next, at once, those without a stamp (their epoch
 * is open) last. [q's put has landed, and is not flushed; f polls for it, and tells r: f' must find
 * it.] Since lo of what happened before is never above lo of what happened after, and nothing
 * happened after what is open, one sort by (max(lo, first call), T) gives that order: n log n,
 * where the paper repeats a minimum.
 */
#ifndef FT_ALOG_ELIGIBLE_H
#define FT_ALOG_ELIGIBLE_H

#include "base/base.h"

struct ft_eligible_act {
    uint64_t lo;      /* calls that the replaying process had begun */
    uint64_t stamp;   /* T; 0: none */
    uint64_t serial;  /* order within one source: breaks ties (pieces of one put have one stamp),
                         orders those without a stamp */
    int source;       /* rank */
    const void *what; /* the caller's */
};

struct ft_eligible {
    struct ft_eligible_act *act; /* the caller's array, sorted */
    size_t n, next;
};

/* Sorts acts (n of them) for a process that begins its replay with `calls` calls begun. The array
 * stays the caller's. No memory is allocated. */
void ft_eligible_begin(struct ft_eligible *o, struct ft_eligible_act *acts, size_t n,
                       uint64_t calls);
/* The next action to apply when `calls` calls have begun; NULL: none is eligible. */
const struct ft_eligible_act *ft_eligible_next(struct ft_eligible *o, uint64_t calls);
/* The largest lo, 0: none: evidence of how far the lost process had come. From there on nothing is
 * left. */
uint64_t ft_eligible_last_call(const struct ft_eligible *o);
/* The largest stamp, 0: none. */
uint64_t ft_eligible_last_stamp(const struct ft_eligible *o);

#endif
