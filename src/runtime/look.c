/* SPDX-License-Identifier: BSD-3-Clause
 *
 * look.c - what the agent looks at for the machine: its own main, others' control blocks, and, when
 * somebody is lost, what the dead have left.
 */
#include <sched.h>

#include "base/near.h"
#include "rma/far_log.h"
#include "rma/windows.h"
#include "runtime/agent.h"
#include "runtime/latest.h"
#include "runtime/record.h"
#include "transport/turn.h"
#include "transport/wait.h"

#define STUCK_NS \
    50000000ull /* main asleep without progress for two of these: it waits for somebody */
#define RANKS_LIVE (1ull << 31)

static struct ft_ctl *ctl_at(struct ft_agent *a, int pos)
{
    return ft_tp_ctl(&a->rt->tp, ft_agent_map(a).slot_of[pos]);
}

static int is_live(const struct ft_ctl *ctl)
{
    return ctl && atomic_load_explicit(&ctl->live, memory_order_acquire);
}

/* --- looks --- */

/* No access to a window is under way here that began before this was asked, and what was asked of
 * other nodes is answered, or all go back. */
static int nobody_inside(const struct ft_agent *a)
{
    int back = (a->p->carrier.facts & FT_FACT_ROLLING) != 0;
    ft_wait_fence();
    for (int i = 0; i < 100 && atomic_load_explicit(ft_rma_inside, memory_order_acquire); i++)
        sched_yield();
    return atomic_load_explicit(ft_rma_inside, memory_order_acquire) == 0 &&
           !ft_far_unanswered(ft_transport->own, back);
}

/* Who accesses this process's windows does so before it has entered a snapshot, and is waited for;
 * who comes later sees that it has entered. */
static int is_accessed(struct ft_agent *a)
{
    for (int r = 0; r < a->cfg.nranks; r++) {
        const struct ft_ctl *ctl = ctl_at(a, r);
        if (ctl && atomic_load(&ctl->inside) == FT_INSIDE_OF + (uint32_t)a->rt->self)
            return 1;
    }
    return 0;
}

static int untouched(struct ft_agent *a)
{
    for (int i = 0; i < 100 && is_accessed(a); i++)
        ft_cpu_relax();
    return !is_accessed(a);
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

static int all_live(struct ft_agent *a)
{
    for (int r = 0; r < a->cfg.nranks; r++)
        if (!is_live(ctl_at(a, r)))
            return 0;
    return 1;
}

static int own_group(const struct ft_agent *a)
{
    return ft_group_of_position(a->cfg.groups, atomic_load(&a->rt->pos));
}

static uint64_t group_state(struct ft_agent *a)
{
    const struct ft_groups *g = a->cfg.groups;
    int group = own_group(a), size = ft_group_size(g, group);
    uint64_t bits = RANKS_LIVE;
    for (int i = 0; i < g->parity; i++) {
        const struct ft_ctl *ctl = ctl_at(a, ft_group_block(g, group, size + i));
        if (is_live(ctl) &&
            atomic_load_explicit(&ctl->rejoined, memory_order_acquire) >= a->p->carrier.generation)
            bits |= 1ull << i;
    }
    for (int i = 0; i < size; i++)
        if (!is_live(ctl_at(a, ft_group_member(g, group, i))))
            bits &= ~RANKS_LIVE;
    return bits;
}

/* What a group's ranks have to protect, and the room that they have made for it; only to be
 * compared with what it was. */
static uint64_t room(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t sum = 0;
    if (!ft_is_checksum(rt))
        return ft_ckpt_most(rt);
    for (int i = 0; i < ft_group_size(a->cfg.groups, own_group(a)); i++) {
        int slot = ft_agent_map(a).slot_of[ft_group_member(a->cfg.groups, own_group(a), i)];
        const struct ft_ctl *ctl = ft_tp_ctl(&rt->tp, slot);
        sum += atomic_load(&rt->board->slot[slot].protected_bytes) +
               (ctl ? atomic_load(&ctl->image[0].bytes) : 0);
    }
    return sum;
}

void ft_look_await(struct ft_agent *a, uint32_t looks)
{
    if (looks & ~a->looks & FT_LOOK_STUCK) {
        a->stuck_ticks = 0;
        a->tick_ns = ft_now_ns();
    }
    if (looks & ~a->looks & FT_LOOK_GROUP)
        a->group_seen = UINT64_MAX;
    a->looks = looks;
}

static void seen(struct ft_agent *a, uint32_t look, uint64_t value)
{
    ft_agent_feed(a, (struct ft_process_event){.kind = FT_PE_SEEN, .look = look, .value = value});
}

/* After each thing that was seen the machine may want to see others. */
int ft_look_around(struct ft_agent *a)
{
    uint32_t l = a->looks;
    uint64_t value = 0;
    if (l & FT_LOOK_QUIET && nobody_inside(a)) {
        seen(a, FT_LOOK_QUIET, 1);
    } else if (l & FT_LOOK_UNTOUCHED && untouched(a)) {
        seen(a, FT_LOOK_UNTOUCHED, 1);
    } else if (l & FT_LOOK_STUCK && stuck(a)) {
        seen(a, FT_LOOK_STUCK, 1);
    } else if (l & FT_LOOK_LIVE && all_live(a)) {
        seen(a, FT_LOOK_LIVE, 1);
    } else if (l & FT_LOOK_GROUP && (value = group_state(a)) != a->group_seen) {
        a->group_seen = value;
        seen(a, FT_LOOK_GROUP, value);
    } else if (l & FT_LOOK_ROOM && (value = room(a)) != a->p->carrier.room) {
        seen(a, FT_LOOK_ROOM, value);
    } else {
        return 0;
    }
    return 1;
}

/* --- what is said of others --- */

/* A checksum process that has its codewords: which image of a lost rank its latest one holds. */
static void say_tag(struct ft_agent *a, int rank, struct ft_testimony *t)
{
    struct ft_rt *rt = a->rt;
    int pos = atomic_load(&rt->pos), there, group = -1;
    if (rt->demand && ft_is_checksum(rt) && !a->p->carrier.incomplete)
        group = ft_group_of_position(a->cfg.groups, pos);
    if (group < 0 || group != ft_group_of_rank(a->cfg.groups, rank))
        return;
    t->tag = ft_latest_tag(rt, rt->self, rank);
    t->tag_by = ft_latest_lead(rt, group, &there) == pos
                    ? FT_TAG_BY_LEAD
                    : FT_TAG_BY(ft_group_block_of_position(a->cfg.groups, pos) -
                                ft_group_size(a->cfg.groups, group));
}

/* What no machine of this process knows. Of the dead all who live may say it, since it is final. */
void ft_look_testify(struct ft_agent *a, const struct ft_bitset *dead, struct ft_agree_data *d)
{
    struct ft_rt *rt = a->rt;
    atomic_store(&ft_whole.voted, 1 + a->p->carrier.generation); /* before what is said is read */
    *d = (struct ft_agree_data){
        .flags = (atomic_load(&rt->board->phase_rma) ? FT_AGREE_PHASE_RMA : 0) |
                 (atomic_load(&rt->me->shared_files) ? FT_AGREE_FILES : 0) |
                 FT_AGREE_UNKEPT(atomic_load(&rt->me->testament.unkept) & FT_UNKEPT_ALL)};
    if (rt->logs && atomic_load(&rt->board->phase_far))
        d->flags |= FT_AGREE_UNKEPT(FT_UNKEPT_NODES);
    if (a->p->carrier.committed > 0) /* logs that are not whole expose everybody else */
        ft_exposer_add(&d->exposers, rt->self, ft_whole_others_from());
    struct ft_mapping map = ft_agent_map(a);
    for (int r = 0; r < a->cfg.nranks; r++) {
        int slot = map.slot_of[r];
        const struct ft_testament *left = &rt->board->slot[slot].testament;
        if (!ft_bit_get(dead, slot) || ft_board_slot_end(rt->board, slot) == FT_SLOT_OUT)
            continue;
        struct ft_testimony t = ft_testify(slot, left);
        say_tag(a, r, &t);
        ft_testimony_add(&d->told, &t);
        d->flags |= FT_AGREE_UNKEPT(atomic_load(&left->unkept) & FT_UNKEPT_ALL);
        d->shared_until = ft_max_u64(d->shared_until, atomic_load(&left->shared_until));
        uint64_t committed = atomic_load(&left->committed);
        d->committed = ft_max_u64(d->committed, committed / 2);
        d->flags |= committed & 1 ? FT_AGREE_RUN_OVER : 0;
    }
}

uint64_t ft_look_bytes(struct ft_agent *a, uint64_t version)
{
    uint64_t sum = 0;
    struct ft_mapping map = ft_agent_map(a);
    for (int r = 0; r < a->cfg.nranks; r++)
        sum += ft_ckpt_image_bytes(a->rt, map.slot_of[r], version);
    return sum;
}
