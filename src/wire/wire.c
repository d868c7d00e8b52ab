/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire.c - frames over the packets of a provider. Sent frames are listed until they are
 * acknowledged, received ones until they are taken; the link decides which is which.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "wire/provider.h"

enum ft_status ft_wire_open(const struct ft_wire_ops *ops, const struct ft_wire_config *cfg,
                            struct ft_wire **out)
{
    if (cfg->nnodes < 1 || cfg->nnodes > FT_WIRE_NODES || cfg->self < 0 || cfg->self >= cfg->nnodes)
        return FT_ERR_ARG;
    struct ft_wire *w = calloc(1, sizeof *w + (size_t)cfg->nnodes * sizeof w->peer[0]);
    if (!w)
        return FT_ERR_NOMEM;
    w->ops = ops;
    w->cfg = *cfg;
    for (int i = 0; i < cfg->nnodes; i++)
        ft_link_init(&w->peer[i].link, cfg->self < i);
    enum ft_status st = ops->open(w);
    if (st != FT_OK)
        free(w);
    else
        *out = w;
    return st;
}

static void drop_held(struct ft_wire_peer *p)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        for (int i = 0; i < FT_LINK_WINDOW; i++) {
            free(p->held[c][i].data);
            p->held[c][i] = (struct ft_wire_held){0};
        }
}

void ft_wire_close(struct ft_wire *w)
{
    w->ops->close(w);
    for (int i = 0; i < w->cfg.nnodes; i++)
        drop_held(&w->peer[i]);
    free(w->handed);
    free(w);
}

int ft_wire_fd(const struct ft_wire *w) { return w->ops->fd(w); }

static int is_peer(const struct ft_wire *w, int node)
{
    return node >= 0 && node < w->cfg.nnodes && node != w->cfg.self;
}

/* ---- what goes ---- */

static void put(struct ft_wire *w, int node, enum ft_packet_kind kind, const void *data,
                uint32_t bytes)
{
    struct ft_packet p = {.head = {.magic = FT_PACKET_MAGIC,
                                   .kind = (uint16_t)kind,
                                   .conn = w->peer[node].link.conn,
                                   .bytes = bytes},
                          .piece = {{data, bytes}},
                          .n = 1};
    w->ops->put(w, node, &p);
}

static void put_frame(struct ft_wire *w, int node, int c, uint64_t number)
{
    const struct ft_wire_sent *s = &w->peer[node].sent[c][number % FT_LINK_WINDOW];
    struct ft_packet p = {.head = {.magic = FT_PACKET_MAGIC,
                                   .kind = FT_PACKET_FRAME,
                                   .class_of = (uint16_t)c,
                                   .conn = w->peer[node].link.conn,
                                   .bytes = s->bytes,
                                   .number = number},
                          .n = s->n};
    memcpy(p.piece, s->piece, sizeof p.piece);
    w->ops->put(w, node, &p);
}

/* The class whose frame is sent next: the first one that has a frame which may go. */
static int next_class(const struct ft_wire_peer *p)
{
    int c = 0;
    while (c < FT_WIRE_CLASSES && !ft_link_can_go(&p->link, (enum ft_wire_class)c))
        c++;
    return c;
}

/* Puts what can be sent to a node now: first messages, acknowledgements, then the classes in
 * order. */
static void push(struct ft_wire *w, int node)
{
    struct ft_wire_peer *p = &w->peer[node];
    while (p->connected) {
        int say = p->say && p->link.up, c = next_class(p);
        if (!(p->hello || say || c < FT_WIRE_CLASSES) || !w->ops->ready(w, node))
            return;
        if (p->hello) {
            p->hello = 0;
            put(w, node, FT_PACKET_HELLO, &p->greeting, sizeof p->greeting);
        } else if (say) {
            p->say = 0;
            ft_link_say(&p->link, &p->telling);
            put(w, node, FT_PACKET_STATE, &p->telling, sizeof p->telling);
        } else {
            put_frame(w, node, c, ft_link_go(&p->link, (enum ft_wire_class)c));
        }
    }
}

static void greet(struct ft_wire *w, int node, const struct ft_link_state *state)
{
    struct ft_wire_peer *p = &w->peer[node];
    p->greeting = (struct ft_packet_hello){
        .secret = w->cfg.secret, .node = w->cfg.self, .nnodes = w->cfg.nnodes, .state = *state};
    p->hello = 1;
}

enum ft_status ft_wire_send(struct ft_wire *w, int node, enum ft_wire_class c,
                            const struct ft_wire_piece *piece, int n)
{
    uint64_t bytes = 0;
    FT_ASSERT(is_peer(w, node) && n >= 0 && n <= FT_WIRE_PIECES);
    struct ft_wire_peer *p = &w->peer[node];
    for (int i = 0; i < n; i++)
        bytes += piece[i].bytes;
    FT_ASSERT(bytes <= FT_WIRE_FRAME);
    if (p->out)
        return FT_ERR_DEAD;
    uint64_t number = ft_link_add(&p->link, c);
    if (!number)
        return FT_ERR_AGAIN;
    struct ft_wire_sent *s = &p->sent[c][number % FT_LINK_WINDOW];
    *s = (struct ft_wire_sent){.n = n, .bytes = (uint32_t)bytes};
    for (int i = 0; i < n; i++)
        s->piece[i] = piece[i];
    push(w, node);
    return FT_OK;
}

uint64_t ft_wire_acknowledged(const struct ft_wire *w, int node, enum ft_wire_class c)
{
    return w->peer[node].link.way[c].acked - 1;
}

/* ---- what comes ---- */

int ft_wire_receive(struct ft_wire *w, enum ft_wire_class c, struct ft_wire_frame *out)
{
    for (int k = 0; k < w->cfg.nnodes; k++) {
        int node = (w->turn[c] + k) % w->cfg.nnodes;
        struct ft_wire_peer *p = &w->peer[node];
        uint64_t number = node == w->cfg.self || p->out ? 0 : ft_link_take(&p->link, c);
        if (!number)
            continue;
        struct ft_wire_held *h = &p->held[c][number % FT_LINK_WINDOW];
        w->turn[c] = (node + 1) % w->cfg.nnodes;
        free(w->handed);
        w->handed = h->data;
        *out = (struct ft_wire_frame){.node = node, .data = h->data, .bytes = h->bytes};
        *h = (struct ft_wire_held){0};
        p->say = 1;
        return 1;
    }
    return 0;
}

void ft_wire_grant(struct ft_wire *w, int node, uint64_t frames)
{
    FT_ASSERT(is_peer(w, node));
    ft_link_grant(&w->peer[node].link, FT_WIRE_MSG, frames);
    w->peer[node].say = 1;
}

int ft_wire_is_head(const struct ft_packet_head *h)
{
    if (h->magic != FT_PACKET_MAGIC || h->class_of >= FT_WIRE_CLASSES)
        return 0;
    switch (h->kind) {
    case FT_PACKET_HELLO: return h->bytes == sizeof(struct ft_packet_hello);
    case FT_PACKET_STATE: return h->bytes == sizeof(struct ft_link_state);
    case FT_PACKET_FRAME: return h->bytes <= FT_WIRE_FRAME;
    default: return 0;
    }
}

/* Takes as long for a secret that is nearly right as for any other. */
static int same_secret(const struct ft_wire_secret *a, const struct ft_wire_secret *b)
{
    unsigned other = 0;
    for (size_t i = 0; i < sizeof a->byte; i++)
        other |= (unsigned)(a->byte[i] ^ b->byte[i]);
    return other == 0;
}

/* The node of a first message that proves itself; -1: it does not. */
static int read_hello(const struct ft_wire *w, const struct ft_packet_head *h, const void *data,
                      struct ft_packet_hello *out)
{
    if (!ft_wire_is_head(h) || h->kind != FT_PACKET_HELLO)
        return -1;
    memcpy(out, data, sizeof *out);
    return same_secret(&out->secret, &w->cfg.secret) && out->nnodes == w->cfg.nnodes &&
                   is_peer(w, out->node) && !w->peer[out->node].out
               ? out->node
               : -1;
}

int ft_wire_knock(const struct ft_wire *w, const struct ft_packet_head *h, const void *data)
{
    struct ft_packet_hello hello;
    int node = read_hello(w, h, data, &hello);
    if (node < 0 || w->peer[node].link.dials || hello.state.conn <= w->peer[node].link.conn)
        return -1; /* [It was dialled before the one that there is, and was accepted after it.] */
    return node;
}

static int take_hello(struct ft_wire *w, int node, const struct ft_packet_head *h, const void *data)
{
    struct ft_wire_peer *p = &w->peer[node];
    struct ft_packet_hello hello;
    struct ft_link_state state;
    if (read_hello(w, h, data, &hello) != node)
        return 0;
    if (!ft_link_hello(&p->link, &hello.state))
        return 1; /* of an old connection, and late */
    p->connected = 1;
    p->say = 1; /* something was taken or granted after the first message was made */
    if (!p->link.dials) {
        ft_link_say(&p->link, &state);
        greet(w, node, &state);
    }
    return 1;
}

static int take_frame(struct ft_wire_peer *p, const struct ft_packet_head *h, const void *data)
{
    struct ft_wire_held *held = &p->held[h->class_of][h->number % FT_LINK_WINDOW];
    void *copy = malloc(h->bytes ? h->bytes : 1);
    if (!copy)
        return 0; /* it comes again over the next connection */
    memcpy(copy, data, h->bytes);
    p->say = 1;
    if (!ft_link_arrived(&p->link, h->conn, (enum ft_wire_class)h->class_of, h->number)) {
        free(copy);
        return 1;
    }
    FT_ASSERT(!held->data);
    *held = (struct ft_wire_held){.data = copy, .bytes = h->bytes};
    return 1;
}

int ft_wire_came(struct ft_wire *w, int node, const struct ft_packet_head *h, const void *data)
{
    struct ft_wire_peer *p = &w->peer[node];
    struct ft_link_state state;
    if (!is_peer(w, node) || p->out || !ft_wire_is_head(h))
        return 0;
    switch (h->kind) {
    case FT_PACKET_HELLO: return take_hello(w, node, h, data);
    case FT_PACKET_FRAME: return take_frame(p, h, data);
    default:
        memcpy(&state, data, sizeof state);
        ft_link_heard(&p->link, &state);
        return 1;
    }
}

/* ---- connections ---- */

void ft_wire_connected(struct ft_wire *w, int node)
{
    struct ft_wire_peer *p = &w->peer[node];
    struct ft_link_state state;
    p->connected = 1;
    ft_link_dial(&p->link, &state);
    greet(w, node, &state);
}

void ft_wire_lost(struct ft_wire *w, int node)
{
    struct ft_wire_peer *p = &w->peer[node];
    p->connected = p->hello = 0;
    ft_link_broken(&p->link, p->link.conn);
}

void ft_wire_out(struct ft_wire *w, int node)
{
    FT_ASSERT(is_peer(w, node));
    struct ft_wire_peer *p = &w->peer[node];
    p->out = 1;
    w->ops->hang_up(w, node);
    ft_wire_lost(w, node);
    drop_held(p);
}

uint64_t ft_wire_away(const struct ft_wire *w, int node)
{
    const struct ft_wire_peer *p = &w->peer[node];
    return p->link.up ? 0 : w->now_ns - p->away_ns;
}

int ft_wire_met(const struct ft_wire *w, int node) { return w->peer[node].met; }

void ft_wire_progress(struct ft_wire *w, uint64_t now_ns)
{
    w->now_ns = now_ns;
    w->ops->poll(w, now_ns);
    for (int i = 0; i < w->cfg.nnodes; i++) {
        struct ft_wire_peer *p = &w->peer[i];
        if (!is_peer(w, i) || p->out)
            continue;
        p->met |= p->link.up;
        if (p->link.up || !p->away_ns)
            p->away_ns = now_ns;
        if (p->link.dials && !p->link.up && now_ns - p->tried_ns >= w->cfg.again_ns) {
            w->ops->hang_up(w, i);
            ft_wire_lost(w, i);
            p->tried_ns = now_ns;
            w->ops->dial(w, i);
        }
        push(w, i);
    }
}
