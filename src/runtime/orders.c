/* SPDX-License-Identifier: BSD-3-Clause
 *
 * orders.c - the agent carries out orders: mostly by commands to main, whose end is awaited; and
 * the root's clock for checkpoints.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "alog/chan.h"
#include "model/daly.h"
#include "rma/windows.h"
#include "runtime/carry.h"
#include "runtime/record.h"
#include "transport/turn.h"
#include "transport/wait.h"

/* main asleep without progress for two such ticks: it waits for somebody */
#define STUCK_NS 50000000ull
#define LATE_MIN_NS 2000000000ull
#define AWAITED_NS                                                                 \
    5000000000ull /* main in no call, and all others wait for it: the user is told \
                   */
#define DUE_AGAIN_NS 500000000ull
#define LATE_INTERVALS 20 /* safepoint intervals without everybody's arrival */

void ft_orders_ready(struct ft_agent *a, struct ft_ready r)
{
    struct ft_order_event ev = {.kind = FT_OE_READY, .seq = a->seq, .ready = r};
    a->kind = FT_ORDER_NONE;
    a->waiting_for = 0;
    ft_record(a, 'A', "READY %u %llu %llu %u %u %u", a->seq, (unsigned long long)r.max,
              (unsigned long long)r.bytes, r.not_ok, r.running, r.no_snapshot);
    ft_agent_order_event(a, &ev);
}

static void ready_plain(struct ft_agent *a) { ft_orders_ready(a, (struct ft_ready){0}); }

int ft_orders_in_body(const struct ft_agent *a) { return ft_agent_milestone(a) == FT_MILE_RUN; }

/* Main, which stands at a safepoint, has left it from here on, whenever it runs again: it is
 * promised no more. */
void ft_orders_release(struct ft_agent *a)
{
    FT_ASSERT(ft_agent_standing(a) == FT_AT_HELD);
    a->let_go = a->main.reached;
    ft_agent_issue(a, FT_CMD_RELEASE, (struct ft_command_arg){0});
}

/* The first safepoint at which main can still be stopped. */
static uint64_t promise(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (rt->policy.kind == FT_CKPT_EVERY) {
        uint64_t k = (uint64_t)rt->policy.every, next;
        next = (ft_max_u64(a->main.passed, a->let_go) / k + 1) * k;
        return next == a->restored_at ? next + k : next; /* main does not stop at that one */
    }
    ft_agent_hold(a, FT_HOLD_ASK);
    return a->main.reached + 1;
}

static void do_propose(struct ft_agent *a)
{
    struct ft_ready r = {.no_snapshot =
                             atomic_load(&a->rt->me->testament.shared_until) == UINT64_MAX ||
                             a->rt->stream};
    if (a->main.replaying)
        return; /* it is not yet where the lost process was: what it would promise now may lie
                   after what others saw of it */
    if (!ft_snapshot_propose(a))
        return;
    if (ft_orders_in_body(a)) {
        r.max = promise(a);
        r.running = 1;
    }
    ft_failpoint(CKPT_PROPOSED);
    ft_orders_ready(a, r);
}

/* Nobody comes any more: main sleeps in the library, and nothing has moved for a while. */
static int stuck(struct ft_agent *a)
{
    uint64_t now = ft_now_ns(), progress = atomic_load(&ft_wait_progress);
    if (!atomic_load(&ft_wait_asleep) || progress != a->stuck_progress) {
        a->stuck_progress = progress;
        a->stuck_ticks = 0;
        a->tick_ns = now;
        return 0;
    }
    if (now - a->tick_ns >= STUCK_NS) {
        a->tick_ns = now;
        a->stuck_ticks++;
    }
    return a->stuck_ticks >= 2;
}

static void poll_target(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int snapshot = (a->flags & FT_ORDER_SNAPSHOT) && ft_is_rank(rt);
    if (snapshot && (a->snapshot_step > 0 || ft_agent_standing(a) == FT_AT_OVER)) {
        ft_snapshot_poll(a);
        return;
    }
    if (!ft_orders_in_body(a)) {
        if (!snapshot ||
            ft_agent_milestone(a) < FT_MILE_RUN) /* else main is about to stand at body's end */
            ready_plain(a);
        return;
    }
    if (ft_agent_standing(a) == FT_AT_HELD) {
        uint64_t n = a->main.reached;
        if (n < a->arg) {
            ft_orders_release(a); /* it stopped of itself, the others are further */
        } else if (n == a->arg) {
            ft_failpoint(CKPT_ARRIVED);
            if (snapshot && !a->main.cannot)
                ft_snapshot_poll(a);
            else
                ft_orders_ready(a, (struct ft_ready){.not_ok = a->main.cannot, .running = 1});
        }
        return;
    }
    if (stuck(a)) {
        ft_record(a, 'E', "SEEN STUCK 1");
        struct ft_order_event ev = {.kind = FT_OE_STUCK, .seq = a->seq};
        a->kind = FT_ORDER_NONE;
        ft_agent_order_event(a, &ev);
    }
}

/* Issues c once main stands where it can take it, and awaits the answer. 1: done. */
static int through_main(struct ft_agent *a, enum ft_command c, struct ft_command_arg arg)
{
    if (!a->waiting_for) {
        if (!ft_agent_takes(a, c))
            return 0;
        a->waiting_for = ft_agent_issue(a, c, arg);
        return 0;
    }
    if (a->main.answered < a->waiting_for)
        return 0;
    if (a->result.moved) {
        a->waiting_for = 0; /* once more, where main stands then: it was not done */
        return 0;
    }
    return 1;
}

static void poll_cut(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!ft_is_rank(rt)) {
        ft_box_flag(&rt->box, FT_SAYS_HURRY, 1);
        if (ft_agent_standing(a) == FT_AT_INIT) /* while ranks copy; a spare so comes to its image
                                                   sooner, should it ever need one */
            ft_agent_reserve(a);
        ready_plain(a);
        return;
    }
    if (a->flags & FT_ORDER_SNAPSHOT) { /* taken with TARGET */
        ft_orders_ready(a, (struct ft_ready){.bytes = a->result.bytes});
        return;
    }
    if (!a->waiting_for && (!ft_agent_takes(a, FT_CMD_COPY) || !ft_demand_settled(a)))
        return; /* one slot is free, and needed */
    if (!a->waiting_for)
        ft_demand_give_up_latest(a);
    if (through_main(a, FT_CMD_COPY, (struct ft_command_arg){.version = a->arg}))
        ft_orders_ready(a, (struct ft_ready){.bytes = a->result.bytes, .not_ok = a->result.reason});
}

/* Without checksum processes entry and exit are agreed by this order alone. */
static void leave_unprotected(struct ft_agent *a)
{
    enum ft_place s = ft_agent_standing(a);
    if ((a->flags & FT_ORDER_ENTRY) && s == FT_AT_ENTRY) {
        if (!a->rt->logs)
            a->no_replay = 1;
        ft_agent_issue(a, FT_CMD_BODY, (struct ft_command_arg){0});
    } else if ((a->flags & FT_ORDER_EXIT) && (s == FT_AT_OVER || s == FT_AT_ENTRY)) {
        ft_agent_issue(a, FT_CMD_OUT, (struct ft_command_arg){0});
    }
    ready_plain(a);
}

static void poll_leave(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!rt->checkpoints) {
        leave_unprotected(a);
        return;
    }
    if (ft_is_checksum(rt)) {
        if (!through_main(a, FT_CMD_PARITY, (struct ft_command_arg){.version = a->arg}))
            return;
        /* not whole: no room (said), or a member has gone, and then a new generation is on its way
         */
        ft_orders_ready(a, (struct ft_ready){.not_ok = a->result.reason});
        return;
    }
    /* All have their first images. Before anybody has more than that, and before logs grow, what a
     * replacement needs is set aside. */
    if ((a->flags & FT_ORDER_ENTRY) && ft_agent_next_in_line(a) &&
        !through_main(a, FT_CMD_RESERVE, (struct ft_command_arg){.aside = 1}))
        return;
    ft_agent_hold(a, FT_HOLD_NONE);
    if (ft_agent_standing(a) == FT_AT_HELD &&
        !(a->flags & FT_ORDER_SNAPSHOT)) /* in a snapshot it is at one that is due after it */
        ft_orders_release(a);
    ready_plain(a);
}

static uint64_t bytes_of_all(struct ft_agent *a, uint64_t version)
{
    uint64_t sum = 0, bytes;
    for (int r = 0; r < a->rt->board->nranks; r++)
        if (ft_ckpt_image_of(a->rt, a->map.slot_of[r], version, &bytes))
            sum += bytes;
    return sum;
}

/* The root sets its clock: when a checkpoint is committed, when one was called off, and at the
 * start of a generation, since what was due in the one before is forgotten. [The root dies: nobody
 * would ask for a checkpoint any more.] */
static void schedule(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (rt->policy.kind != FT_CKPT_DALY || !rt->checkpoints || !ft_order_is_root(&a->order) ||
        atomic_load(&rt->box.committed) == 0)
        return;
    double s = ft_daly_interval(a->cost_s, rt->mtbf);
    a->next_due_ns = ft_now_ns() + (uint64_t)((s > 0.01 ? s : 0.01) * 1e9);
}

static void do_commit(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    ft_failpoint(CKPT_COMMIT);
    ft_box_flag(&rt->box, FT_SAYS_HURRY, 0);
    ft_record(a, 'A', "PUBLISH COMMITTED %llu", (unsigned long long)a->arg);
    atomic_store(&rt->box.committed, a->arg);
    atomic_store(&ft_msg_committed, a->arg);
    ft_demand_covered(a);
    ft_save_committed(rt, a->arg);
    ft_failpoint(CKPT_COMMITTED);
    if (a->restarting) {
        ft_save_go_back(a);
    } else if ((a->flags & FT_ORDER_ENTRY) && ft_agent_standing(a) == FT_AT_ENTRY) {
        ft_agent_issue(a, FT_CMD_BODY, (struct ft_command_arg){.era = FT_ERA_FIRST});
    }
    if ((atomic_load(&rt->pos) < 0 || ((a->flags & FT_ORDER_ENTRY) && ft_is_checksum(rt))) &&
        ft_agent_standing(a) == FT_AT_INIT)
        ft_agent_reserve(
            a); /* there are images now, for a spare to map; and more room may be made */
    if (a->flags & FT_ORDER_EXIT) {
        ft_agent_run_over(a);
        if (ft_agent_standing(a) == FT_AT_OVER)
            ft_agent_issue(a, FT_CMD_OUT, (struct ft_command_arg){.era = FT_ERA_POST});
    }
    if (ft_order_is_root(&a->order)) {
        uint64_t now = ft_now_ns();
        ft_rt_event(rt, FT_EV_CKPT_DONE, FT_WHO_NONE, (int64_t)a->arg,
                    (int64_t)bytes_of_all(a, a->arg), 0, a->cut_ns ? now - a->cut_ns : 0);
        a->last_commit_ns = now;
        a->safepoints_at_commit = a->main.reached;
        schedule(a);
    }
    ready_plain(a);
}

static void do_cancel(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    enum ft_place s = ft_agent_standing(a);
    if (!ft_agent_main_busy(a))
        atomic_store(&rt->box.complete,
                     atomic_load(&rt->box.committed)); /* what was copied is void */
    ft_box_flag(&rt->box, FT_SAYS_HURRY, 0);
    ft_agent_hold(a, FT_HOLD_NONE);
    ft_tp_shm_ring_ctl(rt->arena.ctl); /* main may sleep on its promise */
    if (s == FT_AT_HELD)
        ft_orders_release(a);
    if (a->flags & FT_ORDER_ENTRY) {
        a->refused = (uint32_t)a->arg;
        if (ft_order_is_root(&a->order)) /* [it goes on, and is lost before anybody has heard: its
                                            replacement's replay is at the entry] */
            a->refusing = 1;
        else if (s == FT_AT_ENTRY)
            ft_agent_issue(a, FT_CMD_FAIL, (struct ft_command_arg){.why = a->refused});
    }
    if (a->flags & FT_ORDER_EXIT) {
        a->unprotected = 1;
        if (s == FT_AT_OVER)
            ft_agent_issue(a, FT_CMD_OUT, (struct ft_command_arg){0});
    }
    if (ft_order_is_root(&a->order)) {
        ft_rt_event(rt, a->flags & FT_ORDER_SNAPSHOT ? FT_EV_SNAPSHOT_OFF : FT_EV_CKPT_SKIPPED,
                    FT_WHO_NONE, (int64_t)atomic_load(&rt->box.committed) + 1, (int64_t)a->arg, 0,
                    0);
        schedule(a);
    }
    ready_plain(a);
}

/* What a replacement was to rebuild for the order under way is there. */
static void is_whole(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    a->incomplete = 0;
    if (ft_is_checksum(rt))
        ft_record(a, 'A', "PUBLISH LIVE 1");
    atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
}

/* A loop that polls memory without a call is nothing that main could leave: the user is told what
 * all wait for. */
static void await_call(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t ns = ft_now_ns() - a->noticed_ns;
    if (!a->noticed_ns || ns < AWAITED_NS || a->awaited == 1 + a->order.generation ||
        atomic_load(&ft_in_call))
        return;
    a->awaited = 1 + a->order.generation;
    ft_rt_event(rt, FT_EV_AWAITED, ft_who(rt), 0, 0, 0, ns);
    char line[240];
    int n = snprintf(line, sizeof line,
                     "ftrma: all other ranks wait for the next MPI call of rank %d, to go back to "
                     "checkpoint %llu. A loop that polls "
                     "memory should call MPI_Win_sync\n",
                     atomic_load(&rt->pos), (unsigned long long)a->arg);
    ft_print(line, (size_t)n);
}

static void poll_recover(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!a->rolling) { /* a replay diverged: no new generation */
        a->rolling = 1;
        ft_demand_void(a);
        if (!a->restarting)
            a->noticed_ns = a->noticed_ns ? a->noticed_ns : ft_now_ns();
        a->free_main = a->late = 0;
        if (!ft_agent_main_busy(a))
            atomic_store(&rt->box.complete,
                         atomic_load(&rt->box.committed)); /* what was copied is void */
        ft_agent_hold(a, FT_HOLD_NONE);
        if (ft_order_is_root(&a->order) && !a->restarting) {
            atomic_fetch_add(&rt->board->rollbacks, 1);
            ft_rt_event(rt, FT_EV_FALLBACK, FT_WHO_NONE, FT_FALLBACK_DIVERGED, 0, 0, 0);
        }
    }
    enum ft_place s = ft_agent_standing(a);
    int have = atomic_load(&rt->pos) >= 0;
    /* it may be rebuilt before it was heard that a newer one is committed */
    int at_entry = s == FT_AT_ENTRY || s == FT_AT_RESTORED;
    if (ft_is_rank(rt) && at_entry && !ft_ckpt_own(rt, a->arg))
        a->incomplete = 1;
    if (have && a->incomplete) {
        if (!a->waiting_for && ft_is_rank(rt) && !at_entry)
            return; /* still in setup */
        int there = ft_is_rank(rt) && ft_ckpt_own(rt, a->arg) != NULL;
        if (!there && !through_main(a, FT_CMD_REBUILD, (struct ft_command_arg){.version = a->arg}))
            return;
        a->waiting_for = 0;
        if (!there &&
            a->result.reason) /* a source has gone meanwhile: the next generation decides */
            return;
        is_whole(a);
        ready_plain(a);
        return;
    }
    if (ft_is_rank(rt) && !at_entry && s != FT_AT_OVER && s != FT_AT_PARKED) {
        if (!rt->replacement || s == FT_AT_HELD || ft_agent_milestone(a) != FT_MILE_SETUP)
            ft_agent_attention(a, FT_ATT_PARK);
        await_call(a);
        return;
    }
    if (ft_is_rank(rt) && (!rt->replacement || rt->restored))
        ft_ckpt_still_there(rt, a->arg); /* before a replacement waits for what others have freed */
    ready_plain(a);
}

/* 1: what was lost of this version is rebuilt here. Tried anew while a source is not there: that
 * one's loss will come to be known. */
static int rebuilt(struct ft_agent *a, uint64_t version)
{
    if (a->waiting_for) {
        if (a->main.answered < a->waiting_for)
            return 0;
        a->waiting_for = 0;
    }
    if (ft_ckpt_own(a->rt, version))
        return 1;
    (void)through_main(a, FT_CMD_REBUILD, (struct ft_command_arg){.version = version});
    return 0;
}

/* A lost checksum process had two codewords, if members had taken images since the checkpoint. */
static int codewords_rebuilt(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int group = ft_group_of_checksum(&rt->groups, atomic_load(&rt->pos) - rt->board->nranks);
    if (!rebuilt(a, a->arg))
        return 0;
    if (ft_latest_members(rt, group) == 0)
        return 1;
    uint64_t latest = FT_VERSION_MAKE(a->arg, atomic_load(&rt->box.generation), 1);
    if (!rebuilt(a, latest))
        return 0;
    ft_latest_set(rt, latest);
    return 1;
}

static void poll_rejoin(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (ft_is_checksum(rt) && a->incomplete) {
        if (!codewords_rebuilt(a))
            return;
        is_whole(a);
    }
    a->noticed_ns = 0;
    schedule(a);
    ready_plain(a);
}

static void poll_restore(struct ft_agent *a)
{
    a->run_era = FT_ERA_FIRST + a->order.generation;
    for (int r = 0; r < a->rt->board->nranks && !a->waiting_for; r++)
        atomic_store(&a->rt->arena.ctl->peer[r].lost_calls, 0);
    ft_demand_forget(a);
    ft_demand_covered(a);
    ft_plan_all_went_back(&a->map, &a->exposure);
    ft_agent_forget_asks(a, FT_ASK_ROLLBACK);
    struct ft_command_arg arg = {.version = a->arg, .era = a->run_era};
    if (!ft_is_rank(a->rt) || through_main(a, FT_CMD_RESTORE, arg))
        ready_plain(a);
}

static void poll_resume(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (ft_is_rank(rt)) {
        if (ft_agent_main_busy(a))
            return;
        a->due_said = 0; /* the root has forgotten it [all have asked at safepoint n, all go back in
                            this generation and come to n again] */
        ft_agent_issue(a, FT_CMD_RESUME, (struct ft_command_arg){0});
    }
    a->rolling = 0;
    if (a->restarting)
        ft_save_gone_on(a);
    if (ft_order_is_root(&a->order) && a->noticed_ns)
        ft_rt_event(rt, FT_EV_RESUMED, FT_WHO_NONE, (int64_t)a->arg, 0, 0,
                    ft_now_ns() - a->noticed_ns);
    a->noticed_ns = 0;
    schedule(a);
    ready_plain(a);
}

static void do_done(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    ft_agent_finished(a);
    if (ft_order_is_root(&a->order)) {
        ft_record(a, 'A', "JOB_DONE");
        ft_board_end(rt->board, FT_JOB_DONE, 0, "");
        ft_rt_event(rt, FT_EV_DONE, FT_WHO_NONE, 0, 0, 0, 0);
    }
    ready_plain(a);
    a->free_main = 1; /* after the answer: this process may be gone as soon as main is free */
}

/* A replacement that goes back alone: at FTRMA_Run's entry it takes its image, and enters body
 * again; or, when all have left FTRMA_Run, leaves it, too. */
static void poll_late(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t v = ft_latest_of(rt, rt->arena.ctl);
    enum ft_place s = ft_agent_standing(a);
    if (s != FT_AT_RESTORED && (s != FT_AT_ENTRY || a->late == 3))
        return;
    if (a->late == 1 && ft_ckpt_own(rt, v))
        a->late = 2;
    switch (a->late) {
    case 1: ft_agent_issue(a, FT_CMD_REBUILD, (struct ft_command_arg){.version = v}); break;
    case 2:
        if (!ft_ckpt_own(rt, v)) {
            a->late = 1; /* once more: a source that has gone is replaced, or the job is lost */
            return;
        }
        a->incomplete = 0;
        ft_agent_issue(a, FT_CMD_RESTORE,
                       (struct ft_command_arg){.version = v,
                                               .era = a->run_over ? FT_ERA_POST : a->run_era,
                                               .alone = 1});
        break;
    default:
        ft_agent_issue(a, a->run_over ? FT_CMD_OUT : FT_CMD_RESUME, (struct ft_command_arg){0});
        a->late = 0;
        return;
    }
    a->late++;
}

/* Main may stand where a forgotten checkpoint, or an agreement that it has not heard of, left it.
 */
static void poll_free(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    enum ft_place s = ft_agent_standing(a);
    if (ft_agent_main_busy(a))
        return;
    a->free_main = 0;
    if (a->finished) {
        if (s == FT_AT_FINALIZE || s == FT_AT_INIT)
            ft_agent_issue(a, FT_CMD_DONE, (struct ft_command_arg){0});
        else
            a->free_main = 1; /* its milestone was told before it stands there */
    } else if (s == FT_AT_HELD) {
        ft_orders_release(a);
    } else if (s == FT_AT_ENTRY && a->refused) {
        ft_agent_issue(a, FT_CMD_FAIL, (struct ft_command_arg){.why = a->refused});
    } else if ((s == FT_AT_OVER || s == FT_AT_ENTRY) && (a->run_over || a->unprotected) &&
               !a->late) {
        /* without a checkpoint all stay in body's era, as those do who heard of it in time */
        ft_agent_issue(a, FT_CMD_OUT,
                       (struct ft_command_arg){.era = a->run_over ? FT_ERA_POST : 0});
    } else if (s == FT_AT_ENTRY && atomic_load(&rt->box.committed) > 0 && !a->late &&
               !a->restarting) { /* a replacement, too, that took part in it */
        ft_agent_issue(a, FT_CMD_BODY, (struct ft_command_arg){.era = FT_ERA_FIRST});
    }
}

int ft_orders_nobody_inside(void)
{
    ft_wait_fence();
    for (int i = 0; i < 100 && atomic_load_explicit(ft_rma_inside, memory_order_acquire); i++)
        sched_yield();
    return atomic_load_explicit(ft_rma_inside, memory_order_acquire) == 0;
}

/* Says that nobody here accesses a lost process any more, or will: what main was doing when the
 * news came is over, and whatever it begins it begins by looking at ft_attention (L5). */
static void poll_quiet(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (!ft_orders_nobody_inside())
        return;
    ft_record(a, 'E', "SEEN QUIET 1");
    ft_failpoint(QUIESCE);
    a->quiet_due = 0;
    ft_record(a, 'A', "PUBLISH REJOINED %u", atomic_load(&rt->box.generation));
    atomic_store_explicit(&rt->arena.ctl->rejoined, atomic_load(&rt->box.generation),
                          memory_order_release);
}

void ft_orders_ask_root(struct ft_agent *a, enum ft_mail_kind kind, enum ft_order_event_kind event,
                        uint64_t number)
{
    struct ft_mail mail = {.kind = kind, .u.number = number};
    struct ft_order_event ev = {.kind = event, .arg = number};
    if (ft_order_is_root(&a->order))
        ft_agent_order_event(a, &ev);
    else
        ft_agent_mail(a, a->order.tree.root, &mail,
                      offsetof(struct ft_mail, u) + sizeof mail.u.number);
}

/* Main has gone live, or cannot go on with its replay: the root is told. */
static void poll_replay(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int was = a->replayed;
    a->replayed = a->main.replaying;
    if (was && !a->replayed && !rt->demand && atomic_load(&rt->box.committed) > 0 && !a->run_over)
        ft_orders_ask_root(
            a, FT_MAIL_DUE, FT_OE_DUE,
            0); /* who was exposed by the loss is covered again; else: demand.c, cover */
    if (!(a->asks & FT_ASK_ROLLBACK)) {
        a->asked = 0;
    } else if (a->asked != 1 + a->order.generation) { /* once in a generation: what was asked in
                                                         another is forgotten */
        a->asked = 1 + a->order.generation;
        ft_orders_ask_root(a, FT_MAIL_ROLLBACK, FT_OE_ROLLBACK, 0);
    }
}

/* The lost process may have taken an image since the checkpoint v; then that is the one that logs
 * go on from. */
static int latest_rebuilt(struct ft_agent *a, uint64_t v)
{
    struct ft_rt *rt = a->rt;
    int pos = atomic_load(&rt->pos), there,
        ch = ft_latest_lead(rt, ft_group_of_rank(&rt->groups, pos), &there);
    if (!ft_tp_ctl(&rt->tp, a->map.slot_of[ch]))
        return 0; /* it has gone, and was never seen: the next generation knows more */
    uint64_t l = ft_latest_tag(rt, a->map.slot_of[ch], pos);
    if (l == v)
        return 1;
    if (!ft_ckpt_own(rt, l)) {
        ft_agent_issue(a, FT_CMD_REBUILD, (struct ft_command_arg){.version = l});
        return 0;
    }
    ft_latest_set(rt, l);
    return 1;
}

/* A rank was assigned: its image first, which holds what setup, run again, has to be told; then
 * setup. */
static void poll_become(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t v = atomic_load(&rt->box.committed);
    if (rt->checkpoints && v > 0 && !ft_ckpt_own(rt, v)) {
        /* tried again while a source is not there: that one's loss will come to be known */
        ft_agent_issue(a, FT_CMD_REBUILD, (struct ft_command_arg){.version = v});
        return;
    }
    if (rt->demand && v > 0 && !a->rolling && !latest_rebuilt(a, v))
        return;
    /* It counts as incomplete until setup is over: [f' runs setup, q is lost, and q', which runs
     * setup as well, would miss f's puts]. */
    a->become_rank = 0;
    ft_agent_issue(
        a, FT_CMD_ROLE,
        (struct ft_command_arg){.rank = (int32_t)atomic_load(&rt->pos), .why = a->refused});
}

void ft_orders_poll(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (a->quiet_due)
        poll_quiet(a);
    ft_snapshot_watch(a);
    poll_replay(a);
    if (a->become_rank && ft_agent_standing(a) == FT_AT_INIT)
        poll_become(a);
    if (a->free_main)
        poll_free(a);
    if (a->late)
        poll_late(a);
    switch (a->kind) {
    case FT_ORDER_NONE: break;
    case FT_ORDER_PROPOSE: do_propose(a); break;
    case FT_ORDER_TARGET: poll_target(a); break;
    case FT_ORDER_CUT: poll_cut(a); break;
    case FT_ORDER_LEAVE: poll_leave(a); break;
    case FT_ORDER_COMMIT: do_commit(a); break;
    case FT_ORDER_CANCEL:
        if (!ft_agent_main_busy(a))
            do_cancel(a);
        break;
    case FT_ORDER_RECOVER: poll_recover(a); break;
    case FT_ORDER_RESTORE: poll_restore(a); break;
    case FT_ORDER_RESUME: poll_resume(a); break;
    case FT_ORDER_REJOIN: poll_rejoin(a); break;
    case FT_ORDER_DONE:
        do_done(a);
        poll_free(a);
        break;
    }
    if (a->refusing && a->order.active &&
        a->order.order ==
            FT_ORDER_NONE) { /* all have heard, or agreed in a generation that knows */
        a->refusing = 0;
        a->free_main = 1;
        poll_free(a);
    }
    /* A main that stopped of itself (every:K) asks for a checkpoint; again, should nothing come of
     * it. [The root had not yet adopted the generation that we ask in: it was not active, and
     * forgot it.] */
    int stands = rt->policy.kind == FT_CKPT_EVERY && ft_agent_standing(a) == FT_AT_HELD;
    uint64_t n = a->main.reached;
    if (stands && a->kind == FT_ORDER_NONE &&
        (a->due_said != n || ft_now_ns() >= a->due_again_ns)) {
        a->due_said = n;
        a->due_again_ns = ft_now_ns() + DUE_AGAIN_NS;
        ft_orders_ask_root(a, FT_MAIL_DUE, FT_OE_DUE, n);
    }
}

void ft_orders_begin(struct ft_agent *a, const struct ft_order_action *act)
{
    struct ft_rt *rt = a->rt;
    a->kind = act->order;
    a->seq = act->seq;
    a->arg = act->arg;
    a->flags = act->flags;
    a->waiting_for = 0;
    a->stuck_ticks = 0;
    a->tick_ns = ft_now_ns();
    int in_snapshot =
        (a->flags & FT_ORDER_SNAPSHOT) && (a->kind == FT_ORDER_TARGET || a->kind == FT_ORDER_CUT);
    if (a->kind != FT_ORDER_PROPOSE && !in_snapshot)
        ft_snapshot_end(a);
    if (a->kind == FT_ORDER_TARGET) {
        if (ft_order_is_root(&a->order) && a->order.snapshots_off &&
            !(a->flags & FT_ORDER_SNAPSHOT))
            ft_rt_event(rt, FT_EV_SNAPSHOT_BARRIER, FT_WHO_NONE,
                        (int64_t)atomic_load(&rt->box.committed) + 1, a->order.snapshots_off, 0, 0);
        ft_agent_hold(a, FT_HOLD_AT + a->arg);
        ft_tp_shm_ring_ctl(rt->arena.ctl);
        a->target_since_ns = a->tick_ns;
    } else {
        a->target_since_ns = 0;
    }
    int taken =
        (a->flags & FT_ORDER_SNAPSHOT) && ft_is_rank(rt); /* its cost is known since TARGET */
    if (a->kind == FT_ORDER_CUT && !taken)
        a->cut_ns = a->tick_ns;
    if (a->kind == FT_ORDER_LEAVE && rt->checkpoints)
        ft_save_ask(a);
    if (a->kind == FT_ORDER_LEAVE && rt->checkpoints && !taken && !a->restarting)
        a->cost_s = (double)(a->tick_ns - a->cut_ns) / 1e9;
    ft_orders_poll(a);
}

void ft_orders_clock(struct ft_agent *a, uint64_t now)
{
    if (!ft_order_is_root(&a->order))
        return;
    if (a->next_due_ns && now >= a->next_due_ns) {
        a->next_due_ns = 0;
        ft_record(a, 'E', "TIME DUE");
        struct ft_order_event ev = {.kind = FT_OE_DUE};
        ft_agent_order_event(a, &ev);
    }
    if (a->target_since_ns) {
        uint64_t n = a->main.reached - a->safepoints_at_commit,
                 ran = a->target_since_ns - a->last_commit_ns;
        uint64_t per = n && a->target_since_ns > a->last_commit_ns
                           ? ran / n
                           : 0; /* without the wait itself, which would never be over */
        if (now - a->target_since_ns > ft_max_u64(LATE_MIN_NS, LATE_INTERVALS * per)) {
            a->target_since_ns = 0;
            ft_record(a, 'E', "TIME LATE");
            struct ft_order_event ev = {.kind = FT_OE_LATE};
            ft_agent_order_event(a, &ev);
        }
    }
}
