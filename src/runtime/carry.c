/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carry.c - carries out what the machine has said (proto/action.h), one action after the other.
 * Failpoints are passed here, next to what they are about.
 */
#include <stdio.h>
#include <string.h>

#include "alog/chan.h"
#include "msg/channels.h"
#include "recover/action_text.h"
#include "rma/windows.h"
#include "runtime/agent.h"
#include "runtime/latest.h"
#include "runtime/record.h"
#include "runtime/start.h"
#include "transport/seen.h"

static int is_adopting(const struct ft_agent *a)
{
    for (int i = 0; i < a->out->act.n; i++)
        if (a->out->act.a[i].kind == FT_DO_BIND)
            return 1;
    return 0;
}

/* --- a decision --- */

/* [Main has opened a file since the vote, which did not say so.] */
static void end_if_file_open(const struct ft_agent *a)
{
    const struct ft_decision *d = &a->out->decision;
    if (d->data.flags & FT_AGREE_DONE)
        return;
    for (int r = 0; r < a->rt->board->nranks && atomic_load(&a->rt->me->shared_files); r++)
        if (ft_bit_get(&d->failed, a->rt->slot_of[r])) /* by the old mapping */
            ft_give_up(FILE_OPEN, r);
}

static void repair(struct ft_agent *a)
{
    const struct ft_decision *d = &a->out->decision;
    ft_failpoint(AGREE_DECIDED);
    ft_failpoint(REPAIR);
    for (int i = 0; i < a->rt->nslots; i++)
        if (ft_bit_get(&d->failed, i) && !ft_bit_get(&a->repaired, i)) {
            ft_rma_repair(&a->rt->arena, i);
            ft_bit_set(&a->repaired, i);
        }
    end_if_file_open(a);
    ft_failpoint(ASSIGN);
}

/* This process is about to carry what the lost one did. */
static void inherit(struct ft_agent *a, const struct ft_testimony *of)
{
    struct ft_rt *rt = a->rt;
    struct ft_mapping m = ft_agent_map(a);
    int rank = m.pos_of[rt->self], home = m.home[rank];
    uint64_t known = m.fate[rank].most_calls;
    /* [So many were lost that no vote had its testimony: it counts as the one that had the log, and
     * had still to fetch it.] */
    int had_not = home == of->slot && !of->log_here && m.incarnation[rank] > 1;
    rt->lost_home = had_not ? -1 : home;
    atomic_store(&rt->lost_calls, ft_max_u64(known, of->calls));
    rt->lost_events = of->events;
    rt->lost_heap = of->heap_from;
    ft_seen.lost_arena = of->arena_at;
    ft_seen.lost_strayed = of->strayed;
}

static void say_left(struct ft_agent *a, const struct ft_action *act)
{
    int slot = (int)act->value;
    struct ft_mail m = {.kind = FT_MAIL_LEFT,
                        .u.left = ft_testify(slot, &a->rt->board->slot[slot].testament)};
    ft_agent_mail(a, act->to, &m, ft_mail_bytes(&m));
}

static void take_over(struct ft_agent *a, int pos, int incarnation)
{
    struct ft_rt *rt = a->rt;
    int n = rt->board->nranks, index = pos < n ? pos : pos - n;
    enum ft_role role = pos < n ? FT_ROLE_RANK : FT_ROLE_CHECKSUM;
    atomic_store(&rt->pos, pos);
    rt->replacement = 1;
    atomic_store(&rt->me->who, FT_WHO(role, index));
    atomic_store(&rt->me->incarnation, (uint32_t)incarnation);
    ft_fp_arm(rt->inject, role, index, incarnation);
}

static void lead(struct ft_agent *a)
{
    for (int g = 0; a->cfg.groups && g < a->cfg.groups->ngroups; g++)
        atomic_store(&a->rt->lead[g], ft_process_lead(a->p, &a->cfg, g));
}

static void bind_to(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    struct ft_mapping m = ft_agent_map(a);
    int n = rt->board->nranks + rt->board->nchecksums, now = m.pos_of[rt->self],
        before = atomic_load(&rt->pos);
    lead(a);
    pthread_mutex_lock(&rt->map_lock);
    memcpy(rt->slot_of, m.slot_of, (size_t)n * sizeof *rt->slot_of);
    if (m.told)
        memcpy(rt->heir, m.heir, (size_t)rt->board->nranks * sizeof *rt->heir);
    memcpy(rt->incarnation, m.incarnation, (size_t)rt->board->nranks * sizeof *rt->incarnation);
    rt->mapped_in = a->out->decision.generation;
    void (*news)(void) = rt->news;
    pthread_mutex_unlock(&rt->map_lock);
    if (news)
        news();
    ft_release_lost(a, &a->out->decision);
    if (before < 0 && now >= 0)
        take_over(a, now, (int)m.incarnation[now]);
}

/* --- main --- */

static void command(struct ft_agent *a, const struct ft_action *act)
{
    uint64_t n = ft_box_issue(&a->rt->box, &a->main, act->command, &act->arg);
    FT_ASSERT(n == act->number);
    ft_tp_shm_ring_ctl(a->rt->arena.ctl);
}

static void hold(struct ft_agent *a, uint64_t value)
{
    ft_box_set_hold(&a->rt->box, value);
    ft_tp_shm_ring_ctl(a->rt->arena.ctl); /* it may sleep on its promise */
    a->owes_copy = 1;
}

static void wish(struct ft_agent *a, uint64_t value)
{
    struct ft_mailbox *b = &a->rt->box;
    if (value == 1)
        (void)ft_box_wish(b, a->p->carrier.generation);
    else if (value == FT_WISH_FORGET)
        ft_box_forget_images(b, &a->main);
    else
        (void)ft_box_unwish(b);
    a->owes_copy = 1;
}

static void gate(struct ft_agent *a, uint64_t snapshot)
{
    if (snapshot) {
        atomic_fetch_and(&a->rt->box.asks, ~FT_ASK_SNAPSHOT_OFF);
        if (ft_is_rank(a->rt))
            ft_cut_begin(snapshot);
    } else {
        ft_cut_end();
        ft_tp_shm_ring_ctl(a->rt->arena.ctl);
    }
}

/* --- others --- */

static void publish_latest(struct ft_rt *rt, uint64_t version)
{
    ft_latest_set(rt, version);
    if (version && ft_is_rank(rt))
        ft_failpoint(DEMAND_FLIPPED);
    else if (version)
        ft_failpoint(DEMAND_TAGGED);
}

static void publish_committed(struct ft_agent *a, uint64_t version)
{
    int adopting = is_adopting(a); /* what others have committed */
    if (!adopting)
        ft_failpoint(CKPT_COMMIT);
    atomic_store(&a->rt->me->testament.committed,
                 2 * version + ((a->p->carrier.facts & FT_FACT_RUN_OVER) != 0));
    if (!adopting)
        ft_failpoint(CKPT_SAID);
    atomic_store(&a->rt->box.committed, version);
    atomic_store(&ft_msg_committed, version);
    ft_save_committed(a->rt, version);
    if (!adopting)
        ft_failpoint(CKPT_COMMITTED);
}

static void publish(struct ft_agent *a, const struct ft_action *act)
{
    struct ft_rt *rt = a->rt;
    struct ft_ctl *ctl = rt->arena.ctl;
    switch ((enum ft_word)act->word) {
    case FT_WORD_REJOINED:
        ft_failpoint(QUIESCE);
        atomic_store_explicit(&ctl->rejoined, (uint32_t)act->value, memory_order_release);
        break;
    case FT_WORD_LIVE:
        atomic_store_explicit(&ctl->live, (uint32_t)act->value, memory_order_release);
        break;
    case FT_WORD_LATEST: publish_latest(rt, act->value); break;
    case FT_WORD_GIVEN_UP: atomic_store_explicit(&ctl->latest, 0, memory_order_release); break;
    case FT_WORD_SNAPSHOT_ENTERED:
        atomic_store(&ctl->snapshot_entered, act->value);
        ft_failpoint(SNAPSHOT_ENTERED);
        break;
    case FT_WORD_COMMITTED: publish_committed(a, act->value); break;
    case FT_WORD_COMPLETE: atomic_store(&rt->box.complete, act->value); break;
    case FT_WORD_GENERATION: atomic_store(&rt->box.generation, (uint32_t)act->value); break;
    case FT_WORD_REPLAYING: atomic_store(&rt->box.replaying, (uint32_t)act->value); break;
    case FT_WORD_FLAGS: atomic_store(&rt->box.flags, (uint32_t)act->value); break;
    }
}

static void mail(struct ft_agent *a, const struct ft_action *act)
{
    const struct ft_mail *m = &a->out->mail[act->mail];
    struct ft_mapping map = ft_agent_map(a);
    int sent = 0;
    if (m->kind == FT_MAIL_DEMAND && m->u.demand.kind == FT_DEMAND_ASK)
        ft_failpoint(DEMAND_ASKED);
    if (m->kind == FT_MAIL_DEMAND && m->u.demand.kind == FT_DEMAND_TAG_HEARD)
        ft_failpoint(DEMAND_TAG_HEARD);
    for (int r = 0; act->to == FT_TO_RANKS && r < a->cfg.nranks; r++)
        if (map.slot_of[r] != a->rt->self) {
            ft_agent_mail(a, map.slot_of[r], m, act->bytes);
            if (m->kind == FT_MAIL_MARKER && sent++ == 0)
                ft_failpoint(SNAPSHOT_MARKED);
        }
    if (act->to == FT_TO_RANKS)
        return;
    ft_agent_mail(a, act->to, m, act->bytes);
    if (m->kind == FT_MAIL_DEMAND && m->u.demand.kind == FT_DEMAND_TAG_IS)
        ft_failpoint(DEMAND_TAG_SAID);
    if (m->kind == FT_MAIL_DEMAND && m->u.demand.kind == FT_DEMAND_LATEST_IS)
        ft_failpoint(DEMAND_LATEST_SAID);
    if (m->kind == FT_MAIL_AGREE && m->u.agree.kind == FT_AGREE_VOTE)
        ft_failpoint(AGREE_VOTE);
}

static void say_tags(struct ft_agent *a, const struct ft_action *act)
{
    const struct ft_groups *g = a->cfg.groups;
    struct ft_mapping map = ft_agent_map(a);
    int group = ft_group_of_position(g, atomic_load(&a->rt->pos));
    for (int i = 0; i < ft_group_size(g, group); i++) {
        struct ft_mail m = {.kind = FT_MAIL_DEMAND, .u.demand = act->demand};
        m.u.demand.rank = ft_group_member(g, group, i);
        m.u.demand.version = ft_latest_tag(a->rt, a->rt->self, m.u.demand.rank);
        ft_agent_mail(a, map.slot_of[m.u.demand.rank], &m, ft_mail_bytes(&m));
        if (i == 0)
            ft_failpoint(DEMAND_TAG_SAID);
    }
}

static void put_on_board(struct ft_agent *a, const struct ft_action *act)
{
    struct ft_rt *rt = a->rt;
    uint32_t who = act->who;
    int64_t b = act->b;
    switch ((enum ft_event_kind)act->event) {
    case FT_EV_FAILED:
        ft_failpoint(DETECT_DEATH);
        if (who == FT_WHO_NONE) {
            enum ft_role role;
            int index;
            ft_rt_role(rt, (int)act->a, &role, &index);
            who = FT_WHO(role, index);
        }
        b = atomic_load(&rt->board->slot[act->a].pid);
        break;
    case FT_EV_AGREED: atomic_store(&rt->board->generation, (uint32_t)act->a); break;
    case FT_EV_FALLBACK: atomic_fetch_add(&rt->board->rollbacks, 1); break;
    case FT_EV_CKPT_DONE: b = (int64_t)ft_look_bytes(a, (uint64_t)act->a); break;
    default: break;
    }
    ft_rt_event(rt, (enum ft_event_kind)act->event, who, act->a, b, 0, (uint64_t)act->dur);
}

/* A loop that polls memory without a call is nothing that main could leave: the user is told what
 * all wait for. */
void ft_carry_say_awaited(struct ft_agent *a)
{
    struct ft_rt *rt = a->rt;
    uint64_t version = a->awaited;
    char line[240];
    if (a->p->carrier.state != FT_CS_PARKING)
        a->awaited = 0;
    if (!a->awaited || atomic_load(&ft_in_call))
        return;
    a->awaited = 0;
    ft_rt_event(rt, FT_EV_AWAITED, ft_who(rt), 0, 0, 0, ft_now_ns() - a->p->carrier.due.noticed_ns);
    int n = snprintf(line, sizeof line,
                     "ftrma: all other ranks wait for the next MPI call of rank %d, to go back to "
                     "checkpoint %llu. A loop that polls "
                     "memory should call MPI_Win_sync\n",
                     atomic_load(&rt->pos), (unsigned long long)version);
    ft_print(line, (size_t)n);
}

static void kill_silent(struct ft_agent *a, int slot)
{
    ft_rt_event(a->rt, FT_EV_SILENT, FT_WHO_NONE, slot,
                a->limit_ms * a->p->detect.silent / a->p->detect.limit, 0, 0);
    a->watch.kill_due = 1;
    ft_sentinel_kill(&a->watch);
}

static void end_well(struct ft_rt *rt)
{
    if (!ft_board_begin_end(rt->board, 0, FT_REASON_NONE, ""))
        return;
    ft_rt_event(rt, FT_EV_DONE, FT_WHO_NONE, 0, 0, 0, 0);
    ft_board_finish_end(rt->board, FT_JOB_DONE);
}

static void carry(struct ft_agent *a, const struct ft_action *act)
{
    struct ft_rt *rt = a->rt;
    switch (act->kind) {
    case FT_DO_MAIL: mail(a, act); break;
    case FT_DO_COMMAND: command(a, act); break;
    case FT_DO_HOLD: hold(a, act->value); break;
    case FT_DO_WISH: wish(a, act->value); break;
    case FT_DO_TOOK: ft_box_heard_taken(&rt->box, &a->main); break;
    case FT_DO_ATTENTION:
        a->rebind_due |= act->value == FT_ATTENTION_REBIND;
        ft_agent_attention(a, (uint32_t)act->value);
        break;
    case FT_DO_AWAIT: ft_look_await(a, (uint32_t)act->value); break;
    case FT_DO_PUBLISH: publish(a, act); break;
    case FT_DO_SAY_TAGS: say_tags(a, act); break;
    case FT_DO_MEMBER: atomic_store(&rt->latest_of[act->to], act->value); break;
    case FT_DO_GATE: gate(a, act->value); break;
    case FT_DO_STILL_THERE:
        if (!rt->replacement || rt->restored) /* else it has not yet had any window */
            ft_ckpt_still_there(rt, act->value);
        break;
    case FT_DO_FORGET: atomic_store(&rt->lost_calls, 0); break;
    case FT_DO_WITNESS:
        a->owes_witness = 1;
        a->dead = a->out->set;
        break;
    case FT_DO_REPAIR: repair(a); break;
    case FT_DO_BIND: bind_to(a); break;
    case FT_DO_INHERIT: inherit(a, &a->out->left); break;
    case FT_DO_SAY_LEFT: say_left(a, act); break;
    case FT_DO_WATCH: ft_sentinel_begin(&a->watch, act->to); break;
    case FT_DO_KILL: kill_silent(a, act->to); break;
    case FT_DO_EVENT: put_on_board(a, act); break;
    case FT_DO_SAY: a->awaited = act->value; break;
    case FT_DO_SAVE: ft_save_ask(a, act->value); break;
    case FT_DO_GONE_ON: ft_save_gone_on(a); break;
    case FT_DO_JOB_DONE: end_well(rt); break;
    case FT_DO_LOST: ft_give_up_with(a->out->plan.reason, a->out->plan.message);
    default: FT_ASSERT(!"an action between machines");
    }
}

void ft_carry_out(struct ft_agent *a)
{
    char text[FT_ACTION_TEXT];
    if (a->out->answered & 1u << FT_ORDER_PROPOSE)
        ft_failpoint(CKPT_PROPOSED);
    if (a->out->answered & 1u << FT_ORDER_TARGET && a->main.place == FT_AT_HELD)
        ft_failpoint(CKPT_ARRIVED);
    if (a->out->waits)
        ft_failpoint(CKPT_WAITS);
    for (int i = 0; i < a->out->act.n; i++) {
        const struct ft_action *act = &a->out->act.a[i];
        /* mails are recorded where they are sent; what is written on the board, there */
        if (a->record >= 0 && act->kind != FT_DO_MAIL && act->kind != FT_DO_EVENT &&
            act->kind != FT_DO_ATTENTION &&
            ft_action_text(a->out, i, a->cfg.nslots, text, sizeof text))
            ft_record(a, 'A', "%s", text);
        carry(a, act);
    }
}

static void ask_for_end(void)
{
    ft_box_ask(&ft_own_rt->box, FT_ASK_SNAPSHOT_OFF);
    ft_agent_nudge(ft_own_rt);
}

void ft_carry_start(struct ft_agent *a)
{
    (void)a;
    if (ft_cut_possible)
        ft_cut_call_off = ask_for_end;
}
