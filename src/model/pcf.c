/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcf.c - Eq. 7 to 9, and their generalisation to any number of codewords (docs/MODEL.md).
 */
#include "model/pcf.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"

#define MOST_PROCESSES (1 << 30)

static int ceil_div(int a, int b) { return (int)(((long)a + b - 1) / b); }

int ft_protection_groups(const struct ft_protection *p) { return p->checksums / p->m; }

int ft_protection_group_size(const struct ft_protection *p)
{
    return ceil_div(p->ranks, ft_protection_groups(p)) + p->m;
}

/* --- invalid arguments --- */

#define REFUSE(...)                       \
    do {                                  \
        snprintf(why, size, __VA_ARGS__); \
        return FT_ERR_ARG;                \
    } while (0)

enum ft_status ft_machine_check(const struct ft_machine *mc, char *why, size_t size)
{
    if (mc->nlevels < 1 || mc->nlevels > FT_MODEL_LEVELS)
        REFUSE("a machine has 1 to %d levels, not %d", FT_MODEL_LEVELS, mc->nlevels);
    for (int j = 0; j < mc->nlevels; j++) {
        const struct ft_model_level *l = &mc->level[j];
        if (l->elements < 1)
            REFUSE("level %s: it has %d elements", l->name, l->elements);
        if (j > 0 && l->elements > mc->level[j - 1].elements)
            REFUSE("level %s has %d elements, more than the level below it, %s (%d)", l->name,
                   l->elements, mc->level[j - 1].name, mc->level[j - 1].elements);
        if (!(l->b > 0) || !isfinite(l->b))
            REFUSE("level %s: b must be above 0, so that more failures at once are less probable, "
                   "not %g",
                   l->name, l->b);
        if (!(l->a >= 0) || !isfinite(l->a))
            REFUSE("level %s: a must be 0 or more, not %g", l->name, l->a);
    }
    return FT_OK;
}

/* The number of processes on each element of level j, if it is known; else 0. */
static int run_length(const struct ft_machine *mc, int j, const struct ft_protection *p)
{
    int per = mc->level[0].elements % mc->level[j].elements
                  ? 0
                  : mc->level[0].elements / mc->level[j].elements;
    return p->per_node <= MOST_PROCESSES / (per ? per : 1) ? p->per_node * per : 0;
}

/* The smallest possible number of processes of a group on one element, by the pigeonhole principle.
 * The holes are the groups, or the elements. */
static int least_share(const struct ft_machine *mc, int j, const struct ft_protection *p)
{
    int run = run_length(mc, j, p), all = p->ranks + p->checksums;
    return run ? ceil_div(run < all ? run : all, ft_protection_groups(p))
               : ceil_div(ft_protection_group_size(p), mc->level[j].elements);
}

static enum ft_status refuse_level(const struct ft_machine *mc, int j,
                                   const struct ft_protection *p, char *why, size_t size)
{
    const struct ft_model_level *l = &mc->level[j];
    int run = run_length(mc, j, p), n = 0;
    if (run)
        n = snprintf(why, size,
                     "no placement is aware of %s: each has %d processes, so that with %d groups "
                     "%d of a group share one",
                     l->name, run, ft_protection_groups(p), least_share(mc, j, p));
    else
        n = snprintf(why, size,
                     "no placement is aware of %s: there are %d, and %d processes in a group, so "
                     "that %d of a group share one",
                     l->name, l->elements, ft_protection_group_size(p), least_share(mc, j, p));
    if (n < 0 || (size_t)n >= size)
        return FT_ERR_ARG;
    /* run <= m g; or N / g + m <= m H */
    int groups = run               ? ceil_div(run, p->m)
                 : l->elements > 1 ? ceil_div(p->ranks, p->m * (l->elements - 1))
                                   : 0;
    why += n, size -= (size_t)n;
    n = snprintf(why, size, ", and %d can be rebuilt; possible: %s", p->m,
                 j ? mc->level[j - 1].name : "no level");
    if (n >= 0 && (size_t)n < size && groups && groups <= p->ranks)
        snprintf(why + n, size - (size_t)n, ", or with m = %d at least %d checksum processes", p->m,
                 p->m * groups);
    return FT_ERR_ARG;
}

enum ft_status ft_protection_check(const struct ft_machine *mc, const struct ft_protection *p,
                                   char *why, size_t size)
{
    if (p->ranks < 1)
        REFUSE("the number of ranks must be 1 or more, not %d", p->ranks);
    if (p->m < 1 || p->m > FT_MODEL_CODEWORDS)
        REFUSE("the number of codewords of a group, m, must be 1 to %d, not %d", FT_MODEL_CODEWORDS,
               p->m);
    if (p->checksums < p->m || p->checksums % p->m)
        REFUSE("%d checksum processes cannot be shared out, %d to a group", p->checksums, p->m);
    int groups = ft_protection_groups(p), members;
    if (groups > p->ranks)
        REFUSE("%d checksum processes, %d to a group, make %d groups of only %d ranks",
               p->checksums, p->m, groups, p->ranks);
    members = ft_protection_group_size(p) - p->m;
    if (p->m > members)
        REFUSE("m = %d is larger than a group, which has %d %s: copies would cost less", p->m,
               members, members == 1 ? "rank" : "ranks");
    if (p->aware < 0 || p->aware > mc->nlevels)
        REFUSE("there is no level %d: the machine has %d", p->aware, mc->nlevels);
    if (p->share < 0 || p->share > p->m)
        REFUSE("%d processes of a group cannot share an element: m = %d are rebuilt", p->share,
               p->m);
    if (p->per_node < 0)
        REFUSE("there cannot be %d processes on each %s", p->per_node, mc->level[0].name);
    if (p->per_node && (long)p->per_node * mc->level[0].elements < (long)p->ranks + p->checksums)
        REFUSE("%d ranks and %d checksum processes do not fit: the machine has %d %s with %d "
               "processes on each",
               p->ranks, p->checksums, mc->level[0].elements, mc->level[0].name, p->per_node);
    for (int j = 0; j < p->aware; j++)
        if (least_share(mc, j, p) > p->m)
            return refuse_level(mc, j, p, why, size);
    return FT_OK;
}

/* --- P_j(x) --- */

double ft_pcf_failures(const struct ft_model_level *l, int x) { return l->a * exp(-l->b * x); }

double ft_pcf_any_failure(const struct ft_model_level *l)
{
    return l->a * exp(-l->b) * (expm1(-l->b * l->elements) / expm1(-l->b)); /* a geometric series */
}

struct ft_pcf_use ft_pcf_use(const struct ft_machine *mc, int j, int processes, int per_node)
{
    int h = mc->level[j].elements;
    struct ft_protection p = {.per_node = per_node};
    int run = run_length(mc, j, &p), used = run ? ceil_div(processes, run) : processes;
    used = used < h ? used : h;
    return (struct ft_pcf_use){used, run ? run : ceil_div(processes, used > 0 ? used : 1)};
}

double ft_pcf_hits_of(const struct ft_machine *mc, int j, int x, int used)
{
    const struct ft_model_level *l = &mc->level[j];
    double spared = 1; /* none of x failures is of the elements that are used */
    for (int i = 0; i < x && spared > 0; i++)
        spared *= fmax(0, l->elements - used - i) / (l->elements - i);
    return ft_pcf_failures(l, x) * (1 - spared);
}

double ft_pcf_hits_of_level(const struct ft_machine *mc, int j, int processes, int per_node)
{
    const struct ft_model_level *l = &mc->level[j];
    int used = ft_pcf_use(mc, j, processes, per_node).used;
    double sum = 0;
    if (used == l->elements)
        return ft_pcf_any_failure(l);
    for (int x = 1; x <= l->elements; x++) {
        double now = ft_pcf_hits_of(mc, j, x, used);
        sum += now;
        if (now <= 1e-16 * sum)
            break;
    }
    return sum;
}

double ft_pcf_hits(const struct ft_machine *mc, int processes, int per_node)
{
    double sum = 0;
    for (int j = 0; j < mc->nlevels; j++)
        sum += ft_pcf_hits_of_level(mc, j, processes, per_node);
    return sum;
}

/* --- P_j(x_cf | x) --- */

/* The probability that k given elements are among the x of `elements` that fail, times the number
 * of ways to choose them in a set. Computed as a product of small factors, since the binomials
 * exceed the range of a double. */
double ft_pcf_given(int elements, double blocks, int block, int k, int x)
{
    FT_ASSERT(elements > 0 && block > 0 && block <= elements && k > 0 && x <= elements);
    double p = blocks;
    if (x < k || block < k)
        return 0;
    for (int i = 0; i < k; i++)
        p *= (double)(block - i) / (i + 1) * ((double)(x - i) / (elements - i));
    return p < 1 ? p : 1;
}

static double log_choose(int n, int k)
{
    return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

/* Of x failures among h elements exactly i hit the first e: hypergeometric. */
static double hits(int h, int e, int x, int i)
{
    if (i > e || i > x || x - i > h - e)
        return 0;
    return exp(log_choose(e, i) + log_choose(h - e, x - i) - log_choose(h, x));
}

/* k or more of them, without cancellation where that is improbable. low[i]: exactly i < k. */
static double hits_from(int h, int e, int x, int k, const double *low)
{
    double sum = 0;
    if ((double)x * e / h >= k) { /* x * e / h is the mean: 1 - sum is then no small number */
        for (int i = 0; i < k; i++)
            sum += low[i];
        return sum < 1 ? 1 - sum : 0;
    }
    double term = hits(h, e, x, k);
    for (int i = k; i <= e && i <= x && term > sum * 1e-18; i++) {
        sum += term;
        term *= (double)(e - i) * (x - i) / ((double)(i + 1) * (h - e - x + i + 1));
    }
    return sum;
}

/* Set by set, from the last: fatal(x) = P(k or more in this one) + sum over i < k of P(exactly i) *
 * fatal of the others (x - i). All terms are positive, so small probabilities are as exact as large
 * ones. */
void ft_pcf_given_aligned(int elements, int block, int k, int xmax, double *out)
{
    FT_ASSERT(k > 0 && k <= FT_MODEL_CODEWORDS + 1 && block > 0 && xmax <= elements &&
              xmax <= FT_PCF_EXACT_X);
    double low[FT_MODEL_CODEWORDS + 1];
    int last = elements % block ? elements % block : block;
    for (int x = 0; x <= xmax; x++)
        out[x] = x <= last ? (x >= k) : 0; /* at most the last set's elements can fail */
    for (int h = last + block; h <= elements; h += block)
        for (int x = xmax < h ? xmax : h; x >= 0;
             x--) { /* downwards: out[x - i] still belong to the previous sets */
            double fatal = 0;
            for (int i = 0; i < k; i++)
                fatal += (low[i] = hits(h, block, x, i)) * (x >= i ? out[x - i] : 0);
            out[x] = fatal + hits_from(h, block, x, k, low);
        }
    for (int x = 0; x <= xmax; x++)
        out[x] = fmin(out[x], 1);
}

/* --- Eq. 9 --- */

static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }

static double count_sets(const struct ft_machine *mc, int j, const struct ft_protection *p,
                         enum ft_pcf_places places, int block)
{
    int groups = ft_protection_groups(p), run = run_length(mc, j, p);
    if (places == FT_PCF_ANY || places == FT_PCF_DEALT)
        return places == FT_PCF_DEALT && run ? groups / gcd(groups, run) : groups;
    return ceil_div(mc->level[j].elements, block);
}

static double aware_level(const struct ft_machine *mc, int j, const struct ft_protection *p,
                          enum ft_pcf_places places)
{
    const struct ft_model_level *l = &mc->level[j];
    int least = least_share(mc, j, p), size = ft_protection_group_size(p);
    int share = p->share > least ? p->share : least, k = p->m / share + 1;
    int block = size < l->elements ? size : l->elements,
        exact = l->elements < FT_PCF_EXACT_X ? l->elements : FT_PCF_EXACT_X;
    double blocks = count_sets(mc, j, p, places, block), aligned[FT_PCF_EXACT_X + 1], sum = 0;
    double tail = ft_pcf_any_failure(l),
           each = -expm1(-l->b); /* P(x and more) = P(x) / each, but for the last elements */
    if (places == FT_PCF_ALIGNED) {
        while (exact > k && ft_pcf_failures(l, exact) / each <
                                1e-30 * tail) /* too improbable to be worth the work */
            exact--;
        ft_pcf_given_aligned(l->elements, block, k, exact, aligned);
    }
    for (int x = 1; x <= l->elements; x++) {
        /* x in two failures: the sum of P(y) P(x - y) over y < x is (x - 1) a P(x) */
        double now = ft_pcf_failures(l, x) * (1 + (x - 1) * l->a * mc->window);
        double given = places != FT_PCF_ALIGNED ? ft_pcf_given(l->elements, blocks, block, k, x)
                       : x <= exact             ? aligned[x]
                                                : 1;
        sum += now * given;
        if (now / each <= 1e-16 * sum || now == 0)
            break;
    }
    return sum;
}

double ft_pcf(const struct ft_machine *mc, const struct ft_protection *p, enum ft_pcf_places places,
              double *part)
{
    double sum = 0;
    for (int j = 0; j < mc->nlevels; j++) {
        double of_level = j < p->aware ? aware_level(mc, j, p, places)
                          : places == FT_PCF_ANY || places == FT_PCF_DEALT
                              ? ft_pcf_hits_of_level(mc, j, p->ranks + p->checksums, p->per_node)
                              : ft_pcf_any_failure(&mc->level[j]);
        sum += of_level;
        if (part)
            part[j] = of_level;
    }
    return sum;
}
