/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.c - the world around carriers that take images alone: mails, mains, deaths and
 * generations. A lost process is replaced at once, so no process of this model is ever missing.
 * What is modelled is what a new generation does to all. A lost checksum process computes its
 * codeword again, and a lost member is rebuilt from the lead's codeword, as soon as the images of
 * all others are there. Until then no more of the group are lost than it has codewords, and at most
 * one of these is a member.
 */
#include "demand_main.h"

enum {
    ACT_IS_ASKED,
    ACT_COMPUTES,
    ACT_LOOKS,
    ACT_SEES,
    ACT_BEGINS,
    ACT_DECLINES,
    ACT_COPIES,
    ACT_BALLOT,
    ACT_VOTES,
    ACT_ADOPTS,
    ACT_REBUILDS,
    ACT_IS_ORDERED,
    ACT_GOES_BACK
};
static const char *const acts[] = {
    "is-asked-for", "computes", "looks",  "sees-group", "begins-copy", "declines",  "copies",
    "has-ballot",   "votes",    "adopts", "rebuilds",   "is-ordered",  "goes-back", NULL};
/* timed, in latencies: until a member comes to a safepoint; to copy; to compute a codeword */
static const int takes[] = {
    [ACT_COMPUTES] = 10, [ACT_BEGINS] = 20, [ACT_COPIES] = 10, [ACT_REBUILDS] = 10};
static const char *const mutants[] = {
    "flips-first", "no-freeze", "lost-mail",   "no-lift",   "late-take",   "drops-over", "own-tags",
    "takes-again", "thaws",     "copies-over", "wishes-on", "tells-first", "unsaid",     NULL};
static const int broken[] = {[M_THAWS] = FT_BROKEN_THAWS,
                             [M_COPIES] = FT_BROKEN_COPIES,
                             [M_WISHES] = FT_BROKEN_WISHES,
                             [M_TELLS_FIRST] = FT_BROKEN_TELLS_FIRST,
                             [M_UNSAID] = FT_BROKEN_UNSAID};
#define NOW 1

static struct demand_proc *proc(const struct sim *s, int p) { return &demand_world(s)->p[p]; }
static int rank_of(const struct sim *s, int p)
{
    return p - demand_member(s, p, 0);
} /* index within the group */
static int end_of(const struct sim *s, int p)
{
    return demand_member(s, p, demand_members(s, p));
} /* the first process after p's group */
static int lead_of(const struct sim *s, int p) /* as p knows */
{
    int lead = proc(s, p)->lead;
    return demand_ch_of(p) + (lead >= 0 ? lead : ~lead);
}
static int code_of(int p) { return p - demand_ch_of(p); } /* index of a checksum process */
static int position(const struct sim *s, int p)
{
    return demand_is_ch(s, p) ? DEMAND_MEMBERS + code_of(p) : rank_of(s, p);
}

/* in p's group, from process `first` on */
static int lost_in(const struct sim *s, int p, int first, int least)
{
    int lost = 0;
    for (int q = first; q < end_of(s, p); q++)
        lost += proc(s, q)->lost >= least;
    return lost;
}

static size_t bytes(const struct sim_options *o)
{
    return sizeof(struct demand_world) + (size_t)o->n * sizeof(struct demand_proc);
}

static const struct ft_carrier_cfg *configure(const struct sim *s, int p)
{
    static struct ft_carrier_cfg cfg;
    cfg = (struct ft_carrier_cfg){.nranks = DEMAND_MEMBERS,
                                  .parity = demand_codes(s, p),
                                  .checkpoints = 1,
                                  .logs = 1,
                                  .demand = 1,
                                  .stream = demand_streams(s),
                                  .broken = broken[s->o.mutant]};
    return &cfg;
}

/* ---- what is said to others ---- */

static void mail(struct sim *s, int from, int to, struct ft_demand_msg m)
{
    if (m.kind == FT_DEMAND_COMMITTED && s->o.mutant == M_LOST_MAIL)
        return;
    if (m.kind == FT_DEMAND_TAKE && s->o.mutant == M_TAKES_AGAIN)
        m.version = 0;
    sim_send(s, from, to, &m, sizeof m);
}

static void send_demand(struct sim *s, int p, const struct ft_action *a)
{
    struct ft_demand_msg m = a->demand;
    if (a->to == FT_TO_LEAD)
        mail(s, p, lead_of(s, p), m);
    else if (a->to < 0)
        mail(s, p, demand_ch_of(p) + FT_TO_HELPER(0) - a->to, m);
    else if (a->to < demand_members(s, p))
        mail(s, p, demand_member(s, p, a->to), m);
    else if (m.kind == FT_DEMAND_TAKE) /* a member that is not modelled declines */
    {
        m.kind = FT_DEMAND_TAKEN;
        m.version = 0;
        mail(s, p, p, m);
    }
}

/* It goes only to those who heed it, so that fewer orders have to be tried: a rank that waits for
 * it, or that will wait when it adopts the generation, since it has voted. */
static int would_hear(const struct demand_proc *q, const struct ft_demand_msg *m)
{
    return q->c.generation == m->generation ? q->c.demand.awaits
                                            : q->lost || q->c.demand.owner.state == FT_OWNER_TAKEN;
}

static void say_tags(struct sim *s, int p, const struct ft_action *a)
{
    for (int i = 0; i < demand_members(s, p); i++) {
        struct ft_demand_msg m = a->demand;
        if (!would_hear(proc(s, demand_member(s, p, i)), &m))
            continue;
        m.rank = i;
        m.version = proc(s, p)->im.tag[i];
        mail(s, p, demand_member(s, p, i), m);
    }
}

static void is_told(struct sim *s, int p, const struct ft_action *a)
{
    struct demand_proc *me = proc(s, p);
    me->number = a->number;
    me->command = (int32_t)a->command;
    me->rank = a->arg.rank;
    me->version = a->arg.version;
    if (s->o.mutant == M_FLIPS_FIRST && a->command == FT_CMD_FOLD)
        mail(s, p, demand_member(s, p, a->arg.rank),
             (struct ft_demand_msg){.kind = FT_DEMAND_COMMITTED,
                                    .generation = me->c.generation,
                                    .rank = a->arg.rank,
                                    .version = a->arg.version});
}

/* ---- one event ---- */

static struct ft_actions out;

static void carry_out(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    for (int i = 0; i < out.n; i++) {
        const struct ft_action *a = &out.a[i];
        switch (a->kind) {
        case FT_DO_DEMAND: send_demand(s, p, a); break;
        case FT_DO_SAY_TAGS: say_tags(s, p, a); break;
        case FT_DO_PUBLISH: demand_publish(s, p, a); break;
        case FT_DO_COMMAND: is_told(s, p, a); break;
        case FT_DO_MEMBER: me->im.member[a->to] = a->value; break;
        case FT_DO_TOOK: me->im.taken = 0; break;
        case FT_DO_HOLD: me->hold = a->value; break;
        case FT_DO_ATTENTION: me->park |= a->value == FT_ATTENTION_PARK; break;
        case FT_DO_WISH:
            if (a->value != 0 || s->o.mutant != M_LATE_TAKE)
                sim_images_wish(&me->im, a->value, me->c.generation);
            break;
        default: break;
        }
    }
}

static int did(enum ft_do kind)
{
    for (int i = 0; i < out.n; i++)
        if (out.a[i].kind == kind)
            return 1;
    return 0;
}

/* What is over is erased, so that states that differ only by it count as one. */
static void forget(struct demand_proc *me)
{
    me->c.heard.asks = 0;
    me->c.heard.longest = 0;
    if (me->c.cmd.kind != FT_CMD_NONE || me->number != me->answered)
        return;
    me->c.commands = me->c.cmd.number = me->c.cmd.version = me->c.heard.answered = 0;
    me->number = me->answered = me->version = 0;
    me->command = me->rank = 0;
    memset(&me->answer, 0, sizeof me->answer);
    memset(&me->c.heard.answer, 0, sizeof me->answer);
    if (!me->im.taken && !me->im.wish)
        me->im.taken_in = 0;
    if (!me->c.heard.taken)
        me->c.heard.taken_in = 0;
}

/* Carries out what follows from an event, and pays what the shell owes. */
static void follow(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    const struct ft_carrier_cfg *cfg = configure(s, p);
    struct ft_main m;
    for (int again = 1; again;) {
        for (int n = -1; n != out.n;) {
            n = out.n;
            ft_carrier_choose(&me->c, cfg, NOW, &out);
        }
        ft_carrier_check(&me->c, cfg);
        int look = did(FT_DO_WISH) || did(FT_DO_HOLD);
        carry_out(s, p);
        look |= demand_obeys_at_once(me);
        out.n = 0;
        again = look || me->c.looks & FT_LOOK_QUIET;
        if (look) {
            demand_copy_main(s, p, &m);
            ft_carrier_main(&me->c, cfg, NOW, &m, &out);
        } else if (again) {
            ft_carrier_seen(&me->c, cfg, NOW, FT_LOOK_QUIET, 1, &out);
        }
    }
    forget(me);
}

static void look(struct sim *s, int p, uint32_t asks, int longest)
{
    struct ft_main m;
    demand_copy_main(s, p, &m);
    m.asks = asks;
    m.longest = longest;
    out.n = 0;
    ft_carrier_main(&proc(s, p)->c, configure(s, p), NOW, &m, &out);
    follow(s, p);
}

static void hear(struct sim *s, int p, const struct ft_demand_msg *m)
{
    struct demand_proc *me = proc(s, p);
    out.n = 0;
    ft_carrier_demand(&me->c, configure(s, p), NOW, m, &out);
    for (int i = 0; i < out.n && s->o.mutant == M_OWN_TAGS && m->kind == FT_DEMAND_TAG_IS; i++)
        if (out.a[i].kind == FT_DO_PUBLISH && demand_is_ch(s, p))
            out.a[i].kind = FT_DO_NOTHING;
    follow(s, p);
}

/* What it sees of its group (FT_LOOK_GROUP). A process whose loss nobody knows looks as before. */
static uint32_t group_of(const struct sim *s, int p)
{
    uint32_t here = lost_in(s, p, demand_member(s, p, 0), DEMAND_REPLACED) ? 0 : 1u << 31;
    for (int i = 0; i < demand_codes(s, p); i++) {
        const struct demand_proc *ch = proc(s, demand_ch_of(p) + i);
        if (ch->lost != DEMAND_REPLACED && ch->c.generation >= proc(s, p)->c.generation)
            here |= 1u << i;
    }
    return here;
}

static int sees(const struct sim *s, int p)
{
    const struct ft_carry_demand *d = &proc(s, p)->c.demand;
    uint32_t here = group_of(s, p), all = 1u << 31 | ((1u << demand_codes(s, p)) - 1);
    return (proc(s, p)->c.looks & FT_LOOK_GROUP) &&
           (d->ch.state == FT_CH_RESUMING ? !(d->ch.chain & ~here) : here == all);
}

/* ---- generations ---- */

/* The lead of p's group by the newest decision. */
static int new_lead(const struct sim *s, int p, uint32_t *there)
{
    int ch = demand_ch_of(p), lead = lead_of(s, p) - ch;
    *there = 0;
    for (int i = 0; i < demand_codes(s, p); i++)
        *there |= proc(s, ch + i)->gone ? 0 : 1u << i;
    if (*there && !(*there >> lead & 1))
        lead = __builtin_ctz(*there);
    return *there ? lead : ~lead;
}

/* A fresh process that has heard of the generations so far. */
static void begin_process(const struct sim *s, int p, int pos)
{
    struct demand_proc *me = proc(s, p);
    struct ft_carrier *c = &me->c;
    ft_carrier_init(c, configure(s, p), pos);
    c->committed = DEMAND_COMMITTED;
    c->generation = c->rejoined = demand_world(s)->generation;
    c->demand.ch.stream = c->demand.owner.stream = demand_streams(s);
    c->demand.ch.index = demand_is_ch(s, p) ? code_of(p) : 0;
    c->demand.ch.generation = c->demand.owner.generation = c->generation;
    me->place = pos >= 0 && !demand_is_ch(s, p) ? FT_AT_BODY : FT_AT_INIT;
    if (pos >= 0)
        c->complete = c->own = DEMAND_COMMITTED;
}

static void is_lost(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    me->lost = DEMAND_LOST;
    me->number = me->answered = me->version = 0;
    me->command = me->rank = me->news = 0;
    memset(&me->answer, 0, sizeof me->answer);
    memset(&me->im, 0, sizeof me->im);
    me->im.slot[0] = demand_is_ch(s, p) ? 0 : DEMAND_COMMITTED; /* the committed codeword */
    me->at_vote = 0;
    me->reached = me->passed = me->hold = 0;
    me->seq = 0;
    me->step = me->park = 0;
    me->replaying = !demand_is_ch(s, p);
    begin_process(s, p, -1);
}

/* The image of q that the replacement p uses; a checksum process uses what q has said. */
static uint64_t rebuild_source(const struct sim *s, int p, int q)
{
    const struct demand_proc *me = proc(s, p);
    uint64_t said = me->im.member[rank_of(s, q)];
    if (!demand_is_ch(s, p))
        return proc(s, demand_ch_of(p) + me->lead)->im.tag[rank_of(s, q)];
    return said ? said : DEMAND_COMMITTED;
}

/* Rebuilds from the lead's codeword and the images of others, or, for a checksum process, from the
 * images that they have named. */
static int can_rebuild(const struct sim *s, int p)
{
    const struct demand_proc *me = proc(s, p);
    if (me->number == me->answered || me->command != FT_CMD_REBUILD ||
        !FT_VERSION_ALONE(me->version) || !me->there || me->voted ||
        (!demand_is_ch(s, p) && proc(s, lead_of(s, p))->lost))
        return 0;
    for (int q = demand_member(s, p, 0); q < end_of(s, p); q++)
        if (q != p &&
            (proc(s, q)->lost || !sim_images_has(&proc(s, q)->im, rebuild_source(s, p, q))))
            return 0; /* it is being overwritten, and the codeword will have the new one */
    return 1;
}

static void rebuild(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    int some = 0;
    if (!demand_is_ch(s, p)) {
        me->im.slot[1] = rebuild_source(s, p, p);
        demand_answers(me, me->im.slot[1]);
        return;
    }
    for (int q = demand_member(s, p, 0); q < end_of(s, p); q++) {
        uint64_t image = rebuild_source(s, p, q);
        me->im.tag[rank_of(s, q)] = image;
        some |= FT_VERSION_ALONE(image) != 0;
    }
    me->im.rebuilt = some ? sim_images_new_codeword(&me->im, DEMAND_COMMITTED, 0) : 0;
    demand_answers(me, me->im.rebuilt);
}

static void decide(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    w->generation++;
    w->ballot = 2;
    w->waits = s->o.n;
    for (int p = 0; p < s->o.n; p++) {
        struct demand_proc *me = proc(s, p);
        me->fresh = me->lost == DEMAND_LOST;
        me->gone = me->lost != 0;
        me->lost = me->lost ? DEMAND_REPLACED : 0;
        me->there = 0;
    }
}

/* A ballot opens, or one more process is lost while it is open. */
static void begin_ballot(struct sim *s, int who)
{
    struct demand_world *w = demand_world(s);
    w->ballots--;
    if (!w->ballot)
        w->waits = s->o.n;
    w->ballot = 1;
    if (!who)
        return;
    struct demand_proc *dead = proc(s, who - 1); /* its replacement has nothing to vote */
    is_lost(s, who - 1);
    w->waits -= !dead->voted;
    dead->voted = 1;
    if (w->waits == 0)
        decide(s);
}

static void vote(struct sim *s, int p)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    me->voted = 1;
    me->at_vote = me->im.latest;
    if (s->o.mutant != M_NO_FREEZE || !demand_is_ch(s, p)) {
        out.n = 0;
        me->c.open = 1;
        ft_carrier_ending(&me->c, configure(s, p), &out);
        follow(s, p);
    }
    if (--w->waits == 0)
        decide(s);
}

/* ---- orders ---- */

static void give_order(struct sim *s, int p, enum ft_order_kind kind, uint64_t arg)
{
    struct demand_proc *me = proc(s, p);
    struct ft_order_action order = {
        .kind = FT_OA_EXECUTE, .seq = ++me->seq, .order = kind, .arg = arg};
    ft_carrier_order(&me->c, configure(s, p), NOW, &order, &out);
    follow(s, p);
}

/* A coordinated checkpoint as one rank sees it: it stops and copies, and then it is called off. */
static void is_ordered(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    demand_world(s)->orders -= me->step == 0;
    me->step = me->step == 0                 ? FT_ORDER_TARGET
               : me->step == FT_ORDER_TARGET ? FT_ORDER_CUT
                                             : FT_ORDER_CANCEL;
    out.n = 0;
    give_order(s, p, (enum ft_order_kind)me->step,
               me->step == FT_ORDER_TARGET ? me->reached + 1 : DEMAND_COMMITTED + 1);
    me->step = me->step == FT_ORDER_CANCEL ? 0 : me->step;
}

static int back_done(const struct sim *s)
{
    for (int p = 0; p < s->o.n; p++)
        if (proc(s, p)->step != demand_world(s)->back || proc(s, p)->c.order.kind != FT_ORDER_NONE)
            return 0;
    return 1;
}

/* All go back. No process is given the next order before all have carried out this one. */
static void goes_back(struct sim *s, int p)
{
    struct demand_world *w = demand_world(s);
    if (!w->back) {
        w->orders--;
        w->back = FT_ORDER_RECOVER;
    } else if (back_done(s)) {
        w->back = w->back == FT_ORDER_RECOVER ? FT_ORDER_RESTORE : FT_ORDER_RESUME;
    }
    proc(s, p)->step = w->back;
    out.n = 0;
    give_order(s, p, (enum ft_order_kind)w->back, DEMAND_COMMITTED);
    if (w->back != FT_ORDER_RESUME || !back_done(s))
        return;
    w->back = 0;
    for (int q = 0; q < s->o.n; q++)
        proc(s, q)->step = 0;
}

static void adopt(struct sim *s, int p)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    static struct ft_agree_data d;
    struct ft_carrier_news news = {.generation = w->generation,
                                   .pos = position(s, p),
                                   .rejoin = 1,
                                   .data = &d,
                                   .index = demand_is_ch(s, p) ? code_of(p) : -1,
                                   .members = demand_members(s, p)};
    int of = me->c.demand.ch.rank;
    if (demand_is_ch(s, p) && me->voted && me->at_vote != me->im.latest)
        sim_wrong(s, "%d has tagged a codeword since its vote said what is tagged", p);
    me->at_vote = 0;
    d.committed = DEMAND_COMMITTED;
    me->lead = news.lead = new_lead(s, p, &news.there);
    news.lost_owner = of < demand_members(s, p) && proc(s, demand_member(s, p, of))->fresh;
    me->c.open = 0;
    me->there = 1;
    me->voted = 0;
    out.n = 0;
    ft_carrier_adopted(&me->c, configure(s, p), NOW, &news, &out);
    me->seq = 0;
    me->step = 0;
    give_order(s, p, FT_ORDER_REJOIN, DEMAND_COMMITTED);
    if (--w->waits == 0)
        w->ballot = 0;
}

static void happens(struct sim *s, int p, int what, int q)
{
    struct demand_proc *me = proc(s, p);
    switch (what) {
    case ACT_IS_ASKED:
        demand_world(s)->asks--;
        look(s, p, FT_ASK_IMAGE, s->o.timed ? rank_of(s, p) : q);
        break;
    case ACT_COMPUTES: demand_computes(s, p, q == 0); break;
    case ACT_LOOKS: look(s, p, 0, 0); break;
    case ACT_SEES:
        out.n = 0;
        ft_carrier_seen(&me->c, configure(s, p), NOW, FT_LOOK_GROUP, group_of(s, p), &out);
        follow(s, p);
        break;
    case ACT_BEGINS: demand_begins(s, p); break;
    case ACT_DECLINES: demand_declines(me); break;
    case ACT_COPIES: demand_copies(s, p); break;
    case ACT_REBUILDS: rebuild(s, p); break;
    case ACT_IS_ORDERED: is_ordered(s, p); break;
    case ACT_GOES_BACK: goes_back(s, p); break;
    case ACT_BALLOT: begin_ballot(s, q); break;
    case ACT_VOTES: vote(s, p); break;
    case ACT_ADOPTS: adopt(s, p); break;
    }
}

/* ---- what can happen ---- */

static void ch_can(const struct sim *s, int p, struct sim_choices *to)
{
    const struct demand_proc *me = proc(s, p);
    int at_it = me->number != me->answered;
    if (at_it && (me->command == FT_CMD_LIFT || me->command == FT_CMD_FOLD)) {
        sim_can(to, p, ACT_COMPUTES, 0, SIM_MUST);
        if (me->command == FT_CMD_LIFT || !demand_lies_over(s, demand_member(s, p, me->rank)))
            sim_can(to, p, ACT_COMPUTES, 1,
                    SIM_SELDOM); /* it cannot; what a member has written over, lies there */
    }
    if (sees(s, p))
        sim_can(to, p, ACT_SEES, 0, SIM_MUST);
}

static void q_can(const struct sim *s, int p, struct sim_choices *to)
{
    const struct demand_proc *me = proc(s, p);
    int live = !lost_in(s, p, demand_member(s, p, 0), DEMAND_REPLACED);
    if (me->im.wish < 0)
        sim_can(to, p, ACT_COPIES, 0, SIM_MUST);
    if (me->im.wish > 0 && !me->im.taken) {
        if (live || s->o.mutant == M_LATE_TAKE)
            sim_can(to, p, ACT_BEGINS, 0, SIM_MUST);
        sim_can(to, p, ACT_DECLINES, 0, SIM_SELDOM);
    }
}

/* With `stream` the image would lie over the latest one, which codewords still hold. Such a rank
 * counts as exposed, which this model does not have. */
static int can_be_ordered(const struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    const struct demand_proc *me = proc(s, p);
    return !demand_is_ch(s, p) && !demand_streams(s) && !w->back && !me->voted && me->there &&
           !me->lost && me->c.order.kind == FT_ORDER_NONE && me->number == me->answered &&
           !me->news && (me->step || (w->orders > 0 && me->place == FT_AT_BODY));
}

/* 1: nobody is lost, and no ballot is open. */
static int can_go_back(const struct sim *s)
{
    const struct demand_world *w = demand_world(s);
    if (w->orders <= 0 || w->back || w->ballot)
        return 0;
    for (int p = 0; p < s->o.n; p++)
        if (proc(s, p)->lost || proc(s, p)->step)
            return 0;
    return 1;
}

static void process_can(const struct sim *s, int p, struct sim_choices *to)
{
    const struct demand_world *w = demand_world(s);
    if (demand_is_ch(s, p))
        ch_can(s, p, to);
    else
        q_can(s, p, to);
    if (proc(s, p)->news)
        sim_can(to, p, ACT_LOOKS, 0, SIM_MUST);
    if (can_rebuild(s, p))
        sim_can(to, p, ACT_REBUILDS, 0, SIM_MUST);
    if (w->back && (proc(s, p)->step != w->back || back_done(s)))
        sim_can(to, p, ACT_GOES_BACK, 0, SIM_MUST);
    if (can_be_ordered(s, p))
        sim_can(to, p, ACT_IS_ORDERED, 0, proc(s, p)->step ? SIM_MUST : SIM_SELDOM);
    if (w->ballot == 1 && !proc(s, p)->voted)
        sim_can(to, p, ACT_VOTES, 0, SIM_MUST);
    if (w->ballot == 2 && !proc(s, p)->there)
        sim_can(to, p, ACT_ADOPTS, 0, SIM_MUST);
}

/* Draws the process that is lost in a ballot; 0: one of another group. While the ballot is open
 * others may be lost as well, but no more of a group than it has codewords. */
static int can_ballot(const struct sim *s, int who)
{
    int ballot = demand_world(s)->ballot, p = who - 1;
    if (!who || ballot == 2)
        return !ballot;
    return !proc(s, p)->lost && lost_in(s, p, demand_ch_of(p), DEMAND_LOST) < demand_codes(s, p) &&
           (demand_is_ch(s, p) || !lost_in(s, p, demand_member(s, p, 0), DEMAND_LOST));
}

static void can(struct sim *s, struct sim_choices *to)
{
    const struct demand_world *w = demand_world(s);
    for (int r = 0; r <= demand_members(s, 0) && r < DEMAND_MEMBERS && w->asks > 0;
         r++) /* below 9 processes the last member is not modelled */
        sim_can(to, demand_member(s, 0, 0), ACT_IS_ASKED, r, SIM_MAY);
    for (int p = 0; p < s->o.n; p++)
        process_can(s, p, to);
    if (can_go_back(s))
        sim_can(to, 0, ACT_GOES_BACK, 0, SIM_SELDOM);
    for (int who = 0; who <= s->o.n && w->ballots > 0 && !w->back; who++)
        if (can_ballot(s, who))
            sim_can(to, 0, ACT_BALLOT, who, SIM_SELDOM);
}

/* ---- virtual time: what can happen does, after a while ---- */

static void arm(struct sim *s, int p)
{
    static struct sim_choices can_now;
    struct demand_proc *me = proc(s, p);
    can_now.n = 0;
    process_can(s, p, &can_now);
    for (int i = 0; i < can_now.n; i++) {
        const struct sim_choice *c = &can_now.c[i];
        if (c->idle || me->pending >> c->act & 1)
            continue;
        me->pending |= 1u << c->act;
        sim_after(s, p, (uint64_t)takes[c->act] * (uint64_t)s->o.latency, c->act, c->q);
    }
}

/* Sets timers for what a step of p has made possible in its group. */
static void arm_group(struct sim *s, int p)
{
    for (int q = demand_ch_of(p); q < end_of(s, p); q++)
        arm(s, q);
}

static int is_possible(const struct sim *s, int p, int what, int q)
{
    static struct sim_choices can_now;
    can_now.n = 0;
    process_can(s, p, &can_now);
    for (int i = 0; i < can_now.n; i++)
        if (can_now.c[i].act == what)
            return 1;
    return what == ACT_IS_ASKED || (what == ACT_BALLOT && can_ballot(s, q));
}

static void act(struct sim *s, int p, int what, int q)
{
    int ballot = demand_world(s)->ballot;
    proc(s, p)->pending &= ~(1u << what);
    if (!s->o.timed || is_possible(s, p, what, q))
        happens(s, p, what, q);
    if (s->o.timed)
        arm_group(s, p);
    for (int i = 0; i < s->o.n && s->o.timed && ballot != demand_world(s)->ballot; i++)
        arm(s, i);
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    struct ft_demand_msg m;
    (void)from;
    FT_ASSERT(size == sizeof m);
    memcpy(&m, body, sizeof m);
    hear(s, p, &m);
    if (s->o.timed)
        arm_group(s, p);
}

static void start(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    uint64_t latency = (uint64_t)s->o.latency;
    w->asks = s->o.timed ? s->o.n : s->o.ops;
    w->ballots = s->crashes;
    w->orders = s->o.timed ? 0 : s->o.starters - 1;
    s->crashes = 0; /* in this model a ballot makes a death */
    for (int p = 0; p < s->o.n; p++) {
        struct demand_proc *me = proc(s, p);
        begin_process(s, p, position(s, p));
        me->there = 1;
        look(s, p, 0, 0);
        for (int i = 0; i < demand_members(s, p) && demand_is_ch(s, p); i++)
            me->im.tag[i] = DEMAND_COMMITTED;
        if (demand_is_ch(s, p))
            continue;
        me->next = 1;
        me->im.slot[0] = DEMAND_COMMITTED;
        for (int k = 0; k < s->o.ops && s->o.timed; k++)
            sim_after(s, p, ft_prng_below(&s->rng, 10 * latency), ACT_IS_ASKED, 0);
    }
    for (int k = 0; k < w->ballots && s->o.timed; k++)
        sim_after(s, 0, ft_prng_below(&s->rng, 400 * latency), ACT_BALLOT,
                  (int)ft_prng_below(&s->rng, (uint64_t)s->o.n + 1));
}

static void say(const struct sim *s, const void *body, size_t size, char *text, int room)
{
    struct ft_demand_msg m;
    (void)s;
    (void)size;
    memcpy(&m, body, sizeof m);
    sim_images_say(&m, text, room);
}

static const char *const counted[] = {"images taken alone", NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    for (int p = 0; p < s->o.n; p++)
        sums[0] += !demand_is_ch(s, p) && proc(s, p)->next > 1 ? proc(s, p)->next - 1 : 0;
}

static const struct sim_checker *const checkers[] = {&sim_check_demand, NULL};
const struct sim_model sim_model_demand = {
    "demand", acts, mutants, checkers,           bytes,   start,   deliver, can, act,
    NULL,     say,  2,       1 + DEMAND_MEMBERS, 1 << 19, counted, tally,   NULL};
