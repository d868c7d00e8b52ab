/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_exposure.c - votes about the dead: merged in any order they say the same; and whose loss
 * takes everybody back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/version.h"
#include "proto/exposure.h"

#define SLOTS 20

static uint64_t seed;

/* What the dead have left, which is final, and what each checksum process says of its own
 * codeword. */
static struct ft_testimony truth(struct ft_prng *tag, int slot)
{
    struct ft_testimony t = {.slot = slot,
                             .own_from = (uint64_t)slot,
                             .latest = (uint64_t)slot % 4,
                             .calls = 100 + (uint64_t)slot};
    t.tag_by = (uint32_t)ft_prng_below(tag, 4);
    t.tag = t.tag_by ? 7 * t.tag_by + (uint64_t)slot : 0;
    return t;
}

struct vote {
    struct ft_testimonies told;
    struct ft_exposers by;
};

/* Each voter has read some of the testaments. */
static void draw(struct ft_prng *r, struct vote *v)
{
    memset(v, 0, sizeof *v);
    for (int s = 0; s < SLOTS; s++)
        if (ft_prng_below(r, 3) == 0) {
            struct ft_testimony t = truth(r, s);
            ft_testimony_add(&v->told, &t);
        }
    for (uint64_t n = ft_prng_below(r, 3); n > 0; n--) {
        int slot = ft_prng_below(r, 5) ? (int)ft_prng_below(r, 4) : FT_EXPOSER_ALL;
        ft_exposer_add(&v->by, slot, ft_prng_below(r, 4));
    }
}

static void merge(struct vote *to, const struct vote *from)
{
    ft_testimonies_merge(&to->told, &from->told);
    ft_exposers_merge(&to->by, &from->by);
}

/* What is after the last testimony counts for nothing. */
static int same(const struct vote *a, const struct vote *b)
{
    return a->told.n == b->told.n &&
           memcmp(a->told.of, b->told.of, a->told.n * sizeof a->told.of[0]) == 0 &&
           memcmp(&a->by, &b->by, sizeof a->by) == 0;
}

static void any_order(void **state)
{
    (void)state;
    for (uint64_t s = seed; s < seed + 3000; s++) {
        struct ft_prng r = {s};
        struct vote v[3], ab, bc, ba, abc;
        for (int i = 0; i < 3; i++)
            draw(&r, &v[i]);
        ab = v[0];
        merge(&ab, &v[1]);
        ba = v[1];
        merge(&ba, &v[0]);
        bc = v[1];
        merge(&bc, &v[2]);
        abc = v[0];
        merge(&abc, &bc);
        if (!same(&ab, &ba))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": not commutative", s);
        merge(&ab, &v[2]);
        if (!same(&ab, &abc))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": not associative", s);
        merge(&abc, &v[s % 3]);
        if (!same(&ab, &abc))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": not idempotent", s);
    }
}

/* The two exposers that are kept say the same as all of them. */
static void two_exposers_suffice(void **state)
{
    (void)state;
    for (uint64_t s = seed; s < seed + 3000; s++) {
        struct ft_prng r = {s};
        struct ft_exposers e = {0};
        struct ft_exposer all[6];
        int n = (int)ft_prng_below(&r, 7);
        for (int i = 0; i < n; i++) {
            all[i] = (struct ft_exposer){ft_prng_below(&r, 4), (int32_t)ft_prng_below(&r, 4), 0};
            if (ft_prng_below(&r, 6) == 0)
                all[i].slot = FT_EXPOSER_ALL;
            ft_exposer_add(&e, all[i].slot, all[i].until);
        }
        for (uint64_t committed = 0; committed < 5; committed++)
            for (int slot = 0; slot < 5; slot++) {
                int reached = 0;
                for (int i = 0; i < n; i++)
                    reached |= all[i].until > committed && all[i].slot != slot;
                if (ft_exposers_reach(&e, committed, slot) != reached)
                    fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": slot %d at %d", s, slot, (int)committed);
            }
    }
}

static void lowest_slots_are_kept(void **state)
{
    (void)state;
    struct ft_testimonies t = {0};
    for (int s = 2 * FT_TESTIMONIES; s > 0; s--)
        ft_testimony_add(&t, &(struct ft_testimony){.slot = s, .calls = (uint64_t)s});
    ft_testimony_add(&t, &(struct ft_testimony){.slot = 3, .calls = 3});
    assert_int_equal(t.n, FT_TESTIMONIES);
    for (int s = 1; s <= FT_TESTIMONIES; s++) {
        assert_int_equal(t.of[s - 1].slot, s);
        assert_int_equal(ft_testimony_of(&t, s)->calls, s);
    }
    assert_null(ft_testimony_of(&t, FT_TESTIMONIES + 1));
}

static void testament_is_told(void **state)
{
    (void)state;
    static struct ft_testament w;
    atomic_store(&w.calls, 1);
    atomic_store(&w.position, 2);
    atomic_store(&w.events, 3);
    atomic_store(&w.own_from, 4);
    atomic_store(&w.heap_from, 6);
    atomic_store(&w.arena_at, 7);
    atomic_store(&w.strayed, 8);
    atomic_store(&w.log_here, 1);
    atomic_store(&w.latest, 9);
    struct ft_testimony t = ft_testify(11, &w);
    assert_true(t.calls == 1 && t.position == 2 && t.events == 3 && t.own_from == 4 &&
                t.heap_from == 6 && t.arena_at == 7 && t.strayed == 8 && t.log_here == 1 &&
                t.latest == 9 &&
                t.slot == 11 && !t.tag_by);
}

/* [Helpers have tagged an image, the lead has not, and the rank is lost.] Who says it first does not
 * matter: the lead's tag holds, and without the lead that of the first one that is left. */
static void the_leads_tag_holds(void **state)
{
    (void)state;
    const struct ft_testimony said[] = {
        {.slot = 5, .latest = 1},
        {.slot = 5, .latest = 1, .tag = 9, .tag_by = FT_TAG_BY(0)},
        {.slot = 5, .latest = 1, .tag = 8, .tag_by = FT_TAG_BY(2)},
        {.slot = 5, .latest = 1, .tag = 2, .tag_by = FT_TAG_BY_LEAD},
    };
    for (int with_lead = 0; with_lead < 2; with_lead++)
        for (int from = 0; from < 3 + with_lead; from++) {
            struct ft_testimonies t = {0};
            for (int i = 0; i < 3 + with_lead; i++)
                ft_testimony_add(&t, &said[(from + i) % (3 + with_lead)]);
            assert_int_equal(ft_testimony_latest(&t.of[0]), with_lead ? 2 : 9);
        }
    assert_int_equal(ft_testimony_latest(&said[0]), 1);
}

static enum ft_exposed of(const struct ft_exposure *x, uint64_t committed, int rank,
                          struct ft_testimony t)
{
    struct ft_testimonies told = {0};
    struct ft_exposers by = {0};
    t.slot = rank;
    ft_testimony_add(&told, &t);
    return ft_exposure_of(x, committed, 1, rank, rank, &by, &told);
}

static void by_its_own_log(void **state)
{
    (void)state;
    struct ft_exposure x = {0};
    struct ft_testimonies told = {0};
    struct ft_exposers by = {0};
    assert_int_equal(of(&x, 3, 1, (struct ft_testimony){.own_from = 3}), FT_EXPOSED_NOT);
    assert_int_equal(of(&x, 2, 1, (struct ft_testimony){.own_from = 3}), FT_EXPOSED_OWN_LOG);
    assert_int_equal(of(&x, 9, 1, (struct ft_testimony){.own_from = UINT64_MAX}),
                     FT_EXPOSED_OWN_LOG);
    assert_int_equal(ft_exposure_of(&x, 3, 1, 1, 1, &by, &told), FT_EXPOSED_UNKNOWN);
    ft_testimony_add(&told, &(struct ft_testimony){.slot = 1});
    assert_int_equal(ft_exposure_of(&x, 3, 1, 1, 1, &by, &told), FT_EXPOSED_NOT);
    ft_exposer_add(&by, 1, UINT64_MAX); /* it replays: that exposes the others */
    assert_int_equal(ft_exposure_of(&x, 3, 1, 1, 1, &by, &told), FT_EXPOSED_NOT);
    ft_exposer_add(&by, 2, 4);
    assert_int_equal(ft_exposure_of(&x, 3, 1, 1, 1, &by, &told), FT_EXPOSED_BY_OTHER);
    assert_int_equal(ft_exposure_of(&x, 4, 1, 1, 1, &by, &told), FT_EXPOSED_NOT);
}

#define ALONE(generation) FT_VERSION_MAKE(5ull, generation, 1)

static void by_anothers_loss(void **state)
{
    (void)state;
    struct ft_exposure x = {0};
    const struct ft_testimony plain = {.latest = 0}, alone = {.latest = ALONE(1)};
    ft_exposure_lost(&x, 3, 5, 0, &plain); /* rank 0 goes back to checkpoint 5 */
    assert_int_equal(of(&x, 5, 1, plain), FT_EXPOSED_NOT);
    assert_int_equal(of(&x, 5, 1, alone), FT_EXPOSED_BY_LOSS); /* an image of before that */
    assert_int_equal(of(&x, 5, 1, (struct ft_testimony){.latest = ALONE(3)}), FT_EXPOSED_NOT);
    assert_int_equal(of(&x, 5, 0, alone), FT_EXPOSED_NOT); /* its own loss */
    ft_exposure_lost(&x, 4, 5, 2, &alone); /* what rank 2 had logged for others is gone */
    assert_int_equal(of(&x, 5, 1, plain), FT_EXPOSED_BY_LOSS);
    assert_int_equal(of(&x, 5, 1, (struct ft_testimony){.latest = ALONE(3)}), FT_EXPOSED_BY_LOSS);
    assert_int_equal(of(&x, 5, 1, (struct ft_testimony){.latest = ALONE(4)}), FT_EXPOSED_NOT);
    assert_int_equal(of(&x, 5, 2, plain), FT_EXPOSED_NOT);
    ft_exposure_lost(&x, 5, 5, 2, &alone);
    assert_int_equal(of(&x, 5, 2, plain), FT_EXPOSED_NOT); /* still its own losses only */
    ft_exposure_lost(&x, 6, 5, 3, &alone);
    assert_int_equal(of(&x, 5, 2, plain), FT_EXPOSED_BY_LOSS);
    assert_int_equal(of(&x, 5, 3, (struct ft_testimony){.latest = ALONE(5)}), FT_EXPOSED_NOT);
    assert_int_equal(of(&x, 5, 3, (struct ft_testimony){.latest = ALONE(4)}), FT_EXPOSED_BY_LOSS);
    assert_int_equal(of(&x, 6, 1, plain), FT_EXPOSED_NOT); /* a commit ends it */
    ft_exposure_clear(&x);
    assert_int_equal(of(&x, 5, 2, plain), FT_EXPOSED_NOT);
}

/* Others go by its image of generation 2; the checksum process was replaced, and has the committed
 * one. */
static void by_its_image_given_up(void **state)
{
    (void)state;
    struct ft_exposure x = {0};
    struct ft_testimony t = {.latest = ALONE(2), .tag = 5, .tag_by = FT_TAG_BY_LEAD};
    assert_int_equal(of(&x, 5, 1, t), FT_EXPOSED_GIVEN_UP);
    assert_int_equal(of(&x, 6, 1, t), FT_EXPOSED_NOT); /* a commit ends it */
    t.tag = ALONE(1);
    assert_int_equal(of(&x, 5, 1, t), FT_EXPOSED_GIVEN_UP);
    t.tag = ALONE(2);
    assert_int_equal(of(&x, 5, 1, t), FT_EXPOSED_NOT);
    t.tag = ALONE(3); /* it has not yet flipped */
    assert_int_equal(of(&x, 5, 1, t), FT_EXPOSED_NOT);
    t = (struct ft_testimony){.latest = 4, .tag = 5, .tag_by = FT_TAG_BY(0)};
    assert_int_equal(of(&x, 5, 1, t), FT_EXPOSED_NOT);
}

static void what_covers(void **state)
{
    (void)state;
    struct ft_exposure x = {0};
    struct ft_exposure_own me = {.rank = 1};
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_NOTHING);
    me.log_lost = 1;
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALONE);
    me.others_from = 5;
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALONE);
    me.others_from = 6; /* all would need an image */
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALL);
    me = (struct ft_exposure_own){.rank = 1, .not_logged = 1};
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALL);
    me = (struct ft_exposure_own){.rank = 1, .given_up = 1};
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALL);
    me = (struct ft_exposure_own){.rank = 1, .latest = ALONE(2)};
    ft_exposure_lost(&x, 3, 5, 0, &(struct ft_testimony){0});
    assert_int_equal(ft_exposure_cover(&x, 5, &me), FT_COVER_ALONE);
}

int main(void)
{
    const char *env = getenv("FTRMA_TEST_SEED");
    seed = env && *env ? strtoull(env, NULL, 0) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
        cmocka_unit_test(two_exposers_suffice),
        cmocka_unit_test(lowest_slots_are_kept),
        cmocka_unit_test(testament_is_told), cmocka_unit_test(the_leads_tag_holds),
        cmocka_unit_test(by_its_own_log),
        cmocka_unit_test(by_anothers_loss), cmocka_unit_test(by_its_image_given_up),
        cmocka_unit_test(what_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
