/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_detect.c - who watches whom, and that nobody is condemned who only was stopped together with
 * its watcher.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "proto/detect.h"

static struct ft_detect_actions out;

static void step(struct ft_detect *m, enum ft_detect_event_kind kind, int slot)
{
    static struct ft_bitset set;
    memset(&set, 0, sizeof set);
    ft_bit_set(&set, slot);
    struct ft_detect_event ev = {.kind = kind, .slot = slot, .set = &set};
    ft_detect_step(m, &ev, &out);
    ft_detect_check(m);
}

static void expect(int i, enum ft_detect_action_kind kind, int slot)
{
    assert_true(i < out.n);
    assert_int_equal(out.a[i].kind, kind);
    if (kind == FT_DETECT_ACT_FAILED) {
        assert_int_equal(ft_bitset_count(out.a[i].set), 1);
        assert_true(ft_bit_get(out.a[i].set, slot));
    } else {
        assert_int_equal(out.a[i].slot, slot);
    }
}

static void next_of_its_node(void **state)
{
    (void)state;
    struct ft_detect m;
    struct ft_bitset local = {.w = {0x2d}}; /* 0 2 3 5 */
    ft_detect_init(&m, 3, 6, &local, 0, &out);
    assert_int_equal(out.n, 1); /* no pings without a limit */
    expect(0, FT_DETECT_ACT_WATCH, 5);

    step(&m, FT_DETECT_EV_FAILED, 4); /* of another node */
    assert_int_equal(out.n, 0);
    step(&m, FT_DETECT_EV_FAILED, 0); /* heard, not the one that is watched */
    assert_int_equal(out.n, 0);
    step(&m, FT_DETECT_EV_EXITED, 5);
    assert_int_equal(out.n, 2);
    expect(0, FT_DETECT_ACT_FAILED, 5);
    expect(1, FT_DETECT_ACT_WATCH, 2); /* round the ring, 0 skipped */
    step(&m, FT_DETECT_EV_EXITED, 5);
    assert_int_equal(out.n, 0);
    step(&m, FT_DETECT_EV_FAILED, 2); /* heard before it was seen */
    assert_int_equal(out.n, 0);
    assert_int_equal(m.watching, -1);
    step(&m, FT_DETECT_EV_EXITED, 2);
    step(&m, FT_DETECT_EV_TICK, 0);
    assert_int_equal(out.n, 0);
    char line[128];
    assert_true(ft_detect_dump(&m, line, sizeof line) > 0);
}

static void silence(void **state)
{
    (void)state;
    struct ft_detect m;
    struct ft_bitset local = {.w = {0x7}};
    ft_detect_init(&m, 0, 3, &local, 3, &out);
    assert_int_equal(out.n, 2);
    expect(1, FT_DETECT_ACT_PING, 1);

    for (int i = 0; i < 2; i++) {
        step(&m, FT_DETECT_EV_TICK, 0);
        expect(0, FT_DETECT_ACT_PING, 1);
    }
    step(&m, FT_DETECT_EV_ALIVE, 2); /* somebody else's life is no excuse */
    assert_int_equal(m.silent, 2);
    step(&m, FT_DETECT_EV_ALIVE, 1);
    for (int i = 0; i < 2; i++) {
        step(&m, FT_DETECT_EV_TICK, 0);
        expect(0, FT_DETECT_ACT_PING, 1);
    }
    step(&m, FT_DETECT_EV_TICK, 0);
    assert_int_equal(out.n, 1);
    expect(0, FT_DETECT_ACT_KILL, 1);
    for (int i = 0; i < 5;
         i++) { /* killed once, and not dead before its exit was seen, though it may still answer */
        step(&m, FT_DETECT_EV_TICK, 0);
        assert_int_equal(out.n, 0);
        step(&m, FT_DETECT_EV_ALIVE, 1);
        assert_int_equal(out.n, 0);
    }
    step(&m, FT_DETECT_EV_EXITED, 1);
    assert_int_equal(out.n, 3);
    expect(0, FT_DETECT_ACT_FAILED, 1);
    expect(1, FT_DETECT_ACT_WATCH, 2);
    expect(2, FT_DETECT_ACT_PING, 2);
    assert_int_equal(m.silent, 0);
}

/* Several at once: none of them is watched in between. */
static void a_set(void **state)
{
    (void)state;
    struct ft_detect m;
    struct ft_bitset local = {.w = {0x3f}}, some = {.w = {0x1c}}; /* 2 3 4 */
    struct ft_detect_event ev = {.kind = FT_DETECT_EV_EXITED, .set = &some};
    ft_detect_init(&m, 1, 6, &local, 0, &out);
    expect(0, FT_DETECT_ACT_WATCH, 2);
    ft_detect_step(&m, &ev, &out);
    ft_detect_check(&m);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.a[0].kind, FT_DETECT_ACT_FAILED);
    assert_true(ft_bitset_equal(out.a[0].set, &some));
    expect(1, FT_DETECT_ACT_WATCH, 5);
    ft_detect_step(&m, &ev, &out); /* heard again */
    assert_int_equal(out.n, 0);
    some.w[0] = 0x2c; /* one of them is news */
    ev.kind = FT_DETECT_EV_FAILED;
    ft_detect_step(&m, &ev, &out);
    assert_int_equal(out.n, 1);
    expect(0, FT_DETECT_ACT_WATCH, 0);
}

/* All stop for as long as they like: each then sees one late tick before it hears of the others. */
static void stopped_together(void **state)
{
    (void)state;
    struct ft_detect m;
    struct ft_bitset local = {.w = {0x3}};
    ft_detect_init(&m, 0, 2, &local, 2, &out);
    for (int i = 0; i < 100; i++) {
        step(&m, FT_DETECT_EV_TICK, 0);
        expect(0, FT_DETECT_ACT_PING, 1);
        step(&m, FT_DETECT_EV_ALIVE, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_of_its_node),
        cmocka_unit_test(silence),
        cmocka_unit_test(stopped_together),
        cmocka_unit_test(a_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
