/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_chan.c - channel logs, read by a walker of this test: what is published is complete,
 * whenever the writer dies.
 */
#define _GNU_SOURCE
#include "alog/chan.h"
#include "alog/said.h"
#include "transport/test_job.h"

#define CHUNK (64ull << 10)
#define LIMIT (256ull << 20)

/* Message m: its length and bytes are functions of its number. */
static size_t length_of(uint64_t m)
{
    static const size_t below[] = {1, 33, 200, 5000, 70000, 300 << 10};
    struct ft_prng r = {job.seed * 1000003 + m};
    return ft_prng_below(&r, below[ft_prng_below(&r, m % 16 ? 4 : 6)]);
}

static char byte_of(uint64_t m, size_t i) { return (char)(m * 31 + i * 7 + (i >> 8)); }

static char *text_of(uint64_t m, char *buf)
{
    for (size_t i = 0, n = length_of(m); i < n; i++)
        buf[i] = byte_of(m, i);
    return buf;
}

static char out[300 << 10];

/* --- the walker --- */

struct walk {
    char *base;
    struct ft_chan_hdr *hdr;
    uint32_t era;
    struct ft_chunk *chunk;
    char *pos;
    uint64_t seq;
    uint64_t message; /* the message that comes next, or is being read */
    size_t at;        /* bytes of it */
};

static struct walk walk_begin(char *base, uint64_t hdr_off, uint32_t era)
{
    return (struct walk){.base = base,
                         .hdr = (struct ft_chan_hdr *)(void *)(base + hdr_off),
                         .era = era,
                         .seq = FT_SEQ(era, 0)};
}

/* The next record without LINKs, or NULL: it is not there yet. */
static struct ft_rec *walk_next(struct walk *w)
{
    if (!w->pos) {
        enum ft_segment seg = ft_era_segment(w->era);
        if (seg == FT_SEG_RUN && atomic_load(&w->hdr->era) != w->era)
            return NULL;
        uint64_t off = atomic_load(&w->hdr->head[seg]);
        if (!off)
            return NULL;
        w->chunk = (struct ft_chunk *)(void *)(w->base + off);
        w->pos = (char *)(w->chunk + 1);
        CHECK(w->chunk->index == 0);
    }
    for (;;) {
        struct ft_rec *r = (struct ft_rec *)(void *)w->pos;
        uint64_t seq = atomic_load_explicit(&r->seq, memory_order_acquire);
        if (seq != w->seq + 1) {
            CHECK(seq == 0); /* until then, a word that may become a number is 0 */
            return NULL;
        }
        CHECK(w->pos + FT_CACHE_LINE <= (char *)w->chunk + w->chunk->bytes);
        w->seq++;
        if (r->flags != FT_REC_LINK) {
            w->pos += ft_align_up(sizeof *r + r->here, FT_CACHE_LINE);
            return r;
        }
        uint64_t index = w->chunk->index;
        w->chunk = (struct ft_chunk *)(void *)(w->base + atomic_load(&w->chunk->next));
        CHECK(w->chunk->index == index + 1);
        w->pos = (char *)(w->chunk + 1);
    }
}

/* Checks a record against the message that it must be. */
static void walk_check(struct walk *w, const struct ft_rec *r)
{
    size_t len = length_of(w->message);
    CHECK(r->tag == (int)(w->message & 0xffff) && r->ctx == 7);
    CHECK(!!(r->flags & FT_REC_FIRST) == (w->at == 0));
    CHECK(r->total == (w->at == 0 ? len : w->at));
    CHECK(r->here <= len - w->at && (r->here > 0 || len == 0));
    for (size_t i = 0; i < r->here; i++)
        CHECK(r->data[i] == byte_of(w->message, w->at + i));
    w->at += r->here;
    CHECK(!!(r->flags & FT_REC_LAST) == (w->at == len));
    if (w->at == len) {
        w->message++;
        w->at = 0;
    }
}

/* Reads as far as there is something. Releases what it no longer needs to the slot that wrote
 * it. */
static void walk_all(struct walk *w, int writer)
{
    struct ft_rec *r;
    while ((r = walk_next(w)))
        walk_check(w, r);
    if (w->chunk)
        atomic_store_explicit(&job.arena.ctl->peer[writer].released,
                              FT_SEQ(w->era, w->chunk->index), memory_order_release);
}

/* --- one process, a channel to itself --- */

static int append(struct ft_chan_writer *w, uint64_t m, size_t *done)
{
    return ft_chan_append(w, &job.tp, 7, (int)(m & 0xffff), text_of(m, out), length_of(m), done, 0);
}

static void kept_log_is_a_function_of_messages(void)
{
    struct ft_chan_writer plain, halting;
    struct ft_prng rnd = {job.seed};
    CHECK(ft_chan_open(&plain, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    CHECK(atomic_load(&job.arena.ctl->peer[0].chan) == plain.hdr_off &&
          atomic_load(&job.arena.ctl->announced) == 1);
    CHECK(ft_chan_open(&halting, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    for (uint64_t m = 0; m < 600; m++) {
        size_t done = 0;
        CHECK(append(&plain, m, &done) && done == length_of(m));
        done = 0;
        ft_log_budget.limit = ft_log_budget.used +
                              (ft_prng_below(&rnd, 2) ? 0 : CHUNK); /* stops where a chunk ends */
        while (!append(&halting, m, &done))
            ft_log_budget.limit = ft_log_budget.used + CHUNK;
        ft_log_budget.limit = LIMIT;
    }
    struct walk a = walk_begin(job.arena.base, plain.hdr_off, 0),
                b = walk_begin(job.arena.base, halting.hdr_off, 0);
    for (struct ft_rec *x, *y; (x = walk_next(&a)); walk_check(&a, x)) {
        y = walk_next(&b);
        CHECK(y && a.seq == b.seq && a.pos - (char *)a.chunk == b.pos - (char *)b.chunk);
        CHECK(x->here == y->here && x->flags == y->flags && x->total == y->total &&
              memcmp(x->data, y->data, x->here) == 0);
    }
    CHECK(!walk_next(&b) && a.message == 600 && a.at == 0);
    CHECK(ft_log_budget.used == ft_log_budget.kept && ft_log_budget.kept > 0);
}

/* Appends messages of [0, 300) in an order of its own; message `other` has another last byte. */
static struct ft_said said_in_order(uint64_t step, uint64_t other, uint64_t messages)
{
    struct ft_chan_writer w;
    CHECK(ft_chan_open(&w, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    for (uint64_t i = 0; i < messages; i++) {
        uint64_t m = i * step % 300;
        size_t done = 0, len = length_of(m);
        text_of(m, out);
        if (m == other)
            out[len - 1]++;
        CHECK(ft_chan_append(&w, &job.tp, 7, (int)m, out, len, &done, 0));
    }
    return ft_said_in_setup(&w, &job.tp);
}

static void what_was_said_is_known_in_any_order(void)
{
    struct ft_said a = said_in_order(1, UINT64_MAX, 300), b = said_in_order(7, UINT64_MAX, 300);
    uint64_t other = ft_prng_below(&(struct ft_prng){job.seed}, 300);
    while (length_of(other) == 0)
        other = (other + 1) % 300;
    CHECK(a.messages == 300 && memcmp(&a, &b, sizeof a) == 0);
    b = said_in_order(11, other, 300);
    CHECK(b.messages == 300 && b.envelopes == a.envelopes && b.data != a.data);
    b = said_in_order(7, UINT64_MAX, 299);
    CHECK(b.messages == 299 && b.envelopes != a.envelopes);
    struct ft_chan_writer never = {.slot = 0}, unkept;
    CHECK(ft_said_in_setup(&never, &job.tp).messages == 0);
    CHECK(ft_chan_open(&unkept, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_NONE) == FT_OK);
    CHECK(ft_said_in_setup(&unkept, &job.tp).messages == UINT64_MAX);
}

static void chunks_are_used_again(void)
{
    struct ft_chan_writer w;
    CHECK(ft_chan_open(&w, &job.tp, 0, FT_ERA_FIRST, FT_KEEP_NONE) == FT_OK);
    struct walk r = walk_begin(job.arena.base, w.hdr_off, FT_ERA_FIRST);
    uint64_t bytes = 0, others = job.arena.in_use; /* mailboxes and the header */
    for (uint64_t m = 0; m < 4000; m++) {
        size_t done = 0;
        CHECK(append(&w, m, &done));
        bytes += done;
        walk_all(&r, 0);
        CHECK(r.message == m + 1);
        CHECK(ft_log_budget.used <= 8 * CHUNK &&
              job.arena.in_use - others <= 8 * CHUNK + 8 * FT_CACHE_LINE);
        if (m % 256 == 0)
            ft_arena_check(&job.arena);
    }
    CHECK(bytes > 100 * CHUNK);
}

static void the_limit_holds(void)
{
    struct ft_chan_writer w, x;
    ft_log_budget.limit = 5 * CHUNK;
    CHECK(ft_chan_open(&w, &job.tp, 0, FT_ERA_FIRST, FT_KEEP_NONE) == FT_OK);
    struct walk r = walk_begin(job.arena.base, w.hdr_off, FT_ERA_FIRST);
    int refused = 0;
    for (uint64_t m = 0; m < 3000; m++)
        for (size_t done = 0, before; !append(&w, m, &done);) {
            CHECK(ft_log_budget.used <= ft_log_budget.limit);
            before = done;
            CHECK(!append(&w, m, &done) && done == before);
            walk_all(&r, 0);
            refused++;
        }
    walk_all(&r, 0);
    CHECK(r.message == 3000 && refused > 10);
    /* Nothing is left for a channel that is kept. One that is not kept goes on, chunk by chunk. */
    ft_log_budget.limit = ft_log_budget.used;
    CHECK(ft_chan_open(&x, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    size_t done = 0;
    CHECK(!append(&x, 1, &done) && done == 0);
    CHECK(ft_chan_open(&x, &job.tp, 0, FT_ERA_FIRST, FT_KEEP_NONE) == FT_OK);
    atomic_store(&job.arena.ctl->peer[0].released, 0);
    r = walk_begin(job.arena.base, x.hdr_off, FT_ERA_FIRST);
    for (uint64_t m = 0; m < 1000; m++) {
        int turns = 0;
        for (done = 0; !append(&x, m, &done); walk_all(&r, 0))
            CHECK(++turns < 20);
        CHECK(ft_log_budget.used <= ft_log_budget.limit + 2 * CHUNK);
    }
    walk_all(&r, 0);
    CHECK(r.message == 1000);
}

static void eras(void)
{
    struct ft_chan_writer w;
    size_t done;
    CHECK(ft_chan_open(&w, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    for (uint64_t m = 0; m < 100; m++) {
        done = 0;
        CHECK(append(&w, m, &done));
    }
    uint64_t kept = ft_log_budget.used;
    for (uint32_t era = FT_ERA_FIRST; era < FT_ERA_FIRST + 20; era += 1 + era % 3) {
        ft_chan_begin_era(&w, &job.tp, era, FT_KEEP_NONE, 0);
        CHECK(ft_log_budget.used == kept);
        struct walk r = walk_begin(job.arena.base, w.hdr_off, era);
        CHECK(!walk_next(&r));
        for (uint64_t m = 0; m < 50 * (era % 4); m++) {
            done = 0;
            CHECK(append(&w, m, &done));
            if (m % 3 == 0)
                walk_all(&r, 0);
        }
        walk_all(&r, 0);
        CHECK(r.message == 50 * (era % 4));
        ft_arena_check(&job.arena);
    }
    ft_chan_begin_era(&w, &job.tp, FT_ERA_POST, FT_KEEP_ALL, 0);
    for (uint64_t m = 0; m < 100; m++) {
        done = 0;
        CHECK(append(&w, m, &done));
    }
    struct walk setup = walk_begin(job.arena.base, w.hdr_off, FT_ERA_SETUP);
    struct walk post = walk_begin(job.arena.base, w.hdr_off, FT_ERA_POST);
    walk_all(&setup, 0);
    walk_all(&post, 0);
    CHECK(setup.message == 100 && post.message == 100);
}

/* --- cuts --- */

static struct walk walk_from_cut(const struct ft_chan_writer *w, uint64_t version, uint64_t message)
{
    struct walk r = walk_begin(job.arena.base, w->hdr_off, w->era);
    struct ft_chan_cut *c = &w->hdr->cut[version & 1];
    CHECK(atomic_load(&c->version) == version);
    r.seq = atomic_load(&c->seq);
    r.message = message;
    if (atomic_load(&c->chunk)) {
        r.chunk = (struct ft_chunk *)(void *)(r.base + atomic_load(&c->chunk));
        r.pos = r.base + atomic_load(&c->pos);
    }
    return r;
}

/* What lies after the newest committed cut can be read at any time, and little else is kept. */
static void what_is_behind_the_cut_is_kept(void)
{
    struct ft_chan_writer w;
    struct ft_prng rnd = {job.seed};
    uint64_t committed = 1, at = 0, cut_at = 0;
    CHECK(ft_chan_open(&w, &job.tp, 0, FT_ERA_SETUP, FT_KEEP_ALL) == FT_OK);
    ft_chan_begin_era(&w, &job.tp, FT_ERA_FIRST, FT_KEEP_CUT, committed);
    atomic_store(&ft_msg_committed, committed);
    struct walk r = walk_begin(job.arena.base, w.hdr_off, FT_ERA_FIRST);
    for (uint64_t m = 0; m < 4000; m++) {
        size_t done = 0;
        CHECK(append(&w, m, &done));
        walk_all(&r, 0);
        if (ft_prng_below(&rnd, 60) == 0 || m % 200 == 0) {
            ft_chan_cut(&w, &job.tp,
                        committed + 1); /* perhaps once more: the last was called off */
            cut_at = m + 1;
        }
        if (cut_at > at && (ft_prng_below(&rnd, 60) == 0 || m % 200 == 20)) {
            atomic_store(&ft_msg_committed, ++committed);
            at = cut_at;
        }
        if (ft_prng_below(&rnd, 40) == 0) {
            struct walk again = walk_from_cut(&w, committed, at);
            for (struct ft_rec *x; (x = walk_next(&again));)
                walk_check(&again, x);
            CHECK(again.message == m + 1 && again.seq == r.seq);
        }
        CHECK(ft_log_budget.used <= 60 * CHUNK);
    }
    CHECK(w.next_index > 100);
}

/* A log that continues from another one's place has the same records, under the same numbers, at
 * the same places in their chunks. */
static void a_log_goes_on_from_a_place(void)
{
    struct ft_chan_writer plain, again;
    struct ft_prng rnd = {job.seed};
    for (int k = 0; k < 60; k++) {
        uint64_t from = ft_prng_below(&rnd, 60), n = from + 1 + ft_prng_below(&rnd, 60);
        size_t done;
        CHECK(ft_chan_open(&plain, &job.tp, 0, FT_ERA_FIRST, FT_KEEP_CUT) == FT_OK);
        CHECK(ft_chan_open(&again, &job.tp, 0, FT_ERA_FIRST, FT_KEEP_CUT) == FT_OK);
        for (uint64_t m = 0; m < n; m++) {
            if (m == from) {
                struct ft_chan_place at = ft_chan_place(&plain);
                ft_chan_cut(&plain, &job.tp, 5);
                ft_chan_begin_at(&again, 5, &at);
            }
            done = 0;
            CHECK(append(&plain, m, &done));
            done = 0;
            CHECK(m < from || append(&again, m, &done));
        }
        struct walk a = walk_from_cut(&plain, 5, from), b = walk_from_cut(&again, 5, from);
        CHECK(!b.pos && a.seq == b.seq);
        b.chunk = (struct ft_chunk *)(void *)(b.base + atomic_load(&again.hdr->head[FT_SEG_RUN]));
        b.pos = (char *)b.chunk + b.chunk->begin;
        CHECK(b.chunk->first == b.seq);
        for (struct ft_rec *x, *y; (x = walk_next(&a)); walk_check(&a, x)) {
            y = walk_next(&b);
            CHECK(y && a.seq == b.seq && a.pos - (char *)a.chunk == b.pos - (char *)b.chunk &&
                  a.chunk->index == b.chunk->index);
            CHECK(x->here == y->here && x->flags == y->flags &&
                  memcmp(x->data, y->data, x->here) == 0);
        }
        CHECK(!walk_next(&b) && a.message == n && a.at == 0);
        ft_chan_begin_era(&plain, &job.tp, FT_ERA_FIRST + 1, FT_KEEP_NONE,
                          0); /* gives its memory back */
        ft_chan_begin_era(&again, &job.tp, FT_ERA_FIRST + 1, FT_KEEP_NONE, 0);
    }
    CHECK(ft_log_budget.used == 0);
}

static void alone(void **state)
{
    void (*body)(void) = *(void (**)(void)) * state;
    job_seed(1);
    job_begin(1, 1);
    job_spawn(0, body);
    job_join();
}

/* --- a writer that is killed --- */

enum { KILLS = JOB_TIMES(200) };
/* Words of job.sh: the round that runs; the round whose writer is dead; the round whose log was
 * read to its end; messages read. */
enum { ROUND, KILLED, DONE, HEARD };

static void writer(void)
{
    struct ft_chan_writer w;
    uint32_t era = atomic_load(&job.sh->word[ROUND]) % 2 ? FT_ERA_FIRST : FT_ERA_SETUP;
    ft_log_budget.limit = 6 * CHUNK + (era == FT_ERA_SETUP ? LIMIT / 2 : 0);
    CHECK(ft_chan_open(&w, &job.tp, 0, era, era == FT_ERA_SETUP ? FT_KEEP_ALL : FT_KEEP_NONE) ==
          FT_OK);
    for (uint64_t m = 0;; m++)
        for (size_t done = 0; !append(&w, m, &done);)
            sched_yield();
}

static void reader(void)
{
    struct ft_ctl_peer *me = &job.arena.ctl->peer[1];
    job_meet();
    for (uint64_t round = 1; round <= KILLS; round++) {
        uint64_t off;
        job_await(ROUND, round);
        while ((off = atomic_load(&me->chan)) == 0)
            sched_yield();
        char *base = job.tp.ops->map(&job.tp, 1, 0, job.arena.bytes, FT_TP_LOG);
        CHECK(base);
        struct walk w = walk_begin(base, off, round % 2 ? FT_ERA_FIRST : FT_ERA_SETUP);
        while (atomic_load(&job.sh->word[KILLED]) < round) {
            walk_all(&w, 1);
            atomic_store(&job.sh->word[HEARD], w.message);
        }
        walk_all(&w, 1); /* what the writer had published before it died */
        ft_tp_close(&job.tp);
        CHECK(ft_tp_open(&job.tp, job.provider, &job.arena, job.board, 0) == FT_OK);
        atomic_store(&me->chan, 0);
        atomic_store(&me->released, 0);
        atomic_store(&job.sh->word[HEARD], 0);
        atomic_store(&job.sh->word[DONE], round);
    }
}

static void a_killed_writer_damages_nothing(void **state)
{
    struct ft_prng r = {job_seed(1)};
    (void)state;
    job.arena_bytes = 1ull << 30;
    job_begin(2, 2);
    job_spawn(0, reader);
    job_meet();
    for (uint64_t round = 1; round <= KILLS; round++) {
        atomic_store(&job.sh->word[ROUND], round);
        job_spawn(1, writer);
        job_await(HEARD, 1 + ft_prng_below(&r, 40));
        for (uint64_t n = ft_prng_below(&r, 5000); n > 0; n--)
            ft_cpu_relax();
        kill(job.pid[1], SIGKILL);
        assert_int_equal(job_status(1), SIGKILL);
        atomic_store(&job.sh->word[KILLED], round);
        job_await(DONE, round);
    }
    job_join();
}

/* A pointer to a function is not a pointer to data, hence one more indirection. */
#define ALONE(body)                                             \
    {                                                           \
#body, alone, NULL, NULL, &(void (*[1])(void)) { body } \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(kept_log_is_a_function_of_messages),
        ALONE(what_was_said_is_known_in_any_order),
        ALONE(chunks_are_used_again),
        ALONE(the_limit_holds),
        ALONE(eras),
        ALONE(what_is_behind_the_cut_is_kept),
        ALONE(a_log_goes_on_from_a_place),
        cmocka_unit_test(a_killed_writer_damages_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
