/* SPDX-License-Identifier: BSD-3-Clause
 *
 * places.c - counts what has happened where, over all runs. With it a test can tell that a search,
 * or random runs, have come to all places that they should.
 */
#include "sim_run.h"

static int count(const char *const *names)
{
    int n = 0;
    while (names[n])
        n++;
    return n;
}

void sim_happens(struct sim *s, int what, int where)
{
    int columns = count(s->m->places->where);
    if (!s->happened) {
        s->happened = calloc((size_t)count(s->m->places->what) * (size_t)columns, sizeof(uint64_t));
        FT_ASSERT(s->happened);
    }
    s->happened[what * columns + where]++;
}

/* 1: it has happened at all places where it must. */
static int print_row(const struct sim *s, int what, FILE *out)
{
    const struct sim_places *p = s->m->places;
    int columns = count(p->where), came = 0, missing = 0;
    const uint64_t *n = s->happened ? s->happened + what * columns : NULL;
    fprintf(out, "%s:", p->what[what]);
    for (int i = 0; i < columns; i++)
        if (n && n[i])
            fprintf(out, "%s %s %" PRIu64, came++ ? "," : "", p->where[i], n[i]);
    fprintf(out, "%s\n", came ? "" : " never");
    for (int i = 0; i < columns; i++)
        if (!(n && n[i]) && p->must(&s->o, what, i))
            fprintf(out, "%s %s", missing++ ? "," : "  NEVER:", p->where[i]);
    fprintf(out, "%s", missing ? "\n" : "");
    return !missing;
}

int sim_print_places(const struct sim *s, FILE *out)
{
    int all = 1;
    for (int what = 0; s->m->places && s->m->places->what[what]; what++)
        all &= print_row(s, what, out);
    return all;
}
