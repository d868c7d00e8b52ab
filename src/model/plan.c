/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.c - all protections that could be the cheapest are looked at. Of those with m codewords to k ranks at the most, the
 * probability depends on the number of groups g, and on how many of them are on the same elements: gcd(g, u) with the u processes
 * of an element. u of each level divides that of the highest, so a divisor d of that decides all of these; and it depends on how
 * many of a group share an element, u/g. So the cheapest is the least multiple of such a d from some N/k or some u/share on.
 */
#include "model/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "model/daly.h"

static double within(double a_day, double days) { return a_day < 1 ? -expm1(days * log1p(-a_day)) : 1; }

static enum ft_status check(const struct ft_plan_ask *a, char *why, size_t size)
{
    const struct {
        const char *what;
        double value;
    } positive[] = {{"the bytes of a rank", a->bytes},
                    {"the mean time between failures", a->mtbf},
                    {"the time of the wish", a->days},
                    {"the rate of copies", a->copy_rate},
                    {"the rate of codewords", a->parity_rate}};
    for (size_t i = 0; i < FT_COUNTOF(positive); i++)
        if (!(positive[i].value > 0) || !isfinite(positive[i].value)) {
            snprintf(why, size, "%s must be above 0, not %g", positive[i].what, positive[i].value);
            return FT_ERR_ARG;
        }
    if (!(a->loss > 0 && a->loss < 1))
        snprintf(why, size, "the wished probability must be between 0 and 1, not %g", a->loss);
    else if (a->ranks < 1)
        snprintf(why, size, "the number of ranks must be 1 or more, not %d", a->ranks);
    else if (a->images < 1)
        snprintf(why, size, "at least one image is kept, not %d", a->images);
    else if (!(a->restart >= 0) || !isfinite(a->restart))
        snprintf(why, size, "the time of a restart must be 0 or more, not %g", a->restart);
    else if (a->most_m < 1 || a->most_m > FT_MODEL_CODEWORDS)
        snprintf(why, size, "codewords must be 1 to %d, not %d", FT_MODEL_CODEWORDS, a->most_m);
    else
        return FT_OK;
    return FT_ERR_ARG;
}

static void cost(const struct ft_plan_ask *a, struct ft_plan *plan)
{
    const struct ft_protection *p = &plan->protection;
    plan->per_rank = plan->per_checksum = a->images * a->bytes;
    plan->in_total = plan->per_rank * p->ranks + plan->per_checksum * p->checksums;
    plan->pause = a->bytes / a->copy_rate;
    plan->parity = (ft_protection_group_size(p) - p->m) * a->bytes / a->parity_rate;
    plan->interval = fmax(ft_daly_interval(plan->pause, a->mtbf), plan->parity);
    plan->lost_share = ft_daly_lost_share(plan->pause, a->mtbf, a->restart, plan->interval);
}

/* Of equals the first remains: all are looked at with m and the level ascending. */
static int cheaper(const struct ft_protection *a, const struct ft_protection *b)
{
    return !b->m || a->checksums < b->checksums;
}

struct search {
    const struct ft_machine *mc;
    const struct ft_plan_ask *ask;
    struct ft_plan safest, cheapest[FT_MODEL_CODEWORDS];
    char why[512]; /* not */
};

static void try_groups(struct search *s, int m, int groups)
{
    if ((s->ask->ranks + groups - 1) / groups > FT_MODEL_GROUP)
        return;
    for (int aware = 0; aware <= s->mc->nlevels; aware++) {
        struct ft_plan now = {.protection = {s->ask->ranks, m * groups, m, aware, 0, s->ask->per_node}};
        if (ft_protection_check(s->mc, &now.protection, s->why, sizeof s->why))
            return; /* and none above */
        now.lost_job = within(ft_pcf(s->mc, &now.protection, FT_PCF_DEALT, NULL), s->ask->days);
        if (now.lost_job < s->safest.lost_job)
            s->safest = now;
        if (now.lost_job <= s->ask->loss && cheaper(&now.protection, &s->cheapest[m - 1].protection))
            s->cheapest[m - 1] = now;
    }
}

/* From `least` groups on. */
static void try_from(struct search *s, int m, int least, int run)
{
    for (int d = 1; d <= run / d; d++)
        if (run % d == 0) {
            try_groups(s, m, (least + d - 1) / d * d);
            try_groups(s, m, (least + run / d - 1) / (run / d) * (run / d));
        }
}

/* Processes on an element of level j, 1 if that is not known or its count does not divide that of the nodes. */
static int run_of(const struct ft_machine *mc, int j, int per_node)
{
    int nodes = mc->level[0].elements, here = mc->level[j].elements;
    return per_node && nodes % here == 0 ? per_node * (nodes / here) : 1;
}

enum ft_status ft_plan(const struct ft_machine *mc, const struct ft_plan_ask *ask, struct ft_plan *best, struct ft_plan *each,
                       char *why, size_t size)
{
    struct search s = {mc, ask, {.lost_job = 2}, {{.pause = 0}}, ""};
    struct ft_plan cheapest = {.pause = 0};
    if (ft_machine_check(mc, why, size) || check(ask, why, size))
        return FT_ERR_ARG;
    int widest = 1;
    for (int j = 0; j < mc->nlevels; j++)
        if (run_of(mc, j, ask->per_node) > widest)
            widest = run_of(mc, j, ask->per_node);
    for (int m = 1; m <= ask->most_m; m++) {
        for (int members = m; members <= FT_MODEL_GROUP && members <= ask->ranks; members++)
            try_from(&s, m, (int)ceil((double)ask->ranks / members), widest);
        for (int j = 0; j < mc->nlevels; j++)
            for (int share = 1; share <= m; share++)
                try_from(&s, m, (run_of(mc, j, ask->per_node) + share - 1) / share, widest);
        if (s.cheapest[m - 1].protection.m && cheaper(&s.cheapest[m - 1].protection, &cheapest.protection))
            cheapest = s.cheapest[m - 1];
    }
    if (!cheapest.protection.m) {
        const struct ft_protection *p = &s.safest.protection;
        if (!p->m)
            snprintf(why, size, "%s", s.why);
        else
            snprintf(why, size,
                     "no protection with m up to %d keeps the probability of a loss below %g; the best is %.3g, with %d checksum "
                     "processes, "
                     "m = %d, aware of %s",
                     ask->most_m, ask->loss, s.safest.lost_job, p->checksums, p->m,
                     p->aware ? mc->level[p->aware - 1].name : "nothing");
        return FT_ERR_ARG;
    }
    cost(ask, &cheapest);
    for (int m = 0; m < FT_MODEL_CODEWORDS && each; m++) {
        if (s.cheapest[m].protection.m)
            cost(ask, &s.cheapest[m]);
        each[m] = s.cheapest[m];
    }
    *best = cheapest;
    return FT_OK;
}
