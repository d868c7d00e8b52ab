/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_lane.c - a lane carries records of random sizes over many turns of its ring. Each line of
 * their data begins with the mark that a record at its place has one turn later, so a place that was
 * not cleared is taken for a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "base/test_seeded.h"
#include "ftt/lane.h"

#define RECORDS 40000
static struct ft_lane *lane;
static unsigned char data[FT_LANE_DATA];

static uint32_t size_of(uint32_t number)
{
    struct ft_prng own = {.s = seed * 1000003 + number};
    return (uint32_t)ft_prng_below(&own, number % 5 ? 200 : FT_LANE_DATA + 1);
}

/* at: where the record lies, if there is no skip; the marks then fit its lines. */
static void make(uint64_t at, uint32_t number)
{
    uint32_t bytes = size_of(number);
    memset(data, (int)number, sizeof data);
    for (uint32_t i = FT_CACHE_LINE - (uint32_t)sizeof(struct ft_lane_record); i + 4 <= bytes;
         i += FT_CACHE_LINE) {
        at += FT_CACHE_LINE;
        uint32_t mark = ft_lane_mark(at + FT_LANE_BYTES);
        memcpy(data + i, &mark, 4);
    }
}

static void begins(struct ft_lane_at *w)
{
    lane = aligned_alloc(FT_CACHE_LINE, ft_align_up(sizeof *lane, FT_CACHE_LINE));
    memset(lane, 0, sizeof *lane);
    ft_lane_begin(lane, 3, w);
}

static void many_turns(void **state)
{
    (void)state;
    struct ft_lane_at w;
    struct ft_prng r = {.s = seed};
    uint64_t at = 0, said = 0;
    uint32_t sent = 1, come = 1;
    begins(&w);
    HOLDS(!ft_lane_read(lane, &at, 3));
    for (int turns = 0; come < RECORDS; turns++) {
        HOLDS(turns < RECORDS);
        struct ft_lane_record *rec;
        for (uint64_t n = ft_prng_below(&r, 40); n > 0 && sent < RECORDS; n--) {
            struct ft_txn_frame f = {.kind = FT_TXN_FRAME_ITEM,
                                     .item = FT_TXN_PUT,
                                     .generation = 7,
                                     .number = sent,
                                     .id = (uint64_t)sent << 33};
            make(w.at, sent);
            if (!ft_lane_write(lane, &w, said, &f, sent * 3, (int)sent & 1, data, size_of(sent)))
                break; /* no room */
            sent++;
        }
        for (uint64_t n = ft_prng_below(&r, 40); n > 0 && (rec = ft_lane_read(lane, &at, 3)); n--) {
            struct ft_txn_frame f = ft_lane_frame(rec);
            HOLDS(f.kind == FT_TXN_FRAME_ITEM && f.item == FT_TXN_PUT && f.generation == 7);
            HOLDS(f.number == come && f.id == (uint64_t)come << 33 && rec->acks == come * 3);
            HOLDS(rec->urgent == (come & 1) && rec->bytes == size_of(come));
            for (uint32_t i = 0, line = FT_CACHE_LINE - sizeof *rec; i < rec->bytes; i += 4) {
                int is_mark = i % FT_CACHE_LINE == line && i + 4 <= rec->bytes;
                HOLDS(is_mark ? rec->data[i] & 1 : rec->data[i] == (unsigned char)come);
            }
            at += ft_lane_bytes(rec->bytes);
            come++;
            HOLDS(come <= sent);
        }
        HOLDS(come < sent || !ft_lane_read(lane, &at, 3));
        if (ft_prng_below(&r, 3))
            said = at;
    }
    HOLDS(at > 100 * FT_LANE_BYTES);
    free(lane);
}

/* For another carrier of the reader's rank it begins at 0; the old carrier reads nothing more. */
static void another_reader(void **state)
{
    (void)state;
    struct ft_lane_at w;
    struct ft_txn_frame f = {.kind = FT_TXN_FRAME_ACK, .number = 5};
    uint64_t at = 0, old = 0;
    begins(&w);
    for (int i = 0; i < 3; i++)
        assert_true(ft_lane_write(lane, &w, 0, &f, 0, 0, NULL, 0));
    assert_non_null(ft_lane_read(lane, &old, 3));
    ft_lane_begin(lane, 4, &w);
    assert_null(ft_lane_read(lane, &old, 3));
    assert_null(ft_lane_read(lane, &at, 4));
    f.number = 6;
    assert_true(ft_lane_write(lane, &w, 0, &f, 0, 0, NULL, 0));
    assert_int_equal(ft_lane_read(lane, &at, 4)->number, 6);
    at += ft_lane_bytes(0);
    assert_null(ft_lane_read(lane, &at, 4)); /* what had been sent to the old one lies there */
    free(lane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_turns), cmocka_unit_test(another_reader)};
    return cmocka_run_group_tests(tests, seeded, NULL);
}
