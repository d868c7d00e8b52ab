/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.c - one table of options. getopt_long reads the command line by it, and --help is printed
 * from it. Completions and the check of ftrun(1) read --help.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launch/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/failpoint.h"
#include "base/units.h"
#include "base/words.h"
#include "launch/sets.h"
#include "topology/groups.h"

enum option_kind {
    K_RANKS,
    K_SIZE_MIB, /* a size; a number without a unit is MiB */
    K_SETTING,
    K_INJECT,
    K_TEXT,
    K_VERBOSE,
    K_QUIET,
    K_TASK,
    K_REHEARSE,
    K_FLAG,
    K_VARIABLE, /* mpirun's -x */
    K_HAND_ON,  /* mpirun's: passed to it unchanged */
    K_HAND_TWO, /* the same with two values */
    K_MOOT,     /* mpirun's: ftrun does so anyhow */
    K_ANSWER,   /* another launcher's: doc says what to write instead; not in --help */
};

#define NAMES 5
struct option_row {
    const char *name[NAMES]; /* as typed, with "-" or "--"; a longer name may be typed with either;
                                --name=value works too */
    const char *arg;         /* NULL: none; "[=...": only after a =, and it may be left out */
    enum option_kind kind;
    int detail; /* K_SETTING, K_SIZE_MIB, K_INJECT: the setting's id; K_TEXT: offset in struct
                   ft_options; K_TASK: enum ft_ftrun_task */
    const char *doc;
};

_Static_assert(FT_GROUP_PARITY == 8, "the range of FTRMA_PARITY in settings.def");

#define FIELD(f) (int)offsetof(struct ft_options, f)
#define BATCH "ask the batch system for it (salloc, sbatch, qsub), and call ftrun in that job"
static const struct option_row table[] = {
    {{"-n", "-np", "--ntasks"}, "N", K_RANKS, 0, "ranks that the program sees"},
    {{"--checksums"},
     "K",
     K_SETTING,
     FT_SET_CHECKSUMS,
     "checksum processes in all (default: parity per 8 ranks; 0: no checkpoints)"},
    {{"--parity"},
     "M",
     K_SETTING,
     FT_SET_PARITY,
     "checksum processes of each group, 1 to 8: the group survives as many losses at once (default "
     "1)"},
    {{"--domains"},
     "FILE",
     K_SETTING,
     FT_SET_DOMAINS,
     "what fails together: nodes, power supplies, racks; see ftrma-domains(5)"},
    {{"--aware"},
     "LEVEL|best|none",
     K_SETTING,
     FT_SET_AWARE,
     "no more than M of a group in one element of this level (default: best, with --domains)"},
    {{"--spares"},
     "S",
     K_SETTING,
     FT_SET_SPARES,
     "processes that wait to take the place of dead ones (default: as many as the parity)"},
    {{"--mtbf"},
     "TIME",
     K_SETTING,
     FT_SET_MTBF,
     "mean time between failures of the job, of any kind: 90s, 8h, 2d (default 1d); it gives "
     "Daly's interval"},
    {{"--checkpoint"},
     "daly|every:K|off",
     K_SETTING,
     FT_SET_CHECKPOINT,
     "when checkpoints are taken; every:K is every K-th safepoint (default daly)"},
    {{"--snapshot"},
     "barrier|delay|peek|double|partial",
     K_SETTING,
     FT_SET_SNAPSHOT,
     "how a checkpoint is taken: all ranks stop (barrier), or go on, by the algorithm named "
     "(default barrier)"},
    {{"--recovery"},
     "auto|global|program",
     K_SETTING,
     FT_SET_RECOVERY,
     "auto: the failed rank alone runs again where its logs allow it; global: all ranks go back; "
     "program: survivors keep their memory, body is entered again, and FTRMA_Replaced says who is "
     "new (default auto)"},
    {{"--log"},
     "off|puts|all",
     K_SETTING,
     FT_SET_LOG,
     "what is logged so that the failed rank can run again alone (default all)"},
    {{"--log-limit"},
     "SIZE",
     K_SIZE_MIB,
     FT_SET_LOG_LIMIT,
     "memory for the messages and logs of one process: 512M, 1.5G (default: a share of what there "
     "is, 256M to 1G)"},
    {{"--demand"},
     "bulk|stream|off",
     K_SETTING,
     FT_SET_DEMAND,
     "when its logs grow, a rank takes a checkpoint alone; stream: over its last one, in a third "
     "less memory (default bulk)"},
    {{"--check-memory"},
     "first|off|always",
     K_SETTING,
     FT_SET_CHECK_MEMORY,
     "name memory that body changes and that is not protected: look at the first safepoints, "
     "never, or at each (default first)"},
    {{"--inject"},
     "VICTIM,point=NAME[,hit=K][,action=kill|stop][,again=1]",
     K_INJECT,
     FT_SET_INJECT,
     "make rank=R, checksum=I or spare=I die at a failpoint; repeatable; '--inject list' prints "
     "all names"},
    {{"--rehearse"},
     "[=N]",
     K_REHEARSE,
     0,
     "run the program twice without a death and N times (default 3) with one, and print what "
     "differs: is all protected?"},
    {{"--save"},
     "DIR[,every=K]",
     K_TEXT,
     FIELD(save),
     "write each checkpoint, or each K-th, to files in DIR in the background; ftrma-save(5)"},
    {{"--restart"},
     "DIR",
     K_TEXT,
     FIELD(restart),
     "go on from the newest set of files in DIR; -n must be as it was"},
    {{"--restarts"},
     "N",
     K_TEXT,
     FIELD(restarts_text),
     "with --save: when the job is lost, restart it from the newest set, at most N times (default "
     "0)"},
    {{"--mixed"},
     NULL,
     K_FLAG,
     FIELD(mixed),
     "with --restart: accept another build of the program or of ftrma, and another kind of "
     "processor"},
    {{"--virtual-nodes"},
     "K",
     K_TEXT,
     FIELD(virtual_nodes_text),
     "cut this machine into K nodes, with a gateway each; checkpoints only with --checksums"},
    {{"--bind"},
     "auto|core|none",
     K_SETTING,
     FT_SET_BIND,
     "bind the main thread of each rank to a core; auto: with 2 ranks without threads, as mpirun "
     "would (default auto)"},
    {{"--report"}, "FILE", K_TEXT, FIELD(report), "write a report of the run as JSON"},
    {{"--trace"}, "FILE", K_TEXT, FIELD(trace), "write the events as Chrome trace JSON"},
    {{"-q", "--quiet"}, NULL, K_QUIET, 0, "do not name the losses that the job survives"},
    {{"-v", "--verbose"},
     NULL,
     K_VERBOSE,
     0,
     "print a line on stderr for each event; twice: details of each process too"},
    {{"-h", "--help"}, NULL, K_TASK, FT_TASK_HELP, "print this"},
    {{"--help-settings"},
     NULL,
     K_TASK,
     FT_TASK_SETTINGS,
     "print all settings (environment variables)"},
    {{"--help-reasons"},
     NULL,
     K_TASK,
     FT_TASK_REASONS,
     "print all reasons for which a job is given up (status 75), and what to do about each"},
    {{"--version"}, NULL, K_TASK, FT_TASK_VERSION, "print the version"},

    {{"-x"}, "VAR[=VALUE]", K_VARIABLE, 0, "hand an environment variable to the processes"},
    {{"-H", "--host"}, "HOSTS", K_TEXT, FIELD(hosts), "where to start processes"},
    {{"--hostfile", "--machinefile"},
     "FILE",
     K_TEXT,
     FIELD(hostfile),
     "where to start processes, from a file"},
    {{"--map-by"},
     "HOW",
     K_HAND_ON,
     0,
     "how processes are spread over nodes; checksum processes and spares count too"},
    {{"--rank-by"}, "HOW", K_HAND_ON, 0, "how processes are numbered"},
    {{"--bind-to"},
     "WHAT",
     K_HAND_ON,
     0,
     "bind all processes; see --bind, which binds the ranks alone"},
    {{"--rankfile", "-rf"}, "FILE", K_HAND_ON, 0, "which process goes where"},
    {{"--report-bindings"}, NULL, K_HAND_ON, 0, "print what processes are bound to"},
    {{"--display-map"}, NULL, K_HAND_ON, 0, "print where processes are started"},
    {{"--use-hwthread-cpus"}, NULL, K_HAND_ON, 0, "count hardware threads as cores"},
    {{"--mca"}, "NAME VALUE", K_HAND_TWO, 0, "a parameter of Open MPI"},
    {{"--prefix"}, "DIR", K_HAND_ON, 0, "where Open MPI is installed on other nodes"},
    {{"--tag-output"},
     NULL,
     K_HAND_ON,
     0,
     "mark each line with its process; lines may then come twice after a failure"},
    {{"--timestamp-output"},
     NULL,
     K_HAND_ON,
     0,
     "mark each line with its time; lines may then come twice after a failure"},
    {{"--output-filename"},
     "FILE",
     K_HAND_ON,
     0,
     "write the output of each process to a file; lines may then come twice after a failure"},
    {{"--host-args"},
     "\"ARGS\"",
     K_TEXT,
     FIELD(host_args),
     "any other arguments of mpirun, split as by a shell"},
    {{"--oversubscribe"},
     NULL,
     K_MOOT,
     0,
     "no effect: more processes than cores are always allowed"},
    {{"--allow-run-as-root"}, NULL, K_MOOT, 0, "no effect: it is always allowed"},
    {{"--enable-recovery"}, NULL, K_MOOT, 0, "no effect: that is what ftrun is for"},

    {{"-N", "--nodes", "--npernode", "--ppn", "--ntasks-per-node"},
     NULL,
     K_ANSWER,
     0,
     "write '--map-by ppr:K:node' for K processes on each node, where checksum processes and "
     "spares count too"},
    {{"-c", "--cpus-per-task", "--cpus-per-rank", "--cpus-per-proc"},
     NULL,
     K_ANSWER,
     0,
     "write '-n N' for N ranks, and '--map-by slot:pe=K --bind-to core' for K cores to each "
     "process"},
    {{"--cpu-bind"}, NULL, K_ANSWER, 0, "write '--bind core' or '--bind none'"},
    {{"--nooversubscribe", "--disable-recovery"},
     NULL,
     K_ANSWER,
     0,
     "ftrun cannot work with it: leave it out"},
    {{"--export", "--env", "--genv", "--envlist", "--genvlist"},
     NULL,
     K_ANSWER,
     0,
     "write '-x VAR=VALUE' for each variable"},
    {{"-f"}, NULL, K_ANSWER, 0, "write '--hostfile FILE'"},
    {{"-l", "--label"}, NULL, K_ANSWER, 0, "write '--tag-output'"},
    {{"-D", "--chdir", "--wdir", "-wd"}, NULL, K_ANSWER, 0, "write 'env -C DIR ftrun ...'"},
    {{"--timeout"},
     NULL,
     K_ANSWER,
     0,
     "write 'timeout TIME ftrun ...': ftrun then ends the job and cleans up"},
    {{"--nolocal"}, NULL, K_ANSWER, 0, "name the other hosts by --host"},
    {{"-o", "--output", "-e", "--error"},
     NULL,
     K_ANSWER,
     0,
     "let the shell redirect ftrun's output: '>FILE', '2>FILE'"},
    {{"-i", "--input"},
     NULL,
     K_ANSWER,
     0,
     "let the shell redirect ftrun's input: '<FILE'; rank 0 reads it"},
    {{"-p", "--partition", "-A", "--account"}, NULL, K_ANSWER, 0, BATCH},
    {{"-t", "--time", "-J", "--job-name", "--nodelist"}, NULL, K_ANSWER, 0, BATCH},
    {{"--mem", "--exclusive", "--gres", "--constraint", "--qos"}, NULL, K_ANSWER, 0, BATCH},
    {{"--mpi"}, NULL, K_ANSWER, 0, "leave it out: ftrun uses Open MPI's mpirun"},
};

/* What reading the command line leaves for the checks. */
struct given {
    const char *ranks;                /* the text of -n */
    const char *option[FT_SET_COUNT]; /* the option by which a setting was given */
    const char *log_limit;            /* the text of --log-limit */
    const char *rehearse;             /* of --rehearse; NULL: not given */
    int verbose;
};

#define BAD(...) (snprintf(err, (size_t)errlen, __VA_ARGS__), FT_ERR_ARG)

/* Several --inject, and FTRMA_INJECT before them, are joined to one text. */
static void append_inject(const char *value)
{
    const char *env = ft_settings_table[FT_SET_INJECT].env, *old = ft_setting_str(FT_SET_INJECT);
    char *all = NULL;
    if (*old && asprintf(&all, "%s;%s", old, value) > 0)
        value = all;
    setenv(env, value, 1);
    free(all);
}

static enum ft_status hand_on(struct ft_options *o, const char *word, char *err, int errlen)
{
    if (o->nhanded == FT_HANDED_MOST)
        return BAD("more than %d words are to be handed to mpirun: use --host-args",
                   FT_HANDED_MOST);
    o->handed[o->nhanded++] = word;
    return FT_OK;
}

/* Stores in our own environment what ftrun itself reads or extends. */
static enum ft_status variable(struct ft_options *o, char *text, char *err, int errlen)
{
    FT_ASSERT(text); /* by the table the option has a value */
    char *eq = strchr(text, '=');
    size_t len = eq ? (size_t)(eq - text) : strlen(text);
    if (len == 0)
        return BAD("-x %s: must be VAR or VAR=VALUE", text);
    if (strncmp(text, "FTRMA_", 6) == 0 || (len == 10 && strncmp(text, "LD_PRELOAD", 10) == 0)) {
        if (eq) {
            *eq = '\0';
            setenv(text, eq + 1, 1);
            *eq = '=';
        }
        return FT_OK;
    }
    return hand_on(o, "-x", err, errlen) == FT_OK ? hand_on(o, text, err, errlen) : FT_ERR_ARG;
}

static enum ft_status apply(const struct option_row *row, char *value, struct ft_options *o,
                            struct given *g, char *err, int errlen)
{
    switch (row->kind) {
    case K_RANKS: g->ranks = value; break;
    case K_SIZE_MIB: g->log_limit = value; break;
    case K_SETTING:
        FT_ASSERT(value);
        setenv(ft_settings_table[row->detail].env, value, 1);
        g->option[row->detail] = row->name[0];
        break;
    case K_INJECT:
        FT_ASSERT(value);
        g->option[row->detail] = row->name[0];
        if (strcmp(value, "list") == 0)
            o->task = FT_TASK_FAILPOINTS;
        else
            append_inject(value);
        break;
    case K_TEXT: *(const char **)((char *)o + row->detail) = value; break;
    case K_FLAG: *(int *)(void *)((char *)o + row->detail) = 1; break;
    case K_VERBOSE: g->verbose++; break;
    case K_QUIET: o->quiet = 1; break;
    case K_REHEARSE: g->rehearse = value ? value : "3"; break;
    case K_TASK: o->task = (enum ft_ftrun_task)row->detail; break;
    case K_VARIABLE: return variable(o, value, err, errlen);
    case K_HAND_ON:
    case K_HAND_TWO:
        o->host_decides = 1;
        if (hand_on(o, row->name[0], err, errlen) != FT_OK)
            return FT_ERR_ARG;
        return value ? hand_on(o, value, err, errlen) : FT_OK;
    case K_MOOT:
    case K_ANSWER: break;
    }
    return FT_OK;
}

/* --- the table as getopt_long has it --- */

/* LONG_VALUE and above: LONG_VALUE + row * NAMES + name. A short option's value is its letter. */
#define LONG_VALUE 256
enum { LONG_MOST = FT_COUNTOF(table) * NAMES + 1, SHORT_MOST = FT_COUNTOF(table) * NAMES * 3 + 3 };

static int takes(const struct option_row *r)
{
    if (r->kind == K_ANSWER)
        return optional_argument; /* the answer is the same for any argument */
    return !r->arg ? no_argument : *r->arg == '[' ? optional_argument : required_argument;
}

static void make_tables(struct option *longs, char *shorts)
{
    *shorts++ = '+'; /* the first word that is no option ends them */
    *shorts++ = ':'; /* this file reports errors itself */
    for (size_t i = 0; i < FT_COUNTOF(table) * NAMES; i++) {
        const struct option_row *r = &table[i / NAMES];
        const char *name = r->name[i % NAMES];
        if (!name)
            continue;
        if (name[1] != '-' && !name[2]) {
            *shorts++ = name[1];
            for (int k = takes(r); k > 0; k--)
                *shorts++ = ':';
        } else {
            *longs++ =
                (struct option){name + 1 + (name[1] == '-'), takes(r), NULL, LONG_VALUE + (int)i};
        }
    }
    *shorts = '\0';
    *longs = (struct option){0};
}

static const struct option_row *row_of(int value)
{
    if (value >= LONG_VALUE)
        return &table[(value - LONG_VALUE) / NAMES];
    for (size_t i = 0; i < FT_COUNTOF(table) * NAMES; i++) {
        const char *name = table[i / NAMES].name[i % NAMES];
        if (name && name[1] == value && !name[2])
            return &table[i / NAMES];
    }
    return NULL;
}

static const char *after_dashes(const char *word)
{
    return word + (*word == '-') + (word[0] == '-' && word[1] == '-');
}

static enum ft_status unknown(const char *word, int len, char *err, int errlen)
{
    const char *bare = after_dashes(word), *dashes = "";
    struct ft_nearest near = ft_nearest_begin(bare, len - (int)(bare - word));
    for (size_t i = 0; i < FT_COUNTOF(table) * NAMES; i++) {
        const char *name =
            table[i / NAMES].kind == K_ANSWER ? NULL : table[i / NAMES].name[i % NAMES];
        if (name && name[2])
            ft_nearest_try(&near, after_dashes(name), (int)strlen(after_dashes(name)));
    }
    if (near.found)
        dashes = near.found[-2] == '-' ? "--" : "-";
    return BAD("unknown option '%.*s'%s%s%.*s%s ('ftrun --help' lists all; the program's own "
               "options come after it)",
               len, word, near.found ? "; did you mean " : "", dashes, near.found_len,
               near.found ? near.found : "", near.found ? "?" : "");
}

/* An option that getopt does not accept. */
static enum ft_status refused(int c, const char *word, char *err, int errlen)
{
    const struct option_row *row = optopt ? row_of(optopt) : NULL;
    char letter[3] = {'-', (char)optopt, '\0'};
    int len = (int)strcspn(word, "=");
    if (optopt > 0 && optopt < LONG_VALUE && (word[0] != '-' || word[1] != (char)optopt))
        word = letter, len = 2; /* inside of a word like -vq */
    if (row && c == ':')
        return BAD("option '%.*s' needs a value: %.*s %s", len, word, len, word, row->arg);
    if (row)
        return BAD("option '%.*s' takes no value", len, word);
    return unknown(word, len, err, errlen);
}

/* getopt would also accept an abbreviation, which may mean another option one day. */
static int is_abbreviated(int c, const char *word)
{
    const char *bare = after_dashes(word);
    if (c < LONG_VALUE)
        return 0;
    const char *name = after_dashes(table[(c - LONG_VALUE) / NAMES].name[(c - LONG_VALUE) % NAMES]);
    return strcspn(bare, "=") != strlen(name);
}

static enum ft_status take(int c, const char *word, int argc, char **argv, struct ft_options *o,
                           struct given *g, char *err, int errlen)
{
    const struct option_row *row = row_of(c);
    int len = (int)strcspn(word, "=");
    FT_ASSERT(row);
    if (is_abbreviated(c, word))
        return unknown(word, len, err, errlen);
    if (row->kind == K_ANSWER)
        return BAD("ftrun has no option '%.*s': %s", len, word, row->doc);
    if (optarg && !*optarg)
        return BAD("option '%.*s' needs a value: %.*s %s", len, word, len, word, row->arg);
    if (row->kind == K_HAND_TWO && optind >= argc)
        return BAD("option '%.*s' needs two values: %.*s %s", len, word, len, word, row->arg);
    enum ft_status st = apply(row, optarg, o, g, err, errlen);
    return st == FT_OK && row->kind == K_HAND_TWO ? hand_on(o, argv[optind++], err, errlen) : st;
}

static enum ft_status read_words(int argc, char **argv, struct ft_options *o, struct given *g,
                                 char *err, int errlen)
{
    struct option longs[LONG_MOST];
    char shorts[SHORT_MOST];
    make_tables(longs, shorts);
    optind = 0; /* begin again */
    opterr = 0;
    while (o->task == FT_TASK_RUN) {
        int at = optind ? optind : 1;
        int c = getopt_long_only(argc, argv, shorts, longs, NULL);
        if (c == -1)
            break;
        if (c == '?' || c == ':')
            return refused(c, argv[at], err, errlen);
        if (take(c, argv[at], argc, argv, o, g, err, errlen) != FT_OK)
            return FT_ERR_ARG;
    }
    o->program = optind < argc ? &argv[optind] : NULL;
    return FT_OK;
}

/* "--spares many" or "FTRMA_SPARES=many", as the user gave it. */
static const char *origin(const struct given *g, enum ft_setting_id id, char *out, size_t size)
{
    if (g->option[id])
        snprintf(out, size, "%s %s", g->option[id], ft_setting_str(id));
    else
        snprintf(out, size, "%s=%s", ft_settings_table[id].env, ft_setting_str(id));
    return out;
}

static void export_number(enum ft_setting_id id, int v)
{
    char text[16];
    snprintf(text, sizeof text, "%d", v);
    setenv(ft_settings_table[id].env, text, 1);
}

/* A job with checkpoints on several nodes: they are coordinated, all ranks go back together, and
 * groups are spread over the nodes. */
static enum ft_status over_nodes(const struct given *g, char *err, int errlen)
{
    char from[300];
    int recovery, snapshot;
    if (ft_setting_choice(FT_SET_RECOVERY, &recovery, err, errlen) != FT_OK ||
        ft_setting_choice(FT_SET_SNAPSHOT, &snapshot, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (snapshot != FT_SNAPSHOT_BARRIER)
        return BAD("%s with --virtual-nodes: only '--snapshot barrier' crosses nodes yet",
                   origin(g, FT_SET_SNAPSHOT, from, sizeof from));
    if (recovery == 2)
        return BAD("%s with --virtual-nodes: told recovery does not cross nodes yet",
                   origin(g, FT_SET_RECOVERY, from, sizeof from));
    setenv(ft_settings_table[FT_SET_RECOVERY].env, "global", 1);
    setenv(ft_settings_table[FT_SET_AWARE].env, "best", 1);
    return FT_OK;
}

/* A job on several nodes: what cannot cross yet is refused, or left out where it was not asked for.
 */
static enum ft_status virtual_nodes(struct ft_options *o, const struct given *g, int nranks,
                                    int64_t *checksums, int64_t *spares, char *err, int errlen)
{
    char from[300];
    int64_t n;
    if (!o->virtual_nodes_text)
        return FT_OK;
    if (ft_parse_i64(o->virtual_nodes_text, &n) != FT_OK || n < 1 || n > 64)
        return BAD("--virtual-nodes %s: must be a number of nodes from 1 to 64",
                   o->virtual_nodes_text);
    if (n > nranks)
        return BAD("--virtual-nodes %d with %d ranks: each node has one rank at least", (int)n,
                   nranks);
    if (n == 1)
        return FT_OK;
    if (*checksums < 0) /* not asked for */
        *checksums = 0;
    if (*checksums == 0 && *spares > 0)
        return BAD(
            "%s with --virtual-nodes and without checkpoints: a rank that is lost there goes "
            "back to a checkpoint; write '--spares 0', or add '--checksums C'",
            origin(g, FT_SET_SPARES, from, sizeof from));
    if (*checksums == 0)
        *spares = 0;
    if (o->hosts || o->hostfile || o->host_args || o->host_decides)
        return BAD("--virtual-nodes cuts this machine into nodes: leave out the options that say "
                   "where processes run");
    if (*ft_setting_str(FT_SET_DOMAINS) || *ft_setting_str(FT_SET_AWARE))
        return BAD("--virtual-nodes does not go with --domains and --aware yet: leave them out");
    if (o->save || o->restart)
        return BAD("--virtual-nodes does not go with --save and --restart yet: leave them out");
    o->virtual_nodes = (int)n;
    return *checksums ? over_nodes(g, err, errlen) : FT_OK;
}

/* How many processes of each kind. */
static enum ft_status check_counts(struct ft_options *o, struct given *g, char *err, int errlen)
{
    int64_t n = 0, k, s, m;
    struct ft_groups groups;
    char from[300], why[200];
    static char saved[16];
    if (!g->ranks && o->restart && ft_sets_ranks(o->restart) > 0) {
        snprintf(saved, sizeof saved, "%d", ft_sets_ranks(o->restart));
        g->ranks = saved;
    }
    if (!g->ranks && o->restart)
        return BAD("--restart %s: there is no set to go on from", o->restart);
    if (!g->ranks)
        return BAD("the number of ranks is missing: ftrun -n N program");
    if (ft_parse_i64(g->ranks, &n) != FT_OK || n < 1 || n > FT_MAX_SLOTS)
        return BAD("-n %s: must be a whole number from 1 to %d", g->ranks, FT_MAX_SLOTS);
    if (ft_setting_i64(FT_SET_PARITY, &m, err, errlen) != FT_OK ||
        ft_setting_i64(FT_SET_CHECKSUMS, &k, err, errlen) != FT_OK ||
        ft_setting_i64(FT_SET_SPARES, &s, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (virtual_nodes(o, g, (int)n, &k, &s, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (k < 0)
        k = ft_default_checksums((int)n, (int)m);
    if (m == 1 && k > n)
        return BAD("%s: more checksum processes than ranks (%d); the default is one for 8 ranks",
                   origin(g, FT_SET_CHECKSUMS, from, sizeof from), (int)n);
    if (s < 0)
        s = m;
    if (n + k + s > FT_MAX_SLOTS)
        return BAD("%d ranks, %d checksum processes and %lld spares are together more than %d "
                   "processes: ask for fewer",
                   (int)n, (int)k, (long long)s, FT_MAX_SLOTS);
    if (k > 0 && ft_groups_init(&groups, (int)n, (int)k, (int)m, NULL, why, sizeof why) != FT_OK)
        return BAD("%s: %s",
                   origin(g, g->option[FT_SET_CHECKSUMS] ? FT_SET_CHECKSUMS : FT_SET_PARITY, from,
                          sizeof from),
                   why);
    if (k > 0)
        ft_groups_finish(&groups);
    o->nranks = (int)n;
    o->nchecksums = (int)k;
    o->nspares = (int)s;
    o->parity = (int)m;
    export_number(FT_SET_CHECKSUMS, o->nchecksums);
    export_number(FT_SET_SPARES, o->nspares);
    export_number(FT_SET_PARITY, o->parity);
    if (k == 0) /* nowhere to keep parity */
        setenv(ft_settings_table[FT_SET_CHECKPOINT].env, "off", 1);
    return FT_OK;
}

/* Checks all settings by type and range. --log-limit is a setting whose plain numbers are MiB. */
static enum ft_status check_settings(const struct given *g, char *err, int errlen)
{
    char from[300], text[32];
    int64_t bytes;
    if (strcmp(ft_setting_str(FT_SET_SNAPSHOT), "vanilla") == 0)
        return BAD("%s: ftrun does not offer this algorithm, since it gives wrong results for gets",
                   origin(g, FT_SET_SNAPSHOT, from, sizeof from));
    if (g->log_limit) {
        if (ft_parse_bytes(g->log_limit, 1 << 20, &bytes) != FT_OK || bytes < 1)
            return BAD("--log-limit %s: must be " FT_BYTES_EXAMPLES
                       ", above 0 (a number alone is MiB)",
                       g->log_limit);
        snprintf(text, sizeof text, "%lld", (long long)bytes);
        setenv(ft_settings_table[FT_SET_LOG_LIMIT].env, text, 1);
    }
    return ft_settings_check(g->option, err, errlen);
}

static enum ft_status check_rehearsal(struct ft_options *o, const struct given *g, char *err,
                                      int errlen)
{
    int64_t n;
    if (!g->rehearse)
        return FT_OK;
    if (g->rehearse[strspn(g->rehearse, "0123456789")] || ft_parse_i64(g->rehearse, &n) != FT_OK ||
        n < 1 || n > 1000000)
        return BAD("--rehearse=%s: must be a number of deaths, 1 or more", g->rehearse);
    if (o->nspares == 0)
        return BAD(
            "--rehearse with --spares 0: no spare can take the place of a rank that is killed");
    if (*ft_setting_str(FT_SET_INJECT))
        return BAD("--rehearse draws the deaths itself: leave out --inject (FTRMA_INJECT)");
    o->rehearse = (int)n;
    return FT_OK;
}

/* The last comma, as a directory's name may hold one. */
static enum ft_status check_save(struct ft_options *o, char *err, int errlen)
{
    const char *every = o->save ? strstr(o->save, ",every=") : NULL;
    int64_t n = 0;
    o->save_every = 1;
    if (every) {
        const char *k = every + strlen(",every=");
        if (k[strspn(k, "0123456789")] || ft_parse_i64(k, &o->save_every) != FT_OK ||
            o->save_every < 1)
            return BAD("--save %s: every=K must be a number of checkpoints, 1 or more", o->save);
        o->save = strndup(o->save, (size_t)(every - o->save)); /* as long as ftrun */
        if (!o->save || !*o->save)
            return BAD("--save: the directory is missing: --save DIR[,every=K]");
    }
    if (o->restarts_text && (o->restarts_text[strspn(o->restarts_text, "0123456789")] ||
                             ft_parse_i64(o->restarts_text, &n) != FT_OK || n > 1000000))
        return BAD("--restarts %s: must be a number, 0 or more", o->restarts_text);
    o->restarts = (int)n;
    if (o->restarts && !o->save)
        return BAD("--restarts needs --save DIR, which writes what a restart goes on from");
    if (o->mixed && !o->restart)
        return BAD("--mixed works only with --restart DIR");
    if (!o->save && !o->restart)
        return FT_OK;
    const char *option = o->save ? "--save" : "--restart";
    if (o->rehearse)
        return BAD("--rehearse does not go with %s: rehearse without it", option);
    if (strcmp(ft_setting_str(FT_SET_CHECKPOINT), "off") == 0)
        return BAD(
            "%s needs checkpoints: leave out --checkpoint off, --checksums 0 and their settings",
            option);
    return FT_OK;
}

static enum ft_status check_rest(struct ft_options *o, const struct given *g, char *err, int errlen)
{
    char why[400];
    int64_t v;
    if (check_rehearsal(o, g, err, errlen) != FT_OK || check_save(o, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (ft_fp_check(ft_setting_str(FT_SET_INJECT), o->nranks, o->nchecksums, o->nspares, why,
                    sizeof why) != FT_OK)
        return BAD("%s: %s",
                   g->option[FT_SET_INJECT] ? "--inject" : ft_settings_table[FT_SET_INJECT].env,
                   why);
    if (ft_setting_i64(FT_SET_VERBOSE, &v, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    o->verbose = g->verbose > v ? g->verbose : (int)ft_min_u64((uint64_t)v, 2);
    export_number(FT_SET_VERBOSE, o->verbose);
    return FT_OK;
}

enum ft_status ft_options_parse(int argc, char **argv, struct ft_options *o, char *err, int errlen)
{
    struct given g = {0};
    struct ft_options parsed = {.task = FT_TASK_RUN, .command = argv};
    FT_ASSERT(errlen > 0);
    enum ft_status st = read_words(argc, argv, &parsed, &g, err, errlen);
    if (st == FT_OK && parsed.task == FT_TASK_RUN) {
        if (!parsed.program)
            return BAD("no program given: ftrun -n N program [arguments] ('ftrun --help' lists the "
                       "options)");
        for (char **a = parsed.program; *a; a++)
            if (strcmp(*a, ":") == 0)
                return BAD("the argument ':' cannot be handed to the program: mpirun takes it as "
                           "the start of another program");
        st = check_settings(&g, err, errlen);
        if (st == FT_OK)
            st = check_counts(&parsed, &g, err, errlen);
        if (st == FT_OK)
            st = check_rest(&parsed, &g, err, errlen);
    }
    if (st == FT_OK)
        *o = parsed;
    return st;
}

/* ---- what is printed from the tables ---- */

static void print_row(FILE *f, const struct option_row *r)
{
    char left[120];
    int n = snprintf(left, sizeof left, "  %s", r->name[0]);
    for (int k = 1; k < NAMES && r->name[k]; k++)
        n += snprintf(left + n, sizeof left - (size_t)n, ", %s", r->name[k]);
    if (r->arg)
        n += snprintf(left + n, sizeof left - (size_t)n, "%s%s", *r->arg == '[' ? "" : " ", r->arg);
    if (n > 33)
        fprintf(f, "%s\n%35s%s\n", left, "", r->doc);
    else
        fprintf(f, "%-35s%s\n", left, r->doc);
}

void ft_print_help(FILE *f)
{
    int handed = 0;
    fputs("usage: ftrun [options] [--] program [arguments]\n"
          "Runs an MPI program so that it survives the loss of processes.\n\n",
          f);
    for (size_t i = 0; i < FT_COUNTOF(table) && table[i].kind != K_ANSWER; i++) {
        if (table[i].kind == K_VARIABLE && !handed++)
            fputs("\nOptions of mpirun that ftrun hands on:\n", f);
        print_row(f, &table[i]);
    }
    fprintf(f,
            "\nTimes are 90s, 5min, 1.5h, 2d; sizes 512M, 1.5G, 64KiB.\n"
            "Exit status: 0 if all ranks ended well; the status of the program if the program "
            "failed; %d if the job was lost;\n"
            "76 if a rehearsal shows a difference; 2 if the command line is wrong; 128 + N if "
            "signal N ended ftrun.\n",
            FT_EXIT_LOST);
}
