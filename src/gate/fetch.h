/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fetch.h - sums of images over several nodes, piece by piece (transport/wanted.h, C5b). A request
 * carries all that is needed: whose images are still to be added, and what was added so far. So a
 * gateway on the way keeps nothing, and each link carries a piece once, however many images are
 * added.
 */
#ifndef FT_GATE_FETCH_H
#define FT_GATE_FETCH_H

#include "gate/outbox.h"
#include "transport/transport.h"

/* Sends on what main of this node has asked for since *seen. Returns how many requests there were.
 * b: slots that are out make a request GONE. */
int ft_fetch_ask(struct ft_outbox *o, const struct ft_board *b, int near, struct ft_ctl *ctl,
                 uint64_t *seen);
/* FOLD has come: adds this node's images, and sends it on. tp: through which this node's arenas are
 * reached. 0: no gateway of this job says that. */
int ft_fetch_fold(struct ft_outbox *o, const struct ft_board *b, struct ft_tp *tp,
                  const struct ft_item *item, const void *data);
/* PIECE has come for main of this node, whose arena begins at base. 0: nobody waits for it. */
int ft_fetch_came(const struct ft_item *item, const void *data, char *base, uint64_t arena_bytes,
                  struct ft_ctl *ctl);
/* A node is out: what was to come over it does not come any more. */
void ft_fetch_gone(const struct ft_board *b, struct ft_ctl *ctl, int node);

#endif
