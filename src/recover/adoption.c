/* SPDX-License-Identifier: BSD-3-Clause
 *
 * adoption.c - the adoption of a decision. It changes who leads each group and who carries what,
 * tells a replacement what the dead have left, and tells the machines.
 */
#include <string.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "recover/process_step.h"

/* --- the groups --- */

int *ft_pstep_lead_word(struct ft_process *p, const struct ft_process_cfg *cfg, int group)
{
    return p->map + 2 * ft_pstep_npositions(cfg) + cfg->nslots + group;
}

int ft_pstep_helper_at(const struct ft_process_cfg *cfg, int group, int i)
{
    return ft_group_block(cfg->groups, group, ft_group_size(cfg->groups, group) + i);
}

int ft_pstep_index_of(const struct ft_process_cfg *cfg, int pos)
{
    if (pos < cfg->nranks || !cfg->groups)
        return -1;
    int group = ft_group_of_position(cfg->groups, pos);
    return ft_group_block_of_position(cfg->groups, pos) - ft_group_size(cfg->groups, group);
}

/* Ranks of the group of this position. */
static int members_of(const struct ft_process_cfg *cfg, int pos)
{
    return pos < 0 || !cfg->groups
               ? 0
               : ft_group_size(cfg->groups, ft_group_of_position(cfg->groups, pos));
}

/* Bits of those checksum processes of a group that live and have whole codewords, by the mapping
 * before the decision. */
static uint32_t who_is_there(struct ft_process *p, const struct ft_process_cfg *cfg, int group,
                             const struct ft_decision *d)
{
    uint32_t there = 0;
    for (int i = 0; i < cfg->groups->parity; i++) {
        int slot = ft_process_map(p, cfg).slot_of[ft_pstep_helper_at(cfg, group, i)];
        if (!ft_bit_get(&d->failed, slot) && !ft_bit_get(&d->data.incomplete, slot))
            there |= 1u << i;
    }
    return there;
}

/* This is a function of the decisions, so all choose the same. It comes before the plan is made. */
static void choose_leads(struct ft_process *p, const struct ft_process_cfg *cfg,
                         const struct ft_decision *d)
{
    for (int g = 0; cfg->groups && g < cfg->groups->ngroups; g++) {
        int *word = ft_pstep_lead_word(p, cfg, g), lead = *word & 0xff;
        int there = (int)who_is_there(p, cfg, g, d);
        if (there && !(there >> lead & 1))
            lead = __builtin_ctz((unsigned)there);
        *word = there << 8 | lead;
    }
}

int ft_pstep_next_in_line(struct ft_process *p, const struct ft_process_cfg *cfg)
{
    struct ft_mapping m = ft_process_map(p, cfg);
    int before = 0;
    for (int i = 0; i < cfg->self; i++)
        before += m.pos_of[i] == -1;
    return m.pos_of[cfg->self] == -1 && before < cfg->carrier.parity;
}

/* --- a new generation --- */

uint32_t ft_pstep_who(const struct ft_process_cfg *cfg, int pos)
{
    return pos < cfg->nranks ? FT_WHO(FT_ROLE_RANK, pos)
                             : FT_WHO(FT_ROLE_CHECKSUM, pos - cfg->nranks);
}

void ft_pstep_board(struct ft_pstep *s, enum ft_event_kind event, uint32_t who, int64_t a,
                    int64_t b, uint64_t dur)
{
    struct ft_action *act = ft_action_add(&s->out->act, FT_DO_EVENT, 0);
    act->event = event;
    act->who = who;
    act->a = a;
    act->b = b;
    act->dur = (int64_t)dur;
}

static void report(struct ft_pstep *s, const struct ft_decision *d, const struct ft_plan *plan)
{
    struct ft_mapping m = ft_process_map(s->p, s->cfg);
    struct ft_tree tree;
    ft_tree_make(&tree, s->cfg->nslots, &d->failed, s->cfg->self);
    if (tree.root != s->cfg->self)
        return;
    if (plan->told)
        ft_pstep_board(s, FT_EV_TOLD, FT_WHO_NONE, plan->nnew, plan->nbare, 0);
    else if (plan->kind == FT_PLAN_ROLLBACK)
        ft_pstep_board(s, FT_EV_FALLBACK, FT_WHO_NONE, plan->why, 0, 0);
    ft_pstep_board(s, FT_EV_AGREED, FT_WHO_NONE, d->generation, ft_bitset_count(&d->failed),
                   s->ev->now - s->p->carrier.due.noticed_ns);
    if (plan->unaware)
        ft_pstep_board(s, FT_EV_UNAWARE, FT_WHO_NONE, plan->unaware, 0, 0);
    for (int i = 0; i < plan->nreplaced && i < 16; i++) {
        int pos = plan->replaced[i];
        if (plan->kind == FT_PLAN_REJOIN && pos < s->cfg->nranks)
            ft_pstep_board(s, FT_EV_LOCAL, ft_pstep_who(s->cfg, pos), (int64_t)plan->version, 0, 0);
        ft_pstep_board(s, FT_EV_REPLACED, ft_pstep_who(s->cfg, pos), m.slot_of[pos],
                       m.incarnation[pos], 0);
    }
}

void ft_pstep_add_milestone(struct ft_pstep *s)
{
    s->p->told = (int)ft_carrier_milestone(&s->p->carrier, &s->cfg->carrier);
    ft_pstep_add_order(
        s, (struct ft_order_event){.kind = FT_OE_MILESTONE, .arg = (uint64_t)s->p->told});
}

/* --- what the lost process has left --- */

static void inherit(struct ft_pstep *s, const struct ft_testimony *t)
{
    s->p->left_by = 0;
    s->out->left = *t;
    ft_action_add(&s->out->act, FT_DO_INHERIT, 0);
}

/* Many ranks were lost at once, and votes had no room for the testimony of this one. So another
 * process is asked that can read it, on the node of the lost one. That is the living one before it,
 * since launchers put neighbours on one node. This process itself is never asked: if nobody else
 * lives, nothing is left. */
static void ask_what_is_left(struct ft_pstep *s)
{
    struct ft_process *p = s->p;
    int n = s->cfg->nslots, of = p->left_by - 1, at = of;
    if (of < 0)
        return;
    do
        at = (at + n - 1) % n;
    while (at != of && (at == s->cfg->self || ft_bit_get(&p->agree.last.failed, at)));
    if (at == of)
        inherit(s, &(struct ft_testimony){.slot = of});
    else
        ft_pstep_mail(s, at, FT_MAIL_ASKS_LEFT)->u.number = (uint64_t)of;
}

void ft_pstep_hears_left(struct ft_pstep *s, const struct ft_testimony *t)
{
    if (s->p->left_by == 1 + t->slot)
        inherit(s, t);
}

/* of: the slot that carried this process's rank before. Asks again, since whoever was asked before
 * may be lost. */
static void learns_left(struct ft_pstep *s, int of)
{
    const struct ft_testimony *t = of < 0 ? NULL : ft_testimony_of(&s->out->decision.data.told, of);
    if (t)
        inherit(s, t);
    else if (of >= 0)
        s->p->left_by = 1 + of;
    ask_what_is_left(s);
}

void ft_pstep_adopt(struct ft_pstep *s, const struct ft_decision *d)
{
    struct ft_process *p = s->p;
    const struct ft_process_cfg *cfg = s->cfg;
    struct ft_mapping m = ft_process_map(p, cfg);
    struct ft_plan *plan = &s->out->plan;
    s->out->decision = *d;
    ft_action_add(&s->out->act, FT_DO_REPAIR, 0);
    if (cfg->carrier.broken == FT_BROKEN_OWN_WITNESS)
        s->out->decision.data.told = p->agree.local.told;
    int of = p->carrier.demand.ch.rank, owner = m.slot_of[of], old[cfg->nranks];
    memcpy(old, m.slot_of, (size_t)cfg->nranks * sizeof *old);
    int was = m.pos_of[cfg->self];
    choose_leads(p, cfg, d);
    ft_plan_make(&m, &p->exposure, cfg->nchecksums ? cfg->groups : NULL, &s->out->decision, 1,
                 plan);
    if (plan->kind == FT_PLAN_LOST) {
        p->lost = 1;
        ft_action_add(&s->out->act, FT_DO_LOST, 0);
        return;
    }
    p->generation = m.generation;
    int rollback = plan->kind == FT_PLAN_ROLLBACK, pos = m.pos_of[cfg->self];
    FT_ASSERT(pos >= -1);
    int word = pos >= 0 && cfg->groups
                   ? *ft_pstep_lead_word(p, cfg, ft_group_of_position(cfg->groups, pos))
                   : 0;
    struct ft_carrier_news news = {.generation = d->generation,
                                   .pos = pos,
                                   .rollback = rollback,
                                   .rejoin = plan->kind == FT_PLAN_REJOIN,
                                   .told = plan->told,
                                   .is_new = m.told && pos >= 0 && m.heir[pos].is_new,
                                   .bare = plan->nbare > 0,
                                   .lacks = m.told && pos >= 0 ? m.heir[pos].lacks : 0,
                                   .data = &d->data,
                                   .lead = word >> 8 ? word & 0xff : ~(word & 0xff),
                                   .there = (uint32_t)word >> 8,
                                   .index = ft_pstep_index_of(cfg, pos),
                                   .members = members_of(cfg, pos),
                                   .lost_owner = m.slot_of[of] != owner};
    learns_left(s, was < 0 && pos >= 0 && pos < cfg->nranks ? old[pos] : -1);
    ft_action_add(&s->out->act, FT_DO_BIND, 0);
    ft_pstep_inform(p, cfg);
    ft_carrier_adopted(&p->carrier, &cfg->carrier, s->ev->now, &news, &s->out->act);
    p->carrier.next = ft_pstep_next_in_line(p, cfg);
    report(s, d, plan);
    /* the milestone comes first, since the generation's first order may be answered at once */
    ft_pstep_add_milestone(s);
    ft_pstep_add_order(s,
                       (struct ft_order_event){
                           .kind = FT_OE_GENERATION,
                           .generation = d->generation,
                           .failed = &p->agree.last.failed,
                           .first = rollback ? FT_ORDER_RECOVER : FT_ORDER_REJOIN,
                           .arg = plan->version,
                           .committed = d->data.committed,
                           .run_over = (d->data.flags & (FT_AGREE_RUN_OVER | FT_AGREE_UNPROTECTED |
                                                         FT_AGREE_REFUSED)) != 0,
                           .checkpoints = cfg->carrier.checkpoints});
    ft_pstep_add(s, TO_AGREE)->agree = FT_AGREE_EV_ADOPTED;
}
