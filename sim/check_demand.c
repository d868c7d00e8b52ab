/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_demand.c - what must hold in a group that takes images alone: check_images.c looks after
 * each step, and nothing hangs.
 */
#include "demand_main.h"

static uint64_t number(uint64_t version) { return FT_VERSION_NUMBER(version); }

static void see(const struct sim *s, int p, struct sim_group_proc *g)
{
    const struct demand_proc *q = &demand_world(s)->p[p];
    *g = (struct sim_group_proc){.p = p,
                                 .rank = p - demand_member(s, p, 0),
                                 .images = &q->im,
                                 .c = &q->c,
                                 .lost = q->lost,
                                 .settled = q->there && !q->c.demand.awaits};
}

void demand_group(const struct sim *s, int p, struct sim_group *g)
{
    g->codes = demand_codes(s, p);
    g->members = demand_members(s, p);
    g->stream = demand_streams(s);
    g->quiet = !demand_world(s)->ballot;
    for (int i = 0; i < g->codes; i++)
        see(s, demand_ch_of(p) + i, &g->code[i]);
    for (int i = 0; i < g->members; i++)
        see(s, demand_member(s, p, i), &g->member[i]);
}

static void step(struct sim *s, int p)
{
    struct sim_group g;
    demand_group(s, p, &g); /* a step of p changes only its own group */
    if (!demand_world(s)->back)
        sim_check_group(s, &g);
}

static void quiet_group(struct sim *s, const struct sim_group *g)
{
    for (int k = 0; k < g->members; k++)
        for (int i = 0; i < g->codes; i++) {
            uint64_t tag = g->code[i].images->tag[k], l = g->member[k].images->latest;
            if (tag != sim_images_latest(g->member[k].images))
                sim_wrong(
                    s, "all is quiet, and codeword %d holds image %" PRIu64 " of %d, not %" PRIu64,
                    i, number(tag), g->member[k].p, number(l));
        }
}

static void quiet(struct sim *s)
{
    const struct demand_world *w = demand_world(s);
    struct sim_group g;
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
        if (p == demand_ch_of(p)) {
            demand_group(s, p, &g);
            quiet_group(s, &g);
        }
    }
}

const struct sim_checker sim_check_demand = {"demand checkpoints", step, quiet};
