/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_round.c - votes and collectives among endpoints in one process: Figure 1 of the paper by
 * hand, and programs in random orders with random deaths. Messages behave as src/proto/txn.h
 * promises: between two incarnations in order, each once, both in the same generation; those to a
 * lost process go to its replacement.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "ftt/round.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/test_seeded.h"

static int hunting; /* what does not hold ends the process */
#undef HOLDS
#define HOLDS(x)                                                                \
    do {                                                                        \
        int holds_ = !!(x);                                                     \
        if (!holds_ && hunting)                                                 \
            _exit(1);                                                           \
        if (!holds_)                                                            \
            fail_msg("FTRMA_TEST_SEED=%llu: %s", (unsigned long long)seed, #x); \
    } while (0)

#define MOST 7
#define STEPS 5
#define QUEUE 4096

struct note {
    struct ft_round_message m;
    unsigned char data[FT_ROUND_DATA];
    struct note *next;
};
struct end {
    struct ft_rounds *r;
    uint32_t generation, incarnation; /* incarnation: of this process */
    /* of the program: odd steps are votes, even ones collectives; told: the last one has ended */
    int step, told, failed;
    struct note *first[MOST], *last[MOST]; /* from it, to each */
    uint32_t result[STEPS + 1][2 * MOST];  /* of the votes that it was told */
    int knows[STEPS + 1];
};
static int n, record;
static enum ft_rounds_broken mutant;
static struct end end[MOST];
static uint32_t lives[MOST], generation;
static char transcript[4000];

static void say(const char *format, ...)
{
    va_list ap;
    size_t at = strlen(transcript);
    if (!record)
        return;
    va_start(ap, format);
    vsnprintf(transcript + at, sizeof transcript - at, format, ap);
    va_end(ap);
}

static void send_note(void *arg, int to, const struct ft_round_message *m, const void *data)
{
    static const char *const words[] = {"", "up", "down", "asks", "has", "has not"};
    struct end *e = arg;
    struct note *note = malloc(sizeof *note);
    int from = (int)(e - end);
    HOLDS(note);
    note->m = *m;
    note->next = NULL;
    if (m->bytes)
        memcpy(note->data, data, m->bytes);
    if (e->first[to])
        e->last[to]->next = note;
    else
        e->first[to] = note;
    e->last[to] = note;
    say("%d -> %d %s\n", from, to, words[m->says]);
}

static void done(void *arg, enum ft_round_kind kind, enum ft_round_status st, uint32_t tag,
                 const char *label, int root, const void *data, uint32_t bytes)
{
    struct end *e = arg;
    int self = (int)(e - end);
    (void)root;
    if (kind == FT_ROUND_VOTE) {
        const uint32_t *both = data;
        HOLDS(bytes == 8 * (uint32_t)n);
        HOLDS(tag <= STEPS);
        memcpy(e->result[tag], both, bytes);
        e->knows[tag] = 1;
        for (int p = 0; p < n; p++) /* all who live get the same */
            HOLDS(!end[p].knows[tag] || memcmp(end[p].result[tag], both, bytes) == 0);
        say("%d is told: failed", self);
        for (int r = 0; r < n; r++)
            if (both[r] != both[r + n])
                say(" %d", r);
        say("\n");
        /* a replacement is told the newest one */
        HOLDS((int)tag * 2 - 1 >= e->step);
        e->step = (int)tag * 2 - 1;
        e->told = 1;
        return;
    }
    char want[FT_ROUND_LABEL];
    snprintf(want, sizeof want, "sum %d", e->step);
    HOLDS(strcmp(label, want) == 0);
    if (st == FT_ROUND_OK) {
        int64_t sum;
        memcpy(&sum, data, 8);
        HOLDS(bytes == (8));
        HOLDS(sum == (n * (n + 1) / 2 + n * e->step));
    }
    e->failed = st != FT_ROUND_OK;
    e->told = 1;
}

static void begin(int p)
{
    struct ft_round_to to = {.arg = &end[p], .send = send_note, .done = done};
    struct ft_rounds *old = end[p].r;
    free(old);
    end[p].r = calloc(1, ft_rounds_bytes(n));
    HOLDS(end[p].r);
    end[p].generation = generation;
    end[p].incarnation = lives[p];
    end[p].step = 0;
    end[p].told = 1;
    end[p].failed = 0;
    memset(end[p].knows, 0, sizeof end[p].knows);
    ft_rounds_init(end[p].r, n, p, generation, lives, &to);
    ft_rounds_break(end[p].r, mutant);
}

static void drop(struct end *e, int to)
{
    while (e->first[to]) {
        struct note *note = e->first[to];
        e->first[to] = note->next;
        free(note);
    }
}

static void start(int ranks)
{
    n = ranks;
    generation = 0;
    memset(lives, 0, sizeof lives);
    transcript[0] = 0;
    for (int p = 0; p < n; p++)
        begin(p);
}

static void finish(void)
{
    for (int p = 0; p < n; p++) {
        for (int q = 0; q < n; q++)
            drop(&end[p], q);
        free(end[p].r);
        end[p].r = NULL;
    }
}

/* What it had sent is gone. What was sent to it stays, for its replacement. */
static void dies(int p)
{
    lives[p]++;
    generation++;
    for (int q = 0; q < n; q++)
        drop(&end[p], q);
    begin(p);
}

static void adopts(int p)
{
    end[p].generation = generation;
    ft_rounds_generation(end[p].r, generation, lives);
}

/* The next message from p to q, if both are in one generation. */
static int deliver(int p, int q)
{
    struct note *note = end[p].first[q];
    if (!note || end[p].generation != end[q].generation)
        return 0;
    end[p].first[q] = note->next;
    ft_rounds_message(end[q].r, p, &note->m, note->data);
    free(note);
    return 1;
}

static void calls(int p)
{
    struct end *e = &end[p];
    char label[32];
    int64_t mine;
    if (!e->told)
        return;
    e->step += !e->failed;
    if (e->step > STEPS * 2)
        return;
    e->told = e->failed = 0;
    if (e->step % 2) {
        HOLDS(ft_rounds_vote(e->r, (uint32_t)(e->step + 1) / 2) == FT_ROUND_BEGUN);
        return;
    }
    snprintf(label, sizeof label, "sum %d", e->step);
    mine = p + 1 + e->step;
    HOLDS(ft_rounds_collective(e->r, FT_ROUND_ALLREDUCE, label, 0, 1 << 4 | 1, &mine, 8) ==
          FT_ROUND_BEGUN);
}

static int is_over(void)
{
    for (int p = 0; p < n; p++)
        if (end[p].step <= STEPS * 2)
            return 0;
    return 1;
}

static void run(uint64_t from, int ranks, int deaths)
{
    struct ft_prng rng = {from};
    start(ranks);
    for (int i = 0; !is_over(); i++) {
        HOLDS(i < 400000); /* else it hangs */
        int p = (int)(ft_prng_next(&rng) % (uint64_t)n), q = (int)(ft_prng_next(&rng) % (uint64_t)n);
        switch (ft_prng_next(&rng) % 8) {
        case 0: calls(p); break;
        case 1:
            if (end[p].generation != generation)
                adopts(p);
            break;
        case 2:
            if (deaths > 0 && ft_prng_next(&rng) % 40 == 0) {
                dies(p);
                deaths--;
            }
            break;
        default: deliver(p, q); break;
        }
    }
    finish();
}

static void any_order(void **state)
{
    (void)state;
    for (int i = 0; i < 120; i++)
        run(seed * 1000003 + (uint64_t)i, 2 + i % (MOST - 1), i % 17); /* also each rank, and again */
}

/* Each rule is needed: without it some order of events goes wrong. In a process of its own, as it may
 * assert; it ends at the first that does. */
static void mutants(void **state)
{
    (void)state;
    for (int how = 0; how < FT_ROUNDS_MUTANTS; how++) {
        int status;
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            mutant = (enum ft_rounds_broken)how;
            hunting = 1;
            (void)!freopen("/dev/null", "w", stderr); /* what it asserts is expected */
            for (int i = 0; i < (how ? 2000 : 60); i++)
                run(seed * 7000003 + (uint64_t)i, 2 + i % (MOST - 1), 1 + i % 6);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if ((status == 0) != (how == FT_ROUNDS_SOUND))
            fail_msg("FTRMA_TEST_SEED=%llu: mutant %d ends with status %d",
                     (unsigned long long)seed, how, status);
    }
}

static void deliver_all(void)
{
    for (int some = 1; some;) {
        some = 0;
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++)
                some += deliver(p, q);
    }
}

/* Node 1 fails when its children have voted: the tree goes around it. */
static void figure_1(void **state)
{
    static const char expected[] = "3 -> 1 up\n"
                                   "4 -> 1 up\n"
                                   "5 -> 2 up\n"
                                   "6 -> 2 up\n"
                                   "2 -> 0 up\n"
                                   "1 fails\n";
    (void)state;
    record = 1;
    start(7);
    for (int p = 6; p >= 0; p--)
        end[p].told = p == 1 ? 0 : 1;
    for (int p = 3; p < 7; p++)
        calls(p);
    calls(2);
    deliver(5, 2);
    deliver(6, 2);
    calls(0);
    say("1 fails\n");
    assert_string_equal(transcript, expected);
    dies(1);
    end[1].told = 0; /* its replacement does not vote */
    for (int p = 0; p < 7; p++)
        if (p != 1)
            adopts(p);
    transcript[0] = 0;
    deliver_all();
    /* the last votes and the way down */
    const char *again = strstr(transcript, "up\n");
    assert_non_null(again);
    assert_non_null(strstr(transcript, "3 -> 0 up\n")); /* to its grandparent */
    assert_non_null(strstr(transcript, "4 -> 0 up\n"));
    assert_non_null(strstr(transcript, "0 -> 3 down\n"));
    assert_non_null(strstr(transcript, "0 -> 4 down\n"));
    for (int p = 0; p < 7; p++) {
        char line[40];
        snprintf(line, sizeof line, "%d is told: failed 1\n", p);
        assert_true((strstr(transcript, line) != NULL) == (p != 1));
    }
    record = 0;
    finish();
}

static void both_call(void)
{
    calls(0);
    calls(1);
    deliver_all();
    HOLDS(end[0].told && end[1].told);
}

/* Before the first vote, or after it, each rank is replaced, and the second one has all that it knows
 * from the replacement of the first one: nobody is left who was at the vote before. */
static void all_are_replaced(void **state)
{
    (void)state;
    for (uint32_t votes = 0; votes < 2; votes++) {
        start(2);
        if (votes)
            both_call();
        dies(0);
        adopts(1);
        calls(0);
        deliver_all();
        dies(1);
        adopts(0);
        calls(1);
        deliver_all();
        HOLDS(end[0].told && end[1].told);
        if (votes) { /* they were told of the first one: the sum, and the next vote */
            both_call();
            both_call();
        }
        for (int p = 0; p < 2; p++) {
            const uint32_t *both = end[p].result[votes + 1];
            HOLDS(end[p].knows[votes + 1]);
            HOLDS(both[0] == 1 && both[1] == 1 && both[2] == 0 && both[3] == 0);
        }
        finish();
    }
}

/* Of 301 ranks the last one is the root, which 8 bits would not hold: leaves of the tree say so. */
enum { MANY = 301, LAST = MANY - 1 };
static struct ft_round_message said;

static void keep_note(void *arg, int to, const struct ft_round_message *m, const void *data)
{
    (void)arg, (void)to, (void)data;
    said = *m;
}

static void a_root_above_255(void **state)
{
    static const uint32_t none[MANY];
    (void)state;
    for (int p = LAST - 1; p <= LAST; p++) {
        struct ft_round_to to = {.send = keep_note, .done = done};
        struct ft_rounds *r = calloc(1, ft_rounds_bytes(MANY));
        HOLDS(r);
        ft_rounds_init(r, MANY, p, 0, none, &to);
        memset(&said, 0, sizeof said);
        HOLDS(ft_rounds_collective(r, FT_ROUND_BROADCAST, "b", LAST, 0, "hello",
                                   p == LAST ? 5 : 0) == FT_ROUND_BEGUN);
        HOLDS(said.says == FT_ROUND_UP && said.root == LAST);
        HOLDS(said.from_root == (p == LAST) && said.bytes == (p == LAST ? 5u : 0u));
        free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_1),
        cmocka_unit_test(all_are_replaced),
        cmocka_unit_test(any_order),
        cmocka_unit_test(a_root_above_255),
        cmocka_unit_test(mutants),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
