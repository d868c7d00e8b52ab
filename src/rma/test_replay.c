/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_replay.c - a fresh process replaces a rank and repeats what it did: windows, counts and
 * locks must be as they were. Slots 0 and 1 carry the survivors, ranks 0 and 1; slot 2 carries the
 * victim, rank 2; slots 3 and 4 are its replacements.
 */
#define _GNU_SOURCE
#include "alog/homelog.h"
#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/rma_internal.h"
#include "transport/test_job.h"

enum { RANKS = 3, VICTIM = 2, SLOTS = 5, BYTES = 32768, COMBINED = BYTES / 4 * 3, OPS = 12 };
enum { TURN = 0, DEAD, REPLAYED, SLOT, CALLS, REPAIRED0 = 12, SUM = 20 };
#define W(i) job.sh->word[i]
static int world[] = {0, 1, 2};
static struct ft_ctx ctx = {.id = 10, .size = RANKS, .world = (const int[]){0, 1, 2}};
static struct ft_win *win;
static char *base;
static char *death; /* the victim's window at its death; shared */

static void diverged(const struct ft_act *was, enum ft_act_kind kind, uint32_t w, int where,
                     uint64_t off, const struct ft_mismatch *mismatch)
{
    fprintf(stderr, "did %d (%u %d %llu) in call %llu instead of %d (%d %llu) in call %llu%s\n",
            (int)kind, w, where, (unsigned long long)off, (unsigned long long)ft_calls,
            was ? was->kind : 0, was ? was->where : 0, was ? (unsigned long long)was->off : 0,
            was ? (unsigned long long)was->call : 0, mismatch ? mismatch->text : "");
    CHECK(!"diverged");
}

/* The window is made before; only the accesses to it are logged. */
static void enter(int rank, int replacement)
{
    ctx.rank = rank;
    world[VICTIM] = (int)atomic_load(&W(SLOT));
    ft_replay_diverged = diverged;
    ft_replay_drain = ft_rma_replay_step;
    ft_msg_init(&job.tp, RANKS, rank, world, replacement);
    ft_rma_init(&job.tp, RANKS, rank, world);
    ft_putlog_segment(FT_SEG_SETUP, 1);
    uint64_t events =
        replacement ? atomic_load(&job.board->slot[atomic_load(&W(DEAD))].testament.events) : 0;
    CHECK(ft_homelog_init(&job.tp, rank, replacement, events, 1) == 1);
    void *p;
    if (!replacement)
        atomic_store(&job.arena.ctl->live, 1);
    ctx.id = 11; /* a replacement gets its part of the collective from the others' logs */
    CHECK(ft_win_allocate(&ctx, BYTES, 1, &p, &win) == FT_OK);
    base = p;
}

/* --- the script: ranks take turns, so that what each reads is a function of the seed --- */

enum kind { PUT, GET, ADD, SWAP, WIDE, STORE, OWN_ADD, LOCK, KINDS };
struct op {
    enum kind kind;
    int target;
    size_t off, len;
    uint64_t seed;
};

static void add_u64(void *arg, const void *in, void *inout, size_t count)
{
    (void)arg;
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)inout)[i] += ((const uint64_t *)in)[i];
}
static const struct ft_reducer add = {.apply = add_u64, .commutative = 1};

static struct op op_of(struct ft_prng *r, int rank)
{
    struct op o = {.kind = (enum kind)ft_prng_below(r, KINDS), .seed = ft_prng_next(r)};
    o.target = rank == VICTIM ? (int)ft_prng_below(r, 2) : ft_prng_below(r, 4) ? VICTIM : 1 - rank;
    o.len = o.kind >= ADD ? 8 : 1 + ft_prng_below(r, ft_prng_below(r, 9) ? 64 : 20000);
    if (o.kind == WIDE)
        o.len = 8 * (1 + ft_prng_below(r, 900));
    /* Combining operations have a part of the window for themselves: in one epoch a put and an
     * accumulate must not overlap. */
    int combines = o.kind == ADD || o.kind == SWAP || o.kind == WIDE || o.kind == OWN_ADD;
    size_t from = combines ? COMBINED : 0, to = combines || o.kind == GET ? BYTES : COMBINED;
    o.off = from + ft_prng_below(r, (to - from - o.len) / 8) * 8;
    if (o.kind == STORE || o.kind == OWN_ADD)
        o.target = rank;
    return o;
}

static uint64_t mixed; /* hash of all that this rank has read */

static void learn(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mixed = (mixed ^ (uint8_t)p[i]) * 0x100000001b3ull;
}

static void go_live(void)
{
    ft_rma_replay_live();
    ft_homelog_replay_over();
    ft_replay = FT_LIVE;
    atomic_store_explicit(&job.arena.ctl->live, 1, memory_order_release);
}

static int may_go_live;

/* Begins a call, as at the door: what is eligible is applied, and a replacement becomes live when
 * all evidence is passed. */
static void call(void)
{
    ft_call_begin();
    ft_rma_replay_step();
    if (may_go_live && ft_replay != FT_LIVE && ft_homelog_at_end() && ft_rma_replay_passed())
        go_live();
}

static void carry_out(const struct op *o)
{
    static char buf[BYTES], got[BYTES];
    struct ft_prng r = {o->seed ^ mixed}; /* what is written depends on what was read */
    enum ft_status st = FT_OK;
    for (size_t i = 0; i < o->len; i++)
        buf[i] = (char)ft_prng_next(&r);
    size_t n = 0;
    call();
    switch (o->kind) {
    case PUT: st = ft_put(win, o->target, o->off, buf, o->len); break;
    case GET: st = ft_get(win, o->target, o->off, got, n = o->len); break;
    case ADD:
    case OWN_ADD:
        st = ft_fetch_word(win, o->target, o->off, FT_FETCH_ADD, n = 8, buf, NULL, got);
        break;
    case SWAP:
        st = ft_fetch_word(win, o->target, o->off, FT_FETCH_REPLACE, n = 8, buf, NULL, got);
        break;
    case WIDE:
        st = ft_accumulate(win, o->target, o->off, buf, got, (n = o->len) / 8, 8, &add);
        break;
    case STORE:
        memcpy(base + o->off, buf, o->len);
        learn(base + o->off, 8);
        break;
    default:
        ft_win_lock(win, o->target, o->seed & 1);
        call();
        ft_win_unlock(win, o->target);
    }
    CHECK(st == FT_OK);
    learn(got, n);
}

/* A turn: a stand-in for a receive, some accesses, the end of the epoch, reading the own window, a
 * send. */
static void turn(int rank, int t)
{
    struct ft_prng r = {job.seed * 1000003 + (uint64_t)t};
    call();
    ft_note_acquired();
    for (int i = 0; i < OPS; i++) {
        struct op o = op_of(&r, rank);
        carry_out(&o);
    }
    call();
    ft_win_flush(win, -1);
    size_t at = ft_prng_below(&r, BYTES - 512);
    learn(base + at, rank == VICTIM ? 512 : 0);
    call();
}

/* --- a survivor --- */

static void rebind(void)
{
    int now = (int)atomic_load(&W(SLOT)), was = world[VICTIM], me = ctx.rank;
    if (now == was)
        return;
    ft_rma_repair(&job.arena, was);
    world[VICTIM] = now;
    ft_rma_rebind(VICTIM, now);
    ft_msg_rebind(VICTIM, now);
    atomic_store(&W(REPAIRED0 + me), (uint64_t)now);
}

static int last_turn; /* of the script */

static void survivor(void)
{
    job_meet();
    enter(job.self, 0);
    for (int t = 0; t < last_turn; t++) {
        while (atomic_load(&W(TURN)) < (uint64_t)t) {
            rebind();
            sched_yield();
        }
        if (t % RANKS != ctx.rank)
            continue;
        turn(ctx.rank, t);
        atomic_store(&W(TURN), (uint64_t)t + 1);
    }
    while (atomic_load(&W(REPLAYED)) == 0) {
        rebind();
        sched_yield();
    }
    atomic_fetch_xor(&W(SUM), mixed * (uint64_t)(ctx.rank + 1));
    for (size_t i = 0; i < BYTES; i++)
        mixed = (mixed ^ (uint8_t)base[i]) * 0x100000001b3ull;
    atomic_fetch_xor(&W(SUM), mixed);
}

/* --- the victim, and those who follow it --- */

static char point_spec[2][80];
static int deaths;

static void end_well(void)
{
    atomic_fetch_xor(&W(SUM), mixed * (uint64_t)(ctx.rank + 1));
    learn(base, BYTES);
    atomic_fetch_xor(&W(SUM), mixed);
    atomic_store(&W(REPLAYED), 1);
}

static void play_from(int t)
{
    for (; t < last_turn; t++) {
        job_await(TURN, (uint64_t)t);
        if (t % RANKS != VICTIM)
            continue;
        memcpy(death, base, BYTES);
        atomic_store(&W(CALLS), ft_calls);
        turn(VICTIM, t);
        atomic_store(&W(TURN), (uint64_t)t + 1);
    }
    job_await(TURN, (uint64_t)last_turn);
}

static void victim(void)
{
    job_meet();
    enter(VICTIM, 0);
    if (deaths)
        CHECK(ft_fp_arm(point_spec[0], FT_ROLE_RANK, VICTIM, 0) == FT_OK);
    play_from(0);
    end_well();
}

static void replacement(void)
{
    ft_replay = FT_REPLAY;
    for (int r = 0; r < VICTIM; r++)
        job_await(REPAIRED0 + r, (uint64_t)job.self);
    enter(VICTIM, 1);
    uint64_t at_death = atomic_load(&W(TURN)), calls = atomic_load(&W(CALLS));
    ft_rma_replay_begin(FT_SEG_SETUP, 0, 0, 0, 0);
    ft_rma_replay_step();
    for (int t = VICTIM; t < (int)at_death; t += RANKS)
        turn(VICTIM, t);
    CHECK(ft_calls <= calls);
    if (at_death % RANKS ==
        VICTIM) { /* it died in its own turn: its window was this when the turn began */
        CHECK(ft_calls == calls);
        for (size_t i = 0; i < BYTES; i++)
            CHECK(base[i] == death[i]);
    }
    if (deaths > job.self - VICTIM)
        CHECK(ft_fp_arm(point_spec[job.self - VICTIM], FT_ROLE_RANK, VICTIM, 0) == FT_OK);
    for (int t = (int)at_death; t < last_turn;
         t++) { /* the turn in which it died is partly recorded; live as soon as that is passed */
        job_await(TURN, (uint64_t)t);
        if (t % RANKS != VICTIM)
            continue;
        memcpy(death, base, BYTES);
        atomic_store(&W(CALLS), ft_calls);
        may_go_live = 1;
        turn(VICTIM, t);
        atomic_store(&W(TURN), (uint64_t)t + 1);
    }
    job_await(TURN, (uint64_t)last_turn);
    if (ft_replay != FT_LIVE)
        go_live();
    for (int r = 0; r < VICTIM;
         r++) { /* ACC, exactly once; nobody holds a lock, nobody is inside */
        struct ft_ctl *ctl = ft_tp_ctl(&job.tp, world[r]);
        CHECK(atomic_load(&ctl->peer[VICTIM].acc) == ft_acc(r));
        CHECK(atomic_load(&job.tp.own->ctl->peer[r].acc) ==
              atomic_load(&ctl->peer[VICTIM].acc_mine));
        struct ft_win_locks *l = ft_winpart_lookup(win, r)->locks;
        CHECK(atomic_load(&l->crit) == 0 && atomic_load(&l->excl) == 0 &&
              atomic_load(&l->shared[VICTIM]) == 0);
    }
    end_well();
}

static uint64_t play_job(void)
{
    death = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    job_begin(SLOTS, RANKS);
    atomic_store(&W(SLOT), VICTIM);
    for (int i = 0; i < RANKS; i++)
        job_spawn(i, i == VICTIM ? victim : survivor);
    for (int d = 0; d < deaths; d++) {
        int status = job_status(VICTIM + d);
        if (status == 0) /* it finished before it passed the point that often */
            break;
        assert_int_equal(status, SIGKILL);
        atomic_store(&W(DEAD), (uint64_t)(VICTIM + d));
        job_spawn(VICTIM + d + 1, replacement);
        while (atomic_load(&job.board->slot[VICTIM + d + 1].pid) == 0)
            sched_yield();
        atomic_store(&W(SLOT), (uint64_t)(VICTIM + d + 1));
    }
    for (int i = 0; i < SLOTS; i++)
        if (job.pid[i])
            assert_int_equal(job_status(i), 0);
    uint64_t sum = atomic_load(&W(SUM));
    munmap(job.board, ft_board_bytes(job.nslots));
    close(job.board_fd);
    munmap(job.sh, sizeof *job.sh);
    munmap(death, BYTES);
    return sum;
}

static const char *const points[] = {
    "rma.atomic.locked", "rma.atomic.applied", "rma.atomic.done", "log.event",     "log.event.done",
    "log.put",           "log.stamped",        "rma.put.before",  "rma.put.after", "rma.get",
    "rma.lock.held",     "rma.unlock",         "rma.flush"};

static void killed_at_points(int twice, int seeds)
{
    uint64_t first = job_seed(1),
             last = getenv("FTRMA_TEST_SEED") ? first : first + (uint64_t)seeds - 1;
    last_turn = 21;
    for (job.seed = first; job.seed <= last; job.seed++) {
        struct ft_prng r = {job.seed * 99};
        deaths = 0;
        uint64_t want = play_job();
        for (size_t p = 0; p < FT_COUNTOF(points); p++) {
            deaths = 1 + twice;
            for (int d = 0; d < deaths; d++)
                snprintf(point_spec[d], sizeof point_spec[d], "rank=%d,point=%s,hit=%d", VICTIM,
                         points[d ? ft_prng_below(&r, FT_COUNTOF(points)) : p],
                         1 + (int)ft_prng_below(&r, d ? 4 : 14));
            uint64_t got = play_job();
            if (got != want)
                fprintf(stderr, "FTRMA_TEST_SEED=%llu: %s; %s\n", (unsigned long long)job.seed,
                        point_spec[0], twice ? point_spec[1] : "");
            assert_true(got == want);
        }
    }
}

static void killed_once(void **state) { (void)state, killed_at_points(0, 8); }
static void killed_twice(void **state) { (void)state, killed_at_points(1, 8); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_once),
                                       cmocka_unit_test(killed_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
