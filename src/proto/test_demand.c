/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_demand.c - what a checksum process makes of an image that is handed in at the wrong time;
 * sim has all interleavings that a new generation brings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/demand.h"

enum { RANK = 2, RANKS = 4, GENERATION = 3, IMAGE = 77 };

static struct ft_demand_msg said(enum ft_demand_kind kind, uint64_t version)
{
    return (struct ft_demand_msg){
        .kind = kind, .generation = GENERATION, .rank = RANK, .version = version};
}

static struct ft_demand_action hear(struct ft_demand_ch *m, enum ft_demand_kind kind,
                                    uint64_t version)
{
    struct ft_demand_msg msg = said(kind, version);
    return ft_demand_ch_msg(m, &msg);
}

static struct ft_demand_ch fresh(void)
{
    struct ft_demand_ch m = {0};
    ft_demand_ch_reset(&m, GENERATION);
    return m;
}

/* It has told RANK to take an image. */
static struct ft_demand_ch asked(void)
{
    struct ft_demand_ch m = fresh();
    hear(&m, FT_DEMAND_ASK, 0);
    struct ft_demand_action a = ft_demand_ch_ready(&m, RANKS, 1);
    assert_int_equal(a.act, FT_DEMAND_SEND);
    assert_int_equal(a.msg.kind, FT_DEMAND_TAKE);
    assert_int_equal(a.msg.rank, RANK);
    return m;
}

/* [all went back meanwhile] */
static void nobody_wants_it(void **state)
{
    struct ft_demand_ch m = asked();
    struct ft_demand_owner q = {.state = FT_OWNER_NONE, .generation = GENERATION};
    struct ft_demand_msg take = said(FT_DEMAND_TAKE, 0), answer;
    (void)state;
    ft_demand_ch_reset(&m, GENERATION);
    assert_false(ft_demand_owner_msg(&q, &take, &answer)); /* it was on its way */
    struct ft_demand_msg taken = ft_demand_owner_taken(&q, RANK, IMAGE, 0);
    assert_int_equal(taken.kind, FT_DEMAND_TAKEN);
    assert_int_equal(q.state, FT_OWNER_TAKEN);
    struct ft_demand_action a = ft_demand_ch_msg(&m, &taken);
    assert_int_equal(a.act, FT_DEMAND_SEND);
    assert_int_equal(a.msg.kind, FT_DEMAND_COMMITTED);
    assert_int_equal(a.msg.version, 0);
    assert_int_equal(m.state, FT_CH_IDLE);
    assert_false(ft_demand_owner_msg(&q, &a.msg, &answer));
    assert_int_equal(q.state, FT_OWNER_NONE);
    assert_int_equal(q.latest, 0);
}

/* While it is folded, and when it is tagged: what is under way goes on to its end. */
static void said_twice(void **state)
{
    struct ft_demand_ch m = asked();
    (void)state;
    assert_int_equal(hear(&m, FT_DEMAND_TAKEN, IMAGE).act, FT_DEMAND_FOLD);
    struct ft_demand_action a = hear(&m, FT_DEMAND_TAKEN, IMAGE);
    assert_int_equal(a.act, FT_DEMAND_NOTHING);
    assert_int_equal(a.msg.kind, 0);
    a = ft_demand_ch_folded(&m, 1);
    assert_int_equal(a.act, FT_DEMAND_TAG);
    assert_int_equal(a.msg.version, IMAGE);
    assert_int_equal(hear(&m, FT_DEMAND_TAKEN, IMAGE).act, FT_DEMAND_NOTHING);
    assert_int_equal(m.state, FT_CH_TAGGED);
    hear(&m, FT_DEMAND_ACK, IMAGE);
    assert_int_equal(m.state, FT_CH_IDLE);
}

/* Another image than the one that is folded is not wanted. */
static void another_one(void **state)
{
    struct ft_demand_ch m = asked();
    (void)state;
    hear(&m, FT_DEMAND_TAKEN, IMAGE);
    struct ft_demand_action a = hear(&m, FT_DEMAND_TAKEN, IMAGE + 1);
    assert_int_equal(a.act, FT_DEMAND_SEND);
    assert_int_equal(a.msg.kind, FT_DEMAND_COMMITTED);
    assert_int_equal(a.msg.version, 0);
    assert_int_equal(m.state, FT_CH_FOLDING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_wants_it),
        cmocka_unit_test(said_twice),
        cmocka_unit_test(another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
