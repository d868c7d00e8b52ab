/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_join.c - unit tests of base/join.h.
 */
#include "base/join.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void pieces_follow_each_other(void **state)
{
    char out[32];
    struct ft_joined t = {.out = out, .size = sizeof out};
    (void)state;
    ft_join(&t, "rank %d", 3);
    ft_join(&t, "%s", "");
    ft_join(&t, " and %s", "others");
    assert_string_equal(out, "rank 3 and others");
    assert_int_equal(t.len, strlen(out));
}

/* What does not fit is cut, nothing beyond is written, and more pieces change nothing. */
static void a_full_text_is_cut(void **state)
{
    char out[8] = "......";
    struct ft_joined t = {.out = out, .size = 6};
    (void)state;
    out[6] = '!';
    ft_join(&t, "abc");
    ft_join(&t, "defgh");
    assert_string_equal(out, "abcde");
    assert_int_equal(t.len, 5);
    ft_join(&t, "x");
    assert_string_equal(out, "abcde");
    assert_int_equal(t.len, 5);
    assert_int_equal(out[6], '!');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_follow_each_other),
        cmocka_unit_test(a_full_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
