/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.c - one helper thread in every process. It sleeps unless needed, watches a peer, and drives
 * the protocol's machines: news go in as events, actions come out and are carried out in their
 * order. It never calls MPI and never touches the program's heap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alog/homelog.h"
#include "base/coverage.h"
#include "base/near.h"
#include "base/private.h"
#include "msg/channels.h"
#include "recover/action_text.h"
#include "runtime/carry.h"
#include "runtime/record.h"
#include "runtime/start.h"

#define BUSY_TICK_MS 20 /* while an order waits for main */
/* while arenas of the dead are to be given back: nobody waits for that */
#define RELEASE_TICK_MS 200
/* while main may make no calls, and there is something to be done in its place */
#define TURN_TICK_MS 1
/* how often who started us is looked at */
#define LOOK_MS 1000

FT_STATE(struct ft_agent *, ft_a);

void ft_rt_event(struct ft_rt *rt, enum ft_event_kind kind, uint32_t who, int64_t a, int64_t b,
                 int64_t c, uint64_t dur_ns)
{
    struct ft_event ev = {.dur_ns = dur_ns, .kind = kind, .who = who, .a = a, .b = b, .c = c};
    if (ft_a && pthread_equal(pthread_self(), rt->agent))
        ft_record(ft_a, 'A', "EVENT %d %x %lld %lld %lld", (int)kind, who, (long long)a,
                  (long long)b, (long long)c);
    ft_board_event(rt->board, rt->self, rt->verbose, &ev);
}

void ft_agent_nudge(struct ft_rt *rt) { ft_bell_ring(rt->board, rt->self); }

static void wake_all(struct ft_rt *rt)
{
    for (int i = 0; i < rt->nslots; i++)
        if (i != rt->self)
            ft_bell_ring(rt->board, i);
}

/* begun: this process is the one that ends the job; ftrun says why, without ftrun it does. */
static _Noreturn void end_job(struct ft_rt *rt, int begun, enum ft_event_kind kind, int status,
                              const char *message)
{
    if (begun)
        ft_rt_event(rt, kind, ft_who(rt), status, 0, 0, 0);
    if (begun && !rt->board->launcher_pid) { /* mpirun may drop what the dying say */
        char text[1200];
        int n = snprintf(text, sizeof text, "ftrma: %s\n", message);
        (void)!write(2, text,
                     (size_t)n < sizeof text
                         ? (size_t)n
                         : sizeof text - 1); /* nobody is left to be told of a failure */
    }
    wake_all(rt);
    atomic_store(&rt->me->exit_status, atomic_load(&rt->board->status));
    _exit(atomic_load(&rt->board->status));
}

_Noreturn void ft_rt_fail(struct ft_rt *rt, int status, const char *message)
{
    int begun = ft_board_end(rt->board, FT_JOB_FAILED, status, message);
    end_job(rt, begun, FT_EV_ENDED, status, message);
}

_Noreturn void ft_rt_give_up(struct ft_rt *rt, enum ft_reason reason, const char *message)
{
    char text[1100];
    int begun = ft_board_give_up(rt->board, reason, message);
    snprintf(text, sizeof text, "job lost: %s [%s]", message, ft_reason_table[reason].name);
    end_job(rt, begun, FT_EV_DUE_LOST, FT_EXIT_LOST, text);
}

/* --- main --- */

/* What main has answered goes to whoever waits for it. [A codeword is staged, and before the demand
 * machine has looked at the answer the next order has had its command answered, too.] */
static void hear_answer(struct ft_agent *a)
{
    enum ft_command c = (enum ft_command)(atomic_load(&a->rt->box.cmd) & 0xff);
    const struct ft_answer *r = &a->main.answer;
    if (a->main.answered == a->waiting_for)
        a->result = *r;
    if (c == FT_CMD_LIFT || c == FT_CMD_FOLD) {
        a->fold_result = *r;
    } else if (c == FT_CMD_RESTORE && !r->moved) {
        a->restored_at = r->safepoint;
        a->let_go = 0;
    } else if (r->version && !FT_VERSION_ALONE(r->version)) {
        atomic_store(&a->rt->box.complete, r->version);
    }
}

void ft_agent_look(struct ft_agent *a)
{
    uint64_t answered = a->main.answered;
    ft_box_look(&a->rt->box, &a->main);
    a->asks |= a->main.asks;
    a->main.no_wave = atomic_load(&a->rt->me->testament.shared_until) == UINT64_MAX;
    ft_record_main(a);
    if (a->main.answered != answered)
        hear_answer(a);
}

void ft_agent_forget_asks(struct ft_agent *a, uint32_t what)
{
    a->asks &= ~what;
    atomic_fetch_and(&a->rt->box.asks, ~what);
}

void ft_agent_hold(struct ft_agent *a, uint64_t hold)
{
    ft_box_set_hold(&a->rt->box, hold);
    ft_record(a, 'A', "HOLD %llu", (unsigned long long)hold);
    ft_agent_look(a); /* at what main has reached, since it may not see the hold any more */
}

void ft_agent_run_over(struct ft_agent *a)
{
    a->run_over = 1;
    ft_box_flag(&a->rt->box, FT_SAYS_RUN_OVER, 1);
}

void ft_agent_finished(struct ft_agent *a)
{
    a->finished = 1;
    ft_box_flag(&a->rt->box, FT_SAYS_DONE, 1);
}

int ft_agent_main_busy(const struct ft_agent *a) { return ft_box_busy(&a->rt->box, &a->main); }

enum ft_place ft_agent_standing(const struct ft_agent *a)
{
    return !ft_agent_main_busy(a) && ft_place_stands(a->main.place) ? a->main.place : FT_NOWHERE;
}

int ft_agent_takes(const struct ft_agent *a, enum ft_command c)
{
    return !ft_agent_main_busy(a) && ft_place_takes(a->main.place, c);
}

enum ft_milestone ft_agent_milestone(const struct ft_agent *a)
{
    return ft_place_milestone(a->main.place, ft_is_rank(a->rt));
}

/* What main would do at the door of its next call, if that is long in coming; it will come by, and
 * find it done. Not where it is to park: only it can leave where it is. */
static void act_for_main(struct ft_agent *a)
{
    uint32_t now = atomic_load(&ft_attention), what;
    if (!(now & FT_ATT_REBIND) || a->finished)
        a->rebind_due = 0;
    if (now & FT_ATT_PARK)
        return;
    if (!(now & FT_ATT_RELEASE))
        a->release_due = 0;
    what = ft_turn_take((a->rebind_due ? FT_ATT_REBIND : 0) | FT_ATT_REPLAY |
                        (a->release_due ? FT_ATT_RELEASE : 0));
    if (!what)
        return;
    if (what & FT_ATT_REBIND) {
        ft_failpoint(TURN_REBIND);
        ft_rt_rebind(a->rt);
        a->rebind_due = 0;
    }
    if (what & FT_ATT_REPLAY)
        ft_rt_replay_idle(a->rt);
    if (what & FT_ATT_RELEASE) { /* the bit is main's to clear, which then finds nothing left */
        ft_rt_release(a->rt);
        a->release_due = 0;
    }
    ft_turn_give();
}

uint64_t ft_agent_issue(struct ft_agent *a, enum ft_command c, struct ft_command_arg arg)
{
    arg.generation = atomic_load(&a->rt->box.generation);
    uint64_t n = ft_box_issue(&a->rt->box, &a->main, c, &arg);
    char text[FT_ACTION_TEXT];
    if (a->record >= 0) {
        ft_command_text(c, n, &arg, text, sizeof text);
        ft_record(a, 'A', "%s", text);
    }
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
    return n;
}

void ft_agent_attention(struct ft_agent *a, uint32_t what)
{
    ft_record(a, 'A', "ATTENTION %u", what);
    atomic_fetch_or(&ft_attention, what);
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

/* --- machines --- */

/* A mail that waits for its receiver says nothing that a newer one does not. A larger set of failed
 * processes ends the ballot of a smaller one: its receiver would drop that had it heard of the
 * larger set from somebody else. A newer generation ends the orders of an older one, as the
 * receiver has voted for it. What is asked again is asked once. */
static int is_void(const void *mail, const void *newer)
{
    const struct ft_mail *old = mail, *m = newer;
    struct ft_bitset both;
    if (old->kind != m->kind)
        return 0;
    switch (m->kind) {
    case FT_MAIL_PING:
    case FT_MAIL_PONG: return 1;
    case FT_MAIL_DUE:
    case FT_MAIL_ROLLBACK:
    case FT_MAIL_WAVE_OFF: return old->u.number == m->u.number;
    case FT_MAIL_DEMAND: /* whoever has logs that are long asks again and again */
        return old->u.demand.kind == FT_DEMAND_ASK && m->u.demand.kind == FT_DEMAND_ASK &&
               old->u.demand.rank == m->u.demand.rank &&
               old->u.demand.generation <= m->u.demand.generation;
    case FT_MAIL_ORDER: return old->u.order.generation < m->u.order.generation;
    case FT_MAIL_AGREE:
        both = m->u.agree.failed;
        return !ft_bitset_equal(&old->u.agree.failed, &both) &&
               !ft_bitset_merge(&both, &old->u.agree.failed);
    default: return 0;
    }
}

void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes)
{
    struct ft_tp *tp = &a->rt->tp;
    char text[160];
    ft_record_mail(a, 'A', slot, m);
    if (tp->ops->post(tp) > 0)
        tp->ops->recall(tp, slot, is_void, m);
    /* a dead peer's mail is nobody's: its death is on its way to us by detection */
    if (tp->ops->mail(tp, slot, m, bytes) != FT_ERR_AGAIN)
        return;
    snprintf(text, sizeof text, "what process %d has not read (is it stopped?)", slot);
    ft_rt_no_room(a->rt, text, bytes);
}

/* Too large for the stack. */
static FT_STATE(struct ft_order_actions, order_acts);
static FT_STATE(struct ft_agree_actions, agree_acts);
static FT_STATE(struct ft_mail, agree_mail);
#define order_acts FT_MY(order_acts)
#define agree_acts FT_MY(agree_acts)
#define agree_mail FT_MY(agree_mail)

void ft_agent_order_event(struct ft_agent *a, struct ft_order_event *ev)
{
    ft_order_step(&a->order, ev, &order_acts);
    for (int i = 0; i < order_acts.n; i++) {
        struct ft_order_action act = order_acts.a[i];
        if (act.kind == FT_OA_SEND) {
            struct ft_mail m = {.kind = FT_MAIL_ORDER};
            m.u.order = act.msg;
            ft_agent_mail(a, act.to, &m,
                          (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.order));
        } else {
            FT_ASSERT(i ==
                      order_acts.n -
                          1); /* the last of a step: carrying it out may feed the machine again */
            ft_orders_begin(a, &act);
            return;
        }
    }
}

/* Of the ranks that this ballot has lost. All who live may say it, since it is final. */
static void testify(struct ft_agent *a, struct ft_agree_data *d)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        int slot = a->map.slot_of[r];
        const struct ft_testament *left = &rt->board->slot[slot].testament;
        if (!ft_bit_get(&a->agree.failed, slot))
            continue;
        struct ft_testimony t = ft_testify(slot, left, ft_demand_tag(a, r));
        ft_testimony_add(&d->told, &t);
        d->shared_until = ft_max_u64(d->shared_until, atomic_load(&left->shared_until));
    }
}

/* What no machine of this process knows. */
static struct ft_agree_data witness(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    struct ft_agree_data d = {0};
    d.flags = (atomic_load(&rt->arena.ctl->phase_rma) ? FT_AGREE_PHASE_RMA : 0) |
              (atomic_load(&rt->me->shared_files) ? FT_AGREE_FILES : 0) |
              FT_AGREE_UNKEPT(ft_whole_unkept() & FT_UNKEPT_ALL);
    /* Logs of ours that are not whole expose everybody else. */
    if (atomic_load(&rt->box.committed) > 0)
        ft_exposer_add(&d.exposers, rt->self, ft_whole_others_from());
    ft_demand_exposes(a, &d.exposers);
    testify(a, &d);
    ft_record_data(a, "WITNESSED", &d);
    return d;
}

static struct ft_agree_data local(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    struct ft_agree_data d = witness(a);
    d.committed = atomic_load(&rt->box.committed);
    d.flags |=
        (a->run_over ? FT_AGREE_RUN_OVER : 0) | (a->finished ? FT_AGREE_DONE : 0) |
        (a->rolling || (a->restarting && d.committed) ? FT_AGREE_ROLLBACK : 0) |
        (a->refused ? FT_AGREE_REFUSED : 0) | (a->refused == FT_SKIP_NOMEM ? FT_AGREE_NO_ROOM : 0) |
        (a->unprotected ? FT_AGREE_UNPROTECTED : 0) | (a->no_replay ? FT_AGREE_NO_REPLAY : 0);
    if (a->incomplete)
        ft_bit_set(&d.incomplete, rt->self);
    if (a->main.replaying) { /* it reads what is logged for it alone */
        d.flags |= FT_AGREE_REPLAYING;
        ft_exposer_add(&d.exposers, rt->self, UINT64_MAX);
    }
    return d;
}

static void agree_event(struct ft_agent *a, struct ft_agree_event *ev)
{
    struct ft_decision adopted;
    enum ft_agree_action_kind last = 0;
    ft_agree_step(&a->agree, ev, &agree_acts);
    ft_demand_freeze(a);
    for (int i = 0; i < agree_acts.n; i++) {
        struct ft_agree_action *act = &agree_acts.a[i];
        if (act->kind == FT_AGREE_ACT_SEND) {
            agree_mail.kind = FT_MAIL_AGREE;
            agree_mail.u.agree = act->msg;
            ft_agent_mail(a, act->to, &agree_mail,
                          (uint32_t)(offsetof(struct ft_mail, u) + sizeof agree_mail.u.agree));
            if (act->msg.kind == FT_AGREE_VOTE)
                ft_failpoint(AGREE_VOTE);
        } else {
            last = act->kind;
            adopted = act->decision;
        }
    }
    if (last == FT_AGREE_ACT_VOTE) {
        struct ft_agree_event next = {.kind = FT_AGREE_EV_LOCAL, .local = local(a)};
        agree_event(a, &next);
    } else if (last == FT_AGREE_ACT_DECIDED) {
        ft_generation_adopt(a, &adopted);
        struct ft_agree_event next = {.kind = FT_AGREE_EV_ADOPTED};
        agree_event(a, &next);
    } else if (ft_agree_pending(&a->agree)) {
        a->kind = FT_ORDER_NONE; /* forgotten, carried out or not */
        struct ft_order_event end = {.kind = FT_OE_ENDING};
        ft_agent_order_event(a, &end);
    }
}

static void failed(struct ft_agent *a, int slot)
{
    struct ft_rt *rt = a->rt;
    int pos = a->map.pos_of[slot], n = rt->board->nranks, index;
    enum ft_role role;
    ft_rt_role(rt, slot, &role, &index);
    uint32_t who = pos >= n   ? FT_WHO(FT_ROLE_CHECKSUM, pos - n)
                   : pos >= 0 ? FT_WHO(FT_ROLE_RANK, pos)
                              : FT_WHO(role, index);
    /* A process that has left in order was let go by the root, as all are. [Here nobody has heard
     * of that yet.] */
    if (a->finished || atomic_load(&rt->board->slot[slot].phase) == FT_PHASE_EXITED)
        return;
    ft_failpoint(DETECT_DEATH);
    if (!a->noticed_ns)
        a->noticed_ns = ft_now_ns();
    ft_rt_event(rt, FT_EV_FAILED, who, slot, atomic_load(&rt->board->slot[slot].pid), 0, 0);
    ft_rt_event(rt, FT_EV_DETECTED, FT_WHO_NONE, slot, rt->self, 0, 0);
    struct ft_bitset set = {{0}};
    ft_bit_set(&set, slot);
    struct ft_agree_event ev = {.kind = FT_AGREE_EV_FAILED, .failed = &set};
    agree_event(a, &ev);
}

static void detect_event(struct ft_agent *a, enum ft_detect_event_kind kind, int slot);

/* exited: of an EXITED, of which there is one at a time here */
static void detect_actions(struct ft_agent *a, struct ft_detect_actions *acts, int exited)
{
    for (int i = 0; i < acts->n; i++) {
        int slot = acts->a[i].slot;
        struct ft_mail ping = {.kind = FT_MAIL_PING};
        switch (acts->a[i].kind) {
        case FT_DETECT_ACT_WATCH:
            ft_record(a, 'A', "WATCH %d", slot);
            ft_sentinel_begin(&a->watch, slot);
            break;
        case FT_DETECT_ACT_PING: ft_agent_mail(a, slot, &ping, offsetof(struct ft_mail, u)); break;
        case FT_DETECT_ACT_KILL:
            ft_rt_event(a->rt, FT_EV_SILENT, FT_WHO_NONE, slot,
                        a->limit_ms * a->detect.silent / a->detect.limit, 0, 0);
            ft_record(a, 'A', "KILL %d", slot);
            a->watch.kill_due = 1;
            ft_sentinel_kill(&a->watch);
            break;
        case FT_DETECT_ACT_FAILED: failed(a, exited); break;
        }
    }
}

static void detect_event(struct ft_agent *a, enum ft_detect_event_kind kind, int slot)
{
    struct ft_bitset set = {{0}};
    struct ft_detect_event ev = {.kind = kind, .slot = slot, .set = &set};
    struct ft_detect_actions acts;
    static const char *const name[] = {"", "TICK", "ALIVE", "EXITED", "FAILED"};
    int orderly = slot >= 0 && atomic_load(&a->rt->board->slot[slot].phase) == FT_PHASE_EXITED;
    ft_record(a, 'E', "%s %d %d", name[kind], slot, orderly);
    if (slot >= 0)
        ft_bit_set(&set, slot);
    ft_detect_step(&a->detect, &ev, &acts);
    a->watch.known_dead = a->watch.watching >= 0 && ft_bit_get(&a->detect.dead, a->watch.watching);
    detect_actions(a, &acts, slot);
}

static void take_mail(struct ft_agent *a, int slot, const struct ft_mail *m)
{
    struct ft_mail pong = {.kind = FT_MAIL_PONG};
    struct ft_agree_event ae = {.kind = FT_AGREE_EV_MSG, .slot = slot, .msg = &m->u.agree};
    struct ft_order_event oe = {.kind = FT_OE_MSG, .from = slot, .msg = &m->u.order},
                          due = {.kind = FT_OE_DUE};
    struct ft_order_event back = {.kind = FT_OE_ROLLBACK}, late = {.kind = FT_OE_LATE};
    ft_record_mail(a, 'E', slot, m);
    switch (m->kind) {
    case FT_MAIL_AGREE:
        if (!a->noticed_ns)
            a->noticed_ns = ft_now_ns();
        agree_event(a, &ae);
        break;
    case FT_MAIL_ORDER: ft_agent_order_event(a, &oe); break;
    case FT_MAIL_PING: ft_agent_mail(a, slot, &pong, offsetof(struct ft_mail, u)); break;
    case FT_MAIL_PONG: detect_event(a, FT_DETECT_EV_ALIVE, slot); break;
    case FT_MAIL_DUE:
        due.arg = m->u.number;
        ft_agent_order_event(a, &due);
        break;
    case FT_MAIL_MARKER: ft_snapshot_mail(a, &m->u.marker); break;
    case FT_MAIL_WAVE_OFF:
        if (m->u.number == a->snapshot)
            ft_agent_order_event(a, &late);
        break;
    case FT_MAIL_DEMAND: ft_demand_mail(a, slot, &m->u.demand); break;
    case FT_MAIL_ROLLBACK: ft_agent_order_event(a, &back); break;
    default: FT_ASSERT(0);
    }
}

/* Who started us has gone: nobody would collect a result, and no word of ours is wanted. */
static void end_if_orphaned(struct ft_agent *a, uint64_t now)
{
    if (now < a->orphan_ns || a->finished)
        return;
    a->orphan_ns = now + LOOK_MS * 1000000ull;
    int launcher = a->rt->board->launcher_pid;
    if (getppid() != a->parent ||
        (a->launcher_start && ft_proc_gone(launcher, a->launcher_start) > 0)) {
        ft_coverage_dump();
        syscall(SYS_exit_group, 1);
    }
}

/* Who was learnt to be dead from agreement is watched no more. */
static void sync_detector(struct ft_agent *a)
{
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&a->agree.failed, i)) {
            if (!ft_bit_get(&a->detect.dead, i))
                detect_event(a, FT_DETECT_EV_FAILED, i);
            a->rt->tp.ops->drop_mails(&a->rt->tp, i);
        }
}

/* Of other nodes the gateway tells. */
static void hear_far_deaths(struct ft_agent *a)
{
    const struct ft_board *b = a->rt->board;
    for (int i = 0; b->near_end - b->near_from < b->nslots && i < b->nslots; i++)
        if (!ft_board_near(b, i) && atomic_load(&b->slot[i].ended) &&
            !ft_bit_get(&a->detect.dead, i))
            detect_event(a, FT_DETECT_EV_EXITED, i);
}

static void check_board(struct ft_agent *a)
{
    int state = atomic_load(&a->rt->board->state);
    if (state == FT_JOB_FAILED || state == FT_JOB_LOST)
        _exit(atomic_load(&a->rt->board->status));
    /* agreed, and whoever was to tell us may have gone with its mail */
    if (state == FT_JOB_DONE && !a->finished) {
        ft_record(a, 'E', "JOB_OVER");
        ft_agent_finished(a);
        a->free_main = 1;
    }
}

union mail_room {
    struct ft_mail m;
    char room[FT_MAIL_BYTES];
};
static FT_STATE(union mail_room, mail_in);
#define mail_in FT_MY(mail_in)

static void drain(struct ft_agent *a)
{
    int some = 1;
    while (some) {
        some = 0;
        for (int i = 0; i < a->rt->nslots; i++)
            if (a->rt->tp.ops->take(&a->rt->tp, i, &mail_in) > 0) {
                some = 1;
                take_mail(a, i, &mail_in.m);
            }
    }
}

static int time_out(struct ft_agent *a, uint64_t now)
{
    uint64_t next = now + LOOK_MS * 1000000ull;
    if (a->detect.limit > 0)
        next = ft_min_u64(next, a->ping_ns);
    if (a->kind != FT_ORDER_NONE || a->late || a->free_main || a->become_rank || a->quiet_due ||
        a->fold_due || a->folding || a->ch.state == FT_CH_RESUMING || a->cover_due ||
        !ft_bitset_empty(&a->ch.wanted) || atomic_load(&a->watch.alarm) || a->watch.kill_due ||
        a->mails_wait)
        next = ft_min_u64(next, now + BUSY_TICK_MS * 1000000ull);
    if (a->release_due || !ft_bitset_empty(&a->lost))
        next = ft_min_u64(next, now + RELEASE_TICK_MS * 1000000ull);
    if (a->replayed || a->rebind_due)
        next = ft_min_u64(next, now + TURN_TICK_MS * 1000000ull);
    if (a->next_due_ns)
        next = ft_min_u64(next, a->next_due_ns);
    if (ft_sentinel_is_ending(&a->watch))
        next = ft_min_u64(next, now + 1); /* a millisecond, as poll counts */
    return next <= now ? 0 : (int)((next - now) / 1000000ull) + 1;
}

static void ticks(struct ft_agent *a)
{
    uint64_t now = ft_now_ns();
    if (a->detect.limit > 0 && now >= a->ping_ns) {
        a->ping_ns = now + (uint64_t)a->limit_ms * 1000000ull /
                               (uint64_t)a->detect.limit; /* a late tick is one tick */
        detect_event(a, FT_DETECT_EV_TICK, -1);
    }
    ft_orders_clock(a, now);
    ft_still_look(a, now);
}

/* At each move of main's: the machine sends changes only. */
static void tell_milestone(struct ft_agent *a)
{
    if (a->main.moves == a->told_moves)
        return;
    a->told_moves = a->main.moves;
    struct ft_order_event ev = {.kind = FT_OE_MILESTONE, .arg = (uint64_t)ft_agent_milestone(a)};
    ft_agent_order_event(a, &ev);
}

/* What a group's ranks have to protect, and the room that they have made for it; only to be
 * compared with what it was. */
static uint64_t room_of_group(struct ft_agent *a, int group)
{
    struct ft_rt *rt = a->rt;
    uint64_t room = 0;
    for (int i = 0; i < ft_group_size(&rt->groups, group); i++) {
        int slot = a->map.slot_of[ft_group_member(&rt->groups, group, i)];
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
        room += atomic_load(&rt->board->slot[slot].protected_bytes) +
                (ctl ? atomic_load(&ctl->image[0].bytes) : 0);
    }
    return room;
}

/* As many spares as a group may lose are next in line, in their order (recover/plan.c). */
int ft_agent_next_in_line(const struct ft_agent *a)
{
    int before = 0;
    for (int i = 0; i < a->rt->self; i++)
        before += a->map.pos_of[i] == -1;
    return atomic_load(&a->rt->pos) < 0 && before < a->rt->groups.parity;
}

void ft_agent_reserve(struct ft_agent *a)
{
    uint32_t aside = atomic_load(&a->rt->box.committed) > 0 && ft_agent_next_in_line(a);
    ft_agent_issue(a, FT_CMD_RESERVE, (struct ft_command_arg){.aside = aside});
}

/* A checksum process makes room for codewords while its group's ranks are still setting up, and
 * maps the room that they have made: whenever they have more to protect, or more room. A spare
 * makes room for the largest image. */
static void prepare_room(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (a->kind != FT_ORDER_NONE || ft_is_rank(rt) || ft_agent_standing(a) != FT_AT_INIT ||
        atomic_load(&rt->box.committed) != 0)
        return;
    uint64_t room = ft_is_checksum(rt)
                        ? room_of_group(a, ft_group_of_position(&rt->groups, atomic_load(&rt->pos)))
                        : ft_ckpt_most(rt);
    if (room == a->room_for)
        return;
    a->room_for = room;
    ft_record(a, 'E', "SEEN ROOM %llx", (unsigned long long)room);
    ft_agent_reserve(a);
}

/* The agent's descriptors are where the program cannot close them. Others open the arena there from
 * now on. */
static void own_descriptors(struct ft_agent *a)
{
    const int keep[] = {a->rt->arena.fd, ft_print_where()};
    pthread_t sentinel;
    if (ft_fd_own_table(keep, FT_COUNTOF(keep)))
        atomic_store(&a->rt->me->table, ft_fd_table());
    if (pthread_create(&sentinel, NULL, ft_sentinel_main, &a->watch) ==
        0)                        /* from here, so that it has the same */
        pthread_detach(sentinel); /* else deaths are seen later */
}

void ft_agent_cfg(struct ft_agent *a, struct ft_process_cfg *cfg)
{
    struct ft_rt *rt = a->rt;
    *cfg = (struct ft_process_cfg){
        .self = rt->self,
        .nslots = rt->nslots,
        .nranks = rt->board->nranks,
        .nchecksums = rt->board->nchecksums,
        .silence = a->limit_ms > 0 ? 4 : 0,
        .local = rt->logs,
        .why_not = ft_level == FT_LOG_OFF ? FT_FALLBACK_NO_LOGS : FT_FALLBACK_ASKED,
        .slot_of = rt->layout.place.slot_of,
        .groups = rt->board->nchecksums ? &rt->groups : NULL,
        .where = rt->where,
        .carrier = {.nranks = rt->board->nranks,
                    .parity = rt->groups.parity,
                    .checkpoints = rt->checkpoints,
                    .logs = rt->logs,
                    .every = rt->policy.kind == FT_CKPT_EVERY ? (int)rt->policy.every : 0,
                    .mtbf = rt->policy.kind == FT_CKPT_DALY ? rt->mtbf : 0,
                    .demand = rt->demand,
                    .stream = rt->stream,
                    .snapshot = rt->snapshot_alg,
                    .restart = a->restarting}};
    for (int i = rt->board->near_from; i < rt->board->near_end; i++)
        ft_bit_set(&cfg->neighbours, i);
}

static void *agent_main(void *arg)
{
    struct ft_agent *a = arg;
    ft_engine_enter(a->engine);
    struct ft_rt *rt = a->rt;
    struct ft_bitset none = {{0}};
    struct ft_process_cfg cfg;
    struct ft_detect_actions first;
    ft_run_promptly();
    own_descriptors(a);
    ft_life_hold(&rt->me->life);
    char err[128];
    ft_setting_i64(FT_SET_PING_TIMEOUT, &a->limit_ms, err, sizeof err);
    ft_agent_cfg(a, &cfg);
    ft_record_begin(a, &cfg);
    ft_demand_look(a);
    a->run_era = FT_ERA_FIRST;
    ft_agree_init(&a->agree, rt->self, rt->nslots);
    ft_order_init(&a->order, rt->self, rt->nslots);
    struct ft_order_event gen = {
        .kind = FT_OE_GENERATION, .failed = &none, .checkpoints = rt->checkpoints};
    a->told_moves = UINT64_MAX;
    ft_agent_look(a);
    ft_agent_order_event(a, &gen);
    tell_milestone(a);
    ft_detect_init(&a->detect, rt->self, rt->nslots, &cfg.neighbours, cfg.silence, &first);
    a->ping_ns = ft_now_ns() + (uint64_t)a->limit_ms * 250000ull;
    detect_actions(a, &first, -1);
    ft_snapshot_start(a);
    ft_still_start(a);
    for (;;) {
        uint32_t heard = ft_bell_heard(rt->board, rt->self); /* before all that is looked at */
        int watched = a->watch.watching;
        uint64_t now = ft_now_ns();
        check_board(a);
        end_if_orphaned(a, now);
        ft_agent_look(a);
        drain(a);
        hear_far_deaths(a);
        ft_agent_look(a);
        if (watched == a->watch.watching && ft_sentinel_is_dead(&a->watch, now))
            detect_event(a, FT_DETECT_EV_EXITED, watched);
        if (a->watch.kill_due)
            ft_sentinel_kill(&a->watch);
        sync_detector(a);
        tell_milestone(a);
        ft_demand_poll(a);
        ft_orders_poll(a);
        prepare_room(a);
        ft_release_poll(a);
        act_for_main(a);
        ticks(a);
        a->mails_wait = rt->tp.ops->post(&rt->tp) > 0;
        ft_bell_wait(rt->board, rt->self, heard, time_out(a, ft_now_ns()));
    }
    return NULL;
}

void ft_agent_start(struct ft_rt *rt)
{
    struct ft_agent *a = ft_need(ft_private_alloc(sizeof *a), sizeof *a, "the helper thread");
    ft_a = a;
    a->rt = rt;
    a->record = -1;
    a->engine = ft_engine_here();
    a->owner.stream = a->ch.stream = rt->stream;
    if (ft_is_checksum(rt))
        a->ch.index =
            ft_group_block_of_position(&rt->groups, atomic_load(&rt->pos)) -
            ft_group_size(&rt->groups, ft_group_of_position(&rt->groups, atomic_load(&rt->pos)));
    a->watch = (struct ft_sentinel){.board = rt->board, .self = rt->self, .watching = -1};
    a->restarting = ft_restart_wanted(rt);
    if (ft_mapping_init(&a->map, rt->board->nranks, rt->board->nchecksums, rt->board->nspares,
                        rt->layout.place.slot_of) != FT_OK)
        ft_no_memory("the table of processes", (uint64_t)rt->nslots * 3 * sizeof(int), NULL, 0);
    struct ft_process_cfg cfg;
    ft_agent_cfg(a, &cfg);
    a->map.where = cfg.where;
    a->map.local = cfg.local;
    a->map.why_not = cfg.why_not;
    a->parent = getppid();
    if (rt->board->launcher_pid)
        a->launcher_start =
            ft_proc_start_time(rt->board->launcher_pid); /* 0: it is not seen from here */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int no_thread = pthread_create(&rt->agent, NULL, agent_main, a);
    if (no_thread) {
        char name[48];
        ft_giver->name(name, sizeof name);
        ft_give_up(NO_THREAD, name, strerror(no_thread));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
