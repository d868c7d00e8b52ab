/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier.c - what main says of itself, the state that follows from it, and the choice of main's
 * next command.
 */
#include "proto/carrier.h"

#include <stdio.h>
#include <string.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "base/version.h"
#include "proto/carrier_parts.h"

#define DUE_AGAIN_NS 500000000ull

struct ft_action *ft_action_add(struct ft_actions *out, enum ft_do kind, uint64_t value)
{
    FT_ASSERT(out->n < FT_ACTIONS);
    struct ft_action *a = &out->a[out->n++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    a->value = value;
    return a;
}

void ft_carry_publish(const struct ft_carry *x, enum ft_word word, uint64_t value)
{
    ft_action_add(x->out, FT_DO_PUBLISH, value)->word = word;
}

void ft_carry_flags(const struct ft_carry *x)
{
    uint32_t f = x->c->facts;
    ft_carry_publish(x, FT_WORD_FLAGS,
                     (f & FT_FACT_RUN_OVER ? FT_SAYS_RUN_OVER : 0) |
                         (f & FT_FACT_DONE ? FT_SAYS_DONE : 0) |
                         (f & FT_FACT_UNDER_WAY ? FT_SAYS_HURRY : 0));
}

uint32_t ft_carry_who(const struct ft_carry *x)
{
    int p = x->c->pos, n = x->cfg->nranks;
    return p < 0 ? FT_WHO_NONE : p < n ? FT_WHO(FT_ROLE_RANK, p) : FT_WHO(FT_ROLE_CHECKSUM, p - n);
}

void ft_carry_event(const struct ft_carry *x, uint32_t event, uint32_t who, int64_t a, int64_t b,
                    uint64_t dur)
{
    struct ft_action *act = ft_action_add(x->out, FT_DO_EVENT, 0);
    act->event = event;
    act->who = who;
    act->a = a;
    act->b = b;
    act->dur = (int64_t)dur;
}

void ft_carry_ask_root(const struct ft_carry *x, uint32_t mail, uint64_t number)
{
    ft_action_add(x->out, FT_DO_ROOT, number)->event = mail;
}

void ft_carry_hold(const struct ft_carry *x, uint64_t hold)
{
    if (x->c->hold == hold && hold != FT_HOLD_ASK)
        return;
    x->c->hold = hold;
    x->c->heard.hold = UINT64_MAX; /* the next copy of main's words says what it sees */
    ft_action_add(x->out, FT_DO_HOLD, hold);
}

int ft_carry_in_run(const struct ft_carry *x)
{
    return ft_carry_is_rank(x) && ft_place_milestone(x->c->heard.place, 1) == FT_MILE_RUN;
}

int ft_carry_has(const struct ft_carry *x, uint64_t version)
{
    const struct ft_carrier *c = x->c;
    return version > 0 && (version == c->own || version == c->complete || version == c->latest);
}

void ft_carry_void_copy(const struct ft_carry *x)
{
    if (x->c->complete <= x->c->committed)
        return;
    x->c->complete = x->c->own;
    ft_carry_publish(x, FT_WORD_COMPLETE, x->c->committed);
}

/* --- the state --- */

static int is_rollback(enum ft_carrier_state s)
{
    return s == FT_CS_PARKING || s == FT_CS_PARKED || s == FT_CS_RESTORED;
}

static enum ft_carrier_state state_of(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    enum ft_place at = c->heard.place;
    if (c->state == FT_CS_GONE || at == FT_AT_GONE)
        return FT_CS_GONE;
    if (!ft_carry_is_rank(x))
        return !ft_carry_is_checksum(x) ? FT_CS_SPARE
               : c->incomplete          ? FT_CS_ASSIGNED
                                        : FT_CS_SERVING;
    if (ft_carry_busy(x) && ft_command_leaves(c->cmd.kind) && !ft_carry_rolling(x))
        return c->state;
    if (at == FT_AT_INIT)
        return c->cmd.kind == FT_CMD_ROLE ? FT_CS_SETUP : FT_CS_ASSIGNED;
    if (at == FT_AT_SETUP)
        return FT_CS_SETUP;
    if (ft_carry_rolling(x))
        return is_rollback(c->state) ? c->state : FT_CS_PARKING;
    switch (at) {
    case FT_AT_ENTRY: return c->alone ? FT_CS_RETURN : FT_CS_ENTRY;
    case FT_AT_RESTORED: return FT_CS_RETURN;
    case FT_AT_HELD: return FT_CS_HELD;
    case FT_AT_OVER: return FT_CS_OVER;
    case FT_AT_AFTER: return FT_CS_AFTER;
    case FT_AT_FINALIZE: return FT_CS_FINALIZE;
    default: return FT_CS_BODY;
    }
}

void ft_carry_settle(const struct ft_carry *x) { x->c->state = state_of(x); }

enum ft_milestone ft_carrier_milestone(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg)
{
    int rank = ft_carrier_is_rank(c, cfg);
    /* [Main stands at body's end. All have agreed to go back, and main was not told yet. OVER would
     * count after the rollback.] */
    if (rank && (c->state == FT_CS_PARKED || c->state == FT_CS_RESTORED))
        return FT_MILE_RUN;
    /* The same holds until main has taken RESUME. */
    if (rank && c->cmd.kind == FT_CMD_RESUME)
        return FT_MILE_RUN;
    return ft_place_milestone(c->heard.place, rank);
}

/* --- commands --- */

void ft_carry_command(const struct ft_carry *x, enum ft_command kind, struct ft_command_arg arg)
{
    static const enum ft_carrier_state next[FT_COMMANDS] = {
        [FT_CMD_ROLE] = FT_CS_SETUP, [FT_CMD_RELEASE] = FT_CS_BODY, [FT_CMD_BODY] = FT_CS_BODY,
        [FT_CMD_OUT] = FT_CS_AFTER,  [FT_CMD_RESUME] = FT_CS_BODY,  [FT_CMD_FAIL] = FT_CS_AFTER,
        [FT_CMD_DONE] = FT_CS_GONE};
    struct ft_carrier *c = x->c;
    FT_ASSERT(ft_carry_stands(x) && ft_place_takes(c->heard.place, kind));
    arg.generation = c->generation;
    c->cmd.kind = kind;
    c->cmd.seq = c->order.kind != FT_ORDER_NONE ? c->order.seq : 0;
    c->cmd.number = ++c->commands;
    c->cmd.version = arg.version;
    c->cmd.snapshot = arg.snapshot;
    c->cmd.head = arg.head;
    struct ft_action *a = ft_action_add(x->out, FT_DO_COMMAND, 0);
    a->command = kind;
    a->number = c->cmd.number;
    a->arg = arg;
    if (ft_command_leaves(kind))
        c->state = next[kind];
}

static void answered(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    enum ft_command kind = c->cmd.kind;
    const struct ft_answer *a = &c->heard.answer;
    FT_ASSERT(c->heard.answered == c->cmd.number);
    uint32_t seq = c->cmd.seq;
    uint64_t version = c->cmd.version, number = c->cmd.number;
    c->cmd.kind = FT_CMD_NONE;
    c->cmd.seq = 0;
    if (a->moved)
        return;
    if (kind == FT_CMD_LIFT || kind == FT_CMD_FOLD)
        ft_carry_demand_answered(x, number, a);
    if (kind == FT_CMD_REBUILD)
        ft_carry_rebuilt(x, version, a);
    if (kind == FT_CMD_RESTORE) {
        c->restored_at = a->safepoint;
        c->released = 0; /* main comes to the safepoints after that one again */
        c->asks_back = 0;
        if (ft_carry_rolling(x) && c->state == FT_CS_PARKED)
            c->state = FT_CS_RESTORED;
    }
    if (seq && c->order.kind != FT_ORDER_NONE && c->order.seq == seq)
        ft_carry_order_answered(x, kind, version, a);
}

/* Main stops at this safepoint without being told. */
static int own_due(const struct ft_carry *x)
{
    uint64_t k = (uint64_t)x->cfg->every, n = x->c->heard.reached;
    return k && x->cfg->checkpoints && n % k == 0 && n != x->c->restored_at;
}

static int is_held_for_something(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    uint64_t n = c->heard.reached;
    if (n <= c->released)
        return 0;
    if (c->order.kind == FT_ORDER_TARGET && n < c->order.arg)
        return 0; /* it has stopped by itself, and others are already beyond */
    return c->hold == FT_HOLD_AT + n || own_due(x);
}

void ft_carry_let_go(const struct ft_carry *x)
{
    if (x->c->heard.place == FT_AT_HELD)
        x->c->released = x->c->heard.reached;
}

/* Gives main a command for something that is agreed and that main has not done yet. */
static int agreed(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    enum ft_place at = c->heard.place;
    uint32_t f = c->facts, out = f & (FT_FACT_RUN_OVER | FT_FACT_UNPROTECTED | FT_FACT_LEFT);
    struct ft_command_arg arg = {0};
    enum ft_command cmd = FT_CMD_NONE;
    if (f & FT_FACT_DONE) {
        cmd = at == FT_AT_FINALIZE || at == FT_AT_INIT ? FT_CMD_DONE : FT_CMD_NONE;
    } else if (c->state == FT_CS_HELD && !is_held_for_something(x)) {
        cmd = x->cfg->broken == FT_BROKEN_HOLDS ? FT_CMD_NONE : FT_CMD_RELEASE;
        if (cmd)
            c->released = c->heard.reached;
    } else if (c->state == FT_CS_ENTRY && f & FT_FACT_REFUSED) {
        cmd = c->refusing ? FT_CMD_NONE : FT_CMD_FAIL;
        arg.why = c->why;
    } else if ((c->state == FT_CS_ENTRY || c->state == FT_CS_OVER) && out) {
        cmd = FT_CMD_OUT;
        arg.era = f & FT_FACT_RUN_OVER ? FT_ERA_POST : 0; /* otherwise all stay in body's era */
    } else if (c->state == FT_CS_ENTRY && x->cfg->checkpoints && c->committed > 0 &&
               !(f & FT_FACT_RESTARTING)) {
        cmd = FT_CMD_BODY;
        arg.era = FT_ERA_FIRST;
    } else if (c->state == FT_CS_ENTRY && f & FT_FACT_ENTERED) {
        cmd = FT_CMD_BODY;
    }
    if (cmd != FT_CMD_NONE)
        ft_carry_command(x, cmd, arg);
    return cmd != FT_CMD_NONE;
}

static void prepare_room(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!c->wants_room || c->heard.place != FT_AT_INIT || ft_carry_is_rank(x))
        return;
    c->wants_room = 0;
    ft_carry_command(x, FT_CMD_RESERVE,
                     (struct ft_command_arg){.aside = c->committed > 0 && c->next});
}

/* What the shell has to look at. */
static uint32_t looks(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    uint32_t l = ft_carry_snapshot_looks(x);
    if (c->quiet_owed)
        l |= FT_LOOK_QUIET;
    if (c->order.kind == FT_ORDER_TARGET && c->state == FT_CS_BODY && !ft_carry_busy(x))
        l |= FT_LOOK_STUCK;
    if (x->cfg->checkpoints && !ft_carry_is_rank(x) && c->committed == 0)
        l |= FT_LOOK_ROOM;
    return l | ft_carry_demand_looks(x);
}

/* A main that has stopped by itself asks for a checkpoint, and asks again if no order follows. [The
 * root has not adopted the generation that this process asks in. It is not active then, and forgets
 * the request.] */
static void ask_for_checkpoint(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    uint64_t n = c->heard.reached;
    int asks = c->state == FT_CS_HELD && own_due(x) && n > c->released && !ft_carry_busy(x) &&
               !c->open && c->order.kind == FT_ORDER_NONE;
    if (!asks || (c->told_due == n && x->now < c->due.again_ns)) {
        /* Not while main is held there. [The checkpoint that it has asked for is under way, and it
         * asks for another one.] */
        if ((c->state != FT_CS_HELD || c->told_due != n) && x->cfg->broken != FT_BROKEN_DUE_ONCE)
            c->due.again_ns = 0;
        return;
    }
    c->told_due = n;
    c->due.again_ns = x->cfg->broken == FT_BROKEN_DUE_ONCE ? UINT64_MAX : x->now + DUE_AGAIN_NS;
    ft_carry_ask_root(x, FT_ROOT_DUE, n);
}

static void ask_to_go_back(const struct ft_carry *x)
{
    struct ft_carrier *c = x->c;
    if (!c->asks_back || c->told_back == 1 + c->generation || c->open || ft_carry_rolling(x))
        return; /* It asks once in each generation, since requests of other generations are
                   forgotten. */
    c->told_back = 1 + c->generation;
    ft_carry_ask_root(x, FT_ROOT_ROLLBACK, 0);
}

void ft_carrier_choose(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    int n = out->n;
    if (c->refusing && (c->settled || cfg->broken == FT_BROKEN_TOLD_EARLY))
        c->refusing = 0; /* all have heard of it, or have adopted a generation whose votes say it */
    ft_carry_settle(&x);
    ft_carry_go_on(&x);
    ft_carry_demand_go_on(&x);
    ft_carry_snapshot_go_on(&x);
    if (out->n > n)
        return; /* What follows from these actions comes first. [Main is let go, and the process
                   ends before it has answered.] */
    ft_carry_park(&x);
    if (c->state != FT_CS_GONE && ft_carry_stands(&x) && !ft_carry_way_back(&x) &&
        c->order.kind != FT_ORDER_RESTORE && c->order.kind != FT_ORDER_RESUME && !agreed(&x) &&
        !ft_carry_demand_command(&x))
        prepare_room(&x);
    ask_for_checkpoint(&x);
    ask_to_go_back(&x);
    if (out->n == n) /* otherwise what is known of this rank may have changed */
        ft_carry_demand_cover(&x);
    uint32_t l = looks(&x);
    if (l != c->looks) {
        c->looks = l;
        ft_action_add(out, FT_DO_AWAIT, l)->to = c->pos;
    }
}

/* --- events --- */

void ft_carrier_main(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     const struct ft_main *m, struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    int replayed = c->heard.replaying != 0;
    if (c->state == FT_CS_GONE)
        return;
    c->heard = *m;
    if (m->asks & FT_ASK_ROLLBACK)
        c->asks_back = 1;
    if (m->asks & FT_ASK_SNAPSHOT_OFF && c->snapshot.number)
        c->snapshot.wanted_off = 1;
    if (m->asks & (FT_ASK_LONG | FT_ASK_ALL))
        ft_carry_logs_long(&x, (m->asks & FT_ASK_ALL) != 0);
    if (ft_carry_busy(&x) && m->answered >= c->cmd.number)
        answered(&x);
    if (!ft_carry_rolling(&x) && (m->place == FT_AT_OVER || (m->reached > 0 && !ft_carry_busy(&x))))
        c->facts &= ~(uint32_t)FT_FACT_REPAIRING;
    ft_carry_settle(&x);
    ft_carry_demand_main(&x);
    if (replayed && !m->replaying && !cfg->demand && c->committed > 0 &&
        !(c->facts & FT_FACT_RUN_OVER) && !ft_carry_rolling(&x))
        ft_carry_ask_root(&x, FT_ROOT_DUE,
                          0); /* a checkpoint ends the exposure that the loss has brought about */
}

void ft_carrier_seen(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     uint32_t look, uint64_t value, struct ft_actions *out)
{
    const struct ft_carry x = {c, cfg, now, out};
    if (!(c->looks & look))
        return; /* this look was called off meanwhile */
    switch (look) {
    case FT_LOOK_QUIET:
        if (c->quiet_owed) {
            c->rejoined = c->quiet_owed;
            c->quiet_owed = 0;
            ft_carry_publish(&x, FT_WORD_REJOINED, c->rejoined);
        }
        c->snapshot.quiet = c->snapshot.gated;
        break;
    case FT_LOOK_UNTOUCHED: c->snapshot.untouched = 1; break;
    case FT_LOOK_STUCK:
        if (c->order.kind == FT_ORDER_TARGET && c->state == FT_CS_BODY)
            c->order.step = 3;
        break;
    case FT_LOOK_ROOM:
        c->wants_room |= value != c->room;
        c->room = value;
        break;
    default: ft_carry_demand_seen(&x, look, value); break;
    }
}

void ft_carrier_job_over(struct ft_carrier *c) { c->facts |= FT_FACT_DONE; }

void ft_carrier_init(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int pos)
{
    memset(c, 0, sizeof *c);
    c->pos = pos;
    c->run_era = FT_ERA_FIRST;
    if (ft_carrier_is_rank(c, cfg))
        c->heard.place = FT_AT_SETUP;
    if (cfg->restart)
        c->facts |= FT_FACT_RESTARTING;
    const struct ft_carry x = {c, cfg, 0, NULL};
    ft_carry_settle(&x);
}

void ft_carrier_vote(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int self,
                     struct ft_agree_data *d)
{
    uint32_t f = c->facts;
    if (c->committed > d->committed) /* which is what the dead have committed */
        d->committed = c->committed;
    int restarting = f & FT_FACT_RESTARTING && d->committed > 0;
    int back = f & FT_FACT_ROLLING || restarting;
    d->flags |=
        (f & FT_FACT_RUN_OVER ? FT_AGREE_RUN_OVER : 0) | (f & FT_FACT_DONE ? FT_AGREE_DONE : 0) |
        (back ? FT_AGREE_ROLLBACK : 0) | (f & FT_FACT_REFUSED ? FT_AGREE_REFUSED : 0) |
        (f & FT_FACT_REFUSED && c->why == FT_SKIP_NOMEM ? FT_AGREE_NO_ROOM : 0) |
        (f & FT_FACT_UNPROTECTED ? FT_AGREE_UNPROTECTED : 0) |
        (f & FT_FACT_NO_REPLAY ? FT_AGREE_NO_REPLAY : 0) | (restarting ? FT_AGREE_RESTARTING : 0) |
        (f & FT_FACT_REPAIRING && cfg->broken != FT_BROKEN_TOLD_FORGETS ? FT_AGREE_REPAIRING : 0);
    if (c->incomplete && cfg->broken != FT_BROKEN_WHOLE)
        ft_bit_set(&d->incomplete, self);
    if (c->demand.given) /* It gave up its latest image for a coordinated one, which is not
                            committed yet. */
        ft_exposer_add(&d->exposers, FT_EXPOSER_ALL, c->committed + 1);
}

/* --- the rest --- */

const char *ft_carrier_state_name(enum ft_carrier_state s)
{
    static const char *const name[FT_CARRIER_STATES] = {
        "SPARE", "SERVING", "ASSIGNED", "SETUP",    "ENTRY", "RETURN",   "BODY", "HELD",
        "OVER",  "PARKING", "PARKED",   "RESTORED", "AFTER", "FINALIZE", "GONE"};
    return s < FT_CARRIER_STATES ? name[s] : "?";
}

void ft_carrier_check(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg)
{
    const struct ft_carry x = {(struct ft_carrier *)(uintptr_t)c, cfg, 0, NULL};
    enum ft_order_kind o = c->order.kind;
    FT_ASSERT(c->cmd.kind == FT_CMD_NONE || c->cmd.number == c->commands); /* (1) */
    FT_ASSERT(!c->open || o == FT_ORDER_NONE);                             /* (2) */
    FT_ASSERT(o == FT_ORDER_NONE || c->order.seq > c->answered_seq);       /* (3) */
    FT_ASSERT(!c->incomplete || c->pos >= 0);                              /* (4) */
    FT_ASSERT(c->rejoined <= c->generation);                               /* (6) */
    if (is_rollback(c->state)) {                                           /* (7) */
        FT_ASSERT(o == FT_ORDER_NONE || o == FT_ORDER_RECOVER || o == FT_ORDER_RESTORE ||
                  o == FT_ORDER_RESUME);
        FT_ASSERT(c->hold == FT_HOLD_NONE && !c->alone && !c->snapshot.number);
    }
    FT_ASSERT(c->state != FT_CS_HELD || ft_carry_busy(&x) || is_held_for_something(&x)); /* (8) */
    ft_carry_demand_check(&x);
    FT_ASSERT(c->state != FT_CS_GONE || (c->facts & FT_FACT_DONE && o == FT_ORDER_NONE)); /* (9) */
    ft_carry_snapshot_check(&x);
}

int ft_carrier_dump(const struct ft_carrier *c, char *out, int size)
{
    return snprintf(
        out, (size_t)size,
        "carrier: %s, position %d, generation %u, main at %s, reached %llu, hold %llu, order "
        "%d.%u(%llu), command %s %llu, committed %llu, own %llu, facts %#x%s",
        ft_carrier_state_name(c->state), c->pos, c->generation, ft_place_name(c->heard.place),
        (unsigned long long)c->heard.reached, (unsigned long long)c->hold, (int)c->order.kind,
        c->order.seq, (unsigned long long)c->order.arg, ft_command_name(c->cmd.kind),
        (unsigned long long)c->cmd.number, (unsigned long long)c->committed,
        (unsigned long long)c->own, c->facts, c->open ? ", ballot open" : "");
}
