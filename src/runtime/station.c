/* SPDX-License-Identifier: BSD-3-Clause
 *
 * station.c - where main waits for the others, and carries out the agent's commands; and taking
 * over new generations.
 */
#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "coll/sched.h"
#include "msg/channels.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/latest.h"
#include "runtime/rehearse.h"
#include "runtime/replay.h"

static struct ft_answer work(struct ft_rt *rt, enum ft_command c, const struct ft_command_arg *arg)
{
    enum ft_place at = ft_main_at(rt);
    struct ft_answer r = {.moved = 0};
    if (c != FT_CMD_REBUILD)
        ft_rebuild_off(rt);
    switch (c) {
    case FT_CMD_COPY:
        r = ft_ckpt_copy(rt, arg->version, arg->snapshot);
        if (at == FT_AT_OVER) /* the last commit in these places is that of the exit */
            ft_rehearse_run_over(rt);
        break;
    case FT_CMD_RESERVE: ft_ckpt_room(rt, (int)arg->aside); break;
    case FT_CMD_PARITY: r = ft_ckpt_parity(rt, arg->version); break;
    case FT_CMD_LIFT: r = ft_latest_lift(rt, arg->rank); break;
    case FT_CMD_FOLD: r = ft_latest_fold(rt, arg->rank, arg->version); break;
    case FT_CMD_REBUILD: r = ft_ckpt_rebuild(rt, arg->version, arg->head != 0); break;
    case FT_CMD_RESTORE:
        rt->era = arg->era;
        r = ft_ckpt_restore(rt, arg);
        ft_rt_move(rt, FT_AT_RESTORED);
        break;
    default: FT_ASSERT(0);
    }
    return r;
}

void ft_rt_move(struct ft_rt *rt, enum ft_place to)
{
    ft_box_move(&rt->box, to);
    atomic_store(&rt->me->testament.position, (uint64_t)ft_place_milestone(to, ft_is_rank(rt))
                                                      << 56 |
                                                  atomic_load(&rt->box.reached));
    ft_agent_nudge(rt);
}

void ft_rt_answer(struct ft_rt *rt, struct ft_answer with)
{
    ft_box_answer(&rt->box, with);
    ft_agent_nudge(rt);
}

/* Main goes on. It moves to where the command leads before the agent hears that it has taken the
 * command. */
static void leave(struct ft_rt *rt, enum ft_command c, const struct ft_command_arg *arg)
{
    static const enum ft_place to[FT_COMMANDS] = {[FT_CMD_ROLE] = FT_AT_SETUP,
                                                  [FT_CMD_RELEASE] = FT_AT_BODY,
                                                  [FT_CMD_OUT] = FT_AT_AFTER,
                                                  [FT_CMD_FAIL] = FT_AT_AFTER,
                                                  [FT_CMD_DONE] = FT_AT_GONE};
    if (arg->era)
        rt->era = arg->era;
    if (c == FT_CMD_BODY || c == FT_CMD_RESUME)
        return; /* the caller answers, when body may be left for a rollback */
    ft_rt_move(rt, to[c]);
    ft_rt_answer(rt, (struct ft_answer){.moved = 0});
}

/* Nobody stands before all that it has said is on its readers' nodes. [A message under way over the
 * cut is in no image; over a rollback it comes into the new era.] */
static void await_placed(void)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    while (!ft_msg_placed())
        ft_wait(&w);
    ft_wait_end(&w);
}

void ft_rt_stand(struct ft_rt *rt, enum ft_place at)
{
    ft_rma_settle_far(at == FT_AT_PARKED);
    if (rt->board->nodes.n && (at == FT_AT_ENTRY || at == FT_AT_HELD || at == FT_AT_OVER))
        await_placed();
    if (ft_main_at(rt) != at)
        ft_rt_move(rt, at);
}

enum ft_command ft_station(struct ft_rt *rt, enum ft_place at, struct ft_command_arg *arg)
{
    ft_rt_stand(rt, at);
    for (;;) {
        struct ft_waiter w = {.patient = !ft_is_rank(rt)};
        enum ft_command c;
        while ((c = ft_box_command(&rt->box)) == FT_CMD_NONE) {
            if (at == FT_AT_HELD || at == FT_AT_OVER) /* [p sends and comes here; q comes here and
                                                         receives] */
                ft_msg_absorb();
            ft_wait(&w);
        }
        ft_wait_end(&w);
        /* new carriers must be known before an image is taken: else it would lack messages from
         * them */
        ft_pass_door_uncounted();
        /* a rank does that at its doors: the rest of it is in this thread's descriptor table */
        if (!ft_is_rank(rt))
            rt->tp.ops->release(&rt->tp);
        *arg = rt->box.arg;
        if (!ft_place_takes(ft_main_at(rt), c)) {
            ft_rt_answer(rt, (struct ft_answer){.moved = 1});
        } else if (ft_command_leaves(c)) {
            leave(rt, c, arg);
            return c;
        } else {
            ft_rt_answer(rt, work(rt, c, arg));
        }
    }
}

/* From here on each rank whose carrier changed is read and written at its new place. */
void ft_rt_rebind(struct ft_rt *rt)
{
    if (!rt->bound)
        return; /* no rank yet: begin_rank reads the mapping */
    pthread_mutex_lock(&rt->map_lock);
    for (int i = 0; i < rt->board->nranks; i++)
        if (rt->slot_of[i] != rt->bound[i]) {
            rt->bound[i] = rt->slot_of[i];
            ft_msg_rebind(i, rt->bound[i]);
            ft_rma_rebind(i, rt->bound[i]);
        }
    atomic_store(&rt->bound_in, rt->mapped_in);
    atomic_store(&ft_whole.bound, rt->mapped_in);
    pthread_mutex_unlock(&rt->map_lock);
}

FT_STATE(int, ft_runtime_threads);

int ft_runtime_on_main(void) { return pthread_equal(pthread_self(), ft_own_rt->main) != 0; }

void ft_runtime_door_of_thread(void)
{
    if (!ft_runtime_on_main())
        ft_homelog_incomplete(FT_UNKEPT_THREADS);
}

void ft_attend_door(int counted)
{
    ft_turn_await();
    if (counted) {
        ft_replay_settle();
        if (!ft_uncounted)
            ft_call_begin();
        if (ft_runtime_threads)
            ft_runtime_door_of_thread();
    }
    ft_attend_at_door();
    if (atomic_load_explicit(&ft_attention, memory_order_relaxed) & FT_ATT_RELEASE)
        ft_rt_release(ft_own_rt);
}

void ft_rt_attend(void)
{
    struct ft_rt *rt = ft_own_rt;
    FT_ASSERT(atomic_load_explicit(
        &ft_in_call,
        memory_order_relaxed)); /* else the agent could also be doing it: a call without a door */
    uint32_t what = atomic_fetch_and(&ft_attention, FT_ATT_REPLAY | FT_ATT_WORK | FT_ATT_SNAPSHOT |
                                                        FT_ATT_RELEASE);
    if (what & FT_ATT_REBIND)
        ft_rt_rebind(rt);
    if (what & FT_ATT_PLACE)
        ft_still_answer(rt);
    if ((what & FT_ATT_PARK) && ft_in_body(rt)) {
        if (!ft_runtime_on_main())
            ft_give_up(OTHER_THREAD, atomic_load(&rt->pos));
        if (rt->stays)
            ft_give_up(INTERPRETER);
        ft_in_wait = 0;
        ft_waiting = NULL;
        ft_rt_replay_drop(rt);
        ft_sched_drop();
        struct ft_holder holder = rt->holder;
        rt->holder = (struct ft_holder){0};
        if (holder.left)
            holder.left(holder.of);
        siglongjmp(rt->env, 1);
    }
    if (what & FT_ATT_REPLAY)
        ft_rt_replay_step(rt);
}
