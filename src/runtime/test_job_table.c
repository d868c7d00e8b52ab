/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_job_table.c - what a process does about orders and losses, as seen from outside: for each
 * state and event a job in one process, with a death at each failpoint on the way. All ranks must
 * give the result of a run without a death, or the job must end with the right reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "msg/channels.h"
#include "runtime/mock_job.h"

/* Slots 0 to 3: ranks; 4, 5: checksum processes of the groups {0, 2} and {1, 3}; 6, 7, 8: spares.
 */
#define RANKS 4
#define CHECKSUM 4
#define SPARE 6
#define GLOBAL "FTRMA_RECOVERY=global"

static const struct mock_job plain = {.nranks = RANKS, .nchecksums = 2, .nspares = 3, .rounds = 6};

static struct mock_job with(struct mock_job j, struct mock_death d)
{
    for (int i = 0; i < MOCK_DEATHS; i++)
        if (!j.death[i].hit) {
            j.death[i] = d;
            return j;
        }
    fail();
    return j;
}

static struct mock_job set_to(struct mock_job j, const char *setting)
{
    for (int i = 0; i < MOCK_SETTINGS; i++)
        if (!j.setting[i]) {
            j.setting[i] = setting;
            return j;
        }
    fail();
    return j;
}

static void say(const struct mock_job *j)
{
    for (int i = 0; i < MOCK_SETTINGS && j->setting[i]; i++)
        print_message("  %s", j->setting[i]);
    for (int i = 0; i < MOCK_DEATHS && j->death[i].hit; i++)
        print_message("  slot %d at %s, hit %d", j->death[i].slot, ft_fp_table[j->death[i].at].name,
                      j->death[i].hit);
    print_message("\n");
}

/* Runs each death of the list in a job of its own. */
static void each(struct mock_job j, const struct mock_death *d, size_t n)
{
    struct mock_outcome calm, o;
    mock_run_calm(&j, &calm);
    for (size_t i = 0; i < n; i++) {
        struct mock_job k = with(j, d[i]);
        say(&k);
        mock_run(&k, &o);
        mock_compare(&k, &calm, &o);
        assert_true(o.generation >= 1 || d[i].may || d[i].at == FT_FP_FINALIZE_DONE);
    }
}
#define EACH(job, ...)                                          \
    do {                                                        \
        static const struct mock_death list_[] = {__VA_ARGS__}; \
        each(job, list_, FT_COUNTOF(list_));                    \
    } while (0)

/* A rank is lost at its third safepoint, with a committed checkpoint before it; then another
 * process is lost. */
static struct mock_job after_a_loss(void)
{
    return with(plain, (struct mock_death){1, 3, FT_FP_SAFEPOINT, 0});
}

/* --- rows --- */

static void has_room(const struct ft_board *b)
{
    for (int i = CHECKSUM; i < b->nslots; i++)
        FT_ASSERT(mock_rt(i)->image_cap[0] >= sizeof(struct mock_state) + 8 * MOCK_WORDS);
}

static void spares_and_checksum_processes_make_room(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.at_end = has_room;
    mock_survives(&j, &o);
    assert_int_equal(o.generation, 0);
    assert_true(o.events[FT_EV_CKPT_DONE] >= 4); /* entry, safepoints 2, 4, 6, exit */
    for (int i = 0; i < 9; i++)
        assert_int_equal(o.slot[i].fate, MOCK_RAN);
    EACH(plain, {SPARE, 1, FT_FP_INIT_ENTER, 0}, {CHECKSUM, 1, FT_FP_INIT_ENTER, 0},
         {0, 1, FT_FP_INIT_ENTER, 0});
}

static void milestones(void **state)
{
    (void)state;
    EACH(plain, {2, 1, FT_FP_RUN_ENTER, 0}, {0, 1, FT_FP_RUN_ENTER, 0},
         {3, 1, FT_FP_RUN_BODY_OVER, 0}, {0, 1, FT_FP_RUN_BODY_OVER, 0}, {1, 1, FT_FP_RUN_LEAVE, 0},
         {0, 1, FT_FP_FINALIZE_ENTER, 0}, {3, 1, FT_FP_FINALIZE_ENTER, 0});
}

/* A request of rank 1 is still active when it enters FTRMA_Run: no first image can be taken. */
static void leave_active(struct mock_rank *me) { ft_msg_active += me->rank == 1; }
static void no_more(struct mock_rank *me) { ft_msg_active -= me->rank == 1; }

static void refused_run(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.setup = leave_active;
    j.after = no_more;
    mock_survives(&j, &o);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(o.rank[r].ran, FT_ERR_AGAIN);
    EACH(j, {2, 1, FT_FP_RUN_ENTER, 0}, {2, 1, FT_FP_FINALIZE_ENTER, 0},
         {CHECKSUM, 1, FT_FP_FINALIZE_DONE, 0});
}

static void propose(void **state)
{
    (void)state;
    EACH(plain, {2, 2, FT_FP_CKPT_PROPOSED, 0}, {0, 2, FT_FP_CKPT_PROPOSED, 0},
         {CHECKSUM, 2, FT_FP_CKPT_PROPOSED, 0}, {CHECKSUM + 1, 1, FT_FP_CKPT_PROPOSED, 0});
}

static void target(void **state)
{
    (void)state;
    EACH(plain, {2, 1, FT_FP_CKPT_ARRIVED, 0}, {0, 2, FT_FP_CKPT_ARRIVED, 0});
}

/* Rank 1 comes to its safepoint n after the n-th message, which rank 0 sends after its own
 * safepoint n: both cannot stand there. */
static void chase(void *arg)
{
    struct mock_rank *me = arg;
    for (; me->s->round < 9; me->s->round++) {
        mock_safepoint();
        if (me->rank == 0)
            mock_send(me, 1, 1, &me->s->round, 8);
        for (int i = 0; me->rank == 1 && i < (me->s->round == 1 ? 2 : 1); i++) {
            mock_recv(me, 0, 1, &me->s->word[0], 8);
            me->s->sum += me->s->word[0];
        }
    }
}
static void chased(struct mock_rank *me)
{
    mock_begin(me);
    me->s->round = me->rank == 1; /* it has a round less */
    mock_run_body(me, chase, me, 0);
    mock_end(me);
}

static void stuck_main(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.program = chased;
    mock_survives(&j, &o);
    assert_true(o.events[FT_EV_CKPT_SKIPPED] > 0);
    EACH(j, {1, 5, FT_FP_SAFEPOINT, 0}, {0, 3, FT_FP_SAFEPOINT, 0});
}

static void cut(void **state)
{
    (void)state;
    EACH(plain, {2, 1, FT_FP_CKPT_COPY, 0}, {1, 2, FT_FP_CKPT_COPY, 0},
         {2, 1, FT_FP_CKPT_COPIED, 0}, {0, 3, FT_FP_CKPT_COPIED, 0});
}

static void leave(void **state)
{
    (void)state;
    EACH(plain, {3, 1, FT_FP_CKPT_LEAVE, 0}, {0, 2, FT_FP_CKPT_LEAVE, 0},
         {CHECKSUM, 1, FT_FP_CKPT_PARITY_PIECE, 0}, {CHECKSUM, 2, FT_FP_CKPT_PARITY_PIECE, 0},
         {CHECKSUM + 1, 1, FT_FP_CKPT_PARITY_DONE, 0},
         {CHECKSUM + 1, 3, FT_FP_CKPT_PARITY_DONE, 0});
}

static void commit(void **state)
{
    (void)state;
    EACH(plain, {2, 1, FT_FP_CKPT_COMMIT, 0}, {0, 2, FT_FP_CKPT_COMMIT, 0},
         {2, 1, FT_FP_CKPT_COMMITTED, 0}, {0, 2, FT_FP_CKPT_COMMITTED, 0},
         {1, 5, FT_FP_CKPT_COMMITTED, 0}, {CHECKSUM, 2, FT_FP_CKPT_COMMITTED, 0},
         {CHECKSUM, 1, FT_FP_CKPT_COMMIT, 0}, {0, 1, FT_FP_CKPT_SAID, 0},
         {2, 2, FT_FP_CKPT_SAID, 0}, {CHECKSUM, 1, FT_FP_CKPT_SAID, 0});
    /* Without checksum processes there is no COMMIT: LEAVE lets body begin and end. */
    struct mock_job j = {.nranks = 3, .nspares = 2, .rounds = 6};
    EACH(j, {1, 1, FT_FP_RUN_ENTER, 0}, {0, 4, FT_FP_SAFEPOINT, 0}, {2, 1, FT_FP_RUN_BODY_OVER, 0},
         {1, 1, FT_FP_RUN_LEAVE, 0}, {1, 1, FT_FP_FINALIZE_ENTER, 0});
}

/* A request is active at safepoint 4, and at the end. */
static void active_in_body(struct mock_rank *me)
{
    if (me->rank == 1 && me->s->round == 2)
        ft_msg_active++;
    if (me->rank == 1 && me->s->round == 3)
        ft_msg_active--;
}
static void active_at_end(struct mock_rank *me)
{
    ft_msg_active += me->rank == 1 && me->s->round == 5;
}

static void cancelled(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.round = active_in_body;
    mock_survives(&j, &o);
    assert_int_equal(o.events[FT_EV_CKPT_SKIPPED], 1);
    EACH(j, {2, 4, FT_FP_SAFEPOINT, 0}, {0, 5, FT_FP_SAFEPOINT, 0});
    j.round = active_at_end;
    j.after = no_more;
    mock_survives(&j, &o);
    assert_int_equal(o.events[FT_EV_CKPT_SKIPPED], 1);
    j = with(j, (struct mock_death){2, 1, FT_FP_FINALIZE_ENTER, 0});
    mock_is_lost(&j, FT_REASON_LOST_EXIT_IMAGE, &o);
}

static void done(void **state)
{
    (void)state;
    EACH(plain, {0, 1, FT_FP_FINALIZE_DONE, 0}, {2, 1, FT_FP_FINALIZE_DONE, 0},
         {CHECKSUM, 1, FT_FP_FINALIZE_DONE, 0}, {SPARE, 1, FT_FP_FINALIZE_DONE, 0});
}

/* Rank 1 is lost, and another process on the way to the new generation. */
static void adopted(void **state)
{
    (void)state;
    EACH(after_a_loss(), {2, 1, FT_FP_AGREE_VOTE, 0}, {0, 1, FT_FP_AGREE_DECIDED, 0},
         {2, 1, FT_FP_AGREE_DECIDED, 0}, {CHECKSUM, 1, FT_FP_AGREE_DECIDED, 0},
         {SPARE, 1, FT_FP_AGREE_DECIDED, 0}, {2, 1, FT_FP_REPAIR, 0},
         {CHECKSUM, 1, FT_FP_REPAIR, 0}, {0, 1, FT_FP_ASSIGN, 0}, {SPARE, 1, FT_FP_ASSIGN, 0},
         {0, 1, FT_FP_DETECT_DEATH, 0}, {2, 1, FT_FP_RELEASE_FORGOTTEN, 1},
         {0, 1, FT_FP_RELEASE_DONE, 1});
}

static void quiet(void **state)
{
    (void)state;
    EACH(after_a_loss(), {2, 1, FT_FP_QUIESCE, 0}, {0, 1, FT_FP_QUIESCE, 0});
}

static void rebuild_and_role(void **state)
{
    (void)state;
    EACH(after_a_loss(), {SPARE, 1, FT_FP_REJOIN_IMAGE, 0}, {SPARE, 1, FT_FP_RESTORE_REBUILD, 0},
         {SPARE, 1, FT_FP_RESTORE_DONE, 0}, {SPARE, 1, FT_FP_REJOIN_SETUP, 0});
}

static void checksum_process_lost(void **state)
{
    (void)state;
    struct mock_job j = with(plain, (struct mock_death){CHECKSUM, 2, FT_FP_CKPT_PARITY_DONE, 0});
    EACH(j, {SPARE, 1, FT_FP_RESTORE_REBUILD, 0}, {SPARE, 1, FT_FP_RESTORE_DONE, 0},
         {1, 4, FT_FP_SAFEPOINT, 0}, {2, 1, FT_FP_RUN_BODY_OVER, 0});
}

static void alone_at_the_entry(void **state)
{
    (void)state;
    EACH(after_a_loss(), {SPARE, 1, FT_FP_REJOIN_READY, 0}, {SPARE, 1, FT_FP_RESTORE_COPY, 0},
         {SPARE, 2, FT_FP_RESTORE_DONE, 0}, {SPARE, 1, FT_FP_RESUME, 0},
         {SPARE, 1, FT_FP_RUN_ENTER, 0});
}

static void replaying(void **state)
{
    (void)state;
    EACH(after_a_loss(), {SPARE, 1, FT_FP_REPLAY_BEGIN, 0}, {SPARE, 2, FT_FP_REPLAY_BEGIN, 0},
         {SPARE, 1, FT_FP_REPLAY_APPLY, 0}, {SPARE, 1, FT_FP_REPLAY_LIVE, 0},
         {SPARE, 1, FT_FP_REPLAY_LIVE_DONE, 0}, {2, 1, FT_FP_TURN_REBIND, 1},
         {SPARE, 1, FT_FP_TURN_REPLAY, 1});
}

/* The replacement sends something else than the lost process did, between two checkpoints. */
static void another_thing(struct mock_rank *me)
{
    uint64_t x = me->s->round;
    if (me->rank == 1 && mock_deaths() > 0 && me->replacement && me->s->word[63] == 0 &&
        ft_replay == FT_REPLAY)
        x ^= 0xff;
    if (me->rank == 1)
        mock_put(me, 0, 40, &x, x == me->s->round ? 8 : 4);
    mock_fence(me);
}

static void diverged(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = plain;
    j.round = another_thing;
    j = with(j, (struct mock_death){1, 4, FT_FP_SAFEPOINT, 0});
    mock_survives(&j, &o);
    assert_int_equal(o.events[FT_EV_DIVERGED], 1);
    assert_int_equal(o.rollbacks, 1);
}

static void parked(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = set_to(after_a_loss(), GLOBAL);
    mock_survives(&j, &o);
    assert_int_equal(o.rollbacks, 1);
    EACH(j, {2, 1, FT_FP_PARK, 0}, {0, 1, FT_FP_PARK, 0}, {SPARE, 1, FT_FP_REJOIN_READY, 0},
         {CHECKSUM, 1, FT_FP_AGREE_DECIDED, 0});
}

static void restored_and_resumed(void **state)
{
    (void)state;
    EACH(set_to(after_a_loss(), GLOBAL), {2, 1, FT_FP_RESTORE_COPY, 0},
         {0, 1, FT_FP_RESTORE_COPY, 0}, {SPARE, 1, FT_FP_RESTORE_COPY, 0},
         {2, 1, FT_FP_RESTORE_DONE, 0}, {0, 1, FT_FP_RESUME, 0}, {2, 1, FT_FP_RESUME, 0});
}

/* Before the death a rank waits until an image is wished that one rank takes alone; that rank then
 * takes it at its next safepoint. The wait is short, because a request is in vain while another
 * image is under way. */
static void await_wish(struct mock_rank *me)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    uint64_t begun = ft_now_ns();
    int wished = 0;
    ft_door();
    while (!wished && me->job->death[0].hit && mock_deaths() == 0 &&
           ft_now_ns() - begun < 50000000) {
        for (int i = 0; i < RANKS; i++)
            wished |= mock_rt(i) && atomic_load(&mock_rt(i)->box.wish);
        ft_wait(&w);
    }
    ft_wait_end(&w);
}

static struct mock_job on_demand(const char *how)
{
    struct mock_job j = plain;
    j.round = await_wish;
    j.rounds = 40;
    j = set_to(set_to(j, how), "FTRMA_DEMAND_AT=0");
    return set_to(j, "FTRMA_CHECKPOINT=every:1000");
}

static void demand(void **state)
{
    (void)state;
    struct mock_job j = on_demand("FTRMA_DEMAND=bulk");
    EACH(j, {MOCK_ANY, 1, FT_FP_DEMAND_ASKED, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_TAKE, 0},
         {MOCK_ANY, 1, FT_FP_DEMAND_COPIED, 0}, {MOCK_ANY, 2, FT_FP_DEMAND_COPIED, 0},
         {MOCK_ANY, 1, FT_FP_DEMAND_PIECE, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_STAGED, 0},
         {MOCK_ANY, 1, FT_FP_DEMAND_TAGGED, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_FLIPPED, 0},
         {MOCK_ANY, 2, FT_FP_DEMAND_FLIPPED, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_TRIMMED, 0});
}

static void demand_over_the_latest_image(void **state)
{
    (void)state;
    struct mock_job j = on_demand("FTRMA_DEMAND=stream");
    EACH(j, {MOCK_ANY, 1, FT_FP_DEMAND_TAKE, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_LIFT, 0},
         {MOCK_ANY, 1, FT_FP_DEMAND_OVER, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_COPIED, 0},
         {MOCK_ANY, 1, FT_FP_DEMAND_STAGED, 0}, {MOCK_ANY, 1, FT_FP_DEMAND_TAGGED, 0},
         {MOCK_ANY, 2, FT_FP_DEMAND_FLIPPED, 0});
}

static void snapshots(void **state)
{
    (void)state;
    static const char *const how[] = {"FTRMA_SNAPSHOT=delay", "FTRMA_SNAPSHOT=peek",
                                      "FTRMA_SNAPSHOT=double", "FTRMA_SNAPSHOT=partial"};
    for (size_t i = 0; i < FT_COUNTOF(how); i++) {
        struct mock_job j = set_to(plain, how[i]);
        j.rounds = 10;
        EACH(j, {2, 1, FT_FP_SNAPSHOT_ENTERED, 0}, {0, 1, FT_FP_SNAPSHOT_TAKEN, 0},
             {1, 1, FT_FP_SNAPSHOT_MARKED, 1}, {2, 1, FT_FP_SNAPSHOT_GATE, 1},
             {2, 1, FT_FP_SNAPSHOT_SHADOW, 1}, {3, 7, FT_FP_SAFEPOINT, 0});
    }
}

/* Checkpoints are due by the clock, and mains promise where they can be stopped. */
static void by_the_clock(void **state)
{
    (void)state;
    struct mock_job j = set_to(plain, "FTRMA_CHECKPOINT=daly");
    j = set_to(j, "FTRMA_MTBF=0.001");
    j.rounds = 300;
    EACH(j, {2, 100, FT_FP_SAFEPOINT, 0}, {0, 1, FT_FP_CKPT_ARRIVED, 1});
}

static void mails(void **state)
{
    (void)state;
    EACH(after_a_loss(), {0, 15, FT_FP_MAIL_SENT, 0}, {2, 10, FT_FP_MAIL_TAKEN, 0},
         {CHECKSUM, 8, FT_FP_MAIL_TAKEN, 0}, {SPARE, 5, FT_FP_MAIL_SENT, 0},
         {MOCK_ANY, 1, FT_FP_MAIL_WAITS, 1}, {MOCK_ANY, 1, FT_FP_MAIL_BOX, 1});
}

/* A rank dies at whatever it does in body or around it. */
static void each_point_that_ranks_pass(void **state)
{
    (void)state;
    struct mock_outcome calm, o;
    int died = 0;
    mock_run_calm(&plain, &calm);
    for (int i = 0; i < FT_FP_COUNT; i++) {
        struct mock_death d = {1, 3, (enum ft_failpoint_id)i, 1};
        struct mock_job j = with(plain, d);
        if (!strchr(ft_fp_table[i].who, 'R'))
            continue;
        mock_run(&j, &o);
        if (o.deaths)
            say(&j);
        mock_compare(&j, &calm, &o);
        died += o.deaths;
    }
    assert_true(died >= 25);
}

static void losses_that_end_the_job(void **state)
{
    (void)state;
    struct mock_outcome o;
    struct mock_job j = {.nranks = RANKS, .nchecksums = 2, .nspares = 0, .rounds = 6};
    j = with(j, (struct mock_death){1, 3, FT_FP_SAFEPOINT, 0});
    mock_is_lost(&j, FT_REASON_NO_SPARE, &o);
    j = with(after_a_loss(), (struct mock_death){3, 1, FT_FP_AGREE_VOTE, 0}); /* the same group */
    mock_is_lost(&j, FT_REASON_GROUP_LOST, &o);
    for (int i = 0; i < 9; i++)
        assert_true(o.slot[i].fate == MOCK_DIED || o.slot[i].status == FT_EXIT_LOST);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spares_and_checksum_processes_make_room),
        cmocka_unit_test(milestones),
        cmocka_unit_test(refused_run),
        cmocka_unit_test(propose),
        cmocka_unit_test(target),
        cmocka_unit_test(stuck_main),
        cmocka_unit_test(cut),
        cmocka_unit_test(leave),
        cmocka_unit_test(commit),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(done),
        cmocka_unit_test(adopted),
        cmocka_unit_test(quiet),
        cmocka_unit_test(rebuild_and_role),
        cmocka_unit_test(checksum_process_lost),
        cmocka_unit_test(alone_at_the_entry),
        cmocka_unit_test(replaying),
        cmocka_unit_test(diverged),
        cmocka_unit_test(parked),
        cmocka_unit_test(restored_and_resumed),
        cmocka_unit_test(demand),
        cmocka_unit_test(demand_over_the_latest_image),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(by_the_clock),
        cmocka_unit_test(mails),
        cmocka_unit_test(each_point_that_ranks_pass),
        cmocka_unit_test(losses_that_end_the_job),
    };
    if (argc > 1) /* one of them */
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
