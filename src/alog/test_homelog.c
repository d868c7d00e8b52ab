/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_homelog.c - the home log: a writer that dies at any moment; replacements that walk along
 * what it had logged and go on writing; cuts, rollbacks; a file whose maker dies. Slots: 0 the
 * writer (rank 0), 2 and 4 its replacements, 1 and 3 processes that hold the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "alog/homelog_replay.h"
#include "alog/mock_homelog.h"

static char point_spec[80];

static void writer(void)
{
    if (*point_spec)
        CHECK(ft_fp_arm(point_spec, FT_ROLE_RANK, 0, 0) == FT_OK);
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    go_on(0);
    atomic_store(&W(OVER), 1);
    for (;;)
        sched_yield(); /* waits to be killed */
}

/* A process that has made the file of home logs, or has opened it when it started. */
static void maker(void)
{
    job.board->homelogs_pid = 0;
    CHECK(ft_arena_homelogs(job.board, "memfd"));
    CHECK(ft_homelogs_hold(job.board, job.self));
    atomic_store(&W(HELD), 1);
    for (;;)
        pause();
}

static void holder(void)
{
    CHECK(atomic_load(&job.board->slot[job.self].homelogs_fd) >= 0);
    atomic_store(&W(HELD), 2);
    for (;;)
        pause();
}

/* --- a replacement --- */

static void unexpected(const struct ft_act *was, enum ft_act_kind kind, uint32_t win, int where,
                       uint64_t off, const struct ft_mismatch *mismatch)
{
    (void)was, (void)win, (void)where, (void)off, (void)mismatch;
    fprintf(stderr, "divergence, kind %d\n", (int)kind);
    CHECK(!"the same program diverged");
}

static int ahead(int i, int end, enum ft_act_kind kind, uint32_t win, int target)
{
    for (; i < end; i++)
        if (script[i].kind == kind && script[i].win == win &&
            (script[i].where == target || (kind == FT_ACT_CLOSE && script[i].where == -1)))
            return 1;
    return 0;
}

static void same_data(const struct ft_act *a, int i)
{
    CHECK(a && a->bytes == script[i].bytes && a->count == script[i].count &&
          a->flags == script[i].flags);
    CHECK(atomic_load(&a->stamp) == script[i].stamp && a->call == script[i].call);
    for (uint32_t k = 0; k < a->bytes; k++)
        CHECK(a->data[k] == byte_of(i, k));
}

static uint64_t last_stamp(int first, int end)
{
    uint64_t most = 0;
    for (int i = first; i < end; i++)
        if (script[i].kind == FT_ACT_ATOMIC && (script[i].flags & FT_ACT_SELF))
            most = ft_max_u64(most, script[i].stamp);
    return most;
}

/* What has just been read is actions [first, end): walks along them. */
static void walk(int first, int end)
{
    uint64_t bytes = 0, want = 0;
    const struct ft_act *a;
    size_t own = 0;
    CHECK(ft_homelog_fetched(&bytes) == (size_t)(end - first));
    CHECK(ft_homelog_last_stamp() >= last_stamp(first, end));
    for (int i = first; i < end; i++) {
        const struct made *m = &script[i];
        want += m->bytes;
        if (m->kind == FT_ACT_ATOMIC &&
            (m->flags & (FT_ACT_SELF | FT_ACT_LEFT)) == (FT_ACT_SELF | FT_ACT_LEFT))
            same_data(ft_homelog_own(&own), i);
        if (m->kind == FT_ACT_WILD)
            CHECK(ft_homelog_wild(m->count) == m->where);
    }
    CHECK(!ft_homelog_own(&own) && bytes == want);
    for (int i = first, over; i < end; i++) {
        const struct made *m = &script[i];
        if (m->kind == FT_ACT_WILD) /* in passing */
            continue;
        CHECK(!ft_homelog_at_end());
        for (uint32_t w = 1; w <= WINS; w++)
            for (int t = 0; t < TARGETS; t++) {
                CHECK(ft_homelog_closed_ahead(w, t) == ahead(i, end, FT_ACT_CLOSE, w, t));
                CHECK(ft_homelog_locked_ahead(w, t) == ahead(i, end, FT_ACT_LOCK, w, t));
            }
        if (ft_calls < m->call) { /* a call without an outcome */
            ft_calls = m->call - 1;
            CHECK(!ft_homelog_outcome(&over) && !over);
        }
        ft_calls = m->call;
        a = m->kind == FT_ACT_OUTCOME ? ft_homelog_outcome(&over)
                                      : ft_homelog_expect(m->kind, m->win, m->where, m->off,
                                                          i % 2 ? (int64_t)m->bytes : -1);
        same_data(a, i);
    }
    int over;
    CHECK(ft_homelog_at_end() && !ft_homelog_expect(FT_ACT_GET, 1, 1, 0, 8) &&
          !ft_homelog_outcome(&over) && over);
}

/* How many actions are there: the WRITTEN ones, and perhaps the one that was under way. */
static int end_of(int first)
{
    uint64_t bytes;
    int end = first + (int)ft_homelog_fetched(&bytes), said = (int)atomic_load(&W(WRITTEN));
    CHECK(end == said || end == said + 1);
    return end;
}

static int lost_home = -1; /* the file of the lost process's node; -1: it is this one's */

static int read_lost_home(uint64_t off, void *to, uint64_t len) /* of rank 0 */
{
    memset(to, 0, len);
    return pread(lost_home, to, len, (off_t)off) >= 0;
}

static int replacements_end; /* the first replacement goes on up to here, and then dies */

static void replace(int dead)
{
    ft_replay_diverged = unexpected;
    ft_replay = FT_REPLAY;
    if (lost_home >= 0)
        ft_homelog_fetch_by(read_lost_home);
    CHECK(ft_homelog_init(&job.tp, 0, 1, atomic_load(&job.board->slot[dead].testament.events), 1) ==
          1);
    CHECK(atomic_load(&job.board->slot[job.self].testament.log_here) == 1);
    uint64_t v = atomic_load(&W(CUT_VERSION)), bytes;
    int said = (int)atomic_load(&W(WRITTEN)), next = (int)ft_homelog_fetched(&bytes);
    CHECK(said >= spec_setup ? next == spec_setup : end_of(0) == next);
    walk(0, next);
    if (next == spec_setup && said >= spec_setup) {
        _Atomic uint64_t *w = &W(PLACE + 4 * (v & 1));
        struct ft_log_place place = {atomic_load(&w[0]), atomic_load(&w[1]), atomic_load(&w[2])};
        int first = v ? (int)atomic_load(&w[3]) : spec_setup;
        ft_homelog_read(FT_SEG_RUN, v ? &place : NULL);
        if (v)
            ft_homelog_set_cut(v, place.seq);
        walk(first, next = end_of(first));
    }
    ft_homelog_replay_over();
    ft_replay = FT_LIVE;
    spec_end = replacements_end;
    go_on(next);
    atomic_store(&W(OVER), atomic_load(&W(OVER)) + 1);
}

static void first_replacement(void)
{
    replace(0);
    for (;;)
        sched_yield();
}

static void second_replacement(void)
{
    replacements_end = N;
    replace(2);
    CHECK(atomic_load(&W(WRITTEN)) == N && ft_homelog_logs());
}

static void begin(void)
{
    job_begin(SLOTS, SLOTS);
    write_script();
}

/* Waits until OVER has come to v, or the slot that brings it there has failed. */
static void await_from(int slot, uint64_t v)
{
    siginfo_t info = {0};
    while (atomic_load(&W(OVER)) < v && info.si_pid == 0) {
        waitid(P_PID, (id_t)job.pid[slot], &info, WEXITED | WNOHANG | WNOWAIT);
        sched_yield();
    }
}

static void end_slot(int slot)
{
    kill(job.pid[slot], SIGKILL);
    assert_int_equal(job_status(slot), SIGKILL);
}

/* The writer is dead. One replacement goes on and dies; the next one reads what both have
 * written. */
static void replace_twice(struct ft_prng *r)
{
    int now = (int)atomic_load(&W(WRITTEN));
    replacements_end = now + 1 + (int)ft_prng_below(r, (uint64_t)(N - now > 1 ? N - now : 1));
    if (replacements_end > N)
        replacements_end = N;
    uint64_t over = atomic_load(&W(OVER));
    job_spawn(2, first_replacement);
    await_from(2, over + 1);
    end_slot(2);
    job_spawn(4, second_replacement);
    assert_int_equal(job_status(4), 0);
}

/* --- on another node --- */

struct node_file {
    struct ft_fd_file file;
    int fd;
};

static struct node_file this_nodes(void)
{
    return (struct node_file){job.board->homelogs_file, job.board->homelogs_fd};
}

/* The next processes are on a node whose file is this one. */
static void on_node(const struct node_file *n)
{
    job.board->homelogs_file = n->file;
    job.board->homelogs_fd = n->fd;
}

static void half_fetched(void)
{
    CHECK(ft_fp_arm(point_spec, FT_ROLE_RANK, 0, 0) == FT_OK);
    ft_homelog_fetch_by(read_lost_home);
    (void)ft_homelog_init(&job.tp, 0, 1, 0, 1);
    CHECK(!"not killed");
}

/* f is lost on A. f' on B is lost while it fetches the home log, then the next one there has all of
 * it and goes on. It is lost, and the last one, back on A, does not take what A still has. */
static void moved_at_random(void **state)
{
    (void)state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 25;
    spec_setup = SETUP;
    for (job.seed = first; job.seed <= last; job.seed++) {
        struct ft_prng r = {job.seed * 81};
        spec_end = N;
        point_spec[0] = '\0';
        begin();
        struct node_file a = this_nodes(), b;
        job_spawn(0, writer);
        job_await(WRITTEN, 1 + ft_prng_below(&r, N - 30));
        end_slot(0);
        job.board->homelogs_pid = 0;
        assert_true(ft_arena_homelogs(job.board, "memfd"));
        b = this_nodes();
        on_node(&b);
        lost_home = a.fd;
        snprintf(point_spec, sizeof point_spec, "rank=0,point=%s",
                 job.seed % 3 ? "replay.home" : "replay.home.done");
        job_spawn(1, half_fetched);
        assert_int_equal(job_status(1), SIGKILL);
        assert_int_equal(atomic_load(&job.board->slot[1].testament.log_here), 0);
        uint64_t over = atomic_load(&W(OVER)), now = atomic_load(&W(WRITTEN));
        replacements_end = (int)(now + ft_prng_below(&r, N + 1 - now));
        job_spawn(2, first_replacement);
        await_from(2, over + 1);
        end_slot(2);
        on_node(&a);
        lost_home = b.fd;
        job_spawn(4, second_replacement);
        assert_int_equal(job_status(4), 0);
        lost_home = -1;
        close(b.fd);
        job_join();
    }
}

/* The replacement begins when all was written and the first one has ended. */
static void one_after_the_other(void (*first)(void), void (*replacement)(void))
{
    begin();
    job_spawn(0, first);
    job_await(OVER, 1);
    end_slot(0);
    job_spawn(2, replacement);
    assert_int_equal(job_status(2), 0);
    job_join();
}

static void replaced_without_its_log(void)
{
    ft_replay = FT_REPLAY;
    ft_homelog_fetch_by(read_lost_home); /* of no file */
    CHECK(ft_homelog_init(&job.tp, 0, 1, SETUP, 1) == 0 && ft_homelog_now.missing);
    CHECK(atomic_load(&job.board->slot[job.self].testament.log_here) == 0);
    ft_homelog_read(FT_SEG_RUN,
                    &(struct ft_log_place){atomic_load(&W(PLACE)), atomic_load(&W(PLACE + 1)),
                                           atomic_load(&W(PLACE + 2))});
    CHECK(atomic_load(&W(PLACE + 1)) != 0 && ft_homelog_at_end());
    ft_homelog_all_went_back();
    CHECK(atomic_load(&job.board->slot[job.self].testament.log_here) == 1);
}

/* The node with the log is out. What a carrier of before had left here does not count. */
static void the_log_is_lost(void **state)
{
    (void)state;
    job_seed(2);
    point_spec[0] = '\0';
    spec_setup = SETUP;
    spec_end = N;
    one_after_the_other(writer, replaced_without_its_log);
}

static void killed_at_random(void **state)
{
    (void)state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 25;
    point_spec[0] = '\0';
    spec_setup = SETUP;
    spec_end = N;
    for (job.seed = first; job.seed <= last; job.seed++) {
        struct ft_prng r = {job.seed * 77};
        begin();
        job_spawn(0, writer);
        job_await(WRITTEN, 1 + ft_prng_below(&r, N - 30));
        for (uint64_t n = ft_prng_below(&r, 500); n > 0; n--)
            ft_cpu_relax();
        end_slot(0);
        replace_twice(&r);
        job_join();
    }
}

/* A job without ftrun: one of its processes has made the file, and is lost before or after the
 * writer. Replacements find it in the others. It does not grow by what the lost processes had. */
static void the_log_outlives_all(void **state)
{
    (void)state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 25;
    point_spec[0] = '\0';
    spec_setup = SETUP;
    spec_end = N;
    for (job.seed = first; job.seed <= last; job.seed++) {
        struct ft_prng r = {job.seed * 79};
        struct stat sb;
        int before = (int)ft_prng_below(&r, 2);
        begin();
        close(job.board->homelogs_fd);
        job_spawn(1, maker);
        job_await(HELD, 1);
        job_spawn(3, holder);
        job_await(HELD, 2);
        job_spawn(0, writer);
        job_await(WRITTEN, 1 + ft_prng_below(&r, N - 30));
        if (before)
            end_slot(1);
        for (uint64_t n = ft_prng_below(&r, 500); n > 0; n--)
            ft_cpu_relax();
        end_slot(0);
        if (!before)
            end_slot(1);
        replace_twice(&r);
        int fd = ft_homelogs_open(job.board, O_RDONLY);
        assert_int_equal(fstat(fd, &sb), 0);
        close(fd);
        if (sb.st_size > (off_t)(N * (NDATA / 8 + 64) * 2 + 8 * FT_LOG_CHUNK))
            fail_msg("FTRMA_TEST_SEED=%llu: the file has %llu bytes", (unsigned long long)job.seed,
                     (unsigned long long)sb.st_size);
        end_slot(3);
        assert_int_equal(ft_homelogs_open(job.board, O_RDONLY), -1);
        assert_int_equal(errno, ESRCH);
        job_join();
    }
}

/* An action that was not published never existed. A published one is there, although the writer
 * came no further. */
static void killed_at_a_point(void **state)
{
    (void)state;
    struct ft_prng r = {job_seed(5)};
    spec_setup = SETUP;
    spec_end = N;
    for (int k = 0; k < 12; k++) {
        int hit = 1 + (int)ft_prng_below(&r, N - 30);
        begin();
        snprintf(point_spec, sizeof point_spec, "rank=0,point=%s,hit=%d",
                 k % 2 ? "log.event.done" : "log.event", hit);
        job_spawn(0, writer);
        assert_int_equal(job_status(0), SIGKILL);
        assert_int_equal(atomic_load(&W(WRITTEN)), hit - 1);
        replace_twice(&r);
        job_join();
    }
    point_spec[0] = '\0';
}

/* --- a rollback: the run's log begins again --- */

static void rolled_back_writer(void)
{
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    go_on(0);
    ft_homelog_segment(FT_SEG_RUN, 1);
    ft_homelog_set_cut(2, 0);
    note_all(SETUP, SETUP + 40);
    atomic_store(&W(OVER), 1);
    pause();
}

static void after_rollback(void)
{
    ft_replay_diverged = unexpected;
    ft_replay = FT_REPLAY;
    CHECK(ft_homelog_init(&job.tp, 0, 1, SETUP, 1) == 1);
    walk(0, SETUP);
    ft_homelog_read(FT_SEG_RUN, NULL);
    walk(SETUP, SETUP + 40);
}

static void rollback(void **state)
{
    (void)state;
    job_seed(3);
    spec_setup = SETUP;
    spec_end = N;
    one_after_the_other(rolled_back_writer, after_rollback);
}

static uint64_t whole(void) { return atomic_load(&job.board->slot[job.self].testament.own_from); }

/* --- what was recorded cannot be read --- */

static void one_is_missing(void)
{
    ft_replay = FT_REPLAY;
    uint64_t events = atomic_load(&job.board->slot[0].testament.events);
    CHECK(events == SETUP);
    CHECK(ft_homelog_init(&job.tp, 0, 1, events + 1, 1) == 0);
}

/* Nobody has the file. A process that has noted nothing yet goes on without a log, and says so when
 * there is something to log; a replacement cannot. */
static void without_a_file(void)
{
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    CHECK(!ft_whole_unkept() && !ft_homelog_logs());
    note_one(0);
    CHECK(ft_whole_unkept());
    CHECK(ft_homelog_setup_bytes() == 0);
    ft_homelog_segment(FT_SEG_RUN, 1);
    CHECK(whole() == 0 && !ft_homelog_logs());
    note_one(SETUP);
    CHECK(whole() == UINT64_MAX && !ft_homelog_begin_anew());
    ft_homelog_cut(2);
    CHECK(whole() == UINT64_MAX);
}

static void replaced_without_a_file(void)
{
    ft_replay = FT_REPLAY;
    CHECK(ft_homelog_init(&job.tp, 0, 1, 1, 1) == 0);
}

static void no_file(void **state)
{
    (void)state;
    job_seed(6);
    begin();
    close(job.board->homelogs_fd);
    job.board->homelogs_pid = 0;
    job_spawn(0, without_a_file);
    assert_int_equal(job_status(0), 0);
    job_spawn(2, replaced_without_a_file);
    assert_int_equal(job_status(2), 0);
    job_join();
}

static void missing_actions(void **state)
{
    (void)state;
    job_seed(6);
    spec_setup = SETUP;
    spec_end = SETUP + 20;
    begin();
    job_spawn(0, writer);
    job_await(OVER, 1);
    end_slot(0);
    job_spawn(4, one_is_missing);
    assert_int_equal(job_status(4), 0);
    job_join();
}

/* --- over the budget --- */

static void over_budget_in_run(void)
{
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    ft_homelog_segment(FT_SEG_RUN, 1);
    ft_log_budget.limit = ft_log_budget.used + 3 * FT_LOG_CHUNK;
    int i = 0;
    for (; whole() == 0; i++) {
        CHECK(i < 100000);
        note_one(i % N);
    }
    CHECK(!ft_homelog_logs() && !ft_homelog_begin(FT_ACT_TIME, 0, 0, 0, 8) &&
          ft_log_budget.used <= ft_log_budget.limit);
    save_place(4, ft_homelog_cut(4), 100); /* from here on it is complete, once there is room */
    CHECK(whole() == 4 && ft_homelog_logs());
    ft_homelog_trim(4);
    for (i = 100; i < 500; i++)
        note_one(i);
    CHECK(whole() == 4 && !ft_whole_unkept());
    atomic_store(&W(OVER), 1);
    pause();
}

/* The same, and an image is taken alone. */
static void anew_in_run(void)
{
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    ft_homelog_segment(FT_SEG_RUN, 1);
    ft_homelog_cut(2);
    CHECK(ft_homelog_begin_anew() && whole() == 0); /* nothing was lost */
    ft_log_budget.limit = ft_log_budget.used + 3 * FT_LOG_CHUNK;
    uint64_t before = ft_homelog_place().seq;
    for (int i = 0; ft_homelog_logs(); i++)
        note_one(i % N);
    CHECK(whole() == UINT64_MAX && ft_whole_misses(FT_WHOLE_OWN));
    CHECK(ft_homelog_begin_anew() && ft_homelog_logs() && !atomic_load(&ft_whole.own));
    struct ft_log_place at = ft_homelog_place();
    save_place(4, at, 100);
    note_all(100, 500);
    CHECK(ft_homelog_logs() && !ft_homelog_cover(2, before) &&
          whole() == UINT64_MAX); /* an image of before does not mend it */
    CHECK(ft_homelog_cover(2, at.seq) && whole() == 2 && !ft_homelog_cover(2, at.seq));
    ft_homelog_incomplete(FT_UNKEPT_GETS);
    CHECK(whole() == UINT64_MAX && !ft_homelog_begin_anew() &&
          !ft_homelog_cover(2, ft_homelog_place().seq)); /* it may do so again */
    ft_homelog_cut(3);
    CHECK(whole() == 3 && ft_homelog_logs() && !atomic_load(&ft_whole.own));
    CHECK((ft_whole_own_cut(4), whole()) == 4 && ft_homelog_logs()); /* of one that closes epochs */
    atomic_store(&W(OVER), 1);
    pause();
}

static void after_over_budget(void)
{
    ft_replay_diverged = unexpected;
    ft_replay = FT_REPLAY;
    CHECK(ft_homelog_init(&job.tp, 0, 1, 0, 1) == 1);
    struct ft_log_place place = {atomic_load(&W(PLACE)), atomic_load(&W(PLACE + 1)),
                                 atomic_load(&W(PLACE + 2))};
    ft_homelog_read(FT_SEG_RUN, &place);
    walk(100, 500);
}

static void over_budget_in_setup(void)
{
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    ft_log_budget.limit = 2 * FT_LOG_CHUNK;
    for (int i = 0; !ft_whole_unkept(); i++) {
        CHECK(i < 100000);
        note_one(i % N);
    }
    CHECK(whole() == 0 && !ft_homelog_logs());
}

static void over_budget(void **state)
{
    (void)state;
    job_seed(7);
    begin();
    job_spawn(0, over_budget_in_run);
    await_from(0, 1);
    end_slot(0);
    job_spawn(2, after_over_budget);
    assert_int_equal(job_status(2), 0);
    job_spawn(4, over_budget_in_setup);
    assert_int_equal(job_status(4), 0);
    job_join();
}

static void anew(void **state)
{
    (void)state;
    job_seed(11);
    begin();
    job_spawn(0, anew_in_run);
    await_from(0, 1);
    end_slot(0);
    job_spawn(2, after_over_budget);
    assert_int_equal(job_status(2), 0);
    job_join();
}

/* --- divergence --- */

static jmp_buf back;
static struct {
    const struct ft_act *was;
    enum ft_act_kind kind;
    uint32_t win;
    int where;
    uint64_t off;
    char mismatch[sizeof((struct ft_mismatch *)0)->text];
} said;

static void note_divergence(const struct ft_act *was, enum ft_act_kind kind, uint32_t win,
                            int where, uint64_t off, const struct ft_mismatch *mismatch)
{
    said.was = was, said.kind = kind;
    said.win = win, said.where = where;
    said.off = off;
    snprintf(said.mismatch, sizeof said.mismatch, "%s", mismatch ? mismatch->text : "");
    longjmp(back, 1);
}

static void diverge(void)
{
    static const uint64_t data = 5;
    CHECK(ft_homelog_init(&job.tp, 0, 0, 0, 1) == 1);
    ft_calls = 10;
    ft_homelog_note(FT_ACT_GET, 3, 1, 64, &data, 8);
    ft_homelog_note(FT_ACT_OUTCOME, 0, 0, 0, &data, 4);
    ft_calls = 12;
    ft_homelog_note(FT_ACT_LOCK, 3, 1, 1, NULL, 0);
    ft_replay = FT_REPLAY;
    ft_replay_diverged = note_divergence;
    for (volatile int k = 0; k < 10; k++) {
        volatile int diverged = 0;
        ft_homelog_read(FT_SEG_SETUP, NULL);
        ft_calls = 10;
        said.kind = 0;
        if (setjmp(back) == 0) {
            int end = 0;
            if (k >= 6) {
                CHECK(ft_homelog_expect(FT_ACT_GET, 3, 1, 64, 8) != NULL);
                ft_calls = k == 7 ? 11 : 10;
            }
            switch (k) {
            case 0:
                ft_calls = 11;
                ft_homelog_expect(FT_ACT_GET, 3, 1, 64, 8);
                break;
            case 1: ft_homelog_expect(FT_ACT_ATOMIC, 3, 1, 64, 8); break;
            case 2: ft_homelog_expect(FT_ACT_GET, 2, 1, 64, 8); break;
            case 3: ft_homelog_expect(FT_ACT_GET, 3, 0, 64, 8); break;
            case 4: ft_homelog_expect(FT_ACT_GET, 3, 1, 56, 8); break;
            case 5: ft_homelog_expect(FT_ACT_GET, 3, 1, 64, 4); break;
            case 6: ft_homelog_expect(FT_ACT_GET, 3, 1, 64, 8); break; /* one too many */
            case 7: ft_homelog_outcome(&end); break;                   /* the call before had one */
            case 8: ft_homelog_discard(); break;                       /* not the last */
            default:
                CHECK(ft_homelog_outcome(&end) && !end);
                ft_calls = 12;
                ft_homelog_outcome(&end); /* it was a lock */
            }
        } else {
            diverged = 1;
        }
        CHECK(diverged);
        CHECK(strcmp(said.mismatch, k == 5 ? "; bytes: now 4, in the lost process 8" : "") == 0);
        CHECK(said.was && said.was->kind == (k < 6 || k == 8 ? FT_ACT_GET
                                             : k == 9        ? FT_ACT_LOCK
                                                             : FT_ACT_OUTCOME));
        CHECK(said.kind == (k == 1 || k == 8   ? FT_ACT_ATOMIC
                            : k == 7 || k == 9 ? FT_ACT_OUTCOME
                                               : FT_ACT_GET));
        if (k < 7)
            CHECK(said.win == (k == 2 ? 2u : 3u) && said.where == (k == 3 ? 0 : 1) &&
                  said.off == (k == 4 ? 56u : 64u));
    }
}

static void divergence(void **state)
{
    (void)state;
    job_seed(8);
    begin();
    job_spawn(0, diverge);
    assert_int_equal(job_status(0), 0);
    job_join();
}

/* --- an action that never happened is taken back, and is not there the next time --- */

static void discard(void)
{
    static const uint64_t data[2] = {77, 78};
    int run = (int)atomic_load(&W(IN_RUN));
    ft_replay = FT_REPLAY;
    ft_replay_diverged = unexpected;
    CHECK(ft_homelog_init(&job.tp, 0, 1, SETUP, 1) == 1);
    if (run)
        ft_homelog_read(FT_SEG_RUN, NULL);
    while (!ft_homelog_at_end()) /* passes all of them */
        for (int i = run ? SETUP : 0; i < (run ? SETUP + 40 : SETUP); i++) {
            ft_calls = script[i].call;
            if (script[i].kind != FT_ACT_WILD)
                CHECK(ft_homelog_expect(script[i].kind, script[i].win, script[i].where,
                                        script[i].off, -1));
        }
    ft_homelog_discard();
    CHECK(ft_homelog_at_end());
    ft_homelog_replay_over();
    ft_replay = FT_LIVE;
    ft_calls = 100000;
    ft_homelog_note(FT_ACT_TIME, 0, 0, 0, data, 16); /* longer or shorter than what was there */
    ft_homelog_note(FT_ACT_TIME, 0, 0, 0, &data[1], 8);
}

static void after_discard(void)
{
    int run = (int)atomic_load(&W(IN_RUN)), first = run ? SETUP : 0,
        last = run ? SETUP + 40 : SETUP;
    uint64_t bytes;
    ft_replay = FT_REPLAY;
    ft_replay_diverged = unexpected;
    CHECK(ft_homelog_init(&job.tp, 0, 1, atomic_load(&job.board->slot[2].testament.events), 1) ==
          1);
    if (run)
        ft_homelog_read(FT_SEG_RUN, NULL);
    CHECK(ft_homelog_fetched(&bytes) == (size_t)(last - first) + 1); /* less one, and two more */
    for (int i = first; i < last - 1; i++) {
        ft_calls = script[i].call;
        if (script[i].kind != FT_ACT_WILD)
            CHECK(ft_homelog_expect(script[i].kind, script[i].win, script[i].where, script[i].off,
                                    -1));
    }
    ft_calls = 100000;
    for (uint64_t k = 0; k < 2; k++) {
        const struct ft_act *a = ft_homelog_expect(FT_ACT_TIME, 0, 0, 0, k ? 8 : 16);
        CHECK(a && memcmp(a->data, &(uint64_t){77 + k}, 8) == 0);
    }
    CHECK(ft_homelog_at_end());
}

static void discarded(void **state)
{
    (void)state;
    job_seed(9);
    for (int run = 0; run < 2; run++) {
        spec_setup = SETUP;
        spec_end = run ? SETUP + 40 : SETUP;
        begin();
        script[spec_end - 1] = (struct made){.kind = FT_ACT_ATOMIC,
                                             .call = 99999,
                                             .win = 1,
                                             .where = 1,
                                             .off = 8,
                                             .bytes = 8,
                                             .count = 4};
        atomic_store(&W(IN_RUN), (uint64_t)run);
        job_spawn(0, writer);
        job_await(OVER, 1);
        end_slot(0);
        job_spawn(2, discard);
        assert_int_equal(job_status(2), 0);
        job_spawn(4, after_discard);
        assert_int_equal(job_status(4), 0);
        job_join();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random),
        cmocka_unit_test(moved_at_random),
        cmocka_unit_test(the_log_is_lost),
        cmocka_unit_test(the_log_outlives_all),
        cmocka_unit_test(killed_at_a_point),
        cmocka_unit_test(rollback),
        cmocka_unit_test(no_file),
        cmocka_unit_test(missing_actions),
        cmocka_unit_test(anew),
        cmocka_unit_test(over_budget),
        cmocka_unit_test(divergence),
        cmocka_unit_test(discarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
