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
    assert_int_equal(o.events[FT_EV_DONE], 1);
    assert_int_equal(o.late_ends, 0);
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

/* A rank dies in setup while the spare is still in MPI_Init: its agent, which others may wait for
 * already, gives it the rank before its main has come to where it takes commands. */
static void a_spare_that_is_late_replaces(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct mock_job j = {
        .nranks = 3, .nchecksums = 1, .nspares = 1, .slow = 4, .death = {{1, 1, FT_FP_COLL_ENTER}}};
    mock_survives(&j, &o);
    assert_int_equal(o.generation, 1);
    assert_int_equal(o.rank[1].by, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alone), cmocka_unit_test(protected),
                                       cmocka_unit_test(survives),
                                       cmocka_unit_test(a_spare_that_is_late_replaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
