/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_offheap.c - blocks of all sizes come, grow and go in any order, and keep what is in them.
 * Large ones are kept for the next, up to a limit.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/offheap.h"
#include "base/prng.h"

enum { BLOCKS = 100, STEPS = 20000 };

static struct {
    unsigned char *p;
    size_t n;
    unsigned char with;
} held[BLOCKS];

static void look(int i)
{
    for (size_t k = 0; k<held[i].n; k += held[i].n> 500 ? held[i].n / 97 : 1)
        assert_int_equal(held[i].p[k], held[i].with);
}

static void fill(int i, size_t n, unsigned char with)
{
    for (size_t k = 0; k < n; k++)
        held[i].p[k] = with;
    held[i].n = n;
    held[i].with = with;
}

static void come_and_go(void **state)
{
    (void)state;
    struct ft_prng r = {1};
    for (int step = 0; step < STEPS; step++) {
        int i = (int)ft_prng_below(&r, BLOCKS);
        size_t n = ft_prng_below(&r, step % 200 ? 3000 : 600000);
        look(i);
        switch (ft_prng_below(&r, 4)) {
        case 0:
            ft_offheap_free(held[i].p);
            held[i].p = ft_offheap_zeroed(n);
            held[i].n = n;
            held[i].with = 0;
            look(i);
            break;
        case 1:
            ft_offheap_free(held[i].p);
            held[i].p = NULL;
            held[i].n = 0;
            break;
        default: {
            size_t kept = n < held[i].n ? n : held[i].n;
            held[i].p = ft_offheap_realloc(held[i].p, n);
            held[i].n = kept;
            look(i);
        }
        }
        if (held[i].p)
            fill(i, n, (unsigned char)step);
        assert_int_equal((uintptr_t)held[i].p % 64, 0);
    }
    for (int i = 0; i < BLOCKS; i++) {
        look(i);
        ft_offheap_free(held[i].p);
    }
}

static void *take_and_free(size_t bytes)
{
    void *p = ft_offheap_try(bytes);
    assert_non_null(p);
    ft_offheap_free(p);
    return p;
}

static int is_mapped(void *p)
{
    unsigned char in;
    return mincore((char *)p - 64, 1, &in) == 0;
}

static void large_ones_stay(void **state)
{
    (void)state;
    void *p = take_and_free(1 << 20), *q = take_and_free(1 << 20);
    assert_ptr_equal(p, q);
    assert_true(is_mapped(p));
    assert_false(is_mapped(take_and_free((size_t)64 << 20))); /* more than is kept */
    void *many[64];
    for (int i = 0; i < 64; i++)
        many[i] = ft_offheap_alloc(1 << 20);
    for (int i = 0; i < 64; i++)
        ft_offheap_free(many[i]);
    assert_true(is_mapped(take_and_free(8 << 20))); /* in place of others, which were used before */
    assert_null(ft_offheap_try((size_t)1 << 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_ones_stay),
                                       cmocka_unit_test(come_and_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
