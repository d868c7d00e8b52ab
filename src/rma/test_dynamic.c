/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_dynamic.c - attaches and detaches memory at random and compares with a list: an access finds
 * what is attached and nothing else, over every provider; and an earlier state can be restored.
 */
#define _GNU_SOURCE
#include "msg/channels.h"
#include "rma/dynamic.h"
#include "rma/rma_internal.h"
#include "transport/test_job.h"

enum { PROCS = 3, MEMORY = 24 * 4096, REGIONS = 200, PHASES = 60, ACCESSES = 40 };

static _Alignas(4096) char memory[MEMORY + 2]; /* at the same address in all processes */
static const int world[] = {0, 1, 2};
static struct ft_ctx ctx;

/* What each owner has attached; every process computes the same. */
static struct model {
    int n;
    struct {
        size_t from, bytes;
    } r[REGIONS];
} model[PROCS];

static int whole(const struct model *m, size_t from, size_t bytes)
{
    size_t at = from;
    for (int i = 0; i < m->n && at < from + bytes; i++)
        if (m->r[i].from <= at && at < m->r[i].from + m->r[i].bytes) {
            at = m->r[i].from + m->r[i].bytes;
            i = -1;
        }
    return at >= from + bytes;
}

static int overlaps(const struct model *m, size_t from, size_t bytes)
{
    for (int i = 0; i < m->n; i++)
        if (bytes && m->r[i].bytes && from < m->r[i].from + m->r[i].bytes &&
            m->r[i].from < from + bytes)
            return 1;
    return 0;
}

/* An owner's next change: the owner carries it out, and all others note it. */
static void change(struct ft_win *w, int owner, struct ft_prng *r)
{
    struct model *m = &model[owner];
    int attach = m->n < REGIONS && (m->n == 0 || ft_prng_below(r, 5) > 1), mine = owner == job.self;
    if (attach) {
        size_t most = ft_prng_below(r, 20) ? 300 : 20000, from = ft_prng_below(r, MEMORY),
               bytes = ft_prng_below(r, most);
        if (m->n && ft_prng_below(r, 4) == 0) /* right after another */
            from = m->r[m->n - 1].from + m->r[m->n - 1].bytes;
        bytes = from + bytes > MEMORY ? MEMORY - from : bytes;
        int again = 0;
        for (int i = 0; i < m->n; i++)
            again |= m->r[i].from == from; /* detach knows a region by its address alone */
        if (again)
            return;
        int bad = overlaps(m, from, bytes);
        CHECK(!mine || ft_win_attach(w, memory + from, bytes) == (bad ? FT_ERR_ARG : FT_OK));
        if (!bad) {
            m->r[m->n].from = from;
            m->r[m->n++].bytes = bytes;
        }
    } else {
        int i = (int)ft_prng_below(r, (uint64_t)m->n);
        CHECK(!mine || ft_win_detach(w, memory + m->r[i].from) == FT_OK);
        CHECK(!mine || ft_win_detach(w, memory + MEMORY + 1) == FT_ERR_ARG);
        m->r[i] = m->r[--m->n];
    }
}

/* The place that was found last. If others have changed what is attached, it must be looked up
 * again. */
static struct {
    int target;
    size_t from;
} last = {-1, 0};

static void ask_again(struct ft_win *w)
{
    char byte;
    if (last.target >= 0)
        CHECK(ft_get(w, last.target, (size_t)(uintptr_t)memory + last.from, &byte, 1) ==
              (whole(&model[last.target], last.from, 1) ? FT_OK : FT_ERR_RANGE));
}

static void access_once(struct ft_win *w, struct ft_prng *r)
{
    char in[400], out[400];
    int target = (int)ft_prng_below(r, PROCS);
    const struct model *m = &model[target];
    size_t from = ft_prng_below(r, MEMORY - sizeof in), bytes = 1 + ft_prng_below(r, sizeof in - 1);
    if (m->n && ft_prng_below(r, 8)) { /* usually in a region, or a little too far */
        int i = (int)ft_prng_below(r, (uint64_t)m->n);
        from = m->r[i].from + ft_prng_below(r, m->r[i].bytes + 2);
        bytes = 1 + ft_prng_below(r, ft_min_u64(m->r[i].bytes + 2, sizeof in - 1));
        from = from + bytes > MEMORY ? MEMORY - bytes : from;
    }
    for (size_t i = 0; i < bytes; i++)
        in[i] = (char)ft_prng_next(r);
    size_t at = (size_t)(uintptr_t)memory + from;
    enum ft_status want = whole(m, from, bytes) ? FT_OK : FT_ERR_RANGE;
    CHECK(ft_put(w, target, at, in, bytes) == want);
    CHECK(ft_get(w, target, at, out, bytes) == want);
    CHECK(want != FT_OK || memcmp(in, out, bytes) == 0);
    if (want == FT_OK) {
        last.target = target;
        last.from = from;
    }
    CHECK(want != FT_OK || target != job.self || memcmp(memory + from, in, bytes) == 0);
    uint64_t old = 0, one = 1;
    if (bytes >= 8) {
        CHECK(ft_fetch_word(w, target, at, FT_FETCH_REPLACE, 8, &one, NULL, &old) ==
              (whole(m, from, 8) ? FT_OK : FT_ERR_RANGE));
        CHECK(want != FT_OK || memcmp(&old, in, 8) == 0);
    }
}

static void at_random(void)
{
    job_meet();
    ft_msg_init(&job.tp, PROCS, job.self, world, 0);
    atomic_store(&job.arena.ctl->live, 1);
    ft_rma_init(&job.tp, PROCS, job.self, world);
    ctx = (struct ft_ctx){.id = 10, .rank = job.self, .size = PROCS, .world = world};
    struct ft_win *w;
    CHECK(ft_win_create_dynamic(&ctx, &w) == FT_OK);
    for (int phase = 0; phase < PHASES; phase++) {
        for (int owner = 0; owner < PROCS; owner++) {
            struct ft_prng r = {job.seed * 1000 + (uint64_t)(phase * PROCS + owner)};
            for (int i = 0; i < 12; i++)
                change(w, owner, &r);
        }
        ft_win_fence(w);
        ask_again(w);
        struct ft_prng r = {job.seed * 77 + (uint64_t)phase};
        for (int i = 0; i < ACCESSES && phase % PROCS == job.self; i++)
            access_once(w, &r);
        ft_win_fence(w);
    }
    /* Back to the present state, from another one. */
    size_t bytes = ft_attached_bytes(w), n = bytes / 16;
    char *saved = malloc(bytes + 1);
    CHECK(saved && n == (size_t)model[job.self].n);
    ft_attached_save(w, saved);
    struct model was = model[job.self];
    struct ft_prng r = {job.seed};
    for (int i = 0; i < 60; i++)
        change(w, job.self, &r);
    model[job.self] = was;
    CHECK(ft_attached_restore(w, saved, n) == FT_OK && ft_attached_bytes(w) == bytes);
    ft_win_fence(w);
    for (int i = 0; i < ACCESSES && job.self == 1; i++)
        access_once(w, &r);
    free(saved);
    ft_win_free(w);
    ft_arena_check(&job.arena);
}

static void over(void **state)
{
    job_seed(1);
    job.provider = *state;
    job_begin(PROCS, PROCS);
    for (int i = 0; i < PROCS; i++)
        job_spawn(i, at_random);
    job_join();
}

int main(void)
{
    static char shm[] = "shm", fault[] = "fault";
    const struct CMUnitTest tests[] = {{"at_random_shm", over, NULL, NULL, shm},
                                       {"at_random_fault", over, NULL, NULL, fault}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
