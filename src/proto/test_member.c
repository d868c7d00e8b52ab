/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_member.c - who is put out of several, what a standstill does, and what a lease says when.
 * Every order of small jobs, random ones and mutants: sim/model_member.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/member.h"

enum { LEASE = 40 };

static struct ft_arbiter_action step(struct ft_arbiter *m, struct ft_arbiter_event ev)
{
    struct ft_arbiter_action a;
    ft_arbiter_step(m, &ev, &a);
    ft_arbiter_check(m);
    return a;
}

static struct ft_arbiter_action at(struct ft_arbiter *m, uint64_t now)
{
    return step(m, (struct ft_arbiter_event){.kind = FT_ARBITER_TIME, .now = now});
}

/* Time passes, and all nodes but `silent` renew their leases. The first node that is put out is
 * returned, or -1. */
static int pass(struct ft_arbiter *m, uint64_t *now, int ticks, int silent)
{
    for (; ticks > 0; ticks--) {
        struct ft_arbiter_action a = at(m, ++*now);
        for (int k = 0; k < m->cfg.nnodes; k++) {
            if (a.kind == FT_ARBITER_OUT && ft_bit_get(&a.nodes, k))
                return k;
            if (k != silent && !m->node[k].out)
                step(m, (struct ft_arbiter_event){
                            .kind = FT_ARBITER_RENEW, .now = *now, .node = k, .sent = *now});
        }
    }
    return -1;
}

static void report(struct ft_arbiter *m, uint64_t now, int node, int about, int reachable)
{
    struct ft_arbiter_event ev = {.kind = FT_ARBITER_REPORT,
                                  .now = now,
                                  .node = node,
                                  .about = about,
                                  .reachable = reachable};
    assert_int_equal(step(m, ev).kind, 0);
}

static struct ft_arbiter arbiter(int own, int bearable)
{
    static const uint32_t ranks[4] = {2, 2, 1, 2};
    static struct ft_arbiter m;
    ft_arbiter_init(&m, &(struct ft_arbiter_cfg){4, own, LEASE, 2, 0, 1, bearable}, ranks, 100);
    return m;
}

static void a_lease_that_is_not_renewed(void **state)
{
    (void)state;
    struct ft_arbiter m = arbiter(0, 1);
    uint64_t now = 100;
    assert_int_equal(pass(&m, &now, LEASE + 2, 3), -1);
    assert_int_equal(pass(&m, &now, 1, 3), 3);
    struct ft_arbiter_action a = step(
        &m,
        (struct ft_arbiter_event){.kind = FT_ARBITER_RENEW, .now = now, .node = 3, .sent = now});
    assert_int_equal(a.kind, FT_ARBITER_TELL_OUT);
    assert_true(ft_bit_get(&a.nodes, 3));
    m = arbiter(0, 1); /* its own node needs none */
    now = 100;
    assert_int_equal(pass(&m, &now, 3 * LEASE, 0), -1);
}

static void a_start_may_take_longer(void **state)
{
    (void)state;
    static const uint32_t ranks[4] = {2, 2, 1, 2};
    for (int asks = 0; asks < 2; asks++) {
        struct ft_arbiter m;
        struct ft_arbiter_cfg cfg = {
            .nnodes = 4, .own = -1, .lease = LEASE, .drift = 2, .first = 4 * LEASE, .tick = 1};
        uint64_t now = 100;
        ft_arbiter_init(&m, &cfg, ranks, now);
        assert_int_equal(pass(&m, &now, 3 * LEASE, 3), -1);
        if (asks) /* from then on its lease is as long as others' */
            assert_int_equal(pass(&m, &now, 1, -1), -1);
        assert_int_equal(pass(&m, &now, LEASE + 2, 3), -1);
        assert_int_equal(pass(&m, &now, 1, 3), 3);
    }
}

static void a_standstill_does_not_count(void **state)
{
    (void)state;
    struct ft_arbiter m = arbiter(-1, 1);
    uint64_t now = 100;
    assert_int_equal(pass(&m, &now, LEASE, 1), -1);
    now += 10 * LEASE;
    assert_int_equal(at(&m, now).kind, 0);
    assert_int_equal(pass(&m, &now, LEASE + 2, 1), -1); /* it counts from the beginning */
    assert_int_equal(pass(&m, &now, 1, 1), 1);
}

/* The lone accuser goes, not the one of two whom it accuses; of two that accuse each other the one
 * with fewer ranks, then the one with the higher number, never the arbiter's. */
static void who_goes(void **state)
{
    (void)state;
    static const struct {
        int own, npairs, pair[3][2], goes;
    } of[] = {{-1, 2, {{1, 0}, {1, 3}}, 1}, {-1, 1, {{0, 2}}, 2},
              {-1, 1, {{0, 3}}, 3},         {3, 1, {{0, 3}}, 0},
              {2, 1, {{2, 1}}, 1},          {-1, 3, {{3, 0}, {3, 1}, {3, 2}}, 3}};
    for (size_t i = 0; i < FT_COUNTOF(of); i++) {
        struct ft_arbiter m = arbiter(of[i].own, 1);
        uint64_t now = 100;
        for (int k = 0; k < of[i].npairs; k++)
            report(&m, now, of[i].pair[k][0], of[i].pair[k][1], 0);
        assert_int_equal(pass(&m, &now, LEASE / 4 - 1, -1), -1); /* others may have more to say */
        assert_int_equal(pass(&m, &now, 1, -1), of[i].goes);
        assert_int_equal(pass(&m, &now, 3 * LEASE, -1),
                         -1); /* what was reported is reported again, if it is still so */
    }
}

/* Of two that cannot reach each other the one that renews its lease stays, whoever has more ranks:
 * the other has no power, or its gateway hangs. */
static void the_silent_one_goes(void **state)
{
    (void)state;
    for (int silent = 2; silent <= 3; silent++) {
        struct ft_arbiter m = arbiter(-1, 1);
        uint64_t now = 100;
        assert_int_equal(pass(&m, &now, LEASE / 2 + 1, silent), -1);
        report(&m, now, 5 - silent, silent, 0);
        assert_int_equal(pass(&m, &now, LEASE / 4, silent), silent);
        assert_int_equal(pass(&m, &now, 3 * LEASE, silent), -1);
    }
}

static void what_is_taken_back_and_what_is_too_much(void **state)
{
    (void)state;
    struct ft_arbiter m = arbiter(-1, 1);
    uint64_t now = 100;
    report(&m, now, 0, 1, 0);
    report(&m, now, 1, 0, 1);
    assert_int_equal(pass(&m, &now, 2 * LEASE, -1), -1);
    report(&m, now, 0, 1, 0); /* two would have to go, and one can be borne */
    report(&m, now, 2, 3, 0);
    assert_int_equal(pass(&m, &now, LEASE / 4 + LEASE - 1, -1), -1);
    assert_int_not_equal(pass(&m, &now, 1, -1), -1);
}

static void a_lease_from_its_keeper(void **state)
{
    (void)state;
    struct ft_lease m;
    ft_lease_init(&m, LEASE, 100, 1000);
    struct ft_lease_event ev = {.kind = FT_LEASE_TIME, .now = 1009, .gateway = 1009};
    assert_int_equal(ft_lease_step(&m, &ev), 0);
    ev.now = 1010;
    ev.gateway = 1000; /* it hangs */
    assert_int_equal(ft_lease_step(&m, &ev), 0);
    ev.gateway = 1009;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_ASK);
    ev.now = ev.gateway = 1030;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_STOP | FT_LEASE_ASK);
    assert_true(ft_lease_lasts(&m, 1039));
    assert_false(ft_lease_lasts(&m, 1040));
    ev = (struct ft_lease_event){.kind = FT_LEASE_GRANT, .now = 1041, .sent = 1010};
    assert_int_equal(ft_lease_step(&m, &ev), 0); /* too old to go on with */
    ev.sent = 1030;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_GO_ON);
    assert_true(ft_lease_lasts(&m, 1069));
    /* the arbiter stands: the stopped gateway, which lived, says nothing, and the keeper asks on */
    ev = (struct ft_lease_event){.kind = FT_LEASE_TIME, .now = 1060, .gateway = 1059};
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_STOP | FT_LEASE_ASK);
    for (ev.now = 1070; ev.now < 1130; ev.now += 10)
        assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_ASK);
    ev = (struct ft_lease_event){.kind = FT_LEASE_GRANT, .now = 1130, .sent = 1120};
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_GO_ON);
    /* one that hangs is not asked for, stopped or not */
    ev = (struct ft_lease_event){.kind = FT_LEASE_TIME, .now = 1140, .gateway = 1115};
    assert_int_equal(ft_lease_step(&m, &ev), 0);
    ev.now = 1150;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_STOP);
    ev.now = 1200;
    assert_int_equal(ft_lease_step(&m, &ev), 0);
    /* all have slept, and nobody hung before */
    ft_lease_init(&m, LEASE, 100, 1000);
    ev = (struct ft_lease_event){.kind = FT_LEASE_TIME, .now = 1005, .gateway = 1005};
    assert_int_equal(ft_lease_step(&m, &ev), 0);
    ev.now = 1090;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_STOP | FT_LEASE_ASK);
    ev.kind = FT_LEASE_OUT;
    assert_int_equal(ft_lease_step(&m, &ev), FT_LEASE_END);
    ev.kind = FT_LEASE_GRANT;
    assert_int_equal(ft_lease_step(&m, &ev), 0);
}

static void a_fence(void **state)
{
    (void)state;
    static const uint16_t node_of[5] = {0, 0, 1, 1, 2};
    static struct ft_fence m;
    static struct ft_fence_actions out;
    const struct ft_bitset slot2 = {{1 << 2}}, both = {{1 << 2 | 1 << 3}}, node1 = {{1 << 1}};
    ft_fence_init(&m, 0, 3, 5, node_of, 10);
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_EXITED, .slot = 1}, &out);
    assert_int_equal(out.closed, 1);
    assert_int_equal(out.failed.w[0], 1 << 1);
    ft_fence_step(
        &m, &(struct ft_fence_event){.kind = FT_FENCE_CLOSED, .slot = 2, .class = FT_FENCE_MSG},
        &out);
    assert_true(ft_bitset_empty(&out.failed));
    assert_false(ft_fence_holds(&m, &slot2));
    ft_fence_step(
        &m, &(struct ft_fence_event){.kind = FT_FENCE_CLOSED, .slot = 2, .class = FT_FENCE_OPS},
        &out);
    assert_int_equal(out.failed.w[0], 1 << 2);
    assert_true(ft_fence_holds(&m, &slot2));
    assert_false(ft_fence_holds(&m, &both));
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_BROKEN, .node = 1, .now = 50},
                  &out);
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_TIME, .now = 59}, &out);
    assert_true(ft_bitset_empty(&out.report));
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_TIME, .now = 60}, &out);
    assert_int_equal(out.report.w[0], 1 << 1);
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_TIME, .now = 65},
                  &out); /* the arbiter takes reports anew */
    assert_int_equal(out.report.w[0], 1 << 1);
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_OUT, .nodes = node1}, &out);
    assert_int_equal(out.disconnect.w[0], 1 << 1);
    assert_int_equal(out.failed.w[0], 1 << 3); /* 2 is known */
    assert_true(ft_fence_holds(&m, &both));
    ft_fence_step(&m, &(struct ft_fence_event){.kind = FT_FENCE_TIME, .now = 90}, &out);
    assert_true(ft_bitset_empty(&out.report));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lease_that_is_not_renewed),
                                       cmocka_unit_test(a_standstill_does_not_count),
                                       cmocka_unit_test(who_goes),
                                       cmocka_unit_test(the_silent_one_goes),
                                       cmocka_unit_test(a_start_may_take_longer),
                                       cmocka_unit_test(what_is_taken_back_and_what_is_too_much),
                                       cmocka_unit_test(a_lease_from_its_keeper),
                                       cmocka_unit_test(a_fence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
