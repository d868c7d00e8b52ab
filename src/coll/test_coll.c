/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_coll.c - compares every collective with a naive serial reference: groups of 1 to 10 ranks,
 * messages buffered or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/engine.h"
#include "base/failpoint.h"
#include "base/prng.h"
#include "coll/mock_msg.h"

#define MAX_SIZE 10
#define GAP 5 /* bytes around each block of the vector forms that must not be touched */

static uint64_t seed;
static atomic_int failures;

/* For rank threads, where cmocka's assertions must not be used. */
static void check(int ok, const struct ft_ctx *c, const char *what, size_t number)
{
    if (!ok && atomic_fetch_add(&failures, 1) < 10)
        fprintf(stderr, "FTRMA_TEST_SEED=%llu: size %d, rank %d: %s (%zu)\n",
                (unsigned long long)seed, c->size, c->rank, what, number);
}

/* ---- running ranks ---- */

typedef void rank_fn(const struct ft_ctx *c, void *arg);

struct rank {
    pthread_t thread;
    struct ft_ctx ctx;
    rank_fn *fn;
    void *arg;
};

static void *rank_main(void *v)
{
    struct rank *r = v;
    ptrdiff_t engine = ft_engine_new(); /* its scratch */
    ft_engine_enter(engine);
    mock_me = r->ctx.world[r->ctx.rank];
    if (setjmp(mock_left) == 0)
        r->fn(&r->ctx, r->arg);
    for (int i = 0; i < 4; i++)
        check(ft_coll_scratch(i, 0) == NULL, &r->ctx, "scratch of 0 bytes", (size_t)i);
    ft_engine_free(engine);
    return NULL;
}

static void run(int size, size_t eager, rank_fn *fn, void *arg)
{
    struct rank ranks[MAX_SIZE];
    int world[MAX_SIZE];
    mock_reset(eager);
    for (int i = 0; i < size; i++)
        world[i] = (i * 7 + 3) % MOCK_WORLD; /* neither ascending nor from 0 */
    for (int i = 0; i < size; i++) {
        ranks[i] = (struct rank){
            .ctx = {.id = 5, .rank = i, .size = size, .world = world}, .fn = fn, .arg = arg};
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]), 0);
    }
    for (int i = 0; i < size; i++)
        pthread_join(ranks[i].thread, NULL);
    assert_int_equal(mock_reset(eager), 0);
    assert_int_equal(mock.bad_envelopes, 0);
    assert_int_equal(failures, 0);
}

static void *must(size_t bytes)
{
    void *p = malloc(bytes + 1);
    if (!p)
        abort();
    return p;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *p = must(bytes);
    memcpy(p, from, bytes);
    return p;
}

/* ---- operations ---- */

struct kind {
    const char *name;
    size_t esize;
    struct ft_reducer op;
};

static void sum_u64(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)inout)[i] += ((const uint64_t *)in)[i];
}

static void sum_f64(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((double *)inout)[i] = ((const double *)in)[i] + ((double *)inout)[i];
}

/* 2x2 matrices: associative, not commutative. */
static void mul_mat(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    const uint32_t *l = in;
    uint32_t *r = inout;
    for (size_t i = 0; i < count; i++, l += 4, r += 4) {
        uint32_t p[4] = {l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],
                         l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3]};
        memcpy(r, p, sizeof p);
    }
}

static size_t odd_esize = 3, wide_esize = 6000;

static void xor_bytes(void *arg, const void *in, void *inout, size_t count)
{
    for (size_t i = 0; i < count * *(size_t *)arg; i++)
        ((unsigned char *)inout)[i] ^= ((const unsigned char *)in)[i];
}

static const struct kind kinds[] = {
    {"sum of integers", 8, {.apply = sum_u64, .commutative = 1}},
    {"sum of doubles", 8, {.apply = sum_f64, .commutative = 1}},
    {"matrix product", 16, {.apply = mul_mat, .commutative = 0}},
    {"xor of odd elements", 3, {.apply = xor_bytes, .arg = &odd_esize, .commutative = 1}},
    {"xor of wide elements", 6000, {.apply = xor_bytes, .arg = &wide_esize, .commutative = 1}},
};

static void fill(const struct kind *k, struct ft_prng *rng, void *buf, size_t count)
{
    for (size_t at = 0, left = count * k->esize; left > 0;) {
        uint64_t r = ft_prng_next(rng);
        size_t n = ft_min_u64(left, sizeof r);
        memcpy((char *)buf + at, &r, n);
        at += n;
        left -= n;
    }
    for (size_t i = 0; k->op.apply == sum_f64 && i < count;
         i++) { /* the magnitudes differ so much that another order shows */
        double v = (double)ft_prng_below(rng, 2000001) - 1e6;
        ((double *)buf)[i] = v * (ft_prng_next(rng) % 2 ? 1e9 : 1.1);
    }
}

/* ---- reductions ---- */

struct reduction {
    const struct kind *k;
    int size;
    size_t count, bytes;
    char *in[MAX_SIZE];
    char *all;            /* reduction over all */
    char *scan[MAX_SIZE]; /* over ranks 0..i */
    char *ex[MAX_SIZE];   /* over ranks 0..i-1; [0] is not defined */
    size_t counts[MAX_SIZE];
};

/* left op right into a new buffer */
static char *combined(const struct reduction *t, char *left, char *right, int release)
{
    char *r = copy_of(right, t->bytes);
    t->k->op.apply(t->k->op.arg, left, r, t->count);
    if (release) {
        free(left);
        free(right);
    }
    return r;
}

/* The documented tree: n operands, halved down to the leaves; leaves below `folded` are pairs. */
static char *ref_tree(const struct reduction *t, int leaf, int leaves, int folded)
{
    if (leaves > 1)
        return combined(t, ref_tree(t, leaf, leaves / 2, folded),
                        ref_tree(t, leaf + leaves / 2, leaves / 2, folded), 1);
    if (leaf < folded)
        return combined(t, t->in[2 * leaf], t->in[2 * leaf + 1], 0);
    return copy_of(t->in[leaf + folded], t->bytes);
}

/* ranks first..first+n-1, n a power of two */
static char *ref_block(const struct reduction *t, int first, int n)
{
    if (n == 1)
        return copy_of(t->in[first], t->bytes);
    return combined(t, ref_block(t, first, n / 2), ref_block(t, first + n / 2, n / 2), 1);
}

static void ref_scans(struct reduction *t, int rank)
{
    char *s = copy_of(t->in[rank], t->bytes), *e = NULL;
    /* from left to right: the ranks before this one have their results */
    if (t->size <= 4 && rank > 0) {
        t->ex[rank] = copy_of(t->scan[rank - 1], t->bytes);
        t->scan[rank] = combined(t, t->ex[rank], s, 0);
        free(s);
        return;
    }
    for (int d = 1; d <= rank; d *= 2) {
        if (!(rank & d))
            continue;
        char *b = ref_block(t, rank / (2 * d) * 2 * d, d);
        char *s2 = combined(t, b, s, 0), *e2 = e ? combined(t, b, e, 0) : copy_of(b, t->bytes);
        free(s);
        free(e);
        free(b);
        s = s2;
        e = e2;
    }
    t->scan[rank] = s;
    t->ex[rank] = e;
}

/* Checks the references themselves: if the operation is associative, any bracketing of the right
 * order gives the right result. */
static void check_references(struct reduction *t)
{
    char *acc = copy_of(t->in[0], t->bytes);
    for (int i = 0; i < t->size; i++) {
        if (i > 0) {
            assert_memory_equal(t->ex[i], acc, t->bytes);
            char *next = combined(t, acc, t->in[i], 0);
            free(acc);
            acc = next;
        }
        assert_memory_equal(t->scan[i], acc, t->bytes);
    }
    assert_memory_equal(t->all, acc, t->bytes);
    free(acc);
}

static void reduction_init(struct reduction *t, const struct kind *k, int size, size_t count,
                           struct ft_prng *rng)
{
    *t = (struct reduction){.k = k, .size = size, .count = count, .bytes = count * k->esize};
    int leaves = size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
    for (int i = 0; i < size; i++)
        fill(k, rng, t->in[i] = must(t->bytes), count);
    for (int i = 0; i < size; i++)
        ref_scans(t, i);
    t->all = ref_tree(t, 0, leaves, size - leaves);
    if (k->op.apply != sum_f64 && t->bytes > 0)
        check_references(t);
    size_t left = count;
    for (int i = 0; i < size; i++) {
        t->counts[i] = i == size - 1           ? left
                       : ft_prng_next(rng) % 3 ? ft_prng_below(rng, left + 1)
                                               : 0;
        left -= t->counts[i];
    }
}

static void reduction_finish(struct reduction *t)
{
    for (int i = 0; i < t->size; i++) {
        free(t->in[i]);
        free(t->scan[i]);
        free(t->ex[i]);
    }
    free(t->all);
}

static void compare(const struct ft_ctx *c, const struct reduction *t, const void *got,
                    const void *want, size_t bytes, const char *what, size_t number)
{
    if (memcmp(got, want, bytes) != 0) {
        check(0, c, t->k->name, t->count);
        check(0, c, what, number);
    }
}

static void rank_allreduce(const struct ft_ctx *c, const struct reduction *t, char *out)
{
    memset(out, 0xee, t->bytes);
    ft_allreduce(c, t->in[c->rank], out, t->count, t->k->esize, &t->k->op);
    compare(c, t, out, t->all, t->bytes, "allreduce", 0);
    memcpy(out, t->in[c->rank], t->bytes);
    ft_allreduce(c, out, out, t->count, t->k->esize, &t->k->op);
    compare(c, t, out, t->all, t->bytes, "allreduce in place", 0);
}

static void rank_reduce(const struct ft_ctx *c, const struct reduction *t, char *out)
{
    for (int root = 0; root < c->size; root++) {
        int is_root = c->rank == root;
        memset(out, 0xee, t->bytes);
        ft_reduce(c, t->in[c->rank], is_root ? out : NULL, t->count, t->k->esize, &t->k->op, root);
        if (is_root)
            compare(c, t, out, t->all, t->bytes, "reduce to root", (size_t)root);
        memcpy(out, t->in[c->rank], t->bytes);
        ft_reduce(c, out, is_root ? out : NULL, t->count, t->k->esize, &t->k->op, root);
        compare(c, t, out, is_root ? t->all : t->in[c->rank], t->bytes, "reduce in place to root",
                (size_t)root);
    }
}

static void rank_scans(const struct ft_ctx *c, const struct reduction *t, char *out)
{
    int in_place = 0;
    do {
        char *untouched =
            in_place ? copy_of(t->in[c->rank], t->bytes) : memset(must(t->bytes), 0xee, t->bytes);
        const char *send = in_place ? out : t->in[c->rank];
        memcpy(out, untouched, t->bytes);
        ft_scan(c, send, out, t->count, t->k->esize, &t->k->op);
        compare(c, t, out, t->scan[c->rank], t->bytes, "scan, in place:", (size_t)in_place);
        memcpy(out, untouched, t->bytes);
        ft_exscan(c, send, out, t->count, t->k->esize, &t->k->op);
        compare(c, t, out, c->rank == 0 ? untouched : t->ex[c->rank], t->bytes,
                "exscan, in place:", (size_t)in_place);
        free(untouched);
    } while (!in_place++);
}

static void rank_reduce_scatter(const struct ft_ctx *c, const struct reduction *t, char *out)
{
    size_t before = 0, own = t->counts[c->rank] * t->k->esize;
    for (int i = 0; i < c->rank; i++)
        before += t->counts[i] * t->k->esize;
    char *want = memset(must(t->bytes), 0xee, t->bytes); /* nothing is written after the own part */
    memcpy(want, t->all + before, own);
    memset(out, 0xee, t->bytes);
    ft_reduce_scatter(c, t->in[c->rank], out, t->counts, t->k->esize, &t->k->op);
    compare(c, t, out, want, t->bytes, "reduce_scatter", t->counts[c->rank]);
    free(want);
    memcpy(out, t->in[c->rank], t->bytes);
    ft_reduce_scatter(c, out, out, t->counts, t->k->esize, &t->k->op);
    compare(c, t, out, t->all + before, own, "reduce_scatter in place", t->counts[c->rank]);
}

static void rank_reductions(const struct ft_ctx *c, void *arg)
{
    const struct reduction *t = arg;
    char *out = must(t->bytes), *before = copy_of(t->in[c->rank], t->bytes);
    rank_allreduce(c, t, out);
    rank_reduce(c, t, out);
    rank_scans(c, t, out);
    rank_reduce_scatter(c, t, out);
    compare(c, t, t->in[c->rank], before, t->bytes, "sendbuf was changed", 0);
    free(out);
    free(before);
}

static void test_reductions(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 3, 1000, 20000};
    static const size_t eager[] = {SIZE_MAX, 0};
    struct ft_prng rng = {seed};
    struct reduction t;
    for (int size = 1; size <= MAX_SIZE; size++)
        for (size_t k = 0; k < FT_COUNTOF(kinds); k++)
            for (size_t n = 0; n < FT_COUNTOF(counts) && counts[n] * kinds[k].esize < 1000000;
                 n++) {
                reduction_init(&t, &kinds[k], size, counts[n], &rng);
                for (size_t e = 0; e < FT_COUNTOF(eager); e++)
                    run(size, eager[e], rank_reductions, &t);
                reduction_finish(&t);
            }
}

/* ---- data movement ---- */

struct movement {
    uint64_t salt;
    size_t max; /* length of a block */
    int equal;  /* all blocks are that long */
};

/* Bytes that go from src to dst, and the k-th of them. */
static size_t len_of(const struct movement *t, int src, int dst)
{
    struct ft_prng r = {t->salt + (uint64_t)(src * 100 + dst) * 7919};
    if (t->equal)
        return t->max;
    return ft_prng_next(&r) % 3 == 0 ? 0 : ft_prng_below(&r, t->max + 1);
}

static unsigned char byte_of(const struct movement *t, int src, int dst, size_t k)
{
    return (unsigned char)(t->salt + (uint64_t)src * 31 + (uint64_t)dst * 17 + k * 13 + k / 251);
}

/* Makes blocks with gaps between them, in a shuffled order of places. */
struct layout {
    size_t offs[MAX_SIZE], lens[MAX_SIZE], bytes;
    unsigned char *mem, *want;
};

/* Block i comes from `src` (-1: i) and goes to `dst` (-1: i). mem is filled with the data or, to
 * receive into, left empty; want is always the expected result. */
static void layout_init(struct layout *l, const struct movement *t, const struct ft_ctx *c, int src,
                        int dst, int filled)
{
    l->bytes = GAP;
    for (int n = 0; n < c->size; n++) {
        int i = (n + c->rank + 1) % c->size;
        l->lens[i] = len_of(t, src < 0 ? i : src, dst < 0 ? i : dst);
        l->offs[i] = l->bytes;
        l->bytes += l->lens[i] + GAP;
    }
    l->mem = memset(must(l->bytes), 0xee, l->bytes);
    l->want = memset(must(l->bytes), 0xee, l->bytes);
    for (int i = 0; i < c->size; i++)
        for (size_t k = 0; k < l->lens[i]; k++)
            l->want[l->offs[i] + k] = byte_of(t, src < 0 ? i : src, dst < 0 ? i : dst, k);
    if (filled)
        memcpy(l->mem, l->want, l->bytes);
}

static void layout_finish(struct layout *l, const struct ft_ctx *c, const char *what, size_t number)
{
    check(memcmp(l->mem, l->want, l->bytes) == 0, c, what, number);
    free(l->mem);
    free(l->want);
}

static unsigned char *message(const struct movement *t, int src, int dst, size_t len)
{
    unsigned char *m = must(len);
    for (size_t k = 0; k < len; k++)
        m[k] = byte_of(t, src, dst, k);
    return m;
}

static void rank_bcast(const struct ft_ctx *c, const struct movement *t, int root)
{
    unsigned char *want = message(t, root, 0, t->max);
    unsigned char *buf =
        c->rank == root ? copy_of(want, t->max) : memset(must(t->max), 0xee, t->max);
    ft_bcast(c, buf, t->max, root);
    check(memcmp(buf, want, t->max) == 0, c, "bcast from root", (size_t)root);
    free(buf);
    free(want);
}

static void rank_gatherv(const struct ft_ctx *c, const struct movement *t, int root)
{
    size_t len = len_of(t, c->rank, root);
    unsigned char *own = message(t, c->rank, root, len);
    struct layout l;
    if (c->rank == root) {
        layout_init(&l, t, c, -1, root, 0);
        ft_gatherv(c, own, len, l.mem, l.offs, l.lens, root);
        memset(l.mem, 0xee, l.bytes);
        memcpy(l.mem + l.offs[root], own, len);
        ft_gatherv(c, l.mem + l.offs[root], len, l.mem, l.offs, l.lens, root); /* in place */
        layout_finish(&l, c, "gatherv to root", (size_t)root);
    } else {
        ft_gatherv(c, own, len, NULL, NULL, NULL, root);
        ft_gatherv(c, own, len, NULL, NULL, NULL, root);
    }
    free(own);
}

static void rank_scatterv(const struct ft_ctx *c, const struct movement *t, int root)
{
    size_t len = len_of(t, root, c->rank);
    unsigned char *want = message(t, root, c->rank, len), *got = memset(must(len), 0xee, len);
    struct layout l;
    if (c->rank == root) {
        layout_init(&l, t, c, root, -1, 1);
        ft_scatterv(c, l.mem, l.offs, l.lens, got, len, root);
        ft_scatterv(c, l.mem, l.offs, l.lens, l.mem + l.offs[root], len, root); /* in place */
        layout_finish(&l, c, "scatterv's sendbuf was changed at root", (size_t)root);
    } else {
        ft_scatterv(c, NULL, NULL, NULL, got, len, root);
        ft_scatterv(c, NULL, NULL, NULL, got, len, root);
    }
    check(memcmp(got, want, len) == 0, c, "scatterv from root", (size_t)root);
    free(got);
    free(want);
}

static void rank_allgathers(const struct ft_ctx *c, const struct movement *t)
{
    size_t len = len_of(t, c->rank, 0);
    unsigned char *own = message(t, c->rank, 0, len);
    struct layout l;
    layout_init(&l, t, c, -1, 0, 0);
    ft_allgatherv(c, own, len, l.mem, l.offs, l.lens);
    layout_finish(&l, c, "allgatherv", t->max);
    layout_init(&l, t, c, -1, 0, 0);
    memcpy(l.mem + l.offs[c->rank], own, len);
    ft_allgatherv(c, l.mem + l.offs[c->rank], len, l.mem, l.offs, l.lens);
    layout_finish(&l, c, "allgatherv in place", t->max);
    free(own);

    unsigned char *got = must(t->max * (size_t)c->size);
    own = message(t, c->rank, 1, t->max);
    ft_allgather(c, own, got, t->max);
    for (int i = 0; i < c->size; i++) {
        unsigned char *want = message(t, i, 1, t->max);
        check(memcmp(got + (size_t)i * t->max, want, t->max) == 0, c, "allgather", t->max);
        free(want);
    }
    free(own);
    free(got);
}

static void rank_movements(const struct ft_ctx *c, void *arg)
{
    const struct movement *t = arg;
    for (int root = t->max < 100000 ? 0 : c->size - 1; root < c->size; root++) {
        rank_bcast(c, t, root);
        rank_gatherv(c, t, root);
        rank_scatterv(c, t, root);
    }
    rank_allgathers(c, t);

    struct layout from, to;
    layout_init(&from, t, c, c->rank, -1, 1);
    layout_init(&to, t, c, -1, c->rank, 0);
    ft_alltoallv(c, from.mem, from.offs, from.lens, to.mem, to.offs, to.lens);
    layout_finish(&to, c, "alltoallv", t->max);
    layout_finish(&from, c, "alltoallv's sendbuf was changed", t->max);
}

static void test_movements(void **state)
{
    (void)state;
    static const size_t max[] = {0, 1, 3, 1000, 20000, 300000};
    static const size_t eager[] = {SIZE_MAX, 0, 500};
    struct ft_prng rng = {seed};
    for (int size = 1; size <= MAX_SIZE; size++)
        for (size_t m = 0; m < FT_COUNTOF(max); m++)
            for (size_t e = 0; e < FT_COUNTOF(eager) && (max[m] < 100000 || e < 1); e++) {
                struct movement t = {ft_prng_next(&rng), max[m], max[m] < 100000 && e == 2};
                run(size, eager[e], rank_movements, &t);
            }
}

/* There is nothing to move, and nowhere to put it. */
static void rank_nothing(const struct ft_ctx *c, void *arg)
{
    size_t zeros[MAX_SIZE] = {0};
    (void)arg;
    ft_bcast(c, NULL, 0, 0);
    ft_gatherv(c, NULL, 0, NULL, zeros, zeros, c->size - 1);
    ft_scatterv(c, NULL, zeros, zeros, NULL, 0, 0);
    ft_allgather(c, NULL, NULL, 0);
    ft_allgatherv(c, NULL, 0, NULL, zeros, zeros);
    ft_alltoallv(c, NULL, zeros, zeros, NULL, zeros, zeros);
    ft_reduce_scatter(c, NULL, NULL, zeros, 8, &kinds[0].op);
    ft_allreduce(c, NULL, NULL, 0, 8, &kinds[0].op);
    ft_reduce(c, NULL, NULL, 0, 8, &kinds[0].op, 0);
    ft_scan(c, NULL, NULL, 0, 8, &kinds[0].op);
    ft_exscan(c, NULL, NULL, 0, 8, &kinds[0].op);
}

static void test_nothing(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_SIZE; size++)
        run(size, 0, rank_nothing, NULL);
}

/* ---- barrier ---- */

static void rank_barrier(const struct ft_ctx *c, void *arg)
{
    atomic_int *entered = arg;
    for (int i = 1; i <= 50; i++) {
        void (*all_there)(const struct ft_ctx *) = i % 2 ? ft_gsync : ft_barrier;
        atomic_fetch_add(entered, 1);
        all_there(c);
        int n = atomic_load(entered);
        check(n >= i * c->size && n < (i + 1) * c->size, c,
              "barrier let through with so many entered:", (size_t)n);
        all_there(c);
    }
}

static void test_barrier(void **state)
{
    (void)state;
    for (int size = 1; size <= MAX_SIZE; size++) {
        atomic_int entered = 0;
        run(size, SIZE_MAX, rank_barrier, &entered);
    }
}

/* ---- leaving by longjmp ---- */

struct leaving {
    struct reduction *t;
    pthread_barrier_t meet;
    size_t eager;
};

/* One rank never comes, and stops the others in their waits. Then all meet and do it again, in the
 * working memory left by the first attempt. */
static void rank_leaving(const struct ft_ctx *c, void *arg)
{
    struct leaving *l = arg;
    const struct reduction *t = l->t;
    char *out = must(t->bytes);
    volatile int absent = 0;
    for (; absent < c->size; absent++) {
        if (c->rank == absent) {
            mock_stop();
        } else if (setjmp(mock_left) == 0) {
            ft_allreduce(c, t->in[c->rank], out, t->count, t->k->esize, &t->k->op);
            check(0, c, "allreduce went without rank", (size_t)absent);
        }
        if (pthread_barrier_wait(&l->meet) == PTHREAD_BARRIER_SERIAL_THREAD)
            mock_reset(l->eager);
        pthread_barrier_wait(&l->meet);
        rank_allreduce(c, t, out);
        rank_reduce_scatter(c, t, out);
        pthread_barrier_wait(&l->meet);
    }
    free(out);
}

static void test_leaving(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 1000, 20000};
    struct ft_prng rng = {seed};
    for (int size = 2; size <= 6; size++)
        for (size_t n = 0; n < FT_COUNTOF(counts); n++) {
            struct reduction t;
            struct leaving l = {.t = &t, .eager = n % 2 ? 0 : SIZE_MAX};
            reduction_init(&t, &kinds[2], size, counts[n], &rng);
            pthread_barrier_init(&l.meet, NULL, (unsigned)size);
            run(size, l.eager, rank_leaving, &l);
            pthread_barrier_destroy(&l.meet);
            reduction_finish(&t);
        }
}

/* ---- ends of a process, and scratch ---- */

/* Runs fn in a child of 2 ranks whose stderr goes to err; returns how it ended. */
static int ending_of(rank_fn *fn, void *arg, const char *inject, int err)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(err, 2);
        if (ft_fp_arm(inject, FT_ROLE_RANK, 0, 0) != FT_OK)
            _exit(2);
        run(2, SIZE_MAX, fn, arg);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void rank_mismatch(const struct ft_ctx *c, void *arg)
{
    char buf[16] = {0};
    (void)arg;
    ft_bcast(c, buf, c->rank == 0 ? 16 : 8, 0);
}

static void test_mismatch_is_named(void **state)
{
    (void)state;
    int p[2], status;
    char text[512] = {0};
    assert_int_equal(pipe(p), 0);
    status = ending_of(rank_mismatch, NULL, NULL, p[1]);
    close(p[1]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_true(read(p[0], text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "bcast: rank 0 of the communicator"));
    close(p[0]);
}

/* One call of the collective that *arg numbers. */
static void rank_one_call(const struct ft_ctx *c, void *arg)
{
    uint64_t in[2] = {1, 2}, out[2];
    size_t offs[2] = {0, 8}, lens[2] = {8, 8}, counts[2] = {1, 1};
    const struct ft_reducer *op = &kinds[0].op;
    switch (*(int *)arg) {
    case 0: ft_barrier(c); break;
    case 1: ft_bcast(c, in, 8, 0); break;
    case 2: ft_reduce(c, in, out, 1, 8, op, 0); break;
    case 3: ft_allreduce(c, in, out, 1, 8, op); break;
    case 4: ft_scan(c, in, out, 1, 8, op); break;
    case 5: ft_exscan(c, in, out, 1, 8, op); break;
    case 6: ft_reduce_scatter(c, in, out, counts, 8, op); break;
    case 7: ft_gatherv(c, in, 8, out, offs, lens, 0); break;
    case 8: ft_scatterv(c, in, offs, lens, out, 8, 0); break;
    case 9: ft_allgatherv(c, in, 8, out, offs, lens); break;
    case 10: ft_allgather(c, in, out, 8); break;
    case 11: ft_gsync(c); break;
    default: ft_alltoallv(c, in, offs, lens, out, offs, lens); break;
    }
}

static void test_failpoints(void **state)
{
    (void)state;
    static const char *const points[] = {"rank=0,point=coll.enter", "rank=0,point=coll.round",
                                         "rank=0,point=coll.leave"};
    for (int which = 0; which < 13; which++) {
        for (size_t i = 0; i < FT_COUNTOF(points); i++) {
            int status = ending_of(rank_one_call, &which, points[i], 2);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        int status = ending_of(rank_one_call, &which, NULL, 2);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void test_scratch(void **state)
{
    (void)state;
    void *a = ft_coll_scratch(0, 100), *b = ft_coll_scratch(1, 100);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_int_equal((uintptr_t)a % FT_CACHE_LINE, 0);
    assert_ptr_equal(ft_coll_scratch(0, 50), a);
    memset(ft_coll_scratch(0, 1 << 20), 1, 1 << 20);
    assert_null(ft_coll_scratch(0, SIZE_MAX));
    assert_non_null(ft_coll_scratch(0, 1));
    assert_null(ft_coll_scratch(0, 0));
    assert_null(ft_coll_scratch(1, 0));
}

int main(void)
{
    const char *s = getenv("FTRMA_TEST_SEED");
    seed = s ? strtoull(s, NULL, 10) : 20240607;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scratch),    cmocka_unit_test(test_mismatch_is_named),
        cmocka_unit_test(test_failpoints), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_barrier),    cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_movements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
