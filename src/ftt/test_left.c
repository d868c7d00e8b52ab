/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_left.c - main leaves a fetch for a recovery, before the answer and after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ftt/progress.h"

static struct ft_endpoint e;
static char buffer[8];

static struct ft_wanting *wait_for(int done)
{
    struct ft_wanting *f = ft_small_get(&e);
    *f = (struct ft_wanting){.to = buffer, .bytes = sizeof buffer, .waits = 1, .done = done};
    return f;
}

/* Nothing may come into the buffer any more, and the answer will free what it was for. */
static void before_the_answer(void **state)
{
    (void)state;
    struct ft_wanting *f = wait_for(0);
    ft_wanting_left(&e, f);
    assert_null(f->to);
    assert_ptr_not_equal(ft_small_get(&e), f);
}

/* Nobody else frees it. What was freed last is taken first. */
static void after_the_answer(void **state)
{
    (void)state;
    struct ft_wanting *f = wait_for(1);
    ft_wanting_left(&e, f);
    assert_ptr_equal(ft_small_get(&e), f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_answer),
        cmocka_unit_test(after_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
