/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.h - one end of the way between two nodes: which frame goes next, which one has its turn, and
 * what goes again over a new connection. A machine without I/O, memory or clock; plain bytes.
 *
 * Frames of each class are numbered from 1 and have their turn in that order. The sender keeps what
 * a frame points to until the other end has acknowledged it. Connections are numbered by the end
 * that dials, which is always the same one of two. When a connection begins, each end says which
 * frame of each class it wants next, and the other end goes on there. Frames and acknowledgements
 * of an older connection are dropped.
 *
 * [Applied, the acknowledgement is lost, sent again: the receiver wants a later frame by then, and
 * says so.] [A frame of the old connection comes after the new one has begun: it may have been sent
 * again already. Both have one number, so the frame is taken once; but the old one's memory may be
 * used for something else by now, so it is dropped by the connection's number.]
 *
 * No class waits for another: each has its own numbers, and its own credit. A sender never sends a
 * frame that the other end has not granted, so the other end has always a place for what comes.
 */
#ifndef FT_WIRE_LINK_H
#define FT_WIRE_LINK_H

#include <stdint.h>

#include "wire/wire.h"

#define FT_LINK_WINDOW 64 /* frames of a class that may be neither acknowledged nor taken */

/* One class, both directions. Numbers of frames are those of the next one: all before are done. */
struct ft_link_way {
    uint64_t next;    /* ours: gets the next new frame */
    uint64_t at;      /* ours: goes next over this connection */
    uint64_t acked;   /* ours: the other end has all before; acked <= at <= next */
    uint64_t may;     /* ours: the other end takes frames before this one */
    uint64_t want;    /* theirs: has its turn next */
    uint64_t taken;   /* theirs: the user has taken all before; taken <= want */
    uint64_t granted; /* theirs: we take frames before this one; <= taken + FT_LINK_WINDOW */
    uint64_t early;   /* theirs: bit i: frame want + i is here; bit 0 is never set */
};

struct ft_link {
    int dials;     /* this end begins connections */
    int up;        /* the connection has begun, and has not broken yet */
    uint32_t conn; /* number of the newest connection; 0: none yet */
    struct ft_link_way way[FT_WIRE_CLASSES];
};

/* What an end says of itself: it begins a connection, answers that, and acknowledges. */
struct ft_link_state {
    uint32_t conn;
    uint64_t want[FT_WIRE_CLASSES], granted[FT_WIRE_CLASSES];
};

/* MSG is granted by its user (ft_link_grant), the other classes as they are taken. */
void ft_link_init(struct ft_link *l, int dials);

/* The dialling end begins a new connection; out is its first word on it. The old one, if any, is
 * over. */
void ft_link_dial(struct ft_link *l, struct ft_link_state *out);
/* The first word of the other end has come. 1: the connection has begun; the end that does not dial
 * answers with ft_link_say. 0: of an older connection, or it says what cannot be: drop it. */
int ft_link_hello(struct ft_link *l, const struct ft_link_state *in);
/* That connection has broken. Nothing goes until another one has begun. */
void ft_link_broken(struct ft_link *l, uint32_t conn);

/* A new frame: its number; 0: the window is full, try again after an acknowledgement. */
uint64_t ft_link_add(struct ft_link *l, enum ft_wire_class c);
/* The number of the frame that goes next over the connection, and is counted as sent; 0: none. */
uint64_t ft_link_go(struct ft_link *l, enum ft_wire_class c);

/* A frame has come; perhaps before the other end's first word. 1: keep its contents under that
 * number; all before way[c].want have their turn. 0: of another connection, here already, or not
 * granted: drop it. */
int ft_link_arrived(struct ft_link *l, uint32_t conn, enum ft_wire_class c, uint64_t number);
/* The number of the frame that the user takes now, in its turn; 0: none is here. */
uint64_t ft_link_take(struct ft_link *l, enum ft_wire_class c);
/* So many frames more may come; never more than the window holds. */
void ft_link_grant(struct ft_link *l, enum ft_wire_class c, uint64_t frames);

/* What to tell the other end after frames have come or were taken, over this connection. */
void ft_link_say(const struct ft_link *l, struct ft_link_state *out);
/* It has told so. 0: dropped, as with ft_link_hello. Older ones of the same connection do no harm.
 */
int ft_link_heard(struct ft_link *l, const struct ft_link_state *in);

/* Asserts what holds at every moment. */
void ft_link_check(const struct ft_link *l);

#endif
