/* SPDX-License-Identifier: BSD-3-Clause
 *
 * station.c - where main waits for the others, and what it does for the agent meanwhile; attending to new generations.
 */
#include "alog/home.h"
#include "coll/sched.h"
#include "msg/channels.h"
#include "rma/windows.h"
#include "runtime/rt.h"
#include "runtime/runtime.h"

#define BIT(c) (1u << (c))

/* Commands that make sense at a station; others were meant for a station that main has left by a rollback, and are only acknowledged. */
static const uint32_t valid[] = {
    [FT_ST_INIT] = BIT(FT_CMD_ROLE) | BIT(FT_CMD_ROOM) | BIT(FT_CMD_PARITY) | BIT(FT_CMD_LIFT) | BIT(FT_CMD_FOLD) |
                   BIT(FT_CMD_REBUILD) | BIT(FT_CMD_DONE),
    [FT_ST_ENTRY] = BIT(FT_CMD_COPY) | BIT(FT_CMD_BODY) | BIT(FT_CMD_OUT) | BIT(FT_CMD_REBUILD) | BIT(FT_CMD_RESTORE) |
                    BIT(FT_CMD_RESUME) | BIT(FT_CMD_FAIL),
    [FT_ST_SAFEPOINT] = BIT(FT_CMD_COPY) | BIT(FT_CMD_WAVE) | BIT(FT_CMD_RELEASE),
    [FT_ST_OVER] = BIT(FT_CMD_COPY) | BIT(FT_CMD_WAVE) | BIT(FT_CMD_OUT) | BIT(FT_CMD_RESTORE) | BIT(FT_CMD_RESUME),
    [FT_ST_PARKED] = BIT(FT_CMD_RESTORE) | BIT(FT_CMD_RESUME),
    [FT_ST_FINALIZE] = BIT(FT_CMD_DONE),
};
#define LEAVING (BIT(FT_CMD_ROLE) | BIT(FT_CMD_RELEASE) | BIT(FT_CMD_BODY) | BIT(FT_CMD_OUT) | BIT(FT_CMD_RESUME) | BIT(FT_CMD_DONE) | \
                 BIT(FT_CMD_FAIL))

static void work(struct ft_rt *rt, enum ft_station station, enum ft_command c, uint64_t arg)
{
    switch (c) {
    case FT_CMD_COPY:
        ft_ckpt_copy(rt, arg, 0);
        if (station == FT_ST_OVER) /* the last one of these is the exit's */
            ft_rehearse_run_over(rt);
        break;
    case FT_CMD_WAVE: ft_ckpt_copy(rt, arg, atomic_load(&rt->wave)); break;
    case FT_CMD_ROOM: ft_ckpt_room(rt, (int)arg); break;
    case FT_CMD_PARITY: ft_ckpt_parity(rt, arg); break;
    case FT_CMD_LIFT: ft_latest_lift(rt); break;
    case FT_CMD_FOLD: ft_latest_fold(rt, arg); break;
    case FT_CMD_REBUILD: ft_ckpt_rebuild(rt, arg); break;
    case FT_CMD_RESTORE: ft_ckpt_restore(rt, arg); break;
    default: FT_ASSERT(0);
    }
}

enum ft_command ft_station(struct ft_rt *rt, enum ft_station station)
{
    FT_ASSERT(station != FT_ST_NONE);
    atomic_store(&rt->station, station);
    ft_agent_nudge(rt);
    for (;;) {
        struct ft_waiter w = FT_WAITER_INIT;
        uint64_t cmd;
        while ((cmd = atomic_load_explicit(&rt->cmd, memory_order_acquire)) >> 8 == atomic_load_explicit(&rt->cmd_done, memory_order_relaxed)) {
            if (station == FT_ST_SAFEPOINT || station == FT_ST_OVER) /* [p sends and comes here; q comes here and receives] */
                ft_msg_absorb();
            ft_wait(&w);
        }
        ft_wait_end(&w);
        ft_pass_door_uncounted(); /* new carriers are known before an image is taken: else messages from them would be missing in it */
        if (!ft_is_rank(rt)) /* a rank does that at its doors: what is left of it is in this thread's table of descriptors */
            rt->tp.ops->release(&rt->tp);
        enum ft_command c = (enum ft_command)(cmd & 0xff);
        int ok = (valid[station] >> c) & 1, leave = ok && ((LEAVING >> c) & 1);
        if (leave)
            atomic_store(&rt->station, FT_ST_NONE);
        else if (ok)
            work(rt, station, c, atomic_load(&rt->cmd_arg));
        atomic_store_explicit(&rt->cmd_done, cmd >> 8, memory_order_release);
        ft_agent_nudge(rt);
        if (leave)
            return c;
    }
}

void ft_rt_set_milestone(struct ft_rt *rt, enum ft_milestone m)
{
    atomic_store(&rt->milestone, m);
    atomic_store(&rt->me->position, (uint64_t)m << 56 | atomic_load(&rt->reached));
    ft_agent_nudge(rt);
}

/* Each rank whose carrier changed is read and written at its new place from here on. */
void ft_rt_rebind(struct ft_rt *rt)
{
    if (!rt->bound)
        return; /* not yet a rank: begin_rank reads the mapping */
    pthread_mutex_lock(&rt->map_lock);
    for (int i = 0; i < rt->board->nranks; i++)
        if (rt->slot_of[i] != rt->bound[i]) {
            rt->bound[i] = rt->slot_of[i];
            ft_home_rebind(i, rt->bound[i]);
            ft_msg_rebind(i, rt->bound[i]);
            ft_rma_rebind(i, rt->bound[i]);
        }
    atomic_store(&rt->bound_in, rt->mapped_in);
    pthread_mutex_unlock(&rt->map_lock);
}

int ft_runtime_threads;

int ft_runtime_on_main(void) { return pthread_equal(pthread_self(), ft_rt->main) != 0; }

void ft_runtime_door_of_thread(void)
{
    if (!ft_runtime_on_main())
        ft_home_incomplete(FT_UNKEPT_THREADS);
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
        ft_rt_release(ft_rt);
}

void ft_rt_attend(void)
{
    struct ft_rt *rt = ft_rt;
    FT_ASSERT(atomic_load_explicit(&ft_in_call, memory_order_relaxed)); /* else the agent could be at it, too: a call without a door */
    uint32_t what = atomic_fetch_and(&ft_attention, FT_ATT_REPLAY | FT_ATT_WORK | FT_ATT_WAVE | FT_ATT_RELEASE);
    if (what & FT_ATT_REBIND)
        ft_rt_rebind(rt);
    if (what & FT_ATT_PLACE)
        ft_still_answer(rt);
    if ((what & FT_ATT_PARK) && rt->in_body) {
        if (!ft_runtime_on_main())
            ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST,
                      "all ranks must go back to a checkpoint, but one of them is in an MPI call of another thread than the one that "
                      "entered FTRMA_Run, and cannot leave that call. Call MPI from one thread only");
        if (rt->stays)
            ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST,
                      "all ranks have to go back to a checkpoint, and this program cannot: its body runs in an interpreter (Python), which "
                      "cannot be left in the middle. Only a rank that is lost alone can be recovered; with --save DIR and --restarts N "
                      "ftrun starts the job again from its newest set");
        rt->in_body = 0;
        ft_in_wait = 0;
        ft_waiting = NULL;
        ft_rt_replay_drop(rt);
        ft_sched_drop();
        siglongjmp(rt->env, 1);
    }
    if (what & FT_ATT_REPLAY)
        ft_rt_replay_step(rt);
}
