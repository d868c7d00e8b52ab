/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sched.h - nonblocking collectives: schedules, and the one who carries them out.
 *
 * A schedule is what one member does in one collective, in *rounds*:
 *
 *     copy | send to 3, receive from 1 || reduce | send to 5 || unpack
 *     ------------ round 0 -----------    ---- round 1 ----     round 2
 *
 * The steps of a round are begun in order; copies, reductions and calls are over at once, messages
 * go on. A round is over when its messages are, and then the next begins. Round 0 is begun in the
 * call that starts the collective; all others wherever the process happens to come by: at the door
 * of its calls and in its waits (transport/wait.h, FT_ATT_WORK), whatever these are for.
 *
 * A step may also be a function that says when it is over, and looks again whenever the process
 * comes by (ft_sched_poll).
 *
 * To write another collective (neighbours, intercommunicators): make a schedule, add steps, start
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
 * in src/mpi: ft_icoll_begin and ft_icoll_commit (mpi/icoll.h), which make an MPI request of it.
 * Two members that exchange more than one message in a collective must agree on their order:
 * messages between two ranks are matched in the order of steps. Sends belong into round 0 where
 * they can be there: one that comes later costs a note at the log home. A member may send
 * to itself. An operation with nothing to do is a schedule without steps.
 *
 * Nothing here is allocated after the start; memory is freed with the schedule. No memory ends the
 * job, as elsewhere.
 *
 * Replay: a later round that sends is noted at the log home before its first send (M5; sched.c).
 *
 * Thread rules: main thread only. Starting may wait (for the carrier of a rank that is being
 * replaced) and hence be left by longjmp; begin only with the schedule where ft_sched_free will
 * find it.
 */
#ifndef FT_COLL_SCHED_H
#define FT_COLL_SCHED_H

#include "coll/coll.h"
#include "msg/msg.h"

struct ft_sched;

/* ctx: the context id of the communicator (of collectives' messages, FT_CTX_COLL is added here).
 * name: static storage. */
struct ft_sched *ft_sched_new(const char *name, uint32_t ctx, int tag);
/* How often this was asked before, in what this rank has done so far: a replacement is told the
 * same again. Both ends of something that is matched in order count alike. ctx: of a communicator,
 * perhaps with FT_CTX_PART. */
uint32_t ft_sched_nth(uint32_t ctx, int peer, int tag);
/* The tag of the next collective over this context. All members ask in the same order; ask once a
 * collective, also where this member has nothing to do in it. A persistent one keeps its tag. */
int ft_sched_tag(uint32_t ctx);
void ft_sched_forget(uint32_t ctx); /* the communicator is gone */
/* Aligned to a cache line, not zeroed, lives as long as s. bytes = 0: some address. */
void *ft_sched_memory(struct ft_sched *s, size_t bytes);

/* ---- steps; peers are world ranks, lengths in bytes ---- */
void ft_sched_send(struct ft_sched *s, int peer, const void *buf, size_t len);
/* Exactly len bytes; anything else is an error of the program: ft_coll_mismatch. */
void ft_sched_recv(struct ft_sched *s, int peer, void *buf, size_t len);
/* inout[i] = in[i] op inout[i]. op and what it points to must live as long as s. */
void ft_sched_reduce(struct ft_sched *s, const struct ft_reducer *op, const void *in, void *inout,
                     size_t count);
void ft_sched_copy(struct ft_sched *s, void *dst, const void *src,
                   size_t len); /* dst == src: nothing */
/* fn must not wait, and must not use memory that an interrupted call works in (ft_coll_scratch,
 * most of ft_scratch). */
void ft_sched_call(struct ft_sched *s, void (*fn)(void *arg), void *arg);
/* The round is not over before fn says so. It is called whenever the process comes by, may post
 * receives of collectives' contexts (FT_CTX_COLL), and must neither send nor wait. Returns some of
 * FT_POLL_*; not called again after OVER. */
enum {
    FT_POLL_OVER = 1,
    FT_POLL_MOVED = 2, /* something has changed */
    FT_POLL_UNRUNG = 4 /* waits for what nobody rings for: room to send */
};
void ft_sched_poll(struct ft_sched *s, int (*fn)(void *arg), void *arg);
void ft_sched_round(struct ft_sched *s); /* what follows begins when all messages so far are over */

/* Begins. *state is FT_REQ_ACTIVE until it is over, perhaps before this returns. A schedule may be
 * started again when it is over.
 */
void ft_sched_start(struct ft_sched *s, enum ft_req_state *state);
/* Members passed lengths that do not fit together, as far as it has gone. */
int ft_sched_mismatched(const struct ft_sched *s);
/* While it is made: of the own part, which a rank `of` would have sent. */
void ft_sched_mismatch(struct ft_sched *s, int of, size_t got, size_t want);
/* Frees it, whatever it is doing: only for those that are over, or after a rollback. NULL: nothing.
 */
void ft_sched_free(struct ft_sched *s);
/* Active ones are so no more, and nothing of theirs is done from here on: everybody goes back. */
void ft_sched_drop(void);

/* Looks once at what has arrived, and goes on. 1: something was sent. */
int ft_sched_progress(void);
/* Waits until none is active, but for those that wait in ft_sched_poll for what others send. */
void ft_sched_quiet(void);

/* What was counted so far (tags, ft_sched_nth), and what is needed to repeat calls, for an image:
 * its bytes, writing it, taking it back. */
size_t ft_sched_state_bytes(void);
void ft_sched_state_save(char *out);
void ft_sched_state_load(const char *saved);
/* Body is entered; again, if this was called before: then all is counted on from where it was
 * called first, until the safepoint at which the image is taken back. [A persistent collective is
 * made where body begins: its tag is not the next one after those that the image counts.] */
void ft_sched_state_entry(void);

#endif
