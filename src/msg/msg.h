/* SPDX-License-Identifier: BSD-3-Clause
 *
 * msg.h - two-sided messages between ranks: matching, requests and probes over channels that are
 * logs (M1 to M4).
 *
 * All buffers are contiguous bytes; src/mpi handles datatypes. Ranks are *world* ranks. A message
 * is appended to the sender's channel log for the receiver, which copies it from there straight
 * into its buffer. An unexpected message stays in the sender's log while that has room. Matching is
 * MPI's: by (context, source, tag), in the order of sending for each source and context.
 *
 * Main only. Waiting calls progress all channels. They may not return: when all go back to a
 * checkpoint they are left by longjmp (transport/wait.h). So nothing that must be undone may be
 * held across them.
 */
#ifndef FT_MSG_MSG_H
#define FT_MSG_MSG_H

#include "base/base.h"
#include "base/engine.h"

#define FT_CTX_COLL 0x80000000u /* set in the context of collectives' messages */
/* also set in the context of partitioned communication (mpi/part.c) */
#define FT_CTX_PART 0x40000000u
#define FT_ANY_SOURCE (-1)
#define FT_ANY_TAG (-1) /* matches tags >= 0 only: the library uses negative tags */

enum ft_req_state { FT_REQ_FREE = 0, FT_REQ_ACTIVE, FT_REQ_DONE };

/* The result of a completed receive or a probe. */
struct ft_msg_status {
    int source, tag; /* source: world rank */
    int error;       /* enum ft_status: FT_OK or FT_ERR_TRUNC */
    int cancelled;
    size_t bytes; /* received */
};

struct ft_inmsg; /* a message that was taken by a matched probe */
/* A request. The caller owns its storage (collectives keep it on the stack, src/mpi in a pool).
 * Zero it before first use. */
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
    /* Receive: the message (struct ft_inmsg) that it was matched with. Synchronous send: its first
     * record in the log, in the chunk of this index, once all of it is there. */
    void *entry;
    uint64_t chunk;
    int sync;      /* synchronous send: complete when matched */
    int far;       /* a send whose receiver copies from buf: complete when copied */
    uint64_t wild; /* 1 + its number among the recorded wildcards; 0: none, or recorded already */
    uint64_t call; /* receive: the call in which it was posted */
    uint32_t nth;  /* and its number in that call */
    /* replayed, and the lost process had nothing for it: it gets no message before the replay is
     * over */
    uint32_t held;
};

/* Standard send. Returns when buf can be reused: the message is in the log (it waits for room only
 * at the log limit), or, without logs, the receiver has copied a long one. */
void ft_msg_send(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* Receives one message of at most cap bytes. A longer one is truncated: status->error =
 * FT_ERR_TRUNC. status may be NULL. */
void ft_msg_recv(uint32_t ctx, int src, int tag, void *buf, size_t cap,
                 struct ft_msg_status *status);
/* Nonblocking send. req must not move until it is done. */
void ft_msg_isend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* Sends at once, without a request. 0: that is not possible now, and nothing was done. */
int ft_msg_send_short(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* The same as isend, but done when the log has all of it, whatever the receiver does. */
void ft_msg_ibsend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
/* Whether receivers copy messages of len bytes from the sender's memory where the kernel allows it.
 * The answer is the same on all ranks at the same collective. */
int ft_msg_copied_once(size_t len);
/* The same as isend, but not done before the receiver has matched it (MPI-3.1, 3.4, synchronous
 * mode). */
void ft_msg_issend(struct ft_req *req, uint32_t ctx, int dst, int tag, const void *buf, size_t len);
void ft_msg_ssend(uint32_t ctx, int dst, int tag, const void *buf, size_t len);
void ft_msg_irecv(struct ft_req *req, uint32_t ctx, int src, int tag, void *buf, size_t cap);
void ft_msg_progress(void);
static inline int ft_msg_done(const struct ft_req *req) { return req->state == FT_REQ_DONE; }
/* Waits until req is done. */
void ft_msg_wait(struct ft_req *req);
/* Waits until one of n requests (NULLs are skipped) is done. Returns its index; -1 if all are
 * NULL. */
int ft_msg_wait_any(struct ft_req *const *reqs, int n);
/* Returns 1 and fills *status if a matching message could be received now. Progresses. */
int ft_msg_iprobe(uint32_t ctx, int src, int tag, struct ft_msg_status *status);
void ft_msg_probe(uint32_t ctx, int src, int tag, struct ft_msg_status *status);
/* Takes the message that a successful probe has just found out of the queue (a matched probe:
 * MPI-3.1, 3.8.2). tag is the probe's, source is what the probe returned. The result is good for
 * one ft_msg_mrecv; a rollback invalidates it. Until then no image can be taken (ft_msg_active). */
struct ft_inmsg *ft_msg_take(uint32_t ctx, int src, int tag);
/* Receives a taken message as ft_msg_irecv would. src: where it came from. */
void ft_msg_mrecv(struct ft_req *req, struct ft_inmsg *taken, int src, void *buf, size_t cap);
/* Cancels a receive that is not matched yet: it is DONE with status.cancelled = 1. Sends are never
 * cancelled. */
void ft_msg_cancel(struct ft_req *req);
/* To be called before an unmatched receive is cancelled: notes that in the home log (wild.h). */
void ft_msg_note_cancel(const struct ft_req *req);
/* Called where main waits for others without receiving: copies long messages whose senders wait.
 * Never waits. */
void ft_msg_absorb(void);
/* Active requests of the program, not those on a collective's stack. While there are any, no image
 * can be taken. src/mpi counts: +1 when a nonblocking request becomes active, -1 when it completes
 * towards the program. */
extern FT_STATE(int64_t, ft_msg_active);
#define ft_msg_active FT_MY(ft_msg_active)

#endif
