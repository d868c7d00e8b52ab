/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_settings.c - defaults, units, choices among words, checkpoint policies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
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

static void units_of_settings(void **state)
{
    (void)state;
    int64_t v = 0;
    double d = 0;
    setenv("FTRMA_MTBF", "1.5h", 1);
    assert_int_equal(ft_setting_f64(FT_SET_MTBF, &d, NULL, 0), FT_OK);
    assert_true(d == 5400);
    setenv("FTRMA_MTBF", "60.5", 1);
    assert_int_equal(ft_setting_f64(FT_SET_MTBF, &d, NULL, 0), FT_OK);
    assert_true(d == 60.5);
    setenv("FTRMA_PING_TIMEOUT_MS", "2s", 1);
    assert_int_equal(ft_setting_i64(FT_SET_PING_TIMEOUT, &v, NULL, 0), FT_OK);
    assert_int_equal(v, 2000);
    setenv("FTRMA_PING_TIMEOUT_MS", "250", 1);
    assert_int_equal(ft_setting_i64(FT_SET_PING_TIMEOUT, &v, NULL, 0), FT_OK);
    assert_int_equal(v, 250);
    setenv("FTRMA_ARENA_SIZE", "1.5G", 1);
    assert_int_equal(ft_setting_i64(FT_SET_ARENA_SIZE, &v, NULL, 0), FT_OK);
    assert_int_equal(v, 3 << 29);
}

static void choices(void **state)
{
    (void)state;
    char err[400] = "";
    int k = 7;
    assert_int_equal(ft_setting_choice(FT_SET_LOG, &k, err, sizeof err), FT_OK);
    assert_int_equal(k, 2);
    setenv("FTRMA_LOG", "pust", 1);
    assert_int_equal(ft_setting_choice(FT_SET_LOG, &k, err, sizeof err), FT_ERR_ARG);
    assert_int_equal(k, 2); /* set on success only */
    assert_string_equal(err, "FTRMA_LOG=pust: must be off, puts or all; did you mean puts?");
    setenv("FTRMA_SNAPSHOT", "partial", 1);
    assert_int_equal(ft_setting_choice(FT_SET_SNAPSHOT, &k, err, sizeof err), FT_OK);
    assert_int_equal(k, 4);
    for (int i = 0; i < FT_SET_COUNT; i++) /* each default is one of the words */
        if (i != FT_SET_CHECKPOINT && strchr(ft_settings_table[i].unit, '|')) {
            unsetenv(ft_settings_table[i].env);
            assert_int_equal(ft_setting_choice((enum ft_setting_id)i, &k, err, sizeof err), FT_OK);
        }
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

/* One check of type and range for all settings; the error names the option, or else the variable.
 * */
static void ranges(void **state)
{
    (void)state;
    static const struct {
        enum ft_setting_id id;
        const char *text, *must; /* NULL: it is good */
    } cases[] = {
        {FT_SET_PARITY, "1", NULL},
        {FT_SET_PARITY, "8", NULL},
        {FT_SET_PARITY, "0", "must be a whole number from 1 to 8 ("},
        {FT_SET_PARITY, "9", "must be a whole number from 1 to 8 ("},
        {FT_SET_SPARES, "4097", "must be a whole number from 0 to 4096 ("},
        {FT_SET_SPARES, "", NULL},
        {FT_SET_VERBOSE, "-1", "must be a whole number, 0 or more ("},
        {FT_SET_MTBF, "0.001", NULL},
        {FT_SET_MTBF, "0", "must be a time such as 90s, 5min, 1.5h or 2d, above 0 ("},
        {FT_SET_PING_TIMEOUT, "0", NULL},
        {FT_SET_PING_TIMEOUT, "2x", "must be a time such as 90s, 5min, 1.5h or 2d, 0 or more ("},
        {FT_SET_LOG_LIMIT, "0", "must be a size such as 512M, 1.5G or 64KiB, above 0 ("},
        {FT_SET_CHECKPOINT, "every:3", NULL},
        {FT_SET_CHECKPOINT, "every:0", "must be daly, every:K (K of 1 or more) or off"},
        {FT_SET_TRANSPORT, "tcp", "must be shm or fault"},
        {FT_SET_ARENA_DIR, "/no/such/place", NULL}, /* checked only when it is opened */
    };
    const char *as[FT_SET_COUNT] = {[FT_SET_PARITY] = "--parity"};
    assert_int_equal(ft_settings_check(NULL, NULL, 0), FT_OK); /* the defaults */
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        const char *env = ft_settings_table[cases[i].id].env;
        char err[600] = "", begin[100];
        setenv(env, cases[i].text, 1);
        assert_int_equal(ft_setting_check(cases[i].id, NULL, err, sizeof err),
                         cases[i].must ? FT_ERR_ARG : FT_OK);
        assert_int_equal(ft_settings_check(as, err, sizeof err),
                         cases[i].must ? FT_ERR_ARG : FT_OK);
        if (cases[i].id == FT_SET_PARITY)
            snprintf(begin, sizeof begin, "--parity %s: ", cases[i].text);
        else
            snprintf(begin, sizeof begin, "%s=%s: ", env, cases[i].text);
        if (cases[i].must && (strncmp(err, begin, strlen(begin)) != 0 ||
                              strncmp(err + strlen(begin), cases[i].must, strlen(cases[i].must))))
            fail_msg("%s=%s: %s", env, cases[i].text, err);
        unsetenv(env);
    }
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
    static const char *const bad[] = {
        "", "Daly", "every", "every:", "every:0", "every:-1", "every:x", "offf"};
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

static void checksums_by_default(void **state)
{
    (void)state;
    assert_int_equal(ft_default_checksums(1, 1), 1);
    assert_int_equal(ft_default_checksums(8, 1), 1);
    assert_int_equal(ft_default_checksums(9, 1), 2);
    assert_int_equal(ft_default_checksums(16, 3), 6);
    assert_int_equal(ft_default_checksums(9, 5),
                     5); /* two groups of 4 or 5 would be smaller than 5 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_hold_and_empty_means_default, clear_environment),
        cmocka_unit_test_setup(units_of_settings, clear_environment),
        cmocka_unit_test_setup(choices, clear_environment),
        cmocka_unit_test_setup(bad_settings_are_named_and_give_the_default, clear_environment),
        cmocka_unit_test_setup(ranges, clear_environment),
        cmocka_unit_test_setup(unknown_settings_are_named_with_the_nearest, clear_environment),
        cmocka_unit_test_setup(checkpoint_policies, clear_environment),
        cmocka_unit_test_setup(checksums_by_default, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
