/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_demand.c - no tag names an image that is not there, nobody flips to what is not tagged
 * everywhere, and nothing hangs. So whichever checksum process is left, what is rebuilt with its
 * codeword is of one version, and not older than what logs begin at.
 */
#include "demand_main.h"

/* as it is said: 0 is the committed one */
static uint64_t number(uint64_t version) { return FT_VERSION_NUMBER(version); }

static int is_lifted(const struct demand_proc *ch, int p, uint64_t v)
{
    return ch->lifted == v && ch->lifted_of == p;
}

static void images(struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    const struct demand_proc *q = &w->p[p];
    uint64_t latest = demand_latest(q);
    int over = demand_streams(s) && !demand_has(q, latest); /* being replaced, or about to flip */
    for (int i = 0; i < demand_codes(s, p); i++) {
        const struct demand_proc *ch = &w->p[demand_ch_of(p) + i];
        uint64_t tag = demand_tag(&w->p[demand_ch_of(p)], q, i);
        if (!demand_settled(ch) && demand_codes(s, p) > 1)
            continue; /* it is about to go by the lead; nobody else is lost before */
        if (tag && !demand_has(q, tag) && !is_lifted(ch, p, tag))
            sim_wrong(s,
                      "codeword %d holds image %" PRIu64
                      " of %d, which is not there: nobody could be rebuilt",
                      i, number(tag), p);
        if (over && tag && !is_lifted(ch, p, latest) && tag != q->slot[1])
            sim_wrong(s,
                      "latest image %" PRIu64
                      " of %d is not there, and nobody has lifted it from codeword %d",
                      number(latest), p, i);
        if (tag && tag < latest && demand_settled(q))
            sim_wrong(s, "codeword %d holds image %" PRIu64 " of %d, which has flipped to %" PRIu64,
                      i, number(tag), p, number(latest));
    }
    if (over && q->wish >= 0 && q->c.demand.owner.state != FT_OWNER_TAKEN && !q->taken)
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there, and none follows it",
                  number(latest), p);
    if (!demand_streams(s) && !demand_has(q, latest))
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there", number(latest), p);
}

static int folds(const struct demand_proc *ch)
{
    return ch->number != ch->answered && ch->command == FT_CMD_FOLD &&
           ch->c.demand.folding == ch->number;
}

static void member(struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    const struct demand_proc *q = &w->p[p];
    int quiet = !w->ballot && !q->lost && demand_settled(q);
    if (!q->lost) /* else it is being rebuilt: what it had is gone */
        images(s, p);
    for (int i = 0; i < demand_codes(s, p) && quiet; i++) {
        const struct demand_proc *ch = &w->p[demand_ch_of(p) + i];
        uint64_t tag = demand_tag(&w->p[demand_ch_of(p)], q, i);
        if (folds(ch) && demand_member(s, p, ch->rank) == p && !demand_has(q, ch->version))
            sim_wrong(s, "codeword %d is computed from image %" PRIu64 " of %d, which is not there",
                      i, number(ch->version), p);
        if (tag && tag != demand_latest(q) && q->c.demand.owner.state != FT_OWNER_TAKEN &&
            demand_settled(ch))
            sim_wrong(s, "%d goes by image %" PRIu64 " and codeword %d by %" PRIu64, p,
                      number(q->latest), i, number(tag));
    }
    if (q->flipped_to_nothing)
        sim_wrong(s, "%d has flipped to an image that is not tagged", p);
}

static void step(struct sim *s, int p)
{
    for (int i = 0; i < demand_members(s, p) && !demand_world(s)->back;
         i++) /* a step of p concerns its group alone */
        member(s, demand_member(s, p, i));
}

static void quiet(struct sim *s)
{
    const struct demand_world *w = demand_world(s);
    for (int p = 0; p < s->o.n; p++) {
        const struct demand_proc *me = &w->p[p];
        const struct ft_carry_demand *d = &me->c.demand;
        if (me->lost)
            sim_wrong(s, "all is quiet, and %d is not rebuilt", p);
        if (d->awaits || d->unsettled)
            sim_wrong(s, "all is quiet, and %d waits for word of the lead's tag", p);
        int ch = demand_is_ch(s, p), leads = ch && d->ch.index == d->ch.lead;
        if (ch ? leads && d->ch.state != FT_CH_IDLE : d->owner.state != FT_OWNER_NONE)
            sim_wrong(s, "all is quiet, and a demand checkpoint is under way at %d", p);
        for (int i = 0; i < demand_codes(s, p) && !ch; i++)
            if (me->tag[i] != demand_latest(me))
                sim_wrong(
                    s, "all is quiet, and codeword %d holds image %" PRIu64 " of %d, not %" PRIu64,
                    i, number(me->tag[i]), p, number(me->latest));
    }
}

const struct sim_checker sim_check_demand = {"demand checkpoints", step, quiet};
