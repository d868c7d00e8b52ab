/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timeline_svg.c - the timeline as a picture 800 pixels wide. The page's script (timeline.js) draws
 * by the same rules.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/timeline.h"

enum { WIDTH = 800, LEAST_LEFT = 138, RIGHT = WIDTH - 24, TOP = 16, ROW = 32, BAR = 14, LETTER = 6 };

struct picture {
    const struct timeline *t;
    FILE *f;
    int left; /* of the rows; their names are on its left */
    int seen[KINDS], marked[MARK_KINDS]; /* what is drawn */
};

void timeline_text(const char *s, FILE *f)
{
    for (; *s; s++)
        if (strchr("&<>\"", *s))
            fprintf(f, "&#%d;", *s);
        else
            putc((unsigned char)*s < 0x20 ? '?' : *s, f);
}

void timeline_patterns(FILE *f)
{
    fputs("<defs>\n", f);
    for (int k = 0; k < KINDS; k++)
        fprintf(f,
                "<pattern id=\"k%d\" width=\"8\" height=\"8\" "
                "patternUnits=\"userSpaceOnUse\"><rect width=\"8\" "
                "height=\"8\" "
                "fill=\"%s\"/><path d=\"%s\" stroke=\"#fff\" stroke-opacity=\"0.75\" "
                "fill=\"none\"/></pattern>\n",
                k, kinds[k].colour, kinds[k].pattern);
    fputs("</defs>\n", f);
}

/* Room for the longest name. A letter is 6.7 pixels wide, a small one 5.4, or less. */
static int left_of(const struct timeline *t)
{
    double wide = 0;
    for (int i = 0; i < t->rows; i++)
        wide = fmax(wide, fmax(6.7 * (double)strlen(t->row[i].name),
                              5.4 * (double)strlen(t->row[i].before)));
    return (int)fmin(fmax(wide + 16, LEAST_LEFT), WIDTH / 2);
}

static double x_of(const struct picture *p, double ms)
{
    const struct timeline *t = p->t;
    double x = p->left + (ms - t->begin) / (t->end - t->begin) * (RIGHT - p->left);
    return fmin(fmax(x, p->left), RIGHT);
}

static double middle(int row) { return TOP + row * ROW + ROW / 2.0 + 2; }

static int decimals_of(double step) { return step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0; }

/* 1, 2 or 5 times a power of ten: the smallest step at which no label comes near the next one. */
static double tick_step(double range, double end, int room)
{
    enum { MOST = 20, DIGIT = 8, GAP = 8 };
    double step = pow(10, floor(log10(range / MOST)));
    for (int i = 0;; i++) {
        int width = snprintf(NULL, 0, "%.*f", decimals_of(step), end) * DIGIT + GAP;
        if (range / step <= MOST && range / step * width <= room)
            return step;
        step *= i % 3 == 1 ? 2.5 : 2;
    }
}

static void put_axis(const struct picture *p)
{
    const struct timeline *t = p->t;
    int seconds = t->end - t->begin >= 10000, bottom = TOP + t->rows * ROW + 6;
    double unit = seconds ? 1000 : 1, step = tick_step((t->end - t->begin) / unit, t->end / unit, RIGHT - p->left);
    int decimals = decimals_of(step);
    long first = (long)ceil(t->begin / unit / step), last = (long)floor(t->end / unit / step);
    for (long i = first; i <= last; i++) {
        double v = (double)i * step;
        double x = x_of(p, v * unit);
        fprintf(p->f,
                "<path d=\"M%.1f,%dV%d\" stroke=\"#ccc\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.*f</text>\n",
                x, TOP, bottom, x, bottom + 14, decimals, v);
    }
    fprintf(p->f,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s since the start of the job</text>\n",
            (p->left + RIGHT) / 2, bottom + 31, seconds ? "seconds" : "milliseconds");
}

static void put_names(const struct picture *p)
{
    for (int i = 0; i < p->t->rows; i++) {
        fprintf(p->f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", p->left - 8, middle(i) - 1);
        timeline_text(p->t->row[i].name, p->f);
        fprintf(
            p->f,
            "</text><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" font-size=\"10\" fill=\"#555\">",
            p->left - 8, middle(i) + 10);
        timeline_text(p->t->row[i].before, p->f);
        fputs("</text>\n", p->f);
    }
}

/* Spans of one kind and row that cannot be distinguished at this scale are drawn as one. */
struct group {
    const struct span *first;
    double x, end, covered; /* pixels; covered: by the spans themselves */
    size_t n;
};

/* The less of a group is covered, the paler it is. A pattern would hide the colour of a narrow
 * bar. */
static void put_rect(const struct picture *p, const struct group *g, double y, double w,
                     double high)
{
    int kind = g->first->kind;
    fprintf(p->f, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ", g->x, y, w, high);
    if (g->n > 1)
        fprintf(p->f, "fill-opacity=\"%.2f\" ", fmax(0.3, fmin(1, g->covered / w)));
    if (w < 5)
        fprintf(p->f, "fill=\"%s\"><title>", kinds[kind].colour);
    else
        fprintf(p->f, "fill=\"url(#k%d)\"><title>", kind);
    if (g->n > 1)
        fprintf(p->f, "%zu of: %s", g->n, kinds[kind].legend);
    else
        timeline_text(g->first->what, p->f);
    fputs("</title></rect>\n", p->f);
}

static void put_label(const struct picture *p, double x, double y, const char *anchor,
                      const char *label)
{
    fprintf(p->f,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"11\" stroke=\"#fff\" "
            "stroke-width=\"3\" "
            "paint-order=\"stroke\">",
            x, y, anchor);
    timeline_text(label, p->f);
    fputs("</text>\n", p->f);
}

static void put_group(struct picture *p, const struct group *g)
{
    const struct kind *k = &kinds[g->first->kind];
    double y = middle(g->first->row), w = fmax(g->end - g->x, 1.5);
    switch (k->lane) {
    case LANE_BAND: put_rect(p, g, TOP, w, p->t->rows * ROW + 4); break;
    case LANE_ROLE: put_rect(p, g, y - BAR / 2.0, w, BAR); break;
    case LANE_SLEEP: put_rect(p, g, y - 1.5, w, 3); break;
    case LANE_BAR: put_rect(p, g, y - BAR / 2.0, w, BAR); break;
    case LANE_STATE: put_rect(p, g, y + BAR / 2.0 + 2, w, 4); break;
    }
    if (g->n == 1 && *k->label && w >= (double)strlen(k->label) * LETTER + 8)
        put_label(p, g->x + w / 2, y + 4, "middle", k->label);
    p->seen[g->first->kind] = 1;
}

static void put_kind(struct picture *p, int k)
{
    const struct timeline *t = p->t;
    struct group g = {0};
    for (size_t i = 0; i < t->spans; i++) {
        const struct span *s = &t->span[i];
        if (s->kind != k || s->end < t->begin || s->begin > t->end)
            continue;
        double x = x_of(p, s->begin), end = x_of(p, s->end);
        if (g.first && s->row == g.first->row && x < fmax(g.end, g.x + 1.5)) {
            g.end = fmax(g.end, end);
            g.covered += end - x;
            g.n++;
            continue;
        }
        if (g.first)
            put_group(p, &g);
        g = (struct group){.first = s, .x = x, .end = end, .covered = end - x, .n = 1};
    }
    if (g.first)
        put_group(p, &g);
}

static void put_lane(struct picture *p, enum lane lane)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k].lane == lane)
            put_kind(p, k);
}

/* A label stands above its row, if it does not cover another label. */
static void put_marks(struct picture *p)
{
    const struct timeline *t = p->t;
    double taken = 0;
    for (size_t i = 0; i < t->marks; i++) {
        const struct mark *m = &t->mark[i];
        double x = x_of(p, m->at), wide = (double)strlen(m->label) * LETTER + 4;
        if (i == 0 || t->mark[i - 1].row != m->row)
            taken = p->left;
        if (m->at < t->begin || m->at > t->end)
            continue;
        fprintf(p->f, "<g transform=\"translate(%.2f %.1f)\"><title>", x, middle(m->row));
        timeline_text(m->what, p->f);
        fprintf(p->f, "</title>%s</g>\n", mark_info[m->kind].shape);
        p->marked[m->kind] = 1;
        double from = x + wide > WIDTH ? WIDTH - wide : x - 6;
        if (from < taken - 6)
            continue;
        put_label(p, from, middle(m->row) - BAR / 2.0 - 3, "start", m->label);
        taken = from + wide + 6;
    }
}

static int put_legend_item(const struct picture *p, int n, int *y, const char *shape,
                           const char *text)
{
    int column = n % 2, x = 20 + column * (WIDTH - 20) / 2;
    *y = TOP + p->t->rows * ROW + 62 + n / 2 * 18;
    fprintf(p->f, "<g transform=\"translate(%d %d)\">%s</g><text x=\"%d\" y=\"%d\">%s</text>\n", x,
            *y - 4, shape, x + 20, *y, text);
    return n + 1;
}

/* Draws a legend of what is drawn. Returns the height of the picture. */
static int put_legend(const struct picture *p)
{
    char shape[200];
    int n = 0, y = TOP + p->t->rows * ROW + 44;
    for (int k = 0; k < KINDS; k++) {
        int thin = kinds[k].lane == LANE_STATE || kinds[k].lane == LANE_SLEEP;
        snprintf(shape, sizeof shape,
                 "<rect x=\"-10\" y=\"%d\" width=\"22\" height=\"%d\" fill=\"url(#k%d)\"/>",
                 thin ? -2 : -6, thin ? 4 : 12, k);
        if (p->seen[k])
            n = put_legend_item(p, n, &y, shape, kinds[k].legend);
    }
    for (int m = 0; m < MARK_KINDS; m++)
        if (p->marked[m])
            n = put_legend_item(p, n, &y, mark_info[m].shape, mark_info[m].legend);
    return y + 14;
}

void timeline_svg(const struct timeline *t, FILE *f)
{
    char *body = NULL;
    size_t size;
    struct picture p = {.t = t, .f = open_memstream(&body, &size), .left = left_of(t)};
    if (!p.f)
        timeline_fail("no memory for the picture");
    timeline_patterns(p.f);
    for (int lane = LANE_BAND; lane <= LANE_SLEEP; lane++)
        put_lane(&p, (enum lane)lane);
    put_axis(&p);
    put_names(&p);
    put_lane(&p, LANE_BAR);
    put_lane(&p, LANE_STATE);
    put_marks(&p);
    int height = put_legend(&p);
    if (fclose(p.f) != 0)
        timeline_fail("no memory for the picture");
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>timeline of a "
            "job</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n",
            WIDTH, height, WIDTH, height, body);
    free(body);
}
