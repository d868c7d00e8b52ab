/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_compare.c - what counts as another result, and what does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "launch/compare.h"

static struct ft_text text(const char *s) { return (struct ft_text){s, strlen(s)}; }

static struct ft_compared lines(const char *one, const char *two, const char *run)
{
    struct ft_text ref[] = {text(one), text(two)};
    struct ft_compared v;
    ft_compare_text(ref, 2, text(run), &v);
    return v;
}

#define DIFFERS(one, two, run, said)                  \
    do {                                              \
        struct ft_compared v_ = lines(one, two, run); \
        assert_true(v_.differs);                      \
        assert_string_equal(v_.what, said);           \
    } while (0)
#define SAME(one, two, run, omitted, like_times)      \
    do {                                              \
        struct ft_compared v_ = lines(one, two, run); \
        assert_false(v_.differs);                     \
        assert_int_equal(v_.left_out, omitted);       \
        assert_int_equal(v_.times, like_times);       \
    } while (0)

static void equal_lines(void **state)
{
    (void)state;
    SAME("", "", "", 0, 0);
    SAME("a\nb\n", "a\nb\n", "a\nb\n", 0, 0);
    DIFFERS("a\nsum 1\n", "a\nsum 1\n", "a\nsum 2\n", "line 2 is \"sum 2\" instead of \"sum 1\"");
    DIFFERS("a\nb\n", "a\nb\n", "a\n", "1 lines instead of 2; the first missing is \"b\"");
    DIFFERS("a\n", "a\n", "a\nb", "2 lines instead of 1; the first too many is \"b\"");
    DIFFERS("", "", "x\n", "1 lines instead of 0; the first too many is \"x\"");
    DIFFERS("a b\n", "a b\n", "a\n", "line 1 is \"a\" instead of \"a b\"");
}

static void words_that_differ_anyway(void **state)
{
    (void)state;
    SAME("pid 17 sum 3\n", "pid 23 sum 3\n", "pid 99 sum 3\n", 1, 0);
    DIFFERS("pid 17 sum 3\n", "pid 23 sum 3\n", "pid 99 sum 4\n",
            "line 1 is \"pid 99 sum 4\" instead of \"pid 17 sum 3\"");
    SAME("a b\n", "a\n", "a b c\n", 1, 0); /* nothing is known of it */
    SAME("x 1\ny\n", "x 2\ny\n", "x 3\ny\n", 1, 0);
}

static void another_order(void **state)
{
    (void)state;
    SAME("a\nb\nc\n", "b\na\nc\n", "c\na\nb\n", 0, 0);
    DIFFERS("a\nb\nc\n", "b\na\nc\n", "a\nb\nd\n", "the line \"c\" is missing");
    DIFFERS("a\nb\n", "b\na\n", "b\na\nx\n", "3 lines instead of 2");
    DIFFERS("a\na\nb\n", "a\nb\na\n", "a\nb\nb\n", "the line \"a\" is missing"); /* as often */
    SAME("a\nwaited\n", "a\n", "a\nwaited\nwaited\n", 1, 0);
    DIFFERS("a\nwaited\n", "a\n", "b\n", "the line \"a\" is missing");
}

static void times_are_passed_over(void **state)
{
    (void)state;
    SAME("took 0.1 s\n", "took 0.1 s\n", "took 0.7 s\n", 0, 1);
    SAME("Time in seconds =     0.02\n", "Time in seconds =     0.02\n",
         "Time in seconds =     0.12\n", 0, 1);
    SAME("rate 12.5 MB/s\n", "rate 12.5 MB/s\n", "rate 3.1 MB/s\n", 0, 1);
    SAME("it 3 0.2s\n", "it 3 0.2s\n", "it 3 10.25s\n", 0, 1);
    SAME("done (12ms)\n", "done (12ms)\n", "done (120ms)\n", 0, 1);
    SAME("t time=3.4 ok\n", "t time=3.4 ok\n", "t time=3.5 ok\n", 0, 1);
    SAME("at 10:22:31\n", "at 10:22:31\n", "at 10:22:32\n", 0, 1);
    struct ft_compared v = lines("took 0.1 s\n", "took 0.1 s\n", "took 0.7 s\n");
    assert_string_equal(v.what, "line 1 is \"took 0.7 s\" instead of \"took 0.1 s\"");
    /* a number that stands elsewhere is no time */
    DIFFERS("time step 3 sum 5.0\n", "time step 3 sum 5.0\n", "time step 3 sum 5.1\n",
            "line 1 is \"time step 3 sum 5.1\" instead of \"time step 3 sum 5.0\"");
    assert_true(lines("time step 3\n", "time step 3\n", "time step 4\n").differs);
    assert_true(lines("s 3\n", "s 3\n", "s 4\n").differs);
    assert_true(lines("took 1 s sum 2\n", "took 1 s sum 2\n", "took 2 s sum 3\n").differs);
    assert_true(lines("took 1 s\n", "took 1 s\n", "took no s\n").differs);
}

static void a_third_run_knows_more(void **state)
{
    (void)state;
    struct ft_text ref[] = {text("n 1\n"), text("n 1\n"), text("n 2\n")};
    struct ft_compared v;
    ft_compare_text(ref, 2, text("n 3\n"), &v);
    assert_true(v.differs);
    ft_compare_text(ref, 3, text("n 3\n"), &v);
    assert_false(v.differs);
    assert_int_equal(v.left_out, 1);
}

/* A memory file with one region, whose bytes are all `fill` but for some. */
static struct ft_text region(char *out, uint64_t bytes, char fill, uint64_t at, uint64_t other)
{
    static char memory[200000];
    uint64_t block = ft_kept_block(bytes), n = 0;
    struct ft_kept_head head = {.magic = FT_KEPT_MAGIC, .window = 1, .bytes = bytes};
    memset(memory, fill, bytes);
    memset(memory + at, fill + 1, other);
    memcpy(out, &head, sizeof head);
    for (uint64_t b = 0; b < bytes; b += block, n++) {
        uint64_t w = ft_kept_word(memory + b, ft_min_u64(block, bytes - b));
        memcpy(out + sizeof head + 8 * n, &w, 8);
    }
    assert_int_equal(n, ft_kept_blocks(bytes));
    return (struct ft_text){out, sizeof head + 8 * n};
}

/* One rank, or the second of two whose first has these references. */
static int compare(const struct ft_text *ref, const struct ft_text *others, struct ft_text run,
                   int i, struct ft_compared *out)
{
    struct ft_varying v = {0};
    ft_region_varying(ref, 2, i, &v);
    if (others)
        ft_region_varying(others, 2, i, &v);
    int there = ft_compare_region(ref, 2, run, i, &v, out);
    free(v.at);
    return there;
}

static void memory_differs(void **state)
{
    (void)state;
    static char a[20000], b[20000], c[20000];
    struct ft_compared v;
    struct ft_text ref[] = {region(a, 1003, 'x', 0, 0), region(b, 1003, 'x', 0, 0)};
    assert_int_equal(compare(ref, NULL, region(c, 1003, 'x', 0, 0), 0, &v), 1);
    assert_false(v.differs);
    assert_int_equal(compare(ref, NULL, ref[0], 1, &v), 0);
    compare(ref, NULL, region(c, 1003, 'x', 1001, 1), 0, &v);
    assert_true(v.differs);
    assert_string_equal(
        v.what, "window 1 (1003 bytes) differs from byte 1000 on, in 1 of 126 blocks of 8 bytes");
    compare(ref, NULL, region(c, 1000, 'x', 0, 0), 0, &v);
    assert_string_equal(v.what, "window 1 (1003 bytes) is missing, or has another size");
    compare(ref, NULL, (struct ft_text){NULL, 0}, 0, &v);
    assert_true(v.differs);
    ref[0] = region(a, 200000, 'x', 0, 0);
    ref[1] = region(b, 200000, 'x', 0, 0);
    compare(ref, NULL, region(c, 200000, 'x', 5000, 8000), 0, &v);
    assert_string_equal(
        v.what, "window 1 (200 KB) differs from byte 4096 on, in 3 of 49 blocks of 4096 bytes");
}

static void memory_that_differs_anyway(void **state)
{
    (void)state;
    static char a[20000], b[20000], c[20000];
    struct ft_compared v;
    struct ft_text ref[] = {region(a, 1000, 'x', 0, 0), region(b, 1000, 'x', 80, 8)};
    compare(ref, NULL, region(c, 1000, 'x', 84, 1), 0, &v);
    assert_false(v.differs);
    assert_int_equal(v.left_out, 1);
    compare(ref, NULL, region(c, 1000, 'x', 84, 5), 0, &v);
    assert_true(v.differs);
    static char d[20000], e[20000]; /* another rank's */
    struct ft_text others[] = {region(d, 1000, 'x', 0, 0), region(e, 1000, 'x', 88, 8)};
    compare(ref, others, region(c, 1000, 'x', 84, 5), 0, &v);
    assert_false(v.differs);
    ref[1] = region(b, 1000, 'x', 80, 80); /* much of it: what another run holds says nothing */
    compare(ref, NULL, region(c, 1000, 'x', 0, 400), 0, &v);
    assert_false(v.differs);
    assert_int_equal(v.left_out, 125);
    ref[1] = region(b, 992, 'x', 0, 0);
    compare(ref, NULL, region(c, 1000, 'x', 0, 400), 0, &v);
    assert_false(v.differs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lines),
        cmocka_unit_test(words_that_differ_anyway),
        cmocka_unit_test(another_order),
        cmocka_unit_test(times_are_passed_over),
        cmocka_unit_test(a_third_run_knows_more),
        cmocka_unit_test(memory_differs),
        cmocka_unit_test(memory_that_differs_anyway),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
