/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_area.c - compares an area with a model of pages, and shows that its answers depend only on
 * the blocks there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_seeded.h"
#include "transport/area.h"

#define PAGES 4096
#define BEGIN (64ull << 20)

/* Finds the lowest place by looking at every page. 0: there is none. */
static uint64_t lowest(const uint8_t *used, uint64_t bytes)
{
    uint64_t page = ft_page_bytes(), n = ft_align_up(bytes, page) / page,
             step = bytes >= FT_AREA_COARSE ? FT_AREA_COARSE / page : 1;
    for (uint64_t p = step; p + n + 1 <= PAGES; p += step) {
        uint64_t i = p - 1;
        while (i < p + n + 1 && !used[i])
            i++;
        if (i == p + n + 1)
            return BEGIN + p * page;
    }
    return 0;
}

static void set(uint8_t *used, uint64_t at, uint64_t bytes, uint8_t v)
{
    memset(used + (at - BEGIN) / ft_page_bytes(), v, bytes / ft_page_bytes());
}

static uint64_t random_size(struct ft_prng *p)
{
    static const uint64_t below[] = {100, 5000, 300000, 3 << 20};
    return 1 + ft_prng_below(p, below[ft_prng_below(p, FT_COUNTOF(below))]);
}

static void against_a_model(void **state)
{
    static uint8_t used[PAGES];
    struct ft_area a;
    struct ft_prng p = {seed};
    (void)state;
    memset(used, 0, sizeof used);
    ft_area_init(&a, BEGIN, BEGIN + PAGES * ft_page_bytes());
    for (int step = 0; step < 5000; step++) {
        if (ft_prng_below(&p, 100) < 55) {
            uint64_t bytes = random_size(&p), want = lowest(used, bytes);
            struct ft_area_block *b = ft_area_take(&a, bytes);
            HOLDS(b ? b->at == want && b->bytes == ft_align_up(bytes, ft_page_bytes()) : !want);
            HOLDS(!b || ft_area_block_at(&a, b->at) == b);
            if (b)
                set(used, b->at, b->bytes, 1);
        } else if (a.n > 0) {
            struct ft_area_block *b = &a.block[ft_prng_below(&p, a.n)];
            set(used, b->at, b->bytes, 0);
            ft_area_give_back(&a, b);
        }
        ft_area_check(&a);
    }
    ft_area_finish(&a);
}

/* A replacement's area is made from the list alone; from there on both give the same answers. */
static void the_list_is_the_state(void **state)
{
    struct ft_area a, b;
    struct ft_prng p = {seed + 1}, q;
    (void)state;
    ft_area_init(&a, BEGIN, BEGIN + PAGES * ft_page_bytes());
    ft_area_init(&b, BEGIN, BEGIN + PAGES * ft_page_bytes());
    for (int step = 0; step < 300; step++)
        if (a.n == 0 || ft_prng_below(&p, 100) < 60)
            (void)ft_area_take(&a, random_size(&p));
        else
            ft_area_give_back(&a, &a.block[ft_prng_below(&p, a.n)]);
    for (size_t i = a.n; i-- > 0;)
        HOLDS(ft_area_take_at(&b, a.block[i].at, a.block[i].bytes));
    q = p;
    for (int step = 0; step < 1000; step++) {
        struct ft_area *both[2] = {&a, &b};
        uint64_t at[2];
        ft_area_check(&b);
        for (int k = 0; k < 2; k++) {
            struct ft_prng *r = k ? &q : &p;
            int take = both[k]->n == 0 || ft_prng_below(r, 100) < 50;
            struct ft_area_block *x = take ? ft_area_take(both[k], random_size(r))
                                           : &both[k]->block[ft_prng_below(r, both[k]->n)];
            at[k] = x ? x->at : 0;
            if (!take)
                ft_area_give_back(both[k], x);
        }
        HOLDS(at[0] == at[1]);
    }
    ft_area_finish(&a);
    ft_area_finish(&b);
}

static void who_is_there(void **state)
{
    struct ft_area a;
    uint64_t page = ft_page_bytes();
    (void)state;
    ft_area_init(&a, BEGIN, BEGIN + PAGES * page);
    uint64_t x = ft_area_take(&a, 10 * page)->at;
    assert_int_equal(x, BEGIN + page);
    assert_null(ft_area_block_at(&a, x + page));
    assert_non_null(ft_area_first_in(&a, x + 10 * page, page)); /* its guard */
    assert_null(ft_area_first_in(&a, x + 11 * page, page));
    uint64_t y = ft_area_take(&a, 1)->at;
    assert_int_equal(y, x + 11 * page);
    ft_area_give_back(&a, ft_area_block_at(&a, x));
    assert_null(ft_area_first_in(&a, x, 10 * page));
    assert_int_equal(ft_area_first_in(&a, x, 11 * page)->at, y);
    assert_int_equal(ft_area_take(&a, 11 * page)->at,
                     y + 2 * page); /* the guards between do not fit */
    assert_int_equal(ft_area_take(&a, 10 * page)->at, x);
    assert_null(ft_area_take(&a, UINT64_MAX - 5));
    assert_null(ft_area_take(&a, PAGES * page));
    ft_area_finish(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(against_a_model, seeded),
        cmocka_unit_test_setup(the_list_is_the_state, seeded),
        cmocka_unit_test(who_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
