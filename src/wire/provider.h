/* SPDX-License-Identifier: BSD-3-Clause
 *
 * provider.h - what is below a wire: connections that carry packets. A provider may lose packets
 * and bring them in another order, as long as it says at some time that a connection has broken
 * over which one was lost. Numbers, repeats and the secret are wire.c's.
 */
#ifndef FT_WIRE_PROVIDER_H
#define FT_WIRE_PROVIDER_H

#include "wire/link.h"
#include "wire/wire.h"

enum ft_packet_kind { FT_PACKET_HELLO = 1, FT_PACKET_FRAME, FT_PACKET_STATE };

/* Both nodes have one byte order: x86-64 and arm64. */
struct ft_packet_head {
    uint32_t magic;
    uint16_t kind, class_of; /* enum ft_packet_kind, enum ft_wire_class */
    uint32_t conn, bytes;    /* of what follows */
    uint64_t number;         /* FRAME */
};
#define FT_PACKET_MAGIC 0x46545731u

struct ft_packet_hello {
    struct ft_wire_secret secret;
    int32_t node, nnodes;
    struct ft_link_state state;
};

/* A packet that goes: its head, and what follows. The pieces stay until the frame is acknowledged,
 * or the connection is hung up. */
struct ft_packet {
    struct ft_packet_head head;
    struct ft_wire_piece piece[FT_WIRE_PIECES];
    int n;
};

struct ft_wire_ops {
    const char *name;
    enum ft_status (*open)(struct ft_wire *w); /* the rest of w is set; own is the provider's */
    void (*close)(struct ft_wire *w);
    /* Begins a connection; whether it comes to anything shows later. Never two to one node. */
    void (*dial)(struct ft_wire *w, int node);
    void (*hang_up)(struct ft_wire *w, int node); /* also if there is none */
    /* Whether a packet can be put now. After 1 the next put takes one. */
    int (*ready)(const struct ft_wire *w, int node);
    void (*put)(struct ft_wire *w, int node, const struct ft_packet *p);
    /* Brings what has come: ft_wire_connected, ft_wire_came, ft_wire_lost. */
    void (*poll)(struct ft_wire *w, uint64_t now_ns);
    int (*fd)(const struct ft_wire *w);
};

/* What goes to a node and is not acknowledged; what has come and was not taken. */
struct ft_wire_sent {
    struct ft_wire_piece piece[FT_WIRE_PIECES];
    int n;
    uint32_t bytes;
};
struct ft_wire_held {
    void *data;
    uint32_t bytes;
};

struct ft_wire_peer {
    struct ft_link link;
    int out, connected; /* connected: the provider has a connection, whatever the link says */
    int say, hello;     /* our state is to be told; the first word is to be said */
    uint64_t tried_ns, away_ns;
    struct ft_wire_sent sent[FT_WIRE_CLASSES][FT_LINK_WINDOW];
    struct ft_wire_held held[FT_WIRE_CLASSES][FT_LINK_WINDOW];
    struct ft_link_state telling; /* what a packet of ours points to until it has gone */
    struct ft_packet_hello greeting;
};

struct ft_wire {
    const struct ft_wire_ops *ops;
    struct ft_wire_config cfg;
    uint64_t now_ns;
    int turn[FT_WIRE_CLASSES]; /* whose frame is taken next */
    void *handed;              /* the data of the frame that was received last */
    void *own;                 /* the provider's */
    struct ft_wire_peer peer[];
};

/* ---- a provider says ---- */
/* The connection that was dialled is there: the first word goes. */
void ft_wire_connected(struct ft_wire *w, int node);
/* A whole packet. data is copied. 0: it cannot be from that node, so hang up. */
int ft_wire_came(struct ft_wire *w, int node, const struct ft_packet_head *h, const void *data);
/* The connection is gone. */
void ft_wire_lost(struct ft_wire *w, int node);
/* Which node knocks with this first word: it knows the secret, and its connection is newer than the
 * one that there is. -1: none does. */
int ft_wire_knock(const struct ft_wire *w, const struct ft_packet_head *h, const void *data);
/* Whether a head can be one. */
int ft_wire_is_head(const struct ft_packet_head *h);

#endif
