/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_demand.c - the tag never names an image that is not there, nobody flips to what is not tagged, and nothing hangs.
 */
#include "model_demand.h"

static int has(const struct demand_world *w, uint64_t v) { return w->slot[0] == v || w->slot[1] == v || w->slot[2] == v; }

static void step(struct sim *s, int p)
{
    const struct demand_world *w = demand_world(s);
    uint64_t latest = w->q.latest ? w->q.latest : 1;
    (void)p;
    if (!has(w, w->tag))
        sim_wrong(s, "the codeword holds image %" PRIu64 ", which is not there: q could not be rebuilt", w->tag);
    if (!has(w, latest))
        sim_wrong(s, "q's latest image %" PRIu64 " is not there", latest);
    if (w->folding && w->q_there && w->ch_there && !w->ballot && !has(w, w->folded))
        sim_wrong(s, "the codeword is computed from image %" PRIu64 ", which is not there", w->folded);
    if (w->q.latest && w->tag != w->q.latest && w->q.state != FT_OWNER_TAKEN && !w->ballot && w->q_there)
        sim_wrong(s, "q goes by image %" PRIu64 " and the codeword by %" PRIu64, w->q.latest, w->tag);
    if (w->flipped_to_nothing)
        sim_wrong(s, "q has flipped to an image that is not tagged");
}

static void quiet(struct sim *s)
{
    const struct demand_world *w = demand_world(s);
    if (w->ch.state != FT_CH_IDLE || w->q.state != FT_OWNER_NONE)
        sim_wrong(s, "all is quiet, and a demand checkpoint is under way");
    if (w->tag != (w->q.latest ? w->q.latest : 1))
        sim_wrong(s, "all is quiet, and the codeword holds image %" PRIu64 ", not %" PRIu64, w->tag, w->q.latest);
}

const struct sim_checker sim_check_demand = {"demand checkpoints", step, quiet};
