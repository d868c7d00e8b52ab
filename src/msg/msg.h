/* SPDX-License-Identifier: BSD-3-Clause
 *
 * msg.h - two-sided messages between ranks: matching, requests, probes over channels that are logs
 * (M1 to M4).
 *
 * All buffers here are contiguous bytes; datatypes are the business of src/mpi. Ranks are *world*
 * ranks. A message is appended to the sender's channel log for the receiver; the receiver copies it
 * from there straight into its buffer. An unexpected message stays in the sender's log. Matching is
 * MPI's: by (context, source, tag), in the order of sending per source and context.
 *
 * Thread rules: main thread only. Waiting calls progress all channels, and may not return: when
 * everybody goes back to a checkpoint they are left by longjmp (transport/wait.h). Nothing that
 * must be undone may be held across them.
 */
#ifndef FT_MSG_MSG_H
#define FT_MSG_MSG_H

#include "base/base.h"
#include "base/engine.h"

#define FT_CTX_COLL 0x80000000u /* set in the context of collectives' messages */
#define FT_CTX_PART 0x40000000u /* set, too, in that of partitioned communication (mpi/part.c) */
#define FT_ANY_SOURCE (-1)
#define FT_ANY_TAG (-1) /* matches tags >= 0 only: negative tags are the library's own */

enum ft_req_state { FT_REQ_FREE = 0, FT_REQ_ACTIVE, FT_REQ_DONE };

/* What a completed receive or a probe says. */
struct ft_msg_status {
    int source, tag; /* source: world rank */
    int error;       /* enum ft_status: FT_OK or FT_ERR_TRUNC */
    int cancelled;
    size_t bytes; /* received */
};

struct ft_inmsg; /* a message that was taken */
/* A request. Storage is the caller's (collectives keep them on the stack, src/mpi in a pool); zero
 * it before first use. */
struct ft_req {
    enum ft_req_state state;
    int is_recv;
    uint32_t ctx;
    int peer; /* world rank, or FT_ANY_SOURCE */
    int tag;
    void *buf;
    size_t len;  /* send: bytes; receive: capacity */
    size_t done; /* bytes so far */
    union {
        uint64_t posted_nth; /* receive: its number among all that were posted */
        uint64_t sync_seq;   /* synchronous send: the number of its first record */
    };
    struct ft_msg_status status;
    struct ft_req *next, *prev; /* in a posted list or a channel's pending sends */
    /* receive: the message (struct ft_inmsg) that it was matched with; synchronous send: its first
     * record in the log, once all of it is there, in the chunk of this index */
    void *entry;
    uint64_t chunk;
    int sync; /* a synchronous send: done when it is matched */
    int far;  /* likewise a send whose receiver copies from buf: done when that was copied */
    uint64_t
        wild; /* 1 + its number among the wildcards that are recorded, 0: none, or it is recorded */
    uint64_t call; /* receive: the call that it was posted in */
    uint32_t nth;  /* and as which of that call */
    uint32_t held; /* replayed, and the lost process had nothing for it: gets no message before the
                      replay is over */
};

/* Standard send. Returns when buf can be reused: the message is in the log (only over the log limit
 * it waits for room), or, without logs, a long one was copied by its receiver. */
void ft_msg_send(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* Receives one message of at most cap bytes. A longer one is truncated: status->error =
 * FT_ERR_TRUNC. status may be NULL. */
void ft_msg_recv(uint32_t ctx, int src, int tag, void *buf, size_t cap,
                 struct ft_msg_status *status);
/* Nonblocking. req must stay where it is until it is done. */
void ft_msg_isend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* The same at once, without a request: 0 if it cannot be now, and nothing was done. */
int ft_msg_send_short(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* The same, done when the log has all of it, whatever the receiver does. */
void ft_msg_ibsend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* Whether messages of so many bytes are copied once, by their receivers, where the kernel allows
 * it. The same on all ranks that are at the same collective. */
int ft_msg_copied_once(size_t len);
/* The same, and not done before the receiver has matched it (MPI-3.1, 3.4, synchronous mode). */
void ft_msg_issend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
void ft_msg_ssend(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
void ft_msg_irecv(struct ft_req *req, uint32_t ctx, int src, int tag, void *buf, size_t cap);
void ft_msg_progress(void);
static inline int ft_msg_done(const struct ft_req *req) { return req->state == FT_REQ_DONE; }
/* Waits until req is done. */
void ft_msg_wait(struct ft_req *req);
/* Waits until one of n requests (NULLs are skipped) is done; returns its index, -1 when all are
 * NULL. */
int ft_msg_wait_any(struct ft_req *const *reqs, int n);
/* 1 and *status when a matching message could be received now. Progresses. */
int ft_msg_iprobe(uint32_t ctx, int src, int tag, struct ft_msg_status *status);
void ft_msg_probe(uint32_t ctx, int src, int tag, struct ft_msg_status *status);
/* Takes the message that a successful probe has just found out of the queue (a matched probe:
 * MPI-3.1, 3.8.2): source and tag as the probe was asked for and, for source, as it has answered.
 * What is returned is good for one ft_msg_mrecv; a rollback takes it away. An image cannot be taken
 * meanwhile (ft_msg_active). */
struct ft_inmsg *ft_msg_take(uint32_t ctx, int src, int tag);
/* Receives a taken message as ft_msg_irecv would; src: whom it came from. */
void ft_msg_mrecv(struct ft_req *req, struct ft_inmsg *taken, int src, void *buf, size_t cap);
/* Cancels a receive that was not matched yet: it is then DONE with status.cancelled = 1. Sends are
 * never cancelled. */
void ft_msg_cancel(struct ft_req *req);
/* To be called before a receive that was not matched is cancelled: written to the log home on
 * return (wild.h). */
void ft_msg_note_cancel(const struct ft_req *req);
/* Where main waits for others without receiving: takes long messages whose senders wait for it.
 * Never waits. */
void ft_msg_absorb(void);
/* Active requests of the program (not those on the stack of a collective): no image can be taken
 * while there are some. Counted by src/mpi: +1 when a nonblocking request is made active, -1 when
 * it completes towards the program. */
extern FT_STATE(int64_t, ft_msg_active);
#define ft_msg_active FT_MY(ft_msg_active)

#endif
