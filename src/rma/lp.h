/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lp.h - LP: this process's puts to each other rank, in its own arena (L1), and what the combining operations left behind
 * there: a replacement of the target applies them in the order of their stamps. Main thread only.
 */
#ifndef FT_RMA_LP_H
#define FT_RMA_LP_H

#include "alog/both.h"
#include "alog/chan.h"
#include "alog/log.h"
#include "alog/order.h"

extern int ft_lp_on; /* puts are logged now */

void ft_lp_init(struct ft_tp *tp, int nranks, int myrank);
/* From here on puts belong to this segment of the run; its own begins empty. */
void ft_lp_segment(enum ft_segment seg, int on);
/* A record of `bytes` (<= FT_ACT_MAX) for rank, not yet there: to be filled and published. lo: calls(rank), see L1. NULL:
 * over the budget; rank is exposed then, which was noted. */
struct ft_act *ft_lp_begin(int rank, uint32_t win, uint64_t off, uint64_t lo, uint32_t bytes);
void ft_lp_publish(int rank, struct ft_act *a);
/* The epoch of window win towards rank, whose control block is ctl, ends: one stamp for all of its puts. What was stamped how is
 * added to the closing note, which goes to the log home: a replacement makes LP anew from it. */
void ft_lp_stamp(int rank, uint32_t win, struct ft_ctl *ctl);
void ft_lp_note_begin(void);
const char *ft_lp_note(uint32_t *bytes);
/* The note, if it is of one put: what of it is not known from the epoch; else NULL. And that as a note again: at most FT_LP_NOTE_OF_ONE
 * bytes. */
#define FT_LP_NOTE_OF_ONE 48
struct ft_lp_one {
    uint64_t stamp, lo, hash[2]; /* of where it went; of its data, with FTRMA_CHECK=data */
};
const struct ft_lp_one *ft_lp_note_one(void);
uint32_t ft_lp_note_of_one(int rank, const struct ft_lp_one *one, char *out);
/* The same puts, repeated: the stamps and lo that they had then. 0: they are not the same (R0): which, and what is known of both. */
struct ft_lp_differs {
    int rank, one; /* the target's in the world; one: there was, and is, one put */
    uint64_t off;  /* where that goes now */
    struct ft_both both;
};
int ft_lp_stamp_again(uint32_t win, const char *note, uint32_t bytes, struct ft_lp_differs *d);
/* A checkpoint's cut: what follows is after it. */
void ft_lp_cut(uint64_t version);
void ft_lp_trim(uint64_t committed);

/* rank's latest image covers the stamps up to this one: chunks that hold nothing else are dropped from the front. Only while
 * nobody reads this log in order to replace rank. Returns the bytes that were freed. */
uint64_t ft_lp_cover(int rank, uint64_t stamp);
uint64_t ft_lp_kept_for(int rank); /* bytes of the run's log */

/* What all others have logged for rank `me`, in this segment and after the cut of `version` (0: all), but for what has a stamp of
 * at most `covered`: an array for ft_own_free, how many, their bytes. slot_of: the carriers. */
struct ft_replay_act *ft_lp_gather(struct ft_tp *tp, int nranks, int me, const int *slot_of, enum ft_segment seg,
                                   uint64_t version, uint64_t covered, size_t *n, uint64_t *bytes);

#endif
