/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_snapshot.c - a checkpoint that does not stop everybody (C9). The machine of
 * proto/snapshot.h, which the process holds, says when to take the image and which markers to send.
 * This file carries that out as far as main allows.
 *
 * All know of a snapshot with PROPOSE, before anybody is told to begin. This process closes its
 * gate, and answers PROPOSE when nobody is inside an access that began before that. The snapshot
 * begins with TARGET, when main stands at the agreed safepoint or at body's end. For this process
 * it ends when the machine says OVER, at the latest with the order LEAVE. Any order that does not
 * belong to the snapshot calls it off, and so does a new generation. While a ballot is open it
 * stops: no image is taken, and no marker is sent.
 */
#include <string.h>

#include "base/board.h"
#include "proto/carrier_parts.h"

/* With these algorithms images or answers wait for markers of others. */
static int waits_for_all(const struct ft_carry *x) { return x->cfg->snapshot >= FT_SNAP_DOUBLE; }

static int is_stopped(const struct ft_carry *x)
{
    return x->c->open && x->cfg->broken != FT_BROKEN_SNAPSHOT_GOES_ON;
}

/* --- from PROPOSE to TARGET --- */

static void begin(const struct ft_carry *x, uint64_t number)
{
    struct ft_carrier *c = x->c;
    ft_carry_snapshot_over(x);
    c->snapshot.number = number;
    if (!ft_carry_is_rank(x))
        return;
    c->snapshot.gated = 1;
    ft_action_add(x->out, FT_DO_GATE, number);
}

int ft_carry_snapshot_proposed(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint64_t number = (uint64_t)c->generation << 32 | c->order.seq;
    if (x->cfg->snapshot == FT_SNAP_VANILLA)
        return 1;
    if (c->snapshot.number != number)
        begin(x, number);
    return !ft_carry_is_rank(x) || c->snapshot.quiet || x->cfg->broken == FT_BROKEN_UNGATED;
}

/* Main cannot go on before the snapshot is over, or others would wait for markers that do not come.
 * The root stays in TARGET as long as this process has not answered it. [While PROPOSE is under
 * way, main meets an access that cannot be gated. The root would ignore the request now, so it is
 * told later.] */
static void ask_to_call_off(const struct ft_carry *x, uint32_t why)
{
    struct ft_carrier *c = x->c;
    if (c->snapshot.told_off)
        return;
    c->snapshot.told_off = 1;
    struct ft_action *a = ft_action_add(x->out, FT_DO_ROOT, c->snapshot.number);
    a->event = FT_ROOT_LATE;
    a->a = why;
}

/* This process takes no image. Its answer alone is not enough. [With `double` others wait for its
 * second marker, with `partial` for its first, and do not answer.] [This process has entered. q,
 * which has not come to its safepoint, waits at the gate for this image and does not come.] */
static void fail(const struct ft_carry *x, struct ft_ready r)
{
    struct ft_carrier *c = x->c;
    c->snapshot.step = FT_SNAPSHOT_FAILED;
    if ((waits_for_all(x) || c->snapshot.entered) && x->cfg->broken != FT_BROKEN_SILENT)
        ask_to_call_off(x, r.not_ok);
    ft_carry_ready(x, r);
}

void ft_carry_snapshot_target(const struct ft_carry *x, int stuck)
{
    struct ft_carrier *c = x->c;
    int stands = ft_carry_stands(x), at_end = c->state == FT_CS_OVER && stands;
    int there = c->state == FT_CS_HELD && c->heard.reached == c->order.arg && stands;
    if (c->snapshot.step != FT_SNAPSHOT_AWAY)
        return;
    if (c->snapshot.wanted_off)
        ask_to_call_off(x, 0);
    if (stuck) {
        fail(x, (struct ft_ready){.running = 1});
    } else if (there && c->heard.cannot) {
        fail(x, (struct ft_ready){.not_ok = c->heard.cannot, .running = 1});
    } else if (there || at_end) {
        c->snapshot.step = FT_SNAPSHOT_RUNNING;
        c->snapshot.asked = 1;
        ft_action_add(x->out, FT_DO_SNAPSHOT, c->snapshot.number);
    }
}

/* --- what the machine wants --- */

/* The process says that it has entered, waits until nobody is inside an access to its windows, and
 * copies. An access that begins later sees that this process has entered, and waits. Returns 1 when
 * the image is whole. */
static int take(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (c->snapshot.taken)
        return 1;
    if (!c->snapshot.entered) {
        c->snapshot.entered = 1;
        c->due.cut_ns = x->now;
        ft_carry_publish(x, FT_WORD_SNAPSHOT_ENTERED, c->snapshot.number);
    }
    int may = c->snapshot.untouched || x->cfg->broken == FT_BROKEN_TOUCHED;
    if (may && ft_carry_stands(x) && c->order.kind == FT_ORDER_TARGET && ft_carry_demand_settled(x))
        ft_carry_command(
            x, FT_CMD_COPY,
            (struct ft_command_arg){.version = c->committed + 1, .snapshot = c->snapshot.number});
    return 0;
}

void ft_carry_snapshot_copied(const struct ft_carry *x, const struct ft_answer *a)
{
    struct ft_carrier *c = x->c;
    if (a->reason) {
        fail(x, (struct ft_ready){.not_ok = a->reason, .running = 1});
        return;
    }
    c->snapshot.taken = 1;
    c->snapshot.bytes = a->bytes;
    c->due.cost_s = (double)(x->now - c->due.cut_ns) / 1e9;
    if (x->cfg->snapshot != FT_SNAP_DOUBLE)
        ft_carry_let_go(x);
}

static void open_gate(const struct ft_carry *x)
{
    if (x->c->snapshot.gated)
        ft_action_add(x->out, FT_DO_GATE, 0);
    x->c->snapshot.gated = 0;
}

static void say_marker(const struct ft_carry *x, enum ft_snap_marker kind, int to)
{
    struct ft_action *a = ft_action_add(x->out, FT_DO_MARKER, x->c->snapshot.number);
    a->event = kind;
    a->to = to;
}

/* The machine has said OVER. If markers follow images, all have their images by now. With `partial`
 * they do not follow them, and the gate opens with the order LEAVE. */
static void machine_is_over(const struct ft_carry *x)
{
    x->c->snapshot.over = 1;
    if (x->cfg->snapshot != FT_SNAP_PARTIAL || x->cfg->broken == FT_BROKEN_EARLY_GATE)
        open_gate(x);
    if (x->cfg->snapshot == FT_SNAP_DOUBLE)
        ft_carry_let_go(x);
}

/* Carries out what the machine wants, as far as main allows. Returns 1 when all is done. */
static int carry_out(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    for (; c->snapshot.done < c->snapshot.todo.n; c->snapshot.done++) {
        const struct ft_snap_action *act = &c->snapshot.todo.a[c->snapshot.done];
        switch (act->act) {
        case FT_SNAP_ACT_TAKE:
            if (!take(x))
                return 0;
            break;
        case FT_SNAP_ACT_FLOOD: say_marker(x, act->marker, FT_TO_RANKS); break;
        case FT_SNAP_ACT_FLUSH: break; /* at a safepoint no get is under way */
        case FT_SNAP_ACT_SEND: say_marker(x, act->marker, act->to); break;
        case FT_SNAP_ACT_OVER: machine_is_over(x); break;
        }
    }
    return !c->snapshot.asked;
}

/* Hands the machine the next marker that it has not heard, first markers before second ones. */
static void hear(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    for (int second = 0; second < 2; second++)
        for (int r = 0; r < x->cfg->nranks; r++)
            if (ft_bit_get(&c->snapshot.heard[second], r)) {
                ft_bit_clear(&c->snapshot.heard[second], r);
                c->snapshot.asked = 1;
                struct ft_action *a = ft_action_add(x->out, FT_DO_SNAPSHOT, c->snapshot.number);
                a->event = second ? FT_SNAP_SECOND : FT_SNAP_FIRST;
                a->to = r;
                return;
            }
}

void ft_carry_snapshot_go_on(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    int step = c->snapshot.step;
    if (is_stopped(x) || (step != FT_SNAPSHOT_RUNNING && step != FT_SNAPSHOT_ANSWERED))
        return;
    int done = carry_out(x);
    if (done)
        hear(x);
    else if (x->cfg->broken != FT_BROKEN_UNTAKEN)
        return;
    int taken = c->snapshot.taken || x->cfg->broken == FT_BROKEN_UNTAKEN;
    int whole = taken && (x->cfg->snapshot != FT_SNAP_DOUBLE || c->snapshot.over);
    if (!whole || step != FT_SNAPSHOT_RUNNING || c->order.kind != FT_ORDER_TARGET)
        return;
    c->snapshot.step = FT_SNAPSHOT_ANSWERED;
    ft_carry_ready(x, (struct ft_ready){.bytes = c->snapshot.bytes, .running = 1});
}

/* --- its end --- */

void ft_carry_snapshot_stops(struct ft_carrier *c)
{
    c->snapshot.step = FT_SNAPSHOT_AWAY;
    c->snapshot.asked = c->snapshot.done = 0;
    memset(&c->snapshot.todo, 0, sizeof c->snapshot.todo);
    memset(c->snapshot.heard, 0, sizeof c->snapshot.heard);
}

void ft_carry_snapshot_over(const struct ft_carry *x)
{
    open_gate(x);
    memset(&x->c->snapshot, 0, sizeof x->c->snapshot);
}

/* --- events --- */

uint32_t ft_carry_snapshot_looks(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    int waits = c->snapshot.step == FT_SNAPSHOT_RUNNING && c->snapshot.entered;
    return (c->snapshot.gated && !c->snapshot.quiet ? FT_LOOK_QUIET : 0) |
           (waits && !c->snapshot.untouched && !c->open ? FT_LOOK_UNTOUCHED : 0);
}

void ft_carrier_marker(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t number,
                       int rank, enum ft_snap_marker kind)
{
    FT_ASSERT(kind == FT_SNAP_FIRST || kind == FT_SNAP_SECOND);
    FT_ASSERT(rank >= 0 && rank < cfg->nranks);
    if (number != c->snapshot.number || c->open || !ft_carrier_is_rank(c, cfg))
        return; /* of a snapshot that is over or void */
    ft_bit_set(&c->snapshot.heard[kind == FT_SNAP_SECOND], rank);
}

void ft_carrier_snapshot(struct ft_carrier *c, const struct ft_snap_actions *todo)
{
    FT_ASSERT(c->snapshot.asked && c->snapshot.done == c->snapshot.todo.n);
    c->snapshot.asked = c->snapshot.done = 0;
    memset(&c->snapshot.todo, 0, sizeof c->snapshot.todo);
    c->snapshot.todo.n = todo->n;
    memcpy(c->snapshot.todo.a, todo->a, (size_t)todo->n * sizeof todo->a[0]);
}

void ft_carry_snapshot_check(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    int copies = c->cmd.kind == FT_CMD_COPY && c->cmd.snapshot != 0;
    FT_ASSERT(!c->open || c->snapshot.step == FT_SNAPSHOT_AWAY); /* (2) */
    /* (5) */
    FT_ASSERT(
        !copies || c->cmd.snapshot != c->snapshot.number ||
        (c->snapshot.entered && c->snapshot.untouched && c->snapshot.gated && !c->snapshot.taken));
    FT_ASSERT(!c->snapshot.taken || c->complete == c->committed + 1);
    FT_ASSERT(!c->snapshot.number || c->snapshot.number >> 32 == c->generation); /* (7) */
    FT_ASSERT(c->snapshot.number || !(c->snapshot.gated || c->snapshot.step));
}
