/* SPDX-License-Identifier: BSD-3-Clause
 *
 * generation.c - from a decision on failures to the new generation (D3 to D5, A1): repair, plan,
 * finish what the old generation had begun, tell main, and let the order machine go on.
 */
#include <stdio.h>
#include <string.h>

#include "alog/chan.h"
#include "rma/windows.h"
#include "runtime/carry.h"
#include "runtime/record.h"
#include "transport/seen.h"

static uint32_t who_of(const struct ft_rt *rt, int pos)
{
    int n = rt->board->nranks;
    return pos < n ? FT_WHO(FT_ROLE_RANK, pos) : FT_WHO(FT_ROLE_CHECKSUM, pos - n);
}

static void repair(struct ft_agent *a, const struct ft_decision *d)
{
    ft_failpoint(REPAIR);
    ft_record(a, 'A', "REPAIR %d", ft_bitset_count(&d->failed));
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&d->failed, i) && a->map.pos_of[i] != -2)
            ft_rma_repair(&a->rt->arena, i);
}

/* What the process that was lost in this slot has left. Votes hold that of some; where more were
 * lost at once it is read where it lies. No plan depends on it. */
static struct ft_testimony left_by(const struct ft_agent *a, const struct ft_decision *d, int slot)
{
    const struct ft_testimony *told = ft_testimony_of(&d->data.told, slot);
    return told ? *told : ft_testify(slot, &a->rt->board->slot[slot].testament, 0);
}

/* How far lost ranks had come: what they did in their last calls may have been seen, though no
 * record says so. */
static void note_calls(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        int slot = a->map.slot_of[r]; /* by the old mapping */
        _Atomic uint64_t *most = &rt->arena.ctl->peer[r].lost_calls;
        if (ft_bit_get(&d->failed, slot))
            atomic_store(most, ft_max_u64(atomic_load(most), left_by(a, d, slot).calls));
    }
}

/* What the old generation had agreed and not everybody heard: flip, enter body, leave FTRMA_Run,
 * leave MPI_Finalize. */
static void finish_old(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    uint64_t v = d->data.committed;
    if (v > atomic_load(&rt->box.committed)) {
        FT_ASSERT(ft_agent_main_busy(a) || atomic_load(&rt->box.complete) >= v ||
                  atomic_load(&rt->pos) < 0);
        ft_record(a, 'A', "PUBLISH COMMITTED %llu", (unsigned long long)v);
        atomic_store(&rt->box.committed, v);
        atomic_store(&ft_msg_committed, v);
        ft_save_committed(rt, v);
        ft_demand_covered(a);
    }
    if (d->data.flags & FT_AGREE_UNPROTECTED)
        a->unprotected = 1;
    if (d->data.flags & FT_AGREE_REFUSED)
        a->refused = d->data.flags & FT_AGREE_NO_ROOM ? FT_SKIP_NOMEM : FT_SKIP_REQUESTS;
    if (d->data.flags & FT_AGREE_RUN_OVER)
        ft_agent_run_over(a);
    if (d->data.flags & FT_AGREE_DONE)
        ft_agent_finished(a);
    a->free_main = 1; /* also from FTRMA_Run's entry or end, if that was agreed */
}

static void hand_over_mapping(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int n = rt->board->nranks + rt->board->nchecksums;
    pthread_mutex_lock(&rt->map_lock);
    memcpy(rt->slot_of, a->map.slot_of, (size_t)n * sizeof *rt->slot_of);
    rt->mapped_in = atomic_load(&rt->box.generation);
    pthread_mutex_unlock(&rt->map_lock);
    a->rebind_due = 1;
    ft_record(a, 'A', "BIND %u", rt->mapped_in);
    ft_agent_attention(a, FT_ATT_REBIND);
}

/* This process was a spare and carries a position now. */
static void take_over(struct ft_agent *a, int pos, const struct ft_plan *plan)
{
    struct ft_rt *rt = a->rt;
    int n = rt->board->nranks, inc = (int)a->map.incarnation[pos];
    atomic_store(&rt->pos, pos);
    rt->replacement = 1;
    atomic_store(&rt->me->who, who_of(rt, pos));
    atomic_store(&rt->me->incarnation, (uint32_t)inc);
    a->incomplete = rt->checkpoints && atomic_load(&rt->box.committed) > 0;
    if (pos >= n && !a->incomplete) {
        ft_record(a, 'A', "PUBLISH LIVE 1");
        atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
    }
    ft_fp_arm(rt->inject, pos < n ? FT_ROLE_RANK : FT_ROLE_CHECKSUM, pos < n ? pos : pos - n, inc);
    if (pos < n) {
        a->late = plan->kind == FT_PLAN_REJOIN && atomic_load(&rt->box.committed) > 0;
        atomic_store(&rt->box.replaying, 1);
        a->main.replaying = 1;
        a->become_rank = 1;
    }
}

static void report(struct ft_agent *a, const struct ft_decision *d, const struct ft_plan *plan)
{
    struct ft_rt *rt = a->rt;
    struct ft_tree tree;
    ft_tree_make(&tree, rt->nslots, &d->failed, rt->self);
    if (tree.root != rt->self)
        return;
    uint64_t now = ft_now_ns();
    atomic_store(&rt->board->generation, d->generation);
    if (plan->kind == FT_PLAN_ROLLBACK)
        ft_rt_event(rt, FT_EV_FALLBACK, FT_WHO_NONE, plan->why, 0, 0, 0);
    if (plan->kind == FT_PLAN_ROLLBACK)
        atomic_fetch_add(&rt->board->rollbacks, 1);
    ft_rt_event(rt, FT_EV_AGREED, FT_WHO_NONE, d->generation, ft_bitset_count(&d->failed), 0,
                a->noticed_ns ? now - a->noticed_ns : 0);
    if (plan->unaware)
        ft_rt_event(rt, FT_EV_UNAWARE, FT_WHO_NONE, plan->unaware, 0, 0, 0);
    for (int i = 0; i < plan->nreplaced && i < (int)FT_COUNTOF(plan->replaced); i++) {
        int pos = plan->replaced[i];
        if (plan->kind == FT_PLAN_REJOIN && pos < rt->board->nranks)
            ft_rt_event(rt, FT_EV_LOCAL, who_of(rt, pos), (int64_t)plan->version, 0, 0, 0);
        ft_rt_event(rt, FT_EV_REPLACED, who_of(rt, pos), a->map.slot_of[pos],
                    a->map.incarnation[pos], 0, 0);
    }
}

/* of a process that is not part of a job */
static FT_STATE(_Atomic uint32_t, nowhere);
FT_STATE(_Atomic uint32_t *, ft_runtime_shared_files) = FT_AT(nowhere);

/* [Main has opened a file since the vote, which did not say so.] */
static void end_if_file_open(const struct ft_agent *a, const struct ft_decision *d)
{
    for (int r = 0; r < a->rt->board->nranks && atomic_load(&a->rt->me->shared_files); r++)
        if (ft_bit_get(&d->failed, a->map.slot_of[r])) /* by the old mapping */
            ft_give_up(FILE_OPEN, r);
}

/* This process is about to carry what the lost one did. */
static void heir(struct ft_rt *rt, const struct ft_testimony *of)
{
    rt->lost_events = of->events;
    rt->lost_heap = of->heap_from;
    ft_seen.lost_arena = of->arena_at;
    ft_seen.lost_strayed = of->strayed;
}

void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    struct ft_plan plan;
    ft_failpoint(AGREE_DECIDED);
    ft_record(a, 'E', "ADOPTED %u", d->generation);
    if (!a->noticed_ns)
        a->noticed_ns = ft_now_ns();
    a->kind = FT_ORDER_NONE;
    repair(a, d);
    note_calls(a, d);
    if (!(d->data.flags & FT_AGREE_DONE))
        end_if_file_open(a, d);
    int before = atomic_load(&rt->pos);
    ft_plan_make(&a->map, &a->exposure, &rt->groups, d, 1, &plan);
    ft_failpoint(ASSIGN);
    if (plan.kind == FT_PLAN_LOST)
        ft_give_up_with(plan.reason, plan.message);
    finish_old(a, d);
    if (!ft_agent_main_busy(a))
        atomic_store(
            &a->rt->box.complete,
            atomic_load(
                &a->rt->box.committed)); /* what was copied for another checkpoint is void */
    ft_agent_hold(a, FT_HOLD_NONE);
    ft_snapshot_end(a);
    int now = a->map.pos_of[rt->self];
    FT_ASSERT(now != -2);
    if (before < 0 && now >= 0) {
        struct ft_testimony left = left_by(a, d, rt->slot_of[now]);
        heir(rt, &left);
    }
    atomic_store(&rt->box.generation, d->generation);
    a->quiet_due = 1;
    ft_demand_generation(a, d, before >= 0 && before < rt->board->nranks ? before : -1,
                         plan.kind == FT_PLAN_ROLLBACK, plan.version > 0 && !a->run_over);
    hand_over_mapping(a);
    ft_release_lost(a, d);
    if (before < 0 && now >= 0)
        take_over(a, now, &plan);
    a->rolling = plan.kind == FT_PLAN_ROLLBACK;
    if (a->rolling) {
        a->free_main = a->late = 0;
    }
    a->due_said = 0;
    a->target_since_ns = 0;
    struct ft_order_event ev = {
        .kind = FT_OE_GENERATION,
        .generation = d->generation,
        .failed = &d->failed,
        .first = a->rolling ? FT_ORDER_RECOVER : FT_ORDER_REJOIN,
        .arg = plan.version,
        .committed = d->data.committed,
        .run_over =
            (d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED | FT_AGREE_REFUSED)) != 0,
        .checkpoints = rt->checkpoints};
    a->told_moves = a->main.moves;
    struct ft_order_event mile = {.kind = FT_OE_MILESTONE, .arg = (uint64_t)ft_agent_milestone(a)};
    ft_agent_order_event(
        a,
        &mile); /* first: the generation's first order may be carried out, and answered, at once */
    report(a, d, &plan);
    ft_agent_order_event(a, &ev);
}
