/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_sim.c - the simulator itself: time, delays, crashes, and that a run is what its seed and its
 * choices make it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_job.h"
#include "model_snapshot.h"
#include "sim_run.h"

static struct sim s;
static const struct sim_options two = {.seed = 5, .n = 2, .starters = 1, .timed = 1, .latency = 1};

static int both_have_an_image(const struct sim *x)
{
    return snap_machine(x, 0)->taken == 1 && snap_machine(x, 1)->taken == 1;
}

static void one_step(void **state)
{
    (void)state;
    sim_init(&s, &sim_model_snapshot, &two);
    uint64_t steps = 0, then = 0;
    while (sim_step(&s)) {
        assert_true(s.steps <= ++steps &&
                    s.now >= then); /* one thing at a time, in the order of time */
        then = s.now;
    }
    assert_true(steps > 2 && both_have_an_image(&s) && !s.wrong[0]);
    assert_false(sim_step(&s)); /* nothing is left */
}

static void step_until_and_delay(void **state)
{
    (void)state;
    sim_init(&s, &sim_model_snapshot, &two);
    assert_true(sim_step_until(&s, both_have_an_image));
    uint64_t then = s.now;
    sim_init(&s, &sim_model_snapshot, &two);
    sim_delay(&s, 0, 1, 700);
    assert_true(sim_step_until(&s, both_have_an_image));
    assert_int_equal(s.now, then + 700);
    assert_true(sim_random(&s, 1000));
}

static void crash(void **state)
{
    (void)state;
    sim_init(&s, &sim_model_snapshot, &two);
    sim_crash(&s, 1, 0);
    assert_false(sim_step_until(&s, both_have_an_image)); /* it comes to its end */
    assert_false(sim_random(&s, 1000)); /* the wave is not over, and a checker says so */
    assert_true(s.at_quiet);
}

static int has_a_checkpoint(const struct sim *x) { return job_world(x)->checkpoint.n > 0; }
static int has_recovered(const struct sim *x) { return job_world(x)->recovery.n > 0; }

/* A job that loses a rank when the test says so; either way of recovery. */
static void crash_of_a_rank(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 2; seed++) {
        struct sim_options o = {
            .seed = (uint64_t)seed, .n = 12, .crashes = 1, .timed = 1, .latency = 3};
        sim_init(&s, &sim_model_job, &o);
        assert_true(sim_step_until(&s, has_a_checkpoint));
        sim_crash(&s, 2, 0);
        assert_false(has_recovered(&s));
        assert_true(sim_step_until(&s, has_recovered));
        assert_true(sim_random(&s, 100000)); /* to the end of the job */
        assert_int_equal(s.crashes, 0);
    }
}

static void one_seed_one_run(void **state)
{
    (void)state;
    struct sim_options o = {.seed = 3, .n = 5, .crashes = 2};
    sim_init(&s, &sim_model_job, &o);
    assert_true(sim_random(&s, 100000));
    uint64_t steps = s.steps, sent = s.sent, end = sim_hash(s.world, s.world_bytes);
    sim_init(&s, &sim_model_job, &o);
    assert_true(sim_random(&s, 100000));
    assert_true(steps > 20 && steps == s.steps && sent == s.sent &&
                end == sim_hash(s.world, s.world_bytes));
}

/* The first seed from 1 on whose run is wrong: its history, shortened, is wrong in the same way
 * when it is read again. */
static void shorten(const char *model, const char *mutant, struct sim_options o)
{
    const struct sim_model *m = sim_model_by_name(model);
    char expected[300], found[300];
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_non_null(m);
    o.mutant = sim_parse_mutant(m, mutant);
    assert_true(o.mutant >= 0);
    for (o.seed = 1; o.seed < 5000; o.seed++) {
        sim_init(&s, m, &o);
        if (!sim_random(&s, 100000))
            break;
    }
    assert_true(s.wrong[0]);
    int was = s.nhistory;
    sim_shrink(&s);
    assert_true(s.nhistory < was && s.wrong[0]);
    sim_print_history(&s, f);
    snprintf(found, sizeof found, "%s", s.wrong);
    rewind(f);
    assert_true(sim_replay(&s, f, expected, sizeof expected));
    assert_string_equal(expected, found);
    assert_string_equal(s.wrong, found);
    fclose(f);
}

static void shortened_and_read_again(void **state)
{
    (void)state;
    shorten("snapshot", "none",
            (struct sim_options){.n = 4, .ops = 3, .starters = 2}); /* vanilla */
    shorten("snapshot", "early-count",
            (struct sim_options){.n = 3, .alg = 1, .ops = 1, .starters = 2, .property = 3});
    shorten("agree", "impatient", (struct sim_options){.n = 5, .crashes = 3});
    shorten("job", "forged", (struct sim_options){.n = 6, .crashes = 2});
    shorten("demand", "flips-first", (struct sim_options){.n = 3, .ops = 8, .crashes = 3});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step),
        cmocka_unit_test(step_until_and_delay),
        cmocka_unit_test(crash),
        cmocka_unit_test(crash_of_a_rank),
        cmocka_unit_test(one_seed_one_run),
        cmocka_unit_test(shortened_and_read_again),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sim_finish(&s);
    return failed;
}
