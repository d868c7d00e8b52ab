/* SPDX-License-Identifier: BSD-3-Clause
 *
 * remote.h - ftrun's view of nodes on other hosts. Each has a keeper there (keeper_main.h), started
 * by a command such as ssh. ftrun keeps a copy of each node's board, which the keeper brings up to
 * date, and appends what the node's processes print to its own files. So all of ftrun that reads
 * boards and outputs does so as on one node; only times and limits of processes are not to be had.
 * Clocks differ from host to host: the times of events, and of deaths, are ftrun's on these copies.
 */
#ifndef FT_LAUNCH_REMOTE_H
#define FT_LAUNCH_REMOTE_H

#include <sys/types.h>

#include "launch/frames.h"
#include "launch/keeper_main.h"
#include "launch/output.h"
#include "launch/stdin.h"
#include "proto/member.h"

/* A copy of a board is hardly ever older than this. Only the order of lines depends on it. */
#define FT_REMOTE_LATE_NS 200000000ull

struct ft_remote_config {
    int nhosts;
    const char *const *host;
    const char *rsh;     /* what starts a command on a host, split at blanks; the host follows it */
    const char *preload; /* libftrma.so: it is at the same place on all hosts, as ftrun is */
    char *const *program;
    char *const *identity; /* FT_IDS (identity.h) */
    int mixed;             /* hosts may differ in them */
    int start_ms;          /* how long a node may take to begin; below 0: for ever */
    uint64_t lease_ns;     /* of each node; 0: forever */
};

struct ft_remote_node {
    struct ft_frames frames;
    pid_t rsh;
    int rsh_ended, rsh_status; /* as waitpid says */
    int ended;                 /* there is no keeper: not yet, or the node is out */
    char address[64];
    int input, wants; /* where our standard input is read for it, or -1; its keeper asked for it */
    struct ft_sink saved; /* FT_SAY_SAVED; empty: nothing was said */
    char why[300];        /* what the keeper has said, or why the node is out; empty: not known */
};

struct ft_remote {
    struct ft_remote_config cfg;
    struct ft_remote_node node[FT_NODES];
    struct ft_board *board[FT_NODES]; /* copies */
    uint32_t taken[FT_MAX_SLOTS][2];  /* of outputs, as the nodes know it */
    unsigned char gone[FT_MAX_SLOTS]; /* the process of that slot has ended */
    uint64_t out;
    uint32_t input_is; /* enum ft_input_is */
    int worst;         /* the highest exit status of a process */
    struct ft_arbiter arbiter;
    uint64_t unreachable[FT_NODES]; /* as reported */
    struct ft_say_saves told;       /* of saving */
};

void ft_remote_init(struct ft_remote *r, const struct ft_remote_config *cfg);
/* Our standard input goes to all hosts where rank 0 may be carried. Before the start. As
 * ft_stdin_serve_far. */
enum ft_status ft_remote_input(struct ft_remote *r, struct ft_stdin *in);
/* Starts the keepers and, through them, all processes. b: what is on it is told to all. FT_ERR_SYS:
 * err says which node could not be started and why. */
enum ft_status ft_remote_start(struct ft_remote *r, const struct ft_board *b,
                               struct ft_board *const *copies, char *err, int errlen);
/* Takes in what the keepers have shown. outputs NULL: what ranks print is lost. */
void ft_remote_step(struct ft_remote *r, struct ft_outputs *outputs);
/* Descriptors for poll, which become readable when there is something to take in. Their number. */
#define FT_REMOTE_POLLS (2 * FT_NODES) /* at most */
struct pollfd;
int ft_remote_polls(const struct ft_remote *r, struct pollfd *p);
/* NULL: node k is there. Else it is lost, and this is why. */
const char *ft_remote_lost(const struct ft_remote *r, int k);
/* A child of ours has ended: is it one that leads to a keeper? */
int ft_remote_reaped(struct ft_remote *r, pid_t pid, int status);
int ft_remote_left(const struct ft_remote *r); /* processes that have not ended, on all nodes */
void ft_remote_tell_end(struct ft_remote *r, int k, const struct ft_board *result);
void ft_remote_tell_out(struct ft_remote *r, int out); /* node `out` is out: to all, also to it */
/* F10. What the nodes are told of saving, if it has changed. */
void ft_remote_tell_saves(struct ft_remote *r, const struct ft_say_saves *news);
/* Node k is to write the images of these ranks ([nranks]) to set `number` in dir. */
void ft_remote_save(struct ft_remote *r, int k, const struct ft_say_save *what,
                    const unsigned char *ranks, const char *dir);
/* All may end; takes in what they still show for up to a second. */
void ft_remote_bye(struct ft_remote *r, struct ft_outputs *outputs);

#endif
