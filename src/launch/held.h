/* SPDX-License-Identifier: BSD-3-Clause
 *
 * held.h - the arenas of ranks' carriers, kept open by ftrun, or by the keeper of a host for those
 * that are there (F2): no death destroys an image that is to be saved.
 */
#ifndef FT_LAUNCH_HELD_H
#define FT_LAUNCH_HELD_H

#include "base/board.h"

struct ft_held {
    int nranks;
    /* of each rank: how many carriers preceded the one that was seen last, and its arena */
    struct ft_arena_of {
        int64_t incarnation;
        int fd; /* both -1: none was seen */
        /* the arena of an earlier carrier, kept until the present one has the committed image; else
         * -1 */
        int before;
    } * arena; /* NULL: nothing is held */
};

void ft_held_begin(struct ft_held *h, int nranks);
/* Looks for new carriers on the board. When the arenas of all ranks that are on it are open, the
 * board says so, once. */
void ft_held_step(struct ft_held *h, struct ft_board *b);
/* [2 * nranks]: each rank's present carrier and an earlier one, for a writer. */
void ft_held_list(const struct ft_held *h, int *arena);
void ft_held_end(struct ft_held *h);

/* Where an image lies in an arena, and in which of its slots. */
struct ft_held_place {
    int slot;
    uint64_t off, bytes;
};
/* Whether the arena has the rank's image of this version, and nobody writes it. The image's own head
 * says so: an arena that stands in for a process of another node has the words alone. */
int ft_held_image(int fd, int rank, uint64_t version, struct ft_held_place *at);

#endif
