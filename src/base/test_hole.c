/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_hole.c - data of pairs is copied byte for byte, and nothing in their holes, wherever these
 * are; runs of data and holes make up all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hole.h"

static int is_hole(struct ft_hole h, size_t i)
{
    return h.stride && i % h.stride >= h.at && i % h.stride < (size_t)h.at + h.len;
}

static void only_data_is_copied(void **state)
{
    static const struct ft_hole some[] = {{0, 0, 0},    {12, 4, 16}, {2, 2, 8},
                                          {20, 12, 32}, {1, 1, 2},   {31, 31, 62}};
    unsigned char from[256], to[256];
    (void)state;
    for (size_t k = 0; k < FT_COUNTOF(some); k++)
        for (size_t n = 0; n <= 4; n++) {
            struct ft_hole h = some[k];
            size_t bytes = n * (h.stride ? h.stride : 9), runs = 0;
            memset(from, 1, sizeof from);
            memset(to, 2, sizeof to);
            assert_true(ft_hole_is_sound(h, bytes));
            ft_hole_copy(to, from, bytes, h);
            for (size_t i = 0; i < sizeof to; i++)
                assert_int_equal(to[i], i < bytes && !is_hole(h, i) ? 1 : 2);
            for (size_t at = 0, len; (len = ft_hole_data(h, bytes, &at)) > 0; at += len, runs++)
                for (size_t i = at; i < at + len; i++)
                    assert_true(i < bytes && !is_hole(h, i));
            assert_true(runs <= 2 * n + 1);
        }
}

static void what_is_no_hole_is_refused(void **state)
{
    (void)state;
    assert_false(ft_hole_is_sound((struct ft_hole){12, 5, 16}, 32));
    assert_false(ft_hole_is_sound((struct ft_hole){12, 4, 16}, 40));
    assert_true(ft_hole_is_sound(FT_NO_HOLE, 41));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_data_is_copied),
                                       cmocka_unit_test(what_is_no_hole_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
