/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_plot.c - lines over two logarithmic axes, as SVG.
 */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "tools/model.h"

enum { LEFT = 80, RIGHT = 600, TOP = 60, BOTTOM = 420, WIDTH = 740, HEIGHT = 480 };

struct axis {
    double low, high; /* log10 */
    double from, to;  /* in the picture */
};

static double at(const struct axis *a, double v)
{
    return a->from + (log10(v) - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void text(FILE *f, double x, double y, const char *anchor, const char *s)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *s; s++)
        if (*s == '&' || *s == '<' || *s == '>')
            fprintf(f, "&#%d;", *s);
        else
            putc(*s, f);
    fputs("</text>\n", f);
}

static void line(FILE *f, double x1, double y1, double x2, double y2, const char *colour)
{
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}

/* Whole decades up and down; from the first to the last point across. */
static void range(const struct plot *p, struct axis *x, struct axis *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int l = 0; l < p->lines; l++)
        for (int i = 0; i < p->n; i++)
            if (p->y[l][i] > 0) {
                low = fmin(low, log10(p->y[l][i]));
                high = fmax(high, log10(p->y[l][i]));
            }
    if (low > high)
        low = high = 0;
    *y = (struct axis){floor(low), fmax(ceil(high), floor(low) + 1), BOTTOM, TOP};
    *x = (struct axis){log10(p->x[0]), log10(p->x[p->n - 1]), LEFT, RIGHT};
    if (!(x->high > x->low)) {
        x->low -= 0.5;
        x->high += 0.5;
    }
}

static void axes(FILE *f, const struct plot *p, const struct axis *x, const struct axis *y)
{
    char label[32];
    int step = (int)ceil((y->high - y->low) / 12);
    for (int e = (int)y->low; e <= (int)y->high; e += step) {
        double where = at(y, pow(10, e));
        line(f, LEFT, where, RIGHT, where, "#dddddd");
        snprintf(label, sizeof label, "1e%d", e);
        text(f, LEFT - 6, where + 4, "end", label);
    }
    for (int e = (int)floor(x->low); e <= (int)ceil(x->high); e++)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) { /* 1 2 5 */
            double v = digit * pow(10, e);
            if (log10(v) < x->low - 1e-9 || log10(v) > x->high + 1e-9)
                continue;
            line(f, at(x, v), TOP, at(x, v), BOTTOM, "#dddddd");
            snprintf(label, sizeof label, "%g", v);
            text(f, at(x, v), BOTTOM + 16, "middle", label);
        }
    line(f, LEFT, TOP, LEFT, BOTTOM, "black");
    line(f, LEFT, BOTTOM, RIGHT, BOTTOM, "black");
    text(f, (LEFT + RIGHT) / 2.0, BOTTOM + 38, "middle", p->x_label);
    text(f, LEFT, TOP - 8, "start", p->y_label);
    text(f, LEFT, 18, "start", p->title[0]);
    text(f, LEFT, 34, "start", p->title[1]);
}

static void curve(FILE *f, const struct plot *p, int l, const struct axis *x, const struct axis *y, const char *colour)
{
    int drawing = 0;
    double end = NAN;
    fputs("<path d=\"", f);
    for (int i = 0; i < p->n; i++) {
        if (!(p->y[l][i] > 0)) {
            drawing = 0;
            continue;
        }
        fprintf(f, "%s%.1f %.1f", drawing ? " L" : "M", at(x, p->x[i]), end = at(y, p->y[l][i]));
        drawing = 1;
    }
    fprintf(f, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", colour);
    for (int i = 0; i < p->n; i++)
        if (p->y[l][i] > 0)
            fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", at(x, p->x[i]), at(y, p->y[l][i]), colour);
    if (isfinite(end)) {
        fprintf(f, "<g fill=\"%s\">", colour);
        text(f, RIGHT + 8, end + 4, "start", p->name[l]);
        fputs("</g>\n", f);
    }
}

int plot_svg(const struct plot *p, const char *path)
{
    static const char *const colour[] = {"#444444", "#c0392b", "#d68910", "#1e8449", "#1f618d", "#7d3c98"};
    struct axis x, y;
    FILE *f = fopen(path, "we");
    if (!f)
        return -1;
    range(p, &x, &y);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
            WIDTH, HEIGHT);
    fprintf(f, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
    axes(f, p, &x, &y);
    for (int l = 0; l < p->lines; l++)
        curve(f, p, l, &x, &y, colour[(size_t)l % FT_COUNTOF(colour)]);
    fputs("</svg>\n", f);
    int bad = ferror(f);
    return fclose(f) || bad ? -1 : 0;
}
