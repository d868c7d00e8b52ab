/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelogs.h - the file that holds the home logs of all ranks (L2). It has no name. Each process of
 * the node holds a descriptor of it from its start on, so it lasts until the last of them has
 * ended, whoever is lost. ftrun makes it, or slot 0 when there is no ftrun.
 *
 *   0                FT_HOMELOG_SPAN    2 * FT_HOMELOG_SPAN
 *   +----------------+------------------+-----
 *   | log of rank 0  | log of rank 1    | ...       (alog/homelog.h)
 *   +----------------+------------------+-----
 *
 * Only a rank's present carrier writes the rank's log. File space is taken as it is needed.
 */
#ifndef FT_BASE_HOMELOGS_H
#define FT_BASE_HOMELOGS_H

#include "base/board.h"

#define FT_HOMELOG_SPAN (1ull << 40)

/* Records that the calling process has made the file and holds it as fd. To be called once, before
 * anybody else looks for it. */
void ft_homelogs_made(struct ft_board *b, int fd);
/* Holds the file in the process of this slot until the process ends: its descriptor is
 * slot[slot].homelogs_fd. Returns 0 with errno; ESRCH: nobody has it. */
int ft_homelogs_hold(struct ft_board *b, int slot);
/* Opens the file, through its maker or another process that holds it. Returns a descriptor to be
 * closed with ft_fd_close, or -1 with errno; ESRCH: nobody has it. Any process, also one that is
 * not part of the job. */
int ft_homelogs_open(const struct ft_board *b, int flags);

#endif
