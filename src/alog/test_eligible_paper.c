/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_eligible_paper.c - compares the sort with a repeated minimum on arbitrary arrays, and with
 * Algorithms 2 and 3 of the paper on the programs for which they are meant: puts and gets with
 * fences, and puts with exclusive locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "alog/eligible.h"
#include "base/prng.h"

#define MOST 512
#define SOURCES 5
#define PLACES 4
#define RUNS 500

static uint64_t seed;
static int seed_given;

static void for_seeds(void (*fn)(struct ft_prng *r, uint64_t s))
{
    for (uint64_t s = seed; s < seed + (seed_given ? 1 : RUNS); s++) {
        struct ft_prng r = {s};
        fn(&r, s);
    }
}

#define CHECK(x)                                                                                \
    do {                                                                                        \
        if (!(x))                                                                               \
            fail_msg("FTRMA_TEST_SEED=%llu: line %d: %s", (unsigned long long)s, __LINE__, #x); \
    } while (0)

static void shuffle(struct ft_prng *r, struct ft_eligible_act *a, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)ft_prng_below(r, i);
        struct ft_eligible_act t = a[i - 1];
        a[i - 1] = a[k];
        a[k] = t;
    }
}

/* --- arbitrary arrays --- */

static int before(const struct ft_eligible_act *a, const struct ft_eligible_act *b)
{
    if (a->stamp != b->stamp)
        return a->stamp && (!b->stamp || a->stamp < b->stamp);
    return a->source != b->source ? a->source < b->source : a->serial < b->serial;
}

/* Removes the smallest action that is eligible with `calls` calls (UINT64_MAX: of all), by setting
 * its `what` to NULL. */
static const void *minimum(struct ft_eligible_act *a, size_t n, uint64_t calls)
{
    struct ft_eligible_act *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (a[i].what && (calls == UINT64_MAX || a[i].lo <= calls) &&
            (!best || before(&a[i], best)))
            best = &a[i];
    }
    const void *what = best ? best->what : NULL;
    if (best)
        best->what = NULL;
    return what;
}

static void arrays(struct ft_prng *r, uint64_t s)
{
    static struct ft_eligible_act a[MOST], naive[MOST];
    static char name[MOST];
    size_t n = (size_t)ft_prng_below(r, s % 3 ? 12 : MOST + 1);
    uint64_t range = 1 + ft_prng_below(r, 40), first = ft_prng_below(r, range), most = 0, last = 0;
    for (size_t i = 0; i < n; i++) { /* many ties */
        uint64_t lo = ft_prng_below(r, range + 2), stamp = ft_prng_below(r, range);
        a[i] = (struct ft_eligible_act){lo, stamp, i, (int)ft_prng_below(r, 3), &name[i]};
        last = ft_max_u64(last, a[i].stamp);
        most = ft_max_u64(most, a[i].lo);
    }
    shuffle(r, a, n);
    memcpy(naive, a, sizeof a);
    struct ft_eligible o;
    ft_eligible_begin(&o, a, n, first);
    CHECK(ft_eligible_last_call(&o) == most && ft_eligible_last_stamp(&o) == last);
    const struct ft_eligible_act *x;
    size_t given = 0;
    for (uint64_t calls = first; calls <= range; calls++) {
        for (; (x = ft_eligible_next(&o, calls)); given++)
            CHECK(x->what == minimum(naive, n, calls));
        CHECK(!minimum(naive, n, calls));
    }
    for (; (x = ft_eligible_next(&o, most)); given++)
        CHECK(x->what == minimum(naive, n, UINT64_MAX));
    CHECK(given == n && !ft_eligible_next(&o, UINT64_MAX));
    CHECK(ft_eligible_last_call(&o) == most && ft_eligible_last_stamp(&o) == last);
}

static void the_sort_is_the_repeated_minimum(void **state)
{
    (void)state;
    for_seeds(arrays);
}

static void small_ones(void **state)
{
    (void)state;
    struct ft_eligible o;
    ft_eligible_begin(&o, NULL, 0, 3);
    assert_null(ft_eligible_next(&o, UINT64_MAX));
    assert_int_equal(ft_eligible_last_call(&o), 0);
    assert_int_equal(ft_eligible_last_stamp(&o), 0);
    /* Below the first call lo does not matter. Pieces of one put come in order of serial; open
     * actions by source. */
    struct ft_eligible_act a[] = {{0, 0, 1, 2, "f"}, {9, 2, 1, 1, "g"}, {4, 7, 2, 1, "c"},
                                  {0, 0, 9, 1, "e"}, {5, 6, 1, 3, "a"}, {1, 8, 1, 4, "d"},
                                  {4, 7, 1, 1, "b"}};
    ft_eligible_begin(&o, a, FT_COUNTOF(a), 5);
    const struct ft_eligible_act *x;
    char got[8] = "";
    for (size_t i = 0; i < 6; i++) {
        assert_non_null(x = ft_eligible_next(&o, 5));
        got[i] = *(const char *)x->what;
    }
    assert_null(ft_eligible_next(&o, 8));
    assert_non_null(x = ft_eligible_next(&o, 9));
    got[6] = *(const char *)x->what;
    assert_null(ft_eligible_next(&o, UINT64_MAX));
    assert_string_equal(got, "abcdefg");
}

/* --- the paper's programs --- */

/* A logged action: a put of another process, or a get of the lost one (source FAILED). */
struct put {
    uint64_t gnc, sc, ec, gc; /* counters of the paper's § 2.4; ec counts a source's epochs */
    uint64_t call;            /* of a get: its number in the home log */
    int source, place, value, done;
};
#define FAILED SOURCES

/* act has the puts; gets lie in the home log in the order of put[]. */
struct program {
    struct put put[MOST];
    struct ft_eligible_act act[MOST];
    size_t n, nact;
    uint64_t calls;
};

static struct program prog;

static void add(struct program *p, struct put what, uint64_t lo, uint64_t stamp)
{
    p->put[p->n] = what;
    p->put[p->n].value = (int)p->n + 1;
    if (what.source != FAILED)
        p->act[p->nact++] = (struct ft_eligible_act){lo, stamp, p->n, what.source, &p->put[p->n]};
    p->n++;
}

/* Phases between fences. In each phase a place belongs to one source, which writes it in several
 * epochs, or to the process that is lost, which gets into it, with flushes between; T is in
 * the order in which epochs happen to close. */
static void fences(struct ft_prng *r, struct program *p)
{
    uint64_t t = 0, ec[SOURCES] = {0}, calls = 0, gc = 0;
    p->n = p->nact = 0;
    for (uint64_t gnc = 0; gnc < 6; gnc++) {
        int shift = (int)ft_prng_below(r, SOURCES + 1);
        calls++; /* the fence: lo is read after it */
        for (uint64_t k = ft_prng_below(r, 16); k > 0; k--) {
            int source = (int)ft_prng_below(r, SOURCES + 1), gets = source == FAILED;
            calls += gets ? 1 : ft_prng_below(r, 2);
            gc += (uint64_t)gets; /* a flush between any two gets into one place */
            ec[source % SOURCES] += !gets;
            t += !gets;
            for (int place = 0; place < PLACES; place++)
                if ((place + shift) % (SOURCES + 1) == source && ft_prng_below(r, 3))
                    add(p,
                        (struct put){.gnc = gnc,
                                     .ec = gets ? 0 : ec[source],
                                     .gc = gc,
                                     .call = calls,
                                     .source = source,
                                     .place = place},
                        calls, t);
        }
    }
    p->calls = calls;
}

/* Exclusive locks, one section after the other; any place, several epochs. */
static void locks(struct ft_prng *r, struct program *p)
{
    uint64_t t = 0, ec[SOURCES] = {0}, calls = 0;
    p->n = p->nact = 0;
    for (uint64_t sc = 0; sc < 20; sc++) {
        int source = (int)ft_prng_below(r, SOURCES);
        calls += ft_prng_below(r, 3);
        for (uint64_t k = ft_prng_below(r, 4); k > 0; k--) {
            ec[source]++;
            t++;
            for (int place = 0; place < PLACES; place++)
                if (ft_prng_below(r, 3))
                    add(p,
                        (struct put){.sc = sc, .ec = ec[source], .source = source, .place = place},
                        calls, t);
        }
    }
    p->calls = calls;
}

/* logsWithMinCnt, of puts (EC) or gets (GC) of this GNC or SC, and replayEachAction. */
static void replay_least(struct program *p, int use_sc, uint64_t outer, int gets, int *mem)
{
    uint64_t least = UINT64_MAX;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p->n; i++) {
            struct put *a = &p->put[i];
            uint64_t count = gets ? a->gc : a->ec;
            if (a->done || (a->source == FAILED) != gets || (use_sc ? a->sc : a->gnc) != outer)
                continue;
            if (pass == 0) {
                least = ft_min_u64(least, count);
            } else if (count == least) {
                a->done = 1;
                mem[a->place] = a->value;
            }
        }
}

/* The paper's loops: smallest outer counter (GNC or SC); within it the puts with the smallest EC,
 * then the gets with the smallest GC. */
static void paper(struct program *p, int use_sc, int *mem)
{
    for (;;) {
        uint64_t outer = UINT64_MAX;
        for (size_t i = 0; i < p->n; i++)
            if (!p->put[i].done)
                outer = ft_min_u64(outer, use_sc ? p->put[i].sc : p->put[i].gnc);
        if (outer == UINT64_MAX)
            return;
        replay_least(p, use_sc, outer, 0, mem);
        replay_least(p, use_sc, outer, 1, mem);
    }
}

struct replayed {
    int mem[PLACES];
    uint64_t outer, gc, ec[SOURCES];
    size_t given;
};

static void replay_one(struct replayed *m, struct put *a, int use_sc, uint64_t s)
{
    uint64_t c = use_sc ? a->sc : a->gnc;
    CHECK(c >= m->outer); /* Theorem 4.2 */
    CHECK(a->source == FAILED ? a->gc >= m->gc : a->ec >= m->ec[a->source]);
    CHECK(a->done == 1);
    a->done = 2; /* Theorem 4.1 */
    m->outer = c;
    if (a->source == FAILED)
        m->gc = a->gc;
    else
        m->ec[a->source] = a->ec;
    m->mem[a->place] = a->value;
    m->given++;
}

/* Ours: a call applies what is eligible (R4), and then is answered from the home log (R3). */
static void against_paper(struct ft_prng *r, uint64_t s, int use_sc)
{
    struct replayed mine = {.given = 0};
    int theirs[PLACES] = {0};
    size_t get = 0;
    paper(&prog, use_sc, theirs);
    shuffle(r, prog.act, prog.nact);
    struct ft_eligible o;
    ft_eligible_begin(&o, prog.act, prog.nact, 0);
    const struct ft_eligible_act *x;
    for (uint64_t calls = 0; calls <= prog.calls; calls++) {
        while ((x = ft_eligible_next(&o, calls)))
            replay_one(&mine, &prog.put[x->serial], use_sc, s);
        for (; get < prog.n && prog.put[get].call <= calls; get++)
            if (prog.put[get].source == FAILED)
                replay_one(&mine, &prog.put[get], use_sc, s);
    }
    CHECK(mine.given == prog.n && !ft_eligible_next(&o, UINT64_MAX));
    CHECK(memcmp(mine.mem, theirs, sizeof theirs) == 0);
}

static void one_algorithm_2(struct ft_prng *r, uint64_t s)
{
    fences(r, &prog);
    against_paper(r, s, 0);
}

static void one_algorithm_3(struct ft_prng *r, uint64_t s)
{
    locks(r, &prog);
    against_paper(r, s, 1);
}

static void algorithm_2(void **state)
{
    (void)state;
    for_seeds(one_algorithm_2);
}

static void algorithm_3(void **state)
{
    (void)state;
    for_seeds(one_algorithm_3);
}

/* Why T and not SC: both hold a shared lock, 1 had its lock before 2; 2 puts, flushes, tells 1, and
 * 1 puts. */
static void shared_locks_are_beyond_algorithm_3(void **state)
{
    (void)state;
    int mem[PLACES] = {0};
    prog.n = prog.nact = 0;
    add(&prog, (struct put){.sc = 1, .ec = 1, .source = 2}, 0, 1);
    add(&prog, (struct put){.sc = 0, .ec = 1, .source = 1}, 0, 2);
    paper(&prog, 1, mem);
    assert_int_equal(mem[0], 1); /* the older one stays */
    struct ft_eligible o;
    ft_eligible_begin(&o, prog.act, prog.nact, 0);
    assert_int_equal(((const struct put *)ft_eligible_next(&o, 0)->what)->value, 1);
    assert_int_equal(((const struct put *)ft_eligible_next(&o, 0)->what)->value, 2);
}

int main(void)
{
    const char *given = getenv("FTRMA_TEST_SEED");
    seed_given = given && *given;
    seed = seed_given ? strtoull(given, NULL, 0) : 4200;
    print_message("FTRMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_ones),
        cmocka_unit_test(the_sort_is_the_repeated_minimum),
        cmocka_unit_test(algorithm_2),
        cmocka_unit_test(algorithm_3),
        cmocka_unit_test(shared_locks_are_beyond_algorithm_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
