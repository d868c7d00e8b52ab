/* SPDX-License-Identifier: BSD-3-Clause
 *
 * run.c - FTRMA_Run and FTRMA_Safepoint (P1, C2).
 */
#include "alog/homelog.h"
#include "coll/sched.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/latest.h"
#include "runtime/memcheck.h"
#include "runtime/rehearse.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "runtime/told.h"

/* Messages that crossed into the next era: those in the image of the last checkpoint. */
static void change_era(struct ft_rt *rt, enum ft_keep keep)
{
    uint64_t v = atomic_load(&rt->box.committed);
    const struct ft_image *im = ft_ckpt_own(rt, v);
    FT_ASSERT(im && im->version == v);
    uint32_t era = rt->era;
    int on = keep != FT_KEEP_NONE && ft_level > FT_LOG_OFF;
    ft_msg_begin_era(era, keep, v, ft_image_messages((void *)(uintptr_t)im),
                     im->message_bytes - im->engine_bytes);
    ft_homelog_segment(ft_era_segment(era), keep != FT_KEEP_NONE);
    ft_putlog_segment(ft_era_segment(era), on);
}

static void enter_body(struct ft_rt *rt)
{
    ft_sched_state_entry();
    if (rt->checkpoints) {
        ft_ckpt_more_room(rt);
        change_era(rt, rt->logs ? FT_KEEP_CUT : FT_KEEP_NONE);
        /* else all of it is repeated from the start, as long as the logs are complete */
    } else if (!rt->logs) {
        ft_msg_stop_keeping();
        ft_homelog_segment(FT_SEG_SETUP, 0);
        ft_putlog_segment(FT_SEG_SETUP, 0);
    }
    ft_rma_outside =
        !rt->checkpoints; /* without an image body is like setup: repeated from the start */
}

/* Without an exit image no era begins: body may have left requests and messages, and a loss is the
 * job's (ladder). */
static void leave_run(struct ft_rt *rt)
{
    if (rt->checkpoints && rt->era == FT_ERA_POST && ft_msg_era() != FT_ERA_POST)
        change_era(rt, rt->board->nspares > 0 ? FT_KEEP_ALL : FT_KEEP_NONE);
    ft_rma_outside = 1;
}

/* Runs body until it returns or all go back; says where main stands then. It is a function of its
 * own, so that no variable is live in a frame to which longjmp returns. Body begins with the signal
 * mask and the rounding mode with which FTRMA_Run was called, as a replacement does. [It waits in a
 * call between two changes of the mode, and is taken back from there.] */
static enum ft_place run_body(struct ft_rt *rt, void (*body)(void *), void *arg)
{
    fesetenv(&rt->fenv);
    if (sigsetjmp(rt->env, 1)) {
        ft_rt_event(ft_own_rt, FT_EV_PARKED, ft_who(ft_own_rt),
                    (int64_t)atomic_load(&ft_own_rt->board->generation), 0, 0, 0);
        ft_failpoint(PARK);
        return FT_AT_PARKED;
    }
    /* The agent asks for parking again and again until it sees main stand, so one request may be
     * left from the rollback that has just ended. [It looks, main parks, it asks once more, main
     * restores and enters body: it would park there with nobody to wake it.] If it were meant for
     * the next rollback, it would come again. */
    atomic_fetch_and(&ft_attention, ~(uint32_t)FT_ATT_PARK);
    ft_rt_move(rt, FT_AT_BODY);
    ft_rt_answer(rt, (struct ft_answer){.moved = 0}); /* from here on main can be told to park */
    if (rt->resume && rt->resume->counters.safepoint == 0)
        ft_rt_replay_at_safepoint(rt);
    ft_rehearse_body_begins(rt);
    ft_leave();
    body(arg);
    ft_enter();
    if (rt->resume) /* body had nothing left to do after the image's safepoint, and did not come to
                       it again */
        ft_rt_replay_at_safepoint(rt);
    ft_rehearse_body_ends(rt);
    /* a main that stands sends nothing any more; called while it can still be taken back */
    ft_sched_quiet();
    if (rt->checkpoints) /* likewise: the lost process may have been further, and was seen there */
        ft_rt_replay_finish(rt);
    rt->host.reap();
    ft_failpoint(RUN_BODY_OVER);
    /* in this frame, to which main may be taken back until it stands */
    ft_rt_stand(rt, FT_AT_OVER);
    return FT_AT_OVER;
}

static enum ft_status refused(uint32_t why)
{
    return why == FT_SKIP_NOMEM ? FT_ERR_NOMEM : FT_ERR_AGAIN;
}

/* What the user of an interpreter must know before the first loss. */
static void say_that_it_stays(const struct ft_rt *rt)
{
    static const char alone[] = "ftrma: note: body runs in an interpreter (Python). A lost rank is "
                                "recovered alone. A loss after which all "
                                "ranks would have to go back to a checkpoint ends the job with "
                                "status 75 (see ftrun --save)\n";
    static const char never[] =
        "ftrma: note: body runs in an interpreter (Python), which cannot go back to a checkpoint: "
        "with --recovery "
        "global or program, or --log off, the loss of a rank ends the job with status 75 (see "
        "ftrun --save)\n";
    if (atomic_load(&rt->pos) == 0 && !rt->replacement)
        ft_print(rt->logs ? alone : never, (rt->logs ? sizeof alone : sizeof never) - 1);
}

enum ft_status ft_runtime_run(void (*body)(void *), void *arg, int stays)
{
    struct ft_rt *rt = ft_own_rt;
    struct ft_command_arg told;
    if (ft_main_at(rt) != FT_AT_SETUP)
        return FT_ERR_ARG;
    rt->stays = stays;
    if (stays)
        say_that_it_stays(rt);
    /* a replacement of a process that has reported it, and has perhaps done more since */
    if (rt->refused) {
        ft_sched_quiet();
        ft_rt_move(rt, FT_AT_AFTER);
        return refused(rt->refused);
    }
    if (rt->checkpoints)
        ft_ckpt_prepare(rt);
    ft_sched_quiet();
    /* No image is taken of a rank that has still something to repeat. [It would be committed; from
     * then on this one would take itself for one that is to be restored, pass the first safepoint
     * as the lost process could have done, and never be live.] */
    ft_restart_note_sent(rt);
    if (rt->checkpoints) /* else body goes on with what setup began, and all of it is repeated */
        ft_rt_replay_finish(rt);
    rt->host.reap();
    ft_save_await_held(rt);
    rt->entry_ctx = ft_next_ctx;
    rt->windows_at_entry = ft_rma_lasting();
    ft_failpoint(RUN_ENTER);
    fegetenv(&rt->fenv);
    enum ft_place at = FT_AT_ENTRY;
    for (;;) {
        enum ft_command c = ft_station(rt, at, &told);
        if (c == FT_CMD_OUT)
            break;
        if (c == FT_CMD_FAIL)
            return refused(told.why);
        FT_ASSERT(c == FT_CMD_BODY || c == FT_CMD_RESUME);
        ft_told_who(rt, told.told != FT_TOLD_NOT);
        if (c == FT_CMD_BODY) {
            enter_body(rt);
        } else {
            ft_rma_outside = 0;
            ft_rebuild_room(rt);
            ft_failpoint(RESUME);
        }
        if (c == FT_CMD_RESUME && rt->restored_over) { /* the image is of body's end: wait there */
            at = FT_AT_OVER;
            ft_rt_move(rt, at);
            ft_rt_answer(rt, (struct ft_answer){.moved = 0});
        } else {
            /* an interpreter's own memory always changes, and who handles losses keeps it */
            if (!stays && !rt->told)
                ft_memcheck_begin(rt);
            at = run_body(rt, body, arg);
        }
    }
    if (!rt->checkpoints)
        ft_rehearse_run_over(rt);
    leave_run(rt);
    ft_memcheck_end(rt);
    ft_failpoint(RUN_LEAVE);
    return FT_OK;
}

void ft_runtime_prepare(void)
{
    if (ft_own_rt->checkpoints)
        ft_ckpt_prepare(ft_own_rt);
}

static void note_held(struct ft_rt *rt)
{
    uint64_t ns = ft_cut_held_ns;
    ft_cut_held_ns = 0;
    uint64_t v =
        ft_cut_before() ? atomic_load(&rt->box.committed) + 1 : atomic_load(&rt->box.complete);
    ft_rt_event(rt, FT_EV_SNAPSHOT_HELD, ft_who(rt), (int64_t)v, 0, 0, ns);
}

static void stop_at(struct ft_rt *rt, uint64_t n)
{
    int due = rt->policy.kind == FT_CKPT_EVERY && rt->checkpoints &&
              n % (uint64_t)rt->policy.every == 0 && n != rt->restored_at;
    if (!due) {
        struct ft_waiter w = FT_WAITER_INIT;
        while (atomic_load(&rt->box.hold) == FT_HOLD_ASK)
            ft_wait(&w); /* it has promised not to pass it unheard */
        ft_wait_end(&w);
        if (atomic_load(&rt->box.hold) != FT_HOLD_AT + n)
            return;
    }
    atomic_store(&rt->box.cannot, ft_ckpt_cannot(rt));
    uint64_t t0 = ft_now_ns();
    struct ft_command_arg told;
    ft_station(rt, FT_AT_HELD, &told);
    ft_rehearse_stopped(rt);
    ft_rt_event(rt, FT_EV_CKPT_PAUSE, ft_who(rt), (int64_t)atomic_load(&rt->box.complete), 0, 0,
                ft_now_ns() - t0);
    ft_failpoint(CKPT_LEAVE);
}

void ft_runtime_safepoint(void)
{
    struct ft_rt *rt = ft_own_rt;
    if (!ft_in_body(rt))
        return;
    uint64_t n = ft_box_reach(&rt->box);
    atomic_store_explicit(&rt->me->testament.position, (uint64_t)FT_MILE_RUN << 56 | n,
                          memory_order_relaxed);
    atomic_store_explicit(&rt->me->safepoints,
                          atomic_load_explicit(&rt->me->safepoints, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    ft_failpoint(SAFEPOINT);
    if (FT_UNLIKELY(rt->resume != NULL) && n == rt->resume->counters.safepoint)
        ft_rt_replay_at_safepoint(rt);
    else
        ft_pass_door();
    if (FT_UNLIKELY(ft_replay != FT_LIVE)) { /* not to be stopped: the lost process was further */
        ft_box_pass(&rt->box, n);
        return;
    }
    if (FT_UNLIKELY(ft_cut_held_ns != 0))
        note_held(rt);
    if (FT_UNLIKELY(rt->memcheck != NULL))
        ft_memcheck_safepoint(rt);
    if (rt->demand && atomic_load(&rt->box.hold) == FT_HOLD_NONE)
        ft_demand_at_safepoint(rt, n);
    if (atomic_load(&rt->box.hold) != FT_HOLD_NONE || rt->policy.kind == FT_CKPT_EVERY)
        stop_at(rt, n);
    ft_box_pass(&rt->box, n);
}
