/* SPDX-License-Identifier: BSD-3-Clause
 *
 * history.c - a run as a list of choices, which can be shortened, written and read.
 *
 * A transcript is text: the options, what is expected to be wrong, and a line for each choice. What
 * follows '#' is for the reader.
 *
 *      model snapshot
 *      option n 2
 *      wrong get 0 of 1 from 0 crosses the cut ...
 *      1 does get 0
 *      0 hears 1 dies after 2         # the process dies after two sends of this step
 *      2 dies losing 17
 */
#include "sim_run.h"

/* Takes those choices of a list that are possible, in their order. Then, if wanted, the first thing
 * that has to happen, again and again until nothing is left. */
static void run_list(struct sim *s, const struct sim_choice *c, int n, int to_the_end)
{
    static struct sim_choices can;
    struct sim_options o = s->o;
    sim_init(s, s->m, &o);
    s->recording = 1;
    for (int i = 0; i < n && !s->wrong[0]; i++) {
        sim_choices(s, &can);
        for (int k = 0; k < can.n; k++) {
            const struct sim_choice *d = &can.c[k];
            if (d->what == c[i].what && d->p == c[i].p && d->act == c[i].act &&
                (d->q == c[i].q || d->what == SIM_CRASH) && (c[i].cut < 0 || s->crashes > 0)) {
                sim_do(s, &c[i]);
                break;
            }
        }
    }
    for (int steps = 0; to_the_end && !s->wrong[0] && steps < 100000; steps++) {
        int k = 0;
        if (sim_choices(s, &can) == 0) {
            sim_quiet(s);
            return;
        }
        while (can.c[k].idle)
            k++;
        sim_do(s, &can.c[k]);
    }
}

/* The first words of what is wrong, without numbers. Shortening keeps these, so that it stays with
 * one kind of failure. */
static int same_kind(const char *a, const char *b)
{
    for (; *a && *b && *a != ':'; a++, b++) {
        while (*a >= '0' && *a <= '9')
            a++;
        while (*b >= '0' && *b <= '9')
            b++;
        if (*a != *b)
            return 0;
    }
    return 1;
}

void sim_shrink(struct sim *s)
{
    int n = s->nhistory, quiet = s->at_quiet;
    struct sim_choice *best = malloc(((size_t)n + 1) * sizeof *best),
                      *tried = malloc(((size_t)n + 1) * sizeof *tried);
    char wrong[sizeof s->wrong];
    FT_ASSERT(best && tried && !s->o.timed);
    memcpy(best, s->history, (size_t)n * sizeof *best);
    memcpy(wrong, s->wrong, sizeof wrong);
    for (int chunk = n; chunk >= 1;) {
        int shorter = 0;
        for (int at = 0; at + chunk <= n;) {
            memcpy(tried, best, (size_t)at * sizeof *best);
            memcpy(tried + at, best + at + chunk, (size_t)(n - at - chunk) * sizeof *best);
            run_list(s, tried, n - chunk, quiet);
            if (s->wrong[0] && same_kind(wrong, s->wrong) && s->nhistory < n) {
                n = s->nhistory;
                memcpy(best, s->history, (size_t)n * sizeof *best);
                shorter = 1;
            } else {
                at += chunk;
            }
        }
        if (!shorter || chunk > n)
            chunk /= 2;
    }
    run_list(s, best, n, quiet);
    free(best);
    free(tried);
}

static void print_choice(struct sim *s, const struct sim_choice *c, FILE *out)
{
    char line[80], note[200] = "";
    if (c->what == SIM_CRASH) {
        fprintf(out, "%d dies losing %d\n", c->p, c->q);
        return;
    }
    if (c->what == SIM_DO) {
        snprintf(line, sizeof line, "%d does %s %d", c->p, s->m->acts[c->act], c->q);
    } else {
        snprintf(line, sizeof line, "%d hears %d", c->p, c->q);
        for (int i = 0; i < s->nmsg; i++)
            if (s->msg[i].from == c->q && s->msg[i].to == c->p) {
                const struct sim_pool *b = &s->pool;
                uint32_t id = s->msg[i].body;
                s->m->say(s, b->bytes + b->at[id], b->at[id + 1] - b->at[id], note, sizeof note);
                break;
            }
    }
    if (c->cut >= 0)
        snprintf(line + strlen(line), sizeof line - strlen(line), " dies after %d", c->cut);
    if (note[0])
        fprintf(out, "%-20s # %s\n", line, note);
    else
        fprintf(out, "%s\n", line);
}

void sim_print_history(struct sim *s, FILE *out)
{
    int n = s->nhistory;
    struct sim_choice *c = malloc(((size_t)n + 1) * sizeof *c);
    const struct sim_options *o = &s->o;
    FT_ASSERT(c);
    memcpy(c, s->history, (size_t)n * sizeof *c);
    fprintf(out, "# a run of ftrma-sim; replay it: ftrma-sim --replay FILE\n");
    fprintf(out,
            "model %s\noption seed %" PRIu64 "\noption n %d\noption crashes %d\noption mutant %d\n",
            s->m->name, o->seed, o->n, o->crashes, o->mutant);
    if (o->everywhere)
        fprintf(out, "option everywhere 1\n");
    if (o->demand)
        fprintf(out, "option demand 1\n");
    fprintf(out, "option alg %d\noption ops %d\noption starters %d\noption property %d\n", o->alg,
            o->ops, o->starters, o->property);
    fprintf(out, "wrong %s\n", s->wrong);
    struct sim_options same = s->o;
    int quiet = s->at_quiet;
    sim_init(s, s->m, &same);
    s->recording = 1;
    for (int i = 0; i < n; i++) {
        print_choice(s, &c[i], out);
        sim_do(s, &c[i]);
    }
    if (quiet)
        sim_quiet(s);
    free(c);
}

/* ---- reading ---- */

static int set_option(struct sim_options *o, const char *name, long long v)
{
    struct {
        const char *name;
        int *at;
    } of[] = {{"n", &o->n},
              {"crashes", &o->crashes},
              {"mutant", &o->mutant},
              {"alg", &o->alg},
              {"ops", &o->ops},
              {"starters", &o->starters},
              {"property", &o->property},
              {"everywhere", &o->everywhere},
              {"demand", &o->demand}};
    if (!strcmp(name, "seed")) {
        o->seed = (uint64_t)v;
        return 1;
    }
    for (size_t i = 0; i < FT_COUNTOF(of); i++)
        if (!strcmp(of[i].name, name)) {
            *of[i].at = (int)v;
            return 1;
        }
    return 0;
}

static int read_choice(const struct sim_model *m, const char *line, struct sim_choice *c)
{
    char word[40];
    int end = 0, cut;
    *c = (struct sim_choice){.cut = -1};
    if (sscanf(line, "%d dies losing %d", &c->p, &c->q) == 2) {
        c->what = SIM_CRASH;
        return 1;
    }
    if (sscanf(line, "%d hears %d%n", &c->p, &c->q, &end) == 2) {
        c->what = SIM_DELIVER;
    } else if (sscanf(line, "%d does %39s %d%n", &c->p, word, &c->q, &end) == 3) {
        c->what = SIM_DO;
        while (m->acts[c->act] && strcmp(m->acts[c->act], word))
            c->act++;
        if (!m->acts[c->act])
            return 0;
    } else {
        return 0;
    }
    if (sscanf(line + end, " dies after %d", &cut) == 1)
        c->cut = (int16_t)cut;
    return 1;
}

int sim_replay(struct sim *s, FILE *in, char *expected, size_t size)
{
    struct sim_options o = {0};
    const struct sim_model *m = NULL;
    struct sim_choice *c = NULL;
    int n = 0, number = 0, ok = 1;
    char line[400], word[40];
    long long v;
    expected[0] = 0;
    while (ok && fgets(line, sizeof line, in)) {
        number++;
        line[strcspn(line, "\n")] = 0;
        if (!line[0] || line[0] == '#')
            continue;
        if (sscanf(line, "model %39s", word) == 1) {
            ok = (m = sim_model_by_name(word)) != NULL;
        } else if (sscanf(line, "option %39s %lld", word, &v) == 2) {
            ok = set_option(&o, word, v);
        } else if (!strncmp(line, "wrong ", 6)) {
            snprintf(expected, size, "%s", line + 6);
        } else {
            c = realloc(c, ((size_t)n + 1) * sizeof *c);
            FT_ASSERT(c);
            ok = m && read_choice(m, line, &c[n++]);
        }
    }
    if (ok && m && !sim_fits(m, &o)) {
        free(c);
        return 0;
    }
    if (!ok || !m) {
        fprintf(stderr, "ftrma-sim: line %d of the transcript is not understood: %s\n", number,
                line);
        free(c);
        return 0;
    }
    s->m = m;
    s->o = o;
    run_list(s, c, n, 0);
    if (!s->wrong[0])
        sim_quiet(s);
    free(c);
    return 1;
}
