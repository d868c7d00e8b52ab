/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_start_wait.c - a wait for a slot at start naps seldom when it lasts long, and never for much
 * of the time that it has lasted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/board.h"
#include "runtime/rt.h"
#include "runtime/start.h"

#define MS 1000000ull

static void naps_grow(void **state)
{
    (void)state;
    static struct ft_rt rt;
    struct ft_board *b;
    struct ft_arrival w = {0};
    int fd, naps = 0;
    assert_int_equal(ft_board_create(2, 0, 0, (int)getpid(), &b, &fd), FT_OK);
    rt.board = b;
    while (w.ns < 300 * MS) {
        uint64_t before = w.ns;
        assert_int_equal(ft_rt_await_start(&rt, 1, &w), 1); /* nobody has come to it yet */
        naps++;
        assert_true(w.ns > before);
        assert_true(w.ns - before <= 20 * MS);
        assert_true(w.ns - before <= ft_max_u64(before / 8, MS / 5));
    }
    assert_true(naps < 100); /* 1500 if each took 200 us */
    munmap(b, ft_board_bytes(2));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(naps_grow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
