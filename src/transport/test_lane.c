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
#include "transport/lane.h"

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

/* In memory that others have used. */
static void begins(void)
{
    lane = aligned_alloc(FT_CACHE_LINE, ft_align_up(sizeof *lane, FT_CACHE_LINE));
    for (uint64_t at = 0; at < FT_LANE_BYTES; at += FT_CACHE_LINE)
        ft_lane_at(lane, at)->mark = ft_lane_mark(at);
    ft_lane_begin(lane);
}

static void many_turns(void **state)
{
    (void)state;
    struct ft_lane_at w = {0, 0};
    struct ft_prng r = {.s = seed};
    uint64_t at = 0, said = 0;
    uint32_t sent = 1, come = 1;
    begins();
    HOLDS(!ft_lane_read(lane, &at));
    for (int turns = 0; come < RECORDS; turns++) {
        HOLDS(turns < RECORDS);
        struct ft_lane_record *rec;
        for (uint64_t n = ft_prng_below(&r, 40); n > 0 && sent < RECORDS; n--) {
            struct ft_lane_record head = {.bytes = size_of(sent),
                                          .generation = 7,
                                          .number = sent,
                                          .acks = sent * 3,
                                          .kind = 1,
                                          .item = 2,
                                          .urgent = sent & 1,
                                          .id = (uint64_t)sent << 33};
            make(w.at, sent);
            if (!ft_lane_write(lane, &w, said, &head, data))
                break; /* no room */
            sent++;
        }
        for (uint64_t n = ft_prng_below(&r, 40); n > 0 && (rec = ft_lane_read(lane, &at)); n--) {
            HOLDS(rec->kind == 1 && rec->item == 2 && rec->generation == 7 && !rec->asks);
            HOLDS(rec->number == come && rec->id == (uint64_t)come << 33 && rec->acks == come * 3);
            HOLDS(rec->urgent == (come & 1) && rec->bytes == size_of(come));
            for (uint32_t i = 0, line = FT_CACHE_LINE - sizeof *rec; i < rec->bytes; i += 4) {
                int is_mark = i % FT_CACHE_LINE == line && i + 4 <= rec->bytes;
                HOLDS(is_mark ? rec->data[i] & 1 : rec->data[i] == (unsigned char)come);
            }
            at += ft_lane_bytes(rec->bytes);
            come++;
            HOLDS(come <= sent);
        }
        HOLDS(come < sent || !ft_lane_read(lane, &at));
        if (ft_prng_below(&r, 3))
            said = at;
    }
    HOLDS(at > 100 * FT_LANE_BYTES);
    free(lane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_turns)};
    return cmocka_run_group_tests(tests, seeded, NULL);
}
