/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Snapshots in the carrier (C9), with a machine of proto/snapshot.h as the process has it: rank 1
 * of three. What needs all processes is the simulator's (model job, --alg).
 */
#include "proto/test_carrier.h"

#define RANKS 3

static uint32_t seq;
static union {
    struct ft_snap snap;
    char bytes[sizeof(struct ft_snap) + RANKS * sizeof(struct ft_snap_peer)];
} machine;

static int opened(void) { return did(FT_DO_GATE) && did(FT_DO_GATE)->value == 0; }

/* The marker that was sent to all; 0: none. */
static uint32_t marked(void)
{
    const struct ft_action *a = did(FT_DO_MARKER);
    return a && a->to == FT_TO_RANKS && a->value == c.snapshot.number ? a->event : 0;
}

static void ask_machine(const struct ft_action *a)
{
    if (a->kind != FT_DO_SNAPSHOT)
        return;
    struct ft_snap_actions acts;
    if (a->event) {
        ft_snap_marker(&machine.snap, a->to, (enum ft_snap_marker)a->event, &acts);
    } else {
        ft_snap_init(&machine.snap, (enum ft_snap_alg)cfg.snapshot, c.pos, RANKS);
        ft_snap_start(&machine.snap, &acts);
    }
    ft_carrier_snapshot(&c, &acts);
}

static void fails(uint32_t reason)
{
    m.answered = c.cmd.number;
    m.answer = (struct ft_answer){.reason = reason};
    look();
}

static void order(enum ft_order_kind kind, uint64_t arg, uint32_t flags)
{
    struct ft_order_action a = {.seq = ++seq, .order = kind, .arg = arg, .flags = flags};
    out.n = 0;
    ft_carrier_order(&c, &cfg, NOW, &a, &out);
    choose();
}

static void seen(uint32_t what)
{
    out.n = 0;
    ft_carrier_seen(&c, &cfg, NOW, what, 1, &out);
    choose();
}

static void marker(int rank, enum ft_snap_marker kind)
{
    out.n = 0;
    ft_carrier_marker(&c, &cfg, c.snapshot.number, rank, kind);
    choose();
}

static void adopt(uint32_t generation, int rollback)
{
    static struct ft_agree_data d;
    d.committed = c.committed;
    struct ft_carrier_news n = {.generation = generation,
                                .pos = c.pos,
                                .rollback = rollback,
                                .rejoin = !rollback,
                                .data = &d};
    out.n = 0;
    seq = 0;
    ft_carrier_adopted(&c, &cfg, NOW, &n, &out);
    choose();
}

/* Rank 1 in body, with checkpoint 1, at safepoint 3. */
static void begin(enum ft_snap_alg alg)
{
    cfg = (struct ft_carrier_cfg){
        .nranks = RANKS, .parity = 1, .checkpoints = 1, .logs = 1, .snapshot = alg};
    memset(&m, 0, sizeof m);
    out.n = 0;
    taken_by = ask_machine;
    seq = 0;
    ft_carrier_init(&c, &cfg, 1);
    m.place = FT_AT_SETUP;
    at(FT_AT_ENTRY);
    order(FT_ORDER_CUT, 1, FT_ORDER_ENTRY);
    obeys(FT_AT_ENTRY, 1);
    order(FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    order(FT_ORDER_COMMIT, 1, FT_ORDER_ENTRY);
    obeys(FT_AT_BODY, 0);
    m.reached = m.passed = 3;
    look();
}

/* All promise safepoint 5. */
static void proposed(void)
{
    order(FT_ORDER_PROPOSE, 0, 0);
    seen(FT_LOOK_QUIET);
    m.hold = FT_HOLD_ASK;
    m.reached = m.passed = 4;
    look();
    assert_int_equal(did(FT_DO_READY)->ready.max, 5);
}

static void stands_at_target(void)
{
    proposed();
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    assert_false(answered());
    m.hold = FT_HOLD_AT + 5;
    m.reached = 5;
    at(FT_AT_HELD);
}

/* Has entered, and copies. */
static void copies(void)
{
    assert_int_equal(published(FT_WORD_SNAPSHOT_ENTERED), c.snapshot.number);
    assert_int_equal(told(), FT_CMD_NONE);
    assert_true(c.looks & FT_LOOK_UNTOUCHED);
    seen(FT_LOOK_UNTOUCHED);
    assert_int_equal(told(), FT_CMD_COPY);
    assert_int_equal(did(FT_DO_COMMAND)->arg.version, 2);
    assert_int_equal(did(FT_DO_COMMAND)->arg.snapshot, c.snapshot.number);
    assert_false(answered());
}

/* CUT, LEAVE and COMMIT of version 2. */
static void committed(void)
{
    order(FT_ORDER_CUT, 2, FT_ORDER_SNAPSHOT);
    assert_int_equal(told(), FT_CMD_NONE);
    assert_int_equal(did(FT_DO_READY)->ready.bytes, 8);
    order(FT_ORDER_LEAVE, 2, FT_ORDER_SNAPSHOT);
    assert_true(answered());
    order(FT_ORDER_COMMIT, 2, FT_ORDER_SNAPSHOT);
    assert_int_equal(published(FT_WORD_COMMITTED), 2);
    assert_int_equal(c.own, 2);
}

/* What began before the gate could write into an image, or past one. */
static void proposed_when_nobody_is_inside_without_the_gate(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_int_equal(did(FT_DO_GATE)->value, seq); /* of generation 0 */
    assert_true(c.looks & FT_LOOK_QUIET);
    assert_null(did(FT_DO_HOLD));
    look();
    assert_false(answered());
    seen(FT_LOOK_QUIET);
    assert_int_equal(did(FT_DO_HOLD)->value, FT_HOLD_ASK);
    m.hold = FT_HOLD_ASK;
    look();
    assert_true(answered());
}

static void each_goes_on_with_its_own_image(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    stands_at_target();
    copies();
    obeys(FT_AT_HELD, 2);
    assert_int_equal(marked(), FT_SNAP_FIRST); /* the others learn that it has its image */
    assert_int_equal(told(), FT_CMD_RELEASE);
    assert_int_equal(did(FT_DO_READY)->ready.bytes, 8);
    assert_int_equal(published(FT_WORD_COMPLETE), 2);
    obeys(FT_AT_BODY, 0);
    marker(0, FT_SNAP_FIRST);
    assert_false(opened());
    marker(2, FT_SNAP_FIRST);
    assert_true(opened()); /* all have theirs */
    committed();
}

/* Its first one after the marker that nobody had passed when the number was agreed. */
static void not_simply_at_its_first_safepoint(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    proposed();
    order(FT_ORDER_TARGET, 7, FT_ORDER_SNAPSHOT);
    marker(0, FT_SNAP_FIRST);
    m.reached = 5;
    look();
    assert_int_equal(told(), FT_CMD_NONE);
    assert_int_equal(published(FT_WORD_SNAPSHOT_ENTERED), UINT64_MAX);
    assert_int_equal(c.snapshot.step, FT_SNAPSHOT_AWAY);
    m.reached = 7; /* the marker was kept */
    at(FT_AT_HELD);
    copies();
    obeys(FT_AT_HELD, 2);
    marker(2, FT_SNAP_FIRST);
    assert_true(opened());
}

/* It does not come to the safepoint any more. */
static void at_the_end_of_body(void **state)
{
    (void)state;
    begin(FT_SNAP_PEEK);
    proposed();
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    m.passed = 4;
    at(FT_AT_OVER);
    copies();
    obeys(FT_AT_OVER, 2);
    assert_true(answered());
    assert_int_equal(told(), FT_CMD_NONE); /* it stays */
    assert_int_equal(c.state, FT_CS_OVER);
    committed();
}

static void partial_waits_for_all_before_its_image(void **state)
{
    (void)state;
    begin(FT_SNAP_PARTIAL);
    stands_at_target();
    assert_int_equal(marked(), FT_SNAP_FIRST);
    assert_int_equal(published(FT_WORD_SNAPSHOT_ENTERED), UINT64_MAX);
    marker(0, FT_SNAP_FIRST);
    marker(2, FT_SNAP_FIRST);
    copies();
    obeys(FT_AT_HELD, 2);
    assert_int_equal(told(), FT_CMD_RELEASE);
    assert_true(answered());
    assert_true(c.snapshot.over && !opened()); /* others may still be without an image */
    obeys(FT_AT_BODY, 0);
    order(FT_ORDER_CUT, 2, FT_ORDER_SNAPSHOT);
    assert_false(opened());
    order(FT_ORDER_LEAVE, 2, FT_ORDER_SNAPSHOT);
    assert_true(opened());
}

static void double_waits_for_all_images(void **state)
{
    (void)state;
    begin(FT_SNAP_DOUBLE);
    stands_at_target();
    marker(0, FT_SNAP_FIRST);
    marker(0, FT_SNAP_SECOND); /* it has all firsts: of us, too */
    marker(2, FT_SNAP_FIRST);
    copies();
    obeys(FT_AT_HELD, 2);
    assert_int_equal(marked(), FT_SNAP_SECOND);
    assert_int_equal(told(), FT_CMD_NONE);
    assert_false(answered());
    marker(2, FT_SNAP_SECOND);
    assert_true(opened() && answered());
    assert_int_equal(told(), FT_CMD_RELEASE);
    obeys(FT_AT_BODY, 0);
    committed();
}

/* Of a snapshot that was called off, or of an older generation. */
static void markers_of_another_snapshot(void **state)
{
    (void)state;
    begin(FT_SNAP_PARTIAL);
    stands_at_target();
    out.n = 0;
    ft_carrier_marker(&c, &cfg, c.snapshot.number - 2, 0, FT_SNAP_FIRST);
    ft_carrier_marker(&c, &cfg, c.snapshot.number + (1ull << 32), 2, FT_SNAP_FIRST);
    choose();
    assert_int_equal(out.n, 0);
    order(FT_ORDER_CANCEL, FT_SKIP_WAITING, FT_ORDER_SNAPSHOT);
    assert_true(opened() && answered());
    assert_int_equal(told(), FT_CMD_RELEASE);
    marker(0, FT_SNAP_FIRST); /* of none */
    assert_int_equal(out.n, 0);
}

/* [Others with `double` wait for its second marker, others with `partial` for its first.] */
static void one_that_cannot(void **state)
{
    (void)state;
    for (enum ft_snap_alg alg = FT_SNAP_DELAY; alg <= FT_SNAP_PARTIAL; alg++) {
        begin(alg);
        m.cannot = FT_SKIP_REQUESTS;
        stands_at_target();
        assert_int_equal(did(FT_DO_READY)->ready.not_ok, FT_SKIP_REQUESTS);
        assert_int_equal(told(), FT_CMD_NONE);
        assert_int_equal(did(FT_DO_ROOT) != NULL, alg >= FT_SNAP_DOUBLE);
        if (!did(FT_DO_ROOT))
            continue;
        assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_LATE);
        assert_int_equal(did(FT_DO_ROOT)->value, c.snapshot.number);
        assert_int_equal(did(FT_DO_ROOT)->a, FT_SKIP_REQUESTS);
    }
}

/* [It has entered; q, before its safepoint, waits at the gate for this image.] */
static void one_that_fails_after_it_has_entered(void **state)
{
    (void)state;
    begin(FT_SNAP_PEEK);
    stands_at_target();
    copies();
    fails(FT_SKIP_NOMEM);
    assert_int_equal(did(FT_DO_READY)->ready.not_ok, FT_SKIP_NOMEM);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_LATE);
    assert_int_equal(did(FT_DO_ROOT)->a, FT_SKIP_NOMEM);
    assert_int_equal(marked(), 0);
    assert_int_equal(c.complete, 1);
    order(FT_ORDER_CANCEL, FT_SKIP_NOMEM, FT_ORDER_SNAPSHOT);
    assert_true(opened() && answered());
    assert_int_equal(told(), FT_CMD_RELEASE);
}

/* [A main waits in front of its safepoint for one that has passed its own.] */
static void one_that_is_stuck(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    proposed();
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    assert_true(c.looks & FT_LOOK_STUCK);
    seen(FT_LOOK_STUCK);
    assert_non_null(did(FT_DO_STUCK));
    assert_false(c.looks & FT_LOOK_STUCK);
    m.reached = 5; /* it comes there after all: nothing is begun */
    at(FT_AT_HELD);
    assert_int_equal(told(), FT_CMD_NONE);
    order(FT_ORDER_CANCEL, FT_SKIP_WAITING, FT_ORDER_SNAPSHOT);
    assert_int_equal(told(), FT_CMD_RELEASE);
}

/* [It meets what has no gate while PROPOSE is under way: the root would not heed it.] */
static void main_cannot_go_on_before_it_is_over(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    order(FT_ORDER_PROPOSE, 0, 0);
    m.asks = FT_ASK_SNAPSHOT_OFF;
    look();
    assert_null(did(FT_DO_ROOT));
    seen(FT_LOOK_QUIET);
    m.hold = FT_HOLD_ASK;
    look();
    assert_true(answered());
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    assert_int_equal(did(FT_DO_ROOT)->event, FT_ROOT_LATE);
    assert_int_equal(did(FT_DO_ROOT)->value, c.snapshot.number);
    m.asks = FT_ASK_SNAPSHOT_OFF;
    look();
    assert_null(did(FT_DO_ROOT)); /* once */
    order(FT_ORDER_CANCEL, FT_SKIP_WAITING, FT_ORDER_SNAPSHOT);
    order(FT_ORDER_PROPOSE, 0, 0); /* that was the one before */
    assert_int_equal(c.snapshot.wanted_off, 0);
}

/* What was voted stays true: nothing is taken, nothing is said. */
static void a_ballot_stops_it(void **state)
{
    (void)state;
    begin(FT_SNAP_PARTIAL);
    stands_at_target();
    marker(0, FT_SNAP_FIRST);
    c.open = 1;
    ft_carrier_ending(&c, &cfg, &out);
    out.n = 0;
    choose();
    marker(2, FT_SNAP_FIRST);
    assert_int_equal(out.n, 0);
    assert_true(c.snapshot.gated); /* until the decision is adopted */
    c.open = 0;
    adopt(1, 0);
    assert_true(opened());
    assert_int_equal(told(), FT_CMD_RELEASE);
    assert_int_equal(c.complete, 1);
    obeys(FT_AT_BODY, 0);
    seen(FT_LOOK_QUIET);
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_int_equal(did(FT_DO_GATE)->value, 1ull << 32 | 1);
}

/* [The ballot opens while main copies. The image is whole, and void.] */
static void an_image_of_an_older_generation(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    stands_at_target();
    copies();
    c.open = 1;
    ft_carrier_ending(&c, &cfg, &out);
    out.n = 0;
    choose();
    c.open = 0;
    adopt(1, 0);
    assert_true(opened());
    assert_int_equal(told(), FT_CMD_NONE);
    obeys(FT_AT_HELD, 2);
    assert_int_equal(c.complete, 1);
    assert_int_equal(marked(), 0);
    assert_int_equal(told(), FT_CMD_RELEASE);
}

static void a_commit_that_a_vote_carries(void **state)
{
    (void)state;
    static struct ft_agree_data d = {.committed = 2};
    struct ft_carrier_news n = {.generation = 1, .pos = 1, .rejoin = 1, .data = &d};
    begin(FT_SNAP_DELAY);
    stands_at_target();
    copies();
    obeys(FT_AT_HELD, 2);
    obeys(FT_AT_BODY, 0);
    order(FT_ORDER_CUT, 2, FT_ORDER_SNAPSHOT);
    order(FT_ORDER_LEAVE, 2, FT_ORDER_SNAPSHOT);
    c.open = 1;
    ft_carrier_ending(&c, &cfg, &out);
    c.open = 0;
    out.n = 0;
    ft_carrier_adopted(&c, &cfg, NOW, &n, &out);
    choose();
    assert_int_equal(published(FT_WORD_COMMITTED), 2);
    assert_int_equal(c.own, 2);
}

static void called_off_while_main_copies(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    stands_at_target();
    copies();
    order(FT_ORDER_CANCEL, FT_SKIP_WAITING, FT_ORDER_SNAPSHOT);
    assert_true(opened());
    assert_false(answered());
    obeys(FT_AT_HELD, 2);
    assert_true(answered());
    assert_int_equal(marked(), 0);
    assert_int_equal(c.complete, 1);
    assert_int_equal(told(), FT_CMD_RELEASE);
}

/* A replay diverged: all go back in this generation, some with an image of the snapshot. */
static void a_rollback_voids_it(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    stands_at_target();
    copies();
    obeys(FT_AT_HELD, 2);
    obeys(FT_AT_BODY, 0);
    order(FT_ORDER_RECOVER, 1, 0);
    assert_true(opened());
    assert_int_equal(c.state, FT_CS_PARKING);
    assert_int_equal(c.complete, 1);
    marker(0, FT_SNAP_FIRST);
    assert_int_equal(c.snapshot.step, FT_SNAPSHOT_AWAY);
    at(FT_AT_PARKED);
    assert_true(answered());
}

/* Main is at its next multiple of K before the codeword of this one is staged. */
static void due_again_before_it_is_committed(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    cfg.every = 5;
    order(FT_ORDER_PROPOSE, 0, 0);
    seen(FT_LOOK_QUIET);
    assert_int_equal(did(FT_DO_READY)->ready.max, 5);
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    m.reached = 5;
    at(FT_AT_HELD);
    copies();
    obeys(FT_AT_HELD, 2);
    m.reached = m.passed = 9;
    obeys(FT_AT_BODY, 0);
    m.reached = 10;
    at(FT_AT_HELD);
    assert_int_equal(did(FT_DO_ROOT)->value, 10);
    committed();
    assert_int_equal(told(), FT_CMD_NONE);
    assert_int_equal(c.state, FT_CS_HELD);
}

static void a_barrier_after_all(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    c.root = 1;
    c.snapshots_off = 2;
    proposed();
    order(FT_ORDER_TARGET, 5, 0);
    assert_true(opened());
    assert_int_equal(did(FT_DO_EVENT)->event, FT_EV_SNAPSHOT_BARRIER);
    assert_int_equal(did(FT_DO_EVENT)->b, 2);
    m.reached = 5;
    at(FT_AT_HELD);
    assert_true(answered());
    order(FT_ORDER_CUT, 2, 0);
    assert_int_equal(did(FT_DO_COMMAND)->arg.snapshot, 0);
}

/* Nobody sees its loads and stores; that it is at body's end does not change that. */
static void memory_that_is_shared(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    m.no_snapshot = 1;
    at(FT_AT_OVER);
    order(FT_ORDER_PROPOSE, 0, 0);
    seen(FT_LOOK_QUIET);
    assert_true(did(FT_DO_READY)->ready.no_snapshot);
    assert_false(did(FT_DO_READY)->ready.running);
}

/* It has no windows, and takes no image; but as a root it knows which snapshot is called off. */
static void a_process_without_a_rank(void **state)
{
    (void)state;
    begin(FT_SNAP_DELAY);
    memset(&m, 0, sizeof m);
    ft_carrier_init(&c, &cfg, RANKS);
    m.place = FT_AT_INIT;
    look();
    order(FT_ORDER_PROPOSE, 0, 0);
    assert_true(answered());
    assert_null(did(FT_DO_GATE));
    assert_int_equal(c.snapshot.number, seq);
    order(FT_ORDER_TARGET, 5, FT_ORDER_SNAPSHOT);
    assert_true(answered());
    order(FT_ORDER_CUT, 2, FT_ORDER_SNAPSHOT);
    assert_true(answered());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposed_when_nobody_is_inside_without_the_gate),
        cmocka_unit_test(each_goes_on_with_its_own_image),
        cmocka_unit_test(not_simply_at_its_first_safepoint),
        cmocka_unit_test(at_the_end_of_body),
        cmocka_unit_test(partial_waits_for_all_before_its_image),
        cmocka_unit_test(double_waits_for_all_images),
        cmocka_unit_test(markers_of_another_snapshot),
        cmocka_unit_test(one_that_cannot),
        cmocka_unit_test(one_that_fails_after_it_has_entered),
        cmocka_unit_test(one_that_is_stuck),
        cmocka_unit_test(main_cannot_go_on_before_it_is_over),
        cmocka_unit_test(a_ballot_stops_it),
        cmocka_unit_test(an_image_of_an_older_generation),
        cmocka_unit_test(a_commit_that_a_vote_carries),
        cmocka_unit_test(called_off_while_main_copies),
        cmocka_unit_test(a_rollback_voids_it),
        cmocka_unit_test(due_again_before_it_is_committed),
        cmocka_unit_test(a_barrier_after_all),
        cmocka_unit_test(memory_that_is_shared),
        cmocka_unit_test(a_process_without_a_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
