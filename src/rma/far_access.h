/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_access.h - one-sided accesses to processes of other nodes. Their parts are not mapped, and
 * the lock words that this process sees of them are always taken. So the near way fails at its
 * first look, and comes here. Main only.
 *
 * Main submits and goes on. Data that is put is copied at once; results of gets and fetches are in
 * the program's buffers after the next ft_far_await. What waits here does not attend: an access
 * that was submitted ends by its answer.
 */
#ifndef FT_RMA_FAR_ACCESS_H
#define FT_RMA_FAR_ACCESS_H

#include "rma/rma_internal.h"

/* Sets up p, the part of a process on another node. */
void ft_far_part(const struct ft_win *w, struct ft_winpart *p);

/* As the functions of rma.h without `far`. The caller is inside an access (ft_rma_inside). */
enum ft_status ft_far_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len);
enum ft_status ft_far_get(struct ft_win *w, int target, size_t off, void *buf, size_t len);
/* Enter the access by themselves. The result of ft_far_accumulate is there on return. */
enum ft_status ft_far_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                                 void *result, size_t count, size_t esize,
                                 const struct ft_reducer *op);
enum ft_status ft_far_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                                 size_t esize, const void *operand, const void *compare,
                                 void *result);
/* Asks once for a lock. 1: granted; 0: it was taken for a while, ask again. */
int ft_far_lock(struct ft_win *w, int target, int exclusive);
void ft_far_unlock(struct ft_win *w, int target);
/* All that was submitted to these targets of w (-1: all) is done: complete there, results here. */
void ft_far_await(struct ft_win *w, int target);

#endif
