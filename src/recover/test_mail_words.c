/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mail_words.c - what comes back from the words of a mail is the mail; which mail makes
 * another one needless; and mails and actions as records show them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recover/action_text.h"
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
        struct ft_testimony t = {slot, 1, x, 5, 6, 7, 8, 9, 10, 11, 12, 13};
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

/* ---- a mail that waits, and a newer one to the same process ---- */

static struct ft_mail number(enum ft_mail_kind kind, uint64_t n)
{
    struct ft_mail m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.u.number = n;
    return m;
}

static struct ft_mail failed(int a, int b, int c)
{
    struct ft_mail m = number(FT_MAIL_AGREE, 0);
    const int slot[] = {a, b, c};
    m.u.agree.kind = FT_AGREE_ANNOUNCE;
    for (int i = 0; i < 3; i++)
        if (slot[i] >= 0)
            ft_bit_set(&m.u.agree.failed, slot[i]);
    return m;
}

static struct ft_mail demand(enum ft_demand_kind kind, uint32_t generation, int rank)
{
    struct ft_mail m = number(FT_MAIL_DEMAND, 0);
    m.u.demand.kind = kind;
    m.u.demand.generation = generation;
    m.u.demand.rank = rank;
    return m;
}

static int replaces(struct ft_mail newer, struct ft_mail old)
{
    return ft_mail_replaces(&newer, &old);
}

/* A ballot of a larger set ends that of a smaller one, and of no other: not that of the same set,
 * to which an announcement, a vote and a decision belong. */
static void larger_sets_replace_smaller_ones(void **state)
{
    (void)state;
    assert_true(replaces(failed(1, 65, -1), failed(1, -1, -1)));
    assert_true(replaces(failed(1, 65, 3), failed(65, 3, -1)));
    assert_false(replaces(failed(1, 65, -1), failed(1, 65, -1)));
    assert_false(replaces(failed(1, -1, -1), failed(1, 65, -1)));
    assert_false(replaces(failed(1, 3, -1), failed(1, 65, -1)));
}

static void newer_generations_replace_older_orders(void **state)
{
    struct ft_mail old = number(FT_MAIL_ORDER, 0), m = old;
    (void)state;
    old.u.order = (struct ft_order_msg){.kind = FT_OM_READY, .generation = 2, .seq = 9};
    m.u.order = (struct ft_order_msg){.kind = FT_OM_ORDER, .generation = 3, .seq = 1};
    assert_true(ft_mail_replaces(&m, &old));
    assert_false(ft_mail_replaces(&old, &m));
    m.u.order.generation = 2;
    m.u.order.seq = 10;
    assert_false(ft_mail_replaces(&m, &old));
}

static void what_is_asked_again_is_asked_once(void **state)
{
    struct ft_mail off = number(FT_MAIL_SNAPSHOT_OFF, 0), other = off;
    (void)state;
    assert_true(replaces(number(FT_MAIL_PING, 0), number(FT_MAIL_PING, 0)));
    assert_true(replaces(number(FT_MAIL_DUE, 7), number(FT_MAIL_DUE, 7)));
    assert_false(replaces(number(FT_MAIL_DUE, 8), number(FT_MAIL_DUE, 7)));
    assert_false(replaces(number(FT_MAIL_DUE, 7), number(FT_MAIL_ROLLBACK, 7)));
    off.u.marker = (struct ft_marker){.snapshot = 3ull << 32 | 4, .kind = 1};
    other.u.marker = (struct ft_marker){.snapshot = 3ull << 32 | 4};
    assert_true(ft_mail_replaces(&other, &off));
    other.u.marker.snapshot++;
    assert_false(ft_mail_replaces(&other, &off));
    assert_true(replaces(demand(FT_DEMAND_ASK, 2, 5), demand(FT_DEMAND_ASK, 1, 5)));
    assert_false(replaces(demand(FT_DEMAND_ASK, 1, 5), demand(FT_DEMAND_ASK, 2, 5)));
    assert_false(replaces(demand(FT_DEMAND_ASK, 2, 6), demand(FT_DEMAND_ASK, 2, 5)));
    assert_false(replaces(demand(FT_DEMAND_TAKEN, 2, 5), demand(FT_DEMAND_TAKEN, 1, 5)));
}

/* Each is needed: a marker is counted, and what a process has left is asked of each. */
static void others_are_never_replaced(void **state)
{
    (void)state;
    assert_false(replaces(number(FT_MAIL_MARKER, 4), number(FT_MAIL_MARKER, 4)));
    assert_false(replaces(number(FT_MAIL_ASKS_LEFT, 4), number(FT_MAIL_ASKS_LEFT, 4)));
    assert_false(replaces(number(FT_MAIL_LEFT, 4), number(FT_MAIL_LEFT, 4)));
}

/* ---- as records show them ---- */

static void shows(const struct ft_mail *m, const char *want)
{
    char text[400];
    ft_mail_text(m, 7, SLOTS, text, sizeof text);
    assert_string_equal(text, want);
}

static void mails_in_words(void **state)
{
    struct ft_mail m = demand(FT_DEMAND_TAKEN, 2, 5);
    (void)state;
    m.u.demand.ch = 1;
    m.u.demand.version = 0x1f;
    shows(&m, "MAIL 7 DEMAND 3 2 5 1 1f");
    m = number(FT_MAIL_MARKER, 0);
    m.u.marker = (struct ft_marker){.snapshot = 1ull << 32 | 4, .rank = 2, .kind = 1};
    shows(&m, "MAIL 7 MARKER 100000004 2 1");
    m = number(FT_MAIL_DUE, 12);
    shows(&m, "MAIL 7 DUE 12");
    m = number(FT_MAIL_ASKS_LEFT, 3);
    shows(&m, "MAIL 7 ASKS_LEFT 3");
    m = number(FT_MAIL_LEFT, 0);
    m.u.left.slot = 3;
    m.u.left.calls = 44;
    shows(&m, "MAIL 7 LEFT 3 44");
    m = number(FT_MAIL_PONG, 0);
    shows(&m, "MAIL 7 PONG");
    m = number(FT_MAIL_ROLLBACK, 0);
    shows(&m, "MAIL 7 ROLLBACK");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agree),
                                       cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_too_much),
                                       cmocka_unit_test(larger_sets_replace_smaller_ones),
                                       cmocka_unit_test(newer_generations_replace_older_orders),
                                       cmocka_unit_test(what_is_asked_again_is_asked_once),
                                       cmocka_unit_test(others_are_never_replaced),
                                       cmocka_unit_test(mails_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
