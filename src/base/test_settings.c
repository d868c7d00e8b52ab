/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_settings.c - defaults, numbers with suffixes, checkpoint policies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/settings.h"

static int clear_environment(void **state)
{
    (void)state;
    for (int i = 0; i < FT_SET_COUNT; i++)
        unsetenv(ft_settings_table[i].env);
    return 0;
}

static void defaults_hold_and_empty_means_default(void **state)
{
    (void)state;
    int64_t v = 0;
    assert_string_equal(ft_setting_str(FT_SET_CHECKPOINT), "daly");
    setenv("FTRMA_CHECKPOINT", "", 1);
    assert_string_equal(ft_setting_str(FT_SET_CHECKPOINT), "daly");
    setenv("FTRMA_CHECKPOINT", "off", 1);
    assert_string_equal(ft_setting_str(FT_SET_CHECKPOINT), "off");
    assert_int_equal(ft_setting_i64(FT_SET_ARENA_SIZE, &v, NULL, 0), FT_OK);
    assert_true(v == (int64_t)64 << 30);
    assert_int_equal(ft_setting_i64(FT_SET_CHECKSUMS, &v, NULL, 0), FT_OK);
    assert_int_equal(v, -1); /* automatic */
    setenv("FTRMA_CHECKSUMS", "3", 1);
    assert_int_equal(ft_setting_i64(FT_SET_CHECKSUMS, &v, NULL, 0), FT_OK);
    assert_int_equal(v, 3);
}

static void numbers_with_suffixes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0}, {"7", 7}, {"1K", 1024}, {"3m", 3 << 20}, {"2G", (int64_t)2 << 30}, {"9223372036854775807", INT64_MAX}};
    static const char *const bad[] = {"", " 1", "-1", "+1", "1 ", "1KB", "K", "0x10", "1.5", "9223372036854775808",
                                       "9999999999G"};
    int64_t v = 0;
    for (size_t i = 0; i < FT_COUNTOF(good); i++) {
        assert_int_equal(ft_parse_i64(good[i].text, &v), FT_OK);
        assert_true(v == good[i].value);
    }
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        v = 42;
        if (ft_parse_i64(bad[i], &v) != FT_ERR_ARG || v != 42)
            fail_msg("'%s' was taken for a number", bad[i]);
    }
}

static void decimals(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "-1", "nan", "inf", "1e999", "3s", " 3"};
    double v = 0;
    assert_int_equal(ft_parse_f64("0.5", &v), FT_OK);
    assert_true(v == 0.5);
    assert_int_equal(ft_parse_f64("1e3", &v), FT_OK);
    assert_true(v == 1000);
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        if (ft_parse_f64(bad[i], &v) != FT_ERR_ARG)
            fail_msg("'%s' was taken for a number", bad[i]);
    assert_int_equal(ft_setting_f64(FT_SET_MTBF, &v, NULL, 0), FT_OK);
    assert_true(v == 86400);
}

static void bad_settings_are_named_and_give_the_default(void **state)
{
    (void)state;
    char err[300] = "";
    int64_t v = 0;
    double d = 0;
    setenv("FTRMA_PARITY", "many", 1);
    assert_int_equal(ft_setting_i64(FT_SET_PARITY, &v, err, sizeof err), FT_ERR_ARG);
    assert_int_equal(v, 1);
    assert_non_null(strstr(err, "FTRMA_PARITY=many"));
    setenv("FTRMA_MTBF", "-5", 1);
    assert_int_equal(ft_setting_f64(FT_SET_MTBF, &d, err, sizeof err), FT_ERR_ARG);
    assert_true(d == 86400);
    assert_non_null(strstr(err, "FTRMA_MTBF=-5"));
    assert_int_equal(ft_setting_f64(FT_SET_MTBF, &d, NULL, 0), FT_ERR_ARG);
}

static void unknown_settings_are_named_with_the_nearest(void **state)
{
    (void)state;
    const char *name = NULL, *nearest = NULL;
    setenv("FTRMA_SPARES", "1", 1);
    setenv("FTRMA_TEST_MARK", "1", 1);
    assert_int_equal(ft_setting_unknown(0, &name, &nearest), 0);
    setenv("FTRMA_SPARE", "1", 1);
    int next = ft_setting_unknown(0, &name, &nearest);
    assert_true(next > 0);
    assert_string_equal(name, "FTRMA_SPARE=1");
    assert_string_equal(nearest, "FTRMA_SPARES");
    assert_int_equal(ft_setting_unknown(next, &name, &nearest), 0);
    unsetenv("FTRMA_SPARE");
    setenv("FTRMA_SOMETHING_QUITE_DIFFERENT", "", 1);
    assert_true(ft_setting_unknown(0, &name, &nearest) > 0);
    assert_null(nearest);
    unsetenv("FTRMA_SOMETHING_QUITE_DIFFERENT");
    setenv("FTRMA_PING_TIMEOUT", "", 1);
    assert_true(ft_setting_unknown(0, &name, &nearest) > 0);
    assert_string_equal(nearest, "FTRMA_PING_TIMEOUT_MS");
    unsetenv("FTRMA_PING_TIMEOUT");
    unsetenv("FTRMA_TEST_MARK");
}

static void checkpoint_policies(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "Daly", "every", "every:", "every:0", "every:-1", "every:x", "offf"};
    struct ft_ckpt_policy p;
    assert_int_equal(ft_parse_ckpt_policy("daly", &p), FT_OK);
    assert_int_equal(p.kind, FT_CKPT_DALY);
    assert_int_equal(ft_parse_ckpt_policy("every:12", &p), FT_OK);
    assert_int_equal(p.kind, FT_CKPT_EVERY);
    assert_int_equal(p.every, 12);
    assert_int_equal(ft_parse_ckpt_policy("off", &p), FT_OK);
    assert_int_equal(p.kind, FT_CKPT_OFF);
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        if (ft_parse_ckpt_policy(bad[i], &p) != FT_ERR_ARG)
            fail_msg("'%s' was taken for a policy", bad[i]);
    assert_int_equal(p.kind, FT_CKPT_OFF); /* set on success only */
}

static void snapshots(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "vanilla", "Delay", "delay ", "off"};
    int alg = 7;
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        if (ft_parse_snapshot(bad[i], &alg) != FT_ERR_ARG)
            fail_msg("'%s' was taken for a way to take a snapshot", bad[i]);
    assert_int_equal(alg, 7);
    assert_int_equal(ft_parse_snapshot("partial", &alg), FT_OK);
    assert_int_equal(alg, 4);
    assert_int_equal(ft_parse_snapshot("barrier", &alg), FT_OK);
    assert_int_equal(alg, FT_SNAPSHOT_BARRIER);
}

static void checksums_by_default(void **state)
{
    (void)state;
    assert_int_equal(ft_default_checksums(1, 1), 1);
    assert_int_equal(ft_default_checksums(8, 1), 1);
    assert_int_equal(ft_default_checksums(9, 1), 2);
    assert_int_equal(ft_default_checksums(16, 3), 6);
    assert_int_equal(ft_default_checksums(9, 5), 5); /* two groups of 4 or 5 would be smaller than 5 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_hold_and_empty_means_default, clear_environment),
        cmocka_unit_test_setup(numbers_with_suffixes, clear_environment),
        cmocka_unit_test_setup(decimals, clear_environment),
        cmocka_unit_test_setup(bad_settings_are_named_and_give_the_default, clear_environment),
        cmocka_unit_test_setup(unknown_settings_are_named_with_the_nearest, clear_environment),
        cmocka_unit_test_setup(checkpoint_policies, clear_environment),
        cmocka_unit_test_setup(snapshots, clear_environment),
        cmocka_unit_test_setup(checksums_by_default, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
