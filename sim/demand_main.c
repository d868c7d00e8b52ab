/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_main.c - a main that takes images alone, or computes codewords; and what its process has
 * published of them.
 */
#include "demand_main.h"

static struct demand_proc *proc(const struct sim *s, int p) { return &demand_world(s)->p[p]; }
static int code_of(int p) { return p - demand_ch_of(p); } /* of a checksum process */

/* ---- what is published ---- */

static void tags(struct sim *s, int p, uint64_t version)
{
    struct demand_proc *me = proc(s, p);
    int code = code_of(p);
    if (demand_world(s)->back) { /* all goes by the committed images again */
        for (int i = 0; i < demand_members(s, p); i++)
            proc(s, demand_member(s, p, i))->tag[code] = DEMAND_COMMITTED;
        memset(&me->staged, 0, sizeof me->staged);
        memset(&me->before, 0, sizeof me->before);
        me->lifted = me->rebuilt = me->latest = 0;
        return;
    }
    if (version && version == me->staged.version && version != me->latest) {
        uint64_t *tag = &proc(s, me->staged.of)->tag[code];
        me->before =
            (struct demand_codeword){.version = me->latest, .of = me->staged.of, .image = *tag};
        *tag = me->staged.image;
    } else if (version == me->before.version && version != me->latest) {
        proc(s, me->before.of)->tag[code] = me->before.image;
    } else if (version != me->latest && version != me->rebuilt) {
        sim_wrong(s, "%d publishes a codeword that is not there", p);
    }
    me->latest = version;
}

static void flips(struct sim *s, int p, uint64_t version)
{
    struct demand_world *w = demand_world(s);
    struct demand_proc *me = proc(s, p);
    int of_old = me->lost != 0; /* a replacement says which image it was given */
    for (int i = 0; i < demand_codes(s, p); i++) {
        uint64_t tag = demand_tag(proc(s, demand_ch_of(p)), me, i);
        me->flipped_to_nothing |= tag && version != tag;
    }
    me->latest = version;
    if (w->back) {
        me->slot[1] = me->slot[2] = 0;
        me->flipped_to_nothing = 0;
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
        memset(proc(s, p)->member, 0, sizeof proc(s, p)->member); /* leaves no trace */
    }
    if (a->word != FT_WORD_LATEST)
        return;
    if (demand_is_ch(s, p))
        tags(s, p, a->value);
    else
        flips(s, p, a->value);
}

/* ---- main ---- */

/* The image that was taken last lies over the latest one. */
int demand_lies_over(const struct sim *s, int p)
{
    const struct demand_proc *q = proc(s, p);
    return demand_streams(s) && s->o.mutant != M_DROPS_OVER && q->latest &&
           !demand_has(q, q->latest);
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
    m->taken = me->taken;
    m->taken_in = me->taken_in;
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

/* It comes to its safepoint, or to where it can park. In the midst of an image it does not. */
static int moves(struct demand_proc *me)
{
    int held = me->place == FT_AT_HELD, runs = me->place == FT_AT_BODY && me->wish >= 0;
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

/* A coordinated image goes where the latest one is not. */
static void overwrites_one(struct demand_proc *me)
{
    me->slot[me->slot[1] && me->slot[1] == me->latest ? 2 : 1] = 0;
}

/* All of that takes no time here: the way of a replacement, but for the images that it is rebuilt
 * from; and what orders ask for. */
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

/* A version that none of its codewords has: the lowest, so that states do not differ by that. */
uint64_t demand_new_codeword(const struct demand_proc *me)
{
    uint64_t n = 1;
    for (uint64_t v = demand_alone(n);
         v == me->latest || v == me->before.version || v == me->staged.version || v == me->rebuilt;)
        v = demand_alone(++n);
    return demand_alone(n);
}

uint64_t demand_alone(uint64_t n) { return FT_VERSION_MAKE(DEMAND_COMMITTED, 0, n); }

void demand_computes(struct sim *s, int p, int ok)
{
    struct demand_proc *me = proc(s, p);
    int of = demand_member(s, p, me->rank);
    int known = me->rank < demand_members(s, p);
    me->rebuilt = 0;
    memset(&me->before, 0, sizeof me->before);
    if (me->command == FT_CMD_LIFT) {
        me->lifted = 0;
        me->staged.version = 0;
        if (ok && known && s->o.mutant != M_NO_LIFT) {
            me->lifted_of = of;
            me->lifted = proc(s, of)->tag[code_of(p)];
        }
        demand_answers(me, (uint64_t)ok);
        return;
    }
    int again = me->staged.version && me->staged.of == of && me->staged.image == me->version;
    if (ok && !again)
        me->staged = (struct demand_codeword){
            .version = demand_new_codeword(me), .of = of, .image = me->version};
    demand_answers(me, ok ? me->staged.version : 0);
}

void demand_begins(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    me->taken_in = (uint32_t)me->wish - 1;
    me->wish = -1;
    if (demand_streams(s))
        me->slot[1] = 0;
}

static void takes_image(struct demand_proc *me, uint64_t version)
{
    me->taken = version;
    me->wish = 0;
    me->news = 1;
}

void demand_declines(struct demand_proc *me)
{
    me->taken_in = (uint32_t)me->wish - 1;
    takes_image(me, FT_TAKEN_NOT);
}

void demand_copies(struct sim *s, int p)
{
    struct demand_proc *me = proc(s, p);
    for (int i = 1; i < 3; i++)
        if (demand_streams(s) || me->slot[i] != me->latest || me->slot[i] == 0) {
            me->slot[i] = demand_alone(me->next++);
            takes_image(me, me->slot[i]);
            return;
        }
}
