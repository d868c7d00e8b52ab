/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_words.c - a word of a list is found; a mistyped word gets a suggestion; a different word
 * gets none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <getopt.h>
#include <string.h>

#include "base/base.h"
#include "base/words.h"

static void words_are_found(void **state)
{
    (void)state;
    assert_int_equal(ft_word_index("off|puts|all", "off"), 0);
    assert_int_equal(ft_word_index("off|puts|all", "all"), 2);
    assert_int_equal(ft_word_index("off|puts|all", "al"), -1);
    assert_int_equal(ft_word_index("off|puts|all", "alls"), -1);
    assert_int_equal(ft_word_index("off|puts|all", ""), -1);
}

static void the_nearest_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *list, *word, *says;
    } row[] = {
        {"off|puts|all", "al", "must be off, puts or all; did you mean all?"},
        {"off|puts|all", "pust",
         "must be off, puts or all; did you mean puts?"}, /* two swapped are one slip */
        {"off|puts|all", "none", "must be off, puts or all"},
        {"off|puts|all", "", "must be off, puts or all"},
        {"auto|global", "gobal", "must be auto or global; did you mean global?"},
        {"auto|global", "local", "must be auto or global"},
        {"barrier|delay|partial", "barier",
         "must be barrier, delay or partial; did you mean barrier?"},
        {"one", "anything at all that is far longer than forty letters can be", "must be one"}};
    for (size_t i = 0; i < FT_COUNTOF(row); i++) {
        char text[200];
        ft_word_explain(row[i].list, row[i].word, text, sizeof text);
        assert_string_equal(text, row[i].says);
    }
    char little[12];
    ft_word_explain("off|puts|all", "al", little, sizeof little);
    assert_string_equal(little, "must be off");
}

static void refused_options_are_explained(void **state)
{
    (void)state;
    static const struct option options[] = {
        {"limit", 1, NULL, 'n'}, {"data", 0, NULL, 'd'}, {NULL, 0, NULL, 0}};
    static const struct {
        int c;
        const char *word, *says;
    } row[] = {{'?', "--lmit", "unknown option '--lmit'; did you mean --limit?"},
               {'?', "--dat=3", "unknown option '--dat'; did you mean --data?"},
               {'?', "--something", "unknown option '--something'"},
               {'?', "-x", "unknown option '-x'"},
               {'?', "--data=3", "option '--data' takes no value"},
               {':', "--limit", "option '--limit' needs a value"}};
    for (size_t i = 0; i < FT_COUNTOF(row); i++) {
        char text[200];
        ft_option_refused(options, row[i].c, row[i].word, text, sizeof text);
        assert_string_equal(text, row[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_found),
        cmocka_unit_test(the_nearest_is_named),
        cmocka_unit_test(refused_options_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
