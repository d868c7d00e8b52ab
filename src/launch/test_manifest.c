/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_manifest.c - a manifest says what it was told, and no other text is taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
                                       cmocka_unit_test(damage_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
