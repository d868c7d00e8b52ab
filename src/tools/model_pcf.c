/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_pcf.c - ftrma-model pcf: the expected number of catastrophic failures for each |CH| and
 * each aware level.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tools/model.h"

#define MOST_ROWS 256

/* Default values in per cent of N: evenly spread on a logarithmic axis, and the paper's 5 %. */
static const char *const usual[] = {"1%",  "1.25%", "1.5%", "2%",  "2.5%",  "3%",  "4%",
                                    "5%",  "6%",    "8%",   "10%", "12.5%", "16%", "20%",
                                    "25%", "30%",   "40%",  "50%", "65%",   "80%", "100%"};

static const struct {
    const char *name, *says;
    enum ft_pcf_places places;
} places_named[] = {{"paper", "Eq. 8 and 9", FT_PCF_PAPER},
                    {"aligned", "exact, of groups that share all elements or none", FT_PCF_ALIGNED},
                    {"any", "upper bound for any aware placement", FT_PCF_ANY},
                    {"dealt", "upper bound for ftrun's placements", FT_PCF_DEALT}};

static size_t find_places(void)
{
    for (size_t i = 0; i < FT_COUNTOF(places_named); i++)
        if (!opt.places || strcmp(opt.places, places_named[i].name) == 0)
            return i;
    fail("--places is paper, aligned, any or dealt, not '%s'", opt.places);
}

static int read_rows(int *checksums)
{
    int n = 0;
    char *list = opt.checksums ? strdup(opt.checksums) : NULL, *rest = list;
    if (!list)
        for (; n < (int)FT_COUNTOF(usual); n++)
            checksums[n] = parse_checksums(usual[n]);
    for (char *one; list && (one = strsep(&rest, ","));) {
        if (n == MOST_ROWS)
            fail("--checksums: no more than %d numbers", MOST_ROWS);
        checksums[n++] = parse_checksums(one);
    }
    free(list);
    return n;
}

struct table {
    const struct ft_machine *mc;
    int per_node, first, last; /* levels to be aware of: columns */
    int n, checksums[MOST_ROWS];
    double percent[MOST_ROWS], pcf[FT_MODEL_LEVELS + 1][MOST_ROWS], part[FT_MODEL_LEVELS];
    size_t places;
};

static const char *column(const struct table *t, int aware)
{
    return aware ? t->mc->level[aware - 1].name : "no-topo";
}

/* NAN where there is no such protection. If there is none at all, the process ends with the
 * reason. */
static void compute(struct table *t)
{
    char why[512], first[512] = "";
    int some = 0;
    for (int i = 0; i < t->n; i++) {
        t->percent[i] = percent_of_ranks(t->checksums[i]);
        for (int aware = t->first; aware <= t->last; aware++) {
            struct ft_protection p = {opt.ranks, t->checksums[i], opt.parity, aware,
                                      0,         t->per_node};
            t->pcf[aware][i] = NAN;
            if (ft_protection_check(t->mc, &p, why, sizeof why) == FT_OK) {
                t->pcf[aware][i] = ft_pcf(t->mc, &p, places_named[t->places].places, t->part);
                some = 1;
            } else if (!*first) {
                memcpy(first, why, sizeof first);
            }
        }
    }
    if (!some)
        fail("%s", first);
}

static int group_size(const struct table *t, int i)
{
    struct ft_protection p = {.ranks = opt.ranks, .checksums = t->checksums[i], .m = opt.parity};
    return ft_protection_group_size(&p);
}

static void print_table(const struct table *t)
{
    printf("%s: ", opt.domains);
    print_machine(t->mc);
    printf("\nN = %d, m = %d; catastrophic failures expected a day, by the level up to which "
           "groups are aware (%s)\n\n",
           opt.ranks, opt.parity, places_named[t->places].says);
    printf("%7s %7s %5s", "|CH|", "% of N", "|G|");
    for (int aware = t->first; aware <= t->last; aware++)
        printf(" %10s", column(t, aware));
    putchar('\n');
    for (int i = 0; i < t->n; i++) {
        printf("%7d %7.2f %5d", t->checksums[i], t->percent[i], group_size(t, i));
        for (int aware = t->first; aware <= t->last; aware++)
            if (isnan(t->pcf[aware][i]))
                printf(" %10s", "-");
            else
                printf(" %10.3e", t->pcf[aware][i]);
        putchar('\n');
    }
    if (t->n == 1 && t->first == t->last) {
        printf("\nof which failures of\n");
        for (int j = 0; j < t->mc->nlevels; j++)
            printf("  %-12s %10.3e%s\n", t->mc->level[j].name, t->part[j],
                   j < t->first ? "" : "  each is taken to be fatal: not aware of this level");
    }
}

static void print_json(const struct table *t)
{
    printf("{\"domains\": ");
    json_text(opt.domains);
    printf(", \"ranks\": %d, \"parity\": %d, \"places\": \"%s\", \"rows\": [", opt.ranks,
           opt.parity, places_named[t->places].name);
    for (int i = 0; i < t->n; i++) {
        printf("%s\n  {\"checksums\": %d, \"percent\": %.6g, \"group\": %d, \"pcf\": {",
               i ? "," : "", t->checksums[i], t->percent[i], group_size(t, i));
        for (int aware = t->first; aware <= t->last; aware++) {
            printf("%s", aware > t->first ? ", " : "");
            json_text(column(t, aware));
            printf(": ");
            json_number(t->pcf[aware][i]);
        }
        printf("}}");
    }
    printf("\n]}\n");
}

void command_pcf(void)
{
    struct ft_domains d;
    struct ft_machine mc;
    static struct table t;
    load_machine(&d, &mc);
    t.mc = &mc;
    t.last = mc.nlevels;
    if (opt.aware)
        t.first = t.last = level_by_name(&d, opt.aware);
    t.places = find_places();
    if (places_named[t.places].places == FT_PCF_DEALT && !(t.per_node = d.per_node))
        fail("--places dealt: %s does not say how many processes are on each %s: 'process per N'",
             opt.domains, d.level[1].name);
    t.n = read_rows(t.checksums);
    compute(&t);
    if (opt.json)
        print_json(&t);
    else
        print_table(&t);
    ft_domains_finish(&d);
}
