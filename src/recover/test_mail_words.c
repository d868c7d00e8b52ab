/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mail_words.c - what comes back from the words of a mail is the mail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recover/mail_words.h"

enum { SLOTS = 100 };

static uint64_t w[FT_MAIL_WORDS + 1];
static struct ft_mail in, out;

static void some_data(struct ft_agree_data *d, uint64_t x)
{
    d->committed = x;
    d->flags = 2 * x;
    d->shared_until = UINT64_MAX;
    ft_exposer_add(&d->exposers, 7, x);
    ft_bit_set(&d->incomplete, 99);
    for (int slot = 3; slot < 3 + FT_TESTIMONIES; slot++) {
        struct ft_testimony t = {slot, 1, x, 5, 6, 7, 8, 9, 10, 11, 12};
        ft_testimony_add(&d->told, &t);
    }
}

static void comes_back(void)
{
    int n = ft_mail_to_words(&in, SLOTS, w);
    assert_true(n > 0 && n <= FT_MAIL_WORDS);
    assert_true(ft_mail_from_words(&out, SLOTS, w, n));
    assert_memory_equal(&in, &out, sizeof in);
    assert_false(ft_mail_from_words(&out, SLOTS, w, n - 1));
    assert_false(ft_mail_from_words(&out, SLOTS, w, n + 1));
}

static void test_agree(void **state)
{
    (void)state;
    memset(&in, 0, sizeof in);
    in.kind = FT_MAIL_AGREE;
    in.u.agree.kind = FT_AGREE_VOTE;
    in.u.agree.oldest = 3;
    ft_bit_set(&in.u.agree.failed, 65);
    some_data(&in.u.agree.data, 4);
    in.u.agree.last.generation = 2;
    ft_bit_set(&in.u.agree.last.failed, 1);
    some_data(&in.u.agree.last.data, 3);
    comes_back();
}

static void test_others(void **state)
{
    (void)state;
    memset(&in, 0, sizeof in);
    in.kind = FT_MAIL_ORDER;
    in.u.order = (struct ft_order_msg){1, 2, 3, 4, 5, 6, 0, {7, 8, 9, 1, 1, 1}};
    comes_back();
    memset(&in, 0, sizeof in);
    in.kind = FT_MAIL_MARKER;
    in.u.marker = (struct ft_marker){1ull << 33, 2, 3};
    comes_back();
    memset(&in, 0, sizeof in);
    in.kind = FT_MAIL_DUE;
    in.u.number = 12;
    comes_back();
    memset(&in, 0, sizeof in);
    in.kind = FT_MAIL_PING;
    comes_back();
}

static void test_too_much(void **state)
{
    (void)state;
    struct ft_agree_data d = {0}, back;
    some_data(&d, 1);
    int n = ft_agree_data_to_words(&d, SLOTS, w);
    assert_true(ft_agree_data_from_words(&back, SLOTS, w, n));
    assert_memory_equal(&d, &back, sizeof d);
    for (int i = 0; i < n; i++)
        if (w[i] == FT_TESTIMONIES)
            w[i] = FT_TESTIMONIES + 1;
    assert_false(ft_agree_data_from_words(&back, SLOTS, w, n));
    w[0] = 99;
    assert_false(ft_mail_from_words(&out, SLOTS, w, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agree), cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_too_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
