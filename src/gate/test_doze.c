/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_doze.c - a gateway that sleeps is woken by whoever rings; one that is awake is not disturbed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "base/near.h"
#include "gate/doze.h"
#include "transport/wait.h"

static uint32_t said;

static void say(void *arg, uint32_t dozing)
{
    assert_ptr_equal(arg, &said);
    said = dozing;
}

static int is_pending(void)
{
    sigset_t set;
    assert_int_equal(sigpending(&set), 0);
    return sigismember(&set, SIGURG);
}

static void rings_wake(void **state)
{
    (void)state;
    struct ft_board *b;
    struct ft_doze d;
    int fd;
    assert_int_equal(ft_board_create(4, 0, 0, 0, &b, &fd), FT_OK);
    b->nodes.n = 2;
    b->nodes.end[0] = b->near_end = 2;
    b->nodes.end[1] = 4;
    atomic_store(&b->nodes.gateway_pid, getpid());
    assert_int_equal(ft_wait_join(), FT_OK);
    ft_doze_begin(&d, b);
    for (int round = 0; round < 3; round++) {
        ft_gate_bell_ring(b); /* it is awake: nothing happens */
        ft_bell_ring(b, 3);
        assert_false(is_pending());
        ft_doze_say(&d, say, &said);
        assert_int_equal(said, 1);
        assert_int_equal(ft_doze_sleep(&d, -1, 1), 0); /* nobody has rung */
        ft_bell_ring(b, 1);                            /* a process of this node: its own bell */
        assert_false(is_pending());
        if (round == 1)
            ft_bell_ring(b, 2); /* of the other node */
        else
            ft_gate_bell_ring(b);
        assert_true(is_pending());
        assert_int_equal(ft_doze_sleep(&d, -1, 999999999), 1);
        assert_false(is_pending());
        ft_doze_end(&d, say, &said);
        assert_int_equal(said, 0);
        ft_doze_end(&d, say, &said);
    }
    /* the wire wakes it as well */
    int wire[2];
    assert_int_equal(pipe(wire), 0);
    assert_int_equal(write(wire[1], "x", 1), 1);
    ft_doze_say(&d, say, &said);
    assert_int_equal(ft_doze_sleep(&d, wire[0], 999999999), 1);
    ft_doze_end(&d, say, &said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rings_wake)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
