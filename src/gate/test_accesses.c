/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_accesses.c - one-sided accesses between three nodes, all in this process, over connections
 * that break: each kind of access is applied once and in order, and what it is answered is what a
 * plain computation gives. FTRMA_TEST_SEED repeats what was drawn.
 *
 *   slot 0 (node 0) and slot 2 (node 2): origins     slot 1 (node 1): the target
 */

#include "gate/mock_nodes.h"
#include "rma/far_ring.h"
#include "rma/rma.h"
#include "rma/winpart.h"

#define NODES 3
#define WINDOW 77 /* its id */
#define PART 4096 /* bytes of the target's part */
#define OPEN 40   /* accesses of one origin under way; a place of the stage for each */
#define TURNS 200000

struct origin {
    struct ft_far_ring *ring;
    uint64_t submitted, answered;
    char want[OPEN][FT_FAR_PIECE]; /* what the result is to be */
    uint32_t want_len[OPEN];
};

static struct world {
    struct ft_wire_faults faults[NODES];
    struct ft_arena arena[NODES];
    struct ft_tp tp[NODES];
    struct origin *o; /* [NODES] */
    struct ft_win_locks *locks;
    char *part, model[PART];
} w;

/* ---- the world ---- */

static void *zeroed(int slot, size_t bytes, uint64_t *off)
{
    *off = ft_arena_alloc(&w.arena[slot], bytes, FT_CACHE_LINE);
    HOLDS(*off != 0);
    return memset(ft_arena_ptr(&w.arena[slot], *off), 0, bytes);
}

static void make_window(void)
{
    uint64_t base, locks;
    struct ft_win_entry *e = &w.arena[1].ctl->win[3];
    w.part = zeroed(1, PART, &base);
    w.locks = zeroed(1, sizeof *w.locks + 2 * NODES, &locks);
    w.locks->nshared = NODES;
    e->base = base;
    e->bytes = PART;
    e->locks = locks;
    atomic_store(&e->id, WINDOW);
    atomic_store(&w.arena[1].ctl->live, 1);
    for (int i = 0; i < PART; i++)
        w.part[i] = w.model[i] = (char)(i * 7);
}

static void begin(uint64_t seed, const struct ft_wire_weather *weather)
{
    static const int end[NODES] = {1, 2, 3};
    memset(&w, 0, sizeof w);
    mock_begin(NODES, end, seed, weather, w.faults, 5000000);
    HOLDS((w.o = calloc(NODES, sizeof *w.o)) != NULL);
    for (int k = 0; k < NODES; k++)
        mock_enter(k, k, &w.arena[k], &w.tp[k]);
    make_window();
    for (int k = 0; k < NODES; k += 2) {
        uint64_t off;
        w.o[k].ring = zeroed(k, sizeof(struct ft_far_ring), &off);
        atomic_store(&w.arena[k].ctl->far_ring, off);
    }
}

static void finish(void)
{
    mock_stop();
    for (int k = 0; k < NODES; k++)
        mock_leave(&w.arena[k], &w.tp[k]);
    mock_end();
    free(w.o);
}

static void step(int k) { mock_step(k, 300000); }

/* ---- accesses, and what they come to ---- */

struct call {
    struct ft_far_op op;
    char data[FT_FAR_PIECE];
    uint32_t bytes;
};

/* Each is written so that a second time would be seen. */
static void compute(const struct call *c, char *want, uint32_t *len)
{
    const struct ft_far_op *o = &c->op;
    char *at = w.model + o->off;
    int64_t v, add;
    *len = o->flags & FT_FAR_RESULT || o->kind == FT_FAR_GET || o->kind == FT_FAR_ENTER
               ? (uint32_t)o->len
               : 0;
    if (o->flags & FT_FAR_BLOCKS) { /* two blocks of 8 bytes, 24 apart */
        int64_t stride;
        memcpy(&stride, c->data, 8);
        for (int i = 0; i < 2; i++)
            if (o->kind == FT_FAR_PUT)
                memcpy(at + i * stride, c->data + 8 + 8 * i, 8);
            else
                memcpy(want + 8 * i, at + i * stride, 8);
        return;
    }
    memcpy(want, at, *len);
    memcpy(&v, at, 8);
    memcpy(&add, c->data, 8);
    switch (o->kind) {
    case FT_FAR_PUT: memcpy(at, c->data, o->len); break;
    case FT_FAR_COMMIT: memcpy(at, c->data + sizeof(struct ft_far_commit), o->len); break;
    case FT_FAR_SWAP:
        for (size_t i = 0; o->how && i < o->len; i += 8) {
            memcpy(&v, at + i, 8);
            memcpy(&add, c->data + i, 8);
            v = o->how == FT_FOLD_SUM ? v + add : v > add ? v : add;
            memcpy(at + i, &v, 8);
        }
        if (!o->how)
            memcpy(at, c->data, c->bytes);
        break;
    case FT_FAR_WORD:
        v = o->how == FT_FETCH_ADD || (o->how == FT_FETCH_CAS && memcmp(at, c->data + 8, 8) == 0)
                ? (o->how == FT_FETCH_ADD ? v + add : add)
            : o->how == FT_FETCH_REPLACE ? add
                                         : v;
        memcpy(at, &v, 8);
        break;
    default: break;
    }
}

static char *place(struct origin *o, uint64_t n)
{
    return o->ring->stage + n % OPEN * FT_FAR_PIECE;
}

static uint64_t submit(int slot, const struct call *c)
{
    struct origin *o = &w.o[slot];
    uint64_t n = o->submitted++;
    struct ft_far_entry *e = &o->ring->entry[n % FT_FAR_ENTRIES];
    HOLDS(n - o->answered < OPEN);
    *e = (struct ft_far_entry){
        .op = c->op, .slot = 1, .bytes = c->bytes, .at = n % OPEN * FT_FAR_PIECE};
    memcpy(place(o, n), c->data, c->bytes);
    atomic_store(&e->done, 0);
    atomic_store(&o->ring->submitted, o->submitted);
    return n;
}

static void submit_known(int slot, const struct call *c)
{
    uint64_t n = w.o[slot].submitted % OPEN;
    compute(c, w.o[slot].want[n], &w.o[slot].want_len[n]);
    (void)submit(slot, c);
}

/* Answers come in order to one target; *status: of the last. 1: all are there. */
static int is_answered(int slot, enum ft_status wanted)
{
    struct origin *o = &w.o[slot];
    for (; o->answered != o->submitted; o->answered++) {
        struct ft_far_entry *e = &o->ring->entry[o->answered % FT_FAR_ENTRIES];
        if (!atomic_load(&e->done))
            return 0;
        HOLDS(e->status == (int32_t)wanted);
        if (wanted == FT_OK)
            HOLDS(memcmp(place(o, o->answered), o->want[o->answered % OPEN],
                         o->want_len[o->answered % OPEN]) == 0);
    }
    return 1;
}

static struct call call_of(enum ft_far_kind kind, int how, uint64_t off, uint64_t len,
                           uint32_t bytes)
{
    struct call c = {
        .op = {.kind = (uint8_t)kind, .how = (uint8_t)how, .win = WINDOW, .off = off, .len = len},
        .bytes = bytes};
    for (uint32_t i = 0; i < bytes; i += 8) {
        uint64_t word = ft_prng_next(&m.rng) >> 8;
        memcpy(c.data + i, &word, ft_min_u64(8, bytes - i));
    }
    return c;
}

static struct call word_of(enum ft_fetch_kind how, uint64_t off)
{
    uint32_t bytes = how == FT_FETCH_NOOP ? 0 : how == FT_FETCH_CAS ? 16 : 8;
    struct call c = call_of(FT_FAR_WORD, (int)how, off, 8, bytes);
    c.op.esize = 8;
    c.op.flags = FT_FAR_RESULT;
    if (how == FT_FETCH_CAS && ft_prng_below(&m.rng, 2)) /* what is there */
        memcpy(c.data + 8, w.model + off, 8);
    return c;
}

static struct call fold_of(enum ft_fold_op how, uint64_t off, uint64_t len)
{
    struct call c = call_of(FT_FAR_SWAP, (int)how, off, len, (uint32_t)len);
    c.op.esize = how ? FT_KIND_INT64 : 0;
    c.op.flags = FT_FAR_RESULT;
    return c;
}

static struct call lock_of(enum ft_far_kind kind, int exclusive, int rank)
{
    struct call c = call_of(kind, exclusive, 0, 0, 0);
    c.op.rank = rank;
    return c;
}

static struct call blocks_of(enum ft_far_kind kind, uint64_t off)
{
    const int64_t stride = 24;
    struct call c = call_of(kind, 0, off, 16, kind == FT_FAR_PUT ? 8 + 16 : 8);
    c.op.flags = FT_FAR_BLOCKS;
    c.op.rank = 8;
    memcpy(c.data, &stride, 8);
    return c;
}

enum { KINDS = 15 };
/* One of each kind, at this place: at most two accesses. */
static void submit_kind(int slot, int kind, uint64_t off)
{
    struct call c[2];
    int n = 1;
    switch (kind) {
    case 0: c[0] = call_of(FT_FAR_PUT, 0, off, 200, 200); break;
    case 1: c[0] = call_of(FT_FAR_GET, 0, off, 200, 0); break;
    case 2: c[0] = fold_of(FT_FOLD_NONE, off, 80); break;
    case 3: c[0] = fold_of(FT_FOLD_SUM, off, 80); break;
    case 4: c[0] = fold_of(FT_FOLD_MAX, off, 80); break;
    case 5: c[0] = word_of(FT_FETCH_ADD, off); break;
    case 6: c[0] = word_of(FT_FETCH_REPLACE, off); break;
    case 7: c[0] = word_of(FT_FETCH_NOOP, off); break;
    case 8: c[0] = word_of(FT_FETCH_CAS, off); break;
    case 9:
        c[0] = call_of(FT_FAR_ENTER, 0, off, 64, 0);
        c[1] = call_of(FT_FAR_COMMIT, 0, off, 64, sizeof(struct ft_far_commit) + 64);
        memset(c[1].data, 0, sizeof(struct ft_far_commit)); /* counts nothing */
        n = 2;
        break;
    case 10:
    case 11:
        c[0] = lock_of(FT_FAR_LOCK, kind == 10, slot);
        c[1] = lock_of(FT_FAR_UNLOCK, kind == 10, slot);
        n = 2;
        break;
    case 12: c[0] = blocks_of(FT_FAR_PUT, off); break;
    case 13: c[0] = blocks_of(FT_FAR_GET, off); break;
    default: c[0] = call_of(FT_FAR_PUT, 0, off, 1000, 1000); break;
    }
    for (int i = 0; i < n; i++)
        submit_known(slot, &c[i]);
}

static void nothing_is_left(void)
{
    HOLDS(memcmp(w.part, w.model, PART) == 0);
    HOLDS(atomic_load(&w.locks->crit) == 0 && atomic_load(&w.locks->excl) == 0);
    for (int r = 0; r < NODES; r++)
        HOLDS(atomic_load(&w.locks->shared[r]) == 0);
}

/* ---- tests ---- */

static const struct ft_wire_weather calm = {.delay_ns = 1000000, .patience_ns = 1ull << 50};

/* All kinds, one after the other; in step number `at` gate `of` loses its connections. Returns how
 * many steps it takes. */
static int all_kinds(uint64_t seed, int at, int of)
{
    int n = 0;
    begin(seed, &calm);
    for (int k = 0; k < KINDS; k++)
        submit_kind(0, k, (uint64_t)(k % 3) * 96);
    for (; !is_answered(0, FT_OK); n++) {
        HOLDS(n < TURNS);
        w.faults[of].cut_in = n == at;
        step(n == at ? of : n % 2);
        w.faults[of].cut_in = 0;
    }
    for (int i = 0; i < 100; i++) /* nothing comes a second time */
        step(i % 2);
    nothing_is_left();
    HOLDS(at >= n || at < 30 || w.faults[of].cuts > 0);
    finish();
    return n;
}

static void each_kind_with_a_break_anywhere(void **state)
{
    uint64_t seed = mock_seed();
    (void)state;
    int steps = all_kinds(seed, -1, 0);
    for (int at = 0; at < steps; at++)
        for (int of = 0; of < 2; of++)
            (void)all_kinds(seed, at, of);
}

/* Two origins, each with its own half of the part, and one word that both add to. */
static void drawn_over_connections_that_break(void **state)
{
    static const struct ft_wire_weather storm = {.delay_ns = 1000000,
                                                 .jitter_ns = 4000000,
                                                 .lost_in = 50,
                                                 .reorders = 1,
                                                 .patience_ns = 100000000};
    enum { ROUNDS = 150 };
    int64_t sum = 0, was;
    int left[NODES] = {ROUNDS, 0, ROUNDS};
    (void)state;
    begin(mock_seed(), &storm);
    memcpy(&was, w.part + PART - 8, 8);
    for (int k = 0; k < NODES; k++) {
        w.faults[k].cut_in = 60;
        w.faults[k].slow_in = 3;
    }
    for (int i = 0; left[0] || left[2] || !is_answered(0, FT_OK) || !is_answered(2, FT_OK); i++) {
        int slot = 2 * (int)ft_prng_below(&m.rng, 2);
        struct origin *o = &w.o[slot];
        HOLDS(i < TURNS);
        if (left[slot] && ft_prng_below(&m.rng, 3) == 0 && o->submitted - o->answered < OPEN - 2) {
            int kind = (int)ft_prng_below(&m.rng, KINDS);
            if (kind == 10 || kind == 11) { /* the other one would have to ask again */
                struct call c = word_of(FT_FETCH_ADD, PART - 8);
                int64_t add;
                memcpy(&add, c.data, 8);
                sum += add;
                w.o[slot].want_len[submit(slot, &c) % OPEN] = 0;
            } else {
                submit_kind(slot, kind,
                            (uint64_t)(slot / 2) * 1504 + 8 * ft_prng_below(&m.rng, 50));
            }
            left[slot]--;
        }
        step((int)ft_prng_below(&m.rng, NODES));
        (void)is_answered(0, FT_OK);
        (void)is_answered(2, FT_OK);
    }
    HOLDS(w.faults[0].cuts + w.faults[1].cuts + w.faults[2].cuts > 0);
    was += sum;
    memcpy(w.model + PART - 8, &was, 8);
    nothing_is_left();
    finish();
}

static void await(int slot, enum ft_status wanted)
{
    for (int i = 0; !is_answered(slot, wanted); i++) {
        HOLDS(i < TURNS);
        step(i % NODES);
    }
}

static void wander(int steps)
{
    for (int i = 0; i < steps; i++)
        step(i % NODES);
}

/* What cannot be done is answered so, and changes nothing. */
static void what_cannot_be(void **state)
{
    struct call c;
    (void)state;
    begin(mock_seed(), &calm);
    c = call_of(FT_FAR_PUT, 0, PART - 8, 16, 16);
    submit(0, &c);
    c = call_of(FT_FAR_GET, 0, UINT64_MAX - 8, 16, 0);
    submit(0, &c);
    c = call_of(FT_FAR_GET, 0, 0, 8, 0);
    c.op.flags = FT_FAR_DYNAMIC; /* nothing is attached */
    submit(0, &c);
    await(0, FT_ERR_RANGE);
    atomic_store(&w.locks->excl, 1 + 2); /* rank 2 has the lock */
    c = lock_of(FT_FAR_LOCK, 1, 0);
    submit(0, &c);
    c = lock_of(FT_FAR_LOCK, 0, 0);
    submit(0, &c);
    await(0, FT_ERR_AGAIN);
    atomic_store(&w.locks->excl, 0);
    atomic_store(&w.locks->claimant, 0);
    atomic_store(&m.board[1]->slot[1].ended, 1);
    atomic_store(&w.locks->crit, 1 + 1); /* ... inside, and nobody will leave it */
    c = word_of(FT_FETCH_ADD, 0);
    submit(0, &c);
    await(0, FT_ERR_DEAD);
    atomic_store(&w.locks->crit, 0);
    nothing_is_left();
    finish();
}

/* One that waits holds up those of its process that come after it, and nobody else. */
static void in_their_order(void **state)
{
    (void)state;
    begin(mock_seed(), &calm);
    atomic_store(&w.locks->crit, 1 + 1);
    submit_kind(0, 5, 0); /* waits for the section */
    submit_kind(0, 0, 0); /* a put needs none */
    submit_kind(2, 0, 2000);
    await(2, FT_OK);
    wander(200);
    HOLDS(w.o[0].answered == 0 && !is_answered(0, FT_OK) && w.o[0].answered == 0);
    atomic_store(&w.locks->crit, 0);
    await(0, FT_OK);
    nothing_is_left();
    finish();
}

/* The target's node is out: what was not answered is answered so, at once, and so is all that comes
 * later. */
static void a_target_that_is_out(void **state)
{
    (void)state;
    begin(mock_seed(), &calm);
    submit_kind(0, 5, 0);
    await(0, FT_OK);
    atomic_store(&w.locks->crit, 1 + 1);
    struct call c = word_of(FT_FETCH_ADD, 0);
    submit(0, &c); /* waits there */
    wander(100);
    HOLDS(!is_answered(0, FT_ERR_DEAD));
    submit(0, &c); /* and was not sent yet */
    atomic_fetch_or(&m.board[0]->nodes.out, 1u << 1);
    step(0);
    HOLDS(is_answered(0, FT_ERR_DEAD));
    submit(0, &c);
    step(0);
    HOLDS(is_answered(0, FT_ERR_DEAD));
    finish();
}

/* The origin's node is out: what waits here is not applied any more, and nobody else is held up. */
static void an_origin_that_is_out(void **state)
{
    (void)state;
    begin(mock_seed(), &calm);
    atomic_store(&w.locks->crit, 1 + 1);
    struct call c = word_of(FT_FETCH_ADD, 0);
    submit(0, &c);
    wander(100);
    submit_kind(2, 5, 0);
    wander(100);
    atomic_fetch_or(&m.board[1]->nodes.out, 1u << 0);
    HOLDS(atomic_load(&m.board[1]->nodes.shut) == 0); /* the agents do not vote yet */
    step(1);
    HOLDS(atomic_load(&m.board[1]->nodes.shut) == 1u << 0);
    submit(0, &c); /* it does not know yet */
    step(0);
    atomic_store(&w.locks->crit, 0);
    for (int i = 0; !is_answered(2, FT_OK); i++) {
        HOLDS(i < TURNS);
        step(1 + i % 2);
    }
    wander(100);
    nothing_is_left();
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_with_a_break_anywhere),
        cmocka_unit_test(drawn_over_connections_that_break),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(in_their_order),
        cmocka_unit_test(a_target_that_is_out),
        cmocka_unit_test(an_origin_that_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
