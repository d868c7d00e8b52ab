/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.c - checksum processes and ranks that take images alone, with their mails, mains,
 * deaths and generations. Who is lost is replaced at once, so no process of this model is ever
 * missing: what a generation does to all is. A lost checksum process computes its codeword anew, a
 * lost member is rebuilt from the lead's, as soon as the images of all others are there; until then
 * no more of the group are lost than it has codewords, one member at the most.
 */
#include "model_demand.h"

enum {
    ACT_IS_ASKED,
    ACT_COMPUTES,
    ACT_LOOKS,
    ACT_BEGINS,
    ACT_DECLINES,
    ACT_COPIES,
    ACT_HANDS_IN,
    ACT_BALLOT,
    ACT_VOTES,
    ACT_ADOPTS,
    ACT_OVERWRITES,
    ACT_RESUMES,
    ACT_REBUILDS
};
static const char *const acts[] = {
    "is-asked-for", "computes", "looks",  "begins-copy", "declines", "copies",   "hands-in",
    "has-ballot",   "votes",    "adopts", "overwrites",  "resumes",  "rebuilds", NULL};
/* timed, in latencies: a member comes to a safepoint, copies; a codeword is computed */
static const int takes[] = {
    [ACT_COMPUTES] = 10, [ACT_BEGINS] = 20, [ACT_COPIES] = 10, [ACT_REBUILDS] = 10};
enum demand_mutant {
    M_FLIPS_FIRST = 1, /* the owner is told before the codeword is tagged */
    M_NO_FREEZE,       /* CH tags between its vote and its adoption */
    M_LOST_MAIL,       /* COMMITTED is lost, without a failure */
    M_NO_LIFT,         /* a member writes over what nobody else has */
    M_LATE_TAKE,       /* a member's main begins between its agent's vote and adoption */
    M_DROPS_OVER,      /* a new generation voids what lies over the latest image */
    M_OWN_TAGS,   /* in a new generation, each checksum process goes by what it has tagged itself */
    M_TAKES_ANEW, /* who leads then asks for any image, not for what was begun only */
};
static const char *const mutants[] = {"flips-first", "no-freeze",  "lost-mail",
                                      "no-lift",     "late-take",  "drops-over",
                                      "own-tags",    "takes-anew", NULL};

static struct demand_proc *proc(const struct sim *s, int p) { return &demand_world(s)->p[p]; }
static int rank_of(const struct sim *s, int p)
{
    return p - demand_member(s, p, 0);
} /* within the group */
static int end_of(const struct sim *s, int p)
{
    return demand_member(s, p, demand_members(s, p));
} /* after p's group */
static int lead_of(const struct sim *s, int p) /* as p knows */
{
    int lead = proc(s, p)->lead;
    return demand_ch_of(p) + (lead >= 0 ? lead : ~lead);
}

/* of p's group; first: from this process on */
static int lost_in(const struct sim *s, int p, int first, int least)
{
    int lost = 0;
    for (int q = first; q < end_of(s, p); q++)
        lost += proc(s, q)->lost >= least;
    return lost;
}

/* The image that was taken last lies over the latest one. */
static int lies_over(const struct sim *s, int p)
{
    const struct demand_proc *q = proc(s, p);
    return demand_streams(s) && s->o.mutant != M_DROPS_OVER && q->q.latest &&
           !demand_has(q, q->q.latest);
}

static size_t bytes(const struct sim_options *o)
{
    return sizeof(struct demand_world) + (size_t)o->n * sizeof(struct demand_proc);
}

static void mail(struct sim *s, int from, int to, struct ft_demand_msg m)
{
    if (m.kind && !(s->o.mutant == M_LOST_MAIL && m.kind == FT_DEMAND_COMMITTED))
        sim_send(s, from, to, &m, sizeof m);
}

static void ch_act(struct sim *s, int p, struct ft_demand_action a)
{
    struct demand_proc *me = proc(s, p);
    int known = me->ch.rank < demand_members(s, p), index = p - demand_ch_of(p),
        to = demand_member(s, p, me->ch.rank);
    if (a.msg.kind == FT_DEMAND_TAKE && s->o.mutant == M_TAKES_ANEW)
        a.msg.version = 0;
    for (int i = 0; i < demand_codes(s, p); i++)
        if (a.to >> i & 1)
            mail(s, p, demand_ch_of(p) + i, a.msg);
    switch (a.act) {
    case FT_DEMAND_NOTHING: break;
    case FT_DEMAND_SEND:
        if (a.to)
            break;
        if (a.msg.rank < demand_members(s, p))
            mail(s, p, demand_member(s, p, a.msg.rank), a.msg);
        else if (a.msg.kind == FT_DEMAND_TAKE) /* a member that is not modelled: it declines */
            mail(s, p, p,
                 (struct ft_demand_msg){FT_DEMAND_TAKEN, a.msg.generation, a.msg.rank, 0, 0});
        break;
    case FT_DEMAND_LIFT:
        if (known && s->o.mutant != M_NO_LIFT) {
            me->folding = me->lifting = 1;
            me->lifted = 0;
        } else {
            ch_act(s, p, ft_demand_ch_lifted(&me->ch, 1));
        }
        break;
    case FT_DEMAND_FOLD:
        me->folding = 1;
        me->lifting = 0;
        me->folded = a.msg.version;
        if (s->o.mutant == M_FLIPS_FIRST)
            mail(s, p, to,
                 (struct ft_demand_msg){FT_DEMAND_COMMITTED, a.msg.generation, a.msg.rank, 0,
                                        a.msg.version});
        break;
    case FT_DEMAND_TAG:
        me->untag = proc(s, to)->tag[index];
        proc(s, to)->tag[index] = me->folded;
        if (a.msg.kind && !a.to)
            mail(s, p, to, a.msg);
        break;
    case FT_DEMAND_UNTAG: proc(s, to)->tag[index] = me->untag; break;
    }
}

/* ---- generations ---- */

/* Who leads p's group, by the newest decision. */
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

static void ch_adopts(struct sim *s, int p, uint32_t there)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    int lead = lead_of(s, p) - demand_ch_of(p), known = me->ch.rank < demand_members(s, p);
    const struct demand_proc *q = proc(s, demand_member(s, p, known ? me->ch.rank : 0));
    struct ft_demand_ch_news news = {w->generation, known && q->fresh, lead, there,
                                     there ? q->tag[lead] : 0};
    me->folding = 0;
    if (me->fresh) /* its replacement */
        ft_demand_ch_reset(&me->ch, w->generation);
    struct ft_demand_action a = ft_demand_ch_generation(&me->ch, &news);
    if (s->o.mutant != M_OWN_TAGS)
        ch_act(s, p, a);
}

static void q_adopts(struct sim *s, int p, uint32_t there)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    struct ft_demand_msg answer;
    int orphan = !there; /* nobody could say what the tag is */
    if (me->fresh) {
        me->q = (struct ft_demand_owner){.stream = demand_streams(s), .generation = w->generation};
        return;
    }
    if (orphan)
        me->orphaned = 1 + (int)w->generation;
    ft_demand_owner_generation(&me->q, w->generation, rank_of(s, p), orphan ? 0 : me->tag[me->lead],
                               lies_over(s, p), &answer);
    mail(s, p, lead_of(s, p), answer);
}

static void is_lost(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    me->lost = DEMAND_LOST;
    me->folding = 0;
    me->lifted = 0;
    for (int i = 0; i < demand_members(s, p) && demand_is_ch(s, p); i++)
        proc(s, demand_member(s, p, i))->tag[p - demand_ch_of(p)] = 0;
    me->copying = me->begun = me->orphaned = 0;
    me->made = me->slot[1] = me->slot[2] =
        0; /* the committed image comes of the committed codeword */
}

/* By which image of q the replacement p goes. */
static uint64_t rebuild_source(const struct sim *s, int p, int q)
{
    return proc(s, p)->lead >= 0 ? proc(s, q)->tag[proc(s, p)->lead] : demand_latest(proc(s, q));
}

/* Of what the lead's codeword and the others have, or, a checksum process, of what the lead's tags
 * or, without one, the members say. */
static int can_rebuild(const struct sim *s, int p)
{
    const struct demand_proc *me = proc(s, p);
    if (me->lost != DEMAND_REPLACED || !me->there || me->voted ||
        (me->lead >= 0 && proc(s, lead_of(s, p))->lost))
        return 0;
    for (int q = demand_member(s, p, 0); q < end_of(s, p); q++)
        if (q != p && (proc(s, q)->lost || !demand_has(proc(s, q), rebuild_source(s, p, q))))
            return 0; /* it is being written over, and the codeword will have the new one */
    return 1;
}

static void rebuild(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    me->lost = 0;
    for (int q = demand_member(s, p, 0); q < end_of(s, p) && demand_is_ch(s, p); q++)
        proc(s, q)->tag[p - demand_ch_of(p)] = rebuild_source(s, p, q);
    if (!demand_is_ch(s, p))
        me->slot[1] = me->q.latest = rebuild_source(s, p, p) > 1 ? rebuild_source(s, p, p) : 0;
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

/* A ballot begins, or one more is lost while it is open. */
static void begin_ballot(struct sim *s, int who)
{
    struct demand_world *w = demand_world(s);
    w->ballots--;
    if (!w->ballot)
        w->waits = s->o.n;
    w->ballot = 1;
    if (!who)
        return;
    struct demand_proc *dead = proc(s, who - 1); /* its replacement has nothing to say */
    is_lost(s, who - 1);
    w->waits -= !dead->voted;
    dead->voted = 1;
    if (w->waits == 0)
        decide(s);
}

static void vote(struct sim *s, int p)
{
    struct demand_world *w = demand_world(s);
    proc(s, p)->voted = 1;
    if (demand_streams(s) && !proc(s, p)->begun && s->o.mutant != M_LATE_TAKE)
        proc(s, p)->copying = 0; /* taken back */
    if (--w->waits == 0)
        decide(s);
}

static void adopt(struct sim *s, int p)
{
    struct demand_world *w = demand_world(s);
    uint32_t there;
    proc(s, p)->lead = new_lead(s, p, &there);
    if (demand_is_ch(s, p))
        ch_adopts(s, p, there);
    else
        q_adopts(s, p, there);
    proc(s, p)->there = 1;
    proc(s, p)->voted = 0;
    if (--w->waits == 0)
        w->ballot = 0;
}

/* ---- members ---- */

static void q_copies(struct sim *s, struct demand_proc *me)
{
    for (int i = 1; i < 3; i++)
        if (demand_streams(s) || me->slot[i] != me->q.latest || me->slot[i] == 0) {
            me->slot[i] = me->made = me->next++;
            return;
        }
}

static void q_hands_in(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    int now = me->copying == 1 + (int)me->q.generation, over = lies_over(s, p);
    if (!now && over && me->orphaned > me->copying)
        ft_demand_owner_orphan(&me->q, me->made);
    else if (now || over)
        mail(s, p, lead_of(s, p), ft_demand_owner_taken(&me->q, rank_of(s, p), me->made, over));
    me->copying = me->begun = 0;
    me->made = 0;
}

static void ch_looks(struct sim *s, int p, int ok)
{
    struct demand_proc *me = proc(s, p);
    if (me->folding == 2) {
        me->folding = 0;
        ch_act(s, p,
               me->lifting ? ft_demand_ch_lifted(&me->ch, ok) : ft_demand_ch_folded(&me->ch, ok));
    } else {
        ch_act(s, p, ft_demand_ch_ready(&me->ch, DEMAND_MEMBERS, (1u << demand_codes(s, p)) - 1));
    }
}

static void happens(struct sim *s, int p, int what, int q)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    switch (what) {
    case ACT_IS_ASKED:
        w->asks--;
        mail(s, p, lead_of(s, p),
             (struct ft_demand_msg){FT_DEMAND_ASK, 0, s->o.timed ? rank_of(s, p) : q, 0, 0});
        break;
    case ACT_COMPUTES:
        me->folding = 2;
        if (me->lifting) {
            me->lifted_of = demand_member(s, p, me->ch.rank);
            me->lifted = proc(s, me->lifted_of)->tag[p - demand_ch_of(p)];
        }
        break;
    case ACT_LOOKS: ch_looks(s, p, q == 0); break;
    case ACT_BEGINS: me->copying = 1 + (int)me->q.generation; break;
    case ACT_DECLINES:
        mail(s, p, lead_of(s, p), ft_demand_owner_taken(&me->q, rank_of(s, p), 0, 0));
        break;
    case ACT_OVERWRITES:
        me->begun = 1;
        me->slot[1] = 0;
        break;
    case ACT_COPIES: q_copies(s, me); break;
    case ACT_HANDS_IN: q_hands_in(s, p); break;
    case ACT_RESUMES: ch_act(s, p, ft_demand_ch_resume(&me->ch)); break;
    case ACT_REBUILDS: rebuild(s, p); break;
    case ACT_BALLOT: begin_ballot(s, q); break;
    case ACT_VOTES: vote(s, p); break;
    case ACT_ADOPTS: adopt(s, p); break;
    }
}

static void hear(struct sim *s, int p, const struct ft_demand_msg *m)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    struct ft_demand_msg answer;
    if (demand_is_ch(s, p)) {
        if (!me->voted || m->kind == FT_DEMAND_ASK)
            ch_act(s, p, ft_demand_ch_msg(&me->ch, m));
        return;
    }
    if (me->voted && m->kind != FT_DEMAND_TAKE)
        return;
    int flip = ft_demand_owner_msg(&me->q, m, &answer);
    for (int i = 0; i < demand_codes(s, p); i++)
        me->flipped_to_nothing |= flip && me->tag[i] && me->q.latest != me->tag[i];
    if (flip && s->o.timed) {
        w->taken++;
        w->ended = s->now;
    }
    mail(s, p, lead_of(s, p), answer);
}

/* ---- what can happen ---- */

/* These of p's group have adopted the generation. */
static int are_here(const struct sim *s, int p, uint32_t these)
{
    int here = 1;
    for (int i = 0; i < demand_codes(s, p); i++)
        here &= !(these >> i & 1) || proc(s, demand_ch_of(p) + i)->there;
    return here;
}

static void ch_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct demand_proc *me = proc(s, p);
    int frozen = me->voted && s->o.mutant != M_NO_FREEZE;
    if (me->folding == 1)
        sim_can(out, p, ACT_COMPUTES, 0, SIM_MUST);
    if (me->folding == 2 && !frozen) {
        sim_can(out, p, ACT_LOOKS, 0, SIM_MUST);
        if (me->lifting || !lies_over(s, demand_member(s, p, me->ch.rank)))
            sim_can(out, p, ACT_LOOKS, 1,
                    SIM_SELDOM); /* it could not; what a member has written over, lies there */
    }
    /* the group is frozen until the replacement is live */
    int well = !lost_in(s, p, demand_ch_of(p), DEMAND_REPLACED) && are_here(s, p, ~0u) &&
               me->ch.index == me->ch.lead;
    if (well && !me->lost && !me->folding && !me->voted && me->ch.state == FT_CH_IDLE &&
        !ft_bitset_empty(&me->ch.wanted))
        sim_can(out, p, ACT_LOOKS, 0, SIM_MUST);
    if (me->ch.state == FT_CH_RESUMING && !me->voted && are_here(s, p, me->ch.chain))
        sim_can(out, p, ACT_RESUMES, 0, SIM_MUST);
}

static void q_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct demand_proc *me = proc(s, p);
    if (me->copying && !me->made && (me->begun || !demand_streams(s)))
        sim_can(out, p, ACT_COPIES, 0, SIM_MUST);
    if (me->copying && !me->begun && demand_streams(s) &&
        (!lost_in(s, p, demand_member(s, p, 0), DEMAND_REPLACED) ||
         s->o.mutant == M_LATE_TAKE)) /* while all are live */
        sim_can(out, p, ACT_OVERWRITES, 0, SIM_MUST);
    if (me->made && !me->voted)
        sim_can(out, p, ACT_HANDS_IN, 0, SIM_MUST);
    if (!me->voted && !me->copying && ft_demand_owner_wants(&me->q)) {
        sim_can(out, p, ACT_BEGINS, 0, SIM_MUST);
        sim_can(out, p, ACT_DECLINES, 0, SIM_SELDOM); /* an order to copy comes first */
    }
    if (!me->voted && !me->copying && !me->made && ft_demand_owner_ends(&me->q))
        sim_can(out, p, ACT_DECLINES, 0, SIM_MUST);
}

static void process_can(const struct sim *s, int p, struct sim_choices *out)
{
    const struct demand_world *w = demand_world(s);
    if (demand_is_ch(s, p))
        ch_can(s, p, out);
    else
        q_can(s, p, out);
    if (can_rebuild(s, p))
        sim_can(out, p, ACT_REBUILDS, 0, SIM_MUST);
    if (w->ballot == 1 && !proc(s, p)->voted)
        sim_can(out, p, ACT_VOTES, 0, SIM_MUST);
    if (w->ballot == 2 && !proc(s, p)->there)
        sim_can(out, p, ACT_ADOPTS, 0, SIM_MUST);
}

/* Who is lost in it, 0: somebody elsewhere. While it is open others may be lost as well, but no
 * more of a group than it has codewords. */
static int can_ballot(const struct sim *s, int who)
{
    int ballot = demand_world(s)->ballot, p = who - 1;
    if (!who || ballot == 2)
        return !ballot;
    return !proc(s, p)->lost && lost_in(s, p, demand_ch_of(p), DEMAND_LOST) < demand_codes(s, p) &&
           (demand_is_ch(s, p) || !lost_in(s, p, demand_member(s, p, 0), DEMAND_LOST));
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct demand_world *w = demand_world(s);
    for (int r = 0; r <= demand_members(s, 0) && r < DEMAND_MEMBERS && w->asks > 0;
         r++) /* the last one is, below 9, not modelled */
        sim_can(out, 0, ACT_IS_ASKED, r, SIM_MAY);
    for (int p = 0; p < s->o.n; p++)
        process_can(s, p, out);
    for (int who = 0; who <= s->o.n && w->ballots > 0; who++)
        if (can_ballot(s, who))
            sim_can(out, 0, ACT_BALLOT, who, SIM_SELDOM);
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

/* What becomes possible for others of the group by a step of p. */
static void arm_others(struct sim *s, int p, int all)
{
    for (int q = demand_ch_of(p); q < end_of(s, p); q++)
        if (q != p && (all || proc(s, q)->lost))
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
    if (s->o.timed) {
        arm(s, p);
        arm_others(s, p, what == ACT_REBUILDS);
    }
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
    if (s->o.timed) {
        arm(s, p);
        arm_others(s, p, 0);
    }
}

static void start(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    uint64_t latency = (uint64_t)s->o.latency;
    w->asks = s->o.timed ? s->o.n : s->o.ops;
    w->ballots = s->crashes;
    s->crashes = 0; /* deaths are ballots here */
    for (int p = 0; p < s->o.n; p++) {
        struct demand_proc *me = proc(s, p);
        me->there = 1;
        me->ch.stream = me->q.stream = demand_streams(s);
        me->ch.index = p - demand_ch_of(p);
        if (demand_is_ch(s, p))
            continue;
        me->next = 2;
        me->slot[0] = me->tag[0] = me->tag[1] = 1;
        for (int k = 0; k < s->o.ops && s->o.timed; k++)
            sim_after(s, p, ft_prng_below(&s->rng, 10 * latency), ACT_IS_ASKED, 0);
    }
    for (int k = 0; k < w->ballots && s->o.timed; k++)
        sim_after(s, 0, ft_prng_below(&s->rng, 400 * latency), ACT_BALLOT,
                  (int)ft_prng_below(&s->rng, (uint64_t)s->o.n + 1));
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const kind[] = {"",    "ASK",     "TAKE",    "TAKEN",  "COMMITTED",
                                       "ACK", "LIFT_IT", "FOLD_IT", "TAG_IT", "DONE"};
    struct ft_demand_msg m;
    (void)s;
    (void)size;
    memcpy(&m, body, sizeof m);
    snprintf(out, (size_t)room, "%s of generation %u, rank %d, version %llu", kind[m.kind],
             m.generation, m.rank, (unsigned long long)m.version);
}

static const char *const counted[] = {"images taken alone", NULL};
static void tally(const struct sim *s, uint64_t *sums)
{
    for (int p = 0; p < s->o.n; p++)
        sums[0] += !demand_is_ch(s, p) && proc(s, p)->next > 2 ? proc(s, p)->next - 2 : 0;
}

static const struct sim_checker *const checkers[] = {&sim_check_demand, NULL};
const struct sim_model sim_model_demand = {
    "demand", acts, mutants, checkers,           bytes,   start,   deliver, can, act,
    NULL,     say,  2,       1 + DEMAND_MEMBERS, 1 << 19, counted, tally,   NULL};
