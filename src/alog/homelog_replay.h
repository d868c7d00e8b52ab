/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelog_replay.h - what a replay asks of the home log: the actions of the lost process, in their
 * order.
 */
#ifndef FT_ALOG_HOMELOG_REPLAY_H
#define FT_ALOG_HOMELOG_REPLAY_H

#include "alog/homelog.h"

/* Reads a segment from the place of the image's cut (NULL: from its beginning). */
void ft_homelog_read(enum ft_segment seg, const struct ft_log_place *from);
/* The action of the current call that must come next: of this kind and arguments; passes it. NULL:
 * the log is at its end. Anything else is a divergence (R0), and does not return. bytes < 0: any.
 */
const struct ft_act *ft_homelog_expect(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                       int64_t bytes);
/* The outcome of the current call, if it had one; NULL: it had none (a Test in vain), or the log is
 * at its end: *end. */
const struct ft_act *ft_homelog_outcome(int *end);
/* Takes the last one back: what it says never came to be. */
void ft_homelog_discard(void);
int ft_homelog_at_end(void);
const struct ft_act *ft_homelog_next(void); /* NULL: it is at its end */
int ft_homelog_wild(uint64_t n);            /* source of wildcard n, -1: unknown */
/* The receive posted as nth of this call was cancelled before anything came for it. */
int ft_homelog_cancelled(uint64_t call, uint64_t nth);
int ft_homelog_closed_ahead(uint32_t win, int target); /* the epoch that is open now was closed */
int ft_homelog_locked_ahead(uint32_t win, int target); /* a lock was granted again later */
uint64_t ft_homelog_last_stamp(void);                  /* largest stamp in it */
/* Combining operations at one's own windows (they alone have stamps): *i = 0 at first; NULL: no
 * more. */
const struct ft_act *ft_homelog_own(size_t *i);
size_t ft_homelog_fetched(uint64_t *bytes);
void ft_homelog_replay_over(void);
/* The next action, if it is an ADVANCE of the present count: a round that the lost process had
 * begun before it counted on or asked for anything that follows. NULL: it is something else. */
const struct ft_act *ft_homelog_advance_due(void);
void ft_homelog_advance_passed(void);
/* Begins these rounds, waiting for what they need (coll/sched.h). */
extern FT_STATE(__typeof__(void (*)(void)), ft_replay_advance);
#define ft_replay_advance FT_MY(ft_replay_advance)
/* To be called in a replay before anything is counted. */
static inline void ft_replay_settle(void)
{
    if (ft_replay == FT_REPLAY && ft_homelog_advance_due())
        ft_replay_advance();
}
/* Others' puts that are eligible now are applied (R4). To be called where a process may have learnt
 * something in the middle of a call. */
extern FT_STATE(__typeof__(void (*)(void)), ft_replay_drain);
#define ft_replay_drain FT_MY(ft_replay_drain)
/* What to do on a divergence: the recorded action (NULL: none), what was done instead, and what is
 * known of both beside (NULL: nothing). Does not return. */
typedef void ft_diverged_fn(const struct ft_act *was, enum ft_act_kind kind, uint32_t win,
                            int where, uint64_t off, const struct ft_mismatch *mismatch);
extern FT_STATE(ft_diverged_fn *, ft_replay_diverged);
#define ft_replay_diverged FT_MY(ft_replay_diverged)

#endif
