/* SPDX-License-Identifier: BSD-3-Clause
 *
 * nodes.h - a job on several nodes: hosts (--host), or parts of this machine (--virtual-nodes K).
 *
 * Each node has a board of its own, and two processes of ftrma's own:
 *
 *   keeper    holds the node's board, sees its processes end, and is the parent of
 *   gateway   carries all that goes between this node's processes and others' (src/gate)
 *
 * On virtual nodes mpirun starts the program's processes, on hosts the keeper does, and ftrun has a
 * copy of the keeper's board (remote.h). Nothing is mapped over the border between two nodes;
 * ftrun itself sees all: in its own board each slot is that of the slot's node. What ends the job
 * on one node is told to the others by ftrun. A node whose keeper or gateway ends is out: ftrun
 * kills its processes, and tells the others.
 *
 * A job on one node has nothing of this.
 */
#ifndef FT_LAUNCH_NODES_H
#define FT_LAUNCH_NODES_H

#include <sys/types.h>

#include "base/board.h"
#include "topology/node_spread.h"

struct ft_stdin;

struct ft_node {
    struct ft_board *board;
    int fd, listener; /* the board's; the gateway's socket. The board has home logs of its own */
    int end;          /* the slots below this one that are on no earlier node are on this one */
    char address[32];
    pid_t keeper;
    uint64_t lost_ns; /* when its end was seen; 0: it lives */
    int over;         /* the end of the job was told there */
    int out;          /* the job goes on without it */
};

struct ft_nodes {
    int n;                    /* 0: the job is on one node */
    struct ft_remote *remote; /* NULL: all nodes are cut out of this machine */
    struct ft_node node[FT_NODES];
};

/* The names of the slots' nodes, for their layout. names: of hosts; NULL: virtual nodes. Fewer than
 * 2 nodes: nothing. */
void ft_nodes_hosts(const struct ft_spread_ask *cut, const char *const *names, const char **host);
/* Cuts the slots of the board into nodes (fewer than 2: nothing), as ft_spread_counts says.
 * Whatever ftrun has written to its board before is on the nodes' boards, too; what it writes to a
 * slot from now on is there. remote: NULL, or the hosts that the nodes are. 0: errno says why not.
 */
int ft_nodes_make(struct ft_nodes *nodes, const struct ft_spread_ask *cut, struct ft_board *b,
                  struct ft_remote *remote);
/* Sets FTRMA_BOARD: where each process finds its board (ft_board_open). board_fd: of the one board
 * of a job on one node. */
void ft_nodes_name(const struct ft_nodes *nodes, int board_fd, const char *host);
/* Starts the keepers. After all that is written to boards before the start. input: of which they
 * keep nothing; NULL: there is none. 0: err says why. */
int ft_nodes_start(struct ft_nodes *nodes, struct ft_board *b, const struct ft_stdin *input,
                   char *err, int errlen);
/* What has happened on the nodes' boards comes to the board, and the end of the job to the nodes.
 * say: as below. */
void ft_nodes_step(struct ft_nodes *nodes, struct ft_board *b, void (*say)(const char *line));
/* A child has ended: 1: it was a keeper. say: prints a line for a node that the job goes on
 * without; NULL: nobody wants to know. */
int ft_nodes_reaped(struct ft_nodes *nodes, struct ft_board *b, pid_t pid,
                    void (*say)(const char *line));

#endif
