/* SPDX-License-Identifier: BSD-3-Clause
 *
 * orders.h - the trace of a small run: what its processes did to windows, in the model of M. Besta
 * and T. Hoefler, "Fault Tolerance for Remote Memory Access Programming Models".
 *
 * All processes write to one file, which outlives them. The index of an event is taken by one
 * atomic addition, so it is an order of all events that contains the four orders of the paper:
 *
 *   po  the order of a slot's own events
 *   so  UNLOCK before the LOCK that follows it; each FENCE_IN before each FENCE_OUT of its number
 *   hb  the transitive closure of both
 *   co  an access is visible from its DONE on
 *
 * The checker derives them (check.c). The epoch E(p -> q) ends with a CLOSE.
 */
#ifndef ORDERS_H
#define ORDERS_H

#include <stdatomic.h>
#include <stdint.h>

#define ORDER_KINDS(X)                                                                         \
    X(NONE)                                                                                    \
    X(PUT)      /* about to put */                                                             \
    X(PUT_DONE) /* the data is at the target */                                                \
    X(GET)                                                                                     \
    X(GET_DONE)                                                                                \
    X(CLOSE) /* p's epoch to peer (-1: all) is over */                                         \
    X(LOCK)  /* off 1: exclusive */                                                            \
    X(UNLOCK)                                                                                  \
    X(FENCE_IN)                                                                                \
    X(FENCE_OUT)                                                                               \
    X(IMAGE)      /* C_p of version off begins */                                              \
    X(WORD)       /* a word of the own window in the image of version peer */                  \
    X(IMAGE_DONE) /* off: version; 0 if none was taken */                                      \
    X(RESTORED)   /* a replacement begins to replay from the image of version off (0: none) */ \
    X(FETCHED)    /* it has fetched a put of peer's from peer's log */                         \
    X(APPLIED)    /* R(a, p_new): it has replayed it */                                        \
    X(FED)        /* it was given a logged get */

#define ORDER_NAME(name) ORDER_##name,
enum order_kind { ORDER_KINDS(ORDER_NAME) ORDER_COUNT };
#undef ORDER_NAME

struct order_event {
    uint16_t kind, slot;
    int16_t rank, peer;
    uint32_t win, bytes;
    uint64_t off, value; /* value: the first eight bytes */
    _Atomic uint32_t there;
    uint32_t pad;
};

#define ORDER_EVENTS (1u << 17)

#define RANKS 8 /* at most */
#define SLOTS 16

struct order_file {
    _Atomic uint32_t n;
    uint32_t pad[15];
    struct order_event event[ORDER_EVENTS];
};

#endif
