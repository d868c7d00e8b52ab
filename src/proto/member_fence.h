/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_fence.h - the machine in the gateway of each node that knows from which lost processes and
 * nodes nothing comes any more (member.h).
 */
#ifndef FT_PROTO_MEMBER_FENCE_H
#define FT_PROTO_MEMBER_FENCE_H

#include "proto/member_arbiter.h"

enum ft_fence_class {
    FT_FENCE_OPS,
    FT_FENCE_MSG,
    FT_FENCE_CLASSES
}; /* the wire's classes that carry what counts */
struct ft_fence {
    int self, nnodes, nslots;
    /* a node that is unreachable for this time is reported, and again after each half of it */
    uint64_t limit;
    struct ft_bitset out;                      /* nodes */
    struct ft_bitset closed[FT_FENCE_CLASSES]; /* slots: CLOSED has come in this class */
    struct ft_bitset broken, reported;         /* nodes */
    uint64_t since[FT_MAX_NODES];              /* time of the break; later, of the last report */
    uint16_t node_of[FT_MAX_SLOTS];
};
enum ft_fence_event_kind {
    FT_FENCE_EXITED = 1, /* slot, of this node; all that it had submitted was handed to the wire */
    FT_FENCE_CLOSED,     /* slot: that frame came in `class` */
    FT_FENCE_OUT,        /* nodes */
    FT_FENCE_BROKEN,     /* node; now */
    FT_FENCE_MENDED,     /* node */
    FT_FENCE_TIME,       /* now */
};
struct ft_fence_event {
    enum ft_fence_event_kind kind;
    int slot, node;
    enum ft_fence_class class;
    uint64_t now;
    struct ft_bitset nodes;
};
/* To be carried out in this order. */
struct ft_fence_actions {
    struct ft_bitset disconnect; /* nodes: close the connection for good, drop what comes, end
                                    accesses to them */
    int closed; /* slot, or -1: send CLOSED of it, in each class, to every node that is not out */
    struct ft_bitset failed; /* slots: tell this node's agents, all in one event */
    struct ft_bitset report,
        reachable; /* nodes: report to the arbiter whether they can be reached */
};

void ft_fence_init(struct ft_fence *m, int self, int nnodes, int nslots, const uint16_t *node_of,
                   uint64_t limit);
void ft_fence_step(struct ft_fence *m, const struct ft_fence_event *ev,
                   struct ft_fence_actions *out);
/* Whether each of these slots is closed, or its node is out. */
int ft_fence_holds(const struct ft_fence *m, const struct ft_bitset *slots);

#endif
