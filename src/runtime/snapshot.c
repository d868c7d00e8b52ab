/* SPDX-License-Identifier: BSD-3-Clause
 *
 * snapshot.c - a checkpoint without stopping everybody (C9): the agent carries the machine of
 * proto/snapshot.h. A snapshot is known everywhere with PROPOSE, before anybody is told to begin
 * (TARGET); it begins here when main stands at the agreed safepoint. Markers are mails among the
 * agents of the ranks; what messages and accesses look at are words (transport/cut.h).
 */
#include "base/private.h"
#include "rma/windows.h"
#include "runtime/carry.h"
#include "runtime/record.h"

_Static_assert(FT_SNAPSHOT_BARRIER == (int)FT_SNAP_VANILLA && FT_SNAP_PARTIAL == 4,
               "the order of FTRMA_SNAPSHOT in settings.def");

enum snapshot_step { AWAY, RUNNING, ANSWERED, FAILED };

static void ask_for_end(void)
{
    ft_box_ask(&ft_own_rt->box, FT_ASK_WAVE_OFF);
    ft_agent_nudge(ft_own_rt);
}

void ft_snapshot_start(struct ft_agent *a)
{
    if (!ft_cut_possible)
        return;
    ft_cut_call_off = ask_for_end;
    size_t bytes = ft_snap_bytes(a->rt->board->nranks);
    a->snap = ft_need(ft_private_alloc(bytes), bytes, "snapshots");
    a->order.snapshots = 1;
}

int ft_snapshot_propose(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t snapshot = (uint64_t)a->order.generation << 32 | a->seq;
    if (!a->snap)
        return 1;
    if (a->snapshot != snapshot) {
        a->snapshot = snapshot;
        a->snapshot_step = AWAY;
        a->snapshot_taken = a->snapshot_said = a->done = 0;
        a->heard[0] = a->heard[1] = (struct ft_bitset){{0}};
        ft_agent_forget_asks(a, FT_ASK_WAVE_OFF);
        if (ft_is_rank(rt))
            ft_cut_begin(snapshot);
        ft_record(a, 'A', "GATE %llx", (unsigned long long)snapshot);
    }
    return !ft_is_rank(rt) || ft_orders_nobody_inside();
}

void ft_snapshot_end(struct ft_agent *a)
{
    if (!a->snapshot)
        return;
    a->snapshot = 0;
    a->snapshot_step = AWAY;
    ft_record(a, 'A', "GATE 0");
    ft_cut_end();
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

void ft_snapshot_watch(struct ft_agent *a)
{
    if (a->snapshot && !a->snapshot_said && (a->asks & FT_ASK_WAVE_OFF)) {
        a->snapshot_said = 1;
        ft_orders_ask_root(a, FT_MAIL_WAVE_OFF, FT_OE_LATE, a->snapshot);
    }
}

static void send_marker(struct ft_agent *a, int rank, enum ft_snap_marker kind)
{
    struct ft_mail m = {.kind = FT_MAIL_MARKER};
    m.u.marker =
        (struct ft_marker){.wave = a->snapshot, .rank = atomic_load(&a->rt->pos), .kind = kind};
    ft_agent_mail(a, a->map.slot_of[rank], &m,
                  (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.marker));
}

static void flood(struct ft_agent *a, enum ft_snap_marker kind)
{
    for (int r = 0, sent = 0; r < a->rt->board->nranks; r++)
        if (r != atomic_load(&a->rt->pos)) {
            send_marker(a, r, kind);
            if (sent++ == 0)
                ft_failpoint(SNAPSHOT_MARKED);
        }
}

/* Who accesses this process's windows does so before it, and is waited for; who comes later sees
 * that it has entered. */
static int accessed(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, a->map.slot_of[r]);
        if (ctl && atomic_load(&ctl->inside) == FT_INSIDE_OF + (uint32_t)rt->self)
            return 1;
    }
    return 0;
}

/* 1: the image is taken. That it cannot be is answered. */
static int take(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!a->waiting_for) {
        if (atomic_load(&rt->arena.ctl->snapshot_entered) != a->snapshot) {
            ft_record(a, 'A', "PUBLISH ENTERED %llx", (unsigned long long)a->snapshot);
            atomic_store(&rt->arena.ctl->snapshot_entered, a->snapshot);
            a->cut_ns = ft_now_ns();
            ft_failpoint(SNAPSHOT_ENTERED);
        }
        for (int i = 0; i < 100 && accessed(a); i++)
            ft_cpu_relax();
        if (accessed(a) || !ft_agent_takes(a, FT_CMD_COPY) || !ft_demand_settled(a))
            return 0;
        a->waiting_for =
            ft_agent_issue(a, FT_CMD_COPY,
                           (struct ft_command_arg){.version = atomic_load(&rt->box.committed) + 1,
                                                   .wave = a->snapshot});
        return 0;
    }
    if (a->main.answered < a->waiting_for)
        return 0;
    a->waiting_for = 0;
    if (a->result.moved)
        return 0; /* main has parked: the snapshot is void */
    if (a->result.reason) {
        a->snapshot_step = FAILED;
        ft_orders_ready(a, (struct ft_ready){.not_ok = a->result.reason, .running = 1});
        return 0;
    }
    a->snapshot_taken = 1;
    a->cost_s = (double)(ft_now_ns() - a->cut_ns) / 1e9;
    if (rt->snapshot_alg != (int)FT_SNAP_DOUBLE && ft_agent_standing(a) == FT_AT_HELD)
        ft_orders_release(a);
    return 1;
}

static void open_gates(struct ft_agent *a)
{
    ft_record(a, 'A', "GATE 0");
    ft_cut_end();
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

/* The machine takes the snapshot for over: where markers follow images, all have theirs. With
 * `partial` they do not, and the gates open with the order LEAVE. */
static void over(struct ft_agent *a)
{
    if (a->rt->snapshot_alg != (int)FT_SNAP_PARTIAL)
        open_gates(a);
    if (a->rt->snapshot_alg == (int)FT_SNAP_DOUBLE && ft_agent_standing(a) == FT_AT_HELD)
        ft_orders_release(a);
}

/* What the machine wants, as far as main has come. 1: all of it. */
static int carry_out(struct ft_agent *a)
{
    for (; a->done < a->todo.n; a->done++) {
        const struct ft_snap_action *act = &a->todo.a[a->done];
        switch (act->act) {
        case FT_SNAP_ACT_TAKE:
            if (!take(a))
                return 0;
            break;
        case FT_SNAP_ACT_FLOOD: flood(a, act->marker); break;
        case FT_SNAP_ACT_FLUSH: break; /* nobody has a get under way at a safepoint */
        case FT_SNAP_ACT_SEND: send_marker(a, act->to, act->marker); break;
        case FT_SNAP_ACT_OVER: over(a); break;
        }
    }
    return 1;
}

/* The next marker that the machine has not heard of, firsts before seconds. 0: there is none. */
static int hear(struct ft_agent *a)
{
    for (int kind = 0; kind < 2; kind++)
        for (int r = 0; r < a->rt->board->nranks; r++)
            if (ft_bit_get(&a->heard[kind], r)) {
                ft_bit_clear(&a->heard[kind], r);
                a->done = 0;
                ft_snap_marker(a->snap, r, kind ? FT_SNAP_SECOND : FT_SNAP_FIRST, &a->todo);
                return 1;
            }
    return 0;
}

static void go_on(struct ft_agent *a)
{
    if (a->snapshot_step == AWAY || a->snapshot_step == FAILED)
        return;
    do {
        if (!carry_out(a))
            return;
    } while (hear(a));
    int done = a->snapshot_taken &&
               (a->rt->snapshot_alg != (int)FT_SNAP_DOUBLE || a->snap->phase == FT_SNAP_IDLE);
    if (done && a->snapshot_step == RUNNING && a->kind == FT_ORDER_TARGET) {
        a->snapshot_step = ANSWERED;
        ft_orders_ready(a, (struct ft_ready){.bytes = a->result.bytes, .running = 1});
    }
}

void ft_snapshot_poll(struct ft_agent *a)
{
    if (a->snapshot_step == AWAY) {
        a->snapshot_step = RUNNING;
        a->done = 0;
        ft_snap_init(a->snap, (enum ft_snap_alg)a->rt->snapshot_alg, atomic_load(&a->rt->pos),
                     a->rt->board->nranks);
        ft_snap_start(a->snap, &a->todo);
    }
    go_on(a);
}

void ft_snapshot_mail(struct ft_agent *a, const struct ft_marker *m)
{
    if (m->wave != a->snapshot || !ft_is_rank(a->rt))
        return; /* of one that is over */
    FT_ASSERT(m->kind == FT_SNAP_FIRST || m->kind == FT_SNAP_SECOND);
    ft_bit_set(&a->heard[m->kind == FT_SNAP_SECOND], m->rank);
    go_on(a);
}
