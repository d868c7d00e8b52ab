/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_txn.c - single cases of outstanding items, two or three endpoints by hand; the simulator's
 * model txn draws all others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/txn.h"

#define N 3
#define ROOM 4

static struct ft_txn *end[N];
static uint32_t lives[N];
static char told[400];

static void begin(int p, uint32_t generation)
{
    free(end[p]);
    end[p] = malloc(ft_txn_bytes(N, ROOM));
    assert_non_null(end[p]);
    ft_txn_init(end[p], N, ROOM, p, generation, lives);
}

static int setup(void **state)
{
    (void)state;
    memset(lives, 0, sizeof lives);
    told[0] = 0;
    for (int p = 0; p < N; p++)
        begin(p, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int p = 0; p < N; p++) {
        free(end[p]);
        end[p] = NULL;
    }
    return 0;
}

static void note(const char *what, int p, uint64_t body)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s%s %d:%d", n ? ", " : "", what, p, (int)body);
}

/* Takes actions of `from`; at most `frames` of them reach `to`, what is for others is lost. */
static void pass(int from, int to, int frames)
{
    struct ft_txn_action a;
    while (ft_txn_next(end[from], &a)) {
        if (a.kind == FT_TXN_ACKED)
            note("acked", from, a.body);
        else if (a.kind == FT_TXN_GONE)
            note("gone", from, a.body);
        else if (a.peer == to && frames-- > 0 && ft_txn_frame(end[to], from, &a.frame))
            note(a.frame.item == FT_TXN_HEADER ? "header"
                 : a.frame.item == FT_TXN_PUT  ? "put"
                                               : "message",
                 to, a.frame.body);
        ft_txn_check(end[from]);
        ft_txn_check(end[to]);
    }
}

static void both(int p, int q)
{
    for (int i = 0; i < 4; i++) {
        pass(p, q, 99);
        pass(q, p, 99);
    }
}

static uint64_t sends(int p, enum ft_txn_kind kind, int to, uint64_t body)
{
    uint64_t id;
    assert_int_equal(ft_txn_send(end[p], kind, to, body, 1, 0, &id), FT_TXN_OK);
    return id;
}

static void replaced(int p, uint32_t generation)
{
    lives[p]++;
    begin(p, generation);
}

static void adopts(int p, uint32_t generation) { ft_txn_generation(end[p], generation, lives); }

static void said(const char *what)
{
    assert_string_equal(told, what);
    told[0] = 0;
}

static void in_order(void **state)
{
    (void)state;
    sends(0, FT_TXN_MESSAGE, 1, 10);
    uint64_t id = sends(0, FT_TXN_HEADER, 1, 11);
    both(0, 1);
    said("message 1:10, header 1:11, acked 0:10, acked 0:11");
    assert_int_equal(ft_txn_outstanding(end[0]), 1);
    assert_int_equal(ft_txn_send(end[1], FT_TXN_PUT, 0, 12, 1, 0, &id), FT_TXN_OK);
    both(1, 0);
    said("put 0:12, acked 1:12");
    assert_int_equal(ft_txn_outstanding(end[0]), 0);
    assert_int_equal(ft_txn_outstanding(end[1]), 0);
}

/* T2: delivered and not acknowledged goes to the replacement; acknowledged does not. */
static void messages_to_the_lost(void **state)
{
    (void)state;
    sends(0, FT_TXN_MESSAGE, 1, 10);
    both(0, 1);
    sends(0, FT_TXN_MESSAGE, 1, 11);
    pass(0, 1, 99); /* delivered, and its acknowledgement never leaves */
    said("message 1:10, acked 0:10, message 1:11");
    replaced(1, 1);
    adopts(0, 1);
    both(0, 1);
    said("message 1:11, acked 0:11");
}

/* T3, T6: an acknowledged header goes to the replacement, and its delivery is told once. */
static void headers_go_on(void **state)
{
    (void)state;
    uint64_t id = sends(0, FT_TXN_HEADER, 1, 20);
    both(0, 1);
    said("header 1:20, acked 0:20");
    replaced(1, 1);
    adopts(0, 1);
    both(0, 1);
    said("header 1:20");
    assert_int_equal(ft_txn_send(end[1], FT_TXN_PUT, 0, 21, 0, 0, &id), FT_TXN_OK);
    both(1, 0);
    said("put 0:21");
    /* a second answer is not delivered */
    assert_int_equal(ft_txn_send(end[1], FT_TXN_PUT, 0, 22, 1, 0, &id), FT_TXN_OK);
    both(1, 0);
    said("acked 1:22");
    replaced(1, 2);
    adopts(0, 2);
    both(0, 1);
    said("");
}

/* T4: an answer whose asker was replaced, before and after it was given. */
static void answers_to_the_lost(void **state)
{
    (void)state;
    uint64_t id = sends(0, FT_TXN_HEADER, 1, 30);
    both(0, 1);
    said("header 1:30, acked 0:30");
    assert_int_equal(ft_txn_send(end[1], FT_TXN_PUT, 0, 31, 1, 0, &id), FT_TXN_OK);
    replaced(0, 1);
    adopts(1, 1);
    assert_int_equal(ft_txn_send(end[1], FT_TXN_PUT, 0, 32, 1, 0, &id), FT_TXN_REPLACED);
    both(1, 0);
    said("gone 1:31");
    assert_int_equal(ft_txn_outstanding(end[1]), 0);
}

/* T5: 2 is lost, and between 0 and 1 nothing is lost or repeated, whoever adopts first. */
static void others_are_lost(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        sends(0, FT_TXN_MESSAGE, 1, 40);
        sends(0, FT_TXN_MESSAGE, 1, 41);
        pass(0, 1, 1); /* the second is under way when the generation changes, and is dropped */
        said("message 1:40");
        uint32_t g = (uint32_t)first + 1;
        replaced(2, g);
        adopts(first, g);
        both(0, 1);
        said("");
        adopts(!first, g);
        both(0, 1);
        both(1, 0);
        said("acked 0:40, message 1:41, acked 0:41");
    }
}

/* T5: two decisions have the same number, as nobody who adopted the first one lives. The lost peer
 * had said in that generation how far it was: the next carrier has none of this. */
static void resumed_by_the_lost(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        sends(0, FT_TXN_MESSAGE, 1, 10 + i);
    both(0, 1);
    sends(0, FT_TXN_HEADER, 1, 13);
    sends(1, FT_TXN_MESSAGE, 0, 20);
    adopts(1, 1);
    pass(1, 0, 99);
    told[0] = 0;
    replaced(1, 1);
    adopts(0, 1);
    both(0, 1);
    said("header 1:13, acked 0:13");
    sends(1, FT_TXN_MESSAGE, 0, 21);
    both(1, 0);
    said("message 0:21, acked 1:21");
}

static void no_room(void **state)
{
    (void)state;
    uint64_t id;
    for (int i = 0; i < ROOM; i++)
        sends(0, FT_TXN_MESSAGE, 1, 50);
    assert_int_equal(ft_txn_send(end[0], FT_TXN_MESSAGE, 2, 51, 0, 0, &id), FT_TXN_FULL);
    both(0, 1);
    sends(0, FT_TXN_MESSAGE, 2, 52);
    assert_int_equal(ft_txn_outstanding(end[0]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_to_the_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(headers_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(answers_to_the_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(resumed_by_the_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(no_room, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
