/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_link.c - two ends over a network that loses, repeats and reorders, in one direction or both,
 * with connections that break at any step. Each frame must come once, in order, with its sender's
 * contents. Mutants of the machine must be found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/prng.h"
#include "wire/link.h"

#define PACKETS 48 /* under way in one direction */
#define FRAMES 400 /* of each class and direction in one run */
#define GONE 0xdeadu

enum mutant { NO_MUTANT, FORGETS, ACKS_EARLY, REPEATS, MUTANTS };

struct packet {
    enum { HELLO, FRAME, STATE } kind;
    struct ft_link_state state;
    uint32_t conn;
    int c;
    uint64_t number;
    unsigned value;
};

struct end {
    struct ft_link link;
    unsigned source[FT_WIRE_CLASSES][FT_LINK_WINDOW]; /* what is not acknowledged */
    unsigned place[FT_WIRE_CLASSES][FT_LINK_WINDOW];  /* what has come */
    uint64_t freed[FT_WIRE_CLASSES], added[FT_WIRE_CLASSES], got[FT_WIRE_CLASSES];
    struct packet in[PACKETS]; /* under way to this end */
    int n;
    int deaf; /* what is sent to it now is lost */
};

static struct world {
    struct end end[2];
    struct ft_prng rng;
    enum mutant mutant;
    const char *wrong;
    int calm; /* nothing is lost any more */
} * w;

static unsigned value_of(int from, int c, uint64_t number)
{
    return (unsigned)(number * 2654435761u) ^ (unsigned)(c << 8) ^ (unsigned)from;
}

static int one_in(unsigned n) { return ft_prng_below(&w->rng, n) == 0; }

static void put(int to, const struct packet *p)
{
    struct end *e = &w->end[to];
    if ((!w->calm && (e->deaf || one_in(12))) || e->n == PACKETS)
        return;
    e->in[e->n++] = *p;
}

static void tell(int from, int kind)
{
    struct packet p = {.kind = kind};
    ft_link_say(&w->end[from].link, &p.state);
    if (w->mutant == ACKS_EARLY)
        for (int c = 0; c < FT_WIRE_CLASSES; c++)
            p.state.want[c] += p.state.want[c] < w->end[!from].link.way[c].next;
    put(!from, &p);
}

/* The memory of acknowledged frames may be reused. */
static void free_sources(struct end *e)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        for (; e->freed[c] < e->link.way[c].acked; e->freed[c]++)
            e->source[c][e->freed[c] % FT_LINK_WINDOW] = GONE;
}

static void begun(struct end *e)
{
    for (int c = 0; c < FT_WIRE_CLASSES; c++) {
        struct ft_link_way *way = &e->link.way[c];
        if (w->mutant == FORGETS)
            way->at = way->next;
        if (w->mutant == REPEATS && way->taken == way->want && way->want > 1) {
            way->want--;
            way->taken--;
            way->granted--;
        }
    }
}

static void take_packet(int at, int k)
{
    struct end *e = &w->end[at];
    struct packet p = e->in[k];
    if (w->calm || !one_in(10)) /* else it comes once more */
        e->in[k] = e->in[--e->n];
    switch (p.kind) {
    case HELLO:
        if (ft_link_hello(&e->link, &p.state)) {
            begun(e);
            if (!e->link.dials)
                tell(at, HELLO);
        }
        break;
    case STATE: ft_link_heard(&e->link, &p.state); break;
    case FRAME:
        if (ft_link_arrived(&e->link, p.conn, (enum ft_wire_class)p.c, p.number)) {
            unsigned *place = &e->place[p.c][p.number % FT_LINK_WINDOW];
            *place = p.value;
        }
        break;
    }
    free_sources(e);
}

static void go(int from, int c)
{
    struct end *e = &w->end[from];
    if (w->calm && w->end[!from].n == PACKETS)
        return; /* it would be lost */
    uint64_t number = ft_link_go(&e->link, (enum ft_wire_class)c);
    if (!number)
        return;
    struct packet p = {.kind = FRAME, .conn = e->link.conn, .c = c, .number = number};
    p.value = e->source[c][number % FT_LINK_WINDOW];
    put(!from, &p);
}

static void add(int from, int c)
{
    struct end *e = &w->end[from];
    uint64_t number = e->added[c] < FRAMES ? ft_link_add(&e->link, (enum ft_wire_class)c) : 0;
    if (!number)
        return;
    e->added[c]++;
    e->source[c][number % FT_LINK_WINDOW] = value_of(from, c, number);
}

static void take(int at, int c)
{
    struct end *e = &w->end[at];
    uint64_t number = ft_link_take(&e->link, (enum ft_wire_class)c);
    if (!number)
        return;
    if (number != ++e->got[c])
        w->wrong = "a frame out of its turn, or twice";
    else if (e->place[c][number % FT_LINK_WINDOW] != value_of(!at, c, number))
        w->wrong = "a frame with other contents";
}

static void dial(void)
{
    struct packet p = {.kind = HELLO};
    ft_link_dial(&w->end[0].link, &p.state);
    put(1, &p);
}

static void step(void)
{
    int at = (int)ft_prng_below(&w->rng, 2), c = (int)ft_prng_below(&w->rng, FT_WIRE_CLASSES);
    struct end *e = &w->end[at];
    switch (ft_prng_below(&w->rng, 16)) {
    case 0:
    case 1:
    case 2: add(at, c); break;
    case 3:
    case 4:
    case 5: go(at, c); break;
    case 6:
    case 7:
    case 8:
    case 9:
        if (e->n)
            take_packet(at, (int)ft_prng_below(&w->rng, (unsigned)e->n));
        break;
    case 10:
    case 11: take(at, c); break;
    case 12: ft_link_grant(&e->link, FT_WIRE_MSG, ft_prng_below(&w->rng, 9)); break;
    case 13: tell(at, STATE); break;
    case 14:
        if (!w->calm && one_in(4))
            ft_link_broken(&e->link, e->link.conn - one_in(4)); /* or an older one, too late */
        if (!w->end[0].link.up && one_in(w->calm ? 30 : 4))
            dial();
        if (w->calm && !w->end[1].link.up && w->end[0].link.up) /* it notices */
            ft_link_broken(&w->end[0].link, w->end[0].link.conn);
        break;
    case 15:
        if (!w->calm && one_in(6))
            e->deaf = !e->deaf;
        break;
    }
    ft_link_check(&w->end[0].link);
    ft_link_check(&w->end[1].link);
}

static int all_came(void)
{
    for (int at = 0; at < 2; at++)
        for (int c = 0; c < FT_WIRE_CLASSES; c++)
            if (w->end[at].got[c] < FRAMES || w->end[at].freed[c] <= FRAMES)
                return 0;
    return 1;
}

/* Returns what is wrong with a run; NULL: nothing. */
static const char *run(uint64_t seed, enum mutant mutant)
{
    memset(w, 0, sizeof *w);
    w->mutant = mutant;
    w->rng.s = seed;
    for (int at = 0; at < 2; at++) {
        ft_link_init(&w->end[at].link, at == 0);
        for (int c = 0; c < FT_WIRE_CLASSES; c++)
            w->end[at].freed[c] = 1;
    }
    for (int i = 0; i < 15000 && !w->wrong; i++)
        step();
    w->calm = 1;
    w->end[0].deaf = w->end[1].deaf = 0;
    w->end[0].n = w->end[1].n = 0;
    ft_link_broken(&w->end[0].link, w->end[0].link.conn); /* what was lost goes again */
    ft_link_broken(&w->end[1].link, w->end[1].link.conn);
    dial();
    for (int i = 0; i < 400000 && !w->wrong && !all_came(); i++)
        step();
    return w->wrong ? w->wrong : all_came() ? NULL : "a frame never came";
}

static void once_and_in_turn(void **state)
{
    (void)state;
    const char *given = getenv("FTRMA_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)getpid() * 2654435761u;
    for (int i = 0; i < 60; i++) {
        const char *wrong = run(seed + (uint64_t)i, NO_MUTANT);
        if (wrong)
            fail_msg("FTRMA_TEST_SEED=%llu: %s", (unsigned long long)seed + (unsigned)i, wrong);
    }
}

static void mutants_are_found_out(void **state)
{
    (void)state;
    for (int m = NO_MUTANT + 1; m < MUTANTS; m++) {
        int found = 0;
        for (uint64_t seed = 1; seed <= 10 && !found; seed++)
            found = run(seed, (enum mutant)m) != NULL;
        if (!found)
            fail_msg("mutant %d was not found out", m);
    }
}

/* A class that nobody takes, or for which nothing was granted, does not affect the others. */
static void no_class_waits_for_another(void **state)
{
    (void)state;
    struct ft_link a, b;
    struct ft_link_state say;
    ft_link_init(&a, 1);
    ft_link_init(&b, 0);
    ft_link_dial(&a, &say);
    assert_int_equal(ft_link_hello(&b, &say), 1);
    ft_link_say(&b, &say);
    assert_int_equal(ft_link_hello(&a, &say), 1);
    for (int i = 0; i < FT_LINK_WINDOW; i++) {
        assert_int_not_equal(ft_link_add(&a, FT_WIRE_BULK), 0);
        assert_int_not_equal(ft_link_add(&a, FT_WIRE_MSG), 0);
        uint64_t n = ft_link_go(&a, FT_WIRE_BULK);
        assert_int_equal(ft_link_arrived(&b, 1, FT_WIRE_BULK, n), 1);
    }
    assert_int_equal(ft_link_add(&a, FT_WIRE_BULK), 0); /* full */
    assert_int_equal(ft_link_go(&a, FT_WIRE_MSG), 0);   /* not granted */
    for (int i = 0; i < 5 * FT_LINK_WINDOW; i++) {
        uint64_t n = ft_link_add(&a, FT_WIRE_CONTROL);
        assert_int_equal(ft_link_go(&a, FT_WIRE_CONTROL), n);
        assert_int_equal(ft_link_arrived(&b, 1, FT_WIRE_CONTROL, n), 1);
        assert_int_equal(ft_link_take(&b, FT_WIRE_CONTROL), n);
        ft_link_say(&b, &say);
        assert_int_equal(ft_link_heard(&a, &say), 1);
    }
    ft_link_grant(&b, FT_WIRE_MSG, 2);
    ft_link_grant(&b, FT_WIRE_MSG, 1000); /* what there is room for */
    ft_link_say(&b, &say);
    assert_int_equal(say.granted[FT_WIRE_MSG], 1 + FT_LINK_WINDOW);
    say.conn++;
    assert_int_equal(ft_link_heard(&a, &say), 0); /* of another connection */
    say.conn--;
    say.want[FT_WIRE_OPS] = 2; /* nobody has sent that */
    assert_int_equal(ft_link_heard(&a, &say), 0);
    assert_int_equal(ft_link_go(&a, FT_WIRE_MSG), 0);
    ft_link_say(&b, &say);
    assert_int_equal(ft_link_heard(&a, &say), 1);
    assert_int_equal(ft_link_go(&a, FT_WIRE_MSG), 1);
}

/* Late packets of an earlier connection change nothing. */
static void an_older_connection_is_dropped(void **state)
{
    (void)state;
    struct ft_link a, b, before;
    struct ft_link_state first, second, old;
    ft_link_init(&a, 1);
    ft_link_init(&b, 0);
    ft_link_dial(&a, &first);
    assert_int_equal(ft_link_hello(&b, &first), 1);
    ft_link_say(&b, &old);
    assert_int_equal(ft_link_hello(&a, &old), 1);
    assert_int_equal(ft_link_add(&a, FT_WIRE_OPS), 1);
    assert_int_equal(ft_link_go(&a, FT_WIRE_OPS), 1);
    ft_link_dial(&a, &second);
    assert_int_equal(ft_link_go(&a, FT_WIRE_OPS), 0); /* not begun yet */
    assert_int_equal(ft_link_hello(&b, &second), 1);
    before = b;
    assert_int_equal(ft_link_arrived(&b, 1, FT_WIRE_OPS, 1), 0);
    assert_int_equal(ft_link_heard(&b, &first), 0);
    assert_int_equal(ft_link_hello(&b, &first), 0);
    assert_int_equal(ft_link_hello(&b, &second), 0); /* once */
    ft_link_broken(&b, 1);
    assert_memory_equal(&b, &before, sizeof b);
    assert_int_equal(ft_link_hello(&a, &old), 0);
    ft_link_say(&b, &second);
    assert_int_equal(ft_link_hello(&a, &second), 1);
    assert_int_equal(ft_link_go(&a, FT_WIRE_OPS), 1); /* again */
    assert_int_equal(ft_link_arrived(&b, 2, FT_WIRE_OPS, 1), 1);
    assert_int_equal(ft_link_arrived(&b, 2, FT_WIRE_OPS, 1), 0);
}

static int make(void **state)
{
    (void)state;
    return !(w = calloc(1, sizeof *w));
}

static int drop(void **state)
{
    (void)state;
    free(w);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_and_in_turn),
                                       cmocka_unit_test(mutants_are_found_out),
                                       cmocka_unit_test(no_class_waits_for_another),
                                       cmocka_unit_test(an_older_connection_is_dropped)};
    return cmocka_run_group_tests(tests, make, drop);
}
