/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_memory.c - the parts of a look at a program's memory: spans, hashes, order, the C library's
 * blocks, and names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/test_seeded.h"
#include "image/memory.h"

#define SPACE 300

/* Compares with a byte for each address. */
static void spans_are_sets(void **state)
{
    (void)state;
    struct ft_prng p = {seed};
    for (int trial = 0; trial < 2000; trial++) {
        struct ft_span s[20], gap;
        uint8_t in[SPACE] = {0}, gaps[SPACE] = {0};
        size_t n = ft_prng_next(&p) % 20;
        for (size_t i = 0; i < n; i++) {
            s[i].from = ft_prng_next(&p) % SPACE;
            s[i].to = ft_min_u64(SPACE, s[i].from + ft_prng_next(&p) % 30);
            for (uint64_t a = s[i].from; a < s[i].to; a++)
                in[a] = 1;
        }
        n = ft_spans_join(s, n);
        for (size_t i = 0; i < n; i++) {
            assert_true(s[i].from < s[i].to);
            if (i)
                assert_true(s[i - 1].to < s[i].from);
        }
        uint64_t from = ft_prng_next(&p) % SPACE, to = from + ft_prng_next(&p) % (SPACE - from);
        for (uint64_t at = from; ft_spans_gap(s, n, at, to, &gap); at = gap.to) {
            assert_true(gap.from >= at && gap.from < gap.to && gap.to <= to);
            for (uint64_t a = gap.from; a < gap.to; a++)
                gaps[a] = 1;
        }
        for (uint64_t a = 0; a < SPACE; a++)
            if (gaps[a] != (a >= from && a < to && !in[a]))
                fail_msg("seed %llu, trial %d: address %llu", (unsigned long long)seed, trial,
                         (unsigned long long)a);
    }
}

/* Each bit counts, and so does its place; zeros add nothing. */
static void every_bit_changes_a_hash(void **state)
{
    (void)state;
    static unsigned char page[FT_MEM_PAGE];
    struct ft_prng p = {seed};
    assert_true(ft_mem_hash(page, sizeof page, 4096) == 0);
    assert_true(ft_mem_hash(page, 1, 0) == 0);
    for (int fill = 0; fill < 2; fill++) {
        static const size_t sizes[] = {1, 7, 8, 31, 32, 33, 100, 4095, 4096};
        for (size_t k = 0; k < FT_COUNTOF(sizes); k++) {
            uint64_t h = ft_mem_hash(page, sizes[k], 8192);
            for (size_t bit = 0; bit<sizes[k] * 8; bit += sizes[k]> 100 ? 37 : 1) {
                page[bit / 8] ^= (unsigned char)(1u << bit % 8);
                assert_true(ft_mem_hash(page, sizes[k], 8192) != h);
                page[bit / 8] ^= (unsigned char)(1u << bit % 8);
            }
            assert_true(ft_mem_hash(page, sizes[k], 8192) == h);
        }
        for (size_t i = 0; i < sizeof page; i++)
            page[i] = (unsigned char)ft_prng_next(&p);
    }
    assert_true(ft_mem_hash(page, 4096, 0) != ft_mem_hash(page, 4096, 4096));
    memset(page, 0, sizeof page); /* one word, at two places */
    page[8] = 1;
    uint64_t h = ft_mem_hash(page, 4096, 0);
    page[8] = 0;
    page[40] = 1;
    assert_true(ft_mem_hash(page, 4096, 0) != h);
}

static struct ft_mem_thing thing(uint64_t addr, uint64_t bytes)
{
    return (struct ft_mem_thing){.addr = addr, .bytes = bytes, .whole = addr, .whole_bytes = bytes};
}

static void things_settle(void **state)
{
    (void)state;
    struct ft_mem_thing t[] = {thing(300, 10), thing(100, 10), thing(100, 50), thing(120, 8),
                               thing(149, 1),  thing(150, 4),  thing(400, 0)};
    size_t n = ft_mem_settle(t, FT_COUNTOF(t));
    assert_int_equal(n, 3);
    assert_true(t[0].addr == 100 && t[0].bytes == 50 && t[1].addr == 150 && t[2].addr == 300);
}

/* The largest first, pieces of one thing in a row; what is small by address. */
static void the_largest_come_first(void **state)
{
    (void)state;
    struct ft_mem_thing t[] = {thing(0, 8),
                               thing(1 << 20, FT_MEM_LEAST),
                               thing(2 << 20, 1000),
                               thing(4 << 20, FT_MEM_LEAST),
                               thing((4 << 20) + FT_MEM_LEAST, 4),
                               thing(8 << 20, 2 * FT_MEM_LEAST)};
    t[3].whole_bytes = t[4].whole_bytes = 4 * FT_MEM_LEAST;
    t[4].whole = t[3].whole;
    uint32_t order[6];
    static const uint32_t want[6] = {3, 4, 5, 1, 0, 2};
    ft_mem_order(t, 6, order);
    assert_memory_equal(order, want, sizeof want);
}

static void only_the_same_bytes_are_compared(void **state)
{
    (void)state;
    struct ft_mem_thing was[] = {thing(100, 10), thing(200, 10), thing(300, 10)};
    for (int i = 0; i < 3; i++)
        assert_false(ft_mem_compare(&was[i], 1, 2, 10)); /* nothing was known */
    was[2].named = 1;
    struct ft_mem_thing now[] = {thing(100, 10), thing(200, 11), thing(250, 10), thing(300, 10)};
    ft_mem_carry(now, 4, was, 3);
    assert_true(now[0].hashed && !now[1].hashed && !now[2].hashed && now[3].hashed &&
                now[3].named && !now[0].named);
    assert_false(ft_mem_compare(&now[0], 1, 2, 10));
    assert_true(ft_mem_compare(&now[0], 3, 2, 10));
    assert_false(ft_mem_compare(&now[0], 4, 5, 10)); /* more of it is protected now */
    assert_false(ft_mem_compare(&now[0], 5, 5, 9));
    assert_false(ft_mem_compare(&now[1], 7, 2, 11));
    assert_true(ft_mem_piece(1) == FT_MEM_LEAST && ft_mem_piece(1ull << 40) >= (1ull << 30) &&
                ft_mem_piece(1ull << 40) < (1ull << 31));
}

/* ---- the C library's heap ---- */

struct heap {
    uint64_t words[512], from, left;
    uint64_t addr[16], bytes[16];
    int n;
};

static const void *peek(void *arg, uint64_t addr, size_t bytes)
{
    struct heap *h = arg;
    assert_true(addr >= h->from && addr + bytes <= h->from + sizeof h->words);
    return h->left-- ? (const char *)h->words + (addr - h->from) : NULL;
}

static void each(void *arg, uint64_t addr, uint64_t bytes)
{
    struct heap *h = arg;
    assert_true(h->n < 16);
    h->addr[h->n] = addr;
    h->bytes[h->n++] = bytes;
}

/* Sizes of chunks; a negative one is free. Returns their end. */
static uint64_t lay(struct heap *h, const int *chunk, int n)
{
    *h = (struct heap){.from = 1 << 20, .left = 1000};
    uint64_t at = 0;
    int in_use = 1;
    for (int i = 0; i < n; i++) {
        int bytes = abs(chunk[i]);
        h->words[at / 8 + 1] = (uint64_t)bytes | (uint64_t)in_use;
        in_use = chunk[i] > 0;
        at += (uint64_t)bytes;
    }
    return h->from + at;
}

static void blocks_are_found(void **state)
{
    (void)state;
    struct heap h;
    static const int chunks[] = {48, 1008, -1024, 512, 992, 32, 208};
    uint64_t to = lay(&h, chunks, 7);
    assert_int_equal(ft_mem_walk(h.from, to, 984, peek, each, &h), FT_OK);
    assert_int_equal(h.n, 2);
    assert_true(h.addr[0] == h.from + 48 + 16 && h.bytes[0] == 1000 && h.bytes[1] == 984);
    h.left = 3;
    assert_int_equal(ft_mem_walk(h.from, to, 984, peek, each, &h), FT_ERR_AGAIN);
    static const int wrong[][3] = {{48, 24, 208},   {48, 0, 208},  {48, 40, 208},
                                   {48, 4000, 208}, {48, 52, 208}, {48, 50, 208}};
    for (size_t i = 0; i < FT_COUNTOF(wrong); i++) {
        (void)lay(&h, wrong[i], 3);
        assert_int_equal(ft_mem_walk(h.from, h.from + 1024, 16, peek, each, &h), FT_ERR_RANGE);
    }
    static const int fence[] = {48, 1008, 16};
    (void)lay(&h, fence, 3);
    assert_int_equal(ft_mem_walk(h.from, h.from + 4096, 984, peek, each, &h), FT_OK);
    assert_int_equal(h.n, 1);
}

/* The layout is as the C library of this machine has it: a block between two others. */
static void blocks_are_the_c_librarys(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the heap is the sanitizer's, and has other headers */
#endif
    (void)state;
#ifdef __GLIBC__
    char *volatile p[3];
    static const size_t sizes[3] = {5000, 70000, 5000};
    for (int i = 0; i < 3; i++)
        p[i] = malloc(sizes[i]);
    uint64_t head;
    memcpy(&head, p[1] - 8, sizeof head);
    assert_true((head & ~7ull) - 8 == malloc_usable_size(p[1]));
    for (int i = 0; i < 3; i++)
        free(p[i]);
#endif
}

/* ---- names ---- */

static void names_are_as_written(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"u", "u"},
                                           {"count.1", "count"},
                                           {"stdout@GLIBC_2.2.5", "stdout"},
                                           {"main.hits", "hits"},
                                           {"_ZN4Heat1uE", "Heat::u"},
                                           {"_ZL1u", "u"},
                                           {"_ZN1aL3bcdE", "a::bcd"},
                                           {"_ZZ4mainE1x", "x"},
                                           {"_ZZL7countervE1c_0", "c"},
                                           {"_ZZ4mainE", "_ZZ4mainE"},
                                           {"_ZN12_GLOBAL__N_14gridE", "grid"},
                                           {"__heat_MOD_u", "heat::u"},
                                           {"blk_", "blk_"},
                                           {"u.lto_priv.0", "u"},
                                           {"_ZN99aE", "_ZN99aE"},
                                           {"__MOD_", "__MOD_"}};
    for (size_t i = 0; i < FT_COUNTOF(names); i++) {
        char out[80];
        ft_mem_tidy(names[i][0], out, sizeof out);
        assert_string_equal(out, names[i][1]);
    }
    assert_true(ft_mem_is_internal("_ZGVZ4mainE1x") && ft_mem_is_internal("completed.0") &&
                ft_mem_is_internal("ftrma_looked_.3"));
    assert_false(ft_mem_is_internal("u") || ft_mem_is_internal("complete"));
}

static void notes_say_what_to_do(void **state)
{
    (void)state;
    char line[400];
    struct ft_mem_thing t = thing(0x1000, 80000);
    t.kind = FT_MEM_STATIC;
    t.name = "u";
    t.source = "heat.c";
    struct ft_note n = ft_mem_note(&t, 80000, NULL, NULL);
    ft_note_format(&n, "rank 0", line, sizeof line);
    assert_string_equal(
        line,
        "rank 0: 'u' (80 KB, heat.c) changes in body and is not protected: call FTRMA_Protect(u, "
        "sizeof u), or FTRMA_Unprotect "
        "if it is scratch");
    t.bytes = t.whole_bytes = 4;
    t.source = "/somewhere/heat";
    n = ft_mem_note(&t, 4, NULL, NULL);
    ft_note_format(&n, "ranks 0-2", line, sizeof line);
    assert_non_null(strstr(line, "'u' (4 bytes, heat) changes"));
    assert_non_null(strstr(line, "FTRMA_Protect(&u, sizeof u)"));
    t.name = "__heat_MOD_u";
    n = ft_mem_note(&t, 4, NULL, NULL);
    assert_string_equal(n.args, "");
    t = thing(0x1000, 5000000);
    t.kind = FT_MEM_BLOCK;
    n = ft_mem_note(&t, 5000000, "grid", NULL);
    ft_note_format(&n, "rank 0", line, sizeof line);
    assert_non_null(strstr(
        line, "a heap block of 5000 KB, to which 'grid' points, at 0x1000 changes in body and is "
              "not protected: call FTRMA_Protect, or"));
    n = ft_mem_note(&t, 5000000, "grid", "place (heat+0x12)");
    assert_string_equal(n.what, "a heap block of 5000 KB, to which 'grid' points, allocated by "
                                "place (heat+0x12),");
    n = ft_mem_note(&t, 5000000, NULL, "heat+0x12");
    assert_string_equal(n.what, "a heap block of 5000 KB, allocated by heat+0x12,");
    t.kind = FT_MEM_MAPPING;
    n = ft_mem_note(&t, 65536, NULL, NULL);
    assert_string_equal(n.what, "part of a mapping of 5000 KB");
    t.kind = FT_MEM_UNNAMED;
    t.source = "a.out";
    n = ft_mem_note(&t, 4096, NULL, NULL);
    assert_string_equal(n.what, "static data of a.out (4096 bytes, without a symbol)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(spans_are_sets, seeded),
        cmocka_unit_test_setup(every_bit_changes_a_hash, seeded),
        cmocka_unit_test(things_settle),
        cmocka_unit_test(the_largest_come_first),
        cmocka_unit_test(only_the_same_bytes_are_compared),
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(blocks_are_the_c_librarys),
        cmocka_unit_test(names_are_as_written),
        cmocka_unit_test(notes_say_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
