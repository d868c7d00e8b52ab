/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_timeline.c - draws the trace of a job (ftrun --trace) as a picture (SVG) or as a page with
 * zoom (HTML).
 */
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "tools/timeline.h"

static const char usage[] =
    "usage: ftrma-timeline [options] TRACE\n"
    "Draws the trace of a job (ftrun --trace TRACE): a row a process, with checkpoints, losses, "
    "and what a replacement "
    "does.\n"
    "  -o, --output FILE  FILE.svg becomes a picture, FILE.html a page with zoom (default: TRACE "
    "with .html)\n"
    "  --from TIME        begin of what is shown: 1.5s, or milliseconds since the start of the job "
    "(default: the first "
    "event)\n"
    "  --to TIME          its end (default: the last event)\n"
    "  --failure N        show the N-th loss and its recovery; 1 is the first\n"
    "  -h, --help         print this\n";

void timeline_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("ftrma-timeline: ", stderr);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

/* Shows the time from shortly before the N-th loss to shortly after its recovery. */
static void show_failure(struct timeline *t, size_t n)
{
    if (n > t->losses)
        timeline_fail("--failure %zu: the trace has %zu loss%s", n, t->losses,
                      t->losses == 1 ? "" : "es");
    double from = t->loss[n - 1].from, to = t->loss[n - 1].to, margin = (to - from) / 8;
    t->begin = from - margin;
    t->end = to + margin;
}

static double milliseconds(const char *option, const char *text)
{
    double v;
    if (ft_parse_time(text, 1000, &v) != FT_OK)
        timeline_fail("%s must be a number of milliseconds or " FT_TIME_EXAMPLES ", not '%s'",
                      option, text);
    return 1000 * v;
}

static int has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n > k && strcmp(name + n - k, ending) == 0;
}

/* Replaces the ending of the trace's name. */
static char *html_name(const char *trace)
{
    const char *dot = strrchr(trace, '.'), *slash = strrchr(trace, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - trace) : strlen(trace);
    char *name = timeline_grow(NULL, stem + sizeof ".html");
    snprintf(name, stem + sizeof ".html", "%.*s.html", (int)stem, trace);
    return name;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_file(const struct timeline *t, const char *trace, const char *out)
{
    int svg = has_ending(out, ".svg");
    if (!svg && !has_ending(out, ".html"))
        timeline_fail("-o %s: the name must end with .svg (a picture) or .html (a page with zoom)",
                      out);
    FILE *f = fopen(out, "w");
    if (!f)
        timeline_fail("%s cannot be written: %m", out);
    if (svg)
        timeline_svg(t, f);
    else
        timeline_page(t, last_part(trace), f);
    int bad = ferror(f);
    if (fclose(f) != 0 || bad)
        timeline_fail("%s was not written completely: %m", out);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"output", 1, NULL, 'o'}, {"from", 1, NULL, 'f'},
                                            {"to", 1, NULL, 't'},     {"failure", 1, NULL, 'n'},
                                            {"help", 0, NULL, 'h'},   {NULL, 0, NULL, 0}};
    struct timeline t;
    const char *out = NULL;
    double from = NAN, to = NAN;
    long failure = 0;
    char *end, why[300];
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;)
        switch (c) {
        case 'h': return fputs(usage, stdout) < 0 || fflush(stdout) != 0;
        case 'o': out = optarg; break;
        case 'f': from = milliseconds("--from", optarg); break;
        case 't': to = milliseconds("--to", optarg); break;
        case 'n':
            failure = strtol(optarg, &end, 10);
            if (failure < 1 || *end)
                timeline_fail("--failure must be a whole number, 1 or more, not '%s'", optarg);
            break;
        default:
            ft_option_refused(options, c, argv[optind - 1], why, sizeof why);
            timeline_fail("%s ('ftrma-timeline --help' lists the options)", why);
        }
    if (optind != argc - 1)
        timeline_fail("one trace is needed; 'ftrma-timeline --help' lists the options");
    timeline_read(&t, argv[optind]);
    if (failure)
        show_failure(&t, (size_t)failure);
    t.begin = isnan(from) ? t.begin : from;
    t.end = isnan(to) ? t.end : to;
    if (!(t.end > t.begin) && (!isnan(from) || !isnan(to)))
        timeline_fail(
            "nothing is shown: --to must be later than --from (the trace ends at %.3f ms)", t.end);
    if (!(t.end > t.begin))
        t.end = t.begin + 1;
    write_file(&t, argv[optind], out ? out : html_name(argv[optind]));
    return 0;
}
