/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job_edges.c - jobs that are refused, end themselves, get stuck or lack memory; two
 * codewords; protected memory, and the notes about memory that is not protected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "msg/channels.h"
#include "rma/far_ring.h"
#include "runtime/mock_job.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const struct mock_job plain = {.nranks = 3, .nchecksums = 1, .nspares = 1, .rounds = 6};

/* --- refused at the start --- */

static void bad_settings_are_refused(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const char *const bad[] = {
        "FTRMA_LOG=some",          "FTRMA_SNAPSHOT=often",  "FTRMA_CHECKPOINT=every:0",
        "FTRMA_MTBF=-1",           "FTRMA_ARENA_SIZE=much", "FTRMA_INJECT=rank=9,point=safepoint",
        "FTRMA_TRANSPORT=pigeons", "FTRMA_PARITY=3"};
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        struct mock_job j = plain;
        j.setting[0] = bad[i];
        print_message("  %s\n", bad[i]);
        mock_run(&j, &o);
        for (int s = 0; s < 5; s++)
            assert_true(o.slot[s].fate == MOCK_ENDED && o.slot[s].status == 2);
        assert_int_equal(o.state, FT_JOB_STARTING);
    }
}

static void other_settings_change_nothing(void **state)
{
    (void)state;
    struct mock_outcome want, o;
    static const char *const ways[] = {
        "FTRMA_LOG=off",     "FTRMA_LOG=puts",        "FTRMA_CHECK=data",    "FTRMA_CHECKPOINT=off",
        "FTRMA_DEMAND=off",  "FTRMA_TRANSPORT=fault", "FTRMA_BIND=core",     "FTRMA_VERBOSE=2",
        "FTRMA_LOG_READY=0", "FTRMA_SPIN=100",        "FTRMA_LOG_LIMIT=64K", "FTRMA_LOG_LIMIT="};
    mock_run(&plain, &want);
    for (size_t i = 0; i < FT_COUNTOF(ways); i++) {
        struct mock_job j = plain;
        j.setting[0] = ways[i];
        print_message("  %s\n", ways[i]);
        mock_run(&j, &o);
        assert_int_equal(o.state, FT_JOB_DONE);
        for (int r = 0; r < 3; r++)
            assert_true(o.rank[r].digest == want.rank[r].digest);
    }
}

/* --- the program ends itself --- */

static void aborts(struct mock_rank *me)
{
    if (me->rank == 1 && me->s->round == 3)
        ft_runtime_abort(7, NULL);
}
static void complains(struct mock_rank *me)
{
    if (me->rank == 1 && me->s->round == 3)
        ft_runtime_abort(0, "MPI_Foo: it cannot be");
}
static void leaves(struct mock_rank *me)
{
    if (me->rank == 1 && me->s->round == 3) {
        ft_runtime_exiting(5);
        fail();
    }
}

static void a_program_may_end_its_job(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct {
        void (*round)(struct mock_rank *me);
        int status;
        const char *says;
    } ends[] = {{aborts, 7, "rank 1 called MPI_Abort(7)"},
                {complains, 1, "rank 1: MPI_Foo: it cannot be"},
                {leaves, 5, "rank 1 ended with exit status 5 before MPI_Finalize"}};
    for (size_t i = 0; i < FT_COUNTOF(ends); i++) {
        struct mock_job j = plain;
        j.round = ends[i].round;
        mock_run(&j, &o);
        assert_int_equal(o.state, FT_JOB_FAILED);
        assert_int_equal(o.status, ends[i].status);
        assert_string_equal(o.message, ends[i].says);
        assert_int_equal(o.events[FT_EV_ENDED], 1);
        assert_int_equal(o.late_ends, 0);
        for (int s = 0; s < 5; s++)
            assert_true(o.slot[s].fate == MOCK_ENDED && o.slot[s].status == ends[i].status);
    }
}

/* --- nothing moves any more --- */

static void wait_for_one_that_is_over(struct mock_rank *me)
{
    uint64_t x;
    if (me->s->round == 5 && me->rank == 1)
        mock_recv(me, 0, 99, &x, 8);
}

static void a_job_that_is_stuck_ends(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.setting[0] = "FTRMA_OVER_LIMIT=1";
    j.setting[1] = "FTRMA_PING_TIMEOUT_MS=1000000"; /* 0: no agent looks */
    j.round = wait_for_one_that_is_over;
    mock_is_lost(&j, FT_REASON_ALL_WAIT, &o);
    assert_int_equal(o.events[FT_EV_DUE_LOST], 1);
    assert_int_equal(o.late_ends, 0);
    assert_non_null(strstr(o.message, "body has ended on ranks 0 2; rank 1 waits in "));
}

/* --- memory --- */

static char *much;
#define MUCH (6u << 20)
static void protect_much(struct mock_rank *me)
{
    if (me->rank != 1)
        return;
    much = calloc(1, MUCH);
    FT_ASSERT(much && ft_runtime_protect(much, MUCH) == FT_OK);
    ft_runtime_prepare();
}

static void without_room_for_images_body_does_not_run(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.setup = protect_much;
    j.setting[0] = "FTRMA_ARENA_SIZE=8M";
    j.setting[1] = "FTRMA_LOG_LIMIT=1M";
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    for (int r = 0; r < 3; r++)
        assert_int_equal(o.rank[r].ran, FT_ERR_NOMEM);
}

/* Messages that are kept fill the arenas. */
static void send_much(struct mock_rank *me)
{
    static const size_t bytes = 200 << 10;
    int n = me->nranks;
    char *p = malloc(bytes);
    FT_ASSERT(p);
    memset(p, me->rank, bytes);
    mock_send(me, (me->rank + 1) % n, 5, p, bytes);
    mock_recv(me, (me->rank + n - 1) % n, 5, p, bytes);
    FT_ASSERT(p[bytes - 1] == (me->rank + n - 1) % n);
    free(p);
}

static void full_arenas_take_logs_away(void **state)
{
    (void)state;
    struct mock_outcome want, o;
    struct mock_job j = plain;
    j.round = send_much;
    j.rounds = 150;
    mock_run(&j, &want);
    j.setting[0] = "FTRMA_ARENA_SIZE=16M";
    j.setting[1] = "FTRMA_LOG_LIMIT=1G"; /* more than there is */
    j.setting[2] = "FTRMA_DEMAND=off";
    j.setting[3] = "FTRMA_CHECKPOINT=every:1000";
    j.death[0] = (struct mock_death){1, 140, FT_FP_SAFEPOINT, 0};
    mock_survives(&j, &o);
    assert_int_equal(o.rollbacks, 1); /* no rank could repeat alone what it did */
    for (int r = 0; r < 3; r++)
        assert_true(o.rank[r].digest == want.rank[r].digest);
}

/* --- two codewords --- */

static void two_of_a_group_are_lost(void **state)
{
    (void)state;
    struct mock_outcome o;
    static const struct mock_death second[] = {
        {2, 3, FT_FP_SAFEPOINT, 0},       {2, 1, FT_FP_AGREE_VOTE, 0},
        {4, 1, FT_FP_AGREE_DECIDED, 0},   {5, 1, FT_FP_REPAIR, 0},
        {6, 1, FT_FP_RESTORE_REBUILD, 0}, {0, 1, FT_FP_QUIESCE, 0}};
    struct mock_job j = {.nranks = 4, .nchecksums = 2, .nspares = 3, .rounds = 6};
    j.setting[0] = "FTRMA_PARITY=2";
    j.death[0] = (struct mock_death){1, 3, FT_FP_SAFEPOINT, 0};
    for (size_t i = 0; i < FT_COUNTOF(second); i++) {
        j.death[1] = second[i];
        print_message("  slot %d at %s\n", second[i].slot, ft_fp_table[second[i].at].name);
        mock_survives(&j, &o);
    }
    j.death[0] = (struct mock_death){4, 2, FT_FP_CKPT_PARITY_PIECE, 0};
    j.death[1] = (struct mock_death){5, 2, FT_FP_CKPT_PARITY_DONE, 1};
    mock_survives(&j, &o);
}

/* --- what is protected --- */

static void unprotects(struct mock_rank *me)
{
    struct mock_state *s = me->s;
    char other[16];
    if (me->s->round == 1) {
        FT_ASSERT(ft_runtime_unprotect(s, sizeof *s / 2) == FT_ERR_ARG); /* a part of a region */
        FT_ASSERT(ft_runtime_unprotect(me->part, 8 * MOCK_WORDS) == FT_OK);
        FT_ASSERT(ft_runtime_unprotect(NULL, 8) == FT_ERR_ARG);
        FT_ASSERT(ft_runtime_unprotect(other, sizeof other) == FT_OK);    /* it never was */
        FT_ASSERT(ft_runtime_protect(other, sizeof other) == FT_ERR_ARG); /* not in body */
    }
    if (me->s->round == 3)
        FT_ASSERT(ft_runtime_protect(me->part, 8 * MOCK_WORDS) == FT_OK);
}

static void protects_many(struct mock_rank *me)
{
    FT_ASSERT(ft_runtime_protect(NULL, 8) == FT_ERR_ARG);
    FT_ASSERT(ft_runtime_protect(NULL, 0) == FT_OK);
    char *p = calloc(600, 8);
    FT_ASSERT(p);
    for (int i = 0; i < 600; i++) {
        p[8 * i] = (char)(i + me->rank);
        FT_ASSERT(ft_runtime_protect(p + 8 * i, 8) == FT_OK);
    }
}

static void regions_and_windows_may_be_left_out(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.round = unprotects;
    j.setup = protects_many;
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    j.round = NULL;
    j.death[0] = (struct mock_death){1, 4, FT_FP_SAFEPOINT, 0};
    mock_survives(&j, &o);
}

/* --- an image of which a thread makes the rest --- */

enum { LARGE = (1 << 20) / 8 }; /* words: several pieces */
static uint64_t large[MOCK_SLOTS][LARGE];

static void protects_large(struct mock_rank *me)
{
    for (size_t i = 0; i < LARGE; i++)
        large[me->slot][i] = i * (uint64_t)(me->rank + 1);
    FT_ASSERT(ft_runtime_protect(large[me->slot], sizeof large[0]) == FT_OK);
}

static void changes_large(struct mock_rank *me)
{
    uint64_t sum = me->s->sum;
    for (size_t i = 0; i < LARGE; i++)
        sum += large[me->slot][i] = large[me->slot][i] * 5 + sum;
    me->s->sum = sum;
}

static void a_thread_makes_the_rest(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = {.nranks = 3, .nchecksums = 1, .nspares = 2, .rounds = 6};
    j.setup = protects_large;
    j.round = changes_large;
    j.death[0] = (struct mock_death){1, 4, FT_FP_SAFEPOINT, 0};
    mock_survives(&j, &o);
    assert_int_equal(o.rollbacks, 0);
    j.death[1] = (struct mock_death){4, 1, FT_FP_REJOIN_HEAD, 0};
    mock_survives(&j, &o);
    j.death[1] = (struct mock_death){4, 1, FT_FP_REJOIN_SETUP, 0}; /* while the thread works */
    mock_survives(&j, &o);
    j.death[1] = (struct mock_death){0};
    j.setting[0] = "FTRMA_RECOVERY=global";
    mock_survives(&j, &o);
}

static uint64_t test_edges_unprotected[64];
static void changes_a_static(struct mock_rank *me)
{
    test_edges_unprotected[me->s->round] += me->s->sum;
}

static void what_body_changes_unprotected_is_named(const struct ft_board *b)
{
    int named = 0;
    for (uint32_t i = 0; i < FT_NOTES && i < atomic_load(&b->slot[0].notes); i++)
        named += strstr(b->slot[0].note[i].what, "test_edges_unprotected") != NULL;
    FT_ASSERT(named == 1);
    FT_ASSERT(atomic_load(&b->slot[0].check_bytes) > sizeof test_edges_unprotected);
}

static void promises(struct mock_rank *me)
{
    (void)me;
    FT_ASSERT(ft_runtime_unprotect(test_edges_unprotected, sizeof test_edges_unprotected) == FT_OK);
}
static void what_is_promised_is_not_named(const struct ft_board *b)
{
    for (uint32_t i = 0; i < FT_NOTES && i < atomic_load(&b->slot[0].notes); i++)
        FT_ASSERT(!strstr(b->slot[0].note[i].what, "test_edges_unprotected"));
}

/* One rank only: with more, each would see the others' threads change its memory. */
static void unprotected_memory_is_said(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = {.nranks = 1, .nchecksums = 1, .rounds = 10};
    if (SANITIZED)
        skip(); /* the sanitizer's own memory is most of what there is */
    j.round = changes_a_static;
    j.setting[0] = "FTRMA_CHECK_MEMORY=always";
    j.at_end = what_body_changes_unprotected_is_named;
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    assert_true(o.events[FT_EV_UNPROTECTED] > 0);
    j.setting[0] = "FTRMA_CHECK_MEMORY=first";
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    j.setup = promises;
    j.at_end = what_is_promised_is_not_named;
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
}

/* --- a node whose lease is over --- */

static _Atomic int voted;

static void *renew(void *of)
{
    struct ft_board *b = of;
    while (mock_deaths() == 0)
        usleep(1000);
    usleep(300000);
    voted = atomic_load(&b->generation) != 0;
    atomic_store(&b->nodes.lease_end, ft_boottime_ns() + 3600000000000ull);
    return NULL;
}

static void the_lease_is_over(struct ft_board *b)
{
    pthread_t t;
    atomic_store(&b->nodes.lease_end, 1);
    assert_int_equal(pthread_create(&t, NULL, renew, b), 0);
    pthread_detach(t);
}

static void nobody_had_voted(const struct ft_board *b)
{
    (void)b;
    assert_false(voted);
}

/* A death is agreed upon when the node has its lease again. */
static void without_a_lease_nobody_votes(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.death[0] = (struct mock_death){.slot = 1, .hit = 3, .at = FT_FP_SAFEPOINT};
    j.at_start = the_lease_is_over;
    j.at_end = nobody_had_voted;
    mock_survives(&j, &o);
}

/* --- a node that is out, where nobody was left --- */

static struct ft_far_ring *lost_ring;

/* As main does when it has parked. */
static void *settle(void *of)
{
    struct ft_board *b = of;
    while (atomic_load(&b->rollbacks) == 0)
        usleep(1000);
    atomic_store(&lost_ring->settled, 1);
    return NULL;
}

static void loses_an_access(struct mock_rank *me)
{
    struct ft_arena *own = ft_transport->own;
    pthread_t t;
    uint64_t never;
    if (me->rank != 1 || me->s->round != 3 || atomic_load(&own->ctl->far_ring))
        return;
    uint64_t off = ft_arena_need(own, sizeof *lost_ring, FT_CACHE_LINE);
    lost_ring = ft_arena_ptr(own, off);
    memset((void *)lost_ring, 0, offsetof(struct ft_far_ring, stage));
    atomic_store(&lost_ring->lost, 1);
    atomic_store(&own->ctl->far_ring, off);
    assert_int_equal(pthread_create(&t, NULL, settle, ft_transport->board), 0);
    pthread_detach(t);
    ft_agent_nudge(mock_rt(me->slot));
    mock_recv(me, 0, 99, &never, sizeof never); /* waits until all go back */
}

/* A rank was lost before, and with its node nobody fails any more: no vote says so. */
static void what_a_node_takes_along_takes_all_back(void **state)
{
    (void)state;
    struct mock_outcome want, o;
    struct mock_job j = plain;
    mock_run(&plain, &want);
    j.death[0] = (struct mock_death){.slot = 2, .hit = 3, .at = FT_FP_SAFEPOINT};
    j.round = loses_an_access;
    mock_run(&j, &o);
    assert_int_equal(o.state, FT_JOB_DONE);
    assert_true(o.generation == 1 && o.rollbacks == 1);
    for (int r = 0; r < plain.nranks; r++)
        assert_true(o.rank[r].digest == want.rank[r].digest);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(other_settings_change_nothing),
        cmocka_unit_test(a_program_may_end_its_job),
        cmocka_unit_test(a_job_that_is_stuck_ends),
        cmocka_unit_test(a_thread_makes_the_rest),
        cmocka_unit_test(without_room_for_images_body_does_not_run),
        cmocka_unit_test(full_arenas_take_logs_away),
        cmocka_unit_test(two_of_a_group_are_lost),
        cmocka_unit_test(regions_and_windows_may_be_left_out),
        cmocka_unit_test(unprotected_memory_is_said),
        cmocka_unit_test(without_a_lease_nobody_votes),
        cmocka_unit_test(what_a_node_takes_along_takes_all_back),
    };
    if (argc > 1) /* one of them */
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
