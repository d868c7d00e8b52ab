/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_log.h - what a replay needs of ranks on other nodes: their put logs for this rank, their
 * counts (ACC), and the locks that they hold here. It is copied out of their arenas when they have
 * said that they access this rank no more (rejoined): from then on it does not change before this
 * process is live.
 */
#ifndef FT_RMA_FAR_LOG_H
#define FT_RMA_FAR_LOG_H

#include "alog/chan.h"
#include "transport/arena.h"

/* Fetches this for a segment, in place of what was fetched before. Main; waits for answers, and
 * does not attend. 0: here it is; -1: there is no room, or a node is out. */
int ft_far_log_fetch(enum ft_segment seg);
void ft_far_log_drop(void);
/* The control block of the rank's carrier. Of another node: as much as was fetched (`cut`, and the
 * entry of this rank in `peer`), at the begin of a copy of its arena that also has its put log for
 * this rank; NULL: nothing was. */
struct ft_ctl *ft_far_log_ctl(int rank);
/* What a rank of another node holds in this process's part of window `win`: FT_HELD_*. me: the own
 * rank in the window. */
int ft_far_log_held(int rank, uint64_t win, int me);

/* Copies a part of the home log of a rank, as the node of slot has it. That process has ended; it
 * carried the rank. Main; does not attend. Returns 0 if its node is out, or has no such file. */
int ft_far_read_home(int slot, int rank, uint64_t off, void *to, uint64_t len);

/* Agent. lost: what main has asked of another node has no result, since that node is out, and main
 * has not gone back since. unanswered: something is not answered; or it is lost, unless all go back
 * (back 1). [The record of a put has no lo, and f' would read it.] [f' waits for main in setup,
 * main stands at body's end until it is told to restore, and that waits for f'.] */
int ft_far_lost(const struct ft_arena *own);
int ft_far_unanswered(const struct ft_arena *own, int back);

#endif
