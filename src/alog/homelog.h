/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelog.h - the home log: what a process has learnt and cannot find out again by itself, kept
 * where it outlives it (L2).
 *
 * The results of its gets and combining operations, wildcard and completion outcomes, locks
 * granted, epochs closed: each is an action in one log, in the order in which they happened, with
 * the number of the call that they happened in. The log lies in a file that outlives every process
 * of the job (ftrun holds it), or, without a launcher, at the process's *log home*, the next rank.
 * The paper keeps a log of p's gets (LG_q[p]) at each target q. One log at one home gives a total
 * order, which makes a replay a walk along it, takes the place of the copies of EC, of GC and of
 * the sets Q and N (a get is logged when its data is copied, before anybody can use it; an epoch is
 * closed when its CLOSE is there), and the loss of a process exposes one other and not all that it
 * was read by.
 *
 * Segments are those of channels: setup and what follows FTRMA_Run are kept for ever (and a copy
 * here, to fill another home); the run's is trimmed to the last committed cut.
 *
 * In a replacement the log is read first: `ft_replay` says so. Thread rules: main thread only.
 */
#ifndef FT_ALOG_HOMELOG_H
#define FT_ALOG_HOMELOG_H

#include "alog/calls.h"
#include "alog/chan.h"
#include "alog/log.h"
#include "alog/mismatch.h"
#include "alog/whole.h"
#include "base/engine.h"

/* At the begin of the file that outlives all processes, or at FT_GUEST of the home's arena; offsets
 * in these logs count from there. */
struct ft_homelog_head {
    struct ft_log_hdr seg[FT_SEG_COUNT];
    _Atomic uint64_t end; /* offset after the last chunk ever taken */
};

/* slot_of: [nranks], the carriers now. recorded: actions in kept segments that the lost process of
 * this rank had (a replacement), else 0. logging: 0 when nobody could ever be replaced: then
 * nothing is kept. 0: recorded actions are not there: their home was lost as well. */
int ft_homelog_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of, int replacement,
                    uint64_t recorded, int logging, const char *setup, size_t setup_bytes);
/* Setup's actions for an image, so that they outlive the loss of this process and its home (P3):
 * bytes, and a copy. A replacement gives them to ft_homelog_init (setup_bytes 0: there is no image
 * yet, what lies at the home must do). */
size_t ft_homelog_setup_bytes(void);
void ft_homelog_setup_save(char *out);
/* The home is carried by another process now: kept segments are written anew, the run's is
 * incomplete until the next cut. */
void ft_homelog_rebind(int rank, int slot);
/* From here on actions belong to this segment; the run's begins empty. on: whether they are logged.
 */
void ft_homelog_segment(enum ft_segment seg, int on);
/* A checkpoint's cut: where the log stands. */
struct ft_log_place ft_homelog_cut(uint64_t version);
void ft_homelog_set_cut(uint64_t version, uint64_t seq); /* that of a restored image */
/* Where the log stands now, without a cut. The latest image, taken since the cut of `version`,
 * needs nothing before seq. */
struct ft_log_place ft_homelog_place(void);
int ft_homelog_cover(
    uint64_t version,
    uint64_t seq); /* 1: and so this process is no more exposed for what was lost of it */
uint64_t ft_homelog_kept(void); /* bytes of the run's log */
/* Actions before this committed version's cut are needed no more. Only when all are known to have
 * committed it. [p alone has, drops what lies before, and is lost: p' goes back to the checkpoint
 * before, and what it would repeat is gone. The put log and channels are lost with p.] */
void ft_homelog_trim(uint64_t committed);

/* An action, in call `ft_calls`: NULL when nothing is logged. To be filled, and published before
 * the call goes on. */
struct ft_act *ft_homelog_begin(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                uint32_t bytes);
void ft_homelog_publish(struct ft_act *a);
/* begin, memcpy, publish */
void ft_homelog_note(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, const void *data,
                     uint32_t bytes);
/* Others learn that this process has come to `call` by something that is neither a message nor an
 * access: a replacement is not live before it has come there. Nothing is noted where an action of
 * that call or a later one says so already. */
void ft_homelog_reached(uint64_t call);
struct ft_homelog_state {
    int on, broken; /* broken: 0, or one of the next two */
};
extern FT_STATE(struct ft_homelog_state, ft_homelog_now);
#define ft_homelog_now FT_MY(ft_homelog_now)
enum {
    FT_HOMELOG_HOLE = 1, /* something is missing, until all begins anew */
    FT_HOMELOG_AWAY = 2  /* in a kept segment: the home is lost, and what is noted goes to the own
                         copy,  from which the next one is filled */
};
static inline int ft_homelog_logs(void)
{
    return ft_homelog_now.on && ft_homelog_now.broken != FT_HOMELOG_HOLE;
} /* whether actions are logged now */
/* Says that this process did what it cannot log: it is exposed. */
void ft_homelog_incomplete(enum ft_unkept why);
/* An image is about to be taken alone: the run's log, where something was lost of it, begins anew
 * here. 0: it cannot. The process is exposed until ft_homelog_cover is told of an image that was
 * taken since. */
int ft_homelog_begin_anew(void);

#endif
