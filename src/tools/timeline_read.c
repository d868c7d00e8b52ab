/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timeline_read.c - converts the events of a trace to rows, spans and marks.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/timeline.h"

const struct kind kinds[KINDS] = {
    [KIND_WORKS] = {"", LANE_ROLE, "#d9dfe7", "", "at work", ""},
    [KIND_SLEEPS] = {"", LANE_SLEEP, "#8a929c", "", "sleeps as a spare", ""},
    {"checkpoint", LANE_BAND, "#bcd3f2", "", "checkpoint, from the first arrival to the commit",
     ""},
    {"resumed", LANE_BAND, "#f3ddb5", "M-2,2L2,-2M0,8L8,0M6,10L10,6",
     "all ranks go back to a checkpoint", ""},
    {"entered", LANE_BAND, "#f3e6b5", "M-2,2L2,-2M0,8L8,0M6,10L10,6", "all enter body again", ""},
    {"checkpoint.copy", LANE_BAR, "#1f4e9c", "", "copy for a checkpoint", "copy"},
    {"demand.copy", LANE_BAR, "#5b8fd6", "M-2,2L2,-2M0,8L8,0M6,10L10,6",
     "copy for an image taken alone", "copy"},
    {"checkpoint.parity", LANE_BAR, "#7b4fa6", "M2,0V8M6,0V8", "parity", "parity"},
    {"snapshot.held", LANE_BAR, "#777777", "M0,0L8,8M0,8L8,0", "accesses wait for a snapshot",
     "waits"},
    {"agreement", LANE_BAR, "#d07c12", "M1,2H3M5,6H7", "agreement on who failed", "agreement"},
    {"rebuilt", LANE_BAR, "#0f5a36", "M0,2H8M0,6H8", "image rebuilt from parity", "rebuild"},
    {"rejoined", LANE_BAR, "#2f9e68", "M-2,6L2,10M0,0L8,8M6,-2L10,2", "setup again", "setup again"},
    {"restore", LANE_BAR, "#145c9e", "M0,4H8M4,0V8", "image restored", "restore"},
    {"live", LANE_BAR, "#86b817", "M2,0L6,4L2,8", "replay from logs", "replay"},
    {"save", LANE_BAR, "#4a4a4a", "M-2,2L2,-2M0,8L8,0M6,10L10,6", "checkpoint written to files",
     "save"},
    {"exposed", LANE_STATE, "#c9302c", "M7,0V8", "exposed: its loss would take all ranks back", ""},
    {"awaited", LANE_STATE, "#666666", "M2,0V8M6,0V8", "all others wait for it", ""},
};

const struct mark_info mark_info[MARK_KINDS] = {
    [MARK_LOST] = {"<path d=\"M-6,-6L6,6M-6,6L6,-6\" stroke=\"#b00000\" stroke-width=\"3\"/>",
                   "process lost"},
    [MARK_TAKES] = {"<circle r=\"5\" fill=\"#222\" stroke=\"#fff\"/>",
                    "takes the place of a lost process"},
    [MARK_LIVE] =
        {"<path d=\"M-4,-7L6,0L-4,7Z\" fill=\"#fff\" stroke=\"#222\" stroke-width=\"1.5\"/>",
         "live again"},
};

void *timeline_grow(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        timeline_fail("no memory for the trace (%zu bytes)", bytes);
    return p;
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = 0, room = 0;
    char *text = NULL;
    if (!f)
        timeline_fail("%s cannot be read: %m", path);
    do {
        text = timeline_grow(text, (room = room ? 2 * room : 65536) + 1);
        n += fread(text + n, 1, room - n, f);
    } while (n == room);
    if (ferror(f))
        timeline_fail("%s cannot be read: %m", path);
    fclose(f);
    text[n] = '\0';
    return text;
}

static const char *string_of(const cJSON *o, const char *key)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return s ? s : "";
}

static double number_of(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static const char *what_of(const cJSON *e)
{
    return string_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "what");
}

static int row_of(const struct timeline *t, const cJSON *e)
{
    double row = number_of(e, "pid") - 1;
    if (!(row >= 0 && row < t->rows))
        timeline_fail("the trace has an event of process %g, which it does not name: write it with "
                      "ftrun --trace",
                      row + 1);
    return (int)row;
}

/* "slot 5: spare 0, then rank 2" */
enum { HOST_MOST = 40 };

/* "slot 5: spare 0, then rank 2 (node1)" */
static void name_row(struct timeline *t, const cJSON *e)
{
    const char *name = string_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "name");
    const char *colon = strstr(name, ": "), *then = strstr(name, ", then ");
    if (number_of(e, "pid") != t->rows + 1 || t->rows == FT_MAX_SLOTS)
        timeline_fail(
            "the trace does not name its processes in order: write it with ftrun --trace");
    t->row = timeline_grow(t->row, (size_t)(t->rows + 1) * sizeof *t->row);
    struct row *r = &t->row[t->rows++];
    int slot = colon ? (int)(colon - name) : 0;
    const char *now = then ? then + strlen(", then ") : colon ? colon + 2 : name,
               *node = strstr(now, " (");
    int host = node ? (int)strlen(node) - 3 : 0;
    snprintf(r->name, sizeof r->name, "%.*s", node ? (int)(node - now) : (int)strlen(now), now);
    size_t n = (size_t)snprintf(r->before, sizeof r->before, "%.*s", slot, name);
    if (node) /* a long name of a host is cut */
        n += (size_t)snprintf(r->before + n, sizeof r->before - n, " on %.*s%s",
                              host > HOST_MOST ? HOST_MOST : host, node + 2,
                              host > HOST_MOST ? ".." : "");
    if (then && colon)
        snprintf(r->before + n, sizeof r->before - n, ", was %.*s", (int)(then - colon - 2), colon + 2);
}

static void add_span(struct timeline *t, struct span s)
{
    if (t->spans % 1024 == 0)
        t->span = timeline_grow(t->span, (t->spans + 1024) * sizeof *t->span);
    t->span[t->spans++] = s;
    t->begin = fmin(t->begin, s.kind == KIND_WORKS || s.kind == KIND_SLEEPS ? s.end : s.begin);
    t->end = fmax(t->end, s.end);
}

static void add_mark(struct timeline *t, int row, enum mark_kind kind, double at, const char *label,
                     const char *what)
{
    t->mark = timeline_grow(t->mark, (t->marks + 1) * sizeof *t->mark);
    struct mark *m = &t->mark[t->marks++];
    *m = (struct mark){.row = row, .kind = kind, .at = at, .what = what};
    snprintf(m->label, sizeof m->label, "%s", label);
}

static void add_event(struct timeline *t, const cJSON *e, double end)
{
    const char *name = string_of(e, "name"), *what = what_of(e);
    struct span s = {.row = row_of(t, e),
                     .kind = -1,
                     .begin = number_of(e, "ts") / 1000,
                     .end = end,
                     .what = what};
    if (strcmp(string_of(e, "cat"), "role") == 0) {
        s.kind = strncmp(name, "spare", 5) == 0 ? KIND_SLEEPS : KIND_WORKS;
        s.what = name;
    }
    for (int k = KIND_SLEEPS + 1; k < KINDS && s.kind < 0; k++)
        if (strcmp(kinds[k].name, name) == 0)
            s.kind = k;
    if (s.kind >= 0 && s.end > s.begin)
        add_span(t, s);
    if (strcmp(name, "live") == 0)
        add_mark(t, s.row, MARK_LIVE, s.end, "live", what);
}

static void add_instant(struct timeline *t, const cJSON *e)
{
    const char *name = string_of(e, "name"), *what = what_of(e);
    double at = number_of(e, "ts") / 1000;
    int row = row_of(t, e);
    char label[60];
    t->begin = fmin(t->begin, at);
    t->end = fmax(t->end, at);
    if (strcmp(name, "failure") == 0) {
        add_mark(t, row, MARK_LOST, at, "lost", what);
        t->loss = timeline_grow(t->loss, (t->losses + 1) * sizeof *t->loss);
        t->loss[t->losses++] = (struct loss){row, at, INFINITY, what};
    } else if (strcmp(name, "replacement") == 0) {
        snprintf(label, sizeof label, "takes %s", t->row[row].name);
        add_mark(t, row, MARK_TAKES, at, label, what);
    } else if (strcmp(name, "live") == 0) {
        add_mark(t, row, MARK_LIVE, at, "live", what);
    }
}

/* The end of an asynchronous span follows directly after its begin. */
static double end_of(const cJSON *e)
{
    const cJSON *next = e->next;
    if (strcmp(string_of(e, "ph"), "X") == 0)
        return (number_of(e, "ts") + number_of(e, "dur")) / 1000;
    if (!next || strcmp(string_of(next, "ph"), "e") != 0 ||
        number_of(next, "id") != number_of(e, "id"))
        timeline_fail("the trace has a span without its end: write it with ftrun --trace");
    return number_of(next, "ts") / 1000;
}

static void take(struct timeline *t, const cJSON *e)
{
    const char *ph = string_of(e, "ph");
    if (strcmp(ph, "M") == 0 && strcmp(string_of(e, "name"), "process_name") == 0)
        name_row(t, e);
    else if (strcmp(ph, "X") == 0 || strcmp(ph, "b") == 0)
        add_event(t, e, end_of(e));
    else if (strcmp(ph, "i") == 0)
        add_instant(t, e);
}

static int span_order(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->begin > y->begin) - (x->begin < y->begin);
}

static int mark_order(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->at > y->at) - (x->at < y->at);
}

static int loss_order(const void *a, const void *b)
{
    const struct loss *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int same_role(const struct timeline *t, int a, int b)
{
    return strcmp(t->row[a].name, t->row[b].name) == 0;
}

static int is(const struct span *s, const char *name)
{
    return strcmp(kinds[s->kind].name, name) == 0;
}

/* A recovery ends when the lost rank is live, when the parity of a lost checksum process is
 * rebuilt, or with the first `resumed` after the loss. Several losses may share a recovery. */
static void find_recoveries(struct timeline *t)
{
    for (size_t k = 0; k < t->losses; k++) {
        struct loss *l = &t->loss[k];
        int rank = strncmp(t->row[l->row].name, "rank", 4) == 0;
        for (size_t i = 0; i < t->marks; i++) {
            const struct mark *m = &t->mark[i];
            if (m->kind == MARK_LIVE && m->at > l->from && same_role(t, m->row, l->row))
                l->to = fmin(l->to, m->at);
        }
        for (size_t i = 0; i < t->spans; i++) {
            const struct span *s = &t->span[i];
            int over = is(s, "resumed") || is(s, "entered") ||
                       (!rank && is(s, "rebuilt") && same_role(t, s->row, l->row));
            if (over && s->end > l->from)
                l->to = fmin(l->to, s->end);
        }
        if (isinf(l->to))
            l->to = t->end;
    }
}

void timeline_read(struct timeline *t, const char *path)
{
    char *text = read_all(path);
    const cJSON *all = cJSON_Parse(text), *e;
    free(text);
    if (!cJSON_IsArray(all))
        timeline_fail("%s is no trace of ftrun --trace", path);
    *t = (struct timeline){.begin = INFINITY, .end = -INFINITY};
    cJSON_ArrayForEach(e, all) take(t, e);
    if (t->spans == 0)
        timeline_fail("%s holds no events", path);
    qsort(t->span, t->spans, sizeof *t->span, span_order);
    if (t->marks)
        qsort(t->mark, t->marks, sizeof *t->mark, mark_order);
    if (t->losses)
        qsort(t->loss, t->losses, sizeof *t->loss, loss_order);
    find_recoveries(t);
}
