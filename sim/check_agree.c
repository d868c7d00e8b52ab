/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_agree.c - what must hold of agreement. All adopt the same decision. It names dead processes
 * only, and is merged from the votes of all others. Everybody who lives decides. With one death the
 * number of messages is linear in n, and the depth is logarithmic.
 */
#include "model_agree.h"

static void votes(struct sim *s, const struct ft_decision *d)
{
    static struct ft_agree_data all, l;
    memset(&all, 0, sizeof all);
    for (int q = 0; q < s->o.n; q++) {
        if (ft_bit_get(&d->failed, q)) {
            if (!ft_bit_get(&agree_world(s)->crashed, q))
                sim_wrong(s, "%d was declared dead and lives", q);
            continue;
        }
        l = agree_local_of(s, q, d->generation - 1);
        all.committed = ft_max_u64(all.committed, l.committed);
        all.flags |= l.flags;
        if (s->o.n <= 64) /* larger jobs do not have these bits */
            ft_bitset_merge(&all.incomplete, &l.incomplete);
    }
    if (memcmp(&all, &d->data, sizeof all))
        sim_wrong(s, "generation %u: a vote is missing, or described another generation",
                  d->generation);
}

void sim_check_decision(struct sim *s, int p, const struct ft_decision *d)
{
    struct agree_info *all = agree_world(s)->info, *me = &all[p];
    uint64_t h = sim_hash(d, sizeof *d) | 1;
    int known = 0;
    if ((int)d->generation != me->generation + 1) {
        sim_wrong(s, "%d adopts generation %u after %d", p, d->generation, me->generation);
        return;
    }
    me->generation = (int)d->generation;
    if (d->generation > AGREE_GENERATIONS)
        return;
    me->log[d->generation] = h;
    for (int q = 0; q < s->o.n && !known;
         q++) { /* the first living process that has adopted one stands for all */
        if (q == p || !sim_alive(s, q) || !all[q].log[d->generation])
            continue;
        known = 1;
        if (all[q].log[d->generation] != h)
            sim_wrong(s, "two decisions for generation %u: at %d and %d", d->generation, q, p);
    }
    if (!known)
        votes(s, d);
}

static void step(struct sim *s, int p)
{
    if (s->o.n > 64 || !sim_alive(s, p))
        return;
    struct agree_proc *me = agree_load(s, p);
    ft_agree_check(&me->agree);
    ft_detect_check(&me->detect);
    agree_store(s, p);
}

static void linear(struct sim *s)
{
    uint64_t n = (uint64_t)s->o.n, log = 0;
    while (2ull << log < n)
        log++;
    /* both ends of each edge announce; each process announces to its next one; each edge has a
     * vote and a decision */
    if (s->sent > (n - 2) * 4 + n - 1)
        sim_wrong(s, "%" PRIu64 " messages for one death among %" PRIu64, s->sent, n);
    /* the news up and down the tree, the votes up, the decision down */
    if (s->o.timed && s->o.latency == 1 && s->now - agree_world(s)->died_at > 4 * (log + 2))
        sim_wrong(s, "%" PRIu64 " hops from the death to the last decision among %" PRIu64,
                  s->now - agree_world(s)->died_at, n);
}

static void quiet(struct sim *s)
{
    struct agree_world *w = agree_world(s);
    int dead = ft_bitset_count(&w->crashed), generation = -1;
    for (int p = 0; p < s->o.n; p++) {
        const struct agree_info *i = &w->info[p];
        if (!sim_alive(s, p))
            continue;
        generation = generation < 0 ? i->generation : generation;
        if (i->pending)
            sim_wrong(s, "all is quiet, and %d has an open ballot", p);
        if (i->known != dead || i->generation != generation)
            sim_wrong(s, "all is quiet, and %d has decided on %d deaths of %d, in generation %d", p,
                      i->known, dead, i->generation);
    }
    if (dead == 1 && s->o.timed)
        linear(s);
}

const struct sim_checker sim_check_agree = {"agreement", step, quiet};
