/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_wire.c - tests of every provider of wires: three nodes in one process send frames of all
 * classes to each other, while connections break, are slow, lose packets and reorder them. Sources
 * are overwritten as soon as they are acknowledged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/prng.h"
#include "wire/wire.h"
#include "wire/wire_net.h"

#define NODES 3
#define PLACES 64      /* frames of a class under way to one node, at most */
#define ROUNDS 3000000 /* after this many a frame will never come */
#define MS 1000000ull

/* How a case goes. */
struct how {
    const char *name;
    const struct ft_wire_ops *ops, *inner;
    struct ft_wire_weather weather;
    unsigned cut_in, slow_in;
    uint64_t delay_ns; /* of what nodes other than node 1 send */
    int real_time;     /* the provider has a clock of its own */
    uint64_t frames;   /* of each class from each node to each other */
};

/* From one node to another one. */
struct traffic {
    unsigned char *place[FT_WIRE_CLASSES][PLACES];
    uint64_t sent[FT_WIRE_CLASSES], freed[FT_WIRE_CLASSES], got[FT_WIRE_CLASSES];
};

static struct test_net {
    struct ft_wire *wire[NODES];
    struct ft_wire_faults faults[NODES];
    struct ft_wire_net *net;
    struct traffic way[NODES][NODES];
    struct ft_prng rng;
    uint64_t seed, now_ns;
    const struct how *how;
} * t;

static char addresses[NODES][32];
static const char *address[NODES];

static void choose_addresses(void)
{
    static int next;
    for (int i = 0; i < NODES; i++) { /* ports below those that the kernel gives out */
        snprintf(addresses[i], sizeof addresses[i], "127.0.0.1:%d",
                 10000 + (int)((unsigned)getpid() * 31u + (unsigned)next++) % 20000);
        address[i] = addresses[i];
    }
}

static uint64_t tick(void)
{
    struct timespec ts;
    if (!t->how->real_time)
        return t->now_ns += 20000;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static struct ft_wire_config config_of(int node)
{
    struct ft_wire_config c = {.self = node,
                               .nnodes = NODES,
                               .again_ns = t->how->real_time ? 50 * MS : 20 * MS,
                               .address = address,
                               .net = t->net,
                               .faults = &t->faults[node]};
    memset(&c.secret, 7, sizeof c.secret);
    return c;
}

static void begin(const struct how *how, uint64_t seed)
{
    t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->how = how;
    t->seed = seed;
    t->rng.s = seed;
    t->now_ns = 1000 * MS;
    t->net = ft_wire_net_make(NODES, seed);
    assert_non_null(t->net);
    *ft_wire_net_weather(t->net) = how->weather;
    for (int tries = 0; tries < 20; tries++) { /* a port may be taken */
        int n = 0;
        choose_addresses();
        for (; n < NODES; n++) {
            t->faults[n] = (struct ft_wire_faults){.inner = how->inner,
                                                   .rng = {seed + (unsigned)n},
                                                   .cut_in = how->cut_in,
                                                   .slow_in = how->slow_in,
                                                   .delay_ns = n == 1 ? 0 : how->delay_ns};
            struct ft_wire_config c = config_of(n);
            if (ft_wire_open(how->ops, &c, &t->wire[n]) != FT_OK)
                break;
        }
        if (n == NODES)
            return;
        while (n > 0)
            ft_wire_close(t->wire[--n]);
    }
    fail_msg("%s: no wire could be opened", how->name);
}

static void end(void)
{
    for (int i = 0; i < NODES; i++)
        if (t->wire[i])
            ft_wire_close(t->wire[i]);
    ft_wire_net_drop(t->net);
    for (int i = 0; i < NODES * NODES; i++)
        for (int k = 0; k < FT_WIRE_CLASSES * PLACES; k++)
            free(t->way[i / NODES][i % NODES].place[k / PLACES][k % PLACES]);
    free(t);
    t = NULL;
}

/* The contents of a frame depend on its target and its number. */
static uint32_t bytes_of(int from, int to, int c, uint64_t number)
{
    struct ft_prng r = {number * 64 + (unsigned)(from * 16 + to * 4 + c) + t->seed};
    uint64_t kind = ft_prng_below(&r, 40);
    return kind == 0 ? FT_WIRE_FRAME : (uint32_t)ft_prng_below(&r, kind < 5 ? 30000 : 300);
}

static void fill(unsigned char *out, uint32_t bytes, int from, int to, int c, uint64_t number)
{
    struct ft_prng r = {number * 1000 + (unsigned)(from * 100 + to * 10 + c)};
    uint64_t word = ft_prng_next(&r);
    for (uint32_t i = 0; i < bytes; i++, word = i % 8 ? word >> 8 : word * 3 + i)
        out[i] = (unsigned char)word;
}

static void free_sources(int from, int to)
{
    struct traffic *w = &t->way[from][to];
    for (int c = 0; c < FT_WIRE_CLASSES; c++)
        while (w->freed[c] < ft_wire_acknowledged(t->wire[from], to, (enum ft_wire_class)c)) {
            uint64_t number = ++w->freed[c];
            unsigned char **place = &w->place[c][number % PLACES];
            assert_true(number <= w->sent[c]);
            memset(*place, 0xdd, bytes_of(from, to, c, number));
            free(*place);
            *place = NULL;
        }
}

static void send_one(int from, int to, int c)
{
    struct traffic *w = &t->way[from][to];
    uint64_t number = w->sent[c] + 1;
    if (number > t->how->frames)
        return;
    uint32_t bytes = bytes_of(from, to, c, number), at = 0;
    unsigned char *data = malloc(bytes + 1);
    assert_non_null(data);
    fill(data, bytes, from, to, c, number);
    struct ft_wire_piece piece[FT_WIRE_PIECES];
    int n = 1 + (int)ft_prng_below(&t->rng, FT_WIRE_PIECES);
    for (int i = 0; i < n; i++) {
        uint32_t len = i == n - 1 ? bytes - at : (uint32_t)ft_prng_below(&t->rng, bytes - at + 1);
        piece[i] = (struct ft_wire_piece){data + at, len};
        at += len;
    }
    if (ft_wire_send(t->wire[from], to, (enum ft_wire_class)c, piece, n) != FT_OK) {
        free(data);
        return;
    }
    w->place[c][number % PLACES] = data;
    w->sent[c] = number;
}

static void receive_one(int node, int c)
{
    static unsigned char want[FT_WIRE_FRAME];
    struct ft_wire_frame f;
    if (!ft_wire_receive(t->wire[node], (enum ft_wire_class)c, &f))
        return;
    uint64_t number = ++t->way[f.node][node].got[c];
    uint32_t bytes = bytes_of(f.node, node, c, number);
    fill(want, bytes, f.node, node, c, number);
    if (number > t->how->frames || f.bytes != bytes || memcmp(f.data, want, bytes) != 0)
        fail_msg("%s, FTRMA_TEST_SEED=%llu: frame %llu of class %d from %d to %d is another one",
                 t->how->name, (unsigned long long)t->seed, (unsigned long long)number, c, f.node,
                 node);
    if (c == FT_WIRE_MSG)
        ft_wire_grant(t->wire[node], f.node, 1);
}

static int all_came(int classes)
{
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++)
            for (int c = 0; from != to && c < FT_WIRE_CLASSES; c++)
                if (classes >> c & 1 && (t->way[from][to].got[c] < t->how->frames ||
                                         t->way[from][to].freed[c] < t->how->frames))
                    return 0;
    return 1;
}

static uint64_t processor_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Too long for a frame that still comes. What takes real time needs more rounds the cheaper they
 * are, and more time the less of it this process gets. */
static int is_too_long(int rounds, uint64_t began)
{
    return t->how->real_time ? processor_ns() - began > 30000 * MS : rounds >= ROUNDS;
}

/* Runs until all frames of these classes have come; the others are sent, and not received. */
static void run(int classes)
{
    uint64_t began = processor_ns();
    for (int i = 0; !all_came(classes); i++) {
        int node = (int)ft_prng_below(&t->rng, NODES);
        int to = (node + 1 + (int)ft_prng_below(&t->rng, NODES - 1)) % NODES;
        int c = (int)ft_prng_below(&t->rng, FT_WIRE_CLASSES);
        if (is_too_long(i, began))
            fail_msg("%s, FTRMA_TEST_SEED=%llu: a frame never came", t->how->name,
                     (unsigned long long)t->seed);
        free_sources(node, to); /* before its places are used again */
        send_one(node, to, c);
        ft_wire_progress(t->wire[node], tick());
        c = (int)ft_prng_below(&t->rng, FT_WIRE_CLASSES);
        if (classes >> c & 1)
            receive_one(node, c);
    }
}

static void grant_all(uint64_t frames)
{
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES)
            ft_wire_grant(t->wire[i / NODES], i % NODES, frames);
}

static const struct how cases[] = {
    {.name = "mem", .ops = &ft_wire_mem, .frames = 300},
    {.name = "mem, far",
     .ops = &ft_wire_mem,
     .weather = {5 * MS, 5 * MS, 0, 1, ~0ull},
     .frames = 200},
    {.name = "mem, lossy", .ops = &ft_wire_mem, .weather = {MS, MS, 60, 1, ~0ull}, .frames = 200},
    {.name = "fault over mem",
     .ops = &ft_wire_fault,
     .inner = &ft_wire_mem,
     .weather = {MS, 2 * MS, 0, 1, ~0ull},
     .cut_in = 4000,
     .slow_in = 3,
     .frames = 200},
    {.name = "fault over mem, late",
     .ops = &ft_wire_fault,
     .inner = &ft_wire_mem,
     .weather = {MS, 2 * MS, 300, 1, ~0ull},
     .cut_in = 4000,
     .delay_ns = 5 * MS,
     .frames = 100},
    {.name = "fault over sock, late",
     .ops = &ft_wire_fault,
     .inner = &ft_wire_sock,
     .cut_in = 1000,
     .delay_ns = 2 * MS,
     .real_time = 1,
     .frames = 100},
    {.name = "sock", .ops = &ft_wire_sock, .real_time = 1, .frames = 300},
    {.name = "fault over sock",
     .ops = &ft_wire_fault,
     .inner = &ft_wire_sock,
     .cut_in = 3000,
     .slow_in = 2,
     .real_time = 1,
     .frames = 300},
};

static uint64_t seed_of_test(void)
{
    const char *given = getenv("FTRMA_TEST_SEED");
    return given ? strtoull(given, NULL, 0) : (uint64_t)getpid();
}

static void once_and_in_order(void **state)
{
    (void)state;
    uint64_t cuts = 0; /* drawn: some case may see none */
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        begin(&cases[i], seed_of_test());
        grant_all(5);
        run((1 << FT_WIRE_CLASSES) - 1);
        for (int n = 0; n < NODES; n++)
            cuts += t->faults[n].cuts;
        end();
    }
    assert_true(cuts > 0);
}

/* Nothing is granted for MSG, and BULK is not received: CONTROL and OPS come, and the rest
 * later. */
static void no_class_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        begin(&cases[i], seed_of_test());
        run(1 << FT_WIRE_CONTROL | 1 << FT_WIRE_OPS);
        for (int k = 0; k < NODES * NODES; k++)
            assert_int_equal(t->way[k / NODES][k % NODES].freed[FT_WIRE_MSG], 0);
        grant_all(1000);
        run((1 << FT_WIRE_CLASSES) - 1);
        end();
    }
}

static int came_to(int node, int rounds)
{
    struct ft_wire_frame f;
    for (int i = 0; i < rounds; i++) {
        for (int n = 0; n < NODES; n++)
            if (t->wire[n])
                ft_wire_progress(t->wire[n], tick());
        if (ft_wire_receive(t->wire[node], FT_WIRE_CONTROL, &f))
            return 1;
        if (t->how->real_time)
            sched_yield();
    }
    return 0;
}

static void send_word(int from, int to)
{
    static const char word[] = "word";
    struct ft_wire_piece p = {word, sizeof word};
    assert_int_equal(ft_wire_send(t->wire[from], to, FT_WIRE_CONTROL, &p, 1), FT_OK);
}

/* A node with another secret reaches nobody, and disturbs nobody. */
static void a_secret_is_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        begin(&cases[i], seed_of_test());
        ft_wire_close(t->wire[2]);
        struct ft_wire_config c = config_of(2);
        c.secret.byte[31] ^= 1;
        assert_int_equal(ft_wire_open(cases[i].ops, &c, &t->wire[2]), FT_OK);
        send_word(0, 1);
        send_word(0, 2);
        send_word(2, 0);
        assert_int_equal(came_to(1, ROUNDS), 1);
        assert_int_equal(came_to(2, 2000), 0);
        assert_int_equal(came_to(0, 2000), 0);
        assert_int_equal(ft_wire_away(t->wire[0], 2) > 0, 1);
        assert_false(ft_wire_met(t->wire[0], 2));
        end();
    }
}

static void out_is_out(void **state)
{
    (void)state;
    struct ft_wire_piece p = {"", 1};
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        begin(&cases[i], seed_of_test());
        send_word(2, 0);
        assert_int_equal(came_to(0, ROUNDS), 1);
        send_word(2, 0);
        ft_wire_out(t->wire[0], 2);
        assert_int_equal(came_to(0, 2000), 0);
        assert_int_equal(ft_wire_send(t->wire[0], 2, FT_WIRE_OPS, &p, 1), FT_ERR_DEAD);
        send_word(1, 0);
        assert_int_equal(came_to(0, ROUNDS), 1);
        end();
    }
}

/* One direction is cut: the connection is given up, ft_wire_away tells for how long, and all frames
 * come when the cut is over. */
static void a_cut_in_one_direction(void **state)
{
    (void)state;
    static const struct how how = {
        .name = "mem, cut", .ops = &ft_wire_mem, .weather = {MS, 0, 0, 0, 30 * MS}, .frames = 40};
    begin(&how, seed_of_test());
    send_word(0, 1);
    assert_int_equal(came_to(1, ROUNDS), 1);
    ft_wire_net_cut(t->net, 0, 1, 1);
    send_word(0, 1);
    assert_int_equal(came_to(1, 20000), 0);
    assert_true(ft_wire_away(t->wire[0], 1) > 20 * MS && ft_wire_met(t->wire[0], 1));
    assert_int_equal(ft_wire_away(t->wire[0], 2), 0);
    ft_wire_net_cut(t->net, 0, 1, 0);
    assert_int_equal(came_to(1, ROUNDS), 1);
    assert_int_equal(ft_wire_away(t->wire[0], 1), 0);
    end();
}

static uint64_t moved(void)
{
    uint64_t n = 0;
    for (int i = 0; i < NODES * NODES; i++)
        for (int c = 0; c < FT_WIRE_CLASSES; c++) {
            const struct traffic *w = &t->way[i / NODES][i % NODES];
            n += w->sent[c] + w->got[c] + w->freed[c];
        }
    return n;
}

/* Sends and receives what can be now, on all nodes. */
static void turn(void)
{
    for (int i = 0; i < NODES * NODES; i++)
        for (int c = 0; i / NODES != i % NODES && c < FT_WIRE_CLASSES; c++)
            send_one(i / NODES, i % NODES, c);
    for (int n = 0; n < NODES; n++) {
        ft_wire_progress(t->wire[n], tick());
        for (int c = 0; c < FT_WIRE_CLASSES; c++)
            receive_one(n, c);
        for (int k = 0; k < NODES; k++)
            if (k != n)
                free_sources(n, k);
    }
}

/* Nobody needs to poll: while links are busy and packets late, and nothing can be done, a
 * descriptor becomes readable when something can be. */
static void a_descriptor_wakes(void **state)
{
    (void)state;
    static const struct how how = {.name = "asleep",
                                   .ops = &ft_wire_fault,
                                   .inner = &ft_wire_sock,
                                   .slow_in = 3,
                                   .delay_ns = 2 * MS,
                                   .real_time = 1,
                                   .frames = 60};
    int slept = 0;
    begin(&how, seed_of_test());
    grant_all(how.frames);
    while (!all_came((1 << FT_WIRE_CLASSES) - 1)) {
        struct pollfd p[NODES];
        uint64_t before = moved();
        turn();
        if (moved() != before)
            continue;
        for (int n = 0; n < NODES; n++)
            p[n] = (struct pollfd){.fd = ft_wire_fd(t->wire[n]), .events = POLLIN};
        if (poll(p, NODES, 20000) <= 0)
            fail_msg("FTRMA_TEST_SEED=%llu: all sleep, and not all has come",
                     (unsigned long long)t->seed);
        slept++;
    }
    assert_true(slept > 10);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_and_in_order),      cmocka_unit_test(no_class_waits),
        cmocka_unit_test(a_secret_is_needed),     cmocka_unit_test(out_is_out),
        cmocka_unit_test(a_cut_in_one_direction), cmocka_unit_test(a_descriptor_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
