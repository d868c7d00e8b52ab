/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_reached.c - the home log: matches of which others were told (REACHED). A replacement is not
 * at the log's end before it has begun that call. Slot 0 writes and reads.
 */
#define _GNU_SOURCE
#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "transport/test_job.h"

static void unexpected(const struct ft_act *was, enum ft_act_kind kind, uint32_t win, int where,
                       uint64_t off, const struct ft_mismatch *mismatch)
{
    (void)was, (void)win, (void)where, (void)off, (void)mismatch;
    fprintf(stderr, "divergence, kind %d\n", (int)kind);
    CHECK(!"the same program diverged");
}

static void reach(void)
{
    static const uint64_t data = 5;
    uint64_t bytes;
    int end = 1;
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    ft_calls = 10;
    ft_homelog_note(FT_ACT_GET, 3, 1, 64, &data, 8);
    ft_homelog_reached(8); /* an action of call 10 says that, too */
    ft_calls = 20;
    ft_homelog_reached(15);
    ft_homelog_reached(15);
    ft_calls = 30;
    ft_homelog_note(FT_ACT_TIME, 0, 0, 0, &data, 8);
    ft_homelog_reached(30);
    ft_calls = 40;
    ft_homelog_reached(35);
    ft_replay = FT_REPLAY;
    ft_replay_diverged = unexpected;
    ft_homelog_read(FT_SEG_SETUP, NULL);
    CHECK(ft_homelog_fetched(&bytes) == 4);
    ft_calls = 10;
    CHECK(!ft_homelog_at_end() && ft_homelog_expect(FT_ACT_GET, 3, 1, 64, 8));
    ft_calls = 14;
    CHECK(!ft_homelog_at_end() && !ft_homelog_outcome(&end) && !end); /* a test in vain */
    ft_calls = 15;
    CHECK(!ft_homelog_at_end());
    ft_calls = 30;
    CHECK(ft_homelog_expect(FT_ACT_TIME, 0, 0, 0, 8));
    ft_calls = 34;
    CHECK(!ft_homelog_at_end());
    ft_homelog_reached(34); /* repeated: it is there */
    ft_calls = 35;
    CHECK(ft_homelog_at_end() && !ft_homelog_outcome(&end) && end);
}

static void reached(void **state)
{
    (void)state;
    job_seed(10);
    job_begin(1, 1);
    job_spawn(0, reach);
    job_join();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reached)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
