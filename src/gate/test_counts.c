/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_counts.c - each item of a frame is counted once, by what it is about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mail_kind.h"
#include "gate/counts.h"
#include "gate/item.h"

static _Alignas(8) char frame[4096];
static uint32_t used;

static void put(enum ft_item_kind kind, const void *data, uint32_t bytes)
{
    struct ft_item item = {.kind = (uint16_t)kind, .bytes = bytes};
    memcpy(frame + used, &item, sizeof item);
    if (bytes)
        memcpy(frame + used + sizeof item, data, bytes);
    used += (uint32_t)ft_item_size(bytes);
}

static void mail(enum ft_mail_kind kind)
{
    uint32_t words[3] = {(uint32_t)kind, 0, 7};
    put(FT_ITEM_MAIL, words, sizeof words);
}

static uint64_t items(const struct ft_link_counts *c, enum ft_link_kind k)
{
    return atomic_load(&c->of[k].items);
}

static void each_item_by_what_it_is_about(void **state)
{
    static const enum ft_item_kind of_messages[] = {
        FT_ITEM_CHUNK,   FT_ITEM_RECORDS, FT_ITEM_WANTS, FT_ITEM_ASKS, FT_ITEM_RELEASED,
        FT_ITEM_MATCHED, FT_ITEM_PLACED,  FT_ITEM_STUCK, FT_ITEM_SEEN};
    struct ft_link_counts c;
    uint64_t sum = 0;
    (void)state;
    memset((void *)&c, 0, sizeof c);
    used = 0;
    for (size_t i = 0; i < FT_COUNTOF(of_messages); i++)
        put(of_messages[i], "abc", 3);
    put(FT_ITEM_ACCESS, NULL, 0);
    put(FT_ITEM_ANSWER, NULL, 0);
    put(FT_ITEM_FOLD, NULL, 0);
    put(FT_ITEM_PIECE, frame, 100);
    for (int kind = FT_MAIL_AGREE; kind <= FT_MAIL_LEFT; kind++)
        mail((enum ft_mail_kind)kind);
    put(FT_ITEM_MAIL, "x", 1); /* too short for a word */
    put(FT_ITEM_CLOSED, NULL, 0);
    put(FT_ITEM_ARRIVED, NULL, 0);
    put(FT_ITEM_WORDS, NULL, 0);
    ft_counts_frame(&c, frame, used);
    assert_int_equal(items(&c, FT_LINK_MESSAGES), FT_COUNTOF(of_messages));
    assert_int_equal(items(&c, FT_LINK_ACCESSES), 2);
    assert_int_equal(items(&c, FT_LINK_IMAGES), 2);
    assert_int_equal(items(&c, FT_LINK_VOTES), 1);
    assert_int_equal(items(&c, FT_LINK_ORDERS), 1);
    assert_int_equal(items(&c, FT_LINK_MAILS), FT_MAIL_LEFT - 2 + 1);
    assert_int_equal(items(&c, FT_LINK_WORDS), 3);
    assert_int_equal(atomic_load(&c.of[FT_LINK_IMAGES].bytes), ft_item_size(0) + ft_item_size(100));
    for (int k = 0; k < FT_LINK_KINDS; k++)
        sum += atomic_load(&c.of[k].bytes);
    assert_int_equal(sum, used);
    ft_counts_frame(&c, frame, used);
    assert_int_equal(items(&c, FT_LINK_WORDS), 6);
    assert_int_equal(atomic_load(&c.frames), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_item_by_what_it_is_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
