/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_frames.c - frames arrive whole and in order, however little a pipe takes at a time; what is no
 * frame, and an end in the middle of one, are the end of the connection.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "launch/frames.h"

/* What a says, b hears. */
static void join_ends(struct ft_frames *a, struct ft_frames *b)
{
    int to[2], from[2];
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    ft_frames_begin(a, from[0], to[1]);
    ft_frames_begin(b, to[0], from[1]);
}

static void come_whole_and_in_order(void **state)
{
    enum { MANY = 200, MOST = 9000 };
    static char data[MOST];
    struct ft_frames a, b;
    struct ft_frame f;
    int heard = 0;
    (void)state;
    join_ends(&a, &b);
    for (int i = 0; i < MANY; i++) { /* more than a pipe holds */
        memset(data, i, sizeof data);
        ft_frames_say(&a, FT_SAY_OUTPUT, &i, sizeof i, data, (size_t)i * 45);
    }
    assert_true(ft_frames_waiting(&a) > 0);
    for (int rounds = 0; heard < MANY; rounds++) {
        assert_true(rounds < 100000);
        ft_frames_flush(&a);
        while (ft_frames_hear(&b, &f) == 1) {
            int i;
            assert_int_equal(f.kind, FT_SAY_OUTPUT);
            memcpy(&i, f.data, sizeof i);
            assert_int_equal(i, heard);
            assert_int_equal(f.bytes, sizeof i + (size_t)i * 45);
            for (size_t k = sizeof i; k < f.bytes; k++)
                assert_int_equal(f.data[k], (char)i);
            heard++;
        }
    }
    assert_int_equal(ft_frames_waiting(&a), 0);
    assert_int_equal(ft_frames_await(&b, &f, 1), 0);
    ft_frames_end(&a);
    assert_int_equal(ft_frames_hear(&b, &f), -1);
    ft_frames_end(&b);
}

static void ends_in_the_middle(void **state)
{
    const uint32_t part[3] = {FT_SAY_WHY, 100, 0}, rubbish[2] = {7, UINT32_MAX};
    struct ft_frames a, b;
    struct ft_frame f;
    (void)state;
    join_ends(&a, &b);
    assert_int_equal(write(a.out, part, sizeof part), sizeof part);
    assert_int_equal(ft_frames_hear(&b, &f), 0);
    ft_frames_end(&a);
    assert_int_equal(ft_frames_hear(&b, &f), -1);
    ft_frames_end(&b);

    join_ends(&a, &b);
    assert_int_equal(write(a.out, rubbish, sizeof rubbish), sizeof rubbish);
    assert_int_equal(ft_frames_await(&b, &f, 60000), -1);
    ft_frames_say(&b, FT_SAY_BYE, NULL, 0, NULL, 0);
    assert_int_equal(ft_frames_await(&a, &f, 60000), 1);
    assert_int_equal(f.kind, FT_SAY_BYE);
    assert_int_equal(f.bytes, 0);
    ft_frames_end(&a);
    ft_frames_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(come_whole_and_in_order),
                                       cmocka_unit_test(ends_in_the_middle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
