/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job_ends.c - losses at body's begin and end, where what counts as body differs between the
 * lost process and the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>

#include "runtime/ckpt.h"
#include "runtime/mock_job.h"

static const struct mock_job plain = {.nranks = 3, .nchecksums = 1, .nspares = 2};

/* --- body's last safepoint has a checkpoint --- */

enum { ROUNDS = 3, LAST = ROUNDS + 1, COUNTER = 40 };

/* The checkpoint of the last safepoint is committed here. */
static void await_last(void)
{
    const struct ft_image *im = NULL;
    while (!im || im->counters.safepoint != LAST) {
        sched_yield();
        im = ft_ckpt_own(ft_own_rt, atomic_load(&ft_own_rt->box.committed));
    }
}

/* Entered again at its last safepoint, this body returns at once. */
static void ends_with_a_safepoint(void *arg)
{
    struct mock_rank *me = arg;
    while (me->s->round < ROUNDS) {
        mock_safepoint();
        mock_add(me, 0, 0, me->s->round + 1);
        mock_fence(me);
        if (++me->s->round == ROUNDS) {
            mock_safepoint();
            await_last();
        }
    }
}

/* Rank 0 adds to a counter of rank 1, and may be lost before anybody has heard of that. */
static void counts(struct mock_rank *me)
{
    if (me->rank != 0)
        return;
    mock_add(me, 1, COUNTER, 5);
    ft_failpoint(RUN_LEAVE); /* FTRMA_Run passes it as well, when it returns */
}

static void ends_so(struct mock_rank *me)
{
    mock_begin(me);
    mock_run_body(me, ends_with_a_safepoint, me, 0);
    counts(me);
    mock_end(me);
}

static void what_follows_is_counted_after_a_rollback(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.program = ends_so;
    j.nchecksums = 2;
    j.nspares = 3;
    j.setting[0] = "FTRMA_PARITY=2";
    j.death[0] = (struct mock_death){1, 1, FT_FP_RUN_BODY_OVER, 0};
    j.death[1] = (struct mock_death){2, 1, FT_FP_RUN_BODY_OVER, 0};
    j.death[2] = (struct mock_death){0, 2, FT_FP_RUN_LEAVE, 0};
    mock_survives(&j, &o); /* the two may be lost one after the other, without a rollback */
}

static void one_rank_alone_ends_again(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.program = ends_so;
    j.death[0] = (struct mock_death){2, 1, FT_FP_RUN_BODY_OVER, 0};
    mock_survives(&j, &o);
    assert_int_equal(o.rollbacks, 0);
    assert_int_equal(o.events[FT_EV_DIVERGED], 0);
    j.death[1] = (struct mock_death){0, 2, FT_FP_RUN_LEAVE, 0};
    mock_survives(&j, &o);
    assert_int_equal(o.rollbacks, 0);
}

/* --- only the root has heard of a commit, and is lost --- */

/* Its children open a ballot before they look at that order, and drop it. */
static int is_commit_of_root(int from, const struct ft_mail *m, uint32_t which)
{
    return from == 0 && m->kind == FT_MAIL_ORDER && m->u.order.kind == FT_OM_ORDER &&
           m->u.order.order == FT_ORDER_COMMIT && (m->u.order.flags & which);
}
static int entry_is_dropped(int from, const struct ft_mail *m)
{
    return is_commit_of_root(from, m, FT_ORDER_ENTRY);
}
static int exit_is_dropped(int from, const struct ft_mail *m)
{
    return is_commit_of_root(from, m, FT_ORDER_EXIT);
}

/* Rank 0 adds to the counter before anybody else has to be in body. */
static void begins_with_a_count(void *arg)
{
    struct mock_rank *me = arg;
    while (me->s->round < ROUNDS) {
        mock_safepoint();
        counts(me);
        mock_fence(me);
        me->s->sum += me->part[COUNTER];
        mock_fence(me);
        me->s->round++;
    }
}

static void begins_so(struct mock_rank *me)
{
    mock_begin(me);
    mock_run_body(me, begins_with_a_count, me, 0);
    mock_end(me);
}

static void body_was_entered_by_one(void **state)
{
    (void)state;
    struct mock_outcome calm, o;
    struct mock_job j = plain;
    j.program = begins_so;
    j.death[0] = (struct mock_death){0, 1, FT_FP_RUN_LEAVE, 0};
    mock_run_calm(&j, &calm);
    j.drops = entry_is_dropped; /* without a death all would wait for ever */
    mock_run(&j, &o);
    mock_compare(&j, &calm, &o);
    assert_int_equal(o.rollbacks, 0);
    assert_int_equal(o.events[FT_EV_DIVERGED], 0);
}

static void run_was_left_by_one(void **state)
{
    (void)state;
    struct mock_outcome calm, o;
    struct mock_job j = plain;
    j.after = counts;
    j.death[0] = (struct mock_death){0, 2, FT_FP_RUN_LEAVE, 0};
    mock_run_calm(&j, &calm);
    j.drops = exit_is_dropped;
    mock_run(&j, &o);
    mock_compare(&j, &calm, &o);
    assert_int_equal(o.rollbacks, 0);
    assert_int_equal(o.events[FT_EV_DIVERGED], 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_is_counted_after_a_rollback),
        cmocka_unit_test(one_rank_alone_ends_again),
        cmocka_unit_test(body_was_entered_by_one),
        cmocka_unit_test(run_was_left_by_one),
    };
    if (argc > 1) /* one of them */
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
