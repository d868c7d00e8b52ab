/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gateway.c - the gateway: stand-ins, and what goes through them.
 */
#define _GNU_SOURCE 1
#include "gate/gateway.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "gate/accesses.h"
#include "gate/doze.h"
#include "gate/fetch.h"
#include "gate/gate_state.h"
#include "gate/lanes.h"
#include "gate/mirror.h"
#include "gate/outbox.h"
#include "transport/wait.h"

#define ROOM (20u << 10) /* of a frame, for the longest record and what comes with it */
#define AHEAD 4          /* frames of records that wait for the wire, to one node */
#define BULK 8           /* frames with pieces of images that are taken before anything else is */
#define SPINS 200        /* steps without anything before it sleeps */
#define SPIN_NS 200000   /* at most, where processes outnumber cores */
#define NAP_NS 500000    /* a sleep; each that was in vain doubles the next one, up to */
#define NAP_MOST_NS 4000000
#define HEAP_KEPT (32 << 20) /* bytes of free heap that malloc keeps */
#define CLOSED_CLASSES 2     /* OPS and MSG */
#define UNMATCHED 6000       /* as many as fit into a frame */

_Static_assert(sizeof(struct ft_item) + FT_MAIL_BYTES <= ROOM, "a mail fits");

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

static void ring_agents(struct ft_gate *g)
{
    for (int i = 0; i < g->n; i++)
        ft_bell_ring(g->b, g->from + i);
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
    s->arena_file = f->arena.file;
    atomic_store_explicit(&s->arena_fd, f->arena.fd, memory_order_release);
    ft_failpoint(GATE_ARRIVED);
}

/* It has ended. This comes after all that it had sent in the same class, so it holds when it has
 * come in both. [MSG is first: the put that it had sent is applied after a rollback.] */
static int closed(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct ft_board_slot *s = &g->b->slot[item->from];
    uint64_t words[FT_TESTAMENT_WORDS];
    if (item->bytes != sizeof words)
        return 0;
    if (++g->far[item->from].closed < CLOSED_CLASSES) {
        ft_failpoint(GATE_CLOSED);
        return 1;
    }
    ft_access_closed(g->access, item->from);
    memcpy(words, data, sizeof words);
    ft_testament_write(words, &s->testament);
    atomic_store(&s->ended, 1);
    ft_failpoint(GATE_CLOSED_TOLD);
    ring_agents(g);
    return 1;
}

static int words_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct ft_words words;
    if (item->bytes != sizeof words)
        return 0;
    memcpy(&words, data, sizeof words);
    ft_words_write(&words, g->far[item->from].arena.ctl, &g->b->slot[item->from]);
    ft_failpoint(GATE_WORDS_CAME);
    ring_agents(g);
    return 1;
}

static int mail_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct ft_tp *tp = &g->far[item->from].tp;
    if (item->bytes == 0 || item->bytes > FT_MAIL_BYTES)
        return 0;
    if (is_there(g, item->to) && tp->ops->mail(tp, item->to, data, item->bytes) == FT_ERR_AGAIN)
        stop(g, "process %d takes no mails (is it stopped?)", item->to);
    ft_failpoint(GATE_MAIL_LEFT);
    return 1;
}

static void say_placed(struct ft_gate *g, const struct ft_item *asked)
{
    struct ft_item item = {
        .kind = FT_ITEM_PLACED, .from = asked->from, .to = asked->to, .number = asked->number};
    ft_outbox_item(&g->box, node_of(g, item.from), FT_WIRE_CONTROL, &item, NULL);
}

static void record_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct gate_far *f = &g->far[item->from];
    struct ft_relay_in *in = &f->in[item->to - g->from];
    struct ft_ctl *reader = ft_tp_ctl(&f->tp, item->to);
    if (!is_there(g, item->to))
        return; /* nobody reads it */
    enum ft_status st = reader ? FT_OK : FT_ERR_DEAD;
    if (st == FT_OK && !in->hdr)
        st = ft_relay_in_begin(in, item->from, item->to, &f->arena, reader);
    if (st == FT_OK)
        st = ft_relay_in_take(in, item, data);
    ft_failpoint(GATE_RECORDS_CAME);
    if (st == FT_OK && item->kind == FT_ITEM_ASKS) {
        ft_failpoint(GATE_ASKED);
        say_placed(g, item);
    }
    if (st == FT_ERR_NOMEM)
        stop(g,
             "there is no memory for the messages of process %d to %d: enlarge the file system "
             "of FTRMA_ARENA_DIR (/dev/shm)",
             item->from, item->to);
    else if (st == FT_ERR_ARG)
        stop(g, "the messages of process %d to %d do not follow one another", item->from, item->to);
}

/* What the reader, on another node, says of a channel from here. 0: there is none. */
static int reader_says(struct ft_gate *g, const struct ft_item *item)
{
    struct gate_far *f = &g->far[item->to];
    struct ft_relay_out *out = &f->out[item->from - g->from];
    if (!out->hdr)
        return 0;
    if (item->kind == FT_ITEM_RELEASED)
        ft_relay_out_released(out, &f->arena.ctl->peer[item->from], item->at);
    else if (item->kind == FT_ITEM_MATCHED)
        ft_relay_out_matched(out, item->number);
    else if (item->kind == FT_ITEM_STUCK)
        atomic_store_explicit(&out->hdr->stuck, item->number, memory_order_release);
    else
        atomic_store_explicit(&out->hdr->placed, item->number, memory_order_release);
    if (item->kind == FT_ITEM_PLACED)
        ft_failpoint(GATE_PLACED);
    f->tp.ops->ring(&f->tp, item->from);
    return 1;
}

/* What the reader of the channel of `to`'s lost carrier had seen. */
static int seen_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct gate_far *f = &g->far[item->from];
    uint64_t *list = &f->unmatched[item->to - g->from];
    struct ft_ctl_peer *peer = &f->arena.ctl->peer[item->to];
    if (item->bytes > UNMATCHED * 8)
        return 0;
    ft_arena_free(&f->arena, *list); /* of a carrier before */
    *list = item->bytes ? ft_arena_alloc(&f->arena, item->bytes, FT_CACHE_LINE) : 0;
    if (*list)
        memcpy(ft_arena_ptr(&f->arena, *list), data, item->bytes);
    atomic_store(&peer->unmatched, item->number ? item->number : *list);
    if (item->bytes && !*list)
        atomic_store(&peer->unmatched, 1); /* not known */
    atomic_store_explicit(&peer->seen, item->at, memory_order_release);
    ft_failpoint(GATE_SEEN);
    f->tp.ops->ring(&f->tp, item->to);
    return 1;
}

static int piece_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    struct ft_tp *tp = g->look;
    char *base = tp->ops->map(tp, item->to, 0, g->cfg.arena_bytes, FT_TP_IMAGE);
    if (base && is_there(g, item->to))
        (void)ft_fetch_came(item, data, base, g->cfg.arena_bytes, ft_tp_ctl(tp, item->to));
    return 1;
}

/* LANE or LANE_TAKEN. [LANE overtakes that its writer is there, which is said in another class: its
 * reader is rung, and does not find the arena.] */
static int lane_came(struct ft_gate *g, const struct ft_item *item, const void *data)
{
    int comes = item->kind == FT_ITEM_LANE, far = comes ? item->from : item->to;
    struct ft_arena *stand_in = &g->far[far].arena;
    if (!is_there(g, comes ? item->to : item->from))
        return 1; /* nobody reads or writes it */
    arrived(g, far);
    enum ft_status st = comes ? ft_lanes_came(g->lanes, g->look, stand_in, item, data)
                              : ft_lanes_taken(g->lanes, stand_in, item);
    if (st == FT_ERR_NOMEM)
        stop(g, "there is no memory for the transport of process %d", far);
    return st != FT_ERR_ARG;
}

/* What is about an arena that was given back here comes too late: all processes have rejoined since
 * its owner was lost, and nobody waits for it. [f was the last process of its node, and has
 * released a chunk of p's channel: that frame is late, and nobody there says let_go after it.] What
 * is asked of such a process has an answer of its own, and sums of images pass through. */
static int is_too_late(const struct ft_gate *g, const struct ft_item *item, int theirs, int ours)
{
    switch (item->kind) {
    case FT_ITEM_ACCESS:
    case FT_ITEM_ANSWER:
    case FT_ITEM_FOLD:
    case FT_ITEM_PIECE: return 0;
    default:
        return g->far[theirs].forgotten || (is_near(g, ours) && g->near[ours - g->from].forgotten);
    }
}

/* 0: no gateway of this job says that. */
static int take_item(struct ft_gate *g, int node, const struct ft_item *item, const void *data)
{
    /* said by the writer's node, but for what the reader says */
    int back = item->kind == FT_ITEM_RELEASED || item->kind == FT_ITEM_MATCHED ||
               item->kind == FT_ITEM_PLACED || item->kind == FT_ITEM_STUCK ||
               item->kind == FT_ITEM_ANSWER || item->kind == FT_ITEM_LANE_TAKEN;
    int theirs = back ? item->to : item->from, ours = back ? item->from : item->to;
    int alone = item->kind == FT_ITEM_ARRIVED || item->kind == FT_ITEM_CLOSED ||
                item->kind == FT_ITEM_WORDS;
    if (theirs < 0 || theirs >= g->b->nslots || node_of(g, theirs) != node ||
        (!alone && !is_near(g, ours)))
        return 0;
    if (is_too_late(g, item, theirs, ours))
        return 1;
    switch (item->kind) {
    case FT_ITEM_ARRIVED: arrived(g, theirs); return 1;
    case FT_ITEM_CLOSED: return closed(g, item, data);
    case FT_ITEM_WORDS: return words_came(g, item, data);
    case FT_ITEM_ACCESS: return ft_access_came(g->access, item, data);
    case FT_ITEM_ANSWER: return ft_access_answered(g->access, item, data);
    case FT_ITEM_MAIL: return mail_came(g, item, data);
    case FT_ITEM_SEEN: return seen_came(g, item, data);
    case FT_ITEM_CHUNK:
    case FT_ITEM_RECORDS:
    case FT_ITEM_ASKS:
    case FT_ITEM_WANTS: record_came(g, item, data); return 1;
    case FT_ITEM_RELEASED:
    case FT_ITEM_PLACED:
    case FT_ITEM_STUCK:
    case FT_ITEM_MATCHED: return reader_says(g, item);
    case FT_ITEM_LANE:
    case FT_ITEM_LANE_TAKEN: return lane_came(g, item, data);
    case FT_ITEM_FOLD: return ft_fetch_fold(&g->box, g->b, g->look, item, data);
    case FT_ITEM_PIECE: return piece_came(g, item, data);
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
    static const enum ft_wire_class order[] = {FT_WIRE_CONTROL, FT_WIRE_OPS, FT_WIRE_MSG,
                                               FT_WIRE_BULK};
    struct ft_wire_frame frame;
    for (size_t i = 0; i < FT_COUNTOF(order); i++)
        for (int n = 0; !g->stopped && (order[i] != FT_WIRE_BULK || n < BULK) &&
                        ft_wire_receive(g->wire, order[i], &frame);
             n++) {
            g->box.busy = 1;
            take_frame(g, &frame);
            if (order[i] == FT_WIRE_MSG)
                ft_wire_grant(g->wire, frame.node, 1);
        }
}

/* ---- what this node's processes say ---- */

static void tell_words(struct ft_gate *g)
{
    for (int i = 0; i < g->n; i++) {
        struct gate_near *near = &g->near[i];
        int slot = g->from + i;
        struct ft_words now;
        struct ft_item item = {
            .kind = FT_ITEM_WORDS, .from = slot, .to = slot, .bytes = sizeof now};
        if (!near->is_there || near->has_ended || near->unseen)
            continue;
        ft_words_read(&now, ft_tp_ctl(g->look, slot), &g->b->slot[slot]);
        if (memcmp(&now, &near->words, sizeof now) == 0)
            continue;
        near->words = now;
        ft_outbox_to_all(&g->box, FT_WIRE_CONTROL, &item, &now);
        ft_failpoint(GATE_WORDS_TAKEN);
    }
}

/* Whoever reads a mail finds the words that stood when it was written. [The root hears that all
 * have their images, and the checksum process looks for one of them.] */
static void look_at_mails(struct ft_gate *g, int far, int near)
{
    char text[FT_MAIL_BYTES];
    struct ft_tp *tp = &g->far[far].tp;
    struct ft_item item = {.kind = FT_ITEM_MAIL, .from = near, .to = far};
    while (!g->stopped && (item.bytes = tp->ops->take(tp, near, text)) > 0) {
        ft_failpoint(GATE_MAIL_TAKEN);
        tell_words(g);
        ft_outbox_item(&g->box, node_of(g, far), FT_WIRE_CONTROL, &item, text);
    }
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
    while (!g->stopped && ft_outbox_waiting(&g->box, node, FT_WIRE_MSG) < AHEAD) {
        struct ft_outbox_frame *frame = ft_outbox_frame(&g->box, node, FT_WIRE_MSG, ROOM);
        if (!frame)
            return 0;
        size_t n =
            ft_relay_out_take(out, frame->data + frame->used, sizeof frame->data - frame->used);
        if (n == 0)
            return 1;
        frame->used += (uint32_t)n;
        g->box.busy = 1;
        ft_failpoint(GATE_RECORDS_TAKEN);
    }
    return 0;
}

static void look_at_what_was_read(struct ft_gate *g, int far, int near)
{
    struct ft_relay_in *in = &g->far[far].in[near - g->from];
    struct ft_item item;
    while (in->hdr && !g->stopped && ft_relay_in_say(in, &item)) {
        ft_outbox_item(&g->box, node_of(g, far), FT_WIRE_CONTROL, &item, NULL);
        ft_failpoint(GATE_READ);
    }
}

/* What it has seen of the lost carriers before this one. The list comes first. */
static void look_at_what_was_seen(struct ft_gate *g, int far, int near)
{
    const struct ft_ctl *ctl = ft_tp_ctl(g->look, near);
    uint64_t seen = atomic_load_explicit(&ctl->peer[far].seen, memory_order_acquire),
             *told = &g->near[near - g->from].seen[far];
    if (seen == *told)
        return;
    *told = seen;
    uint64_t off = atomic_load(&ctl->peer[far].unmatched);
    struct ft_item item = {.kind = FT_ITEM_SEEN, .from = near, .to = far, .at = seen};
    const uint64_t *list = off > 1 ? g->look->ops->map(g->look, near, off, 8, FT_TP_CONTROL) : NULL;
    if (off && (!list || list[0] >= UNMATCHED))
        item.number = 1; /* not known */
    else if (list)
        item.bytes = (uint32_t)(8 * (1 + list[0]));
    ft_outbox_item(&g->box, node_of(g, far), FT_WIRE_CONTROL, &item, list);
}

static void near_is_there(struct ft_gate *g, int slot)
{
    struct ft_item item = {.kind = FT_ITEM_ARRIVED, .from = slot, .to = slot};
    if (atomic_load_explicit(&g->b->slot[slot].arena_fd, memory_order_acquire) < 0)
        return;
    enum ft_status st = g->look->ops->attach(g->look, slot); /* it may end before it is needed */
    if (st == FT_ERR_SYS)
        return;
    g->near[slot - g->from].unseen = st != FT_OK;
    g->near[slot - g->from].is_there = 1;
    ft_outbox_to_all(&g->box, FT_WIRE_CONTROL, &item, NULL);
}

/* All that it had sent is on its way. */
static void near_has_ended(struct ft_gate *g, int slot)
{
    uint64_t words[FT_TESTAMENT_WORDS];
    struct ft_item item = {.kind = FT_ITEM_CLOSED, .from = slot, .to = slot, .bytes = sizeof words};
    ft_testament_read(words, &g->b->slot[slot].testament);
    g->near[slot - g->from].has_ended = 1;
    ft_outbox_to_all(&g->box, FT_WIRE_OPS, &item, words);
    ft_outbox_push(&g->box);
    ft_failpoint(GATE_ENDED);
    ft_outbox_to_all(&g->box, FT_WIRE_MSG, &item, words);
}

static void look_at(struct ft_gate *g, int slot)
{
    struct gate_near *near = &g->near[slot - g->from];
    int all = 1, ended = !is_there(g, slot); /* before all that it has said is taken */
    if (!near->is_there)
        near_is_there(g, slot);
    if (!near->is_there || near->has_ended)
        return;
    if (near->unseen) {
        if (ended)
            near_has_ended(g, slot);
        return;
    }
    if (ft_fetch_ask(&g->box, g->b, slot, ft_tp_ctl(g->look, slot), &near->asked))
        g->box.busy = 1;
    for (int q = 0; q < g->b->nslots; q++) {
        if (is_near(g, q) || !is_there(g, q))
            continue;
        look_at_mails(g, q, slot);
        all &= look_at_channel(g, q, slot);
        look_at_what_was_read(g, q, slot);
        look_at_what_was_seen(g, q, slot);
        ft_lanes_take(g->lanes, &g->box, g->look, q, slot);
    }
    all &= ft_access_take(g->access, slot);
    if (ended && all)
        near_has_ended(g, slot);
}

/* ---- nodes that are out ---- */

static void look_at_nodes(struct ft_gate *g)
{
    uint64_t news = atomic_load(&g->b->nodes.out) & ~g->out;
    for (int k = 0; news && k < g->b->nodes.n; k++) {
        if (!(news >> k & 1))
            continue;
        g->out |= 1ull << k;
        if (k == g->cfg.wire.self) {
            stop(g, "the job goes on without this node");
            return;
        }
        ft_failpoint(GATE_OUT);
        ft_wire_out(g->wire, k);
        ft_outbox_drop(&g->box, k);
        ft_access_out(g->access, ft_board_node_from(g->b, k), g->b->nodes.end[k]);
        for (int i = 0; i < g->n; i++)
            if (g->near[i].is_there && !g->near[i].unseen && !g->near[i].forgotten)
                ft_fetch_gone(g->b, ft_tp_ctl(g->look, g->from + i), k);
        ft_failpoint(GATE_OUT_DONE);
        atomic_fetch_or(&g->b->nodes.shut, 1ull << k);
        ring_agents(g);
    }
}

/* For the keeper, which tells ftrun. */
static void look_at_links(struct ft_gate *g, uint64_t now_ns)
{
    uint64_t unreachable = 0;
    for (int k = 0; k < g->b->nodes.n; k++) {
        uint64_t away = ft_wire_away(g->wire, k);
        if (k != g->cfg.wire.self && !(g->out >> k & 1) && away > g->cfg.unreachable_ns &&
            (ft_wire_met(g->wire, k) || away > g->cfg.first_ns))
            unreachable |= 1ull << k;
    }
    atomic_store_explicit(&g->b->nodes.unreachable, unreachable, memory_order_relaxed);
    atomic_store_explicit(&g->b->nodes.gateway_ns, now_ns, memory_order_relaxed);
}

int ft_gate_step(struct ft_gate *g, uint64_t now_ns)
{
    g->box.busy = 0;
    look_at_nodes(g);
    ft_wire_progress(g->wire, now_ns);
    look_at_links(g, now_ns);
    ft_access_step(g->access, now_ns);
    receive(g);
    for (int i = 0; i < g->n && !g->stopped; i++)
        look_at(g, g->from + i);
    tell_words(g);
    ft_gate_forget(g);
    for (int q = 0; q < g->b->nslots && !g->stopped; q++)
        if (!is_near(g, q))
            (void)g->far[q].tp.ops->post(&g->far[q].tp);
    if (!g->stopped)
        ft_outbox_push(&g->box);
    if (ft_access_why(g->access))
        stop(g, "%s", ft_access_why(g->access));
    if (g->box.failed)
        stop(g, "there is no memory for what goes to other nodes");
    return g->stopped ? -1 : g->box.busy;
}

/* ---- accesses to windows ---- */

static void send_access(void *gate, int far, const struct ft_item *item, const void *data)
{
    struct ft_gate *g = gate;
    ft_outbox_item(&g->box, node_of(g, far), FT_WIRE_OPS, item, data);
}

static int has_enough(void *gate, int far)
{
    const struct ft_gate *g = gate;
    return ft_outbox_waiting(&g->box, node_of(g, far), FT_WIRE_OPS) >= AHEAD;
}

static int is_out(void *gate, int far)
{
    const struct ft_gate *g = gate;
    return ft_board_slot_end(g->b, far) == FT_SLOT_OUT;
}

static enum ft_status open_access(struct ft_gate *g)
{
    struct ft_access_config cfg = {.board = g->b,
                                   .tp = g->look,
                                   .arena_bytes = g->cfg.arena_bytes,
                                   .gate = g,
                                   .send = send_access,
                                   .full = has_enough,
                                   .out = is_out};
    g->access = ft_access_open(&cfg);
    return g->access ? FT_OK : FT_ERR_NOMEM;
}

/* ---- start and end ---- */

static enum ft_status stand_in(struct ft_gate *g, int slot)
{
    struct gate_far *f = &g->far[slot];
    f->out = calloc((size_t)g->n, sizeof *f->out);
    f->in = calloc((size_t)g->n, sizeof *f->in);
    f->unmatched = calloc((size_t)g->n, sizeof *f->unmatched);
    if (!f->out || !f->in || !f->unmatched)
        return FT_ERR_NOMEM;
    enum ft_status st =
        ft_arena_create(&f->arena, slot, g->b->nslots, g->cfg.arena_bytes, g->cfg.arena_dir);
    if (st != FT_OK)
        return st;
    f->arena.ctl->stand_in = 1;
    st = g->look ? ft_tp_open_beside(&f->tp, g->look, &f->arena, slot)
                 : ft_tp_open(&f->tp, "shm", &f->arena, g->b, slot);
    if (st == FT_OK)
        g->look = &f->tp;
    return st;
}

static enum ft_status make(struct ft_gate *g)
{
    int nnodes = g->cfg.wire.nnodes, self = g->cfg.wire.self;
    g->from = g->b->near_from;
    g->n = g->b->near_end - g->b->near_from;
    g->near = calloc((size_t)g->n, sizeof *g->near);
    g->far = calloc((size_t)g->b->nslots, sizeof *g->far);
    if (!g->near || !g->far || ft_outbox_open(&g->box, self, nnodes) != FT_OK)
        return FT_ERR_NOMEM;
    for (int i = 0; i < g->n; i++)
        if (!(g->near[i].seen = calloc((size_t)g->b->nslots, sizeof(uint64_t))))
            return FT_ERR_NOMEM;
    for (int q = 0; q < g->b->nslots; q++) {
        enum ft_status st = is_near(g, q) ? FT_OK : stand_in(g, q);
        if (st != FT_OK)
            return st;
    }
    enum ft_status st = open_access(g);
    if (st == FT_OK && !(g->lanes = ft_lanes_open(g->b, g->cfg.arena_bytes)))
        st = FT_ERR_NOMEM;
    if (st == FT_OK)
        st = ft_wire_open(g->cfg.ops, &g->cfg.wire, &g->wire);
    g->box.wire = g->wire;
    g->box.counts = g->b->link;
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
    free(f->unmatched);
    if (f->tp.ops)
        ft_tp_close(&f->tp);
    if (f->arena.base)
        ft_arena_destroy(&f->arena);
}

void ft_gate_close(struct ft_gate *g)
{
    if (g->wire)
        ft_wire_close(g->wire);
    ft_outbox_close(&g->box);
    ft_access_close(g->access);
    ft_lanes_close(g->lanes);
    for (int q = 0; g->far && q < g->b->nslots; q++)
        drop_stand_in(g, q);
    for (int i = 0; g->near && i < g->n; i++)
        free(g->near[i].seen);
    free(g->near);
    free(g->far);
    free(g);
}

/* What mains look at before they ring (ft_tp_shm_ring_ctl). */
static void say_dozing(void *gate, uint32_t dozing)
{
    struct ft_gate *g = gate;
    for (int q = 0; q < g->b->nslots; q++)
        if (!is_near(g, q))
            atomic_store_explicit(&g->far[q].arena.ctl->sleeping, dozing, memory_order_relaxed);
}

void ft_gate_run(struct ft_gate *g)
{
    struct ft_doze doze;
    int64_t nap = NAP_NS;
    uint64_t now, since = 0; /* since: the last step that did something */
    int crowded = ft_board_crowded(g->b);
    /* By default free gives back all beyond 128 KiB: the frames of each burst would lie in new
     * memory. */
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
    if (ft_wait_join() != FT_OK) /* [It says something, and does not see that the reader sleeps.] */
        stop(g, "the system call membarrier does not work here");
    ft_doze_begin(&doze, g->b);
    for (int idle = 0, did; (did = ft_gate_step(g, now = ft_now_ns())) >= 0;) {
        idle = did ? 0 : idle + 1;
        if (idle == 0) {
            since = now;
            nap = NAP_NS;
        }
        if (idle <= SPINS && !(crowded && now - since > SPIN_NS)) {
            ft_doze_end(&doze, say_dozing, g);
            if (idle > 0)
                sched_yield();
        } else if (!doze.dozing) {
            ft_doze_say(&doze, say_dozing, g);
        } else if (ft_doze_sleep(&doze, ft_gate_fd(g), nap)) {
            ft_doze_end(&doze, say_dozing, g);
            idle = 0;
            since = ft_now_ns();
        } else {
            nap = nap < NAP_MOST_NS ? 2 * nap : NAP_MOST_NS;
        }
    }
    fprintf(stderr, "ftrma: the gateway of node %d cannot go on: %s\n", g->cfg.wire.self, g->why);
}
