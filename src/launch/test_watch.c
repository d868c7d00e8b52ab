/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_watch.c - every way in which a job can be over, and the ones in which it only looks so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/watch.h"

#define LOOK 200000000ull  /* as far apart as ftrun's */
#define LATER (300 * LOOK) /* longer than any patience */

static struct ft_board *b;
static int fd;
static struct ft_watch w;
static struct ft_verdict v;
static const struct ft_mpirun there = {.descendants = -1};
static const struct ft_mpirun ended = {.gone = 1, .status = 0},
                              killed = {.gone = 1, .status = SIGKILL};

/* 2 ranks, 1 checksum process, 1 spare. */
static int make(void **state)
{
    (void)state;
    if (ft_board_create(2, 1, 1, 0, &b, &fd) != FT_OK)
        return -1;
    w = (struct ft_watch){.b = b, .program = "prog"};
    v = (struct ft_verdict){0};
    return 0;
}

static int drop(void **state)
{
    (void)state;
    munmap(b, ft_board_bytes(b->nslots));
    return close(fd);
}

/* This process stands for a living one; with another start time, for one that has gone. */
static void put(int slot, int alive, int phase, int exit_status)
{
    struct ft_board_slot *s = &b->slot[slot];
    s->pid = (int32_t)getpid();
    s->start_time = ft_proc_start_time((int)getpid()) + !alive;
    s->phase = phase;
    s->exit_status = exit_status;
}

static void put_rank(int slot, int rank, uint32_t incarnation, int alive, int phase,
                     int exit_status)
{
    put(slot, alive, phase, exit_status);
    b->slot[slot].who = FT_WHO(FT_ROLE_RANK, rank);
    b->slot[slot].incarnation = incarnation;
}

static void put_all(int alive, int phase, int exit_status)
{
    for (int i = 0; i < b->nslots; i++)
        put(i, alive, phase, exit_status);
}

static uint64_t now_ns;

static int step(const struct ft_mpirun *m)
{
    now_ns += LOOK;
    return ft_watch_step(&w, now_ns, m, &v);
}

/* Looks for so long; 1: it is over. */
static int steps(const struct ft_mpirun *m, uint64_t ns)
{
    for (uint64_t end = now_ns + ns; now_ns < end;)
        if (step(m))
            return 1;
    return 0;
}

static void goes_on(const struct ft_mpirun *m) { assert_int_equal(steps(m, LATER), 0); }

static void is_over(const struct ft_mpirun *m, const char *result, int status, const char *said)
{
    assert_int_equal(step(m), 1);
    assert_string_equal(v.result, result);
    assert_int_equal(v.status, status);
    assert_non_null(strstr(v.message, said));
}

/* Over, but only after some patience. */
static void is_over_later(const struct ft_mpirun *m, const char *result, int status,
                          const char *said)
{
    assert_int_equal(step(m), 0);
    assert_int_equal(steps(m, LATER), 1);
    assert_string_equal(v.result, result);
    assert_int_equal(v.status, status);
    assert_non_null(strstr(v.message, said));
}

static void a_good_end(void **state)
{
    (void)state;
    b->state = FT_JOB_DONE;
    put_rank(0, 0, 0, 0, FT_PHASE_EXITED, 0);
    put_rank(1, 1, 0, 1, FT_PHASE_FINALIZED,
             0); /* it may work on after MPI_Finalize as long as it likes */
    goes_on(&there);
    put_rank(1, 1, 0, 0, FT_PHASE_EXITED, 0);
    is_over_later(&there, "ok", 0, ""); /* mpirun should have noticed by then */
    w.lingers = 0;
    is_over(&ended, "ok", 0, "");
}

static void the_last_carrier_of_a_rank_counts(void **state)
{
    (void)state;
    b->state = FT_JOB_DONE;
    put_rank(0, 0, 0, 0, FT_PHASE_EXITED, 0);
    put_rank(1, 1, 0, 0, FT_PHASE_RUNNING, 0); /* died in the middle */
    put_rank(3, 1, 1, 0, FT_PHASE_EXITED, 0);  /* and was replaced */
    assert_int_equal(ft_watch_carrier(b, 1), 3);
    is_over(&ended, "ok", 0, "");
    b->slot[3].exit_status = 9;
    is_over(&ended, "failed", 9, "rank 1 ended with exit status 9");
    b->slot[3].phase = FT_PHASE_FINALIZED;
    is_over(&ended, "failed", 137, "rank 1 died after MPI_Finalize");
}

static void failed_and_lost_give_the_processes_some_time(void **state)
{
    (void)state;
    put_all(1, FT_PHASE_RUNNING, 0);
    ft_board_end(b, FT_JOB_FAILED, 7, "MPI_Abort");
    is_over_later(&there, "failed", 7, "MPI_Abort");
    is_over(&ended, "failed", 7, "MPI_Abort");
    b->state = FT_JOB_RUNNING;
    ft_board_give_up(b, FT_REASON_GROUP_LOST, "group 0");
    w.lingers = 0;
    is_over_later(&there, "lost", 75, "group 0");
    assert_int_equal(v.reason, FT_REASON_GROUP_LOST);
}

static void a_death_while_ending_is_a_loss(void **state)
{
    (void)state;
    put_all(1, FT_PHASE_RUNNING, 0);
    b->state = FT_JOB_ENDING;
    is_over_later(&there, "lost", 75, "ending");
    assert_int_equal(v.reason, FT_REASON_DIED_ENDING);
    b->state = 77; /* no state: the program has written there */
    is_over(&there, "lost", 75, "overwritten");
    assert_int_equal(v.reason, FT_REASON_BOARD_OVERWRITTEN);
}

static void running(void **state)
{
    (void)state;
    b->state = FT_JOB_RUNNING;
    put_rank(0, 0, 0, 1, FT_PHASE_RUNNING, 0);
    put_rank(1, 1, 0, 0, FT_PHASE_RUNNING, 0); /* a death is the library's business */
    goes_on(&there);
    is_over(&killed, "lost", 75, "mpirun was killed by signal 9");
    is_over(&ended, "lost", 75, "2 of 2 ranks");
    assert_int_equal(v.reason, FT_REASON_NOBODY_LEFT);
    put_rank(0, 0, 0, 0, FT_PHASE_EXITED, 0);
    is_over_later(&there, "lost", 75, "1 of 2 ranks");
    put_rank(1, 1, 0, 0, FT_PHASE_EXITED, 0);
    is_over(&ended, "failed", 1, "without MPI_Finalize");
    assert_int_equal(v.reason, FT_REASON_NONE);
    b->slot[1].exit_status = 4;
    is_over(&ended, "failed", 4, "exit status 4");
}

static void early_deaths(void **state)
{
    (void)state;
    put_all(1, FT_PHASE_LOADED, 0);
    goes_on(&there);
    put(1, 0, FT_PHASE_LOADED, 0);
    is_over(&there, "failed", 1, "process 1");
    w.elsewhere = "n2";
    is_over(&there, "lost", 75, "started a process on node n2");
    w.elsewhere = "";
    put(1, 0, FT_PHASE_EXITED, 3);
    is_over(&there, "failed", 3, "exit status 3");
    put(1, 0, FT_PHASE_EXITED, 0); /* nobody waits for it yet */
    goes_on(&there);
    put(0, 1, FT_PHASE_ENTERED, 0);
    is_over(&there, "failed", 1, "process 1 ended without calling MPI_Init");
    put(1, 0, FT_PHASE_INIT, 0); /* the library was up in it: its business */
    goes_on(&there);
}

/* On several nodes all of its node may have been lost. */
static void early_deaths_on_nodes(void **state)
{
    (void)state;
    b->nodes.n = 2;
    put_all(1, FT_PHASE_LOADED, 0);
    put(1, 0, FT_PHASE_LOADED, 0);
    assert_int_equal(step(&ended), 0);
    is_over_later(&there, "failed", 1, "process 1");
    put(1, 0, FT_PHASE_EXITED, 3);
    is_over(&there, "failed", 3, "exit status 3");
    b->state = FT_JOB_LOST; /* ftrun has seen that it was the node */
    snprintf(b->message, sizeof b->message, "node1 is lost");
    is_over(&ended, "lost", 75, "node1 is lost");
}

static void programs_without_mpi(void **state)
{
    (void)state;
    put_all(0, FT_PHASE_EXITED, 0);
    is_over_later(&there, "ok", 0, "without ever calling MPI_Init");
    is_over(&ended, "ok", 0, "without ever calling MPI_Init");
    is_over(&killed, "lost", 75, "signal 9");
    b->slot[2].exit_status = 6;
    is_over(&ended, "failed", 6, "process 2");
}

static void nothing_was_started(void **state)
{
    (void)state;
    const struct ft_mpirun refused = {.gone = 1, .status = 5 << 8}, alone = {.descendants = 0},
                           busy = {.descendants = 3};
    assert_true(ft_watch_wants_descendants(&w));
    goes_on(&there);
    goes_on(&busy);
    is_over_later(&alone, "failed", 1, "prog");
    w.lingers = 0;
    is_over(&refused, "failed", 5, "mpirun ended with status 5");
    is_over(&ended, "failed", 1, "no process loaded libftrma.so");
    put(0, 1, FT_PHASE_LOADED, 0);
    assert_true(ft_watch_wants_descendants(&w));
    put_all(1, FT_PHASE_LOADED, 0);
    assert_false(ft_watch_wants_descendants(&w));
}

/* mpirun, on a machine with much else to do, is about to start the first process. */
static void takes_its_time(void **state)
{
    (void)state;
    struct ft_mpirun m = {.descendants = 0, .itself = {.at_work = 1}};
    goes_on(&m);
    m.itself.at_work = 0;
    for (int i = 0; i < 300; i++) {
        m.itself.ticks++;
        assert_int_equal(step(&m), 0);
    }
    /* it sleeps: an answer about a name may take long, but for one that it has had processes */
    assert_int_equal(steps(&m, 20000000000ull), 0);
    assert_int_equal(steps(&m, LATER), 1);
    m.descendants = 1;
    assert_int_equal(step(&m), 0);
    m.descendants = 0;
    assert_int_equal(steps(&m, 20000000000ull), 1);
}

/* ftrun does not run for an hour: neither does anybody else. */
static void held_up(void **state)
{
    (void)state;
    const struct ft_mpirun alone = {.descendants = 0};
    assert_int_equal(step(&alone), 0);
    for (int i = 0; i < 5; i++) {
        now_ns += 3600000000000ull;
        assert_int_equal(step(&alone), 0);
    }
    assert_int_equal(steps(&alone, LATER), 1);
}


/* A node gave rank 1 a carrier of its own and was lost; the others knew nothing of it. */
static void a_carrier_on_a_lost_node_counts_no_more(void **state)
{
    (void)state;
    b->state = FT_JOB_DONE;
    b->nodes.n = 2;
    b->nodes.end[0] = 3;
    b->nodes.end[1] = 4;
    put_rank(0, 0, 0, 0, FT_PHASE_EXITED, 0);
    put_rank(1, 1, 0, 0, FT_PHASE_RUNNING, 0);
    put_rank(2, 1, 1, 0, FT_PHASE_RUNNING, 0);
    put_rank(3, 1, 1, 0, FT_PHASE_EXITED, 0);
    assert_int_equal(ft_watch_carrier(b, 1), 2);
    b->nodes.out = 1;
    assert_int_equal(ft_watch_carrier(b, 1), 3);
    assert_int_equal(ft_watch_carrier(b, 0), 0); /* there is no other one */
}

/* Killed before it could say that it is there. */
static void one_never_came(void **state)
{
    (void)state;
    const struct ft_mpirun two = {.descendants = 2}, three = {.descendants = 3},
                           unknown = {.descendants = -1};
    put(0, 1, FT_PHASE_ENTERED, 0);
    put(1, 1, FT_PHASE_ENTERED, 0);
    goes_on(&three); /* it lives, and will come */
    goes_on(&unknown);
    is_over_later(&two, "failed", 1, "before it had loaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_good_end, make, drop),
        cmocka_unit_test_setup_teardown(the_last_carrier_of_a_rank_counts, make, drop),
        cmocka_unit_test_setup_teardown(a_carrier_on_a_lost_node_counts_no_more, make, drop),
        cmocka_unit_test_setup_teardown(failed_and_lost_give_the_processes_some_time, make, drop),
        cmocka_unit_test_setup_teardown(a_death_while_ending_is_a_loss, make, drop),
        cmocka_unit_test_setup_teardown(running, make, drop),
        cmocka_unit_test_setup_teardown(early_deaths, make, drop),
        cmocka_unit_test_setup_teardown(early_deaths_on_nodes, make, drop),
        cmocka_unit_test_setup_teardown(one_never_came, make, drop),
        cmocka_unit_test_setup_teardown(programs_without_mpi, make, drop),
        cmocka_unit_test_setup_teardown(nothing_was_started, make, drop),
        cmocka_unit_test_setup_teardown(takes_its_time, make, drop),
        cmocka_unit_test_setup_teardown(held_up, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
