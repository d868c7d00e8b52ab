/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gateway.c - the gateway: stand-ins, and what goes through them.
 */
#define _GNU_SOURCE 1
#include "gate/gateway.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "gate/relay.h"

#define ROOM (20u << 10) /* of a frame, for the longest record and what comes with it */
#define AHEAD 4          /* frames of records that wait for the wire, to one node */
#define SPINS 200        /* steps without anything before it sleeps */
#define NAP_NS 500000

_Static_assert(sizeof(struct ft_item) + FT_MAIL_BYTES <= ROOM, "a mail fits");

/* A frame on its way: filled, then queued, then kept until it is acknowledged. */
struct gate_frame {
    struct gate_frame *next;
    uint32_t used;
    _Alignas(16) char data[FT_WIRE_FRAME];
};

struct gate_queue {                  /* to one node, of one class */
    struct gate_frame *first, *last; /* sent ones come first */
    struct gate_frame *unsent;       /* the first that was not; NULL: all were */
    int waiting;                     /* so many were not */
    uint64_t sent, freed;
};

/* A process of another node. */
struct gate_far {
    int present; /* it is on the board */
    struct ft_arena arena;
    struct ft_tp tp;          /* this process's, acting as that one */
    struct ft_relay_out *out; /* [near]: channels to it. hdr NULL: none */
    struct ft_relay_in *in;   /* [near]: channels from it */
};

struct ft_gate {
    struct ft_gate_config cfg;
    struct ft_board *b;
    struct ft_wire *wire;
    int *end, from, n;                           /* the slots of this node: from, and how many */
    char *near_is_there;                         /* [n]: all others have been told */
    char *near_has_ended;                        /* likewise */
    struct gate_far *far;                        /* [nslots]; those of this node are not used */
    struct gate_queue (*queue)[FT_WIRE_CLASSES]; /* [nnodes] */
    char why[300];
    int stopped, busy;
};

__attribute__((format(printf, 2, 3))) static void stop(struct ft_gate *g, const char *fmt, ...)
{
    va_list ap;
    if (g->stopped)
        return;
    g->stopped = 1;
    va_start(ap, fmt);
    vsnprintf(g->why, sizeof g->why, fmt, ap);
    va_end(ap);
}

const char *ft_gate_why(const struct ft_gate *g) { return g->why; }

int ft_gate_fd(const struct ft_gate *g) { return ft_wire_fd(g->wire); }

static int node_of(const struct ft_gate *g, int slot)
{
    int k = 0;
    while (slot >= g->end[k])
        k++;
    return k;
}

static int is_near(const struct ft_gate *g, int slot)
{
    return slot >= g->from && slot < g->from + g->n;
}

/* ---- frames that go ---- */

/* The frame that is being filled, with so much room; NULL: there is no memory. */
static struct gate_frame *frame_to(struct ft_gate *g, int node, enum ft_wire_class c, size_t room)
{
    struct gate_queue *q = &g->queue[node][c];
    if (q->unsent && sizeof q->last->data - q->last->used >= room)
        return q->last;
    struct gate_frame *f = malloc(sizeof *f);
    if (!f) {
        stop(g, "there is no memory for what goes to node %d", node);
        return NULL;
    }
    f->next = NULL;
    f->used = 0;
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    if (!q->unsent)
        q->unsent = f;
    q->waiting++;
    return f;
}

static void send_item(struct ft_gate *g, int node, enum ft_wire_class c, const struct ft_item *item,
                      const void *data)
{
    struct gate_frame *f = frame_to(g, node, c, ft_item_size(item->bytes));
    if (!f)
        return;
    memcpy(f->data + f->used, item, sizeof *item);
    if (item->bytes)
        memcpy(f->data + f->used + sizeof *item, data, item->bytes);
    f->used += (uint32_t)ft_item_size(item->bytes);
    g->busy = 1;
}

static void send_to_all(struct ft_gate *g, enum ft_wire_class c, const struct ft_item *item)
{
    for (int k = 0; k < g->cfg.wire.nnodes; k++)
        if (k != g->cfg.wire.self)
            send_item(g, k, c, item, NULL);
}

static void push(struct ft_gate *g, int node, enum ft_wire_class c)
{
    struct gate_queue *q = &g->queue[node][c];
    while (q->unsent && q->unsent->used > 0) {
        struct ft_wire_piece piece = {q->unsent->data, q->unsent->used};
        if (ft_wire_send(g->wire, node, c, &piece, 1) != FT_OK)
            break;
        q->unsent = q->unsent->next;
        q->waiting--;
        q->sent++;
        g->busy = 1;
    }
    for (uint64_t acked = ft_wire_acknowledged(g->wire, node, c); q->freed < acked; q->freed++) {
        struct gate_frame *f = q->first;
        FT_ASSERT(f && f != q->unsent);
        q->first = f->next;
        if (q->last == f)
            q->last = NULL;
        free(f);
    }
}

/* ---- what comes ---- */

static void arrived(struct ft_gate *g, int slot)
{
    struct ft_board_slot *s = &g->b->slot[slot];
    struct gate_far *f = &g->far[slot];
    if (f->present)
        return;
    f->present = 1;
    atomic_store(&s->start_time, ft_proc_start_time(getpid()));
    atomic_store(&s->pid, getpid());
    atomic_store(&s->phase, FT_PHASE_RUNNING);
    atomic_store(&s->who, s->at_first);
    atomic_store(&f->arena.ctl->live, 1);
    s->arena_file = f->arena.file;
    atomic_store_explicit(&s->arena_fd, f->arena.fd, memory_order_release);
}

/* It has ended, and all that it had sent has come before this. */
static void closed(struct ft_gate *g, int slot)
{
    atomic_store(&g->b->slot[slot].ended, 1);
    for (int i = 0; i < g->n; i++)
        ft_bell_ring(g->b, g->from + i);
}

static void mail_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct ft_tp *tp = &g->far[item->from].tp;
    enum ft_status st = tp->ops->mail(tp, item->to, data, item->bytes);
    if (st == FT_ERR_AGAIN)
        stop(g, "process %d takes no mails (is it stopped?)", item->to);
}

static void record_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct gate_far *f = &g->far[item->from];
    struct ft_relay_in *in = &f->in[item->to - g->from];
    struct ft_ctl *reader = ft_tp_ctl(&f->tp, item->to);
    enum ft_status st = reader ? FT_OK : FT_ERR_DEAD;
    if (st == FT_OK && !in->hdr)
        st = ft_relay_in_begin(in, item->from, item->to, &f->arena, reader);
    if (st == FT_OK)
        st = ft_relay_in_take(in, item, data);
    if (st == FT_ERR_NOMEM)
        stop(g,
             "there is no memory for the messages of process %d to %d: enlarge the file system "
             "of FTRMA_ARENA_DIR (/dev/shm)",
             item->from, item->to);
    else if (st == FT_ERR_ARG)
        stop(g, "the messages of process %d to %d do not follow one another", item->from, item->to);
}

/* 0: no gateway of this job says that. */
static int take_item(struct ft_gate *g, int node, const struct ft_item *item, const void *data)
{
    /* said by the writer's node, but for what the reader says */
    int back = item->kind == FT_ITEM_RELEASED || item->kind == FT_ITEM_MATCHED;
    int theirs = back ? item->to : item->from, ours = back ? item->from : item->to;
    int alone = item->kind == FT_ITEM_ARRIVED || item->kind == FT_ITEM_CLOSED;
    if (theirs < 0 || theirs >= g->b->nslots || node_of(g, theirs) != node ||
        (!alone && !is_near(g, ours)))
        return 0;
    struct gate_far *f = &g->far[theirs];
    struct ft_relay_out *out = alone ? NULL : &f->out[ours - g->from];
    switch (item->kind) {
    case FT_ITEM_ARRIVED: arrived(g, theirs); return 1;
    case FT_ITEM_CLOSED: closed(g, theirs); return 1;
    case FT_ITEM_MAIL:
        if (item->bytes == 0 || item->bytes > FT_MAIL_BYTES)
            return 0;
        mail_came(g, item, data);
        return 1;
    case FT_ITEM_CHUNK:
    case FT_ITEM_RECORDS:
    case FT_ITEM_WANTS: record_came(g, item, data); return 1;
    case FT_ITEM_RELEASED:
    case FT_ITEM_MATCHED:
        if (!out->hdr)
            return 0;
        if (item->kind == FT_ITEM_RELEASED)
            ft_relay_out_released(out, &f->arena.ctl->peer[ours], item->at);
        else
            ft_relay_out_matched(out, item->number);
        f->tp.ops->ring(&f->tp, ours);
        return 1;
    default: return 0;
    }
}

static void take_frame(struct ft_gate *g, const struct ft_wire_frame *frame)
{
    const char *data = frame->data;
    struct ft_item item;
    for (uint32_t at = 0; at < frame->bytes && !g->stopped;) {
        uint32_t left = frame->bytes - at;
        if (left >= sizeof item)
            memcpy(&item, data + at, sizeof item);
        if (left < sizeof item || left < ft_item_size(item.bytes) ||
            !take_item(g, frame->node, &item, data + at + sizeof item)) {
            stop(g, "node %d says what cannot be", frame->node);
            return;
        }
        at += (uint32_t)ft_item_size(item.bytes);
    }
}

static void receive(struct ft_gate *g)
{
    static const enum ft_wire_class order[] = {FT_WIRE_CONTROL, FT_WIRE_MSG};
    struct ft_wire_frame frame;
    for (size_t i = 0; i < FT_COUNTOF(order); i++)
        while (!g->stopped && ft_wire_receive(g->wire, order[i], &frame)) {
            g->busy = 1;
            take_frame(g, &frame);
            if (order[i] == FT_WIRE_MSG)
                ft_wire_grant(g->wire, frame.node, 1);
        }
}

/* ---- what this node's processes say ---- */

static void look_at_mails(struct ft_gate *g, int far, int near)
{
    char text[FT_MAIL_BYTES];
    struct ft_tp *tp = &g->far[far].tp;
    struct ft_item item = {.kind = FT_ITEM_MAIL, .from = near, .to = far};
    while (!g->stopped && (item.bytes = tp->ops->take(tp, near, text)) > 0)
        send_item(g, node_of(g, far), FT_WIRE_CONTROL, &item, text);
}

/* 1: all that is there now has been put into frames. */
static int look_at_channel(struct ft_gate *g, int far, int near)
{
    struct gate_far *f = &g->far[far];
    struct ft_relay_out *out = &f->out[near - g->from];
    int node = node_of(g, far);
    if (!out->hdr) {
        uint64_t off = atomic_load_explicit(&f->arena.ctl->peer[near].chan, memory_order_acquire);
        char *base =
            off ? (char *)f->tp.ops->map(&f->tp, near, 0, g->cfg.arena_bytes, FT_TP_LOG) : NULL;
        if (!base)
            return 1;
        ft_relay_out_begin(out, near, far, base, off);
    }
    while (!g->stopped && g->queue[node][FT_WIRE_MSG].waiting < AHEAD) {
        struct gate_frame *frame = frame_to(g, node, FT_WIRE_MSG, ROOM);
        if (!frame)
            return 0;
        size_t n =
            ft_relay_out_take(out, frame->data + frame->used, sizeof frame->data - frame->used);
        if (n == 0)
            return 1;
        frame->used += (uint32_t)n;
        g->busy = 1;
    }
    return 0;
}

static void look_at_what_was_read(struct ft_gate *g, int far, int near)
{
    struct ft_relay_in *in = &g->far[far].in[near - g->from];
    struct ft_item item;
    while (in->hdr && !g->stopped && ft_relay_in_say(in, &item))
        send_item(g, node_of(g, far), FT_WIRE_CONTROL, &item, NULL);
}

static void near_is_there(struct ft_gate *g, int near)
{
    struct ft_item item = {.kind = FT_ITEM_ARRIVED, .from = near, .to = near};
    if (atomic_load_explicit(&g->b->slot[near].arena_fd, memory_order_acquire) < 0)
        return;
    for (int q = 0; q < g->b->nslots; q++) /* now: it may end before it is needed */
        if (!is_near(g, q) && g->far[q].tp.ops->attach(&g->far[q].tp, near) == FT_ERR_SYS)
            return;
    g->near_is_there[near - g->from] = 1;
    send_to_all(g, FT_WIRE_CONTROL, &item);
}

static void look_at(struct ft_gate *g, int near)
{
    int i = near - g->from, all = 1;
    int ended = atomic_load(&g->b->slot[near].ended); /* before all that it has said is taken */
    if (!g->near_is_there[i])
        near_is_there(g, near);
    if (!g->near_is_there[i])
        return;
    for (int q = 0; q < g->b->nslots; q++) {
        if (is_near(g, q))
            continue;
        look_at_mails(g, q, near);
        all &= look_at_channel(g, q, near);
        look_at_what_was_read(g, q, near);
    }
    if (!ended || !all || g->near_has_ended[i])
        return;
    struct ft_item item = {.kind = FT_ITEM_CLOSED, .from = near, .to = near};
    g->near_has_ended[i] = 1;
    send_to_all(g, FT_WIRE_MSG, &item);
}

int ft_gate_step(struct ft_gate *g, uint64_t now_ns)
{
    g->busy = 0;
    ft_wire_progress(g->wire, now_ns);
    receive(g);
    for (int i = 0; i < g->n && !g->stopped; i++)
        look_at(g, g->from + i);
    for (int q = 0; q < g->b->nslots && !g->stopped; q++)
        if (!is_near(g, q))
            (void)g->far[q].tp.ops->post(&g->far[q].tp);
    for (int k = 0; k < g->cfg.wire.nnodes && !g->stopped; k++)
        for (int c = 0; c < FT_WIRE_CLASSES && k != g->cfg.wire.self; c++)
            push(g, k, (enum ft_wire_class)c);
    return g->stopped ? -1 : g->busy;
}

/* ---- start and end ---- */

static enum ft_status stand_in(struct ft_gate *g, int slot)
{
    struct gate_far *f = &g->far[slot];
    f->out = calloc((size_t)g->n, sizeof *f->out);
    f->in = calloc((size_t)g->n, sizeof *f->in);
    if (!f->out || !f->in)
        return FT_ERR_NOMEM;
    enum ft_status st =
        ft_arena_create(&f->arena, slot, g->b->nslots, g->cfg.arena_bytes, g->cfg.arena_dir);
    return st == FT_OK ? ft_tp_open(&f->tp, "shm", &f->arena, g->b, slot) : st;
}

static enum ft_status make(struct ft_gate *g)
{
    int nnodes = g->cfg.wire.nnodes, self = g->cfg.wire.self;
    g->end = calloc((size_t)nnodes, sizeof *g->end);
    g->queue = calloc((size_t)nnodes, sizeof *g->queue);
    g->far = calloc((size_t)g->b->nslots, sizeof *g->far);
    if (!g->end || !g->queue || !g->far)
        return FT_ERR_NOMEM;
    memcpy(g->end, g->cfg.end, (size_t)nnodes * sizeof *g->end);
    g->from = self ? g->end[self - 1] : 0;
    g->n = g->end[self] - g->from;
    g->near_is_there = calloc((size_t)g->n, 1);
    g->near_has_ended = calloc((size_t)g->n, 1);
    if (!g->near_is_there || !g->near_has_ended)
        return FT_ERR_NOMEM;
    for (int q = 0; q < g->b->nslots; q++) {
        enum ft_status st = is_near(g, q) ? FT_OK : stand_in(g, q);
        if (st != FT_OK)
            return st;
    }
    enum ft_status st = ft_wire_open(g->cfg.ops, &g->cfg.wire, &g->wire);
    for (int k = 0; k < nnodes && st == FT_OK; k++)
        if (k != self)
            ft_wire_grant(g->wire, k, UINT64_MAX); /* as many as the window holds */
    return st;
}

enum ft_status ft_gate_open(const struct ft_gate_config *cfg, struct ft_gate **out)
{
    struct ft_gate *g = calloc(1, sizeof *g);
    if (!g)
        return FT_ERR_NOMEM;
    g->cfg = *cfg;
    g->b = cfg->board;
    enum ft_status st = make(g);
    if (st != FT_OK) {
        int why = errno;
        ft_gate_close(g);
        errno = why;
        return st;
    }
    *out = g;
    return FT_OK;
}

static void drop_stand_in(struct ft_gate *g, int slot)
{
    struct gate_far *f = &g->far[slot];
    for (int i = 0; i < g->n; i++) {
        if (f->out)
            ft_relay_out_end(&f->out[i]);
        if (f->in)
            ft_relay_in_end(&f->in[i]);
    }
    free(f->out);
    free(f->in);
    if (f->tp.ops)
        ft_tp_close(&f->tp);
    if (f->arena.base)
        ft_arena_destroy(&f->arena);
}

void ft_gate_close(struct ft_gate *g)
{
    if (g->wire)
        ft_wire_close(g->wire);
    for (int k = 0; g->queue && k < g->cfg.wire.nnodes; k++)
        for (int c = 0; c < FT_WIRE_CLASSES; c++)
            for (struct gate_frame *f = g->queue[k][c].first, *next; f; f = next) {
                next = f->next;
                free(f);
            }
    for (int q = 0; g->far && q < g->b->nslots; q++)
        drop_stand_in(g, q);
    free(g->far);
    free(g->queue);
    free(g->end);
    free(g->near_is_there);
    free(g->near_has_ended);
    free(g);
}

void ft_gate_run(struct ft_gate *g)
{
    for (int idle = 0, did; (did = ft_gate_step(g, ft_now_ns())) >= 0;) {
        struct pollfd p = {.fd = ft_gate_fd(g), .events = POLLIN};
        struct timespec nap = {.tv_nsec = NAP_NS};
        idle = did ? 0 : idle + 1;
        if (idle > SPINS)
            (void)ppoll(&p, 1, &nap, NULL);
        else if (idle > 0)
            sched_yield();
    }
    fprintf(stderr, "ftrma: the gateway of node %d cannot go on: %s\n", g->cfg.wire.self, g->why);
}
