/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_setup.c - which differences between two setups count (F7).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "alog/said.h"
#include "alog/setup.h"

struct logged {
    _Alignas(8) char data[4096];
    size_t bytes;
};

static struct ft_act *add(struct logged *l, enum ft_act_kind kind, uint64_t call, const void *data,
                          uint32_t bytes)
{
    struct ft_act *a = (struct ft_act *)(void *)(l->data + l->bytes);
    *a = (struct ft_act){.call = call, .kind = kind, .bytes = bytes, .win = 17, .where = 2};
    if (bytes)
        memcpy(a->data, data, bytes);
    l->bytes += ft_align_up(sizeof *a + bytes, 8);
    assert_true(l->bytes <= sizeof l->data);
    return a;
}

static int same(const struct logged *x, const struct logged *y, const struct ft_act **a,
                const struct ft_act **b)
{
    return ft_setup_same(x->data, x->bytes, y->data, y->bytes, a, b);
}

static void what_depends_on_timing_does_not_count(void **state)
{
    struct logged x = {.bytes = 0}, y = {.bytes = 0};
    const struct ft_act *a, *b;
    const double early = 1.5, late = 7.25;
    const uint64_t word = 5, left[3] = {5, 100, 6}, later_left[3] = {5, 200, 6};
    (void)state;
    add(&x, FT_ACT_TIME, 1, &early, 8);
    add(&x, FT_ACT_GET, 2, &word, 8);
    add(&x, FT_ACT_ADVANCE, 3, NULL, 0);
    add(&x, FT_ACT_ATOMIC, 4, left, sizeof left)->flags = FT_ACT_RESULT | FT_ACT_LEFT;
    add(&x, FT_ACT_CLOSE, 5, left, sizeof left);
    add(&x, FT_ACT_OUTCOME, 6, "\1\0\0", 4)->off = 3;
    add(&y, FT_ACT_GET, 12, &word, 8);
    add(&y, FT_ACT_ATOMIC, 14, later_left, sizeof left)->flags = FT_ACT_RESULT | FT_ACT_LEFT;
    add(&y, FT_ACT_TIME, 14, &late, 8);
    add(&y, FT_ACT_TIME, 15, &late, 8);
    add(&y, FT_ACT_REACHED, 15, NULL, 0);
    add(&y, FT_ACT_CLOSE, 16, later_left, 16);
    add(&y, FT_ACT_OUTCOME, 17, "\1\0\0", 4)->off = 4;
    assert_true(same(&x, &y, &a, &b));
    assert_null(a);
    assert_null(b);
}

static void results_and_arguments_count(void **state)
{
    const struct ft_act *a, *b;
    const uint64_t word[3] = {5, 100, 6}, result[3] = {4, 100, 6}, left[3] = {5, 100, 7};
    const uint64_t *others[] = {result, left};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct logged x = {.bytes = 0}, y = {.bytes = 0};
        add(&x, FT_ACT_ATOMIC, 4, word, sizeof word)->flags = FT_ACT_RESULT | FT_ACT_LEFT;
        add(&y, FT_ACT_ATOMIC, 9, others[i], sizeof word)->flags = FT_ACT_RESULT | FT_ACT_LEFT;
        assert_false(same(&x, &y, &a, &b));
        assert_int_equal(a->call, 4);
        assert_int_equal(b->call, 9);
    }
    struct logged x = {.bytes = 0}, y = {.bytes = 0};
    add(&x, FT_ACT_WILD, 1, NULL, 0)->count = 3;
    add(&y, FT_ACT_WILD, 1, NULL, 0)->count = 4;
    assert_true(same(&x, &y, &a, &b));
    add(&x, FT_ACT_WILD, 2, NULL, 0)->where = 1;
    assert_false(same(&x, &y, &a, &b));
    assert_int_equal(a->call, 2);
    assert_null(b);
    add(&y, FT_ACT_WILD, 2, NULL, 0)->where = 0;
    assert_false(same(&x, &y, &a, &b));
    assert_int_equal(b->where, 0);
}

static void messages_and_handles_count(void **state)
{
    const struct ft_act *a, *b;
    const struct ft_said said = {3, 100, 200}, data = {3, 100, 201}, more = {4, 103, 200},
                         unknown = {.messages = UINT64_MAX};
    struct logged x = {.bytes = 0}, y = {.bytes = 0}, z = {.bytes = 0}, u = {.bytes = 0};
    (void)state;
    add(&x, FT_ACT_MADE, 5, NULL, 0);
    add(&y, FT_ACT_MADE, 5, NULL, 0);
    assert_true(same(&x, &y, &a, &b));
    add(&x, FT_ACT_SAID, 9, &said, sizeof said);
    add(&y, FT_ACT_SAID, 9, &data, sizeof data);
    assert_true(same(&x, &y, &a, &b));
    assert_int_equal(ft_setup_other_data(x.data, x.bytes, y.data, y.bytes), 2);
    assert_int_equal(ft_setup_other_data(x.data, x.bytes, x.data, x.bytes), -1);
    add(&u, FT_ACT_MADE, 5, NULL, 0);
    add(&u, FT_ACT_SAID, 9, &unknown, sizeof unknown);
    assert_true(same(&x, &u, &a, &b));
    assert_int_equal(ft_setup_other_data(x.data, x.bytes, u.data, u.bytes), -1);
    add(&z, FT_ACT_MADE, 5, NULL, 0)->win = 18;
    assert_false(same(&x, &z, &a, &b));
    z.bytes = 0;
    add(&z, FT_ACT_MADE, 5, NULL, 0);
    add(&z, FT_ACT_SAID, 9, &more, sizeof more);
    assert_false(same(&x, &z, &a, &b));
    assert_int_equal(b->kind, FT_ACT_SAID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_depends_on_timing_does_not_count),
                                       cmocka_unit_test(results_and_arguments_count),
                                       cmocka_unit_test(messages_and_handles_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
