/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_order.c - the root's choices, step by step. Trees of several, crashes and random orders:
 * sim/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/board.h"
#include "proto/order.h"

static struct ft_order one;
static struct ft_order_actions acts;

static void give(struct ft_order_event ev)
{
    ft_order_step(&one, &ev, &acts);
    ft_order_check(&one);
}

static void expect(enum ft_order_kind order, uint64_t arg, uint32_t flags)
{
    assert_int_equal(acts.n, 1);
    assert_int_equal(acts.a[0].kind, FT_OA_EXECUTE);
    assert_int_equal(acts.a[0].order, order);
    assert_int_equal(acts.a[0].arg, arg);
    assert_int_equal(acts.a[0].flags, flags);
}

/* Answers the order under way; what comes next is expected to be ... */
static void then(struct ft_ready r, enum ft_order_kind order, uint64_t arg, uint32_t flags)
{
    give((struct ft_order_event){.kind = FT_OE_READY, .seq = one.seq, .ready = r});
    if (order == FT_ORDER_NONE)
        assert_int_equal(acts.n, 0);
    else
        expect(order, arg, flags);
}

static void alone(uint32_t generation, enum ft_order_kind first, uint64_t committed, int run_over,
                  int checkpoints)
{
    static const struct ft_bitset nobody;
    ft_order_init(&one, 0, 1);
    give((struct ft_order_event){.kind = FT_OE_GENERATION,
                                 .generation = generation,
                                 .failed = &nobody,
                                 .first = first,
                                 .arg = committed,
                                 .committed = committed,
                                 .run_over = run_over,
                                 .checkpoints = checkpoints});
}

static const struct ft_ready ok, at_7 = {.max = 7, .running = 1}, over = {.max = FT_SP_OVER},
                                 no_room = {.not_ok = FT_SKIP_NOMEM},
                                 no_requests = {.not_ok = FT_SKIP_REQUESTS, .running = 1};

static void mile(enum ft_milestone m)
{
    give((struct ft_order_event){.kind = FT_OE_MILESTONE, .arg = m});
}

static void due(void) { give((struct ft_order_event){.kind = FT_OE_DUE}); }

static void life_of_a_job(void **state)
{
    (void)state;
    alone(0, FT_ORDER_NONE, 0, 0, 1);
    due();
    assert_int_equal(acts.n, 0); /* not before the entry */
    mile(FT_MILE_RUN);
    expect(FT_ORDER_CUT, 1, FT_ORDER_ENTRY);
    then(ok, FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    then(ok, FT_ORDER_COMMIT, 1, FT_ORDER_ENTRY);
    then(ok, FT_ORDER_NONE, 0, 0); /* the entry's checkpoint was as good as the one due */

    due();
    expect(FT_ORDER_PROPOSE, 0, 0);
    then(at_7, FT_ORDER_TARGET, 7, 0);
    due(); /* one is under way */
    then(ok, FT_ORDER_CUT, 2, 0);
    then(no_room, FT_ORDER_CANCEL, FT_SKIP_NOMEM, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(at_7, FT_ORDER_TARGET, 7, 0);
    then(no_requests, FT_ORDER_CANCEL, FT_SKIP_REQUESTS, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(at_7, FT_ORDER_TARGET, 7, 0);
    give((struct ft_order_event){.kind = FT_OE_STUCK, .seq = one.seq});
    expect(FT_ORDER_CANCEL, FT_SKIP_WAITING, 0);
    give((struct ft_order_event){.kind = FT_OE_READY, .seq = one.seq - 1});
    assert_int_equal(acts.n, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(at_7, FT_ORDER_TARGET, 7, 0);
    then((struct ft_ready){.came = FT_CAME_NOT | FT_CAME_LATER}, FT_ORDER_TARGET, 7, 0);
    then((struct ft_ready){.came = FT_CAME_NOT}, FT_ORDER_CANCEL, FT_SKIP_WAITING, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(at_7, FT_ORDER_TARGET, 7, 0);
    then((struct ft_ready){.came = FT_CAME_NOT | FT_CAME_LATER}, FT_ORDER_TARGET, 7, 0);
    then((struct ft_ready){.came = FT_CAME_LATER}, FT_ORDER_CUT, 2, 0);
    then(no_room, FT_ORDER_CANCEL, FT_SKIP_NOMEM, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(at_7, FT_ORDER_TARGET, 7, 0);
    give((struct ft_order_event){.kind = FT_OE_LATE});
    expect(FT_ORDER_CANCEL, FT_SKIP_WAITING, 0);
    give((struct ft_order_event){.kind = FT_OE_LATE});
    assert_int_equal(acts.n, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(over, FT_ORDER_CANCEL, FT_SKIP_NONE, 0);
    mile(FT_MILE_OVER);
    then(ok, FT_ORDER_CUT, 2, FT_ORDER_EXIT); /* the cancelled number again */
    then(ok, FT_ORDER_LEAVE, 2, FT_ORDER_EXIT);
    then(ok, FT_ORDER_COMMIT, 2, FT_ORDER_EXIT);
    then(ok, FT_ORDER_NONE, 0, 0);
    due();
    assert_int_equal(acts.n, 0);
    mile(FT_MILE_FINALIZE);
    expect(FT_ORDER_DONE, 0, 0);
    then(ok, FT_ORDER_NONE, 0, 0);
}

static void rollback(void **state)
{
    (void)state;
    alone(3, FT_ORDER_RECOVER, 5, 0, 1);
    expect(FT_ORDER_RECOVER, 5, 0);
    mile(FT_MILE_OVER); /* from before it parked */
    then(ok, FT_ORDER_RESTORE, 5, 0);
    then(ok, FT_ORDER_RESUME, 5, 0);
    then(ok, FT_ORDER_NONE, 0, 0);
    due();
    expect(FT_ORDER_PROPOSE, 0, 0);
    give((struct ft_order_event){.kind = FT_OE_ENDING});
    then(at_7, FT_ORDER_NONE, 0, 0);
}

/* The one who found out says so on two ways, and either may be the shorter one. */
static void diverged(void **state)
{
    (void)state;
    const struct ft_ready found = {.not_ok = FT_SKIP_DIVERGED, .running = 1};
    for (int exit = 0; exit < 2; exit++)
        for (int asked_first = 0; asked_first < 2; asked_first++) {
            alone(1, FT_ORDER_REJOIN, 4, 0, 1);
            mile(exit ? FT_MILE_OVER : FT_MILE_RUN);
            then(ok, exit ? FT_ORDER_CUT : FT_ORDER_NONE, 5, FT_ORDER_EXIT);
            if (!exit) {
                due();
                then(at_7, FT_ORDER_TARGET, 7, 0);
                then(ok, FT_ORDER_CUT, 5, 0);
            }
            if (asked_first)
                give((struct ft_order_event){.kind = FT_OE_ROLLBACK});
            if (asked_first && exit) { /* the one who asks may never answer */
                expect(FT_ORDER_RECOVER, 4, 0);
                give((struct ft_order_event){
                    .kind = FT_OE_READY, .seq = one.seq - 1, .ready = found});
                assert_int_equal(acts.n, 0);
            } else {
                if (asked_first)
                    assert_int_equal(acts.n, 0); /* CUT is answered by everybody */
                then(found, FT_ORDER_RECOVER, 4, 0);
            }
            if (!asked_first)
                give((struct ft_order_event){.kind = FT_OE_ROLLBACK});
            then(ok, FT_ORDER_RESTORE, 4, 0);
            then(ok, FT_ORDER_RESUME, 4, 0);
            then(ok, FT_ORDER_NONE, 0, 0);
        }
}

static void called_off_at_the_ends(void **state)
{
    (void)state;
    alone(0, FT_ORDER_NONE, 0, 0, 1);
    mile(FT_MILE_RUN);
    then(no_room, FT_ORDER_CANCEL, FT_SKIP_NOMEM, FT_ORDER_ENTRY);
    then(ok, FT_ORDER_NONE, 0, 0);
    mile(FT_MILE_OVER);
    assert_int_equal(acts.n, 0);
    mile(FT_MILE_FINALIZE);
    expect(FT_ORDER_DONE, 0, 0);

    alone(1, FT_ORDER_REJOIN, 4, 0, 1);
    mile(FT_MILE_OVER);
    then(ok, FT_ORDER_CUT, 5, FT_ORDER_EXIT);
    then(ok, FT_ORDER_LEAVE, 5, FT_ORDER_EXIT);
    then(no_room, FT_ORDER_CANCEL, FT_SKIP_NOMEM, FT_ORDER_EXIT);
    then(ok, FT_ORDER_NONE, 0, 0);
}

static void begun_again_at_the_ends(void **state)
{
    static const struct ft_ready failure = {.not_ok = FT_SKIP_FAILURE};
    (void)state;
    alone(0, FT_ORDER_NONE, 0, 0, 1);
    mile(FT_MILE_RUN);
    then(ok, FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    then(failure, FT_ORDER_CUT, 1,
         FT_ORDER_ENTRY); /* a loss comes with a new generation, and nobody hears more of this */
    then(ok, FT_ORDER_LEAVE, 1, FT_ORDER_ENTRY);
    then(failure, FT_ORDER_CANCEL, FT_SKIP_FAILURE, FT_ORDER_ENTRY); /* so it was none */

    alone(1, FT_ORDER_REJOIN, 4, 0, 1);
    mile(FT_MILE_OVER);
    then(ok, FT_ORDER_CUT, 5, FT_ORDER_EXIT);
    then(ok, FT_ORDER_LEAVE, 5, FT_ORDER_EXIT);
    then(failure, FT_ORDER_CUT, 5, FT_ORDER_EXIT);
    then(ok, FT_ORDER_LEAVE, 5, FT_ORDER_EXIT);
    then(ok, FT_ORDER_COMMIT, 5, FT_ORDER_EXIT);
}

static void without_checkpoints(void **state)
{
    (void)state;
    alone(0, FT_ORDER_NONE, 0, 0, 0);
    mile(FT_MILE_RUN);
    expect(FT_ORDER_LEAVE, 0, FT_ORDER_ENTRY);
    then(ok, FT_ORDER_NONE, 0, 0);
    due();
    assert_int_equal(acts.n, 0);
    mile(FT_MILE_OVER);
    expect(FT_ORDER_LEAVE, FT_SP_OVER, FT_ORDER_EXIT);
    then(ok, FT_ORDER_NONE, 0, 0);
    mile(FT_MILE_FINALIZE);
    expect(FT_ORDER_DONE, 0, 0);

    alone(0, FT_ORDER_NONE, 0, 0, 1); /* and without FTRMA_Run */
    mile(FT_MILE_FINALIZE);
    expect(FT_ORDER_DONE, 0, 0);
}

/* order.h: another generation of the same number died with its root, whose first order comes late.
 */
static void order_of_the_dead(void **state)
{
    (void)state;
    const struct ft_bitset failed = {.w = {1}};
    struct ft_order_msg msg = {
        .kind = FT_OM_ORDER, .generation = 3, .seq = 1, .order = FT_ORDER_RECOVER, .arg = 1};
    ft_order_init(&one, 2, 3);
    give((struct ft_order_event){
        .kind = FT_OE_GENERATION, .generation = 3, .failed = &failed, .first = FT_ORDER_REJOIN});
    give((struct ft_order_event){.kind = FT_OE_MSG, .from = 0, .msg = &msg});
    assert_int_equal(acts.n, 0);
    msg.order = FT_ORDER_REJOIN;
    give((struct ft_order_event){.kind = FT_OE_MSG, .from = 1, .msg = &msg});
    expect(FT_ORDER_REJOIN, 1, 0);
}

/* C9: a snapshot that is called off is tried anew, then there is a barrier; a commit begins the
 * count anew. */
static void snapshots(void **state)
{
    static const struct ft_ready shared = {.max = 7, .running = 1, .no_snapshot = 1};
    (void)state;
    alone(1, FT_ORDER_REJOIN, 4, 0, 1);
    one.snapshots = 1;
    mile(FT_MILE_RUN);
    then(ok, FT_ORDER_NONE, 0, 0);
    due();
    expect(FT_ORDER_PROPOSE, 0, 0);
    then(at_7, FT_ORDER_TARGET, 7, FT_ORDER_SNAPSHOT);
    due(); /* one is under way */
    give((struct ft_order_event){.kind = FT_OE_DUE, .arg = 7});
    then(ok, FT_ORDER_CUT, 5, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_LEAVE, 5, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_COMMIT, 5, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_NONE, 0, 0);

    for (int i = 0; i < 2;
         i++) { /* somebody who went on is at the next one already: it is due after this one */
        if (i == 0)
            due();
        then(at_7, FT_ORDER_TARGET, 7, FT_ORDER_SNAPSHOT);
        give((struct ft_order_event){.kind = FT_OE_LATE});
        expect(FT_ORDER_CANCEL, FT_SKIP_WAITING, FT_ORDER_SNAPSHOT);
        then(ok, FT_ORDER_PROPOSE, 0, 0);
    }
    then(at_7, FT_ORDER_TARGET, 7, 0);
    then(ok, FT_ORDER_CUT, 6, 0);
    then(ok, FT_ORDER_LEAVE, 6, 0);
    then(ok, FT_ORDER_COMMIT, 6, 0);
    then(ok, FT_ORDER_NONE, 0, 0);

    due();
    then(shared, FT_ORDER_TARGET, 7, 0);
    then(no_requests, FT_ORDER_CANCEL, FT_SKIP_REQUESTS, 0);
    then(ok, FT_ORDER_NONE, 0, 0); /* not tried anew */

    due();
    then(at_7, FT_ORDER_TARGET, 7, FT_ORDER_SNAPSHOT);
    give((struct ft_order_event){.kind = FT_OE_DUE, .arg = 8});
    then(ok, FT_ORDER_CUT, 7, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_LEAVE, 7, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_COMMIT, 7, FT_ORDER_SNAPSHOT);
    then(ok, FT_ORDER_PROPOSE, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_of_a_job),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(rollback),
        cmocka_unit_test(diverged),
        cmocka_unit_test(called_off_at_the_ends),
        cmocka_unit_test(begun_again_at_the_ends),
        cmocka_unit_test(without_checkpoints),
        cmocka_unit_test(order_of_the_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
