/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lanes.h - lanes that cross from one node to another (transport/lane.h), of endpoints of the
 * transport as a library (src/ftt).
 *
 *   node A                                          node B
 *   p's lane to q's slot  ----- LANE -----> a lane in the dock of p's stand-in, which q reads
 *   dock of q's stand-in  <-- LANE_TAKEN -- how far q has read, in q's dock
 *
 * Both lanes hold the same records at the same places. p writes over none that q has not taken, so
 * there is always room for what comes. A lane belongs to two processes and ends with either of
 * them, so nothing of a lost carrier is ever taken for its replacement's.
 */
#ifndef FT_GATE_LANES_H
#define FT_GATE_LANES_H

#include "gate/outbox.h"
#include "transport/transport.h"

struct ft_lanes;
/* NULL: no memory. tp: reaches the arenas of this node. */
struct ft_lanes *ft_lanes_open(struct ft_board *b, uint64_t arena_bytes);
void ft_lanes_close(struct ft_lanes *l);
/* Sends what the process of slot `near` has written for `far`, all of it, and how far it has read
 * what came from there. */
void ft_lanes_take(struct ft_lanes *l, struct ft_outbox *o, struct ft_tp *tp, int far, int near);
/* LANE has come; stand_in: the arena of the writer's. FT_ERR_NOMEM: that is full; FT_ERR_ARG: no
 * gateway of this job says that. */
enum ft_status ft_lanes_came(struct ft_lanes *l, struct ft_tp *tp, struct ft_arena *stand_in,
                             const struct ft_item *item, const void *data);
/* LANE_TAKEN has come; stand_in: the reader's. */
enum ft_status ft_lanes_taken(struct ft_lanes *l, struct ft_arena *stand_in,
                              const struct ft_item *item);

#endif
