/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wire_mem.c - the provider mem: all nodes in one process and one thread, with the delays, losses
 * and order that a test chooses.
 *
 * A pair of nodes has at most one connection. Each dial gives it a new number, and packets with an
 * older number are dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "wire/provider.h"
#include "wire/wire_net.h"

#define UNDER_WAY 256 /* packets in one direction */

struct mem_packet {
    struct ft_packet_head head;
    void *data;
    uint64_t due_ns, sent_ns;
    uint32_t number; /* of the connection */
};

/* From one node to another one. */
struct mem_way {
    struct mem_packet packet[UNDER_WAY];
    int n, cut;
    uint64_t last_due_ns;
    uint32_t connected; /* the sender's end: number of its connection; 0: none */
    int dialled;        /* the sender must be told that it is connected */
};

struct ft_wire_net {
    int nnodes;
    struct ft_wire_weather weather;
    struct ft_prng rng;
    uint32_t last;        /* number of a connection */
    struct mem_way way[]; /* [from * nnodes + to] */
};

struct ft_wire_net *ft_wire_net_make(int nnodes, uint64_t seed)
{
    size_t n = (size_t)nnodes;
    struct ft_wire_net *net = calloc(1, sizeof *net + n * n * sizeof net->way[0]);
    if (net) {
        net->nnodes = nnodes;
        net->rng.s = seed;
        net->weather.patience_ns = UINT64_MAX;
    }
    return net;
}

static void empty(struct mem_way *way)
{
    for (int i = 0; i < way->n; i++)
        free(way->packet[i].data);
    way->n = 0;
}

void ft_wire_net_drop(struct ft_wire_net *net)
{
    for (int i = 0; i < net->nnodes * net->nnodes; i++)
        empty(&net->way[i]);
    free(net);
}

struct ft_wire_weather *ft_wire_net_weather(struct ft_wire_net *net) { return &net->weather; }

static struct mem_way *way_of(struct ft_wire_net *net, int from, int to)
{
    return &net->way[from * net->nnodes + to];
}

void ft_wire_net_cut(struct ft_wire_net *net, int from, int to, int on)
{
    way_of(net, from, to)->cut = on;
}

static enum ft_status mem_open(struct ft_wire *w)
{
    return w->cfg.net && w->cfg.net->nnodes == w->cfg.nnodes ? FT_OK : FT_ERR_ARG;
}

static void mem_hang_up(struct ft_wire *w, int node)
{
    struct mem_way *out = way_of(w->cfg.net, w->cfg.self, node);
    out->connected = 0; /* the other end notices it when something from here can reach it */
    out->dialled = 0;
    empty(out);
}

static void mem_close(struct ft_wire *w)
{
    for (int i = 0; i < w->cfg.nnodes; i++)
        mem_hang_up(w, i);
}

static void mem_dial(struct ft_wire *w, int node)
{
    struct ft_wire_net *net = w->cfg.net;
    struct mem_way *out = way_of(net, w->cfg.self, node);
    if (out->cut || way_of(net, node, w->cfg.self)->cut)
        return; /* it takes both directions to connect */
    out->connected = ++net->last;
    out->dialled = 1;
    out->last_due_ns = 0;
}

static int mem_ready(const struct ft_wire *w, int node)
{
    const struct mem_way *out = way_of(w->cfg.net, w->cfg.self, node);
    return out->connected && out->n < UNDER_WAY;
}

static void mem_put(struct ft_wire *w, int node, const struct ft_packet *p)
{
    struct ft_wire_net *net = w->cfg.net;
    struct mem_way *out = way_of(net, w->cfg.self, node);
    struct mem_packet *to = &out->packet[out->n];
    const struct ft_wire_weather *weather = &net->weather;
    if (weather->lost_in && ft_prng_below(&net->rng, weather->lost_in) == 0) {
        mem_hang_up(w, node);
        ft_wire_lost(w, node);
        return;
    }
    uint64_t at = 0, jitter = weather->jitter_ns ? ft_prng_below(&net->rng, weather->jitter_ns) : 0;
    *to = (struct mem_packet){.head = p->head,
                              .data = malloc(p->head.bytes + 1),
                              .due_ns = w->now_ns + weather->delay_ns + jitter,
                              .sent_ns = w->now_ns,
                              .number = out->connected};
    FT_ASSERT(to->data);
    for (int i = 0; i < p->n; at += p->piece[i++].bytes)
        if (p->piece[i].bytes)
            memcpy((char *)to->data + at, p->piece[i].data, p->piece[i].bytes);
    FT_ASSERT(at == p->head.bytes);
    if (!weather->reorders)
        to->due_ns = ft_max_u64(to->due_ns, out->last_due_ns);
    out->last_due_ns = to->due_ns;
    out->n++;
}

/* The packet that is due first; NULL: there is none. */
static struct mem_packet *first_due(struct mem_way *in, uint64_t now_ns)
{
    struct mem_packet *first = NULL;
    for (int i = 0; i < in->n; i++)
        if (in->packet[i].due_ns <= now_ns && (!first || in->packet[i].due_ns < first->due_ns))
            first = &in->packet[i];
    return first;
}

static void lose(struct ft_wire *w, int node)
{
    mem_hang_up(w, node);
    ft_wire_lost(w, node);
}

static void bring(struct ft_wire *w, int node, struct mem_way *in, struct mem_packet *at)
{
    struct mem_way *out = way_of(w->cfg.net, w->cfg.self, node);
    struct mem_packet p = *at;
    memmove(at, at + 1, (size_t)(&in->packet[in->n] - (at + 1)) * sizeof *at);
    in->n--;
    if (p.number != out->connected && p.head.kind == FT_PACKET_HELLO &&
        ft_wire_knock(w, &p.head, p.data) == node) {
        mem_hang_up(w, node);
        out->connected = p.number; /* accepted */
        out->last_due_ns = 0;
    }
    if (p.number == out->connected && !ft_wire_came(w, node, &p.head, p.data))
        lose(w, node);
    free(p.data);
}

static void poll_one(struct ft_wire *w, int node, uint64_t now_ns)
{
    struct ft_wire_net *net = w->cfg.net;
    struct mem_way *out = way_of(net, w->cfg.self, node), *in = way_of(net, node, w->cfg.self);
    struct mem_packet *p;
    if (out->dialled) {
        out->dialled = 0;
        ft_wire_connected(w, node);
    }
    if (out->cut && out->n && now_ns - out->packet[0].sent_ns > net->weather.patience_ns)
        lose(w, node);
    while (!in->cut && (p = first_due(in, now_ns)) != NULL)
        bring(w, node, in, p);
    /* The other end has hung up, or has another connection. Not while it has not heard of ours. */
    if (!in->cut && w->peer[node].link.up && out->connected != in->connected && in->n == 0)
        lose(w, node);
}

static void mem_poll(struct ft_wire *w, uint64_t now_ns)
{
    for (int i = 0; i < w->cfg.nnodes; i++)
        if (i != w->cfg.self)
            poll_one(w, i, now_ns);
}

static int mem_fd(const struct ft_wire *w)
{
    (void)w;
    return -1;
}

const struct ft_wire_ops ft_wire_mem = {.name = "mem",
                                        .open = mem_open,
                                        .close = mem_close,
                                        .dial = mem_dial,
                                        .hang_up = mem_hang_up,
                                        .ready = mem_ready,
                                        .put = mem_put,
                                        .poll = mem_poll,
                                        .fd = mem_fd};
