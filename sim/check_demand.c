/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_demand.c - the tag never names an image that is not there, nobody flips to what is not tagged, and nothing hangs.
 */
#include "model_demand.h"

static int is_lifted(const struct demand_proc *ch, int p, uint64_t v) { return ch->lifted == v && ch->lifted_of == p; }

static void images(struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    const struct demand_proc *q = &w->p[p], *ch = &w->p[demand_ch_of(p)];
    uint64_t latest = demand_latest(q);
    int over = demand_streams(s) && !demand_has(q, latest); /* being replaced, or about to flip */
    if (q->tag && !demand_has(q, q->tag) && !is_lifted(ch, p, q->tag))
        sim_wrong(s, "the codeword holds image %" PRIu64 " of %d, which is not there: nobody could be rebuilt", q->tag, p);
    if (over && q->tag && !is_lifted(ch, p, latest) && q->tag != q->slot[1])
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there, and nobody has lifted it", latest, p);
    if (over && !q->begun && q->q.state != FT_OWNER_TAKEN && !q->made)
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there, and none follows it", latest, p);
    if (!demand_streams(s) && !demand_has(q, latest))
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there", latest, p);
}

static void member(struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    const struct demand_proc *q = &w->p[p], *ch = &w->p[demand_ch_of(p)];
    int quiet = !w->ballot && !q->lost && q->there && ch->there;
    if (!q->lost) /* else it is being rebuilt: what it had is gone */
        images(s, p);
    if (ch->folding && !ch->lifting && ch->ch.rank == p - demand_ch_of(p) - 1 && quiet && !demand_has(q, ch->folded))
        sim_wrong(s, "the codeword is computed from image %" PRIu64 " of %d, which is not there", ch->folded, p);
    if (q->q.latest && q->tag && q->tag != q->q.latest && q->q.state != FT_OWNER_TAKEN && quiet)
        sim_wrong(s, "%d goes by image %" PRIu64 " and the codeword by %" PRIu64, p, q->q.latest, q->tag);
    if (q->flipped_to_nothing)
        sim_wrong(s, "%d has flipped to an image that is not tagged", p);
}

static void step(struct sim *s, int p)
{
    int ch = demand_ch_of(p); /* a step of p concerns its group alone */
    for (int q = ch + 1; q <= ch + DEMAND_MEMBERS && q < s->o.n; q++)
        member(s, q);
}

static void quiet(struct sim *s)
{
    const struct demand_world *w = demand_world(s);
    for (int p = 0; p < s->o.n; p++) {
        const struct demand_proc *me = &w->p[p];
        if (me->lost)
            sim_wrong(s, "all is quiet, and %d is not rebuilt", p);
        if (demand_is_ch(p) ? me->ch.state != FT_CH_IDLE : me->q.state != FT_OWNER_NONE)
            sim_wrong(s, "all is quiet, and a demand checkpoint is under way at %d", p);
        if (!demand_is_ch(p) && me->tag != demand_latest(me))
            sim_wrong(s, "all is quiet, and the codeword holds image %" PRIu64 " of %d, not %" PRIu64, me->tag, p, me->q.latest);
    }
}

const struct sim_checker sim_check_demand = {"demand checkpoints", step, quiet};
