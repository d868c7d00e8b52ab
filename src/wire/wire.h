/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.h - frames from one node to another: the lowest layer of a gateway. Each node of a job has
 * one wire. No process of the program opens one.
 *
 * Promised: frames of one class to one node come once and in order, whichever connections break
 * meanwhile. No class waits for another one. A wire does not decide that a node has ended: it dials
 * again until ft_wire_close, or until ft_wire_out says that the node is out. ft_wire_away tells how
 * long a node has been away; others decide what follows from it.
 *
 * Nothing blocks. All calls of one wire come from one thread.
 */
#ifndef FT_WIRE_WIRE_H
#define FT_WIRE_WIRE_H

#include <stdint.h>

#include "base/status.h"

enum ft_wire_class {
    FT_WIRE_CONTROL, /* mails, leases, acknowledgements of the layers above */
    FT_WIRE_OPS,     /* puts, atomics, locks */
    FT_WIRE_MSG,     /* channel records; only as many as the other end has granted */
    FT_WIRE_BULK,    /* images and logs, in pieces */
    FT_WIRE_CLASSES
};

#define FT_WIRE_FRAME (64u << 10) /* bytes of a frame, at most */
#define FT_WIRE_PIECES 8          /* pieces of a frame, at most */

struct ft_wire_piece {
    const void *data;
    uint32_t bytes;
};

/* Proves that a connection belongs to the same job. The starter has distributed it. It is sent
 * unencrypted, so it keeps out other jobs and users, but nobody who can read the network. */
struct ft_wire_secret {
    unsigned char byte[32];
};

#define FT_WIRE_NODES 64 /* of a job, at most */

struct ft_wire_config {
    int self, nnodes; /* this node, and how many there are */
    struct ft_wire_secret secret;
    uint64_t again_ns; /* the time that a connection may take to begin; then the next is tried */
    /* sock: given up when nothing is acknowledged for this time; at least 1 s */
    uint64_t silent_ns;
    const char *const *address; /* sock: "address:port" of each node, numeric; not copied */
    int listener; /* sock: 1 + a socket that listens at our address already, and is closed with the
                     wire; 0: one is made */
    struct ft_wire_net *net;       /* mem: the network that the nodes share */
    struct ft_wire_faults *faults; /* fault: what it does, and to which provider */
};

/* A frame that was received. The data is valid until the next receive of the same wire. */
struct ft_wire_frame {
    int node;
    const void *data;
    uint32_t bytes;
};

struct ft_wire;
struct ft_wire_ops; /* a provider: wire/provider.h */
/* All nodes in one process, with chosen delays, losses and order. */
extern const struct ft_wire_ops ft_wire_mem;
extern const struct ft_wire_ops ft_wire_sock; /* TCP */
/* wraps another provider; cuts and slows its connections */
extern const struct ft_wire_ops ft_wire_fault;

/* FT_ERR_NOMEM; FT_ERR_SYS with errno; FT_ERR_ARG: an impossible address or node. */
enum ft_status ft_wire_open(const struct ft_wire_ops *ops, const struct ft_wire_config *cfg,
                            struct ft_wire **out);
void ft_wire_close(struct ft_wire *w);
/* Does what connections need, and sends and receives all that is possible now. To be called when
 * the descriptor is readable, and at least once in again_ns. */
void ft_wire_progress(struct ft_wire *w, uint64_t now_ns);
/* A descriptor for poll; -1: the provider has none, so call progress. */
int ft_wire_fd(const struct ft_wire *w);

/* Sends a frame of these pieces, together at most FT_WIRE_FRAME bytes, to a node. What the pieces
 * point to must not change until the frame is acknowledged. FT_ERR_AGAIN: too many frames are under
 * way; FT_ERR_DEAD: the node is out. */
enum ft_status ft_wire_send(struct ft_wire *w, int node, enum ft_wire_class c,
                            const struct ft_wire_piece *piece, int n);
/* The number of frames to that node that were acknowledged since the wire was opened: the other
 * node's wire has them, and their sources may be reused. */
uint64_t ft_wire_acknowledged(const struct ft_wire *w, int node, enum ft_wire_class c);
/* Takes the next frame of a class, from any node. Returns 1; 0: there is none. */
int ft_wire_receive(struct ft_wire *w, enum ft_wire_class c, struct ft_wire_frame *out);
/* MSG: that node may send this many more frames. */
void ft_wire_grant(struct ft_wire *w, int node, uint64_t frames);
/* That node is out: closes its connection and drops what was not received. Nothing is sent to it or
 * taken from it any more. */
void ft_wire_out(struct ft_wire *w, int node);
/* The time for which there has been no connection to that node, as of the last progress; 0: there
 * is one. */
uint64_t ft_wire_away(const struct ft_wire *w, int node);
/* Whether there has ever been a connection to that node, as of the last progress. */
int ft_wire_met(const struct ft_wire *w, int node);

#endif
