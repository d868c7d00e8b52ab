/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelogs.h - ftrun holds a file without a name for the home log of each rank (alog/homelog.h), so
 * that the log outlives the process that writes it. ftrun does nothing else with it.
 */
#ifndef FT_LAUNCH_HOMELOGS_H
#define FT_LAUNCH_HOMELOGS_H

#include "base/board.h"

/* Before anything is started. dir: as FTRMA_ARENA_DIR. 0 (errno): not all of them could be made; a
 * rank without one logs at the next rank. */
int ft_homelogs_create(struct ft_board *b, const char *dir);
void ft_homelogs_close(struct ft_board *b);

#endif
