/* SPDX-License-Identifier: BSD-3-Clause
 *
 * told.c - told recovery on main (told.h). All mains are parked when it begins, so nobody sends,
 * accesses a window or waits for a lock.
 */
#include "runtime/told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/private.h"
#include "coll/sched.h"
#include "msg/channels.h"
#include "rma/windows.h"
#include "runtime/ckpt.h"
#include "runtime/output.h"
#include "runtime/replay.h"

/* Who is new since body was entered last by all. */
struct newcomers {
    int n;
    struct newcomer {
        int rank;
        uint64_t version;
    } * who; /* [nranks] */
};
FT_STATIC(struct newcomers, g);
#define g FT_MY(g)
FT_STATIC(int, program_asks); /* FTRMA_Handle_losses */
#define program_asks FT_MY(program_asks)

enum ft_status ft_runtime_handles_losses(void)
{
    if (ft_own_rt)
        return FT_ERR_ARG;
    program_asks = 1;
    return FT_OK;
}

enum ft_status ft_told_recovery(int *recovery, char *err, int errlen)
{
    const char *given = getenv(ft_settings_table[FT_SET_RECOVERY].env);
    enum ft_status st = ft_setting_choice(FT_SET_RECOVERY, recovery, err, errlen);
    if (st != FT_OK || !program_asks)
        return st;
    if (given && *given && *recovery != FT_RECOVERY_PROGRAM) {
        snprintf(err, (size_t)errlen,
                 "the program handles losses itself (FTRMA_Handle_losses), but '--recovery %s' was "
                 "asked for; leave that out, or write '--recovery program'",
                 given);
        return FT_ERR_ARG;
    }
    *recovery = FT_RECOVERY_PROGRAM;
    return FT_OK;
}

void ft_told_init(struct ft_rt *rt)
{
    size_t n = (size_t)rt->board->nranks, table = n * sizeof *rt->heir, list = n * sizeof *g.who;
    rt->heir = ft_need(ft_private_alloc(table), table, "the table of processes");
    g.who = ft_need(ft_private_alloc(list), list, "the table of processes");
}

void ft_told_who(struct ft_rt *rt, int told)
{
    g.n = 0;
    if (!told)
        return;
    pthread_mutex_lock(&rt->map_lock);
    for (int r = 0; r < rt->board->nranks; r++)
        if (rt->heir[r].is_new)
            g.who[g.n++] = (struct newcomer){r, rt->heir[r].version};
    pthread_mutex_unlock(&rt->map_lock);
    ft_failpoint(TOLD_BODY);
}

int ft_runtime_replaced(int *ranks, int *versions, int max)
{
    for (int i = 0; i < g.n && i < max; i++) {
        if (ranks)
            ranks[i] = g.who[i].rank;
        if (versions)
            versions[i] = (int)g.who[i].version;
    }
    return g.n;
}

struct ft_answer ft_told_begin(struct ft_rt *rt, const struct ft_command_arg *arg, uint64_t bytes,
                               uint64_t t0)
{
    if (arg->told == FT_TOLD_NEW)
        ft_output_go_on(rt);
    rt->restored_over = 0;
    rt->restored_at = 0;
    atomic_store(&rt->box.reached, 0);
    atomic_store(&rt->box.passed, 0);
    ft_next_ctx = rt->entry_ctx;
    rt->objects_in_body = 0;
    ft_rma_reset(NULL, 0);
    ft_rma_tell_counts();
    ft_msg_begin_era(rt->era, FT_KEEP_NONE, atomic_load(&rt->box.committed), NULL, 0);
    rt->host.rolled_back(0);
    ft_sched_state_entry();
    ft_rt_replay_told(rt);
    ft_failpoint(TOLD_RESET);
    if (bytes) {
        ft_failpoint(RESTORE_DONE);
        ft_rt_event(rt, FT_EV_RESTORED, ft_who(rt), (int64_t)bytes, (int64_t)arg->version, 0,
                    ft_now_ns() - t0);
    }
    return (struct ft_answer){.safepoint = 0};
}

struct ft_answer ft_told_keep(struct ft_rt *rt, const struct ft_command_arg *arg)
{
    uint64_t t0 = ft_now_ns();
    ft_failpoint(TOLD_KEEP);
    ft_rma_drop_body_windows();
    ft_rma_keep_blocks();
    if (!rt->restored && rt->replacement)
        ft_rt_event(rt, FT_EV_REJOINED, ft_who(rt), 0, 0, 0, t0 - rt->setup_start_ns);
    return ft_told_begin(rt, arg, 0, t0);
}
