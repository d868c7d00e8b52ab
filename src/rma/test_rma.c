/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_rma.c - windows between processes, over every provider: accesses against a model, atomics,
 * locks, and critical sections whose holder dies.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <setjmp.h>

#include "base/failpoint.h"
#include "coll/coll.h"
#include "msg/channels.h"
#include "rma/lock_now.h"
#include "rma/rma_internal.h"
#include "transport/test_job.h"

#define BYTES 49152u /* of a part */
#define PIECE 4096u

static const int world[] = {0, 1, 2};
static struct ft_ctx ctx;

static void enter(int n)
{
    job_meet();
    ft_msg_init(&job.tp, n, job.self, world, 0);
    atomic_store(&job.arena.ctl->live, 1);
    ft_rma_init(&job.tp, n, job.self, world);
    ctx = (struct ft_ctx){.id = 10, .rank = job.self, .size = n, .world = world};
}

/* Where a part lies: in the arena, in static data, or on pages of the heap that it shares with
 * other blocks. */
enum place { ALLOCATED, STATIC, HEAP, PLACES };

static struct ft_win *window(enum place place, size_t bytes, char **base)
{
    static char data[BYTES + 100];
    struct ft_win *w = NULL;
    void *p = NULL;
    ctx.id++;
    if (place == ALLOCATED) {
        CHECK(ft_win_allocate(&ctx, bytes, 8, &p, &w) == FT_OK);
    } else {
        CHECK(bytes <= BYTES);
        char *heap = place == STATIC ? NULL : malloc(bytes + 40);
        p = heap ? heap + 24 : data + 40;
        memset(p, 0, bytes);
        CHECK(ft_win_create(&ctx, p, bytes, 8, &w) == FT_OK);
    }
    CHECK(ft_win_base(w) == p && ft_win_disp_unit(w, 0) == 8);
    *base = p;
    return w;
}

static void add_u64(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)inout)[i] += ((const uint64_t *)in)[i];
}

static const struct ft_reducer add = {.apply = add_u64, .commutative = 1};

static uint64_t word_at(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* --- against a model --- */

/* Each origin has a third of each part for itself, so all accesses there happen in its own
 * order. */
enum { THIRD = BYTES / 3, OPS = 60, PHASES = 5 };

struct access {
    int kind, target;
    size_t off, len; /* off is in the third; in words for all but put and get */
    uint64_t seed;
};

static struct access access_of(struct ft_prng *r, int n)
{
    struct access a = {.kind = (int)ft_prng_below(r, 8),
                       .target = (int)ft_prng_below(r, (uint64_t)n),
                       .seed = ft_prng_next(r)};
    a.len = ft_prng_below(r, ft_prng_below(r, 3) ? 100 : THIRD);
    if (a.kind >= 2)
        a.len = a.kind <= 4 ? ft_align_up(a.len, 8) : 8;
    if (a.len > THIRD)
        a.len = THIRD;
    a.off = ft_prng_below(r, THIRD - a.len + 1);
    if (a.kind >= 2)
        a.off &= ~7ull;
    return a;
}

static void fill(char *p, size_t n, uint64_t seed)
{
    struct ft_prng r = {seed};
    for (size_t i = 0; i < n; i++)
        p[i] = (char)ft_prng_next(&r);
}

/* Does an access on the model; its result goes to `result`. */
static void on_model(const struct access *a, char *third, char *result)
{
    static char in[THIRD];
    char *at = third + a->off;
    fill(in, a->len, a->seed);
    memcpy(result, at, a->len);
    switch (a->kind) {
    case 1:
    case 4: /* get, get_accumulate without operation */ return;
    case 0:
    case 3:
    case 6: /* put, accumulate with replace, swap */ memcpy(at, in, a->len); return;
    case 2:
    case 5: /* accumulate, fetch and add */
        for (size_t i = 0; i < a->len; i += 8) {
            uint64_t v = word_at(at + i) + word_at(in + i);
            memcpy(at + i, &v, 8);
        }
        return;
    default: /* compare and swap: every other one finds the expected value */
        if (a->seed & 1)
            memcpy(at, in, 8);
    }
}

static void for_real(struct ft_win *w, const struct access *a, const char *want)
{
    static char in[THIRD], out[THIRD];
    size_t off = (size_t)job.self * THIRD + a->off, words = a->len / 8;
    uint64_t expected = word_at(want) + !(a->seed & 1);
    int gives = 1;
    enum ft_status st = FT_OK;
    fill(in, a->len, a->seed);
    switch (a->kind) {
    case 0: st = ft_put(w, a->target, off, in, a->len), gives = 0; break;
    case 1: st = ft_get(w, a->target, off, out, a->len); break;
    case 2: st = ft_accumulate(w, a->target, off, in, NULL, words, 8, &add), gives = 0; break;
    case 3: st = ft_accumulate(w, a->target, off, in, out, words, 8, NULL); break;
    case 4: st = ft_accumulate(w, a->target, off, NULL, out, words, 8, NULL); break;
    case 5: st = ft_fetch_word(w, a->target, off, FT_FETCH_ADD, 8, in, NULL, out); break;
    case 6: st = ft_fetch_word(w, a->target, off, FT_FETCH_REPLACE, 8, in, NULL, out); break;
    default: st = ft_compare_and_swap(w, a->target, off, in, &expected, out, 8);
    }
    CHECK(st == FT_OK);
    CHECK(!gives || memcmp(out, want, a->len) == 0);
}

static void against_a_model(void)
{
    static char model[3][BYTES], result[THIRD];
    char *base;
    enter(3);
    for (int place = 0; place < PLACES; place++) {
        struct ft_win *w = window((enum place)place, BYTES, &base);
        struct ft_prng all[3];
        memset(model, 0, sizeof model);
        for (int o = 0; o < 3; o++)
            all[o].s = job.seed * 31 + (uint64_t)(place * 3 + o);
        for (int phase = 0; phase < PHASES; phase++) {
            ft_win_fence(w);
            for (int o = 0; o < 3; o++)
                for (int i = 0; i < OPS; i++) {
                    struct access a = access_of(&all[o], 3);
                    on_model(&a, model[a.target] + o * THIRD, result);
                    if (o == job.self)
                        for_real(w, &a, result);
                }
            ft_win_fence(w);
            CHECK(memcmp(base, model[job.self], BYTES) == 0);
        }
        ft_win_free(w);
    }
    ft_arena_check(&job.arena);
}

/* Returns the i-th own part; 0: there are no more. */
static struct {
    int left;
    void *addr;
    size_t bytes;
} wanted;

static void look_at_region(void *unused, void *addr, size_t bytes, int *unprotected)
{
    (void)unused, (void)unprotected;
    if (wanted.left-- == 0) {
        wanted.addr = addr;
        wanted.bytes = bytes;
    }
}

static int region(int i, void **addr, size_t *bytes)
{
    wanted.left = i;
    ft_rma_regions(look_at_region, NULL);
    *addr = wanted.addr;
    *bytes = wanted.bytes;
    return wanted.left < 0;
}

static void bounds(void)
{
    char *base, buf[64] = {0};
    uint64_t v = 0;
    void *addr;
    size_t bytes;
    enter(2);
    struct ft_win *w = window(ALLOCATED, job.self ? 100 : 0, &base),
                  *x = window(ALLOCATED, 4096, &base);
    CHECK(ft_win_size(w, 0) == 0 && ft_win_size(w, 1) == 100);
    CHECK(ft_put(w, 0, 0, buf, 0) == FT_OK && ft_put(w, 0, 0, buf, 1) == FT_ERR_RANGE);
    CHECK(ft_put(w, 1, 99, buf, 1) == FT_OK && ft_put(w, 1, 99, buf, 2) == FT_ERR_RANGE);
    CHECK(ft_get(w, 1, 101, buf, 0) == FT_ERR_RANGE);
    CHECK(ft_get(w, 1, SIZE_MAX - 1, buf, 4) == FT_ERR_RANGE);
    CHECK(ft_accumulate(w, 1, 96, &v, NULL, 1, 8, &add) == FT_ERR_RANGE);
    CHECK(ft_fetch_word(w, 1, 93, FT_FETCH_ADD, 8, &v, NULL, &v) == FT_ERR_RANGE);
    CHECK(region(0, &addr, &bytes) && bytes == (job.self ? 100 : 0));
    CHECK(region(1, &addr, &bytes) && bytes == 4096 && addr == base && !region(2, &addr, &bytes));
    ft_win_free(w);
    CHECK(region(0, &addr, &bytes) && addr == base && !region(1, &addr, &bytes));
    ft_win_free(x);
    ctx.id++; /* one member lacks the memory: nobody gets a window */
    CHECK(ft_win_allocate(&ctx, job.self ? 8ull << 30 : 64, 1, &addr, &w) == FT_ERR_NOMEM);
    CHECK(!region(0, &addr, &bytes));
}

static enum ft_status no_get(struct ft_tp *tp, int slot, uint64_t off, void *dst, uint64_t len)
{
    (void)tp, (void)slot, (void)off, (void)dst, (void)len;
    return FT_ERR_NOMEM;
}

static enum ft_status no_put(struct ft_tp *tp, int slot, uint64_t off, const void *src,
                             uint64_t len)
{
    (void)tp, (void)slot, (void)off, (void)src, (void)len;
    return FT_ERR_NOMEM;
}

/* Memory that cannot be mapped or reached otherwise: the access fails, and nothing was done, here
 * or there. */
static void out_of_reach(void)
{
    const struct ft_tp_ops *ops = job.tp.ops;
    struct ft_tp_ops broken = *ops;
    char *base;
    enter(2);
    struct ft_win *w = window(ALLOCATED, 4096, &base);
    memset(base, 7, 4096);
    ft_barrier(&ctx);
    if (job.self == 0) {
        struct ft_winpart *p = ft_winpart_lookup(w, 1);
        char *was = p->base;
        uint64_t v = 1, old = 99, acc = ft_acc(1);
        broken.get = no_get;
        p->base = NULL;
        job.tp.ops = &broken;
        for (int k = 0; k < 2; k++, broken.get = ops->get, broken.put = no_put) {
            if (k == 0)
                CHECK(ft_get(w, 1, 0, &old, 8) == FT_ERR_NOMEM &&
                      ft_fetch_word(w, 1, 8, FT_FETCH_NOOP, 8, NULL, NULL, &old) == FT_ERR_NOMEM);
            CHECK(ft_fetch_word(w, 1, 8, FT_FETCH_ADD, 8, &v, NULL, &old) == FT_ERR_NOMEM &&
                  old == 99);
            CHECK(ft_accumulate(w, 1, 16, &v, NULL, 1, 8, &add) == FT_ERR_NOMEM);
        }
        CHECK(ft_put(w, 1, 0, &v, 8) == FT_ERR_NOMEM && ft_acc(1) == acc);
        CHECK(atomic_load(&p->locks->crit) == 0 && atomic_load(&p->locks->undo_len) == 0);
        job.tp.ops = ops;
        p->base = was;
        CHECK(ft_get(w, 1, 8, &old, 8) == FT_OK && old == UINT64_C(0x0707070707070707));
    }
    ft_win_free(w);
}

static sigjmp_buf left;
static void leave_the_wait(void)
{
    atomic_store(&ft_attention, 0);
    siglongjmp(left, 1);
}

/* A rollback leaves the making of a window by longjmp while this process waits for what the others
 * say about it. */
static void make_and_leave(int how)
{
    static char data[100];
    struct ft_win *w = NULL;
    void *p = NULL;
    ctx.id++;
    if (!sigsetjmp(left, 0)) {
        atomic_store(&ft_attention, FT_ATT_PARK);
        if (how == 0)
            ft_win_allocate(&ctx, 5000, 8, &p, &w);
        else if (how == 1)
            ft_win_allocate_shared(&ctx, 5000, 8, 0, &p, &w);
        else if (how == 2)
            ft_win_create(&ctx, data, sizeof data, 8, &w);
        else
            ft_win_allocate(&ctx, 8ull << 30, 8, &p,
                            &w); /* it lacks the memory, and waits to report it */
        CHECK(0);
    }
    ft_rma_drop_body_windows();
    ft_msg_begin_era(FT_ERA_FIRST + ctx.id, FT_KEEP_NONE, 0, NULL, 0);
    CHECK(!ft_windows);
}

static void left_in_the_making(void)
{
    enter(2);
    if (job.self == 0) {
        CHECK(ft_wait_init(job.arena.ctl, leave_the_wait, 100) == FT_OK);
        ft_rma_outside = 0; /* in body */
        for (int how = 0; how < 4; how++) {
            for (int i = 0; i < 10; i++) /* channels and the like, and what malloc keeps */
                make_and_leave(how);
            uint64_t arena = job.arena.in_use;
            size_t heap = mallinfo2().uordblks;
            for (int i = 0; i < 3; i++)
                make_and_leave(how);
            CHECK(job.arena.in_use == arena && mallinfo2().uordblks == heap);
        }
    }
    job_meet();
}

/* --- atomics and locks --- */

enum { TURNS = 2000, WIDE = 1500 };

static void atomics(void)
{
    static uint64_t ones[WIDE], before[WIDE];
    char *base;
    enter(3);
    struct ft_win *w = window(STATIC, 16 * 8 + WIDE * 8, &base);
    uint64_t one = 1, old, last = 0;
    for (int i = 0; i < WIDE; i++)
        ones[i] = 1;
    for (int i = 0; i < TURNS; i++) {
        CHECK(ft_fetch_word(w, 0, 0, FT_FETCH_ADD, 8, &one, NULL, &old) == FT_OK);
        CHECK(i == 0 || old > last); /* nobody else had it */
        last = old;
        uint64_t cur, seen = 0; /* the same by compare and swap */
        do {
            cur = seen;
            uint64_t next = cur + 1;
            CHECK(ft_compare_and_swap(w, 0, 8, &next, &cur, &seen, 8) == FT_OK);
        } while (seen != cur);
        if (i % 40 == 0)
            CHECK(ft_accumulate(w, 0, 128, ones, before, WIDE, 8, &add) == FT_OK);
        if (i % 64 == 0) {
            uint32_t two = 2, was;
            CHECK(ft_fetch_word(w, 0, 20, FT_FETCH_ADD, 4, &two, NULL, &was) == FT_OK &&
                  was % 2 == 0);
        }
    }
    ft_win_fence(w);
    if (job.self == 0) {
        CHECK(word_at(base) == 3 * TURNS && word_at(base + 8) == 3 * TURNS);
        for (int i = 0; i < WIDE; i++)
            CHECK(word_at(base + 128 + i * 8) == 3 * TURNS / 40);
    }
    ft_win_free(w);
}

/* A writer holds the lock exclusively and changes two words together; readers share the lock and
 * look at both. */
static void locks(void)
{
    char *base;
    enter(3);
    struct ft_win *w = window(ALLOCATED, 64, &base);
    struct ft_prng r = {job.seed + (uint64_t)job.self};
    uint64_t pair[2], writes = 0, all;
    for (int i = 0; i < TURNS; i++) {
        int exclusive = ft_prng_below(&r, 2) == 0, target = (int)ft_prng_below(&r, 2);
        ft_win_lock(w, target, exclusive);
        CHECK(ft_rma_exclusive_held == exclusive);
        CHECK(ft_get(w, target, 0, pair, 16) == FT_OK && pair[0] == pair[1]);
        if (exclusive) {
            pair[0]++;
            CHECK(ft_put(w, target, 0, &pair[0], 8) == FT_OK);
            ft_win_flush(w, target);
            CHECK(ft_put(w, target, 8, &pair[0], 8) == FT_OK);
            writes++;
        }
        ft_win_unlock(w, target);
    }
    ft_win_lock_all(w);
    CHECK(ft_fetch_word(w, 2, 0, FT_FETCH_ADD, 8, &writes, NULL, &all) == FT_OK);
    ft_win_flush_all(w);
    ft_win_unlock_all(w);
    ft_win_fence(w);
    uint64_t a, b;
    CHECK(ft_get(w, 0, 0, &a, 8) == FT_OK && ft_get(w, 1, 0, &b, 8) == FT_OK &&
          ft_get(w, 2, 0, &all, 8) == FT_OK);
    CHECK(a + b == all && all > TURNS / 2);
    ft_win_fence(w);
    ft_win_free(w);
}

/* --- holders that die --- */

/* A window's locks are looked at in words: every rank counts, and what follows them does not. */
static void shared_words(void **state)
{
    (void)state;
    struct ft_win_locks *l = calloc(1, ft_locks_bytes(20));
    assert_non_null(l);
    for (int ranks = 1; ranks <= 20; ranks++) {
        l->nshared = (uint32_t)ranks;
        for (int r = 0; r < ranks; r++) {
            ft_held_by_owner(l)[r] = FT_HELD_EXCL;
            assert_true(ft_nobody_shares(l, ranks));
            l->shared[r] = 1;
            assert_false(ft_nobody_shares(l, ranks));
            l->shared[r] = 0;
            ft_held_by_owner(l)[r] = 0;
        }
    }
    free(l);
}

enum { BEGUN = 30, RELEASED }; /* words of job.sh */
/* A process that waits long for a lock sets its claim, and then gets the lock. A claim that a dead
 * process left blocks nobody. A rank that holds the lock already, because its lost carrier took it,
 * does not wait for one that waits for its release. */
static void claimant(void)
{
    char *base;
    enter(2);
    struct ft_win *w = window(ALLOCATED, 64, &base);
    struct ft_win_locks *l = ft_winpart_lookup(w, 0)->locks;
    uint64_t me = (uint64_t)job.self + 1;
    ft_win_fence(w);
    if (job.self == 1) {
        ft_win_lock(w, 0, 1);
        ft_win_fence(w);
        while (atomic_load(&l->claimant) != 1)
            sched_yield();
        ft_win_unlock(w, 0);
    } else {
        ft_win_fence(w);
        ft_win_lock(w, 0, 0);
        CHECK(atomic_load(&l->claimant) == 0);
        ft_win_unlock(w, 0);
    }
    ft_win_fence(w);
    if (job.self == 0) {
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            atomic_store(&l->claimant, 99);
            ft_win_lock(w, 0, exclusive);
            CHECK(atomic_load(&l->claimant) == 0);
            ft_win_unlock(w, 0);
            atomic_store(&l->claimant, 2);
            atomic_store(&l->excl, me);
            ft_win_lock(w, 0, exclusive);
            CHECK(atomic_load(&l->claimant) == 2);
            ft_win_unlock(w, 0);
            atomic_store(&l->claimant, 0);
            atomic_store(&l->excl, 0);
        }
    }
    ft_win_fence(w);
    ft_win_free(w);
}

/* A word for a shared lock may be left over from an attempt that a loss interrupted, or from a lost
 * carrier that did not come to note the lock. It keeps nobody out: neither while its rank asks
 * again and the others wait for the word, nor if its rank does not ask. */
static void left_over(void)
{
    char *base;
    enter(2);
    struct ft_win *w = window(ALLOCATED, 64, &base);
    struct ft_win_locks *l = ft_winpart_lookup(w, 0)->locks;
    if (job.self == 1)
        atomic_store(&l->shared[1], 1);
    ft_win_fence(w);
    if (job.self == 0) {
        ft_win_lock(w, 0, 1);
    } else {
        while (atomic_load(&l->excl) == 0)
            sched_yield();
        ft_win_lock(w, 0, 0);
    }
    ft_win_unlock(w, 0);
    ft_win_fence(w);
    if (job.self == 1) {
        atomic_store(&l->shared[1], 1);
        atomic_store(&l->excl, 2);
        ft_rma_replay_live();
        CHECK(atomic_load(&l->shared[1]) == 0 && atomic_load(&l->excl) == 0);
        for (int exclusive = 0; exclusive < 2; exclusive++) { /* what it has, it keeps */
            ft_win_lock(w, 0, exclusive);
            ft_rma_replay_live();
            CHECK(exclusive ? atomic_load(&l->excl) == 2 : atomic_load(&l->shared[1]) == 1);
            ft_win_unlock(w, 0);
        }
    }
    ft_win_fence(w);
    ft_win_free(w);
}

/* Each second word is in a hole. */
static void apply_to_pairs(void *arg, const void *in, void *inout, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add.apply(arg, (const uint64_t *)in + 2 * i, (uint64_t *)inout + 2 * i, 1);
}
static const struct ft_reducer add_pairs = {.apply = apply_to_pairs, .hole = {8, 8, 16}};

static enum place place;
enum { PAIRS = 4 };
static int operation; /* of the victim */
static char point_spec[64];
static int changes;   /* the victim lived long enough for its change to count */
static int at_random; /* the parent kills it, at any instruction */
/* What it does is recorded; otherwise a word that one instruction writes is not put back. */
static int logging;
static int told = 1; /* 0: without logs all would go back, and long pieces are not undone */

static void die_inside(struct ft_win *w)
{
    static uint64_t many[PIECE / 8];
    uint64_t five = 5, zero = 0, old;
    for (size_t i = 0; i < FT_COUNTOF(many); i++)
        many[i] = 5;
    do {
        switch (operation) {
        case 0: ft_accumulate(w, 0, 0, many, NULL, PIECE / 8, 8, &add); break;
        case 1: ft_accumulate(w, 0, 0, many, NULL, 1, 8, &add); break;
        case 2: ft_fetch_word(w, 0, 0, FT_FETCH_ADD, 8, &five, NULL, &old); break;
        case PAIRS: ft_accumulate(w, 0, 0, many, NULL, PIECE / 16, 16, &add_pairs); break;
        default: ft_compare_and_swap(w, 0, 0, &five, &zero, &old, 8);
        }
        atomic_fetch_add(&job.sh->word[BEGUN], 1);
    } while (at_random);
    CHECK(!"it is still alive");
}

static void holder_dies(void)
{
    char *base;
    struct ft_board_slot *victim = &job.board->slot[1];
    const uint64_t hole = 9;
    enter(3);
    struct ft_win *w = window(place, BYTES, &base);
    ft_win_fence(w);
    if (job.self == 1) {
        ft_putlog_init(&job.tp, 3, 1);
        ft_putlog_segment(FT_SEG_RUN, logging);
        ft_told = told;
        CHECK(at_random || ft_fp_arm(point_spec, FT_ROLE_RANK, 1, 0) == FT_OK);
        die_inside(w);
    }
    while (ft_proc_start_time(atomic_load(&victim->pid)) == atomic_load(&victim->start_time))
        sched_yield();
    if (job.self == 0) {
        /* Others have put there meanwhile, and it stays. */
        for (uint64_t i = 1; i < PIECE / 8 && operation == PAIRS; i += 2)
            memcpy(base + i * 8, &hole, 8);
        ft_rma_repair(&job.arena, 0); /* a process that is not inside is not evicted */
        ft_rma_repair(&job.arena, 1);
        uint64_t n = operation == 0 ? PIECE / 8 : 1, v = word_at(base);
        CHECK(at_random ? v % 5 == 0 : v == (changes ? 5 : 0));
        for (uint64_t i = 0; i < n; i++)
            CHECK(logging || told ? word_at(base + i * 8) == v
                                  : word_at(base + i * 8) == v || word_at(base + i * 8) + 5 == v);
        for (uint64_t i = 0; i < PIECE / 8 && operation == PAIRS; i++)
            CHECK(word_at(base + i * 8) == (i % 2 ? hole : v));
        CHECK(word_at(base + (operation == PAIRS ? PIECE : n * 8)) == 0);
        atomic_store(&job.sh->word[RELEASED], 1);
        job_await(RELEASED, 2);
        CHECK(word_at(base) == v && word_at(base + 2 * PIECE) == 7);
    } else {
        uint64_t seven = 7, old; /* waits inside until the owner has repaired, if necessary */
        CHECK(ft_fetch_word(w, 0, 2 * PIECE, FT_FETCH_ADD, 8, &seven, NULL, &old) == FT_OK &&
              old == 0);
        job_await(RELEASED, 1);
        atomic_store(&job.sh->word[RELEASED], 2);
    }
}

static void kill_a_holder(void)
{
    job_begin(3, 3);
    for (int i = 0; i < 3; i++)
        job_spawn(i, holder_dies);
    if (at_random) {
        struct ft_prng r = {job.seed};
        job_await(BEGUN, 1 + ft_prng_below(&r, 50));
        for (uint64_t n = ft_prng_below(&r, 2000); n > 0; n--)
            ft_cpu_relax();
        kill(job.pid[1], SIGKILL);
    }
    assert_int_equal(job_status(1), SIGKILL);
    job_join();
}

static void dead_holders_are_put_out(void **state)
{
    static const char *const points[] = {"rma.atomic.locked", "rma.atomic.applied",
                                         "rma.atomic.done"};
    job.provider = *state;
    at_random = 0;
    for (size_t p = 0; p < FT_COUNTOF(points); p++)
        for (operation = 0; operation <= PAIRS; operation++)
            for (int i = 0; i < 2 * PLACES; i++) {
                place = (enum place)(i / 2);
                logging = i % 2;
                changes = p == 2 || (p == 1 && (operation == 2 || operation == 3) && !logging &&
                                     strcmp(job.provider, "shm") == 0);
                snprintf(point_spec, sizeof point_spec, "rank=1,point=%s", points[p]);
                kill_a_holder();
            }
}

/* Half of the new value was stored; no process ever sees an atomic of the fault provider in this
 * state. */
static void dead_in_the_middle_of_a_store(void **state)
{
    (void)state;
    job.provider = "fault";
    at_random = changes = logging = 0;
    for (operation = 0; operation <= PAIRS; operation++) {
        place = ALLOCATED;
        snprintf(point_spec, sizeof point_spec, "rank=1,point=transport.put");
        kill_a_holder();
    }
}

static void dead_at_any_instruction(void **state)
{
    job.provider = *state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 30;
    at_random = 1;
    operation = 0;
    for (job.seed = first; job.seed <= last; job.seed++) {
        place = (enum place)(job.seed % PLACES);
        logging = job.seed / PLACES % 2;
        told = job.seed / PLACES / 2 % 2;
        kill_a_holder();
    }
    told = 1;
}

/* --- */

static void run(void (*body)(void), int n, const char *provider)
{
    job_seed(1);
    job.provider = provider;
    job_begin(n, n);
    for (int i = 0; i < n; i++)
        job_spawn(i, body);
    job_join();
}

#define JOB(n, body) \
    static void test_##body(void **state) { run(body, n, *state); }
JOB(3, against_a_model)
JOB(2, bounds)
JOB(2, out_of_reach)
JOB(2, left_in_the_making)
JOB(3, atomics)
JOB(3, locks)
JOB(2, claimant)
JOB(2, left_over)

static char shm[] = "shm", fault[] = "fault";
#define OVER(provider)                                                                \
    {"against_a_model", test_against_a_model, NULL, NULL, provider},                  \
        {"bounds", test_bounds, NULL, NULL, provider},                                \
        {"out_of_reach", test_out_of_reach, NULL, NULL, provider},                    \
        {"left_in_the_making", test_left_in_the_making, NULL, NULL, provider},        \
        {"atomics", test_atomics, NULL, NULL, provider},                              \
        {"locks", test_locks, NULL, NULL, provider},                                  \
        {"claimant", test_claimant, NULL, NULL, provider},                            \
        {"left_over", test_left_over, NULL, NULL, provider},                          \
        {"dead_holders_are_put_out", dead_holders_are_put_out, NULL, NULL, provider}, \
    {                                                                                 \
        "dead_at_any_instruction", dead_at_any_instruction, NULL, NULL, provider      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {OVER(shm), OVER(fault),
                                       cmocka_unit_test(dead_in_the_middle_of_a_store),
                                       cmocka_unit_test(shared_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
