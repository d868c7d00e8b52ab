/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_eligible.c - tests rule R4 with random race-free executions. Vector clocks say what happened
 * before what. The replay must apply every action once, none against that order, and f must see the
 * same values at every load. Mutants of the rules must be caught by the same checks.
 * FTRMA_TEST_SEED names one execution.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alog/eligible.h"
#include "base/prng.h"

#define PROCS 5 /* rank 0 is f */
#define PLACES 3
#define MOST 600
#define RUNS 3000

enum mutant {
    M_NONE,
    M_STALE,        /* lo is not read again after a message was received */
    M_STALE_ATOMIC, /* nor inside an atomic */
    M_NO_LO,        /* everything is eligible at once */
    M_LATE,         /* nothing is applied before f' goes live */
    M_BY_SOURCE,    /* by sources' logs one after the other, not by T */
    M_OPEN_EARLY,   /* actions without a stamp before those with one */
    M_OPEN_LATE,    /* and not before f' goes live */
    /* a call that reads the window (a send from it) reads after actions that the call makes
     * eligible were applied */
    M_DRAIN_FIRST,
    M_TWICE, /* what the image covers is applied again */
    M_COUNT
};

enum { F, P, Q, R, X = 0, A = 1 }; /* ranks and places */

static uint64_t seed;
static int seed_given;

struct act {
    int source, place, atomic;
    uint64_t value, lo, stamp, result;
    uint64_t issued[PROCS]; /* vector clock */
    uint64_t done;          /* source's clock when it was complete, 0: open */
    int landed;
};

enum what { E_CALL, E_DRAIN, E_LOAD, E_STORE, E_OWN, E_SEEN };
struct event { /* of f */
    enum what what;
    int place;
    uint64_t value;
};

struct access {
    int proc, place, write, act; /* act: index of the action, -1: a load or store of f */
    uint64_t done;
};

struct run {
    struct ft_prng rnd;
    enum mutant mutant;
    int nprocs, receiving; /* receiving: from whom f waits in a call, 0: it does not */
    uint64_t mem[PLACES], calls, stamps, values;
    uint64_t clock[PROCS][PROCS], atomics[PLACES][PROCS], lo[PROCS];
    uint64_t sent[PROCS][PROCS][MOST][PROCS];
    int nsent[PROCS][PROCS], nreceived[PROCS][PROCS];
    struct act act[MOST];
    struct event event[4 * MOST];
    struct access access[2 * MOST];
    int nacts, nevents, naccesses;
    struct {
        int event;
        uint64_t mem[PLACES], calls, stamps;
    } image;
};

static struct run run; /* static because it is large */

static void run_init(struct run *x, uint64_t s, int nprocs, enum mutant m)
{
    memset(x, 0, sizeof *x);
    x->rnd.s = s;
    x->nprocs = nprocs;
    x->mutant = m;
}

static int below(struct run *x, int n) { return (int)ft_prng_below(&x->rnd, (uint64_t)n); }

/* --- what processes do --- */

static void join(uint64_t *into, const uint64_t *v)
{
    for (int i = 0; i < PROCS; i++)
        into[i] = ft_max_u64(into[i], v[i]);
}

/* No race: all that conflicts with this access is complete and happened before it. */
static int allowed(const struct run *x, int p, int place, int write, int atomic)
{
    for (int i = 0; i < x->naccesses; i++) {
        const struct access *b = &x->access[i];
        if (b->place != place || (!write && !b->write) ||
            (atomic && b->act >= 0 && x->act[b->act].atomic))
            continue;
        if (!b->done || x->clock[p][b->proc] < b->done)
            return 0;
    }
    return x->nacts < MOST && x->naccesses < 2 * MOST;
}

static void note(struct run *x, int p, int place, int write, int act, uint64_t done)
{
    x->access[x->naccesses++] = (struct access){p, place, write, act, done};
}

static void event(struct run *x, enum what what, int place, uint64_t value)
{
    x->event[x->nevents++] = (struct event){what, place, value};
}

static uint64_t combine(uint64_t old, uint64_t value)
{
    return old * 31 + value;
} /* order matters */

static struct act *new_act(struct run *x, int p, int place, int atomic)
{
    struct act *a = &x->act[x->nacts++];
    *a = (struct act){
        .source = p, .place = place, .atomic = atomic, .value = ++x->values, .lo = x->lo[p]};
    memcpy(a->issued, x->clock[p], sizeof a->issued);
    return a;
}

static void do_put(struct run *x, int p, int place, int lands)
{
    assert_true(allowed(x, p, place, 1, 0));
    x->clock[p][p]++;
    note(x, p, place, 1, x->nacts, 0);
    struct act *a = new_act(x, p, place, 0);
    a->landed = lands;
    if (lands)
        x->mem[place] = a->value;
}

/* Flush: the data is written, then all puts get one stamp. */
static void do_close(struct run *x, int p)
{
    uint64_t now = ++x->clock[p][p], stamp = 0;
    for (int i = 0; i < x->naccesses; i++) {
        struct access *c = &x->access[i];
        if (c->proc != p || c->done)
            continue;
        struct act *a = &x->act[c->act];
        if (!a->landed)
            x->mem[a->place] = a->value;
        a->landed = 1;
        a->stamp = stamp ? stamp : (stamp = ++x->stamps);
        a->done = c->done = now;
    }
}

static void do_atomic(struct run *x, int p, int place)
{
    assert_true(allowed(x, p, place, 1, 1));
    if (p == 0) {
        event(x, E_CALL, 0, ++x->calls);
        event(x, E_DRAIN, 0, 0);
    }
    uint64_t now = ++x->clock[p][p];
    join(x->clock[p], x->atomics[place]);
    memcpy(x->atomics[place], x->clock[p], sizeof x->clock[p]);
    if (p == 0 || x->mutant != M_STALE_ATOMIC)
        x->lo[p] = x->calls;
    note(x, p, place, 1, x->nacts, now);
    struct act *a = new_act(x, p, place, 1);
    a->result = x->mem[place];
    x->mem[place] = combine(x->mem[place], a->value);
    a->stamp = ++x->stamps;
    a->done = now;
    a->landed = 1;
    if (p == 0)
        event(x, E_OWN, x->nacts - 1, 0);
}

static void do_load(struct run *x, int place)
{
    assert_true(allowed(x, 0, place, 0, 0));
    note(x, 0, place, 0, -1, ++x->clock[0][0]);
    event(x, E_LOAD, place, x->mem[place]);
}

/* f polls for a put that is written, and not complete. */
static void do_poll(struct run *x, int place)
{
    for (int i = 0; i < x->nacts; i++) {
        if (x->act[i].place == place && x->act[i].landed && !x->act[i].done)
            event(x, E_SEEN, i, 0);
    }
}

static void do_store(struct run *x, int place)
{
    assert_true(allowed(x, 0, place, 1, 0));
    note(x, 0, place, 1, -1, ++x->clock[0][0]);
    x->mem[place] = ++x->values;
    event(x, E_STORE, place, x->values);
}

/* `place`: f sends from that place of the window; -1: from elsewhere. */
static void do_send(struct run *x, int p, int to, int place)
{
    if (p == 0) {
        event(x, E_CALL, 0, ++x->calls);
        if (place >= 0)
            do_load(x, place);
        event(x, E_DRAIN, 0, 0);
    }
    x->clock[p][p]++;
    memcpy(x->sent[p][to][x->nsent[p][to]++], x->clock[p], sizeof x->clock[p]);
}

static int can_receive(const struct run *x, int p, int source)
{
    return x->nreceived[source][p] < x->nsent[source][p];
}

static void do_receive(struct run *x, int p, int source)
{
    assert_true(can_receive(x, p, source));
    x->clock[p][p]++;
    join(x->clock[p], x->sent[source][p][x->nreceived[source][p]++]);
    if (x->mutant != M_STALE)
        x->lo[p] = x->calls;
}

static void do_call(struct run *x)
{
    event(x, E_CALL, 0, ++x->calls);
    event(x, E_DRAIN, 0, 0);
}

static void do_image(struct run *x)
{
    do_call(x);
    x->image.event = x->nevents;
    x->image.calls = x->calls;
    x->image.stamps = x->stamps;
    memcpy(x->image.mem, x->mem, sizeof x->mem);
}

static void step_of_f(struct run *x)
{
    int place = below(x, PLACES), q = 1 + below(x, x->nprocs - 1);
    if (x->receiving) { /* inside the call */
        if (!can_receive(x, 0, x->receiving))
            return;
        do_receive(x, 0, x->receiving);
        x->receiving = 0;
        if (below(x, 3) == 0 && allowed(x, 0, place, 1, 0))
            do_store(x, place);
        return;
    }
    switch (below(x, 8)) {
    case 0:
        if (allowed(x, 0, place, 1, 0))
            do_store(x, place);
        break;
    case 1: do_send(x, 0, q, allowed(x, 0, place, 0, 0) ? place : -1); break;
    case 2: do_send(x, 0, q, -1); break;
    case 3:
        if (can_receive(x, 0, q) || below(x, 4) == 0) {
            do_call(x);
            x->receiving = q;
        }
        break;
    case 4:
        if (allowed(x, 0, place, 1, 1))
            do_atomic(x, 0, place);
        break;
    case 5:
        if (below(x, 16) == 0)
            do_image(x);
        break;
    default:
        if (allowed(x, 0, place, 0, 0))
            do_load(x, place);
        else
            do_poll(x, place);
    }
}

static void step_of_source(struct run *x, int p)
{
    int place = below(x, PLACES), q = (p + 1 + below(x, x->nprocs - 1)) % x->nprocs;
    if (x->mutant != M_STALE && x->mutant != M_STALE_ATOMIC && below(x, 4) == 0)
        x->lo[p] = x->calls; /* may be read at any time */
    switch (below(x, 6)) {
    case 0: do_close(x, p); break;
    case 1: do_send(x, p, below(x, 2) ? q : F, -1); break;
    case 2:
    case 3:
        while (can_receive(x, p, q))
            do_receive(x, p, q);
        break;
    case 4:
        if (allowed(x, p, place, 1, 1) && below(x, 2))
            do_atomic(x, p, place);
        break;
    default:
        if (allowed(x, p, place, 1, 0))
            do_put(x, p, place, below(x, 2));
    }
}

static void run_random(struct run *x, uint64_t s, enum mutant m)
{
    struct ft_prng r = {s};
    run_init(x, s, 2 + (int)ft_prng_below(&r, PROCS - 1), m);
    for (int n = 20 + below(x, 500); n > 0; n--) {
        int p = below(x, x->nprocs + 1) % x->nprocs; /* f twice as often */
        if (p == 0)
            step_of_f(x);
        else
            step_of_source(x, p);
    }
}

/* --- replay and checks --- */

struct replay {
    struct ft_eligible_act acts[MOST], naive[MOST];
    int n, used[MOST], at[MOST], napplied; /* at: 1 + when it was applied, by index of act */
    uint64_t mem[PLACES], result[MOST];
    const char *wrong;
};

static void collect(const struct run *x, struct replay *y)
{
    for (int i = 0; i < x->nacts; i++) {
        const struct act *a = &x->act[i];
        if (a->stamp && a->stamp <= x->image.stamps && x->mutant != M_TWICE)
            continue;
        struct ft_eligible_act r = {a->lo, a->stamp, (uint64_t)i, a->source, a};
        switch (x->mutant) {
        case M_NO_LO: r.lo = 0; break;
        case M_LATE: r.lo = UINT64_MAX; break;
        case M_BY_SOURCE: r.stamp = r.stamp ? (uint64_t)a->source + 1 : 0; break;
        case M_OPEN_EARLY: r.stamp++; break;
        case M_OPEN_LATE: r.lo = r.stamp ? r.lo : UINT64_MAX; break;
        default:;
        }
        y->acts[y->n++] = r;
    }
    memcpy(y->naive, y->acts, sizeof y->acts);
}

static int before(const struct ft_eligible_act *a, const struct ft_eligible_act *b, int live)
{
    if (live && a->lo != b->lo) /* as if the calls went on */
        return a->lo < b->lo;
    if (!a->stamp != !b->stamp)
        return a->stamp != 0;
    if (a->stamp != b->stamp)
        return a->stamp < b->stamp;
    return a->source != b->source ? a->source < b->source : a->serial < b->serial;
}

/* The rule as it is defined: of the eligible actions, always the smallest. live: all actions are
 * eligible. */
static const struct ft_eligible_act *naive_next(const struct ft_eligible_act *acts, int *used,
                                                int n, uint64_t calls, int live)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (!used[i] && (live || acts[i].lo <= calls) &&
            (best < 0 || before(&acts[i], &acts[best], live)))
            best = i;
    }
    if (best >= 0)
        used[best] = 1;
    return best < 0 ? NULL : &acts[best];
}

static void wrong(struct replay *y, const char *what)
{
    if (!y->wrong)
        y->wrong = what;
}

static void apply(const struct run *x, struct replay *y, const struct ft_eligible_act *r)
{
    const struct act *a = r->what;
    int i = (int)(a - x->act);
    if (y->at[i])
        wrong(y, "an action came twice");
    y->at[i] = ++y->napplied;
    y->result[i] = y->mem[a->place];
    y->mem[a->place] = a->atomic ? combine(y->mem[a->place], a->value) : a->value;
}

/* calls, or live. */
static void drain(const struct run *x, struct replay *y, struct ft_eligible *o, uint64_t calls,
                  int live)
{
    const struct ft_eligible_act *r;
    while ((r = ft_eligible_next(o, live ? UINT64_MAX : calls))) {
        const struct ft_eligible_act *n = naive_next(y->naive, y->used, y->n, calls, live);
        if (!n || n->what != r->what)
            wrong(y, "not the order of the plain rule");
        apply(x, y, r);
    }
    if (naive_next(y->naive, y->used, y->n, calls, live))
        wrong(y, "held back");
}

static void check_order(const struct run *x, struct replay *y)
{
    for (int i = 0; i < y->n; i++) {
        const struct act *a = y->acts[i].what;
        if (!y->at[a - x->act])
            wrong(y, "an action is missing");
        for (int k = 0; k < y->n; k++) {
            const struct act *b = y->acts[k].what;
            if (a == b || a->place != b->place)
                continue;
            int cohb = a->atomic && b->atomic ? a->stamp < b->stamp
                                              : a->done && b->issued[a->source] >= a->done;
            if (cohb && y->at[a - x->act] > y->at[b - x->act])
                wrong(y, "against cohb");
        }
    }
}

/* f' re-executes from the image. Returns the first error; NULL: there is none. */
static const char *replay(struct run *x)
{
    static struct replay y;
    struct ft_eligible o;
    memset(&y, 0, sizeof y);
    for (int i = 0; i < x->nacts;
         i++) { /* what was under way at the end of the run has the same effect there */
        if (!x->act[i].landed)
            x->mem[x->act[i].place] = x->act[i].value;
        x->act[i].landed = 1;
    }
    uint64_t calls = x->image.calls;
    memcpy(y.mem, x->image.mem, sizeof y.mem);
    collect(x, &y);
    ft_eligible_begin(&o, y.acts, (size_t)y.n, calls);
    drain(x, &y, &o, calls, 0);
    for (int i = x->image.event; i < x->nevents; i++) {
        const struct event *e = &x->event[i];
        switch (e->what) {
        case E_CALL:
            if (e->value != ++calls)
                wrong(&y, "calls");
            if (x->mutant == M_DRAIN_FIRST)
                drain(x, &y, &o, calls, 0);
            break;
        case E_DRAIN: drain(x, &y, &o, calls, 0); break;
        case E_LOAD:
            if (y.mem[e->place] != e->value)
                wrong(&y, "f loads something else");
            break;
        case E_SEEN:
            if (!y.at[e->place] &&
                (!x->act[e->place].stamp || x->act[e->place].stamp > x->image.stamps))
                wrong(&y, "f polls for ever");
            break;
        case E_STORE: y.mem[e->place] = e->value; break;
        case E_OWN:
            if (!y.at[e->place] || y.result[e->place] != x->act[e->place].result)
                wrong(&y, "f's own atomic");
            break;
        }
    }
    if (x->mutant == M_NONE &&
        (ft_eligible_last_call(&o) > calls || ft_eligible_last_stamp(&o) > x->stamps))
        wrong(&y, "evidence");
    drain(x, &y, &o, calls, 1);
    check_order(x, &y);
    if (memcmp(y.mem, x->mem, sizeof y.mem) != 0)
        wrong(&y, "the window is not what it was");
    return y.wrong;
}

/* --- random executions --- */

static void replays_are_right(void **state)
{
    (void)state;
    long acts = 0, images = 0, loads = 0;
    for (uint64_t s = seed; s < seed + (seed_given ? 1 : RUNS); s++) {
        run_random(&run, s, M_NONE);
        const char *w = replay(&run);
        if (w)
            fail_msg("FTRMA_TEST_SEED=%llu: %s", (unsigned long long)s, w);
        acts += run.nacts;
        images += run.image.event > 0;
        for (int i = run.image.event; i < run.nevents; i++)
            loads += run.event[i].what == E_LOAD;
    }
    print_message("%ld actions, %ld loads, %ld images\n", acts, loads, images);
    assert_true(seed_given || (acts > 8 * RUNS && loads > 8 * RUNS && images > RUNS / 4));
}

static void mutants_are_caught(void **state)
{
    (void)state;
    if (seed_given)
        skip();
    for (int m = M_NONE + 1; m < M_COUNT; m++) {
        int caught = 0;
        for (uint64_t s = seed; s < seed + RUNS; s++) {
            run_random(&run, s, (enum mutant)m);
            caught += replay(&run) != NULL;
        }
        print_message("mutant %d: %d of %d\n", m, caught, RUNS);
        if (caught < 20)
            fail_msg("mutant %d was caught in %d runs of %d", m, caught, RUNS);
    }
}

/* --- the interleavings in brackets --- */

static const char *scripted(void (*script)(struct run *x), enum mutant m)
{
    run_init(&run, 1, 4, m);
    script(&run);
    return replay(&run);
}

#define RIGHT(script) assert_null(scripted(script, M_NONE))
#define CAUGHT(script, m, how) assert_string_equal(scripted(script, m), how)

/* q puts x, tells r, r tells f, f loads x. */
static void raw(struct run *x)
{
    do_call(x);
    do_put(x, Q, X, 0);
    do_close(x, Q);
    do_send(x, Q, R, -1);
    do_receive(x, R, Q);
    do_send(x, R, F, -1);
    do_call(x); /* a receive */
    do_receive(x, F, R);
    do_load(x, X);
}

/* The same, but f has been waiting for r all the time: lo is the receive itself. */
static void raw_waiting(struct run *x)
{
    do_call(x);
    do_load(x, X);
    do_send(x, F, Q, -1);
    do_call(x); /* begins to receive */
    do_receive(x, Q, F);
    do_put(x, Q, X, 1);
    do_close(x, Q);
    do_send(x, Q, F, -1);
    do_receive(x, F, Q);
    do_load(x, X);
}

static void read_after_write(void **state)
{
    (void)state;
    RIGHT(raw);
    CAUGHT(raw, M_LATE, "f loads something else");
    RIGHT(raw_waiting);
    CAUGHT(raw_waiting, M_LATE, "f loads something else");
    CAUGHT(raw_waiting, M_NO_LO, "f loads something else");
}

/* f loads x, tells q, q puts x. */
static void war(struct run *x)
{
    do_call(x);
    do_load(x, X);
    do_send(x, F, Q, -1);
    do_receive(x, Q, F);
    do_put(x, Q, X, 0);
    do_close(x, Q);
}

static void write_after_read(void **state)
{
    (void)state;
    RIGHT(war);
    CAUGHT(war, M_NO_LO, "f loads something else");
    CAUGHT(war, M_STALE, "f loads something else");
}

/* p puts a; f loads x and tells p; p puts x without a flush between: one stamp, two values of
 * lo. */
static void one_epoch(struct run *x)
{
    do_put(x, P, A, 1);
    do_call(x);
    do_load(x, X);
    do_send(x, F, P, -1);
    do_receive(x, P, F);
    do_put(x, P, X, 1);
    do_close(x, P);
}

static void a_message_inside_an_epoch(void **state)
{
    (void)state;
    RIGHT(one_epoch);
    CAUGHT(one_epoch, M_STALE, "f loads something else");
}

/* lock_all: q puts x, flushes, tells p; p puts x. Sources in order of rank, or of when they locked,
 * give p's first. */
static void lock_all(struct run *x)
{
    do_put(x, Q, X, 0);
    do_close(x, Q);
    do_send(x, Q, P, -1);
    do_receive(x, P, Q);
    do_put(x, P, X, 0);
    do_close(x, P);
}

static void shared_locks(void **state)
{
    (void)state;
    RIGHT(lock_all);
    CAUGHT(lock_all, M_BY_SOURCE, "against cohb");
}

/* f sends x itself; q, who has it, puts x while f is still in that call: the call reads first, then
 * applies. */
static void send_from_window(struct run *x)
{
    do_call(x);
    do_send(x, F, Q, X);
    do_receive(x, Q, F);
    do_put(x, Q, X, 0);
    do_close(x, Q);
}

static void a_send_from_the_window(void **state)
{
    (void)state;
    RIGHT(send_from_window);
    CAUGHT(send_from_window, M_DRAIN_FIRST, "f loads something else");
}

/* q closes x, tells p, whose put to x is open at the end. */
static void open_last(struct run *x)
{
    lock_all(x);
    do_send(x, P, Q, -1);
    do_receive(x, Q, P);
    do_put(x, Q, X, 0);
}

/* q's put has landed, and is not flushed; f polls for it. */
static void open_seen(struct run *x)
{
    do_put(x, Q, X, 1);
    do_call(x);
    do_poll(x, X);
    do_send(x, F, R, -1);
}

static void open_epochs_come_last(void **state)
{
    (void)state;
    RIGHT(open_last);
    CAUGHT(open_last, M_OPEN_EARLY, "against cohb");
    RIGHT(open_seen);
    CAUGHT(open_seen, M_OPEN_LATE, "f polls for ever");
}

int main(void)
{
    const char *given = getenv("FTRMA_TEST_SEED");
    seed_given = given && *given;
    seed = seed_given ? strtoull(given, NULL, 0) : 4100;
    print_message("FTRMA_TEST_SEED=%llu\n", (unsigned long long)seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_after_write),          cmocka_unit_test(write_after_read),
        cmocka_unit_test(a_message_inside_an_epoch), cmocka_unit_test(shared_locks),
        cmocka_unit_test(a_send_from_the_window),    cmocka_unit_test(open_epochs_come_last),
        cmocka_unit_test(replays_are_right),         cmocka_unit_test(mutants_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
