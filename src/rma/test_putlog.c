/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_putlog.c - the put log: puts logged for another rank, stamped window by window, and what a
 * replacement of that rank gathers. Slot 0 is the source, slot 1 the target and gatherer; both know
 * the script.
 */
#define _GNU_SOURCE
#include "alog/homelog.h"
#include "alog/log_read.h"
#include "alog/whole.h"
#include "base/offheap.h"
#include "rma/putlog.h"
#include "transport/test_job.h"

enum { WINS = 3, N = 4000, TO_RUN = 0, STEP = 1 };
#define W(i) job.sh->word[i]
static const int world[] = {0, 1, 2};

struct put {
    uint32_t win, bytes;
    uint64_t off, lo, stamp; /* stamp 0: the epoch is open */
};
static struct put model[N];
static int nmodel;
static uint64_t stamp_at, lo_at;

static char byte_of(uint64_t off, uint32_t k) { return (char)(off * 13 + k * 5 + 3); }

static void put(int real, uint32_t win, uint64_t off, uint64_t lo, uint32_t bytes)
{
    model[nmodel++] = (struct put){win, bytes, off, lo, 0};
    if (!real)
        return;
    struct ft_act *a = ft_putlog_begin(1, win, off, lo, bytes);
    CHECK(a != NULL);
    for (uint32_t k = 0; k < bytes; k++)
        a->data[k] = byte_of(off, k);
    ft_putlog_publish(1, a);
}

static void close_epoch(int real, uint32_t win)
{
    int some = 0;
    for (int i = 0; i < nmodel; i++)
        if (model[i].win == win && model[i].stamp == 0) {
            model[i].stamp = stamp_at + 1;
            some = 1;
        }
    stamp_at += (uint64_t)some; /* an epoch without puts takes no stamp */
    if (real) {
        struct ft_ctl *ctl = ft_tp_ctl(&job.tp, 1);
        ft_putlog_note_begin();
        ft_putlog_stamp(1, win, &ctl->stamp);
        CHECK(atomic_load(&ctl->stamp) == stamp_at);
    }
}

/* Makes n puts to several windows, each with its own epochs; lo rises from time to time. */
static void play(struct ft_prng *r, int real, int n)
{
    for (int i = 0; i < n; i++) {
        lo_at += ft_prng_below(r, 4) == 0;
        uint32_t bytes = (uint32_t)ft_prng_below(r, ft_prng_below(r, 20) ? 64 : FT_ACT_MAX + 1);
        put(real, 1 + (uint32_t)ft_prng_below(r, WINS), ft_prng_below(r, 1 << 20), lo_at, bytes);
        if (ft_prng_below(r, 5) == 0)
            close_epoch(real, 1 + (uint32_t)ft_prng_below(r, WINS));
    }
}

static void same(enum ft_segment seg, uint64_t version, int first)
{
    size_t n;
    uint64_t bytes, want = 0;
    struct ft_eligible_act *acts =
        ft_putlog_gather(&job.tp, 3, 1, world, seg, version, 0, &n, &bytes);
    CHECK(n == (size_t)(nmodel - first));
    for (size_t i = 0; i < n; i++) {
        const struct put *p = &model[first + (int)i];
        const struct ft_act *a = acts[i].what;
        CHECK(acts[i].lo == p->lo && acts[i].stamp == p->stamp && acts[i].source == 0 &&
              (i == 0 || acts[i].serial > acts[i - 1].serial));
        CHECK(a->win == p->win && a->off == p->off && a->bytes == p->bytes &&
              a->kind == FT_ACT_PUT);
        for (uint32_t k = 0; k < p->bytes; k++)
            CHECK(a->data[k] == byte_of(p->off, k));
        want += p->bytes;
    }
    CHECK(bytes == want);
    ft_offheap_free(acts);
}

static void reset_model(void) { nmodel = 0; }

/* Steps are taken in turns: the source acts (the target repeats it on its model), then the target
 * checks. */
static void turn(uint64_t *step)
{
    ++*step;
    if (job.self == 0) {
        atomic_store(&W(STEP), 2 * *step - 1);
        job_await(STEP, 2 * *step);
    } else if (job.self == 1) {
        job_await(STEP, 2 * *step - 1);
    }
}
static void looked(uint64_t step)
{
    if (job.self == 1)
        atomic_store(&W(STEP), 2 * step);
}

static void close_all(int real)
{
    for (uint32_t w = 1; w <= WINS; w++)
        close_epoch(real, w);
}

static void segments_and_cuts(void)
{
    struct ft_prng r = {job.seed};
    int source = job.self == 0, first = 0;
    uint64_t step = 0, used = 0;
    int by_want =
        job.seed % 2; /* trimmed when a chunk is wanted, in the middle of epochs, or at once */
    job_meet();
    atomic_store(&ft_msg_committed, 0);
    if (job.self == 2) /* never puts anything: nothing is gathered from it */
        return job_await(STEP, 1000);
    if (source) {
        ft_putlog_init(&job.tp, 3, 0);
        ft_putlog_segment(FT_SEG_SETUP, 1);
    }
    play(&r, source, 60);
    turn(&step);
    if (!source)
        same(FT_SEG_SETUP, 0, 0);
    looked(step);
    close_all(source); /* the run begins */
    turn(&step);
    if (!source) {
        same(FT_SEG_SETUP, 0, 0);
        same(FT_SEG_RUN, 0, nmodel);
    }
    looked(step);
    reset_model();
    if (source) {
        ft_putlog_segment(FT_SEG_RUN, 1);
        ft_putlog_cut(1);
    }
    for (uint64_t v = 2; v < 12; v++) {
        play(&r, source, 200);
        turn(&step);
        if (!source)
            same(FT_SEG_RUN, v - 1, first);
        looked(step);
        close_all(source);
        int before = nmodel;
        if (source)
            ft_putlog_cut(v);
        play(&r, source, 40);
        turn(&step);
        if (!source) { /* not committed: both cuts may be asked for */
            same(FT_SEG_RUN, v - 1, first);
            same(FT_SEG_RUN, v, before);
        }
        looked(step);
        /* of the intervals since the cut before; the end of a chunk may be unused */
        uint64_t kept = 3 * FT_LOG_CHUNK;
        for (int i = first; i < nmodel; i++)
            kept += ft_log_span(model[i].bytes) * 4 / 3;
        CHECK(!source || !by_want || ft_putlog_kept_for(1) <= kept);
        first = before;
        if (source && by_want)
            atomic_store(&ft_msg_committed, v);
        else if (source)
            ft_putlog_trim(v);
        turn(&step);
        if (!source)
            same(FT_SEG_RUN, v, first);
        looked(step);
        if (v == 5)
            used = ft_log_budget.used;
        if (source && v > 5)
            CHECK(ft_log_budget.used <= used + 40 * FT_LOG_CHUNK &&
                  ft_log_budget.used < 64 * FT_LOG_CHUNK);
    }
    reset_model(); /* a rollback: what was logged is gone, open or not */
    if (source) {
        ft_putlog_segment(FT_SEG_RUN, 1);
        ft_putlog_cut(11);
    }
    turn(&step);
    if (!source)
        same(FT_SEG_RUN, 11, 0);
    looked(step);
    play(&r, source, 100);
    turn(&step);
    if (!source)
        same(FT_SEG_RUN, 11, 0);
    looked(step);
    if (source)
        CHECK(ft_whole_others_from() == 0 && !ft_whole_unkept());
    atomic_store(&W(STEP), 1000);
}

/* A replacement repeats closed epochs: its puts get the stamps and lo of the closing notes,
 * whatever calls(q) is now. */
static void stamped_again(void)
{
    static char note[400][4096], *at;
    static uint32_t len[400];
    static int upto[400], nnotes;
    static uint32_t win[400];
    struct ft_prng r = {job.seed};
    job_meet();
    if (job.self != 0) {
        if (job.self == 2)
            return job_await(STEP, 3);
        while (nmodel < 300) { /* the same script, on the model */
            play(&r, 0, 1);
        }
        job_await(STEP, 1);
        same(FT_SEG_RUN, 1, 0);
        atomic_store(&W(STEP), 2);
        job_await(STEP, 3);
        same(FT_SEG_RUN, 1, 0);
        return;
    }
    ft_putlog_init(&job.tp, 3, 0);
    ft_putlog_segment(FT_SEG_RUN, 1);
    ft_putlog_cut(1);
    struct ft_ctl *ctl = ft_tp_ctl(&job.tp, 1);
    while (nmodel < 300) { /* play(), with the notes kept */
        lo_at += ft_prng_below(&r, 4) == 0;
        uint32_t bytes = (uint32_t)ft_prng_below(&r, ft_prng_below(&r, 20) ? 64 : FT_ACT_MAX + 1);
        put(1, 1 + (uint32_t)ft_prng_below(&r, WINS), ft_prng_below(&r, 1 << 20), lo_at, bytes);
        if (ft_prng_below(&r, 5) != 0)
            continue;
        win[nnotes] = 1 + (uint32_t)ft_prng_below(&r, WINS);
        close_epoch(1, win[nnotes]);
        at = (char *)(uintptr_t)ft_putlog_note(&len[nnotes]);
        CHECK(len[nnotes] <= sizeof note[0]);
        memcpy(note[nnotes], at ? at : "", len[nnotes]);
        upto[nnotes++] = nmodel;
    }
    atomic_store(&W(STEP), 1);
    job_await(STEP, 2);
    uint64_t stamp = atomic_load(&ctl->stamp);
    ft_putlog_segment(FT_SEG_RUN, 1); /* as in a replacement: an empty log */
    ft_putlog_cut(1);
    int n = nmodel, open_from = nnotes ? upto[nnotes - 1] : 0;
    nmodel = 0;
    for (int i = 0, k = 0; i < n; i++) {
        struct put p = model[i];
        put(1, p.win, p.off, i < open_from ? 0 : p.lo,
            p.bytes); /* of closed epochs lo is not known until the note; see access.c */
        model[i] = p;
        for (; k < nnotes && upto[k] == i + 1; k++)
            ft_putlog_stamp_again(win[k], note[k], len[k], &(struct ft_putlog_differs){0});
    }
    /* Puts before the last closing that stayed open were sent again with their former lo. */
    struct ft_log_hdr *hdr =
        (struct ft_log_hdr *)(void *)(job.arena.base + atomic_load(&job.arena.ctl->peer[1].putlog));
    struct ft_log_reader rd;
    struct ft_act *a;
    CHECK(ft_log_read_from(&rd, job.arena.base, hdr + FT_SEG_RUN, (struct ft_log_place){0, 0, 0}));
    for (int i = 0; (a = ft_log_read(&rd)); i++) {
        CHECK(atomic_load(&a->stamp) == model[i].stamp);
        if (model[i].stamp == 0)
            a->call = model[i].lo;
    }
    CHECK(atomic_load(&ctl->stamp) == stamp);
    atomic_store(&W(STEP), 3);
}

/* The target has taken images alone. Puts whose stamps are covered by the latest image are dropped,
 * and not gathered where they still exist. All others are gathered, and get their stamps. */
static void covered(void)
{
    struct ft_prng r = {job.seed};
    int source = job.self == 0;
    uint64_t step = 0, image = 0, freed = 0;
    job_meet();
    if (job.self == 2)
        return job_await(STEP, 1000);
    if (source) {
        ft_putlog_init(&job.tp, 3, 0);
        ft_putlog_segment(FT_SEG_RUN, 1);
        ft_putlog_cut(1);
    }
    for (int round = 0; round < 30; round++) {
        play(&r, source, 70);
        uint64_t back = ft_prng_below(&r, 4);
        if (stamp_at > image + back)
            image = stamp_at - back;
        if (source && ft_prng_below(&(struct ft_prng){job.seed + (uint64_t)round}, 2)) {
            uint64_t kept = ft_putlog_kept_for(1), used = ft_log_budget.used,
                     n = ft_putlog_cover(1, image);
            CHECK(ft_putlog_kept_for(1) == kept - n && ft_log_budget.used <= used - n);
            freed += n;
        }
        turn(&step);
        if (!source) {
            size_t n, k = 0;
            uint64_t bytes;
            struct ft_eligible_act *acts =
                ft_putlog_gather(&job.tp, 3, 1, world, FT_SEG_RUN, 1, image, &n, &bytes);
            for (int i = 0; i < nmodel; i++) {
                if (model[i].stamp && model[i].stamp <= image)
                    continue;
                CHECK(k < n && acts[k].stamp == model[i].stamp && acts[k].lo == model[i].lo);
                CHECK(((const struct ft_act *)acts[k].what)->off == model[i].off);
                k++;
            }
            CHECK(k == n);
            ft_offheap_free(acts);
        }
        looked(step);
    }
    CHECK(!source || freed > 0);
    atomic_store(&W(STEP), 1000);
}

/* A vote has said that all is kept: it is, until main hears of the decision. */
static void no_budget_after_a_vote(void)
{
    job_meet();
    if (job.self != 0)
        return job_await(STEP, 3);
    ft_putlog_init(&job.tp, 3, 0);
    ft_putlog_segment(FT_SEG_RUN, 1);
    ft_putlog_cut(1);
    ft_log_budget.limit = 3 * FT_LOG_CHUNK;
    ft_homelog_now.on = 1;
    atomic_store(&ft_whole.voted, 1);
    for (int i = 0; i < 2000; i++) {
        struct ft_act *a = ft_putlog_begin(1, 1, 0, 1, 1000);
        CHECK(a != NULL && ft_putlog_on);
        ft_putlog_publish(1, a);
    }
    CHECK(ft_log_budget.used > ft_log_budget.limit && !ft_whole_misses_others() &&
          ft_homelog_logs());
    atomic_store(&ft_whole.bound, 1);
    for (int i = 0; ft_putlog_on; i++) {
        struct ft_act *a = ft_putlog_begin(1, 1, 0, 1, 1000);
        CHECK(i < 1000);
        if (a)
            ft_putlog_publish(1, a);
    }
    atomic_store(&W(STEP), 3);
}

static void over_the_budget(void)
{
    job_meet();
    if (job.self == 2)
        return job_await(STEP, 2);
    if (job.self == 0) {
        ft_putlog_init(&job.tp, 3, 0);
        ft_putlog_segment(FT_SEG_RUN, 1);
        ft_putlog_cut(1);
        ft_log_budget.limit = 3 * FT_LOG_CHUNK;
        ft_homelog_segment(FT_SEG_RUN, 1);
        ft_homelog_now.on = 1; /* as if it had a place */
        ft_homelog_now.broken = 0;
        for (int i = 0; ft_putlog_on; i++) {
            struct ft_act *a = ft_putlog_begin(1, 1, 0, 1, 1000);
            CHECK(ft_homelog_logs() == ft_putlog_on);
            CHECK(i < 10000 && (a != NULL) == ft_putlog_on);
            if (a)
                ft_putlog_publish(1, a);
        }
        CHECK(ft_whole_others_from() == UINT64_MAX && ft_log_budget.used <= ft_log_budget.limit);
        CHECK(ft_whole_misses(FT_WHOLE_NEVER)); /* it closes no epoch any more */
        ft_putlog_note_begin();
        ft_putlog_stamp(1, 1, &ft_tp_ctl(&job.tp, 1)->stamp);
        ft_putlog_cut(2); /* once that is committed there is room again */
        CHECK(ft_putlog_on);
        ft_putlog_trim(2);
        for (int i = 0; i < 300; i++)
            put(1, 1, (uint64_t)i, 5, 1000);
        CHECK(ft_putlog_on);
        ft_putlog_segment(FT_SEG_POST, 1);
        while (ft_putlog_on) {
            struct ft_act *a = ft_putlog_begin(1, 1, 0, 1, 1000);
            if (a)
                ft_putlog_publish(1, a);
        }
        CHECK(ft_whole_unkept() == 1);
        atomic_store(&W(STEP), 1);
        job_await(STEP, 2);
    } else {
        for (int i = 0; i < 300; i++)
            put(0, 1, (uint64_t)i, 5, 1000);
        job_await(STEP, 1);
        same(FT_SEG_RUN, 2, 0);
        atomic_store(&W(STEP), 2);
    }
}

/* One put, flushed: the note is rebuilt from its few words, whatever follows. */
static void one_put(void)
{
    char note[FT_PUTLOG_NOTE_OF_ONE];
    struct ft_putlog_differs d = {0};
    job_meet();
    if (job.self != 0)
        return job_await(STEP, 1);
    for (ft_check_data = 0; ft_check_data < 2; ft_check_data++) {
        ft_putlog_init(&job.tp, 3, 0);
        ft_putlog_segment(FT_SEG_RUN, 1);
        put(1, 1, 4096, 7, 24);
        ft_putlog_note_begin();
        ft_putlog_stamp(1, 1, &ft_tp_ctl(&job.tp, 1)->stamp);
        CHECK(ft_putlog_note_one() && ft_putlog_note_one()->lo == 7);
        struct ft_putlog_one one = *ft_putlog_note_one();
        CHECK(one.stamp == atomic_load(&ft_tp_ctl(&job.tp, 1)->stamp) &&
              (one.hash[1] != 0) == ft_check_data);
        uint32_t n = ft_putlog_note_of_one(1, &one, note), len;
        for (int again = 0; again < 2; again++) { /* repeated: the same, then another */
            ft_putlog_segment(FT_SEG_RUN, 1);
            put(1, 1, again ? 4104 : 4096, 0, 24);
            CHECK(ft_putlog_stamp_again(1, note, n, &d) == !again);
        }
        CHECK(d.one && d.rank == 1 && d.off == 4104);
        ft_putlog_segment(FT_SEG_RUN, 1);
        ft_putlog_note_begin();
        CHECK(!ft_putlog_note_one());
        for (int rank = 1; rank < 3; rank++) {
            struct ft_act *a = ft_putlog_begin(rank, 1, 64, 9, 0);
            CHECK(a);
            ft_putlog_publish(rank, a);
            ft_putlog_stamp(rank, 1, &ft_tp_ctl(&job.tp, rank)->stamp);
        }
        CHECK(!ft_putlog_note_one() && ft_putlog_note(&len) && len == 2 * n);
    }
    ft_check_data = 0;
    atomic_store(&W(STEP), 1);
}

static void run(void (*body)(void), int seeds)
{
    uint64_t first = job_seed(1),
             last = getenv("FTRMA_TEST_SEED") ? first : first + (uint64_t)seeds - 1;
    for (job.seed = first; job.seed <= last; job.seed++) {
        job_begin(3, 3);
        for (int i = 0; i < 3; i++)
            job_spawn(i, body);
        job_join();
    }
}

static void test_segments_and_cuts(void **state) { (void)state, run(segments_and_cuts, 8); }
static void test_stamped_again(void **state) { (void)state, run(stamped_again, 10); }
static void test_covered(void **state) { (void)state, run(covered, 8); }
static void test_no_budget_after_a_vote(void **state)
{
    (void)state, run(no_budget_after_a_vote, 1);
}
static void test_over_the_budget(void **state) { (void)state, run(over_the_budget, 1); }
static void test_one_put(void **state) { (void)state, run(one_put, 1); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_segments_and_cuts),
                                       cmocka_unit_test(test_stamped_again),
                                       cmocka_unit_test(test_covered),
                                       cmocka_unit_test(test_over_the_budget),
                                       cmocka_unit_test(test_no_budget_after_a_vote),
                                       cmocka_unit_test(test_one_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
