/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_tree.c - every failed set of up to nine slots, and some large ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "proto/tree.h"

/* Everybody's view fits everybody else's: each child's parent is oneself, one root, all are
 * reached, depth is logarithmic. */
static void check_trees(int n, const struct ft_bitset *failed)
{
    static struct ft_tree t[FT_MAX_SLOTS];
    int lowest = -1, living = 0, with_parent = 0;
    for (int s = 0; s < n; s++) {
        if (ft_bit_get(failed, s))
            continue;
        ft_tree_make(&t[s], n, failed, s);
        lowest = lowest < 0 ? s : lowest;
        living++;
    }
    for (int s = 0; s < n; s++) {
        if (ft_bit_get(failed, s))
            continue;
        assert_int_equal(t[s].root, lowest);
        assert_int_equal(t[s].size, living);
        for (int i = 0; i < t[s].nchildren; i++) {
            assert_false(ft_bit_get(failed, t[s].child[i]));
            assert_int_equal(t[t[s].child[i]].parent, s);
            with_parent++;
        }
        for (int i = t[s].nchildren; i < 2; i++)
            assert_int_equal(t[s].child[i], -1);
        int depth = 0;
        for (int a = s; t[a].parent >= 0; a = t[a].parent)
            depth++;
        assert_true((1 << depth) <= living);
    }
    assert_int_equal(with_parent, living - 1);
}

static void small_sets(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++)
        for (uint64_t f = 0; f + 1 < 1ull << n; f++) {
            struct ft_bitset failed = {.w = {f}};
            check_trees(n, &failed);
        }
}

static void large_sets(void **state)
{
    (void)state;
    struct ft_bitset failed = {.w = {0}};
    check_trees(600, &failed);
    for (int s = 0; s < 600; s += 3)
        ft_bit_set(&failed, s);
    check_trees(600, &failed);
    memset(&failed, 0xff, sizeof failed);
    ft_bit_clear(&failed, FT_MAX_SLOTS - 1);
    struct ft_tree t;
    ft_tree_make(&t, FT_MAX_SLOTS, &failed, FT_MAX_SLOTS - 1);
    assert_int_equal(t.root, FT_MAX_SLOTS - 1);
    assert_int_equal(t.parent, -1);
    assert_int_equal(t.nchildren, 0);
}

static void shape_of_seven(void **state)
{
    (void)state;
    struct ft_bitset failed = {.w = {1ull << 1}};
    struct ft_tree t;
    ft_tree_make(&t, 7, &failed, 2); /* living: 0 2 3 4 5 6 */
    assert_int_equal(t.parent, 0);
    assert_int_equal(t.nchildren, 2);
    assert_int_equal(t.child[0], 4);
    assert_int_equal(t.child[1], 5);
}

static void ring(void **state)
{
    (void)state;
    struct ft_bitset failed = {.w = {0}};
    assert_int_equal(ft_ring_next(1, &failed, 0), -1);
    assert_int_equal(ft_ring_next(3, &failed, 2), 0);
    failed.w[0] = 0x9; /* 0 and 3 */
    assert_int_equal(ft_ring_next(5, &failed, 4), 1);
    assert_int_equal(ft_ring_next(5, &failed, 2), 4);
    failed.w[0] = 0x1d;
    assert_int_equal(ft_ring_next(5, &failed, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sets),
        cmocka_unit_test(large_sets),
        cmocka_unit_test(shape_of_seven),
        cmocka_unit_test(ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
