/* SPDX-License-Identifier: BSD-3-Clause
 *
 * whole.h - what is missing from this process's logs, and until when (E1, P5). A rank whose loss
 * cannot be repaired from logs alone is exposed: if it is lost, all ranks go back.
 *
 * Thread rules: main writes, any thread reads; but for `voted`, which the agent writes.
 */
#ifndef FT_ALOG_WHOLE_H
#define FT_ALOG_WHOLE_H

#include "alog/unkept.h"
#include "base/engine.h"
#include "base/testament.h"

enum ft_whole_part {
    /* Actions of this process in the run: the log reached its limit, or it has no memory. The gap
     * ends with an image that this process takes alone, or with the next cut. */
    FT_WHOLE_OWN,
    /* Actions of this process in the run that cannot be logged, and may happen again. The gap ends
     * with the next cut. */
    FT_WHOLE_NEVER,
    /* Puts or messages of the run that this process keeps for other ranks. The gap ends with the
     * next cut. */
    FT_WHOLE_OTHERS,
    /* Anything outside of FTRMA_Run. From here on no rank can be replaced. */
    FT_WHOLE_KEPT,
};
/* A record of this part is missing from here on. why: recorded for FT_WHOLE_KEPT. */
void ft_whole_lost(enum ft_whole_part part, enum ft_unkept why);

/* The own log has no gap after the cut of this version, or after an image that was taken alone
 * since. Reports nothing if there was no gap. */
void ft_whole_own_again(uint64_t version);
/* The log of actions begins again here, so what is missing lies before. The process stays exposed
 * until ft_whole_own_again. */
void ft_whole_own_begins(void);
/* This cut has closed epochs (L6): the own log says nothing of that to a replacement that goes back
 * to an image of before. The process is exposed until this version is committed. That is no gap by
 * which exposure is measured. */
void ft_whole_own_cut(uint64_t version);
/* An image with a cut of this version was restored. */
void ft_whole_own_restored(uint64_t version);
/* What is kept for others has no gap after the cut of this version. restored: 1 if an image was
 * restored. */
void ft_whole_others_again(uint64_t version);
void ft_whole_others_restored(uint64_t version);

/* Sets where own_from is published, and the clock by which exposure is measured (NULL: it is not
 * measured). */
void ft_whole_init(struct ft_testament *t);
extern FT_STATE(__typeof__(uint64_t(*)(void)), ft_whole_clock);
#define ft_whole_clock FT_MY(ft_whole_clock)
/* Returns for how long, in ns, something was missing from the run's logs, and marks it as complete;
 * 0: nothing was missing. */
uint64_t ft_whole_exposed_ns(void);

struct ft_missing {
    /* The version from whose cut on all that is kept for others is complete; 0: from the start;
     * UINT64_MAX: records are missing since the last cut. */
    _Atomic uint64_t others_from;
    _Atomic int own;  /* 1 + FT_WHOLE_OWN or FT_WHOLE_NEVER, the worse one; 0: nothing is missing */
    struct ft_testament *testament;
    uint64_t since_ns; /* 0: nothing of the run is missing */
    /* 1 + the generation in which the agent has last said what is missing, in a vote; and the one
     * that main is bound to */
    _Atomic uint32_t voted, bound;
};
extern FT_STATE(struct ft_missing, ft_whole);
#define ft_whole FT_MY(ft_whole)

/* What is missing was said in a vote, and main has not heard of the decision: nothing more may be
 * dropped, limit or not (E1). Asked after ft_whole_lost: a vote that does not count what is dropped
 * is then seen here. */
static inline int ft_whole_frozen(void)
{
    return atomic_load(&ft_whole.voted) > atomic_load(&ft_whole.bound);
}

static inline uint64_t ft_whole_others_from(void) { return atomic_load(&ft_whole.others_from); }
static inline int ft_whole_misses_others(void) { return ft_whole_others_from() == UINT64_MAX; }
static inline int ft_whole_misses(enum ft_whole_part part) /* OWN or NEVER */
{
    return atomic_load_explicit(&ft_whole.own, memory_order_relaxed) == 1 + (int)part;
}
static inline int ft_whole_unkept(void) { return (int)atomic_load(&ft_whole.testament->unkept); }

#endif
