/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_far.c - main asks for accesses to processes of two other nodes, of which one is out. The
 * test plays the gateway of its node: it answers when it is rung.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rma/far_access.h"
#include "rma/far_log.h"
#include "rma/far_ring.h"

enum { P, Q, R, SLOTS }; /* each on its node */
#define ARENA (16ull << 20)
#define BYTES 4096

static const int ranks[SLOTS] = {P, Q, R};

static struct world {
    struct ft_board *board;
    int fd;
    struct ft_arena arena;
    struct ft_tp tp;
    struct ft_winpart part[SLOTS];
    struct ft_win win;
    uint64_t seen, put;     /* entries of the ring; the put to r */
    enum ft_status granted; /* what an ENTER at q is answered */
    void (*access)(void);
    int inside, commits; /* p is in q's section; it has left it so often */
    jmp_buf back;
} w;

static struct ft_far_ring *far_ring(void)
{
    return ft_arena_ptr(&w.arena, atomic_load(&w.arena.ctl->far_ring));
}

static void answer(uint64_t n, enum ft_status st)
{
    struct ft_far_entry *e = &far_ring()->entry[n % FT_FAR_ENTRIES];
    e->status = (int32_t)st;
    atomic_store(&e->done, n + 1);
}

/* p has entered q's section when the gateway hears that r's node is out, and all are to go back. */
static void entered(uint64_t n)
{
    atomic_store(&w.board->nodes.out, 1u << R);
    atomic_store(&far_ring()->lost, w.put + 1);
    answer(w.put, FT_ERR_DEAD);
    w.inside = w.granted == FT_OK;
    answer(n, w.granted);
    atomic_store(&ft_attention, FT_ATT_PARK);
}

static void left(uint64_t n, const struct ft_far_entry *e)
{
    struct ft_far_commit c;
    memcpy(&c, far_ring()->stage + e->at, sizeof c);
    assert_true(w.inside && e->slot == Q && e->op.len == 0 && c.count == 0);
    assert_int_equal(e->bytes, sizeof c);
    w.inside = 0;
    w.commits++;
    answer(n, FT_OK);
}

static void ring(struct ft_tp *tp, int slot)
{
    (void)tp, (void)slot;
    for (; w.seen != atomic_load(&far_ring()->submitted); w.seen++) {
        const struct ft_far_entry *e = &far_ring()->entry[w.seen % FT_FAR_ENTRIES];
        switch (e->op.kind) {
        case FT_FAR_PUT: w.put = w.seen; break;
        case FT_FAR_ENTER: entered(w.seen); break;
        case FT_FAR_COMMIT: left(w.seen, e); break;
        default: fail_msg("access %d", e->op.kind);
        }
    }
}
static const struct ft_tp_ops ops = {.name = "test", .ring = ring};

static void goes_back(void) { longjmp(w.back, 1); }

static int setup(void **state)
{
    static const int end[SLOTS] = {1, 2, 3};
    (void)state;
    if (ft_board_create(SLOTS, 0, 0, 0, &w.board, &w.fd) != FT_OK ||
        ft_arena_create(&w.arena, P, SLOTS, ARENA, "memfd") != FT_OK)
        return -1;
    w.board->near_from = P;
    w.board->near_end = P + 1;
    w.board->nodes.n = SLOTS;
    memcpy(w.board->nodes.end, end, sizeof end);
    w.tp =
        (struct ft_tp){.ops = &ops, .own = &w.arena, .board = w.board, .self = P, .nslots = SLOTS};
    ft_transport = &w.tp;
    ft_rma_outside = 0;
    w.win = (struct ft_win){
        .ctx = {.id = 1, .rank = P, .size = SLOTS, .world = ranks}, .id = 77, .part = w.part};
    for (int t = 0; t < SLOTS; t++) {
        w.part[t] = (struct ft_winpart){.known = 1, .bytes = BYTES, .slot = t};
        ft_far_part(&w.win, &w.part[t]);
    }
    return ft_wait_init(w.arena.ctl, goes_back, 100) == FT_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    ft_transport = NULL;
    ft_arena_destroy(&w.arena);
    munmap(w.board, ft_board_bytes(SLOTS));
    close(w.fd);
    return 0;
}

static void add_u64(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg, (void)count;
    uint64_t a, b;
    memcpy(&a, in, 8);
    memcpy(&b, inout, 8);
    b += a;
    memcpy(inout, &b, 8);
}
static const struct ft_reducer add = {.apply = add_u64, .commutative = 1};

static void look(void)
{
    uint64_t old;
    struct ft_far_told told;
    (void)ft_far_look(&w.win, Q, 0, sizeof old, 1, &old, &told);
}
static void combine(void)
{
    uint64_t one = 1;
    (void)ft_far_accumulate(&w.win, Q, 0, &one, NULL, 1, sizeof one, &add);
}

static void goes_on(void)
{
    uint64_t one = 1;
    assert_int_equal(ft_far_put(&w.win, R, 0, &one, sizeof one), FT_OK);
    w.access();
    fail_msg("it goes on without the put");
}

static void goes_back_from(void (*access)(void), enum ft_status granted)
{
    w.access = access;
    w.granted = granted;
    w.commits = 0;
    atomic_store(&w.board->nodes.out, 0);
    if (setjmp(w.back) == 0)
        goes_on();
    ft_in_wait = 0;
    ft_waiting = NULL;
    atomic_store(&ft_attention, 0);
    assert_true(ft_far_lost(&w.arena));
    ft_rma_settle_far(0); /* it stands there for another reason */
    assert_true(ft_far_lost(&w.arena));
    ft_rma_settle_far(1);
    assert_false(ft_far_lost(&w.arena) || ft_far_unanswered(&w.arena, 0));
    assert_false(w.inside);
    assert_int_equal(w.commits, w.granted == FT_OK);
}

/* [p puts at r, whose node is out, and enters q's section. It hears of the put and waits for the
 * rollback. Others wait for q's section, and the rollback waits for them.] */
static void goes_back_outside_of_the_section(void **state)
{
    (void)state;
    goes_back_from(look, FT_OK);
    goes_back_from(combine, FT_OK);
    goes_back_from(look, FT_ERR_DEAD); /* q's node is out, too: nothing was entered */
    goes_back_from(combine, FT_ERR_DEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goes_back_outside_of_the_section)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
