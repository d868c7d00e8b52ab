/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job_draw.c - what the seed draws of a simulated job: its size, what goes wrong in it, and the
 * configuration of its processes. job_places.c draws where things go wrong.
 */
#include "job_draw.h"

#include <stdio.h>
#include <string.h>

#include "job_mutant.h"
#include "job_places.h"
#include "job_shell.h"
#include "model_job.h"

/* The configuration of the job under way. Only cfg.self changes. */
static struct ft_groups groups;
static struct ft_process_cfg cfg;

const struct ft_groups *job_groups(void) { return &groups; }
const struct ft_process_cfg *job_cfg(void) { return &cfg; }

const struct ft_process_cfg *job_cfg_of(int self)
{
    cfg.self = self;
    return &cfg;
}

static void draw_demand(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int small = s->o.ops > 1; /* all orders will be tried, so little else may happen */
    w->asks = small ? 1 : 1 + (int)ft_prng_below(r, 20);
    if (small)
        w->accesses = w->refuses = w->diverges = w->slow = w->every = w->dues = 0;
    w->stream = ft_prng_below(r, 2) != 0;
    w->local = w->local || ft_prng_below(r, 2);
    w->no_run = 0;
    w->nchecksums = w->nchecksums ? w->nchecksums : s->o.n > w->nranks;
    if (w->nchecksums == 2 && ft_prng_below(r, 2))
        w->parity = 2;
    if (w->nchecksums == 1)
        w->parity = 1;
    if (s->o.everywhere)
        job_draw_alone(s);
}

/* With --starters there are so many ranks and one checkpoint only, so that all its orders can be
 * tried. Before it all enter body, in one fixed order, and mains do not come to body's end. --ops
 * is the number of safepoints that they may pass before the checkpoint. The seed is one more than
 * the number of accesses. Nobody is late, so only a death calls the checkpoint off. */
static void draw_one_checkpoint(struct sim *s)
{
    struct job_world *w = job_world(s);
    w->alone = 1;
    w->nranks = s->o.starters;
    w->nchecksums = w->parity = 1;
    w->dues = 1;
    w->local = 1;
    w->length = UINT64_MAX;
    w->accesses = (int)(s->o.seed - 1);
    w->every = w->slow = w->refuses = w->diverges = w->no_run = w->offs = 0;
}

void job_draw(struct sim *s)
{
    struct job_world *w = job_world(s);
    struct ft_prng *r = &s->rng;
    int n = s->o.n;
    w->nchecksums = (int)ft_prng_below(r, n < 3 ? (uint64_t)n : 3);
    int most = n - w->nchecksums;
    if (ft_prng_below(r, 4)) /* spares are left */
        most = (most + 1) / 2;
    w->nranks = 1 + (int)ft_prng_below(r, (uint64_t)most);
    if (w->nranks < w->nchecksums) /* strided groups need a rank each */
        w->nchecksums = w->nranks;
    int spares = n - w->nranks - w->nchecksums;
    if (s->crashes > spares + 1 && ft_prng_below(r, 4)) /* most jobs survive */
        s->crashes = (int)ft_prng_below(r, (uint64_t)spares + 2);
    w->dues = (int)ft_prng_below(r, 6);
    w->refuses = ft_prng_below(r, 3) ? 0 : 2;
    w->no_run = ft_prng_below(r, 8) == 0;
    w->length = ft_prng_below(r, (uint64_t)(s->o.ops > 1 ? s->o.ops : 30));
    w->local = ft_prng_below(r, 2) != 0;
    w->diverges = (int)ft_prng_below(r, 3);
    w->parity = w->nchecksums == 2 ? 1 + (int)ft_prng_below(r, 2) : 1;
    w->every = ft_prng_below(r, 3) ? 0 : 1 + (int)ft_prng_below(r, 5);
    if (w->every)
        w->dues = 0;
    w->slow = ft_prng_below(r, 2) != 0;
    w->accesses = (int)ft_prng_below(r, 3);
    if (s->m == &sim_model_told) {
        w->told = 1;
        w->local = w->diverges = 0;
        w->length %= 10; /* body begins again after each loss */
        w->nchecksums = w->nchecksums ? w->nchecksums : n > w->nranks;
        if (w->nchecksums == 1)
            w->parity = 1;
    }
    if (s->m == &sim_model_nodes) {
        w->node_slots = 1 + (int)ft_prng_below(r, n > 4 ? 3 : 2);
        w->node_deaths = (uint32_t)ft_prng_below(r, 1 << 9);
    }
    w->alg = s->o.alg;
    if (w->alg) {
        w->accesses += (int)ft_prng_below(r, s->o.ops > 1 ? (uint64_t)s->o.ops : 40);
        w->offs = (int)ft_prng_below(r, 2);
    }
    if (s->o.everywhere)
        job_draw_places(s);
    if (s->o.starters > 1 && s->o.starters < n)
        draw_one_checkpoint(s);
    if (s->o.demand)
        draw_demand(s);
}

/* The nodes of slots; groups are not known. */
static struct ft_where *know_nodes(const struct sim *s)
{
    static struct ft_domains domains;
    static int node_of[FT_MAX_SLOTS];
    static struct ft_where where = {.domains = &domains, .node_of = node_of};
    char text[64], why[200];
    snprintf(text, sizeof text, "level node count %d\n", 1 + job_node(s, s->o.n - 1));
    ft_domains_finish(&domains);
    FT_ASSERT(ft_domains_parse("nodes", text, strlen(text), &domains, why, sizeof why) == FT_OK);
    for (int i = 0; i < s->o.n; i++)
        node_of[i] = job_node(s, i);
    return &where;
}

void job_configure(const struct sim *s)
{
    static const enum ft_broken broken[] = {
        FT_BROKEN_NOTHING,
#define JOB_MUTANT(id, name, broken) broken,
#include "job_mutant.def"
#undef JOB_MUTANT
    };
    const struct job_world *w = job_world(s);
    char why[200];
    ft_groups_finish(&groups);
    memset(&groups, 0, sizeof groups);
    if (w->nchecksums)
        FT_ASSERT(ft_groups_init(&groups, w->nranks, w->nchecksums, w->parity, NULL, why,
                                 sizeof why) == FT_OK);
    cfg = (struct ft_process_cfg){.nslots = s->o.n,
                                  .nranks = w->nranks,
                                  .nchecksums = w->nchecksums,
                                  .local = !w->local       ? FT_LOCAL_NO
                                           : w->node_slots ? FT_LOCAL_ON_NODE
                                                           : FT_LOCAL_ANYWHERE,
                                  .where = w->node_slots ? know_nodes(s) : NULL,
                                  .why_not = w->told ? FT_FALLBACK_PROGRAM : 0,
                                  .groups = w->nchecksums ? &groups : NULL,
                                  .carrier = {.nranks = w->nranks,
                                              .parity = w->nchecksums ? w->parity : 0,
                                              .checkpoints = w->nchecksums > 0,
                                              .logs = !w->told,
                                              .told = w->told,
                                              .every = w->every,
                                              .snapshot = w->alg,
                                              .demand = s->o.demand && w->nchecksums > 0,
                                              .stream = s->o.demand && w->stream,
                                              .broken = (int)broken[s->o.mutant]}};
    for (int i = 0; i < s->o.n; i++)
        ft_bit_set(&cfg.neighbours, i);
}
