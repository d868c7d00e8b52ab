/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mismatch.c - the words of a divergence, and hashes that can be inverted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "alog/mismatch.h"
#include "base/prng.h"

static void numbers(void **state)
{
    (void)state;
    struct ft_mismatch b = {0};
    ft_mismatch_number(&b, "tag", 5, 5);
    ft_mismatch_hash(&b, "hash", 7, 7);
    ft_mismatch_data(&b, "data", "ab", 2, "ab", 2);
    assert_string_equal(b.text, "");
    ft_mismatch_number(&b, "tag", 5, -6);
    ft_mismatch_hash(&b, "hash", 1, 0x10);
    assert_string_equal(b.text,
                        "; tag: now 5, in the lost process -6"
                        "; hash: now 0x0000000000000001, in the lost process 0x0000000000000010");
}

static void data(void **state)
{
    (void)state;
    struct ft_mismatch b = {0};
    uint32_t is = 0x2a, was = 0x17;
    ft_mismatch_data(&b, "operand", &is, sizeof is, &was, sizeof was);
    assert_string_equal(b.text, "; operand: now 0x0000002a, in the lost process 0x00000017");
    b = (struct ft_mismatch){0};
    ft_mismatch_data(&b, "left behind", &is, sizeof is, NULL, 0);
    assert_string_equal(b.text, "; left behind: now 0x0000002a, in the lost process nothing");
    b = (struct ft_mismatch){0};
    char one[20], two[20];
    memset(one, 1, sizeof one);
    memset(two, 1, sizeof two);
    two[17] = 9;
    ft_mismatch_data(&b, "data", one, 20, two, 20);
    assert_string_equal(b.text,
                        "; data from byte 17 on: now 0x010101, in the lost process 0x010109");
    b = (struct ft_mismatch){0};
    ft_mismatch_data(&b, "data", one, 3, two, 1);
    assert_string_equal(b.text, "; bytes of data: now 3, in the lost process 1");
}

static void full(void **state)
{
    (void)state;
    struct ft_mismatch b = {0};
    char before[sizeof b.text];
    for (int i = 0; i < 100; i++) {
        memcpy(before, b.text, sizeof before);
        ft_mismatch_number(&b, "something", i, -1);
        assert_true(b.n < sizeof b.text && b.n == strlen(b.text));
        assert_memory_equal(before, b.text, strlen(before)); /* an entry is complete or not there */
    }
    assert_int_equal(b.text[b.n - 1], '1');
}

static void acts(void **state)
{
    (void)state;
    static union {
        struct ft_act a;
        char room[sizeof(struct ft_act) + 64];
    } u;
    struct ft_act *a = &u.a;
    uint64_t words[3] = {0x11, 3, 0x17};
    char out[200];
    *a = (struct ft_act){.kind = FT_ACT_ATOMIC,
                         .win = 3,
                         .where = 1,
                         .off = 8,
                         .bytes = sizeof words,
                         .flags = FT_ACT_RESULT | FT_ACT_LEFT};
    memcpy(a->data, words, sizeof words);
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out, "an atomic (window 3, target 1, displacement 8) that found "
                             "0x0000000000000011 and left 0x0000000000000017");
    a->flags = FT_ACT_LEFT, a->bytes = 16;
    ft_act_format(out, sizeof out, a);
    assert_string_equal(
        out, "an atomic (window 3, target 1, displacement 8) that left 0x0000000000000003");
    a->flags = FT_ACT_RESULT, a->bytes = 8;
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out, "an atomic (window 3, target 1, displacement 8) that found "
                             "0x0000000000000011 and changed nothing");
    *a = (struct ft_act){.kind = FT_ACT_GET, .win = 3, .where = 1, .off = 8, .bytes = 2};
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out,
                        "a get of 2 bytes (window 3, target 1, displacement 8) that gave 0x0011");
    *a = (struct ft_act){.kind = FT_ACT_CLOSE, .win = 3, .where = -1};
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out, "the end of an epoch (window 3, all targets)");
    int said[5] = {4, 2, 7, 1, 0};
    *a = (struct ft_act){.kind = FT_ACT_OUTCOME, .bytes = 8};
    memcpy(a->data, said, sizeof said);
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out, "the result of a test, wait, probe or cancel: 4, 2");
    a->bytes = 20;
    ft_act_format(out, sizeof out, a);
    assert_string_equal(out, "the result of a test, wait, probe or cancel: 4, 2, 7, 1, ...");
}

static void taken_back(void **state)
{
    (void)state;
    const char *given = getenv("FTRMA_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    struct ft_prng r = {seed};
    print_message("FTRMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    for (int i = 0; i < 1000; i++) {
        uint64_t h = ft_prng_next(&r), w = ft_prng_next(&r), was = 0;
        assert_true(ft_unhash_word(ft_hash_word(h, w)) == (h ^ w));
        size_t n = 1 + ft_prng_below(&r, 8);
        ft_unhash_bytes(ft_hash_bytes(0, &w, n), &was, n);
        assert_memory_equal(&was, &w, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(data),
                                       cmocka_unit_test(full), cmocka_unit_test(acts),
                                       cmocka_unit_test(taken_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
