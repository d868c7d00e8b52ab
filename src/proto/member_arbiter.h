/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member_arbiter.h - the machine in ftrun that decides which nodes are out (member.h).
 */
#ifndef FT_PROTO_MEMBER_ARBITER_H
#define FT_PROTO_MEMBER_ARBITER_H

#include "base/base.h"

#define FT_MAX_NODES FT_MAX_SLOTS
#define FT_MEMBER_PAIRS 256 /* reports at one time; more are not needed to see who is cut off */

/* A node is out when its lease is over, when all its processes are known to have ended, or when it
 * and another living node cannot reach each other. In the last case a node goes out first that has
 * not asked for its lease for half of it. [Two nodes; one loses its power. The other has fewer
 * ranks, and goes out before the lease of the lost one is over: both are lost.] Else the node goes
 * out that most others cannot reach; among equals not the arbiter's own, then the one with fewer
 * ranks, then the one with the higher number. One node goes out at a time, and then reports are
 * collected again: the others' reports may have had the same cause.
 *
 * A lease is over when the arbiter has lived through more than lease + drift since it granted it.
 * The first one is longer, as a node asks only after it has started. [A loaded host takes longer
 * than a lease to start its gateway and its processes.]
 * Time in which the arbiter itself stood still does not count, and after that all leases start
 * again. [`ftrun | less`: the requests of all nodes wait in its buffers, and all of them would be
 * out.] */
struct ft_arbiter_cfg {
    int nnodes, own; /* own: the arbiter's node, whose lease is not checked; -1: none */
    uint64_t lease, drift;
    uint64_t first; /* what a node may take to ask for the first time, if longer than a lease */
    uint64_t tick;  /* the period of TIME; a gap of more than two of them is a standstill */
    int bearable;   /* the number of nodes that may be lost together; when more are reported, the
                       arbiter waits up to a lease longer */
};

struct ft_arbiter_node {
    uint64_t granted; /* lived when its lease was last granted */
    uint32_t ranks;
    uint32_t asked, out; /* asked: at least once */
};

struct ft_arbiter {
    struct ft_arbiter_cfg cfg;
    uint64_t lived, now; /* TIME that has passed while it ran; the last TIME */
    uint64_t since;      /* when the first of the present reports came */
    int npairs;
    struct {
        uint16_t a, b;
    } pair[FT_MEMBER_PAIRS];
    struct ft_arbiter_node node[FT_MAX_NODES];
};

enum ft_out_why { FT_OUT_LEASE = 1, FT_OUT_ENDED, FT_OUT_UNREACHABLE };

enum ft_arbiter_event_kind {
    FT_ARBITER_TIME = 1, /* once in a tick. All events carry `now` */
    FT_ARBITER_RENEW,    /* node asks, at its own time `sent` */
    FT_ARBITER_REPORT,   /* node says whether it can reach `about` */
    FT_ARBITER_ENDED,    /* node: its guardian has reaped all its processes, and reports it */
    /* node: the connection to it was lost, with what was under way, and exists again */
    FT_ARBITER_BACK,
};
struct ft_arbiter_event {
    enum ft_arbiter_event_kind kind;
    uint64_t now, sent;
    int node, about, reachable;
};
enum ft_arbiter_action_kind {
    FT_ARBITER_GRANT = 1, /* to node: its request of `sent` */
    FT_ARBITER_OUT,       /* to all: `nodes` are out */
    FT_ARBITER_TELL_OUT,  /* to node alone: `nodes` are out; it may not have heard this */
};
struct ft_arbiter_action {
    enum ft_arbiter_action_kind kind; /* 0: nothing */
    int node;
    uint64_t sent;
    enum ft_out_why why;
    struct ft_bitset nodes;
};

/* Starts with all nodes having leases from now on. ranks: of each node. */
void ft_arbiter_init(struct ft_arbiter *m, const struct ft_arbiter_cfg *cfg, const uint32_t *ranks,
                     uint64_t now);
void ft_arbiter_step(struct ft_arbiter *m, const struct ft_arbiter_event *ev,
                     struct ft_arbiter_action *out);
void ft_arbiter_check(const struct ft_arbiter *m);

#endif
