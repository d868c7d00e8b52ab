/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_agree.c - one case of agreement, step by step. Every order of small jobs, random ones, large
 * ones and mutants: sim/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/agree.h"

/* The case of agree.h (1): generation 1 reaches one of two children, its bearer's vote brings it to
   the other, then 2 is decided. */
static void second_round(void **state)
{
    (void)state;
    struct ft_agree m;
    static struct ft_agree_actions out;
    const struct ft_bitset three = {{0x8}};
    struct ft_agree_msg vote = {.kind = FT_AGREE_VOTE,
                                .oldest = 1,
                                .failed = {{0x9}},
                                .last = {.generation = 1, .failed = {{0x8}}}};
    ft_agree_init(&m, 1, 4); /* 3 has died, then 0, after it told 2 alone what it had decided */
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .failed = &three}, &out);
    assert_int_equal(out.a[out.n - 1].kind, FT_AGREE_ACT_VOTE); /* a leaf: it waits for nobody */
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_LOCAL}, &out);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.a[0].msg.kind, FT_AGREE_VOTE);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = 2, .msg = &vote},
                  &out);
    assert_int_equal(m.failed.w[0], 0x9); /* what it contributes may be about 0, too */
    assert_int_equal(out.n, 2);           /* ANNOUNCE, VOTE */
    assert_int_equal(out.a[1].kind, FT_AGREE_ACT_VOTE);
    ft_agree_step(
        &m, &(struct ft_agree_event){.kind = FT_AGREE_EV_LOCAL, .local = {.committed = 7}}, &out);
    assert_int_equal(out.n, 2); /* DECIDE to 2, DECIDED */
    assert_int_equal(out.a[0].msg.kind, FT_AGREE_DECIDE);
    assert_int_equal(out.a[0].msg.last.generation, 1);
    assert_int_equal(out.a[1].kind, FT_AGREE_ACT_DECIDED);
    assert_int_equal(out.a[1].decision.failed.w[0], 0x8);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED}, &out);
    assert_int_equal(out.n, 0);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = 2, .msg = &vote},
                  &out);
    assert_int_equal(out.n, 1); /* VOTE */
    ft_agree_step(
        &m, &(struct ft_agree_event){.kind = FT_AGREE_EV_LOCAL, .local = {.committed = 8}}, &out);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.a[1].decision.data.committed, 8);
    assert_int_equal(out.a[1].decision.generation, 2);
    assert_int_equal(out.a[1].decision.failed.w[0], 0x9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_round)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
