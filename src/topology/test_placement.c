/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_placement.c - Eq. 6 holds where the placement says so, what is refused is impossible, and
 * spares keep it whenever any choice can.
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
#include "topology/placement.h"

/* A machine with up to 4 levels and random numbers of children. */
static void random_machine(struct ft_prng *p, struct ft_domains *d, int most)
{
    char text[8192], err[256];
    int nlevels = 1 + (int)ft_prng_below(p, 4), count[5], at = 0;
    count[nlevels] = 1 + (int)ft_prng_below(p, 5);
    for (int k = nlevels - 1; k > 0; k--)
        count[k] = 1 + (int)ft_prng_below(p, (uint64_t)most);
    for (int k = 1; k <= nlevels; k++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       k < nlevels ? "level l%d in l%d\n" : "level l%d\n", k, k + 1);
        for (int i = 0; i < count[k]; i++) {
            at += snprintf(text + at, sizeof text - (size_t)at, "l%d e%d", k, i);
            if (k < nlevels)
                at += snprintf(text + at, sizeof text - (size_t)at, " in e%d",
                               (int)ft_prng_below(p, (uint64_t)count[k + 1]));
            at += snprintf(text + at, sizeof text - (size_t)at, "\n");
        }
    }
    if (ft_domains_parse("random", text, (size_t)at, d, err, sizeof err) != FT_OK)
        fail_msg("%s", err);
}

/* By definition: the largest number of members of one group in one element of a level. */
static int most_together(const struct ft_domains *d, int level, const int *node_at,
                         const int *group_of, int npositions, int ngroups)
{
    int most = 0, *count = calloc((size_t)d->level[level].count * (size_t)ngroups, sizeof *count);
    for (int i = 0; i < npositions; i++) {
        int *c = &count[ft_domains_at(d, node_at[i], level) * ngroups + group_of[i]];
        most = ++*c > most ? *c : most;
    }
    free(count);
    return most;
}

static void check_placement(const struct ft_domains *d, const int *node_of, int n,
                            const struct ft_place_ask *a, const struct ft_placement *p,
                            uint64_t seed)
{
    int g = a->nchecksums / a->parity, size[64] = {0}, checksums[64] = {0}, seen[256] = {0},
        node_at[256], members = 0;
    assert_int_equal(p->npositions, a->nranks + a->nchecksums);
    assert_int_equal(p->ngroups, g);
    for (int i = 0; i < p->npositions; i++) {
        assert_in_range(p->slot_of[i], 0, n - 1);
        assert_int_equal(seen[p->slot_of[i]]++, 0);
        assert_int_equal(p->pos_of[p->slot_of[i]], i);
        assert_in_range(p->group_of[i], 0, g - 1);
        size[p->group_of[i]] += i < a->nranks;
        checksums[p->group_of[i]] += i >= a->nranks;
        assert_true(i < a->nranks || p->group_of[i] == (i - a->nranks) / a->parity);
        assert_true(i == 0 || i >= a->nranks || p->slot_of[i] > p->slot_of[i - 1]);
        node_at[i] = node_of[p->slot_of[i]];
    }
    for (int s = 0; s < n; s++)
        members += p->pos_of[s] >= 0;
    assert_int_equal(members, p->npositions);
    for (int i = 0; i < g; i++) {
        assert_int_equal(checksums[i], a->parity);
        assert_in_range(size[i], a->nranks / g, (a->nranks + g - 1) / g);
    }
    int aware = 0;
    while (aware < d->nlevels &&
           most_together(d, aware + 1, node_at, p->group_of, p->npositions, g) <= a->parity)
        aware++;
    if (p->aware != aware || (a->aware > 0 && aware < a->aware))
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": aware of level %d, said %d, asked %d", seed, aware,
                 p->aware, a->aware);
}

static void placement_case(struct ft_prng *p, uint64_t seed)
{
    struct ft_domains d;
    random_machine(p, &d, 40);
    int m = 1 + (int)ft_prng_below(p, 4), g = 1 + (int)ft_prng_below(p, 8),
        spares = (int)ft_prng_below(p, 10);
    struct ft_place_ask a = {
        .nranks = g * m + (int)ft_prng_below(p, 120), .nchecksums = g * m, .parity = m};
    int n = a.nranks + a.nchecksums + spares, node_of[256];
    if (ft_prng_below(p, 2))
        ft_domains_spread(&d, n, node_of);
    else
        for (int i = 0; i < n; i++)
            node_of[i] = (int)ft_prng_below(p, (uint64_t)d.level[1].count);
    char why[512];
    struct ft_placement best, out;
    a.aware = FT_AWARE_BEST;
    assert_int_equal(ft_place(&d, node_of, n, &a, &best, why, sizeof why), FT_OK);
    check_placement(&d, node_of, n, &a, &best, seed);
    for (a.aware = 0; a.aware <= d.nlevels; a.aware++) {
        enum ft_status st = ft_place(&d, node_of, n, &a, &out, why, sizeof why);
        if ((st == FT_OK) != (a.aware <= best.aware))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": level %d, best %d", seed, a.aware, best.aware);
        if (st != FT_OK) {
            char want[100];
            snprintf(want, sizeof want, "The best level that is possible is %s",
                     best.aware ? d.level[best.aware].name : "none");
            assert_non_null(strstr(why, want));
            continue;
        }
        check_placement(&d, node_of, n, &a, &out, seed);
        ft_placement_finish(&out);
    }
    ft_placement_finish(&best);
    ft_domains_finish(&d);
}

static void eq_6_holds_where_it_is_said_to(void **state)
{
    (void)state;
    for_seeds(2000, placement_case);
}

/* Whether groups that still need size[g] members can be filled from element e on, found by trying
 * all ways. */
static int try_all(const int *count, int nelements, int e, int *size, int ngroups, int g, int left,
                   int m)
{
    if (e == nelements) {
        for (int i = 0; i < ngroups; i++)
            if (size[i])
                return 0;
        return 1;
    }
    if (g == ngroups)
        return try_all(count, nelements, e + 1, size, ngroups, 0,
                       e + 1 < nelements ? count[e + 1] : 0, m);
    for (int x = 0; x <= m && x <= left && x <= size[g]; x++) {
        size[g] -= x;
        int found = try_all(count, nelements, e, size, ngroups, g + 1, left - x, m);
        size[g] += x;
        if (found)
            return 1;
    }
    return 0;
}

static void refusal_case(struct ft_prng *p, uint64_t seed)
{
    int nelements = 1 + (int)ft_prng_below(p, 5), m = 1 + (int)ft_prng_below(p, 2),
        g = 1 + (int)ft_prng_below(p, 3), n = 0;
    int count[5], node_of[64], size[3];
    char text[64], why[512];
    struct ft_domains d;
    struct ft_placement out;
    snprintf(text, sizeof text, "level node count %d", nelements);
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &d, why, sizeof why), FT_OK);
    for (int e = 0; e < nelements; e++) {
        count[e] = (int)ft_prng_below(p, 6);
        for (int i = 0; i < count[e]; i++)
            node_of[n++] = e;
    }
    int nranks = n - g * m - (int)ft_prng_below(p, 3);
    if (nranks >= g * m) {
        struct ft_place_ask a = {.nranks = nranks, .nchecksums = g * m, .parity = m, .aware = 1};
        for (int i = 0; i < g; i++)
            size[i] = m + nranks / g + (i < nranks % g);
        int possible = try_all(count, nelements, 0, size, g, 0, count[0], m);
        enum ft_status st = ft_place(&d, node_of, n, &a, &out, why, sizeof why);
        if (st != (possible ? FT_OK : FT_ERR_ARG))
            fail_msg("FTRMA_TEST_SEED=%" PRIu64
                     ": %d ranks, %d groups, m %d on %d nodes is%s possible: %s",
                     seed, nranks, g, m, nelements, possible ? "" : " not",
                     st == FT_OK ? "placed" : why);
        if (st == FT_OK)
            ft_placement_finish(&out);
    }
    ft_domains_finish(&d);
}

static void what_is_refused_is_impossible(void **state)
{
    (void)state;
    for_seeds(3000, refusal_case);
}

static void refusals_say_why(void **state)
{
    (void)state;
    static const char text[] = "level node in rack count 8\nlevel rack count 2\n";
    static const struct {
        struct ft_place_ask ask;
        int n;
        const char *why;
    } cases[] = {
        {{6, 2, 1, 2},
         8,
         "no placement is aware of level rack: with no more than 1 of each of 2 groups in one "
         "rack, the 2 of them "
         "take 4 of 8 ranks and checksum processes. The best level that is possible is node"},
        {{14, 1, 1, 1}, 15, "The best level that is possible is none"},
        {{4, 3, 2, 1}, 8, "3 checksum processes: must be a multiple of the parity, 2"},
        {{4, 0, 1, 1}, 8, "0 checksum processes"},
        {{1, 2, 2, 1}, 8, "parity 2 is larger than a group: 1 ranks in 1 group are 1 each"},
        {{5, 6, 3, 1}, 16, "parity 3 is larger than a group: 5 ranks in 2 groups are 2 each"},
        {{40, 9, 9, 1}, 64, "parity 9: must be from 1 to 8"},
        {{40, 0, 0, 1}, 64, "parity 0"},
        {{8, 1, 1, 1}, 8, "8 processes are too few for 8 ranks and 1 checksum processes"},
        {{4, 1, 1, 3}, 8, "there is no level 3: the levels are 1 to 2"},
    };
    struct ft_domains d;
    char why[512];
    int node_of[64];
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &d, why, sizeof why), FT_OK);
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        struct ft_placement out = {.aware = 7};
        ft_domains_spread(&d, cases[i].n, node_of);
        *why = '\0';
        enum ft_status st = ft_place(&d, node_of, cases[i].n, &cases[i].ask, &out, why, sizeof why);
        if (st != FT_ERR_ARG || !strstr(why, cases[i].why) || out.aware != 7)
            fail_msg("case %zu: %s", i, why);
    }
    ft_domains_finish(&d);
}

/* The picture in placement.h. */
static void the_picture(void **state)
{
    (void)state;
    static const char text[] = "level node count 5\nprocess per 3\n";
    static const int group[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    struct ft_domains d;
    struct ft_placement p;
    char why[512];
    int node_of[14];
    struct ft_place_ask a = {.nranks = 9, .nchecksums = 3, .parity = 1, .aware = 1};
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &d, why, sizeof why), FT_OK);
    for (int i = 0; i < 14; i++)
        node_of[i] = ft_domains_node_of(&d, i);
    assert_int_equal(ft_place(&d, node_of, 14, &a, &p, why, sizeof why), FT_OK);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(p.slot_of[i], i);
        assert_int_equal(p.group_of[i], group[i]);
    }
    assert_true(p.pos_of[12] == -1 && p.pos_of[13] == -1);
    ft_placement_finish(&p);
    /* Without levels it is the order of processes. */
    assert_int_equal(
        ft_place(NULL, NULL, 14, &(struct ft_place_ask){9, 4, 2, 0}, &p, why, sizeof why), FT_OK);
    for (int i = 0; i < 14; i++) {
        assert_int_equal(p.pos_of[i], i < 13 ? i : -1);
        assert_true(i >= 13 || p.group_of[i] == (i < 9 ? i % 2 : (i - 9) / 2));
    }
    ft_placement_finish(&p);
    ft_domains_finish(&d);
}

/* ---- spares ---- */

struct spare_case {
    const struct ft_domains *d;
    int aware, m, npositions, nlost, nspares;
    int group_of[40], node_at[40], lost[5], spare_node[6];
};

/* The largest number of lost positions that any choice can place without breaking Eq. 6, found by
 * trying all choices. */
static int best_of_all(struct spare_case *c, int i, unsigned used, int placed)
{
    if (i == c->nlost)
        return placed;
    int most = best_of_all(c, i + 1, used, placed);
    for (int s = 0; s < c->nspares; s++) {
        int there = 0, pos = c->lost[i], e = ft_domains_at(c->d, c->spare_node[s], c->aware);
        if (used >> s & 1)
            continue;
        for (int q = 0; q < c->npositions; q++)
            there += c->node_at[q] >= 0 && c->group_of[q] == c->group_of[pos] &&
                     ft_domains_at(c->d, c->node_at[q], c->aware) == e;
        if (there >= c->m)
            continue;
        c->node_at[pos] = c->spare_node[s];
        int got = best_of_all(c, i + 1, used | 1u << s, placed + 1);
        c->node_at[pos] = -1;
        most = got > most ? got : most;
    }
    return most;
}

static void spare_case(struct ft_prng *p, uint64_t seed)
{
    struct ft_domains d;
    random_machine(p, &d, 6);
    struct spare_case c = {.d = &d,
                           .aware = 1 + (int)ft_prng_below(p, (uint64_t)d.nlevels),
                           .m = 1 + (int)ft_prng_below(p, 2)};
    int ngroups = 1 + (int)ft_prng_below(p, 4), taken[5], broken, node_at[40], used[6] = {0},
        placed = 0;
    c.npositions = 6 + (int)ft_prng_below(p, 20);
    c.nlost = (int)ft_prng_below(p, 5);
    c.nspares = c.nlost + (int)ft_prng_below(p, (uint64_t)(6 - c.nlost));
    for (int i = 0; i < c.npositions; i++) {
        c.group_of[i] = i % ngroups;
        c.node_at[i] = (int)ft_prng_below(p, (uint64_t)d.level[1].count);
    }
    for (int i = 0; i < c.nlost; i++) {
        c.lost[i] = i + (i ? c.lost[i - 1] : (int)ft_prng_below(p, 2));
        c.node_at[c.lost[i]] = -1;
    }
    for (int i = 1; i < c.nlost; i++) /* ascending and distinct */
        FT_ASSERT(c.lost[i] > c.lost[i - 1] && c.lost[i] < 12);
    for (int s = 0; s < c.nspares; s++)
        c.spare_node[s] = (int)ft_prng_below(p, (uint64_t)d.level[1].count);
    while (c.npositions <= 12)
        c.npositions++, c.group_of[c.npositions - 1] = 0, c.node_at[c.npositions - 1] = 0;
    memcpy(node_at, c.node_at, sizeof node_at);
    for (int i = 0; i < c.nlost; i++)
        node_at[c.lost[i]] = 0; /* not looked at */
    int *scratch = malloc(ft_place_spares_scratch(&d, c.npositions, c.nspares) * sizeof(int) +
                          1); /* the reported number is not exceeded */
    broken = ft_place_spares(&d, c.aware, c.m, c.group_of, node_at, c.npositions, c.lost, c.nlost,
                             c.spare_node, c.nspares, taken, scratch);
    free(scratch);
    int best = best_of_all(&c, 0, 0, 0);
    for (int i = 0; i < c.nlost;
         i++) { /* as many as said do keep it: the living first, then one by one those that fit */
        assert_in_range(taken[i], 0, c.nspares - 1);
        assert_int_equal(used[taken[i]]++, 0);
        int there = 0, e = ft_domains_at(&d, c.spare_node[taken[i]], c.aware);
        for (int q = 0; q < c.npositions; q++)
            there += c.node_at[q] >= 0 && c.group_of[q] == c.group_of[c.lost[i]] &&
                     ft_domains_at(&d, c.node_at[q], c.aware) == e;
        if (there < c.m) {
            c.node_at[c.lost[i]] = c.spare_node[taken[i]];
            placed++;
        }
    }
    if (c.nlost - broken != best || placed < best)
        fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": of %d lost %d keep Eq. 6, said %d, best %d", seed,
                 c.nlost, placed, c.nlost - broken, best);
    ft_domains_finish(&d);
}

static void spares_keep_it_when_any_choice_can(void **state)
{
    (void)state;
    for_seeds(5000, spare_case);
}

/* A million processes take seconds if it is O(n log n); hours if it were quadratic. */
static void a_million_processes(void **state)
{
    (void)state;
    static const char text[] = "level node in psu count 250000\nlevel psu in switch count "
                               "50000\nlevel switch in rack count 10000\n"
                               "level rack count 5000\n";
    int n = 1000000, *node_of = malloc((size_t)n * sizeof *node_of);
    struct ft_prng p = {1};
    struct ft_domains d;
    struct ft_placement out;
    char why[512];
    assert_int_equal(ft_domains_parse("f", text, strlen(text), &d, why, sizeof why), FT_OK);
    ft_domains_spread(&d, n, node_of);
    for (int i = n - 1; i > 0; i--) { /* in no order */
        int k = (int)ft_prng_below(&p, (uint64_t)i + 1), t = node_of[i];
        node_of[i] = node_of[k];
        node_of[k] = t;
    }
    struct ft_place_ask a = {.nranks = 900000, .nchecksums = 90000, .parity = 3, .aware = 4};
    if (ft_place(&d, node_of, n, &a, &out, why, sizeof why) != FT_OK)
        fail_msg("%s", why);
    assert_int_equal(out.aware, 4);
    ft_placement_finish(&out);
    ft_domains_finish(&d);
    free(node_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eq_6_holds_where_it_is_said_to),
        cmocka_unit_test(what_is_refused_is_impossible),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(the_picture),
        cmocka_unit_test(spares_keep_it_when_any_choice_can),
        cmocka_unit_test(a_million_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
