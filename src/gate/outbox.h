/* SPDX-License-Identifier: BSD-3-Clause
 *
 * outbox.h - what a gateway has to send: for each node and class a queue of frames. A frame is
 * filled, then sent, then kept until the other node's wire has it. Nothing waits.
 */
#ifndef FT_GATE_OUTBOX_H
#define FT_GATE_OUTBOX_H

#include "base/link_counts.h"
#include "gate/relay.h"
#include "wire/wire.h"

struct ft_outbox_frame {
    struct ft_outbox_frame *next;
    uint32_t used;
    _Alignas(16) char data[FT_WIRE_FRAME];
};

struct ft_outbox_queue {                  /* to one node, of one class */
    struct ft_outbox_frame *first, *last; /* sent ones come first */
    struct ft_outbox_frame *unsent;       /* the first that was not; NULL: all were */
    int waiting;                          /* how many were not */
    uint64_t sent, freed;
};

struct ft_outbox {
    struct ft_wire *wire;
    struct ft_link_counts *counts; /* [nnodes]; NULL: nothing is counted. Set by the caller */
    int self, nnodes;
    uint64_t out; /* bit k: node k is out. Nothing is kept for it */
    int failed;   /* there was no memory for a frame */
    int busy;     /* something was queued or sent since the caller has cleared this */
    struct ft_outbox_queue (*queue)[FT_WIRE_CLASSES]; /* [nnodes] */
};

/* FT_ERR_NOMEM. wire is set by the caller before the first push. */
enum ft_status ft_outbox_open(struct ft_outbox *o, int self, int nnodes);
void ft_outbox_close(struct ft_outbox *o);
/* The frame that is being filled, with this much room at least. NULL: the node is out, or there is
 * no memory (failed). The caller adds what it has written to `used`, and sets busy. */
struct ft_outbox_frame *ft_outbox_frame(struct ft_outbox *o, int node, enum ft_wire_class c,
                                        size_t room);
/* Queues an item and the item->bytes that follow it. */
void ft_outbox_item(struct ft_outbox *o, int node, enum ft_wire_class c, const struct ft_item *item,
                    const void *data);
void ft_outbox_to_all(struct ft_outbox *o, enum ft_wire_class c, const struct ft_item *item,
                      const void *data);
/* How many frames wait to be sent. */
int ft_outbox_waiting(const struct ft_outbox *o, int node, enum ft_wire_class c);
/* Hands on to the wire what it takes, and frees what has come. */
void ft_outbox_push(struct ft_outbox *o);
/* Drops all for this node, and whatever is queued for it from now on. After ft_wire_out. */
void ft_outbox_drop(struct ft_outbox *o, int node);

#endif
