/* SPDX-License-Identifier: BSD-3-Clause
 *
 * putlog.h - the put log: this process's puts to each other rank, in its own arena (L1), and the
 * values that its combining operations left there. A replacement of the target applies them in the
 * order of their stamps. Main only.
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
/* From here on puts belong to this segment; the run's begins empty. */
void ft_putlog_segment(enum ft_segment seg, int on);
/* Returns room for a record of `bytes` (<= FT_ACT_MAX) for rank, to be filled and published. lo:
 * calls(rank), see L1. NULL: over the budget; rank is then exposed, and in the run this process is,
 * too, which has been recorded. */
struct ft_act *ft_putlog_begin(int rank, uint32_t win, uint64_t off, uint64_t lo, uint32_t bytes);
/* Accesses of this process are not logged until the next cut, or outside of the run for ever. */
void ft_putlog_stop(enum ft_unkept why);
void ft_putlog_publish(int rank, struct ft_act *a);
/* Ends the epoch of window win to rank: all its puts get one stamp, the next after *last (T).
 * Adds which puts got it to the closing note, which goes to the home log; a replacement rebuilds
 * the put log from it. */
void ft_putlog_stamp(int rank, uint32_t win, _Atomic uint64_t *last);
void ft_putlog_note_begin(void);
const char *ft_putlog_note(uint32_t *bytes);
/* If the note is of one put: returns what the epoch does not tell about it; else NULL. The other
 * function makes it a note again, of at most FT_PUTLOG_NOTE_OF_ONE bytes. */
#define FT_PUTLOG_NOTE_OF_ONE 48
struct ft_putlog_one {
    uint64_t stamp, lo, hash[2]; /* hashes: of its place; of its data, with FTRMA_CHECK=data */
};
const struct ft_putlog_one *ft_putlog_note_one(void);
uint32_t ft_putlog_note_of_one(int rank, const struct ft_putlog_one *one, char *out);
/* For the same puts, repeated: gives them their former stamps and lo. Returns 0 if they are not the
 * same (R0); *d says which differ, and what is known of both. */
struct ft_putlog_differs {
    int rank, one; /* rank: the target's world rank; one: there was one put, and is one */
    uint64_t off;  /* its present displacement */
    struct ft_mismatch mismatch;
};
int ft_putlog_stamp_again(uint32_t win, const char *note, uint32_t bytes,
                          struct ft_putlog_differs *d);
/* Notes a checkpoint's cut: what follows is after it. */
void ft_putlog_cut(uint64_t version);
void ft_putlog_trim(uint64_t committed);

/* rank's latest image covers the stamps up to this one: drops chunks from the front that hold
 * nothing else. Only while nobody reads this log in order to replace rank. Returns the bytes that
 * were freed. */
uint64_t ft_putlog_cover(int rank, uint64_t stamp);
uint64_t ft_putlog_kept_for(int rank); /* bytes of the run's log */

/* Collects what all others have logged for rank `me` in this segment after the cut of `version` (0:
 * all), except for records with a stamp of at most `covered`. Returns an array, to be freed by
 * ft_offheap_free, its length and the bytes of data. slot_of: the present carriers. */
struct ft_eligible_act *ft_putlog_gather(struct ft_tp *tp, int nranks, int me, const int *slot_of,
                                         enum ft_segment seg, uint64_t version, uint64_t covered,
                                         size_t *n, uint64_t *bytes);

#endif
