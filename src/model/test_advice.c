/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_advice.c - nothing is better: all numbers of checksum processes and spares are tried; costs
 * by hand; what cannot be planned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/advice.h"
#include "model/daly.h"
#include "model/mock_tsubame.h"

static const struct ft_advice_ask usual = {.ranks = 4000,
                                           .bytes = 1e9,
                                           .images = 3,
                                           .mtbf = 86400,
                                           .work = 86400,
                                           .loss = 1,
                                           .copy_rate = 2e9,
                                           .parity_rate = 1e9,
                                           .restart = 10,
                                           .most_m = 8};

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.12g, not %.12g", got, want);
}

enum { SPARES = 400 };

/* P(at most n processes are taken), n < SPARES, in this many days: kind by kind, each Poisson
 * distributed. */
static const double *taken_by_hand(const struct ft_machine *mc, const struct ft_advice_ask *a,
                                   double days)
{
    static double upto[SPARES], last_days;
    static struct ft_advice_ask last;
    if (last_days == days && memcmp(&last, a, sizeof last) == 0)
        return upto;
    last = *a, last_days = days;
    double p[SPARES] = {1}, single = 86400 / a->mtbf - ft_pcf_hits(mc, a->ranks, a->per_node);
    for (int j = -1; j < mc->nlevels; j++) {
        struct ft_pcf_use use =
            j < 0 ? (struct ft_pcf_use){1, 1} : ft_pcf_use(mc, j, a->ranks, a->per_node);
        for (int x = 1; x <= (j < 0 ? 1 : mc->level[j].elements); x++) {
            double next[SPARES] = {0},
                   mean = days * (j < 0 ? single : ft_pcf_hits_of(mc, j, x, use.used));
            for (int k = 0; k * x * use.on_each < SPARES; k++) {
                double weight = mean > 0 ? exp(-mean + k * log(mean) - lgamma(k + 1)) : k == 0;
                for (int n = k * x * use.on_each; weight > 0 && n < SPARES; n++)
                    next[n] += weight * p[n - k * x * use.on_each];
            }
            memcpy(p, next, sizeof p);
            if (j >= 0 && mean < 1e-13)
                break;
        }
    }
    double sum = 0;
    for (int n = 0; n < SPARES; n++)
        upto[n] = sum += p[n];
    return upto;
}

/* The least machine time with this protection, by all numbers of spares; INFINITY. */
static double by_hand(const struct ft_machine *machine, const struct ft_advice_ask *a,
                      const struct ft_protection *p)
{
    char why[512];
    struct ft_machine mc = *machine;
    int size = ft_protection_group_size(p);
    if (ft_protection_check(machine, p, why, sizeof why) || size - p->m > FT_MODEL_GROUP)
        return INFINITY;
    double parity = (size - p->m) * a->bytes / a->parity_rate, pause = a->bytes / a->copy_rate;
    double interval = fmax(parity, ft_daly_interval(pause, a->mtbf));
    double share = ft_daly_lost_share(pause, a->mtbf, a->restart, interval),
           wall = a->work / (1 - share);
    mc.window = (a->restart + parity) / 86400;
    double single = 86400 / a->mtbf - ft_pcf_hits(machine, a->ranks, a->per_node), least = INFINITY;
    double meet =
        single *
        pow(single * mc.window * fmin(1, (size - 1.0) / (p->ranks + p->checksums - 1)), p->m);
    double survives = exp(-(ft_pcf(&mc, p, FT_PCF_DEALT, NULL) + meet) * wall / 86400);
    const double *upto = taken_by_hand(machine, a, wall / 86400);
    for (int n = p->m; n < SPARES; n++) {
        int all = p->ranks + p->checksums + n;
        if ((a->per_node && all > a->per_node * mc.level[0].elements) ||
            1 - survives * upto[n] > a->loss * (1 + 1e-9))
            continue;
        least = fmin(least, all / (double)p->ranks / (1 - share) / (survives * upto[n]));
    }
    return least;
}

static void nothing_is_better(void **state)
{
    struct ft_machine small = {
        3, {{"node", 64, 0.1, 1.2}, {"psu", 16, 1e-3, 1.3}, {"rack", 8, 1e-4, 1.4}}, 0};
    char why[512];
    int planned = 0, per_node = *(const int *)*state;
    for (double loss = 1; loss > 1e-7; loss /= 60) {
        struct ft_advice_ask ask = usual;
        struct ft_advice plan, each[FT_MODEL_CODEWORDS];
        ask.ranks = 200, ask.per_node = per_node, ask.loss = loss, ask.mtbf = 20000,
        ask.work = 100000;
        enum ft_status st = ft_advice(&small, &ask, &plan, each, why, sizeof why);
        double least = INFINITY;
        for (int m = 1; m <= 8; m++) {
            double of_m = INFINITY;
            for (int checksums = m; checksums <= 1600; checksums += m)
                for (int aware = 0; aware <= 3; aware++)
                    of_m = fmin(of_m, by_hand(&small, &ask,
                                              &(struct ft_protection){200, checksums, m, aware, 0,
                                                                      per_node}));
            assert_int_equal(isfinite(of_m), !st && each[m - 1].protection.m == m);
            if (isfinite(of_m))
                near(each[m - 1].machine, of_m);
            least = fmin(least, of_m);
        }
        assert_int_equal(st, isfinite(least) ? FT_OK : FT_ERR_ARG);
        if (st)
            continue;
        planned++;
        near(plan.machine, least);
        near(plan.machine, by_hand(&small, &ask, &plan.protection));
        assert_true(plan.lost_job <= loss);
    }
    assert_true(planned > 2);
}

/* Fewer checksum processes are no better where their large groups need so long that checkpoints are
 * rare. */
static void time_that_is_lost_counts(void **state)
{
    (void)state;
    struct ft_advice plan;
    char why[512];
    struct ft_advice_ask ask = usual;
    ask.per_node = 3, ask.mtbf = 3600;
    assert_int_equal(ft_advice(&tsubame, &ask, &plan, NULL, why, sizeof why), FT_OK);
    double few = by_hand(&tsubame, &ask, &(struct ft_protection){4000, 58, 1, 4, 0, 3});
    few = fmin(few, by_hand(&tsubame, &ask, &(struct ft_protection){4000, 60, 2, 4, 0, 3}));
    assert_true(plan.protection.checksums > 60);
    assert_true(plan.machine < few);
}

/* 4000 nodes, two failures a day. */
static void expected_counts_above_one_are_ordinary(void **state)
{
    (void)state;
    struct ft_machine cluster = {
        2, {{"node", 4000, 2 * expm1(1.3), 1.3}, {"rack", 100, 0.02 * expm1(1.5), 1.5}}, 0};
    struct ft_advice_ask ask = usual;
    struct ft_advice plan;
    char why[512];
    ask.mtbf = -1, ask.per_node = 1, ask.ranks = 3500, ask.work = 10 * 86400;
    assert_int_equal(ft_advice(&cluster, &ask, &plan, NULL, why, sizeof why), FT_OK);
    assert_true(plan.mtbf > 86400 / 2.02 &&
                plan.mtbf < 86400 / 1.7);             /* not all nodes are the job's */
    assert_true(plan.spares > plan.wall / plan.mtbf); /* about twenty are used up */
    assert_true(plan.lost_job < 0.05 && plan.machine < 1.3);
    near(plan.machine, by_hand(&cluster,
                               &(struct ft_advice_ask){.ranks = 3500,
                                                       .per_node = 1,
                                                       .bytes = 1e9,
                                                       .mtbf = plan.mtbf,
                                                       .work = 10 * 86400,
                                                       .loss = 1,
                                                       .copy_rate = 2e9,
                                                       .parity_rate = 1e9,
                                                       .restart = 10},
                               &plan.protection));
}

static void costs_by_hand(void **state)
{
    (void)state;
    struct ft_advice plan;
    char why[512];
    assert_int_equal(ft_advice(&tsubame, &usual, &plan, NULL, why, sizeof why), FT_OK);
    int k = plan.protection.checksums;
    near(plan.per_rank, 3e9);
    near(plan.in_total, 3e9 * (4000 + k));
    near(plan.pause, 0.5);
    near(plan.parity, ceil(4000.0 * plan.protection.m / k));
    near(plan.interval, ft_daly_interval(0.5, 86400));
    near(plan.lost_share, ft_daly_lost_share(0.5, 86400, 10, plan.interval));
    near(plan.wall, 86400 / (1 - plan.lost_share));
    struct ft_advice_ask ask = usual;
    ask.mtbf = 1000; /* Daly's 31 s may be too short for the codewords of a group */
    assert_int_equal(ft_advice(&tsubame, &ask, &plan, NULL, why, sizeof why), FT_OK);
    assert_true(plan.interval >= plan.parity);
    ask.most_processes = 4050;
    assert_int_equal(ft_advice(&tsubame, &ask, &plan, NULL, why, sizeof why), FT_ERR_ARG);
    assert_non_null(strstr(why, "do not fit: there is room for 4050"));
}

static void what_cannot_be_planned(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        double value;
        const char *reason;
    } row[] = {
        {offsetof(struct ft_advice_ask, bytes), 0, "bytes of a rank must be above 0"},
        {offsetof(struct ft_advice_ask, mtbf), 0, "mean time between failures must be above 0"},
        {offsetof(struct ft_advice_ask, mtbf), 1e9,
         "contradicts the machine's rates, by which one hits these 4000 ranks every"},
        {offsetof(struct ft_advice_ask, mtbf), 0.01, "does not end"},
        {offsetof(struct ft_advice_ask, mtbf), 10, "no work gets done"},
        {offsetof(struct ft_advice_ask, loss), 0,
         "probability must be above 0, and 1 at the most, not 0"},
        {offsetof(struct ft_advice_ask, loss), 2, "probability must be above 0, and 1 at the most"},
        {offsetof(struct ft_advice_ask, loss), NAN, "probability must be above 0"},
        {offsetof(struct ft_advice_ask, work), 0, "job's time"},
        {offsetof(struct ft_advice_ask, copy_rate), INFINITY, "rate of copies"},
        {offsetof(struct ft_advice_ask, parity_rate), 0, "rate of codewords"},
        {offsetof(struct ft_advice_ask, restart), -1, "restart"},
        {offsetof(struct ft_advice_ask, loss), 1e-300, "the best is"}};
    for (size_t i = 0; i < FT_COUNTOF(row); i++) {
        struct ft_advice_ask ask = usual;
        struct ft_advice plan = {.pause = -1};
        char why[512] = "";
        memcpy((char *)&ask + row[i].field, &row[i].value, sizeof row[i].value);
        enum ft_status st = ft_advice(&tsubame, &ask, &plan, NULL, why, sizeof why);
        if (st != FT_ERR_ARG || !strstr(why, row[i].reason) || plan.pause != -1)
            fail_msg("status %d, '%s' instead of '%s'", st, why, row[i].reason);
    }
}

int main(void)
{
    static int unknown = 0, six = 6, eight = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nothing_is_better, &unknown),
        cmocka_unit_test_prestate(nothing_is_better, &six),
        cmocka_unit_test_prestate(nothing_is_better, &eight),
        cmocka_unit_test(time_that_is_lost_counts),
        cmocka_unit_test(expected_counts_above_one_are_ordinary),
        cmocka_unit_test(costs_by_hand),
        cmocka_unit_test(what_cannot_be_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
