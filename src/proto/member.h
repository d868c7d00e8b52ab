/* SPDX-License-Identifier: BSD-3-Clause
 *
 * member.h - which nodes are members of a job, and when a lost process or node can change nothing any more.
 * Three machines without I/O:
 *
 *   arbiter   in ftrun. It grants leases, hears who cannot reach whom, and says that a node is out.
 *   lease     in the keeper of each node. It asks for the lease, and stops the node's ranks when the lease
 *             ends (Gray and Cheriton, "Leases", SOSP 1989).
 *   fence     in the gateway of each node. It knows which lost processes are closed (all that they had
 *             submitted has come), and which nodes are out (nothing of theirs is applied any more).
 *
 * The agents agree as agree.h says. One rule is added: **an agent answers agree's VOTE only when
 * ft_fence_holds says yes for its set on its node, and while its node's lease lasts.** So a decision implies
 * that every node has drained or fenced whoever is in it, and repair and replay may begin at once. [f dies on
 * A. C hears of it and tells B's agent, while f's last put to B is still under way. B votes at once, all
 * adopt, f' is live, and the old put overwrites what f' has put.]
 *
 * What the shells owe:
 *  - A connection between two gateways loses nothing of a class and keeps its order, until one of the two is
 *    out; it is opened again when it breaks. After OUT it is closed for good, and what still comes is dropped.
 *  - EXITED comes to the fence of the process's own node when all that the process had submitted was handed
 *    to the wire.
 *  - The keepers' clocks go on while a node sleeps (CLOCK_BOOTTIME). They differ from the arbiter's by at most
 *    `drift` in a lease.
 *  - Messages between the arbiter and a node may take any time, and may be lost with their connection.
 *
 * Thread rules: none; the caller serialises. Times have the unit of the caller.
 */
#ifndef FT_PROTO_MEMBER_H
#define FT_PROTO_MEMBER_H

#include "base/base.h"

#define FT_MAX_NODES FT_MAX_SLOTS
#define FT_MEMBER_PAIRS 256 /* reports at one time; more are not needed to see who is cut off */

/* ---- the arbiter ---- */

/* A node is out when its lease is over, when all its processes are known to have ended, or when it and
 * another living node cannot reach each other. In the last case the one goes out that most others cannot
 * reach; of several not the arbiter's own, then the one with fewer ranks, then the one with the higher
 * number. One node goes at a time, and reports are taken again then: what others reported may have been the
 * same fault.
 *
 * A lease is over when the arbiter has lived through more than lease + drift since it granted it. Time in
 * which the arbiter itself stood still does not count, and after that all leases count from the beginning.
 * [`ftrun | less`: the requests of all nodes wait in its buffers, and all of them would be out.] */
struct ft_arbiter_cfg {
    int nnodes, own; /* own: the arbiter's node, whose lease is not looked at; -1: none of them */
    uint64_t lease, drift;
    uint64_t tick; /* TIME comes that often; a gap of more than two of them is a standstill */
    int bearable;  /* so many nodes may be lost together; when more are reported, the arbiter waits up to a
                      lease longer */
};

struct ft_arbiter_node {
    uint64_t granted; /* lived when its lease was last granted */
    uint32_t ranks;
    uint32_t out;
};

struct ft_arbiter {
    struct ft_arbiter_cfg cfg;
    uint64_t lived, now; /* TIME that has passed while it ran; the last TIME */
    uint64_t since;      /* the first of the reports under way came then */
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
    FT_ARBITER_REPORT,   /* node says of `about` whether it is reachable */
    FT_ARBITER_ENDED,    /* node: its guardian has reaped all its processes, and says so */
    FT_ARBITER_BACK, /* node: the connection to it was lost, with what was under way, and is there again */
};
struct ft_arbiter_event {
    enum ft_arbiter_event_kind kind;
    uint64_t now, sent;
    int node, about, reachable;
};
enum ft_arbiter_action_kind {
    FT_ARBITER_GRANT = 1, /* to node: its request of `sent` */
    FT_ARBITER_OUT,       /* to all: `nodes` are out */
    FT_ARBITER_TELL_OUT,  /* to node alone: `nodes` are out, which it may not have heard */
};
struct ft_arbiter_action {
    enum ft_arbiter_action_kind kind; /* 0: nothing */
    int node;
    uint64_t sent;
    enum ft_out_why why;
    struct ft_bitset nodes;
};

/* All nodes have their leases, as of now. ranks: of each node. */
void ft_arbiter_init(struct ft_arbiter *m, const struct ft_arbiter_cfg *cfg, const uint32_t *ranks,
                     uint64_t now);
void ft_arbiter_step(struct ft_arbiter *m, const struct ft_arbiter_event *ev, struct ft_arbiter_action *out);
void ft_arbiter_check(const struct ft_arbiter *m);

/* ---- the lease ---- */

/* It counts from when the granted request was *sent*. [It counts from when the grant came: both had waited
 * for long, the arbiter's own count is over first, and the node is replaced while it runs.] At three quarters
 * the node forwards nothing more and stops its ranks; a later grant lets them go on. The keeper asks on its
 * gateway's word only. [The gateway hangs and the keeper does not: nobody votes, and nobody is out.] */
enum ft_lease_state { FT_LEASE_RUNS, FT_LEASE_STOPPED, FT_LEASE_ENDED };
struct ft_lease {
    uint64_t length, give_up; /* give_up: after the lease's end the node ends of itself after so long */
    uint64_t from;            /* when the newest request that was granted had been sent */
    uint64_t asked;
    enum ft_lease_state state;
};
enum ft_lease_event_kind {
    FT_LEASE_TIME = 1, /* now; gateway: when the gateway was last round its loop */
    FT_LEASE_GRANT,    /* now; of the request of `sent` */
    FT_LEASE_OUT,      /* this node is out, or the job is over */
};
struct ft_lease_event {
    enum ft_lease_event_kind kind;
    uint64_t now, gateway, sent;
};
#define FT_LEASE_ASK 1u   /* ask the arbiter; the request carries `asked` */
#define FT_LEASE_STOP 2u  /* forward nothing, then stop all ranks */
#define FT_LEASE_GO_ON 4u /* ranks go on, output is forwarded */
#define FT_LEASE_END 8u   /* end all processes of the node */

void ft_lease_init(struct ft_lease *m, uint64_t length, uint64_t give_up, uint64_t now);
uint32_t ft_lease_step(struct ft_lease *m, const struct ft_lease_event *ev); /* FT_LEASE_* */
/* Agents ask this themselves before they vote. [The keeper itself is stopped.] */
static inline int ft_lease_lasts(const struct ft_lease *m, uint64_t now)
{
    return m->state != FT_LEASE_ENDED && now - m->from < m->length;
}

/* ---- the fence ---- */

enum ft_fence_class {
    FT_FENCE_OPS,
    FT_FENCE_MSG,
    FT_FENCE_CLASSES
}; /* the wire's classes that carry what counts */
struct ft_fence {
    int self, nnodes, nslots;
    uint64_t limit; /* a node that is unreachable for so long is reported, and again after each half of it */
    struct ft_bitset out;                      /* nodes */
    struct ft_bitset closed[FT_FENCE_CLASSES]; /* slots: CLOSED has come in this class */
    struct ft_bitset broken, reported;         /* nodes */
    uint64_t since[FT_MAX_NODES];              /* broken; then when it was last reported */
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
    struct ft_bitset
        disconnect; /* nodes: close the connection for good, drop what comes, end accesses to them */
    int closed;     /* slot, or -1: send CLOSED of it, in each class, to every node that is not out */
    struct ft_bitset failed; /* slots: tell this node's agents, all in one event */
    struct ft_bitset report,
        reachable; /* nodes: report to the arbiter that they cannot, or can, be reached */
};

void ft_fence_init(struct ft_fence *m, int self, int nnodes, int nslots, const uint16_t *node_of,
                   uint64_t limit);
void ft_fence_step(struct ft_fence *m, const struct ft_fence_event *ev, struct ft_fence_actions *out);
/* Whether each of these slots is closed, or its node is out. */
int ft_fence_holds(const struct ft_fence *m, const struct ft_bitset *slots);

#endif
