/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_unused.c - memory that no log holds is found, and reused before anything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "alog/unused.h"

#define PAGES 200

static char *base;
static struct ft_log_hdr hdr[2];

/* Makes a chunk of `pages` pages from this page on, whose successor begins at page `next`. */
static void chunk(uint64_t page, uint64_t pages, uint64_t next)
{
    struct ft_log_chunk *c = (struct ft_log_chunk *)(void *)(base + page * ft_page_bytes());
    c->off = page * ft_page_bytes();
    c->bytes = pages * ft_page_bytes();
    atomic_store(&c->next, next * ft_page_bytes());
}

static uint64_t take(struct ft_unused *u, uint64_t pages)
{
    return ft_unused_take(u, pages * ft_page_bytes()) / ft_page_bytes();
}

static void what_no_log_has(void **state)
{
    (void)state;
    struct ft_unused u = {0};
    base = aligned_alloc(ft_page_bytes(), PAGES * ft_page_bytes());
    assert_non_null(base);
    memset(base, 0xff, PAGES * ft_page_bytes());
    assert_int_equal(take(&u, 1), 0); /* a first process knows of nothing */
    chunk(10, 64, 80);                /* unused: 1 to 9, 74 to 79, 81 to 99, 164 to 199 */
    chunk(80, 1, 0);
    chunk(100, 64, 0);
    atomic_store(&hdr[0].chunk, 10 * ft_page_bytes());
    atomic_store(&hdr[1].chunk, 100 * ft_page_bytes());
    ft_unused_find(&u, base, PAGES * ft_page_bytes(), hdr, 2);
    assert_int_equal(take(&u, 64), 0);
    assert_int_equal(take(&u, 1), 74); /* the smallest place */
    assert_int_equal(take(&u, 5), 75);
    assert_int_equal(take(&u, 36), 164);
    assert_int_equal(take(&u, 19), 81);
    assert_int_equal(take(&u, 10), 0);
    assert_int_equal(take(&u, 9), 1);
    assert_int_equal(take(&u, 1), 0);
    atomic_store(&hdr[1].chunk, 0); /* dropped */
    ft_unused_find(&u, base, PAGES * ft_page_bytes(), hdr, 2);
    assert_int_equal(take(&u, 64), 81);
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_no_log_has)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
