/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_survival.c - what is said before a job on several nodes starts.
 */
#define _GNU_SOURCE 1 /* mkstemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launch/survival.h"

static void lines(void **state)
{
    (void)state;
    static const struct {
        struct ft_spread_ask a;
        const char *line; /* NULL: all is survived */
    } cases[] = {
        {{4, 0, 1, 0, 2, 0},
         "the loss of any process or node would end this job: it takes no checkpoints; "
         "'--checksums 4 --spares 8' would survive it"},
        {{4, 1, 1, 1, 3, 0},
         "the loss of any node would end this job: node0 holds 2 members of group 0, whose parity "
         "rebuilds 1; '--checksums 2 --spares 3' would survive it"},
        {{4, 4, 1, 7, 2, 0},
         "the loss of node0 would end this job: it carries 4 ranks and checksum processes, and the "
         "other nodes have 3 spares; '--spares 8' would survive it"},
        {{4, 2, 1, 1, 3, 0},
         "the loss of any node would end this job: node0 carries 2 ranks and checksum processes, "
         "and the other nodes have 0 spares; '--spares 3' would survive it"},
        {{9, 3, 1, 3, 4, 0},
         "the loss of node0, or of 2 others, would end this job: it carries 3 ranks and checksum "
         "processes, and the other nodes have 2 spares; '--spares 4' would survive it"},
        {{5, 2, 2, 2, 2, 0},
         "the loss of any node would end this job: node0 holds 4 members of group 0, whose parity "
         "rebuilds 2; '--parity 1 --checksums 5 --spares 10' would survive it"},
        {{4, 4, 1, 8, 2, 0}, NULL},
        {{2, 1, 1, 2, 3, 0}, NULL},
        {{8, 4, 2, 4, 4, 0}, NULL},
    };
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        char line[600] = "";
        int said = ft_survival_line(&cases[i].a, FT_RUN_UNKNOWN, line, sizeof line);
        assert_int_equal(said, cases[i].line != NULL);
        assert_string_equal(line, said ? cases[i].line : "");
        assert_int_equal(ft_survival_line(&cases[i].a, FT_RUN_NOT, line, sizeof line), 1);
        assert_non_null(strstr(line, "does not call FTRMA_Run"));
    }
}

/* A lost rank needs nothing but a spare. */
static void plain_jobs(void **state)
{
    (void)state;
    struct ft_spread_ask a = {.nranks = 4, .nspares = 3, .nnodes = 2, .plain = 1};
    char line[600];
    assert_int_equal(ft_survival_line(&a, FT_RUN_PLAIN, line, sizeof line), 1);
    assert_string_equal(line, "the loss of node0 would end this job: it carries 2 ranks, and the other "
                              "nodes have 1 spare; '--spares 4' would survive it");
    a.nspares = 4;
    assert_int_equal(ft_survival_line(&a, FT_RUN_PLAIN, line, sizeof line), 0);
    a.plain = 0;
    assert_int_equal(ft_survival_line(&a, FT_RUN_PLAIN, line, sizeof line), 1);
}

/* A job too large to be doubled. */
static void no_options_help(void **state)
{
    (void)state;
    struct ft_spread_ask a = {
        .nranks = 2000, .nchecksums = 250, .parity = 1, .nspares = 1, .nnodes = 2};
    char line[600];
    assert_int_equal(ft_survival_line(&a, FT_RUN_CALLED, line, sizeof line), 1);
    assert_non_null(strstr(line, "; with 2000 ranks on 2 nodes no options change that"));
}

static enum ft_survival_run run_of(const char *data, size_t size)
{
    char path[] = "/tmp/ftrma-survival-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
    enum ft_survival_run run = ft_survival_run(path);
    unlink(path);
    return run;
}

#define HEAD "\177ELF------------------------------------------------------------"
#define RUN(text) run_of(text, sizeof(text))
static void what_programs_call(void **state)
{
    (void)state;
    assert_int_equal(RUN(HEAD "\0MPI_Init\0FTRMA_Run"), FT_RUN_CALLED);
    assert_int_equal(RUN(HEAD "\0ftrma_run_\0mpi_init_"), FT_RUN_CALLED);
    assert_int_equal(RUN(HEAD "\0MPI_Init_thread\0FTRMA_Runs"), FT_RUN_NOT);
    assert_int_equal(RUN(HEAD "\0mpi_init_\0"), FT_RUN_NOT);
    assert_int_equal(RUN(HEAD "\0FTT_Open\0MPI_Init"), FT_RUN_NOT);
    assert_int_equal(RUN(HEAD "\0FTT_Open\0"), FT_RUN_PLAIN);
    assert_int_equal(RUN(HEAD "\0PyMain\0"), FT_RUN_UNKNOWN); /* its calls are in a library */
    assert_int_equal(RUN("#!/bin/sh" HEAD "\0MPI_Init"), FT_RUN_UNKNOWN);
    assert_int_equal(RUN(""), FT_RUN_UNKNOWN);
    assert_int_equal(ft_survival_run("/nowhere/at/all"), FT_RUN_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(plain_jobs),
                                       cmocka_unit_test(no_options_help),
                                       cmocka_unit_test(what_programs_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
