/* SPDX-License-Identifier: BSD-3-Clause
 *
 * calls.h - whether this process repeats what a lost one did, and how many calls it has begun.
 */
#ifndef FT_ALOG_CALLS_H
#define FT_ALOG_CALLS_H

#include "base/base.h"
#include "base/engine.h"

enum ft_replay_mode {
    FT_LIVE = 0,
    FT_REPLAY, /* a replacement repeats what the lost process did */
    /* between the entry of body and the safepoint of the restored image: these calls are made
     * again, and not counted */
    FT_PRELUDE,
};
extern FT_STATE(enum ft_replay_mode, ft_replay);
#define ft_replay FT_MY(ft_replay)

enum ft_log_level { FT_LOG_OFF = 0, FT_LOG_PUTS, FT_LOG_ALL };
extern FT_STATE(enum ft_log_level, ft_level);
#define ft_level FT_MY(ft_level)
extern FT_STATE(int, ft_told); /* survivors of a loss keep their memory (G5) */
#define ft_told FT_MY(ft_told)

/* Counts a step of calls(p) of L0: an outermost call, or a message that is sent in one. (A message
 * counts by itself: [f sends x out of its window, q receives it and puts x: without that, the put
 * would have the number of the very call that has still to read x.]) */
extern FT_STATE(uint64_t, ft_calls);
#define ft_calls FT_MY(ft_calls)
/* Of these, the messages that later rounds of nonblocking collectives have sent (coll/sched.h).
 * They fall between other steps by chance, so steps that must be recognised later are numbered
 * without them. */
extern FT_STATE(uint64_t, ft_calls_aside);
extern FT_STATE(_Atomic uint64_t *, ft_calls_published); /* on the board */
#define ft_calls_aside FT_MY(ft_calls_aside)
#define ft_calls_published FT_MY(ft_calls_published)
/* 1 between the entry of body, when it is entered again, and the safepoint of the image. Nothing is
 * counted there, because the lost process had counted it before. */
extern FT_STATE(int, ft_uncounted);
#define ft_uncounted FT_MY(ft_uncounted)
static inline void ft_call_begin(void)
{
    atomic_store_explicit(ft_calls_published, ++ft_calls, memory_order_relaxed);
}

#endif
