/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_node_spread.c - a job on nodes that are cut for it survives the loss of any one node wherever its
 * numbers allow that, and ftrun knows where it does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include "topology/groups.h"
#include "topology/node_spread.h"

#define MOST 64 /* nodes, and processes of a kind */

static int total(const struct ft_spread_node *n) { return n->ranks + n->checksums + n->spares; }

/* By definition, from nothing but who is where: node e's loss costs a group more than its parity,
 * or more positions than there are spares on other nodes. */
static int ends_the_job(const struct ft_spread_ask *a, const struct ft_placement *p,
                        const struct ft_spread_node *node, int e)
{
    int from = 0, lost[MOST] = {0}, positions = 0, spares = 0;
    for (int k = 0; k < e; k++)
        from += total(&node[k]);
    for (int s = 0; s < p->nprocesses; s++) {
        int here = s >= from && s < from + total(&node[e]), pos = p->pos_of[s];
        spares += !here && pos < 0;
        positions += here && pos >= 0;
        if (here && pos >= 0 && ++lost[p->group_of[pos]] > a->parity)
            return 1;
    }
    return positions > spares;
}

static void check_positions(const struct ft_spread_ask *a, const struct ft_placement *p,
                            const struct ft_spread_node *node)
{
    int sum[3] = {0}, checksums[MOST] = {0}, ranks[MOST] = {0}, slot = 0, rank = 0;
    int g = a->nchecksums / a->parity, fewest = a->nranks, most = 0;
    for (int e = 0; e < a->nnodes; e++) {
        sum[0] += node[e].ranks;
        sum[1] += node[e].checksums;
        sum[2] += node[e].spares;
        fewest = node[e].ranks < fewest ? node[e].ranks : fewest;
        most = node[e].ranks > most ? node[e].ranks : most;
        for (int k = 0; k < node[e].ranks; k++, rank++)
            assert_int_equal(p->pos_of[slot++], rank); /* blocks */
        for (int k = 0; k < node[e].checksums; k++)
            assert_true(p->pos_of[slot++] >= a->nranks);
        for (int k = 0; k < node[e].spares; k++)
            assert_int_equal(p->pos_of[slot++], -1);
    }
    assert_true(most - fewest <= 1);
    assert_int_equal(sum[0], a->nranks);
    assert_int_equal(sum[1], a->nchecksums);
    assert_int_equal(sum[2], a->nspares);
    assert_int_equal(slot, p->nprocesses);
    for (int i = 0; i < p->npositions; i++) {
        assert_int_equal(p->pos_of[p->slot_of[i]], i);
        assert_in_range(p->group_of[i], 0, g - 1);
        ranks[p->group_of[i]] += i < a->nranks;
        checksums[p->group_of[i]] += i >= a->nranks;
        assert_true(i < a->nranks || p->group_of[i] == (i - a->nranks) / a->parity);
    }
    for (int i = 0; i < g; i++) {
        assert_int_equal(checksums[i], a->parity);
        assert_in_range(ranks[i], a->nranks / g, a->nranks / g + (a->nranks % g > 0));
    }
}

static void check_one(const struct ft_spread_ask *a)
{
    struct ft_spread_node node[MOST];
    struct ft_placement p;
    struct ft_spread_gap gap;
    int first = -1, ends = 0, n = a->nnodes;
    assert_int_equal(ft_spread(a, &p), FT_OK);
    ft_spread_counts(a, node);
    check_positions(a, &p, node);
    for (int e = 0; e < n; e++)
        if (ends_the_job(a, &p, node, e)) {
            ends++;
            first = first < 0 ? e : first;
        }
    ft_spread_gap(a, &p, &gap);
    assert_int_equal(gap.why != FT_SPREAD_SURVIVED, ends > 0);
    assert_int_equal(gap.nodes, ends);
    assert_true(ends == 0 || gap.node == first);
    /* A group has at most `parity` members on each node, so all have at most nodes * nchecksums.
     * Each node leaves its positions to the others' spares: summed over all nodes these are each
     * position once, and each spare (nodes - 1) times. More is impossible; so much must be there. */
    int members = (int64_t)a->nranks + a->nchecksums <= (int64_t)n * a->nchecksums;
    int spares = a->nranks + a->nchecksums <= (n - 1) * a->nspares;
    assert_int_equal(p.aware, members);
    assert_int_equal(ends == 0, members && spares);
    ft_placement_finish(&p);
}

static void any_numbers(void **state)
{
    (void)state;
    static const int nodes[] = {1, 2, 3, 4, 5, 8};
    char why[200];
    for (size_t k = 0; k < FT_COUNTOF(nodes); k++)
        for (int n = 1; n <= 18; n++)
            for (int m = 1; m <= 3; m++)
                for (int c = m; c <= n; c += m)
                    for (int s = 0; s <= 2 * (n + c) + 2; s += s < 4 ? 1 : 3) {
                        struct ft_spread_ask a = {.nranks = n,
                                                  .nchecksums = c,
                                                  .parity = m,
                                                  .nspares = s,
                                                  .nnodes = nodes[k]};
                        if (ft_groups_check(n, c, m, why, sizeof why) == FT_OK)
                            check_one(&a);
                    }
}

/* Whatever is asked for, what is advised survives, and nothing less with that parity does. */
static void enough(void **state)
{
    (void)state;
    for (int nodes = 1; nodes <= 8; nodes++)
        for (int n = 1; n <= 14; n++)
            for (int m = 1; m <= 3; m++)
                for (int c = 0; c <= n; c += m) {
                    struct ft_spread_ask a = {.nranks = n,
                                              .nchecksums = c,
                                              .parity = m,
                                              .nspares = c % 3,
                                              .nnodes = nodes},
                                         b;
                    int found = ft_spread_enough(&a, &b);
                    assert_int_equal(found, nodes > 1);
                    if (!found)
                        continue;
                    assert_true(b.nchecksums >= c && b.nspares >= a.nspares && b.parity <= m);
                    assert_true(n <= (nodes - 1) * b.nchecksums);
                    assert_true(b.nchecksums == c || b.nchecksums - b.parity < c ||
                                n > (nodes - 1) * (b.nchecksums - b.parity));
                    assert_true(b.nspares == a.nspares ||
                                n + b.nchecksums > (nodes - 1) * (b.nspares - 1));
                    check_one(&b);
                }
}

/* The numbers of tests, documents and messages. */
static void known_ones(void **state)
{
    (void)state;
    struct ft_spread_ask a = {
        .nranks = 4, .nchecksums = 1, .parity = 1, .nspares = 1, .nnodes = 2};
    struct ft_spread_ask b;
    struct ft_spread_node node[3];
    struct ft_placement p;
    struct ft_spread_gap gap;
    assert_int_equal(ft_spread_enough(&a, &b), 1);
    assert_int_equal(b.nchecksums, 4);
    assert_int_equal(b.nspares, 8);
    assert_int_equal(ft_spread(&a, &p), FT_OK);
    ft_spread_gap(&a, &p, &gap);
    assert_int_equal(gap.why, FT_SPREAD_GROUP);
    assert_int_equal(gap.node, 0);
    assert_int_equal(gap.nodes, 2);
    assert_int_equal(gap.members, 3);
    ft_placement_finish(&p);
    a.nchecksums = 0;
    ft_spread_gap(&a, NULL, &gap);
    assert_int_equal(gap.why, FT_SPREAD_NO_CHECKSUMS);

    a = (struct ft_spread_ask){
        .nranks = 6, .nchecksums = 3, .parity = 1, .nspares = 4, .nnodes = 3};
    assert_int_equal(ft_spread(&a, &p), FT_OK);
    ft_spread_gap(&a, &p, &gap);
    assert_int_equal(gap.why, FT_SPREAD_SPARES);
    assert_int_equal(gap.carries, 3);
    assert_int_equal(gap.spares, 2);
    ft_placement_finish(&p);
    a.nspares = ft_spread_spares(&a);
    assert_int_equal(a.nspares, 5);
    ft_spread_counts(&a, node);
    assert_int_equal(node[2].ranks, 2);
    assert_int_equal(node[2].checksums, 1);
}

/* Ranks and spares alone. */
static void without_checksums(void **state)
{
    (void)state;
    static const int pos_of[7] = {0, -1, -1, 1, 2, 3, 4};
    struct ft_spread_ask a = {.nranks = 5, .parity = 1, .nspares = 2, .nnodes = 3};
    struct ft_placement p;
    struct ft_spread_gap gap;
    assert_int_equal(ft_spread(&a, &p), FT_OK);
    assert_memory_equal(p.pos_of, pos_of, sizeof pos_of);
    for (int i = 0; i < p.npositions; i++)
        assert_true(p.pos_of[p.slot_of[i]] == i && p.group_of[i] == -1);
    ft_spread_gap(&a, NULL, &gap);
    assert_int_equal(gap.why, FT_SPREAD_NO_CHECKSUMS);
    a.plain = 1;
    ft_spread_gap(&a, NULL, &gap);
    assert_int_equal(gap.why, FT_SPREAD_SPARES);
    ft_placement_finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_numbers), cmocka_unit_test(enough),
                                       cmocka_unit_test(known_ones),
                                       cmocka_unit_test(without_checksums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
