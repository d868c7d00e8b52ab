/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate_state.h - the state of a gateway: what gateway.c and forget.c share.
 */
#ifndef FT_GATE_GATE_STATE_H
#define FT_GATE_GATE_STATE_H

#include "base/near.h"
#include "gate/accesses.h"
#include "gate/gateway.h"
#include "gate/lanes.h"
#include "gate/mirror.h"
#include "gate/outbox.h"

/* A process of this node. */
struct gate_near {
    int is_there, has_ended; /* all others have been told */
    int unseen;              /* it had gone before its arena could be opened */
    int forgotten;           /* its arena was given back */
    uint64_t asked;          /* its ctl->asked, as it was */
    uint64_t *seen;          /* [nslots]: what the other node was told */
    struct ft_words words;   /* likewise */
};

/* A process of another node. */
struct gate_far {
    int present;   /* it is on the board */
    int closed;    /* how many classes have said that it has ended */
    int forgotten; /* nobody asks for its stand-in, whose heap is empty */
    struct ft_arena arena;
    struct ft_tp tp;          /* this process's, acting as that one */
    struct ft_relay_out *out; /* [near]: channels to it. hdr NULL: none */
    struct ft_relay_in *in;   /* [near]: channels from it */
    uint64_t *unmatched;      /* [near]: in the arena, or 0 */
};

struct ft_gate {
    struct ft_gate_config cfg;
    struct ft_board *b;
    struct ft_wire *wire;
    int from, n;            /* the slots of this node: from, and how many */
    struct gate_near *near; /* [n] */
    struct gate_far *far;   /* [nslots]; those of this node are not used */
    struct ft_tp *look;     /* of some far process: reaches this node's arenas */
    struct ft_outbox box;
    struct ft_access *access;
    struct ft_lanes *lanes;
    uint64_t out; /* nodes that are out, as far as it was acted upon */
    char why[300];
    int stopped;
};

static inline int node_of(const struct ft_gate *g, int slot)
{
    return ft_board_node_of(g->b, slot);
}

static inline int is_near(const struct ft_gate *g, int slot) { return ft_board_near(g->b, slot); }

/* It has neither ended, as far as is known here, nor is its node out. */
static inline int is_there(const struct ft_gate *g, int slot)
{
    return ft_board_slot_end(g->b, slot) == FT_SLOT_THERE;
}

/* forget.c: gives back the arenas of the dead that nobody in the job asks for any more (D5). */
void ft_gate_forget(struct ft_gate *g);

#endif
