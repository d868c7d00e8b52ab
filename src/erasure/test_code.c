/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_code.c - m codewords: any m lost blocks can be rebuilt, by the plain baseline and by the
 * fast code with equal results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/prng.h"
#include "base/sim_seeds.h"
#include "erasure/erasure.h"

typedef void combine_fn(void *, const void *const *, const size_t *, const uint8_t *, int, size_t,
                        size_t);

static uint8_t *random_bytes(struct ft_prng *p, size_t len)
{
    uint8_t *b = aligned_alloc(64, ft_align_up(len + 64, 64));
    assert_non_null(b);
    for (size_t i = 0; i < len; i++)
        b[i] = (uint8_t)ft_prng_next(p);
    return b;
}

/* ---- a group: images of unequal sizes, codewords as long as the longest ---- */

struct group {
    int k, m;
    size_t longest, len[FT_ERASURE_MAX_BLOCKS];
    uint8_t *mem[FT_ERASURE_MAX_BLOCKS], *block[FT_ERASURE_MAX_BLOCKS];
};

/* Codewords by their definition: the baseline, with its own coefficients. */
static void codewords_ref(struct group *g, int r, uint8_t *out)
{
    uint8_t coef[FT_ERASURE_MAX_MEMBERS];
    for (int j = 0; j < g->k; j++)
        coef[j] = ft_erasure_coefficient_ref(r, j);
    ft_erasure_combine_ref(out, (const void *const *)g->block, g->len, coef, g->k, 0, g->longest);
}

static void group_make(struct group *g, struct ft_prng *p, int k, int m, size_t longest)
{
    int aligned = ft_prng_below(p, 2) == 0;
    g->k = k;
    g->m = m;
    g->longest = longest;
    for (int b = 0; b < k + m; b++) {
        size_t lead = aligned ? 0 : ft_prng_below(p, 64);
        g->len[b] = b >= k || b == 0 ? longest : ft_prng_below(p, longest + 1);
        g->mem[b] = random_bytes(p, lead + g->len[b]);
        g->block[b] = g->mem[b] + lead;
    }
    for (int r = 0; r < m; r++)
        codewords_ref(g, r, g->block[k + r]);
}

static void group_drop(struct group *g)
{
    for (int b = 0; b < g->k + g->m; b++)
        free(g->mem[b]);
}

/* Rebuilds block `wanted` from those in have[], in pieces, by fn. Returns whether it is correct,
 * and zero after its end. */
static int comes_back(struct group *g, const uint8_t *have, int wanted, size_t piece,
                      combine_fn *fn)
{
    int source[FT_ERASURE_MAX_MEMBERS];
    uint8_t coef[FT_ERASURE_MAX_MEMBERS], *out = malloc(g->longest + 1);
    const void *src[FT_ERASURE_MAX_MEMBERS];
    size_t len[FT_ERASURE_MAX_MEMBERS];
    assert_int_equal(ft_erasure_solve(g->k, g->m, have, wanted, source, coef), FT_OK);
    for (int i = 0; i < g->k; i++) {
        assert_true(have[source[i]] && source[i] != wanted &&
                    (i == 0 || source[i] > source[i - 1]));
        src[i] = g->block[source[i]];
        len[i] = g->len[source[i]];
    }
    memset(out, 0xa5, g->longest + 1);
    for (size_t at = 0; at < g->longest; at += piece)
        fn(out + at, src, len, coef, g->k, at, ft_min_u64(piece, g->longest - at));
    int good = memcmp(out, g->block[wanted], g->len[wanted]) == 0 && out[g->longest] == 0xa5;
    for (size_t i = g->len[wanted]; i < g->longest; i++)
        good = good && out[i] == 0;
    free(out);
    return good;
}

/* ---- tests ---- */

static void the_field(void **state)
{
    (void)state;
    assert_int_equal(ft_erasure_mul_ref(2, 0x80), 0x1d); /* x * x^7 = x^4 + x^3 + x^2 + 1 */
    assert_int_equal(ft_erasure_mul_ref(0x53, 1), 0x53);
    assert_int_equal(ft_erasure_mul_ref(3, 7), 9);
    for (int r = 0; r < FT_ERASURE_MAX_PARITY; r++)
        for (int j = 0; j < FT_ERASURE_MAX_MEMBERS; j++) {
            assert_int_equal(ft_erasure_coefficient(r, j), ft_erasure_coefficient_ref(r, j));
            assert_int_not_equal(ft_erasure_coefficient(r, j), 0);
            assert_true(r > 0 || ft_erasure_coefficient(r, j) == 1);
        }
}

/* Every subset of the blocks of every small group is lost. All of it can be rebuilt if it has at
 * most m blocks; otherwise it is refused, if members are among it. */
static void every_pattern_of_small_groups(void **state)
{
    (void)state;
    struct ft_prng p = {7};
    for (int k = 1; k <= 6; k++)
        for (int m = 1; m <= 4; m++) {
            struct group g;
            group_make(&g, &p, k, m, 100);
            for (unsigned lost = 0; lost < 1u << (k + m); lost++) {
                uint8_t have[FT_ERASURE_MAX_BLOCKS], coef[FT_ERASURE_MAX_MEMBERS];
                int source[FT_ERASURE_MAX_MEMBERS], too_many = __builtin_popcount(lost) > m;
                for (int b = 0; b < k + m; b++)
                    have[b] = !(lost >> b & 1);
                for (int b = 0; b < k + m; b++) {
                    if (have[b])
                        continue;
                    if (too_many && lost & ((1u << k) - 1))
                        assert_int_equal(ft_erasure_solve(k, m, have, b, source, coef),
                                         FT_ERR_RANGE);
                    else if (!comes_back(&g, have, b, 64, ft_erasure_combine) ||
                             !comes_back(&g, have, b, 100, ft_erasure_combine_ref))
                        fail_msg("k %d, m %d, lost %x: block %d does not come back", k, m, lost, b);
                }
            }
            group_drop(&g);
        }
}

static void random_case(struct ft_prng *p, uint64_t seed)
{
    struct group g;
    int big = ft_prng_below(p, 8) == 0;
    int k = 1 + (int)ft_prng_below(p, big ? FT_ERASURE_MAX_MEMBERS : 20),
        m = 1 + (int)ft_prng_below(p, FT_ERASURE_MAX_PARITY);
    size_t longest = 1 + ft_prng_below(p, big ? 300 : 3000);
    uint8_t have[FT_ERASURE_MAX_BLOCKS];
    group_make(&g, p, k, m, longest);
    memset(have, 1, sizeof have);
    for (int e = (int)ft_prng_below(p, (uint64_t)m + 1); e > 0; e--)
        have[ft_prng_below(p, (uint64_t)(k + m))] = 0;
    for (int b = 0; b < k + m; b++)
        if (!have[b] && !comes_back(&g, have, b, 1 + ft_prng_below(p, longest), ft_erasure_combine))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64
                     ": k %d, m %d, longest %zu: block %d does not come back",
                     seed, k, m, longest, b);
    group_drop(&g);
}

static void random_losses(void **state)
{
    (void)state;
    for_seeds(400, random_case);
}

/* Any sums, not only those that solve makes; the bytes around the result do not change. */
static void combine_case(struct ft_prng *p, uint64_t seed)
{
    static const size_t scale[] = {40, 200, 5000};
    struct group g;
    uint8_t coef[FT_ERASURE_MAX_MEMBERS], *got, *want;
    size_t longest = 1 + ft_prng_below(p, scale[ft_prng_below(p, 3)]);
    int k = 1 + (int)ft_prng_below(p, longest > 1000 ? 6 : 128),
        n = (int)ft_prng_below(p, (uint64_t)k + 1);
    group_make(&g, p, k, 1, longest);
    for (int i = 0; i < n; i++)
        coef[i] = (uint8_t)(ft_prng_below(p, 4) ? ft_prng_next(p) : ft_prng_below(p, 2));
    size_t off = ft_prng_below(p, longest + 2),
           len = ft_prng_below(p, longest - (off < longest ? off : longest) + 40);
    size_t lead = ft_prng_below(p, 64), room = lead + len + 64;
    got = random_bytes(p, room);
    want = random_bytes(p, room);
    memcpy(want, got, room);
    ft_erasure_combine(got + lead, (const void *const *)g.block, g.len, coef, n, off, len);
    ft_erasure_combine_ref(want + lead, (const void *const *)g.block, g.len, coef, n, off, len);
    if (memcmp(got, want, room) != 0)
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": n %d, longest %zu, off %zu, len %zu", seed, n,
                 longest, off, len);
    free(got);
    free(want);
    group_drop(&g);
}

static void combine_is_the_baseline(void **state)
{
    (void)state;
    for_seeds(500, combine_case);
}

/* Members change their images and send differences, in pieces and interleaved; fast and plain
 * codewords follow. */
static void update_case(struct ft_prng *p, uint64_t seed)
{
    struct group g;
    int k = 1 + (int)ft_prng_below(p, 12), m = 1 + (int)ft_prng_below(p, FT_ERASURE_MAX_PARITY),
        row[FT_ERASURE_MAX_PARITY];
    size_t longest = 1 + ft_prng_below(p, 3000);
    group_make(&g, p, k, m, longest);
    for (int step = 0; step < 12; step++) {
        int j = (int)ft_prng_below(p, (uint64_t)k), n = 0;
        size_t at = ft_prng_below(p, g.len[j] + 1), part = ft_prng_below(p, g.len[j] - at + 1);
        uint8_t *fresh = random_bytes(p, part), *diff = random_bytes(p, part),
                *twin[FT_ERASURE_MAX_PARITY];
        void *to[FT_ERASURE_MAX_PARITY], *twin_to[FT_ERASURE_MAX_PARITY];
        int in_place = (int)ft_prng_below(p, 3);
        memcpy(diff, in_place == 1 ? g.block[j] + at : fresh, part);
        ft_erasure_diff(diff, in_place == 1 ? diff : g.block[j] + at, in_place == 2 ? diff : fresh,
                        part);
        for (size_t i = 0; i < part; i++)
            assert_int_equal(diff[i], g.block[j][at + i] ^ fresh[i]);
        for (int r = 0; r < m; r++) {
            row[n] = r;
            twin[r] = random_bytes(p, longest);
            memcpy(twin[r], g.block[k + r], longest);
            twin_to[n] = twin[r] + at;
            to[n++] = g.block[k + r] + at;
        }
        if (ft_prng_below(p, 2)) /* each codeword where it lies, one by one */
            for (int i = 0; i < n; i++)
                ft_erasure_update(&to[i], &row[i], 1, j, diff, part);
        else
            ft_erasure_update(to, row, n, j, diff, part);
        ft_erasure_update_ref(twin_to, row, n, j, diff, part);
        memcpy(g.block[j] + at, fresh, part);
        for (int r = 0; r < m; r++) {
            if (memcmp(twin[r], g.block[k + r], longest) != 0)
                fail_msg("FTRMA_TEST_SEED=%" PRIu64
                         ": codeword %d after %zu bytes of member %d at %zu",
                         seed, r, part, j, at);
            free(twin[r]);
        }
        free(fresh);
        free(diff);
    }
    for (int r = 0; r < m; r++) {
        uint8_t *again = malloc(longest);
        codewords_ref(&g, r, again);
        if (memcmp(again, g.block[k + r], longest) != 0)
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": codeword %d is not that of the images", seed, r);
        free(again);
    }
    group_drop(&g);
}

static void codewords_follow_differences(void **state)
{
    (void)state;
    for_seeds(100, update_case);
}

/* Lengths beyond one call of ISA-L. */
static void long_images(void **state)
{
    (void)state;
    struct ft_prng p = {3};
    struct group g;
    size_t longest = (5u << 19) + 77;
    uint8_t have[4] = {0, 1, 0, 1};
    group_make(&g, &p, 2, 2, longest);
    assert_true(comes_back(&g, have, 0, longest, ft_erasure_combine));
    assert_true(comes_back(&g, have, 2, longest, ft_erasure_combine));
    group_drop(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_field),
        cmocka_unit_test(every_pattern_of_small_groups),
        cmocka_unit_test(random_losses),
        cmocka_unit_test(combine_is_the_baseline),
        cmocka_unit_test(codewords_follow_differences),
        cmocka_unit_test(long_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
