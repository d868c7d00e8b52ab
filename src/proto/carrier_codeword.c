/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_codeword.c - what a checksum process does about images that ranks take alone (C8): the
 * staging of a codeword, the lead's tag in a new generation, and the images that a codeword is
 * rebuilt from.
 */
#include "proto/carrier_codeword.h"

#include <string.h>

#include "base/version.h"

#define RANKS_LIVE (1u << 31) /* a bit of what FT_LOOK_GROUP shows: all ranks are live */

static struct ft_carry_demand *part(const struct ft_carry *x) { return &x->c->demand; }

static void act(const struct ft_carry *x, struct ft_demand_action a)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    int main_first = a.act == FT_DEMAND_LIFT || a.act == FT_DEMAND_FOLD;
    if (main_first) {
        d->fold = a.act == FT_DEMAND_LIFT ? FT_CMD_LIFT : FT_CMD_FOLD;
        d->fold_rank = a.msg.rank;
        d->fold_version = a.msg.version;
        d->folded = d->untagged = 0; /* one of these two will be overwritten */
    } else if (a.act == FT_DEMAND_TAG) {
        d->untagged = c->latest;
        ft_carry_demand_publish(x, d->folded);
    } else if (a.act == FT_DEMAND_UNTAG) {
        ft_carry_demand_publish(x, d->untagged);
    }
    if (!a.to && !main_first)
        ft_carry_demand_say(x, a.msg.rank, a.msg);
    for (int i = 0; i < x->cfg->parity; i++)
        if (a.to >> i & 1)
            ft_carry_demand_say(x, FT_TO_HELPER(i), a.msg);
}

int ft_carry_demand_command(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    /* The slot holds a codeword that may be committed. [This process has answered LEAVE, and COMMIT
     * is on its way. The rank whose image it is to fold has heard COMMIT already.] */
    if (x->c->complete > x->c->committed && x->cfg->broken != FT_BROKEN_FOLDS_OVER)
        return 0;
    /* The answer would not count. [The lead has resumed before this helper.] */
    if (ft_carry_demand_frozen(x) && x->cfg->broken != FT_BROKEN_FOLDS_FROZEN)
        return 0;
    if (d->fold == FT_CMD_NONE || !ft_place_takes(x->c->heard.place, (enum ft_command)d->fold))
        return 0;
    ft_carry_command(x, (enum ft_command)d->fold,
                     (struct ft_command_arg){.rank = d->fold_rank, .version = d->fold_version});
    d->folding = x->c->cmd.number;
    d->fold = FT_CMD_NONE;
    return 1;
}

void ft_carry_demand_answered(const struct ft_carry *x, uint64_t number, const struct ft_answer *a)
{
    struct ft_carry_demand *d = part(x);
    int lift = d->ch.state == FT_CH_LIFTING || d->ch.state == FT_CH_LIFTS;
    if (number != d->folding)
        return; /* the staging that it was for is void */
    d->folding = 0;
    if (ft_carry_demand_frozen(x))
        return; /* a new generation begins, and with it a new staging */
    if (!lift)
        d->folded = a->version;
    int ok = a->version != 0;
    act(x, lift ? ft_demand_ch_lifted(&d->ch, ok) : ft_demand_ch_folded(&d->ch, ok));
}

uint32_t ft_carry_codeword_group(const struct ft_carry *x) { return (1u << x->cfg->parity) - 1; }

static int leads(const struct ft_carry *x) { return part(x)->ch.index == part(x)->ch.lead; }

/* Whether the lead may begin a staging, as far as this process knows: no order is under way here.
 */
static int can_begin(const struct ft_carry *x)
{
    const struct ft_carrier *c = x->c;
    const struct ft_carry_demand *d = part(x);
    return leads(x) && d->fold == FT_CMD_NONE && !d->folding && d->ch.state == FT_CH_IDLE &&
           !ft_bitset_empty(&d->ch.wanted) && c->order.kind == FT_ORDER_NONE && !c->incomplete &&
           c->committed > 0 && !(c->facts & FT_FACT_RUN_OVER) && ft_carry_stands(x);
}

void ft_carry_codeword_goes_on(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    uint32_t whole = ft_carry_codeword_group(x) | RANKS_LIVE;
    if (d->unsettled)
        return;
    if (d->ch.state == FT_CH_RESUMING && !(d->ch.chain & ~d->here))
        act(x, ft_demand_ch_resume(&d->ch));
    else if (can_begin(x) && (d->here & whole) == whole)
        act(x, ft_demand_ch_ready(&d->ch, x->cfg->nranks, ft_carry_codeword_group(x)));
}

void ft_carry_codeword_hears(const struct ft_carry *x, const struct ft_demand_msg *msg)
{
    act(x, ft_demand_ch_msg(&part(x)->ch, msg));
}

int ft_carry_codeword_looks(const struct ft_carry *x)
{
    const struct ft_carry_demand *d = part(x);
    uint32_t whole = ft_carry_codeword_group(x) | RANKS_LIVE;
    return leads(x) && !d->unsettled &&
           (d->ch.state == FT_CH_RESUMING || (can_begin(x) && (d->here & whole) != whole));
}

/* --- the tag, in a new generation --- */

static struct ft_demand_msg tag_is(const struct ft_carry *x)
{
    const struct ft_demand_ch *m = &part(x)->ch;
    return (struct ft_demand_msg){.kind = FT_DEMAND_TAG_IS,
                                  .generation = x->c->generation,
                                  .rank = m->tagged.rank,
                                  .ch = (uint32_t)m->index,
                                  .version = m->tagged.version};
}

/* All helpers go by the lead's tag now. So ranks may hear it, and checksum processes that are to be
 * rebuilt. */
static void all_have_heard(const struct ft_carry *x)
{
    uint32_t others = ft_carry_codeword_group(x) & ~part(x)->news.there;
    ft_action_add(x->out, FT_DO_SAY_TAGS, 0)->demand = tag_is(x);
    for (int i = 0; i < x->cfg->parity; i++)
        if (others >> i & 1)
            ft_carry_demand_say(x, FT_TO_HELPER(i), tag_is(x));
}

void ft_carry_codeword_leads(const struct ft_carry *x)
{
    struct ft_carry_demand *d = part(x);
    uint32_t helpers = d->news.there & ~(1u << d->ch.index);
    act(x, ft_demand_ch_generation(&d->ch, &d->news));
    d->unsettled = helpers;
    for (int i = 0; i < x->cfg->parity; i++)
        if (helpers >> i & 1)
            ft_carry_demand_say(x, FT_TO_HELPER(i), tag_is(x));
    if (!helpers || x->cfg->broken == FT_BROKEN_TELLS_FIRST)
        all_have_heard(x);
}

void ft_carry_codeword_settles(const struct ft_carry *x, const struct ft_demand_msg *m)
{
    struct ft_carry_demand *d = part(x);
    if (!(d->news.there >> d->ch.index &
          1)) { /* it was replaced, and will have what the lead has */
        d->ch.tagged = (struct ft_demand_image){.rank = m->rank, .version = m->version};
        return;
    }
    d->news.tag = m->rank == d->ch.rank ? m->version : 0;
    act(x, ft_demand_ch_generation(&d->ch, &d->news));
    ft_carry_demand_say(x, FT_TO_HELPER((int)m->ch),
                        (struct ft_demand_msg){.kind = FT_DEMAND_TAG_HEARD,
                                               .generation = x->c->generation,
                                               .rank = m->rank,
                                               .ch = (uint32_t)d->ch.index});
}

void ft_carry_codeword_tag_heard(const struct ft_carry *x, const struct ft_demand_msg *m)
{
    struct ft_carry_demand *d = part(x);
    uint32_t before = d->unsettled;
    if (m->generation != x->c->generation)
        return;
    d->unsettled &= ~(1u << m->ch);
    if (before && !d->unsettled && x->cfg->broken != FT_BROKEN_TELLS_FIRST)
        all_have_heard(x);
}

/* --- a codeword that is to be rebuilt --- */

/* Like TAG_IS, it may be of the next generation. [This process is still a spare then.] */
void ft_carry_codeword_latest_is(const struct ft_carry *x, const struct ft_demand_msg *m)
{
    struct ft_carrier *c = x->c;
    struct ft_carry_demand *d = part(x);
    if (m->generation < c->generation || m->generation < d->said_in ||
        (m->generation == c->generation && !c->incomplete))
        return;
    if (d->said_in < m->generation)
        memset(&d->said, 0, sizeof d->said);
    d->said_in = m->generation;
    d->said_again |= c->cmd.kind == FT_CMD_REBUILD && FT_VERSION_ALONE(c->cmd.version);
    ft_bit_set(&d->said, m->rank);
    ft_action_add(x->out, FT_DO_MEMBER, m->version)->to = m->rank;
}

int ft_carry_demand_all_said(const struct ft_carry *x)
{
    const struct ft_carry_demand *d = part(x);
    return x->cfg->broken == FT_BROKEN_UNSAID ||
           (d->said_in == x->c->generation && ft_bitset_count(&d->said) == d->members);
}

int ft_carry_demand_rebuilt(const struct ft_carry *x)
{
    int again = part(x)->said_again;
    part(x)->said_again = 0;
    return !again;
}
