/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_logged.c - two gateways carry accesses of processes p and r of node A to a window of q on
 * node B. The test plays the processes, and delivers what the gateways say to each other when it
 * likes. Each test is an interleaving that breaks a simpler way to log these accesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/homelogs.h"
#include "gate/accesses.h"
#include "rma/far_log.h"
#include "rma/far_ring.h"
#include "rma/rma_internal.h"

enum { P, R, Q, SLOTS };
enum { A, B, NODES };
#define ARENA (4ull << 20)
#define RING (1ull << 20)
#define LOCKS (256ull << 10)
#define WINDOW (512ull << 10)
#define RECORD (768ull << 10) /* of p: a record of its put log */
#define WIN 77
#define BYTES 4096

struct said {
    struct ft_item item;
    char data[FT_FAR_PIECE];
};

static struct world {
    struct ft_board *board[NODES];
    int fd[NODES];
    char *arena[SLOTS];
    struct ft_tp tp;
    struct ft_access *gate[NODES];
    struct said queue[64];
    unsigned said, heard;
    uint64_t submitted[SLOTS];
    int out; /* node A has heard that node B is out */
} w;

static struct ft_ctl *ctl(int slot) { return (struct ft_ctl *)(void *)w.arena[slot]; }
static struct ft_far_ring *ring(int slot) { return (void *)(w.arena[slot] + RING); }
static struct ft_win_locks *locks(void) { return (void *)(w.arena[Q] + LOCKS); }
static uint64_t *window(void) { return (void *)(w.arena[Q] + WINDOW); }
static _Atomic uint64_t *calls_of_q(void) { return &w.board[B]->slot[Q].testament.calls; }
static struct ft_far_entry *entry(int slot, uint64_t n)
{
    return &ring(slot)->entry[n % FT_FAR_ENTRIES];
}

static void *map(struct ft_tp *tp, int slot, uint64_t off, uint64_t len, enum ft_tp_what what)
{
    (void)tp, (void)len, (void)what;
    return off < FT_MIRROR ? w.arena[slot] + off : NULL;
}
static void unmap(struct ft_tp *tp, int slot, uint64_t off, void *p, uint64_t len)
{
    (void)tp, (void)slot, (void)off, (void)p, (void)len;
}
static const struct ft_tp_ops ops = {.name = "test", .map = map, .unmap = unmap};

static void say(void *gate, int far, const struct ft_item *item, const void *data)
{
    (void)gate, (void)far;
    struct said *s = &w.queue[w.said++ % FT_COUNTOF(w.queue)];
    s->item = *item;
    if (item->bytes)
        memcpy(s->data, data, item->bytes);
}
static int never(void *gate, int far)
{
    (void)gate, (void)far;
    return 0;
}
static int is_out(void *gate, int far)
{
    (void)gate;
    return far == Q && w.out;
}

static int setup(void **state)
{
    (void)state;
    memset(&w, 0, sizeof w);
    w.tp = (struct ft_tp){.ops = &ops, .nslots = SLOTS};
    for (int k = 0; k < NODES; k++) {
        if (ft_board_create(SLOTS, 0, 0, 0, &w.board[k], &w.fd[k]) != FT_OK)
            return -1;
        struct ft_access_config cfg = {.board = w.board[k],
                                       .tp = &w.tp,
                                       .arena_bytes = ARENA,
                                       .send = say,
                                       .full = never,
                                       .out = is_out};
        if (!(w.gate[k] = ft_access_open(&cfg)))
            return -1;
    }
    for (int i = 0; i < SLOTS; i++) {
        w.arena[i] = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        atomic_store(&ctl(i)->live, 1);
        atomic_store(&ctl(i)->far_ring, RING);
    }
    ctl(Q)->win[3] = (struct ft_win_entry){.base = WINDOW, .bytes = BYTES, .locks = LOCKS};
    atomic_store(&ctl(Q)->win[3].id, WIN);
    locks()->nshared = SLOTS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int k = 0; k < NODES; k++) {
        ft_access_close(w.gate[k]);
        munmap(w.board[k], ft_board_bytes(SLOTS));
        close(w.fd[k]);
    }
    for (int i = 0; i < SLOTS; i++)
        munmap(w.arena[i], ARENA);
    return 0;
}

/* As main does. Returns its number. */
static uint64_t submit(int slot, struct ft_far_op op, const void *data, uint32_t bytes,
                       uint64_t lo_at)
{
    uint64_t n = w.submitted[slot]++;
    struct ft_far_entry *e = entry(slot, n);
    op.win = WIN;
    e->op = op;
    e->slot = Q;
    e->bytes = bytes;
    e->at = n % 16 * FT_FAR_PIECE;
    e->lo_at = lo_at;
    if (bytes)
        memcpy(ring(slot)->stage + e->at, data, bytes);
    atomic_store(&ring(slot)->submitted, n + 1);
    return n;
}

static void deliver(void)
{
    while (w.heard != w.said) {
        const struct said *s = &w.queue[w.heard++ % FT_COUNTOF(w.queue)];
        if (s->item.kind == FT_ITEM_ACCESS)
            assert_true(ft_access_came(w.gate[B], &s->item, s->data));
        else
            assert_true(ft_access_answered(w.gate[A], &s->item, s->data));
    }
}

static void carry(void)
{
    assert_true(ft_access_take(w.gate[A], P) && ft_access_take(w.gate[A], R));
    deliver();
    ft_access_step(w.gate[B], 0);
    deliver();
}

static int is_done(int slot, uint64_t n) { return atomic_load(&entry(slot, n)->done) == n + 1; }

static uint64_t put(int slot, uint64_t value)
{
    return submit(slot, (struct ft_far_op){.kind = FT_FAR_PUT, .len = 8, .flags = FT_FAR_LOGGED},
                  &value, 8, RECORD);
}
static uint64_t enter(int slot)
{
    return submit(
        slot,
        (struct ft_far_op){.kind = FT_FAR_ENTER, .len = 8, .flags = FT_FAR_LOGGED | FT_FAR_RESULT},
        NULL, 0, 0);
}
static uint64_t commit(int slot, uint64_t value, uint64_t count)
{
    struct {
        struct ft_far_commit c;
        uint64_t value;
    } d = {{.count = count, .rank = (uint32_t)slot}, value};
    return submit(slot, (struct ft_far_op){.kind = FT_FAR_COMMIT, .len = 8}, &d, sizeof d, 0);
}
static uint64_t simple(int slot, int kind)
{
    return submit(slot, (struct ft_far_op){.kind = (uint8_t)kind}, NULL, 0, 0);
}
static uint64_t lo(void)
{
    uint64_t n;
    memcpy(&n, w.arena[P] + RECORD, sizeof n);
    return n;
}

/* [f loads x, tells r, r tells p, p puts x: with a calls(f) that p had read before, the replay of f
 * applies the put before the load.] */
static void lo_is_that_of_the_copy(void **state)
{
    (void)state;
    atomic_store(calls_of_q(), 4);
    uint64_t n = put(P, 11);
    assert_true(ft_access_take(w.gate[A], P));
    atomic_store(calls_of_q(), 5); /* it is on its way */
    assert_int_equal(lo(), 0);
    deliver();
    assert_true(is_done(P, n) && *window() == 11);
    assert_int_equal(lo(), 5);
}

/* One that had to wait: q was not live. */
static void lo_is_that_of_a_late_copy(void **state)
{
    (void)state;
    atomic_store(&ctl(Q)->live, 0);
    atomic_store(calls_of_q(), 4);
    uint64_t n = put(P, 11);
    carry();
    assert_true(!is_done(P, n) && *window() == 0);
    atomic_store(calls_of_q(), 9);
    atomic_store(&ctl(Q)->live, 1);
    carry();
    assert_true(is_done(P, n) && *window() == 11);
    assert_int_equal(lo(), 9);
}

/* calls(q) is read before the copy: here the put overwrites it. */
static void lo_is_read_before_the_copy(void **state)
{
    (void)state;
    uint64_t at = (uint64_t)((char *)(void *)calls_of_q() - w.arena[Q]);
    if ((char *)(void *)calls_of_q() < w.arena[Q])
        skip();
    struct ft_access_config cfg = {.board = w.board[B],
                                   .tp = &w.tp,
                                   .arena_bytes = 1ull << 47,
                                   .send = say,
                                   .full = never,
                                   .out = never};
    ft_access_close(w.gate[B]);
    w.gate[B] = ft_access_open(&cfg);
    ctl(Q)->win[3].base = at;
    atomic_store(calls_of_q(), 6);
    put(P, 1000);
    carry();
    assert_true(atomic_load(calls_of_q()) == 1000 && lo() == 6);
}

/* The agent of p says that it accesses f no more only when all is answered: [f' reads the record,
 * whose lo is still open]. An entry is used again. */
static void unanswered_until_lo_is_there(void **state)
{
    (void)state;
    struct ft_arena own = {.base = w.arena[P], .ctl = ctl(P)};
    assert_false(ft_far_unanswered(&own, 0));
    for (int i = 0; i < 3 * (int)FT_FAR_ENTRIES; i++) {
        put(P, (uint64_t)i);
        assert_true(ft_far_unanswered(&own, 0));
        assert_true(ft_access_take(w.gate[A], P));
        assert_true(ft_far_unanswered(&own, 0));
        deliver();
        assert_false(ft_far_unanswered(&own, 0));
    }
}

/* f was lost alone, and then its node goes out: f' is not to read the record of p's put, which has
 * no lo, and so p does not say that it accesses f no more, before all have gone back. */
static void the_lost_are_unanswered_until_all_go_back(void **state)
{
    (void)state;
    struct ft_arena own = {.base = w.arena[P], .ctl = ctl(P)};
    for (int sent = 0; sent < 2; sent++) {
        w.out = 0;
        if (sent) {
            put(P, 1);
            assert_true(ft_access_take(w.gate[A], P));
        }
        w.out = 1;
        ft_access_out(w.gate[A], Q, Q + 1);
        if (!sent) {
            put(P, 1);
            assert_true(ft_access_take(w.gate[A], P));
        }
        uint64_t n = w.submitted[P] - 1;
        assert_true(is_done(P, n) && entry(P, n)->status == FT_ERR_DEAD);
        assert_true(ft_far_lost(&own) && ft_far_unanswered(&own, 0));
        assert_false(ft_far_unanswered(&own, 1));
        atomic_store(&ring(P)->settled, n + 1); /* main, when it has parked */
        assert_false(ft_far_lost(&own) || ft_far_unanswered(&own, 0));
    }
    simple(P, FT_FAR_READ); /* a replacement that misses it asks to go back itself */
    assert_true(ft_access_take(w.gate[A], P));
    assert_false(ft_far_lost(&own) || ft_far_unanswered(&own, 0));
}

/* [The gateway combines at once, p dies before its note: p' does it again.] Nothing is to be seen
 * before the commit, and others wait. */
static void nothing_is_seen_before_the_commit(void **state)
{
    (void)state;
    *window() = 5;
    atomic_store(calls_of_q(), 3);
    uint64_t e = enter(P), other = enter(R);
    carry();
    assert_true(is_done(P, e) && !is_done(R, other));
    assert_true(entry(P, e)->calls == 3 && entry(P, e)->stamp == 1);
    assert_true(*window() == 5 && atomic_load(&locks()->crit) == P + 1);
    assert_int_equal(atomic_load(&ctl(Q)->peer[P].acc), 0);
    commit(P, 6, 1);
    carry();
    assert_true(*window() == 6 && atomic_load(&ctl(Q)->peer[P].acc) == 1);
    ft_access_step(w.gate[B], 0);
    deliver();
    assert_true(is_done(R, other) && entry(R, other)->stamp == 2);
    uint64_t found;
    memcpy(&found, ring(R)->stage + entry(R, other)->at, 8);
    assert_int_equal(found, 6);
}

/* [p dies between ENTER and its commit: the section is free again, as q's agent repairs it, nothing
 * has changed and nothing counts.] What of p waits is dropped. */
static void dies_between_enter_and_commit(void **state)
{
    (void)state;
    *window() = 5;
    enter(P);
    carry();
    enter(P); /* waits for itself: it is no program's doing */
    carry();
    ft_access_closed(w.gate[B], P);
    struct ft_arena own = {.base = w.arena[Q], .ctl = ctl(Q)};
    ft_rma_repair(&own, P);
    assert_true(atomic_load(&locks()->crit) == 0 && *window() == 5);
    assert_int_equal(atomic_load(&ctl(Q)->peer[P].acc), 0);
    uint64_t e = enter(R);
    carry();
    assert_true(is_done(R, e));
    assert_int_equal(atomic_load(&locks()->crit), R + 1);
}

/* A compare-and-swap that failed leaves the section, changes nothing and counts nothing. */
static void leaves_without_a_change(void **state)
{
    (void)state;
    struct ft_far_commit c = {.rank = P};
    *window() = 5;
    atomic_store(&ctl(Q)->peer[P].acc, 8);
    enter(P);
    carry();
    submit(P, (struct ft_far_op){.kind = FT_FAR_COMMIT}, &c, sizeof c, 0);
    carry();
    assert_true(*window() == 5 && atomic_load(&locks()->crit) == 0);
    assert_int_equal(atomic_load(&ctl(Q)->peer[P].acc), 8);
}

/* What another process puts into a hole of a pair, while the section is held, stays there. */
static void commits_around_a_hole(void **state)
{
    (void)state;
    struct {
        struct ft_far_commit c;
        uint32_t left[2];
    } d = {{.count = 1, .rank = P, .hole = {4, 4, 8}}, {7, 7}};
    uint32_t now[2];
    *window() = 5;
    enter(P);
    carry();
    put(R, UINT64_C(9) << 32 | 5);
    carry();
    submit(P, (struct ft_far_op){.kind = FT_FAR_COMMIT, .len = 8}, &d, sizeof d, 0);
    carry();
    memcpy(now, (const void *)window(), sizeof now);
    assert_true(now[0] == 7 && now[1] == 9);
    d.c.hole.len = 5;
    enter(P);
    carry();
    submit(P, (struct ft_far_op){.kind = FT_FAR_COMMIT, .len = 8}, &d, sizeof d, 0);
    assert_true(ft_access_take(w.gate[A], P));
    const struct said *s = &w.queue[w.heard++ % FT_COUNTOF(w.queue)];
    assert_false(ft_access_came(w.gate[B], &s->item, s->data));
}

/* An epoch's stamp is taken after its puts have landed. */
static void a_stamp_comes_after_the_puts(void **state)
{
    (void)state;
    atomic_store(&ctl(Q)->live, 0); /* they wait */
    put(P, 11);
    uint64_t s = simple(P, FT_FAR_STAMP), of_r = simple(R, FT_FAR_STAMP);
    carry();
    assert_true(!is_done(P, s) && is_done(R, of_r) && entry(R, of_r)->stamp == 1);
    atomic_store(&ctl(Q)->live, 1);
    carry();
    assert_true(is_done(P, s) && entry(P, s)->stamp == 2 && *window() == 11);
}

/* q has ended. What can be applied to its memory is, as a near process does it, and has q's last
 * calls; what cannot is asked of another. */
static void the_ended_answer(void **state)
{
    (void)state;
    atomic_store(calls_of_q(), 31);
    atomic_store(&w.board[B]->slot[Q].ended, 1);
    put(P, 11);
    atomic_store(&locks()->crit, 99); /* of one that has died */
    uint64_t e = enter(P);
    carry();
    assert_true(lo() == 31 && *window() == 11);
    assert_true(is_done(P, e) && entry(P, e)->status == FT_ERR_DEAD);
    uint64_t s = simple(P, FT_FAR_STAMP),
             r = submit(P,
                        (struct ft_far_op){
                            .kind = FT_FAR_READ, .flags = FT_FAR_RESULT, .off = WINDOW, .len = 8},
                        NULL, 0, 0);
    carry();
    assert_true(is_done(P, s) && entry(P, s)->stamp == 1 && entry(P, s)->status == FT_OK);
    uint64_t found;
    memcpy(&found, ring(P)->stage + entry(P, r)->at, 8);
    assert_int_equal(found, 11);
}

/* The home log of a lost process's rank, in the file of its node. What was never written is zero.
 */
static void the_home_log_of_the_lost(void **state)
{
    (void)state;
    char *stage = ring(P)->stage;
    assert_true(ft_arena_homelogs(w.board[B], "memfd"));
    uint64_t off = 2 * FT_HOMELOG_SPAN + 8192, word = 77;
    assert_int_equal(pwrite(w.board[B]->homelogs_fd, &word, 8, (off_t)off), 8);
    atomic_store(&w.board[B]->slot[Q].ended, 1);
    memset(stage, 1, 64);
    uint64_t e =
        submit(P,
               (struct ft_far_op){
                   .kind = FT_FAR_HOME, .flags = FT_FAR_RESULT, .rank = 2, .off = 8184, .len = 24},
               NULL, 0, 0);
    carry();
    assert_true(is_done(P, e) && entry(P, e)->status == FT_OK);
    uint64_t found[3], want[3] = {0, 77, 0};
    memcpy(found, stage + entry(P, e)->at, sizeof found);
    assert_memory_equal(found, want, sizeof found);
    close(w.board[B]->homelogs_fd);
}

/* Nobody has the file. */
static void no_home_log(void **state)
{
    (void)state;
    uint64_t e = submit(
        P, (struct ft_far_op){.kind = FT_FAR_HOME, .flags = FT_FAR_RESULT, .len = 24}, NULL, 0, 0);
    carry();
    assert_true(is_done(P, e) && entry(P, e)->status == FT_ERR_SYS);
}

/* f is granted a lock and dies before its note: f' frees the word, and keeps those that it holds.
 */
static void left_over_words_are_freed(void **state)
{
    (void)state;
    struct ft_far_held none = {WIN, 1, FT_HELD_NONE}, shared = {WIN, 1, FT_HELD_SHARED},
                       excl = {WIN, 1, FT_HELD_EXCL}, unknown = {WIN + 1, 1, FT_HELD_NONE};
    struct {
        const struct ft_far_held *h;
        uint64_t excl, shared;
    } want[] = {{&unknown, 2, 1}, {&excl, 2, 0}, {&shared, 0, 1}, {&none, 0, 0}};
    for (size_t i = 0; i < FT_COUNTOF(want); i++) {
        atomic_store(&locks()->excl, 2);
        atomic_store(&locks()->shared[1], 1);
        atomic_store(&locks()->shared[2], 1); /* another's */
        submit(P, (struct ft_far_op){.kind = FT_FAR_FREE, .len = sizeof none}, want[i].h,
               sizeof none, 0);
        carry();
        assert_int_equal(atomic_load(&locks()->excl), want[i].excl);
        assert_int_equal(atomic_load(&locks()->shared[1]), want[i].shared);
        assert_int_equal(atomic_load(&locks()->shared[2]), 1);
    }
    atomic_store(&locks()->excl, 3); /* r has it by now */
    submit(P, (struct ft_far_op){.kind = FT_FAR_FREE, .len = sizeof none}, &none, sizeof none, 0);
    carry();
    assert_int_equal(atomic_load(&locks()->excl), 3);
}

/* f has unlocked and freed the window, and is lost: f' repeats the release. [It waits for a window
 * that nobody makes, and all that f' asks for after it waits as well.] While q is not live its
 * windows are not there yet: then it waits. */
static void a_release_after_the_window_was_freed(void **state)
{
    (void)state;
    atomic_store(&locks()->excl, 2);
    atomic_store(&ctl(Q)->win[3].id, 0);
    atomic_store(&ctl(Q)->live, 0);
    uint64_t n =
        submit(P, (struct ft_far_op){.kind = FT_FAR_UNLOCK, .how = 1, .rank = 1}, NULL, 0, 0);
    carry();
    assert_false(is_done(P, n));
    atomic_store(&ctl(Q)->win[3].id, WIN);
    atomic_store(&ctl(Q)->live, 1);
    carry();
    assert_true(is_done(P, n) && atomic_load(&locks()->excl) == 0);
    atomic_store(&ctl(Q)->win[3].id, 0);
    n = submit(P, (struct ft_far_op){.kind = FT_FAR_UNLOCK, .how = 1, .rank = 1}, NULL, 0, 0);
    uint64_t s = simple(P, FT_FAR_STAMP);
    carry();
    assert_true(is_done(P, n) && entry(P, n)->status == FT_OK && is_done(P, s));
}

/* A rollback takes a count back, also at one that is not live yet, before what p does next. */
static void counts_are_taken_back(void **state)
{
    (void)state;
    atomic_store(&ctl(Q)->peer[P].acc, 9);
    atomic_store(&ctl(Q)->live, 0);
    submit(P, (struct ft_far_op){.kind = FT_FAR_COUNT, .rank = P, .off = 4}, NULL, 0, 0);
    carry();
    assert_int_equal(atomic_load(&ctl(Q)->peer[P].acc), 4);
}

/* A gateway that cannot map a window stops, and its node is lost: all go back. [It first answers
 * that the place is outside of the window, and healthy processes end with an error.] */
static void cannot_map(int ended)
{
    ctl(Q)->win[3].base = FT_MIRROR;
    atomic_store(&w.board[B]->slot[Q].ended, ended);
    put(P, 11);
    enter(R);
    carry();
    assert_non_null(ft_access_why(w.gate[B]));
    for (unsigned i = 0; i < w.said; i++)
        assert_int_equal(w.queue[i].item.kind, FT_ITEM_ACCESS);
}
static void what_cannot_be_mapped_is_not_answered(void **state)
{
    (void)state;
    cannot_map(0);
}
static void what_cannot_be_mapped_of_the_ended(void **state)
{
    (void)state;
    cannot_map(1);
}

static int refused(struct ft_far_op op, uint32_t bytes)
{
    char data[64] = {0};
    uint64_t rank = SLOTS;
    memcpy(data + 8, &rank, 8); /* of a COMMIT */
    submit(P, op, data, bytes, 0);
    assert_true(ft_access_take(w.gate[A], P));
    const struct said *s = &w.queue[w.heard++ % FT_COUNTOF(w.queue)];
    return !ft_access_came(w.gate[B], &s->item, s->data);
}

static void nonsense(void **state)
{
    (void)state;
    enter(P);
    carry();
    assert_true(
        refused((struct ft_far_op){.kind = FT_FAR_COMMIT, .len = 8}, 24)); /* no such rank */
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_COMMIT, .len = 8}, 8));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_READ, .off = ARENA, .len = 8}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_READ, .off = UINT64_MAX, .len = 8}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_HOME, .rank = -1, .len = 8}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_HOME, .off = UINT64_MAX, .len = 8}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_COUNT, .rank = SLOTS}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_COUNT, .rank = -1}, 0));
    assert_true(refused((struct ft_far_op){.kind = FT_FAR_FREE, .len = 8}, 8));
    assert_true(refused((struct ft_far_op){.kind = 200}, 0));
    put(P, 1);
    entry(P, w.submitted[P] - 1)->lo_at = ARENA;
    assert_true(ft_access_take(w.gate[A], P));
    assert_non_null(ft_access_why(w.gate[A]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lo_is_that_of_the_copy),
        TEST(lo_is_that_of_a_late_copy),
        TEST(lo_is_read_before_the_copy),
        TEST(unanswered_until_lo_is_there),
        TEST(the_lost_are_unanswered_until_all_go_back),
        TEST(nothing_is_seen_before_the_commit),
        TEST(dies_between_enter_and_commit),
        TEST(leaves_without_a_change),
        TEST(commits_around_a_hole),
        TEST(a_stamp_comes_after_the_puts),
        TEST(the_ended_answer),
        TEST(the_home_log_of_the_lost),
        TEST(no_home_log),
        TEST(left_over_words_are_freed),
        TEST(a_release_after_the_window_was_freed),
        TEST(counts_are_taken_back),
        TEST(what_cannot_be_mapped_is_not_answered),
        TEST(what_cannot_be_mapped_of_the_ended),
        TEST(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
