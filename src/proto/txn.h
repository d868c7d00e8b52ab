/* SPDX-License-Identifier: BSD-3-Clause
 *
 * txn.h - what one endpoint of the message transport has sent and may have to send again: a machine
 * without I/O. Its model is the DHARMA transport (Wilke et al., 3.1 and 4.2): a request
 * whose answer is outstanding goes to the replacement of a lost peer by itself, and what was
 * completed is never sent again.
 *
 * Endpoints are ranks. When a rank is lost, another process carries it: its *incarnation* rises,
 * and all endpoints adopt a new *generation*, each at its own time. An endpoint sends three kinds
 * of items:
 *
 *   MESSAGE  is delivered, and that is all.
 *   HEADER   opens a transaction, which lasts until somebody answers it.
 *   PUT      answers a header: data is in the memory of the header's sender, and this item says so.
 *            Its delivery ends the transaction.
 *
 * Rules:
 *  (T1) Between two incarnations items are delivered in the order in which they were sent, each
 *       once. Each pair of endpoints counts them for itself.
 *  (T2) An item that the lost incarnation has not acknowledged goes to the next one, with the same
 *       id. [The peer dies after delivery and before its acknowledgement: the replacement knows
 *       nothing of the item.] A message that was acknowledged does not.
 *  (T3) A header goes to each next incarnation until its transaction ends, acknowledged or not.
 *       [The peer acknowledges the header and dies before it answers.]
 *  (T4) A put is for one incarnation. If that one is lost, the put is GONE: the replacement has
 *       other memory, and asks again. It is never acknowledged then.
 *  (T5) A frame of another generation is dropped. [An old carrier's put is delivered after the
 *       replacement was asked: the transaction would end twice.] After a change of generation an
 *       endpoint sends nothing to a peer until it has the peer's RESUME of that generation. RESUME
 *       says what the peer waits for, and the endpoint goes on there. It asks for RESUME when it
 *       has something to send. [It goes on after what was acknowledged: the peer has delivered
 *       more.] The newest RESUME of a later generation is kept until then. [p adopts first and asks;
 *       q is in the old generation, drops that, and has nothing to send itself.] [A lost carrier's
 *       RESUME comes by another way after that of its replacement.]
 *  (T6) An acknowledgement is told once, whatever happens to the peer later.
 *
 * Plain bytes without pointers: ft_txn_bytes of them, which can be copied, compared and hashed.
 * After each event the caller takes all actions by ft_txn_next. Nothing allocates; a call costs the
 * same however many items are outstanding.
 */
#ifndef FT_PROTO_TXN_H
#define FT_PROTO_TXN_H

#include "base/base.h"

enum ft_txn_kind { FT_TXN_MESSAGE = 1, FT_TXN_HEADER, FT_TXN_PUT };

enum ft_txn_frame_kind { FT_TXN_FRAME_ITEM = 1, FT_TXN_FRAME_ACK, FT_TXN_FRAME_RESUME };
struct ft_txn_frame {
    uint16_t kind, item; /* enum ft_txn_frame_kind; ITEM: enum ft_txn_kind */
    uint32_t generation;
    uint32_t asks;   /* RESUME: the sender needs the receiver's */
    uint32_t number; /* ITEM: its own; ACK, RESUME: the one that is waited for */
    uint64_t id;     /* ITEM: the sender's; PUT: the header's */
    uint64_t body;   /* ITEM: the caller's */
};

enum ft_txn_do {
    FT_TXN_SEND = 1, /* frame, to `peer` */
    FT_TXN_ACKED,    /* item `id` was delivered to `peer`, and that was asked for; PUT: the header's
                      * id */
    FT_TXN_GONE,     /* the put that answered header `id` of `peer` came to nothing */
};
struct ft_txn_action {
    enum ft_txn_do kind;
    int peer;
    uint64_t id, body;
    struct ft_txn_frame frame;
};

struct ft_txn;
/* n: endpoints; room: items that may be outstanding at once. */
size_t ft_txn_bytes(int n, int room);
/* incarnations: [n], of all endpoints, in generation. */
void ft_txn_init(struct ft_txn *t, int n, int room, int self, uint32_t generation,
                 const uint32_t *incarnations);

/* Sends an item. body: any value, delivered with it. ack: delivery is to be told. PUT: *id and
 * incarnation are those of the header that it answers; else *id is set. FT_TXN_FULL: `room` items
 * are outstanding. FT_TXN_REPLACED: the header's sender was replaced. */
enum ft_txn_status { FT_TXN_OK = 0, FT_TXN_FULL, FT_TXN_REPLACED };
enum ft_txn_status ft_txn_send(struct ft_txn *t, enum ft_txn_kind kind, int to, uint64_t body,
                               int ack, uint32_t incarnation, uint64_t *id);

/* A frame comes. 1: it is an item that is to be delivered now. A put that is delivered ends the
 * transaction of its id; a second answer is not delivered. */
int ft_txn_frame(struct ft_txn *t, int from, const struct ft_txn_frame *f);

/* A new generation. The own incarnation never changes: a replacement begins with ft_txn_init. */
void ft_txn_generation(struct ft_txn *t, uint32_t generation, const uint32_t *incarnations);

/* The next thing to do; 0: there is none. */
int ft_txn_next(struct ft_txn *t, struct ft_txn_action *a);

uint32_t ft_txn_incarnation(const struct ft_txn *t, int rank);
int ft_txn_outstanding(const struct ft_txn *t); /* items */
void ft_txn_check(const struct ft_txn *t);      /* asserts what always holds */

/* For the simulator: one rule is broken (sim/model_txn.c). */
enum ft_txn_broken {
    FT_TXN_SOUND = 0,
    FT_TXN_TWICE,       /* T5: goes on after what was acknowledged, whatever RESUME says */
    FT_TXN_ONCE,        /* T2: what was sent to a lost peer is forgotten */
    FT_TXN_RESENDS,     /* T2: what was acknowledged goes to the replacement, too */
    FT_TXN_HEADER_ACK,  /* T3: an acknowledged header is not sent again */
    FT_TXN_OLD_PUT,     /* T4: a put goes to the replacement */
    FT_TXN_OLD_FRAMES,  /* T5: frames of another generation count */
    FT_TXN_DEAF,        /* T5: RESUME of a later generation is dropped */
    FT_TXN_EAGER,       /* T5: items are sent before RESUME has come */
    FT_TXN_FORGETS_ACK, /* T6: what RESUME acknowledges is not told */
};
void ft_txn_break(struct ft_txn *t, enum ft_txn_broken how);

#endif
