/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay_compare.c - what two agents did, by class and in the order within each class; see
 * scripts/records.sh.
 */
#include "replay_agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/event.h"
#include "proto/action.h"

static const char *const event_name[] = {
#define FT_EVENT(id, name, fmt, tell, routine) #id,
#include "base/event.def"
#undef FT_EVENT
};
#define WORDS 24
#define NEAR 4 /* actions after one that is missing or too many, by which both lists meet again */

struct sim_said {
    int list, event, gone;
    char class[72], text[200];
};

struct words {
    int n;
    char room[1024], *w[WORDS];
};

static void split(struct words *x, const char *text)
{
    char *at;
    snprintf(x->room, sizeof x->room, "%s", text);
    x->n = 0;
    for (char *w = strtok_r(x->room, " \n", &at); w && x->n < WORDS; w = strtok_r(NULL, " \n", &at))
        x->w[x->n++] = w;
}

static const char *word(const struct words *x, int i) { return i < x->n ? x->w[i] : ""; }

static int add(struct sim_compared *c, int list, int event, const char *class, const char *text)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 256;
        c->said = realloc(c->said, (size_t)c->cap * sizeof *c->said);
        if (!c->said) {
            fprintf(stderr, "ftrma-sim: no memory\n");
            exit(3);
        }
    }
    struct sim_said *s = &c->said[c->n];
    *s = (struct sim_said){.list = list, .event = event};
    snprintf(s->class, sizeof s->class, "%s", class);
    snprintf(s->text, sizeof s->text, "%s", text);
    return c->n++;
}

static int is_there(const struct sim_compared *c, int list, const char *class)
{
    for (int i = 0; i < c->n; i++)
        if (c->said[i].list == list && !strcmp(c->said[i].class, class))
            return 1;
    return 0;
}

static void add_once(struct sim_compared *c, int list, int event, const char *class)
{
    if (!is_there(c, list, class))
        add(c, list, event, class, "");
}

/* Once both are apart, the timing decides what a process answers to an order during which another
 * dies. */
static void forget_answers(struct sim_compared *c, int list)
{
    int from = c->list[list].answers;
    for (int i = from; c->apart && from >= 0 && i < c->n; i++)
        if (c->said[i].list == list && !strcmp(c->said[i].class, "orders") &&
            strstr(c->said[i].text, " READY "))
            c->said[i].gone = 1;
    c->list[list].answers = -1;
    c->list[list].seq = 0;
}

static void add_mail(struct sim_compared *c, int list, int event, const struct words *x)
{
    char text[200];
    const char *kind = word(x, 2), *what = word(x, 3);
    if (!strcmp(kind, "ORDER") && strcmp(what, "MILESTONE") != 0) {
        unsigned seq = (unsigned)strtoul(word(x, 5), NULL, 10);
        if (seq > c->list[list].seq) {
            c->list[list].seq = seq;
            c->list[list].answers = c->n;
        }
        snprintf(text, sizeof text, "to %s %s %s %s arg %s flags %s max %s ok %s %s %s %s",
                 word(x, 1), what, word(x, 4), word(x, 5), word(x, 7), word(x, 8), word(x, 9),
                 word(x, 11), word(x, 12), word(x, 13), word(x, 14));
        add(c, list, event, "orders", text);
    } else if (!strcmp(kind, "AGREE") && strcmp(what, "ANNOUNCE") != 0) {
        snprintf(text, sizeof text, "agree %s %s %s %s %s %s", word(x, 1), what, word(x, 5),
                 word(x, 6), word(x, 7), word(x, 9));
        add_once(c, list, event, text);
    } else if (!strcmp(kind, "DEMAND")) {
        int tag = atoi(what) == FT_DEMAND_TAG_IS; /* its version is not known here */
        snprintf(text, sizeof text, "DEMAND %s generation %s rank %s checksum %s version %s", what,
                 word(x, 4), word(x, 5), word(x, 6), tag ? "?" : word(x, 7));
        char class[40];
        snprintf(class, sizeof class, "images to %.8s", word(x, 1));
        add(c, list, event, class, text);
    } else if (!strcmp(kind, "LEFT") || !strcmp(kind, "ASKS_LEFT")) {
        snprintf(text, sizeof text, "%s to %s", kind, word(x, 1));
        add(c, list, event, text, what);
    } else if (!strcmp(kind, "MARKER")) {
        snprintf(text, sizeof text, "marker to %s %s", word(x, 1), word(x, 5));
        add(c, list, event, text, word(x, 3));
    }
}

static int is_of_machine(int event)
{
    static const enum ft_event_kind of[] = {
        FT_EV_FAILED,  FT_EV_DETECTED, FT_EV_FALLBACK,  FT_EV_AGREED,       FT_EV_UNAWARE,
        FT_EV_LOCAL,   FT_EV_REPLACED, FT_EV_CKPT_DONE, FT_EV_CKPT_SKIPPED, FT_EV_SNAPSHOT_OFF,
        FT_EV_RESUMED, FT_EV_TOLD,     FT_EV_ENTERED};
    for (size_t i = 0; i < FT_COUNTOF(of); i++)
        if (event == (int)of[i])
            return 1;
    return 0;
}

void sim_compared_add(struct sim_compared *c, int list, const char *text, int event)
{
    struct words x;
    char class[72], out[200];
    split(&x, text);
    const char *kind = word(&x, 0), *first = word(&x, 1);
    if (!strcmp(kind, "COMMAND")) {
        if (!strcmp(first, "RESERVE")) /* room is made when the timing lets it */
            return;
        snprintf(out, sizeof out, "%s version %s generation %s era %s rank %s alone %s why %s",
                 first, word(&x, 3), word(&x, 5), word(&x, 6), word(&x, 7), word(&x, 8),
                 word(&x, 10));
        add(c, list, event, "commands", out);
    } else if (!strcmp(kind, "HOLD")) {
        /* else said again */
        if (strcmp(*c->list[list].hold ? c->list[list].hold : "0", first) != 0)
            add(c, list, event, "HOLD", first);
        snprintf(c->list[list].hold, sizeof c->list[list].hold, "%s", first);
    } else if (!strcmp(kind, "MAIL")) {
        add_mail(c, list, event, &x);
    } else if (!strcmp(kind, "PUBLISH")) {
        if (strcmp(first, "LIVE") != 0 && strcmp(first, "REJOINED") != 0 &&
            strcmp(first, "COMMITTED") != 0)
            return;
        snprintf(class, sizeof class, "PUBLISH %s", first);
        add(c, list, event, class, word(&x, 2));
    } else if (!strcmp(kind, "ATTENTION") && atoi(first) <= FT_ATTENTION_PARK) {
        snprintf(class, sizeof class, "ATTENTION %s", first);
        add_once(c, list, event, class);
    } else if (!strcmp(kind, "EVENT")) {
        int e = atoi(first);
        if (!is_of_machine(e))
            return;
        snprintf(class, sizeof class, "EVENT %s", event_name[e]);
        add(c, list, event, class, e == FT_EV_FAILED ? "" : word(&x, 2)); /* a spare has no name */
    } else if (!strcmp(kind, "REPAIR") || !strcmp(kind, "BIND") || !strcmp(kind, "KILL") ||
               !strcmp(kind, "JOB_DONE") || !strcmp(kind, "LOST")) {
        if (!strcmp(kind, "BIND"))
            forget_answers(c, list);
        add(c, list, event, kind, strcmp(kind, "LOST") ? first : "");
    }
}

/* --- differences --- */

static const struct sim_said *next_of(const struct sim_compared *c, int list, const char *class,
                                      int *at)
{
    for (int i = *at; i < c->n; i++) {
        const struct sim_said *s = &c->said[i];
        if (s->list == list && !s->gone && !strcmp(s->class, class)) {
            *at = i + 1;
            return s;
        }
    }
    *at = c->n;
    return NULL;
}

/* How many actions after `at` one is that says the same; -1: it is not near. */
static int distance(const struct sim_compared *c, int list, const char *class, int at,
                    const struct sim_said *like)
{
    for (int i = 0; i < NEAR; i++) {
        const struct sim_said *s = next_of(c, list, class, &at);
        if (!s)
            return -1;
        if (!strcmp(s->text, like->text))
            return i;
    }
    return -1;
}

static void print(const struct sim_compared *c, const char *who, const struct sim_said *s)
{
    if (s)
        printf("  %s %s %s\n    at line %d: %.110s\n", who, s->class, s->text, s->event + 1,
               c->line[s->event]);
    else
        printf("  %s nothing\n", who);
}

/* Where a record ends its process may have died in the middle of what it did. */
static int is_at_end(const struct sim_compared *c, const struct sim_said *was,
                     const struct sim_said *is)
{
    return !was && is && is->event >= c->last;
}

static int class_differences(const struct sim_compared *c, const char *class)
{
    int at[2] = {0, 0}, bad = 0;
    const struct sim_said *was = next_of(c, SIM_RECORDED, class, &at[0]),
                          *is = next_of(c, SIM_AGAIN, class, &at[1]);
    while ((was || is) && !is_at_end(c, was, is)) {
        int same = was && is && !strcmp(was->text, is->text);
        int more = !same && is && (!was || distance(c, SIM_AGAIN, class, at[1], was) >= 0);
        int less =
            !same && was && !more && (!is || distance(c, SIM_RECORDED, class, at[0], is) >= 0);
        if (!same) {
            bad++;
            puts("differs:");
            if (!more)
                print(c, "recorded:", was);
            if (!less)
                print(c, "now:     ", is);
        }
        if (!more)
            was = next_of(c, SIM_RECORDED, class, &at[0]);
        if (!less)
            is = next_of(c, SIM_AGAIN, class, &at[1]);
    }
    return bad;
}

int sim_compared_differences(struct sim_compared *c)
{
    int bad = 0;
    for (int i = 0; i < c->n; i++) {
        int first = 1;
        for (int j = 0; j < i && first; j++)
            first = strcmp(c->said[j].class, c->said[i].class) != 0;
        if (first)
            bad += class_differences(c, c->said[i].class);
    }
    free(c->said);
    c->said = NULL;
    return bad;
}
