/* SPDX-License-Identifier: BSD-3-Clause
 *
 * near.h - a job on several nodes has a board for each of them. There the entry of a slot of
 * another node is that of its stand-in: the gateway of this node, with an arena that it owns
 * (src/gate/gateway.h).
 */
#ifndef FT_BASE_NEAR_H
#define FT_BASE_NEAR_H

#include "base/board.h"

/* How a slot of another node ended. CLOSED: its process has ended, and all has come that it had
 * sent. OUT: its node is out, and nothing of it comes any more. */
enum ft_slot_end { FT_SLOT_THERE, FT_SLOT_CLOSED, FT_SLOT_OUT };

/* slot is on this board's node. */
static inline int ft_board_near(const struct ft_board *b, int slot)
{
    return slot >= b->near_from && slot < b->near_end;
}

/* 1: ranks and gateways that compute on this machine outnumber the cores that this process may use,
 * so a process that waits should give them away soon. */
int ft_board_crowded(const struct ft_board *b);

/* The node of a slot; 0 in a job on one node. */
static inline int ft_board_node_of(const struct ft_board *b, int slot)
{
    int k = 0;
    while (k < b->nodes.n && slot >= b->nodes.end[k])
        k++;
    return k;
}

static inline int ft_board_node_from(const struct ft_board *b, int node)
{
    return node ? b->nodes.end[node - 1] : 0;
}

/* Wakes the gateway of this node, if it sleeps; enters the kernel only then. */
void ft_gate_bell_ring(struct ft_board *b);

/* Also of a slot of this node, when its keeper has seen its process end: CLOSED. */
static inline enum ft_slot_end ft_board_slot_end(const struct ft_board *b, int slot)
{
    if (atomic_load(&b->nodes.out) >> ft_board_node_of(b, slot) & 1)
        return FT_SLOT_OUT;
    return atomic_load(&b->slot[slot].ended) ? FT_SLOT_CLOSED : FT_SLOT_THERE;
}

#endif
