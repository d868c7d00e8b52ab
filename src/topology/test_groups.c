/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_groups.c - groups are a balanced partition that keeps neighbours apart, for all small jobs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>

#include "base/base.h"
#include "topology/groups.h"

#define MOST 40

static void for_all_jobs(void (*fn)(const struct ft_groups *g))
{
    for (int n = 1; n <= MOST; n++) {
        for (int k = 1; k <= n; k++) {
            struct ft_groups g;
            assert_int_equal(ft_groups_init(&g, n, k), FT_OK);
            assert_int_equal(g.nranks, n);
            assert_int_equal(g.nchecksums, k);
            fn(&g);
        }
    }
}

/* Each rank is in exactly one group, at the index that it says, with the sizes that the groups say. */
static void partition(const struct ft_groups *g)
{
    int seen[MOST] = {0};
    for (int group = 0; group < g->nchecksums; group++) {
        for (int i = 0, before = -1; i < ft_group_size(g, group); i++) {
            int rank = ft_group_member(g, group, i);
            assert_in_range(rank, 0, g->nranks - 1);
            assert_true(rank > before);
            before = rank;
            seen[rank]++;
            assert_int_equal(ft_group_of_rank(g, rank), group);
            assert_int_equal(ft_group_index_of_rank(g, rank), i);
        }
    }
    for (int rank = 0; rank < g->nranks; rank++)
        assert_int_equal(seen[rank], 1);
}

static void balance(const struct ft_groups *g)
{
    int least = INT_MAX, most = 0;
    for (int group = 0; group < g->nchecksums; group++) {
        int size = ft_group_size(g, group);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    assert_true(least >= 1 && most - least <= 1);
}

static void checksums(const struct ft_groups *g)
{
    int seen[MOST] = {0};
    for (int group = 0; group < g->nchecksums; group++) {
        int checksum = ft_group_checksum(g, group);
        assert_in_range(checksum, 0, g->nchecksums - 1);
        assert_int_equal(seen[checksum]++, 0);
        assert_int_equal(ft_group_of_checksum(g, checksum), group);
    }
}

/* What dies together is a run of c neighbours: no group loses more than ceil(c / K) of them. */
static void neighbours_apart(const struct ft_groups *g)
{
    for (int from = 0; from < g->nranks; from++) {
        int lost[MOST] = {0};
        for (int rank = from; rank < g->nranks; rank++) {
            int c = rank - from + 1, group = ft_group_of_rank(g, rank);
            assert_true(++lost[group] <= (c + g->nchecksums - 1) / g->nchecksums);
        }
    }
}

static void groups_partition_the_ranks(void **state)
{
    (void)state;
    for_all_jobs(partition);
}

static void sizes_differ_by_at_most_one(void **state)
{
    (void)state;
    for_all_jobs(balance);
}

static void each_group_has_its_checksum_process(void **state)
{
    (void)state;
    for_all_jobs(checksums);
}

static void a_failure_domain_hits_a_group_once(void **state)
{
    (void)state;
    for_all_jobs(neighbours_apart);
}

/* The picture in groups.h. */
static void ten_ranks_in_three_groups(void **state)
{
    (void)state;
    static const int sizes[] = {4, 3, 3}, members[3][4] = {{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}};
    struct ft_groups g;
    assert_int_equal(ft_groups_init(&g, 10, 3), FT_OK);
    for (int group = 0; group < 3; group++) {
        assert_int_equal(ft_group_size(&g, group), sizes[group]);
        for (int i = 0; i < sizes[group]; i++)
            assert_int_equal(ft_group_member(&g, group, i), members[group][i]);
    }
}

static void jobs_that_cannot_be(void **state)
{
    (void)state;
    static const int bad[][2] = {{0, 0}, {0, 1}, {-1, 1}, {-3, -5}, {1, 0}, {4, -1}, {1, 2}, {40, 41}, {INT_MIN, 1}, {INT_MAX, 1},
                                 {INT_MAX, INT_MAX}, {1, INT_MAX}, {1, INT_MIN}, {FT_MAX_SLOTS, 1}};
    struct ft_groups g = {7, 3};
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        if (ft_groups_init(&g, bad[i][0], bad[i][1]) != FT_ERR_ARG || g.nranks != 7 || g.nchecksums != 3)
            fail_msg("%d ranks, %d checksum processes", bad[i][0], bad[i][1]);
    }
    assert_int_equal(ft_groups_init(&g, FT_MAX_SLOTS - 1, 1), FT_OK);
    assert_int_equal(ft_groups_init(&g, FT_MAX_SLOTS / 2, FT_MAX_SLOTS / 2), FT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_partition_the_ranks),
        cmocka_unit_test(sizes_differ_by_at_most_one),
        cmocka_unit_test(each_group_has_its_checksum_process),
        cmocka_unit_test(a_failure_domain_hits_a_group_once),
        cmocka_unit_test(ten_ranks_in_three_groups),
        cmocka_unit_test(jobs_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
