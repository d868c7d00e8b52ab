/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sched.h - nonblocking collectives: schedules, and the functions that carry them out.
 *
 * A schedule is what one member does in one collective, in *rounds*:
 *
 *     copy | send to 3, receive from 1 || reduce | send to 5 || unpack
 *     ------------ round 0 -----------    ---- round 1 ----     round 2
 *
 * The steps of a round begin in order. Copies, reductions and calls complete at once; messages go
 * on. When a round's messages are complete, the next round begins. Round 0 begins in the call that
 * starts the collective; later rounds begin when the process comes by: at the door of its calls and
 * in its waits (transport/wait.h, FT_ATT_WORK), whatever these are for.
 *
 * A step may also be a function that says when it is over; it is called whenever the process comes
 * by (ft_sched_poll).
 *
 * To write another collective (neighbours, intercommunicators), make a schedule, add steps, start
 * it.
 *
 *     struct ft_sched *s = ft_sched_new("a name for messages", ctx_id, ft_sched_tag(ctx_id));
 *     char *theirs = ft_sched_memory(s, bytes);
 *     ft_sched_send(s, world_rank, mine, bytes);
 *     ft_sched_recv(s, other_world_rank, theirs, bytes);
 *     ft_sched_round(s);
 *     ft_sched_copy(s, out, theirs, bytes);
 *     ft_sched_start(s, &state);                 state becomes FT_REQ_DONE
 *
 * In src/mpi, ft_icoll_begin and ft_icoll_commit (mpi/icoll.h) make an MPI request of it. Two
 * members that exchange more than one message in a collective must agree on their order: messages
 * between two ranks are matched in the order of steps. Sends should be in round 0 where possible: a
 * later one costs a note in the home log. A member may send to itself. A schedule without steps
 * does nothing.
 *
 * Nothing is allocated after the start; memory is freed with the schedule. Lack of memory ends the
 * job.
 *
 * Replay: a later round that sends is noted in the home log before its first send (M5; sched.c).
 *
 * Main only. Starting may wait (for the carrier of a rank that is being replaced) and so be left by
 * longjmp. Begin only when the schedule is where ft_sched_free will find it.
 */
#ifndef FT_COLL_SCHED_H
#define FT_COLL_SCHED_H

#include "coll/coll.h"
#include "msg/msg.h"

struct ft_sched;

/* ctx: the context id of the communicator (FT_CTX_COLL is added here). name: static storage. */
struct ft_sched *ft_sched_new(const char *name, uint32_t ctx, int tag);
/* Returns how often this was asked before, in this rank's history: a replacement gets the same
 * answers. Both ends of messages that are matched in order count alike. ctx: of a communicator,
 * perhaps with FT_CTX_PART. */
uint32_t ft_sched_nth(uint32_t ctx, int peer, int tag);
/* Returns the tag of the next collective over this context. All members ask in the same order. Ask
 * once for each collective, even if this member has nothing to do in it. A persistent collective
 * keeps its tag. */
int ft_sched_tag(uint32_t ctx);
void ft_sched_forget(uint32_t ctx); /* the communicator was freed */
/* Memory aligned to a cache line, not zeroed, that lives as long as s. bytes = 0: some address. */
void *ft_sched_memory(struct ft_sched *s, size_t bytes);

/* ---- steps; peers are world ranks, lengths in bytes ---- */
void ft_sched_send(struct ft_sched *s, int peer, const void *buf, size_t len);
/* Receives exactly len bytes; any other length is an error of the program: ft_coll_mismatch. */
void ft_sched_recv(struct ft_sched *s, int peer, void *buf, size_t len);
/* inout[i] = in[i] op inout[i]. op and what it points to must live as long as s. */
void ft_sched_reduce(struct ft_sched *s, const struct ft_reducer *op, const void *in, void *inout,
                     size_t count);
void ft_sched_copy(struct ft_sched *s, void *dst, const void *src,
                   size_t len); /* dst == src: nothing */
/* fn must not wait, and must not use memory in which an interrupted call may work (ft_coll_scratch,
 * most of ft_scratch). */
void ft_sched_call(struct ft_sched *s, void (*fn)(void *arg), void *arg);
/* The round is not over before fn says so. fn is called whenever the process comes by. It may post
 * receives in collectives' contexts (FT_CTX_COLL), and must neither send nor wait. It returns some
 * of FT_POLL_*, and is not called again after OVER. */
enum {
    FT_POLL_OVER = 1,
    FT_POLL_MOVED = 2, /* something has changed */
    FT_POLL_UNRUNG = 4 /* waits for something that nobody rings for: room to send */
};
void ft_sched_poll(struct ft_sched *s, int (*fn)(void *arg), void *arg);
/* the following steps begin when all messages so far are complete */
void ft_sched_round(struct ft_sched *s);

/* Begins. *state is FT_REQ_ACTIVE until the schedule is over, which may be before this returns. A
 * schedule that is over may be started again. */
void ft_sched_start(struct ft_sched *s, enum ft_req_state *state);
/* 1: members passed lengths that do not fit together, as far as it has gone. */
int ft_sched_mismatched(const struct ft_sched *s);
/* While it is made: records a mismatch of the own part, which rank `of` would have sent. */
void ft_sched_mismatch(struct ft_sched *s, int of, size_t got, size_t want);
/* Frees it, whatever it is doing. Only for schedules that are over, or after a rollback. NULL: does
 * nothing. */
void ft_sched_free(struct ft_sched *s);
/* Everybody goes back: deactivates all active schedules; nothing of theirs is done from here on. */
void ft_sched_drop(void);

/* Looks once at what has arrived, and goes on. Returns 1 if something was sent. */
int ft_sched_progress(void);
/* Waits until none is active, except for those that wait in ft_sched_poll for what others send. */
void ft_sched_quiet(void);

/* For an image: what was counted so far (tags, ft_sched_nth) and what is needed to repeat calls.
 * Its size, writing it, restoring it. */
size_t ft_sched_state_bytes(void);
void ft_sched_state_save(char *out);
void ft_sched_state_load(const char *saved);
/* Body is entered. If it is entered again, counting goes on from where it stood at the first entry,
 * until the safepoint at which the image is restored. [A persistent collective is made where body
 * begins: its tag is not the next one after those that the image counts.] */
void ft_sched_state_entry(void);

#endif
