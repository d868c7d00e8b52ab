/* SPDX-License-Identifier: BSD-3-Clause
 *
 * keeper.h - what each keeper of a node does: it is the parent of the node's gateway, and sees the
 * node's processes end. See nodes.h.
 */
#ifndef FT_LAUNCH_KEEPER_H
#define FT_LAUNCH_KEEPER_H

#include <poll.h>
#include <sys/types.h>

#include "base/board.h"
#include "gate/gateway.h"

struct ft_keeper_gateway {
    struct ft_board *board; /* of this node */
    int self;
    const char *const *address; /* of each node */
    int listener;               /* listens at our address */
    struct ft_wire_secret secret;
    uint64_t lease_ns; /* 0: the node has none, since ftrun sees it end */
};
/* Starts the node's gateway, which dies with the calling process. Its pid, or -1 with errno. */
pid_t ft_keeper_gateway(const struct ft_keeper_gateway *cfg);
/* A socket that listens at this numeric address, at a port that the kernel chooses; "address:port"
 * is written to `out`. -1 with errno. */
int ft_keeper_listen(const char *address, char *out, size_t size);
/* FTRMA_LEASE_MS, which was checked; 0: no host is lost because nothing is heard of it. */
uint64_t ft_keeper_lease_ns(void);
/* FTRMA_START_TIMEOUT_MS, which was checked: how long a host may take to start. Below 0: for ever.
 */
int ft_keeper_start_ms(void);
/* Dies with its parent. */
void ft_keeper_depend_on(pid_t parent);

/* The node's processes, each with a descriptor that is ready for reading when it has ended. */
struct ft_keeper {
    struct ft_board *b;
    int n;
    struct pollfd p[FT_MAX_SLOTS + 6]; /* the first n are its own; its user adds others */
};
void ft_keeper_begin(struct ft_keeper *k, struct ft_board *b);
/* Looks at them, after each poll: a process that has ended without a word is `ended` on the board.
 * To be called at least each FT_KEEPER_LOOK_MS: a process is not there from the beginning. */
void ft_keeper_look(struct ft_keeper *k);
#define FT_KEEPER_LOOK_MS 100

#endif
