/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_lanes.c - lanes between processes of three nodes, all in this process: records of random
 * sizes come once, whole and in order, over a network that delays, loses, cuts and turns round, and
 * no more is under way than a lane holds. A process is lost, and what comes to another slot has
 * nothing to do with it. The order of all steps is drawn; FTRMA_TEST_SEED repeats a run.
 */
#include <stdio.h>

#define MOCK_ARENA (64ull << 20)
#include "gate/mock_nodes.h"

#include "gate/item.h"
#include "transport/dock.h"

#define NODES 3
#define SLOTS 6
#define RECORDS 120

struct proc {
    struct ft_arena arena;
    struct ft_tp tp;
    struct ft_dock *dock; /* NULL: it has not opened its endpoint */
    int ended;
    struct ft_lane_at at[SLOTS];
    uint32_t sent[SLOTS], came[SLOTS];
    uint64_t read[SLOTS];
};
static struct proc *w; /* [SLOTS] */

static int node_of(int slot) { return slot / (SLOTS / NODES); }

/* The arena of q as p sees it: q's own, or that of its stand-in. */
static char *seen_by(int p, int q)
{
    return w[p].tp.ops->map(&w[p].tp, q, 0, MOCK_ARENA, FT_TP_CONTROL);
}

static uint32_t size_of(int p, int q, uint32_t number)
{
    struct ft_prng r = {.s = m.seed + (uint64_t)(p * 100003 + q * 1009) + number};
    return (uint32_t)ft_prng_below(&r, number % 4 ? 300 : FT_LANE_DATA + 1);
}

static void begin(const struct ft_wire_weather *weather)
{
    static const int end[NODES] = {2, 4, 6};
    mock_begin(NODES, end, mock_seed(), weather, NULL, 50000000);
    w = calloc(SLOTS, sizeof *w);
    for (int i = 0; i < SLOTS; i++)
        mock_enter(node_of(i), i, &w[i].arena, &w[i].tp);
}

static void end(void)
{
    mock_stop();
    for (int i = 0; i < SLOTS; i++)
        mock_leave(&w[i].arena, &w[i].tp);
    mock_end();
    free(w);
}

static void open_endpoint(int p)
{
    uint64_t at = ft_dock_make(&w[p].arena, 0, SLOTS, 64);
    HOLDS(at);
    w[p].dock = ft_arena_ptr(&w[p].arena, at);
    atomic_store(&w[p].arena.ctl->endpoint, at);
}

static void say(int p, int q, uint32_t most)
{
    static unsigned char data[FT_LANE_DATA];
    const char *seen = seen_by(p, q);
    const struct ft_dock *there = seen ? ft_dock_of(seen) : NULL;
    uint64_t taken = there ? atomic_load(ft_dock_taken(there, p)) : 0;
    struct ft_lane_record head = {.number = w[p].sent[q], .id = (uint64_t)(p * SLOTS + q)};
    if (!w[p].dock || w[p].ended || w[p].sent[q] == most)
        return;
    head.bytes = size_of(p, q, head.number);
    memset(data, (int)(head.number + (uint32_t)p), head.bytes);
    HOLDS(taken <= w[p].at[q].at);
    if (ft_lane_write(ft_dock_lane(w[p].dock, q), &w[p].at[q], taken, &head, data))
        w[p].sent[q]++;
}

static void hear(int q, int p)
{
    const char *seen = seen_by(q, p);
    const struct ft_dock *there = seen ? ft_dock_of(seen) : NULL;
    const struct ft_lane_record *r;
    if (!w[q].dock || w[q].ended || !there)
        return;
    HOLDS(node_of(p) == node_of(q) || there->tables_at == 0);
    if (!(r = ft_lane_read(ft_dock_lane(there, q), &w[q].read[p])))
        return;
    HOLDS(r->number == w[q].came[p] && r->id == (uint64_t)(p * SLOTS + q));
    HOLDS(r->bytes == size_of(p, q, r->number));
    for (uint32_t i = 0; i < r->bytes; i++)
        HOLDS(r->data[i] == (unsigned char)(r->number + (uint32_t)p));
    w[q].came[p]++;
    w[q].read[p] += ft_lane_bytes(r->bytes);
    atomic_store(ft_dock_taken(w[q].dock, p), w[q].read[p]);
}

static int all_came(uint32_t most)
{
    for (int p = 0; p < SLOTS; p++)
        for (int q = 0; q < SLOTS; q++)
            if (!w[p].ended && !w[q].ended && w[q].came[p] < most)
                return 0;
    return 1;
}

static void run(uint32_t most, int opened)
{
    for (int steps = 0; !all_came(most); steps++) {
        int p = (int)ft_prng_below(&m.rng, SLOTS), q = (int)ft_prng_below(&m.rng, SLOTS);
        HOLDS(steps < 3000000);
        if (!opened && !w[p].dock && ft_prng_below(&m.rng, 100) == 0)
            open_endpoint(p);
        for (uint64_t k = ft_prng_below(&m.rng, 6); k > 0; k--)
            say(p, q, most);
        p = (int)ft_prng_below(&m.rng, SLOTS);
        for (uint64_t k = ft_prng_below(&m.rng, 6); k > 0; k--)
            hear(p, q);
        mock_step((int)ft_prng_below(&m.rng, NODES), ft_prng_below(&m.rng, 2000000));
    }
}

static const struct ft_wire_weather calm = {.delay_ns = 1000000, .patience_ns = 1ull << 50},
                                    storm = {.delay_ns = 1000000,
                                             .jitter_ns = 5000000,
                                             .lost_in = 40,
                                             .reorders = 1,
                                             .patience_ns = 50000000};

static void comes_in_order(void **state)
{
    (void)state;
    for (int bad = 0; bad < 2; bad++) {
        begin(bad ? &storm : &calm);
        run(RECORDS, 0);
        end();
    }
}

/* Slot 1 stops reading, so what is under way to it is what a lane holds; all others go on. Then it
 * is lost. */
static void a_reader_is_lost(void **state)
{
    (void)state;
    begin(&calm);
    for (int p = 0; p < SLOTS; p++)
        open_endpoint(p);
    run(RECORDS / 4, 1);
    w[1].ended = 1;
    run(RECORDS, 1);
    for (int i = 0; i < 20000; i++) {
        say(4, 1, UINT32_MAX);
        mock_step(i % NODES, 100000);
    }
    HOLDS(w[4].at[1].at > FT_LANE_BYTES / 2 &&
          w[4].at[1].at <= w[1].read[4] + FT_LANE_BYTES); /* no more than it has room for */
    atomic_store(&m.board[node_of(1)]->slot[1].ended, 1);
    run(2 * RECORDS, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_in_order),
                                       cmocka_unit_test(a_reader_is_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
