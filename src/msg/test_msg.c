/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_msg.c - messages between processes: matching, order, limits of the log, eras, and senders
 * that are replaced.
 */
#define _GNU_SOURCE
#include "alog/chan.h"
#include "alog/homelog.h"
#include "base/failpoint.h"
#include "msg/channels.h"
#include "transport/test_job.h"

#define LONGEST (300ul << 10)
#define CHUNK (64ul << 10)

enum { REPLACED = 40, FINISHED }; /* words of job.sh */

static char byte_of(uint64_t key, size_t i) { return (char)(key * 151 + i * 7 + (i >> 8)); }

static void write_text(char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        p[i] = byte_of(key, i);
}

static void check_text(const char *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        CHECK(p[i] == byte_of(key, i));
}

/* Rank r is carried by slot r. */
static void enter(int nranks)
{
    int slot_of[JOB_MAX];
    for (int i = 0; i < nranks; i++)
        slot_of[i] = i;
    job_meet(); /* all arenas are there */
    ft_msg_init(&job.tp, nranks, job.self, slot_of, 0);
}

static void enter_run(int nranks)
{
    enter(nranks);
    ft_msg_begin_era(FT_ERA_FIRST, FT_KEEP_NONE, 0, NULL, 0);
    job_meet();
}

/* --- random traffic --- */

/* Kinds of receive, one for each context, so that each receive finds its message whatever the
 * others take. */
enum { EXACT = 1, ANY, ANY_SRC, ANY_TAGGED, KINDS };
enum { RANKS = 3, EACH = 120, TAGS = 3 };
enum { SETUP, RUN, LITTLE, FAR };

struct plan { /* the i-th message from s to d */
    int kind, tag;
    size_t len;
};

static struct plan plan_of(int s, int d, int i)
{
    struct ft_prng r = {job.seed * 7919 + (uint64_t)(s * 64 + d) * 100003 + (uint64_t)i};
    static const size_t below[] = {2, 40, 600, 20000, LONGEST};
    struct plan p = {.kind = 1 + (int)ft_prng_below(&r, KINDS - 1),
                     .tag = (int)ft_prng_below(&r, TAGS)};
    p.len = ft_prng_below(&r, below[ft_prng_below(&r, i % 20 ? 4 : 5)]);
    return p;
}

static uint64_t key_of(int s, int d, int i) { return (uint64_t)(s * 64 + d) * 4096 + (uint64_t)i; }

struct receive {
    struct ft_req req;
    int kind, src, tag;
    char *buf;
};

static struct ft_req sent[RANKS * EACH];
static char *text[RANKS * EACH];
static struct receive got[RANKS * EACH];

/* Posts one receive for each message that will come, in an order independent of theirs. */
static int plan_receives(struct ft_prng *r)
{
    int n = 0;
    for (int s = 0; s < RANKS; s++)
        for (int i = 0; i < EACH; i++) {
            struct plan p = plan_of(s, job.self, i);
            got[n++] =
                (struct receive){.kind = p.kind,
                                 .src = p.kind == EXACT || p.kind == ANY_TAGGED ? s : FT_ANY_SOURCE,
                                 .tag = p.kind == EXACT || p.kind == ANY_SRC ? p.tag : FT_ANY_TAG};
        }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)ft_prng_below(r, (uint64_t)i + 1);
        struct receive t = got[i];
        got[i] = got[j];
        got[j] = t;
    }
    return n;
}

/* No overtaking: of two receives that could have had the same messages, the one posted earlier has
 * the one sent earlier. */
static void check_order(int n)
{
    int next[RANKS][KINDS][TAGS] = {
        0}; /* messages looked at, by source, context and tag (0 if the tag did not matter) */
    for (int k = 0; k < n; k++) {
        const struct receive *g = &got[k];
        int s = g->req.status.source, tagged = g->kind == EXACT || g->kind == ANY_SRC;
        CHECK(s >= 0 && s < RANKS && g->req.status.error == FT_OK);
        CHECK((g->src == FT_ANY_SOURCE || g->src == s) &&
              (g->tag == FT_ANY_TAG || g->tag == g->req.status.tag));
        int *i = &next[s][g->kind][tagged ? g->tag : 0];
        struct plan p;
        for (;; ++*i) {
            CHECK(*i < EACH);
            p = plan_of(s, job.self, *i);
            if (p.kind == g->kind && (!tagged || p.tag == g->tag))
                break;
        }
        CHECK(p.tag == g->req.status.tag && p.len == g->req.status.bytes);
        check_text(g->buf, p.len, key_of(s, job.self, *i));
        ++*i;
    }
}

static void send_next(int d, int i, int at, int blocking)
{
    struct plan p = plan_of(job.self, d, i);
    CHECK(text[at] = malloc(p.len + 1));
    write_text(text[at], p.len, key_of(job.self, d, i));
    if (blocking) {
        ft_msg_send((uint32_t)p.kind, d, p.tag, text[at], p.len);
        memset(text[at], 0, p.len); /* the buffer is free again */
    } else {
        ft_msg_isend(&sent[at], (uint32_t)p.kind, d, p.tag, text[at], p.len);
    }
}

/* LITTLE: with so little log, a rank that blocks before all receives are posted may block for ever.
 * FAR: it may block also until its message is received. */
static void traffic(int run)
{
    struct ft_prng r = {job.seed + 77 * (uint64_t)job.self};
    int next[RANKS] = {0}, posted = 0, done = 0, total = plan_receives(&r);
    while (done < RANKS * EACH || posted < total) {
        if (posted < total && ft_prng_below(&r, 2)) {
            struct receive *g = &got[posted++];
            CHECK(g->buf = malloc(LONGEST));
            ft_msg_irecv(&g->req, (uint32_t)g->kind, g->src, g->tag, g->buf, LONGEST);
        } else if (done < RANKS * EACH) {
            int d = (int)ft_prng_below(&r, RANKS);
            while (next[d] == EACH)
                d = (d + 1) % RANKS;
            send_next(d, next[d]++, done++,
                      run != LITTLE && run != FAR && ft_prng_below(&r, 8) == 0);
        }
        if (ft_prng_below(&r, 16) == 0)
            ft_msg_progress();
    }
    struct ft_req *open[RANKS * EACH];
    for (int i = 0; i < total; i++)
        open[i] = &got[i].req;
    for (int i; (i = ft_msg_wait_any(open, total)) >= 0; open[i] = NULL)
        CHECK(ft_msg_done(open[i]));
    for (int i = 0; i < done; i++)
        if (sent[i].state != FT_REQ_FREE)
            ft_msg_wait(&sent[i]);
    check_order(total);
    job_meet();
    CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
    CHECK(run == SETUP || ft_log_budget.used <= 64 * CHUNK);
}

static void random_in_setup(void)
{
    enter(RANKS);
    traffic(SETUP);
    CHECK(!ft_whole_unkept());
}

static void random_in_run(void)
{
    enter_run(RANKS);
    traffic(RUN);
}

/* The log is so small that senders wait all the time. */
static void random_with_little_log(void)
{
    enter_run(RANKS);
    ft_log_budget.limit = 2 * CHUNK;
    traffic(LITTLE);
    CHECK(ft_log_budget.used <= ft_log_budget.limit + 2 * RANKS * CHUNK);
}

/* --- long messages that stay at their senders until they are copied --- */

static void no_logs(void) { ft_level = FT_LOG_OFF; } /* of this process */

static void random_far(void)
{
    no_logs();
    enter_run(RANKS);
    CHECK(!ft_msg_copied_once(10) && ft_msg_copied_once(LONGEST));
    traffic(FAR);
}

/* Where a receiver waits for something else, the sender is released, and the message is correct. */
static void absorbed(void)
{
    static char buf[LONGEST], got_it[LONGEST];
    struct ft_msg_status st;
    struct ft_req after;
    no_logs();
    enter_run(2);
    if (job.self == 0) {
        write_text(buf, sizeof buf, 5);
        ft_msg_send(1, 1, 2, buf, sizeof buf);
        memset(buf, 'x', sizeof buf);
        atomic_store(&job.sh->word[FINISHED], 1);
        write_text(buf, sizeof buf, 6);
        ft_msg_isend(&after, 1, 1, 2, buf, sizeof buf);
        ft_msg_wait(&after);
        job_meet();
        return;
    }
    while (atomic_load(&job.sh->word[FINISHED]) == 0)
        ft_msg_absorb();
    ft_msg_probe(1, 0, 2, &st);
    CHECK(st.bytes == sizeof got_it);
    for (uint64_t key = 5; key <= 6; key++) {
        ft_msg_recv(1, 0, 2, got_it, sizeof got_it, &st);
        CHECK(st.error == FT_OK && st.bytes == sizeof got_it);
        check_text(got_it, sizeof got_it, key);
    }
    job_meet();
}

/* --- matching --- */

static void order_of_posting(void)
{
    enum { N = 400 };
    static struct ft_req req[N];
    static uint64_t v[N];
    struct ft_prng r = {job.seed};
    enter_run(2);
    if (job.self == 0) {
        for (uint64_t i = 0; i < N; i++)
            ft_msg_send(5, 1, (int)(i % 2), &i, sizeof i);
    } else {
        for (int i = 0; i < N;
             i++) { /* each could have any message of its tag: the i-th posted gets the i-th */
            uint64_t how = ft_prng_below(&r, 4);
            ft_msg_irecv(&req[i], 5, how & 1 ? FT_ANY_SOURCE : 0, how & 2 ? FT_ANY_TAG : i % 2,
                         &v[i], sizeof v[i]);
            if (ft_prng_below(&r, 10) == 0)
                ft_msg_wait(&req[i]);
        }
        for (int i = 0; i < N; i++) {
            ft_msg_wait(&req[i]);
            CHECK(v[i] == (uint64_t)i && req[i].status.source == 0 && req[i].status.tag == i % 2);
        }
    }
    job_meet();
}

static void contexts_and_the_librarys_tags(void)
{
    struct ft_msg_status st;
    int v;
    enter(2);
    if (job.self == 0) {
        for (v = 1; v <= 3; v++)
            ft_msg_send((uint32_t)v, 1, 9, &v, sizeof v);
        ft_msg_send(4, 1, -5, &v, sizeof v);
        ft_msg_send(4, 1, 0, &v, sizeof v);
        job_meet();
        return;
    }
    for (int c = 3; c >= 1; c--) {
        ft_msg_recv((uint32_t)c, 0, FT_ANY_TAG, &v, sizeof v, &st);
        CHECK(v == c && st.tag == 9 && st.bytes == sizeof v);
    }
    ft_msg_recv(4, FT_ANY_SOURCE, FT_ANY_TAG, &v, sizeof v, &st);
    CHECK(st.tag == 0); /* the negative tag matches no receive of the program */
    CHECK(!ft_msg_iprobe(4, 0, FT_ANY_TAG, &st) && ft_msg_iprobe(4, 0, -5, &st));
    ft_msg_recv(4, 0, -5, &v, sizeof v, NULL);
    job_meet();
}

static void truncation(void)
{
    static const size_t len[] = {1, 33, 100, 5000, 200000};
    static char buf[LONGEST];
    struct ft_msg_status st;
    enter_run(2);
    for (size_t i = 0; i < 2 * FT_COUNTOF(len); i++) {
        size_t n = len[i / 2], cap = n / 3;
        if (job.self == 0) {
            write_text(buf, n, i);
            ft_msg_send(1, 1, 2, buf, n);
            continue;
        }
        memset(buf, 'x', sizeof buf);
        if (i % 2) /* expected, or waiting in the log */
            ft_msg_probe(1, 0, 2, &st);
        ft_msg_recv(1, 0, 2, buf, cap, &st);
        CHECK(st.error == FT_ERR_TRUNC && st.bytes == cap && buf[cap] == 'x');
        check_text(buf, cap, i);
    }
    job_meet();
}

static void truncation_far(void)
{
    no_logs();
    truncation();
}

static void probes(void)
{
    static char buf[LONGEST];
    struct ft_msg_status st, again;
    enter_run(3);
    if (job.self > 0) {
        for (int i = 0; i < 50; i++) {
            size_t n = (size_t)i * 3000;
            write_text(buf, n, (uint64_t)job.self * 100 + (uint64_t)i);
            ft_msg_send(1, 0, i, buf, n);
        }
        job_meet();
        return;
    }
    CHECK(!ft_msg_iprobe(2, FT_ANY_SOURCE, FT_ANY_TAG, &st));
    int next[3] = {0};
    for (int i = 0; i < 100; i++) {
        ft_msg_probe(1, FT_ANY_SOURCE, FT_ANY_TAG, &st);
        CHECK(st.tag == next[st.source] && st.bytes == (size_t)st.tag * 3000);
        CHECK(ft_msg_iprobe(1, st.source, st.tag, &again) && again.bytes == st.bytes);
        ft_msg_recv(1, st.source, st.tag, buf, st.bytes, &again);
        CHECK(again.error == FT_OK && again.bytes == st.bytes);
        check_text(buf, st.bytes, (uint64_t)st.source * 100 + (uint64_t)st.tag);
        next[st.source]++;
    }
    CHECK(!ft_msg_iprobe(1, FT_ANY_SOURCE, FT_ANY_TAG, &st));
    job_meet();
}

static void probes_far(void)
{
    no_logs();
    probes();
}

static void cancelling(void)
{
    struct ft_req a = {0}, b = {0}, c = {0};
    int va = 0, vb = 0, vc = 0;
    enter(2);
    if (job.self == 1) {
        ft_msg_irecv(&a, 1, 0, 3, &va, sizeof va);
        ft_msg_irecv(&b, 1, FT_ANY_SOURCE, 3, &vb, sizeof vb);
        ft_msg_irecv(&c, 1, 0, 3, &vc, sizeof vc);
        ft_msg_cancel(&a);
        CHECK(ft_msg_done(&a) && a.status.cancelled);
        job_meet();
        ft_msg_wait(&b);
        ft_msg_wait(&c);
        CHECK(va == 0 && vb == 1 && vc == 2);
        ft_msg_cancel(&c); /* too late */
        CHECK(!c.status.cancelled && c.status.bytes == sizeof vc);
        CHECK(ft_msg_wait_any((struct ft_req *[]){NULL, NULL}, 2) == -1);
    } else {
        job_meet();
        for (int v = 1; v <= 2; v++)
            ft_msg_send(1, 1, 3, &v, sizeof v);
    }
    job_meet();
}

/* Synchronous sends are complete when they are matched, one by one, in any order. Neither a probe
 * nor a matched probe is enough. */
static void synchronous(void)
{
    enum { N = 4, TAKEN = 1 };
    static const size_t len[N] = {8, LONGEST, 0, 70000};
    static char buf[N][LONGEST];
    struct ft_req req[N] = {0};
    struct ft_msg_status st;
    struct ft_inmsg *m = NULL;
    enter_run(2);
    for (int i = 0; i < N && job.self == 0; i++) {
        write_text(buf[i], len[i], (uint64_t)i);
        ft_msg_issend(&req[i], 1, 1, i, buf[i], len[i]);
    }
    job_meet();
    if (job.self == 1) {
        ft_msg_probe(1, 0, 2, &st);
        ft_msg_probe(1, 0, TAKEN, &st);
        m = ft_msg_take(1, 0, TAKEN);
        CHECK(!ft_msg_iprobe(1, 0, TAKEN, &st));
    }
    job_meet();
    for (int k = 0; k < N; k++) {
        int i = N - 1 - k;
        ft_msg_progress();
        for (int j = 0; j < N && job.self == 0; j++)
            CHECK(ft_msg_done(&req[j]) == (j > i));
        job_meet();
        if (job.self == 1 && i != TAKEN)
            ft_msg_irecv(&req[i], 1, 0, i, buf[i], LONGEST);
        else if (job.self == 1)
            ft_msg_mrecv(&req[i], m, 0, buf[i], LONGEST);
        ft_msg_wait(&req[i]);
        check_text(buf[i], len[i], (uint64_t)i);
        job_meet();
    }
    if (job.self == 0)
        ft_msg_ssend(1, 1, 9, buf[0], 8);
    else
        ft_msg_recv(1, FT_ANY_SOURCE, 9, buf[1], 8, &st);
    job_meet();
}

/* --- the limit --- */

/* Both send three times as much as their logs hold, and only then receive. */
static void over_the_limit(void)
{
    enum { N = 30, BYTES = 100 << 10 };
    static struct ft_req req[N];
    static char buf[N][BYTES], in[BYTES];
    struct ft_msg_status st;
    ft_log_budget.limit = 1 << 20;
    for (int i = 0; i < N; i++) {
        write_text(buf[i], BYTES, (uint64_t)job.self * 1000 + (uint64_t)i);
        ft_msg_isend(&req[i], 1, 1 - job.self, i, buf[i], BYTES);
    }
    int waiting = 0;
    for (int i = 0; i < N; i++)
        waiting += !ft_msg_done(&req[i]);
    CHECK(waiting > N / 2);
    job_meet(); /* else the other rank may receive, and so make room, while this one still sends */
    for (int i = 0; i < N; i++) {
        ft_msg_recv(1, 1 - job.self, FT_ANY_TAG, in, BYTES, &st);
        CHECK(st.tag == i && st.bytes == BYTES);
        check_text(in, BYTES, (uint64_t)(1 - job.self) * 1000 + (uint64_t)i);
        CHECK(ft_log_budget.used <= ft_log_budget.limit + 2 * CHUNK);
    }
    for (int i = 0; i < N; i++)
        ft_msg_wait(&req[i]);
    job_meet();
}

static void limit_in_run(void)
{
    enter_run(2);
    over_the_limit();
    CHECK(!ft_whole_unkept());
}

/* A vote has said that all is kept: it is, until main hears of the decision. */
static void no_limit_after_a_vote(void)
{
    enum { N = 30, BYTES = 100 << 10 };
    static struct ft_req req[N];
    static char out[BYTES], in[BYTES];
    struct ft_msg_status st;
    enter(2);
    ft_msg_begin_era(FT_ERA_FIRST, FT_KEEP_CUT, 0, NULL, 0);
    job_meet();
    ft_log_budget.limit = 1 << 20;
    atomic_store(&ft_whole.voted, 1);
    for (int i = 0; i < N; i++) {
        ft_msg_isend(&req[i], 1, 1 - job.self, i, out, BYTES);
        CHECK(ft_msg_done(&req[i]));
    }
    CHECK(ft_log_budget.used > ft_log_budget.limit + 4 * CHUNK && !ft_whole_misses_others());
    job_meet();
    for (int i = 0; i < N; i++)
        ft_msg_recv(1, 1 - job.self, i, in, BYTES, &st);
    uint64_t kept = ft_log_budget.used;
    job_meet();
    ft_msg_isend(&req[0], 1, 1 - job.self, N, out, BYTES); /* what was received is kept still */
    CHECK(ft_msg_done(&req[0]) && ft_log_budget.used >= kept);
    atomic_store(&ft_whole.bound, 1);
    job_meet();
    for (int i = 0; i < N; i++) { /* and now it is not */
        ft_msg_isend(&req[i], 1, 1 - job.self, N + 1 + i, out, BYTES);
        ft_msg_recv(1, 1 - job.self, i ? N + i : N, in, BYTES, &st);
    }
    ft_msg_recv(1, 1 - job.self, 2 * N, in, BYTES, &st);
    for (int i = 0; i < N; i++)
        ft_msg_wait(&req[i]);
    CHECK(ft_log_budget.used <= kept + 2 * CHUNK);
    job_meet();
}

static void limit_in_setup(void)
{
    enter(2);
    over_the_limit();
    CHECK(ft_whole_unkept());
}

/* --- eras --- */

static void send_numbers(uint64_t from, uint64_t to)
{
    static char buf[LONGEST];
    for (uint64_t i = from; i < to; i++) {
        size_t n = i % 5 == 0 ? 70000 + i : i % 7;
        write_text(buf, n, i);
        ft_msg_send(1, 1, (int)i, buf, n);
    }
}

static void receive_number(uint64_t i, int tag)
{
    static char buf[LONGEST];
    struct ft_msg_status st;
    ft_msg_recv(1, 0, tag, buf, sizeof buf, &st);
    CHECK(st.tag == (int)i && st.bytes == (i % 5 == 0 ? 70000 + i : i % 7) && st.error == FT_OK);
    check_text(buf, st.bytes, i);
}

/* Messages in flight at a cut are in the receiver's image: each era begins with them, whatever the
 * last era did. */
static void pending_messages_cross_a_cut(void)
{
    struct ft_msg_status st;
    struct ft_req dropped = {0};
    char *saved = NULL;
    size_t bytes = 0;
    enter(2);
    if (job.self == 0)
        send_numbers(0, 30);
    else
        for (uint64_t i = 0; i < 20; i += 2) /* every other one, from among them */
            receive_number(i, (int)i);
    job_meet();
    if (job.self == 1) {
        bytes = ft_msg_pending_bytes(0);
        CHECK(bytes > ft_msg_head_bytes() && (saved = malloc(bytes)));
        ft_msg_pending_save(saved, 0);
        ft_msg_irecv(&dropped, 1, 0, 999, &st, 1); /* open when the era ends: it goes with it */
    } else {
        CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
    }
    struct ft_req first = {0};
    uint32_t eras[] = {FT_ERA_FIRST, FT_ERA_FIRST + 1, FT_ERA_FIRST + 4, FT_ERA_POST};
    for (size_t e = 0; e < FT_COUNTOF(eras); e++) {
        ft_msg_begin_era(eras[e], eras[e] == FT_ERA_POST ? FT_KEEP_ALL : FT_KEEP_NONE, 1, saved,
                         bytes);
        CHECK(ft_msg_era() == eras[e]);
        /* In a call with the number in which the last era's receives were posted. */
        ft_msg_irecv(&first, 1, 1 - job.self, 998, &st, 1);
        CHECK(first.call == ft_calls && first.nth == 0);
        ft_msg_cancel(&first);
        job_meet();
        if (job.self == 0) {
            send_numbers(100, 100 + 20 * e);
        } else {
            for (uint64_t i = 1; i < 20; i += 2)
                receive_number(i, FT_ANY_TAG);
            for (uint64_t i = 20; i < 30; i++)
                receive_number(i, e % 2 ? FT_ANY_TAG : (int)i);
            for (uint64_t i = 100; i < 100 + 10 * e;
                 i++) /* half of what was sent: the rest is dropped with the era */
                receive_number(i, FT_ANY_TAG);
            CHECK(e > 0 || !ft_msg_iprobe(1, 0, FT_ANY_TAG, &st));
        }
        job_meet();
    }
    free(saved);
}

/* --- replacement --- */

enum { SCRIPT = 24 };

static size_t script_len(int i)
{
    return i % 6 == 2 ? 90000 + 1000 * (size_t)i : i % 6 == 5 ? 0 : (size_t)i * 37;
}
static size_t reply_len(int i) { return i % 2 ? 50 : 40000; }

/* What rank 1 does, in whichever process: messages in pairs, a reply after each third pair. */
static void script(void)
{
    static char buf[LONGEST];
    struct ft_msg_status st;
    for (int i = 0; i < SCRIPT; i++) {
        write_text(buf, script_len(i), (uint64_t)i);
        ft_msg_send(1, 0, i, buf, script_len(i));
        if (i % 6 == 5) {
            ft_msg_recv(1, 0, FT_ANY_TAG, buf, sizeof buf, &st);
            CHECK(st.tag == i && st.bytes == reply_len(i / 6));
            check_text(buf, st.bytes, 1000 + (uint64_t)i);
        }
    }
    atomic_store(&job.sh->word[FINISHED], 1);
    job_await(FINISHED, 2); /* its log is read here */
}

static char point_spec[64];
static uint64_t limit; /* of the log of rank 1 */

static void victim(void)
{
    enter(2);
    ft_log_budget.limit = limit;
    CHECK(ft_fp_arm(point_spec, FT_ROLE_RANK, 1, 0) == FT_OK);
    script();
}

static void replacement(void)
{
    ft_msg_init(&job.tp, 2, 1, (int[]){0, 2}, 1);
    ft_log_budget.limit = limit;
    atomic_store(&job.sh->word[REPLACED], 1);
    script();
}

static int rebound;
static void look_for_replacement(void)
{
    if (!rebound && atomic_load(&job.sh->word[REPLACED])) {
        ft_msg_rebind(1, 2);
        rebound = 1;
    }
}

static void finish_req(struct ft_req *q)
{
    while (!ft_msg_done(q)) {
        ft_msg_progress();
        look_for_replacement();
        sched_yield();
    }
}

/* Rank 0 survives. It takes the second of each pair first, so that the first waits in the log, or
 * it has both receives open. */
static void survivor(void)
{
    static char buf[2][LONGEST], out[LONGEST];
    struct ft_msg_status st;
    struct ft_req r[2], s;
    enter(2);
    for (int i = 0; i < SCRIPT; i += 2) {
        for (int k = 1; k >= 0; k--) {
            ft_msg_irecv(&r[k], 1, 0 + 1, i + k, buf[k], LONGEST);
            if (i % 4 == 0)
                finish_req(&r[k]);
        }
        for (int k = 0; k < 2; k++) {
            finish_req(&r[k]);
            CHECK(r[k].status.bytes == script_len(i + k) && r[k].status.error == FT_OK);
            check_text(buf[k], script_len(i + k), (uint64_t)i + (uint64_t)k);
        }
        if (i % 6 == 4) {
            write_text(out, reply_len((i + 1) / 6), 1000 + (uint64_t)(i + 1));
            ft_msg_isend(&s, 1, 1, i + 1, out, reply_len((i + 1) / 6));
            finish_req(&s);
        }
    }
    while (atomic_load(&job.sh->word[FINISHED]) == 0) {
        look_for_replacement();
        ft_msg_progress(); /* its log may need the room */
        sched_yield();
    }
    CHECK(!ft_msg_iprobe(1, 1, FT_ANY_TAG, &st)); /* nothing came twice */
    CHECK(ft_msg_pending_bytes(0) == ft_msg_head_bytes());
    atomic_store(&job.sh->word[FINISHED], 2);
}

/* Returns 0 if the victim lived to the end. */
static int killed_at(const char *point, int hit)
{
    snprintf(point_spec, sizeof point_spec, "rank=1,point=%s,hit=%d", point, hit);
    job_begin(3, 2);
    job_spawn(0, survivor);
    job_spawn(1, victim);
    int status = -1;
    while (waitpid(job.pid[1], &status, 0) != job.pid[1])
        ;
    job.pid[1] = 0;
    if (status != 0) {
        assert_int_equal(status, SIGKILL);
        job_spawn(2, replacement);
    }
    job_join();
    return status != 0;
}

/* The victim dies at every record, fragment, message and receive; the survivor continues where it
 * was. */
static void replaced(uint64_t bytes)
{
    static const char *const points[] = {"msg.send.half", "msg.send.fragment", "msg.send.after",
                                         "msg.recv.copied", "msg.recv.done"};
    job_seed(1);
    limit = bytes;
    for (size_t p = 0; p < FT_COUNTOF(points); p++) {
        int hit = 1;
        while (killed_at(points[p], hit))
            hit++;
        assert_true(hit > 2); /* it was killed there more than once */
    }
}

static void replaced_at_every_point(void **state)
{
    (void)state;
    replaced(256ul << 20);
}

/* The survivor takes messages out of the log of which only a part has come. */
static void replaced_with_little_log(void **state)
{
    (void)state;
    replaced(2 * CHUNK);
}

/* --- */

struct part {
    void (*body)(void);
    int n;
};

static void run(void **state)
{
    const struct part *t = *state;
    uint64_t first = job_seed(1), last = getenv("FTRMA_TEST_SEED") ? first : first + 2;
    for (job.seed = first; job.seed <= last; job.seed++) {
        job_begin(t->n, t->n);
        for (int i = 0; i < t->n; i++)
            job_spawn(i, t->body);
        job_join();
    }
}

#define OF(count, body)                                        \
    {                                                          \
#body, run, NULL, NULL, &(struct part) { body, count } \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF(3, random_in_setup),
        OF(3, random_in_run),
        OF(3, random_with_little_log),
        OF(3, random_far),
        OF(2, absorbed),
        OF(2, truncation_far),
        OF(3, probes_far),
        OF(2, order_of_posting),
        OF(2, contexts_and_the_librarys_tags),
        OF(2, truncation),
        OF(3, probes),
        OF(2, cancelling),
        OF(2, synchronous),
        OF(2, limit_in_run),
        OF(2, no_limit_after_a_vote),
        OF(2, limit_in_setup),
        OF(2, pending_messages_cross_a_cut),
        cmocka_unit_test(replaced_at_every_point),
        cmocka_unit_test(replaced_with_little_log),
    };
    job.arena_bytes = 1ull << 30;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
