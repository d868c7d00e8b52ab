/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.c - one helper thread in every process. It sleeps unless needed, watches a peer, and drives the protocol's machines: news go
 * in as events, actions come out and are carried out in their order. It never calls MPI and never touches the program's heap.
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

#include "base/private.h"
#include "alog/home.h"
#include "msg/channels.h"
#include "runtime/agent.h"

#define BUSY_TICK_MS 20 /* while an order waits for main */
#define RELEASE_TICK_MS 200 /* while arenas of the dead are to be given back: nobody waits for that */
#define TURN_TICK_MS 1  /* while main may make no calls, and there is something to be done in its place */
#define SPENT_LOOKS 200 /* at a process that has begun to end, each a millisecond; then its exit is awaited */
#define LOOK_MS 1000    /* how often the watched process and who started us are looked at without being told to */

struct ft_agent *ft_a;

void ft_rt_event(struct ft_rt *rt, enum ft_event_kind kind, uint32_t who, int64_t a, int64_t b, int64_t c, uint64_t dur_ns)
{
    struct ft_event ev = {.dur_ns = dur_ns, .kind = kind, .who = who, .a = a, .b = b, .c = c};
    ft_board_event(rt->board, rt->self, rt->verbose, &ev);
}

void ft_agent_nudge(struct ft_rt *rt) { ft_bell_ring(rt->board, rt->self); }

static void wake_all(struct ft_rt *rt)
{
    for (int i = 0; i < rt->nslots; i++)
        if (i != rt->self)
            ft_bell_ring(rt->board, i);
}

_Noreturn void ft_rt_end(struct ft_rt *rt, enum ft_job_state state, int status, const char *message)
{
    if (ft_board_end(rt->board, state, status, message)) {
        ft_rt_event(rt, state == FT_JOB_LOST ? FT_EV_DUE_LOST : FT_EV_ENDED, ft_who(rt), status, 0, 0, 0);
        if (!rt->board->launcher_pid) { /* ftrun says it otherwise: mpirun may drop what the dying say */
            char text[1200];
            int n = snprintf(text, sizeof text, "ftrma: %s%s\n", state == FT_JOB_LOST ? "job lost: " : "", message);
            (void)!write(2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1); /* nobody is left to be told of a failure */
        }
    }
    wake_all(rt);
    atomic_store(&rt->me->exit_status, atomic_load(&rt->board->status));
    _exit(atomic_load(&rt->board->status));
}

/* --- main --- */

int ft_agent_main_busy(const struct ft_agent *a)
{
    return atomic_load(&a->rt->cmd) >> 8 != atomic_load_explicit(&a->rt->cmd_done, memory_order_acquire);
}

enum ft_station ft_agent_standing(const struct ft_agent *a)
{
    return ft_agent_main_busy(a) ? FT_ST_NONE : (enum ft_station)atomic_load(&a->rt->station);
}

/* What main would do at the door of its next call, if that is long in coming; it will come by, and find it done. Not where it is to park:
 * only it can leave where it is. */
static void stand_in(struct ft_agent *a)
{
    uint32_t now = atomic_load(&ft_attention), what;
    if (!(now & FT_ATT_REBIND) || atomic_load(&a->rt->finished))
        a->rebind_due = 0;
    if (now & FT_ATT_PARK)
        return;
    if (!(now & FT_ATT_RELEASE))
        a->release_due = 0;
    what = ft_turn_take((a->rebind_due ? FT_ATT_REBIND : 0) | FT_ATT_REPLAY | (a->release_due ? FT_ATT_RELEASE : 0));
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

uint64_t ft_agent_issue(struct ft_agent *a, enum ft_command c, uint64_t arg)
{
    struct ft_rt *rt = a->rt;
    FT_ASSERT(!ft_agent_main_busy(a));
    uint64_t n = (atomic_load(&rt->cmd) >> 8) + 1;
    atomic_store(&rt->cmd_arg, arg);
    atomic_store(&rt->cmd_generation, atomic_load(&rt->generation));
    atomic_store_explicit(&rt->cmd, n << 8 | (uint64_t)c, memory_order_release);
    ft_tp_shm_ring_ctl(rt->arena.ctl);
    return n;
}

void ft_agent_attention(struct ft_agent *a, uint32_t what)
{
    atomic_fetch_or(&ft_attention, what);
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

void ft_agent_covered(struct ft_agent *a)
{
    size_t bytes = (size_t)a->rt->board->nranks * sizeof *a->by_all;
    memset(a->by_all, 0, bytes);
    memset(a->by_alone, 0, bytes);
    a->given = 0;
}

/* --- machines --- */

/* A mail that waits for its receiver says nothing that a newer one does not. A larger set of failed processes ends the
 * ballot of a smaller one: its receiver would drop that had it heard of the larger set from somebody else. A newer
 * generation ends the orders of an older one, as the receiver has voted for it. What is asked again is asked once. */
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
        return old->u.demand.kind == FT_DEMAND_ASK && m->u.demand.kind == FT_DEMAND_ASK && old->u.demand.rank == m->u.demand.rank &&
               old->u.demand.generation <= m->u.demand.generation;
    case FT_MAIL_ORDER: return old->u.order.generation < m->u.order.generation;
    case FT_MAIL_AGREE:
        both = m->u.agree.failed;
        return !ft_bitset_equal(&old->u.agree.failed, &both) && !ft_bitset_merge(&both, &old->u.agree.failed);
    default: return 0;
    }
}

void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes)
{
    struct ft_tp *tp = &a->rt->tp;
    char text[160];
    if (tp->ops->post(tp) > 0)
        tp->ops->recall(tp, slot, is_void, m);
    /* a dead peer's mail is nobody's: its death is on its way to us by detection */
    if (tp->ops->mail(tp, slot, m, bytes) != FT_ERR_AGAIN)
        return;
    snprintf(text, sizeof text, "process %d does not read what the other processes tell it (is it stopped?), and there is no memory left to keep that",
             slot);
    ft_rt_end(a->rt, FT_JOB_LOST, FT_EXIT_LOST, text);
}

void ft_agent_order_event(struct ft_agent *a, struct ft_order_event *ev)
{
    static struct ft_order_actions acts;
    ft_order_step(&a->order, ev, &acts);
    for (int i = 0; i < acts.n; i++) {
        struct ft_order_action act = acts.a[i];
        if (act.kind == FT_OA_SEND) {
            struct ft_mail m = {.kind = FT_MAIL_ORDER};
            m.u.order = act.msg;
            ft_agent_mail(a, act.to, &m, (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.order));
        } else {
            FT_ASSERT(i == acts.n - 1); /* the last of a step: carrying it out may feed the machine again */
            ft_orders_begin(a, &act);
            return;
        }
    }
}

struct ft_agree_data ft_agent_local(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    struct ft_agree_data d = {.committed = atomic_load(&rt->committed)};
    d.flags = (atomic_load(&rt->arena.ctl->phase_rma) ? FT_AGREE_PHASE_RMA : 0) | (atomic_load(&rt->run_over) ? FT_AGREE_RUN_OVER : 0) |
              (atomic_load(&rt->finished) ? FT_AGREE_DONE : 0) | (a->rolling || (a->restarting && d.committed) ? FT_AGREE_ROLLBACK : 0) |
              (atomic_load(&rt->refused) ? FT_AGREE_REFUSED : 0) | (atomic_load(&rt->refused) == FT_SKIP_NOMEM ? FT_AGREE_NO_ROOM : 0) |
              (a->unprotected ? FT_AGREE_UNPROTECTED : 0) | (atomic_load(&rt->no_replay) ? FT_AGREE_NO_REPLAY : 0) |
              FT_AGREE_UNKEPT(atomic_load(&ft_msg_not_replayable) & FT_UNKEPT_ALL);
    if (atomic_load(&rt->incomplete))
        ft_bit_set(&d.incomplete, rt->self);
    /* Logs of ours that are not whole expose everybody else. So does a replay under way: it reads what is logged for one rank
     * alone. */
    int others = atomic_load(&rt->replaying) || (d.committed > 0 && d.committed < atomic_load(&ft_log_whole_from));
    for (int r = 0; r < rt->board->nranks && others; r++)
        if (r != atomic_load(&rt->pos))
            ft_bit_set(&d.exposed, r);
    ft_demand_exposed(a, &d.exposed);
    return d;
}

static void agree_event(struct ft_agent *a, struct ft_agree_event *ev)
{
    static struct ft_agree_actions acts;
    struct ft_decision adopted;
    enum ft_agree_action_kind last = 0;
    ft_agree_step(&a->agree, ev, &acts);
    ft_demand_freeze(a);
    for (int i = 0; i < acts.n; i++) {
        struct ft_agree_action *act = &acts.a[i];
        if (act->kind == FT_AGREE_ACT_SEND) {
            static struct ft_mail m;
            m.kind = FT_MAIL_AGREE;
            m.u.agree = act->msg;
            ft_agent_mail(a, act->to, &m, (uint32_t)(offsetof(struct ft_mail, u) + sizeof m.u.agree));
            if (act->msg.kind == FT_AGREE_VOTE)
                ft_failpoint(AGREE_VOTE);
        } else {
            last = act->kind;
            adopted = act->decision;
        }
    }
    if (last == FT_AGREE_ACT_VOTE) {
        struct ft_agree_event next = {.kind = FT_AGREE_EV_LOCAL, .local = ft_agent_local(a)};
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
    uint32_t who = pos >= n ? FT_WHO(FT_ROLE_CHECKSUM, pos - n) : pos >= 0 ? FT_WHO(FT_ROLE_RANK, pos) : FT_WHO(role, index);
    /* A process that has left in order was let go by the root, as all are. [Here nobody has heard of that yet.] */
    if (atomic_load(&rt->finished) || atomic_load(&rt->board->slot[slot].phase) == FT_PHASE_EXITED)
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

/* An agent runs seldom and briefly, but then all wait for it: with a short slice (Linux 6.12) and, where that is allowed, a better nice
 * value it does not queue behind the mains when processes outnumber cores. Refused: recovery takes some milliseconds longer. */
static void run_promptly(void)
{
    struct { /* the kernel's struct sched_attr, first version; not all C libraries have it, and its header collides with theirs */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof attr, .policy = SCHED_OTHER, .nice = -10, .runtime = 100000};
    _Static_assert(sizeof attr == 48, "SCHED_ATTR_SIZE_VER0");
    if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
        return;
    attr.nice = 0;
    (void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* The agent is to look at the process that it watches. */
static void alarm_agent(struct ft_agent *a)
{
    atomic_store(&a->alarm, 1);
    ft_agent_nudge(a->rt);
}

/* What a process died of is to be seen until its parent has asked: so it is looked at first, and perhaps in vain. fd: a
 * pidfd of it, or -1. Agent and sentinel. */
static void note_signal(struct ft_board_slot *s, int fd)
{
    int sig = ft_proc_signal(atomic_load(&s->pid), fd);
    if (sig)
        atomic_store(&s->died_of, (uint32_t)sig);
}

/* Waits for the exit of a process, a second at most. 1: it has ended; 0: it has not; -1: that could not be awaited. */
static int await_exit(struct ft_board_slot *s)
{
    struct pollfd p = {.fd = ft_proc_pidfd(atomic_load(&s->pid), atomic_load(&s->start_time)), .events = POLLIN};
    if (p.fd < 0)
        return errno == ESRCH ? 1 : -1;
    int ended = poll(&p, 1, LOOK_MS) == 1;
    if (ended)
        note_signal(s, p.fd);
    close(p.fd);
    return ended;
}

/* Sleeps until the process that the agent watches begins to end, then until it has ended, and tells the agent of both.
 * The agent believes none of it, and looks itself. */
static void *sentinel_main(void *arg)
{
    struct ft_agent *a = arg;
    const struct timespec second = {.tv_sec = LOOK_MS / 1000};
    run_promptly();
    for (uint32_t told = 0;;) {
        uint32_t now = atomic_load(&a->watched);
        int ended = -1;
        if (now && now != told && ft_life_await(&a->rt->board->slot[now - 1].life)) {
            told = now;
            alarm_agent(a);
        }
        if (now)
            ended = await_exit(&a->rt->board->slot[now - 1]);
        if (ended > 0)
            alarm_agent(a);
        if (ended != 0) /* it is watched no more as soon as the agent has looked */
            syscall(SYS_futex, &a->watched, FUTEX_WAIT_PRIVATE, now, now ? &second : NULL, NULL, 0);
    }
    return NULL;
}

static void watch(struct ft_agent *a, int slot)
{
    if (a->watching >= 0) /* it is dead, or nobody else would be watched */
        ft_life_close(&a->rt->board->slot[a->watching].life);
    a->watching = slot;
    a->looks = SPENT_LOOKS;
    a->kill_due = 0;
    atomic_store(&a->alarm, 1); /* it may have ended before it was watched */
    atomic_store(&a->watched, (uint32_t)slot + 1);
    syscall(SYS_futex, &a->watched, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Tried again at each turn until it was done: the machine says it once. */
static void kill_watched(struct ft_agent *a)
{
    const struct ft_board_slot *s = &a->rt->board->slot[a->watching];
    int fd = ft_proc_pidfd(atomic_load(&s->pid), atomic_load(&s->start_time));
    if (fd < 0 && errno != ESRCH)
        return;
    a->kill_due = 0;
    if (fd >= 0) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        close(fd);
    }
}

static void detect_actions(struct ft_agent *a, struct ft_detect_actions *acts)
{
    for (int i = 0; i < acts->n; i++) {
        int slot = acts->a[i].slot;
        struct ft_mail ping = {.kind = FT_MAIL_PING};
        switch (acts->a[i].kind) {
        case FT_DETECT_ACT_WATCH: watch(a, slot); break;
        case FT_DETECT_ACT_PING: ft_agent_mail(a, slot, &ping, offsetof(struct ft_mail, u)); break;
        case FT_DETECT_ACT_KILL:
            ft_rt_event(a->rt, FT_EV_SILENT, FT_WHO_NONE, slot, a->limit_ms * a->detect.silent / a->detect.limit, 0, 0);
            a->kill_due = 1;
            kill_watched(a);
            break;
        case FT_DETECT_ACT_FAILED: failed(a, slot); break;
        }
    }
}

static void detect_event(struct ft_agent *a, enum ft_detect_event_kind kind, int slot)
{
    struct ft_detect_event ev = {.kind = kind, .slot = slot};
    struct ft_detect_actions acts;
    ft_detect_step(&a->detect, &ev, &acts);
    detect_actions(a, &acts);
}

static void take_mail(struct ft_agent *a, int slot, const struct ft_mail *m)
{
    struct ft_mail pong = {.kind = FT_MAIL_PONG};
    struct ft_agree_event ae = {.kind = FT_AGREE_EV_MSG, .slot = slot, .msg = &m->u.agree};
    struct ft_order_event oe = {.kind = FT_OE_MSG, .from = slot, .msg = &m->u.order}, due = {.kind = FT_OE_DUE};
    struct ft_order_event back = {.kind = FT_OE_ROLLBACK}, late = {.kind = FT_OE_LATE};
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
        if (m->u.number == a->wave)
            ft_agent_order_event(a, &late);
        break;
    case FT_MAIL_DEMAND: ft_demand_mail(a, slot, &m->u.demand); break;
    case FT_MAIL_ROLLBACK: ft_agent_order_event(a, &back); break;
    default: FT_ASSERT(0);
    }
}

/* The watched process has begun to end, or to execute another program. */
static int is_ending(const struct ft_agent *a)
{
    return a->watching >= 0 && a->looks > 0 && !ft_bit_get(&a->detect.dead, a->watching) && ft_life_over(&a->rt->board->slot[a->watching].life);
}

/* Its agent ends only with all of it. So when none of its threads can run any more it is dead, though its exit is not
 * told before its memory is freed. */
static int is_spent(struct ft_agent *a)
{
    if (!is_ending(a))
        return 0;
    a->looks--;
    note_signal(&a->rt->board->slot[a->watching], -1);
    return ft_proc_spent(atomic_load(&a->rt->board->slot[a->watching].pid));
}

/* D1: two looks of the agent's own, and no descriptor that the program may have closed or been given. Where it cannot
 * be looked (no descriptors are left) the process lives until it can. */
static int is_dead(struct ft_agent *a, uint64_t now)
{
    if (a->watching < 0 || ft_bit_get(&a->detect.dead, a->watching))
        return 0;
    if (is_spent(a))
        return 1;
    if (!atomic_load(&a->alarm) && now < a->look_ns)
        return 0;
    struct ft_board_slot *s = &a->rt->board->slot[a->watching];
    atomic_store(&a->alarm, 0);
    a->look_ns = now + LOOK_MS * 1000000ull;
    int gone = ft_proc_gone(atomic_load(&s->pid), atomic_load(&s->start_time));
    if (gone < 0)
        atomic_store(&a->alarm, 1);
    if (gone > 0)
        note_signal(s, -1);
    return gone > 0;
}

/* Who started us has gone: nobody would collect a result, and no word of ours is wanted. */
static void end_if_orphaned(struct ft_agent *a, uint64_t now)
{
    if (now < a->orphan_ns || atomic_load(&a->rt->finished))
        return;
    a->orphan_ns = now + LOOK_MS * 1000000ull;
    int launcher = a->rt->board->launcher_pid;
    if (getppid() != a->parent || (a->launcher_start && ft_proc_gone(launcher, a->launcher_start) > 0))
        syscall(SYS_exit_group, 1);
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

static void check_board(struct ft_agent *a)
{
    int state = atomic_load(&a->rt->board->state);
    if (state == FT_JOB_FAILED || state == FT_JOB_LOST)
        _exit(atomic_load(&a->rt->board->status));
    /* agreed, and whoever was to tell us may have gone with its mail */
    if (state == FT_JOB_DONE && !atomic_load(&a->rt->finished)) {
        atomic_store(&a->rt->finished, 1);
        a->free_main = 1;
    }
}

static void drain(struct ft_agent *a)
{
    static union {
        struct ft_mail m;
        char room[FT_MAIL_BYTES];
    } in;
    int some = 1;
    while (some) {
        some = 0;
        for (int i = 0; i < a->rt->nslots; i++)
            if (a->rt->tp.ops->take(&a->rt->tp, i, &in) > 0) {
                some = 1;
                take_mail(a, i, &in.m);
            }
    }
}

static int time_out(struct ft_agent *a, uint64_t now)
{
    uint64_t next = now + LOOK_MS * 1000000ull;
    if (a->detect.limit > 0)
        next = ft_min_u64(next, a->ping_ns);
    if (a->kind != FT_ORDER_NONE || a->late || a->free_main || a->become_rank || a->quiet_due ||
        a->fold_due || a->folding || a->ch.state == FT_CH_RESUMING || a->cover_due || !ft_bitset_empty(&a->ch.wanted) ||
        atomic_load(&a->alarm) || a->kill_due || a->mails_wait)
        next = ft_min_u64(next, now + BUSY_TICK_MS * 1000000ull);
    if (a->release_due || !ft_bitset_empty(&a->lost))
        next = ft_min_u64(next, now + RELEASE_TICK_MS * 1000000ull);
    if (a->replayed || a->rebind_due)
        next = ft_min_u64(next, now + TURN_TICK_MS * 1000000ull);
    if (a->next_due_ns)
        next = ft_min_u64(next, a->next_due_ns);
    if (is_ending(a))
        next = ft_min_u64(next, now + 1); /* a millisecond, as poll counts */
    return next <= now ? 0 : (int)((next - now) / 1000000ull) + 1;
}

static void ticks(struct ft_agent *a)
{
    uint64_t now = ft_now_ns();
    if (a->detect.limit > 0 && now >= a->ping_ns) {
        a->ping_ns = now + (uint64_t)a->limit_ms * 1000000ull / (uint64_t)a->detect.limit; /* a late tick is one tick */
        detect_event(a, FT_DETECT_EV_TICK, -1);
    }
    ft_orders_clock(a, now);
    ft_still_look(a, now);
}

static void tell_milestone(struct ft_agent *a)
{
    int m = atomic_load(&a->rt->milestone);
    if (m == a->told_milestone)
        return;
    a->told_milestone = m;
    struct ft_order_event ev = {.kind = FT_OE_MILESTONE, .arg = (uint64_t)m};
    ft_agent_order_event(a, &ev);
}

/* What a group's ranks have to protect, and the room that they have made for it; only to be compared with what it was. */
static uint64_t room_of_group(struct ft_agent *a, int group)
{
    struct ft_rt *rt = a->rt;
    uint64_t room = 0;
    for (int i = 0; i < ft_group_size(&rt->groups, group); i++) {
        int slot = a->map.slot_of[ft_group_member(&rt->groups, group, i)];
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
        room += atomic_load(&rt->board->slot[slot].protected_bytes) + (ctl ? atomic_load(&ctl->image[0].bytes) : 0);
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

void ft_agent_room(struct ft_agent *a)
{
    ft_agent_issue(a, FT_CMD_ROOM, atomic_load(&a->rt->committed) > 0 && ft_agent_next_in_line(a));
}

/* A checksum process makes room for codewords while its group's ranks are still setting up, and maps the room that they have made: whenever
 * they have more to protect, or more room. A spare makes room for the largest image. */
static void look_for_room(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (a->kind != FT_ORDER_NONE || ft_is_rank(rt) || ft_agent_standing(a) != FT_ST_INIT || atomic_load(&rt->committed) != 0)
        return;
    uint64_t room = ft_is_checksum(rt) ? room_of_group(a, ft_group_of_position(&rt->groups, atomic_load(&rt->pos))) : ft_ckpt_most(rt);
    if (room == a->room_for)
        return;
    a->room_for = room;
    ft_agent_room(a);
}

/* The agent's descriptors are where the program cannot close them. Others open the arena there from now on. */
static void own_descriptors(struct ft_agent *a)
{
    const int keep[] = {a->rt->arena.fd, ft_words_where()};
    pthread_t sentinel;
    if (ft_fd_own_table(keep, FT_COUNTOF(keep)))
        atomic_store(&a->rt->me->table, ft_fd_table());
    if (pthread_create(&sentinel, NULL, sentinel_main, a) == 0) /* from here, so that it has the same */
        pthread_detach(sentinel);                               /* else deaths are seen later */
}

static void *agent_main(void *arg)
{
    struct ft_agent *a = arg;
    struct ft_rt *rt = a->rt;
    struct ft_bitset all = {{0}}, none = {{0}};
    struct ft_detect_actions first;
    run_promptly();
    own_descriptors(a);
    ft_life_hold(&rt->me->life);
    ft_demand_look(a);
    char err[128];
    ft_setting_i64(FT_SET_PING_TIMEOUT, &a->limit_ms, err, sizeof err);
    for (int i = 0; i < rt->nslots; i++)
        ft_bit_set(&all, i);
    a->run_era = FT_ERA_FIRST;
    ft_agree_init(&a->agree, rt->self, rt->nslots);
    ft_order_init(&a->order, rt->self, rt->nslots);
    struct ft_order_event gen = {.kind = FT_OE_GENERATION, .failed = &none, .checkpoints = rt->checkpoints};
    a->told_milestone = FT_MILE_SETUP;
    ft_agent_order_event(a, &gen);
    tell_milestone(a);
    ft_detect_init(&a->detect, rt->self, rt->nslots, &all, a->limit_ms > 0 ? 4 : 0, &first);
    a->ping_ns = ft_now_ns() + (uint64_t)a->limit_ms * 250000ull;
    detect_actions(a, &first);
    ft_snapshot_start(a);
    ft_still_start(a);
    for (;;) {
        uint32_t heard = ft_bell_heard(rt->board, rt->self); /* before all that is looked at */
        int watched = a->watching;
        uint64_t now = ft_now_ns();
        check_board(a);
        end_if_orphaned(a, now);
        drain(a);
        if (watched == a->watching && is_dead(a, now))
            detect_event(a, FT_DETECT_EV_EXITED, watched);
        if (a->kill_due)
            kill_watched(a);
        sync_detector(a);
        tell_milestone(a);
        ft_demand_poll(a);
        ft_orders_poll(a);
        look_for_room(a);
        ft_release_poll(a);
        stand_in(a);
        ticks(a);
        a->mails_wait = rt->tp.ops->post(&rt->tp) > 0;
        ft_bell_wait(rt->board, rt->self, heard, time_out(a, ft_now_ns()));
    }
    return NULL;
}

static void *for_each(int positions, size_t bytes)
{
    bytes *= (size_t)positions;
    return ft_need(ft_private_alloc(bytes), bytes, "the helper thread");
}

void ft_agent_start(struct ft_rt *rt)
{
    struct ft_agent *a = ft_need(ft_private_alloc(sizeof *a), sizeof *a, "the helper thread");
    int positions = rt->board->nranks + rt->board->nchecksums;
    ft_a = a;
    a->rt = rt;
    a->owner.stream = a->ch.stream = rt->stream;
    if (ft_is_checksum(rt))
        a->ch.index = ft_group_block_of_position(&rt->groups, atomic_load(&rt->pos)) -
                      ft_group_size(&rt->groups, ft_group_of_position(&rt->groups, atomic_load(&rt->pos)));
    a->watching = -1;
    a->restarting = ft_restart_wanted(rt);
    a->deaths = for_each(positions, sizeof *a->deaths);
    a->place = for_each(positions, sizeof *a->place);
    a->by_all = for_each(positions, sizeof *a->by_all);
    a->by_alone = for_each(positions, sizeof *a->by_alone);
    if (ft_mapping_init(&a->map, rt->board->nranks, rt->board->nchecksums, rt->board->nspares,
                        rt->layout.place.slot_of) != FT_OK)
        ft_give_up("no memory is left at start: give the node more memory, or put fewer processes on it");
    a->map.where = rt->where;
    a->map.local = rt->logs;
    a->map.why_not = ft_log_level == FT_LOG_OFF ? FT_FALLBACK_NO_LOGS : FT_FALLBACK_ASKED;
    a->parent = getppid();
    if (rt->board->launcher_pid)
        a->launcher_start = ft_proc_start_time(rt->board->launcher_pid); /* 0: it is not seen from here */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int no_thread = pthread_create(&rt->agent, NULL, agent_main, a);
    if (no_thread) {
        char why[200];
        snprintf(why, sizeof why,
                 "the helper thread cannot be started: %s. Raise ulimit -u, or the container's limit of processes",
                 strerror(no_thread));
        ft_give_up(why);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
