/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job_run.c - jobs without a death: their results in one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/mock_job.h"

static void alone(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct mock_job j = {.nranks = 1};
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    assert_int_equal(o.rank[0].by, 0);
}

static void protected(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct mock_job j = {.nranks = 3, .nchecksums = 1, .nspares = 1};
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    assert_int_equal(o.generation, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(o.slot[i].fate, MOCK_RAN);
    assert_true(o.events[FT_EV_CKPT_DONE] >= 2);
}

static void survives(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct mock_job j = {
        .nranks = 3, .nchecksums = 1, .nspares = 1, .death = {{1, 5, FT_FP_SAFEPOINT}}};
    mock_survives(&j, &o);
    assert_int_equal(o.generation, 1);
    assert_int_equal(o.rank[1].by, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alone), cmocka_unit_test(protected),
                                       cmocka_unit_test(survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
