/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fetch.h - pieces of images (transport/wanted.h): what this node's processes want of others, and
 * what others want of this node's. A piece goes into one frame; few are under way to one node at a
 * time, so nothing is copied that waits for long.
 */
#ifndef FT_GATE_FETCH_H
#define FT_GATE_FETCH_H

#include "gate/outbox.h"
#include "transport/transport.h"

struct ft_fetch_want {
    struct ft_item item;
    int node; /* that wants it */
};

/* What others want, in order. */
struct ft_fetch {
    struct ft_fetch_want *want;
    int n, room;
};

void ft_fetch_end(struct ft_fetch *f);
/* Takes what main of this node has asked for since *seen: an item for the node of each piece's
 * slot, which node_of tells. Returns how many there were. board: slots that are out have GONE. */
int ft_fetch_ask(struct ft_outbox *o, const struct ft_board *b, int near, struct ft_ctl *ctl,
                 uint64_t *seen);
/* WANT has come. 0: no memory. */
int ft_fetch_note(struct ft_fetch *f, int node, const struct ft_item *item);
/* Answers what can be sent now. tp: through which this node's arenas are reached. Returns how many
 * it has answered. */
int ft_fetch_serve(struct ft_fetch *f, struct ft_outbox *o, struct ft_tp *tp);
/* PIECE has come for main of this node, whose arena begins at base. 0: nobody has asked for it. */
int ft_fetch_came(const struct ft_item *item, const void *data, char *base, uint64_t arena_bytes,
                  struct ft_ctl *ctl);
/* A node is out. */
void ft_fetch_drop(struct ft_fetch *f, int node);
void ft_fetch_gone(const struct ft_board *b, struct ft_ctl *ctl, int node);

#endif
