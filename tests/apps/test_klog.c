/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_klog.c - losses that are played in one process (apps/kernels_log/play.h): the result always
 * equals that without a loss, and no message comes out of order, which play.c asserts.
 *
 *   KLOG_SEED=S   where the drawn runs begin; each prints its own
 */
#include "play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { P = 16, PHASE_TRANSPOSE = 2 };

static uint64_t undisturbed(enum play_kernel kernel, int ranks, int iterations)
{
    struct play *p = play_create(kernel, ranks, 5, 5, iterations);
    uint64_t seed = 1;

    assert_non_null(p);
    assert_true(play_run(p, &seed, 0));
    assert_int_equal(play_work(p), (uint64_t)ranks * (uint64_t)iterations);
    uint64_t result = play_result(p);
    play_destroy(p);
    return result;
}

static void ends_as_undisturbed(struct play *p, enum play_kernel kernel, int ranks, int iterations)
{
    uint64_t seed = 99;
    assert_true(play_run(p, &seed, 0));
    assert_int_equal(play_result(p), undisturbed(kernel, ranks, iterations));
}

/* The result does not depend on the order of steps; otherwise the other tests would show
 * nothing. */
static void order_does_not_matter(void **state)
{
    (void)state;
    for (int kernel = PLAY_CG; kernel <= PLAY_STENCIL; kernel++) {
        int ranks = kernel == PLAY_CG ? 16 : 27;
        for (uint64_t seed = 1; seed < 20; seed++) {
            uint64_t s = seed;
            struct play *p = play_create(kernel, ranks, 1 + (int)seed % 4, 0, 9);
            assert_non_null(p);
            assert_true(play_run(p, &s, 0));
            assert_int_equal(play_result(p), undisturbed(kernel, ranks, 9));
            play_destroy(p);
        }
    }
}

/* The paper's figure 6: P N + i iterations with local, P (N + i) with global rollback. */
static void iterations_over_the_place_of_the_crash(void **state)
{
    (void)state;
    for (int kernel = PLAY_CG; kernel <= PLAY_STENCIL; kernel++) {
        const int ranks = kernel == PLAY_CG ? 16 : 27, cp_int = kernel == PLAY_CG ? 25 : 20, n = 30;
        for (int i = 0; i < cp_int; i++)
            for (int log_size = 0; log_size <= cp_int; log_size += cp_int) {
                struct play *p = play_create(kernel, ranks, cp_int, log_size, n);
                assert_non_null(p);
                play_lockstep(p, i);
                play_lose(p, 5);
                bool local = play_tell(p, NULL) == KLOG_LOCAL;
                assert_true(local == (i <= log_size));
                ends_as_undisturbed(p, kernel, ranks, n);
                int again = local ? i : ranks * i;
                assert_int_equal(play_work(p), (uint64_t)(ranks * n + again));
                play_destroy(p);
            }
    }
}

/* Does steps of all ranks until none can go on, without the steps of `lost` beyond the transpose
 * exchange, and those of `held` that would begin it. */
static void play_wave(struct play *p, int lost, int held)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < P; r++) {
            if (r == lost && play_at(p, r).phase > PHASE_TRANSPOSE)
                continue;
            if (r == held && play_at(p, r).phase == PHASE_TRANSPOSE)
                continue;
            moved = play_step(p, r) || moved;
        }
    }
}

/* The paper's figure 4; iterations count from 1 there. */
static void front_of_a_loss_in_cg(void **state)
{
    static const int expected[P] = {13, 13, 11, 13, 14, 14, 14, 14, 14, 14, 14, 14, 13, 13, 13, 13};
    struct play *p = play_create(PLAY_CG, P, 10, 10, 30);
    int front[P];

    (void)state;
    assert_non_null(p);
    play_lockstep(p, 12);
    play_wave(p, 2, 3);
    assert_int_equal(play_at(p, 2).iteration + 1, 13);
    assert_int_equal(play_at(p, 2).phase, PHASE_TRANSPOSE + 1);
    play_lose(p, 2);
    assert_int_equal(play_tell(p, front), KLOG_LOCAL);
    for (int r = 0; r < P; r++)
        assert_int_equal(front[r] + 1, expected[r]);
    ends_as_undisturbed(p, PLAY_CG, P, 30);
    assert_int_equal(play_work(p), (uint64_t)(P * 30 + 2)); /* 11 and 12 again, by rank 2 alone */
    play_destroy(p);
}

/* The paper's figure 8: how far the foremost rank is from the checkpoint. */
static void hybrid_chooses_by_its_logs(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct play *p = play_create(PLAY_STENCIL, 27, 20, 10, 30);
        assert_non_null(p);
        play_lockstep(p, i);
        play_lose(p, 13);
        assert_int_equal(play_tell(p, NULL), i <= 10 ? KLOG_LOCAL : KLOG_GLOBAL);
        ends_as_undisturbed(p, PLAY_STENCIL, 27, 30);
        play_destroy(p);
    }
}

/* All have come to the next checkpoint, and not all have saved it. By the paper's test the rollback
 * would be local, though no log holds the second half of the interval. */
static void loss_at_a_checkpoint(void **state)
{
    enum { CP_INT = 10, LOG_SIZE = 5 };
    struct play *p = play_create(PLAY_CG, P, CP_INT, LOG_SIZE, 30);
    int front[P];

    (void)state;
    assert_non_null(p);
    play_lockstep(p, CP_INT - 1);
    for (bool moved = true; moved;) { /* all but rank 6 save; they wait for it */
        moved = false;
        for (int r = 0; r < P; r++)
            if (r != 6 || play_at(p, r).iteration < CP_INT)
                moved = play_step(p, r) || moved;
    }
    assert_true(play_at(p, 0).waits_for_checkpoint);
    uint64_t logged = play_counts(p, 0).logged;
    assert_int_equal(logged % LOG_SIZE, 0); /* of LOG_SIZE iterations, not of CP_INT */
    play_lose(p, 6);
    assert_int_equal(play_tell(p, front), KLOG_GLOBAL);
    int most = 0;
    for (int r = 0; r < P; r++)
        most = front[r] > most ? front[r] : most;
    assert_int_equal(most, CP_INT);
    assert_true(most % CP_INT < LOG_SIZE); /* "local" */
    ends_as_undisturbed(p, PLAY_CG, P, 30);
    play_destroy(p);
}

/* The same place, when one rank has seen that all have saved: the new checkpoint counts for all. */
static void loss_after_one_has_seen_the_checkpoint(void **state)
{
    enum { CP_INT = 10 };
    struct play *p = play_create(PLAY_CG, P, CP_INT, 0, 30);
    int front[P];

    (void)state;
    assert_non_null(p);
    play_lockstep(p, CP_INT - 1);
    while (play_checkpoint(p) == 0)
        for (int r = 0; r < P && play_checkpoint(p) == 0; r++)
            play_step(p, r);
    play_lose(p, 6);
    assert_int_equal(play_tell(p, front), KLOG_LOCAL);
    for (int r = 0; r < P; r++) {
        assert_int_equal(front[r], CP_INT);
        assert_int_equal(play_at(p, r).checkpoint, CP_INT); /* nobody saves again */
    }
    ends_as_undisturbed(p, PLAY_CG, P, 30);
    assert_int_equal(play_work(p), P * 30);
    play_destroy(p);
}

/* Each sender sends again what lies between the other's front and its own, and nothing else. */
static void replay_is_bounded_by_both_fronts(void **state)
{
    struct play *p = play_create(PLAY_CG, P, 10, 10, 20);
    const uint64_t sums = 2; /* stages: partners 2 ^ 1 and 2 ^ 2; each has 3 messages for 2 */

    (void)state;
    assert_non_null(p);
    play_lockstep(p, 7);
    play_lose(p, 2);
    assert_int_equal(play_tell(p, NULL), KLOG_LOCAL);
    uint64_t replayed = 0;
    for (int r = 0; r < P; r++)
        replayed += play_counts(p, r).replayed;
    assert_int_equal(replayed, 7 * (3 * sums + 1));
    assert_int_equal(play_counts(p, 3).replayed, 7 * 3);
    assert_int_equal(play_counts(p, 8).replayed, 7); /* the transpose partner */
    assert_int_equal(play_counts(p, 5).replayed, 0);
    play_lockstep(p, 9);
    assert_int_equal(play_counts(p, 2).spared, 7 * (3 * sums + 1));
    play_destroy(p);
}

/* A replacement also logs what it does not send, because its neighbour's replacement needs it. */
static void neighbours_lost_one_after_the_other(void **state)
{
    struct play *p = play_create(PLAY_CG, P, 10, 10, 20);

    (void)state;
    assert_non_null(p);
    play_lockstep(p, 5);
    play_lose(p, 2);
    assert_int_equal(play_tell(p, NULL), KLOG_LOCAL);
    play_lockstep(p, 6);
    assert_int_equal(play_counts(p, 2).logged, 6 * (3 * 2 + 1));
    play_lose(p, 3);
    assert_int_equal(play_tell(p, NULL), KLOG_LOCAL);
    assert_int_equal(play_counts(p, 2).replayed, 6 * 3);
    ends_as_undisturbed(p, PLAY_CG, P, 20);
    play_destroy(p);
}

static uint64_t seed;
static int draw(int n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((seed >> 33) % (uint64_t)n);
}

struct tally {
    int local, global, at_once, split;
};

/* Losses at any place, several at once and in sequence, also while replacements are still catching
 * up. Only the lost ranks repeat what they did since the checkpoint, or all ranks do. */
static void drawn_run(struct tally *t)
{
    enum play_kernel kernel = draw(2) ? PLAY_CG : PLAY_STENCIL;
    int ranks = kernel == PLAY_CG ? (draw(2) ? 16 : 4) : (draw(2) ? 27 : 8);
    int cp_int = 1 + draw(8), log_size = draw(cp_int + 1), n = 5 + draw(20);
    struct play *p = play_create(kernel, ranks, cp_int, log_size, n);
    uint64_t again = 0;
    int front[27];

    assert_non_null(p);
    for (int losses = 1 + draw(4); losses > 0; losses--) {
        play_run(p, &seed, draw(ranks * n * 3));
        int victims = 1 + draw(2), lost[2] = {-1, -1}, was[2] = {0, 0};
        for (int v = 0; v < victims; v++) {
            lost[v] = draw(ranks);
            if (v == 1 && lost[1] == lost[0])
                lost[v] = -1;
            else
                was[v] = play_at(p, lost[v]).iteration;
        }
        for (int v = 0; v < 2; v++)
            if (lost[v] >= 0)
                play_lose(p, lost[v]);
        if (draw(2)) /* some time goes by until all are told */
            play_run(p, &seed, draw(ranks * 10));
        int checkpoint = play_checkpoint(p), most = 0, least = n;
        bool local = play_tell(p, front) == KLOG_LOCAL;
        for (int r = 0; r < ranks; r++) {
            bool is_lost = r == lost[0] || r == lost[1];
            most = front[r] > most ? front[r] : most;
            least = !is_lost && front[r] < least ? front[r] : least;
            if (is_lost)
                again += (uint64_t)((r == lost[0] ? was[0] : was[1]) - checkpoint);
            else if (!local)
                again += (uint64_t)(front[r] - checkpoint);
        }
        assert_true(local == (most - checkpoint <= log_size));
        t->local += local;
        t->global += !local;
        t->at_once += lost[0] >= 0 && lost[1] >= 0;
        t->split += least != most;
    }
    ends_as_undisturbed(p, kernel, ranks, n);
    assert_int_equal(play_work(p), (uint64_t)(ranks * n) + again);
    play_destroy(p);
}

static void drawn_losses(void **state)
{
    const char *text = getenv("KLOG_SEED");
    uint64_t first = text ? strtoull(text, NULL, 10) : 1;
    struct tally t = {0};

    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        seed = first + i;
        printf("KLOG_SEED=%llu\n", (unsigned long long)seed); /* the last one is the bad one */
        fflush(stdout);
        drawn_run(&t);
    }
    printf("%d local and %d global rollbacks, %d of two ranks at once, %d with survivors in "
           "different iterations\n",
           t.local, t.global, t.at_once, t.split);
    assert_true(t.local > 50 && t.global > 50 && t.at_once > 50 && t.split > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(iterations_over_the_place_of_the_crash),
        cmocka_unit_test(front_of_a_loss_in_cg),
        cmocka_unit_test(hybrid_chooses_by_its_logs),
        cmocka_unit_test(loss_at_a_checkpoint),
        cmocka_unit_test(loss_after_one_has_seen_the_checkpoint),
        cmocka_unit_test(replay_is_bounded_by_both_fronts),
        cmocka_unit_test(neighbours_lost_one_after_the_other),
        cmocka_unit_test(drawn_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
