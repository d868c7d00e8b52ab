/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_agree.c - agreement under crashes at every step: random runs of 1 to 9 slots, mutants that the checkers must catch, and
 * every interleaving of three and of four slots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/agree.h"
#include "proto/simnet.h"

enum mutant {
    M_NONE,
    M_IMPATIENT,  /* a parent does not wait for a child's vote */
    M_LATE,       /* a late DECIDE is taken as one for the receiver's own set */
    M_OLD_LOCAL,  /* the second round's votes still describe the generation before */
};

struct sim {
    struct simnet net;
    struct ft_prng rng;
    uint64_t seed;
    enum mutant mutant;
    int ring;           /* only the predecessor on the ring detects, otherwise everybody does, one by one */
    int crashes;        /* still to come */
    uint32_t crashed;   /* as bits */
    struct ft_agree m[SIM_MAX];
    struct ft_decision log[SIM_MAX][SIM_MAX + 2]; /* adopted, by slot and generation */
    int events;
    int max_lag;
};

static int in_mutant; /* a child process that is expected to fail */

static void wrong(const struct sim *s, const char *what)
{
    if (in_mutant)
        _exit(2);
    for (int p = 0; p < s->net.n; p++) {
        char line[256];
        ft_agree_dump(&s->m[p], line, sizeof line);
        fprintf(stderr, "%s %s\n", s->net.alive[p] ? "alive" : "dead ", line);
    }
    fail_msg("FTRMA_TEST_SEED=%" PRIu64 ": %s", s->seed, what);
}

/* What a slot contributes tells who it is and which generation it has carried out: then merged data shows whose vote is missing
   or old. */
static struct ft_agree_data local_of(int p, uint32_t generation)
{
    struct ft_agree_data d = {.committed = (uint64_t)(p * 7 % 5), .flags = 1ull << p};
    if (generation % 2)
        ft_bit_set(&d.incomplete, p);
    return d;
}

static void check_decision(struct sim *s, int p, const struct ft_decision *d)
{
    struct ft_agree_data all = {0};
    uint32_t failed = (uint32_t)d->failed.w[0];
    if (d->generation != s->log[p][d->generation - 1].generation + 1)
        wrong(s, "decisions out of order");
    if (failed & ~s->crashed)
        wrong(s, "somebody was declared dead who lives");
    for (int q = 0; q < s->net.n; q++) {
        struct ft_agree_data l = local_of(q, d->generation - 1);
        if (failed >> q & 1)
            continue;
        all.committed = ft_max_u64(all.committed, l.committed);
        all.flags |= l.flags;
        ft_bitset_merge(&all.incomplete, &l.incomplete);
    }
    if (memcmp(&all, &d->data, sizeof all))
        wrong(s, "a vote is missing, or described another generation");
    s->log[p][d->generation] = *d;
    for (int q = 0; q < s->net.n; q++) {
        const struct ft_decision *o = &s->log[q][d->generation];
        if (s->net.alive[q] && o->generation && memcmp(o, d, sizeof *d))
            wrong(s, "two decisions for one generation");
    }
}

static void crash(struct sim *s, int p)
{
    s->crashes--;
    s->crashed |= 1u << p;
    simnet_crash(&s->net, p, &s->rng);
}

static int living(const struct sim *s)
{
    return s->net.n - __builtin_popcount(s->crashed);
}

static void event(struct sim *s, int p, struct ft_agree_event ev)
{
    static struct ft_agree_actions out;
    struct ft_agree *m = &s->m[p];
    uint32_t carried_out = m->last.generation;
    int survives = -1; /* actions carried out before it crashes inside of the step */
    ev.local = local_of(p, carried_out);
    ft_agree_step(m, &ev, &out);
    ft_agree_check(m);
    s->events++;
    if (s->crashes > 0 && living(s) > 1 && ft_prng_below(&s->rng, 12) == 0)
        survives = (int)ft_prng_below(&s->rng, (uint64_t)out.n + 1);
    for (int i = 0; i < out.n && i != survives; i++) {
        const struct ft_agree_action *a = &out.a[i];
        if (a->kind == FT_AGREE_ACT_DECIDED) {
            assert_int_equal(i, out.n - 1);
            check_decision(s, p, &a->decision);
        } else if (s->net.alive[a->to]) {
            simnet_send(&s->net, p, a->to, 0, &a->msg, sizeof a->msg);
        }
    }
    if (survives >= 0) {
        crash(s, p);
        return;
    }
    if (!m->adopting)
        return;
    ev = (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED};
    if (s->mutant == M_OLD_LOCAL) {
        ev.local = local_of(p, carried_out);
        ft_agree_step(m, &ev, &out);
        for (int i = 0; i < out.n; i++)
            if (s->net.alive[out.a[i].to])
                simnet_send(&s->net, p, out.a[i].to, 0, &out.a[i].msg, sizeof out.a[i].msg);
        return;
    }
    event(s, p, ev);
}

static void mutate_message(const struct sim *s, int to, struct ft_agree_msg *msg)
{
    const struct ft_agree *m = &s->m[to];
    if (s->mutant != M_LATE || msg->kind != FT_AGREE_DECIDE || ft_bitset_equal(&msg->failed, &m->failed))
        return;
    if (m->voted && msg->last.generation == m->last.generation + 1)
        msg->failed = msg->last.failed = m->failed;
}

static void impatience(struct sim *s, int p)
{
    struct ft_agree *m = &s->m[p];
    for (int i = 0; i < m->tree.nchildren; i++)
        if (ft_agree_pending(m) && !m->voted && !m->child_voted[i]) {
            struct ft_agree_msg vote = {
                .kind = FT_AGREE_VOTE, .oldest = m->last.generation, .failed = m->failed, .last = m->last};
            event(s, p, (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = m->tree.child[i], .msg = &vote});
            return;
        }
}

static void deliver(struct sim *s, int from, int to)
{
    struct sim_msg *m = simnet_take(&s->net, from, to);
    struct ft_agree_msg msg;
    memcpy(&msg, m->body, sizeof msg);
    free(m);
    mutate_message(s, to, &msg);
    if (s->mutant == M_IMPATIENT && msg.kind == FT_AGREE_VOTE && ft_bitset_equal(&msg.failed, &s->m[to].failed) &&
        (s->m[to].voted || s->m[to].child_voted[from == s->m[to].tree.child[1]]))
        return; /* it was not waited for */
    event(s, to, (struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = from, .msg = &msg});
}

/* One thing that can happen, chosen at random; 0: all is quiet. */
static int anything(struct sim *s)
{
    struct { int kind, a, b; } can[3 * SIM_MAX * SIM_MAX];
    uint64_t n = 0;
    for (int p = 0; p < s->net.n; p++) {
        if (!s->net.alive[p])
            continue;
        int next = ft_ring_next(s->net.n, &s->m[p].failed, p);
        for (int q = 0; q < s->net.n; q++) {
            if (s->net.head[q][p])
                can[n].kind = 0, can[n].a = q, can[n++].b = p;
            if (!s->net.alive[q] && !ft_bit_get(&s->m[p].failed, q) && (!s->ring || q == next))
                can[n].kind = 1, can[n].a = p, can[n++].b = q;
        }
        if (s->crashes > 0 && living(s) > 1 && (ft_prng_below(&s->rng, 16) == 0 || s->net.sent == 0))
            can[n].kind = 2, can[n++].a = p;
    }
    if (n == 0)
        return 0;
    uint64_t i = ft_prng_below(&s->rng, n);
    if (can[i].kind == 0)
        deliver(s, can[i].a, can[i].b);
    else if (can[i].kind == 1)
        event(s, can[i].a, (struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .slot = can[i].b});
    else
        crash(s, can[i].a);
    return 1;
}

static void check_quiet(struct sim *s)
{
    uint32_t generation = 0;
    for (int p = 0; p < s->net.n; p++) {
        const struct ft_agree *m = &s->m[p];
        if (!s->net.alive[p])
            continue;
        generation = generation ? generation : m->last.generation;
        if (ft_agree_pending(m))
            wrong(s, "all is quiet and a ballot is open");
        if (m->last.failed.w[0] != s->crashed || m->last.generation != generation)
            wrong(s, "all is quiet and not everybody has decided on all crashes");
    }
}

static void one_run(struct sim *s, uint64_t seed, enum mutant mutant)
{
    memset(s, 0, sizeof *s);
    s->rng.s = s->seed = sim_current = seed;
    s->mutant = mutant;
    int n = 1 + (int)ft_prng_below(&s->rng, SIM_MAX);
    simnet_init(&s->net, n);
    s->crashes = (int)ft_prng_below(&s->rng, (uint64_t)n);
    s->ring = (int)ft_prng_below(&s->rng, 2);
    for (int p = 0; p < n; p++)
        ft_agree_init(&s->m[p], p, n);
    while (anything(s)) {
        if (s->events > 20000)
            wrong(s, "no end");
        int p = (int)ft_prng_below(&s->rng, (uint64_t)n);
        if (mutant == M_IMPATIENT && s->net.alive[p] && ft_prng_below(&s->rng, 4) == 0)
            impatience(s, p);
    }
    check_quiet(s);
    simnet_finish(&s->net);
}

static void random_runs(void **state)
{
    (void)state;
    static struct sim s;
    int given;
    uint64_t seed = sim_seed(1000, &given);
    for (int i = 0; i < (given ? 1 : 30000); i++)
        one_run(&s, seed + (uint64_t)i, M_NONE);
}

/* Runs with a mutant in a process of its own, which a checker has to end. */
static void expect_caught(enum mutant mutant)
{
    pid_t pid = fork();
    if (pid == 0) {
        static struct sim s;
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        in_mutant = 1;
        for (uint64_t i = 0; i < 3000; i++)
            one_run(&s, i, mutant);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void mutants(void **state)
{
    (void)state;
    expect_caught(M_IMPATIENT);
    expect_caught(M_LATE);
    expect_caught(M_OLD_LOCAL);
}

/* One death, nothing else: messages are linear in n. */
static void message_count(void **state)
{
    (void)state;
    static struct sim s;
    for (int n = 2; n <= SIM_MAX; n++)
        for (int victim = 0; victim < n; victim++) {
            memset(&s, 0, sizeof s);
            s.seed = s.rng.s = (uint64_t)(n * 100 + victim);
            simnet_init(&s.net, n);
            for (int p = 0; p < n; p++)
                ft_agree_init(&s.m[p], p, n);
            s.ring = victim % 2;
            crash(&s, victim);
            s.crashes = 0;
            while (anything(&s))
                continue;
            check_quiet(&s);
            /* two ends of each edge announce, each announces to its next, a vote and a decision an edge */
            assert_true(s.net.sent <= (n - 2) * 4 + n - 1);
            for (int p = 0; p < n; p++)
                assert_true(p == victim || s.m[p].last.generation == 1);
            simnet_finish(&s.net);
        }
}

/* The case of agree.h (1): generation 1 reaches one of two children, its bearer's vote brings it to the other, then 2 is
   decided. */
static void second_round(void **state)
{
    (void)state;
    struct ft_agree m;
    static struct ft_agree_actions out;
    struct ft_agree_msg vote = {
        .kind = FT_AGREE_VOTE, .oldest = 1, .failed = {{0x9}}, .last = {.generation = 1, .failed = {{0x8}}}};
    ft_agree_init(&m, 1, 4); /* 3 has died, then 0, after it told 2 alone what it had decided */
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_FAILED, .slot = 3}, &out);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = 2, .msg = &vote}, &out);
    assert_int_equal(m.failed.w[0], 0x9);
    assert_int_equal(out.n, 3); /* ANNOUNCE, DECIDE to 2, DECIDED */
    assert_int_equal(out.a[1].msg.kind, FT_AGREE_DECIDE);
    assert_int_equal(out.a[1].msg.last.generation, 1);
    assert_int_equal(out.a[2].kind, FT_AGREE_ACT_DECIDED);
    assert_int_equal(out.a[2].decision.failed.w[0], 0x8);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED}, &out);
    assert_int_equal(out.n, 0);
    ft_agree_step(&m, &(struct ft_agree_event){.kind = FT_AGREE_EV_MSG, .slot = 2, .msg = &vote}, &out);
    assert_int_equal(out.n, 2);
    assert_int_equal(out.a[1].decision.generation, 2);
    assert_int_equal(out.a[1].decision.failed.w[0], 0x9);
}

/* ---- every interleaving of three and of four slots ----
 * Machines, messages and decisions are interned: a state is a handful of small numbers, and a step of a machine is computed
 * once. */
#define XN 4 /* at most */
#define XCHAN 16 /* messages in one channel */

struct xstate {
    uint16_t machine[XN];
    uint16_t log[XN][XN + 1]; /* decision adopted as generation i + 1, 0: none */
    uint8_t alive, crashes;
    uint8_t len[XN][XN];
    uint16_t chan[XN][XN][XCHAN];
};

struct pool {
    size_t size;
    unsigned n, cap;
    unsigned char *item;
    uint64_t *hash;
};

static uint64_t hash_bytes(const void *p, size_t n)
{
    const unsigned char *b = p;
    uint64_t h = 0xcbf29ce484222325ull;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t w;
        memcpy(&w, b + i, 8);
        h = (h ^ w) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    for (; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3ull;
    return h ^ h >> 32;
}

static uint16_t intern(struct pool *p, const void *item)
{
    uint64_t h = hash_bytes(item, p->size);
    for (unsigned i = 1; i <= p->n; i++)
        if (p->hash[i] == h && !memcmp(p->item + i * p->size, item, p->size))
            return (uint16_t)i;
    if (p->n + 2 > p->cap) {
        p->cap = p->cap ? 2 * p->cap : 64;
        p->item = realloc(p->item, p->cap * p->size);
        p->hash = realloc(p->hash, p->cap * sizeof *p->hash);
        assert_non_null(p->item);
        assert_non_null(p->hash);
    }
    p->n++;
    assert_true(p->n < UINT16_MAX);
    memcpy(p->item + p->n * p->size, item, p->size);
    p->hash[p->n] = h;
    return (uint16_t)p->n;
}

/* What a machine does on an event: its next state, and what it sends and adopts, in order. */
struct xstep {
    uint32_t key; /* machine << 16 | message; FAILED of slot s is message 0xfff0 + s */
    uint8_t from;
    uint16_t machine;
    int n;
    struct { int8_t to; uint16_t what; } act[2 * FT_AGREE_MAX_ACTIONS]; /* to -1: adopted */
};

static struct {
    int n; /* slots */
    struct pool machines, msgs, decisions;
    struct xstep *step;
    unsigned nsteps;
    struct xstate *seen; /* open addressing; crashes is 0xff in a free place */
    uint64_t nseen, mask, quiet;
    struct xstate *stack;
    size_t nstack, capstack;
} x;

static void x_record(struct xstep *st, const struct ft_agree_actions *out)
{
    for (int i = 0; i < out->n; i++) {
        const struct ft_agree_action *a = &out->a[i];
        int decided = a->kind == FT_AGREE_ACT_DECIDED;
        st->act[st->n].to = (int8_t)(decided ? -1 : a->to);
        st->act[st->n++].what = decided ? intern(&x.decisions, &a->decision) : intern(&x.msgs, &a->msg);
    }
}

#define X_STEPS (1u << 20)
static const struct xstep *x_step(uint16_t machine, uint16_t msg, int from, int self)
{
    uint32_t key = (uint32_t)machine << 16 | msg;
    uint64_t at = ((uint64_t)key * 4 + (unsigned)from) * 0x9e3779b97f4a7c15ull >> 44;
    for (; x.step[at].key; at = (at + 1) % X_STEPS)
        if (x.step[at].key == key && x.step[at].from == from)
            return &x.step[at];
    static struct ft_agree m;
    static struct ft_agree_msg body;
    static struct ft_agree_actions out;
    struct xstep *st = &x.step[at];
    assert_true(++x.nsteps < X_STEPS / 2);
    memcpy(&m, x.machines.item + machine * x.machines.size, sizeof m);
    struct ft_agree_event ev = {.kind = FT_AGREE_EV_FAILED, .slot = from, .local = local_of(self, m.last.generation)};
    if (msg < 0xfff0) {
        memcpy(&body, x.msgs.item + msg * x.msgs.size, sizeof body);
        ev.kind = FT_AGREE_EV_MSG;
        ev.msg = &body;
    }
    ft_agree_step(&m, &ev, &out);
    x_record(st, &out);
    if (m.adopting) {
        ev = (struct ft_agree_event){.kind = FT_AGREE_EV_ADOPTED, .local = local_of(self, m.last.generation)};
        ft_agree_step(&m, &ev, &out);
        x_record(st, &out);
    }
    ft_agree_check(&m);
    st->key = key;
    st->from = (uint8_t)from;
    st->machine = intern(&x.machines, &m);
    return st;
}

static void x_check_adopted(const struct xstate *s, int p, const struct ft_decision *d, uint16_t id)
{
    assert_true(d->generation >= 1 && d->generation <= (uint32_t)x.n);
    assert_int_equal(d->failed.w[0] & s->alive, 0);
    assert_true(d->generation == 1 || s->log[p][d->generation - 2]);
    assert_int_equal(s->log[p][d->generation - 1], 0);
    for (int q = 0; q < x.n; q++)
        if (s->alive >> q & 1 && s->log[q][d->generation - 1])
            assert_int_equal(s->log[q][d->generation - 1], id);
    for (int q = 0; q < x.n; q++)
        if (!(d->failed.w[0] >> q & 1)) {
            assert_true(d->data.flags >> q & 1);
            assert_int_equal(ft_bit_get(&d->data.incomplete, q), (d->generation - 1) % 2);
        }
}

static void x_push(const struct xstate *s)
{
    uint64_t at = hash_bytes(s, sizeof *s) & x.mask;
    for (; x.seen[at].crashes != 0xff; at = (at + 1) & x.mask)
        if (!memcmp(&x.seen[at], s, sizeof *s))
            return;
    x.seen[at] = *s;
    assert_true(++x.nseen < x.mask / 4 * 3);
    if (x.nstack == x.capstack) {
        x.capstack = x.capstack ? 2 * x.capstack : 1024;
        x.stack = realloc(x.stack, x.capstack * sizeof *x.stack);
        assert_non_null(x.stack);
    }
    x.stack[x.nstack++] = *s;
}

static void x_crash(struct xstate *s, int p)
{
    s->alive &= (uint8_t)~(1u << p);
    s->crashes--;
    s->machine[p] = 0; /* nothing of it matters any more but what it sent */
    memset(s->log[p], 0, sizeof s->log[p]);
    for (int q = 0; q < x.n; q++) {
        s->len[q][p] = 0;
        memset(s->chan[q][p], 0, sizeof s->chan[q][p]);
    }
}

/* All ways that a step of p can go on from s: whole, or cut short by its crash after some of its actions. */
static void x_after(const struct xstate *s, int p, const struct xstep *st)
{
    for (int cut = s->crashes ? 0 : st->n; cut <= st->n; cut++) {
        struct xstate t = *s;
        for (int i = 0; i < cut; i++) {
            int to = st->act[i].to;
            uint16_t what = st->act[i].what;
            if (to < 0) {
                struct ft_decision d;
                memcpy(&d, x.decisions.item + what * x.decisions.size, sizeof d);
                x_check_adopted(&t, p, &d, what);
                t.log[p][d.generation - 1] = what;
            } else if (t.alive >> to & 1) {
                assert_true(t.len[p][to] < XCHAN);
                t.chan[p][to][t.len[p][to]++] = what;
            }
        }
        t.machine[p] = st->machine;
        if (cut != st->n)
            x_crash(&t, p);
        if (t.alive)
            x_push(&t);
    }
}

static const struct ft_agree *x_machine(const struct xstate *s, int p)
{
    return (const void *)(x.machines.item + s->machine[p] * x.machines.size);
}

static void x_expand(const struct xstate *s)
{
    int moves = 0;
    for (int p = 0; p < x.n; p++) {
        if (!(s->alive >> p & 1))
            continue;
        uint64_t unknown = ((1u << x.n) - 1) & ~s->alive & ~x_machine(s, p)->failed.w[0];
        for (int q = 0; q < x.n; q++) {
            if (unknown >> q & 1) {
                x_after(s, p, x_step(s->machine[p], (uint16_t)(0xfff0 + q), q, p));
                moves++;
            }
            if (s->len[q][p]) {
                struct xstate t = *s;
                uint16_t msg = t.chan[q][p][0];
                memmove(t.chan[q][p], t.chan[q][p] + 1, sizeof t.chan[q][p] - sizeof t.chan[q][p][0]);
                t.chan[q][p][XCHAN - 1] = 0;
                t.len[q][p]--;
                x_after(&t, p, x_step(s->machine[p], msg, q, p));
                moves++;
            }
        }
        if (s->crashes && (s->alive & (s->alive - 1))) {
            struct xstate t = *s;
            x_crash(&t, p);
            x_push(&t);
        }
    }
    if (moves)
        return;
    x.quiet++;
    for (int p = 0; p < x.n; p++)
        if (s->alive >> p & 1) {
            assert_false(ft_agree_pending(x_machine(s, p)));
            assert_int_equal(x_machine(s, p)->last.failed.w[0], ((1u << x.n) - 1) & ~s->alive);
        }
}

static void exhaust(int n, int crashes)
{
    static struct ft_agree m;
    struct xstate s = {.alive = (uint8_t)((1u << n) - 1), .crashes = (uint8_t)crashes};
    memset(&x, 0, sizeof x);
    x.n = n;
    x.machines.size = sizeof(struct ft_agree);
    x.msgs.size = sizeof(struct ft_agree_msg);
    x.decisions.size = sizeof(struct ft_decision);
    x.step = calloc(X_STEPS, sizeof *x.step);
    x.mask = (1u << 20) - 1;
    x.seen = malloc((x.mask + 1) * sizeof *x.seen);
    assert_non_null(x.step);
    assert_non_null(x.seen);
    memset(x.seen, 0xff, (x.mask + 1) * sizeof *x.seen);
    for (int p = 0; p < x.n; p++) {
        ft_agree_init(&m, p, n);
        s.machine[p] = intern(&x.machines, &m);
    }
    x_push(&s);
    while (x.nstack) {
        struct xstate t = x.stack[--x.nstack];
        x_expand(&t);
    }
    printf("%d slots, up to %d crashes: %" PRIu64 " states, %" PRIu64 " of them quiet, %u machine states\n", n, crashes, x.nseen,
           x.quiet, x.machines.n);
    assert_true(x.quiet >= 4);
    free(x.machines.item);
    free(x.machines.hash);
    free(x.msgs.item);
    free(x.msgs.hash);
    free(x.decisions.item);
    free(x.decisions.hash);
    free(x.step);
    free(x.seen);
    free(x.stack);
}

static void every_interleaving(void **state)
{
    (void)state;
    exhaust(3, 1);
    exhaust(3, 2);
    exhaust(4, 1);
    exhaust(4, 2);
    exhaust(4, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_round),
        cmocka_unit_test(message_count),
        cmocka_unit_test(random_runs),
        cmocka_unit_test(mutants),
        cmocka_unit_test(every_interleaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
