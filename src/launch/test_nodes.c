/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_nodes.c - the nodes of a job are known by their whole names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/near.h"
#include "launch/nodes.h"
#include "launch/remote.h"
#include "topology/layout.h"

enum { SLOTS = 6 };

/* Hosts with these names: their boards have them, and the processes find two failure domains. */
static void are_kept_apart(const char *one, const char *other)
{
    static struct ft_nodes nodes;
    static struct ft_remote remote;
    const char *const name[] = {one, other}, *host[SLOTS];
    struct ft_job_layout_ask ask = {.nranks = 2,
                                    .nchecksums = 2,
                                    .parity = 1,
                                    .nspares = 2,
                                    .file = "",
                                    .aware = "",
                                    .nnodes = 2};
    struct ft_spread_ask cut = ft_job_layout_spread(&ask);
    struct ft_job_layout l;
    struct ft_board *b;
    char text[600];
    int fd;
    assert_int_equal(ft_board_create(2, 2, 2, (int)getpid(), &b, &fd), FT_OK);
    ft_remote_init(&remote, &(struct ft_remote_config){.nhosts = 2, .host = name});
    assert_true(ft_nodes_make(&nodes, &cut, b, &remote));
    for (int k = 0; k < 2; k++) {
        assert_string_equal(b->nodes.name[k], name[k]);
        assert_string_equal(nodes.node[1 - k].board->nodes.name[k], name[k]);
    }
    for (int i = 0; i < SLOTS; i++)
        host[i] = b->nodes.name[ft_board_node_of(b, i)];
    assert_int_equal(ft_job_layout_make(&ask, host, &l, text, sizeof text), FT_OK);
    assert_int_equal(l.domains.level[1].count, 2);
    for (int i = 0; i < SLOTS; i++)
        assert_int_equal(l.node_of[i], ft_board_node_of(b, i));
    for (int k = 0; k < 2; k++)
        assert_string_equal(ft_domains_name(&l.domains, 1, k, text, sizeof text), name[k]);
    ft_job_layout_finish(&l);
    for (int k = 0; k < 2; k++) {
        munmap(nodes.node[k].board, ft_board_bytes(SLOTS));
        close(nodes.node[k].fd);
    }
    munmap(b, ft_board_bytes(SLOTS));
    close(fd);
}

static void names_that_begin_alike(void **state)
{
    (void)state;
    are_kept_apart("ip-172-31-14-101", "ip-172-31-14-102");
}

static void the_longest_names(void **state)
{
    char one[FT_HOST_NAME], other[FT_HOST_NAME];
    (void)state;
    memset(one, 'a', sizeof one);
    memset(other, 'a', sizeof other);
    one[FT_HOST_NAME - 1] = other[FT_HOST_NAME - 1] = '\0';
    other[FT_HOST_NAME - 2] = 'b';
    are_kept_apart(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_begin_alike),
        cmocka_unit_test(the_longest_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
