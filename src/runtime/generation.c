/* SPDX-License-Identifier: BSD-3-Clause
 *
 * generation.c - from a decision on failures to the new generation (D3 to D5, A1): repair, plan, finish what the old
 * generation had begun, tell main, and let the order machine go on.
 */
#include <stdio.h>
#include <string.h>

#include "alog/chan.h"
#include "rma/windows.h"
#include "runtime/agent.h"
#include "transport/seen.h"

#define SAME_PLACE 3 /* deaths of a rank at one place before it is called a bug of the program */

static uint32_t who_of(const struct ft_rt *rt, int pos)
{
    int n = rt->board->nranks;
    return pos < n ? FT_WHO(FT_ROLE_RANK, pos) : FT_WHO(FT_ROLE_CHECKSUM, pos - n);
}

/* D7. A rank that dies where it died before, again and again, does so of its own. One that came beyond that place does
 * not: a program without safepoints is at one milestone all the time. All see the same: what is read is on the board,
 * and the dead do not write any more. */
static void count_deaths(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    for (int pos = 0; pos < rt->board->nranks; pos++) {
        int slot = a->map.slot_of[pos];
        if (!ft_bit_get(&d->failed, slot))
            continue;
        const struct ft_board_slot *s = &rt->board->slot[slot];
        struct ft_place now = {.position = atomic_load(&s->position), .calls = atomic_load(&s->calls)};
        uint64_t place = now.position;
        int beyond = place != a->place[pos].position || now.calls > a->place[pos].calls;
        a->deaths[pos] = beyond ? 1 : a->deaths[pos] + 1;
        a->place[pos] = now;
        if (a->deaths[pos] >= SAME_PLACE) {
            char text[256];
            snprintf(text, sizeof text,
                     "rank %d died %d times at the same place (%s, safepoint %llu, call %llu): probably a bug in the program. Run it "
                     "in a debugger",
                     pos, SAME_PLACE,
                     place >> 56 == FT_MILE_SETUP ? "in setup"
                     : place >> 56 == FT_MILE_RUN ? "in body"
                                                  : "after body",
                     (unsigned long long)(place & 0xffffffffffffffull), (unsigned long long)now.calls);
            ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST, text);
        }
    }
}

static void repair(struct ft_agent *a, const struct ft_decision *d)
{
    ft_failpoint(REPAIR);
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&d->failed, i) && a->map.pos_of[i] != -2)
            ft_rma_repair(&a->rt->arena, i);
}

/* How far lost ranks had come: what they did in their last calls may have been seen, though no record says so. */
static void note_calls(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        int slot = a->map.slot_of[r]; /* by the old mapping */
        _Atomic uint64_t *most = &rt->arena.ctl->peer[r].lost_calls;
        if (ft_bit_get(&d->failed, slot))
            atomic_store(most, ft_max_u64(atomic_load(most), atomic_load(&rt->board->slot[slot].calls)));
    }
}

/* What the old generation had agreed and not everybody heard: flip, enter body, leave FTRMA_Run, leave MPI_Finalize. */
static void finish_old(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    uint64_t v = d->data.committed;
    if (v > atomic_load(&rt->committed)) {
        FT_ASSERT(ft_agent_main_busy(a) || atomic_load(&rt->complete) >= v || atomic_load(&rt->pos) < 0);
        atomic_store(&rt->committed, v);
        atomic_store(&ft_msg_committed, v);
        ft_save_committed(rt, v);
        ft_agent_covered(a);
    }
    if (d->data.flags & FT_AGREE_UNPROTECTED)
        a->unprotected = 1;
    if (d->data.flags & FT_AGREE_REFUSED)
        atomic_store(&rt->refused, d->data.flags & FT_AGREE_NO_ROOM ? FT_SKIP_NOMEM : FT_SKIP_REQUESTS);
    if (d->data.flags & FT_AGREE_RUN_OVER)
        atomic_store(&rt->run_over, 1);
    if (d->data.flags & FT_AGREE_DONE)
        atomic_store(&rt->finished, 1);
    a->free_main = 1; /* also from FTRMA_Run's entry or end, if that was agreed */
}

static void hand_over_mapping(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    int n = rt->board->nranks + rt->board->nchecksums;
    pthread_mutex_lock(&rt->map_lock);
    memcpy(rt->slot_of, a->map.slot_of, (size_t)n * sizeof *rt->slot_of);
    rt->mapped_in = atomic_load(&rt->generation);
    pthread_mutex_unlock(&rt->map_lock);
    a->rebind_due = 1;
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
    atomic_store(&rt->incomplete, rt->checkpoints && atomic_load(&rt->committed) > 0);
    if (pos >= n && !atomic_load(&rt->incomplete))
        atomic_store_explicit(&rt->arena.ctl->live, 1, memory_order_release);
    ft_fp_arm(rt->inject, pos < n ? FT_ROLE_RANK : FT_ROLE_CHECKSUM, pos < n ? pos : pos - n, inc);
    if (pos < n) {
        atomic_store(&rt->milestone, FT_MILE_SETUP);
        a->late = plan->kind == FT_PLAN_REJOIN && atomic_load(&rt->committed) > 0;
        atomic_store(&rt->alone, a->late);
        atomic_store(&rt->replaying, 1);
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
    ft_rt_event(rt, FT_EV_AGREED, FT_WHO_NONE, d->generation, ft_bitset_count(&d->failed), 0, a->noticed_ns ? now - a->noticed_ns : 0);
    if (plan->unaware)
        ft_rt_event(rt, FT_EV_UNAWARE, FT_WHO_NONE, plan->unaware, 0, 0, 0);
    for (int i = 0; i < plan->nreplaced && i < (int)FT_COUNTOF(plan->replaced); i++) {
        int pos = plan->replaced[i];
        if (plan->kind == FT_PLAN_REJOIN && pos < rt->board->nranks)
            ft_rt_event(rt, FT_EV_LOCAL, who_of(rt, pos), (int64_t)plan->version, 0, 0, 0);
        ft_rt_event(rt, FT_EV_REPLACED, who_of(rt, pos), a->map.slot_of[pos], a->map.incarnation[pos], 0, 0);
    }
}

/* What the dead themselves have said of their logs and windows; all see the same, since the dead do not write any more. */
static void add_broken(struct ft_agent *a, struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    for (int r = 0; r < rt->board->nranks; r++) {
        const struct ft_board_slot *s = &rt->board->slot[a->map.slot_of[r]];
        if (d->data.committed < atomic_load(&s->lg_whole_from))
            ft_bit_set(&d->data.exposed, r);
        if (ft_bit_get(&d->failed, a->map.slot_of[r]) && d->data.committed < atomic_load(&s->shared_until))
            d->data.flags |= FT_AGREE_SHARED;
    }
}

static _Atomic uint32_t nowhere; /* a process that is not part of a job */
_Atomic uint32_t *ft_runtime_shared_files = &nowhere;

/* All say the same, whoever takes the loss over first: a spare, too, that knows of no file. */
static int file_is_open(const struct ft_agent *a, const struct ft_decision *d)
{
    for (int r = 0; r < a->rt->board->nranks; r++) {
        int slot = a->map.slot_of[r]; /* by the old mapping */
        if (!ft_bit_get(&d->failed, slot) && atomic_load(&a->rt->board->slot[slot].shared_files) > 0)
            return 1;
    }
    return 0;
}

static void end_if_rank_lost(const struct ft_agent *a, const struct ft_decision *d)
{
    char text[160];
    for (int r = 0; r < a->rt->board->nranks; r++)
        if (ft_bit_get(&d->failed, a->map.slot_of[r])) { /* by the old mapping */
            snprintf(text, sizeof text, "rank %d was lost while a file was open that several ranks had opened together with MPI_File_open: one rank alone cannot "
                     "open it again", r);
            ft_rt_end(a->rt, FT_JOB_LOST, FT_EXIT_LOST, text);
        }
}

void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d)
{
    struct ft_rt *rt = a->rt;
    struct ft_plan plan;
    ft_failpoint(AGREE_DECIDED);
    if (!a->noticed_ns)
        a->noticed_ns = ft_now_ns();
    atomic_store(&rt->harmed, 1);
    a->kind = FT_ORDER_NONE;
    if (!(d->data.flags & FT_AGREE_DONE)) /* else its end is not ours to survive */
        count_deaths(a, d);
    repair(a, d);
    note_calls(a, d);
    if (!(d->data.flags & FT_AGREE_DONE) && file_is_open(a, d))
        end_if_rank_lost(a, d);
    int before = atomic_load(&rt->pos);
    struct ft_decision known = *d;
    add_broken(a, &known);
    ft_plan_make(&a->map, &rt->groups, &known, 1, &plan);
    ft_failpoint(ASSIGN);
    if (plan.kind == FT_PLAN_LOST)
        ft_rt_end(rt, FT_JOB_LOST, FT_EXIT_LOST, plan.message);
    finish_old(a, d);
    if (!ft_agent_main_busy(a))
        atomic_store(&a->rt->complete, atomic_load(&a->rt->committed)); /* what was copied for another checkpoint is void */
    atomic_store(&rt->hold, FT_HOLD_NONE);
    ft_snapshot_end(a);
    int now = a->map.pos_of[rt->self];
    FT_ASSERT(now != -2);
    if (before < 0 && now >= 0) {
        rt->lost_events = atomic_load(&rt->board->slot[rt->slot_of[now]].events);
        rt->lost_heap = atomic_load(&rt->board->slot[rt->slot_of[now]].heap_from);
        ft_seen_place.lost_arena = atomic_load(&rt->board->slot[rt->slot_of[now]].arena_at);
        ft_seen_place.lost_strayed = atomic_load(&rt->board->slot[rt->slot_of[now]].strayed);
    }
    atomic_store(&rt->generation, d->generation);
    a->quiet_due = 1;
    ft_demand_generation(a, d, before >= 0 && before < rt->board->nranks ? before : -1, plan.kind == FT_PLAN_ROLLBACK,
                         plan.version > 0 && !atomic_load(&rt->run_over));
    hand_over_mapping(a);
    ft_release_lost(a, d);
    if (before < 0 && now >= 0)
        take_over(a, now, &plan);
    a->rolling = plan.kind == FT_PLAN_ROLLBACK;
    if (a->rolling) {
        a->free_main = a->late = 0;
        atomic_store(&rt->alone, 0);
    }
    a->due_said = 0;
    a->target_since_ns = 0;
    struct ft_order_event ev = {.kind = FT_OE_GENERATION,
                                .generation = d->generation,
                                .failed = &d->failed,
                                .first = a->rolling ? FT_ORDER_RECOVER : FT_ORDER_REJOIN,
                                .arg = plan.version,
                                .committed = d->data.committed,
                                .run_over = (d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED | FT_AGREE_REFUSED)) != 0,
                                .checkpoints = rt->checkpoints};
    a->told_milestone = atomic_load(&rt->milestone);
    struct ft_order_event mile = {.kind = FT_OE_MILESTONE, .arg = (uint64_t)a->told_milestone};
    ft_agent_order_event(a, &mile); /* first: the generation's first order may be carried out, and answered, at once */
    report(a, d, &plan);
    ft_agent_order_event(a, &ev);
}
