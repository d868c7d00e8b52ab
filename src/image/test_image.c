/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_image.c - what goes into an image comes out of it, and an image that does not fit is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/test_seeded.h"
#include "image/image.h"

#define REGION(p, n)              \
    {                             \
        .addr = (p), .bytes = (n) \
    }
#define MOST 40
#define GUARD 64

static void fill(struct ft_prng *p, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((char *)to)[i] = (char)ft_prng_next(p);
}

static void *copy_of(const void *p, size_t n)
{
    void *c = malloc(n + 1);
    assert_non_null(c);
    if (n)
        memcpy(c, p, n);
    return c;
}

#define SAME(a, b, n)                                                                             \
    do {                                                                                          \
        if ((n) && memcmp(a, b, n) != 0)                                                          \
            fail_msg("FTRMA_TEST_SEED=%llu: %s and %s differ", (unsigned long long)seed, #a, #b); \
    } while (0)

static int make_regions(struct ft_prng *p, struct ft_region *r)
{
    static const uint64_t sizes[] = {0, 1, 63, 64, 65, 4096, 10000};
    int n = (int)ft_prng_below(p, MOST + 1);
    for (int i = 0; i < n; i++) {
        r[i].bytes = sizes[ft_prng_below(p, FT_COUNTOF(sizes))];
        r[i].addr = r[i].bytes ? malloc(r[i].bytes) : NULL;
        r[i].unprotected = ft_prng_below(p, 3) == 0;
        r[i].left_out = r[i].unprotected && ft_prng_below(p, 2);
        fill(p, r[i].addr, r[i].bytes);
    }
    return n;
}

static void free_regions(struct ft_region *r, int n)
{
    for (int i = 0; i < n; i++)
        free(r[i].addr);
}

/* Exactly as many bytes as were measured are written: a guard after them stays. */
static char *save(const struct ft_region *r, int n, const void *messages, uint64_t message_bytes,
                  const struct ft_image_counters *c)
{
    uint64_t bytes = ft_image_measure(r, n, message_bytes);
    char *image = aligned_alloc(64, ft_align_up(bytes, 64) + GUARD);
    assert_non_null(image);
    memset(image, 0xa5, ft_align_up(bytes, 64) + GUARD);
    ft_image_begin(image, 9, r, n, message_bytes, c);
    if (message_bytes)
        memcpy(ft_image_messages(image), messages, message_bytes);
    for (int i = n - 1; i >= 0; i--) /* in any order */
        ft_image_save_region(image, i, &r[i]);
    assert_int_equal(((struct ft_image *)(void *)image)->bytes, bytes);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal((unsigned char)image[bytes + (uint64_t)i], 0xa5);
    return image;
}

static void round_trip(void **state)
{
    struct ft_prng p = {seed};
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct ft_region r[MOST];
        char messages[777];
        void *was[MOST];
        int n = make_regions(&p, r), bad = 0;
        uint64_t message_bytes = ft_prng_below(&p, 2) ? ft_prng_below(&p, sizeof messages) : 0;
        const struct ft_image_counters c = {
            .safepoint = ft_prng_next(&p), .next_ctx = 3, .over = 1, .rank = 5};
        fill(&p, messages, sizeof messages);
        char *image = save(r, n, messages, message_bytes, &c), *moved;
        struct ft_image *head = (struct ft_image *)(void *)image;
        moved = copy_of(image, head->bytes); /* an image does not depend on its address */
        for (int i = 0; i < n; i++) {
            was[i] = copy_of(r[i].addr, r[i].bytes);
            if (r[i].bytes)
                memset(r[i].addr, 0, r[i].bytes);
        }
        assert_int_equal(ft_image_matches(moved, 9, r, n, &bad), FT_OK);
        assert_int_equal(bad, -1);
        for (int i = 0; i < n; i++) {
            ft_image_load_region(moved, i, &r[i]);
            if (!r[i].left_out)
                SAME(r[i].addr, was[i], r[i].bytes);
            for (uint64_t k = 0; r[i].left_out && k < r[i].bytes; k++)
                assert_int_equal(((char *)r[i].addr)[k], 0);
            assert_int_equal(ft_image_region_unprotected(moved, i), r[i].unprotected);
            free(was[i]);
        }
        SAME(ft_image_messages(moved), messages, message_bytes);
        assert_int_equal(head->message_bytes, message_bytes);
        assert_memory_equal(&head->counters, &c, sizeof c);
        free(moved);
        free(image);
        free_regions(r, n);
    }
}

static void an_empty_image(void **state)
{
    const struct ft_image_counters c = {0};
    int bad = 7;
    (void)state;
    char *image = save(NULL, 0, NULL, 0, &c);
    assert_int_equal(ft_image_matches(image, 9, NULL, 0, &bad), FT_OK);
    assert_int_equal(ft_image_measure(NULL, 0, 0) % FT_CACHE_LINE, 0);
    free(image);
}

/* Contents begin at full lines, after the messages, and do not overlap: a change of one region
 * changes only its bytes. */
static void regions_do_not_touch(void **state)
{
    struct ft_prng p = {seed + 1};
    char a[65], b[1], d[130], messages[65];
    struct ft_region r[] = {REGION(a, sizeof a), REGION(NULL, 0), REGION(b, sizeof b),
                            REGION(d, sizeof d)};
    const struct ft_image_counters c = {.rank = 1};
    (void)state;
    fill(&p, a, sizeof a), fill(&p, b, sizeof b), fill(&p, d, sizeof d),
        fill(&p, messages, sizeof messages);
    char *one = save(r, 4, messages, sizeof messages, &c);
    for (int i = 0; i < 4; i++) {
        for (uint64_t k = 0; k < r[i].bytes; k++)
            ((char *)r[i].addr)[k] ^= 0x55;
        char *two = save(r, 4, messages, sizeof messages, &c);
        uint64_t differ = 0, first = 0, bytes = ((struct ft_image *)(void *)one)->bytes;
        for (uint64_t k = bytes; k-- > 0;)
            if (one[k] != two[k]) {
                differ++;
                first = k;
            }
        assert_int_equal(differ, r[i].bytes);
        assert_int_equal(first % FT_CACHE_LINE, 0);
        free(one);
        one = two;
    }
    free(one);
}

/* Setup's part becomes longer or shorter: what lies before and after it stays. */
static void setup_is_replaced(void **state)
{
    struct ft_prng p = {seed + 2};
    char a[300], b[1], was[301], messages[65];
    struct ft_region r[] = {REGION(a, sizeof a), REGION(b, sizeof b)};
    const struct ft_image_counters c = {.rank = 1, .setup_bytes = 20};
    (void)state;
    r[1].left_out = 1;
    fill(&p, a, sizeof a), fill(&p, messages, sizeof messages);
    memcpy(was, a, sizeof a);
    char *image = save(r, 2, messages, sizeof messages, &c);
    struct ft_image *im = realloc(image, ((struct ft_image *)(void *)image)->bytes + 1000);
    const uint64_t sizes[] = {21, 0, 700, 40, 300};
    im->engine_bytes = 30;
    for (size_t i = 0; i < FT_COUNTOF(sizes); i++) {
        ft_image_resize_setup(im, sizes[i]);
        assert_int_equal(im->message_bytes, 45 + sizes[i]);
        assert_int_equal(im->engine_bytes, 10 + sizes[i]);
        assert_int_equal(im->bytes, ft_image_measure(r, 2, 45 + sizes[i]));
        assert_memory_equal(ft_image_messages(im), messages, 45);
        memset((char *)ft_image_messages(im) + 45, 0xee, sizes[i]);
        memset(a, 0, sizeof a);
        ft_image_load_region(im, 0, &r[0]);
        assert_memory_equal(a, was, sizeof a);
        assert_int_equal(ft_image_region_at(im, 1), 0);
        assert_int_equal(ft_image_head_bytes(im), ft_image_region_at(im, 0));
    }
    free(im);
}

/* The head is what lies before the contents, whichever regions have any. */
static void the_head_of_any(void **state)
{
    struct ft_prng p = {seed + 3};
    char a[300], b[100], messages[65];
    struct ft_region r[] = {REGION(a, sizeof a), REGION(b, sizeof b)};
    const struct ft_image_counters c = {.rank = 1};
    (void)state;
    fill(&p, a, sizeof a), fill(&p, b, sizeof b), fill(&p, messages, sizeof messages);
    for (int left = 0; left < 4; left++) {
        r[0].left_out = left & 1;
        r[1].left_out = left >> 1;
        char *image = save(r, 2, messages, sizeof messages, &c);
        uint64_t head = ft_image_head_bytes(image);
        assert_true(head >= (uint64_t)((char *)ft_image_messages(image) - image) + sizeof messages);
        assert_int_equal(head, left == 3 ? ((struct ft_image *)(void *)image)->bytes
                                         : ft_image_region_at(image, left & 1));
        free(image);
    }
}

static void what_does_not_match_is_found(void **state)
{
    char a[100] = {0}, b[200] = {0};
    struct ft_region r[] = {REGION(a, 100), REGION(b, 200)},
                     longer[] = {REGION(a, 100), REGION(b, 199)};
    struct ft_region more[] = {REGION(a, 100), REGION(b, 200), REGION(a, 0)};
    const struct ft_image_counters c = {0};
    int bad = 0;
    (void)state;
    char *image = save(r, 2, NULL, 0, &c);
    assert_int_equal(ft_image_matches(image, 9, r, 2, &bad), FT_OK);
    assert_int_equal(ft_image_matches(image, 9, longer, 2, &bad), FT_ERR_RANGE);
    assert_int_equal(bad, 1);
    assert_int_equal(ft_image_matches(image, 9, more, 3, &bad), FT_ERR_RANGE);
    assert_int_equal(bad, -1);
    assert_int_equal(ft_image_matches(image, 9, r, 1, &bad), FT_ERR_RANGE);
    assert_int_equal(ft_image_matches(image, 8, r, 2, &bad), FT_ERR_RANGE);
    assert_int_equal(bad, -1);
    image[0] ^= 1;
    assert_int_equal(ft_image_matches(image, 9, r, 2, &bad), FT_ERR_RANGE);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(an_empty_image),
        cmocka_unit_test(regions_do_not_touch),
        cmocka_unit_test(setup_is_replaced), cmocka_unit_test(the_head_of_any),
        cmocka_unit_test(what_does_not_match_is_found),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
