/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_base.c - sets of slots, alignment, status names, and that a failed assertion ends the
 * process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/prng.h"

static void sets_of_slots(void **state)
{
    (void)state;
    struct ft_bitset a = {0}, b = {0};
    assert_true(ft_bitset_empty(&a));
    ft_bit_set(&a, 0);
    ft_bit_set(&a, 63);
    ft_bit_set(&b, 64);
    ft_bit_set(&b, FT_MAX_SLOTS - 1);
    assert_true(ft_bit_get(&a, 63) && !ft_bit_get(&a, 64));
    assert_false(ft_bitset_equal(&a, &b));
    assert_int_equal(ft_bitset_merge(&a, &b), 1);
    assert_int_equal(ft_bitset_merge(&a, &b), 0); /* nothing new */
    assert_int_equal(ft_bitset_count(&a), 4);
    ft_bit_clear(&a, 0);
    ft_bit_clear(&a, 63);
    assert_true(ft_bitset_equal(&a, &b));
    assert_false(ft_bitset_empty(&a));
}

static void alignment(void **state)
{
    (void)state;
    assert_int_equal(ft_align_up(0, 64), 0);
    assert_int_equal(ft_align_up(1, 64), 64);
    assert_int_equal(ft_align_up(64, 64), 64);
}

static void each_status_has_a_name(void **state)
{
    (void)state;
    for (int st = FT_OK; st <= FT_ERR_AGAIN; st++)
        assert_string_not_equal(ft_status_string((enum ft_status)st), "unknown status");
}

static void random_numbers_repeat_and_stay_below(void **state)
{
    (void)state;
    struct ft_prng p = {42}, q = {42};
    for (int i = 0; i < 1000; i++) {
        uint64_t x = ft_prng_below(&p, 7);
        assert_true(x < 7);
        assert_int_equal(x, ft_prng_below(&q, 7));
    }
}

static void a_failed_assertion_ends_the_process(void **state)
{
    (void)state;
    int p[2], status;
    char text[400] = "";
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        dup2(p[1], 2);
        FT_ASSERT(1 + 1 == 2);
        FT_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(p[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(read(p[0], text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "'1 + 1 == 3'"));
    assert_non_null(strstr(text, "test_base.c"));
    close(p[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_slots),
        cmocka_unit_test(alignment),
        cmocka_unit_test(each_status_has_a_name),
        cmocka_unit_test(random_numbers_repeat_and_stay_below),
        cmocka_unit_test(a_failed_assertion_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
