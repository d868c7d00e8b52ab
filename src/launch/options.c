/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.c - one table of options, from which the command line is read and --help is printed.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launch/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/failpoint.h"
#include "topology/groups.h"

enum kind { K_RANKS, K_MIB, K_SETTING, K_INJECT, K_TEXT, K_VERBOSE, K_TASK, K_REHEARSE };

struct row {
    const char *name[2]; /* as typed; --name=value works too */
    const char *arg;     /* NULL: none; "[=...": only behind a =, and it may be left out */
    enum kind kind;
    int detail; /* K_SETTING, K_MIB, K_INJECT: the setting's id; K_TEXT: offset in struct ft_options; K_TASK: enum
                   ft_ftrun_task */
    const char *doc;
};

#define FIELD(f) (int)offsetof(struct ft_options, f)
static const struct row table[] = {
    {{"-n", "-np"}, "N", K_RANKS, 0, "ranks that the program sees"},
    {{"--checksums"}, "K", K_SETTING, FT_SET_CHECKSUMS,
     "checksum processes in all (default: parity per 8 ranks; 0: no checkpoints)"},
    {{"--parity"}, "M", K_SETTING, FT_SET_PARITY,
     "of them, how many a group has, 1 to 8: so many losses at once it survives (default 1)"},
    {{"--domains"}, "FILE", K_SETTING, FT_SET_DOMAINS, "what fails together: nodes, power supplies, racks; see ftrma-domains(5)"},
    {{"--aware"}, "LEVEL|best|none", K_SETTING, FT_SET_AWARE,
     "no more than M of a group in one element of this level (default: best, with --domains)"},
    {{"--spares"}, "S", K_SETTING, FT_SET_SPARES,
     "processes that wait to take the place of dead ones (default: as many as the parity)"},
    {{"--mtbf"}, "SECONDS", K_SETTING, FT_SET_MTBF, "mean time between failures, for Daly's interval (default 86400)"},
    {{"--checkpoint"}, "daly|every:K|off", K_SETTING, FT_SET_CHECKPOINT, "when: every:K is every K-th safepoint (default daly)"},
    {{"--snapshot"}, "barrier|delay|peek|double|partial", K_SETTING, FT_SET_SNAPSHOT,
     "how a checkpoint is taken: all stop at one safepoint (barrier), or go on as the algorithm has it (default barrier)"},
    {{"--recovery"}, "auto|global", K_SETTING, FT_SET_RECOVERY,
     "auto: only the failed rank runs again where its logs allow it; global: all go back (default auto)"},
    {{"--log"}, "off|puts|all", K_SETTING, FT_SET_LOG, "what is logged so that only the failed rank runs again (default all)"},
    {{"--log-limit"}, "MIB", K_MIB, FT_SET_LOG_LIMIT, "memory for one process's messages and logs (default: a share of what there is, 256 to 1024)"},
    {{"--demand"}, "bulk|stream|off", K_SETTING, FT_SET_DEMAND,
     "a rank whose logs at others grow takes an image alone; stream: over its last one, a third less memory (default bulk)"},
    {{"--check-memory"}, "first|off|always", K_SETTING, FT_SET_CHECK_MEMORY,
     "name memory that body changes and that is not protected: look at the first safepoints, never, at each (default first)"},
    {{"--inject"}, "VICTIM,point=NAME[,hit=K][,action=kill|stop][,again=1]", K_INJECT, FT_SET_INJECT,
     "make rank=R, checksum=I or spare=I die at a failpoint; repeatable; '--inject list' prints all names"},
    {{"--rehearse"}, "[=N]", K_REHEARSE, 0,
     "run it twice without a death, N times (default 3) with one, and say what differs: is all protected?"},
    {{"--bind"}, "auto|core|none", K_SETTING, FT_SET_BIND,
     "a core for each rank's main thread; auto: with 2 ranks without threads, as mpirun would (default auto)"},
    {{"--report"}, "FILE", K_TEXT, FIELD(report), "write a report of the run as JSON"},
    {{"--trace"}, "FILE", K_TEXT, FIELD(trace), "write the events as Chrome trace JSON"},
    {{"-H", "--host"}, "HOSTS", K_TEXT, FIELD(hosts), "handed to mpirun: where to start processes"},
    {{"--hostfile"}, "FILE", K_TEXT, FIELD(hostfile), "handed to mpirun"},
    {{"--host-args"}, "\"ARGS\"", K_TEXT, FIELD(host_args), "more arguments for mpirun"},
    {{"-v", "--verbose"}, NULL, K_VERBOSE, 0, "a line on stderr for each event; twice: the agents' messages too"},
    {{"-h", "--help"}, NULL, K_TASK, FT_TASK_HELP, "print this"},
    {{"--help-settings"}, NULL, K_TASK, FT_TASK_SETTINGS, "print all settings (environment variables)"},
    {{"--version"}, NULL, K_TASK, FT_TASK_VERSION, "print the version"},
};

/* What the reading of the command line leaves for the checks. */
struct given {
    const char *ranks;                  /* the text of -n */
    const char *option[FT_SET_COUNT];   /* the option by which a setting was given */
    const char *log_limit;              /* the text of --log-limit */
    const char *rehearse;               /* of --rehearse; NULL: not given */
    int verbose;
};

#define BAD(...) (snprintf(err, (size_t)errlen, __VA_ARGS__), FT_ERR_ARG)

static const struct row *find(const char *word, size_t len)
{
    for (size_t i = 0; i < FT_COUNTOF(table); i++)
        for (size_t k = 0; k < FT_COUNTOF(table[i].name); k++)
            if (table[i].name[k] && strlen(table[i].name[k]) == len && memcmp(table[i].name[k], word, len) == 0)
                return &table[i];
    return NULL;
}

/* Several --inject, and FTRMA_INJECT before them, become one text. */
static void append_inject(const char *value)
{
    const char *env = ft_settings_table[FT_SET_INJECT].env, *old = ft_setting_str(FT_SET_INJECT);
    char *all = NULL;
    if (*old && asprintf(&all, "%s;%s", old, value) > 0)
        value = all;
    setenv(env, value, 1);
    free(all);
}

static void apply(const struct row *row, const char *value, struct ft_options *o, struct given *g)
{
    switch (row->kind) {
    case K_RANKS: g->ranks = value; break;
    case K_MIB: g->log_limit = value; break;
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
    case K_TEXT: memcpy((char *)o + row->detail, &value, sizeof value); break;
    case K_VERBOSE: g->verbose++; break;
    case K_REHEARSE: g->rehearse = value ? value : "3"; break;
    case K_TASK: o->task = (enum ft_ftrun_task)row->detail; break;
    }
}

static enum ft_status read_words(int argc, char **argv, struct ft_options *o, struct given *g, char *err, int errlen)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && o->task == FT_TASK_RUN; i++) {
        const char *word = argv[i], *value = NULL, *eq = strchr(word, '=');
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        size_t len = eq && word[1] == '-' ? (size_t)(eq - word) : strlen(word);
        const struct row *row = find(word, len);
        if (!row)
            return BAD("unknown option '%s' ('ftrun --help' lists all; the program's own options come behind it)", word);
        if (word[len] == '=')
            value = word + len + 1;
        if (!row->arg && value)
            return BAD("option '%.*s' takes no value", (int)len, word);
        int optional = row->arg && row->arg[0] == '[';
        if (row->arg && !optional && !value && i + 1 < argc)
            value = argv[++i];
        if (row->arg && (value ? !*value : !optional))
            return BAD("option '%.*s' needs a value: %.*s %s", (int)len, word, (int)len, word, row->arg);
        apply(row, value, o, g);
    }
    o->program = i < argc ? &argv[i] : NULL;
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

/* How many processes of each kind. */
static enum ft_status check_counts(struct ft_options *o, const struct given *g, char *err, int errlen)
{
    int64_t n = 0, k, s, m;
    struct ft_groups groups;
    char from[300], why[200];
    if (!g->ranks)
        return BAD("the number of ranks is missing: ftrun -n N program");
    if (ft_parse_i64(g->ranks, &n) != FT_OK || n < 1 || n > FT_MAX_SLOTS)
        return BAD("-n %s: must be a whole number from 1 to %d", g->ranks, FT_MAX_SLOTS);
    if (ft_setting_i64(FT_SET_PARITY, &m, NULL, 0) != FT_OK || m < 1 || m > FT_GROUP_PARITY)
        return BAD("%s: must be a whole number from 1 to %d", origin(g, FT_SET_PARITY, from, sizeof from), FT_GROUP_PARITY);
    if (ft_setting_i64(FT_SET_CHECKSUMS, &k, NULL, 0) != FT_OK)
        return BAD("%s: must be a whole number, 0 or more", origin(g, FT_SET_CHECKSUMS, from, sizeof from));
    if (k < 0)
        k = ft_default_checksums((int)n, (int)m);
    if (m == 1 && k > n)
        return BAD("%s: more checksum processes than ranks (%d); one per 8 ranks is the default",
                   origin(g, FT_SET_CHECKSUMS, from, sizeof from), (int)n);
    if (ft_setting_i64(FT_SET_SPARES, &s, NULL, 0) != FT_OK)
        return BAD("%s: must be a whole number, 0 or more", origin(g, FT_SET_SPARES, from, sizeof from));
    if (s < 0)
        s = m;
    if (s > FT_MAX_SLOTS || n + k + s > FT_MAX_SLOTS)
        return BAD("%d ranks, %d checksum processes and %lld spares are more than %d processes in all: ask for fewer", (int)n,
                   (int)k, (long long)s, FT_MAX_SLOTS);
    if (k > 0 && ft_groups_init(&groups, (int)n, (int)k, (int)m, NULL, why, sizeof why) != FT_OK)
        return BAD("%s: %s", origin(g, g->option[FT_SET_CHECKSUMS] ? FT_SET_CHECKSUMS : FT_SET_PARITY, from, sizeof from), why);
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

static enum ft_status check_logs(const struct given *g, char *err, int errlen)
{
    const char *log = ft_setting_str(FT_SET_LOG);
    char from[300], text[32];
    int64_t mib;
    if (strcmp(log, "off") != 0 && strcmp(log, "puts") != 0 && strcmp(log, "all") != 0)
        return BAD("%s: must be off, puts or all", origin(g, FT_SET_LOG, from, sizeof from));
    const char *demand = ft_setting_str(FT_SET_DEMAND);
    if (strcmp(demand, "bulk") != 0 && strcmp(demand, "stream") != 0 && strcmp(demand, "off") != 0)
        return BAD("%s: must be bulk, stream or off", origin(g, FT_SET_DEMAND, from, sizeof from));
    int64_t share;
    if (ft_setting_i64(FT_SET_DEMAND_AT, &share, NULL, 0) != FT_OK || share > 100)
        return BAD("%s: must be a whole number from 0 to 100", origin(g, FT_SET_DEMAND_AT, from, sizeof from));
    if (!g->log_limit)
        return FT_OK;
    if (g->log_limit[strspn(g->log_limit, "0123456789")] || ft_parse_i64(g->log_limit, &mib) != FT_OK || mib < 1 ||
        mib > INT64_MAX >> 20)
        return BAD("--log-limit %s: must be a whole number of MiB, 1 or more", g->log_limit);
    snprintf(text, sizeof text, "%lld", (long long)mib << 20);
    setenv(ft_settings_table[FT_SET_LOG_LIMIT].env, text, 1);
    return FT_OK;
}

static enum ft_status check_rehearsal(struct ft_options *o, const struct given *g, char *err, int errlen)
{
    int64_t n;
    if (!g->rehearse)
        return FT_OK;
    if (g->rehearse[strspn(g->rehearse, "0123456789")] || ft_parse_i64(g->rehearse, &n) != FT_OK || n < 1 || n > 1000000)
        return BAD("--rehearse=%s: must be a number of deaths, 1 or more", g->rehearse);
    if (o->nspares == 0)
        return BAD("--rehearse with --spares 0: there is nobody to take the place of a rank that is killed");
    if (*ft_setting_str(FT_SET_INJECT))
        return BAD("--rehearse draws the deaths itself: leave out --inject (FTRMA_INJECT)");
    o->rehearse = (int)n;
    return FT_OK;
}

static enum ft_status check_rest(struct ft_options *o, const struct given *g, char *err, int errlen)
{
    static const enum ft_setting_id numbers[] = {FT_SET_ARENA_SIZE,   FT_SET_LOG_LIMIT,  FT_SET_LOG_READY, FT_SET_PING_TIMEOUT,
                                                 FT_SET_START_TIMEOUT, FT_SET_OVER_LIMIT, FT_SET_SPIN};
    struct ft_ckpt_policy policy;
    char from[300], why[400];
    double mtbf;
    int64_t v;
    if (ft_setting_f64(FT_SET_MTBF, &mtbf, NULL, 0) != FT_OK || mtbf <= 0)
        return BAD("%s: must be a number of seconds above 0", origin(g, FT_SET_MTBF, from, sizeof from));
    if (ft_parse_ckpt_policy(ft_setting_str(FT_SET_CHECKPOINT), &policy) != FT_OK)
        return BAD("%s: must be daly, every:K with K of 1 or more, or off", origin(g, FT_SET_CHECKPOINT, from, sizeof from));
    const char *recovery = ft_setting_str(FT_SET_RECOVERY);
    int alg;
    if (strcmp(ft_setting_str(FT_SET_SNAPSHOT), "vanilla") == 0)
        return BAD("%s: cannot be offered, since gets would cross the cut; must be " FT_SNAPSHOT_NAMES,
                   origin(g, FT_SET_SNAPSHOT, from, sizeof from));
    if (ft_parse_snapshot(ft_setting_str(FT_SET_SNAPSHOT), &alg) != FT_OK)
        return BAD("%s: must be " FT_SNAPSHOT_NAMES, origin(g, FT_SET_SNAPSHOT, from, sizeof from));
    if (strcmp(recovery, "auto") != 0 && strcmp(recovery, "global") != 0)
        return BAD("%s: must be auto or global", origin(g, FT_SET_RECOVERY, from, sizeof from));
    const char *bind = ft_setting_str(FT_SET_BIND);
    if (strcmp(bind, "auto") != 0 && strcmp(bind, "core") != 0 && strcmp(bind, "none") != 0)
        return BAD("%s: must be auto, core or none", origin(g, FT_SET_BIND, from, sizeof from));
    const char *memory = ft_setting_str(FT_SET_CHECK_MEMORY);
    if (strcmp(memory, "first") != 0 && strcmp(memory, "off") != 0 && strcmp(memory, "always") != 0)
        return BAD("%s: must be first, off or always", origin(g, FT_SET_CHECK_MEMORY, from, sizeof from));
    if (check_rehearsal(o, g, err, errlen) != FT_OK || check_logs(g, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    if (ft_fp_check(ft_setting_str(FT_SET_INJECT), o->nranks, o->nchecksums, o->nspares, why, sizeof why) != FT_OK)
        return BAD("%s: %s", g->option[FT_SET_INJECT] ? "--inject" : ft_settings_table[FT_SET_INJECT].env, why);
    if (ft_setting_i64(FT_SET_VERBOSE, &v, err, errlen) != FT_OK)
        return FT_ERR_ARG;
    o->verbose = g->verbose > v ? g->verbose : (int)ft_min_u64((uint64_t)v, 2);
    export_number(FT_SET_VERBOSE, o->verbose);
    for (size_t i = 0; i < FT_COUNTOF(numbers); i++)
        if (ft_setting_i64(numbers[i], &v, err, errlen) != FT_OK)
            return FT_ERR_ARG;
    return FT_OK;
}

enum ft_status ft_options_parse(int argc, char **argv, struct ft_options *o, char *err, int errlen)
{
    struct given g = {0};
    struct ft_options parsed = {.task = FT_TASK_RUN};
    FT_ASSERT(errlen > 0);
    enum ft_status st = read_words(argc, argv, &parsed, &g, err, errlen);
    if (st == FT_OK && parsed.task == FT_TASK_RUN) {
        if (!parsed.program)
            return BAD("no program given: ftrun -n N program [arguments] ('ftrun --help' lists the options)");
        for (char **a = parsed.program; *a; a++)
            if (strcmp(*a, ":") == 0)
                return BAD("the argument ':' cannot be handed to the program: mpirun takes it for the start of another program");
        st = check_counts(&parsed, &g, err, errlen);
        if (st == FT_OK)
            st = check_rest(&parsed, &g, err, errlen);
    }
    if (st == FT_OK)
        *o = parsed;
    return st;
}

/* ---- what is printed from the tables ---- */

void ft_print_help(FILE *f)
{
    fputs("usage: ftrun [options] [--] program [arguments]\n"
          "Runs an MPI program so that it outlives the loss of processes.\n\n",
          f);
    for (size_t i = 0; i < FT_COUNTOF(table); i++) {
        const struct row *r = &table[i];
        char left[120];
        int n = snprintf(left, sizeof left, "  %s%s%s%s%s", r->name[0], r->name[1] ? ", " : "", r->name[1] ? r->name[1] : "",
                         r->arg && *r->arg != '[' ? " " : "", r->arg ? r->arg : "");
        if (n > 33)
            fprintf(f, "%s\n%35s%s\n", left, "", r->doc);
        else
            fprintf(f, "%-35s%s\n", left, r->doc);
    }
    fprintf(f,
            "\nExit status: 0 if all ranks ended well; the program's own status if the program failed; %d if the job was lost;\n"
            "76 if a rehearsal shows a difference; 2 for a bad command line; 128 + N when ended by signal N.\n",
            FT_EXIT_LOST);
}

void ft_print_settings(FILE *f)
{
    fputs("Settings are environment variables; an empty one means the default. Sizes take K, M, G.\n\n", f);
    for (int i = 0; i < FT_SET_COUNT; i++) {
        const struct ft_setting_info *s = &ft_settings_table[i];
        fprintf(f, "%s%s%s%s%s%s\n    %s\n", s->env, *s->def ? "  (default " : *s->unit ? "  (" : "", s->def,
                *s->def && *s->unit ? " " : "", s->unit, *s->def || *s->unit ? ")" : "", s->doc);
    }
}

void ft_print_failpoints(FILE *f)
{
    fputs("Failpoints, and who passes them: R ranks, C checksum processes, S spares\n\n", f);
    for (int i = 0; i < FT_FP_COUNT; i++)
        fprintf(f, "%-22s %-4s %s\n", ft_fp_table[i].name, ft_fp_table[i].who, ft_fp_table[i].doc);
}

void ft_print_version(FILE *f)
{
    fputs("ftrun (ftrma) " FTRMA_VERSION "\n", f);
}
