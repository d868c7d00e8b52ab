/* SPDX-License-Identifier: BSD-3-Clause
 *
 * montecarlo.c - draws failures at random on a placement.
 */
#include "model/montecarlo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#define Z 2.5758293035489004 /* of the normal distribution, FT_MC_CONFIDENCE within +-Z */

/* The processes of each element, as the groups they are in: groups[first[e]] ... groups[first[e +
 * 1] - 1]. */
struct level {
    int elements, *first, *groups;
    int *order; /* a permutation of the elements, shuffled as far as it is used */
};

struct group_losses {
    int *count; /* [ngroups] */
    /* [ngroups]: the trial in which count was begun, so that it need not be reset. */
    uint64_t *trial;
};

static double uniform(struct ft_prng *random)
{
    return (double)(ft_prng_next(random) >> 11) * 0x1p-53;
}

static enum ft_status level_init(struct level *l, int elements, const struct ft_mc_places *places,
                                 const int *element)
{
    l->elements = elements;
    l->first = calloc((size_t)elements + 2, sizeof *l->first);
    l->groups = malloc(((size_t)places->nprocesses + 1) * sizeof *l->groups);
    l->order = malloc((size_t)elements * sizeof *l->order);
    if (!l->first || !l->groups || !l->order)
        return FT_ERR_NOMEM;
    /* Counting sort: first[e + 2] counts e, then first[e + 1] is where e begins and moves on to
     * where it ends. */
    for (int p = 0; p < places->nprocesses; p++)
        l->first[element[p] + 2] += places->group[p] >= 0;
    for (int e = 0; e < elements; e++)
        l->first[e + 2] += l->first[e + 1];
    for (int p = 0; p < places->nprocesses; p++)
        if (places->group[p] >= 0)
            l->groups[l->first[element[p] + 1]++] = places->group[p];
    for (int e = 0; e < elements; e++)
        l->order[e] = e;
    return FT_OK;
}

static void level_finish(struct level *l)
{
    free(l->first);
    free(l->groups);
    free(l->order);
}

/* Draws x with the probability P(x) / (P(1) + ... + P(elements)): the truncated geometric
 * distribution, by inversion. */
static int draw_count(const struct ft_model_level *l, struct ft_prng *random)
{
    double u = uniform(random) * -expm1(-l->b * l->elements);
    double x = 1 + floor(-log1p(-u) / l->b);
    return x < l->elements ? (int)x : l->elements;
}

static int fatal(struct level *l, int x, int m, uint64_t trial, struct group_losses *lost,
                 struct ft_prng *random)
{
    for (int i = 0; i < x; i++) {
        int at = i + (int)ft_prng_below(random, (uint64_t)(l->elements - i)), e = l->order[at];
        l->order[at] = l->order[i];
        l->order[i] = e;
        for (int p = l->first[e]; p < l->first[e + 1]; p++) {
            int g = l->groups[p];
            if (lost->trial[g] != trial) {
                lost->trial[g] = trial;
                lost->count[g] = 0;
            }
            if (++lost->count[g] > m)
                return 1;
        }
    }
    return 0;
}

/* Wilson's interval, which is valid also without hits. */
static void wilson(struct ft_mc_level *l, double scale)
{
    double n = (double)l->trials, p = (double)l->hits / n, z = Z * Z / n;
    double centre = (p + z / 2) / (1 + z), half = Z * sqrt(p * (1 - p) / n + z / (4 * n)) / (1 + z);
    l->p = scale * p;
    l->low = l->hits ? scale * fmax(centre - half, 0) : 0;
    l->high = l->hits < l->trials ? scale * fmin(centre + half, 1) : scale;
}

enum ft_status ft_montecarlo(const struct ft_machine *mc, const struct ft_mc_places *places,
                             uint64_t trials, struct ft_prng *random, struct ft_mc *out)
{
    FT_ASSERT(trials > 0 && places->ngroups > 0 && places->m > 0);
    struct group_losses lost = {.count = malloc((size_t)places->ngroups * sizeof *lost.count),
                                .trial = calloc((size_t)places->ngroups, sizeof *lost.trial)};
    struct ft_mc got = {.p = 0};
    double below = 0, above = 0;
    uint64_t trial = 0;
    enum ft_status st = lost.count && lost.trial ? FT_OK : FT_ERR_NOMEM;
    for (int j = 0; j < mc->nlevels && !st; j++) {
        struct ft_mc_level *now = &got.level[j];
        struct level l = {0};
        if (mc->level[j].a > 0 &&
            !(st = level_init(&l, mc->level[j].elements, places, places->element[j]))) {
            for (now->trials = 0; now->trials < trials; now->trials++)
                now->hits += (uint64_t)fatal(&l, draw_count(&mc->level[j], random), places->m,
                                             ++trial, &lost, random);
            wilson(now, ft_pcf_any_failure(&mc->level[j]));
        }
        level_finish(&l);
        got.p += now->p;
        below += (now->p - now->low) * (now->p - now->low);
        above += (now->high - now->p) * (now->high - now->p);
    }
    free(lost.count);
    free(lost.trial);
    if (st)
        return st;
    got.low = got.p - sqrt(below);
    got.high = got.p + sqrt(above);
    *out = got;
    return FT_OK;
}

enum ft_status ft_mc_place_worst(const struct ft_machine *mc, const struct ft_protection *p,
                                 int *node, int *group)
{
    int total = p->ranks + p->checksums, groups = ft_protection_groups(p),
        size = ft_protection_group_size(p);
    int nodes = mc->level[0].elements, slots = (total + nodes - 1) / nodes;
    for (int j = 1; j < mc->nlevels; j++)
        if (mc->level[j - 1].elements % mc->level[j].elements)
            return FT_ERR_ARG;
    int wide = p->aware ? mc->level[p->aware - 1].elements
                        : total; /* elements to choose from, and the places in each */
    int sets = wide / size, deep = p->aware ? nodes / wide : 1, made = 0;
    if (p->aware && sets == 0)
        return FT_ERR_ARG;
    for (int g = 0; g < groups; g++) {
        int members = p->ranks / groups + (g < p->ranks % groups) + p->m;
        int place = g / (sets ? sets : 1) % deep, set = g % (sets ? sets : 1);
        for (int i = 0; i < members; i++, made++) {
            group[made] = g;
            node[made] = p->aware ? (set * size + i) * deep + place : made / slots;
        }
    }
    FT_ASSERT(made == total);
    return FT_OK;
}
