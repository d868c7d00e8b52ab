/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process.c - hands what one machine of a process says to the next one, until all are silent.
 */
#include "recover/process_step.h"

#include <stdio.h>
#include <string.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "erasure/erasure.h"

_Static_assert(FT_DEMAND_CODEWORDS >= FT_ERASURE_MAX_PARITY, "there is a place for each codeword");

struct ft_pitem *ft_pstep_add(struct ft_pstep *s, enum ft_pitem_kind kind)
{
    FT_ASSERT(s->tail < s->head + ITEMS);
    struct ft_pitem *i = &s->item[s->tail++ % ITEMS];
    memset(i, 0, offsetof(struct ft_pitem, execute));
    i->kind = kind;
    return i;
}

void ft_pstep_add_order(struct ft_pstep *s, struct ft_order_event ev)
{
    ft_pstep_add(s, TO_ORDER)->order = ev;
}

static void add_snapshot(struct ft_pstep *s, int marker, int rank)
{
    struct ft_pitem *i = ft_pstep_add(s, TO_SNAPSHOT);
    i->detect = marker;
    i->slot = rank;
}

static struct ft_pitem *add_detect(struct ft_pstep *s, enum ft_detect_event_kind kind, int slot)
{
    struct ft_pitem *i = ft_pstep_add(s, TO_DETECT);
    i->detect = kind;
    i->slot = slot;
    return i;
}

uint32_t ft_mail_bytes(const struct ft_mail *m)
{
    size_t n = sizeof m->u.number;
    switch (m->kind) {
    case FT_MAIL_AGREE: n = sizeof m->u.agree; break;
    case FT_MAIL_ORDER: n = sizeof m->u.order; break;
    case FT_MAIL_DEMAND: n = sizeof m->u.demand; break;
    case FT_MAIL_SNAPSHOT_OFF:
    case FT_MAIL_MARKER: n = sizeof m->u.marker; break;
    case FT_MAIL_LEFT: n = sizeof m->u.left; break;
    case FT_MAIL_PING:
    case FT_MAIL_PONG: n = 0; break;
    default: break;
    }
    return (uint32_t)(offsetof(struct ft_mail, u) + n);
}

int ft_mail_replaces(const struct ft_mail *m, const struct ft_mail *old)
{
    struct ft_bitset both;
    if (old->kind != m->kind)
        return 0;
    switch (m->kind) {
    case FT_MAIL_PING:
    case FT_MAIL_PONG: return 1;
    case FT_MAIL_DUE:
    case FT_MAIL_ROLLBACK: return old->u.number == m->u.number;
    case FT_MAIL_SNAPSHOT_OFF: return old->u.marker.snapshot == m->u.marker.snapshot;
    case FT_MAIL_DEMAND: /* a rank with long logs asks again and again */
        return old->u.demand.kind == FT_DEMAND_ASK && m->u.demand.kind == FT_DEMAND_ASK &&
               old->u.demand.rank == m->u.demand.rank &&
               old->u.demand.generation <= m->u.demand.generation;
    case FT_MAIL_ORDER: return old->u.order.generation < m->u.order.generation;
    case FT_MAIL_AGREE:
        both = m->u.agree.failed;
        return !ft_bitset_equal(&old->u.agree.failed, &both) &&
               !ft_bitset_merge(&both, &old->u.agree.failed);
    default: return 0;
    }
}

/* Turns an action into one that sends a mail. */
static struct ft_mail *into_mail(struct ft_pstep *s, struct ft_action *a, int to,
                                 enum ft_mail_kind kind)
{
    struct ft_process_actions *out = s->out;
    FT_ASSERT(out->nmails < (int)FT_COUNTOF(out->mail));
    struct ft_mail *m = &out->mail[out->nmails];
    m->kind = kind;
    m->pad = 0;
    m->u.number = 0;
    a->kind = FT_DO_MAIL;
    a->to = to;
    a->mail = (uint32_t)out->nmails++;
    a->bytes = ft_mail_bytes(m);
    return m;
}

struct ft_mail *ft_pstep_mail(struct ft_pstep *s, int to, enum ft_mail_kind kind)
{
    return into_mail(s, ft_action_add(&s->out->act, FT_DO_MAIL, 0), to, kind);
}

/* --- the mapping --- */

int ft_pstep_npositions(const struct ft_process_cfg *cfg) { return cfg->nranks + cfg->nchecksums; }

/* In map. */
static int homes_at(const struct ft_process_cfg *cfg)
{
    return 2 * ft_pstep_npositions(cfg) + cfg->nslots + cfg->nchecksums;
}

static size_t fates_at(const struct ft_process_cfg *cfg)
{
    size_t n = (size_t)homes_at(cfg) + (size_t)cfg->nranks;
    return (sizeof(struct ft_process) + n * sizeof(int32_t) + 7) & ~(size_t)7;
}

static size_t heirs_at(const struct ft_process_cfg *cfg)
{
    return fates_at(cfg) + (size_t)cfg->nranks * sizeof(struct ft_fate);
}

static size_t snapshot_at(const struct ft_process_cfg *cfg)
{
    return heirs_at(cfg) +
           (cfg->carrier.told ? (size_t)ft_pstep_npositions(cfg) * sizeof(struct ft_heir) : 0);
}

size_t ft_process_bytes(const struct ft_process_cfg *cfg)
{
    return snapshot_at(cfg) +
           (cfg->carrier.snapshot != FT_SNAP_VANILLA ? ft_snap_bytes(cfg->nranks) : 0);
}

static struct ft_snap *snapshot_of(struct ft_process *p, const struct ft_process_cfg *cfg)
{
    return (struct ft_snap *)((char *)p + snapshot_at(cfg));
}

struct ft_mapping ft_process_map(struct ft_process *p, const struct ft_process_cfg *cfg)
{
    int n = ft_pstep_npositions(cfg);
    return (struct ft_mapping){.nranks = cfg->nranks,
                               .nchecksums = cfg->nchecksums,
                               .nspares = cfg->nslots - n,
                               .local = cfg->local,
                               .told = cfg->carrier.told,
                               .why_not = cfg->why_not,
                               .where = cfg->where,
                               .generation = p->generation,
                               .slot_of = p->map,
                               .incarnation = (uint32_t *)p->map + n,
                               .pos_of = p->map + 2 * n,
                               .fate = (struct ft_fate *)((char *)p + fates_at(cfg)),
                               .heir = (struct ft_heir *)((char *)p + heirs_at(cfg)),
                               .home = p->map + homes_at(cfg)};
}

static int pos_of(struct ft_process *p, const struct ft_process_cfg *cfg, int slot)
{
    return ft_process_map(p, cfg).pos_of[slot];
}

void ft_pstep_inform(struct ft_process *p, const struct ft_process_cfg *cfg)
{
    struct ft_carrier *c = &p->carrier;
    c->root = ft_order_is_root(&p->order);
    c->settled = p->order.active && p->order.order == FT_ORDER_NONE;
    c->open = ft_agree_pending(&p->agree);
    c->by_loss =
        ft_carrier_is_rank(c, &cfg->carrier) &&
        ft_exposure_by_loss(&p->exposure, c->committed, c->pos, c->latest) != FT_EXPOSED_NOT;
    c->snapshots_off = p->order.snapshots_off;
    c->left_unknown = p->left_by != 0;
}

/* --- the machines --- */

static int lost_a_node(const struct ft_process *p, int nslots)
{
    for (int w = 0; w < (nslots + 63) / 64; w++)
        if (p->agree.failed.w[w] & ~p->agree.last.failed.w[w] & p->out.w[w])
            return 1;
    return 0;
}

/* What the machines contribute to the vote of this process. */
static void vote(struct ft_pstep *s, struct ft_agree_data *local)
{
    const struct ft_process *p = s->p;
    ft_carrier_vote(&p->carrier, &s->cfg->carrier, s->cfg->self, local);
    if (!s->cfg->plain && lost_a_node(p, s->cfg->nslots) &&
        s->cfg->carrier.broken != FT_BROKEN_NO_NODE)
        local->flags |= FT_AGREE_NODE;
    if (!p->carrier.heard.replaying)
        return;
    ft_exposer_add(&local->exposers, s->cfg->self, UINT64_MAX); /* reads what is its alone */
    if (s->cfg->carrier.broken != FT_BROKEN_NO_REPLAYING)
        local->flags |= FT_AGREE_REPLAYING;
}

/* The slots that have failed since the last decision and carried a rank. */
static void lost_ranks(struct ft_pstep *s)
{
    const struct ft_agree *a = &s->p->agree;
    struct ft_bitset *set = &s->out->set;
    memset(set, 0, sizeof *set);
    for (int w = 0; w < (s->cfg->nslots + 63) / 64; w++) {
        uint64_t news = a->failed.w[w] & ~a->last.failed.w[w];
        for (; news; news &= news - 1) {
            int slot = w * 64 + __builtin_ctzll(news), pos = pos_of(s->p, s->cfg, slot);
            if (pos >= 0 && pos < s->cfg->nranks)
                ft_bit_set(set, slot);
        }
    }
}

static void to_agree(struct ft_pstep *s, const struct ft_pitem *it)
{
    struct ft_process *p = s->p;
    struct ft_agree_actions acts;
    struct ft_agree_event ev = {.kind = it->agree, .slot = s->ev->slot};
    if (it->agree == FT_AGREE_EV_FAILED) {
        ev.failed = it->set;
    } else if (it->agree == FT_AGREE_EV_MSG) {
        ev.msg = &s->ev->mail->u.agree;
        if (!p->carrier.due.noticed_ns)
            p->carrier.due.noticed_ns = s->ev->now;
    } else if (it->agree == FT_AGREE_EV_LOCAL) {
        ev.local = *s->ev->local;
        vote(s, &ev.local);
    }
    ft_agree_step(&p->agree, &ev, &acts);
    for (int i = 0; i < acts.n; i++) {
        const struct ft_agree_action *a = &acts.a[i];
        if (a->kind == FT_AGREE_ACT_SEND) {
            ft_pstep_mail(s, a->to, FT_MAIL_AGREE)->u.agree = a->msg;
        } else if (a->kind == FT_AGREE_ACT_VOTE) {
            lost_ranks(s);
            ft_action_add(&s->out->act, FT_DO_WITNESS, 0);
        } else {
            ft_pstep_adopt(s, &a->decision);
        }
    }
    if (ft_agree_pending(&p->agree) && !p->lost)
        ft_pstep_add(s, ENDING);
}

static void to_order(struct ft_pstep *s, struct ft_order_event *ev)
{
    struct ft_process *p = s->p;
    struct ft_order_actions acts;
    ft_order_step(&p->order, ev, &acts);
    for (int i = 0; i < acts.n; i++)
        if (acts.a[i].kind == FT_OA_SEND)
            ft_pstep_mail(s, acts.a[i].to, FT_MAIL_ORDER)->u.order = acts.a[i].msg;
        else
            ft_pstep_add(s, TO_CARRIER)->execute = acts.a[i];
}

/* This process has observed their exits. */
static void note_failed(struct ft_pstep *s, const struct ft_bitset *set)
{
    struct ft_process *p = s->p;
    /* If a process has left in order, the root has let all go, which this one may not have
     * heard yet. */
    if (s->ev->orderly || p->carrier.facts & FT_FACT_DONE)
        return;
    if (!p->carrier.due.noticed_ns)
        p->carrier.due.noticed_ns = s->ev->now;
    for (int of = 0; of < s->cfg->nslots; of++) {
        if (!ft_bit_get(set, of) || ft_bit_get(&p->agree.failed, of))
            continue;
        int pos = pos_of(p, s->cfg, of);
        ft_pstep_board(s, FT_EV_FAILED, pos >= 0 ? ft_pstep_who(s->cfg, pos) : FT_WHO_NONE, of, 0,
                       0);
        ft_pstep_board(s, FT_EV_DETECTED, FT_WHO_NONE, of, s->cfg->self, 0);
    }
    struct ft_pitem *it = ft_pstep_add(s, TO_AGREE);
    it->agree = FT_AGREE_EV_FAILED;
    it->set = set;
}

static void to_detect(struct ft_pstep *s, const struct ft_pitem *it)
{
    struct ft_process *p = s->p;
    struct ft_detect_event ev = {
        .kind = (enum ft_detect_event_kind)it->detect, .slot = it->slot, .set = it->set};
    struct ft_detect_actions acts;
    ft_detect_step(&p->detect, &ev, &acts);
    for (int i = 0; i < acts.n; i++) {
        int of = acts.a[i].slot;
        switch (acts.a[i].kind) {
        case FT_DETECT_ACT_WATCH:
        case FT_DETECT_ACT_KILL:
            ft_action_add(&s->out->act,
                          acts.a[i].kind == FT_DETECT_ACT_KILL ? FT_DO_KILL : FT_DO_WATCH, 0)
                ->to = of;
            break;
        case FT_DETECT_ACT_PING: (void)ft_pstep_mail(s, of, FT_MAIL_PING); break;
        case FT_DETECT_ACT_FAILED: note_failed(s, acts.a[i].set); break;
        }
    }
}

/* The machine of snapshots. Each snapshot begins with a new one, since all gets are over then. */
static void to_snapshot(struct ft_pstep *s, enum ft_snap_marker marker, int rank)
{
    struct ft_snap *m = snapshot_of(s->p, s->cfg);
    struct ft_snap_actions acts;
    if (!marker) {
        ft_snap_init(m, (enum ft_snap_alg)s->cfg->carrier.snapshot, s->p->carrier.pos,
                     s->cfg->nranks);
        ft_snap_start(m, &acts);
    } else {
        ft_snap_marker(m, rank, marker, &acts);
    }
    ft_carrier_snapshot(&s->p->carrier, &acts);
}

/* The slot that a message about images taken alone goes to. */
static int slot_to(struct ft_pstep *s, const struct ft_action *a)
{
    const struct ft_process_cfg *cfg = s->cfg;
    int pos = a->to;
    if (pos == FT_TO_LEAD) {
        int group = ft_group_of_rank(cfg->groups, a->demand.rank);
        pos = ft_pstep_helper_at(cfg, group, *ft_pstep_lead_word(s->p, cfg, group) & 0xff);
    } else if (pos < 0) {
        int group = ft_group_of_position(cfg->groups, s->p->carrier.pos);
        pos = ft_pstep_helper_at(cfg, group, FT_TO_HELPER(0) - pos);
    }
    return ft_process_map(s->p, cfg).slot_of[pos];
}

/* Hands on what the carrier has said since action number `from` to the other machines. */
static void sort_out(struct ft_pstep *s, int from)
{
    struct ft_actions *act = &s->out->act;
    int n = from;
    for (int i = from; i < act->n; i++) {
        struct ft_action a = act->a[i];
        if (a.kind == FT_DO_READY || a.kind == FT_DO_STUCK) {
            s->out->answered |= 1u << a.event;
            s->out->waits |= a.kind == FT_DO_STUCK;
            ft_pstep_add_order(s, (struct ft_order_event){
                                      .kind = a.kind == FT_DO_READY ? FT_OE_READY : FT_OE_STUCK,
                                      .seq = a.seq,
                                      .ready = a.ready});
        } else if (a.kind == FT_DO_ROOT && s->p->carrier.root) {
            ft_pstep_add_order(s, (struct ft_order_event){.kind = a.event == FT_ROOT_DUE ? FT_OE_DUE
                                                                  : a.event == FT_ROOT_LATE
                                                                      ? FT_OE_LATE
                                                                      : FT_OE_ROLLBACK,
                                                          .arg = a.value,
                                                          .ready = {.not_ok = (uint32_t)a.a}});
        } else if (a.kind == FT_DO_SNAPSHOT) {
            add_snapshot(s, (int)a.event, a.to);
        } else {
            if (a.kind == FT_DO_FORGET) {
                struct ft_mapping m = ft_process_map(s->p, s->cfg);
                ft_plan_all_went_back(&m, &s->p->exposure);
            }
            act->a[n++] = a;
        }
    }
    act->n = n;
    for (int i = from; i < act->n; i++) {
        struct ft_action *a = &act->a[i];
        struct ft_mail *m;
        if (a->kind == FT_DO_DEMAND) {
            m = into_mail(s, a, slot_to(s, a), FT_MAIL_DEMAND);
            m->u.demand = a->demand;
            memset(&a->demand, 0, sizeof a->demand);
        } else if (a->kind == FT_DO_ROOT) {
            m = into_mail(s, a, s->p->order.tree.root,
                          a->event == FT_ROOT_DUE    ? FT_MAIL_DUE
                          : a->event == FT_ROOT_LATE ? FT_MAIL_SNAPSHOT_OFF
                                                     : FT_MAIL_ROLLBACK);
            if (m->kind == FT_MAIL_SNAPSHOT_OFF)
                m->u.marker = (struct ft_marker){.snapshot = a->value, .kind = (uint32_t)a->a};
            else
                m->u.number = a->value;
            a->a = 0;
            a->event = 0;
            a->value = 0;
        } else if (a->kind == FT_DO_MARKER) {
            m = into_mail(s, a, a->to == FT_TO_RANKS ? FT_TO_RANKS : s->p->map[a->to],
                          FT_MAIL_MARKER);
            m->u.marker = (struct ft_marker){
                .snapshot = a->value, .rank = s->p->carrier.pos, .kind = a->event};
            a->event = 0;
            a->value = 0;
        }
    }
}

static void drain(struct ft_pstep *s)
{
    struct ft_process *p = s->p;
    while (s->head < s->tail && !p->lost) {
        struct ft_pitem it = s->item[s->head++ % ITEMS];
        int from = s->out->act.n;
        ft_pstep_inform(p, s->cfg);
        switch (it.kind) {
        case TO_AGREE:
            to_agree(s, &it);
            sort_out(s, from); /* what the carrier has said at its adoption */
            break;
        case TO_ORDER: to_order(s, &it.order); break;
        case TO_DETECT: to_detect(s, &it); break;
        case TO_SNAPSHOT: to_snapshot(s, (enum ft_snap_marker)it.detect, it.slot); break;
        case TO_CARRIER:
            ft_carrier_order(&p->carrier, &s->cfg->carrier, s->ev->now, &it.execute, &s->out->act);
            sort_out(s, from);
            break;
        case ENDING:
            ft_pstep_inform(p, s->cfg);
            ft_carrier_ending(&p->carrier, &s->cfg->carrier, &s->out->act);
            sort_out(s, from);
            if (s->cfg->carrier.broken != FT_BROKEN_NO_ENDING)
                ft_pstep_add_order(s, (struct ft_order_event){.kind = FT_OE_ENDING});
            break;
        }
        ft_pstep_inform(p, s->cfg);
    }
}

static void take_mail(struct ft_pstep *s)
{
    const struct ft_mail *m = s->ev->mail;
    switch (m->kind) {
    case FT_MAIL_AGREE: ft_pstep_add(s, TO_AGREE)->agree = FT_AGREE_EV_MSG; break;
    case FT_MAIL_ORDER:
        ft_pstep_add_order(
            s, (struct ft_order_event){.kind = FT_OE_MSG, .from = s->ev->slot, .msg = &m->u.order});
        break;
    case FT_MAIL_PING: (void)ft_pstep_mail(s, s->ev->slot, FT_MAIL_PONG); break;
    case FT_MAIL_PONG: (void)add_detect(s, FT_DETECT_EV_ALIVE, s->ev->slot); break;
    case FT_MAIL_DUE:
        ft_pstep_add_order(s, (struct ft_order_event){.kind = FT_OE_DUE, .arg = m->u.number});
        break;
    case FT_MAIL_ROLLBACK:
        ft_pstep_add_order(s, (struct ft_order_event){.kind = FT_OE_ROLLBACK});
        break;
    case FT_MAIL_DEMAND:
        ft_carrier_demand(&s->p->carrier, &s->cfg->carrier, s->ev->now, &m->u.demand, &s->out->act);
        break;
    case FT_MAIL_SNAPSHOT_OFF:
        if (m->u.marker.snapshot ==
            s->p->carrier.snapshot.number) /* otherwise that snapshot is over */
            ft_pstep_add_order(s, (struct ft_order_event){.kind = FT_OE_LATE,
                                                          .ready = {.not_ok = m->u.marker.kind}});
        break;
    case FT_MAIL_MARKER:
        ft_carrier_marker(&s->p->carrier, &s->cfg->carrier, m->u.marker.snapshot, m->u.marker.rank,
                          (enum ft_snap_marker)m->u.marker.kind);
        break;
    case FT_MAIL_ASKS_LEFT:
        ft_action_add(&s->out->act, FT_DO_SAY_LEFT, m->u.number)->to = s->ev->slot;
        break;
    case FT_MAIL_LEFT: ft_pstep_hears_left(s, &m->u.left); break;
    default: FT_ASSERT(!"a mail of an unknown kind");
    }
}

/* The detector no longer watches a process that is dead by agreement. */
static void tell_detector(struct ft_pstep *s)
{
    uint64_t some = 0;
    for (int w = 0; w < (s->cfg->nslots + 63) / 64; w++)
        some |= s->p->agree.failed.w[w] & ~s->p->detect.dead.w[w];
    if (!some)
        return;
    s->heard = s->p->agree.failed;
    add_detect(s, FT_DETECT_EV_FAILED, -1)->set = &s->heard;
}

static void begin(struct ft_pstep *s)
{
    struct ft_process *p = s->p;
    const struct ft_process_event *ev = s->ev;
    const struct ft_carrier_cfg *cfg = &s->cfg->carrier;
    struct ft_actions *act = &s->out->act;
    int from = act->n;
    switch (ev->kind) {
    case FT_PE_MAIN: ft_carrier_main(&p->carrier, cfg, ev->now, ev->main, act); break;
    case FT_PE_MAIL: take_mail(s); break;
    case FT_PE_EXITED: add_detect(s, FT_DETECT_EV_EXITED, -1)->set = ev->set; break;
    case FT_PE_ALIVE: (void)add_detect(s, FT_DETECT_EV_ALIVE, ev->slot); break;
    case FT_PE_TICK: (void)add_detect(s, FT_DETECT_EV_TICK, -1); break;
    case FT_PE_FAILED: {
        struct ft_pitem *it = ft_pstep_add(s, TO_AGREE);
        it->agree = FT_AGREE_EV_FAILED;
        it->set = ev->set;
        if (ev->node)
            (void)ft_bitset_merge(&p->out, ev->set);
        break;
    }
    case FT_PE_TIME: ft_carrier_time(&p->carrier, cfg, ev->now, act); break;
    case FT_PE_JOB_OVER: ft_carrier_job_over(&p->carrier); break;
    case FT_PE_WITNESSED:
        FT_ASSERT(p->agree.asking);
        ft_pstep_add(s, TO_AGREE)->agree = FT_AGREE_EV_LOCAL;
        break;
    case FT_PE_SEEN: ft_carrier_seen(&p->carrier, cfg, ev->now, ev->look, ev->value, act); break;
    }
    sort_out(s, from);
}

static void settle(struct ft_pstep *s)
{
    struct ft_process *p = s->p;
    for (;;) {
        drain(s);
        if (p->lost)
            return;
        int from = s->out->act.n;
        int mile = (int)ft_carrier_milestone(&p->carrier, &s->cfg->carrier);
        if (mile != p->told) {
            ft_pstep_add_milestone(s);
            continue;
        }
        ft_pstep_inform(p, s->cfg);
        ft_carrier_choose(&p->carrier, &s->cfg->carrier, s->ev->now, &s->out->act);
        int n = s->out->act.n;
        sort_out(s, from);
        if (n == from && s->head == s->tail)
            return;
    }
}

static void start_step(struct ft_pstep *s, struct ft_process *p, const struct ft_process_cfg *cfg,
                       const struct ft_process_event *ev, struct ft_process_actions *out)
{
    s->p = p;
    s->cfg = cfg;
    s->ev = ev;
    s->out = out;
    s->head = s->tail = 0;
}

/* What was for another machine of this process was handed to it. */
static void check_out(const struct ft_process_actions *out)
{
    for (int i = 0; i < out->act.n; i++)
        FT_ASSERT(out->act.a[i].kind < FT_DO_READY);
}

void ft_process_step(struct ft_process *p, const struct ft_process_cfg *cfg,
                     const struct ft_process_event *ev, struct ft_process_actions *out)
{
    struct ft_pstep s;
    start_step(&s, p, cfg, ev, out);
    out->act.n = out->nmails = 0;
    out->answered = 0;
    out->waits = 0;
    if (p->lost)
        return;
    ft_pstep_inform(p, cfg);
    begin(&s);
    drain(&s);
    if (!p->lost)
        tell_detector(&s);
    settle(&s);
    check_out(out);
}

void ft_process_init(struct ft_process *p, const struct ft_process_cfg *cfg, uint64_t now,
                     struct ft_process_actions *out)
{
    const struct ft_process_event start = {.kind = FT_PE_TIME, .now = now};
    struct ft_pstep s;
    struct ft_detect_actions first;
    start_step(&s, p, cfg, &start, out);
    memset(p, 0, ft_process_bytes(cfg));
    out->act.n = out->nmails = 0;
    out->answered = 0;
    out->waits = 0;
    struct ft_mapping m = ft_process_map(p, cfg);
    for (int i = 0; i < cfg->nslots; i++)
        m.pos_of[i] = -1;
    for (int i = 0; i < ft_pstep_npositions(cfg); i++) {
        m.slot_of[i] = cfg->slot_of ? cfg->slot_of[i] : i;
        m.pos_of[m.slot_of[i]] = i;
    }
    memcpy(m.home, m.slot_of, (size_t)cfg->nranks * sizeof *m.home);
    ft_agree_init(&p->agree, cfg->self, cfg->nslots);
    ft_order_init(&p->order, cfg->self, cfg->nslots);
    p->order.snapshots = cfg->carrier.snapshot != FT_SNAP_VANILLA;
    ft_carrier_init(&p->carrier, &cfg->carrier, m.pos_of[cfg->self]);
    p->carrier.demand.ch.stream = p->carrier.demand.owner.stream = cfg->carrier.stream;
    p->carrier.demand.ch.index = ft_pstep_index_of(cfg, m.pos_of[cfg->self]) > 0
                                     ? ft_pstep_index_of(cfg, m.pos_of[cfg->self])
                                     : 0;
    for (int g = 0; cfg->groups && g < cfg->groups->ngroups; g++)
        *ft_pstep_lead_word(p, cfg, g) = ((1 << cfg->groups->parity) - 1) << 8;
    p->carrier.next = ft_pstep_next_in_line(p, cfg);
    p->told = FT_MILE_SETUP;
    ft_pstep_add_order(&s, (struct ft_order_event){.kind = FT_OE_GENERATION,
                                                   .failed = &p->agree.last.failed,
                                                   .checkpoints = cfg->carrier.checkpoints});
    drain(&s);
    ft_detect_init(&p->detect, cfg->self, cfg->nslots, &cfg->neighbours, cfg->silence, &first);
    for (int i = 0; i < first.n; i++) {
        if (first.a[i].kind == FT_DETECT_ACT_PING)
            (void)ft_pstep_mail(&s, first.a[i].slot, FT_MAIL_PING);
        else
            ft_action_add(&out->act, FT_DO_WATCH, 0)->to = first.a[i].slot;
    }
    settle(&s);
}

int ft_process_lead(struct ft_process *p, const struct ft_process_cfg *cfg, int group)
{
    int word = *ft_pstep_lead_word(p, cfg, group), lead = word & 0xff;
    return word >> 8 || p->generation == 0 ? lead : ~lead;
}

uint64_t ft_process_expiry(const struct ft_process *p)
{
    return p->lost ? UINT64_MAX : ft_carrier_expiry(&p->carrier);
}

void ft_process_check(const struct ft_process *p, const struct ft_process_cfg *cfg)
{
    if (p->lost)
        return;
    ft_agree_check(&p->agree);
    ft_detect_check(&p->detect);
    ft_order_check(&p->order);
    ft_carrier_check(&p->carrier, &cfg->carrier);
    FT_ASSERT(p->generation == p->agree.last.generation);
}

int ft_process_dump(const struct ft_process *p, const struct ft_process_cfg *cfg, char *out,
                    int size)
{
    int n = 0;
    (void)cfg;
    n += ft_agree_dump(&p->agree, out + n, size - n);
    n += snprintf(out + n, (size_t)(size - n), "\n");
    n += ft_order_dump(&p->order, out + n, size - n);
    n += snprintf(out + n, (size_t)(size - n), "\n");
    n += ft_carrier_dump(&p->carrier, out + n, size - n);
    return n + snprintf(out + n, (size_t)(size - n), "\n");
}
