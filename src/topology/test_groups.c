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
#include <string.h>

#include "base/base.h"
#include "topology/groups.h"

#define MOST 40

static void for_all_jobs(void (*fn)(const struct ft_groups *g))
{
    for (int m = 1; m <= 4; m++)
        for (int n = 1; n <= MOST; n++)
            for (int k = m; k <= n; k += m) {
                struct ft_groups g;
                char why[200];
                assert_int_equal(ft_groups_init(&g, n, k, m, NULL, why, sizeof why), FT_OK);
                assert_int_equal(g.nranks, n);
                assert_int_equal(g.nchecksums, k);
                assert_int_equal(g.ngroups, k / m);
                fn(&g);
                ft_groups_finish(&g);
            }
}

/* Each rank is in exactly one group, at its index, and the groups have the sizes that they
 * report. */
static void partition(const struct ft_groups *g)
{
    int seen[MOST] = {0};
    for (int group = 0; group < g->ngroups; group++) {
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
    for (int group = 0; group < g->ngroups; group++) {
        int size = ft_group_size(g, group);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    assert_true(least >= 1 && most - least <= 1);
}

static void checksums(const struct ft_groups *g)
{
    int seen[MOST] = {0};
    for (int group = 0; group < g->ngroups; group++)
        for (int i = 0; i < g->parity; i++) {
            int checksum = ft_group_checksum(g, group, i);
            assert_in_range(checksum, 0, g->nchecksums - 1);
            assert_int_equal(seen[checksum]++, 0);
            assert_int_equal(ft_group_of_checksum(g, checksum), group);
        }
}

/* A group's blocks: members, then codewords, each at one position. */
static void blocks(const struct ft_groups *g)
{
    int seen[2 * MOST] = {0};
    for (int group = 0; group < g->ngroups; group++)
        for (int b = 0; b < ft_group_size(g, group) + g->parity; b++) {
            int pos = ft_group_block(g, group, b);
            assert_in_range(pos, 0, g->nranks + g->nchecksums - 1);
            assert_int_equal(seen[pos]++, 0);
            assert_int_equal(ft_group_of_position(g, pos), group);
            assert_int_equal(ft_group_block_of_position(g, pos), b);
            assert_int_equal(b >= ft_group_size(g, group), pos >= g->nranks);
        }
}

/* A run of c neighbours dies together: no group loses more than ceil(c / groups) of them. */
static void neighbours_apart(const struct ft_groups *g)
{
    for (int from = 0; from < g->nranks; from++) {
        int lost[MOST] = {0};
        for (int rank = from; rank < g->nranks; rank++) {
            int c = rank - from + 1, group = ft_group_of_rank(g, rank);
            assert_true(++lost[group] <= (c + g->ngroups - 1) / g->ngroups);
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
    for_all_jobs(blocks);
}

static void a_failure_domain_hits_a_group_once(void **state)
{
    (void)state;
    for_all_jobs(neighbours_apart);
}

/* The picture in groups.h, and a table that the caller gives. */
static void ten_ranks_in_three_groups(void **state)
{
    (void)state;
    static const int sizes[] = {4, 3, 3}, members[3][4] = {{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}},
                     own[] = {1, 1, 0, 0, 1};
    struct ft_groups g;
    char why[200];
    assert_int_equal(ft_groups_init(&g, 10, 6, 2, NULL, why, sizeof why), FT_OK);
    for (int group = 0; group < 3; group++) {
        assert_int_equal(ft_group_size(&g, group), sizes[group]);
        for (int i = 0; i < sizes[group]; i++)
            assert_int_equal(ft_group_member(&g, group, i), members[group][i]);
        assert_int_equal(ft_group_checksum(&g, group, 1), 2 * group + 1);
    }
    ft_groups_finish(&g);
    assert_int_equal(ft_groups_init(&g, 5, 2, 1, own, why, sizeof why), FT_OK);
    assert_int_equal(ft_group_size(&g, 0), 2);
    assert_int_equal(ft_group_member(&g, 0, 1), 3);
    assert_int_equal(ft_group_member(&g, 1, 2), 4);
    ft_groups_finish(&g);
}

static void jobs_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        int nranks, nchecksums, parity;
        const char *why;
    } bad[] = {
        {0, 1, 1, "1 checksum processes"},
        {-1, 1, 1, "1 checksum processes"},
        {4, 0, 1, "0 checksum processes: must be a multiple of the parity, 1"},
        {4, -2, 2, "-2 checksum processes"},
        {INT_MIN, INT_MIN, 1, "checksum processes"},
        {8, 3, 2, "3 checksum processes: must be a multiple of the parity, 2"},
        {1, 2, 1, "parity 1 is larger than a group: 1 ranks in 2 groups are 0 each"},
        {5, 6, 3, "parity 3 is larger than a group: 5 ranks in 2 groups are 2 each"},
        {2, 3, 3, "parity 3 is larger than a group: 2 ranks in 1 group are 2 each"},
        {8, 9, 9, "parity 9: must be from 1 to 8"},
        {8, 0, 0, "parity 0: must be from 1 to 8"},
        {129, 1, 1, "a group has at most 128 ranks: 129 ranks need at least 2 checksum processes"},
        {300, 4, 2, "a group has at most 128 ranks: 300 ranks need at least 6 checksum processes"},
        {FT_MAX_SLOTS, 64, 1,
         "4096 ranks and 64 checksum processes are together more than 4096 processes"},
        {INT_MAX, INT_MAX, 1, "together more than"},
    };
    struct ft_groups g = {.nranks = 7, .nchecksums = 3};
    char why[200];
    for (size_t i = 0; i < FT_COUNTOF(bad); i++) {
        *why = '\0';
        enum ft_status st = ft_groups_init(&g, bad[i].nranks, bad[i].nchecksums, bad[i].parity,
                                           NULL, why, sizeof why);
        if (st != FT_ERR_ARG || g.nranks != 7 || g.nchecksums != 3 || !strstr(why, bad[i].why))
            fail_msg("%d ranks, %d checksum processes, parity %d: %s", bad[i].nranks,
                     bad[i].nchecksums, bad[i].parity, why);
    }
    assert_int_equal(ft_groups_init(&g, 128, 1, 1, NULL, why, sizeof why), FT_OK);
    ft_groups_finish(&g);
    assert_int_equal(
        ft_groups_init(&g, FT_MAX_SLOTS / 2, FT_MAX_SLOTS / 2, 8, NULL, why, sizeof why), FT_OK);
    ft_groups_finish(&g);
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
