/* SPDX-License-Identifier: BSD-3-Clause
 *
 * provider.h - the layer below a wire: connections that carry packets. A provider may lose and
 * reorder packets, as long as it reports at some time that the connection over which a packet was
 * lost has broken. wire.c adds numbers, repeats and the secret.
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

/* A packet to be sent: its head, and what follows. The pieces must stay until the frame is
 * acknowledged, or the connection is hung up. */
struct ft_packet {
    struct ft_packet_head head;
    struct ft_wire_piece piece[FT_WIRE_PIECES];
    int n;
};

struct ft_wire_ops {
    const char *name;
    /* the other members of w are set; `own` is the provider's */
    enum ft_status (*open)(struct ft_wire *w);
    void (*close)(struct ft_wire *w);
    /* Begins a connection; it may fail later. There are never two to one node. */
    void (*dial)(struct ft_wire *w, int node);
    void (*hang_up)(struct ft_wire *w, int node); /* does nothing if there is none */
    /* Whether a packet can be put now. After 1 the next put accepts one. */
    int (*ready)(const struct ft_wire *w, int node);
    void (*put)(struct ft_wire *w, int node, const struct ft_packet *p);
    /* Reports what has come: ft_wire_connected, ft_wire_came, ft_wire_lost. */
    void (*poll)(struct ft_wire *w, uint64_t now_ns);
    int (*fd)(const struct ft_wire *w);
};

/* Frames to a node that are not acknowledged, and frames that have come and were not taken. */
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
    int out, connected; /* connected: the provider has a connection, whatever the link's state is */
    int met;            /* there has been a connection */
    int say, hello;     /* say: our state must be sent; hello: the first message must be sent */
    uint64_t tried_ns, away_ns;
    struct ft_wire_sent sent[FT_WIRE_CLASSES][FT_LINK_WINDOW];
    struct ft_wire_held held[FT_WIRE_CLASSES][FT_LINK_WINDOW];
    struct ft_link_state telling; /* our state while a packet that points to it is being sent */
    struct ft_packet_hello greeting;
};

struct ft_wire {
    const struct ft_wire_ops *ops;
    struct ft_wire_config cfg;
    uint64_t now_ns;
    int turn[FT_WIRE_CLASSES]; /* the node whose frame is taken next */
    void *handed;              /* the data of the frame that was received last */
    void *own;                 /* the provider's */
    struct ft_wire_peer peer[];
};

/* ---- a provider says ---- */
/* The dialled connection exists: the first message is sent. */
void ft_wire_connected(struct ft_wire *w, int node);
/* A complete packet. data is copied. 0: it cannot be from that node, so hang up. */
int ft_wire_came(struct ft_wire *w, int node, const struct ft_packet_head *h, const void *data);
/* The connection is gone. */
void ft_wire_lost(struct ft_wire *w, int node);
/* Returns the node that sent this first message: it knows the secret, and its connection is newer
 * than the present one. -1: none. */
int ft_wire_knock(const struct ft_wire *w, const struct ft_packet_head *h, const void *data);
/* Whether these bytes can be a head. */
int ft_wire_is_head(const struct ft_packet_head *h);

#endif
