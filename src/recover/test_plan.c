/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_plan.c - the ladder, rung by rung, and random sequences of deaths against what must hold
 * after any of them.
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
#include "base/board.h"
#include "base/prng.h"
#include "proto/order.h"
#include "recover/plan.h"

/* 6 ranks, 2 checksum processes (slots 6, 7), 3 spares (8 9 10). Group 0: ranks 0 2 4; group 1:
 * ranks 1 3 5. */
static struct ft_mapping map;
static struct ft_groups groups;
static struct ft_decision d;
static struct ft_plan plan;
static struct ft_exposure exposure;
static char why[200];

static int fresh(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    memset(&exposure, 0, sizeof exposure);
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
static enum ft_plan_kind after(uint64_t more, uint64_t committed, uint64_t flags,
                               uint64_t incomplete)
{
    d.generation = map.generation + 1;
    d.failed.w[0] |= more;
    d.data.committed = committed;
    d.data.flags = flags;
    d.data.incomplete.w[0] = incomplete;
    ft_plan_make(&map, &exposure, &groups, &d, 1, &plan);
    assert_int_equal(plan.message[0] != 0, plan.kind == FT_PLAN_LOST);
    assert_int_equal(plan.reason != FT_REASON_NONE, plan.kind == FT_PLAN_LOST);
    return plan.kind;
}

#define BIT(s) (1ull << (s))

/* All votes together say this of the one rank that is lost next. */
static void tell(struct ft_testimony t)
{
    memset(&d.data.told, 0, sizeof d.data.told);
    ft_testimony_add(&d.data.told, &t);
}

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

/* The program handles losses: who is new, and with which image. */
static void told_who_is_new(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(3), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.told && plan.nnew == 1 && plan.nbare == 0);
    assert_true(map.heir[3].is_new && map.heir[3].version == 7 && !map.heir[4].is_new);
    /* somebody has not come to a safepoint since: the union */
    assert_int_equal(after(BIT(4), 7, FT_AGREE_REPAIRING, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.nnew == 2 && map.heir[3].is_new && map.heir[4].is_new);
    /* a spare is lost meanwhile: nobody is told, and nobody is forgotten */
    assert_int_equal(after(BIT(10), 7, FT_AGREE_REPAIRING, 0), FT_PLAN_NOTHING);
    assert_true(!plan.told && map.heir[3].is_new && map.heir[4].is_new);
}

static void told_again(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(3), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(after(BIT(4), 8, 0, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.nnew == 1 && !map.heir[3].is_new && map.heir[4].version == 8);
    /* before the first commit, and after body, it is as ever */
    assert_int_equal(after(BIT(5), 9, FT_AGREE_RUN_OVER, 0), FT_PLAN_REJOIN);
    assert_true(!plan.told && plan.nnew == 0);
}

/* Groups {0, 2, 4} and {1, 3, 5}, one codeword each. */
static void told_beyond_parity(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(0) | BIT(2), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.told && plan.nnew == 2 && plan.nbare == 2);
    assert_true(map.heir[0].lacks == 7 && map.heir[2].lacks == 7 && !map.heir[4].lacks);
    /* rank 4's image would need theirs; the other group has all */
    assert_int_equal(after(BIT(4) | BIT(8), 7, 0, 0), FT_PLAN_LOST); /* too few spares */
}

static void told_what_stays_lost(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(0) | BIT(2), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(after(BIT(4), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.nnew == 1 && plan.nbare == 1 && map.heir[4].lacks == 7);
}

static void told_after_the_next_commit(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(0) | BIT(2), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(after(BIT(4), 8, 0, 0), FT_PLAN_ROLLBACK);
    assert_true(plan.nnew == 1 && plan.nbare == 0 && map.heir[4].version == 8);
}

/* On the way from files nobody has a memory to keep, and a lost group is the end. */
static void told_on_the_way_from_files(void **state)
{
    (void)state;
    map.told = 1;
    assert_int_equal(after(BIT(3), 1, FT_AGREE_ROLLBACK | FT_AGREE_RESTARTING, 0),
                     FT_PLAN_ROLLBACK);
    assert_true(!plan.told && plan.nnew == 0);
    assert_int_equal(after(BIT(0) | BIT(2), 1, FT_AGREE_ROLLBACK | FT_AGREE_RESTARTING, 0),
                     FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_GROUP_LOST);
}

/* D7: body is no place, as the others have gone on, nor is a program with a transport; setup is. */
static void told_dies_again(void **state)
{
    (void)state;
    static const uint64_t where[3] = {(uint64_t)FT_MILE_SETUP << 56 | 1,
                                      (uint64_t)FT_MILE_RUN << 56 | 1,
                                      (uint64_t)FT_MILE_SETUP << 56 | FT_TESTAMENT_OPEN};
    for (int place = 0; place < 3; place++) {
        int at[3] = {3, 8, 9};
        gone(NULL);
        fresh(NULL);
        map.told = 1;
        for (int i = 0; i < 3; i++) {
            tell((struct ft_testimony){.slot = at[i], .calls = 5, .position = where[place]});
            assert_int_equal(after(BIT(at[i]), 7, 0, 0),
                             i == 2 && !place ? FT_PLAN_LOST : FT_PLAN_ROLLBACK);
        }
    }
}

static void interrupted_rollback(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(3), 7, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(after(BIT(9), 7, FT_AGREE_ROLLBACK, 0),
                     FT_PLAN_ROLLBACK); /* only a spare, but mains are parked */
    assert_int_equal(plan.nreplaced, 0);
    assert_int_equal(after(BIT(10), 7, 0, BIT(8)), FT_PLAN_ROLLBACK); /* rank 3 has no image yet */
}

static void replay_alone(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0), 0, 0, 0),
                     FT_PLAN_REJOIN); /* nothing committed: any number of a group */
    assert_int_equal(after(BIT(2) | BIT(4), 0, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[0], 8);
    assert_int_equal(map.slot_of[4], 10);
}

static void after_run(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0), 9, FT_AGREE_RUN_OVER, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(0, 9, FT_AGREE_RUN_OVER, BIT(8)), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(2), 9, FT_AGREE_RUN_OVER, BIT(8)),
                     FT_PLAN_LOST); /* the same rule after FTRMA_Run */
}

static void checksum_process(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(7), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[7], 8);
    assert_int_equal(after(BIT(10), 4, 0, BIT(8)), FT_PLAN_REJOIN);  /* interrupted: again */
    assert_int_equal(after(BIT(0), 4, 0, BIT(8)), FT_PLAN_ROLLBACK); /* another group */
}

static void group_lost(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(4) | BIT(2), 4, 0, 0), FT_PLAN_LOST);
    assert_string_equal(plan.message,
                        "group 0 (checksum process 0, ranks 0 2 4) lost rank 2 and rank 4 after "
                        "checkpoint 4, and a group survives the loss of 1 at a time (--parity). "
                        "Start with a larger --parity");
    assert_int_equal(plan.reason, FT_REASON_GROUP_LOST);
    assert_int_equal(map.generation, 0); /* as it was */
    assert_int_equal(map.pos_of[4], 4);
    assert_int_equal(map.slot_of[2], 2);
}

static void codeword_counts(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(7), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(5), 4, 0, BIT(8)),
                     FT_PLAN_LOST); /* its codeword was not yet rebuilt */
    assert_string_equal(
        plan.message,
        "group 1 (checksum process 1, ranks 1 3 5) lost rank 5 and checksum process 1 after "
        "checkpoint 4, and a group survives the loss of 1 at a time (--parity). "
        "Start with a larger --parity");
}

/* The logs of its ranks are gone with it: nobody goes back alone. */
static void a_node(void **state)
{
    (void)state;
    map.local = 1;
    tell((struct ft_testimony){.slot = 4, .calls = 1});
    assert_int_equal(after(BIT(4), 3, 0, 0), FT_PLAN_REJOIN);              /* a process alone */
    assert_int_equal(after(BIT(9), 3, FT_AGREE_NODE, 0), FT_PLAN_NOTHING); /* a spare's node */
    assert_int_equal(after(0, 3, FT_AGREE_NODE | FT_AGREE_REPLAYING, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(plan.why, FT_FALLBACK_NODE);
    assert_int_equal(after(0, 3, FT_AGREE_NODE, BIT(8)), FT_PLAN_ROLLBACK); /* has no image yet */
    assert_int_equal(after(0, 3, FT_AGREE_REPLAYING, 0), FT_PLAN_NOTHING);
    tell((struct ft_testimony){.slot = 1, .calls = 1});
    assert_int_equal(after(BIT(1), 3, FT_AGREE_NODE, 0), FT_PLAN_ROLLBACK); /* one rank a node */
    assert_int_equal(plan.why, FT_FALLBACK_NODE);
}

static void a_node_too_early(void **state)
{
    (void)state;
    map.local = 1;
    tell((struct ft_testimony){.slot = 4, .calls = 1});
    assert_int_equal(after(BIT(4), 0, FT_AGREE_NODE, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_NODE_LOST);
    assert_int_equal(after(BIT(9), 0, FT_AGREE_NODE | FT_AGREE_REPLAYING, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_NODE_LOST);
}

static void a_node_too_late(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(9), 9, FT_AGREE_RUN_OVER | FT_AGREE_NODE, 0), FT_PLAN_NOTHING);
    assert_int_equal(after(BIT(0), 9, FT_AGREE_RUN_OVER | FT_AGREE_NODE, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_NODE_LOST);
}

static void no_spare(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(8) | BIT(9), 4, 0, 0), FT_PLAN_NOTHING);
    assert_int_equal(after(BIT(0) | BIT(7), 4, 0, 0), FT_PLAN_LOST);
    assert_string_equal(plan.message,
                        "rank 0 and checksum process 1 were lost, and too "
                        "few spares are left (needed: 2, left: 1). Start with --spares 4");
    char line[700];
    int len = ft_plan_dump(&plan, line, sizeof line);
    assert_int_equal(len, strlen(line));
    assert_non_null(strstr(line, "lost, version 4, replaced 0: rank 0 and"));
}

static void no_replay(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(6), 4, FT_AGREE_PHASE_RMA, 0),
                     FT_PLAN_REJOIN); /* no rank was lost */
    assert_int_equal(after(BIT(0), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_OUTSIDE_GLOBAL);
    assert_non_null(strstr(plan.message, "is not logged (--recovery global or program)"));
    map.why_not = FT_FALLBACK_NO_LOGS;
    assert_int_equal(after(BIT(0), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_OUTSIDE_LOG_OFF);
    assert_non_null(strstr(plan.message, "is not logged (--log off)"));
    assert_non_null(
        strstr(plan.message, "rank 0 of group 0 (checksum process 0, ranks 0 2 4) was lost"));
    assert_int_equal(after(0, 4, FT_AGREE_UNPROTECTED, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_LOST_EXIT_IMAGE);
    assert_int_equal(after(0, 4, FT_AGREE_NO_REPLAY, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_NO_START);
    static const enum ft_reason unkept[] = {FT_REASON_OUTSIDE_LIMIT,   FT_REASON_OUTSIDE_ROOM,
                                            FT_REASON_OUTSIDE_THREADS, FT_REASON_OUTSIDE_FILE,
                                            FT_REASON_OUTSIDE_GETS,    FT_REASON_OUTSIDE_LONG,
                                            FT_REASON_OUTSIDE_UNDONE,  FT_REASON_OUTSIDE_NODES};
    for (int i = 0; i < (int)FT_COUNTOF(unkept); i++) {
        assert_int_equal(after(0, 4, FT_AGREE_UNKEPT(1 << i), 0), FT_PLAN_LOST);
        assert_int_equal(plan.reason, unkept[i]);
    }
    assert_true(FT_UNKEPT_ALL == (1 << FT_COUNTOF(unkept)) - 1);
    ft_plan_make(&map, &exposure, &groups, &d, 0, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_NO_LOGS);
    map.local = 1;
    assert_int_equal(after(BIT(1), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_OUTSIDE_SEVERAL);
}

/* One rank alone, whose accesses outside of FTRMA_Run were logged. */
static void cannot_repeat_the_phase(void **state)
{
    (void)state;
    map.local = 1;
    ft_exposer_add(&d.data.exposers, 2, UINT64_MAX);
    assert_int_equal(after(BIT(1), 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_OUTSIDE_PART);
    memset(&d.data.exposers, 0, sizeof d.data.exposers);
    tell((struct ft_testimony){.slot = 1});
    assert_int_equal(after(0, 0, FT_AGREE_PHASE_RMA, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(2), 0, FT_AGREE_PHASE_RMA, BIT(map.slot_of[1])), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_OUTSIDE_REPEATING);
}

static void shared_window(void **state)
{
    (void)state;
    map.local = 1;
    d.data.shared_until = UINT64_MAX;
    assert_int_equal(after(BIT(0), 4, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(plan.why, FT_FALLBACK_SHARED);
    assert_int_equal(after(BIT(1), 4, FT_AGREE_RUN_OVER, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_SHARED_WINDOW);
    assert_int_equal(after(0, 0, 0, 0), FT_PLAN_LOST); /* nothing to go back to yet */
    d.data.shared_until = 4;                           /* freed before the cut of 4 */
    tell((struct ft_testimony){.slot = 1});
    assert_int_equal(after(0, 4, 0, 0), FT_PLAN_REJOIN);
}

static void a_shared_file(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(9) | BIT(6), 4, FT_AGREE_FILES, 0), FT_PLAN_REJOIN);
    assert_int_equal(after(BIT(2), 4, FT_AGREE_FILES, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_FILE_OPEN);
    assert_int_equal(after(0, 4, FT_AGREE_FILES | FT_AGREE_DONE, 0), FT_PLAN_NOTHING);
}

/* Each reason for which a rank does not go back alone; and what its loss does to the others. */
static void exposed(void **state)
{
    (void)state;
    map.local = 1;
    assert_int_equal(after(BIT(0), 4, 0, 0), FT_PLAN_ROLLBACK); /* nobody knows anything of it */
    assert_int_equal(plan.why, FT_FALLBACK_EXPOSED);
    tell((struct ft_testimony){.slot = 1, .own_from = UINT64_MAX});
    assert_int_equal(after(BIT(1), 4, 0, 0), FT_PLAN_ROLLBACK);
    tell((struct ft_testimony){.slot = 8, .own_from = 4});
    assert_int_equal(after(BIT(8), 4, 0, 0), FT_PLAN_REJOIN); /* rank 0 */
    assert_int_equal(exposure.loss[0][0].generation, map.generation);
    assert_int_equal(exposure.loss[0][0].rank, 0);
    assert_int_equal(map.pos_of[10], 0);
    ft_exposer_add(&d.data.exposers, 10, UINT64_MAX); /* which replays */
    assert_int_equal(after(0, 4, 0, 0), FT_PLAN_NOTHING);
    tell((struct ft_testimony){.slot = 2});
    assert_int_equal(after(BIT(2), 4, FT_AGREE_RUN_OVER, 0), FT_PLAN_LOST); /* no spare */
    assert_int_equal(exposure.loss[0][0].rank, 0);                          /* as it was */
    map.pos_of[9] = -1;
    d.failed.w[0] &= ~BIT(9);
}

/* D7: at one place, and never beyond it. */
static void dies_at_one_place(void **state)
{
    (void)state;
    map.local = 1;
    struct ft_testimony t = {.slot = 3, .position = (uint64_t)FT_MILE_RUN << 56 | 7, .calls = 100};
    tell(t);
    assert_int_equal(after(BIT(3), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.fate[3].most_calls, 100);
    t.slot = map.slot_of[3];
    t.calls = 101; /* further than before */
    tell(t);
    assert_int_equal(after(BIT(t.slot), 4, 0, 0), FT_PLAN_REJOIN);
    t.slot = map.slot_of[3];
    t.calls = 100;
    tell(t);
    assert_int_equal(after(BIT(t.slot), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.fate[3].most_calls, 101);
    t.slot = map.slot_of[3];
    tell(t);
    assert_int_equal(after(BIT(t.slot), 4, 0, 0), FT_PLAN_LOST);
    assert_int_equal(plan.reason, FT_REASON_SAME_PLACE);
    assert_non_null(strstr(plan.message, "rank 3 died 3 times"));
    assert_non_null(strstr(plan.message, "in body, safepoint 7, call 100"));
    ft_plan_all_went_back(&map, &exposure);
    assert_int_equal(map.fate[3].most_calls, 0);
    assert_int_equal(map.fate[3].deaths, 3);
}

/* A rank without a testimony is not counted, and what was counted before stays. */
static void dies_unheard(void **state)
{
    (void)state;
    map.local = 1;
    struct ft_testimony t = {.slot = 3, .position = (uint64_t)FT_MILE_RUN << 56 | 7, .calls = 100};
    tell(t);
    assert_int_equal(after(BIT(3), 4, 0, 0), FT_PLAN_REJOIN);
    memset(&d.data.told, 0, sizeof d.data.told);
    assert_int_equal(after(BIT(map.slot_of[3]), 4, 0, 0), FT_PLAN_ROLLBACK);
    assert_int_equal(map.fate[3].deaths, 1);
    t.slot = map.slot_of[3];
    tell(t);
    assert_int_equal(after(BIT(t.slot), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.fate[3].deaths, 2);
}

/* Survivors know different things: whichever votes are merged in whatever order and how often, all
 * who adopt the decision come to one plan. */
static void one_plan(void **state)
{
    (void)state;
    const char *env = getenv("FTRMA_TEST_SEED");
    uint64_t first = env ? strtoull(env, NULL, 0) : 1;
    for (uint64_t seed = first; seed < first + (env ? 1 : 2000); seed++) {
        struct ft_prng rng = {seed};
        struct ft_agree_data vote[4], sum[2];
        int dead = (int)ft_prng_below(&rng, 6);
        memset(vote, 0, sizeof vote);
        for (int i = 0; i < 4; i++) {
            vote[i].committed = 4 + ft_prng_below(&rng, 2);
            vote[i].flags = ft_prng_below(&rng, 8) ? 0 : FT_AGREE_FILES;
            vote[i].shared_until = ft_prng_below(&rng, 6);
            if (ft_prng_below(&rng, 4) == 0)
                ft_exposer_add(&vote[i].exposers, (int)ft_prng_below(&rng, 6),
                               4 + ft_prng_below(&rng, 3));
            struct ft_testimony t = {.slot = dead,
                                     .own_from = seed % 7 ? 4 : UINT64_MAX,
                                     .latest = ft_prng_below(&rng, 2) ? 4 : 0};
            if (ft_prng_below(&rng, 2))
                ft_testimony_add(&vote[i].told, &t);
        }
        for (int k = 0; k < 2; k++) {
            memset(&sum[k], 0, sizeof sum[k]);
            for (int i = 0; i < 8; i++)
                ft_agree_merge(&sum[k], &vote[k == 0 ? i % 4 : 3 - (i & 3)]);
        }
        struct ft_plan was;
        for (int k = 0; k < 2; k++) {
            struct ft_mapping m;
            assert_int_equal(ft_mapping_init(&m, 6, 2, 3, NULL), FT_OK);
            m.local = 1;
            memset(&d, 0, sizeof d);
            memset(&exposure, 0, sizeof exposure);
            d.generation = 1;
            ft_bit_set(&d.failed, dead);
            d.data = sum[k];
            ft_plan_make(&m, &exposure, &groups, &d, 1, &plan);
            if (k == 1 && memcmp(&was, &plan, sizeof plan) != 0)
                fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": two plans", seed);
            was = plan;
            ft_mapping_finish(&m);
        }
    }
}

static void done(void **state)
{
    (void)state;
    assert_int_equal(after(BIT(0) | BIT(2) | BIT(6) | BIT(8) | BIT(9) | BIT(10), 4,
                           FT_AGREE_DONE | FT_AGREE_RUN_OVER, 0),
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
    ft_plan_make(&map, &exposure, NULL, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[1], 3);
    d.generation = 2;
    d.failed.w[0] |= BIT(0);
    ft_plan_make(&map, &exposure, NULL, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_string_equal(
        plan.message,
        "rank 0 was lost, and too few spares are left (needed: 1, left: 0). Start with --spares 2");
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
    ft_plan_make(&map, &exposure, &groups, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_LOST);
    assert_non_null(strstr(plan.message, "176 ... 125 of them) lost rank 1008, rank 1024"));
    assert_non_null(strstr(plan.message, "and 50 more"));
    assert_non_null(strstr(plan.message, "a larger --parity"));
    d.data.committed = 0;
    ft_plan_make(&map, &exposure, &groups, &d, 1, &plan);
    assert_int_equal(plan.kind, FT_PLAN_REJOIN);
    assert_int_equal(plan.nreplaced, 1000);
    assert_int_equal(plan.replaced[63], 1063);
    struct ft_mapping bad;
    assert_int_equal(ft_mapping_init(&bad, 0, 0, 1, NULL), FT_ERR_ARG);
    assert_int_equal(ft_mapping_init(&bad, FT_MAX_SLOTS, 1, 0, NULL), FT_ERR_ARG);
    ft_mapping_finish(&bad);
}

/* Each position is carried by one living slot, each slot carries one position, and a loss of more
 * than m in a group never passes. */
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
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": group %d has lost %d, and the plan goes on",
                     seed, i, lost[i]);
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
        int nranks = 1 + (int)ft_prng_below(&rng, 20),
            parity = 1 + (int)ft_prng_below(&rng, nranks < 4 ? (uint64_t)nranks : 4);
        int k = parity * (1 + (int)ft_prng_below(&rng, (uint64_t)(nranks / parity)));
        assert_int_equal(ft_groups_init(&groups, nranks, k, parity, NULL, why, sizeof why), FT_OK);
        assert_int_equal(ft_mapping_init(&m, nranks, k, (int)ft_prng_below(&rng, 15), NULL), FT_OK);
        memset(&d, 0, sizeof d);
        do {
            d.generation++;
            for (int i = 0; i < 2; i++)
                ft_bit_set(&d.failed, (int)ft_prng_below(&rng, (uint64_t)(nranks + k + m.nspares)));
            d.data.committed += ft_prng_below(&rng, 2);
            ft_plan_make(&m, &exposure, &groups, &d, 1, &plan);
            if (plan.kind != FT_PLAN_LOST)
                check_after(seed, &m, &groups);
        } while (plan.kind != FT_PLAN_LOST);
        ft_mapping_finish(&m);
        ft_groups_finish(&groups);
    }
}

/* Begins a job of 4 ranks whose failure domains are known. */
static struct ft_domains domains;
static struct ft_where where;
static void on_nodes(const char *levels, const int *node_of, const int *group_of, int nchecksums,
                     int parity, int nspares)
{
    static int scratch[1000];
    ft_mapping_finish(&map);
    ft_groups_finish(&groups);
    assert_int_equal(ft_groups_init(&groups, 4, nchecksums, parity, NULL, why, sizeof why), FT_OK);
    assert_int_equal(ft_mapping_init(&map, 4, nchecksums, nspares, NULL), FT_OK);
    assert_int_equal(ft_domains_parse("f", levels, strlen(levels), &domains, why, sizeof why),
                     FT_OK);
    assert_true(ft_place_spares_scratch(&domains, 4 + nchecksums, nspares) <= 1000);
    where = (struct ft_where){.domains = &domains,
                              .node_of = node_of,
                              .group_of = group_of,
                              .parity = parity,
                              .aware = 1,
                              .holds = 1,
                              .scratch = scratch};
    map.where = &where;
}

/* Two codewords: any two of a group may be lost at once. A third one is too many, and the message
 * says where they were. */
static void two_codewords(void **state)
{
    (void)state;
    static const char text[] = "level node in rack count 6\nlevel rack count 3\n";
    static const int node_of[] = {
        0, 0, 1, 1, 2, 3, 4, 4, 5}; /* slots: ranks 0 to 3, checksum processes 4 5, spares 6 7 8 */
    static const int group_of[6] = {0};
    on_nodes(text, node_of, group_of, 2, 2, 3);
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
    assert_string_equal(
        plan.message,
        "group 0 (checksum processes 0 1, ranks 0 1 2 3) lost rank 1 (node0), rank 2 (node1) and "
        "rank 3 (node1), all of them in rack rack0 after checkpoint 4, and a group survives the "
        "loss "
        "of 2 at a time (--parity). Start with a larger --parity");
    ft_domains_finish(&domains);
}

/* Spares are taken such that Eq. 6 holds, not by their numbers, as long as there are such; then it
 * is said that it does not. */
static void spares_that_keep_groups_apart(void **state)
{
    (void)state;
    static const char text[] = "level node count 6\n";
    static const int node_of[] = {
        0, 1, 2, 3, 4, 1, 0, 0, 5}; /* slots: ranks 0 to 3, checksum process 4, spares 5 to 8 */
    static const int group_of[5] = {0};
    on_nodes(text, node_of, group_of, 1, 1, 4);
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

/* Several nodes: a rank that is lost alone is replaced on its own node, though another spare comes
 * first; where there is none, all go back, and the others are placed as Eq. 6 wants it. */
static void own_node_first(void **state)
{
    (void)state;
    static const char text[] = "level node count 3\n";
    /* slots: ranks 0 to 3, checksum processes 4 5, spares 6 to 9 */
    static const int node_of[] = {0, 0, 1, 1, 2, 2, 2, 0, 1, 2};
    static const int group_of[6] = {0, 1, 0, 1, 0, 1};
    on_nodes(text, node_of, group_of, 2, 1, 4);
    map.local = FT_LOCAL_ON_NODE;
    tell((struct ft_testimony){.slot = 2, .calls = 1, .log_here = 1});
    /* with a checksum process, which may take what is left */
    assert_int_equal(after(BIT(2) | BIT(5), 4, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[2], 8);
    assert_int_equal(map.slot_of[5], 6);
    assert_int_equal(plan.nreplaced, 2);
    assert_int_equal(plan.unaware, 0);
    assert_int_equal(map.home[2], 2);
    tell((struct ft_testimony){.slot = 8, .calls = 2, .log_here = 1});
    assert_int_equal(after(BIT(8), 5, 0, 0), FT_PLAN_REJOIN); /* no spare is left on node 1 */
    int was = map.slot_of[2];
    assert_true(was == 7 || was == 9);
    assert_int_equal(map.home[2], 8);
    /* while it fetches that log it is lost: the log is still where it was */
    tell((struct ft_testimony){.slot = was, .calls = 2});
    assert_int_equal(after(BIT(was), 5, 0, 0), FT_PLAN_REJOIN);
    assert_int_equal(map.slot_of[2], was == 7 ? 9 : 7);
    assert_int_equal(map.home[2], 8);
    ft_domains_finish(&domains);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fresh, gone)
    const struct CMUnitTest tests[] = {
        T(spares_only),
        T(rollback),
        T(told_who_is_new),
        T(told_again),
        T(told_beyond_parity),
        T(told_what_stays_lost),
        T(told_after_the_next_commit),
        T(told_on_the_way_from_files),
        T(told_dies_again),
        T(interrupted_rollback),
        T(replay_alone),
        T(after_run),
        T(checksum_process),
        T(group_lost),
        T(codeword_counts),
        T(a_node),
        T(a_node_too_early),
        T(a_node_too_late),
        T(no_spare),
        T(no_replay),
        T(shared_window),
        T(a_shared_file),
        T(exposed),
        T(dies_at_one_place),
        T(dies_unheard),
        T(one_plan),
        T(done),
        T(no_checksum_processes),
        T(cannot_repeat_the_phase),
        T(long_messages),
        T(two_codewords),
        T(spares_that_keep_groups_apart),
        T(own_node_first),
        cmocka_unit_test(random_deaths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
