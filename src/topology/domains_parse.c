/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domains_parse.c - parses the text of ftrma-domains(5) into a hierarchy.
 *
 * A name may be used before the line that explains it, so lines are first collected. Then levels
 * are ordered; then elements are looked up and renumbered from the top down, so that those of one
 * parent are neighbours; then come processes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "topology/domains.h"

#define MOST (1 << 26) /* elements of a level, or processes: larger numbers are mistakes */
#define PROCESS (-1)

struct raw_level {
    char name[FT_DOMAIN_NAME], upper[FT_DOMAIN_NAME]; /* upper "": the top */
    int line, count;                                  /* count 0: not given */
    double a, b;
    char **element; /* as they came */
    int *ref;       /* [n]: the line that mentions it, with the name of its parent if it has one */
    int n, cap;
    int *hash; /* of 1 + index into element */
    int hash_size;
    int *number; /* [n]: new numbers */
};

struct mention { /* the NAME of "in NAME", and its line */
    char name[FT_DOMAIN_NAME];
    int line;
};

struct range {
    int first, last, ref;
};

struct reading {
    const char *name, *at, *end; /* at: the rest of the line */
    int line;
    char *err;
    size_t errlen;
    enum ft_status status;
    struct raw_level level[FT_DOMAIN_LEVELS];
    int nlevels;
    struct mention *mention;
    int nmentions, cap_mentions;
    struct range *range; /* of processes */
    int nranges, cap_ranges;
    int per_node, per_node_line;
    jmp_buf stop;
};

__attribute__((format(printf, 3, 4))) static _Noreturn void bad(struct reading *r, int line,
                                                                const char *fmt, ...)
{
    va_list ap;
    int n = line ? snprintf(r->err, r->errlen, "%s:%d: ", r->name, line)
                 : snprintf(r->err, r->errlen, "%s: ", r->name);
    va_start(ap, fmt);
    if (n >= 0 && (size_t)n < r->errlen)
        vsnprintf(r->err + n, r->errlen - (size_t)n, fmt, ap);
    va_end(ap);
    r->status = FT_ERR_ARG;
    longjmp(r->stop, 1);
}

static _Noreturn void nomem(struct reading *r)
{
    snprintf(r->err, r->errlen, "%s: there is not enough memory", r->name);
    r->status = FT_ERR_NOMEM;
    longjmp(r->stop, 1);
}

/* Makes room for one more in an array of n things with room for *cap. */
static void *grow(struct reading *r, void *array, int n, int *cap, size_t each)
{
    if (n < *cap)
        return array;
    int more = *cap ? 2 * *cap : 16;
    void *p = realloc(array, (size_t)more * each);
    if (!p)
        nomem(r);
    *cap = more;
    return p;
}

static void *need(struct reading *r, size_t n, size_t each)
{
    void *p = calloc(n ? n : 1, each);
    if (!p)
        nomem(r);
    return p;
}

/* ---- words ---- */

/* Reads the next word of the line into `out`; 0 at its end. A comment ends the line. */
static int word(struct reading *r, char *out)
{
    while (r->at < r->end && strchr(" \t\r", *r->at) && *r->at)
        r->at++;
    if (r->at == r->end || *r->at == '#')
        return 0;
    int n = 0;
    for (; r->at < r->end && *r->at && !strchr(" \t\r#", *r->at); r->at++) {
        if (n == FT_DOMAIN_NAME - 1)
            bad(r, r->line, "a word is longer than %d bytes", FT_DOMAIN_NAME - 1);
        out[n++] = *r->at;
    }
    if (n == 0)
        bad(r, r->line, "the text has a byte of value 0");
    out[n] = '\0';
    return 1;
}

static int digits(const char *s) { return (int)strspn(s, "0123456789"); }

static int number(struct reading *r, const char *s, const char *what, int least)
{
    int n = digits(s);
    if (n == 0 || n > 9 || s[n] || atoi(s) < least || atoi(s) > MOST)
        bad(r, r->line, "%s '%s': must be a whole number from %d to %d", what, s, least, MOST);
    return atoi(s);
}

static double rate(struct reading *r, const char *what)
{
    char w[FT_DOMAIN_NAME], *end;
    if (!word(r, w))
        bad(r, r->line,
            "'fails' needs two numbers, A and B: x elements fail together A exp(-B x) times a day");
    double v = strtod(w, &end);
    if (*end || !isfinite(v))
        bad(r, r->line, "%s '%s' of 'fails' is not a number", what, w);
    if (v <= 0)
        bad(r, r->line,
            "%s = %s: must be above 0 (x elements fail together A exp(-B x) times a day%s)", what,
            w, *what == 'B' ? "; the more of them, the rarer" : "");
    return v;
}

static struct raw_level *find_level(struct reading *r, const char *name)
{
    for (int i = 0; i < r->nlevels; i++)
        if (strcmp(r->level[i].name, name) == 0)
            return &r->level[i];
    return NULL;
}

/* ---- lines ---- */

static void level_line(struct reading *r)
{
    char w[FT_DOMAIN_NAME];
    if (!word(r, w))
        bad(r, r->line, "'level' needs a name");
    if (strcmp(w, "level") == 0 || strcmp(w, "process") == 0 || strcmp(w, "in") == 0)
        bad(r, r->line, "a level cannot be called '%s'", w);
    if (find_level(r, w))
        bad(r, r->line, "level %s is described in line %d already", w, find_level(r, w)->line);
    if (r->nlevels == FT_DOMAIN_LEVELS)
        bad(r, r->line, "more than %d levels", FT_DOMAIN_LEVELS);
    struct raw_level *l = &r->level[r->nlevels++];
    strcpy(l->name, w);
    l->line = r->line;
    while (word(r, w)) {
        if (strcmp(w, "in") == 0) {
            if (*l->upper || !word(r, l->upper))
                bad(r, r->line, "'in' needs the name of one level");
        } else if (strcmp(w, "count") == 0) {
            if (!word(r, w))
                bad(r, r->line, "'count' needs a number");
            l->count = number(r, w, "count", 1);
        } else if (strcmp(w, "fails") == 0) {
            l->a = rate(r, "A");
            l->b = rate(r, "B");
        } else {
            bad(r, r->line,
                "'%s' is not known here. Write: level NAME [in UPPER] [count N] [fails A B]", w);
        }
    }
}

/* Reads "in NAME", which ends the line, or nothing. Returns the mention. */
static int mention(struct reading *r, int named)
{
    char w[FT_DOMAIN_NAME];
    r->mention = grow(r, r->mention, r->nmentions, &r->cap_mentions, sizeof *r->mention);
    struct mention *m = &r->mention[r->nmentions];
    *m = (struct mention){.line = r->line};
    if (named && !word(r, m->name))
        bad(r, r->line, "'in' needs the name of an element");
    if (word(r, w))
        bad(r, r->line, "'%s' comes after the end of the line: 'in NAME' must be last", w);
    return r->nmentions++;
}

static void process_line(struct reading *r)
{
    char w[FT_DOMAIN_NAME];
    int from = r->nranges;
    while (word(r, w) && strcmp(w, "in") != 0) {
        if (strcmp(w, "per") == 0 && from == r->nranges) {
            if (r->per_node || !word(r, w))
                bad(r, r->line, "'process per' needs a number, and may be given once");
            r->per_node = number(r, w, "process per", 1);
            r->per_node_line = r->line;
            if (word(r, w))
                bad(r, r->line, "'%s' comes after the end of 'process per N'", w);
            return;
        }
        r->range = grow(r, r->range, r->nranges, &r->cap_ranges, sizeof *r->range);
        char *dash = strchr(w, '-');
        if (dash)
            *dash = '\0';
        struct range *p = &r->range[r->nranges++];
        p->first = number(r, w, "process", 0);
        p->last = dash ? number(r, dash + 1, "process", 0) : p->first;
        if (p->last < p->first)
            bad(r, r->line, "processes %d-%d: the first number is larger than the last", p->first,
                p->last);
    }
    if (from == r->nranges || strcmp(w, "in") != 0)
        bad(r, r->line, "write: process FIRST[-LAST] ... in ELEMENT, or: process per N");
    for (int ref = mention(r, 1); from < r->nranges; from++)
        r->range[from].ref = ref;
}

static void add_element(struct reading *r, struct raw_level *l, const char *name)
{
    int cap = l->cap;
    if (l->n == MOST)
        bad(r, r->line, "more than %d elements of level %s", MOST, l->name);
    l->element = grow(r, l->element, l->n, &cap, sizeof *l->element);
    l->ref = grow(r, l->ref, l->n, &l->cap, sizeof *l->ref);
    if (!(l->element[l->n] = strdup(name)))
        nomem(r);
    l->ref[l->n++] = -1;
}

/* n[08-11]x: n08x n09x n10x n11x */
static void add_elements(struct reading *r, struct raw_level *l, const char *w)
{
    const char *open = strchr(w, '['), *lo = open ? open + 1 : NULL,
               *hi = lo ? lo + digits(lo) + 1 : NULL;
    if (!open) {
        add_element(r, l, w);
        return;
    }
    int nlo = digits(lo), nhi = lo[nlo] == '-' ? digits(hi) : 0;
    if (nlo < 1 || nlo > 8 || nhi < 1 || nhi > 8 || hi[nhi] != ']' || strchr(hi + nhi, '[') ||
        atoi(lo) > atoi(hi))
        bad(r, r->line, "'%s': write one range in brackets, as in n[08-11]", w);
    for (int i = atoi(lo); i <= atoi(hi); i++) {
        char name[2 * FT_DOMAIN_NAME];
        int n = snprintf(name, sizeof name, "%.*s%0*d%s", (int)(open - w), w, nlo, i, hi + nhi + 1);
        if (n >= FT_DOMAIN_NAME)
            bad(r, r->line, "'%s' is longer than %d bytes", name, FT_DOMAIN_NAME - 1);
        add_element(r, l, name);
    }
}

static void element_line(struct reading *r, const char *level)
{
    char w[FT_DOMAIN_NAME];
    struct raw_level *l = find_level(r, level);
    if (!l)
        bad(r, r->line,
            "unknown level '%s': a line begins with 'level', 'process' or the name of a level",
            level);
    int from = l->n, in = 0;
    while (!in && word(r, w)) {
        in = strcmp(w, "in") == 0;
        if (!in)
            add_elements(r, l, w);
    }
    if (from == l->n)
        bad(r, r->line, "no %s is named", level);
    for (int ref = mention(r, in); from < l->n; from++)
        l->ref[from] = ref;
    if (!in && *l->upper)
        bad(r, r->line, "name the %s of these elements, by 'in': level %s is in %s", l->upper,
            l->name, l->upper);
    if (in && !*l->upper)
        bad(r, r->line, "level %s is in no other level, so its elements cannot be in one", l->name);
}

/* ---- levels in order ---- */

/* Orders r->level, lowest first. */
static void order_levels(struct reading *r)
{
    struct raw_level *top = NULL, sorted[FT_DOMAIN_LEVELS];
    if (r->nlevels == 0)
        bad(r, 0, "no level is described");
    for (int i = 0; i < r->nlevels; i++) {
        struct raw_level *l = &r->level[i];
        if (*l->upper && !find_level(r, l->upper))
            bad(r, l->line, "unknown level '%s'", l->upper);
        for (int k = 0; k < i; k++)
            if (*l->upper && strcmp(l->upper, r->level[k].upper) == 0)
                bad(r, l->line, "levels %s and %s are both in %s: levels must be one chain",
                    r->level[k].name, l->name, l->upper);
        /* A level that leads back to itself is in a cycle. */
        struct raw_level *up = l;
        for (int k = 0; k <= r->nlevels && *up->upper; k++) {
            up = find_level(r, up->upper);
            if (!up)
                break; /* reported when its own turn comes */
            if (up == l)
                bad(r, l->line, "a cycle: level %s is inside itself, through %s", l->name,
                    l->upper);
        }
        if (!*l->upper && top)
            bad(r, l->line, "levels %s and %s are both in no other: levels must be one chain",
                top->name, l->name);
        if (!*l->upper)
            top = l;
    }
    FT_ASSERT(top); /* without a cycle there is one */
    sorted[r->nlevels - 1] = *top;
    for (int k = r->nlevels - 1; k > 0; k--)
        for (int i = 0; i < r->nlevels; i++)
            if (strcmp(r->level[i].upper, sorted[k].name) == 0)
                sorted[k - 1] = r->level[i];
    memcpy(r->level, sorted, (size_t)r->nlevels * sizeof *sorted);
}

/* ---- elements ---- */

static unsigned hash_of(const char *s)
{
    unsigned h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h ^ h >> 15;
}

static void index_elements(struct reading *r, struct raw_level *l)
{
    l->hash_size = 16;
    while (l->hash_size < 2 * l->n)
        l->hash_size *= 2;
    l->hash = need(r, (size_t)l->hash_size, sizeof *l->hash);
    for (int i = 0; i < l->n; i++) {
        unsigned h = hash_of(l->element[i]) & (unsigned)(l->hash_size - 1);
        for (; l->hash[h]; h = (h + 1) & (unsigned)(l->hash_size - 1))
            if (strcmp(l->element[l->hash[h] - 1], l->element[i]) == 0)
                bad(r, r->mention[l->ref[i]].line, "%s %s is named twice", l->name, l->element[i]);
        l->hash[h] = i + 1;
    }
}

/* The element's new number. */
static int look_up(struct reading *r, const struct raw_level *l, const struct mention *m)
{
    size_t n = strlen(l->name);
    if (l->n == 0) { /* NAME17 */
        const char *rest = m->name + n;
        if (strncmp(m->name, l->name, n) == 0 && digits(rest) > 0 && digits(rest) < 9 &&
            !rest[digits(rest)] && (*rest != '0' || !rest[1]) && atoi(rest) < l->count)
            return atoi(rest);
        bad(r, m->line, "unknown %s '%s': they are %s0 to %s%d", l->name, m->name, l->name, l->name,
            l->count - 1);
    }
    unsigned h = hash_of(m->name) & (unsigned)(l->hash_size - 1);
    for (; l->hash[h]; h = (h + 1) & (unsigned)(l->hash_size - 1))
        if (strcmp(l->element[l->hash[h] - 1], m->name) == 0)
            return l->number[l->hash[h] - 1];
    bad(r, m->line, "unknown %s '%s'", l->name, m->name);
}

/* Writes the parents of a level's elements, in the original order, to out->parent. */
static void find_parents(struct reading *r, const struct raw_level *l,
                         const struct raw_level *upper, struct ft_domain_level *out)
{
    out->parent = need(r, (size_t)l->count, sizeof *out->parent);
    if (l->n == 0 && l->count % upper->count != 0)
        bad(r, l->line,
            "counts do not add up: %d of %s cannot be shared equally by %d of %s. If the shares "
            "differ, name the elements",
            l->count, l->name, upper->count, upper->name);
    for (int i = 0; i < l->count; i++) {
        if (l->n == 0)
            out->parent[i] = i / (l->count / upper->count);
        else if (i > 0 && l->ref[i] == l->ref[i - 1])
            out->parent[i] = out->parent[i - 1];
        else
            out->parent[i] = look_up(r, upper, &r->mention[l->ref[i]]);
    }
}

/* Renumbers elements such that those of one parent are neighbours, otherwise in the original
 * order. */
static void renumber(struct reading *r, struct raw_level *l, const struct raw_level *upper,
                     struct ft_domain_level *out)
{
    int *parent = upper ? need(r, (size_t)l->n, sizeof *parent) : NULL,
        nupper = upper ? upper->count : 1;
    int *at = need(r, (size_t)nupper + 1, sizeof *at); /* where each parent's next element goes */
    l->number = need(r, (size_t)l->n, sizeof *l->number);
    out->element = need(r, (size_t)l->n, sizeof *out->element);
    for (int i = 0; i < l->n; i++)
        at[parent ? out->parent[i] + 1 : 1]++;
    for (int e = 1; e < nupper; e++)
        at[e] += at[e - 1];
    for (int i = 0; i < l->n; i++) {
        l->number[i] = at[parent ? out->parent[i] : 0]++;
        out->element[l->number[i]] = l->element[i];
        if (parent)
            parent[l->number[i]] = out->parent[i];
    }
    free(at);
    free(out->parent);
    out->parent = parent;
}

static void resolve(struct reading *r, struct raw_level *l, const struct raw_level *upper,
                    struct ft_domain_level *out)
{
    if (l->n > 0 && l->count > 0 && l->n != l->count)
        bad(r, l->line, "counts do not add up: level %s has count %d, and %d are named", l->name,
            l->count, l->n);
    if (l->n > 0)
        l->count = l->n;
    if (l->count == 0)
        bad(r, l->line, "level %s has neither a count nor elements with names", l->name);
    strcpy(out->name, l->name);
    out->fail_a = l->a;
    out->fail_b = l->b;
    out->count = l->count;
    if (l->n > 0)
        index_elements(r, l);
    if (upper)
        find_parents(r, l, upper, out);
    if (l->n > 0)
        renumber(r, l, upper, out);
}

/* ---- processes ---- */

static void place_processes(struct reading *r, struct ft_domains *d)
{
    int n = 0;
    d->per_node = r->per_node;
    if (r->per_node && r->nranges)
        bad(r, r->per_node_line,
            "'process per' says where all processes are, but other lines place processes one by "
            "one");
    for (int i = 0; i < r->nranges; i++)
        n = r->range[i].last >= n ? r->range[i].last + 1 : n;
    if (n == 0)
        return;
    d->on_node = need(r, (size_t)n, sizeof *d->on_node);
    d->nprocesses = n;
    memset(d->on_node, 0xff, (size_t)n * sizeof *d->on_node);
    for (int i = 0; i < r->nranges; i++) {
        const struct range *p = &r->range[i];
        int node = look_up(r, &r->level[0], &r->mention[p->ref]);
        for (int k = p->first; k <= p->last; k++) {
            if (d->on_node[k] >= 0)
                bad(r, r->mention[p->ref].line, "process %d is placed twice", k);
            d->on_node[k] = node;
        }
    }
}

/* ---- the entire text ---- */

static void read_lines(struct reading *r, const char *text, size_t len, int levels)
{
    char w[FT_DOMAIN_NAME];
    r->line = 0;
    for (const char *at = text; at < text + len;) {
        const char *nl = memchr(at, '\n', (size_t)(text + len - at));
        r->at = at;
        r->end = nl ? nl : text + len;
        at = r->end + 1;
        r->line++;
        if (!word(r, w) || (strcmp(w, "level") == 0) != levels)
            continue;
        if (levels)
            level_line(r);
        else if (strcmp(w, "process") == 0)
            process_line(r);
        else
            element_line(r, w);
    }
}

static void read_all(struct reading *r, const char *text, size_t len, struct ft_domains *d)
{
    read_lines(r, text, len, 1);
    order_levels(r);
    read_lines(r, text, len, 0);
    for (int k = r->nlevels; k > 0; k--) {
        d->nlevels = r->nlevels;
        resolve(r, &r->level[k - 1], k < r->nlevels ? &r->level[k] : NULL, &d->level[k]);
    }
    place_processes(r, d);
}

enum ft_status ft_domains_parse(const char *name, const char *text, size_t len,
                                struct ft_domains *d, char *err, size_t errlen)
{
    struct reading *r = calloc(1, sizeof *r);
    struct ft_domains *new = calloc(1, sizeof *new);
    if (!r || !new) {
        free(r);
        free(new);
        return FT_ERR_NOMEM;
    }
    r->name = name;
    r->err = err;
    r->errlen = errlen;
    if (!setjmp(r->stop))
        read_all(r, text, len, new);
    enum ft_status st = r->status;
    for (int i = 0; i < r->nlevels; i++) {
        struct raw_level *l = &r->level[i];
        for (int k = 0; st != FT_OK && k < l->n; k++)
            free(l->element[k]); /* otherwise the result owns them */
        free(l->element);
        free(l->ref);
        free(l->hash);
        free(l->number);
    }
    for (int k = 1; st != FT_OK && k <= new->nlevels; k++) {
        free(new->level[k].element);
        new->level[k].element = NULL;
    }
    if (st == FT_OK)
        *d = *new;
    else
        ft_domains_finish(new);
    free(r->mention);
    free(r->range);
    free(r);
    free(new);
    return st;
}
