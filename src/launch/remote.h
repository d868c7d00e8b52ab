/* SPDX-License-Identifier: BSD-3-Clause
 *
 * remote.h - ftrun's view of nodes on other hosts. Each has a keeper there (keeper_main.h), started
 * by a command such as ssh. ftrun keeps a copy of each node's board, which the keeper brings up to
 * date, and appends what the node's processes print to its own files. So all of ftrun that reads
 * boards and outputs does so as on one node; only times and limits of processes are not to be had.
 */
#ifndef FT_LAUNCH_REMOTE_H
#define FT_LAUNCH_REMOTE_H

#include <sys/types.h>

#include "launch/frames.h"
#include "launch/keeper_main.h"
#include "launch/output.h"
#include "proto/member.h"

/* A copy of a board is hardly ever older than this. Only the order of lines depends on it. */
#define FT_REMOTE_LATE_NS 200000000ull

struct ft_remote_config {
    int nhosts;
    const char *const *host;
    const char *rsh;     /* what starts a command on a host, split at blanks; the host follows it */
    const char *preload; /* libftrma.so: it is at the same place on all hosts, as ftrun is */
    char *const *program;
    int start_ms;      /* how long a node may take to begin */
    uint64_t lease_ns; /* of each node */
};

struct ft_remote_node {
    struct ft_frames frames;
    pid_t rsh;
    int ended; /* there is no keeper: not yet, or no more */
    char address[64];
    char why[300]; /* what the keeper has said, or why the node is out; empty: not known */
};

struct ft_remote {
    struct ft_remote_config cfg;
    struct ft_remote_node node[FT_NODES];
    struct ft_board *board[FT_NODES]; /* copies */
    uint32_t taken[FT_MAX_SLOTS][2];  /* of outputs, as the nodes know it */
    unsigned char gone[FT_MAX_SLOTS]; /* the process of that slot has ended */
    uint64_t out;
    int worst; /* the highest exit status of a process */
    struct ft_arbiter arbiter;
    uint64_t unreachable[FT_NODES]; /* as reported */
};

void ft_remote_init(struct ft_remote *r, const struct ft_remote_config *cfg);
/* Starts the keepers and, through them, all processes. b: what is on it is told to all. FT_ERR_SYS:
 * err says which node could not be started and why. */
enum ft_status ft_remote_start(struct ft_remote *r, const struct ft_board *b,
                               struct ft_board *const *copies, char *err, int errlen);
/* Takes in what the keepers have shown. outputs NULL: what ranks print is lost. */
void ft_remote_step(struct ft_remote *r, struct ft_outputs *outputs);
/* Descriptors for poll, which become readable when there is something to take in. Their number. */
struct pollfd;
int ft_remote_polls(const struct ft_remote *r, struct pollfd *p);
/* NULL: node k is there. Else it is lost, and this is why; empty: the connection to it has ended. */
const char *ft_remote_lost(const struct ft_remote *r, int k);
int ft_remote_left(const struct ft_remote *r); /* processes that have not ended, on all nodes */
void ft_remote_tell_end(struct ft_remote *r, int k, const struct ft_board *result);
void ft_remote_tell_out(struct ft_remote *r, int out); /* node `out` is out: to all, also to it */
/* All may end; takes in what they still show for up to a second. */
void ft_remote_bye(struct ft_remote *r, struct ft_outputs *outputs);

#endif
