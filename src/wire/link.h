/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.h - one end of the connection between two nodes: decides which frame is sent next, which one
 * is taken next, and what is sent again over a new connection. A machine without I/O, memory or
 * clock; plain bytes.
 *
 * Frames of each class are numbered from 1 and taken in that order. The sender keeps what a frame
 * points to until the other end has acknowledged it. Connections are numbered by the end that
 * dials, which is always the same one of the two. When a connection begins, each end says which
 * frame of each class it wants next, and the other end continues there. Frames and acknowledgements
 * of an older connection are dropped.
 *
 * [Applied, the acknowledgement is lost, sent again: the receiver wants a later frame by then, and
 * says so.] [A frame of the old connection comes after the new one has begun, and may have been
 * sent again already. Both have one number, so the frame would be taken once; but the memory of the
 * old one may be reused by now, so it is dropped by the connection's number.]
 *
 * No class waits for another: each has its own numbers and its own credit. A sender never sends a
 * frame that the other end has not granted, so the other end always has room for what comes.
 */
#ifndef FT_WIRE_LINK_H
#define FT_WIRE_LINK_H

#include <stdint.h>

#include "wire/wire.h"

#define FT_LINK_WINDOW 64 /* frames of a class that may be neither acknowledged nor taken */

/* One class, both directions. A counter holds the number of the next frame: all frames before it
 * are done. */
struct ft_link_way {
    uint64_t next;    /* ours: number of the next new frame */
    uint64_t at;      /* ours: is sent next over this connection */
    uint64_t acked;   /* ours: the other end has all before this; acked <= at <= next */
    uint64_t may;     /* ours: the other end accepts frames before this one */
    uint64_t want;    /* theirs: the next one in order */
    uint64_t taken;   /* theirs: the user has taken all before this; taken <= want */
    uint64_t granted; /* theirs: we accept frames before this one; <= taken + FT_LINK_WINDOW */
    uint64_t early;   /* theirs: bit i: frame want + i is here; bit 0 is never set */
};

struct ft_link {
    int dials;     /* this end begins connections */
    int up;        /* the connection has begun and is not broken */
    uint32_t conn; /* number of the newest connection; 0: none yet */
    struct ft_link_way way[FT_WIRE_CLASSES];
};

/* The state that an end sends when it begins a connection, answers that, and acknowledges. */
struct ft_link_state {
    uint32_t conn;
    uint64_t want[FT_WIRE_CLASSES], granted[FT_WIRE_CLASSES];
};

/* Credit of MSG is given by the user (ft_link_grant), that of other classes as frames are taken. */
void ft_link_init(struct ft_link *l, int dials);

/* The dialling end begins a new connection; out is the first message on it. The old one, if any, is
 * over. */
void ft_link_dial(struct ft_link *l, struct ft_link_state *out);
/* The other end's first message has come. 1: the connection has begun; the end that does not dial
 * answers with ft_link_say. 0: it is of an older connection, or impossible: drop it. */
int ft_link_hello(struct ft_link *l, const struct ft_link_state *in);
/* This connection is broken. Nothing is sent until another one has begun. */
void ft_link_broken(struct ft_link *l, uint32_t conn);

/* Adds a new frame and returns its number; 0: the window is full, try again after an
 * acknowledgement. */
uint64_t ft_link_add(struct ft_link *l, enum ft_wire_class c);
/* Whether there is a frame to be sent now. */
int ft_link_can_go(const struct ft_link *l, enum ft_wire_class c);
/* Returns the number of the frame to be sent next, and counts it as sent; 0: there is none. */
uint64_t ft_link_go(struct ft_link *l, enum ft_wire_class c);

/* A frame has come, perhaps before the other end's first message. 1: keep its contents under that
 * number; all before way[c].want may be taken. 0: it is of another connection, a duplicate, or not
 * granted: drop it. */
int ft_link_arrived(struct ft_link *l, uint32_t conn, enum ft_wire_class c, uint64_t number);
/* Returns the number of the frame that the user takes now, in order; 0: there is none. */
uint64_t ft_link_take(struct ft_link *l, enum ft_wire_class c);
/* Grants this many more frames; the total is limited to the window. */
void ft_link_grant(struct ft_link *l, enum ft_wire_class c, uint64_t frames);

/* The state to send to the other end after frames have come or were taken. */
void ft_link_say(const struct ft_link *l, struct ft_link_state *out);
/* The other end has sent its state. 0: dropped, as with ft_link_hello. Older states of the same
 * connection do no harm. */
int ft_link_heard(struct ft_link *l, const struct ft_link_state *in);

/* Asserts the invariants. */
void ft_link_check(const struct ft_link *l);

#endif
