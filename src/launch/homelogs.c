/* SPDX-License-Identifier: BSD-3-Clause
 *
 * homelogs.c - ftrun holds the files of home logs.
 */
#include "launch/homelogs.h"

#include <unistd.h>

#include "transport/arena.h"

int ft_homelogs_create(struct ft_board *b, const char *dir)
{
    if (b->nspares == 0)
        return 1; /* nobody is ever replaced */
    for (int r = 0; r < b->nranks; r++) {
        int fd = ft_arena_file(dir);
        if (fd < 0)
            return 0;
        ft_board_keep_homelog(b, r, fd);
    }
    return 1;
}

void ft_homelogs_close(struct ft_board *b)
{
    for (int r = 0; r < b->nranks; r++)
        if (b->slot[r].homelog_fd >= 0)
            close(b->slot[r].homelog_fd);
}
