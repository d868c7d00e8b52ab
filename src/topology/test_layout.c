/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_layout.c - from options and hosts to who carries what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/base.h"
#include "topology/layout.h"

static char why[600];

static struct ft_job_layout_ask ask(const char *text, const char *aware)
{
    return (struct ft_job_layout_ask){.nranks = 4,
                                      .nchecksums = 2,
                                      .parity = 1,
                                      .nspares = 2,
                                      .file = "m",
                                      .text = text,
                                      .len = text ? strlen(text) : 0,
                                      .aware = aware};
}

static void nothing_said(void **state)
{
    (void)state;
    struct ft_job_layout_ask a = ask(NULL, "");
    struct ft_job_layout l;
    assert_int_equal(ft_job_layout_make(&a, NULL, &l, why, sizeof why), FT_OK);
    assert_int_equal(l.known, 0);
    assert_int_equal(l.aware, 0);
    for (int p = 0; p < 6; p++) {
        assert_int_equal(l.place.slot_of[p], p);
        assert_int_equal(ft_group_of_position(&l.groups, p), p < 4 ? p % 2 : p - 4);
    }
    ft_job_layout_finish(&l);
    a.nchecksums = 0;
    assert_int_equal(ft_job_layout_make(&a, NULL, &l, why, sizeof why), FT_OK);
    assert_null(l.place.slot_of);
    ft_job_layout_finish(&l);
}

/* Two processes on each of four hosts, dealt out in turn: strided groups would have both of a
 * host. */
static void nodes_by_the_names_of_hosts(void **state)
{
    (void)state;
    static const char *const host[] = {"a", "b", "a", "b", "c", "c", "d", "d"};
    struct ft_job_layout_ask a = ask(NULL, "node");
    struct ft_job_layout l;
    const char *partly[8] = {"a", "b"};
    assert_int_equal(ft_job_layout_make(&a, partly, &l, why, sizeof why), FT_ERR_AGAIN);
    assert_int_equal(ft_job_layout_make(&a, host, &l, why, sizeof why), FT_OK);
    assert_int_equal(l.domains.level[1].count, 4);
    assert_int_equal(l.aware, 1);
    for (int p = 0; p < 6; p++)
        for (int q = 0; q < p; q++)
            assert_true(ft_group_of_position(&l.groups, p) != ft_group_of_position(&l.groups, q) ||
                        l.node_of[l.place.slot_of[p]] != l.node_of[l.place.slot_of[q]]);
    ft_job_layout_finish(&l);
    /* The same by a file with these names, which also has racks, and places the last two itself. */
    static const char text[] = "level node in rack\nlevel rack\nrack r s t\nnode a in r\nnode b in "
                               "s\nnode c d in t\nprocess 6-7 in d\n";
    const char *some[8] = {"a", "b", "a", "b", "c", "c"};
    a = ask(text, "");
    assert_int_equal(ft_job_layout_make(&a, some, &l, why, sizeof why), FT_OK);
    assert_int_equal(l.aware, 2);
    assert_int_equal(l.place.aware, 2);
    ft_job_layout_finish(&l);
    a = ask(text, "none");
    assert_int_equal(ft_job_layout_make(&a, some, &l, why, sizeof why), FT_OK);
    assert_int_equal(l.aware, 0);
    assert_int_equal(l.known, 1);
    ft_job_layout_finish(&l);
    some[4] = NULL;
    assert_int_equal(ft_job_layout_make(&a, some, &l, why, sizeof why), FT_ERR_AGAIN);
    some[4] = "e";
    assert_int_equal(ft_job_layout_make(&a, some, &l, why, sizeof why), FT_ERR_ARG);
    assert_string_equal(
        why, "m: it does not say where process 4 is: no node has the name of its host, 'e', and no "
             "'process' line names it");
}

/* A node that is cut for the job is another one, whatever its name is. */
static void nodes_by_their_numbers(void **state)
{
    (void)state;
    static const char *const host[] = {"a", "a", "a", "a", "a", "a", "a", "a"};
    struct ft_job_layout_ask a = ask(NULL, "");
    struct ft_job_layout l;
    a.nnodes = 2;
    assert_int_equal(ft_job_layout_make(&a, host, &l, why, sizeof why), FT_OK);
    assert_int_equal(l.domains.level[1].count, 2);
    for (int s = 0; s < 8; s++)
        assert_int_equal(l.node_of[s], s / 4);
    ft_job_layout_finish(&l);
}

static void what_cannot_be(void **state)
{
    (void)state;
    static const char *const host[] = {"a", "a", "a", "a", "a", "a", "a", "a"};
    static const struct {
        const char *text, *aware, *why;
    } cases[] = {
        {NULL, "rack", "'rack' is no level of failure domains. The levels are: node"},
        {NULL, "node", "no placement is aware of level node"},
        {"level x", "", "m:1: level x has neither"},
        {"level x in y count 2\nlevel y count 2\nprocess per 4", "z",
         "'z' is no level of failure domains. The levels are: x y"},
        {"level x count 2\nprocess per 4", "x",
         "the 2 of them take 4 of 6 ranks and checksum processes. The best level that is "
         "possible is none"},
    };
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        struct ft_job_layout_ask a = ask(cases[i].text, cases[i].aware);
        struct ft_job_layout l = {.nslots = 7};
        if (ft_job_layout_make(&a, host, &l, why, sizeof why) != FT_ERR_ARG ||
            !strstr(why, cases[i].why) || l.nslots != 7)
            fail_msg("case %zu: %s", i, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said),
        cmocka_unit_test(nodes_by_the_names_of_hosts),
        cmocka_unit_test(nodes_by_their_numbers),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
