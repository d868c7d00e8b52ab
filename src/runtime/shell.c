/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shell.c - one helper thread in every process, the agent. It sleeps unless needed, and watches a
 * peer. What it hears it feeds to the machine (recover/process.h), one event after the other;
 * carry.c carries out what the machine says. It never calls MPI and never touches the program's
 * heap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/coverage.h"
#include "base/near.h"
#include "base/private.h"
#include "msg/channels.h"
#include "rma/far_log.h"
#include "runtime/agent.h"
#include "runtime/record.h"
#include "runtime/start.h"
#include "transport/turn.h"

#define QUIET_TICK_MS 2 /* while an access is waited for, which is short */
#define BUSY_TICK_MS 20 /* while others are looked at, who do not ring */
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

/* Another process is about to end the job: its word is the job's, and mpirun drops what is written
 * after the first process has gone. */
static void await_end(const struct ft_board *b)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int i = 0; i < 1000 && atomic_load(&b->state) == FT_JOB_ENDING; i++)
        nanosleep(&ms, NULL);
}

/* begun: this process is the one that ends the job. It records the end before the others and ftrun
 * know of it, because ftrun then kills it. ftrun says why the job ends; without ftrun this process
 * does. */
static _Noreturn void end_job(struct ft_rt *rt, int begun, enum ft_job_state state,
                              enum ft_event_kind kind, const char *message)
{
    if (!begun)
        await_end(rt->board);
    int status = atomic_load(&rt->board->status);
    if (begun)
        ft_rt_event(rt, kind, ft_who(rt), status, 0, 0, 0);
    if (begun && !rt->board->launcher_pid) {
        char text[1200];
        int n = snprintf(text, sizeof text, "ftrma: %s\n", message);
        (void)!write(2, text,
                     (size_t)n < sizeof text
                         ? (size_t)n
                         : sizeof text - 1); /* nobody is left to be told of a failure */
    }
    if (begun)
        ft_board_finish_end(rt->board, state);
    wake_all(rt);
    atomic_store(&rt->me->exit_status, status);
    _exit(status);
}

_Noreturn void ft_rt_fail(struct ft_rt *rt, int status, const char *message)
{
    int begun = ft_board_begin_end(rt->board, status, FT_REASON_NONE, message);
    end_job(rt, begun, FT_JOB_FAILED, FT_EV_ENDED, message);
}

_Noreturn void ft_rt_give_up(struct ft_rt *rt, enum ft_reason reason, const char *message)
{
    char text[1100];
    int begun = ft_board_begin_end(rt->board, FT_EXIT_LOST, reason, message);
    snprintf(text, sizeof text, "job lost: %s [%s]", message, ft_reason_table[reason].name);
    end_job(rt, begun, FT_JOB_LOST, FT_EV_DUE_LOST, text);
}

/* --- main --- */

/* What main would do at the door of its next call, if that is long in coming; it will come by, and
 * find it done. Not where it is to park: only it can leave where it is. */
static void act_for_main(struct ft_agent *a)
{
    uint32_t now = atomic_load(&ft_attention), what;
    if (!(now & FT_ATT_REBIND) || ft_agent_finished(a))
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

void ft_agent_attention(struct ft_agent *a, uint32_t what)
{
    ft_record(a, 'A', "ATTENTION %u", what);
    atomic_fetch_or(&ft_attention, what);
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

/* What main has asked of another node is lost (far_log.h), and no decision follows from that which
 * takes all back: when the node went out, all its processes had failed already. [f is lost alone
 * while p puts to it. Then its node is out, where nobody was left: p waits for ever.] */
static int is_at_a_loss(const struct ft_agent *a)
{
    const struct ft_board *b = a->rt->board;
    const struct ft_carrier *c = &a->p->carrier;
    if (!ft_far_lost(&a->rt->arena) || c->asks_back || c->open ||
        c->facts & (FT_FACT_ROLLING | FT_FACT_DONE))
        return 0;
    for (int i = 0; i < b->nslots; i++)
        if (ft_board_slot_end(b, i) == FT_SLOT_OUT && !ft_bit_get(&a->p->agree.last.failed, i))
            return 0; /* that decision is still to come */
    if (c->committed == 0 || c->facts & FT_FACT_RUN_OVER || a->rt->told)
        ft_give_up(NODE_LOST, "none of its processes carried a rank any more");
    return 1;
}

/* Copies main's half. */
static void look_at_main(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    struct ft_main *m = &a->main;
    ft_box_look(&rt->box, m);
    if (is_at_a_loss(a))
        m->asks |= FT_ASK_ROLLBACK;
    m->no_snapshot = atomic_load(&rt->me->testament.shared_until) == UINT64_MAX;
    m->over = rt->stream && ft_ckpt_slot_of(rt->arena.ctl, ft_latest_of(rt, rt->arena.ctl)) < 0;
    m->lost = (ft_whole_misses(FT_WHOLE_OWN) ? FT_LACKS_OWN : 0) |
              (ft_whole_misses(FT_WHOLE_NEVER) ? FT_LACKS_EVER : 0) |
              (ft_whole_others_from() > atomic_load(&rt->box.committed) ? FT_LACKS_OTHERS : 0);
}

/* --- the machine --- */

static void record_event(struct ft_agent *a, const struct ft_process_event *ev)
{
    static const struct {
        uint32_t look;
        const char *name;
    } looks[] = {{FT_LOOK_QUIET, "QUIET"}, {FT_LOOK_STUCK, "STUCK"},
                 {FT_LOOK_ROOM, "ROOM"},   {FT_LOOK_LIVE, "LIVE"},
                 {FT_LOOK_GROUP, "GROUP"}, {FT_LOOK_UNTOUCHED, "UNTOUCHED"}};
    if (a->record < 0)
        return;
    switch (ev->kind) {
    case FT_PE_MAIN: ft_record_main(a); break;
    case FT_PE_MAIL: ft_record_mail(a, 'E', ev->slot, ev->mail); break;
    case FT_PE_WITNESSED: ft_record_data(a, "WITNESSED", ev->local); break;
    case FT_PE_SEEN:
        for (size_t i = 0; i < FT_COUNTOF(looks); i++)
            if (looks[i].look == ev->look)
                ft_record(a, 'E', "SEEN %s %llx", looks[i].name, (unsigned long long)ev->value);
        break;
    case FT_PE_EXITED: ft_record(a, 'E', "EXITED %d %d", ev->slot, ev->orderly); break;
    default: ft_record(a, 'E', "%s", ft_process_event_name(ev->kind)); break;
    }
}

/* Nothing comes any more of a process of another node: all that it had sent is here, or its node is
 * out and the gateway of this one has closed the connection. [The gateway stands with a put of the
 * node in its hand, which is out. All go back, and then the put is applied.] */
static int is_fenced(const struct ft_board *b, int slot)
{
    enum ft_slot_end how = ft_board_slot_end(b, slot);
    return how == FT_SLOT_OUT ? (int)(atomic_load(&b->nodes.shut) >> ft_board_node_of(b, slot) & 1)
                              : how == FT_SLOT_CLOSED;
}

/* The node may be out by now, and nobody here may know it. [The keeper is stopped. Another node has
 * decided without this one: the same rank would be carried here, too.] */
static int is_member(const struct ft_board *b)
{
    uint64_t end = atomic_load(&b->nodes.lease_end);
    return !end || ft_boottime_ns() < end;
}

/* Whether this node may vote, and that is so of all that this vote is about. [An agent of another node
 * tells of a death before the last messages of the dead have come.] */
static int set_holds(const struct ft_agent *a)
{
    const struct ft_board *b = a->rt->board;
    if (!is_member(b))
        return 0;
    for (int i = 0; b->nodes.n && i < b->nslots; i++)
        if (!ft_board_near(b, i) && ft_bit_get(&a->p->agree.failed, i) && !is_fenced(b, i))
            return 0;
    return 1;
}

/* What the last step owes is the next event: what this process says of the dead, or what main has
 * come to since it was told where to stop. */
static int is_owed(struct ft_agent *a, struct ft_process_event *ev)
{
    if (a->owes_witness && a->p->agree.asking && set_holds(a)) {
        a->owes_witness = 0;
        ft_look_testify(a, &a->dead, &a->local);
        *ev = (struct ft_process_event){.kind = FT_PE_WITNESSED, .local = &a->local};
        return 1;
    }
    if (a->owes_copy) {
        a->owes_copy = 0;
        look_at_main(a);
        *ev = (struct ft_process_event){.kind = FT_PE_MAIN, .main = &a->main};
        return 1;
    }
    return 0;
}

/* Who is dead is told before it is agreed upon: a death is certain when it is heard of. */
static void tell_dead(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    if (ft_bitset_equal(&rt->dead, &a->p->agree.failed))
        return;
    pthread_mutex_lock(&rt->map_lock);
    rt->dead = a->p->agree.failed;
    void (*news)(void) = rt->news;
    pthread_mutex_unlock(&rt->map_lock);
    if (news)
        news();
}

void ft_agent_feed(struct ft_agent *a, struct ft_process_event ev)
{
    FT_ASSERT(!a->feeding); /* nothing is fed from inside of what is carried out */
    a->feeding = 1;
    do {
        ev.now = ft_now_ns();
        record_event(a, &ev);
        ft_process_step(a->p, &a->cfg, &ev, a->out);
        ft_carry_out(a);
        ft_process_check(a->p, &a->cfg);
    } while (is_owed(a, &ev));
    a->feeding = 0;
    tell_dead(a);
    a->watch.known_dead =
        a->watch.watching >= 0 && ft_bit_get(&a->p->detect.dead, a->watch.watching);
}

/* A vote could not be given before: its set holds by now. */
static void pay(struct ft_agent *a)
{
    struct ft_process_event ev;
    if (is_owed(a, &ev))
        ft_agent_feed(a, ev);
}

/* Main is looked at: what is new is fed. */
static void hear_main(struct ft_agent *a)
{
    struct ft_main was = a->main;
    look_at_main(a);
    struct ft_main *m = &a->main;
    int same = m->moves == was.moves && m->answered == was.answered && !m->asks &&
               m->taken == was.taken && m->replaying == was.replaying && m->hold == was.hold &&
               m->reached == was.reached && m->passed == was.passed && m->cannot == was.cannot &&
               m->no_snapshot == was.no_snapshot && m->over == was.over && m->lost == was.lost;
    if (!same)
        ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_MAIN, .main = m});
}

/* --- mails --- */

static int is_void(const void *old, const void *newer) { return ft_mail_replaces(newer, old); }

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

static void drain(struct ft_agent *a)
{
    int some = 1;
    while (some) {
        some = 0;
        for (int i = 0; i < a->rt->nslots; i++)
            if (a->rt->tp.ops->take(&a->rt->tp, i, &a->mail_in) > 0) {
                some = 1;
                ft_agent_feed(a, (struct ft_process_event){
                                     .kind = FT_PE_MAIL, .slot = i, .mail = &a->mail_in.m});
            }
    }
}

/* --- what else happens --- */

static void exited(struct ft_agent *a, int slot)
{
    struct ft_bitset set = {{0}};
    ft_bit_set(&set, slot);
    ft_agent_feed(a,
                  (struct ft_process_event){
                      .kind = FT_PE_EXITED,
                      .slot = slot,
                      .set = &set,
                      .orderly = atomic_load(&a->rt->board->slot[slot].phase) == FT_PHASE_EXITED});
}

/* All processes of a node at once: nothing of it comes any more. */
static void node_is_out(struct ft_agent *a, int node)
{
    const struct ft_board *b = a->rt->board;
    struct ft_bitset set = {{0}};
    for (int i = ft_board_node_from(b, node); i < b->nodes.end[node]; i++)
        ft_bit_set(&set, i);
    a->nodes_out |= 1ull << node;
    ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_FAILED, .set = &set, .node = 1});
}

/* Of other nodes the gateway tells, and the launcher. */
static void hear_far_deaths(struct ft_agent *a)
{
    const struct ft_board *b = a->rt->board;
    uint64_t out = atomic_load(&b->nodes.out);
    for (int k = 0; k < b->nodes.n; k++)
        if ((out & ~a->nodes_out) >> k & 1)
            node_is_out(a, k);
    for (int i = 0; b->nodes.n && i < b->nslots; i++)
        if (!ft_board_near(b, i) && ft_board_slot_end(b, i) == FT_SLOT_CLOSED &&
            !ft_bit_get(&a->p->detect.dead, i))
            exited(a, i);
}

/* Who started us has gone: nobody would collect a result, and no word of ours is wanted. */
static void end_if_orphaned(struct ft_agent *a, uint64_t now)
{
    if (now < a->orphan_ns || ft_agent_finished(a))
        return;
    a->orphan_ns = now + LOOK_MS * 1000000ull;
    int launcher = a->rt->board->launcher_pid;
    if (getppid() != a->parent ||
        (a->launcher_start && ft_proc_gone(launcher, a->launcher_start) > 0)) {
        ft_coverage_dump();
        syscall(SYS_exit_group, 1);
    }
}

static void check_board(struct ft_agent *a)
{
    int state = atomic_load(&a->rt->board->state);
    if (state == FT_JOB_FAILED || state == FT_JOB_LOST)
        _exit(atomic_load(&a->rt->board->status));
    /* agreed, and whoever was to tell us may have gone with its mail */
    if (state == FT_JOB_DONE && !ft_agent_finished(a))
        ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_JOB_OVER});
}

static void drop_mails(struct ft_agent *a)
{
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&a->p->agree.failed, i))
            a->rt->tp.ops->drop_mails(&a->rt->tp, i);
}

static void ticks(struct ft_agent *a)
{
    uint64_t now = ft_now_ns();
    if (a->cfg.silence > 0 && now >= a->ping_ns) {
        a->ping_ns = now + (uint64_t)a->limit_ms * 1000000ull /
                               (uint64_t)a->cfg.silence; /* a late tick is one tick */
        ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_TICK, .slot = -1});
    }
    if (now >= ft_process_expiry(a->p))
        ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_TIME});
    ft_still_look(a, now);
}

static int time_out(struct ft_agent *a, uint64_t now)
{
    uint64_t next = now + LOOK_MS * 1000000ull, expiry = ft_process_expiry(a->p);
    if (a->cfg.silence > 0)
        next = ft_min_u64(next, a->ping_ns);
    if (a->looks & (FT_LOOK_QUIET | FT_LOOK_UNTOUCHED))
        next = ft_min_u64(next, now + QUIET_TICK_MS * 1000000ull);
    if (a->looks & (FT_LOOK_STUCK | FT_LOOK_LIVE | FT_LOOK_GROUP) || atomic_load(&a->watch.alarm) ||
        a->watch.kill_due || a->mails_wait)
        next = ft_min_u64(next, now + BUSY_TICK_MS * 1000000ull);
    if (a->release_due || !ft_bitset_empty(&a->lost))
        next = ft_min_u64(next, now + RELEASE_TICK_MS * 1000000ull);
    if (a->main.replaying || a->rebind_due)
        next = ft_min_u64(next, now + TURN_TICK_MS * 1000000ull);
    if (ft_sentinel_is_ending(&a->watch))
        next = ft_min_u64(next, now + 1); /* a millisecond, as poll counts */
    next = ft_min_u64(next, expiry);
    return next <= now ? 0 : (int)((next - now) / 1000000ull) + 1;
}

/* --- the thread --- */

/* The agent's descriptors are where the program cannot close them. Others open the arena there from
 * now on. */
static void own_descriptors(struct ft_agent *a)
{
    const int keep[] = {a->rt->arena.fd, atomic_load(&a->rt->me->homelogs_fd), ft_print_where()};
    pthread_t sentinel;
    if (ft_fd_own_table(keep, FT_COUNTOF(keep)))
        atomic_store(&a->rt->me->table, ft_fd_table());
    sem_post(&a->own_table);
    if (pthread_create(&sentinel, NULL, ft_sentinel_main, &a->watch) ==
        0)                        /* from here, so that it has the same */
        pthread_detach(sentinel); /* else deaths are seen later */
}

static void configure(struct ft_agent *a)
{
    struct ft_process_cfg *cfg = &a->cfg;
    struct ft_rt *rt = a->rt;
    *cfg = (struct ft_process_cfg){
        .self = rt->self,
        .nslots = rt->nslots,
        .nranks = rt->board->nranks,
        .nchecksums = rt->board->nchecksums,
        .silence = a->limit_ms > 0 ? 4 : 0,
        .local = !rt->logs            ? FT_LOCAL_NO
                 : rt->board->nodes.n ? FT_LOCAL_ON_NODE
                                      : FT_LOCAL_ANYWHERE,
        .why_not = rt->told                 ? FT_FALLBACK_PROGRAM
                   : ft_level == FT_LOG_OFF ? FT_FALLBACK_NO_LOGS
                                            : FT_FALLBACK_ASKED,
        .plain = rt->host.plain,
        .slot_of = rt->layout.place.slot_of,
        .groups = rt->board->nchecksums ? &rt->groups : NULL,
        .where = rt->where,
        .carrier = {.nranks = rt->board->nranks,
                    .parity = rt->groups.parity,
                    .checkpoints = rt->checkpoints,
                    .logs = rt->logs,
                    .told = rt->told,
                    .every = rt->policy.kind == FT_CKPT_EVERY ? (int)rt->policy.every : 0,
                    .mtbf = rt->policy.kind == FT_CKPT_DALY ? rt->mtbf : 0,
                    .demand = rt->demand,
                    .stream = rt->stream,
                    .snapshot = ft_cut_possible ? rt->snapshot_alg : (int)FT_SNAP_VANILLA,
                    .restart = ft_restart_wanted(rt)}};
    for (int i = rt->board->near_from; i < rt->board->near_end; i++)
        ft_bit_set(&cfg->neighbours, i);
}

static void begin(struct ft_agent *a)
{
    size_t bytes = ft_process_bytes(&a->cfg);
    a->p = ft_need(ft_private_alloc(bytes), bytes, "the helper thread");
    a->out = ft_need(ft_private_alloc(sizeof *a->out), sizeof *a->out, "the helper thread");
    ft_record_begin(a, &a->cfg);
    ft_carry_start(a);
    ft_process_init(a->p, &a->cfg, ft_now_ns(), a->out);
    ft_carry_out(a);
    a->ping_ns = ft_now_ns() + (uint64_t)a->limit_ms * 250000ull;
    ft_still_start(a);
}

static void turn(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint32_t heard = ft_bell_heard(rt->board, rt->self); /* before all that is looked at */
    int watched = a->watch.watching;
    uint64_t now = ft_now_ns();
    check_board(a);
    end_if_orphaned(a, now);
    hear_main(a);
    drain(a);
    hear_far_deaths(a);
    pay(a);
    hear_main(a);
    if (watched == a->watch.watching && ft_sentinel_is_dead(&a->watch, now))
        exited(a, watched);
    if (a->watch.kill_due)
        ft_sentinel_kill(&a->watch);
    drop_mails(a);
    while (ft_look_around(a))
        ;
    ft_carry_say_awaited(a);
    ft_release_poll(a);
    act_for_main(a);
    ticks(a);
    a->mails_wait = rt->tp.ops->post(&rt->tp) > 0;
    ft_bell_wait(rt->board, rt->self, heard, time_out(a, ft_now_ns()));
}

static void *agent_main(void *arg)
{
    struct ft_agent *a = arg;
    ft_engine_enter(a->engine);
    ft_run_promptly();
    own_descriptors(a);
    ft_life_hold(&a->rt->me->life);
    char err[128];
    ft_setting_i64(FT_SET_PING_TIMEOUT, &a->limit_ms, err, sizeof err);
    configure(a);
    begin(a);
    for (;;)
        turn(a);
    return NULL;
}

void ft_agent_start(struct ft_rt *rt)
{
    struct ft_agent *a = ft_need(ft_private_alloc(sizeof *a), sizeof *a, "the helper thread");
    ft_a = a;
    a->rt = rt;
    a->record = -1;
    a->engine = ft_engine_here();
    a->watch = (struct ft_sentinel){.board = rt->board, .self = rt->self, .watching = -1};
    a->parent = getppid();
    if (rt->board->launcher_pid)
        a->launcher_start =
            ft_proc_start_time(rt->board->launcher_pid); /* 0: it is not seen from here */
    sem_init(&a->own_table, 0, 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int no_thread = pthread_create(&rt->agent, NULL, agent_main, a);
    if (no_thread) {
        char name[48];
        ft_giver->name(name, sizeof name);
        ft_give_up(NO_THREAD, name, strerror(no_thread));
    }
    /* [The program closes the arena's descriptor by a system call before the agent has its own.] */
    while (sem_wait(&a->own_table) != 0)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
