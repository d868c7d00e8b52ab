/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check_images.c - no tag names an image that is not there, and nobody flips to an image that is
 * not tagged everywhere. So whatever checksum process is left, its codeword gives blocks that fit
 * together, and no image is older than the beginning of the logs.
 */
#include "sim_images.h"

/* as it is said: 0 is the committed one */
static uint64_t number(uint64_t version) { return FT_VERSION_NUMBER(version); }

/* The version of member k's image in the latest codeword i; 0: that codeword is being replaced. */
static uint64_t tag_of(const struct sim_group *g, int i, int k)
{
    return g->code[i].lost ? 0 : g->code[i].images->tag[k];
}

static int is_lifted(const struct sim_images *ch, int k, uint64_t v)
{
    return ch->lifted == v && ch->lifted_of == k;
}

static void images(struct sim *s, const struct sim_group *g, int k)
{
    const struct sim_group_proc *q = &g->member[k];
    const struct sim_images *has = q->images;
    uint64_t latest = sim_images_latest(has);
    int over =
        g->stream && !sim_images_has(has, latest); /* it is being replaced, or about to flip */
    for (int i = 0; i < g->codes; i++) {
        const struct sim_group_proc *ch = &g->code[i];
        uint64_t tag = tag_of(g, i, k);
        if (!ch->settled && g->codes > 1)
            continue; /* it will go by the lead, and nobody else is lost before that */
        if (tag && !sim_images_has(has, tag) && !is_lifted(ch->images, k, tag))
            sim_wrong(s,
                      "codeword %d holds image %" PRIu64
                      " of %d, which is not there: nobody could be rebuilt",
                      i, number(tag), q->p);
        if (over && tag && !is_lifted(ch->images, k, latest) && tag != has->slot[1])
            sim_wrong(s,
                      "latest image %" PRIu64
                      " of %d is not there, and nobody has lifted it from codeword %d",
                      number(latest), q->p, i);
        if (tag && tag < latest && q->settled)
            sim_wrong(s, "codeword %d holds image %" PRIu64 " of %d, which has flipped to %" PRIu64,
                      i, number(tag), q->p, number(latest));
    }
    if (over && has->wish >= 0 && q->c->demand.owner.state != FT_OWNER_TAKEN && !has->taken)
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there, and none follows it",
                  number(latest), q->p);
    if (!g->stream && !sim_images_has(has, latest))
        sim_wrong(s, "latest image %" PRIu64 " of %d is not there", number(latest), q->p);
}

/* Main is making this one, and its answer will count. */
static int folds(const struct ft_carrier *ch, int rank)
{
    return ch->cmd.kind == FT_CMD_FOLD && ch->demand.folding == ch->cmd.number &&
           ch->heard.answered != ch->cmd.number && ch->demand.fold_rank == rank;
}

static void member(struct sim *s, const struct sim_group *g, int k)
{
    const struct sim_group_proc *q = &g->member[k];
    if (q->lost)
        return; /* it is being rebuilt, and what it had is gone */
    images(s, g, k);
    for (int i = 0; i < g->codes && g->quiet && q->settled; i++) {
        const struct sim_group_proc *ch = &g->code[i];
        uint64_t tag = tag_of(g, i, k), v = ch->c->demand.fold_version;
        if (!ch->lost && folds(ch->c, q->rank) && !sim_images_has(q->images, v))
            sim_wrong(s, "codeword %d is computed from image %" PRIu64 " of %d, which is not there",
                      i, number(v), q->p);
        if (tag && tag != sim_images_latest(q->images) &&
            q->c->demand.owner.state != FT_OWNER_TAKEN && ch->settled)
            sim_wrong(s, "%d goes by image %" PRIu64 " and codeword %d by %" PRIu64, q->p,
                      number(q->images->latest), i, number(tag));
    }
}

void sim_check_group(struct sim *s, const struct sim_group *g)
{
    for (int k = 0; k < g->members; k++)
        member(s, g, k);
}

void sim_check_flip(struct sim *s, const struct sim_group *g, int k, uint64_t version)
{
    for (int i = 0; i < g->codes; i++) {
        uint64_t tag = tag_of(g, i, k);
        if (tag && version != tag)
            sim_wrong(s, "%d has flipped to an image that is not tagged", g->member[k].p);
    }
}
