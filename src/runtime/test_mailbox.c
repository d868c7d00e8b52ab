/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_mailbox.c - a main and an agent on one mailbox, each in its thread. Main moves, parks in the
 * middle of commands, asks for images and takes them. The agent must never see, or do, things that
 * do not belong together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sim_seeds.h"
#include "runtime/mailbox.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROUNDS 10000
#else
#define ROUNDS 50000
#endif

static struct ft_mailbox box;
static uint64_t seed;
/* For main; the agent reads them when main has come to GONE. */
static uint64_t parked, wished, took, declined;

#define CHECK(x)                                                                           \
    do {                                                                                   \
        if (!(x)) {                                                                        \
            fprintf(stderr, "FTRMA_TEST_SEED=%llu: %s:%d: %s\n", (unsigned long long)seed, \
                    __FILE__, __LINE__, #x);                                               \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

/* The contents that a command's argument and its answer must have, so that a torn one is
 * noticed. */
static struct ft_command_arg arg_of(uint64_t n)
{
    return (struct ft_command_arg){.version = 3 * n,
                                   .snapshot = ~n,
                                   .generation = (uint32_t)n,
                                   .rank = (int32_t)(n % 1000),
                                   .why = (uint32_t)n ^ 5};
}

static void check_arg(uint64_t n)
{
    struct ft_command_arg a = box.arg, b = arg_of(n);
    CHECK(a.version == b.version && a.snapshot == b.snapshot && a.generation == b.generation &&
          a.rank == b.rank && a.why == b.why);
}

/* --- main --- */

static void go(enum ft_command c)
{
    static const enum ft_place to[FT_COMMANDS] = {
        [FT_CMD_ROLE] = FT_AT_SETUP,       [FT_CMD_BODY] = FT_AT_BODY,
        [FT_CMD_RELEASE] = FT_AT_BODY,     [FT_CMD_RESUME] = FT_AT_BODY,
        [FT_CMD_RESTORE] = FT_AT_RESTORED, [FT_CMD_DONE] = FT_AT_GONE};
    if (to[c])
        ft_box_move(&box, to[c]);
    if (c == FT_CMD_RELEASE)
        ft_box_pass(&box, atomic_load(&box.reached));
}

/* Stands at a place until it is released. Returns 0 if it has parked, as it may do at any
 * moment. */
static int stand(struct ft_prng *r, enum ft_place p)
{
    ft_box_move(&box, p);
    for (;;) {
        enum ft_command c;
        while ((c = ft_box_command(&box)) == FT_CMD_NONE) {
            if (p == FT_AT_HELD && ft_prng_below(r, 64) == 0)
                return 0;
            sched_yield();
        }
        if (p == FT_AT_HELD && ft_prng_below(r, 4) == 0)
            return 0;
        uint64_t n = atomic_load(&box.cmd) >> 8;
        check_arg(n);
        int ok = ft_place_takes(p, c);
        CHECK(ok || p == FT_AT_PARKED); /* no other command that does not fit */
        if (ok)
            go(c);
        ft_box_answer(&box,
                      (struct ft_answer){.moved = !ok, .reason = (uint32_t)n, .bytes = n * n});
        p = ft_box_place(&box);
        if (ok && ft_command_leaves(c))
            return 1;
    }
}

static void park(struct ft_prng *r)
{
    parked++;
    /* before it moves: an agent that sees it parked has heard of this */
    ft_box_ask(&box, FT_ASK_ROLLBACK);
    CHECK(stand(r, FT_AT_PARKED));
}

static void take_image(struct ft_prng *r)
{
    uint32_t wish = ft_box_wished(&box);
    if (!wish)
        return;
    wished++;
    CHECK(wish != FT_WISH_BEGUN && !atomic_load(&box.taken));
    if (ft_prng_below(r, 3) == 0) {
        declined++;
        ft_box_took_image(&box, wish, FT_TAKEN_NOT);
    } else if (ft_box_begin_image(&box, wish)) {
        took++;
        ft_box_took_image(&box, wish, 7 * wish);
    }
}

static void safepoint(struct ft_prng *r)
{
    uint64_t n = ft_box_reach(&box), hold;
    while ((hold = atomic_load(&box.hold)) == FT_HOLD_ASK)
        sched_yield();
    if (hold == FT_HOLD_NONE)
        take_image(r);
    if (hold != FT_HOLD_AT + n) {
        ft_box_pass(&box, n);
        return;
    }
    atomic_store(&box.cannot, (uint32_t)n);
    if (!stand(r, FT_AT_HELD))
        park(r);
}

static void *be_main(void *arg)
{
    struct ft_prng r = {seed};
    (void)arg;
    CHECK(stand(&r, FT_AT_INIT) && stand(&r, FT_AT_ENTRY));
    while (!(atomic_load(&box.flags) & FT_SAYS_DONE)) {
        safepoint(&r);
        if (ft_prng_below(&r, 16) == 0)
            ft_box_ask_image(&box, (int)ft_prng_below(&r, 100));
        if (ft_prng_below(&r, 256) == 0)
            sched_yield(); /* longer outside, as the other may not run at the same time */
    }
    CHECK(stand(&r, FT_AT_FINALIZE));
    return NULL;
}

/* --- the agent --- */

static struct ft_main m;
static uint32_t asked;      /* all that main has asked for since the last reset */
static uint32_t taken_back; /* the last generation whose wish was withdrawn before it was begun */
static uint64_t moved_away, heard, heard_not, generation;

static void look(void)
{
    uint64_t moves = m.moves, answered = m.answered;
    ft_box_look(&box, &m);
    CHECK(m.moves >= moves && m.answered >= answered && m.passed <= m.reached);
    asked |= m.asks;
    CHECK(!(m.asks & FT_ASK_IMAGE) || (m.longest >= 0 && m.longest < 100));
    if (m.answered)
        CHECK(m.answer.reason == (uint32_t)m.answered && m.answer.bytes == m.answered * m.answered);
    if (m.place == FT_AT_HELD)
        CHECK(m.cannot == (uint32_t)m.reached && m.passed < m.reached);
    if (m.place == FT_AT_PARKED)
        CHECK(asked & FT_ASK_ROLLBACK);
    if (!m.taken)
        return;
    CHECK(m.taken_in <= generation);
    if (m.taken == FT_TAKEN_NOT) {
        heard_not++;
    } else {
        heard++;
        CHECK(m.taken == 7 * ((uint64_t)m.taken_in + 1) && m.taken_in != taken_back);
    }
    ft_box_heard_taken(&box, &m);
}

static void until(enum ft_place a, enum ft_place b)
{
    for (look(); ft_box_busy(&box, &m) || (m.place != a && m.place != b); look())
        sched_yield();
}

/* 1: done. 0: main had parked. */
static int tell(enum ft_command c)
{
    uint64_t moves = m.moves, n = (atomic_load(&box.cmd) >> 8) + 1;
    enum ft_place from = m.place;
    struct ft_command_arg arg = arg_of(n);
    CHECK(ft_box_issue(&box, &m, c, &arg) == n && ft_box_busy(&box, &m));
    for (look(); ft_box_busy(&box, &m); look())
        sched_yield();
    CHECK(m.answered == n);
    if (m.answer.moved) {
        moved_away++;
        CHECK(from == FT_AT_HELD && m.place == FT_AT_PARKED && m.moves == moves + 1);
        return 0;
    }
    if (ft_command_leaves(
            c)) /* main is where the command leads to, or further, but not in the old place */
        CHECK(m.moves > moves);
    else if (c == FT_CMD_COPY && m.place == FT_AT_HELD)
        CHECK(m.moves == moves);
    return 1;
}

static void go_back(void)
{
    until(FT_AT_PARKED, FT_AT_PARKED);
    CHECK(tell(FT_CMD_RESTORE) && m.place == FT_AT_RESTORED);
    asked &= ~FT_ASK_ROLLBACK;
    CHECK(tell(FT_CMD_RESUME));
}

/* A checkpoint: main says where it can be stopped, and is stopped there and nowhere else. */
static void hold_main(void)
{
    ft_box_set_hold(&box, FT_HOLD_ASK);
    look();
    uint64_t n = m.reached + 1;
    ft_box_set_hold(&box, FT_HOLD_AT + n);
    until(FT_AT_HELD, FT_AT_PARKED);
    CHECK(m.reached == n);
    ft_box_set_hold(&box, FT_HOLD_NONE);
    if (m.place == FT_AT_PARKED || !tell(FT_CMD_COPY)) {
        go_back();
        return;
    }
    until(FT_AT_HELD, FT_AT_PARKED);
    if (m.place == FT_AT_PARKED || !tell(FT_CMD_RELEASE))
        go_back();
}

static void wish_image(struct ft_prng *r)
{
    if (!ft_box_wish(&box, (uint32_t)++generation))
        return;
    for (uint64_t n = ft_prng_below(r, 300); n > 0; n--)
        ft_cpu_relax();
    if (ft_prng_below(r, 8) == 0)
        sched_yield();
    if (ft_prng_below(r, 2) == 0 && ft_box_unwish(&box) == 2)
        taken_back = (uint32_t)generation;
}

/* Each round needs the other thread, which waits its turn on a busy machine. */
static int enough(int round, uint64_t begun_ns)
{
    return round >= ROUNDS || (ft_now_ns() - begun_ns > 60000000000ull && moved_away > 10 &&
                               heard > 0 && heard_not > 10);
}

static void agree(void **state)
{
    uint64_t begun_ns = ft_now_ns();
    pthread_t t;
    (void)state;
    seed = test_seed(1);
    struct ft_prng r = {seed + 1};
    assert_int_equal(pthread_create(&t, NULL, be_main, NULL), 0);
    until(FT_AT_INIT, FT_AT_INIT);
    CHECK(tell(FT_CMD_ROLE));
    until(FT_AT_ENTRY, FT_AT_ENTRY);
    CHECK(tell(FT_CMD_BODY));
    for (int i = 0; !enough(i, begun_ns); i++) {
        if (ft_prng_below(&r, 4) == 0)
            hold_main();
        else
            wish_image(&r);
        look();
    }
    ft_box_flag(&box, FT_SAYS_DONE, 1);
    until(FT_AT_FINALIZE, FT_AT_FINALIZE);
    CHECK(tell(FT_CMD_DONE) && m.place == FT_AT_GONE);
    pthread_join(t, NULL);
    CHECK(heard == took && heard_not == declined); /* each answer was seen once */
    CHECK(asked & FT_ASK_IMAGE);
    /* The cases did happen. */
    CHECK(parked > 10 && moved_away > 10 && wished > 10 && took > 0 && declined > 0);
}

/* Main stands where commands make sense, and nowhere else. */
static void table(void **state)
{
    (void)state;
    for (int p = 0; p < FT_PLACES; p++) {
        int some = 0;
        for (int c = 1; c < FT_COMMANDS; c++)
            some |= ft_place_takes((enum ft_place)p, (enum ft_command)c);
        assert_int_equal(ft_place_stands((enum ft_place)p), some);
        assert_int_equal(ft_place_takes((enum ft_place)p, FT_CMD_NONE), 0);
        assert_int_equal(ft_place_milestone((enum ft_place)p, 0), FT_MILE_NONE);
        assert_string_not_equal(ft_place_name((enum ft_place)p), "?");
    }
    for (int c = 1; c < FT_COMMANDS; c++) {
        int places = 0;
        for (int p = 0; p < FT_PLACES; p++)
            places += ft_place_takes((enum ft_place)p, (enum ft_command)c);
        assert_true(places > 0);
        assert_string_not_equal(ft_command_name((enum ft_command)c), "?");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(table), cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
