/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_noise.c - what of mpirun's stderr goes through, however it is cut into pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/board.h"
#include "launch/noise.h"

#define DASHES "--------------------------------------------------------------------------\n"
#define PMIX                                                                                  \
    "[vm:1] PMIX ERROR: BAD-PARAM in file ../../src/event/pmix_event_notification.c at line " \
    "1033\n"
#define ABORTED                                                                              \
    DASHES "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode " \
           "7.\n\nNOTE: more\n" DASHES
#define ULFM                                                                                     \
    DASHES "WARNING: The selected 'osc' module 'sm' is not tested for post-failure\noperation, " \
           "yet you have requested support for fault tolerance.\n" DASHES
#define HELP DASHES "There are not enough slots available\n" DASHES

/* The output for a text that is fed in pieces of `piece` bytes, with a flush at the end (with
 * before_end, without). */
static void filter(const char *text, int piece, int keep_all, int flush, char *out, size_t size)
{
    static struct ft_noise n;
    int p[2];
    assert_int_equal(pipe(p), 0);
    ft_noise_init(&n, p[1], keep_all);
    for (int i = 0, len = (int)strlen(text); i < len; i += piece)
        ft_noise_feed(&n, text + i, len - i < piece ? len - i : piece);
    if (flush)
        ft_noise_flush(&n);
    close(p[1]);
    size_t got = 0;
    for (ssize_t k; (k = read(p[0], out + got, size - 1 - got)) > 0;)
        got += (size_t)k;
    out[got] = '\0';
    close(p[0]);
}

static void noise_is_dropped_and_the_rest_goes_through(void **state)
{
    (void)state;
    static const char text[] = "one\n" PMIX "two\n" ABORTED ULFM "three\n" HELP
                               "mpirun: Forwarding signal 18 to job\nfour\nend";
    char out[4000];
    for (int piece = 1; piece < (int)sizeof text; piece++) {
        filter(text, piece, 0, 1, out, sizeof out);
        assert_string_equal(out, "one\ntwo\nthree\n" HELP "four\nend");
    }
    filter(text, 100, 1, 1, out, sizeof out);
    assert_string_equal(out, text);
}

static void only_beginnings_are_held_back(void **state)
{
    (void)state;
    char out[400];
    filter("one\ntw", 100, 0, 0, out, sizeof out);
    assert_string_equal(out, "one\n");
    filter("one\n" DASHES "my own table\n", 100, 0, 0, out, sizeof out);
    assert_string_equal(out, "one\n");
    filter("one\n" DASHES "my own table\n", 100, 0, 1, out, sizeof out);
    assert_string_equal(out, "one\n" DASHES "my own table\n");
}

static void the_rest_of_a_flushed_line_follows_at_once(void **state)
{
    (void)state;
    static struct ft_noise n;
    char out[200] = "";
    int p[2];
    assert_int_equal(pipe(p), 0);
    ft_noise_init(&n, p[1], 0);
    ft_noise_feed(&n, "50%", 3);
    assert_true(ft_noise_pending(&n));
    ft_noise_flush(&n);
    ft_noise_feed(&n, " 60%", 4);
    assert_false(ft_noise_pending(&n));
    ft_noise_feed(&n, " done\n" PMIX "x", 6 + (int)strlen(PMIX) + 1);
    assert_true(ft_noise_pending(&n));
    ssize_t k = read(p[0], out, sizeof out - 1);
    assert_int_equal(k, 13);
    assert_string_equal(out, "50% 60% done\n");
    close(p[0]);
    close(p[1]);
}

static void a_line_longer_than_the_buffer_goes_through(void **state)
{
    (void)state;
    static char text[40000], out[50000];
    memset(text, 'y', sizeof text - 2);
    text[sizeof text - 2] = '\n';
    filter(text, 7000, 0, 1, out, sizeof out);
    assert_string_equal(out, text);
}

static void a_process_says_that_it_is_elsewhere(void **state)
{
    static const char text[] = "one\n" FT_BOARD_ELSEWHERE "n2\n" FT_BOARD_ELSEWHERE "n3\ntwo\n";
    static struct ft_noise n;
    char out[200] = "";
    int p[2];
    (void)state;
    assert_int_equal(pipe(p), 0);
    ft_noise_init(&n, p[1], 0);
    ft_noise_feed(&n, "one\n", 4);
    assert_string_equal(n.elsewhere, "");
    ft_noise_feed(&n, text + 4, (int)sizeof text - 5);
    assert_string_equal(n.elsewhere, "n2");
    assert_int_equal(read(p[0], out, sizeof out - 1), 8);
    assert_string_equal(out, "one\ntwo\n");
    close(p[0]);
    close(p[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_dropped_and_the_rest_goes_through),
        cmocka_unit_test(only_beginnings_are_held_back),
        cmocka_unit_test(the_rest_of_a_flushed_line_follows_at_once),
        cmocka_unit_test(a_process_says_that_it_is_elsewhere),
        cmocka_unit_test(a_line_longer_than_the_buffer_goes_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
