/* SPDX-License-Identifier: BSD-3-Clause
 *
 * advice.c - looks at all protections that could be the best. Protections whose groups have the
 * same size lose the same time. Of these the one with the fewest groups is best, except that the
 * probability of a loss depends on more than their number g. It depends on how many groups are on
 * the same elements: gcd(g, u) with the u processes of an element. u of each level divides that of
 * the highest, so a divisor d of that decides for all levels. And it depends on how many members of
 * a group share an element, u/g. So the best is the least multiple of such a d from some N/k, or
 * some u/share, on.
 */
#include "model/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "model/daly.h"

#define DAY 86400.0           /* s */
#define FAILURES_MOST 10000.0 /* in one attempt: with more, no job comes to an end */

#define REFUSE(...)                       \
    do {                                  \
        snprintf(why, size, __VA_ARGS__); \
        return FT_ERR_ARG;                \
    } while (0)

static enum ft_status check(const struct ft_advice_ask *a, char *why, size_t size)
{
    const struct {
        const char *what;
        double value;
    } positive[] = {{"the bytes of a rank", a->bytes},
                    {"the mean time between failures", a->mtbf < 0 ? 1 : a->mtbf},
                    {"the job's time", a->work},
                    {"the rate of copies", a->copy_rate},
                    {"the rate of codewords", a->parity_rate}};
    for (size_t i = 0; i < FT_COUNTOF(positive); i++)
        if (!(positive[i].value > 0) || !isfinite(positive[i].value))
            REFUSE("%s must be above 0, not %g", positive[i].what, positive[i].value);
    if (!(a->loss > 0 && a->loss <= 1))
        REFUSE("the wished probability must be above 0, and 1 at the most, not %g", a->loss);
    if (a->ranks < 1)
        REFUSE("the number of ranks must be 1 or more, not %d", a->ranks);
    if (a->most_processes < 0)
        REFUSE("the number of processes must be 0 or more, not %d", a->most_processes);
    if (a->images < 1)
        REFUSE("at least one image is kept, not %d", a->images);
    if (!(a->restart >= 0) || !isfinite(a->restart))
        REFUSE("the time of a restart must be 0 or more, not %g", a->restart);
    if (a->most_m < 1 || a->most_m > FT_MODEL_CODEWORDS)
        REFUSE("codewords must be 1 to %d, not %d", FT_MODEL_CODEWORDS, a->most_m);
    return FT_OK;
}

/* The machine's rates are of failures that --mtbf also counts, so they cannot be more frequent than
 * all. */
static enum ft_status find_mtbf(const struct ft_machine *mc, struct ft_advice_ask *a, double *rates,
                                char *why, size_t size)
{
    double hits = ft_pcf_hits(mc, a->ranks, a->per_node);
    *rates = hits > 0 ? DAY / hits : INFINITY;
    if (a->mtbf < 0 && !(hits > 0))
        REFUSE("the machine's levels never fail, and no mean time between failures is given");
    if (a->mtbf < 0)
        a->mtbf = *rates;
    if (a->work / a->mtbf > FAILURES_MOST)
        REFUSE("a job of %.4g s in which failures come every %.4g s does not end", a->work,
               a->mtbf);
    if (a->mtbf > 1.1 * *rates)
        REFUSE("a mean time between failures of %.4g s contradicts the machine's rates, by which "
               "one hits these %d "
               "ranks every %.4g s: "
               "give that, or leave it out to have it computed",
               a->mtbf, a->ranks, *rates);
    return FT_OK;
}

/* --- what a protection costs --- */

/* Computes time and memory, which depend only on the size of the groups. */
static void cost(const struct ft_advice_ask *a, struct ft_advice *plan)
{
    const struct ft_protection *p = &plan->protection;
    plan->mtbf = a->mtbf;
    plan->per_rank = plan->per_checksum = a->images * a->bytes;
    plan->in_total = plan->per_rank * p->ranks + plan->per_checksum * p->checksums;
    plan->pause = a->bytes / a->copy_rate;
    plan->parity = (ft_protection_group_size(p) - p->m) * a->bytes / a->parity_rate;
    plan->interval = fmax(ft_daly_interval(plan->pause, a->mtbf), plan->parity);
    plan->lost_share = ft_daly_lost_share(plan->pause, a->mtbf, a->restart, plan->interval);
    plan->wall = a->work / (1 - plan->lost_share);
}

/* Catastrophic failures a day. Failures that the machine's levels do not explain are taken for
 * deaths of single processes: a group is lost when m more of its processes die before the first one
 * is replaced. */
static double catastrophes(const struct ft_machine *machine, const struct ft_advice_ask *a,
                           const struct ft_advice *plan)
{
    struct ft_machine mc = *machine;
    const struct ft_protection *p = &plan->protection;
    mc.window = (a->restart + plan->parity) / DAY;
    double single = fmax(0, DAY / a->mtbf - DAY / plan->mtbf_rates), same = 1;
    int others = p->ranks + p->checksums - 1;
    if (others > 0)
        same = fmin(1, (double)(ft_protection_group_size(p) - 1) / others);
    return ft_pcf(&mc, p, FT_PCF_DEALT, NULL) + single * pow(single * mc.window * same, p->m);
}

/* Machine time of an attempt, relative to that of the ranks' work alone. */
static double processes_time(const struct ft_advice *plan, int spares)
{
    const struct ft_protection *p = &plan->protection;
    return ((double)p->ranks + p->checksums + spares) / p->ranks / (1 - plan->lost_share);
}

/* --- spares --- */

#define KINDS_MOST 400
#define SPARES_MOST 65536

/* The job's failures by how many processes they take. */
struct failures {
    int n, takes[KINDS_MOST];
    double rate[KINDS_MOST]; /* a day */
    double fatal;            /* a day: improbable failures that take more than any in the list */
};

static void list_failures(const struct ft_machine *mc, const struct ft_advice_ask *a,
                          double mtbf_rates, struct failures *f)
{
    *f = (struct failures){
        .n = 1, .takes = {1}, .rate = {fmax(0, DAY / a->mtbf - DAY / mtbf_rates)}};
    for (int j = 0; j < mc->nlevels; j++) {
        struct ft_pcf_use use = ft_pcf_use(mc, j, a->ranks, a->per_node);
        double before = 0, all = ft_pcf_hits_of_level(mc, j, a->ranks, a->per_node);
        for (int x = 1; x <= mc->level[j].elements && all - before > 1e-12 * all; x++) {
            double now = ft_pcf_hits_of(mc, j, x, use.used);
            if (f->n == KINDS_MOST || (long)x * use.on_each > SPARES_MOST)
                break;
            f->takes[f->n] = x * use.on_each;
            f->rate[f->n++] = now;
            before += now;
        }
        f->fatal += fmax(0, all - before);
    }
}

/* Finds the number of spares with the least machine time, below the bound, and with a probability
 * of loss of at most the wished one. 0: there is none. The number of processes that the failures of
 * an attempt take has a compound Poisson distribution: n P(n) = sum over kinds of (rate takes P(n -
 * takes)), Panjer's recursion. */
static int find_spares(const struct ft_advice_ask *a, const struct failures *f, double rate,
                       int most, long double *taken, double bound, struct ft_advice *plan)
{
    const struct ft_protection *p = &plan->protection;
    double days = plan->wall / DAY, total = 0, lost_anyhow = -expm1(-(rate + f->fatal) * days);
    long double upto = 0;
    int found = 0;
    if (lost_anyhow > a->loss)
        return 0;
    for (int i = 0; i < f->n; i++)
        total += f->rate[i] * days;
    for (int n = 0; n <= SPARES_MOST && p->ranks + p->checksums + n <= most; n++) {
        taken[n] = n ? 0 : expl(-total);
        for (int i = 0; i < f->n; i++)
            if (n >= f->takes[i])
                taken[n] += f->rate[i] * days * f->takes[i] * taken[n - f->takes[i]] / n;
        upto += taken[n];
        double lost = lost_anyhow + (1 - lost_anyhow) * (double)fmaxl(0, 1 - upto);
        if (processes_time(plan, n) >= bound)
            break; /* more cannot be better */
        if (n > p->m && !found && taken[n] < 1e-18L * upto && upto > 0.5L)
            break; /* the loss cannot become less probable */
        if (n < p->m || lost >= 1 || lost > a->loss)
            continue;
        double machine = processes_time(plan, n) / (1 - lost);
        if (machine >= bound)
            continue;
        found = 1;
        plan->spares = n;
        plan->lost_job = lost;
        plan->machine = bound = machine;
    }
    return found;
}

/* --- the search --- */

struct advice_search {
    const struct ft_machine *mc;
    const struct ft_advice_ask *ask;
    double mtbf_rates;
    int most; /* processes */
    struct failures failures;
    long double *taken; /* [SPARES_MOST + 1], for find_spares */
    struct ft_advice safest, best[FT_MODEL_CODEWORDS];
    double least_share; /* share of lost time, over all protections looked at */
    char why[512];      /* not */
};

static void try_groups(struct advice_search *s, int m, int groups)
{
    if ((s->ask->ranks + groups - 1) / groups > FT_MODEL_GROUP)
        return;
    for (int aware = 0; aware <= s->mc->nlevels; aware++) {
        struct ft_advice now = {
            .protection = {s->ask->ranks, m * groups, m, aware, 0, s->ask->per_node},
            .mtbf_rates = s->mtbf_rates};
        struct ft_advice *best = &s->best[m - 1];
        if (ft_protection_check(s->mc, &now.protection, s->why, sizeof s->why))
            return; /* and none with a larger size */
        cost(s->ask, &now);
        s->least_share = fmin(s->least_share, now.lost_share);
        if (!(now.lost_share < 1) || now.wall / s->ask->mtbf > FAILURES_MOST ||
            (best->protection.m && processes_time(&now, m) >= best->machine))
            return;
        double rate = catastrophes(s->mc, s->ask, &now);
        double lost = -expm1(-rate * now.wall / DAY);
        if (lost < s->safest.lost_job) {
            s->safest = now;
            s->safest.lost_job = lost;
        }
        if (find_spares(s->ask, &s->failures, rate, s->most, s->taken,
                        best->protection.m ? best->machine : INFINITY, &now) &&
            (!best->protection.m || now.machine < best->machine))
            *best = now;
    }
}

/* From `least` groups on. */
static void try_from(struct advice_search *s, int m, int least, int run)
{
    for (int d = 1; d <= run / d; d++)
        if (run % d == 0) {
            try_groups(s, m, (least + d - 1) / d * d);
            try_groups(s, m, (least + run / d - 1) / (run / d) * (run / d));
        }
}

/* The number of processes on an element of level j; 1 if that is not known, or if its count does
 * not divide that of the nodes. */
static int run_of(const struct ft_machine *mc, int j, int per_node)
{
    int nodes = mc->level[0].elements, here = mc->level[j].elements;
    return per_node && nodes % here == 0 ? per_node * (nodes / here) : 1;
}

static void search(struct advice_search *s)
{
    const struct ft_advice_ask *a = s->ask;
    int widest = 1;
    for (int j = 0; j < s->mc->nlevels; j++)
        if (run_of(s->mc, j, a->per_node) > widest)
            widest = run_of(s->mc, j, a->per_node);
    for (int m = 1; m <= a->most_m; m++) {
        for (int members = a->ranks < FT_MODEL_GROUP ? a->ranks : FT_MODEL_GROUP; members >= m;
             members--)
            try_from(s, m, (int)ceil((double)a->ranks / members), widest);
        for (int j = 0; j < s->mc->nlevels; j++)
            for (int share = 1; share <= m; share++)
                try_from(s, m, (run_of(s->mc, j, a->per_node) + share - 1) / share, widest);
    }
}

static enum ft_status no_plan(const struct advice_search *s, char *why, size_t size)
{
    const struct ft_advice_ask *a = s->ask;
    const struct ft_protection *p = &s->safest.protection;
    if (!p->m && s->least_share < 2)
        REFUSE("no work gets done: failures come every %.4g s, and of that copies of %.4g s, "
               "codewords and restarts of "
               "%.4g s leave "
               "nothing",
               a->mtbf, a->bytes / a->copy_rate, a->restart);
    if (!p->m)
        REFUSE("%s", s->why[0] ? s->why : "there is no protection");
    if (s->safest.lost_job <= a->loss)
        REFUSE("%d ranks, checksum processes and the spares that the failures need do not fit: "
               "there is room for %d "
               "processes",
               a->ranks, s->most);
    REFUSE("no protection with m up to %d keeps the probability of a loss below %g; the best is "
           "%.3g, with %d checksum "
           "processes, "
           "m = %d, aware of %s",
           a->most_m, a->loss, s->safest.lost_job, p->checksums, p->m,
           p->aware ? s->mc->level[p->aware - 1].name : "nothing");
}

enum ft_status ft_advice(const struct ft_machine *mc, const struct ft_advice_ask *ask,
                         struct ft_advice *best, struct ft_advice *each, char *why, size_t size)
{
    struct ft_advice_ask a = *ask;
    struct advice_search s = {.mc = mc, .ask = &a, .safest = {.lost_job = 2}, .least_share = 2};
    const struct ft_advice *found = NULL;
    if (ft_machine_check(mc, why, size) || check(&a, why, size) ||
        find_mtbf(mc, &a, &s.mtbf_rates, why, size))
        return FT_ERR_ARG;
    s.most = a.most_processes ? a.most_processes : INT32_MAX;
    if (a.per_node && (long)a.per_node * mc->level[0].elements < s.most)
        s.most = a.per_node * mc->level[0].elements;
    list_failures(mc, &a, s.mtbf_rates, &s.failures);
    s.taken = malloc((SPARES_MOST + 1) * sizeof *s.taken);
    if (!s.taken) {
        snprintf(why, size, "out of memory");
        return FT_ERR_NOMEM;
    }
    search(&s);
    free(s.taken);
    for (int m = 0; m < a.most_m; m++)
        if (s.best[m].protection.m && (!found || s.best[m].machine < found->machine))
            found = &s.best[m];
    if (!found)
        return no_plan(&s, why, size);
    for (int m = 0; m < FT_MODEL_CODEWORDS && each; m++)
        each[m] = s.best[m];
    *best = *found;
    return FT_OK;
}
