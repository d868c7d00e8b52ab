/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_plan.c - the ladder, rung by rung, and random sequences of deaths against what must hold after any of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alog/unkept.h"
#include "base/prng.h"
#include "base/board.h"
#include "recover/plan.h"

/* 6 ranks, 2 checksum processes (slots 6, 7), 3 spares (8 9 10). Group 0: ranks 0 2 4; group 1: ranks 1 3 5. */
static struct ft_mapping map;
static struct ft_groups groups;
static struct ft_decision d;
static struct ft_plan plan;
static char why[200];

static int fresh(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    assert_int_equal(ft_groups_init(&groups, 6, 2, 1, NULL, why, sizeof why), FT_OK);
    assert_int_equal(ft_mapping_init(&map, 6, 2, 3, NULL), FT_OK);
    return 0;
}

static int gone(void **state)
{
    (void)state;
    ft_mapping_finish(&map);
    ft_groups_finish(&groups);
    return 0;
}

/* The next decision: these slots join the failed. */
static enum ft_plan_kind after(uint64_t more, uint64_t committed, uint64_t flags, uint64_t incomplete)
{
    d.generation = map.generation + 1;
    d.failed.w[0] |= more;
    d.data.committed = committed;
    d.data.flags = flags;
    d.data.incomplete.w[0] = incomplete;
    ft_plan_make(&map, &groups, &d, 1, &plan);
    assert_int_equal(plan.message[0] != 0, plan.kind == FT_PLAN_LOST);
    return plan.kind;
}

#define BIT(s) (1ull << (s))

static void spares_only(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(9), 3, 0, 0), FT_PLAN_NOTHING);
    assert_int_equal(plan.nreplaced, 0);
    assert_int_equal(map.generation, 1);
    assert_int_equal(map.pos_of[9], -2);
    assert_int_equal(after(BIT(2), 3, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(map.slot_of[2], 8);
    assert_int_equal(after(BIT(0), 3, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(map.slot_of[0], 10); /* 9 is dead */
}

static void rollback(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(3) | BIT(4), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(plan.version, 7);
    assert_int_equal(plan.nreplaced, 2);
    assert_int_equal(plan.replaced[0], 3);
    assert_int_equal(plan.replaced[1], 4);
    assert_int_equal(map.slot_of[3], 8); /* order of positions, lowest spare first */
    assert_int_equal(map.slot_of[4], 9);
    assert_int_equal(map.pos_of[8], 3);
    assert_int_equal(map.pos_of[3], -2);
    assert_int_equal(map.incarnation[3], 1);
    assert_int_equal(map.incarnation[0], 0);
    assert_int_equal(after(BIT(8), 7, 0, 0), FT_PLAN_ROLLBACK); /* a replacement dies */
    assert_int_equal(map.slot_of[3], 10);
    assert_int_equal(map.incarnation[3], 2);
    char line[700];
    ft_plan_dump(&plan, line, sizeof line);
    assert_string_equal(line, "plan: rollback, version 7, replaced 1: 3");
}

static void interrupted_rollback(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(3), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(after(BIT(9), 7, FT_AGREE_ROLLBACK, 0), FT_PLAN_ROLLBACK); /* only a spare, but mains are parked */
    assert_int_equal(plan.nreplaced, 0);
    assert_int_equal(after(BIT(10), 7, 0, BIT(8)), FT_PLAN_ROLLBACK); /* rank 3 has no image yet */
}

static void replay_alone(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0), 0, 0, 0), FT_PLAN_REJOIN); /* nothing committed: any number of a group */
    assert_int_equal(after(BIT(2) | BIT(4), 0, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[0], 8);
    assert_int_equal(map.slot_of[4], 10);
}

static void after_run(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0), 9, FT_AGREE_RUN_OVER, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(0, 9, FT_AGREE_RUN_OVER, BIT(8)), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(2), 9, FT_AGREE_RUN_OVER, BIT(8)), FT_PLAN_LOST); /* the same rule after FTRMA_Run */
}

static void checksum_process(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(7), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[7], 8);
    assert_int_equal(after(BIT(10), 4, 0, BIT(8)), FT_PLAN_REJOIN); /* interrupted: again */
    assert_int_equal(after(BIT(0), 4, 0, BIT(8)), FT_PLAN_ROLLBACK);  /* another group */
}

static void group_lost(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(4) | BIT(2), 4, 0, 0), FT_PLAN_LOST);
    assert_string_equal(plan.message,
                        "group 0 (checksum process 0, ranks 0 2 4) lost rank 2 and rank 4 after checkpoint 4: with --parity 1 it can "
                        "rebuild 1 lost member at a time; start with a larger --parity");
    assert_int_equal(map.generation, 0); /* as it was */
    assert_int_equal(map.pos_of[4], 4);
    assert_int_equal(map.slot_of[2], 2);
}

static void codeword_counts(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(7), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(5), 4, 0, BIT(8)), FT_PLAN_LOST); /* its codeword was not yet rebuilt */
    assert_string_equal(plan.message,
                        "group 1 (checksum process 1, ranks 1 3 5) lost rank 5 and checksum process 1 after checkpoint 4: with "
                        "--parity 1 it can rebuild 1 lost member at a time; start with a larger --parity");
}

static void no_spare(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(8) | BIT(9), 4, 0, 0), FT_PLAN_NOTHING);
    assert_int_equal(after(BIT(0) | BIT(7), 4, 0, 0), FT_PLAN_LOST);
    assert_string_equal(plan.message, "rank 0 and checksum process 1 were lost, which needs 2 spares, and 1 is left: start with --spares 4");
    char line[700];
    int len = ft_plan_dump(&plan, line, sizeof line);
    assert_int_equal(len, strlen(line));
    assert_non_null(strstr(line, "lost, version 4, replaced 0: rank 0 and"));
}

static void no_replay(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(6), 4, FT_AGREE_PHASE_RMA, 0), FT_PLAN_REJOIN); /* no rank was lost */
    assert_int_equal(after(BIT(0), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "is not logged (--recovery global)"));
    map.why_not = FT_FALLBACK_NO_LOGS;
    assert_int_equal(after(BIT(0), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "is not logged (--log off)"));
    assert_non_null(strstr(plan.message, "rank 0 of group 0 (checksum process 0, ranks 0 2 4) was lost"));
    assert_int_equal(after(0, 4, FT_AGREE_UNPROTECTED, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "called off"));
    assert_int_equal(after(0, 4, FT_AGREE_NO_REPLAY, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "neither a checkpoint nor logs"));
    static const char *const unkept[] = {"went over their limit",       "no memory for the logs", "several threads",
                                         "opened a file together", "gets outside",           "more accesses in it",
                                         "was undone"};
    for (int i = 0; i < (int)FT_COUNTOF(unkept); i++) {
        assert_int_equal(after(0, 4, FT_AGREE_UNKEPT(1 << i), 0), FT_PLAN_LOST);
        assert_non_null(strstr(plan.message, unkept[i]));
        for (int k = 0; k < (int)FT_COUNTOF(unkept); k++) /* and no other cause */
            assert_true(k == i || !strstr(plan.message, unkept[k]));
    }
    assert_true(FT_UNKEPT_ALL == (1 << FT_COUNTOF(unkept)) - 1);
    ft_plan_make(&map, &groups, &d, 0, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "no logs"));
    map.local = 1;
    assert_int_equal(after(BIT(1), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "only one rank at a time"));
}

static void shared_window(void **state)
{
    (void)state;
    map.local = 1;
    assert_int_equal(after(BIT(0), 4, FT_AGREE_SHARED, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(plan.why, FT_FALLBACK_SHARED);
    assert_int_equal(after(BIT(1), 4, FT_AGREE_SHARED | FT_AGREE_RUN_OVER, 0), FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "shared memory"));
    assert_int_equal(after(0, 0, FT_AGREE_SHARED, 0), FT_PLAN_LOST); /* nothing to go back to yet */
    assert_int_equal(after(0, 4, 0, 0), FT_PLAN_REJOIN);
}

static void done(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0) | BIT(2) | BIT(6) | BIT(8) | BIT(9) | BIT(10), 4, FT_AGREE_DONE | FT_AGREE_RUN_OVER, 0),
                     FT_PLAN_NOTHING);
    assert_int_equal(map.pos_of[0], -2);
    assert_int_equal(plan.nreplaced, 0);
}

static void no_checksum_processes(void **state)
{
    (void)state;
    ft_mapping_finish(&map);
    assert_int_equal(ft_mapping_init(&map, 3, 0, 1, NULL), FT_OK);
    memset(&d, 0, sizeof d);
    d.generation = 1;
    d.failed.w[0] = BIT(1);
    ft_plan_make(&map, NULL, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[1], 3);
    d.generation = 2;
    d.failed.w[0] |= BIT(0);
    ft_plan_make(&map, NULL, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_string_equal(plan.message, "rank 0 was lost, and no spare is left: start with --spares 2");
}

static void long_messages(void **state)
{
    (void)state;
    ft_mapping_finish(&map);
    ft_groups_finish(&groups);
    assert_int_equal(ft_mapping_init(&map, 2000, 16, 1000, NULL), FT_OK);
    assert_int_equal(ft_groups_init(&groups, 2000, 16, 1, NULL, why, sizeof why), FT_OK);
    memset(&d, 0, sizeof d);
    d.generation = 1;
    for (int s = 1000; s < 2000; s++)
        ft_bit_set(&d.failed, s);
    d.data.committed = 1;
    ft_plan_make(&map, &groups, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "176 ... 125 of them) lost rank 1008, rank 1024"));
    assert_non_null(strstr(plan.message, "and 50 more"));
    assert_non_null(strstr(plan.message, "a larger --parity"));
    d.data.committed = 0;
    ft_plan_make(&map, &groups, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_REJOIN);
    assert_int_equal(plan.nreplaced, 1000);
    assert_int_equal(plan.replaced[63], 1063);
    struct ft_mapping bad;
    assert_int_equal(ft_mapping_init(&bad, 0, 0, 1, NULL), FT_ERR_ARG);
    assert_int_equal(ft_mapping_init(&bad, FT_MAX_SLOTS, 1, 0, NULL), FT_ERR_ARG);
    ft_mapping_finish(&bad);
}

/* Each position is carried by one living slot, each slot carries one position, and a loss of more than m in a group never
 * passes. */
static void check_after(uint64_t seed, const struct ft_mapping *m, const struct ft_groups *g)
{
    int n = m->nranks + m->nchecksums, slots = n + m->nspares, carriers = 0, lost[64] = {0};
    for (int p = 0; p < n; p++)
        if (ft_bit_get(&d.failed, m->slot_of[p]) || m->pos_of[m->slot_of[p]] != p)
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": position %d has no living carrier", seed, p);
    for (int s = 0; s < slots; s++) {
        carriers += m->pos_of[s] >= 0;
        if ((m->pos_of[s] == -2) != ft_bit_get(&d.failed, s))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": slot %d is not what it should be", seed, s);
    }
    for (int i = 0; i < plan.nreplaced; i++)
        lost[ft_group_of_position(g, plan.replaced[i])]++;
    for (int i = 0; i < g->ngroups; i++)
        if (d.data.committed && lost[i] > g->parity)
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": group %d has lost %d, and the plan goes on", seed, i, lost[i]);
    if (carriers != n)
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": %d carriers of %d positions", seed, carriers, n);
}

static void random_deaths(void **state)
{
    (void)state;
    const char *env = getenv("FTRMA_TEST_SEED");
    uint64_t first = env ? strtoull(env, NULL, 0) : 1;
    for (uint64_t seed = first; seed < first + (env ? 1 : 5000); seed++) {
        struct ft_prng rng = {seed};
        struct ft_mapping m;
        int nranks = 1 + (int)ft_prng_below(&rng, 20), parity = 1 + (int)ft_prng_below(&rng, nranks < 4 ? (uint64_t)nranks : 4);
        int k = parity * (1 + (int)ft_prng_below(&rng, (uint64_t)(nranks / parity)));
        assert_int_equal(ft_groups_init(&groups, nranks, k, parity, NULL, why, sizeof why), FT_OK);
        assert_int_equal(ft_mapping_init(&m, nranks, k, (int)ft_prng_below(&rng, 15), NULL), FT_OK);
        memset(&d, 0, sizeof d);
        do {
            d.generation++;
            for (int i = 0; i < 2; i++)
                ft_bit_set(&d.failed, (int)ft_prng_below(&rng, (uint64_t)(nranks + k + m.nspares)));
            d.data.committed += ft_prng_below(&rng, 2);
            ft_plan_make(&m, &groups, &d, 1, &plan);
            if (plan.kind != FT_PLAN_LOST)
                check_after(seed, &m, &groups);
        } while (plan.kind != FT_PLAN_LOST);
        ft_mapping_finish(&m);
        ft_groups_finish(&groups);
    }
}

/* Two codewords: two of a group at once, whichever they are; the third is too many, and it is said where they were. */
static void two_codewords(void **state)
{
    (void)state;
    static const char text[] = "level node in rack count 6\nlevel rack count 3\n";
    static const int node_of[] = {0, 0, 1, 1, 2, 3, 4, 4, 5}; /* slots: ranks 0 to 3, checksum processes 4 5, spares 6 7 8 */
    static int scratch[1000], group_of[6];
    struct ft_domains domains;
    ft_mapping_finish(&map);
    ft_groups_finish(&groups);
    assert_int_equal(ft_groups_init(&groups, 4, 2, 2, NULL, why, sizeof why), FT_OK);
    assert_int_equal(ft_mapping_init(&map, 4, 2, 3, NULL), FT_OK);
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &domains, why, sizeof why), FT_OK);
    assert_true(ft_place_spares_scratch(&domains, 6, 3) <= 1000);
    struct ft_where where = {.domains = &domains, .node_of = node_of, .group_of = group_of, .parity = 2, .aware = 1, .holds = 1,
                             .scratch = scratch};
    map.where = &where;
    uint64_t lost[] = {BIT(0) | BIT(1), BIT(2) | BIT(5), BIT(4) | BIT(5)};
    for (int i = 0; i < 3; i++) {
        struct ft_mapping kept = map;
        assert_int_equal(ft_mapping_init(&map, 4, 2, 3, NULL), FT_OK);
        map.where = &where;
        memset(&d, 0, sizeof d);
        assert_int_equal(after(lost[i], 4, 0, 0), i == 2 ? FT_PLAN_REJOIN : FT_PLAN_ROLLBACK);
        assert_int_equal(plan.nreplaced, 2);
        assert_int_equal(plan.unaware, 0);
        ft_mapping_finish(&map);
        map = kept;
    }
    memset(&d, 0, sizeof d);
    assert_int_equal(after(BIT(1) | BIT(2) | BIT(3), 4, 0, 0), FT_PLAN_LOST);
    assert_string_equal(plan.message, "group 0 (checksum processes 0 1, ranks 0 1 2 3) lost rank 1 (node0), rank 2 (node1) and "
                                      "rank 3 (node1), all of them in rack rack0 after checkpoint 4: with --parity 2 it can "
                                      "rebuild 2 lost members at a time; start with a larger --parity");
    ft_domains_finish(&domains);
}

/* Spares are taken such that Eq. 6 holds, not by their numbers, as long as there are such; then it is said that it does not. */
static void spares_that_keep_groups_apart(void **state)
{
    (void)state;
    static const char text[] = "level node count 6\n";
    static const int node_of[] = {0, 1, 2, 3, 4, 1, 0, 0, 5}; /* slots: ranks 0 to 3, checksum process 4, spares 5 to 8 */
    static int scratch[1000], group_of[5];
    struct ft_domains domains;
    ft_mapping_finish(&map);
    ft_groups_finish(&groups);
    assert_int_equal(ft_groups_init(&groups, 4, 1, 1, NULL, why, sizeof why), FT_OK);
    assert_int_equal(ft_mapping_init(&map, 4, 1, 4, NULL), FT_OK);
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &domains, why, sizeof why), FT_OK);
    struct ft_where where = {.domains = &domains, .node_of = node_of, .group_of = group_of, .parity = 1, .aware = 1, .holds = 1,
                             .scratch = scratch};
    map.where = &where;
    after(BIT(0), 4, 0, 0);
    assert_int_equal(map.slot_of[0], 6); /* 5 is beside rank 1 */
    after(BIT(2), 4, 0, 0);
    assert_int_equal(map.slot_of[2], 8); /* 7 would be beside rank 0 */
    assert_int_equal(plan.unaware, 0);
    assert_int_equal(where.holds, 1);
    after(BIT(3), 4, 0, 0);
    assert_int_equal(plan.unaware, 1);
    assert_int_equal(where.holds, 0);
    assert_int_equal(map.slot_of[3], 5); /* but it is replaced */
    ft_domains_finish(&domains);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        T(spares_only), T(rollback),  T(interrupted_rollback), T(replay_alone), T(after_run),
        T(checksum_process), T(group_lost), T(codeword_counts), T(no_spare), T(no_replay), T(shared_window),
        T(done), T(no_checksum_processes), T(long_messages), T(two_codewords),
        T(spares_that_keep_groups_apart), cmocka_unit_test(random_deaths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
