/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_stall.c - names that others look up: what is listed, withdrawn, and half written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftt/stall.h"

static struct ft_stall *table;

static int setup(void **state)
{
    (void)state;
    table = aligned_alloc(FT_CACHE_LINE, FT_STALLS * sizeof *table);
    memset(table, 0, FT_STALLS * sizeof *table);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(table);
    return 0;
}

static void listed(void **state)
{
    (void)state;
    struct ft_stall_view v;
    uint32_t h = ft_name_hash("a name");
    assert_int_equal(ft_stall_look(table, h, "a name", &v), 0);
    assert_int_equal(ft_stall_list(table, h, "a name", 4096, 77, 1), 1);
    assert_int_equal(ft_stall_look(table, h, "a name", &v), 1);
    assert_int_equal(v.at, 4096);
    assert_int_equal(v.bytes, 77);
    assert_int_equal(ft_stall_holds(&v), 1);
    /* another name of the same hash, also one that goes on differently */
    assert_int_equal(ft_stall_look(table, h, "a nam", &v), 0);
    assert_int_equal(ft_stall_look(table, h, "a names", &v), 0);
}

/* What a reader has seen before counts no more, though the same name is there again. */
static void withdrawn(void **state)
{
    (void)state;
    struct ft_stall_view old, v;
    uint32_t h = ft_name_hash("x");
    assert_int_equal(ft_stall_list(table, h, "x", 64, 8, 1), 1);
    assert_int_equal(ft_stall_look(table, h, "x", &old), 1);
    ft_stall_withdraw(table, h, "another");
    assert_int_equal(ft_stall_holds(&old), 1);
    ft_stall_withdraw(table, h, "x");
    assert_int_equal(ft_stall_holds(&old), 0);
    assert_int_equal(ft_stall_look(table, h, "x", &v), 0);
    assert_int_equal(ft_stall_list(table, h, "x", 64, 8, 2), 1);
    assert_int_equal(ft_stall_look(table, h, "x", &v), 1);
    assert_int_equal(ft_stall_holds(&old), 0);
}

/* The owner dies before it stores the serial: nothing is listed. */
static void half_written(void **state)
{
    (void)state;
    struct ft_stall_view v;
    uint32_t h = ft_name_hash("half");
    assert_int_equal(ft_stall_list(table, h, "half", 64, 8, 9), 1);
    assert_int_equal(ft_stall_look(table, h, "half", &v), 1);
    atomic_store((_Atomic uint64_t *)(uintptr_t)&v.of->serial, 0);
    assert_int_equal(ft_stall_look(table, h, "half", &v), 0);
}

static void full_bucket(void **state)
{
    (void)state;
    struct ft_stall_view v;
    char name[32];
    for (int i = 0; i <= FT_STALL_BUCKET; i++) {
        snprintf(name, sizeof name, "same hash %d", i);
        assert_int_equal(ft_stall_list(table, 5, name, 64, (uint64_t)i, (uint64_t)i + 1),
                         i < FT_STALL_BUCKET);
        assert_int_equal(ft_stall_look(table, 5, name, &v), i < FT_STALL_BUCKET);
    }
    ft_stall_withdraw(table, 5, "same hash 2");
    assert_int_equal(ft_stall_list(table, 5, name, 64, 3, 9), 1);
    assert_int_equal(ft_stall_look(table, 5, name, &v) && v.bytes == 3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(listed, setup, teardown),
        cmocka_unit_test_setup_teardown(withdrawn, setup, teardown),
        cmocka_unit_test_setup_teardown(half_written, setup, teardown),
        cmocka_unit_test_setup_teardown(full_bucket, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
