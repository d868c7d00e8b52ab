/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_manifest.c - a manifest says what it was told, and no other text is taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "launch/manifest.h"

static struct ft_manifest_rank ranks[2] = {
    {.bytes = 1ull << 40, .sum = {1, 0xfedcba9876543210ull}, .printed = {5, 0}},
    {.bytes = 17, .sum = {2, 3}, .printed = {1ull << 35, 7}}};
static char *arguments[] = {"./heat", "quote\" and \xc3\xa4", "no UTF-8: \xff", NULL};
static struct ft_manifest m = {.job = 0x8000000000000001ull,
                               .version = 12,
                               .nranks = 2,
                               .nchecksums = 1,
                               .parity = 1,
                               .nspares = 3,
                               .wtime = 12345.000000123,
                               .program = "/a/heat",
                               .program_id = "build-id:00",
                               .processor = "x86_64: sse",
                               .arguments = arguments,
                               .rank = ranks};

static void it_says_what_it_was_told(void **state)
{
    struct ft_manifest back;
    char why[300];
    char *text = ft_manifest_print(&m);
    (void)state;
    assert_int_equal(ft_manifest_parse(text, &back, why, sizeof why), FT_OK);
    assert_int_equal(back.job, m.job);
    assert_int_equal(back.version, 12);
    assert_int_equal(back.nranks, 2);
    assert_int_equal(back.nspares, 3);
    assert_true(back.wtime == m.wtime);
    assert_string_equal(back.program, m.program);
    assert_string_equal(back.processor, m.processor);
    assert_null(back.library_id);
    assert_memory_equal(back.rank, ranks, sizeof ranks);
    ft_manifest_finish(&back);
    free(text);
}

static int at(const cJSON *list, int i) { return cJSON_GetArrayItem(list, i)->valueint; }

/* 7 ranks in 2 groups of 2 codewords each. */
static void it_names_the_members_of_groups(void **state)
{
    char why[300];
    struct ft_groups g;
    struct ft_manifest with = m;
    (void)state;
    assert_int_equal(ft_groups_init(&g, 7, 4, 2, NULL, why, sizeof why), FT_OK);
    with.groups = &g;
    char *text = ft_manifest_print(&with);
    cJSON *json = cJSON_Parse(text);
    const cJSON *all = cJSON_GetObjectItem(json, "groups");
    assert_int_equal(cJSON_GetArraySize(all), 2);
    for (int k = 0; k < 2; k++) {
        const cJSON *ranks = cJSON_GetObjectItem(cJSON_GetArrayItem(all, k), "ranks"),
                    *checksums = cJSON_GetObjectItem(cJSON_GetArrayItem(all, k), "checksums");
        assert_int_equal(cJSON_GetArraySize(ranks), 4 - k);
        for (int i = 0; i < 4 - k; i++)
            assert_int_equal(at(ranks, i), 2 * i + k);
        assert_int_equal(cJSON_GetArraySize(checksums), 2);
        assert_int_equal(at(checksums, 0), 2 * k);
        assert_int_equal(at(checksums, 1), 2 * k + 1);
    }
    assert_int_equal(ft_manifest_parse(text, &with, why, sizeof why), FT_OK);
    ft_manifest_finish(&with);
    cJSON_Delete(json);
    free(text);
    ft_groups_finish(&g);
}

/* JSON is UTF-8, and other programs read it. */
static void bytes_that_are_no_text_are_written_as_such(void **state)
{
    struct ft_manifest back, odd = m;
    char why[300];
    (void)state;
    odd.program = "/a/h\xe4t";
    setenv("FTRMA_ARENA_DIR", "/\xfftmp", 1);
    char *text = ft_manifest_print(&odd);
    unsetenv("FTRMA_ARENA_DIR");
    cJSON *json = cJSON_Parse(text);
    const cJSON *args = cJSON_GetObjectItem(json, "arguments"),
                *settings = cJSON_GetObjectItem(json, "settings");
    assert_string_equal(cJSON_GetArrayItem(args, 1)->valuestring, arguments[1]);
    assert_string_equal(cJSON_GetArrayItem(args, 2)->valuestring, "no UTF-8: \\xff");
    assert_string_equal(cJSON_GetObjectItem(json, "program")->valuestring, "/a/h\\xe4t");
    assert_string_equal(cJSON_GetObjectItem(settings, "FTRMA_ARENA_DIR")->valuestring, "/\\xfftmp");
    cJSON_Delete(json);
    assert_int_equal(ft_manifest_parse(text, &back, why, sizeof why), FT_OK);
    ft_manifest_finish(&back);
    free(text);
}

/* A digit that is another one, and a text that is cut off anywhere. */
static void damage_is_found(void **state)
{
    struct ft_manifest back;
    char why[300];
    char *text = ft_manifest_print(&m);
    (void)state;
    for (char *p = text; (p = strpbrk(p, "0123456789")); p++) {
        char was = *p;
        *p = was == '7' ? '3' : '7';
        assert_int_not_equal(ft_manifest_parse(text, &back, why, sizeof why), FT_OK);
        *p = was;
    }
    for (size_t len = strlen(text); len > 0; len -= len > 20 ? 20 : len) {
        text[len - 1] = '\0';
        assert_int_not_equal(ft_manifest_parse(text, &back, why, sizeof why), FT_OK);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_says_what_it_was_told),
                                       cmocka_unit_test(it_names_the_members_of_groups),
                                       cmocka_unit_test(bytes_that_are_no_text_are_written_as_such),
                                       cmocka_unit_test(damage_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
