/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_space.c - what fits under a limit on address space, and the message when a job does not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/space.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static void enough(void **unused)
{
    char why[400] = "";
    (void)unused;
    assert_int_equal(ft_space_suffices_in(1024 * GIB, 4, 64 * GIB, why, sizeof why), 1);
    assert_int_equal(ft_space_suffices_in(1 * GIB + 5 * 256 * MIB, 4, 256 * MIB, why, sizeof why),
                     1);
    assert_string_equal(why, "");
}

static void what_is_proposed_is_enough(void **unused)
{
    (void)unused;
    for (uint64_t limit = 2 * GIB; limit < 600 * GIB; limit += 7 * GIB + 13 * MIB)
        for (int n = 1; n < 10; n++) {
            char why[400] = "";
            if (ft_space_suffices_in(limit, n, 64 * GIB, why, sizeof why))
                continue;
            assert_non_null(strstr(why, "ulimit -v"));
            const char *set = strstr(why, "FTRMA_ARENA_SIZE=");
            assert_non_null(set);
            uint64_t mib = 0;
            for (const char *p = set + strlen("FTRMA_ARENA_SIZE="); *p >= '0' && *p <= '9'; p++)
                mib = 10 * mib + (uint64_t)(*p - '0');
            assert_int_equal(ft_space_suffices_in(limit, n, mib * MIB, why, sizeof why), 1);
        }
}

static void nothing_helps_but_the_limit(void **unused)
{
    char why[400] = "";
    (void)unused;
    assert_int_equal(ft_space_suffices_in(512 * MIB, 4, 64 * GIB, why, sizeof why), 0);
    assert_non_null(strstr(why, "ulimit -v"));
    assert_null(strstr(why, "FTRMA_ARENA_SIZE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(enough),
                                       cmocka_unit_test(what_is_proposed_is_enough),
                                       cmocka_unit_test(nothing_helps_but_the_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
