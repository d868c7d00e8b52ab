/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_domains.c - reading failure domains: correct texts are understood, and errors are reported
 * with their line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/domains.h"

static void must_parse(const char *text, struct ft_domains *d)
{
    char err[256] = "";
    if (ft_domains_parse("f", text, strlen(text), d, err, sizeof err) != FT_OK)
        fail_msg("%s", err);
}

static void the_machine_that_is_shipped(void **state)
{
    (void)state;
    static const char *const names[] = {"node", "psu", "switch", "rack"};
    static const int counts[] = {1408, 352, 88, 44}, per[] = {1, 4, 16, 32};
    static const double a[] = {0.30142e-2, 1.1836e-4, 3.9249e-5, 3.2257e-5},
                        b[] = {1.3567, 1.4831, 1.5902, 1.5488};
    char text[4096], err[256];
    FILE *f = fopen(FT_SOURCE_DIR "/docs/examples/tsubame2.domains", "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    struct ft_domains d;
    assert_int_equal(ft_domains_parse("tsubame2", text, n, &d, err, sizeof err), FT_OK);
    assert_int_equal(d.nlevels, 4);
    for (int k = 1; k <= 4; k++) {
        assert_string_equal(d.level[k].name, names[k - 1]);
        assert_int_equal(ft_domains_level(&d, names[k - 1]), k);
        assert_int_equal(d.level[k].count, counts[k - 1]);
        assert_true(d.level[k].fail_a == a[k - 1] && d.level[k].fail_b == b[k - 1]);
        for (int node = 0; node < 1408; node++)
            assert_int_equal(ft_domains_at(&d, node, k), node / per[k - 1]);
    }
    assert_int_equal(ft_domains_level(&d, "room"), 0);
    assert_int_equal(ft_domains_node_of(&d, 4223), 1407);
    assert_int_equal(ft_domains_node_of(&d, 4224), -1);
    assert_string_equal(ft_domains_name(&d, 3, 87, err, sizeof err), "switch87");
    assert_int_equal(ft_domains_find(&d, 3, "switch87"), 87);
    assert_int_equal(ft_domains_find(&d, 3, "switch88"), -1);
    int node[4000];
    ft_domains_spread(&d, 4000, node);
    assert_true(node[0] == 0 && node[3999] == 1407);
    ft_domains_finish(&d);
}

/* Names, ranges, any order of lines and elements, levels explained after their use, comments. */
static void an_irregular_machine(void **state)
{
    (void)state;
    struct ft_domains d;
    char name[FT_DOMAIN_NAME];
    must_parse("# two racks of different sizes\n"
               "process 0-1 7 in n03 # the rest is found by its host's name\n"
               "node n01 in B\nnode n[02-03] n10 in A\n\nnode big in B\n"
               "level node in rack count 5\r\n"
               "rack A B\n\tlevel rack fails 1e-3 2\n"
               "process 3 in big",
               &d);
    static const char *const node[] = {"n02", "n03", "n10", "n01", "big"}; /* rack A first */
    assert_int_equal(d.nlevels, 2);
    assert_int_equal(d.level[1].count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(ft_domains_name(&d, 1, i, name, sizeof name), node[i]);
        assert_int_equal(ft_domains_find(&d, 1, node[i]), i);
        assert_int_equal(ft_domains_at(&d, i, 2), i >= 3);
    }
    assert_string_equal(ft_domains_name(&d, 2, 1, name, sizeof name), "B");
    static const int where[] = {1, 1, -1, 4, -1, -1, -1, 1, -1};
    for (int p = 0; p < 9; p++)
        assert_int_equal(ft_domains_node_of(&d, p), where[p]);
    ft_domains_finish(&d);
    /* Named elements inside of counted ones, and the other way round. */
    must_parse(
        "level node in rack\nlevel rack count 3\nnode a in rack2\nnode b in rack0\nnode c in rack2",
        &d);
    assert_int_equal(ft_domains_at(&d, ft_domains_find(&d, 1, "b"), 2), 0);
    assert_int_equal(ft_domains_find(&d, 1, "b"), 0);
    assert_int_equal(ft_domains_at(&d, ft_domains_find(&d, 1, "c"), 2), 2);
    ft_domains_finish(&d);
    must_parse("level node in rack count 6\nlevel rack\nrack x y\nprocess 2 in node5", &d);
    assert_int_equal(ft_domains_at(&d, 2, 2), 0);
    assert_int_equal(ft_domains_at(&d, 3, 2), 1);
    assert_int_equal(ft_domains_node_of(&d, 2), 5);
    ft_domains_finish(&d);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "f: no level is described"},
        {"level a in b count 2\nlevel b in c count 2\nlevel c in a count 2",
         "f:1: a cycle: level a is inside itself, through b"},
        {"level x count 1\nlevel a in a count 2",
         "f:2: a cycle: level a is inside itself, through a"},
        {"level a in b count 2", "f:1: unknown level 'b'"},
        {"level a count 2\nnode x", "f:2: unknown level 'node'"},
        {"level a count 2\n\nlevel a count 3", "f:3: level a is described in line 1 already"},
        {"level a in c count 2\nlevel b in c count 2\nlevel c count 1",
         "f:2: levels a and b are both in c"},
        {"level a count 2\nlevel b count 2", "f:2: levels a and b are both in no other"},
        {"level a in b count 10\nlevel b count 4",
         "f:1: counts do not add up: 10 of a cannot be shared equally by 4 of b"},
        {"level a in b count 2\nlevel b count 4", "f:1: counts do not add up"},
        {"level a count 2\na x y z",
         "f:1: counts do not add up: level a has count 2, and 3 are named"},
        {"level a in b\nlevel b count 1", "f:1: level a has neither a count nor elements"},
        {"level a count 0", "f:1: count '0': must be a whole number from 1"},
        {"level a count many", "f:1: count 'many'"},
        {"level a count 99999999999", "f:1: count '99999999999'"},
        {"level a count 2 fails 1e-3 0", "f:1: B = 0: must be above 0"},
        {"level a count 2 fails 1e-3 -1.5", "f:1: B = -1.5: must be above 0"},
        {"level a count 2 fails 0 1", "f:1: A = 0: must be above 0"},
        {"level a count 2 fails 1 x", "f:1: B 'x' of 'fails' is not a number"},
        {"level a count 2 fails nan 1", "f:1: A 'nan' of 'fails' is not a number"},
        {"level a count 2 fails 1", "f:1: 'fails' needs two numbers"},
        {"level a cuont 2", "f:1: 'cuont' is not known here"},
        {"level", "f:1: 'level' needs a name"},
        {"level process count 2", "f:1: a level cannot be called 'process'"},
        {"level a in b\nlevel b count 2\na x in b2", "f:3: unknown b 'b2': they are b0 to b1"},
        {"level a in b\nlevel b count 2\na x in b01", "f:3: unknown b 'b01'"},
        {"level a in b\nlevel b\nb B\na x in C", "f:4: unknown b 'C'"},
        {"level a in b\nlevel b\nb B\na x", "f:4: name the b of these elements"},
        {"level b\nb B in C", "f:2: level b is in no other"},
        {"level b\nb B C\nb D B", "f:3: b B is named twice"},
        {"level b\nb x[3-1]", "f:2: 'x[3-1]': write one range in brackets"},
        {"level b\nb x[1-", "f:2: 'x[1-': write one range"},
        {"level a count 2\nprocess 0-3 in a2", "f:2: unknown a 'a2'"},
        {"level a count 2\nprocess 0-3 in a1\nprocess 3 in a0", "f:3: process 3 is placed twice"},
        {"level a count 2\nprocess 3-1 in a1",
         "f:2: processes 3-1: the first number is larger than the last"},
        {"level a count 2\nprocess x in a1", "f:2: process 'x'"},
        {"level a count 2\nprocess 1", "f:2: write: process FIRST"},
        {"level a count 2\nprocess 1 in a1 a2", "f:2: 'a2' comes after the end"},
        {"level a count 2\nprocess per 0", "f:2: process per '0'"},
        {"level a count 2\nprocess 1 in a1\nprocess per 2", "f:3: 'process per' says where all"},
    };
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        struct ft_domains d = {.nlevels = 7};
        char err[256] = "";
        enum ft_status st =
            ft_domains_parse("f", cases[i][0], strlen(cases[i][0]), &d, err, sizeof err);
        if (st != FT_ERR_ARG || strncmp(err, cases[i][1], strlen(cases[i][1])) != 0 ||
            d.nlevels != 7)
            fail_msg("case %zu gives \"%s\", not \"%s\"", i, err, cases[i][1]);
    }
}

/* Any truncation of a text, and any changed byte: it is understood, or refused with a message. */
static void damaged_texts(void **state)
{
    (void)state;
    static const char text[] = "level n in r count 4\nlevel r fails 1e-3 2\nr A B\nn n[1-3] in "
                               "A\nn x in B\nprocess 0-3 in x\n";
    char copy[sizeof text], err[256];
    struct ft_domains d;
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (int c = 0; c < 256; c += at % 7 ? 37 : 5) {
            memcpy(copy, text, sizeof text);
            copy[at] = (char)c;
            size_t len = c == 0 ? at : sizeof text - 1;
            *err = '\0';
            enum ft_status st = ft_domains_parse("f", copy, len, &d, err, sizeof err);
            assert_true(st == FT_OK || (st == FT_ERR_ARG && strncmp(err, "f:", 2) == 0));
            if (st == FT_OK)
                ft_domains_finish(&d);
        }
}

static void hosts_are_nodes(void **state)
{
    (void)state;
    static const char *const host[] = {"a", "a", "b", "a", "c", "b"};
    static const int want[] = {0, 0, 1, 0, 2, 1};
    struct ft_domains d;
    assert_int_equal(ft_domains_discover(host, NULL, 6, &d), FT_OK);
    assert_int_equal(d.nlevels, 1);
    assert_int_equal(d.level[1].count, 3);
    assert_int_equal(ft_domains_find(&d, 1, "c"), 2);
    for (int p = 0; p < 6; p++)
        assert_int_equal(ft_domains_node_of(&d, p), want[p]);
    ft_domains_finish(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_that_is_shipped),
        cmocka_unit_test(an_irregular_machine),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(damaged_texts),
        cmocka_unit_test(hosts_are_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
