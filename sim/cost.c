/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cost.c - compares the snapshot algorithms, and prints what each model costs by the number of
 * processes.
 */
#include "cost.h"

#include <math.h>

#include "model_agree.h"
#include "model_demand.h"
#include "model_job.h"
#include "model_snapshot.h"
#include "sim_run.h"

static int find(struct sim *s, struct sim_options o, int property, uint64_t max,
                struct sim_explored *x)
{
    o.property = property;
    sim_init(s, &sim_model_snapshot, &o);
    return !sim_explore(s, max, x);
}

int sim_table(const struct sim_options *o, uint64_t max)
{
    static struct sim s;
    static const int promised[FT_SNAP_ALGS][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 1}, {1, 1}};
    static const char *const word[2][2] = {{"no", "?"},
                                           {"yes, in part of the orders", "yes, in all"}};
    int as_promised = 1;
    printf("kept out in every order of %d processes, %d ops each, %d starting:\n", o->n, o->ops,
           o->starters);
    printf("%-10s %-28s %-28s %s\n", "", "overlap", "cross", "states");
    for (int alg = 0; alg < FT_SNAP_ALGS; alg++) {
        struct sim_options mine = *o;
        struct sim_explored x[2];
        int found[2];
        mine.alg = alg;
        found[0] = find(&s, mine, 2, max, &x[0]);
        found[1] = find(&s, mine, 1, max, &x[1]);
        for (int i = 0; i < 2; i++)
            as_promised &= found[i] == !promised[alg][i];
        printf("%-10s %-28s %-28s %" PRIu64 "\n", ft_snap_name((enum ft_snap_alg)alg),
               word[!found[0]][!found[0] && x[0].complete],
               word[!found[1]][!found[1] && x[1].complete], ft_max_u64(x[0].states, x[1].states));
    }
    sim_finish(&s);
    return as_promised;
}

/* ---- cost over n ---- */

static const int sizes[] = {2,   4,    8,    16,   32,    64,    128,   256,
                            512, 1000, 2000, 4000, 10000, 30000, 100000};
#define SIZES FT_COUNTOF(sizes)
/* Makes one run in virtual time. Returns 0 if something is wrong, and prints that. */
static int run(struct sim *s, const struct sim_model *m, const struct sim_options *o, int n,
               int crashes)
{
    struct sim_options mine = *o;
    mine.n = n;
    mine.timed = 1;
    mine.crashes = crashes;
    sim_init(s, m, &mine);
    if (!sim_random(s, UINT64_MAX))
        printf("%6d WRONG: %s\n", n, s->wrong);
    return !s->wrong[0];
}

static int is_formula(uint64_t got, uint64_t formula)
{
    if (got != formula)
        printf("       NOT THE FORMULA'S: %" PRIu64 " messages, not %" PRIu64 "\n", got, formula);
    return got == formula;
}

static int cost_of_waves(struct sim *s, const struct sim_options *o, int n)
{
    int ok = 1;
    for (int alg = 0; alg < FT_SNAP_ALGS; alg++) {
        struct sim_options mine = *o;
        mine.alg = alg;
        mine.starters = 1;
        ok &= run(s, &sim_model_snapshot, &mine, n, 0);
        const struct snap_world *w = snap_world(s);
        uint64_t all = 0, base = (uint64_t)n * (uint64_t)(n - 1);
        for (int k = FT_SNAP_FIRST; k <= FT_SNAP_FLUSHED; k++)
            all += w->markers[k];
        printf("%6d %-8s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %6" PRIu64 " %8" PRIu64 " %8" PRIu64
               " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
               n, ft_snap_name((enum ft_snap_alg)alg), base, all, all - base, 2 * w->pairs,
               w->ended - w->began, w->overlaps, w->crosses, w->put_off, w->held);
        ok &= is_formula(all, base + (alg == FT_SNAP_DOUBLE ? base : 0) +
                                  (alg == FT_SNAP_PARTIAL ? 2 * w->pairs : 0));
    }
    return ok;
}

static int cost_of_agreement(struct sim *s, const struct sim_options *o, int n)
{
    int ok = run(s, &sim_model_agree, o, n, 1); /* its checker looks at the bounds */
    uint64_t ticks = s->now - agree_world(s)->died_at;
    printf("%6d %9" PRIu64 " %6.2f %9" PRIu64 "\n", n, s->sent, (double)s->sent / n, ticks);
    return ok;
}

static int cost_of_job(struct sim *s, const struct sim_options *o, int n)
{
    struct sim_options mine = *o;
    int ok = 1;
    printf("%6d", n);
    for (int local = 0; local < 2; local++) {
        mine.seed = 2 * o->seed + (local ? 0 : 1);
        if (!local) {
            ok &= run(s, &sim_model_job, &mine, n, 0);
            const struct job_cost *c = &job_world(s)->checkpoint;
            uint64_t k = c->n ? c->n : 1;
            printf(" %6d %6d %9" PRIu64 " %6.2f %9" PRIu64, job_world(s)->nranks,
                   job_world(s)->nchecksums, c->messages / k, (double)c->messages / (double)k / n,
                   c->ticks / k);
            ok &= c->n > 0 && is_formula(c->messages, c->n * 10 * (uint64_t)(n - 1));
        }
        ok &= run(s, &sim_model_job, &mine, n, 1);
        const struct job_cost *c = &job_world(s)->recovery;
        printf("  %9" PRIu64 " %6.2f %9" PRIu64, c->messages, (double)c->messages / n, c->ticks);
        ok &= c->n == 1;
    }
    printf("\n");
    return ok;
}

static int cost_of_images(struct sim *s, const struct sim_options *o, int n)
{
    int ok = run(s, &sim_model_demand, o, n, 0);
    const struct demand_world *w = demand_world(s);
    uint64_t taken = w->taken ? w->taken : 1;
    printf("%6d %9" PRIu64 " %9" PRIu64 " %6.2f %9" PRIu64 "\n", n, w->taken, s->sent,
           (double)s->sent / (double)taken, w->ended);
    return ok && (o->ops != 1 || is_formula(s->sent, 5 * w->taken));
}

static const struct {
    const struct sim_model *model;
    int least;
    int (*row)(struct sim *s, const struct sim_options *o, int n);
    const char *what, *head;
} costs[] = {
    {&sim_model_snapshot, 2, cost_of_waves, "one wave of markers",
     "     n             n(n-1)  messages      more     2g  ticks  overlap    cross  put off     "
     "held"},
    {&sim_model_agree, 2, cost_of_agreement, "agreement on one death",
     "     n  messages    /n     ticks"},
    {&sim_model_job, 4, cost_of_job, "a job with a checksum process for eight ranks",
     "                     checkpoint                rollback                  one rank alone\n"
     "     n  ranks checks  messages    /n     ticks   messages    /n     ticks   messages    /n   "
     "  ticks"},
    {&sim_model_demand, 2, cost_of_images, "demand checkpoints: each rank's, in groups of eight",
     "     n    images  messages  /image   ticks"},
};

int sim_cost(const struct sim_model *m, const struct sim_options *o)
{
    static struct sim s;
    size_t k = 0;
    int ok = 1;
    while (costs[k].model != m)
        k++;
    printf("%s; latencies of 1 to %d ticks by channel, seed %" PRIu64, costs[k].what, o->latency,
           o->seed);
    if (m == &sim_model_snapshot || m == &sim_model_demand)
        printf(", ops %d", o->ops);
    printf("\n%s\n", costs[k].head);
    for (size_t i = 0; i < SIZES && sizes[i] <= o->n; i++) {
        if (sizes[i] < costs[k].least)
            continue;
        ok &= costs[k].row(&s, o, sizes[i]);
    }
    sim_finish(&s);
    return ok;
}
