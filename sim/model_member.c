/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_member.c - a model of a job on several nodes: an arbiter, keepers with leases, gateways
 * that carry two classes of traffic and keep the fence, and slots that submit operations, die, and
 * agree. All clocks show the same. A keeper, a gateway or an arbiter that stood still looks at its
 * clock late. Messages may take any time, so a cut link needs no events of its own. Links that
 * break for some time are drawn all the same, since gateways report them. member_time.c has runs in
 * virtual time.
 */
#include "member_time.h"

static const char *const acts[] = {"ticks",
                                   "looks at the clock",
                                   "looks at the clock",
                                   "looks at the clock",
                                   "submits",
                                   "sends",
                                   "sees the end of",
                                   "answers",
                                   "dies",
                                   "loses power",
                                   "hangs",
                                   "cannot reach",
                                   "reaches",
                                   "hears of the end of",
                                   NULL};
enum member_mutant {
    M_EARLY_VOTE = 1,   /* agents do not wait for the fence */
    M_ONE_CLASS,        /* CLOSED counts when it has come in one class of traffic */
    M_NO_FENCE,         /* OUT does not close connections */
    M_EARLY_CLOSED,     /* EXITED comes before what was submitted is sent */
    M_LEASE_FROM_GRANT, /* a lease counts from when the grant came */
    M_NO_STANDSTILL,    /* the arbiter's standstill counts as time */
    M_ZOMBIE_LEASE,     /* a node that is out is granted another lease */
    M_NO_WORD,          /* the keeper asks without its gateway's word */
    M_LOST_OUT,         /* a node whose connection was lost does not hear again who is out */
    M_REPORT_RENEWS,    /* the arbiter takes a report about a node for a sign of its life */
};
static const char *const mutants[] = {"early-vote",
                                      "one-class",
                                      "no-fence",
                                      "early-closed",
                                      "lease-from-grant",
                                      "no-standstill",
                                      "zombie-lease",
                                      "no-word",
                                      "lost-out",
                                      "report-renews",
                                      NULL};

enum body_kind { B_AGREE, B_OP, B_CLOSED, B_RENEW, B_GRANT, B_REPORT, B_OUT };
struct body {
    int32_t kind, slot, class, about;
    uint64_t sent;
    struct ft_bitset nodes;
};
struct member_agree {
    int32_t kind, pad;
    struct ft_agree_msg m;
};

static void send_body(struct sim *s, int from, int to, struct body b)
{
    sim_send(s, from, to, &b, b.kind == B_OUT ? sizeof b : offsetof(struct body, nodes));
}

/* ---- agents ---- */

static void agree_event(struct sim *s, int slot, struct ft_agree_event ev)
{
    static struct ft_agree_actions out;
    static struct ft_decision decided;
    struct mb_world *w = mb_world(s);
    struct mb_slot *me = mb_slot(w, slot);
    int p = mb_process(w, slot);
    for (enum ft_agree_action_kind last = FT_AGREE_ACT_DECIDED;
         last == FT_AGREE_ACT_DECIDED && sim_alive(s, p);) {
        ft_agree_step(&me->agree, &ev, &out);
        last = 0;
        for (int i = 0; i < out.n; i++) {
            static struct member_agree b;
            last = out.a[i].kind;
            decided = out.a[i].decision;
            if (last != FT_AGREE_ACT_SEND)
                continue;
            b.kind = B_AGREE;
            b.m = out.a[i].msg;
            sim_send(s, p, mb_process(w, out.a[i].to), &b, sizeof b);
        }
        if (last != FT_AGREE_ACT_DECIDED)
            break;
        mb_check_adopted(s, slot, &decided);
        me->last = decided;
        ev = (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED};
    }
}

int mb_is_asked(const struct sim *s, int slot)
{
    const struct mb_world *w = mb_world(s);
    const struct ft_agree *m = &mb_slot(w, slot)->agree;
    const struct mb_node *n = mb_node(w, mb_node_of(w, slot));
    return m->asking && ft_lease_lasts(&n->lease, w->now) &&
           (s->o.mutant == M_EARLY_VOTE || ft_fence_holds(&n->fence, &m->failed));
}

static void mail(struct sim *s, int slot, int from, const struct ft_agree_msg *m)
{
    struct mb_world *w = mb_world(s);
    if (ft_bit_get(&mb_node(w, mb_node_of(w, slot))->fence.out, mb_node_of(w, from)))
        return;
    if (ft_bit_get(&m->failed, slot)) { /* it was declared failed, and ends silently */
        sim_crash(s, mb_process(w, slot), 0);
        return;
    }
    agree_event(s, slot, (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = from, .msg = m});
}

/* ---- gateways ---- */

static void to_arbiter(struct sim *s, int node, const struct ft_bitset *about, int reachable)
{
    struct mb_world *w = mb_world(s);
    for (int k = 0; k < w->nodes && !ft_bitset_empty(about); k++)
        if (ft_bit_get(about, k))
            send_body(s, mb_keeper(w, node), 0,
                      (struct body){.kind = B_REPORT, .about = k, .sent = (uint64_t)reachable});
}

static void fence_event(struct sim *s, int node, struct ft_fence_event ev)
{
    struct mb_world *w = mb_world(s);
    struct ft_fence_actions out;
    ft_fence_step(&mb_node(w, node)->fence, &ev, &out);
    for (int k = 0; k < w->nodes && out.closed >= 0; k++) {
        if (k == node || ft_bit_get(&mb_node(w, node)->fence.out, k))
            continue;
        send_body(s, mb_gateway(w, node), mb_gateway(w, k),
                  (struct body){.kind = B_CLOSED, .slot = out.closed, .class = FT_FENCE_OPS});
        send_body(s, mb_keeper(w, node), mb_keeper(w, k),
                  (struct body){.kind = B_CLOSED, .slot = out.closed, .class = FT_FENCE_MSG});
    }
    to_arbiter(s, node, &out.report, 0);
    to_arbiter(s, node, &out.reachable, 1);
    if (ft_bitset_empty(&out.failed))
        return;
    for (int i = node * w->each; i < (node + 1) * w->each; i++)
        if (sim_alive(s, mb_process(w, i)))
            agree_event(s, i,
                        (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .failed = &out.failed});
}

static void on_frame(struct sim *s, int node, const struct body *b)
{
    struct mb_world *w = mb_world(s);
    struct mb_node *n = mb_node(w, node);
    int from = mb_node_of(w, b->slot);
    if (n->hung || (ft_bit_get(&n->fence.out, from) && s->o.mutant != M_NO_FENCE))
        return;
    if (b->kind == B_OP) {
        mb_check_applied(s, node, b->slot);
        mb_slot(w, b->slot)->applied[mb_way(w, b->slot, node)][b->class]++;
        return;
    }
    struct ft_fence_event ev = {
        .kind = FT_FENCE_CLOSED, .slot = b->slot, .class = (enum ft_fence_class)b->class};
    fence_event(s, node, ev);
    ev.class ^= 1;
    if (s->o.mutant == M_ONE_CLASS)
        fence_event(s, node, ev);
}

static void send_queued(struct sim *s, int slot)
{
    struct mb_world *w = mb_world(s);
    struct mb_slot *me = mb_slot(w, slot);
    int class = (int)(me->queued - 1) % 2, to = (int)(me->queued - 1) / 2,
        node = mb_node_of(w, slot);
    me->queued = 0;
    me->sent[mb_way(w, slot, to)][class]++;
    struct body b = {.kind = B_OP, .slot = slot, .class = class};
    if (class == FT_FENCE_OPS)
        send_body(s, mb_gateway(w, node), mb_gateway(w, to), b);
    else
        send_body(s, mb_keeper(w, node), mb_keeper(w, to), b);
}

/* ---- keepers and the arbiter ---- */

static void end_node(struct sim *s, int node)
{
    struct mb_world *w = mb_world(s);
    for (int p = mb_gateway(w, node); p < mb_gateway(w, node + 1); p++)
        if (sim_alive(s, p))
            sim_crash(s, p, 0);
    if (s->o.timed)
        mb_timed_node_gone(s, node);
}

static void lease_event(struct sim *s, int node, struct ft_lease_event ev)
{
    struct mb_world *w = mb_world(s);
    struct ft_lease *m = &mb_node(w, node)->lease;
    uint32_t what = ft_lease_step(m, &ev);
    if (what & FT_LEASE_ASK)
        send_body(s, mb_keeper(w, node), 0, (struct body){.kind = B_RENEW, .sent = m->asked});
    if (what & FT_LEASE_END)
        end_node(s, node);
}

static void arbiter_event(struct sim *s, struct ft_arbiter_event ev)
{
    struct mb_world *w = mb_world(s);
    struct ft_arbiter_action a;
    w->arbiter_steps++;
    ft_arbiter_step(&w->arbiter, &ev, &a);
    if (a.kind == FT_ARBITER_TELL_OUT && ev.kind == FT_ARBITER_RENEW &&
        s->o.mutant == M_ZOMBIE_LEASE) {
        a.kind = FT_ARBITER_GRANT;
        a.sent = ev.sent;
    }
    switch ((int)a.kind) {
    case FT_ARBITER_GRANT:
        mb_node(w, a.node)->steps_at_grant = w->arbiter_steps;
        send_body(s, 0, mb_keeper(w, a.node), (struct body){.kind = B_GRANT, .sent = a.sent});
        break;
    case FT_ARBITER_TELL_OUT:
        send_body(s, 0, mb_keeper(w, a.node), (struct body){.kind = B_OUT, .nodes = a.nodes});
        send_body(s, 0, mb_gateway(w, a.node), (struct body){.kind = B_OUT, .nodes = a.nodes});
        break;
    case FT_ARBITER_OUT:
        mb_check_out(s, &a);
        for (int k = 0; k < w->nodes; k++) {
            if (ft_bit_get(&a.nodes, k)) {
                mb_node(w, k)->said = 1;
                mb_node(w, k)->why = (uint8_t)a.why;
            }
            send_body(s, 0, mb_keeper(w, k), (struct body){.kind = B_OUT, .nodes = a.nodes});
            send_body(s, 0, mb_gateway(w, k), (struct body){.kind = B_OUT, .nodes = a.nodes});
        }
        break;
    }
}

/* ---- the simulator's side ---- */

static void of_arbiter(struct sim *s, int from, const struct body *b)
{
    struct mb_world *w = mb_world(s);
    int node = mb_node_at(w, from);
    if (b->kind == B_RENEW) {
        arbiter_event(s,
                      (struct ft_arbiter_event){
                          .kind = FT_ARBITER_RENEW, .now = w->now, .node = node, .sent = b->sent});
    } else {
        if (s->o.mutant == M_REPORT_RENEWS)
            w->arbiter.node[b->about].granted = w->arbiter.lived;
        arbiter_event(s, (struct ft_arbiter_event){.kind = FT_ARBITER_REPORT,
                                                   .now = w->now,
                                                   .node = node,
                                                   .about = b->about,
                                                   .reachable = (int)b->sent});
    }
}

static void came(struct sim *s, int p, int from, const void *body, size_t size)
{
    static struct member_agree a;
    struct mb_world *w = mb_world(s);
    struct body b = {0};
    int node = mb_node_at(w, p), at = mb_place_at(w, p);
    memcpy(&b.kind, body, sizeof b.kind);
    if (b.kind == B_AGREE) {
        memcpy(&a, body, size);
        mail(s, mb_slot_at(w, p), mb_slot_at(w, from), &a.m);
        return;
    }
    memcpy(&b, body, size);
    if (from == 0 && mb_node(w, node)->deaf)
        return;
    if (p == 0) {
        of_arbiter(s, from, &b);
    } else if (b.kind == B_OP || b.kind == B_CLOSED) {
        on_frame(s, node, &b);
    } else if (b.kind == B_GRANT) {
        uint64_t sent = s->o.mutant == M_LEASE_FROM_GRANT ? w->now : b.sent;
        lease_event(s, node,
                    (struct ft_lease_event){.kind = FT_LEASE_GRANT, .now = w->now, .sent = sent});
    } else if (at == 0 && !ft_bit_get(&b.nodes, node) && !mb_node(w, node)->hung) {
        fence_event(s, node, (struct ft_fence_event){.kind = FT_FENCE_OUT, .nodes = b.nodes});
    } else if (at == 1 && ft_bit_get(&b.nodes, node)) {
        lease_event(s, node, (struct ft_lease_event){.kind = FT_LEASE_OUT});
    }
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    if (s->o.timed)
        mb_world(s)->now = s->now;
    came(s, p, from, body, size);
    if (s->o.timed)
        mb_timed_acted(s, p, MB_TICK, 0);
}

/* 1: all have looked at the clock, have said what they were asked for, and have heard all. */
/* Its keeper has not stopped its gateway. */
static int looks(const struct mb_node *n) { return n->lease.state != FT_LEASE_STOPPED; }

static int nothing_late(const struct sim *s)
{
    const struct mb_world *w = mb_world(s);
    int late = s->nmsg > 0 || w->arbiter_at < w->now;
    for (int k = 0; k < w->nodes; k++) {
        const struct mb_node *n = mb_node(w, k);
        int works = mb_serves(s, k);
        late |= sim_alive(s, mb_keeper(w, k)) && (n->keeper_at < w->now || n->deaf);
        late |= works && looks(n) && n->gateway_at < w->now;
        for (int i = k * w->each; i < (k + 1) * w->each && works; i++)
            late |= sim_alive(s, mb_process(w, i)) ? mb_is_asked(s, i) : !mb_slot(w, i)->exited;
    }
    return !late;
}

static void can_node(struct sim *s, struct sim_choices *out, int k)
{
    const struct mb_world *w = mb_world(s);
    const struct mb_node *n = mb_node(w, k);
    int gateway = mb_gateway(w, k), keeper = mb_keeper(w, k),
        fails = w->faults > 0 && w->now < w->calm && k != w->arbiter.cfg.own;
    if (!sim_alive(s, keeper)) {
        if (!n->said && n->dead)
            sim_can(out, 0, MB_REAPED, k, SIM_SELDOM);
        return;
    }
    if (n->keeper_at < w->now)
        sim_can(out, keeper, MB_KEEPER, 0, SIM_MUST);
    if (fails)
        sim_can(out, keeper, MB_POWER, 0, SIM_SELDOM);
    if (n->deaf || fails)
        sim_can(out, keeper, n->deaf ? MB_MENDS : MB_BREAKS, -1,
                n->deaf && w->now >= w->calm ? SIM_MUST : SIM_SELDOM);
    if (n->hung)
        return;
    if (n->gateway_at < w->now && looks(n))
        sim_can(out, gateway, MB_GATEWAY, 0, SIM_MUST);
    if (fails)
        sim_can(out, gateway, MB_HANGS, 0, SIM_SELDOM);
    for (int other = 0; other < w->nodes; other++) {
        int gone = !mb_serves(s, other);
        if (other == k || ft_bit_get(&n->fence.out, other))
            continue;
        if (!ft_bit_get(&n->fence.broken, other) && (gone || fails))
            sim_can(out, gateway, MB_BREAKS, other, SIM_SELDOM);
        if (ft_bit_get(&n->fence.broken, other) && !gone)
            sim_can(out, gateway, MB_MENDS, other, w->now < w->calm ? SIM_SELDOM : SIM_MUST);
    }
}

static void can_slot(struct sim *s, struct sim_choices *out, int i)
{
    const struct mb_world *w = mb_world(s);
    const struct mb_slot *me = mb_slot(w, i);
    int node = mb_node_of(w, i), p = mb_process(w, i), gateway = mb_gateway(w, node);
    int works = mb_serves(s, node);
    if (me->queued && works)
        sim_can(out, gateway, MB_SENDS, i, SIM_MUST);
    if (!sim_alive(s, p)) {
        if (works && !me->exited && (!me->queued || s->o.mutant == M_EARLY_CLOSED))
            sim_can(out, gateway, MB_SEES, i, SIM_MUST);
        return;
    }
    if (w->faults > 0 && w->now < w->calm)
        sim_can(out, p, MB_DIES, 0, SIM_SELDOM);
    if (mb_is_asked(s, i))
        sim_can(out, p, MB_ANSWERS, 0, SIM_MUST);
    for (int to = 0; to < w->nodes && me->ops && !me->queued; to++)
        if (to != node && !ft_bit_get(&mb_node(w, node)->fence.out, to))
            for (int class = 0; class < FT_FENCE_CLASSES; class ++)
                sim_can(out, p, MB_SUBMITS, class + 2 * to, SIM_MAY);
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct mb_world *w = mb_world(s);
    if (w->now < w->end && (w->now < w->calm || nothing_late(s)))
        sim_can(out, 0, MB_TICK, 0, SIM_MUST);
    if (w->arbiter_at < w->now)
        sim_can(out, 0, MB_ARBITER, 0, SIM_MUST);
    for (int k = 0; k < w->nodes; k++)
        can_node(s, out, k);
    for (int i = 0; i < mb_slots(w); i++)
        can_slot(s, out, i);
}

static void act_slot(struct sim *s, int slot, int what, int q)
{
    struct mb_slot *me = mb_slot(mb_world(s), slot);
    if (what == MB_DIES) {
        mb_world(s)->faults--;
        sim_crash(s, mb_process(mb_world(s), slot), 0);
    } else if (what == MB_ANSWERS) {
        struct ft_agree_event ev = {.kind = FT_AGREE_EV_LOCAL};
        ev.local.flags = 1ull << slot % 64;
        agree_event(s, slot, ev);
    } else {
        me->ops--;
        me->queued = (uint32_t)(1 + q);
    }
}

static void act_node(struct sim *s, int node, int what, int q)
{
    struct mb_world *w = mb_world(s);
    struct mb_node *n = mb_node(w, node);
    switch (what) {
    case MB_KEEPER:
        n->keeper_at = w->now;
        lease_event(
            s, node,
            (struct ft_lease_event){.kind = FT_LEASE_TIME,
                                    .now = w->now,
                                    .gateway = s->o.mutant == M_NO_WORD ? w->now : n->gateway_at});
        break;
    case MB_GATEWAY:
        n->gateway_at = w->now;
        fence_event(s, node, (struct ft_fence_event){.kind = FT_FENCE_TIME, .now = w->now});
        break;
    case MB_SENDS: send_queued(s, q); break;
    case MB_SEES:
        mb_slot(w, q)->exited = 1;
        fence_event(s, node, (struct ft_fence_event){.kind = FT_FENCE_EXITED, .slot = q});
        break;
    case MB_POWER:
        w->faults--;
        n->dead = 1;
        end_node(s, node);
        break;
    case MB_HANGS:
        w->faults--;
        n->hung = 1;
        if (s->o.timed)
            mb_timed_node_gone(s, node);
        break;
    case MB_BREAKS:
        if (q < 0) {
            w->faults--;
            n->deaf = 1;
            break;
        }
        w->faults -= mb_serves(s, q);
        fence_event(s, node,
                    (struct ft_fence_event){.kind = FT_FENCE_BROKEN, .node = q, .now = w->now});
        break;
    case MB_MENDS:
        if (q < 0) {
            n->deaf = 0;
            if (s->o.mutant == M_LOST_OUT)
                break;
            arbiter_event(
                s, (struct ft_arbiter_event){.kind = FT_ARBITER_BACK, .now = w->now, .node = node});
            break;
        }
        fence_event(s, node, (struct ft_fence_event){.kind = FT_FENCE_MENDED, .node = q});
        break;
    }
}

static void arbiter_looks(struct sim *s)
{
    struct mb_world *w = mb_world(s);
    w->arbiter_at = w->now;
    arbiter_event(s, (struct ft_arbiter_event){.kind = FT_ARBITER_TIME, .now = w->now});
}

/* When nobody is late any more, all look at their clocks at once. Other orders are not tried then.
 */
static void all_look(struct sim *s)
{
    struct mb_world *w = mb_world(s);
    arbiter_looks(s);
    for (int k = 0; k < w->nodes; k++) {
        if (mb_serves(s, k) && looks(mb_node(w, k)))
            act_node(s, k, MB_GATEWAY, 0);
        if (sim_alive(s, mb_keeper(w, k)))
            act_node(s, k, MB_KEEPER, 0);
    }
}

static void do_act(struct sim *s, int p, int what, int q)
{
    struct mb_world *w = mb_world(s);
    int node = mb_node_at(w, p), at = mb_place_at(w, p);
    if (what == MB_TICK) {
        w->now++;
        if (w->now > w->calm)
            all_look(s);
    } else if (what == MB_ARBITER) {
        arbiter_looks(s);
    } else if (what == MB_REAPED) {
        arbiter_event(
            s, (struct ft_arbiter_event){.kind = FT_ARBITER_ENDED, .now = w->now, .node = q});
    } else if (at < 2) {
        act_node(s, node, what, q);
    } else {
        act_slot(s, mb_slot_at(w, p), what, q);
    }
}

static void act(struct sim *s, int p, int what, int q)
{
    if (!s->o.timed) {
        do_act(s, p, what, q);
        return;
    }
    mb_world(s)->now = s->now;
    if (mb_timed_may(s, p, what, &q))
        do_act(s, p, what, q);
    mb_timed_acted(s, p, what, q);
}

static void crashed(struct sim *s, int p)
{
    const struct mb_world *w = mb_world(s);
    if (s->o.timed && p > 0 && mb_place_at(w, p) >= 2)
        mb_timed_slot_died(s, mb_slot_at(w, p));
}

/* The seed says how many slots a node has, and the processes suffice for so many nodes. */
static void shape(const struct sim_options *o, int *nodes, int *each)
{
    *each = o->seed % 2 || o->n < 9 ? 1 : 2;
    *nodes = (o->n - 1) / (2 + *each);
    if (*nodes > MB_NODES && !o->timed)
        *nodes = MB_NODES;
}

static size_t bytes(const struct sim_options *o)
{
    int nodes, each;
    shape(o, &nodes, &each);
    return sizeof(struct mb_world) + (size_t)nodes * sizeof(((struct mb_world *)NULL)->place[0]);
}

static void start(struct sim *s)
{
    struct mb_world *w = mb_world(s);
    static uint16_t node_of[FT_MAX_SLOTS];
    static uint32_t ranks[FT_MAX_NODES];
    shape(&s->o, &w->nodes, &w->each);
    w->faults = s->crashes;
    s->crashes = 0; /* the model draws who fails, and how */
    w->lease = MB_LEASE;
    w->calm = (uint64_t)s->o.starters;
    w->end = w->calm + 4 * MB_LEASE;
    if (s->o.timed)
        mb_timed_start(s);
    for (int i = 0; i < mb_slots(w); i++)
        node_of[i] = (uint16_t)mb_node_of(w, i);
    for (int k = 0; k < w->nodes; k++) {
        ranks[k] = (uint32_t)(k % 3);
        int own = k == 0 && s->o.seed % 3 == 0; /* a pidfd watches it, and it needs no lease */
        ft_lease_init(&mb_node(w, k)->lease, own ? UINT64_MAX / 4 : w->lease, 8 * w->lease + w->end,
                      0);
        ft_fence_init(&mb_node(w, k)->fence, k, w->nodes, mb_slots(w), node_of, w->lease / 2);
    }
    struct ft_arbiter_cfg cfg = {.nnodes = w->nodes,
                                 .own = s->o.seed % 3 ? -1 : 0,
                                 .lease = w->lease,
                                 .tick =
                                     s->o.mutant == M_NO_STANDSTILL ? 1000 : w->lease / MB_LEASE,
                                 .bearable = 1 + (int)(s->o.seed % 2)};
    ft_arbiter_init(&w->arbiter, &cfg, ranks, 0);
    for (int i = 0; i < mb_slots(w); i++) {
        ft_agree_init(&mb_slot(w, i)->agree, i, mb_slots(w));
        mb_slot(w, i)->ops = (uint8_t)s->o.ops;
    }
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const kind[] = {"agreement", "operation", "closed", "asks for its lease",
                                       "lease",     "report",    "out"};
    struct body b = {0};
    (void)s;
    memcpy(&b, body, size < sizeof b ? size : sizeof b);
    if (b.kind == B_AGREE)
        snprintf(out, (size_t)room, "agreement");
    else
        snprintf(out, (size_t)room, "%s, slot %d, class %d, about %d, nodes %llx", kind[b.kind],
                 b.slot, b.class, b.about, (unsigned long long)b.nodes.w[0]);
}

static const struct sim_checker *const checkers[] = {&sim_check_member, NULL};
const struct sim_model sim_model_member = {"member", acts,         mutants, checkers, bytes, start,
                                           deliver,  can,          act,     crashed,  say,   4,
                                           33,       FT_MAX_SLOTS, NULL,    NULL,     NULL};
