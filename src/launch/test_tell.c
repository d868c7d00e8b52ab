/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_tell.c - the lines about losses, and when events may be printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "launch/tell.h"

#define RANK(r) FT_WHO(FT_ROLE_RANK, r)
#define MS 1000000ull

static struct ft_board *b;
static struct ft_tell *t;
static struct ft_tell_sum sum;
static int fd;
static char said[2000];

static void keep(void *arg, const char *line)
{
    (void)arg;
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s\n", line);
}

static int make(void **state)
{
    (void)state;
    said[0] = '\0';
    sum = (struct ft_tell_sum){0};
    return ft_board_create(3, 1, 2, 0, &b, &fd) == FT_OK &&
                   ft_tell_create(b, 0, 0, keep, NULL, &sum, &t) == FT_OK
               ? 0
               : -1;
}

static int drop(void **state)
{
    (void)state;
    ft_tell_destroy(t);
    munmap(b, ft_board_bytes(b->nslots));
    return close(fd);
}

static void event(uint64_t ms, uint32_t kind, uint32_t who, int64_t a)
{
    struct ft_event e = {.t_ns = ms * MS, .kind = kind, .who = who, .a = a};
    ft_tell_hear(t, &e);
}

static void lost(uint64_t ms, uint32_t who, int slot, int how)
{
    b->slot[slot].pid = 100 + slot;
    b->slot[slot].died_of = (uint32_t)how;
    event(ms, FT_EV_FAILED, who, slot);
    event(ms, FT_EV_FAILED, who, slot); /* another process has seen it as well */
}

static void a_line_for_each_loss(void **state)
{
    (void)state;
    lost(100, RANK(2), 2, SIGKILL);
    event(101, FT_EV_REPLACED, RANK(2), 4);
    event(124, FT_EV_LIVE, RANK(2), 0);
    ft_tell_step(t, 123 * MS);
    assert_string_equal(said, "");
    ft_tell_step(t, 124 * MS);
    assert_string_equal(said, "rank 2 lost (SIGKILL), recovered alone in 24 ms; 1 spare left\n");
    lost(200, RANK(0), 0, SIGSEGV | FT_CORE_DUMPED);
    event(200, FT_EV_REPLACED, RANK(0), 5);
    event(12345, FT_EV_RESUMED, FT_WHO_NONE, 3);
    said[0] = '\0';
    ft_tell_end(t, 20000 * MS, 0);
    assert_string_equal(said, "rank 0 lost (pid 100, SIGSEGV, core dumped), all ranks went back to "
                              "checkpoint 3 in 12 s; 0 spares left\n"
                              "the job had 2 losses: 1 rank recovered alone, 1 rank by a rollback "
                              "of all; 0 spares left\n");
}

static void a_loss_that_was_not_recovered(void **state)
{
    (void)state;
    lost(100, FT_WHO(FT_ROLE_SPARE, 1), 5, SIGKILL);
    lost(110, RANK(1), 1, 0);
    event(120, FT_EV_DUE_LOST, FT_WHO_NONE, 0);
    lost(130, RANK(2), 2, SIGKILL); /* it ended because the job did */
    ft_tell_end(t, 20000 * MS, 1);
    assert_string_equal(
        said, "spare 1 lost (SIGKILL); 1 spare left\nrank 1 lost, not recovered; 1 spare left\n");
    assert_true(ft_tell_names(t, 1));
    assert_false(ft_tell_names(t, 2));
}

/* Slots 4 and 5 are the spares: one goes with the node, the other takes a place. */
static void a_node_takes_its_spares_along(void **state)
{
    (void)state;
    b->nodes.n = 2;
    b->nodes.end[0] = 4;
    b->nodes.end[1] = 6;
    for (int i = 4; i < 6; i++)
        b->slot[i].at_first = FT_WHO(FT_ROLE_SPARE, i - 4);
    strcpy(b->nodes.name[1], "node1");
    b->nodes.out_ns[1] = 104 * MS;
    atomic_store(&b->nodes.out, 2);
    lost(100, RANK(2), 2, SIGKILL);
    event(101, FT_EV_REPLACED, RANK(2), 4);
    event(124, FT_EV_RESUMED, FT_WHO_NONE, 3);
    ft_tell_step(t, 124 * MS);
    assert_string_equal(said,
                        "rank 2 lost (SIGKILL), all ranks went back to checkpoint 3 in 24 ms; "
                        "1 spare left\nafter the loss of node1 all ranks went back to "
                        "checkpoint 3 in 20 ms; 0 spares left\n");
    said[0] = '\0';
    ft_tell_end(t, 20000 * MS, 0);
    assert_string_equal(said,
                        "the job lost 1 node, and had 1 loss besides: 1 rank by a rollback of "
                        "all; 0 spares left\n");
}

/* Others have seen two processes of node1 die before ftrun knew that the node was lost. Slot 3 was
 * lost alone before that. */
static void what_a_node_takes_along_is_no_loss_besides(void **state)
{
    (void)state;
    b->nodes.n = 2;
    b->nodes.end[0] = 1;
    b->nodes.end[1] = 6;
    for (int i = 4; i < 6; i++)
        b->slot[i].at_first = FT_WHO(FT_ROLE_SPARE, i - 4);
    strcpy(b->nodes.name[1], "node1");
    b->nodes.out_ns[1] = 104 * MS;
    atomic_store(&b->nodes.out, 2);
    lost(90, FT_WHO(FT_ROLE_CHECKSUM, 0), 3, SIGKILL);
    event(91, FT_EV_REBUILT, FT_WHO(FT_ROLE_CHECKSUM, 0), 0);
    lost(100, RANK(1), 1, SIGKILL);
    lost(105, FT_WHO(FT_ROLE_SPARE, 1), 5, SIGKILL);
    event(124, FT_EV_RESUMED, FT_WHO_NONE, 3);
    ft_tell_end(t, 20000 * MS, 0);
    assert_string_equal(said, "checksum process 0 lost (SIGKILL), replaced in 1.0 ms; 2 spares left\n"
                              "after the loss of node1 all ranks went back to checkpoint 3 in 20 ms; "
                              "0 spares left\n"
                              "the job lost 1 node, and had 1 loss besides: 1 checksum process "
                              "replaced; 0 spares left\n");
}

static void a_node_alone_is_counted(void **state)
{
    (void)state;
    b->nodes.n = 2;
    b->nodes.end[0] = 4;
    b->nodes.end[1] = 6;
    atomic_store(&b->nodes.out, 1);
    ft_tell_end(t, 20000 * MS, 0);
    assert_string_equal(said, "the job lost 1 node; 2 spares left\n");
}

static void all_runs_are_counted_at_the_end(void **state)
{
    (void)state;
    lost(100, RANK(1), 1, SIGKILL);
    lost(110, RANK(2), 2, SIGKILL);
    event(120, FT_EV_DUE_LOST, FT_WHO_NONE, 0);
    ft_tell_end(t, 20000 * MS, 1);
    said[0] = '\0';
    for (int run = 0; run < 2; run++) { /* one with a loss, and one without */
        ft_tell_destroy(t);
        assert_int_equal(ft_tell_create(b, 0, 0, keep, NULL, &sum, &t), FT_OK);
        if (run == 0) {
            lost(300, RANK(0), 0, SIGKILL);
            event(301, FT_EV_LIVE, RANK(0), 0);
        }
        ft_tell_end(t, 20000 * MS, run == 0);
    }
    assert_string_equal(said, "rank 0 lost (SIGKILL), recovered alone in 1.0 ms; 2 spares left\n"
                              "the job had 3 losses in 3 runs: 1 rank recovered alone, 2 by "
                              "restarts; 2 spares left\n");
}

static void who_is_killed_at_the_end_is_no_loss(void **state)
{
    (void)state;
    lost(100, RANK(1), 1, SIGKILL);
    ft_tell_end(t, 99 * MS, 0);
    assert_string_equal(said, "");
}

static void in_the_order_of_times(void **state)
{
    (void)state;
    event(140, FT_EV_LIVE, RANK(1), 0);
    lost(100, RANK(1), 1, SIGKILL);
    ft_tell_step(t, 150 * MS);
    assert_string_equal(said, "rank 1 lost (SIGKILL), recovered alone in 40 ms; 2 spares left\n");
}

static void a_process_in_the_middle_of_recording_is_waited_for(void **state)
{
    (void)state;
    assert_int_equal(ft_tell_horizon(t, 10 * MS), 10 * MS);
    b->slot[1].recording = 1;
    assert_int_equal(ft_tell_horizon(t, 20 * MS), 10 * MS);
    assert_int_equal(ft_tell_horizon(t, 900 * MS), 10 * MS);
    assert_int_equal(ft_tell_horizon(t, 1100 * MS), 10 * MS); /* it has died there */
    assert_int_equal(ft_tell_horizon(t, 1120 * MS), 1120 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_for_each_loss, make, drop),
        cmocka_unit_test_setup_teardown(a_loss_that_was_not_recovered, make, drop),
        cmocka_unit_test_setup_teardown(a_node_takes_its_spares_along, make, drop),
        cmocka_unit_test_setup_teardown(what_a_node_takes_along_is_no_loss_besides, make, drop),
        cmocka_unit_test_setup_teardown(a_node_alone_is_counted, make, drop),
        cmocka_unit_test_setup_teardown(all_runs_are_counted_at_the_end, make, drop),
        cmocka_unit_test_setup_teardown(who_is_killed_at_the_end_is_no_loss, make, drop),
        cmocka_unit_test_setup_teardown(in_the_order_of_times, make, drop),
        cmocka_unit_test_setup_teardown(a_process_in_the_middle_of_recording_is_waited_for, make,
                                        drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
