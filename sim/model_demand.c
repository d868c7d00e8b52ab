/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.c - a checksum process and a rank that takes images alone, with their mails, mains, deaths and generations. A lost
 * checksum process is replaced at once, so no process of this model is ever missing: what a generation does to both is.
 */
#include "model_demand.h"

enum { CH, Q };
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
    ACT_ADOPTS
};
static const char *const acts[] = {"is-asked-for", "computes",   "looks", "begins-copy", "declines", "copies",
                                   "hands-in",     "has-ballot", "votes", "adopts",      NULL};
enum mutant {
    M_FLIPS_FIRST = 1, /* the owner is told before the codeword is tagged */
    M_NO_FREEZE,       /* CH tags between its vote and its adoption */
    M_LOST_MAIL,       /* COMMITTED is lost, without a failure */
};
static const char *const mutants[] = {"flips-first", "no-freeze", "lost-mail", NULL};

static size_t bytes(const struct sim_options *o)
{
    (void)o;
    return sizeof(struct demand_world);
}

static void mail(struct sim *s, int from, int to, struct ft_demand_msg m)
{
    if (m.kind && !(s->o.mutant == M_LOST_MAIL && m.kind == FT_DEMAND_COMMITTED))
        sim_send(s, from, to, &m, sizeof m);
}

static void ch_act(struct sim *s, struct ft_demand_action a)
{
    struct demand_world *w = demand_world(s);
    switch (a.act) {
    case FT_DEMAND_NOTHING:
        break;
    case FT_DEMAND_SEND:
        if (a.msg.rank == DEMAND_Q)
            mail(s, CH, Q, a.msg);
        else if (a.msg.kind == FT_DEMAND_TAKE) /* another member, that declines */
            mail(s, CH, CH, (struct ft_demand_msg){FT_DEMAND_TAKEN, a.msg.generation, a.msg.rank, 0, 0});
        break;
    case FT_DEMAND_FOLD:
        w->folding = 1;
        w->folded = a.msg.version;
        if (s->o.mutant == M_FLIPS_FIRST)
            mail(s, CH, Q, (struct ft_demand_msg){FT_DEMAND_COMMITTED, a.msg.generation, a.msg.rank, 0, a.msg.version});
        break;
    case FT_DEMAND_TAG:
        w->tag = a.msg.version;
        mail(s, CH, Q, a.msg);
        break;
    }
}

static void ch_adopts(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    w->ch_there = 1;
    w->ch_voted = 0;
    w->folding = 0;
    ft_demand_ch_reset(&w->ch, w->generation);
    if (w->ch_dies) /* its replacement computes the codeword from what the members say */
        w->tag = w->q.latest ? w->q.latest : 1;
}

static void q_adopts(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    ft_demand_owner_generation(&w->q, w->generation, w->ch_dies ? 0 : w->tag);
    w->q_there = 1;
    w->q_voted = 0;
}

static void q_copies(struct demand_world *w)
{
    for (int i = 1; i < 3; i++)
        if (w->slot[i] != w->q.latest || w->slot[i] == 0) {
            w->slot[i] = w->made = w->next++;
            return;
        }
}

static void q_hands_in(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    if (w->copying == 1 + (int)w->q.generation)
        mail(s, Q, CH, ft_demand_owner_taken(&w->q, DEMAND_Q, w->made));
    w->copying = 0;
    w->made = 0;
}

static void begin_ballot(struct sim *s, int ch_dies)
{
    struct demand_world *w = demand_world(s);
    w->ballots--;
    w->ballot = 1;
    w->ch_dies = ch_dies;
    w->ch_voted = ch_dies;
}

static void vote(struct demand_world *w, int p)
{
    *(p == CH ? &w->ch_voted : &w->q_voted) = 1;
    if (!w->ch_voted || !w->q_voted)
        return;
    w->generation++;
    w->ballot = 2;
    w->q_there = w->ch_there = 0;
}

static void act(struct sim *s, int p, int what, int q)
{
    struct demand_world *w = demand_world(s);
    switch (what) {
    case ACT_IS_ASKED:
        w->asks--;
        mail(s, CH, CH, (struct ft_demand_msg){FT_DEMAND_ASK, 0, q, 0, 0});
        break;
    case ACT_COMPUTES:
        w->folding = 2;
        break;
    case ACT_LOOKS:
        if (w->folding == 2) {
            w->folding = 0;
            ch_act(s, ft_demand_ch_folded(&w->ch, q == 0));
        } else {
            ch_act(s, ft_demand_ch_ready(&w->ch, DEMAND_RANKS));
        }
        break;
    case ACT_BEGINS:
        w->copying = 1 + (int)w->q.generation;
        break;
    case ACT_DECLINES:
        mail(s, Q, CH, ft_demand_owner_taken(&w->q, DEMAND_Q, 0));
        break;
    case ACT_COPIES:
        q_copies(w);
        break;
    case ACT_HANDS_IN:
        q_hands_in(s);
        break;
    case ACT_BALLOT:
        begin_ballot(s, q);
        break;
    case ACT_VOTES:
        vote(w, p);
        break;
    case ACT_ADOPTS:
        if (p == CH)
            ch_adopts(s);
        else
            q_adopts(s);
        if (w->ch_there && w->q_there)
            w->ballot = 0;
        break;
    }
}

static void deliver(struct sim *s, int p, int from, const void *body, size_t size)
{
    struct demand_world *w = demand_world(s);
    struct ft_demand_msg m, answer;
    (void)from;
    FT_ASSERT(size == sizeof m);
    memcpy(&m, body, sizeof m);
    if (p == CH) {
        if (!w->ch_voted || m.kind == FT_DEMAND_ASK)
            ch_act(s, ft_demand_ch_msg(&w->ch, &m));
        return;
    }
    if (w->q_voted && m.kind != FT_DEMAND_TAKE)
        return;
    int flip = ft_demand_owner_msg(&w->q, &m, &answer);
    w->flipped_to_nothing |= flip && w->q.latest != w->tag;
    mail(s, Q, CH, answer);
}

static void can(struct sim *s, struct sim_choices *out)
{
    const struct demand_world *w = demand_world(s);
    int frozen = w->ch_voted && s->o.mutant != M_NO_FREEZE;
    if (w->asks > 0) {
        sim_can(out, CH, ACT_IS_ASKED, DEMAND_Q, 1);
        sim_can(out, CH, ACT_IS_ASKED, 1, 1);
    }
    if (w->folding == 1)
        sim_can(out, CH, ACT_COMPUTES, 0, 0);
    if (w->folding == 2 && !frozen) {
        sim_can(out, CH, ACT_LOOKS, 0, 0);
        sim_can(out, CH, ACT_LOOKS, 1, 1); /* it could not */
    }
    if (!w->folding && !w->ch_voted && w->ch.state == FT_CH_IDLE && !ft_bitset_empty(&w->ch.wanted))
        sim_can(out, CH, ACT_LOOKS, 0, 0);
    if (w->copying && !w->made)
        sim_can(out, Q, ACT_COPIES, 0, 0);
    if (w->made && !w->q_voted)
        sim_can(out, Q, ACT_HANDS_IN, 0, 0);
    if (!w->q_voted && !w->copying && ft_demand_owner_wants(&w->q)) {
        sim_can(out, Q, ACT_BEGINS, 0, 0);
        sim_can(out, Q, ACT_DECLINES, 0, 1); /* an order to copy comes first */
    }
    if (!w->ballot && w->ballots > 0) {
        sim_can(out, CH, ACT_BALLOT, 0, 1);
        sim_can(out, CH, ACT_BALLOT, 1, 1);
    }
    if (w->ballot == 1 && !w->ch_voted)
        sim_can(out, CH, ACT_VOTES, 0, 0);
    if (w->ballot == 1 && !w->q_voted)
        sim_can(out, Q, ACT_VOTES, 0, 0);
    if (w->ballot == 2 && !w->ch_there)
        sim_can(out, CH, ACT_ADOPTS, 0, 0);
    if (w->ballot == 2 && !w->q_there)
        sim_can(out, Q, ACT_ADOPTS, 0, 0);
}

static void start(struct sim *s)
{
    struct demand_world *w = demand_world(s);
    FT_ASSERT(s->o.n >= 2);
    w->next = 2;
    w->slot[0] = w->tag = 1;
    w->q_there = w->ch_there = 1;
    w->asks = s->o.ops;
    w->ballots = s->crashes;
    s->crashes = 0; /* deaths are ballots here */
    ft_demand_ch_reset(&w->ch, 0);
}

static void say(const struct sim *s, const void *body, size_t size, char *out, int room)
{
    static const char *const kind[] = {"", "ASK", "TAKE", "TAKEN", "COMMITTED", "ACK"};
    struct ft_demand_msg m;
    (void)s;
    (void)size;
    memcpy(&m, body, sizeof m);
    snprintf(out, (size_t)room, "%s of generation %u, rank %d, version %llu", kind[m.kind], m.generation, m.rank,
             (unsigned long long)m.version);
}

static const struct sim_checker *const checkers[] = {&sim_check_demand, NULL};
const struct sim_model sim_model_demand = {"demand", acts, mutants, checkers, bytes, start, deliver, can,
                                           act,      NULL, say,     2,        2,     0,     NULL,    NULL};
