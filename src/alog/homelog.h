/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelog.h - the home log: what a process has learnt and cannot find out again, stored where it
 * outlives the process (L2).
 *
 * It holds the results of gets and combining operations, outcomes of wildcards and completions,
 * granted locks and closed epochs. Each is an action in one log, in the order in which they
 * happened, with the number of its call. The log lies in a file that every process of the job holds
 * (base/homelogs.h).
 *
 * The paper keeps a log of p's gets (LG_q[p]) at each target q. One log at one place has three
 * advantages. It gives a total order, so a replay walks along it. It replaces the copies of EC, of
 * GC and of the sets Q and N: a get is logged when its data is copied, before anybody can use it,
 * and an epoch is closed when its CLOSE is there. And the loss of a process exposes no other rank.
 *
 * Segments are those of channels. Setup and what follows FTRMA_Run are kept for ever. The run's
 * segment is trimmed to the last committed cut.
 *
 * A replacement first reads the log; `ft_replay` says whether it does. Main only.
 */
#ifndef FT_ALOG_HOMELOG_H
#define FT_ALOG_HOMELOG_H

#include "alog/calls.h"
#include "alog/chan.h"
#include "alog/log.h"
#include "alog/mismatch.h"
#include "alog/whole.h"
#include "base/engine.h"
#include "base/homelogs.h"

/* Lies at the rank's place in the file. Offsets in these logs count from there. */
struct ft_homelog_head {
    struct ft_log_hdr seg[FT_SEG_COUNT];
    _Atomic uint64_t end; /* offset after the last chunk ever taken */
};

/* recorded: in a replacement, the number of actions in kept segments that the lost process of this
 * rank had; else 0. logging: 0 if nobody could ever be replaced: then nothing is kept. Returns 0 if
 * recorded actions cannot be read: there are no addresses where the log could be mapped (then
 * ft_homelog_now.broken is set), or it was lost with another node. */
int ft_homelog_init(struct ft_tp *tp, int myrank, int replacement, uint64_t recorded, int logging);
/* Before that, in a replacement that may be on another node than the lost process: setup's actions,
 * as in an image. They are used where the node's own log of this rank does not have them all. */
void ft_homelog_give_setup(const char *setup, size_t bytes);
/* Before that, too: the lost process's log is on another node. read copies [off, off + len) of it;
 * 0: it cannot be had. ft_homelog_init then copies the log to its place on this node. */
typedef int ft_homelog_read_fn(uint64_t off, void *to, uint64_t len);
void ft_homelog_fetch_by(ft_homelog_read_fn *read);
/* Setup's actions for an image that is saved in a file (F7): their size, and a copy. */
size_t ft_homelog_setup_bytes(void);
void ft_homelog_setup_save(char *out);
/* From here on actions belong to this segment; the run's begins empty. on: 1 if they are logged. */
void ft_homelog_segment(enum ft_segment seg, int on);
/* Notes a checkpoint's cut at the present end of the log, and returns it. */
struct ft_log_place ft_homelog_cut(uint64_t version);
void ft_homelog_set_cut(uint64_t version, uint64_t seq); /* that of a restored image */
/* ft_homelog_place: the log's present end, without a cut. ft_homelog_cover: the latest image, taken
 * since the cut of `version`, needs nothing before seq. It returns 1 if this ends the exposure of
 * this process for what its log had lost. */
struct ft_log_place ft_homelog_place(void);
int ft_homelog_cover(uint64_t version, uint64_t seq);
uint64_t ft_homelog_kept(void); /* bytes of the run's log */
/* Actions before this committed version's cut are no longer needed. To be called only when all
 * ranks are known to have committed it. [p alone has, drops what lies before, and is lost: p' goes
 * back to the checkpoint before, and what it would repeat is gone. The put log and channels are
 * lost with p.] */
void ft_homelog_trim(uint64_t committed);

/* Begins an action of call `ft_calls`; NULL when nothing is logged. The caller must fill it, and
 * publish it before the call goes on. */
struct ft_act *ft_homelog_begin(enum ft_act_kind kind, uint32_t win, int where, uint64_t off,
                                uint32_t bytes);
void ft_homelog_publish(struct ft_act *a);
/* Does begin, memcpy and publish. */
void ft_homelog_note(enum ft_act_kind kind, uint32_t win, int where, uint64_t off, const void *data,
                     uint32_t bytes);
/* Others learn that this process has come to `call` by something that is neither a message nor an
 * access. So a replacement is not live before it has come there. Notes nothing if an action of that
 * call or a later one says so already. */
void ft_homelog_reached(uint64_t call);
struct ft_homelog_state {
    int on, broken; /* broken: 0 or FT_HOMELOG_HOLE */
    int missing; /* what the lost process had logged cannot be fetched */
};
extern FT_STATE(struct ft_homelog_state, ft_homelog_now);
#define ft_homelog_now FT_MY(ft_homelog_now)
enum { FT_HOMELOG_HOLE = 1 }; /* something is missing, until the log begins again */
/* Whether actions are logged now. */
static inline int ft_homelog_logs(void)
{
    return ft_homelog_now.on && ft_homelog_now.broken != FT_HOMELOG_HOLE;
}
/* This process did what it cannot log: it is exposed. */
void ft_homelog_incomplete(enum ft_unkept why);
/* All have gone back: what was logged before does not matter, and no more is missing. */
void ft_homelog_all_went_back(void);
/* An image is about to be taken alone. If the run's log has lost something, it begins again here.
 * Returns 0 if it cannot. The process stays exposed until ft_homelog_cover is told of an image that
 * was taken since. */
int ft_homelog_begin_anew(void);

#endif
