/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_main.c - a main that takes images alone or computes codewords, and what its process
 * publishes of them.
 */
#include "demand_main.h"

static struct demand_proc *proc(const struct sim *s, int p) { return &demand_world(s)->p[p]; }

/* ---- what is published ---- */

static void tags(struct sim *s, int p, uint64_t version)
{
    struct sim_images *me = &proc(s, p)->im;
    if (demand_world(s)->back) /* all go by the committed images again */
        sim_images_forget(me, DEMAND_COMMITTED);
    else if (!sim_images_tag(me, version))
        sim_wrong(s, "%d publishes a codeword that is not there", p);
}

static void flips(struct sim *s, int p, uint64_t version)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    int of_old = me->lost != 0; /* a replacement says which image it was given */
    struct sim_group g;
    me->im.latest = version;
    if (w->back) {
        me->im.slot[1] = me->im.slot[2] = 0;
    } else {
        demand_group(s, p, &g);
        sim_check_flip(s, &g, p - demand_member(s, p, 0), version);
    }
    if (s->o.timed && !of_old) {
        w->taken++;
        w->ended = s->now;
    }
}

void demand_publish(struct sim *s, int p, const struct ft_action *a)
{
    if (a->word == FT_WORD_LIVE) {
        proc(s, p)->lost = 0;
        memset(proc(s, p)->im.member, 0,
               sizeof proc(s, p)->im.member); /* so that it leaves no trace in the state */
    }
    if (a->word == FT_WORD_GIVEN_UP)
        proc(s, p)->im.latest = 0;
    if (a->word != FT_WORD_LATEST)
        return;
    if (demand_is_ch(s, p))
        tags(s, p, a->value);
    else
        flips(s, p, a->value);
}

/* ---- main ---- */

int demand_lies_over(const struct sim *s, int p)
{
    return s->o.mutant != M_DROPS_OVER && sim_images_lies_over(&proc(s, p)->im, demand_streams(s));
}

void demand_copy_main(const struct sim *s, int p, struct ft_main *m)
{
    struct demand_proc *me = proc(s, p);
    memset(m, 0, sizeof *m);
    m->place = (enum ft_place)me->place;
    m->reached = me->reached;
    m->passed = me->passed;
    m->hold = me->hold;
    m->answered = me->answered;
    m->answer = me->answer;
    m->replaying = (uint32_t)me->replaying;
    m->taken = me->im.taken;
    m->taken_in = me->im.taken_in;
    m->over = (uint32_t)demand_lies_over(s, p);
    me->news = 0;
}

void demand_answers(struct demand_proc *me, uint64_t version)
{
    memset(&me->answer, 0, sizeof me->answer);
    me->answer.version = version;
    me->answered = me->number;
    me->news = 1;
}

/* It comes to its safepoint, or to where it can park, unless it is taking an image. */
static int moves(struct demand_proc *me)
{
    int held = me->place == FT_AT_HELD, runs = me->place == FT_AT_BODY && me->im.wish >= 0;
    if (me->park && (held || runs)) {
        me->place = FT_AT_PARKED;
        return 1;
    }
    if (!runs || me->hold < FT_HOLD_AT || me->hold - FT_HOLD_AT <= me->reached)
        return 0;
    me->reached = me->hold - FT_HOLD_AT;
    me->place = FT_AT_HELD;
    return 1;
}

/* A coordinated image goes to a slot that does not hold the latest one. */
static void overwrites_one(struct demand_proc *me)
{
    me->im.slot[me->im.slot[1] && me->im.slot[1] == me->im.latest ? 2 : 1] = 0;
}

/* Main does these at once: the steps of a replacement except REBUILD of latest images, and what
 * orders ask for. */
int demand_obeys_at_once(struct demand_proc *me)
{
    if (me->number == me->answered)
        return moves(me);
    switch (me->command) {
    case FT_CMD_REBUILD:
        if (FT_VERSION_ALONE(me->version))
            return 0;
        break;
    case FT_CMD_ROLE: me->place = FT_AT_ENTRY; break;
    case FT_CMD_RESTORE:
        me->place = FT_AT_RESTORED;
        me->reached = me->passed = 0;
        break;
    case FT_CMD_COPY: overwrites_one(me); break;
    case FT_CMD_RELEASE:
        me->place = FT_AT_BODY;
        me->passed = me->reached;
        break;
    case FT_CMD_RESUME:
        me->place = FT_AT_BODY;
        me->replaying = me->park = 0;
        me->lost = 0;
        break;
    case FT_CMD_RESERVE: break;
    default: return 0;
    }
    demand_answers(me, me->version);
    return 1;
}

uint64_t demand_alone(uint64_t n) { return FT_VERSION_MAKE(DEMAND_COMMITTED, 0, n); }

void demand_computes(struct sim *s, int p, int ok)
{
    struct demand_proc *me = proc(s, p);
    struct sim_images *im = &me->im;
    const struct sim_images *of =
        ok && me->rank < demand_members(s, p) ? &proc(s, demand_member(s, p, me->rank))->im : NULL;
    if (me->command == FT_CMD_LIFT) {
        demand_answers(me, sim_images_lift(im, me->rank, of));
        if (s->o.mutant == M_NO_LIFT)
            im->lifted = 0;
        return;
    }
    demand_answers(me, sim_images_fold(im, me->rank, of, me->version,
                                       sim_images_new_codeword(im, DEMAND_COMMITTED, 0)));
}

void demand_begins(struct sim *s, int p) { sim_images_begin(&proc(s, p)->im, demand_streams(s)); }

void demand_declines(struct demand_proc *me)
{
    sim_images_decline(&me->im);
    me->news = 1;
}

void demand_copies(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    sim_images_copy(&me->im, demand_alone(me->next++));
    me->news = 1;
}
