/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_plan.c - nothing cheaper would do: all numbers of checksum processes are tried; costs by hand; what cannot be planned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/daly.h"
#include "model/mock_tsubame.h"
#include "model/plan.h"

static const struct ft_plan_ask usual = {.ranks = 4000,
                                         .bytes = 1e9,
                                         .images = 3,
                                         .mtbf = 86400,
                                         .loss = 1e-5,
                                         .days = 1,
                                         .copy_rate = 2e9,
                                         .parity_rate = 1e9,
                                         .restart = 10,
                                         .most_m = 8};

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want)))
        fail_msg("%.12g, not %.12g", got, want);
}

static void nothing_cheaper_will_do(void **state)
{
    struct ft_machine small = {3, {{"node", 64, 0.01, 1.2}, {"psu", 16, 1e-3, 1.3}, {"rack", 8, 1e-4, 1.4}}};
    char why[512];
    int planned = 0, last = 0, per_node = *(const int *)*state;
    for (double loss = 0.5; loss > 1e-9; loss /= 3) {
        struct ft_plan_ask ask = usual;
        struct ft_plan plan, each[FT_MODEL_CODEWORDS];
        ask.ranks = 200, ask.per_node = per_node, ask.loss = loss, ask.days = 2;
        enum ft_status st = ft_plan(&small, &ask, &plan, each, why, sizeof why);
        struct ft_protection cheapest = {0};
        for (int m = 1; m <= 8; m++) { /* the other way round: from the fewest on, all of them */
            struct ft_protection of_m = {0};
            for (int checksums = m; checksums <= 1600 && !of_m.m; checksums += m)
                for (int aware = 0; aware <= 3 && !of_m.m; aware++) {
                    struct ft_protection p = {200, checksums, m, aware, 0, per_node};
                    if (!ft_protection_check(&small, &p, why, sizeof why) && ft_protection_group_size(&p) - m <= FT_MODEL_GROUP &&
                        -expm1(2 * log1p(-ft_pcf(&small, &p, FT_PCF_DEALT, NULL))) <= loss)
                        of_m = p;
                }
            if (!st)
                assert_memory_equal(&of_m, &each[m - 1].protection, sizeof of_m);
            if (of_m.m && (!cheapest.m || of_m.checksums < cheapest.checksums))
                cheapest = of_m;
        }
        assert_int_equal(st, cheapest.m ? FT_OK : FT_ERR_ARG);
        if (st)
            continue;
        planned++;
        assert_memory_equal(&cheapest, &plan.protection, sizeof cheapest);
        assert_true(plan.lost_job <= loss);
        assert_true(plan.protection.checksums >= last); /* a stricter wish is no cheaper */
        last = plan.protection.checksums;
    }
    assert_true(planned > 5);
}

static void costs_by_hand(void **state)
{
    (void)state;
    struct ft_plan plan;
    char why[512];
    assert_int_equal(ft_plan(&tsubame, &usual, &plan, NULL, why, sizeof why), FT_OK);
    int k = plan.protection.checksums;
    near(plan.per_rank, 3e9);
    near(plan.in_total, 3e9 * (4000 + k));
    near(plan.pause, 0.5);
    near(plan.parity, ceil(4000.0 * plan.protection.m / k));
    near(plan.interval, ft_daly_interval(0.5, 86400));
    near(plan.lost_share, ft_daly_lost_share(0.5, 86400, 10, plan.interval));
    struct ft_plan_ask ask = usual;
    ask.mtbf = 100; /* Daly's 10 s are too short for the codewords of a group */
    assert_int_equal(ft_plan(&tsubame, &ask, &plan, NULL, why, sizeof why), FT_OK);
    near(plan.interval, plan.parity);
    assert_true(plan.interval > ft_daly_interval(0.5, 100));
}

static void what_cannot_be_planned(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        double value;
        const char *reason;
    } row[] = {{offsetof(struct ft_plan_ask, bytes), 0, "bytes of a rank must be above 0"},
               {offsetof(struct ft_plan_ask, mtbf), -1, "mean time between failures must be above 0"},
               {offsetof(struct ft_plan_ask, loss), 0, "probability must be between 0 and 1, not 0"},
               {offsetof(struct ft_plan_ask, loss), 1, "probability must be between 0 and 1, not 1"},
               {offsetof(struct ft_plan_ask, loss), NAN, "probability must be between 0 and 1"},
               {offsetof(struct ft_plan_ask, days), 0, "time of the wish"},
               {offsetof(struct ft_plan_ask, copy_rate), INFINITY, "rate of copies"},
               {offsetof(struct ft_plan_ask, parity_rate), 0, "rate of codewords"},
               {offsetof(struct ft_plan_ask, restart), -1, "restart"},
               {offsetof(struct ft_plan_ask, loss), 1e-300, "the best is"}};
    for (size_t i = 0; i < FT_COUNTOF(row); i++) {
        struct ft_plan_ask ask = usual;
        struct ft_plan plan = {.pause = -1};
        char why[512] = "";
        memcpy((char *)&ask + row[i].field, &row[i].value, sizeof row[i].value);
        enum ft_status st = ft_plan(&tsubame, &ask, &plan, NULL, why, sizeof why);
        if (st != FT_ERR_ARG || !strstr(why, row[i].reason) || plan.pause != -1)
            fail_msg("status %d, '%s' instead of '%s'", st, why, row[i].reason);
    }
}

int main(void)
{
    static int unknown = 0, six = 6, eight = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nothing_cheaper_will_do, &unknown),
        cmocka_unit_test_prestate(nothing_cheaper_will_do, &six),
        cmocka_unit_test_prestate(nothing_cheaper_will_do, &eight),
        cmocka_unit_test(costs_by_hand),
        cmocka_unit_test(what_cannot_be_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
