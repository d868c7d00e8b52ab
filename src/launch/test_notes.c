/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_notes.c - equal reports of several ranks about their memory are printed once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "launch/notes.h"

#define RANKS 50

static struct ft_board *b;
static struct ft_notes *notes;
static char said[64][700];
static int nsaid;

static void say(void *arg, const char *line)
{
    (void)arg;
    assert_true(nsaid < 64);
    snprintf(said[nsaid++], sizeof said[0], "%s", line);
}

static void rank_says(int rank, const char *what)
{
    struct ft_board_slot *s = &b->slot[rank];
    struct ft_note *n = &s->note[s->notes % FT_NOTES];
    if (s->notes < FT_NOTES)
        snprintf(n->what, sizeof n->what, "%s", what);
    s->notes++;
}

static int begin(void **state)
{
    (void)state;
    b = aligned_alloc(_Alignof(struct ft_board), ft_board_bytes(RANKS));
    memset(b, 0, ft_board_bytes(RANKS));
    b->nslots = b->nranks = RANKS;
    for (int i = 0; i < RANKS; i++)
        b->slot[i].who = FT_WHO(FT_ROLE_RANK, i);
    nsaid = 0;
    return ft_notes_create(b, &notes) == FT_OK ? 0 : 1;
}

static int end(void **state)
{
    (void)state;
    ft_notes_destroy(notes);
    free(b);
    return 0;
}

static void one_line_for_all_ranks(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++)
        rank_says(i, "'u' (80 KB, heat.c)");
    rank_says(7, "'v' (8 bytes, heat.c)");
    ft_notes_step(notes, 10, 100, say, NULL);
    assert_int_equal(nsaid, 0); /* others may say the same */
    ft_notes_step(notes, 110, 100, say, NULL);
    assert_int_equal(nsaid, 2);
    assert_non_null(strstr(said[0], "note: ranks 0-49: 'u' (80 KB, heat.c) changes in body"));
    assert_non_null(strstr(said[1], "note: rank 7: 'v'"));
    rank_says(8, "'v' (8 bytes, heat.c)"); /* too late to be counted, and not said again */
    ft_notes_step(notes, 1000, 0, say, NULL);
    assert_int_equal(nsaid, 2);
}

static void the_last_step_says_all(void **state)
{
    (void)state;
    rank_says(0, "'a'");
    rank_says(2, "'a'");
    rank_says(3, "'a'");
    ft_notes_step(notes, 5, 0, say, NULL);
    assert_int_equal(nsaid, 1);
    assert_non_null(strstr(said[0], "note: ranks 0 2-3: 'a'"));
}

/* A thousand names are no thousand lines. */
static void there_is_an_end(void **state)
{
    (void)state;
    char name[40];
    for (int i = 0; i < RANKS; i++)
        for (int k = 0; k < FT_NOTES + 3; k++) {
            snprintf(name, sizeof name, "'x%d_%d'", i, k);
            rank_says(i, name);
        }
    ft_notes_step(notes, 1, 0, say, NULL);
    assert_int_equal(nsaid, FT_NOTES_SAID + 1);
    snprintf(name, sizeof name, "note: %d more notes of this kind",
             RANKS * (FT_NOTES + 3) - FT_NOTES_SAID);
    assert_non_null(strstr(said[FT_NOTES_SAID], name));
    ft_notes_step(notes, 2, 0, say, NULL);
    assert_int_equal(nsaid, FT_NOTES_SAID + 1);
}

static void many_ranks_fit_a_line(void **state)
{
    (void)state;
    struct ft_bitset set = {0};
    char text[80];
    for (int i = 0; i < FT_MAX_SLOTS; i += 2)
        ft_bit_set(&set, i);
    ft_ranks_format(&set, text, sizeof text);
    assert_true(strlen(text) < sizeof text - 1 && strncmp(text, "ranks 0 2 4", 11) == 0 &&
                strcmp(text + strlen(text) - 4, " ...") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_line_for_all_ranks, begin, end),
        cmocka_unit_test_setup_teardown(the_last_step_says_all, begin, end),
        cmocka_unit_test_setup_teardown(there_is_an_end, begin, end),
        cmocka_unit_test(many_ranks_fit_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
