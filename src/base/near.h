/* SPDX-License-Identifier: BSD-3-Clause
 *
 * near.h - a job on several nodes has a board for each of them. There the entry of a slot of
 * another node is that of its stand-in: the gateway of this node, with an arena that it owns
 * (src/gate/gateway.h).
 */
#ifndef FT_BASE_NEAR_H
#define FT_BASE_NEAR_H

#include "base/board.h"

/* slot is on this board's node. */
static inline int ft_board_near(const struct ft_board *b, int slot)
{
    return slot >= b->near_from && slot < b->near_end;
}

#endif
