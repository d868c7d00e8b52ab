/* SPDX-License-Identifier: BSD-3-Clause
 *
 * home.h - LG: what a process has learnt and cannot find out again by itself, kept where it outlives it (L2).
 *
 * The results of its gets and combining operations, wildcard and completion outcomes, locks granted, epochs closed: each is an
 * action in one log at the process's *log home* (the next rank), in the order in which they happened, with the number of the call
 * that they happened in. The paper keeps LG_q[p] at each target q. One log at one home gives a total order, which makes a replay
 * a walk along it, takes the place of the copies of EC, of GC and of the sets Q and N (a get is logged when its data is copied,
 * before anybody can use it; an epoch is closed when its CLOSE is there), and the loss of a process exposes one other and not all
 * that it was read by.
 *
 * Segments are those of channels: setup and what follows FTRMA_Run are kept for ever (and a copy here, to fill another home); the
 * run's is trimmed to the last committed cut.
 *
 * In a replacement the log is read first: `ft_replay` says so. Thread rules: main thread only.
 */
#ifndef FT_ALOG_HOME_H
#define FT_ALOG_HOME_H

#include "alog/both.h"
#include "alog/chan.h"
#include "alog/log.h"

/* At FT_GUEST of the home's arena; offsets in these logs count from there. */
struct ft_home_head {
    struct ft_log_hdr seg[FT_SEG_COUNT];
    _Atomic uint64_t end; /* offset behind the last chunk ever taken */
};

enum ft_replay_mode {
    FT_LIVE = 0,
    FT_REPLAY,  /* a replacement repeats what the lost process did */
    FT_PRELUDE, /* between the entry of body and the safepoint of the restored image: what is called there is called again, out of
                   count */
};
extern enum ft_replay_mode ft_replay;

enum ft_log_level { FT_LOG_OFF = 0, FT_LOG_PUTS, FT_LOG_ALL };
extern enum ft_log_level ft_log_level;

/* Counts a step: calls(p) of L0, an outermost call, or a message sent in one. (A message counts by itself: [f sends x out
 * of its window, q receives it and puts x: without, that put would have the number of the very call that has still to read
 * x.]) */
extern uint64_t ft_calls;
/* Of these, messages that later rounds of nonblocking collectives have sent (coll/sched.h): they fall between other steps by
 * chance, so that steps that must be known again are numbered without them. */
extern uint64_t ft_calls_aside;
extern _Atomic uint64_t *ft_calls_published; /* on the board */
/* Between the entry of body, entered again, and the safepoint of the image nothing is counted: the lost process had counted it
 * before. */
extern int ft_uncounted;
static inline void ft_call_begin(void) { atomic_store_explicit(ft_calls_published, ++ft_calls, memory_order_relaxed); }

/* slot_of: [nranks], the carriers now. recorded: actions in kept segments that the lost process of this rank had (a replacement),
 * else 0. logging: 0 when nobody could ever be replaced: then nothing is kept. 0: recorded actions are not there: their home was
 * lost as well. */
int ft_home_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement, uint64_t recorded, int logging,
                 const char *setup, size_t setup_bytes);
/* Setup's actions for an image, so that they outlive the loss of this process and its home (P3): bytes, and a copy. A
 * replacement gives them to ft_home_init (setup_bytes 0: there is no image yet, what lies at the home must do). */
size_t ft_home_setup_bytes(void);
void ft_home_setup_save(char *out);
/* The home is carried by another process now: kept segments are written anew, the run's is incomplete until the next cut. */
void ft_home_rebind(int rank, int slot);
/* From here on actions belong to this segment; the run's begins empty. on: whether they are logged. */
void ft_home_segment(enum ft_segment seg, int on);
/* A checkpoint's cut: where the log stands. */
struct ft_log_place ft_home_cut(uint64_t version);
void ft_home_set_cut(uint64_t version, uint64_t seq); /* that of a restored image */
/* Where the log stands now, without a cut. The latest image, taken since the cut of `version`, needs nothing before seq. */
struct ft_log_place ft_home_place(void);
int ft_home_cover(uint64_t version, uint64_t seq); /* 1: and so this process is no more exposed for what was lost of it */
uint64_t ft_home_kept(void); /* bytes of the run's log */
/* Actions before this committed version's cut are needed no more. Only when all are known to have committed it. [p alone has, drops
 * what lies before, and is lost: p' goes back to the checkpoint before, and what it would repeat is gone. LP and channels are lost
 * with p.] */
void ft_home_trim(uint64_t committed);

/* An action, in call `ft_calls`: NULL when nothing is logged. To be filled, and published before the call goes on. */
struct ft_act *ft_home_begin(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, uint32_t bytes);
void ft_home_publish(struct ft_act *a);
/* begin, memcpy, publish */
void ft_home_note(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, const void *data, uint32_t bytes);
/* Others learn that this process has come to `call` by something that is neither a message nor an access: a replacement is not
 * live before it has come there. Nothing is noted where an action of that call or a later one says so already. */
void ft_home_reached(uint64_t call);
extern struct ft_home_now {
    int on, broken; /* broken: 0, or one of the next two */
} ft_home_now;
enum {
    FT_HOME_HOLE = 1, /* something is missing, until all begins anew */
    FT_HOME_AWAY = 2  /* in a kept segment: the home is lost, and what is noted goes to the own copy, from which the next one is filled */
};
static inline int ft_home_logs(void) { return ft_home_now.on && ft_home_now.broken != FT_HOME_HOLE; } /* whether actions are logged now */
/* Says that this process did what it cannot log: it is exposed. */
void ft_home_incomplete(enum ft_unkept why);
/* Why the run's log is not whole. LOST: its home was lost, or it is over the limit: ends with an image that this process takes
 * alone. NEVER: it did what is not logged, and may do so again: a coordinated cut, which asks no log. Either thread may look. */
enum ft_home_hole { FT_HOLE_NONE, FT_HOLE_LOST, FT_HOLE_NEVER };
extern _Atomic int ft_home_hole;
/* An image is about to be taken alone: the run's log, where something was lost of it, begins anew here. 0: it cannot. The process
 * is exposed until ft_home_cover is told of an image that was taken since. */
int ft_home_begin_anew(void);

/* --- replay --- */
/* Reads a segment from the place of the image's cut (NULL: from its beginning). */
void ft_home_read(enum ft_segment seg, const struct ft_log_place *from);
/* The action of the current call that must come next: of this kind and arguments; passes it. NULL: the log is at its end.
 * Anything else is a divergence (R0), and does not return. bytes < 0: any. */
const struct ft_act *ft_home_expect(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, int64_t bytes);
/* The outcome of the current call, if it had one; NULL: it had none (a Test in vain), or the log is at its end: *end. */
const struct ft_act *ft_home_outcome(int *end);
/* Takes the last one back: what it says never came to be. */
void ft_home_discard(void);
int ft_home_at_end(void);
const struct ft_act *ft_home_next(void); /* NULL: it is at its end */
int ft_home_wild(uint64_t n);                          /* source of wildcard n, -1: unknown */
/* The receive posted as nth of this call was cancelled before anything came for it. */
int ft_home_cancelled(uint64_t call, uint64_t nth);
int ft_home_closed_ahead(uint32_t win, int target);    /* the epoch that is open now was closed */
int ft_home_locked_ahead(uint32_t win, int target);    /* a lock was granted again later */
uint64_t ft_home_last_stamp(void);                     /* largest stamp in it */
/* Combining operations at one's own windows (they alone have stamps): *i = 0 at first; NULL: no more. */
const struct ft_act *ft_home_own(size_t *i);
size_t ft_home_fetched(uint64_t *bytes);
void ft_home_replay_over(void);
/* The next action, if it is an ADVANCE of the present count: a round that the lost process had begun before it counted on or asked
 * for anything that follows. NULL: it is something else. */
const struct ft_act *ft_home_advance_due(void);
void ft_home_advance_passed(void);
/* Begins these rounds, waiting for what they need (coll/sched.h). */
extern void (*ft_replay_advance)(void);
/* To be called in a replay before anything is counted. */
static inline void ft_replay_settle(void)
{
    if (ft_replay == FT_REPLAY && ft_home_advance_due())
        ft_replay_advance();
}
/* Others' puts that are eligible now are applied (R4). To be called where a process may have learnt something in the middle of a
 * call. */
extern void (*ft_replay_drain)(void);
/* What to do on a divergence: the recorded action (NULL: none), what was done instead, and what is known of both beside (NULL:
 * nothing). Does not return. */
extern void (*ft_replay_diverged)(const struct ft_act *was, enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                           const struct ft_both *both);

#endif
