/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_fold.c - sums of images over three nodes, all in this process, over a network that delays,
 * loses and cuts (C5b). The order of all steps is drawn; FTRMA_TEST_SEED repeats a run.
 *
 *   node 0: slot 0, which asks     node 1: slots 1 and 2     node 2: slot 3
 */

#include "erasure/erasure.h"
#include "gate/mock_nodes.h"

#define NODES 3
#define SLOTS 4
#define LONG (300u << 10)
#define TURNS 200000

static struct world {
    uint64_t serial;
    struct ft_arena arena[SLOTS];
    struct ft_tp tp[SLOTS];
    uint64_t to[FT_WANTED];
} w;

static const int end[NODES] = {1, 3, 4};

static int node_of(int slot) { return slot < end[0] ? 0 : slot < end[1] ? 1 : 2; }

static void step(int k) { mock_step(k, ft_prng_below(&m.rng, 2000000)); }

static void begin(const struct ft_wire_weather *weather)
{
    memset(&w, 0, sizeof w);
    mock_begin(NODES, end, mock_seed(), weather, NULL, 50000000);
    for (int s = 0; s < SLOTS; s++)
        mock_enter(node_of(s), s, &w.arena[s], &w.tp[s]);
    for (int i = 0; i < FT_WANTED; i++)
        w.to[i] = ft_arena_alloc(&w.arena[0], FT_WANTED_BYTES, 64);
    for (int i = 0; i < 300; i++) /* all know each other */
        step(i % NODES);
}

static void finish(void)
{
    mock_stop();
    for (int s = 0; s < SLOTS; s++)
        mock_leave(&w.arena[s], &w.tp[s]);
    mock_end();
}

/* An image of this version and length in a slot of images. */
static void image(int slot, int i, uint64_t version, uint64_t bytes)
{
    struct ft_ctl *ctl = w.arena[slot].ctl;
    uint64_t off = ft_arena_alloc(&w.arena[slot], LONG, 4096);
    HOLDS(off != 0);
    unsigned char *p = ft_arena_ptr(&w.arena[slot], off);
    for (uint64_t k = 0; k < bytes; k++)
        p[k] = (unsigned char)ft_prng_next(&m.rng);
    atomic_store(&ctl->image[i].off, off);
    atomic_store(&ctl->image[i].bytes, bytes);
    atomic_store(&ctl->image[i].version, version);
}

static struct ft_wanted *ask(int entry, uint64_t version, uint64_t at, const struct ft_term *term,
                             uint32_t n)
{
    struct ft_wanted *x = &w.arena[0].ctl->wanted[entry];
    x->nterms = n;
    memcpy(x->term, term, n * sizeof *term);
    x->serial = ++w.serial;
    x->version = version;
    x->at = at;
    x->bytes = FT_WANTED_BYTES;
    x->to = w.to[entry];
    memset(ft_arena_ptr(&w.arena[0], x->to), 0xee, FT_WANTED_BYTES);
    atomic_store(&x->state, FT_WANTED_ASKED);
    atomic_fetch_add(&w.arena[0].ctl->asked, 1);
    return x;
}

static int is_done(struct ft_wanted *x)
{
    uint32_t s = atomic_load(&x->state);
    return s != FT_WANTED_ASKED && s != FT_WANTED_TAKEN;
}

static uint32_t await(struct ft_wanted *x)
{
    for (int i = 0; !is_done(x); i++) {
        HOLDS(i < TURNS);
        step((int)ft_prng_below(&m.rng, NODES));
    }
    return atomic_load(&x->state);
}

/* What is there is the sum of these images' pieces, byte by byte. */
static void is_sum(const struct ft_wanted *x, int i)
{
    const unsigned char *got = ft_arena_ptr(&w.arena[0], x->to);
    for (uint64_t k = 0; k < x->bytes; k++) {
        unsigned char want = 0;
        for (uint32_t t = 0; t < x->nterms; t++) {
            const struct ft_arena *a = &w.arena[x->term[t].slot];
            const unsigned char *p =
                (const unsigned char *)a->base + atomic_load(&a->ctl->image[i].off);
            if (x->at + k < atomic_load(&a->ctl->image[i].bytes))
                want ^= ft_erasure_mul_ref(x->term[t].coef, p[x->at + k]);
        }
        if (got[k] != want)
            fail_msg("FTRMA_TEST_SEED=%llu: byte %llu", (unsigned long long)m.seed,
                     (unsigned long long)k);
    }
}

static const struct ft_wire_weather calm = {.delay_ns = 1000000, .patience_ns = 1ull << 50};
static const struct ft_wire_weather storm = {.delay_ns = 1000000,
                                             .jitter_ns = 9000000,
                                             .lost_in = 12,
                                             .reorders = 1,
                                             .patience_ns = 100000000};

static const struct ft_term all[] = {{1, 1, 0}, {2, 7, 0}, {3, 200, 0}};

static void whole_images(const struct ft_wire_weather *weather)
{
    begin(weather);
    image(1, 1, 5, LONG);
    image(2, 1, 5, LONG - 4321);
    image(3, 1, 5, LONG / 3);
    for (uint64_t at = 0; at < LONG; at += 3ull * FT_WANTED_BYTES) {
        struct ft_wanted *x[3];
        for (int i = 0; i < 3; i++)
            x[i] = ask(i, 5, at + (uint64_t)i * FT_WANTED_BYTES, all, 3);
        for (int i = 0; i < 3; i++) {
            HOLDS(await(x[i]) == FT_WANTED_HERE && x[i]->longest == LONG);
            is_sum(x[i], 1);
        }
    }
    finish();
}

static void the_sum_of_all_nodes(void **state)
{
    (void)state;
    whole_images(&calm);
}

static void over_a_network_that_breaks(void **state)
{
    (void)state;
    whole_images(&storm);
}

/* A version that one of them does not have, or no more: nothing comes. */
static void an_image_that_is_not_there(void **state)
{
    (void)state;
    begin(&calm);
    for (int s = 1; s < SLOTS; s++)
        image(s, 0, 5, LONG);
    atomic_store(&w.arena[3].ctl->image[0].version, 0);
    HOLDS(await(ask(0, 5, 0, all, 3)) == FT_WANTED_GONE);
    HOLDS(await(ask(0, 5, 0, all, 2)) == FT_WANTED_HERE);
    HOLDS(await(ask(0, 6, 0, all, 2)) == FT_WANTED_GONE);
    finish();
}

/* Node 1 is out when node 2 has sent the sum already: node 0 gives the piece up, and asks for
 * another one with the same entry. The old piece, which comes first, is not taken for it. */
static void a_piece_of_a_request_before(void **state)
{
    static const struct ft_term rest[] = {{3, 9, 0}};
    (void)state;
    begin(&calm);
    for (int s = 1; s < SLOTS; s++)
        image(s, 0, 5, LONG);
    uint64_t before = atomic_load(&m.board[2]->link[0].of[FT_LINK_IMAGES].items);
    ft_wire_net_cut(m.net, 2, 0, 1);
    struct ft_wanted *x = ask(0, 5, 0, all, 3);
    for (int i = 0; atomic_load(&m.board[2]->link[0].of[FT_LINK_IMAGES].items) == before; i++) {
        HOLDS(i < TURNS);
        step(i % NODES);
    }
    atomic_fetch_or(&m.board[0]->nodes.out, 1u << 1);
    step(0);
    HOLDS(atomic_load(&x->state) == FT_WANTED_GONE);
    HOLDS(ask(0, 5, FT_WANTED_BYTES, rest, 1) == x);
    step(0);
    HOLDS(atomic_load(&x->state) == FT_WANTED_TAKEN);
    ft_wire_net_cut(m.net, 2, 0, 0);
    for (int i = 0; !is_done(x); i++) {
        HOLDS(i < TURNS);
        step(i % 2 ? 0 : 2);
    }
    HOLDS(atomic_load(&x->state) == FT_WANTED_HERE);
    is_sum(x, 0);
    finish();
}

/* What would come over a node that is out is given up, and not asked for any more. */
static void a_node_is_out(void **state)
{
    (void)state;
    begin(&calm);
    for (int s = 1; s < SLOTS; s++)
        image(s, 0, 5, LONG);
    struct ft_wanted *x = ask(0, 5, 0, all, 3);
    step(0);
    HOLDS(atomic_load(&x->state) == FT_WANTED_TAKEN);
    atomic_fetch_or(&m.board[0]->nodes.out, 1u << 2);
    step(0);
    HOLDS(atomic_load(&x->state) == FT_WANTED_GONE);
    x = ask(1, 5, 0, all, 3); /* and asked for from then on */
    step(0);
    HOLDS(atomic_load(&x->state) == FT_WANTED_GONE);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_all_nodes),
        cmocka_unit_test(over_a_network_that_breaks),
        cmocka_unit_test(an_image_that_is_not_there),
        cmocka_unit_test(a_piece_of_a_request_before),
        cmocka_unit_test(a_node_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
