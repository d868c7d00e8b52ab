/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelogs.h - ftrun holds an unnamed file for the home log of each rank (alog/homelog.h), so that
 * the log outlives the process that writes it. ftrun does nothing else with it.
 */
#ifndef FT_LAUNCH_HOMELOGS_H
#define FT_LAUNCH_HOMELOGS_H

#include "base/board.h"

/* To be called before anything is started. dir: as FTRMA_ARENA_DIR. Returns 0 with errno if not all
 * files could be made; a rank without one logs at the next rank. */
int ft_homelogs_create(struct ft_board *b, const char *dir);
void ft_homelogs_close(struct ft_board *b);

#endif
