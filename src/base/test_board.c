/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_board.c - a board seen by several processes, its events, its end, bells, and who is alive.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/board.h"
#include "base/failpoint.h"
#include "base/near.h"

struct fixture {
    struct ft_board *b;
    int fd;
};
static struct fixture f;

static int make(void **state)
{
    (void)state;
    return ft_board_create(4, 1, 2, (int)getpid(), &f.b, &f.fd) == FT_OK ? 0 : -1;
}

static int drop(void **state)
{
    (void)state;
    munmap(f.b, ft_board_bytes(f.b->nslots));
    return close(f.fd);
}

static void another_process_finds_it(void **state)
{
    (void)state;
    char where[40];
    assert_int_equal(f.b->nslots, 7);
    assert_int_equal(f.b->slot[6].arena_fd, -1);
    snprintf(where, sizeof where, "%d:%d", (int)getpid(), f.fd);
    pid_t pid = fork();
    if (pid == 0) {
        struct ft_board *b;
        if (ft_board_open(where, 0, &b) != FT_OK || b == f.b || b->nranks != 4)
            _exit(1);
        atomic_store(&b->slot[3].pid, (int32_t)getpid());
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(f.b->slot[3].pid, pid);
}

/* Each node's processes find the board of theirs. */
static void of_several_nodes(void **state)
{
    (void)state;
    char where[80];
    struct ft_board *b = NULL;
    int me = (int)getpid();
    snprintf(where, sizeof where, "%d:998*2,%d:%d*4,%d:999*7@a node", me, me, f.fd, me);
    assert_int_equal(ft_board_open(where, 1, &b), FT_ERR_SYS); /* 998 is not there */
    assert_int_equal(ft_board_open(where, 4, &b), FT_ERR_SYS);
    assert_int_equal(ft_board_open(where, 7, &b), FT_ERR_ARG); /* on no node */
    for (int slot = 2; slot < 4; slot++) {
        assert_int_equal(ft_board_open(where, slot, &b), FT_OK);
        assert_true(ft_board_near(b, 0) && ft_board_near(b, 6) && !ft_board_near(b, 7));
        munmap(b, ft_board_bytes(7));
    }
    assert_int_equal(ft_board_open("1:2*3,", 5, &b), FT_ERR_ARG);
    assert_int_equal(ft_board_open("1:2*3x", 1, &b), FT_ERR_ARG);
}

static void what_is_no_board_is_refused(void **state)
{
    (void)state;
    char where[40];
    struct ft_board *b = NULL;
    static const char *const bad[] = {"",     "12",  "12:",   "x:y",  "12:3:4",
                                      "-1:3", "0:3", "12:3x", "12:@a"};
    for (size_t i = 0; i < FT_COUNTOF(bad); i++)
        assert_int_equal(ft_board_open(bad[i], 0, &b), FT_ERR_ARG);
    assert_int_equal(ft_board_open(NULL, 0, &b), FT_ERR_ARG);
    snprintf(where, sizeof where, "%d:999", (int)getpid());
    assert_int_equal(ft_board_open(where, 0, &b), FT_ERR_SYS);
    assert_int_equal(errno, ENOENT);
    snprintf(where, sizeof where, "%d:%d", (int)getpid(), f.fd);
    strcat(where, "@a node");
    assert_int_equal(ft_board_open(where, 0, &b), FT_OK);
    munmap(b, ft_board_bytes(7));
    b = NULL;
    f.b->magic++; /* another layout version */
    assert_int_equal(ft_board_open(where, 0, &b), FT_ERR_ARG);
    f.b->magic--;
    assert_int_equal(ftruncate(f.fd, (off_t)ft_board_bytes(7) - 1), 0);
    assert_int_equal(ft_board_open(where, 0, &b), FT_ERR_ARG);
    assert_null(b);
}

static struct ft_event numbered(uint64_t i)
{
    return (struct ft_event){.t_ns = i + 1,
                             .kind = FT_EV_PARKED,
                             .who = 7,
                             .a = (int64_t)i,
                             .b = (int64_t)i,
                             .c = (int64_t)i};
}

static void events_are_read_in_order_once(void **state)
{
    (void)state;
    struct ft_event ev, out;
    struct ft_event_place next = {0};
    uint64_t lost = 0;
    assert_int_equal(ft_board_read_event(&f.b->slot[1], &next, &out, &lost), 0);
    for (uint64_t i = 0; i < 2000; i++) {
        ev = numbered(i);
        ft_board_event(f.b, 1, 0, &ev);
        if (i % 300 == 299)
            for (uint64_t j = i - 299; j <= i; j++) {
                assert_int_equal(ft_board_read_event(&f.b->slot[1], &next, &out, &lost), 1);
                assert_int_equal(out.a, j);
                assert_int_equal(out.t_ns, j + 1);
            }
    }
    assert_int_equal(lost, 0);
}

static void overwritten_events_are_counted(void **state)
{
    (void)state;
    struct ft_event ev, out;
    struct ft_event_place next = {0};
    uint64_t lost = 0, seen = 0;
    for (uint64_t i = 0; i < 3 * FT_EVENT_RING; i++) {
        ev = numbered(i);
        ft_board_event(f.b, 1, 0, &ev);
    }
    while (ft_board_read_event(&f.b->slot[1], &next, &out, &lost)) {
        assert_int_equal(out.a, lost + seen);
        seen++;
    }
    assert_int_equal(seen, FT_EVENT_RING - 1);
    assert_int_equal(seen + lost, 3 * FT_EVENT_RING);
}

/* Thousands of checkpoints happen between two looks. A failure is still seen, and the launcher was
 * rung in time to read the rest. */
static void routine_pushes_out_nothing_else(void **state)
{
    (void)state;
    struct ft_event out, failed = numbered(1);
    struct ft_event_place next = {0};
    uint64_t lost = 0, seen = 0, failures = 0;
    int bell = ft_launcher_bell(f.b);
    assert_true(bell >= 0);
    failed.kind = FT_EV_FAILED;
    ft_board_event(f.b, 1, 0, &failed);
    for (uint64_t i = 0; i < 9 * FT_EVENT_RING; i++) {
        struct ft_event ev = numbered(i);
        ev.kind = FT_EV_DEMAND;
        ft_board_event(f.b, 1, 0, &ev);
        struct pollfd rung = {.fd = bell, .events = POLLIN};
        assert_int_equal(poll(&rung, 1, 0), i + 1 >= FT_EVENT_RING / 4);
    }
    while (ft_board_read_event(&f.b->slot[1], &next, &out, &lost)) {
        failures += out.kind == FT_EV_FAILED;
        seen++;
    }
    assert_int_equal(failures, 1);
    assert_int_equal(seen + lost, 9 * FT_EVENT_RING + 1);
    close(bell);
}

enum { WRITERS = 2, PER_WRITER = 20000 };

static void *write_events(void *arg)
{
    int who = *(int *)arg;
    for (int i = 0; i < PER_WRITER; i++) {
        struct ft_event ev = {
            .t_ns = 1, .kind = FT_EV_PARKED, .who = (uint32_t)who, .a = i, .b = -i};
        ev.c = who * (int64_t)PER_WRITER + i;
        ft_board_event(f.b, 2, 0, &ev);
    }
    return NULL;
}

/* Two threads record while a third reads: no event is half written, each writer's events stay in
 * order, and every missed event is counted. */
static void threads_record_at_once(void **state)
{
    (void)state;
    pthread_t t[WRITERS];
    int who[WRITERS] = {0, 1};
    int64_t last[WRITERS] = {-1, -1};
    struct ft_event_place next = {0};
    uint64_t lost = 0, seen = 0;
    struct ft_event out;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, write_events, &who[i]), 0);
    while (next.next[0] < (uint64_t)WRITERS * PER_WRITER) {
        if (!ft_board_read_event(&f.b->slot[2], &next, &out, &lost))
            continue;
        assert_true(out.who < WRITERS);
        assert_true(out.b == -out.a && out.c == out.who * (int64_t)PER_WRITER + out.a);
        assert_true(out.a > last[out.who]);
        last[out.who] = out.a;
        seen++;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(t[i], NULL);
    assert_int_equal(seen + lost, WRITERS * PER_WRITER);
}

static void lines_say_what_happened(void **state)
{
    (void)state;
    char line[200];
    f.b->t0_ns = 5000;
    struct ft_event ev = {.t_ns = 5000 + 1234567000ull,
                          .kind = FT_EV_FAILED,
                          .who = FT_WHO(FT_ROLE_RANK, 2),
                          .a = 2,
                          .b = 123};
    int n = ft_event_format(f.b, &ev, line, sizeof line);
    assert_string_equal(line, "[ftrma   1.234567] failure: rank 2 failed (slot 2, pid 123)");
    assert_int_equal(n, strlen(line));
    ev = (struct ft_event){.t_ns = 1,
                           .kind = FT_EV_INJECTED,
                           .who = FT_WHO(FT_ROLE_CHECKSUM, 0),
                           .a = FT_FP_AGREE_VOTE};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_string_equal(
        line, "[ftrma   0.000000] injected: checksum process 0 is killed at failpoint agree.vote");
    ev = (struct ft_event){
        .t_ns = 1, .kind = FT_EV_REJOINED, .who = FT_WHO(FT_ROLE_SPARE, 1), .dur_ns = 12345678};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_string_equal(line,
                        "[ftrma   0.000000] rejoined: spare 1 has run setup again in 12.34 ms");
    ev.dur_ns = 1500;
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "in 1.50 us"));
    ev.dur_ns = 75000000000ull;
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "in 75.00 s"));
    f.b->slot[1].note[2] = (struct ft_note){.what = "'u' (8 bytes, a.c)", .args = "&u, sizeof u"};
    ev = (struct ft_event){
        .t_ns = 1, .kind = FT_EV_UNPROTECTED, .who = FT_WHO(FT_ROLE_RANK, 1), .a = 1, .b = 2};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "unprotected: rank 1: 'u' (8 bytes, a.c) changes in body and is "
                                 "not protected: call FTRMA_Protect(&u, sizeof u), or "));
    ev = (struct ft_event){
        .t_ns = 1, .kind = FT_EV_CKPT_SKIPPED, .who = FT_WHO_NONE, .a = 3, .b = FT_SKIP_LOCKS};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "checkpoint 3 called off: a rank holds an exclusive lock, or is "
                                 "in an epoch of MPI_Win_post or MPI_Win_start"));
    assert_int_equal(ft_event_format(f.b, &ev, line, 20), 19); /* cut, terminated */
    ev = (struct ft_event){
        .t_ns = 1, .kind = FT_EV_STARTED, .who = FT_WHO_NONE, .a = 4, .b = 1, .c = 0};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_string_equal(line, "[ftrma   0.000000] started: 4 ranks, 1 checksum process, 0 spares");
    ev = (struct ft_event){.t_ns = 1, .kind = FT_EV_LOCAL, .who = FT_WHO(FT_ROLE_RANK, 1)};
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "local recovery of rank 1 begins from its start"));
    ev.a = 3;
    ft_event_format(f.b, &ev, line, sizeof line);
    assert_non_null(strstr(line, "begins from checkpoint 3"));
    ft_event_format(f.b, &ev, line, 20);
    assert_int_equal(strlen(line), 19);
}

/* Each row of event.def has a format that can be printed, with known letters only (others assert).
 * */
static void every_format_prints(void **state)
{
    (void)state;
    char line[300];
    for (uint32_t k = 0; k < FT_EV_COUNT; k++) {
        struct ft_event ev = {.kind = k, .who = FT_WHO_NONE, .a = -1, .b = -1, .c = -1};
        assert_true(ft_event_format(f.b, &ev, line, sizeof line) > 0);
        assert_null(strchr(line, '%'));
    }
}

static void who_tells_is_printed(void **state)
{
    (void)state;
    int p[2], saved = dup(2);
    char text[1000] = "";
    assert_int_equal(pipe(p), 0);
    dup2(p[1], 2);
    struct ft_event told = {.kind = FT_EV_DONE, .who = FT_WHO_NONE},
                    untold = {.kind = FT_EV_PARKED, .who = 0, .a = 77};
    ft_board_event(f.b, 0, 2, &told); /* its launcher says the line */
    f.b->launcher_pid = 0;
    ft_board_event(f.b, 0, 0, &told);
    ft_board_event(f.b, 0, 1, &told);
    ft_board_event(f.b, 0, 1, &untold);
    ft_board_event(f.b, 0, 2, &untold);
    dup2(saved, 2);
    close(saved);
    close(p[1]);
    ssize_t n = read(p[0], text, sizeof text - 1);
    close(p[0]);
    assert_true(n > 0);
    char *first = strstr(text, "done: all ranks are done\n"),
         *second = strstr(text, "to go back (generation 77)\n");
    assert_non_null(first);
    assert_non_null(second);
    assert_true(first < second);
    assert_null(strstr(first + 1, "done:"));
    assert_null(strstr(second + 1, "for rollback"));
}

static void a_job_ends_once(void **state)
{
    (void)state;
    assert_int_equal(ft_board_give_up(f.b, FT_REASON_NO_SPARE, "no spare left"), 1);
    assert_int_equal(ft_board_end(f.b, FT_JOB_FAILED, 3, "too late"), 0);
    assert_int_equal(f.b->state, FT_JOB_LOST);
    assert_int_equal(f.b->status, 75);
    assert_int_equal(f.b->reason, FT_REASON_NO_SPARE);
    assert_string_equal(f.b->message, "no spare left");
}

static void a_long_message_is_cut(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    f.b->state = FT_JOB_RUNNING;
    assert_int_equal(ft_board_end(f.b, FT_JOB_FAILED, 3, text), 1);
    assert_int_equal(strlen(f.b->message), sizeof f.b->message - 1);
}

static int is_rung(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void *ring_slowly(void *b)
{
    ft_bell_ring(b, 1);
    return NULL;
}

static void bells_ring_the_right_slot(void **state)
{
    (void)state;
    int launcher = ft_launcher_bell(f.b);
    assert_true(launcher >= 0);
    uint32_t a = ft_bell_heard(f.b, 0), c = ft_bell_heard(f.b, 1);
    ft_bell_ring(f.b, 1);
    ft_bell_wait(f.b, 1, c, 1000000); /* a ring since the value was taken: wait returns at once */
    assert_true(ft_bell_heard(f.b, 1) != c);
    assert_int_equal(ft_bell_heard(f.b, 0), a);
    c = ft_bell_heard(f.b, 1);
    ft_bell_wait(f.b, 1, c, 1); /* nobody rings: wait lasts until its time is over */
    assert_int_equal(ft_bell_heard(f.b, 1), c);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, ring_slowly, f.b), 0);
    while (ft_bell_heard(f.b, 1) == c)
        ft_bell_wait(f.b, 1, c, 1000000);
    pthread_join(other, NULL);
    assert_false(is_rung(launcher));
    for (int i = 0; i < 100000; i++) /* a full pipe does not block */
        ft_board_ring_launcher(f.b);
    assert_true(is_rung(launcher));
    ft_launcher_bell_drain(launcher);
    assert_false(is_rung(launcher));
    ft_board_end(f.b, FT_JOB_DONE, 0, NULL);
    assert_true(is_rung(launcher));
    close(launcher);
    ft_board_ring_launcher(f.b); /* it does not matter that nobody reads */
    int file = memfd_create("another", 0);
    assert_true(file >= 0 && dup2(file, launcher) == launcher);
    ft_board_ring_launcher(f.b); /* and nothing is written to another file under that number */
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(launcher);
    close(file);
}

static void the_dead_are_told_from_the_living(void **state)
{
    (void)state;
    uint64_t mine = ft_proc_start_time((int)getpid());
    assert_true(mine > 0);
    int fd = ft_proc_pidfd((int)getpid(), mine);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ft_proc_pidfd((int)getpid(), mine + 1), -1); /* the number was used again */
    assert_int_equal(errno, ESRCH);

    int p[2];
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(p[1]);
        _exit((int)read(p[0], &byte, 1)); /* lives until p[1] is closed */
    }
    uint64_t start = ft_proc_start_time(pid);
    fd = ft_proc_pidfd(pid, start);
    assert_true(start > 0 && fd >= 0);
    assert_false(is_rung(fd));
    close(p[0]);
    close(p[1]);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(is_rung(fd));
    assert_int_equal(ft_proc_start_time(pid), 0); /* a zombie */
    assert_int_equal(ft_proc_pidfd(pid, start), -1);
    assert_int_equal(ft_proc_gone(pid, start), 1);
    waitpid(pid, NULL, 0);
    assert_int_equal(ft_proc_start_time(pid), 0);
    assert_int_equal(ft_proc_gone(pid, start), 1);
    close(fd);
}

/* A process that has no descriptor to look with knows nothing, and takes nobody for dead. */
static void nobody_dies_for_want_of_descriptors(void **state)
{
    (void)state;
    struct rlimit before, few;
    uint64_t mine = ft_proc_start_time((int)getpid());
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int gone = ft_proc_gone((int)getpid(), mine), fd = ft_proc_pidfd((int)getpid(), mine),
        e = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(gone, -1);
    assert_int_equal(fd, -1);
    assert_int_equal(e, EMFILE);
    assert_int_equal(ft_proc_gone((int)getpid(), mine), 0);
    assert_int_equal(ft_proc_gone((int)getpid(), mine + 1), 1);
}

/* Of 4 ranks; on one core whatever the machine has, and on four if it has them. */
static void cores_are_crowded(void **state)
{
    cpu_set_t all, some;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&some);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&some) < 4; i++) {
        if (!CPU_ISSET(i, &all))
            continue;
        CPU_SET(i, &some);
        assert_int_equal(sched_setaffinity(0, sizeof some, &some), 0);
        int cores = CPU_COUNT(&some);
        f.b->nodes.n = f.b->nodes.hosts = 0;
        assert_int_equal(ft_board_crowded(f.b), cores < 4);
        f.b->nodes.n = 2; /* with their gateways */
        assert_true(ft_board_crowded(f.b));
        f.b->nodes.hosts = 1; /* slots 3 to 5 are here: one rank, a checksum process, a spare */
        f.b->near_from = 3;
        f.b->near_end = 6;
        f.b->slot[3].at_first = FT_WHO(FT_ROLE_RANK, 3);
        f.b->slot[4].at_first = FT_WHO(FT_ROLE_CHECKSUM, 0);
        f.b->slot[5].at_first = FT_WHO(FT_ROLE_SPARE, 0);
        assert_int_equal(ft_board_crowded(f.b), cores < 2);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_process_finds_it, make, drop),
        cmocka_unit_test_setup_teardown(of_several_nodes, make, drop),
        cmocka_unit_test_setup_teardown(what_is_no_board_is_refused, make, drop),
        cmocka_unit_test_setup_teardown(events_are_read_in_order_once, make, drop),
        cmocka_unit_test_setup_teardown(overwritten_events_are_counted, make, drop),
        cmocka_unit_test_setup_teardown(routine_pushes_out_nothing_else, make, drop),
        cmocka_unit_test_setup_teardown(threads_record_at_once, make, drop),
        cmocka_unit_test_setup_teardown(lines_say_what_happened, make, drop),
        cmocka_unit_test_setup_teardown(every_format_prints, make, drop),
        cmocka_unit_test_setup_teardown(who_tells_is_printed, make, drop),
        cmocka_unit_test_setup_teardown(a_job_ends_once, make, drop),
        cmocka_unit_test_setup_teardown(a_long_message_is_cut, make, drop),
        cmocka_unit_test_setup_teardown(bells_ring_the_right_slot, make, drop),
        cmocka_unit_test_setup_teardown(the_dead_are_told_from_the_living, make, drop),
        cmocka_unit_test_setup_teardown(nobody_dies_for_want_of_descriptors, make, drop),
        cmocka_unit_test_setup_teardown(cores_are_crowded, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
