/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelog_replay.h - what a replay reads from the home log: the actions of the lost process, in
 * order.
 */
#ifndef FT_ALOG_HOMELOG_REPLAY_H
#define FT_ALOG_HOMELOG_REPLAY_H

#include "alog/homelog.h"

/* Reads a segment from the place of the image's cut on (NULL: from its beginning). */
void ft_homelog_read(enum ft_segment seg, const struct ft_log_place *from);
/* Passes and returns the action of the current call that must come next, of this kind and with
 * these arguments. NULL: the log is at its end. Any other action is a divergence (R0), and the call
 * does not return. bytes < 0: any number. */
const struct ft_act *ft_homelog_expect(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                       int64_t bytes);
/* Returns the outcome of the current call. NULL: it had none (a Test in vain), or the log is at its
 * end: then *end is 1. */
const struct ft_act *ft_homelog_outcome(int *end);
/* Takes the last action back: what it says never happened. */
void ft_homelog_discard(void);
int ft_homelog_at_end(void);
const struct ft_act *ft_homelog_next(void); /* NULL: the log is at its end */
int ft_homelog_wild(uint64_t n);            /* source of wildcard n; -1: not known */
/* 1: the receive posted as nth of this call was cancelled before a message came for it. */
int ft_homelog_cancelled(uint64_t call, uint64_t nth);
/* 1: the epoch that is open now was closed */
int ft_homelog_closed_ahead(uint32_t win, int target);
int ft_homelog_locked_ahead(uint32_t win, int target); /* 1: a lock was granted again later */
uint64_t ft_homelog_last_stamp(void);                  /* the largest stamp in the log */
/* Iterates over combining operations at the process's own windows (only these have stamps). *i is 0
 * at first; NULL: no more. */
const struct ft_act *ft_homelog_own(size_t *i);
size_t ft_homelog_fetched(uint64_t *bytes);
void ft_homelog_replay_over(void);
/* Returns the next action if it is an ADVANCE of the present count: a round that the lost process
 * had begun before it counted further or asked for anything that follows. NULL: it is something
 * else. */
const struct ft_act *ft_homelog_advance_due(void);
void ft_homelog_advance_passed(void);
/* Begins these rounds, and waits for what they need (coll/sched.h). */
extern FT_STATE(__typeof__(void (*)(void)), ft_replay_advance);
#define ft_replay_advance FT_MY(ft_replay_advance)
/* To be called in a replay before anything is counted. */
static inline void ft_replay_settle(void)
{
    if (ft_replay == FT_REPLAY && ft_homelog_advance_due())
        ft_replay_advance();
}
/* Applies others' puts that are eligible now (R4). To be called where a process may have learnt
 * something in the middle of a call. */
extern FT_STATE(__typeof__(void (*)(void)), ft_replay_drain);
#define ft_replay_drain FT_MY(ft_replay_drain)
/* Called on a divergence: the recorded action (NULL: none), what was done instead, and further
 * differences that are known (NULL: none). Does not return. */
typedef void ft_diverged_fn(const struct ft_act *was, enum ft_act_kind kind, uint32_t win,
                            int where, uint64_t off, const struct ft_mismatch *mismatch);
extern FT_STATE(ft_diverged_fn *, ft_replay_diverged);
#define ft_replay_diverged FT_MY(ft_replay_diverged)

#endif
