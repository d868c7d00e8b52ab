/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_daly.c - Daly's interval: the paper's own numbers, numbers by hand, and the minimum of the
 * model that it approximates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/base.h"
#include "model/daly.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.12g, not %.12g", got, want);
}

/* Captions of the paper's figures 3 to 5: delta = 5 min, M = 24 h, 6 h, 15 min. */
static void the_papers_numbers(void **state)
{
    (void)state;
    near(ft_daly_interval(5, 24 * 60), 117, 0.5);
    near(ft_daly_interval(5, 6 * 60), 57, 0.5);
    near(ft_daly_interval(5, 15), 9.1, 0.05);
}

static void numbers_by_hand(void **state)
{
    (void)state;
    /* delta/(2M) = 1/4, root 1/2: 2 (1 + 1/6 + 1/36) - 1 = 25/18; the same in other units */
    near(ft_daly_interval(1, 2), 25.0 / 18, 1e-12);
    near(ft_daly_interval(3600, 7200), 5000, 1e-8);
    /* delta/(2M) = 1/100, root 1/10: 10 (1 + 1/30 + 1/900) - 1 */
    near(ft_daly_interval(1, 50), 10 * 931.0 / 900 - 1, 1e-12);
    /* from 2M on: M */
    assert_true(ft_daly_interval(4, 2) == 2);
    assert_true(ft_daly_interval(100, 2) == 2);
    near(ft_daly_interval(4 * (1 - 1e-12), 2), 2 * 8.0 / 9, 1e-9);
    assert_true(ft_daly_interval(0, 50) == 0);
    assert_true(ft_daly_interval(5, 0) == 0);
    assert_true(ft_daly_interval(0, 0) == 0);
}

static void share_by_hand(void **state)
{
    (void)state;
    /* M = 1, tau = ln 2, nothing else: 1 - ln 2 / (2 - 1) */
    near(ft_daly_lost_share(0, 1, 0, M_LN2), 1 - M_LN2, 1e-14);
    /* tau + delta = ln 3, R = ln 2: 1 - tau / (2 (3 - 1)) */
    near(ft_daly_lost_share(log(1.5), 1, M_LN2, M_LN2), 1 - M_LN2 / 4, 1e-14);
    near(ft_daly_lost_share(10 * log(1.5), 10, 10 * M_LN2, 10 * M_LN2), 1 - M_LN2 / 4, 1e-14);
    /* no failures to speak of: what is left is the checkpoints, delta / (tau + delta) */
    near(ft_daly_lost_share(1, 1e15, 0, 99), 0.01, 1e-12);
    assert_true(ft_daly_lost_share(0, 1e18, 0, 1e-3) >= 0);
    /* nothing gets done */
    assert_true(ft_daly_lost_share(1, 1e-3, 1, 1) == 1);
}

/* Golden-section search for the interval that loses least. */
static double best_interval(double delta, double mtbf, double restart)
{
    const double g = (sqrt(5) - 1) / 2;
    double lo = mtbf * 1e-7, hi = 2 * mtbf;
    for (int i = 0; i < 120; i++) {
        double a = hi - g * (hi - lo), b = lo + g * (hi - lo);
        if (ft_daly_lost_share(delta, mtbf, restart, a) <
            ft_daly_lost_share(delta, mtbf, restart, b))
            hi = b;
        else
            lo = a;
    }
    return (lo + hi) / 2;
}

/* tolerance: the series in sqrt(delta/2M) gets worse as that nears 1; past it M is a guess that
 * gets better again. What the difference costs is small everywhere, for a minimum is flat. */
static void interval_is_near_the_minimum(void **state)
{
    (void)state;
    static const struct {
        double delta_over_m, tolerance;
    } row[] = {{1e-5, 1e-4}, {1e-4, 1e-4}, {1e-3, 1e-4}, {0.01, 1e-4}, {0.1, 1e-3},
               {0.5, 0.01},  {1, 0.02},    {1.9, 0.06},  {2, 0.06},    {4, 0.01}};
    const double mtbf = 3600, restart[] = {0, 30, 3600};
    for (size_t i = 0; i < FT_COUNTOF(row); i++) {
        for (size_t r = 0; r < FT_COUNTOF(restart); r++) {
            double delta = row[i].delta_over_m * mtbf,
                   best = best_interval(delta, mtbf, restart[r]);
            double daly = ft_daly_interval(delta, mtbf);
            double least = ft_daly_lost_share(delta, mtbf, restart[r], best);
            near(daly / best, 1, row[i].tolerance);
            near(ft_daly_lost_share(delta, mtbf, restart[r], daly), least, 2e-4);
            /* and the minimum is one: half and double lose more */
            assert_true(ft_daly_lost_share(delta, mtbf, restart[r], daly / 2) > least);
            assert_true(ft_daly_lost_share(delta, mtbf, restart[r], daly * 2) > least);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_numbers),
        cmocka_unit_test(numbers_by_hand),
        cmocka_unit_test(share_by_hand),
        cmocka_unit_test(interval_is_near_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
