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
#include "launch/options_given.h"
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
    K_DEBUG,
    K_FLAG,
    K_VARIABLE, /* mpirun's -x */
    K_HAND_ON,  /* mpirun's: passed to it unchanged */
    K_PLACE,    /* the same; it says where processes run */
    K_HAND_TWO, /* the same as K_HAND_ON, with two values */
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
     "checksum processes in all (default: parity per 8 ranks; with --virtual-nodes 0; 0: no "
     "checkpoints)"},
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
     "processes that wait to take the place of dead ones (default: as many as the parity; with "
     "--virtual-nodes as many as the loss of a node takes, if the groups survive that)"},
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
     "make rank=R, checksum=I or spare=I die at a failpoint, or node=K, gateway=K, keeper=K, launcher=0; "
     "repeatable; '--inject list' prints all names"},
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
     "with --save: when the job is lost, restart it from the newest set that it has written, at "
     "most N times (default 0)"},
    {{"--mixed"},
     NULL,
     K_FLAG,
     FIELD(mixed),
     "with --restart, and with several hosts: accept another build of the program or of ftrma, and "
     "another kind of processor"},
    {{"--virtual-nodes"},
     "K",
     K_TEXT,
     FIELD(virtual_nodes_text),
     "cut this machine into K nodes, with a gateway each; checkpoints only with --checksums"},
    {{"--debug"},
     NULL,
     K_DEBUG,
     0,
     "for a debugger: processes and hosts that stand still are not taken for lost"},
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
    {{"-H", "--host"},
     "HOSTS",
     K_TEXT,
     FIELD(hosts),
     "where to start processes; several hosts (A,B,C) are the nodes of the job, and it survives "
     "the loss of one"},
    {{"--rsh"},
     "COMMAND",
     K_TEXT,
     FIELD(rsh),
     "with several hosts: runs a command on a host, whose name follows it (default 'ssh -q')"},
    {{"--hostfile", "--machinefile"},
     "FILE",
     K_TEXT,
     FIELD(hostfile),
     "the same, from a file: a host on each line, all with as many slots"},
    {{"--map-by"},
     "HOW",
     K_PLACE,
     0,
     "how processes are spread over nodes; checksum processes and spares count too"},
    {{"--rank-by"}, "HOW", K_PLACE, 0, "how processes are numbered"},
    {{"--bind-to"},
     "WHAT",
     K_HAND_ON,
     0,
     "bind all processes; see --bind, which binds the ranks alone"},
    {{"--rankfile", "-rf"}, "FILE", K_PLACE, 0, "which process goes where"},
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
     "write '--host A,B' for several nodes, or start ftrun in a Slurm allocation of several: "
     "processes are spread evenly over them"},
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
                            struct ft_options_given *g, char *err, int errlen)
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
    case K_DEBUG:
        setenv(ft_settings_table[FT_SET_PING_TIMEOUT].env, "0", 1);
        setenv(ft_settings_table[FT_SET_LEASE].env, "0", 1);
        break;
    case K_REHEARSE: g->rehearse = value ? value : "3"; break;
    case K_TASK: o->task = (enum ft_ftrun_task)row->detail; break;
    case K_VARIABLE: return variable(o, value, err, errlen);
    case K_PLACE:
    case K_HAND_ON:
    case K_HAND_TWO:
        o->host_decides = 1;
        o->places |= row->kind == K_PLACE;
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

/* "-n=4": getopt would take "=4" for the value of -n, or -n for the beginning of a longer name. */
static const struct option_row *letter_and_equals(const char *word)
{
    if (word[0] != '-' || !word[1] || word[1] == '-' || word[2] != '=')
        return NULL;
    const struct option_row *row = row_of(word[1]);
    return row && row->kind != K_ANSWER ? row : NULL;
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
                           struct ft_options_given *g, char *err, int errlen)
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

static enum ft_status read_words(int argc, char **argv, struct ft_options *o, struct ft_options_given *g,
                                 char *err, int errlen)
{
    struct option longs[LONG_MOST];
    char shorts[SHORT_MOST];
    make_tables(longs, shorts);
    optind = 0; /* begin again */
    opterr = 0;
    while (o->task == FT_TASK_RUN) {
        int at = optind ? optind : 1;
        const struct option_row *row = at < argc ? letter_and_equals(argv[at]) : NULL;
        if (row && row->arg)
            return BAD("option '%.2s' takes its value without '=': write '%.2s %s'", argv[at],
                       argv[at], argv[at][3] ? argv[at] + 3 : row->arg);
        if (row)
            return BAD("option '%.2s' takes no value", argv[at]);
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

enum ft_status ft_options_parse(int argc, char **argv, struct ft_options *o, char *err, int errlen)
{
    struct ft_options_given g = {0};
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
        st = ft_options_check(&parsed, &g, err, errlen);
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
