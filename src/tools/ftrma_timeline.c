/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_timeline.c - draws the trace of a job (ftrun --trace) as a picture (SVG) or as a page of its own with zoom (HTML): a row a process.
 *
 * Each drawn thing carries its times in data-a and data-b (milliseconds), so that the page's script can place it again for another range.
 */
#include <cjson/cJSON.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/timeline_page.h"

enum { LEFT = 200, WIDTH = 1180, RIGHT = WIDTH - 20, TOP = 40, ROW = 34, BAR = 14 };

struct span {
    const char *name, *what;
    int row;
    double begin, end; /* ms; equal: an instant */
};

struct trace {
    struct span *span;
    size_t count;
    int rows;
    char (*label)[80];
    double begin, end; /* ms of what is drawn */
    double *died;      /* by row; INFINITY: never */
    double *assigned;  /* by row: when a spare was given a rank or a checksum process's place; INFINITY: never */
};

/* What is drawn and how, in the order of the legend. lane: 0 a bar across the row's middle, 1 a thin one below it. */
static const struct kind {
    const char *name, *colour, *legend;
    int lane;
} kinds[] = {
    {"checkpoint.copy", "#3b6fb6", "copy for a checkpoint", 0},
    {"demand.copy", "#7aa6de", "copy for an image taken alone", 0},
    {"checkpoint.parity", "#8a63b0", "parity", 0},
    {"agreement", "#e0912f", "agreement on who failed", 0},
    {"rebuilt", "#1d6b45", "image rebuilt", 0},
    {"rejoined", "#2f9e68", "setup again", 0},
    {"restore", "#145c9e", "image restored", 0},
    {"live", "#8fc31f", "replay", 0},
    {"parked", "#b0642f", "left its call for a rollback", 0},
    {"exposed", "#d9534f", "exposed", 1},
};

static const char usage[] =
    "usage: ftrma-timeline [options] TRACE\n"
    "Draws the trace of a job (ftrun --trace TRACE): a row a process, with checkpoints, deaths, and what a replacement does.\n"
    "  -o FILE         where to: FILE.svg is a picture, FILE.html a page of its own with zoom (default: TRACE with .html)\n"
    "  --from MS       begin of the picture, milliseconds since the job's start (default: the first event)\n"
    "  --to MS         its end (default: the last event)\n"
    "  --failure N     the picture shows the N-th loss and its recovery, 1 is the first\n"
    "  --help          this text\n";

_Noreturn static void fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("ftrma-timeline: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

static void *grow(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        fail("no memory");
    return p;
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t n = 0, room = 0;
    char *text = NULL;
    if (!f)
        fail("%s: cannot be read: %m", path);
    do {
        text = grow(text, (room = room ? 2 * room : 65536) + 1);
        n += fread(text + n, 1, room - n, f);
    } while (n == room);
    if (ferror(f))
        fail("%s: cannot be read: %m", path);
    fclose(f);
    text[n] = '\0';
    return text;
}

static const char *string_of(const cJSON *o, const char *key)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
    return s ? s : "";
}

static double number_of(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItem(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

/* The row of a slot; makes it if it is new. */
static void need_row(struct trace *t, int row)
{
    if (row < 0 || row >= FT_MAX_SLOTS)
        fail("the trace names slot %d", row);
    if (row < t->rows)
        return;
    t->label = grow(t->label, (size_t)(row + 1) * sizeof *t->label);
    t->died = grow(t->died, (size_t)(row + 1) * sizeof *t->died);
    t->assigned = grow(t->assigned, (size_t)(row + 1) * sizeof *t->assigned);
    for (; t->rows <= row; t->rows++) {
        snprintf(t->label[t->rows], sizeof *t->label, "slot %d", t->rows);
        t->died[t->rows] = t->assigned[t->rows] = INFINITY;
    }
}

/* The slot that the event's words name after `before`, e.g. "slot 5"; -1: none. */
static int slot_in(const char *what, const char *before)
{
    const char *p = strstr(what, before);
    int slot;
    return p && sscanf(p + strlen(before), "%d", &slot) == 1 ? slot : -1;
}

static void add_event(struct trace *t, const cJSON *e)
{
    const char *name = string_of(e, "name"), *what = string_of(cJSON_GetObjectItem(e, "args"), "what");
    struct span s = {.name = name, .what = what, .row = (int)number_of(e, "tid"), .begin = number_of(e, "ts") / 1000};
    s.end = s.begin + number_of(e, "dur") / 1000;
    if (strcmp(name, "failure") == 0 && slot_in(what, "(slot ") >= 0)
        s.row = slot_in(what, "(slot ");
    if (strcmp(name, "replacement") == 0 && slot_in(what, "by slot ") >= 0)
        s.row = slot_in(what, "by slot ");
    need_row(t, s.row);
    if (strcmp(name, "failure") == 0)
        t->died[s.row] = s.begin;
    if (strcmp(name, "replacement") == 0)
        t->assigned[s.row] = s.begin;
    if (t->count % 1024 == 0)
        t->span = grow(t->span, (t->count + 1024) * sizeof *t->span);
    t->span[t->count++] = s;
}

/* The strings of the JSON tree are used as long as the program runs. */
static void read_trace(struct trace *t, const char *path)
{
    char *text = read_all(path);
    const cJSON *all = cJSON_Parse(text), *e;
    free(text);
    if (!cJSON_IsArray(all))
        fail("%s: this is no trace of ftrun --trace", path);
    cJSON_ArrayForEach(e, all)
    {
        const char *ph = string_of(e, "ph");
        if (strcmp(ph, "M") == 0 && strcmp(string_of(e, "name"), "thread_name") == 0) {
            int row = (int)number_of(e, "tid");
            need_row(t, row);
            snprintf(t->label[row], sizeof *t->label, "%s", string_of(cJSON_GetObjectItem(e, "args"), "name"));
        } else if (strcmp(ph, "X") == 0 || strcmp(ph, "i") == 0) {
            add_event(t, e);
        }
    }
    if (t->count == 0)
        fail("%s: there are no events in it", path);
    t->begin = INFINITY;
    t->end = -INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        t->begin = fmin(t->begin, t->span[i].begin);
        t->end = fmax(t->end, t->span[i].end);
    }
}

/* From a tenth before the N-th loss to a tenth after the last of its recovery: `live` or `resumed`, or the next loss. */
static void show_failure(struct trace *t, int n)
{
    double from = INFINITY, to = t->end;
    for (size_t i = 0; i < t->count; i++) {
        const struct span *s = &t->span[i];
        if (strcmp(s->name, "failure") == 0 && --n == 0)
            from = s->begin;
        else if (n <= 0 && (strcmp(s->name, "live") == 0 || strcmp(s->name, "resumed") == 0) && s->end > from) {
            to = s->end;
            break;
        }
    }
    if (isinf(from))
        fail("the trace has fewer losses than --failure asks for");
    double margin = (to - from) / 8;
    t->begin = from - margin;
    t->end = to + margin;
}

static void put_text(FILE *f, const char *s)
{
    for (; *s; s++)
        if (strchr("&<>\"", *s))
            fprintf(f, "&#%d;", *s);
        else
            putc(*s, f);
}

static double x_of(const struct trace *t, double ms)
{
    double x = LEFT + (ms - t->begin) / (t->end - t->begin) * (RIGHT - LEFT);
    return fmin(fmax(x, LEFT), RIGHT);
}

/* A rectangle from a to b, at least a pixel and a half wide; nothing where it lies outside of the range, but for the page, which zooms. */
static void put_bar(FILE *f, const struct trace *t, int page, double a, double b, double y, double high, const char *style, const char *title)
{
    double x = x_of(t, a), w = fmax(x_of(t, b) - x, b > a ? 1.5 : 0);
    if (!page && (b < t->begin || a > t->end))
        return;
    fprintf(f, "<rect class=\"t\" data-a=\"%.6f\" data-b=\"%.6f\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" %s>", a, b, x, y, w, high, style);
    if (title) {
        fputs("<title>", f);
        put_text(f, title);
        fputs("</title>", f);
    }
    fputs("</rect>\n", f);
}

/* A round step for about eight ticks. */
static double tick_step(double range)
{
    double step = pow(10, floor(log10(range / 8)));
    return range / step > 40 ? 5 * step : range / step > 16 ? 2 * step : step;
}

static void put_axis(FILE *f, const struct trace *t)
{
    double range = t->end - t->begin, step = tick_step(range);
    int bottom = TOP + t->rows * ROW, decimals = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    fputs("<g id=\"axis\">\n", f);
    for (double v = ceil(t->begin / step) * step; v <= t->end; v += step)
        fprintf(f,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#dddddd\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.*f</text>\n",
                x_of(t, v), x_of(t, v), TOP, bottom, x_of(t, v), bottom + 16, decimals, v);
    fprintf(f, "</g>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">milliseconds since the job's start</text>\n", (LEFT + RIGHT) / 2, bottom + 34);
}

/* "slot 5 (rank 2)", and what it was before or became. */
static void put_label(FILE *f, const struct trace *t, int row)
{
    const char *label = t->label[row], *open = strchr(label, '(');
    if (open && !isinf(t->assigned[row])) {
        fprintf(f, "%.*s(spare, then ", (int)(open - label), label);
        put_text(f, open + 1);
    } else if (open && !isinf(t->died[row]) && label[strlen(label) - 1] == ')') {
        fprintf(f, "%.*s, lost)", (int)strlen(label) - 1, label);
    } else {
        put_text(f, label);
    }
}

static void put_rows(FILE *f, const struct trace *t, int page)
{
    for (int i = 0; i < t->rows; i++) {
        double y = TOP + i * ROW, end = fmin(t->died[i], fmax(t->end, t->begin));
        int spare_first = !isinf(t->assigned[i]);
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 10, y + ROW / 2.0 + 4);
        put_label(f, t, i);
        fputs("</text>\n", f);
        if (isinf(t->died[i]))
            end = page ? 1e12 : t->end;
        if (spare_first)
            put_bar(f, t, page, 0, t->assigned[i], y + ROW / 2.0 - 2, 4, "fill=\"#d8d8d8\"", "a spare: it sleeps");
        put_bar(f, t, page, spare_first ? t->assigned[i] : 0, end, y + ROW / 2.0 - BAR / 2.0, BAR, "fill=\"#e9edf2\"", NULL);
    }
}

static const struct kind *kind_of(const struct span *s)
{
    for (size_t k = 0; k < FT_COUNTOF(kinds); k++)
        if (strcmp(kinds[k].name, s->name) == 0)
            return &kinds[k];
    return NULL;
}

static void put_instant(FILE *f, const struct trace *t, int page, const struct span *s)
{
    double x = x_of(t, s->begin), y = TOP + s->row * ROW + ROW / 2.0;
    int died = strcmp(s->name, "failure") == 0, replaced = strcmp(s->name, "replacement") == 0;
    if (!(died || replaced) || (!page && (s->begin < t->begin || s->begin > t->end)))
        return;
    fprintf(f, "<g class=\"m\" data-a=\"%.6f\" transform=\"translate(%.2f %.1f)\">", s->begin, x, y);
    if (died)
        fputs("<path d=\"M-7,-7L7,7M-7,7L7,-7\" stroke=\"#c00000\" stroke-width=\"3\"/>", f);
    else
        fputs("<path d=\"M0,-9L0,9\" stroke=\"#333333\" stroke-width=\"2\"/><circle r=\"4\" fill=\"#333333\"/>", f);
    fputs("<title>", f);
    put_text(f, s->what);
    fputs("</title><text x=\"10\" y=\"-8\" class=\"s\">", f);
    if (died)
        fputs("lost", f);
    else /* "rank 2 is now carried by ..." */
        fprintf(f, "takes %.*s", (int)strcspn(s->what, "0123456789") + (int)strspn(s->what + strcspn(s->what, "0123456789"), "0123456789"), s->what);
    fputs("</text></g>\n", f);
}

static void put_events(FILE *f, const struct trace *t, int page)
{
    for (size_t i = 0; i < t->count; i++) { /* committed checkpoints: across all rows */
        const struct span *s = &t->span[i];
        if (strcmp(s->name, "checkpoint") == 0)
            put_bar(f, t, page, s->begin, s->end, TOP, t->rows * ROW, "fill=\"#3b6fb6\" fill-opacity=\"0.12\"", s->what);
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct span *s = &t->span[i];
        const struct kind *k = kind_of(s);
        char style[80];
        if (!k || s->end <= s->begin)
            continue;
        double y = TOP + s->row * ROW + ROW / 2.0 + (k->lane ? BAR / 2.0 + 2 : -BAR / 2.0);
        snprintf(style, sizeof style, "fill=\"%s\"", k->colour);
        put_bar(f, t, page, s->begin, s->end, y, k->lane ? 4 : BAR, style, s->what);
    }
    for (size_t i = 0; i < t->count; i++)
        put_instant(f, t, page, &t->span[i]);
}

/* Only what is drawn; in columns below the axis. Returns the height. */
static int put_legend(FILE *f, const struct trace *t, int page)
{
    int y = TOP + t->rows * ROW + 58, n = 0, columns = 4, wide = (RIGHT - LEFT) / columns;
    for (size_t k = 0; k <= FT_COUNTOF(kinds); k++) {
        const char *name = k < FT_COUNTOF(kinds) ? kinds[k].name : "checkpoint";
        int there = 0;
        for (size_t i = 0; i < t->count && !there; i++)
            there = strcmp(t->span[i].name, name) == 0 && t->span[i].end > t->span[i].begin &&
                    (page || (t->span[i].end >= t->begin && t->span[i].begin <= t->end));
        if (!there)
            continue;
        int x = LEFT + n % columns * wide, at = y + n / columns * 20;
        n++;
        fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"16\" height=\"10\" fill=\"%s\"%s/><text x=\"%d\" y=\"%d\">%s</text>\n", x, at - 9,
                k < FT_COUNTOF(kinds) ? kinds[k].colour : "#3b6fb6", k < FT_COUNTOF(kinds) ? "" : " fill-opacity=\"0.2\"", x + 22, at,
                k < FT_COUNTOF(kinds) ? kinds[k].legend : "checkpoint, first arrival to commit");
    }
    return y + (n + columns - 1) / columns * 20 + 4;
}

static void put_svg(FILE *f, const struct trace *t, int page)
{
    int rows = (int)FT_COUNTOF(kinds) / 4 + 1, height = TOP + t->rows * ROW + 66 + rows * 20;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"timeline\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"13\">\n<style>.s{font-size:11px}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, height, WIDTH, height);
    put_axis(f, t);
    put_rows(f, t, page);
    put_events(f, t, page);
    put_legend(f, t, page);
    fputs("</svg>\n", f);
}

static void put_page(FILE *f, const struct trace *t, const char *name)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", f);
    put_text(f, name);
    fputs("</title>\n<style>body{font-family:sans-serif;margin:1em}svg{max-width:100%;height:auto;border:1px solid #ddd}</style></head><body>\n<h1>", f);
    put_text(f, name);
    fputs("</h1>\n<p>Turn the wheel over the picture to zoom, drag to move, double-click for all of it. Rest on a bar to read it.</p>\n", f);
    put_svg(f, t, 1);
    fprintf(f, "<script>\nconst view={left:%d,right:%d,top:%d,bottom:%d,begin:%.6f,end:%.6f};\n%s</script>\n</body></html>\n", LEFT, RIGHT, TOP,
            TOP + t->rows * ROW, t->begin, t->end, ft_timeline_script);
}

static double milliseconds(const char *option, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v))
        fail("%s must be a number of milliseconds, not '%s'", option, text);
    return v;
}

/* The trace's name with another ending. */
static char *html_name(const char *trace)
{
    const char *dot = strrchr(trace, '.'), *slash = strrchr(trace, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - trace) : strlen(trace);
    char *name = grow(NULL, stem + sizeof ".html");
    memcpy(name, trace, stem);
    strcpy(name + stem, ".html");
    return name;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"output", 1, NULL, 'o'}, {"from", 1, NULL, 'f'}, {"to", 1, NULL, 't'},
                                            {"failure", 1, NULL, 'n'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
    struct trace t = {0};
    const char *out = NULL;
    double from = -INFINITY, to = INFINITY;
    int failure = 0;
    for (int c; (c = getopt_long(argc, argv, "ho:", options, NULL)) != -1;)
        switch (c) {
        case 'h': return fputs(usage, stdout) < 0;
        case 'o': out = optarg; break;
        case 'f': from = milliseconds("--from", optarg); break;
        case 't': to = milliseconds("--to", optarg); break;
        case 'n':
            failure = atoi(optarg);
            if (failure < 1)
                fail("--failure must be 1 or more, not '%s'", optarg);
            break;
        default: fail("'ftrma-timeline --help' lists the options");
        }
    if (optind != argc - 1)
        fail("one trace is needed; 'ftrma-timeline --help' lists the options");
    read_trace(&t, argv[optind]);
    if (failure)
        show_failure(&t, failure);
    t.begin = isinf(from) ? t.begin : from;
    t.end = isinf(to) ? t.end : to;
    if (!(t.end > t.begin))
        t.end = t.begin + 1;
    if (!out)
        out = html_name(argv[optind]);
    FILE *f = fopen(out, "w");
    if (!f)
        fail("%s: cannot be written: %m", out);
    size_t n = strlen(out);
    if (n > 4 && strcmp(out + n - 4, ".svg") == 0)
        put_svg(f, &t, 0);
    else
        put_page(f, &t, argv[optind]);
    if (fclose(f) != 0)
        fail("%s: cannot be written: %m", out);
    return 0;
}
