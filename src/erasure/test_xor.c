/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_xor.c - XOR parity, compared with its plain baseline and with the purpose of parity.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <isa-l/raid.h>

#include "base/base.h"
#include "base/prng.h"
#include "base/sim_seeds.h"
#include "erasure/erasure.h"

#define MANY 130 /* more sources than a group is meant to have, and several batches of them */

/* Replaces ISA-L's own function. Some of its variants tolerate arguments on which others crash, so
 * its conditions are checked here. */
static int fast_calls;
int xor_gen(int vects, int len, void **array)
{
    int (*real)(int, int, void **);
    *(void **)&real = dlsym(RTLD_NEXT, "xor_gen");
    assert_non_null(real);
    assert_true(vects >= 3 && len > 0 && len % 32 == 0);
    for (int i = 0; i < vects; i++)
        assert_true((uintptr_t)array[i] % 32 == 0);
    fast_calls++;
    int failed = real(vects, len, array);
    if (array[0] != array[vects - 1]) /* ISA-L's own opinion; the reference also keeps it linked for
                                         dlsym to find */
        assert_int_equal(xor_check(vects, len, array), 0);
    return failed;
}

static void fill(struct ft_prng *p, uint8_t *buf, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf[i] = (uint8_t)ft_prng_next(p);
}

static uint8_t *grab(size_t bytes)
{
    uint8_t *p = aligned_alloc(64, ft_align_up(bytes + 1, 64));
    assert_non_null(p);
    return p;
}

/* Sources of random lengths in separate memory, which begin at any address or all at the same one
 * modulo 32. */
struct sources {
    int n;
    uint8_t *mem[MANY];
    const void *src[MANY];
    size_t len[MANY];
};

static void sources_make(struct sources *s, struct ft_prng *p, int n, size_t longest, int aligned,
                         int equal)
{
    size_t phase = ft_prng_below(p, 32);
    s->n = n;
    for (int i = 0; i < n; i++) {
        size_t lead = aligned ? phase : ft_prng_below(p, 64);
        s->len[i] = equal ? longest : ft_prng_below(p, longest + 1);
        s->mem[i] = grab(lead + s->len[i]);
        s->src[i] = s->len[i] ? s->mem[i] + lead : NULL;
        fill(p, s->mem[i], lead + s->len[i]);
    }
}

static void sources_drop(struct sources *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->mem[i]);
}

/* Expected values are written down, not computed, because the baseline must be right too. */
static void known_bytes(void **state)
{
    (void)state;
    static const uint8_t a[] = {0x01, 0x02, 0x04, 0x08}, b[] = {0xff, 0x0f},
                         c[] = {0x10, 0x10, 0x10};
    static const uint8_t whole[] = {0xee, 0x1d, 0x14, 0x08, 0x00}, piece[] = {0x1d, 0x14};
    const void *const srcs[] = {a, b, c};
    const size_t lens[] = {4, 2, 3};
    void (*const encode[])(void *, const void *const *, const size_t *, int, size_t,
                           size_t) = {ft_erasure_xor_encode, ft_erasure_xor_encode_ref};
    void (*const update[])(void *, const void *, const void *,
                           size_t) = {ft_erasure_xor_update, ft_erasure_xor_update_ref};
    for (size_t v = 0; v < FT_COUNTOF(encode); v++) {
        uint8_t out[6] = {9, 9, 9, 9, 9, 9};
        encode[v](out, srcs, lens, 3, 0, 5);
        assert_memory_equal(out, whole, 5);
        assert_int_equal(out[5], 9);
        encode[v](out, srcs, lens, 3, 1, 2);
        assert_memory_equal(out, piece, 2);
        assert_int_equal(out[2], 0x14);
        encode[v](out, srcs, lens, 1, 2, 3); /* one source: a copy, then zeros */
        assert_memory_equal(out, ((uint8_t[]){0x04, 0x08, 0x00, 0x08}), 4);
        encode[v](out, srcs, lens, 0, 0, 2);
        assert_memory_equal(out, ((uint8_t[]){0, 0, 0x00, 0x08}), 4);
        encode[v](NULL, NULL, NULL, 0, 7, 0);
        memcpy(out, whole, 5);
        update[v](out, b, a, 2);
        assert_memory_equal(out, ((uint8_t[]){0x10, 0x10, 0x14, 0x08}), 4);
        update[v](NULL, NULL, NULL, 0);
    }
}

static void encode_case(struct ft_prng *p, uint64_t seed)
{
    static const size_t scale[] = {1, 40, 200, 5000, 70000};
    struct sources s;
    int aligned = ft_prng_below(p, 3) > 0;
    size_t longest = ft_prng_below(p, scale[ft_prng_below(p, FT_COUNTOF(scale))] + 1);
    int n = (int)ft_prng_below(p, longest > 5000 ? 6 : ft_prng_below(p, 4) ? 12 : MANY + 1);
    sources_make(&s, p, n, longest, aligned, ft_prng_below(p, 2) == 0);
    /* A piece may begin and end anywhere, also beyond the end of every image. */
    size_t off = ft_prng_below(p, longest + 2),
           len = ft_prng_below(p, longest - (off < longest ? off : longest) + 40);
    size_t lead = ft_prng_below(p, 64), room = lead + len + 64;
    if (aligned && n > 0 && s.src[0])
        lead = ((uintptr_t)s.src[0] + off) % 32;
    uint8_t *got = grab(room), *want = grab(room);
    fill(p, got, room);
    memcpy(want, got, room);
    ft_erasure_xor_encode(got + lead, s.src, s.len, n, off, len);
    ft_erasure_xor_encode_ref(want + lead, s.src, s.len, n, off, len);
    if (memcmp(got, want, room) != 0) /* with what lies around the parity */
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": n %d, longest %zu, off %zu, len %zu, aligned %d",
                 seed, n, longest, off, len, aligned);
    free(got);
    free(want);
    sources_drop(&s);
}

static void encode_is_the_baseline(void **state)
{
    (void)state;
    for_seeds(1500, encode_case);
}

static void update_case(struct ft_prng *p, uint64_t seed)
{
    struct sources s;
    size_t len = ft_prng_below(p, ft_prng_below(p, 2) ? 5000 : 200) + 1;
    sources_make(&s, p, 2, len, ft_prng_below(p, 2) == 0, 1);
    size_t lead = ft_prng_below(p, 2) ? (uintptr_t)s.src[0] % 32 : ft_prng_below(p, 64),
           room = lead + len + 64;
    uint8_t *got = grab(room), *want = grab(room);
    fill(p, got, room);
    memcpy(want, got, room);
    ft_erasure_xor_update(got + lead, s.src[0], s.src[1], len);
    ft_erasure_xor_update_ref(want + lead, s.src[0], s.src[1], len);
    if (memcmp(got, want, room) != 0)
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": update of %zu bytes", seed, len);
    free(got);
    free(want);
    sources_drop(&s);
}

static void update_is_the_baseline(void **state)
{
    (void)state;
    for_seeds(500, update_case);
}

/* A member changes its image, and the parity follows piece by piece. Then each member in turn is
 * lost and rebuilt. */
static void rebuild_case(struct ft_prng *p, uint64_t seed)
{
    struct sources s;
    int n = 1 + (int)ft_prng_below(p, 9);
    size_t longest = 1 + ft_prng_below(p, 3000), piece = 1 + ft_prng_below(p, 1000);
    sources_make(&s, p, n, longest, ft_prng_below(p, 2) == 0, 0);
    uint8_t *parity = grab(longest), *back = grab(longest), *next = grab(longest);
    ft_erasure_xor_encode(parity, s.src, s.len, n, 0, longest);

    int who = (int)ft_prng_below(p, (uint64_t)n);
    fill(p, next, s.len[who]);
    for (size_t at = 0; at < s.len[who]; at += piece) {
        size_t part = ft_min_u64(piece, s.len[who] - at);
        uint8_t *image = (uint8_t *)(uintptr_t)s.src[who] + at;
        ft_erasure_xor_update(parity + at, image, next + at, part);
        memcpy(image, next + at, part);
    }
    for (int lost = 0; lost < n; lost++) {
        struct sources left = s;
        left.src[lost] = parity;
        left.len[lost] = longest;
        ft_erasure_xor_encode(back, left.src, left.len, n, 0, longest);
        for (size_t i = 0; i < longest; i++)
            if (back[i] != (i < s.len[lost] ? ((const uint8_t *)s.src[lost])[i] : 0))
                fail_msg("FTRMA_TEST_SEED=%" PRIu64
                         ": byte %zu of image %d of %d did not come back",
                         seed, i, lost, n);
    }
    free(parity);
    free(back);
    free(next);
    sources_drop(&s);
}

static void any_lost_image_comes_back(void **state)
{
    (void)state;
    for_seeds(300, rebuild_case);
}

/* Parity is its own first source, so that differences can be added as they come; enough of them for
 * several batches. */
static void accumulate_case(struct ft_prng *p, uint64_t seed)
{
    struct sources s;
    int n = 1 + (int)ft_prng_below(p, MANY);
    size_t len = 1 + ft_prng_below(p, 2000);
    sources_make(&s, p, n, len, ft_prng_below(p, 2) == 0, 1);
    uint8_t *want = grab(len);
    ft_erasure_xor_encode_ref(want, s.src, s.len, n, 0, len);
    ft_erasure_xor_encode((void *)(uintptr_t)s.src[0], s.src, s.len, n, 0, len);
    if (memcmp(s.src[0], want, len) != 0)
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": %d sources, %zu bytes in place", seed, n, len);
    free(want);
    sources_drop(&s);
}

static void parity_may_be_its_first_source(void **state)
{
    (void)state;
    for_seeds(200, accumulate_case);
}

/* The fast code is used exactly where the header promises it. */
static void one_phase_is_fast(void **state)
{
    (void)state;
    uint8_t *a = grab(600), *b = grab(600), *parity = grab(600);
    memset(a, 1, 600);
    memset(b, 2, 600);
    memset(parity, 3, 600);
    for (size_t phase = 0; phase < 32; phase++) {
        for (size_t other = 0; other < 32; other++) {
            fast_calls = 0;
            ft_erasure_xor_encode(parity + phase, (const void *[]){a, b + other},
                                  (size_t[]){600, 500}, 2, phase, 400);
            assert_int_equal(fast_calls, other == 0);
            fast_calls = 0;
            ft_erasure_xor_update(parity + phase, a + phase, b + other, 400);
            assert_int_equal(fast_calls, other == phase);
        }
    }
    free(a);
    free(b);
    free(parity);
}

/* Longer than one call of ISA-L takes, with odd ends. */
static void large_pieces(void **state)
{
    (void)state;
    struct sources s;
    size_t len = (3u << 20) + 77;
    sources_make(&s, &(struct ft_prng){1}, 3, len, 1, 1);
    s.len[1] -= (1u << 20) + 5;
    size_t lead = (uintptr_t)s.src[0] % 32;
    uint8_t *got = grab(lead + len), *want = grab(lead + len);
    ft_erasure_xor_encode(got + lead, s.src, s.len, 3, 0, len);
    ft_erasure_xor_encode_ref(want + lead, s.src, s.len, 3, 0, len);
    assert_memory_equal(got + lead, want + lead, len);
    ft_erasure_xor_update(got + lead, s.src[0], s.src[2],
                          len); /* in place: what is done twice shows */
    ft_erasure_xor_update_ref(want + lead, s.src[0], s.src[2], len);
    assert_memory_equal(got + lead, want + lead, len);
    free(got);
    free(want);
    sources_drop(&s);
}

/* Nothing is read or written outside: sources and parity lie next to protected pages (a sanitizer
 * does not see into ISA-L). */
static void stays_within_its_buffers(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *fence[3];
    for (int i = 0; i < 3; i++) {
        fence[i] = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(fence[i] != MAP_FAILED);
        assert_int_equal(mprotect(fence[i] + page, page, PROT_READ | PROT_WRITE), 0);
        memset(fence[i] + page, i + 1, page);
    }
    for (size_t len = 1; len <= 700; len++) {
        const void *at_start[] = {fence[0] + page, fence[1] + page};
        const void *at_end[] = {fence[0] + 2 * page - len, fence[1] + 2 * page - len};
        ft_erasure_xor_encode(fence[2] + page, at_start, (size_t[]){len, len}, 2, 0, len);
        assert_int_equal(fence[2][page + len - 1], 1 ^ 2);
        ft_erasure_xor_encode(fence[2] + 2 * page - len, at_end, (size_t[]){len, len}, 2, 0, len);
        assert_int_equal(fence[2][2 * page - len], 1 ^ 2);
        ft_erasure_xor_encode(fence[2] + 2 * page - len, at_start, (size_t[]){len, len}, 2, 0, len);
        ft_erasure_xor_update(fence[2] + 2 * page - len, at_end[0], at_end[1], len);
        assert_int_equal(fence[2][2 * page - 1], 0);
    }
    for (int i = 0; i < 3; i++)
        munmap(fence[i], 3 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes),
        cmocka_unit_test(encode_is_the_baseline),
        cmocka_unit_test(update_is_the_baseline),
        cmocka_unit_test(any_lost_image_comes_back),
        cmocka_unit_test(parity_may_be_its_first_source),
        cmocka_unit_test(one_phase_is_fast),
        cmocka_unit_test(large_pieces),
        cmocka_unit_test(stays_within_its_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
