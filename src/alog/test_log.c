/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_log.c - the action log: what is published is read and nothing else is, in memory that is
 * full of former numbers, whenever the writer dies. FTRMA_TEST_SEED names the seed.
 */
#define _GNU_SOURCE
#include "alog/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alog/log_read.h"
#include "base/sim_seeds.h"

#define SLOTS 24 /* each of FT_LOG_CHUNK bytes; the one at offset 0 is not given out */
#define WATCHDOG 100
#define KILLS 200

static uint64_t seed;

#define CHECK(x)                                                                           \
    do {                                                                                   \
        if (!(x)) {                                                                        \
            fprintf(stderr, "FTRMA_TEST_SEED=%llu: %s:%d: %s\n", (unsigned long long)seed, \
                    __FILE__, __LINE__, #x);                                               \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

/* --- memory: slots of one region; what is taken is full of numbers that could be the next ones ---
 */

struct memory {
    struct ft_log_mem mem; /* first */
    char *base;
    uint64_t slot[SLOTS]; /* bytes given, 0: free */
    uint64_t takes, gives, limit;
    const struct ft_log *log; /* whose numbers to imitate */
};

static uint64_t take(struct ft_log_mem *m, uint64_t bytes, void **addr)
{
    struct memory *y = (struct memory *)m;
    CHECK(bytes == FT_LOG_CHUNK || bytes == FT_LOG_FIRST_CHUNK);
    for (uint64_t i = 1; i <= y->limit; i++) {
        if (y->slot[i])
            continue;
        y->slot[i] = bytes;
        y->takes++;
        *addr = y->base + i * FT_LOG_CHUNK;
        uint64_t first = y->log->cur ? y->log->seq + 1 : y->log->seq;
        for (uint64_t at = 0; at < bytes;
             /* wherever an action may begin, store the number that such an action could have */
             at += 8)
            ((uint64_t *)*addr)[at / 8] =
                at % FT_ACT_STEP ? 0xabababababababab : first + at / FT_CACHE_LINE;
        return i * FT_LOG_CHUNK;
    }
    return 0;
}

static void give(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr)
{
    struct memory *y = (struct memory *)m;
    CHECK(off % FT_LOG_CHUNK == 0 && off > 0 && off / FT_LOG_CHUNK < SLOTS &&
          addr == y->base + off);
    CHECK(y->slot[off / FT_LOG_CHUNK] == bytes);
    y->slot[off / FT_LOG_CHUNK] = 0;
    y->gives++;
}

/* Filled in place, because the log holds its address. */
static void memory_init(struct memory *y, char *base, const struct ft_log *log)
{
    *y = (struct memory){
        .mem = {.take = take, .give = give}, .base = base, .limit = SLOTS - 1, .log = log};
}

static uint64_t memory_used(const struct memory *y)
{
    uint64_t sum = 0;
    for (int i = 0; i < SLOTS; i++)
        sum += y->slot[i];
    return sum;
}

/* --- one process --- */

struct fixture {
    struct memory y;
    struct ft_log l;
    struct ft_log_hdr hdr;
    struct ft_prng rnd;
    struct ft_log_reader r;
    uint64_t written, read; /* actions */
};

static int setup(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    memory_init(&x->y, aligned_alloc(FT_CACHE_LINE, SLOTS * FT_LOG_CHUNK), &x->l);
    x->rnd.s = seed;
    atomic_store(&x->hdr.chunk, 0xabab);
    ft_log_init(&x->l, &x->y.mem, &x->hdr, 1000);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *x = *state;
    ft_log_finish(&x->l);
    CHECK(memory_used(&x->y) == 0 && x->y.takes == x->y.gives && atomic_load(&x->hdr.chunk) == 0);
    free(x->y.base);
    free(x);
    return 0;
}

static uint32_t random_bytes(struct ft_prng *r)
{
    static const uint32_t below[] = {9, 9, 80, 3000, FT_ACT_MAX + 1};
    return (uint32_t)ft_prng_below(
        r, below[ft_prng_below(r, ft_prng_below(r, 20) ? 3 : FT_COUNTOF(below))]);
}

/* Action n; its bytes depend on n and on their count. */
static void fill(struct ft_act *a, uint64_t n)
{
    a->kind = FT_ACT_PUT;
    a->count = n;
    a->off = n * 31;
    a->call = ~n;
    for (uint32_t i = 0; i < a->bytes; i++)
        a->data[i] = (char)(n * 131 + i * 7 + (i >> 8));
}

static int intact(const struct ft_act *a, uint64_t n)
{
    int ok = a->kind == FT_ACT_PUT && a->count == n && a->off == n * 31 && a->call == ~n &&
             a->bytes <= FT_ACT_MAX;
    for (uint32_t i = 0; ok && i < a->bytes; i++)
        ok = a->data[i] == (char)(n * 131 + i * 7 + (i >> 8));
    return ok;
}

static int write_one(struct fixture *x, uint32_t bytes)
{
    struct ft_act *a = ft_log_begin(&x->l, bytes);
    if (!a)
        return 0;
    fill(a, x->written++);
    ft_log_publish(&x->l, a);
    return 1;
}

static void read_one(struct fixture *x)
{
    if (!x->r.chunk)
        CHECK(ft_log_read_from(&x->r, x->y.base, &x->hdr, (struct ft_log_place){0}));
    struct ft_act *a = ft_log_read(&x->r);
    CHECK(a && atomic_load(&a->seq) == x->r.seq && intact(a, x->read++));
}

static void read_all(struct fixture *x)
{
    while (x->read < x->written)
        read_one(x);
    CHECK(!ft_log_read(&x->r) && x->r.seq == x->l.seq);
}

static void steps_and_chunks(void **state)
{
    struct fixture *x = *state;
    CHECK(x->l.seq == 1000 && !x->l.cur && x->y.takes == 0);
    struct ft_log_place end = ft_log_end(&x->l);
    CHECK(end.seq == 1000 && end.chunk == 0);
    CHECK(!ft_log_read_from(&x->r, x->y.base, &x->hdr, end) && !ft_log_read(&x->r));
    static const struct {
        uint32_t bytes, all;
    } sizes[] = {{0, 64}, {8, 64}, {9, 80}, {24, 80}, {25, 96}, {500, 560}};
    for (size_t i = 0; i < FT_COUNTOF(sizes); i++) {
        CHECK(write_one(x, sizes[i].bytes));
        struct ft_log_place next = ft_log_end(&x->l);
        uint64_t before = i ? end.pos : FT_LOG_CHUNK + sizeof(struct ft_log_chunk);
        CHECK(next.chunk == FT_LOG_CHUNK && next.pos == before + sizes[i].all &&
              next.seq == 1001 + i);
        end = next;
    }
    CHECK(x->l.bytes == FT_LOG_FIRST_CHUNK && x->l.actions == FT_COUNTOF(sizes));
    CHECK(write_one(x, FT_ACT_MAX));
    CHECK(x->l.bytes == FT_LOG_FIRST_CHUNK + FT_LOG_CHUNK &&
          ft_log_end(&x->l).chunk == 2 * FT_LOG_CHUNK);
    read_all(x);
    CHECK(x->r.seq == 1000 + x->written + 1); /* a LINK */
    ft_log_clear(&x->l, 7);
    ft_log_finish(&x->l);
    /* One byte more than a first chunk holds. */
    CHECK(write_one(x, FT_LOG_FIRST_CHUNK - 64 - 56 - 64 + 1) && x->l.bytes == FT_LOG_CHUNK);
}

static void a_chunk_is_filled_to_its_last_line(void **state)
{
    struct fixture *x = *state;
    uint64_t fit = FT_LOG_FIRST_CHUNK / FT_CACHE_LINE - 2; /* header and LINK */
    for (uint64_t i = 0; i < fit; i++)
        CHECK(write_one(x, 8));
    CHECK(x->y.takes == 1 && x->l.pos == x->l.end);
    read_all(x);
    struct ft_log_place end = ft_log_end(&x->l);
    CHECK(write_one(x, 8) && x->y.takes == 2);
    read_all(x);
    struct ft_log_reader r; /* a place before the LINK stays valid */
    CHECK(ft_log_read_from(&r, x->y.base, &x->hdr, end));
    struct ft_act *a = ft_log_read(&r);
    CHECK(a && intact(a, fit) && !ft_log_read(&r));
}

static void nothing_is_there_before_it_is_published(void **state)
{
    struct fixture *x = *state;
    for (int i = 0; i < 20000; i++) {
        struct ft_act *a = ft_log_begin(&x->l, i % 3 ? 8 : random_bytes(&x->rnd));
        uint32_t bytes = a->bytes;
        CHECK(!atomic_load(&a->seq) && !atomic_load(&a->stamp) && !a->call && !a->off && !a->count);
        CHECK(!a->win && !a->where && !a->kind && !a->flags);
        fill(a, x->written);
        for (uint32_t k = 0; i % 2 && k + 8 <= bytes; k += 8)
            memcpy(a->data + k, &x->l.seq,
                   8); /* data that look like numbers; they stay in the chunk when it is reused */
        if (!x->r.chunk)
            CHECK(ft_log_read_from(&x->r, x->y.base, &x->hdr, (struct ft_log_place){0}));
        CHECK(!ft_log_read(&x->r));
        fill(a, x->written++);
        ft_log_publish(&x->l, a);
        read_all(x);
        ft_log_trim(&x->l, x->r.seq);
    }
    CHECK(x->l.actions == 20000);
}

/* Numbers that were used once come again after a clear, and reused chunks hold all of them. */
static void numbers_that_come_again(void **state)
{
    struct fixture *x = *state;
    for (int round = 0; round < 40; round++) {
        uint64_t n = ft_prng_below(&x->rnd, 9000);
        for (uint64_t i = 0; i < n; i++) {
            CHECK(write_one(x, 8));
            read_one(x);
            CHECK(!ft_log_read(&x->r));
        }
        uint64_t seq = ft_prng_below(&x->rnd, 3) ? 1000 : x->l.seq;
        ft_log_clear(&x->l, seq);
        struct ft_log_place end = ft_log_end(&x->l);
        CHECK(end.seq == seq && !end.chunk && x->l.bytes == 0 && atomic_load(&x->hdr.chunk) == 0);
        CHECK(!ft_log_read_from(&x->r, x->y.base, &x->hdr, end));
    }
}

static void places(void **state)
{
    struct fixture *x = *state;
    struct {
        struct ft_log_place place;
        uint64_t action;
    } at[64];
    size_t n = 0;
    for (int i = 0; i < 2000; i++) {
        if (n < FT_COUNTOF(at) && ft_prng_below(&x->rnd, 30) == 0) {
            at[n].place = ft_log_end(&x->l);
            at[n++].action = x->written;
        }
        CHECK(write_one(x, random_bytes(&x->rnd) % 2000));
    }
    for (size_t i = 0; i < n; i++) {
        struct ft_log_reader r;
        CHECK(ft_log_read_from(&r, x->y.base, &x->hdr, at[i].place));
        for (uint64_t k = at[i].action; k < x->written; k++) {
            struct ft_act *a = ft_log_read(&r);
            CHECK(a && intact(a, k));
        }
        struct ft_log_place end = ft_log_end(&x->l), mine = ft_log_reader_place(&r);
        CHECK(!ft_log_read(&r) && memcmp(&end, &mine, sizeof end) == 0);
    }
    CHECK(n > 3);
}

static void trim_frees_whole_chunks_only(void **state)
{
    struct fixture *x = *state;
    uint64_t kept = 0, freed = 0;
    for (int i = 0; i < 30000; i++) {
        while (!write_one(x, random_bytes(&x->rnd)))
            ft_log_trim(&x->l, x->l.seq);
        if (ft_prng_below(&x->rnd, 200))
            continue;
        uint64_t seq =
                     x->l.oldest->first + ft_prng_below(&x->rnd, x->l.seq - x->l.oldest->first + 1),
                 before = x->l.bytes;
        if (ft_prng_below(&x->rnd, 2)) { /* just where a chunk begins */
            char *second = x->y.base + atomic_load(&x->l.oldest->next);
            seq = second > x->y.base ? ((struct ft_log_chunk *)(void *)second)->first : seq;
        }
        uint64_t current = x->l.cur->bytes;
        ft_log_trim(&x->l, seq);
        CHECK(x->l.bytes >= current && atomic_load(&x->hdr.chunk) == x->l.oldest->off);
        freed += x->l.bytes < before;
        struct ft_log_reader r;
        CHECK(ft_log_read_from(&r, x->y.base, &x->hdr, (struct ft_log_place){0}) &&
              r.seq == x->l.oldest->first);
        CHECK(r.seq <= seq); /* nothing from seq on has gone ... */
        uint64_t sum = r.chunk->bytes, oldest = r.chunk->off;
        for (struct ft_act *a; (a = ft_log_read(&r));) {
            CHECK(r.seq <= seq || intact(a, a->count));
            if (r.chunk->off != oldest) { /* ... and nothing that could have */
                CHECK(r.chunk->first > seq);
                oldest = r.chunk->off;
                sum += r.chunk->bytes;
                kept++;
            }
        }
        CHECK(r.seq == x->l.seq && sum == x->l.bytes);
    }
    CHECK(kept > 0 && freed > 0);
    ft_log_trim(&x->l, UINT64_MAX);
    CHECK(x->l.oldest == x->l.cur && x->l.bytes == x->l.cur->bytes);
}

static void steady_state_takes_nothing(void **state)
{
    struct fixture *x = *state;
    uint64_t warm = 0, gives = 0;
    for (int i = 0; i < 60000; i++) {
        CHECK(write_one(x, random_bytes(&x->rnd) % 4000));
        if (i % 500 == 0)
            ft_log_trim(&x->l, x->l.seq);
        if (i == 30000) {
            warm = x->y.takes;
            gives = x->y.gives;
            x->y.limit = 0;
        }
    }
    CHECK(x->y.takes == warm && x->y.gives == gives && warm > 1 && warm < 14);
}

static void no_memory_changes_nothing(void **state)
{
    struct fixture *x = *state;
    int failed = 0;
    x->y.limit = 0;
    for (int i = 0; i < 3000; i++) {
        struct ft_log before = x->l;
        uint32_t bytes = random_bytes(&x->rnd);
        if (write_one(x, bytes)) {
            read_all(x);
            continue;
        }
        CHECK(memcmp(&before, &x->l, sizeof before) == 0);
        CHECK(!x->r.chunk || !ft_log_read(&x->r));
        CHECK(!ft_log_begin(&x->l, bytes));
        failed++;
        if (x->l.cur && x->y.limit > 4) /* enough; from here on only what is trimmed */
            ft_log_trim(&x->l, x->l.seq);
        else
            x->y.limit++;
        CHECK(write_one(x, bytes) || x->y.limit == 5);
    }
    CHECK(failed >= 5);
}

static void a_new_writer_goes_on(void **state)
{
    struct fixture *x = *state;
    struct memory second;
    for (int round = 0; round < 300; round++) {
        for (uint64_t n = ft_prng_below(&x->rnd, 200); n > 0; n--)
            while (!write_one(x, random_bytes(&x->rnd)))
                ft_log_trim(&x->l, x->r.seq), read_all(x);
        if (ft_prng_below(&x->rnd, 2)) { /* dies in an action */
            struct ft_act *half = ft_log_begin(&x->l, random_bytes(&x->rnd));
            if (half)
                fill(half, ~0ull);
            if (half && ft_prng_below(&x->rnd, 2))
                half->kind = FT_ACT_LINK;
        }
        if (!x->l.cur)
            continue;
        read_all(x);
        ft_log_trim(&x->l,
                    x->l.oldest->first + ft_prng_below(&x->rnd, x->l.seq - x->l.oldest->first + 1));
        struct ft_log former = x->l;
        while (former.free_list) { /* the dead one's own */
            struct ft_log_chunk *c = former.free_list;
            uint64_t next = atomic_load(&c->next);
            give(&x->y.mem, c->off, c->bytes, c);
            former.free_list = next ? (struct ft_log_chunk *)(void *)(x->y.base + next) : NULL;
        }
        second = x->y;
        atomic_store((_Atomic uint64_t *)(void *)x->r.pos,
                     round % 2 ? x->r.seq + 1 : 0); /* cleaned, whatever is there */
        ft_log_resume(&x->l, &x->y.mem, &x->hdr, x->y.base, &x->r);
        CHECK(!ft_log_read(&x->r));
        CHECK(x->l.seq == former.seq && x->l.bytes == former.bytes && x->l.cur == former.cur &&
              x->l.pos == former.pos);
        CHECK(x->l.end == former.end && x->l.oldest == former.oldest && x->l.actions == 0);
        CHECK(memcmp(second.slot, x->y.slot, sizeof second.slot) == 0);
    }
    read_all(x);
}

/* The former writer had written a chunk into `next`, but no LINK: the chunk is used, not lost. */
static void a_chunk_without_its_link_is_found(void **state)
{
    struct fixture *x = *state;
    CHECK(write_one(x, 8) && write_one(x, FT_ACT_MAX));
    read_all(x);
    void *addr = NULL;
    uint64_t off = take(&x->y.mem, FT_LOG_CHUNK, &addr), takes = x->y.takes;
    CHECK(addr);
    struct ft_log_chunk *c = addr;
    *c = (struct ft_log_chunk){.first = x->l.seq + 1, .bytes = FT_LOG_CHUNK, .off = off};
    atomic_store(&x->l.cur->next, off);
    ft_log_resume(&x->l, &x->y.mem, &x->hdr, x->y.base, &x->r);
    CHECK(x->l.free_list == c && atomic_load(&x->l.cur->next) == 0); /* found once */
    for (int i = 0; i < 4; i++)
        CHECK(write_one(x, FT_ACT_MAX));
    CHECK(x->y.takes == takes && x->l.cur == c);
    read_all(x);
}

static void a_writer_resumes_where_nothing_was(void **state)
{
    struct fixture *x = *state;
    CHECK(!ft_log_read_from(&x->r, x->y.base, &x->hdr, (struct ft_log_place){.seq = 77}));
    ft_log_resume(&x->l, &x->y.mem, &x->hdr, x->y.base, &x->r);
    CHECK(x->l.seq == 77 && !x->l.cur && write_one(x, 5));
    read_all(x);
    CHECK(x->r.seq == 78);
}

/* --- a writer in another process, killed again and again --- */

struct shared {
    struct ft_log_hdr hdr;
    _Atomic uint64_t confirmed; /* the reader needs nothing before this */
    char pad[48];
    FT_ALIGNED_LINE char region[];
};

/* Slots that are linked from the header on are taken, others free: what the dead writer had set
 * aside is not lost. */
static void memory_of_a_dead_writer(struct memory *y, struct shared *s)
{
    for (uint64_t off = atomic_load(&s->hdr.chunk); off;) {
        struct ft_log_chunk *c = (struct ft_log_chunk *)(void *)(s->region + off);
        CHECK(c->off == off && !y->slot[off / FT_LOG_CHUNK]);
        y->slot[off / FT_LOG_CHUNK] = c->bytes;
        off = atomic_load(&c->next);
    }
}

_Noreturn static void writer(struct shared *s, uint64_t next, uint64_t round)
{
    struct ft_prng rnd = {seed + round * 7919};
    struct ft_log l = {0};
    struct memory y;
    struct ft_log_reader r;
    memory_init(&y, s->region, &l);
    memory_of_a_dead_writer(&y, s);
    if (ft_log_read_from(&r, s->region, &s->hdr, (struct ft_log_place){.seq = 5}))
        for (struct ft_act *a; (a = ft_log_read(&r));)
            next = a->count + 1;
    ft_log_resume(&l, &y.mem, &s->hdr, s->region, &r);
    for (;;) {
        struct ft_act *a = ft_log_begin(&l, random_bytes(&rnd));
        if (a) {
            fill(a, next++);
            ft_log_publish(&l, a);
        }
        if (!a || ft_prng_below(&rnd, 8) == 0)
            ft_log_trim(&l, atomic_load_explicit(&s->confirmed, memory_order_acquire));
    }
}

static void a_killed_writer_damages_nothing(void **state)
{
    (void)state;
    size_t bytes = sizeof(struct shared) + SLOTS * FT_LOG_CHUNK;
    struct shared *s = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(s != MAP_FAILED);
    struct ft_prng rnd = {seed};
    struct ft_log_reader r = {0};
    uint64_t next = 0;
    alarm(WATCHDOG);
    for (uint64_t round = 0; round < KILLS; round++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(WATCHDOG);
            writer(s, next, round);
        }
        for (uint64_t stop = next + 1 + ft_prng_below(&rnd, 1 + ft_prng_below(&rnd, 2000));
             next < stop;) {
            struct ft_act *a;
            if (!r.chunk && !ft_log_read_from(&r, s->region, &s->hdr, (struct ft_log_place){0}))
                continue;
            if (!(a = ft_log_read(&r)))
                continue;
            CHECK(intact(a, next++));
            if (ft_prng_below(&rnd, 4) == 0)
                atomic_store_explicit(&s->confirmed, r.seq, memory_order_release);
        }
        for (uint64_t n = ft_prng_below(&rnd, 5000); n > 0; n--)
            ft_cpu_relax();
        int status;
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    for (struct ft_act *a; (a = ft_log_read(&r));)
        CHECK(intact(a, next++));
    alarm(0);
    munmap(s, bytes);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    seed = test_seed(20250713);
    const struct CMUnitTest tests[] = {
        TEST(steps_and_chunks),
        TEST(a_chunk_is_filled_to_its_last_line),
        TEST(nothing_is_there_before_it_is_published),
        TEST(numbers_that_come_again),
        TEST(places),
        TEST(trim_frees_whole_chunks_only),
        TEST(steady_state_takes_nothing),
        TEST(no_memory_changes_nothing),
        TEST(a_new_writer_goes_on),
        TEST(a_chunk_without_its_link_is_found),
        TEST(a_writer_resumes_where_nothing_was),
        cmocka_unit_test(a_killed_writer_damages_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
