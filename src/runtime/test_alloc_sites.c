/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_alloc_sites.c - with alloc_sites.c, which is a library of its own: who has taken a block of
 * memory is known by its address. Without a sanitizer, which has allocators of its own.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/alloc_sites.h"

ft_alloc_site_fn ftrma_alloc_site;
void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);

#define LARGE (3 * FT_ALLOC_LEAST)

static int known(const volatile void *p, uint64_t bytes, char *site, size_t size)
{
    site[0] = '\0';
    return ftrma_alloc_site((uint64_t)(uintptr_t)p, bytes, site, size);
}

static void has_site(void *volatile p)
{
    char begin[120], inside[120];
    assert_non_null(p);
    memset(p, 1, LARGE);
    assert_true(known(p, LARGE, begin, sizeof begin));
    assert_non_null(strstr(begin, "test_alloc_sites"));
    assert_non_null(strstr(begin, "+0x"));
    assert_true(known((char *)p + LARGE / 2, 8, inside, sizeof inside));
    assert_string_equal(begin, inside);
}

static void each_way_to_take_a_block(void **state)
{
    (void)state;
    void *p = malloc(LARGE), *q = NULL, *m, *m64;
    has_site(p);
    p = realloc(p, 2 * LARGE);
    has_site(p);
    free(p);
    has_site(p = calloc(3, FT_ALLOC_LEAST));
    free(p);
    has_site(p = aligned_alloc(4096, 48 * 4096));
    free(p);
    assert_int_equal(posix_memalign(&q, 64, LARGE), 0);
    has_site(q);
    free(q);
    has_site(p = _Znwm(LARGE));
    free(p);
    has_site(p = _Znam(LARGE));
    free(p);
    m = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    has_site(m);
    munmap(m, LARGE);
    m64 = mmap64(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    has_site(m64);
    munmap(m64, LARGE);
}

static void small_blocks_and_failures_are_not_kept(void **state)
{
    (void)state;
    static char nobodys[100];
    char site[120];
    void *p = malloc(100), *volatile none;
    assert_false(known(nobodys, sizeof nobodys, site, sizeof site));
    free(p);
    size_t volatile huge = SIZE_MAX / 2;
    none = malloc(huge);
    assert_null(none);
    none = calloc(huge, 16);
    assert_null(none);
    assert_true(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

/* The newest are kept when there are more than there is room for. */
static void the_newest_are_known(void **state)
{
    (void)state;
    enum { N = 9000 }; /* the table has 8192 places */
    static void *p[N];
    char site[120];
    for (int i = 0; i < N; i++) {
        p[i] = malloc(FT_ALLOC_LEAST);
        assert_non_null(p[i]);
    }
    assert_true(known(p[N - 1], FT_ALLOC_LEAST, site, sizeof site));
    for (int i = 0; i < N; i++)
        free(p[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_way_to_take_a_block),
                                       cmocka_unit_test(small_blocks_and_failures_are_not_kept),
                                       cmocka_unit_test(the_newest_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
