/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_model.c - ftrma-model: the arithmetic of survival. The mathematics is in src/model; this
 * file has input, options and output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/units.h"
#include "base/words.h"
#include "tools/model.h"

struct options opt = {.parity = 1,
                      .images = 3,
                      .trials = 1000000,
                      .seed = NO_SEED,
                      .work = DAY,
                      .copy_rate = 2e9,
                      .parity_rate = 1e9,
                      .delta = -1,
                      .mtbf = -1,
                      .restart = -1,
                      .bytes = -1,
                      .loss = 1};

static const char usage[] =
    "usage: ftrma-model daly       --delta T --mtbf T [--restart T]\n"
    "       ftrma-model pcf        --domains FILE --ranks N [--checksums K,...] [--parity M] "
    "[--aware LEVEL] [--places HOW]\n"
    "       ftrma-model plan       --domains FILE --ranks N --bytes B [--work T] [--mtbf T] "
    "[--loss P] [--parity M] [--restart T]\n"
    "                              [--processes P] [--images I] [--copy-rate R] [--parity-rate R] "
    "[--as-options]\n"
    "       ftrma-model montecarlo --domains FILE --ranks N --checksums K [--parity M] [--aware "
    "LEVEL] [--trials N] [--seed S]\n"
    "                              [--placement HOW]\n"
    "daly: the interval of checkpoints. pcf: how often a job is lost, by formula. plan: the "
    "protection with which a job takes\n"
    "the least machine time. montecarlo: how often it is lost, by random failures on a real "
    "placement.\n"
    "  --delta T          what a checkpoint costs the program\n"
    "  --mtbf T           mean time between failures of the job, of whatever kind (plan: default "
    "what the machine's rates say)\n"
    "  --restart T        until the job goes on after a failure (0; plan: 1s)\n"
    "  --domains FILE     the machine: levels of what fails together, ftrma-domains(5)\n"
    "  --ranks N          ranks of the job\n"
    "  --checksums K,...  checksum processes in all, or a share of the ranks: 5%   (pcf: default "
    "1% to 100%)\n"
    "  --parity M         codewords, and so checksum processes, of a group: 1 to 8 (1; plan: no "
    "more than 8)\n"
    "  --aware LEVEL      the highest level of which groups are aware, by its name; none\n"
    "                     (pcf: default each; montecarlo: default the best that is possible)\n"
    "  --places paper|aligned|any|dealt\n"
    "                     paper: Eq. 9 (default); aligned: the same exactly; any: a bound for any "
    "aware placement;\n"
    "                     dealt: a bound for ftrun's placements\n"
    "  --bytes B          a rank's memory that is checkpointed\n"
    "  --work T           how long the job runs without failures and checkpoints (1d)\n"
    "  --loss P           the job may be lost with this probability at the most (1: whatever is "
    "best)\n"
    "  --processes P      ranks, checksum processes and spares at the most (default: as many as "
    "the machine has room for)\n"
    "  --images I         copies that each rank and checksum process keeps: committed, latest, "
    "being built (3)\n"
    "  --copy-rate R      bytes a second that a rank copies of itself (2e9)\n"
    "  --parity-rate R    bytes a second of images that a checksum process takes in (1e9)\n"
    "  --as-options       prints the plan as options of ftrun: ftrun $(ftrma-model plan "
    "--as-options ...) program\n"
    "  --trials N         failures of each level that are drawn (1000000)\n"
    "  --seed S           of the random numbers; printed, and chosen if not given\n"
    "  --placement library|worst\n"
    "                     library: as ftrun places (default); worst: as the formula takes it\n"
    "  --json             prints JSON instead of a table\n"
    "  -h, --help         print this\n"
    "Times are 90s, 5min, 1.5h, 2d; sizes 512M, 1.5G, 64KiB.\n";

_Noreturn void fail(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    fputs("ftrma-model: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

/* --- the machine --- */

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t cap = 0;
    *len = 0;
    if (!f)
        fail("%s: %s", path, strerror(errno));
    do {
        text = realloc(text, cap += 65536);
        if (!text)
            fail("out of memory");
        *len += fread(text + *len, 1, cap - *len, f);
    } while (*len == cap);
    if (ferror(f))
        fail("%s: %s", path, strerror(errno));
    fclose(f);
    return text;
}

void load_machine(struct ft_domains *d, struct ft_machine *mc)
{
    char why[512];
    size_t len;
    int some = 0;
    char *text = read_file(opt.domains, &len);
    if (ft_domains_parse(opt.domains, text, len, d, why, sizeof why))
        fail("%s", why);
    free(text);
    *mc = (struct ft_machine){.nlevels = d->nlevels};
    for (int j = 0; j < d->nlevels; j++) {
        const struct ft_domain_level *l = &d->level[j + 1];
        mc->level[j] =
            (struct ft_model_level){l->name, l->count, l->fail_a, l->fail_a > 0 ? l->fail_b : 1};
        some |= l->fail_a > 0;
    }
    if (ft_machine_check(mc, why, sizeof why))
        fail("%s: %s", opt.domains, why);
    if (!some)
        fail("%s: no level says how often it fails: 'fails A B' for A exp(-B x) failures of x "
             "elements at once a day",
             opt.domains);
}

int level_by_name(const struct ft_domains *d, const char *name)
{
    char known[1200] = "";
    int level = ft_domains_level(d, name);
    if (level > 0 || strcmp(name, "none") == 0)
        return level;
    for (size_t j = 1, n = 0; j <= (size_t)d->nlevels && n < sizeof known; j++)
        n += (size_t)snprintf(known + n, sizeof known - n, " %s", d->level[j].name);
    fail("--aware %s: %s has no such level; it has:%s (and none)", name, opt.domains, known);
}

const char *aware_name(const struct ft_machine *mc, int aware)
{
    return aware ? mc->level[aware - 1].name : "none";
}

void print_machine(const struct ft_machine *mc)
{
    for (int j = 0; j < mc->nlevels; j++)
        printf("%s%d %s", j ? ", " : "", mc->level[j].elements, mc->level[j].name);
}

void json_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned char)*text);
        else
            putchar(*text);
    putchar('"');
}

void json_number(double v)
{
    if (isfinite(v))
        printf("%.9g", v);
    else
        printf("null");
}

/* --- values of options --- */

static double real(const char *option, const char *text)
{
    double v;
    if (ft_parse_f64(text, &v))
        fail("--%s must be a number, 0 or more, not '%s'", option, text);
    return v;
}

static double bytes(const char *option, const char *text)
{
    int64_t v;
    if (ft_parse_bytes(text, 1, &v))
        fail("--%s must be " FT_BYTES_EXAMPLES ", not '%s'", option, text);
    return (double)v;
}

static double seconds(const char *option, const char *text)
{
    double v;
    if (ft_parse_time(text, 1000000, &v))
        fail("--%s must be " FT_TIME_EXAMPLES ", not '%s'", option, text);
    return v;
}

static int64_t whole(const char *option, const char *text, int64_t least, int64_t most)
{
    int64_t v;
    if (ft_parse_i64(text, &v) || v < least || v > most)
        fail("--%s must be a whole number from %lld to %lld, not '%s'", option, (long long)least,
             (long long)most, text);
    return v;
}

#define MOST_RANKS (1 << 24)

int parse_checksums(const char *text)
{
    char number[32];
    size_t n = strlen(text);
    if (n == 0 || n >= sizeof number || text[n - 1] != '%')
        return (int)whole("checksums", text, 1, MOST_RANKS * (int64_t)FT_MODEL_CODEWORDS);
    memcpy(number, text, n - 1);
    number[n - 1] = '\0';
    double percent = real("checksums", number), groups = percent / 100 * opt.ranks / opt.parity;
    if (!(percent > 0 && percent <= 100.0 * FT_MODEL_CODEWORDS))
        fail("--checksums %s is no share of the ranks", text);
    return opt.parity * (int)fmax(1, floor(groups + 0.5));
}

double percent_of_ranks(int checksums) { return 100.0 * checksums / opt.ranks; }

/* --- command line --- */

enum { DALY = 1, PCF = 2, PLAN = 4, MONTECARLO = 8, MACHINE = PCF | PLAN | MONTECARLO, ALL = 15 };

static const struct {
    const char *name;
    int command;
    void (*run)(void);
} commands[] = {{"daly", DALY, command_daly},
                {"pcf", PCF, command_pcf},
                {"plan", PLAN, command_plan},
                {"montecarlo", MONTECARLO, command_montecarlo}};

/* The options except --help: which command takes each, its argument, and where that is stored. */
static const struct known {
    const char *name;
    int commands;
    enum { FLAG, TEXT, COUNT, LARGE, REAL, BYTES, SECONDS, GONE } takes;
    void *to; /* int, const char *, int, uint64_t, double, double, double; GONE: char, what to write
                 instead */
    int64_t least, most;
} known[] = {
    {"json", ALL, FLAG, &opt.json, 0, 0},
    {"domains", MACHINE, TEXT, &opt.domains, 0, 0},
    {"ranks", MACHINE, COUNT, &opt.ranks, 1, MOST_RANKS},
    {"parity", MACHINE, COUNT, &opt.parity, 1, FT_MODEL_CODEWORDS},
    {"checksums", PCF | MONTECARLO, TEXT, &opt.checksums, 0, 0},
    {"aware", PCF | MONTECARLO, TEXT, &opt.aware, 0, 0},
    {"places", PCF, TEXT, &opt.places, 0, 0},
    {"placement", MONTECARLO, TEXT, &opt.placement, 0, 0},
    {"trials", MONTECARLO, LARGE, &opt.trials, 1, INT64_MAX},
    {"seed", MONTECARLO, LARGE, &opt.seed, 0, INT64_MAX},
    {"mtbf", DALY | PLAN, SECONDS, &opt.mtbf, 0, 0},
    {"restart", DALY | PLAN, SECONDS, &opt.restart, 0, 0},
    {"delta", DALY, SECONDS, &opt.delta, 0, 0},
    {"work", PLAN, SECONDS, &opt.work, 0, 0},
    {"processes", PLAN, COUNT, &opt.processes, 1, MOST_RANKS},
    {"as-options", PLAN, FLAG, &opt.as_options, 0, 0},
    {"within", PLAN, GONE,
     "write --work, how long the job runs: --loss is the probability of losing the job in that "
     "time",
     0, 0},
    {"svg", PCF, GONE, "save the table; bench/plot.sh of the sources draws it with gnuplot", 0, 0},
    {"loss", PLAN, REAL, &opt.loss, 0, 0},
    {"bytes", PLAN, BYTES, &opt.bytes, 0, 0},
    {"copy-rate", PLAN, BYTES, &opt.copy_rate, 0, 0},
    {"parity-rate", PLAN, BYTES, &opt.parity_rate, 0, 0},
    {"images", PLAN, COUNT, &opt.images, 1, 16},
};

static void take(const struct known *k, const char *arg)
{
    if (k->takes == GONE)
        fail("there is no --%s any more: %s", k->name, (const char *)k->to);
    if (k->takes == FLAG)
        *(int *)k->to = 1;
    else if (k->takes == TEXT)
        *(const char **)k->to = arg;
    else if (k->takes == COUNT)
        *(int *)k->to = (int)whole(k->name, arg, k->least, k->most);
    else if (k->takes == LARGE)
        *(uint64_t *)k->to = (uint64_t)whole(k->name, arg, k->least, k->most);
    else
        *(double *)k->to = k->takes == REAL    ? real(k->name, arg)
                           : k->takes == BYTES ? bytes(k->name, arg)
                                               : seconds(k->name, arg);
}

/* Reads the options after the command's name. Returns 1 if help is wanted. */
static int read_options(int command, const char *name, int argc, char **argv)
{
    struct option options[FT_COUNTOF(known) + 2] = {{"help", no_argument, NULL, 'h'}};
    char why[300];
    opterr = 0;
    for (size_t i = 0; i < FT_COUNTOF(known); i++)
        options[i + 1] = (struct option){known[i].name, known[i].takes != FLAG, NULL, 1};
    for (int c, which;;) {
        const char *word = argv[optind];
        if ((c = getopt_long(argc, argv, "+:h", options, &which)) == -1)
            break;
        if (c == 'h')
            return 1;
        /* getopt would also accept an abbreviation, which may mean another option one day. */
        if (c == '?' || c == ':' || strlen(known[which - 1].name) != strcspn(word, "=") - 2) {
            ft_option_refused(options, c, word, why, sizeof why);
            fail("%s ('ftrma-model --help' lists the options)", why);
        }
        const struct known *k = &known[which - 1];
        if (!(k->commands & command))
            fail("%s has no --%s; 'ftrma-model --help' lists the options", name, k->name);
        take(k, optarg);
    }
    if (optind < argc)
        fail("'%s' is no option; 'ftrma-model --help' lists them", argv[optind]);
    return 0;
}

int main(int argc, char **argv)
{
    size_t k = 0;
    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return fputs(usage, stdout) < 0;
    while (k < FT_COUNTOF(commands) && (argc < 2 || strcmp(argv[1], commands[k].name) != 0))
        k++;
    if (k == FT_COUNTOF(commands))
        fail("the first argument is daly, pcf, plan or montecarlo; 'ftrma-model --help' says more");
    if (commands[k].command == PLAN)
        opt.parity = FT_MODEL_CODEWORDS;
    argv[1] = argv[0]; /* the name that getopt prints */
    if (read_options(commands[k].command, commands[k].name, argc - 1, argv + 1))
        return fputs(usage, stdout) < 0;
    if ((commands[k].command & MACHINE) && (!opt.domains || !opt.ranks))
        fail("%s needs --domains and --ranks", commands[k].name);
    commands[k].run();
    if (fflush(stdout) || ferror(stdout))
        fail("standard output: %s", strerror(errno));
    return 0;
}
