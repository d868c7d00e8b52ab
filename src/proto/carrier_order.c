/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_order.c - orders, which are carried out step by step as far as main allows, and the
 * root's clock for checkpoints.
 */
#include <string.h>

#include "base/board.h"
#include "base/version.h"
#include "model/daly.h"
#include "proto/carrier_parts.h"

#define LATE_MIN_NS 2000000000ull
#define LATE_INTERVALS 20 /* how many intervals between safepoints TARGET may take */
#define CHEAP 50          /* checkpoints for long logs are to take at most 1/50 of the time */

/* Steps of an order: it was begun; main or others were asked for what it waits for; that was seen;
 * STUCK was seen. */
enum { BEGUN, ASKED, SEEN, STUCK };

void ft_carry_ready(const struct ft_carry *x, struct ft_ready r)
{
    struct ft_carrier *c = x->c;
    FT_ASSERT(c->order.kind != FT_ORDER_NONE && c->order.seq > c->answered_seq); /* (3) */
    int again = x->cfg->broken == FT_BROKEN_TWICE && c->order.kind == FT_ORDER_LEAVE;
    if (!again)
        c->answered_seq = c->order.seq;
    struct ft_action *a = ft_action_add(
        x->out,
        c->order.step == STUCK && c->order.kind == FT_ORDER_TARGET ? FT_DO_STUCK : FT_DO_READY, 0);
    a->event = (uint32_t)c->order.kind;
    a->seq = c->order.seq;
    a->ready = r;
    if (again) {
        c->answered_seq = c->order.seq;
        return;
    }
    c->order.kind = FT_ORDER_NONE;
}

static void ready_plain(const struct ft_carry *x) { ft_carry_ready(x, (struct ft_ready){0}); }

/* The root sets its clock when a checkpoint is committed or called off, and at the start of a
 * generation, which forgets what was due before. [The root dies. If the next one had no clock,
 * nobody would ask for a checkpoint any more.] */
void ft_carry_schedule(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (x->cfg->mtbf <= 0 || !x->cfg->checkpoints || !c->root || c->committed == 0)
        return;
    double s = ft_daly_interval(c->due.cost_s, x->cfg->mtbf);
    c->due.next_ns = x->now + (uint64_t)((s > 0.01 ? s : 0.01) * 1e9);
}

static void ask_for_long(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!c->due.long_ns || x->now < c->due.long_ns)
        return;
    c->due.long_ns = 0;
    if (ft_carry_in_run(x) && !(c->facts & FT_FACT_RUN_OVER) && !c->open)
        ft_carry_ask_root(x, FT_ROOT_DUE, 0);
}

/* Main's logs are long (C7), and a checkpoint would trim them. It is asked for at once, or when the
 * time since the last one is CHEAP times what that one took. If checkpoints are taken at each K-th
 * safepoint, they are taken nowhere else. */
void ft_carry_logs_long(const struct ft_carry *x, int at_once)
{
    struct ft_carrier *c = x->c;
    if (!x->cfg->checkpoints || x->cfg->every || c->committed == 0)
        return;
    uint64_t when = at_once ? 1 : c->due.commit_ns + (uint64_t)(CHEAP * c->due.cost_s * 1e9) + 1;
    c->due.long_ns = c->due.long_ns ? ft_min_u64(c->due.long_ns, when) : when;
    ask_for_long(x);
}

/* --- PROPOSE, TARGET --- */

/* The first safepoint at which main can still be stopped. Once RELEASE was given, the one that main
 * stands at counts as passed. */
static uint64_t promise(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    uint64_t k = (uint64_t)x->cfg->every, passed = ft_max_u64(c->heard.passed, c->released);
    if (!k)
        return c->heard.reached + 1;
    uint64_t next = (passed / k + 1) * k;
    return next == c->restored_at
               ? next + k
               : next; /* main does not stop at the safepoint of the restored image */
}

static void propose(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    struct ft_ready r = {.no_snapshot = c->heard.no_snapshot || x->cfg->stream};
    if (c->heard.replaying && x->cfg->broken != FT_BROKEN_EARLY_PROMISE)
        return; /* It is not yet where the lost process was. What it would promise now may come
                   after what others have seen of that process. */
    if (!ft_carry_snapshot_proposed(x))
        return;
    if (!ft_carry_in_run(x)) {
        ft_carry_ready(x, r);
        return;
    }
    if (c->order.step == BEGUN && !x->cfg->every) {
        c->order.step = ASKED;
        ft_carry_hold(x, FT_HOLD_ASK);
        return;
    }
    if (!x->cfg->every && c->heard.hold != FT_HOLD_ASK)
        return; /* This copy of main's words is older than the hold, so main may be further. */
    r.max = promise(x);
    r.running = 1;
    ft_carry_ready(x, r);
}

static int in_snapshot(const struct ft_carry *x)
{
    return (x->c->order.flags & FT_ORDER_SNAPSHOT) && ft_carry_is_rank(x);
}

static void target(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint32_t came = c->order.step == BEGUN ? 0 : FT_CAME_LATER;
    if (c->order.step == BEGUN) {
        c->order.step = ASKED;
        ft_carry_hold(x, FT_HOLD_AT + c->order.arg);
        if (c->root && c->snapshots_off && !(c->order.flags & FT_ORDER_SNAPSHOT))
            ft_carry_event(x, FT_EV_SNAPSHOT_BARRIER, FT_WHO_NONE, (int64_t)c->committed + 1,
                           c->snapshots_off, 0);
    }
    if (in_snapshot(x)) {
        ft_carry_snapshot_target(x, c->order.step == STUCK);
    } else if (!ft_carry_in_run(x)) {
        ready_plain(x);
    } else if (c->order.step == STUCK) {
        ft_carry_ready(x, (struct ft_ready){0});
    } else if (c->state == FT_CS_HELD && c->heard.reached == c->order.arg && ft_carry_stands(x)) {
        ft_carry_ready(x,
                       (struct ft_ready){.not_ok = c->heard.cannot, .came = came, .running = 1});
    }
}

/* --- CUT, LEAVE, COMMIT, CANCEL --- */

static void cut(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!ft_carry_is_rank(x)) {
        c->facts |= FT_FACT_UNDER_WAY;
        ft_carry_flags(x);
        /* Room is made while ranks copy. If a spare needs an image later, it has it sooner. */
        c->wants_room = 1;
        ready_plain(x);
        return;
    }
    if (in_snapshot(x)) { /* the image was taken with TARGET */
        FT_ASSERT(c->snapshot.taken);
        ft_carry_ready(x, (struct ft_ready){.bytes = c->snapshot.bytes});
        return;
    }
    /* [The image that it has restored is of body's end, where it stands before it is live.] */
    if (c->heard.replaying && x->cfg->broken != FT_BROKEN_EARLY_PROMISE)
        return;
    if (!ft_carry_stands(x) || !ft_carry_demand_settled(x))
        return; /* Only one slot is free, and the image taken alone may still be in it. */
    ft_carry_demand_gives_up(x);
    ft_carry_command(x, FT_CMD_COPY, (struct ft_command_arg){.version = c->order.arg});
}

/* Without checksum processes, all agree on entry and exit by this order alone. */
static void leave_unprotected(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (ft_carry_is_rank(x) && c->order.flags & FT_ORDER_ENTRY) {
        c->facts |= FT_FACT_ENTERED | (x->cfg->logs ? 0 : FT_FACT_NO_REPLAY);
    }
    if (ft_carry_is_rank(x) && c->order.flags & FT_ORDER_EXIT)
        c->facts |= FT_FACT_LEFT;
    ready_plain(x);
}

static void leave(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!x->cfg->checkpoints) {
        leave_unprotected(x);
        return;
    }
    if (ft_carry_is_checksum(x)) {
        if (ft_carry_stands(x))
            ft_carry_command(x, FT_CMD_PARITY, (struct ft_command_arg){.version = c->order.arg});
        return;
    }
    /* All have their first images. What a replacement needs is set aside before anybody has more
     * than that, and before logs grow. */
    if (c->order.flags & FT_ORDER_ENTRY && c->pos < 0 && c->next && c->order.step == BEGUN) {
        if (ft_carry_stands(x)) {
            c->wants_room = 0;
            ft_carry_command(x, FT_CMD_RESERVE, (struct ft_command_arg){.aside = 1});
        }
        return;
    }
    ft_carry_hold(x, FT_HOLD_NONE);
    if (!(c->order.flags & FT_ORDER_SNAPSHOT)) /* otherwise main may be at a later safepoint, which
                                                  is due after this checkpoint */
        ft_carry_let_go(x);
    if (x->cfg->broken == FT_BROKEN_EAGER_COMMIT)
        c->committed = c->order.arg;
    ready_plain(x);
}

static void commit(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    FT_ASSERT(c->order.arg == c->committed + 1 || x->cfg->broken == FT_BROKEN_EAGER_COMMIT);
    c->facts &= ~(uint32_t)FT_FACT_UNDER_WAY;
    c->committed = c->order.arg;
    ft_carry_demand_covered(x);
    if (c->pos >= 0)
        c->own = c->committed;
    ft_carry_publish(x, FT_WORD_COMMITTED, c->committed);
    if (c->order.flags & FT_ORDER_EXIT)
        c->facts |= FT_FACT_RUN_OVER;
    ft_carry_flags(x);
    /* There are images now that a spare can map, and more room may be made. */
    c->wants_room |= c->pos < 0 || (c->order.flags & FT_ORDER_ENTRY && ft_carry_is_checksum(x));
    c->due.commit_ns = x->now;
    c->due.waited_ns = 0;
    if (c->root) {
        ft_carry_event(x, FT_EV_CKPT_DONE, FT_WHO_NONE, (int64_t)c->committed, 0,
                       c->due.cut_ns ? x->now - c->due.cut_ns : 0);
        c->due.safepoints = c->heard.reached;
        ft_carry_schedule(x);
        if (c->facts & FT_FACT_RESTARTING)
            ft_carry_ask_root(x, FT_ROOT_ROLLBACK, 0);
    }
    ready_plain(x);
}

static void cancel(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (ft_carry_busy(x))
        return;
    ft_carry_void_copy(x);
    c->facts &= ~(uint32_t)FT_FACT_UNDER_WAY;
    ft_carry_hold(x, FT_HOLD_NONE); /* main may be asleep because of its promise */
    ft_carry_let_go(x);
    if (c->order.flags & FT_ORDER_ENTRY) {
        c->facts |= FT_FACT_REFUSED;
        c->why = (uint32_t)c->order.arg;
        /* [The root goes on, and is lost before anybody else has heard of it. The replay of its
         * replacement stands at the entry.] */
        c->refusing = c->root;
    }
    if (c->order.flags & FT_ORDER_EXIT)
        c->facts |= FT_FACT_UNPROTECTED;
    ft_carry_flags(x);
    if (c->root) {
        ft_carry_event(x,
                       c->order.flags & FT_ORDER_SNAPSHOT ? FT_EV_SNAPSHOT_OFF : FT_EV_CKPT_SKIPPED,
                       FT_WHO_NONE, (int64_t)c->committed + 1, (int64_t)c->order.arg, 0);
        ft_carry_schedule(x);
    }
    ready_plain(x);
}

static void job_done(const struct ft_carry *x)
{
    x->c->facts |= FT_FACT_DONE;
    ft_carry_flags(x);
    if (x->c->root)
        ft_action_add(x->out, FT_DO_JOB_DONE, 0);
    ready_plain(x); /* main may go on after the answer */
}

void ft_carry_go_on(const struct ft_carry *x)
{
    switch (x->c->order.kind) {
    case FT_ORDER_NONE: break;
    case FT_ORDER_PROPOSE: propose(x); break;
    case FT_ORDER_TARGET: target(x); break;
    case FT_ORDER_CUT: cut(x); break;
    case FT_ORDER_LEAVE: leave(x); break;
    case FT_ORDER_COMMIT: commit(x); break;
    case FT_ORDER_CANCEL: cancel(x); break;
    case FT_ORDER_RECOVER: ft_carry_recover(x); break;
    case FT_ORDER_RESTORE: ft_carry_restore(x); break;
    case FT_ORDER_RESUME: ft_carry_resume(x); break;
    case FT_ORDER_REJOIN: ft_carry_rejoin(x); break;
    case FT_ORDER_DONE: job_done(x); break;
    }
}

void ft_carry_order_answered(const struct ft_carry *x, enum ft_command kind, uint64_t version,
                             const struct ft_answer *a)
{
    struct ft_carrier *c = x->c;
    struct ft_ready r = {.bytes = a->bytes, .not_ok = a->reason};
    if (kind == FT_CMD_COPY || kind == FT_CMD_PARITY) {
        if (!a->reason) {
            c->complete = version;
            ft_carry_publish(x, FT_WORD_COMPLETE, c->complete);
        }
        if (kind == FT_CMD_PARITY)
            r.bytes = 0;
        if (c->order.kind == FT_ORDER_TARGET)
            ft_carry_snapshot_copied(x, a);
        else
            ft_carry_ready(x, r);
    } else if (kind == FT_CMD_RESERVE && c->order.kind == FT_ORDER_LEAVE) {
        c->order.step = SEEN;
    } else if (kind == FT_CMD_RESTORE && c->order.kind == FT_ORDER_RESTORE) {
        if (x->cfg->broken == FT_BROKEN_EARLY_RESUME)
            ft_carry_resume(x);
        else
            ready_plain(x);
    }
}

/* --- events --- */

/* TARGET is over, or takes too long. */
static void stop_waiting(struct ft_carrier *c, uint64_t now)
{
    if (c->due.target_ns)
        c->due.waited_ns += now - c->due.target_ns;
    c->due.target_ns = 0;
}

void ft_carrier_order(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                      const struct ft_order_action *order, struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    c->order.kind = order->order;
    c->order.seq = order->seq;
    c->order.arg = order->arg;
    c->order.flags = order->flags;
    c->order.step = BEGUN;
    if (order->order != FT_ORDER_CANCEL)
        c->cmd.seq = 0; /* what main does now belongs to the order before */
    if (order->order != FT_ORDER_TARGET)
        stop_waiting(c, now);
    else if (!c->due.target_ns) /* not when it is given again */
        c->due.target_ns = now;
    int its = order->flags & FT_ORDER_SNAPSHOT &&
              (order->order == FT_ORDER_TARGET || order->order == FT_ORDER_CUT);
    int stays = cfg->broken == FT_BROKEN_SNAPSHOT_STAYS && order->order == FT_ORDER_RECOVER;
    if (order->order != FT_ORDER_PROPOSE && !its && !stays)
        ft_carry_snapshot_over(&x);
    if (order->order == FT_ORDER_CUT)
        c->due.long_ns = 0; /* the images of this checkpoint will trim the logs */
    if (order->order == FT_ORDER_CUT &&
        !in_snapshot(&x)) /* in a snapshot the cost was measured at TARGET */
        c->due.cut_ns = now;
    if (order->order == FT_ORDER_LEAVE && cfg->checkpoints) {
        if (!(c->facts & FT_FACT_RESTARTING) && !in_snapshot(&x))
            c->due.cost_s = (double)(now - c->due.cut_ns) / 1e9;
        ft_action_add(out, FT_DO_SAVE, order->arg);
    }
    if (cfg->broken == FT_BROKEN_NO_ENDING || !c->open)
        return;
    ft_carrier_ending(c, cfg, out);
}

void ft_carrier_ending(struct ft_carrier *c, const struct ft_carrier_cfg *cfg,
                       struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, 0, out};
    if (cfg->broken == FT_BROKEN_NO_ENDING)
        return;
    ft_carry_demand_freeze(&x);
    c->order.kind = FT_ORDER_NONE;
    c->cmd.seq = 0;
    c->due.target_ns = 0;
    if (cfg->broken != FT_BROKEN_SNAPSHOT_GOES_ON)
        ft_carry_snapshot_stops(c);
}

/* LATE_INTERVALS times the mean time between safepoints, in which the waits for former targets
 * count once (C4). [They count LATE_INTERVALS times, and p polls for what q says after each target:
 * each wait is longer than all before it.] [They do not count, and checkpoints are asked for all
 * the time: a rank that takes longer than the limit from one safepoint to the next is never waited
 * for.] The present wait does not count, since with it the limit would grow all the time. */
static uint64_t late_at(const struct ft_carrier *c)
{
    uint64_t n = c->heard.reached - c->due.safepoints, waited = c->due.waited_ns, limit = 0;
    if (n && c->due.target_ns > c->due.commit_ns) {
        uint64_t ran = c->due.target_ns - c->due.commit_ns - waited;
        limit = (LATE_INTERVALS * ran + waited) / n;
    }
    return c->due.target_ns + ft_max_u64(LATE_MIN_NS, limit);
}

void ft_carrier_time(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    if (c->due.next_ns && now >= c->due.next_ns) {
        c->due.next_ns = 0;
        if (c->root)
            ft_carry_ask_root(&x, FT_ROOT_DUE, 0);
    }
    if (c->due.target_ns && c->root && now >= late_at(c)) {
        stop_waiting(c, now);
        ft_carry_ask_root(&x, FT_ROOT_LATE, 0);
    }
    if (c->due.retry_ns && now >= c->due.retry_ns)
        c->due.retry_ns = 0;
    ask_for_long(&x);
}

uint64_t ft_carrier_expiry(const struct ft_carrier *c)
{
    uint64_t t = UINT64_MAX;
    if (c->state == FT_CS_GONE)
        return t;
    if (c->due.next_ns)
        t = ft_min_u64(t, c->due.next_ns);
    if (c->due.target_ns && c->root)
        t = ft_min_u64(t, late_at(c));
    if (c->due.retry_ns)
        t = ft_min_u64(t, c->due.retry_ns);
    if (c->due.long_ns)
        t = ft_min_u64(t, c->due.long_ns);
    if (c->due.again_ns && c->state == FT_CS_HELD && c->order.kind == FT_ORDER_NONE && !c->open &&
        c->cmd.kind == FT_CMD_NONE)
        t = ft_min_u64(t, c->due.again_ns);
    return t;
}
