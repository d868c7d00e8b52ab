/* SPDX-License-Identifier: BSD-3-Clause
 *
 * compare.c - comparing what runs have left.
 */
#include "launch/compare.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/kept.h"

#define MANY                                                                                       \
    64 /* if more than one in this many blocks of a region differs without a death, the others are \
          not \ compared either */

/* ---- lines and words ---- */

struct lines {
    struct ft_text *v;
    size_t n;
};

static struct lines split(struct ft_text t)
{
    struct lines l = {0};
    size_t most = 1;
    for (size_t i = 0; i < t.len; i++)
        most += t.data[i] == '\n';
    l.v = calloc(most, sizeof *l.v);
    FT_ASSERT(l.v);
    while (t.len > 0) {
        const char *end = memchr(t.data, '\n', t.len);
        size_t n = end ? (size_t)(end - t.data) : t.len;
        l.v[l.n++] = (struct ft_text){t.data, n};
        n += end != NULL;
        t.data += n;
        t.len -= n;
    }
    return l;
}

static int compare(struct ft_text a, struct ft_text b)
{
    int c = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

static int same(struct ft_text a, struct ft_text b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static int by_text(const void *a, const void *b)
{
    return compare(*(const struct ft_text *)a, *(const struct ft_text *)b);
}

static struct lines sorted(struct lines l)
{
    struct lines s = {malloc((l.n + 1) * sizeof *s.v), l.n};
    FT_ASSERT(s.v);
    memcpy(s.v, l.v, l.n * sizeof *s.v);
    qsort(s.v, s.n, sizeof *s.v, by_text);
    return s;
}

static int all_same(struct lines a, struct lines b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && same(a.v[i], b.v[i]))
        i++;
    return a.n == b.n && i == a.n;
}

enum { WORDS = 200 }; /* the rest after these counts as one word */

static int split_words(struct ft_text line, struct ft_text *w)
{
    int n = 0;
    for (;;) {
        while (line.len && isspace((unsigned char)*line.data))
            line.data++, line.len--;
        if (!line.len)
            return n;
        size_t k = 0;
        while (k < line.len && (n == WORDS - 1 || !isspace((unsigned char)line.data[k])))
            k++;
        w[n++] = (struct ft_text){line.data, k};
        line.data += k;
        line.len -= k;
    }
}

/* ---- what looks like a time ---- */

static int is_one_of(const char *p, size_t len, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == len && strncasecmp(p, *list, len) == 0)
            return 1;
    return 0;
}

static struct ft_text bare(struct ft_text t) /* without brackets and the like around it */
{
    while (t.len && strchr("([{<=:,;'\"~", *t.data))
        t.data++, t.len--;
    while (t.len && strchr(")]}>=:,;'\".", t.data[t.len - 1]))
        t.len--;
    return t;
}

static int is_unit(struct ft_text t)
{
    static const char *const units[] = {
        "s",     "sec",         "secs",        "second",       "seconds",
        "ms",    "msec",        "millisecond", "milliseconds", "us",
        "usec",  "usecs",       "microsecond", "microseconds", "ns",
        "nsec",  "nanoseconds", "min",         "minute",       "minutes",
        "flops", "mflops",      "gflops",      "mop/s",        "mops",
        "fps",   NULL};
    t = bare(t);
    for (size_t i = 0; i + 1 < t.len; i++)
        if (t.data[i] == '/' && (t.data[i + 1] == 's' || t.data[i + 1] == 'S') &&
            (i + 2 == t.len || strncasecmp(t.data + i, "/sec", 4) == 0))
            return 1; /* a rate */
    return is_one_of(t.data, t.len, units);
}

static int says_time(struct ft_text t)
{
    static const char *const words[] = {
        "time",        "elapsed",  "took",    "seconds",   "secs",  "sec",
        "wtime",       "walltime", "runtime", "mflops",    "mop/s", "mop/s/process",
        "mop/s/total", "duration", "latency", "bandwidth", NULL};
    t = bare(t);
    return is_one_of(t.data, t.len, words);
}

/* How many bytes at the begin are a number: 12, 0.5, 1e-3, 10:22:31 */
static size_t number(struct ft_text t)
{
    size_t n = 0, digits = 0;
    for (; n < t.len; n++) {
        unsigned char c = (unsigned char)t.data[n];
        int exponent = (c == 'e' || c == 'E') && digits && n + 1 < t.len &&
                       strchr("+-0123456789", t.data[n + 1]);
        digits += isdigit(c) != 0;
        if (!isdigit(c) && !exponent && !strchr(".:+-", c))
            break;
    }
    return digits ? n : 0;
}

/* Word i of a line is a number with a unit of time, or of a rate, or after a word that says so. */
static int looks_like_time(const struct ft_text *w, int n, int i)
{
    struct ft_text t = bare(w[i]);
    const char *eq = memchr(t.data, '=', t.len);
    int named = 0;
    if (eq) {
        named = says_time((struct ft_text){t.data, (size_t)(eq - t.data)});
        t.len -= (size_t)(eq + 1 - t.data);
        t.data = eq + 1;
    }
    size_t digits = number(t);
    if (!digits)
        return 0;
    if (digits < t.len)
        return is_unit((struct ft_text){t.data + digits, t.len - digits});
    if (named || memchr(t.data, ':', t.len) || (i + 1 < n && is_unit(w[i + 1])))
        return 1;
    for (i--; i >= 0 && bare(w[i]).len == 0;) /* "Time in seconds =   0.02" */
        i--;
    return i >= 0 && says_time(w[i]);
}

/* ---- line by line ---- */

static void quote(char *out, size_t size, struct ft_text t)
{
    size_t n = 0;
    for (size_t i = 0; i < t.len && n + 5 < size; i++) {
        if (n + 9 >= size && i + 1 < t.len) {
            memcpy(out + n, "...", 3);
            n += 3;
            break;
        }
        out[n++] = isprint((unsigned char)t.data[i]) ? t.data[i] : t.data[i] == '\t' ? ' ' : '?';
    }
    out[n] = '\0';
}

static void say_line(struct ft_compared *out, size_t line, struct ft_text have, struct ft_text want)
{
    char a[130], b[130];
    quote(a, sizeof a, have);
    quote(b, sizeof b, want);
    snprintf(out->what, sizeof out->what, "line %zu is \"%s\" instead of \"%s\"", line, a, b);
}

enum line_verdict { SAME, TIMES, DIFFERS };

/* Compares one line of the run, in the words in which the references agree. */
static enum line_verdict compare_line(const struct lines *ref, int n, size_t line,
                                      struct ft_text run)
{
    struct ft_text w[FT_REFERENCES][WORDS], have[WORDS];
    enum line_verdict v = SAME;
    int nwords = 0;
    for (int k = 0; k < n; k++)
        if (same(ref[k].v[line], run))
            return SAME;
    for (int k = 0; k < n; k++) {
        int m = split_words(ref[k].v[line], w[k]);
        if (k > 0 && m != nwords)
            return SAME; /* nothing is known of this line */
        nwords = m;
    }
    if (split_words(run, have) != nwords)
        return DIFFERS;
    for (int i = 0; i < nwords; i++) {
        int known = 1;
        for (int k = 1; k < n; k++)
            known &= same(w[0][i], w[k][i]);
        if (!known || same(w[0][i], have[i]))
            continue;
        if (!looks_like_time(w[0], nwords, i) || !looks_like_time(have, nwords, i))
            return DIFFERS;
        v = TIMES;
    }
    return v;
}

static void by_place(const struct lines *ref, int n, struct lines run, struct ft_compared *out)
{
    struct lines one = ref[0];
    char text[200];
    for (size_t i = 0; i < one.n && i < run.n; i++) {
        enum line_verdict v = compare_line(ref, n, i, run.v[i]);
        int known = 1;
        for (int k = 1; k < n; k++)
            known &= same(one.v[i], ref[k].v[i]);
        out->left_out += !known;
        if (v == DIFFERS && !out->differs) {
            out->differs = 1;
            say_line(out, i + 1, run.v[i], one.v[i]);
        } else if (v == TIMES && out->times++ == 0 && !out->differs) {
            say_line(out, i + 1, run.v[i], one.v[i]);
        }
    }
    if (out->differs || run.n == one.n)
        return;
    out->differs = 1;
    quote(text, sizeof text, run.n > one.n ? run.v[one.n] : one.v[run.n]);
    snprintf(out->what, sizeof out->what, "%zu lines instead of %zu; the first %s is \"%s\"", run.n,
             one.n, run.n > one.n ? "too many" : "missing", text);
}

/* Both sorted: keeps in a what is in both, with its multiplicity. Returns how many lines are in
 * only one of them. */
static uint64_t keep_common(struct lines *a, struct lines b)
{
    size_t i = 0, k = 0, n = 0;
    uint64_t others = 0;
    while (i < a->n && k < b.n) {
        int c = compare(a->v[i], b.v[k]);
        if (c == 0)
            a->v[n++] = a->v[i];
        others += c != 0;
        i += c <= 0;
        k += c >= 0;
    }
    others += a->n - i + b.n - k;
    a->n = n;
    return others;
}

/* All sorted. A line that all references have must occur equally often. */
static void by_contents(struct lines *ref, int n, struct lines run, struct ft_compared *out)
{
    size_t lines = ref[0].n, r = 0;
    int same_number = 1;
    char text[200];
    for (int k = 1; k < n; k++) {
        same_number &= ref[k].n == lines;
        out->left_out += keep_common(&ref[0], ref[k]);
    }
    for (size_t i = 0; i < ref[0].n && !out->differs; i++) {
        while (r < run.n && compare(run.v[r], ref[0].v[i]) < 0)
            r++;
        if (r < run.n && same(run.v[r], ref[0].v[i])) {
            r++;
        } else {
            out->differs = 1;
            quote(text, sizeof text, ref[0].v[i]);
            snprintf(out->what, sizeof out->what, "the line \"%s\" is missing", text);
        }
    }
    if (!out->differs && same_number && run.n != lines) {
        out->differs = 1;
        snprintf(out->what, sizeof out->what, "%zu lines instead of %zu", run.n, lines);
    }
}

void ft_compare_text(const struct ft_text *ref, int n, struct ft_text run, struct ft_compared *out)
{
    struct lines plain[FT_REFERENCES + 1], ordered[FT_REFERENCES + 1];
    int all = 1, numbers = 1, places = 0;
    FT_ASSERT(n > 0 && n <= FT_REFERENCES);
    *out = (struct ft_compared){0};
    for (int k = 0; k < n; k++)
        all &= same(ref[k], run);
    if (all)
        return;
    for (int k = 0; k <= n; k++) {
        plain[k] = split(k < n ? ref[k] : run);
        ordered[k] = sorted(plain[k]);
        numbers &= k == n || plain[k].n == plain[0].n;
        places |= k < n && !all_same(plain[0], plain[k]) && all_same(ordered[0], ordered[k]);
    }
    if (numbers && !places)
        by_place(plain, n, plain[n], out);
    else
        by_contents(ordered, n, ordered[n], out);
    for (int k = 0; k <= n; k++) {
        free(plain[k].v);
        free(ordered[k].v);
    }
}

/* ---- memory ---- */

struct region {
    struct ft_kept_head head;
    const char *word; /* not aligned */
};

static uint64_t word(const struct region *r, uint64_t i)
{
    uint64_t w;
    memcpy(&w, r->word + i * sizeof w, sizeof w);
    return w;
}

/* Finds region i of a file; 0: there is none, or it is not complete. */
static int find_region(struct ft_text t, int i, struct region *r)
{
    for (;; i--) {
        if (!t.data || t.len < sizeof r->head)
            return 0;
        memcpy(&r->head, t.data, sizeof r->head);
        uint64_t words = ft_kept_blocks(r->head.bytes);
        if (r->head.magic != FT_KEPT_MAGIC || words > (t.len - sizeof r->head) / sizeof words)
            return 0;
        r->word = t.data + sizeof r->head;
        if (i == 0)
            return 1;
        t.data += sizeof r->head + words * sizeof words;
        t.len -= sizeof r->head + words * sizeof words;
    }
}

static void name_region(char *out, size_t size, const struct ft_kept_head *h)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB"};
    uint64_t bytes = h->bytes;
    int u = 0;
    while (bytes >= 10000 && u < 3)
        bytes /= 1000, u++;
    snprintf(out, size, "%s %" PRIu32 " (%" PRIu64 " %s)",
             h->window ? "window" : "protected region", h->index + 1, bytes, units[u]);
}

static int alike(const struct region *a, const struct region *b)
{
    return a->head.window == b->head.window && a->head.index == b->head.index &&
           a->head.bytes == b->head.bytes;
}

int ft_region_varying(const struct ft_text *ref, int n, int i, struct ft_varying *v)
{
    struct region r[FT_REFERENCES];
    FT_ASSERT(n > 0 && n <= FT_REFERENCES);
    for (int k = 0; k < n; k++)
        if (!find_region(ref[k], i, &r[k]))
            return 0;
        else if (!alike(&r[0], &r[k]))
            return 1;
    uint64_t blocks = ft_kept_blocks(r[0].head.bytes);
    if (blocks > v->blocks) {
        v->at = realloc(v->at, blocks);
        FT_ASSERT(v->at);
        memset(v->at + v->blocks, 0, blocks - v->blocks);
        v->blocks = blocks;
    }
    for (uint64_t b = 0; b < blocks; b++)
        for (int k = 1; k < n; k++)
            v->at[b] |= word(&r[k], b) != word(&r[0], b);
    return 1;
}

static void compare_blocks(const struct region *want, const struct region *run,
                           const struct ft_varying *v, struct ft_compared *out)
{
    uint64_t blocks = ft_kept_blocks(want->head.bytes), block = ft_kept_block(want->head.bytes),
             bad = 0, first = 0;
    char name[80];
    for (uint64_t i = 0; i < blocks; i++)
        if (i < v->blocks && v->at[i])
            out->left_out++;
        else if (word(run, i) != word(want, i) && bad++ == 0)
            first = i;
    if (out->left_out > blocks / MANY && out->left_out > 1) { /* its contents depend on timing */
        out->left_out = blocks;
    } else if (bad) {
        out->differs = 1;
        name_region(name, sizeof name, &want->head);
        snprintf(out->what, sizeof out->what,
                 "%s differs from byte %" PRIu64 " on, in %" PRIu64 " of %" PRIu64
                 " blocks of %" PRIu64 " bytes",
                 name, first * block, bad, blocks, block);
    }
}

int ft_compare_region(const struct ft_text *ref, int n, struct ft_text run, int i,
                      const struct ft_varying *v, struct ft_compared *out)
{
    struct region want, other, have;
    char name[80];
    *out = (struct ft_compared){0};
    if (!find_region(ref[0], i, &want))
        return 0;
    for (int k = 1; k < n; k++)
        if (!find_region(ref[k], i, &other) || !alike(&want, &other)) {
            out->left_out = ft_kept_blocks(want.head.bytes);
            return 1;
        }
    if (find_region(run, i, &have) && alike(&want, &have)) {
        compare_blocks(&want, &have, v, out);
        return 1;
    }
    out->differs = 1;
    name_region(name, sizeof name, &want.head);
    snprintf(out->what, sizeof out->what, "%s is missing, or has another size", name);
    return 1;
}
