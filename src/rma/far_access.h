/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_access.h - one-sided accesses to processes of other nodes. Their parts are not mapped, and
 * the lock words that this process sees of them are always taken. So the near way fails at its
 * first look, and comes here. Main only.
 *
 * Main submits and goes on. Data that is put is copied at once. What waits here does not attend: an
 * access that was submitted ends by its answer.
 *
 * While nothing is logged, results of gets and fetches are in the program's buffers after the next
 * ft_far_await. What is logged is there on return: a get; the old contents for a combining
 * operation, which is noted before it is committed. Only a put's record is not complete on return:
 * lo is written into it with the answer. If the target had ended before it could answer, a get or
 * an atomic is asked of its rank's next carrier. If that one is on this node, FT_ERR_AGAIN says so:
 * nothing was done, this process is inside of no access, and the caller goes the near way.
 */
#ifndef FT_RMA_FAR_ACCESS_H
#define FT_RMA_FAR_ACCESS_H

#include "rma/rma_internal.h"

/* Sets up p, the part of a process on another node. */
void ft_far_part(const struct ft_win *w, struct ft_winpart *p);

/* As the functions of rma.h without `far`. The caller is inside an access (ft_rma_inside). The put
 * is logged here. */
enum ft_status ft_far_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len);
enum ft_status ft_far_get(struct ft_win *w, int target, size_t off, void *buf, size_t len);
/* For operations that are not logged. They enter the access by themselves. */
enum ft_status ft_far_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                                 void *result, size_t count, size_t esize,
                                 const struct ft_reducer *op);
enum ft_status ft_far_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                                 size_t esize, const void *operand, const void *compare,
                                 void *result);
/* One that is logged, of at most FT_PIECE bytes. ft_far_look enters the access, which the caller
 * leaves, unless it returns FT_ERR_AGAIN, and reads the old contents. change: inside the critical
 * section, with a stamp; if that is FT_OK, the caller writes its logs, and then calls ft_far_leave,
 * which writes the new contents (left; NULL: none) around their holes, stores the count (ACC) and
 * leaves the section. */
enum ft_status ft_far_look(struct ft_win *w, int target, size_t off, size_t len, int change,
                           void *now, struct ft_far_told *told);
enum ft_status ft_far_leave(struct ft_win *w, int target, size_t off, const void *left, size_t len,
                            struct ft_hole hole, uint64_t count);
/* Asks once for a lock. 1: granted; 0: it was taken for a while, or its owner has ended. */
int ft_far_lock(struct ft_win *w, int target, int exclusive);
void ft_far_unlock(struct ft_win *w, int target);
/* At the end of a replay: frees the words of this rank at other nodes for locks that it does not
 * hold. Returns 0 if there is no room to ask for all of that; call it again. next: 0 at first. Does
 * not wait; main, or the agent in its place. */
int ft_far_free_left_over(int *next);
/* All that was submitted to these targets of w (-1: all) is done: complete there, results here. */
void ft_far_await(struct ft_win *w, int target);
/* Ends the epoch to these targets, as far as they are on other nodes: their puts get stamps. They
 * are not dirty any more. All is answered. At a cut: without being inside of an access. */
void ft_far_stamp(struct ft_win *w, int target);
void ft_far_stamp_at_cut(struct ft_win *w);
/* Copies what slot, a process of another node, has in its arena. That process may have ended.
 * Returns 0 if its node is out. */
int ft_far_read(int slot, uint64_t off, void *to, uint64_t len);
/* ACC(me -> rank) is count at the target, too, before anything that this process asks for later. */
void ft_far_tell_count(int rank, uint64_t count);

#endif
