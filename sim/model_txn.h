/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_txn.h - ranks that send each other messages and requests (src/proto/txn.h), with deaths at
 * any moment. A lost rank is replaced at once, and its replacement runs its program from the start;
 * each survivor adopts the new generation when it likes.
 */
#ifndef FT_SIM_MODEL_TXN_H
#define FT_SIM_MODEL_TXN_H

#include "proto/txn.h"
#include "sim.h"

#define TXN_RANKS 6
#define TXN_OPS 6
#define TXN_DEATHS 6
#define TXN_LIVES (TXN_DEATHS + 1)
#define TXN_ROOM (2 * TXN_OPS)

/* An item that a life of a rank has sent, and what is known of it. */
struct txn_op {
    uint8_t to, kind, ack;
    uint8_t sent, acked, ended; /* what the sender was told */
    uint8_t delivered;          /* bits: the lives of `to` that it was delivered to */
    uint8_t pad;
    uint64_t id;
};
/* A header that was delivered and is to be answered. */
struct txn_request {
    uint8_t from, life, op; /* the sender and its operation */
    uint8_t state;          /* enum txn_request_state */
    uint32_t pad;
    uint64_t id;
};
enum txn_request_state { TXN_FREE = 0, TXN_WAITS, TXN_ANSWERED, TXN_TOLD };
struct txn_rank {
    uint8_t life, next_op;
    uint8_t generation;
    uint8_t is_new; /* its machine begins at the end of this step */
    uint8_t pad[4];
    struct txn_op op[TXN_LIVES][TXN_OPS];
    struct txn_request request[TXN_RANKS * TXN_OPS * 2];
};
struct txn_world {
    uint32_t life[TXN_LIVES][TXN_RANKS]; /* [generation][rank] */
    uint8_t generation, deaths, pad[6];
    uint8_t lost[TXN_RANKS]
                [TXN_LIVES]; /* bits: the receivers that do not get what this life had under way */
    struct txn_rank rank[TXN_RANKS];
    /* then the machines */
};
static inline struct txn_world *txn_world(const struct sim *s)
{
    return (struct txn_world *)s->world;
}
static inline struct ft_txn *txn_machine(const struct sim *s, int p)
{
    return (struct ft_txn *)(s->world + sizeof(struct txn_world) +
                             (size_t)p * ft_txn_bytes(s->o.n, TXN_ROOM));
}

/* What an item carries: its sender and its operation. PUT: also the life of the receiver that it is
 * for. */
struct txn_body {
    uint8_t from, life, op, for_life;
    uint8_t put, pad[3];
};

/* check_txn.c: an item is delivered to p; p is told something. They call sim_wrong if that must not
 * be. */
void txn_check_delivered(struct sim *s, int p, enum ft_txn_kind kind, struct txn_body b);
void txn_check_acked(struct sim *s, int p, struct txn_op *op);
void txn_check_told(struct sim *s, int p, const struct txn_request *r);
extern const struct sim_checker sim_check_txn;

#endif
