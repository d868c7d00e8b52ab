/* SPDX-License-Identifier: BSD-3-Clause
 *
 * main.c - ftrma-sim: the machines of the protocol in every order, without a job.
 */
#include <getopt.h>
#include <limits.h>
#include <unistd.h>

#include "base/words.h"
#include "cost.h"
#include "proto/snapshot.h"
#include "replay_agent.h"
#include "sim_run.h"

static const char help[] =
    "usage: ftrma-sim [--model M] [MODE] [OPTIONS]\n"
    "Runs the machines of the protocol on a simulated network. Every run is decided by its "
    "seed.\n\n"
    "modes\n"
    "  --random RUNS      RUNS runs, with the seeds SEED, SEED+1, ... (default: 1000)\n"
    "  --exhaustive       runs every order, up to --max-states, and prints the number of states\n"
    "  --timed            one run in virtual time, with latencies drawn from the seed\n"
    "  --replay FILE      repeats a transcript; exit status 0 if it is wrong in the same way, or "
    "right if it says so\n"
    "  --replay-agent FILE\n"
    "                     runs what a real process has heard again, from its record "
    "(FTRMA_AGENT_LOG);\n"
    "                     exit status 0 if it does the same, 1 if not, which is printed\n"
    "  --table            snapshot: prints which algorithms keep gets from overlapping and "
    "crossing the cut\n"
    "  --cost             prints messages and time for 2, 4, 8, ... up to N processes (default N: "
    "1000)\n"
    "options\n"
    "  --model M          snapshot, agree, job, nodes (on several), told (losses), demand, member, "
    "txn, txn-far (default: snapshot)\n"
    "  --seed SEED        the first seed (default: 1)\n"
    "  -n N               processes (default: 3); where sets of more than 64 are needed, ftrma-sim "
    "starts\n"
    "                     ftrma-sim-job (up to 4096), ftrma-sim-nodes (32768) or ftrma-sim-large\n"
    "  --crashes K        at most K processes die (default: 0)\n"
    "  --mutant NAME      breaks one thing; NAME 'list' lists what\n"
    "  --alg A            snapshot: vanilla, delay, peek, double or partial (default: vanilla);\n"
    "                     job: with the last four, checkpoints are snapshots\n"
    "  --ops K            snapshot: puts and gets of each process; demand: images asked for; job: "
    "its greatest length;\n"
    "                     member: operations of each slot (default: 1)\n"
    "  --starters K       snapshot: processes that start a wave; with --timed waves; member: "
    "ticks\n"
    "                     in which anything may be late or fail; txn-far: links that break "
    "(default: 1)\n"
    "  --property P       snapshot: what is wrong: promised, cross, overlap or sets (default: "
    "promised)\n"
    "  --latency L        --timed: a channel has a latency of 1 to L ticks (default: 1000)\n"
    "  --delay F,T,TICKS  --timed: the channel from F to T takes TICKS longer\n"
    "  --max-states S     --exhaustive, --table: stops after S states (default: 20000000)\n"
    "  --deviations K     --exhaustive: every order up to the first death, then one order, but "
    "for\n"
    "                     at most K steps in which something else happens (default: every order)\n"
    "  --everywhere       job: refusals, divergences, stuck mains and deaths come at places that "
    "the\n"
    "                     seed draws: under which order, in which state\n"
    "  --demand           job: ranks take images alone, too (demand checkpoints)\n"
    "  --places           job: prints what happened where; with --random, exit status 1 if "
    "something\n"
    "                     never came where it must\n"
    "  --keep FILE        writes the transcript of a failure to FILE (default: standard output)\n"
    "  -h, --help         prints this\n"
    "exit status: 0 nothing is wrong, 1 something is wrong, 2 the command line is wrong, 3 there "
    "is no memory\n";

/* As many as ftrma-sim-job has (see base/base.h), and ftrma-sim-nodes. */
#define JOB_SLOTS 4096
#define NODES_SLOTS 32768

enum mode { RANDOM, EXHAUSTIVE, TIMED, REPLAY, REPLAY_AGENT, TABLE, COST };
struct request {
    enum mode mode;
    const struct sim_model *model;
    struct sim_options o;
    uint64_t runs, max_states;
    const char *keep, *replay, *mutant;
    int slow[3];
    int places;
};

static int failed(struct sim *s, const struct request *r)
{
    FILE *out = stdout;
    printf("seed %" PRIu64 ": %s\n", s->o.seed, s->wrong);
    if (s->o.timed)
        return 1;
    int was = s->nhistory;
    sim_shrink(s);
    printf("%d steps, shortened to %d\n", was, s->nhistory);
    if (r->keep && !(out = fopen(r->keep, "w"))) {
        perror(r->keep);
        return 2;
    }
    sim_print_history(s, out);
    if (out != stdout)
        fclose(out);
    return 1;
}

static int do_random(struct sim *s, const struct request *given)
{
    struct request once = *given, *r = &once;
    const char *seed = getenv("FTRMA_TEST_SEED"); /* as in all tests: only the run of this seed */
    if (seed && *seed) {
        r->o.seed = strtoull(seed, NULL, 0);
        r->runs = 1;
    }
    uint64_t steps = 0, sent = 0, sums[SIM_TALLIES] = {0};
    for (uint64_t i = 0; i < r->runs; i++) {
        struct sim_options o = r->o;
        o.seed += i;
        sim_init(s, r->model, &o);
        if (!sim_random(s, 1000000))
            return failed(s, r);
        steps += s->steps;
        sent += s->sent;
        if (r->model->tally)
            r->model->tally(s, sums);
    }
    printf("%" PRIu64 " runs, %" PRIu64 " steps, %" PRIu64 " messages, seeds %" PRIu64
           " to %" PRIu64 ": nothing wrong\n",
           r->runs, steps, sent, r->o.seed, r->o.seed + r->runs - 1);
    for (int i = 0; r->model->counted && r->model->counted[i]; i++)
        printf("%s%" PRIu64 " %s", i ? ", " : "", sums[i], r->model->counted[i]);
    puts(r->model->counted ? " (by process)" : "");
    return r->places && !sim_print_places(s, stdout);
}

static int do_exhaustive(struct sim *s, const struct request *r)
{
    struct sim_explored x;
    sim_init(s, r->model, &r->o);
    int fine = sim_explore(s, r->max_states, &x);
    printf("%" PRIu64 " states, %" PRIu64 " of them quiet%s\n", x.states, x.quiet,
           fine && !x.complete ? ", stopped there" : "");
    if (fine && r->places)
        (void)sim_print_places(s, stdout); /* a single job does not come to all places */
    return fine ? 0 : failed(s, r);
}

static int do_timed(struct sim *s, const struct request *r)
{
    sim_init(s, r->model, &r->o);
    if (r->slow[2])
        sim_delay(s, r->slow[0], r->slow[1], (uint64_t)r->slow[2]);
    if (!sim_random(s, UINT64_MAX))
        return failed(s, r);
    printf("%d processes, %" PRIu64 " steps, %" PRIu64 " messages, %" PRIu64
           " ticks: nothing wrong\n",
           r->o.n, s->steps, s->sent, s->now);
    return 0;
}

static int do_replay(struct sim *s, const struct request *r)
{
    char expected[300];
    FILE *in = fopen(r->replay, "r");
    if (!in) {
        perror(r->replay);
        return 2;
    }
    int read = sim_replay(s, in, expected, sizeof expected);
    fclose(in);
    if (!read)
        return 2;
    printf("%d steps: %s\n", s->nhistory, s->wrong[0] ? s->wrong : "nothing wrong");
    return strcmp(expected, s->wrong) != 0;
}

static int usage(const char *what, const char *value, const char *possible)
{
    fprintf(stderr, "ftrma-sim: %s '%s' is not known; possible: %s\n", what, value, possible);
    return 0;
}

static int set(struct request *r, int opt, const char *arg)
{
    struct sim_options *o = &r->o;
    switch (opt) {
    case 'r':
        r->mode = RANDOM;
        r->runs = strtoull(arg, NULL, 0);
        return 1;
    case 'e': r->mode = EXHAUSTIVE; return 1;
    case 't':
        r->mode = TIMED;
        o->timed = 1;
        return 1;
    case 'R':
        r->mode = REPLAY;
        r->replay = arg;
        return 1;
    case 'A':
        r->mode = REPLAY_AGENT;
        r->replay = arg;
        return 1;
    case 'T': r->mode = TABLE; return 1;
    case 'C': r->mode = COST; return 1;
    case 'm':
        r->model = sim_model_by_name(arg);
        return r->model || usage("model", arg,
                                 "snapshot, agree, job, nodes, told, demand, member, txn, txn-far");
    case 's': o->seed = strtoull(arg, NULL, 0); return 1;
    case 'n': o->n = atoi(arg); return 1;
    case 'c': o->crashes = atoi(arg); return 1;
    case 'M': r->mutant = arg; return 1;
    case 'a':
        o->alg = ft_snap_by_name(arg);
        return o->alg >= 0 || usage("algorithm", arg, "vanilla, delay, peek, double, partial");
    case 'o': o->ops = atoi(arg); return 1;
    case 'S': o->starters = atoi(arg); return 1;
    case 'p':
        o->property = !strcmp(arg, "promised")  ? 0
                      : !strcmp(arg, "cross")   ? 1
                      : !strcmp(arg, "overlap") ? 2
                      : !strcmp(arg, "sets")    ? 3
                                                : -1;
        return o->property >= 0 || usage("property", arg, "promised, cross, overlap, sets");
    case 'd':
        return sscanf(arg, "%d,%d,%d", &r->slow[0], &r->slow[1], &r->slow[2]) == 3 ||
               usage("delay", arg, "FROM,TO,TICKS");
    case 'l': o->latency = atoi(arg); return o->latency > 0 || usage("latency", arg, "1 and more");
    case 'P': r->places = 1; return 1;
    case 'E': o->everywhere = 1; return 1;
    case 'D': o->demand = 1; return 1;
    case 'v':
        o->deviations = 1 + atoi(arg);
        return o->deviations > 0 || usage("deviations", arg, "0 and more");
    case 'x': r->max_states = strtoull(arg, NULL, 0); return 1;
    case 'k': r->keep = arg; return 1;
    default: return 0;
    }
}

/* Runs the program beside this one that has larger sets of slots. Returns only if it cannot. */
static void larger(int n, char **argv)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash = len > 0 ? (path[len] = 0, strrchr(path, '/')) : NULL;
    const char *name = n <= JOB_SLOTS     ? "ftrma-sim-job"
                       : n <= NODES_SLOTS ? "ftrma-sim-nodes"
                                          : "ftrma-sim-large";
    if (!slash || slash + 1 + strlen(name) >= path + sizeof path || FT_MAX_SLOTS > NODES_SLOTS)
        return;
    strcpy(slash + 1, name);
    execv(path, argv);
    perror(path);
}

static int parse(struct request *r, int argc, char **argv)
{
    static const struct option options[] = {{"random", 1, 0, 'r'},
                                            {"exhaustive", 0, 0, 'e'},
                                            {"timed", 0, 0, 't'},
                                            {"replay", 1, 0, 'R'},
                                            {"replay-agent", 1, 0, 'A'},
                                            {"table", 0, 0, 'T'},
                                            {"cost", 0, 0, 'C'},
                                            {"model", 1, 0, 'm'},
                                            {"seed", 1, 0, 's'},
                                            {"crashes", 1, 0, 'c'},
                                            {"mutant", 1, 0, 'M'},
                                            {"alg", 1, 0, 'a'},
                                            {"ops", 1, 0, 'o'},
                                            {"starters", 1, 0, 'S'},
                                            {"property", 1, 0, 'p'},
                                            {"delay", 1, 0, 'd'},
                                            {"max-states", 1, 0, 'x'},
                                            {"deviations", 1, 0, 'v'},
                                            {"latency", 1, 0, 'l'},
                                            {"keep", 1, 0, 'k'},
                                            {"places", 0, 0, 'P'},
                                            {"everywhere", 0, 0, 'E'},
                                            {"demand", 0, 0, 'D'},
                                            {"help", 0, 0, 'h'},
                                            {0, 0, 0, 0}};
    int opt;
    while ((opt = getopt_long(argc, argv, ":n:h", options, NULL)) >= 0) {
        if (opt == '?' || opt == ':') {
            char why[300];
            ft_option_refused(options, opt, argv[optind - 1], why, sizeof why);
            fprintf(stderr, "ftrma-sim: %s\n", why);
            return 0;
        }
        if (opt == 'h') {
            fputs(help, stdout);
            exit(0);
        }
        if (!set(r, opt, optarg))
            return 0;
    }
    if (optind < argc) {
        fprintf(stderr, "ftrma-sim: '%s' is no option\n", argv[optind]);
        return 0;
    }
    if (r->mode == REPLAY_AGENT) {
        int slots = sim_agent_slots(r->replay);
        if (slots > FT_MAX_SLOTS)
            larger(slots, argv);
        return slots > 0;
    }
    if (r->o.n == 0)
        r->o.n = r->mode == COST ? 1000 : 3;
    struct sim_options o = r->o;
    o.timed |= r->mode == COST;
    if (o.timed && r->model->most_timed == FT_MAX_SLOTS && o.n > FT_MAX_SLOTS)
        larger(o.n, argv);
    if (!sim_fits(r->model, &o))
        return 0;
    if (r->mutant && !strcmp(r->mutant, "list")) {
        for (int i = 0; r->model->mutants && r->model->mutants[i]; i++)
            puts(r->model->mutants[i]);
        exit(0);
    }
    r->o.mutant = r->mutant ? sim_parse_mutant(r->model, r->mutant) : 0;
    return r->o.mutant >= 0 || usage("mutant", r->mutant, "see --mutant list");
}

int main(int argc, char **argv)
{
    static struct sim s;
    struct request r = {.model = &sim_model_snapshot,
                        .o = {.seed = 1, .ops = 1, .starters = 1, .latency = 1000},
                        .runs = 1000,
                        .max_states = 20000000};
    int status = 2;
    if (!parse(&r, argc, argv)) {
        fprintf(stderr, "try: ftrma-sim --help\n");
        return 2;
    }
    switch (r.mode) {
    case RANDOM: status = do_random(&s, &r); break;
    case EXHAUSTIVE: status = do_exhaustive(&s, &r); break;
    case TIMED: status = do_timed(&s, &r); break;
    case REPLAY: status = do_replay(&s, &r); break;
    case REPLAY_AGENT: status = sim_agent_replay(r.replay); break;
    case TABLE: status = !sim_table(&r.o, r.max_states); break;
    case COST: status = !sim_cost(r.model, &r.o); break;
    }
    sim_finish(&s);
    return status;
}
