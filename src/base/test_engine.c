/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_engine.c - variables of several engines in one process.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/engine.h"

struct words {
    char name[40];
    uint64_t n;
};

FT_STATIC(int, count) = 7;
#define count FT_MY(count)
FT_STATIC(int *, where) = FT_AT(count);
#define where FT_MY(where)
FT_STATIC(struct words, words) __attribute__((aligned(256))) = {.name = "as it began"};
#define words FT_MY(words)
FT_STATIC(__typeof__(long[3]), list) = {1, 2, 3};
#define list FT_MY(list)

static void test_as_at_first(void **state)
{
    (void)state;
    count = 8; /* in the section itself: no copy is made of this */
    list[2] = 30;
    ptrdiff_t one = ft_engine_new(), other = ft_engine_new();
    assert_true(one && other && one != other);
    ft_engine_enter(one);
    assert_int_equal(count, 7);
    assert_int_equal(list[2], 3);
    assert_string_equal(words.name, "as it began");
    count = 1;
    ft_engine_enter(other);
    assert_int_equal(count, 7);
    ft_engine_enter(0);
    assert_int_equal(count, 8);
    ft_engine_free(one);
    ft_engine_free(other);
}

static void test_pointers_stay_within(void **state)
{
    (void)state;
    assert_ptr_equal(where, &count);
    ptrdiff_t engine = ft_engine_new();
    int *of_section = &count;
    ft_engine_enter(engine);
    assert_ptr_equal(where, &count);
    assert_ptr_not_equal(where, of_section);
    assert_int_equal((uintptr_t)&words % 256, 0);
    ft_engine_enter(0);
    ft_engine_free(engine);
}

static void *count_up(void *engine)
{
    ft_engine_enter((ptrdiff_t)engine);
    for (int i = 0; i < 100000; i++) {
        count++;
        words.n += 2;
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    pthread_t thread[N];
    ptrdiff_t engine[N];
    for (int i = 0; i < N; i++) {
        engine[i] = ft_engine_new();
        assert_int_equal(pthread_create(&thread[i], NULL, count_up, (void *)engine[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(thread[i], NULL);
        ft_engine_enter(engine[i]);
        assert_int_equal(count, 100007);
        assert_int_equal(words.n, 200000);
        ft_engine_enter(0);
        ft_engine_free(engine[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_at_first),
        cmocka_unit_test(test_pointers_stay_within),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
