/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay.c - local recovery on main (R0 to R11): a replacement restores its rank's image, repeats
 * what the lost process did from logs, and becomes live when it has repeated all that others have
 * seen.
 *
 * While it replays, ft_attention stays set. So each door and each waiting loop comes here, and so
 * does the agent while main makes no calls: eligible actions are applied, and the evidence is
 * checked. It goes live at once when nothing is left: actions of the home log (R2, R3, R5), others'
 * puts (R4), messages that others have seen (R7). A wait for something that no log holds leads to
 * the same.
 */
#include <stdio.h>
#include <string.h>

#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "coll/coll.h"
#include "msg/channels.h"
#include "msg/wild.h"
#include "rma/putlog.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "transport/seen.h"

/* A wait in a replay that lasts this long, while there are logs left: the lost process did not wait
 * here. */
#define STUCK_NS 10000000000ull
/* Of a longer pause between two looks no more than this is counted: this process, or the machine,
 * was stopped. */
#define LONGEST_LOOK_NS 500000000ull

struct replay {
    uint64_t restored_ns;
    /* in a wait: time of the last look, and time that it had waited */
    uint64_t looked_ns, waited_ns;
    int asked_back;          /* at body's end, as logs are missing */
    int taken_back;          /* all have gone back to the restored image once already */
    uint64_t fetched, bytes; /* actions from the home log */
};
FT_STATIC(struct replay, g);
#define g FT_MY(g)

static void set_attention(int on)
{
    if (on)
        atomic_fetch_or(&ft_attention, FT_ATT_REPLAY);
    else
        atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_REPLAY);
}

static void say_diverged(struct ft_rt *rt, int rank, int kind, const char *text)
{
    char line[960];
    ft_rt_event(rt, FT_EV_DIVERGED, FT_WHO(FT_ROLE_RANK, rank), (int64_t)ft_calls, kind, 0, 0);
    int n = snprintf(line, sizeof line, "ftrma: %s\n", text);
    ft_print(line, (size_t)n);
    n = snprintf(line, sizeof line,
                 "ftrma: possible causes: time(), or random numbers that it seeds; a process id; "
                 "an address; memory that was "
                 "never set. MPI_Wtime is none: a replay gets the same times.%s\n",
                 ft_check_data ? ""
                               : " FTRMA_CHECK=data also compares the data that is sent and put, "
                                 "and may find an earlier place.");
    ft_print(line, (size_t)n);
    int back = atomic_load(&rt->box.committed) > 0 && !ft_said(rt, FT_SAYS_RUN_OVER) &&
               (ft_in_run(rt) || ft_replay == FT_LIVE) && !rt->told;
    if (!back)
        ft_give_up(DIVERGED, rank);
    rt->diverged = 1; /* and no image is taken any more */
    ft_box_ask(&rt->box, FT_ASK_ROLLBACK);
    ft_agent_nudge(rt);
}

/* It cannot go on: what it would compute from here on is wrong. */
static _Noreturn void ask_to_go_back(struct ft_rt *rt, int rank, int kind, const char *text)
{
    struct ft_waiter w = FT_WAITER_ALONE;
    say_diverged(rt, rank, kind, text);
    ft_replay = FT_LIVE; /* nothing more is compared */
    for (;;)
        ft_wait(&w); /* until all park */
}

static _Noreturn void diverged(const struct ft_act *was, enum ft_act_kind kind, uint32_t win,
                               int where, uint64_t off, const struct ft_mismatch *mismatch)
{
    struct ft_rt *rt = ft_own_rt;
    char text[900], now[120], then[240];
    ft_step_words(now, sizeof now, kind, win, where, off, -1);
    int n = snprintf(text, sizeof text, "replay of rank %d diverged in call %llu: it did %s",
                     atomic_load(&rt->pos), (unsigned long long)ft_calls, now);
    int same = was && mismatch && mismatch->n && was->call == ft_calls && was->kind == kind &&
               was->win == win && was->where == where && was->off == off;
    if (was && !same) {
        ft_act_format(then, sizeof then, was);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "; the lost process had done %s in call %llu", then,
                      (unsigned long long)was->call);
    }
    snprintf(text + n, sizeof text - (size_t)n, "%s: the program is not deterministic",
             mismatch ? mismatch->text : "");
    ask_to_go_back(rt, atomic_load(&rt->pos), kind, text);
}

/* The lost process had not waited where this one does. */
static _Noreturn void waits_for_ever(struct ft_rt *rt)
{
    char text[600], then[240];
    const struct ft_act *next = ft_homelog_next();
    int unsaid = ft_msg_evidence_missed();
    int n = snprintf(
        text, sizeof text,
        "replay of rank %d diverged in call %llu: it waits for something that no log holds",
        atomic_load(&rt->pos), (unsigned long long)ft_calls);
    if (next) {
        ft_act_format(then, sizeof then, next);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "; the lost process had done %s in call %llu", then,
                      (unsigned long long)next->call);
    }
    if (unsaid)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "; rank %d has seen messages that this replay has not sent", unsaid - 1);
    snprintf(text + n, sizeof text - (size_t)n, ": the program is not deterministic");
    ask_to_go_back(rt, atomic_load(&rt->pos), 0, text);
}

static void message_diverged(int rank, const struct ft_mismatch *mismatch)
{
    char text[700];
    snprintf(text, sizeof text,
             "messages of rank %d to rank %d are not those that its lost process had sent%s: the "
             "replay diverged, so the program is "
             "not deterministic",
             rank, atomic_load(&ft_own_rt->pos), mismatch->text);
    if (ft_in_body(ft_own_rt) && ft_replay == FT_LIVE && !ft_own_rt->copying)
        ask_to_go_back(ft_own_rt, rank, 0, text);
    say_diverged(ft_own_rt, rank, 0, text);
}

/* A survivor waits in a collective or a receive. All carriers of this era are those with which it
 * began. */
static int nobody_ran_again(const struct ft_rt *rt)
{
    uint32_t era = ft_msg_era();
    return atomic_load(&rt->box.generation) <=
           (ft_era_segment(era) == FT_SEG_RUN ? era - FT_ERA_FIRST : 0);
}

/* If some process has run again since all began together, here or elsewhere, this may be a
 * divergence that nothing else has shown. That is assumed once: if it happens again after all have
 * gone back, it is the program's error. */
static void unexpected(const char *what)
{
    struct ft_rt *rt = ft_own_rt;
    char text[700];
    if (rt->copying || !ft_runtime_on_main() || (ft_replay == FT_LIVE && nobody_ran_again(rt)))
        return;
    if (ft_replay != FT_LIVE)
        snprintf(text, sizeof text,
                 "replay of rank %d diverged in call %llu: %s: the program is not deterministic, "
                 "or has an error",
                 atomic_load(&rt->pos), (unsigned long long)ft_calls, what);
    else
        snprintf(text, sizeof text,
                 "%s: a rank was run again before that; its replay diverged, or the program has an "
                 "error",
                 what);
    ask_to_go_back(rt, atomic_load(&rt->pos), 0, text);
}

static void drain(void)
{
    if (ft_replay == FT_PRELUDE)
        ask_to_go_back(ft_own_rt, atomic_load(&ft_own_rt->pos), 0,
                       "body communicates before its first safepoint, which one rank cannot repeat "
                       "alone: all ranks go back");
    if (ft_replay == FT_REPLAY)
        ft_rma_replay_step();
}

/* All others have stopped accessing the lost process, so what they logged for it does not change
 * any more. */
static void await_quiet(struct ft_rt *rt)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    int n = rt->board->nranks, self = atomic_load(&rt->pos);
    for (int r = 0; r < n;) {
        struct ft_ctl *ctl = r == self ? NULL : ft_tp_ctl(&rt->tp, ft_rt_slot_at(rt, r));
        if (r == self || (ctl && atomic_load_explicit(&ctl->rejoined, memory_order_acquire) >=
                                     atomic_load(&rt->box.generation)))
            r++;
        else
            ft_wait(&w);
    }
    ft_wait_end(&w);
}

static void begin(struct ft_rt *rt, enum ft_segment seg, uint64_t version, uint64_t covered,
                  uint64_t calls)
{
    uint64_t bytes;
    ft_rma_replay_begin(seg, version, covered, calls, atomic_load(&rt->lost_calls));
    g.fetched += ft_homelog_fetched(&bytes);
    g.bytes += bytes;
    FT_ASSERT(atomic_load(&ft_in_call));
    atomic_store(&rt->box.replaying, 1);
    ft_replay = FT_REPLAY;
    set_attention(1);
    ft_failpoint(REPLAY_BEGIN);
}

/* The lost process had an address, or memory, that this one cannot have. */
static void refused(const char *what, uint64_t bytes, uint64_t want, uint64_t have)
{
    int rank = atomic_load(&ft_own_rt->pos);
    if (ft_replay == FT_LIVE)
        return;
    if (want)
        ft_give_up(ADDRESS_TAKEN, what, (unsigned long long)bytes, rank, (unsigned long long)want);
    if (have)
        ft_give_up(ADDRESS_MOVED, what, (unsigned long long)bytes, rank, (unsigned long long)have);
    ft_rt_no_room(ft_own_rt, what, bytes);
}

/* Setup was run again, and uses a shared window that is gone. May be called in a handler of
 * SIGSEGV. */
static void touched(void) { ft_give_up(SHARED_FREED, atomic_load(&ft_own_rt->pos)); }

void ft_rt_replay_init(void)
{
    ft_rma_touched = touched;
    ft_seen.refused = refused;
    ft_replay_diverged = diverged;
    ft_replay_drain = drain;
    ft_msg_diverged = message_diverged;
    ft_coll_unexpected = unexpected;
}

void ft_rt_replay_setup(struct ft_rt *rt)
{
    g.restored_ns = ft_now_ns();
    await_quiet(rt);
    begin(rt, FT_SEG_SETUP, 0, 0, 0);
}

/* Main: gives back what the replay needed. */
static void drop(void)
{
    g.asked_back = 0;
    ft_rma_replay_drop();
    ft_homelog_replay_over();
    ft_uncounted = 0;
    set_attention(0);
}

static void over(struct ft_rt *rt, int live)
{
    ft_replay = FT_LIVE;
    atomic_store(&rt->box.replaying, 0);
    if (live)
        atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
}

void ft_rt_replay_drop(struct ft_rt *rt)
{
    over(rt, 0);
    drop();
    rt->resume = NULL;
}

/* Whether a replay of setup does not end in restoring an image. */
static int goes_on(struct ft_rt *rt)
{
    return rt->restored || atomic_load(&rt->box.committed) == 0;
}

void ft_rt_replay_finish(struct ft_rt *rt)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    while (ft_replay != FT_LIVE && goes_on(rt))
        ft_wait(&w);
    ft_wait_end(&w);
}

/* Called by main or the agent. Attention stays set, so that main comes here once more. */
static void go_live(struct ft_rt *rt)
{
    ft_failpoint(REPLAY_LIVE);
    ft_rma_replay_live();
    over(rt, 1);
    struct ft_event ev = {.kind = FT_EV_LIVE,
                          .who = ft_who(rt),
                          .a = (int64_t)(g.fetched + ft_rma_replayed.fetched),
                          .b = (int64_t)(g.fetched + ft_rma_replayed.applied),
                          .c = (int64_t)(g.bytes + ft_rma_replayed.bytes),
                          .dur_ns = ft_now_ns() - g.restored_ns};
    ft_board_event(rt->board, rt->self, rt->verbose, &ev);
    ft_failpoint(REPLAY_LIVE_DONE);
    ft_agent_nudge(rt);
}

/* Logs on other nodes. */
static int is_missing(void) { return ft_rma_replayed.missing || ft_homelog_now.missing; }

static int passed(struct ft_rt *rt)
{
    return ft_replay == FT_REPLAY && goes_on(rt) && !is_missing() && ft_homelog_at_end() &&
           ft_rma_replay_passed() && ft_msg_evidence_passed() && ft_rma_replay_free_left_over();
}

/* What would be applied here is not known: no room for it, or the node that had it is out. Memory
 * is still as in the image. */
static _Noreturn void await_rollback(struct ft_rt *rt)
{
    struct ft_waiter w = FT_WAITER_ALONE;
    set_attention(0);
    ft_box_ask(&rt->box, FT_ASK_ROLLBACK);
    ft_agent_nudge(rt);
    for (;;)
        ft_wait(&w); /* until all park, or the job ends */
}

/* [f' leaves a call, and polls its window: others say only then what they saw of f, or what it
 * polls for is eligible only since the message that it sent in that call.] */
void ft_rt_replay_idle(struct ft_rt *rt)
{
    if (ft_replay != FT_REPLAY)
        return;
    ft_failpoint(TURN_REPLAY);
    ft_rma_replay_step();
    if (passed(rt))
        go_live(rt);
}

/* What no log holds may still come from one that repeats as well: then it may be about to say it.
 * [0' and 1' repeat setup, in which 0 computes for long, and then sends to 1.] */
static int another_repeats(struct ft_rt *rt)
{
    for (int r = 0; r < rt->board->nranks; r++) {
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, rt->bound[r]);
        if (r != atomic_load(&rt->pos) &&
            (!ctl || !atomic_load_explicit(&ctl->live, memory_order_acquire)))
            return 1;
    }
    return 0;
}

void ft_rt_replay_step(struct ft_rt *rt)
{
    if (ft_replay == FT_LIVE) {
        if (!ft_uncounted)
            drop();
        return;
    }
    if (ft_replay == FT_PRELUDE) {
        if (ft_in_wait &&
            ft_in_body(rt)) /* and not at the station where it has restored its image */
            drain();
        return;
    }
    if (FT_UNLIKELY(is_missing()) && ft_in_body(rt))
        await_rollback(rt);
    if (FT_UNLIKELY(is_missing()) && ft_main_at(rt) == FT_AT_OVER && !g.asked_back) {
        g.asked_back = 1; /* it stands, and is taken back from there */
        ft_box_ask(&rt->box, FT_ASK_ROLLBACK);
        ft_agent_nudge(rt);
    }
    ft_rma_replay_step();
    if (passed(rt)) {
        go_live(rt);
        drop();
    } else if (ft_in_wait && (rt->restored || atomic_load(&rt->box.committed) == 0)) {
        uint64_t now = ft_now_ns();
        g.waited_ns =
            g.looked_ns ? g.waited_ns + ft_min_u64(now - g.looked_ns, LONGEST_LOOK_NS) : 0;
        g.looked_ns = now;
        /* where the job would end for it */
        uint64_t most = !rt->restored && another_repeats(rt) ? 60 * STUCK_NS : STUCK_NS;
        if (g.waited_ns > most &&
            !(ft_homelog_at_end() && ft_rma_replay_passed() && !ft_msg_evidence_missed()))
            waits_for_ever(rt);
        return;
    }
    g.looked_ns = 0;
}

/* The put log begins again, and all counters are as in the image. tell: see ft_rma_state_counts. */
static void restore_counters(struct ft_rt *rt, enum ft_segment seg, const struct ft_image *im,
                             const char *engine, int tell)
{
    ft_putlog_segment(seg, rt->logs);
    ft_putlog_cut(FT_VERSION_BASE(im->version));
    ft_rma_state_counts(engine, tell);
    ft_wild_reset(im->counters.wild);
    ft_calls = im->counters.calls;
    atomic_store(ft_calls_published, ft_calls);
}

/* Main has memory and messages as in the image. */
void ft_rt_replay_restored(struct ft_rt *rt, const struct ft_image *im, const char *engine,
                           int same_era)
{
    enum ft_segment seg = ft_era_segment(rt->era);
    rt->restored = 1;
    g.restored_ns = ft_now_ns();
    ft_rma_replay_drop();
    int cut = seg == FT_SEG_RUN && same_era;
    struct ft_log_place home = {im->counters.home[0], im->counters.home[1], im->counters.home[2]};
    ft_homelog_read(seg, cut ? &home : NULL);
    ft_homelog_set_cut(FT_VERSION_BASE(im->version), cut ? home.seq : 0);
    restore_counters(rt, seg, im, engine, 0);
    /* Since a rollback to this image locks are taken and noted again: those that were held at its
     * cut no longer are. */
    uint32_t era = rt->era;
    g.taken_back = seg == FT_SEG_RUN && !same_era && (era != FT_ERA_FIRST || ft_restart_wanted(rt));
    /* An image that was taken alone holds what had a stamp by then, and belongs to this era. */
    uint64_t covered = FT_VERSION_ALONE(im->version) ? ft_rma_state_stamp(engine) : 0;
    begin(rt, seg, seg == FT_SEG_RUN ? FT_VERSION_BASE(im->version) : 0, covered, ft_calls);
    if (seg == FT_SEG_RUN && im->counters.safepoint > 0 && !im->counters.over) {
        rt->resume = im;
        ft_replay = FT_PRELUDE;
        ft_uncounted = 1;
    } else {
        ft_rma_state_settle(engine);
        if (!g.taken_back)
            ft_rma_state_locks(engine);
    }
}

/* A rollback: this process goes back with the others. */
void ft_rt_replay_rolled_back(struct ft_rt *rt, const struct ft_image *im, const char *engine)
{
    enum ft_segment seg = ft_era_segment(rt->era);
    rt->restored = 1;
    rt->diverged = 0;
    over(rt, 1);
    drop();
    ft_homelog_segment(seg, rt->logs);
    ft_homelog_all_went_back();
    ft_homelog_set_cut(im->version, 0);
    restore_counters(rt, seg, im, engine, 1);
    rt->resume = NULL;
    if (im->counters.safepoint > 0 && !im->counters.over) {
        rt->resume = im;
        ft_uncounted = 1;
    } else {
        ft_rma_state_settle(engine);
    }
}

void ft_rt_replay_told(struct ft_rt *rt)
{
    enum ft_segment seg = ft_era_segment(rt->era);
    rt->restored = 1;
    over(rt, 1);
    drop();
    ft_homelog_segment(seg, 0);
    ft_homelog_all_went_back();
    ft_putlog_segment(seg, 0);
    rt->resume = NULL;
}

/* Body was entered again and has come to the image's safepoint, or has returned before: from here
 * on calls are counted and repeated as they were then. */
void ft_rt_replay_at_safepoint(struct ft_rt *rt)
{
    const struct ft_image *im = rt->resume;
    rt->resume = NULL;
    ft_uncounted = 0;
    ft_ckpt_load_sched(im);
    ft_rma_state_settle(ft_ckpt_engine_state(im));
    ft_calls = im->counters.calls;
    atomic_store(ft_calls_published, ft_calls);
    if (ft_replay == FT_PRELUDE) {
        if (!g.taken_back)
            ft_rma_state_locks(ft_ckpt_engine_state(im));
        ft_replay = FT_REPLAY;
        ft_rt_replay_step(rt);
    }
}
