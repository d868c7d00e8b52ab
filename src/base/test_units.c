/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_units.c - numbers with and without each unit; texts that are no numbers; the same in a
 * locale with a decimal comma.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/units.h"

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"7", 7},
                {"1K", 1024},
                {"3m", 3 << 20},
                {"2G", (int64_t)2 << 30},
                {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"",
                                      " 1",
                                      "-1",
                                      "+1",
                                      "1 ",
                                      "1KB",
                                      "K",
                                      "0x10",
                                      "1.5",
                                      "1e3",
                                      "1s",
                                      "9223372036854775808",
                                      "9999999999G",
                                      "1.5K"};
    int64_t v = 0;
    for (size_t i = 0; i < FT_COUNTOF(good); i++) {
        assert_int_equal(ft_parse_i64(good[i].text, &v), FT_OK);
        assert_true(v == good[i].value);
    }
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        v = 42;
        if (ft_parse_i64(bad[i], &v) != FT_ERR_ARG || v != 42)
            fail_msg("'%s' was taken for a count", bad[i]);
    }
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds; /* a number alone is seconds */
        int64_t ms;     /* a number alone is milliseconds; rounded up */
    } good[] = {{"0", 0, 0},
                {"90", 90, 90},
                {"60.5", 60.5, 61},
                {".5", .5, 1},
                {"90s", 90, 90000},
                {"1.1s", 1.1, 1100},
                {"5min", 300, 300000},
                {"5m", 300, 300000},
                {"1h", 3600, 3600000},
                {"1.5h", 5400, 5400000},
                {"2d", 172800, 172800000},
                {"1w", 604800, 604800000},
                {"1y", 31557600, 31557600000},
                {"20ms", .02, 20},
                {"1us", 1e-6, 1},
                {"1e3s", 1000, 1000000}};
    static const char *const bad[] = {"",        "s",     "-1s",  "5 min", "1H",     "1hour",
                                      "1h30min", "1.5.h", "0x1s", "nan",   "1e999h", "64G"};
    int64_t v;
    double d;
    for (size_t i = 0; i < FT_COUNTOF(good); i++) {
        assert_int_equal(ft_parse_time(good[i].text, 1000000, &d), FT_OK);
        if (d != good[i].seconds)
            fail_msg("%s is %.17g s", good[i].text, d);
        assert_int_equal(ft_parse_time_i64(good[i].text, 1000, &v), FT_OK);
        if (v != good[i].ms)
            fail_msg("%s is %lld ms", good[i].text, (long long)v);
    }
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        v = 42, d = 42;
        if (ft_parse_time(bad[i], 1000000, &d) != FT_ERR_ARG ||
            ft_parse_time_i64(bad[i], 1000, &v) != FT_ERR_ARG || v != 42 || d != 42)
            fail_msg("'%s' was taken for a time", bad[i]);
    }
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes, mib; /* a number alone is bytes, or MiB */
    } good[] = {{"0", 0, 0},
                {"64", 64, 64 << 20},
                {"512M", 512 << 20, 512 << 20},
                {"1.5G", 3 << 29, 3 << 29},
                {"64KiB", 65536, 65536},
                {"2g", (int64_t)2 << 30, (int64_t)2 << 30},
                {"1TiB", (int64_t)1 << 40, (int64_t)1 << 40},
                {"100B", 100, 100},
                {"0.1K", 103, 103}, /* rounded up */
                {"2e9", 2000000000, (int64_t)2000000000 << 20}};
    static const char *const bad[] = {"",    "G",           "64KB", "64 G", "1s",
                                      "-1G", "9999999999G", "0x10", "inf"};
    int64_t v;
    for (size_t i = 0; i < FT_COUNTOF(good); i++) {
        assert_int_equal(ft_parse_bytes(good[i].text, 1, &v), FT_OK);
        if (v != good[i].bytes)
            fail_msg("%s is %lld bytes", good[i].text, (long long)v);
        assert_int_equal(ft_parse_bytes(good[i].text, 1 << 20, &v), FT_OK);
        if (v != good[i].mib)
            fail_msg("%s, alone MiB, is %lld bytes", good[i].text, (long long)v);
    }
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        v = 42;
        if (ft_parse_bytes(bad[i], 1, &v) != FT_ERR_ARG || v != 42)
            fail_msg("'%s' was taken for a size", bad[i]);
    }
}

static void numbers_without_units(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "-1", "nan", "inf", "1e999", "3s", " 3", "0x10"};
    double v = 0;
    assert_int_equal(ft_parse_f64("0.5", &v), FT_OK);
    assert_true(v == 0.5);
    assert_int_equal(ft_parse_f64("1e-3", &v), FT_OK);
    assert_true(v == 0.001);
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        if (ft_parse_f64(bad[i], &v) != FT_ERR_ARG)
            fail_msg("'%s' was taken for a number", bad[i]);
}

int main(void)
{
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "pl_PL.UTF-8"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(times),
        cmocka_unit_test(sizes),
        cmocka_unit_test(numbers_without_units),
    };
    int bad = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < FT_COUNTOF(commas); i++)
        if (setlocale(LC_ALL, commas[i])) {
            printf("in locale %s\n", commas[i]);
            return bad + cmocka_run_group_tests(tests, NULL, NULL);
        }
    return bad;
}
