/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_montecarlo.c - ftrma-model montecarlo: random failures on the library's placement, compared
 * with the formula.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/base.h"
#include "model/montecarlo.h"
#include "tools/model.h"
#include "topology/placement.h"

struct placed {
    int n, *node, *group; /* [n] */
    int aware;            /* level: of the placement, not only what was asked for */
};

static void *need(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        fail("out of memory");
    return p;
}

/* Places as ftrun does. If the machine's text does not say where processes are, they are spread
 * evenly. */
static void place_by_library(const struct ft_domains *d, const struct ft_protection *p,
                             struct placed *out)
{
    struct ft_place_ask ask = {p->ranks, p->checksums, p->m, opt.aware ? p->aware : FT_AWARE_BEST};
    struct ft_placement pl;
    char why[512];
    if (d->per_node > 0 || d->nprocesses > 0)
        for (int i = 0; i < out->n; i++) {
            out->node[i] = ft_domains_node_of(d, i);
            if (out->node[i] < 0)
                fail("%s does not say where process %d of %d runs", opt.domains, i, out->n);
        }
    else
        ft_domains_spread(d, out->n, out->node);
    enum ft_status st = ft_place(d, out->node, out->n, &ask, &pl, why, sizeof why);
    if (st)
        fail("%s", st == FT_ERR_ARG ? why : ft_status_string(st));
    for (int i = 0; i < out->n; i++)
        out->group[i] = pl.pos_of[i] < 0 ? -1 : pl.group_of[pl.pos_of[i]];
    out->aware = pl.aware;
    ft_placement_finish(&pl);
}

static void place(const struct ft_domains *d, const struct ft_machine *mc, struct ft_protection *p,
                  struct placed *out)
{
    int worst = opt.placement && strcmp(opt.placement, "worst") == 0;
    char why[512];
    if (opt.placement && !worst && strcmp(opt.placement, "library") != 0)
        fail("--placement is library or worst, not '%s'", opt.placement);
    if (ft_protection_check(mc, p, why, sizeof why))
        fail("%s", why);
    out->n = p->ranks + p->checksums;
    out->node = need((size_t)out->n, sizeof *out->node);
    out->group = need((size_t)out->n, sizeof *out->group);
    out->aware = p->aware;
    if (!worst)
        place_by_library(d, p, out);
    else if (ft_mc_place_worst(mc, p, out->node, out->group))
        fail("--placement worst is for regular machines, where each count is a multiple of the "
             "next, and for groups that are not "
             "larger than "
             "the number of elements");
    if (!opt.aware)
        p->aware = out->aware;
}

static void run(const struct ft_domains *d, const struct ft_machine *mc,
                const struct ft_protection *p, struct placed *at, struct ft_mc *got)
{
    struct ft_mc_places places = {at->n, ft_protection_groups(p), p->m, at->group, {NULL}};
    struct ft_prng random = {opt.seed};
    int *element = need((size_t)at->n * (size_t)mc->nlevels, sizeof *element);
    for (int j = 0; j < mc->nlevels; j++) {
        places.element[j] = element + (size_t)j * (size_t)at->n;
        for (int i = 0; i < at->n; i++)
            element[(size_t)j * (size_t)at->n + (size_t)i] = ft_domains_at(d, at->node[i], j + 1);
    }
    if (ft_montecarlo(mc, &places, opt.trials, &random, got))
        fail("out of memory");
    free(element);
}

struct result_row {
    const char *name;
    double paper, exact, bound, p, low, high;
};

static void print_row(const struct result_row *r)
{
    if (opt.json) {
        printf("{\"of\": ");
        json_text(r->name);
        printf(", \"formula\": %.9g, \"exact\": %.9g, \"bound\": %.9g, \"tried\": %.9g, \"low\": "
               "%.9g, \"high\": %.9g}",
               r->paper, r->exact, r->bound, r->p, r->low, r->high);
        return;
    }
    printf("%-12s %10.3e %10.3e %10.3e %10.3e  %9.3e .. %9.3e ", r->name, r->paper, r->exact,
           r->bound, r->p, r->low, r->high);
    if (r->low <= r->exact * (1 + 1e-9) && r->exact <= r->high * (1 + 1e-9))
        printf("   agrees\n");
    else if (r->p > 0)
        printf("%9.3g\n", r->exact / r->p);
    else
        printf(" > %6.3g\n", r->exact / r->high);
}

void command_montecarlo(void)
{
    struct ft_domains d;
    struct ft_machine mc;
    struct ft_mc got;
    struct placed at = {0};
    struct ft_protection p = {.ranks = opt.ranks, .m = opt.parity};
    double paper[FT_MODEL_LEVELS], exact[FT_MODEL_LEVELS], bound[FT_MODEL_LEVELS];
    if (opt.seed == NO_SEED && getrandom(&opt.seed, sizeof opt.seed, 0) != sizeof opt.seed)
        fail("no random seed: %s", strerror(errno));
    opt.seed &= INT64_MAX; /* so that what is printed can be passed as an option */
    load_machine(&d, &mc);
    if (!opt.checksums)
        fail("montecarlo needs --checksums");
    p.checksums = parse_checksums(opt.checksums);
    p.aware = opt.aware ? level_by_name(&d, opt.aware) : 0;
    place(&d, &mc, &p, &at);
    struct ft_protection real = p;
    real.aware = at.aware; /* the formula uses the requested level, the bound the placement's */
    real.per_node = !opt.placement || strcmp(opt.placement, "library") == 0 ? d.per_node : 0;
    struct result_row all = {"all",
                             ft_pcf(&mc, &p, FT_PCF_PAPER, paper),
                             ft_pcf(&mc, &p, FT_PCF_ALIGNED, exact),
                             ft_pcf(&mc, &real, FT_PCF_DEALT, bound),
                             0,
                             0,
                             0};
    run(&d, &mc, &p, &at, &got);
    all.p = got.p, all.low = got.low, all.high = got.high;
    if (opt.json) {
        printf("{\"seed\": %llu, \"trials\": %llu, \"confidence\": %g, \"ranks\": %d, "
               "\"checksums\": %d, \"parity\": %d, "
               "\"aware\": ",
               (unsigned long long)opt.seed, (unsigned long long)opt.trials, FT_MC_CONFIDENCE,
               p.ranks, p.checksums, p.m);
        json_text(aware_name(&mc, p.aware));
        printf(", \"placed\": ");
        json_text(aware_name(&mc, at.aware));
        printf(", \"rows\": [\n  ");
    } else {
        printf("%s: ", opt.domains);
        print_machine(&mc);
        printf("\nN = %d, |CH| = %d, m = %d, placement %s, aware of %s; Eq. 9 for awareness of "
               "%s\n%llu failures of each level, "
               "--seed %llu\n\n",
               p.ranks, p.checksums, p.m, opt.placement ? opt.placement : "library",
               aware_name(&mc, at.aware), aware_name(&mc, p.aware), (unsigned long long)opt.trials,
               (unsigned long long)opt.seed);
        printf("%-12s %10s %10s %10s %10s  %22s %9s\n", "failures of", "Eq. 9", "exactly", "bound",
               "tried", "99 % interval", "exactly /");
        printf("%89s\n", "tried");
    }
    for (int j = 0; j < mc.nlevels; j++) {
        const struct ft_mc_level *l = &got.level[j];
        print_row(&(struct result_row){mc.level[j].name, paper[j], exact[j], bound[j], l->p, l->low,
                                       l->high});
        fputs(opt.json ? ",\n  " : "", stdout);
    }
    print_row(&all);
    fputs(opt.json ? "\n]}\n" : "", stdout);
    free(at.node);
    free(at.group);
    ft_domains_finish(&d);
}
