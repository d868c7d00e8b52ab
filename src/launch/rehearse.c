/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rehearse.c - rehearsals: chooses deaths, runs the jobs, and reports each result.
 */
#define _GNU_SOURCE 1 /* memmem */
#include "launch/rehearse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/kept.h"
#include "base/prng.h"
#include "base/textfile.h"
#include "launch/children.h"
#include "launch/compare.h"

#define EXIT_SETUP 2 /* nothing has begun, as EXIT_USAGE of ftrun.c */
#define CLEAN_RUNS 2
/* This many more runs before a difference is believed; FT_REFERENCES in all if they differ, too. */
#define CONTROLS 1
#define WITH_DEATH 100 /* number of a run with a death; those without are 0, 1, ... */
#define DRAWS 3        /* attempts to place one death, if the program does not pass the point */
#define FINDINGS 4     /* that are printed for one run */
#define LIMIT_LEAST_NS 90000000000ull
#define LIMIT_TIMES 20 /* times the duration of a run without a death */

struct rehearsal {
    const struct ft_options *o;
    ft_trial_job *job;
    struct ft_trials t;
    struct ft_prng prng;
    struct ft_kept_hits *hits; /* [nranks], of the second run without a death */
    int in_body, commits; /* the program called FTRMA_Run; checkpoints were committed inside body */
    int own_checkpoint, own_recovery; /* the user has chosen */
    uint64_t every; /* safepoints from one checkpoint to the next; 0: the user has chosen */
    int first_rank;
    int references; /* runs without a death so far */
    uint64_t clean_ns;
    /* Of the run under way. */
    FILE *out; /* where findings go: stdout, or a text that is printed after the verdict */
    int findings;
    int text_differs, memory_differs;
    /* Of all runs. */
    int same, different, missed; /* numbers of deaths; */
    int ended;    /* of the different ones, jobs that did not end by themselves, or ended with 75 */
    int diverged; /* runs with a diverged replay */
    uint64_t lines_left_out, blocks_left_out, times;
    char time_line[500];
};

struct death {
    int rank, global;
    enum ft_failpoint_id point;
    uint64_t hit;
};

/* ---- files of a run ---- */

static struct ft_text load(const struct rehearsal *h, int run, const char *name)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof path, "%s/run.%d/%s", h->t.dir, run, name);
    if (ft_read_text(path, &text, &len) != FT_OK)
        return (struct ft_text){NULL, 0};
    return (struct ft_text){text, len};
}

static void unload(struct ft_text t) { free((void *)(uintptr_t)t.data); }

static void show(const struct rehearsal *h, int run, const char *name, FILE *f)
{
    struct ft_text t = load(h, run, name);
    fflush(stdout);
    if (t.len)
        fwrite(t.data, 1, t.len, f);
    fflush(f);
    unload(t);
}

/* ---- one run ---- */

static void set(enum ft_setting_id id, const char *value)
{
    setenv(ft_settings_table[id].env, value, 1);
}

/* As ft_trial_run. */
static int run(struct rehearsal *h, int number, uint64_t limit_ns)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s/run.%d", h->t.dir, number);
    int status = ft_trial_run(&h->t, h->o, dir, limit_ns, h->job);
    if (h->o->verbose)
        show(h, number, "words", stderr);
    return status;
}

static void forget(const struct rehearsal *h, int number)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s/run.%d", h->t.dir, number);
    ft_remove_tree(dir);
}

/* ---- findings ---- */

static void finding(struct rehearsal *h, const char *where, const char *what)
{
    if (h->findings++ < FINDINGS)
        fprintf(h->out, "    %s%s%s\n", where, *where ? ": " : "", what);
}

static void load_all(const struct rehearsal *h, const char *name, struct ft_text *ref)
{
    for (int k = 0; k < h->references; k++)
        ref[k] = load(h, k, name);
}

static void unload_all(const struct rehearsal *h, const struct ft_text *ref)
{
    for (int k = 0; k < h->references; k++)
        unload(ref[k]);
}

static void compare_stream(struct rehearsal *h, int number, const char *name, const char *where)
{
    struct ft_text ref[FT_REFERENCES], c = load(h, number, name);
    struct ft_compared v;
    load_all(h, name, ref);
    ft_compare_text(ref, h->references, c, &v);
    h->lines_left_out += v.left_out;
    if (v.differs) {
        h->text_differs = 1;
        finding(h, where, v.what);
    } else if (v.times && h->times == 0) {
        snprintf(h->time_line, sizeof h->time_line, "%s, %s", where, v.what);
    }
    h->times += v.times;
    unload_all(h, ref);
    unload(c);
}

/* stderr of ranks: what the program prints there. The library's messages come another way. */
static void compare_output(struct rehearsal *h, int number)
{
    static const char *const stream[] = {"stdout", "stderr"};
    char name[40], where[60];
    for (int r = 0; r < h->o->nranks; r++)
        for (int k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "%s.%d", k ? "err" : "out", r);
            snprintf(where, sizeof where, "rank %d's %s", r, stream[k]);
            compare_stream(h, number, name, where);
        }
    compare_stream(h, number, "stdout", "stdout outside of MPI_Init and MPI_Finalize");
}

/* Files memory.RANK.number of all ranks. */
struct memory {
    struct ft_text ref[FT_REFERENCES], run;
};

/* Returns 0 if no rank has a region i. */
static int compare_region(struct rehearsal *h, const struct memory *m, int i)
{
    struct ft_varying v = {0};
    int some = 0;
    for (int r = 0; r < h->o->nranks; r++)
        some |= ft_region_varying(m[r].ref, h->references, i, &v);
    for (int r = 0; r < h->o->nranks; r++) {
        struct ft_compared c;
        char where[40];
        some |= ft_compare_region(m[r].ref, h->references, m[r].run, i, &v, &c);
        h->blocks_left_out += c.left_out;
        if (!c.differs)
            continue;
        h->memory_differs = 1;
        snprintf(where, sizeof where, "rank %d", r);
        finding(h, where, c.what);
    }
    free(v.at);
    return some;
}

/* Returns 0 if no rank has such a file. */
static int compare_files(struct rehearsal *h, int number, int file)
{
    struct memory *m = calloc((size_t)h->o->nranks, sizeof *m);
    char name[60];
    int some = 0;
    FT_ASSERT(m);
    for (int r = 0; r < h->o->nranks; r++) {
        snprintf(name, sizeof name, "memory.%d.%d", r, file);
        load_all(h, name, m[r].ref);
        m[r].run = load(h, number, name);
        some |= m[r].ref[0].data != NULL;
    }
    for (int i = 0; compare_region(h, m, i);)
        i++;
    for (int r = 0; r < h->o->nranks; r++) {
        unload_all(h, m[r].ref);
        unload(m[r].run);
    }
    free(m);
    return some;
}

static void compare_memory(struct rehearsal *h, int number)
{
    for (int file = 0; compare_files(h, number, file) || file == 0;)
        file++;
}

/* Collects findings in a text, which is returned; to be freed. */
static char *compare_all(struct rehearsal *h, int number)
{
    char *text = NULL;
    size_t len = 0;
    h->out = open_memstream(&text, &len); /* the verdict comes first */
    FT_ASSERT(h->out);
    h->findings = h->text_differs = h->memory_differs = 0;
    h->lines_left_out = h->blocks_left_out = 0;
    compare_output(h, number);
    compare_memory(h, number);
    if (h->findings > FINDINGS)
        fprintf(h->out, "    and %d more\n", h->findings - FINDINGS);
    fclose(h->out);
    h->out = stdout;
    return text;
}

static struct ft_text without(struct ft_text line, const char *prefix)
{
    size_t n = strlen(prefix);
    if (line.len > n && memcmp(line.data, prefix, n) == 0)
        line = (struct ft_text){line.data + n, line.len - n};
    return line;
}

/* Prints the first lines of the run's words that contain this text; returns how many there are. */
static int quote_words(struct rehearsal *h, int number, const char *sign, const char *as)
{
    struct ft_text t = load(h, number, "words"), line, last = {"", 0};
    int n = 0;
    for (size_t at = 0; at < t.len; at += line.len + 1) {
        const char *end = memchr(t.data + at, '\n', t.len - at);
        line = (struct ft_text){t.data + at, end ? (size_t)(end - t.data) - at : t.len - at};
        int again = line.len == last.len && memcmp(line.data, last.data, line.len) == 0;
        if (*line.data == '[' || again || !memmem(line.data, line.len, sign, strlen(sign)))
            continue; /* '[': an event, with -v */
        last = line;
        struct ft_text bare = without(without(without(line, "ftrma: "), "ftrun: "), "note: ");
        if (n++ < FINDINGS)
            printf("    %s%.*s\n", as, (int)bare.len, bare.data);
    }
    unload(t);
    return n;
}

/* Names what is probably forgotten. */
static void guess(struct rehearsal *h, int number, int hung)
{
    for (int k = 0; k <= 1; k++) /* the run, or one without a death */
        if (quote_words(h, k ? 0 : number, "is not protected", "likely forgotten: ") > 0)
            return;
    if (hung || h->t.told->lost)
        return;
    if (!h->in_body)
        printf("    likely: what differs does not depend on MPI calls alone, but on a clock, a "
               "random number, a file, or "
               "another thread\n");
    else if (h->memory_differs)
        printf("    likely forgotten: FTRMA_Protect of memory from which this is computed, or of a "
               "loop variable\n");
    else
        printf("    likely forgotten: FTRMA_Protect of what is printed; or a line is printed "
               "before body's first "
               "safepoint\n");
}

/* ---- runs without a death ---- */

static double seconds(uint64_t ns) { return (double)ns / 1e9; }

/* The program itself fails: its own status is returned. */
static int failed(struct rehearsal *h, int number, int status)
{
    char name[40];
    if (status <= -3)
        return 128 - (status + 3);
    printf("%s\n", status == -2 ? "could not be started" : "failed");
    show(h, number, "stdout", stdout);
    for (int r = 0; r < h->o->nranks; r++) {
        snprintf(name, sizeof name, "out.%d", r);
        show(h, number, name, stdout);
        snprintf(name, sizeof name, "err.%d", r);
        show(h, number, name, stderr);
    }
    if (!h->o->verbose)
        show(h, number, "words", stderr);
    status = status == -2 ? EXIT_SETUP : status < 0 ? 1 : status;
    printf("Nothing was rehearsed, since the run without a death ended with status %d.\n", status);
    return status;
}

/* Chooses an interval such that deaths come after a checkpoint inside body, at different
 * distances. */
static void choose_checkpoints(struct rehearsal *h, uint64_t safepoints)
{
    char text[40];
    uint64_t most = safepoints / 3 > 1 ? safepoints / 3 : 1,
             least = safepoints / 6 > 1 ? safepoints / 6 : 1;
    if (h->own_checkpoint || safepoints == 0)
        return;
    h->every = least + ft_prng_below(&h->prng, most - least + 1);
    snprintf(text, sizeof text, "every:%" PRIu64, h->every);
    set(FT_SET_CHECKPOINT, text);
}

static int load_hits(struct rehearsal *h)
{
    char name[40];
    h->hits = calloc((size_t)h->o->nranks, sizeof *h->hits);
    FT_ASSERT(h->hits);
    for (int r = 0; r < h->o->nranks; r++) {
        snprintf(name, sizeof name, "hits.%d", r);
        struct ft_text t = load(h, 1, name);
        int whole = t.len == sizeof *h->hits;
        if (whole)
            memcpy(&h->hits[r], t.data, t.len);
        unload(t);
        if (!whole)
            return 0;
    }
    h->in_body = h->hits[0].in_body != 0;
    return 1;
}

static void describe_second(struct rehearsal *h)
{
    const struct ft_trial *told = h->t.told;
    const char *policy = ft_setting_str(FT_SET_CHECKPOINT);
    h->commits = told->commits > 2; /* those of FTRMA_Run's entry and exit */
    if (!h->in_body) {
        printf("done\n");
        return;
    }
    uint64_t n = told->commits > 2 ? told->commits - 2 : 0;
    printf("%" PRIu64 " checkpoint%s in body (--checkpoint %s)\n", n, n == 1 ? "" : "s", policy);
    if (n == 0 && told->called_off)
        printf("    note: checkpoints inside body were called off: %s. Each death takes its rank "
               "back to the start of body\n",
               ft_skip_reason_string(told->why));
    else if (n == 0)
        printf("    note: no checkpoint was taken inside body: each death takes its rank back to "
               "the start of body. %s\n",
               told->safepoints < 2 ? "Call FTRMA_Safepoint in the loop of body" : "");
}

/* Returns 0, or ftrun's exit status. */
static int run_clean(struct rehearsal *h)
{
    for (int i = 0; i < CLEAN_RUNS; i++) {
        printf("run %d without a death: ", i + 1);
        fflush(stdout);
        uint64_t begin = ft_now_ns();
        int status = run(h, i, 0);
        h->clean_ns = ft_max_u64(h->clean_ns, ft_now_ns() - begin);
        if (status != 0 || !h->t.told->ended)
            return failed(h, i, status ? status : 1);
        h->references++;
        if (i == 0) {
            printf("%.1f s, %" PRIu64 " safepoint%s\n", seconds(h->clean_ns), h->t.told->safepoints,
                   h->t.told->safepoints == 1 ? "" : "s");
            choose_checkpoints(h, h->t.told->safepoints);
            continue;
        }
        if (!load_hits(h)) {
            printf("done\nNothing was rehearsed, since the program ends without MPI_Finalize, or "
                   "does not call MPI.\n");
            return FT_EXIT_REHEARSAL;
        }
        describe_second(h);
        quote_words(h, 0, "is not protected", "note: ");
    }
    return 0;
}

/* ---- runs with a death ---- */

/* Points that mean something to a user: calls, and what they have just done. */
static const enum ft_failpoint_id places[] = {
    FT_FP_SAFEPOINT,     FT_FP_MSG_SEND_HALF,   FT_FP_MSG_SEND_AFTER, FT_FP_MSG_RECV_DONE,
    FT_FP_COLL_ENTER,    FT_FP_COLL_LEAVE,      FT_FP_RMA_PUT_HALF,   FT_FP_RMA_PUT_AFTER,
    FT_FP_RMA_GET,       FT_FP_RMA_ATOMIC_DONE, FT_FP_RMA_FLUSH,      FT_FP_RMA_FENCE,
    FT_FP_RMA_LOCK_HELD, FT_FP_RMA_COMPLETE,
};

static void draw(struct rehearsal *h, int trial, struct death *d)
{
    int n = h->o->nranks;
    d->rank = (h->first_rank + trial) % n;
    const struct ft_kept_hits *k = &h->hits[d->rank];
    d->global = trial % 2 == 1 && h->in_body && h->commits && !h->own_recovery && !k->stays;
    enum ft_failpoint_id can[FT_COUNTOF(places)];
    size_t ncan = 0;
    for (size_t i = 1; i < FT_COUNTOF(places); i++)
        if (k->to[places[i]] > k->from[places[i]])
            can[ncan++] = places[i];
    int safepoints = k->to[FT_FP_SAFEPOINT] > k->from[FT_FP_SAFEPOINT];
    if (safepoints && (ncan == 0 || trial == 0 || ft_prng_below(&h->prng, 2)))
        d->point = FT_FP_SAFEPOINT;
    else if (ncan > 0)
        d->point = can[ft_prng_below(&h->prng, ncan)];
    else
        d->point = h->in_body ? FT_FP_RUN_BODY_OVER : FT_FP_FINALIZE_ENTER;
    uint64_t from = k->from[d->point], to = k->to[d->point];
    /* Ranks go on before the first checkpoint in body is committed. [One dies right after it: all
     * begins at body's entry, where nothing that was forgotten is missed.] The second one is taken
     * after that. */
    if (d->point == FT_FP_SAFEPOINT && to > from + h->every)
        from += h->every;
    d->hit = to > from ? from + 1 + ft_prng_below(&h->prng, to - from) : 1;
}

static void arm(struct rehearsal *h, const struct death *d)
{
    char text[200];
    snprintf(text, sizeof text, "rank=%d,point=%s,hit=%" PRIu64, d->rank,
             ft_fp_table[d->point].name, d->hit);
    set(FT_SET_INJECT, text);
    if (!h->own_recovery)
        set(FT_SET_RECOVERY, d->global ? "global" : "auto");
}

static void print_death(const struct rehearsal *h, int trial, const struct death *d)
{
    printf("rehearsal %d of %d: rank %d killed at ", trial + 1, h->o->rehearse, d->rank);
    if (d->point == FT_FP_SAFEPOINT)
        printf("safepoint %" PRIu64, d->hit);
    else
        printf("%s, hit %" PRIu64, ft_fp_table[d->point].name, d->hit);
    fflush(stdout);
}

static void print_recovery(const struct rehearsal *h, const struct death *d)
{
    const struct ft_trial *told = h->t.told;
    if (h->in_body && d->point != FT_FP_SAFEPOINT && told->at)
        printf(" (after safepoint %" PRIu64 ")", told->at);
    if (told->resumed)
        printf(", all ranks go back to a checkpoint: ");
    else if (told->live)
        printf(", local recovery: ");
    else
        printf(": ");
}

/* Runs once more without a death, for comparison. As ft_trial_run. */
static int run_control(struct rehearsal *h)
{
    struct ft_trial of_this = *h->t.told;
    unsetenv(ft_settings_table[FT_SET_INJECT].env);
    if (!h->own_recovery)
        set(FT_SET_RECOVERY, "auto");
    int status = run(h, h->references, 0);
    h->references += status == 0;
    *h->t.told = of_this;
    return status;
}

/* Something differs, and it might also differ without a death. [A word that has one of two values
 * by chance was the same in each run so far.] */
static int doubtful(const struct rehearsal *h)
{
    int varies =
        (h->text_differs && h->lines_left_out) || (h->memory_differs && h->blocks_left_out);
    return h->findings && h->references < (varies ? FT_REFERENCES : CLEAN_RUNS + CONTROLS);
}

/* Returns 1 if what the run left is correct; 0 if not; -2 and below, as ft_trial_run, if another run
 * that was needed to know this was interrupted. */
static int judge(struct rehearsal *h, int number, int status, uint64_t limit_ns)
{
    const struct ft_trial *told = h->t.told;
    if (status == -1) {
        printf("NOT DONE after %.0f s, and stopped: the run without a death took %.1f s\n",
               seconds(limit_ns), seconds(h->clean_ns));
        h->ended++;
        quote_words(h, number, "all others wait", "");
        guess(h, number, 1);
        return 0;
    }
    if (status != 0) {
        printf("%s\n", told->lost ? "JOB LOST" : "FAILED");
        char text[1300];
        snprintf(text, sizeof text, "exit status %d%s%s", status, told->message[0] ? ": " : "",
                 told->message);
        h->findings = h->text_differs = 0;
        h->memory_differs = 1;
        h->ended += told->lost;
        finding(h, "", text);
        quote_words(h, number, "diverged", "");
        guess(h, number, 0);
        return 0;
    }
    char *rest = compare_all(h, number);
    int control = 0;
    while (doubtful(h) && (control = run_control(h)) == 0) {
        free(rest);
        rest = compare_all(h, number);
    }
    if (control <= -2) {
        free(rest);
        return control;
    }
    printf("%s\n%s", h->findings ? "ANOTHER RESULT" : "same result", rest);
    free(rest);
    h->diverged += quote_words(h, number, "diverged", "note: ") > 0;
    if (h->findings)
        guess(h, number, 0);
    return h->findings == 0;
}

/* Returns the exit status after an interruption. */
static int interrupted(int status)
{
    printf("\n");
    return status == -2 ? EXIT_SETUP : 128 - (status + 3);
}

/* Returns 0, or the exit status after an interruption. */
static int run_with_death(struct rehearsal *h, int trial)
{
    uint64_t limit_ns = ft_max_u64(LIMIT_LEAST_NS, LIMIT_TIMES * h->clean_ns);
    struct death d;
    for (int i = 0; i < DRAWS; i++) {
        draw(h, trial, &d);
        arm(h, &d);
        print_death(h, trial, &d);
        int status = run(h, WITH_DEATH, limit_ns);
        if (status <= -2)
            return interrupted(status);
        print_recovery(h, &d);
        if (h->t.told->died || status != 0) {
            int good = judge(h, WITH_DEATH, status, limit_ns);
            if (good <= -2)
                return interrupted(good);
            h->same += good;
            h->different += !good;
            forget(h, WITH_DEATH);
            return 0;
        }
        printf("no rank died, since the program did not come to that place\n");
        forget(h, WITH_DEATH);
    }
    h->missed++;
    return 0;
}

/* ---- all ---- */

static void summarize(const struct rehearsal *h)
{
    if (h->different > h->ended)
        printf("%d of %d deaths changed the result: see FTRMA_Protect(3).\n",
               h->different - h->ended, h->o->rehearse);
    if (h->ended)
        printf("%d of %d deaths ended the job, or the job did not end: see ftrma(7).\n", h->ended,
               h->o->rehearse);
    if (h->missed)
        printf("%d of %d deaths did not happen.\n", h->missed, h->o->rehearse);
    if (h->same == h->o->rehearse)
        printf("%d death%s: same output, exit status, windows and protected memory as without a "
               "death.\n",
               h->same, h->same == 1 ? "" : "s");
    if (h->diverged && !h->different)
        printf("In %d of them the program did something else when it ran again, so that all ranks "
               "went back, which takes longer.\n",
               h->diverged);
    if (h->lines_left_out || h->blocks_left_out)
        printf("Not compared, since they also differ without a death: words in %" PRIu64
               " line%s of output, %" PRIu64 " block%s of memory.\n",
               h->lines_left_out, h->lines_left_out == 1 ? "" : "s", h->blocks_left_out,
               h->blocks_left_out == 1 ? "" : "s");
    if (h->times)
        printf("Not compared, since it looks like a time: %s%s.\n", h->time_line,
               h->times > 1 ? ", and similar lines" : "");
}

static void choose_seed(struct rehearsal *h)
{
    const char *given = ft_setting_str(FT_SET_TEST_SEED);
    uint64_t seed = 0;
    if (*given)
        seed = strtoull(given, NULL, 0);
    else if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
        seed %= 1000000;
    h->prng.s = seed;
    h->first_rank = (int)ft_prng_below(&h->prng, (uint64_t)h->o->nranks);
    printf("Rehearsing %s with %d rank%s; FTRMA_TEST_SEED=%" PRIu64
           " draws the same deaths again.\n",
           h->o->program[0], h->o->nranks, h->o->nranks == 1 ? "" : "s", seed);
}

static int rehearse(struct rehearsal *h)
{
    int status = run_clean(h);
    for (int i = 0; i < h->o->rehearse && status == 0; i++)
        status = run_with_death(h, i);
    if (status == 0 || h->different)
        summarize(h);
    if (status)
        return status;
    return h->different || h->missed ? FT_EXIT_REHEARSAL : 0;
}

static int chosen(enum ft_setting_id id)
{
    const char *v = getenv(ft_settings_table[id].env);
    return v && *v;
}

int ft_rehearse(const struct ft_options *o, ft_trial_job *job)
{
    struct rehearsal h = {.o = o,
                          .job = job,
                          .own_checkpoint = chosen(FT_SET_CHECKPOINT),
                          .own_recovery = chosen(FT_SET_RECOVERY),
                          .out = stdout};
    int status = EXIT_SETUP;
    if (ft_trials_begin(&h.t)) {
        choose_seed(&h);
        if (!chosen(FT_SET_CHECK))
            set(FT_SET_CHECK, "data"); /* all that a replay can be compared with */
        status = rehearse(&h);
    } else {
        fprintf(stderr,
                "ftrun: cannot set up a rehearsal: %s. Set TMPDIR to a directory that you can "
                "write to\n",
                strerror(errno));
    }
    ft_trials_end(&h.t);
    free(h.hits);
    return fflush(stdout) == 0 || status ? status : 1;
}
