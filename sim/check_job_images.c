/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_job_images.c - what must hold of images that ranks of a simulated job take alone (C8). A
 * group is checked as in model demand (check_images.c). Besides, a replacement must not go back to
 * an image that is older than what others keep for the lost process, or that misses what another
 * lost process has left (E1).
 */
#include "job_images.h"

#include <inttypes.h>

#include "base/version.h"

static struct sim_images *images(const struct sim *s, int p) { return &job_images(s, p)->im; }

/* A process that has adopted the newest decision. */
static int newest(const struct sim *s)
{
    int best = -1;
    for (int p = 0; p < s->o.n; p++)
        if (sim_alive(s, p) &&
            (best < 0 || job_process(s, p)->generation > job_process(s, best)->generation))
            best = p;
    return best;
}

static void see(const struct sim *s, int by, int pos, struct sim_group_proc *g)
{
    const struct ft_process *knows = job_process(s, by);
    int p = knows->map[pos];
    const struct ft_process *me = job_process(s, p);
    const struct ft_carrier *c = &me->carrier;
    *g = (struct sim_group_proc){
        .p = p,
        .rank = pos,
        .images = images(s, p),
        .c = c,
        .lost = !sim_alive(s, p) || c->pos != pos || c->incomplete || c->demand.given,
        .settled = me->generation == knows->generation && !c->open && !c->demand.awaits};
}

int job_images_view(const struct sim *s, int group, struct sim_group *g)
{
    const struct ft_groups *all = job_groups();
    int by = newest(s);
    g->codes = all->parity;
    g->members = ft_group_size(all, group);
    g->stream = job_world(s)->stream;
    g->quiet = 1;
    for (int k = 0; k < g->members + g->codes; k++)
        see(s, by, ft_group_block(all, group, k),
            k < g->members ? &g->member[k] : &g->code[k - g->members]);
    for (int p = 0; p < s->o.n; p++) {
        const struct ft_process *me = job_process(s, p);
        if (!sim_alive(s, p))
            continue;
        g->quiet &= !me->carrier.open && me->generation == job_process(s, by)->generation;
        if (me->carrier.committed != job_process(s, by)->carrier.committed ||
            me->carrier.committed == 0 || me->carrier.facts & (FT_FACT_ROLLING | FT_FACT_RUN_OVER))
            return 0;
    }
    return 1;
}

void job_images_check(struct sim *s, int p)
{
    struct sim_group g;
    if (!s->o.demand || job_groups()->nchecksums == 0)
        return;
    for (int group = 0; group < job_groups()->ngroups; group++)
        if (job_images_view(s, group, &g))
            sim_check_group(s, &g);
    (void)p;
}

static uint64_t newest_image(const struct sim_images *m)
{
    uint64_t v = 0;
    for (int i = 0; i < 3; i++)
        v = m->slot[i] ? ft_version_later(v, m->slot[i]) : v;
    return v;
}

/* What p's rank had logged for others before its image is gone, or p has not yet read again all
 * that the lost process had read. The present images of other ranks miss that. */
static void others_miss(struct sim *s, int p)
{
    struct job_world *w = job_world(s);
    struct job_images *me = job_images(s, p);
    for (int r = 0; r < w->nranks; r++) {
        uint64_t v = newest_image(images(s, job_process(s, p)->map[r])),
                 *of = job_rank_images(s, r)->missing;
        int alone = me->went_back == BACK_TO_ALONE;
        if (r != job_rank(s, p) && v)
            of[alone] = ft_version_later(of[alone], v);
    }
}

static int not_later(uint64_t version, uint64_t than)
{
    return than && FT_VERSION_BASE(than) == FT_VERSION_BASE(version) &&
           ft_version_later(version, than) == than;
}

static void check_way_back(struct sim *s, int p, uint64_t version)
{
    const struct job_rank_images *w = job_rank_images(s, job_rank(s, p));
    if (version != w->flipped && not_later(version, w->flipped))
        sim_wrong(s,
                  "%d goes back to image %" PRIu64 ", and others keep only what follows %" PRIu64,
                  p, FT_VERSION_NUMBER(version), FT_VERSION_NUMBER(w->flipped));
    if (not_later(version, w->missing[1]) ||
        (FT_VERSION_ALONE(version) && not_later(version, w->missing[0])))
        sim_wrong(s,
                  "%d goes back alone to image %" PRIu64
                  ", which misses what another lost process had left",
                  p, FT_VERSION_NUMBER(version));
}

void job_images_restored(struct sim *s, int p)
{
    struct job_images *me = job_images(s, p);
    const struct ft_command_arg *a = &job_proc(s, p)->main.arg;
    if (!me || job_rank(s, p) < 0)
        return;
    if (!a->alone) {
        struct job_rank_images *w = job_rank_images(s, job_rank(s, p));
        w->flipped = w->missing[0] = w->missing[1] = 0;
        me->went_back = 0;
        return;
    }
    if (!sim_images_has(&me->im, a->version))
        sim_wrong(s, "%d restores image %" PRIu64 ", which is not there", p,
                  FT_VERSION_NUMBER(a->version));
    if (job_process(s, p)->carrier.facts & FT_FACT_RUN_OVER)
        return;
    check_way_back(s, p, a->version);
    me->went_back = FT_VERSION_ALONE(a->version) ? BACK_TO_ALONE : BACK_TO_COMMITTED;
    others_miss(s, p);
}

void job_images_live(struct sim *s, int p)
{
    struct job_images *me = job_images(s, p);
    if (!me || !me->went_back)
        return;
    others_miss(s, p);
    me->went_back = 0;
}
