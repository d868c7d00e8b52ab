/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kvstore.c - a distributed key-value store: every rank inserts keys of its own, looks keys up, and
 * thinks in between.
 *
 * The workload of "Fault Tolerance for Remote Memory Access Programming Models", 7.2.2. What makes
 * it fault tolerant is FTRMA_Protect and FTRMA_Run in main and FTRMA_Safepoint in work. Under plain
 * mpirun these do nothing.
 */
#include "ftrma.h"
#include "store.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
/* of inserts, slots, heap cells; slots must fit into half a key */
#define COUNT_MAX (UINT64_C(1) << 30)

enum { EXIT_USAGE = 2 };

struct options {
    uint64_t inserts, slots, heap, rounds, seed, reads;
    double think_us;
    double think_f, think_delta, think_b; /* of the paper's think time; f 0: it is not used */
    bool slots_given, heap_given, help;
};

/* Sums over the ranks; uint64_t throughout, so that one reduction serves. */
struct tally {
    uint64_t keys, overflow, contents, values; /* what the volumes hold */
    uint64_t volumes;                          /* a hash of how many keys each volume holds */
    uint64_t read_back;     /* keys that their inserter read back, once and right */
    uint64_t lookups, hits; /* hits: only of one's own keys, others' depend on timing */
    uint64_t dropped, wrong;
};
#define TALLY_WORDS ((int)(sizeof(struct tally) / sizeof(uint64_t)))

/* Everything that a rank remembers from one safepoint to the next, or beyond FTRMA_Run. */
struct state {
    uint64_t round, inserted, rng;
    uint64_t lookups, hits, dropped, wrong;
    struct tally total;
    double seconds, heap_needed; /* the greatest of any rank */
};

/* Made by setup and constant afterwards. */
struct program {
    struct options opt;
    struct store store;
    double protecting, start, steps_per_us;
};

static struct state state;

static uint64_t draw(struct state *st)
{
    st->rng += GOLDEN;
    return mix64(st->rng);
}

/* The key of a rank and index below opt.inserts: unique, never CELL_EMPTY. rank == ranks gives keys
 * that nobody inserts. */
static uint64_t make_key(const struct program *p, int rank, uint64_t index)
{
    assert(index < p->opt.inserts);
    uint64_t number = (uint64_t)rank * p->opt.inserts + index + 1;
    return mix64(number * (2 * mix64(p->opt.seed + GOLDEN) +
                           1)); /* nonzero times odd, then a bijection with 0 at 0 */
}

static void spin(uint64_t steps)
{
    static volatile uint64_t sink;
    uint64_t x = GOLDEN;

    while (steps-- > 0) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
    (void)sink;
}

/* The best of a few trials: others may be using the processor. The clock decides how long a think
 * takes, and nothing else. */
static double calibrate_spin(void)
{
    enum { TRIALS = 8, STEPS = 200000 };
    double best = 0;

    for (int i = 0; i < TRIALS; i++) {
        double start = MPI_Wtime();
        spin(STEPS);
        double us = (MPI_Wtime() - start) * 1e6;
        if (us > 0 && STEPS / us > best)
            best = STEPS / us;
    }
    return best;
}

static bool thinks(const struct options *o) { return o->think_us > 0 || o->think_f > 0; }

static void think(const struct program *p, struct state *st)
{
    const struct options *o = &p->opt;
    double us;

    if (!thinks(o))
        return;
    if (o->think_f > 0) { /* x is in [0, b) */
        double x = (double)(draw(st) >> 11) * 0x1p-53 * o->think_b;
        us = o->think_f * o->think_delta * exp(-o->think_delta * x);
    } else {
        double uniform = (double)((draw(st) >> 11) + 1) * 0x1p-53; /* in (0, 1] */
        us = -log(uniform) * o->think_us;
    }
    spin((uint64_t)(us * p->steps_per_us));
}

/* Looks for a key of any rank, or for one that nobody inserts. Whether another rank's key is there
 * yet is a matter of timing, so that only its value is checked. */
static void look_up(const struct program *p, struct state *st)
{
    int rank = (int)(draw(st) % ((uint64_t)p->store.ranks + 1));
    uint64_t index = draw(st) % p->opt.inserts, value = 0;
    uint64_t key = make_key(p, rank, index);
    uint64_t found = store_lookup(&p->store, key, false, &value);

    st->lookups++;
    if (found > 0)
        st->wrong += found > 1 || value != store_value(key);
    if (rank == p->store.rank) {
        st->wrong += found != (index < st->inserted);
        st->hits += found;
    } else if (rank == p->store.ranks) {
        st->wrong += found != 0;
    }
}

static void insert_next(const struct program *p, struct state *st)
{
    uint64_t key = make_key(p, p->store.rank, st->inserted);
    if (!store_insert(&p->store, key))
        st->dropped++;
    st->inserted++;
}

/* Each rank counts what its volume holds and reads its own keys back from wherever they went.
 * Reading back every key that was inserted once, and counting no more cells than keys, leaves no
 * room for a lost, doubled or invented one. */
static void verify(const struct program *p, struct state *st)
{
    const struct store *s = &p->store;

    store_settle(s);
    double mine[2] = {MPI_Wtime() - p->start, 0}, greatest[2];

    struct census n = store_census(s);
    struct tally t = {.keys = n.keys,
                      .overflow = n.taken,
                      .contents = n.contents,
                      .values = n.values,
                      .volumes = mix64(mix64((uint64_t)s->rank + 1) + n.keys),
                      .lookups = st->lookups,
                      .hits = st->hits,
                      .dropped = st->dropped,
                      .wrong = st->wrong + n.wrong};
    for (uint64_t i = 0; i < st->inserted; i++) {
        uint64_t value = 0, key = make_key(p, s->rank, i);
        t.read_back += store_lookup(s, key, true, &value) == 1 && value == store_value(key);
    }

    mine[1] = (double)n.taken;
    MPI_Allreduce(&t, &st->total, TALLY_WORDS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine, greatest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    st->seconds = greatest[0];
    st->heap_needed = greatest[1];
}

/* May be entered again from the top with the state and window of a safepoint; epochs are gone then,
 * so one is opened here. */
static void work(void *arg)
{
    const struct program *p = arg;
    const struct options *o = &p->opt;
    struct state *st = &state;

    MPI_Win_lock_all(0, p->store.win);
    for (; st->round < o->rounds; st->round++) {
        FTRMA_Safepoint(); /* every operation has flushed what it issued */
        uint64_t until = o->inserts * (st->round + 1) / o->rounds;
        while (st->inserted < until) {
            while (draw(st) % 100 < o->reads)
                look_up(p, st);
            insert_next(p, st);
            think(p, st);
        }
    }
    verify(p, st);
    MPI_Win_unlock_all(p->store.win);
}

static void print_help(void)
{
    puts("Usage: kvstore [options]\n"
         "A key-value store spread over the ranks of an MPI job: fills it, looks keys up, verifies "
         "what it holds.\n"
         "  --inserts N        keys that each rank inserts (default 500000)\n"
         "  --slots N          table elements of each volume (default: as many as inserts)\n"
         "  --heap N           overflow cells of each volume (default: enough for any keys)\n"
         "  --rounds R         rounds that the inserts are divided over, a safepoint each (default "
         "20)\n"
         "  --reads PERCENT    share of lookups among all operations, 0 to 99 (default 20)\n"
         "  --think-us MEAN    mean of the exponential think time after an insert, in microseconds "
         "(default 0)\n"
         "  --think-fdb F,D,B  think F D exp(-D x) microseconds instead, x uniform in [0, B), as "
         "the "
         "paper has it\n"
         "  --seed S           of keys, lookups and think times (default 1)\n"
         "  --help             this text\n"
         "Exit status: 0 verified, 1 not verified or out of memory, 2 wrong usage.");
}

static bool parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || v < min || v > max)
        return false;
    *out = v;
    return true;
}

static bool parse_think(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end != '\0' || !(v >= 0 && v <= 1e7))
        return false;
    *out = v;
    return true;
}

static bool parse_fdb(const char *text, struct options *o)
{
    char rest;

    return sscanf(text, "%lf,%lf,%lf%c", &o->think_f, &o->think_delta, &o->think_b, &rest) == 3 &&
           o->think_f > 0 && o->think_delta > 0 && o->think_b > 0 &&
           o->think_f * o->think_delta <= 1e7;
}

/* Sets *o; false, and a line on stderr if loud, when the arguments are not usable. Every rank comes
 * to the same verdict. */
static bool parse_options(int argc, char **argv, bool loud, struct options *o)
{
    enum { INSERTS, SLOTS, HEAP, ROUNDS, READS, THINK, FDB, SEED, HELP };
    static const struct option names[] = {
        {"inserts", required_argument, NULL, INSERTS},
        {"slots", required_argument, NULL, SLOTS},
        {"heap", required_argument, NULL, HEAP},
        {"rounds", required_argument, NULL, ROUNDS},
        {"reads", required_argument, NULL, READS},
        {"think-us", required_argument, NULL, THINK},
        {"think-fdb", required_argument, NULL, FDB},
        {"seed", required_argument, NULL, SEED},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    int opt, which = 0;
    bool good = true;

    *o = (struct options){.inserts = 500000, .rounds = 20, .reads = 20, .seed = 1};
    opterr = loud;
    while (good && (opt = getopt_long(argc, argv, "", names, &which)) != -1) {
        switch (opt) {
        case INSERTS: good = parse_count(optarg, 1, COUNT_MAX, &o->inserts); break;
        case SLOTS: good = o->slots_given = parse_count(optarg, 1, COUNT_MAX, &o->slots); break;
        case HEAP: good = o->heap_given = parse_count(optarg, 0, COUNT_MAX, &o->heap); break;
        case ROUNDS: good = parse_count(optarg, 1, COUNT_MAX, &o->rounds); break;
        case READS: good = parse_count(optarg, 0, 99, &o->reads); break;
        case THINK: good = parse_think(optarg, &o->think_us); break;
        case FDB: good = parse_fdb(optarg, o); break;
        case SEED: good = parse_count(optarg, 0, UINT64_MAX, &o->seed); break;
        case HELP: o->help = true; return true;
        default: return false;
        }
    }
    if (!good || optind < argc) {
        if (loud && !good)
            fprintf(stderr, "kvstore: --%s: '%s' is not in its range (see --help)\n",
                    names[which].name, optarg);
        else if (loud)
            fprintf(stderr, "kvstore: unexpected argument '%s' (see --help)\n", argv[optind]);
        return false;
    }

    /* Keys spread binomially: a volume gets inserts of them give or take a few square roots. */
    if (!o->slots_given)
        o->slots = o->inserts;
    if (!o->heap_given)
        o->heap = o->inserts + o->inserts / 4 + 256;
    if (o->slots + o->heap < o->inserts) {
        if (loud)
            fprintf(stderr,
                    "kvstore: --slots %" PRIu64 " and --heap %" PRIu64
                    " have no room for --inserts %" PRIu64 "\n",
                    o->slots, o->heap, o->inserts);
        return false;
    }
    return true;
}

static bool verified(const struct program *p, const struct state *st)
{
    const struct tally *t = &st->total;
    uint64_t expected = p->opt.inserts * (uint64_t)p->store.ranks;
    return t->keys == expected && t->read_back == expected && t->wrong == 0 && t->dropped == 0;
}

static void report(const struct program *p, const struct state *st)
{
    const struct options *o = &p->opt;
    const struct tally *t = &st->total;
    const uint64_t logical[] = {t->keys,    t->overflow,  t->contents, t->values,
                                t->volumes, t->read_back, t->lookups,  t->hits};
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof logical / sizeof logical[0]; i++)
        hash = mix64(hash + GOLDEN + logical[i]);
    printf("kvstore: %d ranks, each %" PRIu64 " inserts in %" PRIu64 " rounds, %" PRIu64
           " slots, %" PRIu64 " heap cells; reads %" PRIu64 " %%, think %g us, seed %" PRIu64 "\n",
           p->store.ranks, o->inserts, o->rounds, o->slots, o->heap, o->reads, o->think_us,
           o->seed);
    printf("keys: %" PRIu64 ", in overflow cells: %" PRIu64 ", lookups: %" PRIu64 "\n", t->keys,
           t->overflow, t->lookups);
    printf("time: %.6f s, and %.6f s in FTRMA_Protect\n", st->seconds, p->protecting);
    printf("inserts/s: %.0f\n", (double)o->inserts * p->store.ranks / st->seconds);
    printf("result: %016" PRIx64 "\n", hash);
    fflush(stdout);
    if (t->dropped > 0)
        fprintf(stderr,
                "kvstore: heap too small: %" PRIu64 " keys found no cell; --heap %.0f would do\n",
                t->dropped, st->heap_needed);
    else if (!verified(p, st))
        fprintf(stderr,
                "kvstore: of %" PRIu64 " keys %" PRIu64 " are present, %" PRIu64
                " were read back right; rules broken: %" PRIu64 "\n",
                o->inserts * (uint64_t)p->store.ranks, t->keys, t->read_back, t->wrong);
    printf("Verification: %s\n", verified(p, st) ? "SUCCESSFUL" : "FAILED");
}

/* Allocates the store, or ends the job: one rank may fail at this while the others wait for it. */
static void create_store(struct program *p)
{
    int *model, flag;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = store_create(&p->store, p->opt.slots, p->opt.heap);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (rc != MPI_SUCCESS) {
        fprintf(stderr,
                "kvstore: no memory for volumes of %" PRIu64
                " cells of %zu bytes; try less --slots or --heap\n",
                p->opt.slots + p->opt.heap, sizeof(struct cell));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Win_get_attr(p->store.win, MPI_WIN_MODEL, &model, &flag);
    if (!flag || *model != MPI_WIN_UNIFIED) {
        fprintf(stderr, "kvstore: needs windows of the unified memory model, where a barrier makes "
                        "local stores visible\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    struct program p = {0};
    int rank;

    /* Open MPI's osc/rdma dies in an 8-byte MPI_Compare_and_swap between processes of one node
     * (seen with 4.1.4): rank it just below osc/sm, which serves single nodes. The user's own
     * choice stands, and elsewhere this changes nothing. */
    setenv("OMPI_MCA_osc_rdma_priority", "99", 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!parse_options(argc, argv, rank == 0, &p.opt)) {
        MPI_Finalize();
        return EXIT_USAGE;
    }
    if (p.opt.help) {
        if (rank == 0)
            print_help();
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    create_store(&p);
    if (thinks(&p.opt))
        p.steps_per_us = calibrate_spin();
    state.rng = mix64(p.opt.seed + GOLDEN) ^ mix64((uint64_t)rank + 1);
    double before = MPI_Wtime();
    int rc =
        FTRMA_Protect(&state, sizeof state); /* once, and memory for images and logs is made real */
    p.protecting = MPI_Wtime() - before;
    MPI_Barrier(MPI_COMM_WORLD);
    p.start = MPI_Wtime();
    if (rc == MPI_SUCCESS)
        rc = FTRMA_Run(work, &p);
    if (rc == MPI_SUCCESS && rank == 0)
        report(&p, &state);

    bool good = rc == MPI_SUCCESS && verified(&p, &state);
    store_destroy(&p.store);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
