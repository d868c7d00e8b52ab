/* SPDX-License-Identifier: BSD-3-Clause
 *
 * putlog.h - the put log: this process's puts to each other rank, in its own arena (L1), and what
 * the combining operations left behind there: a replacement of the target applies them in the order
 * of their stamps. Main thread only.
 */
#ifndef FT_RMA_PUTLOG_H
#define FT_RMA_PUTLOG_H

#include "alog/chan.h"
#include "alog/eligible.h"
#include "alog/log.h"
#include "alog/mismatch.h"
#include "base/engine.h"

extern FT_STATE(int, ft_putlog_on); /* puts are logged now */
#define ft_putlog_on FT_MY(ft_putlog_on)

void ft_putlog_init(struct ft_tp *tp, int nranks, int myrank);
/* From here on puts belong to this segment of the run; its own begins empty. */
void ft_putlog_segment(enum ft_segment seg, int on);
/* A record of `bytes` (<= FT_ACT_MAX) for rank, not yet there: to be filled and published. lo:
 * calls(rank), see L1. NULL: over the budget; rank is exposed then, which was noted. */
struct ft_act *ft_putlog_begin(int rank, uint32_t win, uint64_t off, uint64_t lo, uint32_t bytes);
void ft_putlog_publish(int rank, struct ft_act *a);
/* The epoch of window win towards rank, whose control block is ctl, ends: one stamp for all of its
 * puts. What was stamped how is added to the closing note, which goes to the log home: a
 * replacement makes the put log again from it. */
void ft_putlog_stamp(int rank, uint32_t win, struct ft_ctl *ctl);
void ft_putlog_note_begin(void);
const char *ft_putlog_note(uint32_t *bytes);
/* The note, if it is of one put: what of it is not known from the epoch; else NULL. And that as a
 * note again: at most FT_PUTLOG_NOTE_OF_ONE bytes. */
#define FT_PUTLOG_NOTE_OF_ONE 48
struct ft_putlog_one {
    uint64_t stamp, lo, hash[2]; /* of where it went; of its data, with FTRMA_CHECK=data */
};
const struct ft_putlog_one *ft_putlog_note_one(void);
uint32_t ft_putlog_note_of_one(int rank, const struct ft_putlog_one *one, char *out);
/* The same puts, repeated: the stamps and lo that they had then. 0: they are not the same (R0):
 * which, and what is known of both. */
struct ft_putlog_differs {
    int rank, one; /* the target's in the world; one: there was, and is, one put */
    uint64_t off;  /* where that goes now */
    struct ft_mismatch mismatch;
};
int ft_putlog_stamp_again(uint32_t win, const char *note, uint32_t bytes,
                          struct ft_putlog_differs *d);
/* A checkpoint's cut: what follows is after it. */
void ft_putlog_cut(uint64_t version);
void ft_putlog_trim(uint64_t committed);

/* rank's latest image covers the stamps up to this one: chunks that hold nothing else are dropped
 * from the front. Only while nobody reads this log in order to replace rank. Returns the bytes that
 * were freed. */
uint64_t ft_putlog_cover(int rank, uint64_t stamp);
uint64_t ft_putlog_kept_for(int rank); /* bytes of the run's log */

/* What all others have logged for rank `me`, in this segment and after the cut of `version` (0:
 * all), but for what has a stamp of at most `covered`: an array for ft_offheap_free, how many,
 * their bytes. slot_of: the carriers. */
struct ft_eligible_act *ft_putlog_gather(struct ft_tp *tp, int nranks, int me, const int *slot_of,
                                         enum ft_segment seg, uint64_t version, uint64_t covered,
                                         size_t *n, uint64_t *bytes);

#endif
