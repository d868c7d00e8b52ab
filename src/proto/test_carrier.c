/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The carrier, one row of its table after the other: what main says and what an order asks for go
 * in, actions come out. What needs other processes is the simulator's (model job).
 */
#include "proto/test_carrier.h"

#define MS 1000000ull

static void order_at(uint64_t now, enum ft_order_kind kind, uint64_t arg, uint32_t flags)
{
    static uint32_t seq;
    struct ft_order_action a = {.seq = ++seq, .order = kind, .arg = arg, .flags = flags};
    out.n = 0;
    ft_carrier_order(&c, &cfg, now, &a, &out);
    choose();
}

static void order(enum ft_order_kind kind, uint64_t arg, uint32_t flags)
{
    order_at(NOW, kind, arg, flags);
}

static void adopt(uint32_t generation, int pos, int rollback, uint64_t committed, uint64_t flags)
{
    static struct ft_agree_data d;
    d.committed = committed;
    d.flags = flags;
    struct ft_carrier_news n = {.generation = generation,
                                .pos = pos,
                                .rollback = rollback,
                                .rejoin = !rollback,
                                .lead = ~0,
                                .index = -1,
                                .data = &d};
    out.n = 0;
    ft_carrier_adopted(&c, &cfg, NOW, &n, &out);
    choose();
}

static void begin(int pos)
{
    cfg = (struct ft_carrier_cfg){.nranks = 2, .parity = 1, .checkpoints = 1, .logs = 1};
    memset(&m, 0, sizeof m);
    out.n = 0;
    ft_carrier_init(&c, &cfg, pos);
    m.place = pos >= 0 && pos < 2 ? FT_AT_SETUP : FT_AT_INIT;
    look();
}

/* A rank in body, with checkpoint 1. */
static void into_body(void)
{
    at(FT_AT_ENTRY);
    order(FT_ORDER_CUT, 1, FT_ORDER_ENTRY);
    assert_int_equal(told(), FT_CMD_COPY);
    assert_false(answered());
    obeys(FT_AT_ENTRY, 1);
    assert_true(answered());
    order(FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    assert_true(answered());
    order(FT_ORDER_COMMIT, 1, FT_ORDER_ENTRY);
    assert_true(answered());
    assert_int_equal(published(FT_WORD_COMMITTED), 1);
    assert_int_equal(told(), FT_CMD_BODY);
    assert_int_equal(did(FT_DO_COMMAND)->arg.era, FT_ERA_FIRST);
    assert_int_equal(c.state, FT_CS_BODY);
    obeys(FT_AT_BODY, 0);
}

static void life_of_a_rank(void **state)
{
    (void)state;
    begin(0);
    assert_int_equal(c.state, FT_CS_SETUP);
    into_body();
    m.reached = m.passed = 4;
    at(FT_AT_OVER);
    order(FT_ORDER_CUT, 2, FT_ORDER_EXIT);
    assert_int_equal(told(), FT_CMD_COPY);
    obeys(FT_AT_OVER, 2);
    order(FT_ORDER_LEAVE, 2, FT_ORDER_EXIT);
    order(FT_ORDER_COMMIT, 2, FT_ORDER_EXIT);
    assert_int_equal(told(), FT_CMD_OUT);
    assert_int_equal(did(FT_DO_COMMAND)->arg.era, FT_ERA_POST);
    obeys(FT_AT_AFTER, 0);
    assert_int_equal(c.state, FT_CS_AFTER);
    order(FT_ORDER_DONE, 0, 0);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_NONE); /* it does not stand there yet */
    at(FT_AT_FINALIZE);
    assert_int_equal(told(), FT_CMD_DONE);
    assert_int_equal(c.state, FT_CS_GONE);
}

static void a_promise_is_made_after_main_was_asked_to_stop(void **state)
{
    (void)state;
    begin(0);
    into_body();
    m.reached = m.passed = 3;
    look();
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_int_equal(did(FT_DO_HOLD)->value, FT_HOLD_ASK);
    assert_false(answered()); /* main may be further than that copy says */
    m.reached = m.passed = 7;
    m.hold = FT_HOLD_ASK;
    look();
    assert_int_equal(did(FT_DO_READY)->ready.max, 8);
    m.reached = 8; /* it waits there */
    look();
    order(FT_ORDER_TARGET, 8, 0);
    assert_int_equal(did(FT_DO_HOLD)->value, FT_HOLD_AT + 8);
    m.cannot = FT_SKIP_REQUESTS;
    at(FT_AT_HELD);
    assert_int_equal(did(FT_DO_READY)->ready.not_ok, FT_SKIP_REQUESTS);
    order(FT_ORDER_CANCEL, FT_SKIP_REQUESTS, 0);
    assert_int_equal(did(FT_DO_HOLD)->value, FT_HOLD_NONE);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_RELEASE);
}

/* The order is given again when somebody came late: it says whether it stood there already. */
static void it_says_whether_it_came_later(void **state)
{
    (void)state;
    begin(0);
    into_body();
    order(FT_ORDER_TARGET, 8, 0);
    m.reached = 8;
    at(FT_AT_HELD);
    assert_int_equal(did(FT_DO_READY)->ready.came, FT_CAME_LATER);
    order(FT_ORDER_TARGET, 8, 0);
    assert_non_null(did(FT_DO_READY));
    assert_int_equal(did(FT_DO_READY)->ready.came, 0);
}

static void a_replay_promises_nothing(void **state)
{
    (void)state;
    begin(0);
    into_body();
    m.replaying = 1;
    look();
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_false(answered());
    assert_null(did(FT_DO_HOLD));
    m.replaying = 0; /* live: a checkpoint is asked for, and the promise made */
    look();
    assert_non_null(did(FT_DO_ROOT));
    assert_non_null(did(FT_DO_HOLD));
}

/* It has restored an image of body's end, and what it repeats is not over, or is lost. */
static void a_replay_at_the_end_is_not_copied(void **state)
{
    (void)state;
    for (int goes_back = 0; goes_back < 2; goes_back++) {
        begin(0);
        into_body();
        m.replaying = 1;
        m.reached = m.passed = 4;
        at(FT_AT_OVER);
        order(FT_ORDER_CUT, 2, FT_ORDER_EXIT);
        assert_int_equal(told(), FT_CMD_NONE);
        assert_false(answered());
        if (goes_back) {
            m.asks = FT_ASK_ROLLBACK;
            look();
            assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_ROLLBACK);
            order(FT_ORDER_RECOVER, 1, 0);
            assert_true(answered());
            assert_int_equal(c.state, FT_CS_PARKED);
        } else {
            m.replaying = 0;
            look();
            assert_int_equal(told(), FT_CMD_COPY);
            obeys(FT_AT_OVER, 2);
            assert_true(answered());
        }
    }
}

/* Main stops at each third safepoint, and has come to the first of these. */
static void stops_at_3(void)
{
    begin(0);
    cfg.every = 3;
    into_body();
    m.reached = 3;
    m.passed = 2;
    at(FT_AT_HELD);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_DUE);
}

static void who_stops_of_itself(void **state)
{
    (void)state;
    stops_at_3();
    assert_int_equal(did(FT_DO_ROOT)->value, 3);
    assert_int_equal(told(), FT_CMD_NONE);
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_int_equal(did(FT_DO_READY)->ready.max, 3);
    order(FT_ORDER_TARGET, 6, 0); /* others are further */
    assert_int_equal(told(), FT_CMD_RELEASE);
    obeys(FT_AT_BODY, 0);
    out.n = 0;
    order(FT_ORDER_CANCEL, FT_SKIP_WAITING, 0);
    order(FT_ORDER_PROPOSE, 0, 0); /* main has left 3, though `passed` does not yet say so */
    assert_int_equal(did(FT_DO_READY)->ready.max, 6);
}

/* [It is still held when its answer to TARGET is given: another checkpoint would be asked for.] */
static void it_asks_once_at_a_safepoint(void **state)
{
    (void)state;
    stops_at_3();
    assert_true(ft_carrier_expiry(&c) != UINT64_MAX);
    order(FT_ORDER_PROPOSE, 0, 0);
    order(FT_ORDER_TARGET, 3, 0);
    assert_true(answered());
    look();
    assert_null(did(FT_DO_ROOT));
    order(FT_ORDER_CUT, 2, 0);
    assert_int_equal(told(), FT_CMD_COPY);
    assert_true(ft_carrier_expiry(&c) == UINT64_MAX);
    assert_null(did(FT_DO_ROOT));
}

static int asks_for_a_checkpoint(void)
{
    const struct ft_action *a = did(FT_DO_ROOT);
    return a && a->event == FT_ROOT_DUE && a->value == 0;
}

static void time_is(uint64_t now)
{
    out.n = 0;
    ft_carrier_time(&c, &cfg, now, &out);
}

static void long_logs_ask_for_a_checkpoint_when_it_is_cheap(void **state)
{
    (void)state;
    begin(0);
    into_body();
    c.due.cost_s = 0.001;
    m.asks = FT_ASK_LONG;
    look();
    m.asks = 0;
    assert_null(did(FT_DO_ROOT));
    uint64_t when = ft_carrier_expiry(&c);
    assert_true(when > NOW + 49000000 && when < NOW + 51000000);
    time_is(when - 1);
    assert_null(did(FT_DO_ROOT));
    time_is(when);
    assert_true(asks_for_a_checkpoint());
    assert_true(ft_carrier_expiry(&c) == UINT64_MAX); /* once */
    m.asks = FT_ASK_ALL;
    look();
    assert_true(asks_for_a_checkpoint()); /* at once */
}

static void a_checkpoint_that_comes_trims_long_logs(void **state)
{
    (void)state;
    begin(0);
    into_body();
    c.due.cost_s = 0.001;
    m.asks = FT_ASK_LONG;
    look();
    m.asks = 0;
    m.reached = 1;
    at(FT_AT_HELD);
    order(FT_ORDER_CUT, 2, 0);
    assert_true(ft_carrier_expiry(&c) == UINT64_MAX);
}

static void long_logs_of_a_generation_before_are_forgotten(void **state)
{
    (void)state;
    begin(0);
    into_body();
    c.due.cost_s = 0.001;
    m.asks = FT_ASK_LONG;
    look();
    m.asks = 0;
    adopt(1, 0, 0, 1, 0);
    assert_int_equal(c.due.long_ns, 0);
}

static void long_logs_wait_where_safepoints_are_given(void **state)
{
    (void)state;
    begin(0);
    cfg.every = 3;
    into_body();
    m.asks = FT_ASK_ALL;
    look();
    assert_null(did(FT_DO_ROOT));
    assert_true(ft_carrier_expiry(&c) == UINT64_MAX);
}

static void nobody_comes(void **state)
{
    (void)state;
    begin(0);
    into_body();
    order(FT_ORDER_TARGET, 5, 0);
    assert_true(c.looks & FT_LOOK_STUCK);
    out.n = 0;
    ft_carrier_seen(&c, &cfg, NOW, FT_LOOK_STUCK, 1, &out);
    choose();
    assert_non_null(did(FT_DO_STUCK));
    assert_false(c.looks & FT_LOOK_STUCK);
}

/* The root gives a target, and calls it off when it is late. Returns how long that took. */
static uint64_t waits_in_vain(uint64_t now, uint64_t safepoint)
{
    order_at(now, FT_ORDER_TARGET, safepoint, 0);
    uint64_t late = ft_carrier_expiry(&c);
    time_is(late - 1);
    assert_null(did(FT_DO_ROOT));
    time_is(late);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_LATE);
    order_at(late, FT_ORDER_CANCEL, FT_SKIP_WAITING, 0);
    return late - now;
}

static void comes_to(uint64_t safepoint)
{
    m.reached = m.passed = safepoint;
    look();
}

/* A rank polls for one that stands at the target, in each step. */
static void a_wait_in_vain_lengthens_none(void **state)
{
    uint64_t now = NOW, first = 0;
    (void)state;
    begin(0);
    c.root = 1;
    into_body();
    for (uint64_t step = 1; step <= 20; step++) {
        now += MS;
        uint64_t wait = waits_in_vain(now, step);
        first = first ? first : wait;
        assert_true(wait <= first + first / 10);
        now += wait;
        comes_to(step);
    }
}

/* There is always a checkpoint under way, and each is called off in the middle of a step. */
static void a_wait_is_as_long_as_a_step(void **state)
{
    uint64_t now = NOW;
    (void)state;
    begin(0);
    c.root = 1;
    into_body();
    for (int i = 0; i < 3; i++)
        now += waits_in_vain(now, 1);
    comes_to(1);
    assert_int_equal(waits_in_vain(now, 2), now - NOW);
}

static void a_refused_run(void **state)
{
    (void)state;
    begin(0);
    at(FT_AT_ENTRY);
    c.root = 1; /* it is told last */
    order(FT_ORDER_CANCEL, FT_SKIP_NOMEM, FT_ORDER_ENTRY);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_NONE);
    struct ft_agree_data d = {0};
    ft_carrier_vote(&c, &cfg, 0, &d);
    assert_true(d.flags & FT_AGREE_REFUSED && d.flags & FT_AGREE_NO_ROOM);
    c.settled = 1;
    out.n = 0;
    choose();
    assert_int_equal(told(), FT_CMD_FAIL);
    assert_int_equal(did(FT_DO_COMMAND)->arg.why, FT_SKIP_NOMEM);
    begin(-1); /* a replacement is told with its role */
    adopt(1, 1, 0, 0, FT_AGREE_REFUSED);
    assert_int_equal(told(), FT_CMD_ROLE);
    assert_int_equal(did(FT_DO_COMMAND)->arg.why, FT_SKIP_REQUESTS);
}

/* Main would stand at the entry for ever if all did not go back to what only the dead had
 * committed.
 */
static void what_the_dead_committed_is_gone_back_to(void **state)
{
    (void)state;
    struct ft_agree_data d = {.committed = 1};
    begin(0);
    c.facts |= FT_FACT_RESTARTING;
    at(FT_AT_ENTRY);
    ft_carrier_vote(&c, &cfg, 0, &d);
    assert_true(d.flags & FT_AGREE_ROLLBACK && d.flags & FT_AGREE_RESTARTING);
    d = (struct ft_agree_data){.committed = 0};
    ft_carrier_vote(&c, &cfg, 0, &d);
    assert_false(d.flags & (FT_AGREE_ROLLBACK | FT_AGREE_RESTARTING));
}

static void a_new_generation_finishes_the_old_one(void **state)
{
    (void)state;
    begin(0);
    at(FT_AT_ENTRY);
    order(FT_ORDER_CUT, 1, FT_ORDER_ENTRY);
    obeys(FT_AT_ENTRY, 1);
    order(FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    c.open = 1;
    ft_carrier_ending(&c, &cfg, &out);
    c.open = 0;
    adopt(1, 0, 0, 1, 0); /* others have committed it */
    assert_int_equal(published(FT_WORD_COMMITTED), 1);
    assert_int_equal(told(), FT_CMD_BODY);
    assert_true(c.looks & FT_LOOK_QUIET);
    assert_int_equal(published(FT_WORD_REJOINED), UINT64_MAX);
    out.n = 0;
    ft_carrier_seen(&c, &cfg, NOW, FT_LOOK_QUIET, 1, &out);
    assert_int_equal(published(FT_WORD_REJOINED), 1);
}

static void one_goes_back_alone(void **state)
{
    struct ft_agree_data d = {0};
    (void)state;
    begin(-1);
    adopt(1, 1, 0, 1, 0);
    assert_int_equal(c.state, FT_CS_ASSIGNED);
    assert_int_equal(told(), FT_CMD_REBUILD);
    ft_carrier_vote(&c, &cfg, 3, &d);
    assert_true(ft_bit_get(&d.incomplete, 3));
    m.answered = c.cmd.number; /* a source has gone */
    m.answer = (struct ft_answer){.reason = FT_SKIP_FAILURE};
    look();
    assert_int_equal(told(), FT_CMD_NONE);
    assert_true(ft_carrier_expiry(&c) > NOW && ft_carrier_expiry(&c) < UINT64_MAX);
    out.n = 0;
    ft_carrier_time(&c, &cfg, ft_carrier_expiry(&c), &out);
    choose();
    assert_int_equal(told(), FT_CMD_REBUILD);
    assert_true(did(FT_DO_COMMAND)->arg.head);
    obeys(FT_AT_INIT, 1);
    assert_int_equal(told(), FT_CMD_ROLE);
    assert_int_equal(c.own, 0);
    m.replaying = 1;
    obeys(FT_AT_SETUP, 0);
    assert_true(c.incomplete); /* until setup is over */
    at(FT_AT_ENTRY);
    assert_int_equal(told(), FT_CMD_REBUILD); /* all of it */
    assert_false(did(FT_DO_COMMAND)->arg.head);
    obeys(FT_AT_ENTRY, 1);
    assert_int_equal(told(), FT_CMD_RESTORE);
    assert_true(did(FT_DO_COMMAND)->arg.alone);
    assert_false(c.incomplete);
    m.reached = m.passed = 5;
    obeys(FT_AT_RESTORED, 0);
    assert_int_equal(told(), FT_CMD_RESUME);
    assert_int_equal(c.restored_at, 5);
    obeys(FT_AT_BODY, 0);
    assert_int_equal(c.state, FT_CS_BODY);
}

static void a_replay_that_diverges_asks_once_in_a_generation(void **state)
{
    (void)state;
    begin(0);
    into_body();
    m.asks = FT_ASK_ROLLBACK;
    look();
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_ROLLBACK);
    look();
    assert_null(did(FT_DO_ROOT));
    adopt(1, 0, 0, 1, 0); /* the root may have forgotten it */
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_ROLLBACK);
}

static void all_go_back(void **state)
{
    (void)state;
    begin(0);
    into_body();
    m.reached = m.passed = 4;
    look();
    adopt(1, 0, 1, 1, 0);
    assert_int_equal(c.state, FT_CS_PARKING);
    order(FT_ORDER_RECOVER, 1, 0);
    assert_false(answered());
    uint64_t again = ft_carrier_expiry(&c); /* main enters body just now, and has not seen it */
    out.n = 0;
    ft_carrier_time(&c, &cfg, again, &out);
    choose();
    assert_int_equal(did(FT_DO_ATTENTION)->value, FT_ATTENTION_PARK);
    at(FT_AT_PARKED);
    assert_true(answered());
    assert_int_equal(did(FT_DO_STILL_THERE)->value, 1);
    order(FT_ORDER_RESTORE, 1, 0);
    assert_int_equal(told(), FT_CMD_RESTORE);
    assert_int_equal(did(FT_DO_COMMAND)->arg.era, FT_ERA_FIRST + 1);
    assert_false(answered());
    m.reached = m.passed = 0;
    obeys(FT_AT_RESTORED, 0);
    assert_true(answered());
    assert_int_equal(ft_carrier_milestone(&c, &cfg), FT_MILE_RUN);
    order(FT_ORDER_RESUME, 1, 0);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_RESUME);
    obeys(FT_AT_BODY, 0);
    assert_int_equal(c.state, FT_CS_BODY);
}

/* Main has left the safepoint, by the rollback, before it takes the command. */
static void moved_is_not_done(void **state)
{
    (void)state;
    begin(0);
    into_body();
    m.reached = 2;
    order(FT_ORDER_TARGET, 2, 0);
    at(FT_AT_HELD);
    order(FT_ORDER_CUT, 2, 0);
    assert_int_equal(told(), FT_CMD_COPY);
    adopt(1, 0, 1, 1, 0);
    order(FT_ORDER_RECOVER, 1, 0);
    m.answered = c.cmd.number;
    m.answer = (struct ft_answer){.moved = 1};
    at(FT_AT_PARKED);
    assert_true(answered());
    assert_int_equal(c.own, 1);
    assert_int_not_equal(c.complete, 2);
}

static void a_checksum_process_is_replaced(void **state)
{
    (void)state;
    begin(-1);
    adopt(1, 2, 0, 1, 0);
    assert_int_equal(c.state, FT_CS_ASSIGNED);
    assert_int_equal(published(FT_WORD_LIVE), UINT64_MAX);
    order(FT_ORDER_REJOIN, 1, 0);
    assert_int_equal(told(), FT_CMD_REBUILD);
    obeys(FT_AT_INIT, 1);
    assert_int_equal(published(FT_WORD_LIVE), 1);
    assert_true(answered());
    assert_int_equal(c.state, FT_CS_SERVING);
    order(FT_ORDER_CUT, 2, 0);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_RESERVE);
    order(FT_ORDER_LEAVE, 2, 0);
    assert_false(answered());
    obeys(FT_AT_INIT, 0);
    assert_int_equal(told(), FT_CMD_PARITY);
    obeys(FT_AT_INIT, 2);
    assert_true(answered());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_of_a_rank),
        cmocka_unit_test(a_promise_is_made_after_main_was_asked_to_stop),
        cmocka_unit_test(it_says_whether_it_came_later),
        cmocka_unit_test(a_replay_promises_nothing),
        cmocka_unit_test(a_replay_at_the_end_is_not_copied),
        cmocka_unit_test(who_stops_of_itself),
        cmocka_unit_test(it_asks_once_at_a_safepoint),
        cmocka_unit_test(long_logs_ask_for_a_checkpoint_when_it_is_cheap),
        cmocka_unit_test(a_checkpoint_that_comes_trims_long_logs),
        cmocka_unit_test(long_logs_of_a_generation_before_are_forgotten),
        cmocka_unit_test(long_logs_wait_where_safepoints_are_given),
        cmocka_unit_test(nobody_comes),
        cmocka_unit_test(a_wait_in_vain_lengthens_none),
        cmocka_unit_test(a_wait_is_as_long_as_a_step),
        cmocka_unit_test(a_refused_run),
        cmocka_unit_test(what_the_dead_committed_is_gone_back_to),
        cmocka_unit_test(a_new_generation_finishes_the_old_one),
        cmocka_unit_test(one_goes_back_alone),
        cmocka_unit_test(a_replay_that_diverges_asks_once_in_a_generation),
        cmocka_unit_test(all_go_back),
        cmocka_unit_test(moved_is_not_done),
        cmocka_unit_test(a_checksum_process_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
