/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.c - the two sides of a demand checkpoint.
 */
#include "proto/demand.h"

#include "base/version.h"

static struct ft_demand_msg message(enum ft_demand_kind kind, uint32_t generation, uint32_t round,
                                    int rank, uint64_t version)
{
    return (struct ft_demand_msg){
        .kind = kind, .generation = generation, .rank = rank, .version = version, .round = round};
}

void ft_demand_ch_reset(struct ft_demand_ch *m, uint32_t generation)
{
    *m = (struct ft_demand_ch){.state = FT_CH_IDLE,
                               .stream = m->stream,
                               .index = m->index,
                               .lead = m->lead,
                               .generation = generation,
                               .round = m->round};
}

static struct ft_demand_action nothing(void)
{
    return (struct ft_demand_action){.act = FT_DEMAND_NOTHING};
}

static uint32_t bit(int index) { return 1u << index; }

static struct ft_demand_action act(const struct ft_demand_ch *m, enum ft_demand_act what,
                                   enum ft_demand_kind kind)
{
    return (struct ft_demand_action){
        what, message(kind, m->generation, m->round, m->rank, m->version), 0};
}

static void begins_staging(struct ft_demand_ch *m)
{
    m->staged = m->before = (struct ft_demand_image){0};
}

static void tags(struct ft_demand_ch *m)
{
    m->before = m->tagged;
    m->tagged = m->staged;
}

/* ---- the lead ---- */

static struct ft_demand_action ask(struct ft_demand_ch *m)
{
    m->state = FT_CH_ASKED;
    return act(m, FT_DEMAND_SEND, FT_DEMAND_TAKE);
}

/* Begins a step that all of `waits` do. This message tells the helpers. */
static struct ft_demand_action all_do(struct ft_demand_ch *m, enum ft_demand_ch_state state,
                                      uint32_t waits, enum ft_demand_act what,
                                      enum ft_demand_kind kind)
{
    uint32_t helpers = m->chain & ~bit(m->index);
    m->state = state;
    m->waits = waits;
    m->bad = 0;
    if (state != FT_CH_TAGGING)
        begins_staging(m);
    struct ft_demand_action a = act(m, what, helpers ? kind : 0);
    a.to = helpers;
    return a;
}

static struct ft_demand_action tag(struct ft_demand_ch *m)
{
    m->state = FT_CH_TAGGED;
    tags(m);
    return act(m, FT_DEMAND_TAG, FT_DEMAND_COMMITTED);
}

/* One CH of the group has done the step; ok 0: it could not. */
static struct ft_demand_action done(struct ft_demand_ch *m, int index, int ok)
{
    m->waits &= ~bit(index);
    m->bad |= !ok;
    if (m->waits)
        return nothing();
    if (m->state == FT_CH_TAGGING)
        return tag(m);
    if (m->bad) {
        int folding = m->state == FT_CH_FOLDING;
        m->state = FT_CH_IDLE;
        m->version = 0;
        return folding ? act(m, FT_DEMAND_SEND, FT_DEMAND_COMMITTED) : nothing();
    }
    if (m->state == FT_CH_LIFTING)
        return ask(m);
    uint32_t helpers = m->chain & ~bit(m->index);
    return helpers ? all_do(m, FT_CH_TAGGING, helpers, FT_DEMAND_SEND, FT_DEMAND_TAG_IT) : tag(m);
}

static struct ft_demand_action taken(struct ft_demand_ch *m, const struct ft_demand_msg *msg)
{
    int at_it = m->state == FT_CH_FOLDING || m->state == FT_CH_TAGGING || m->state == FT_CH_TAGGED;
    if (at_it && msg->rank == m->rank && msg->version == m->version)
        return nothing(); /* q says it again, because it was asked again */
    if (msg->rank != m->rank || m->state != FT_CH_ASKED) /* it was asked before a rollback */
        return msg->version ? (struct ft_demand_action){FT_DEMAND_SEND,
                                                        message(FT_DEMAND_COMMITTED, m->generation,
                                                                m->round, msg->rank, 0),
                                                        0}
                            : nothing();
    m->version = msg->version;
    if (msg->version)
        return all_do(m, FT_CH_FOLDING, m->chain, FT_DEMAND_FOLD, FT_DEMAND_FOLD_IT);
    if (m->again) /* q had not begun */
        ft_bit_set(&m->wanted, m->rank);
    m->state = FT_CH_IDLE;
    return nothing();
}

struct ft_demand_action ft_demand_ch_resume(struct ft_demand_ch *m)
{
    if (m->state != FT_CH_RESUMING)
        return nothing();
    struct ft_demand_action a = ask(m);
    a.msg.version = 1;
    return a;
}

struct ft_demand_action ft_demand_ch_ready(struct ft_demand_ch *m, int nranks, uint32_t all)
{
    if (m->state != FT_CH_IDLE)
        return nothing();
    for (int i = 1; i <= nranks; i++) {
        int r = (m->rank + i) % nranks; /* the ranks take turns */
        if (!ft_bit_get(&m->wanted, r))
            continue;
        ft_bit_clear(&m->wanted, r);
        m->rank = r;
        m->version = 0;
        m->chain = all;
        m->again = 0;
        return m->stream ? all_do(m, FT_CH_LIFTING, all, FT_DEMAND_LIFT, FT_DEMAND_LIFT_IT)
                         : ask(m);
    }
    return nothing();
}

/* ---- a helper ---- */

static struct ft_demand_action helped(const struct ft_demand_ch *m, enum ft_demand_act what,
                                      uint64_t version)
{
    struct ft_demand_action a = {
        what, message(FT_DEMAND_DONE, m->generation, m->round, m->rank, version), bit(m->lead)};
    a.msg.ch = (uint32_t)m->index;
    return a;
}

static struct ft_demand_action help(struct ft_demand_ch *m, const struct ft_demand_msg *msg)
{
    if (msg->kind == FT_DEMAND_TAG_IT) {
        if (m->state != FT_CH_STAGED || msg->rank != m->rank || msg->version != m->version)
            return nothing(); /* the message is from before a rollback */
        m->state = FT_CH_HOLDS;
        tags(m);
        return helped(m, FT_DEMAND_TAG, m->version);
    }
    int lift = msg->kind == FT_DEMAND_LIFT_IT;
    m->state = lift ? FT_CH_LIFTS : FT_CH_FOLDS;
    begins_staging(m);
    m->rank = msg->rank;
    m->version = msg->version;
    return act(m, lift ? FT_DEMAND_LIFT : FT_DEMAND_FOLD, 0);
}

/* ---- both ---- */

/* A helper tags what it staged last for m->rank, or goes back from it, as the lead has. */
static enum ft_demand_act go_by_lead(struct ft_demand_ch *m, const struct ft_demand_ch_news *news)
{
    uint64_t v = m->staged.version;
    if (m->index == news->lead || !v || m->staged.rank != m->rank)
        return FT_DEMAND_NOTHING;
    int has = m->tagged.version == v && m->tagged.rank == m->rank;
    if (!has && news->tag == v) {
        tags(m);
        return FT_DEMAND_TAG;
    }
    if (!has || news->tag == v || ft_version_later(news->tag, v) != v)
        return FT_DEMAND_NOTHING; /* a coordinated checkpoint was committed since */
    m->tagged = m->before;
    return FT_DEMAND_UNTAG;
}

struct ft_demand_action ft_demand_ch_generation(struct ft_demand_ch *m,
                                                const struct ft_demand_ch_news *news)
{
    enum ft_demand_ch_state was = m->state;
    int lifting = was == FT_CH_LIFTING || was == FT_CH_LIFTS;
    struct ft_demand_action a = {.act = go_by_lead(m, news)};
    int asked = was == FT_CH_ASKED || was == FT_CH_FOLDING || was == FT_CH_TAGGING ||
                was == FT_CH_RESUMING || was == FT_CH_LIFTED || was == FT_CH_FOLDS ||
                (was == FT_CH_STAGED && a.act == FT_DEMAND_NOTHING) || a.act == FT_DEMAND_UNTAG;
    int begun =
        asked && m->stream && !news->lost &&
        a.act != FT_DEMAND_TAG; /* q may have begun to overwrite, now or in a generation before */
    m->generation = news->generation;
    m->lead = news->lead;
    m->version = 0;
    m->state = !begun ? FT_CH_IDLE : m->index == m->lead ? FT_CH_RESUMING : FT_CH_LIFTED;
    m->chain = news->there;
    m->again = 1;
    if (m->index == m->lead && !begun && (asked || lifting))
        ft_bit_set(&m->wanted, m->rank);
    return a;
}

struct ft_demand_action ft_demand_ch_msg(struct ft_demand_ch *m, const struct ft_demand_msg *msg)
{
    if (msg->kind == FT_DEMAND_ASK) { /* it is a wish, which counts in any generation */
        if (m->state == FT_CH_IDLE || msg->rank != m->rank || m->state == FT_CH_TAGGED ||
            m->state == FT_CH_HOLDS)
            ft_bit_set(&m->wanted, msg->rank);
        return nothing();
    }
    if (msg->generation != m->generation || msg->round != m->round)
        return nothing();
    switch (msg->kind) {
    case FT_DEMAND_TAKEN: return taken(m, msg);
    case FT_DEMAND_ACK:
        if (m->state == FT_CH_TAGGED && msg->rank == m->rank && msg->version == m->version)
            m->state = FT_CH_IDLE;
        return nothing();
    case FT_DEMAND_LIFT_IT:
    case FT_DEMAND_FOLD_IT:
    case FT_DEMAND_TAG_IT: return help(m, msg);
    case FT_DEMAND_DONE:
        if ((m->state == FT_CH_LIFTING || m->state == FT_CH_FOLDING || m->state == FT_CH_TAGGING) &&
            msg->rank == m->rank && m->waits & bit((int)msg->ch))
            return done(m, (int)msg->ch, msg->version != 0);
        return nothing();
    default: return nothing();
    }
}

struct ft_demand_action ft_demand_ch_lifted(struct ft_demand_ch *m, int ok)
{
    if (m->state == FT_CH_LIFTING)
        return done(m, m->index, ok);
    if (m->state != FT_CH_LIFTS)
        return nothing();
    m->state = ok ? FT_CH_LIFTED : FT_CH_IDLE;
    return helped(m, FT_DEMAND_SEND, (uint64_t)ok);
}

struct ft_demand_action ft_demand_ch_folded(struct ft_demand_ch *m, int ok)
{
    if (ok && (m->state == FT_CH_FOLDING || m->state == FT_CH_FOLDS))
        m->staged = (struct ft_demand_image){.rank = m->rank, .version = m->version};
    if (m->state == FT_CH_FOLDING)
        return done(m, m->index, ok);
    if (m->state != FT_CH_FOLDS)
        return nothing();
    m->state = ok ? FT_CH_STAGED : FT_CH_IDLE;
    return helped(m, FT_DEMAND_SEND, ok ? m->version : 0);
}

int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank,
                               uint64_t tag, int over, struct ft_demand_msg *answer)
{
    int taken = m->state == FT_OWNER_TAKEN,
        flip = taken && (tag == m->version || (over && tag == 0));
    int wanted = m->wanted_in == 1 + (uint64_t)generation;
    *answer = (struct ft_demand_msg){0};
    m->generation = generation;
    if (taken && over && !flip) {
        if (wanted)
            *answer = message(FT_DEMAND_TAKEN, generation, m->round, rank, m->version);
        return 0;
    }
    if (flip)
        m->latest = m->version;
    m->state = wanted ? FT_OWNER_WANTED : FT_OWNER_NONE;
    return flip;
}

void ft_demand_owner_drop(struct ft_demand_owner *m)
{
    m->state = FT_OWNER_NONE;
    m->wanted_in = 0;
}

int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg,
                        struct ft_demand_msg *answer)
{
    *answer = (struct ft_demand_msg){0};
    if (msg->generation == m->generation && msg->round != m->round)
        return 0; /* the message is from before a rollback */
    if (msg->kind == FT_DEMAND_TAKE) {
        if (msg->generation < m->generation || 1 + (uint64_t)msg->generation < m->wanted_in)
            return 0; /* It is of an older generation, or its sender was lost and the next lead has
                         asked already. */
        m->wanted_in = 1 + (uint64_t)msg->generation;
        m->begun_only = msg->version != 0;
        if (m->state == FT_OWNER_NONE && msg->generation == m->generation)
            m->state = FT_OWNER_WANTED;
        else if (m->state == FT_OWNER_TAKEN && msg->generation == m->generation)
            *answer = message(FT_DEMAND_TAKEN, m->generation, m->round, msg->rank,
                              m->version); /* it was taken in the generation before */
        return 0;
    }
    if (msg->kind != FT_DEMAND_COMMITTED || msg->generation != m->generation ||
        m->state != FT_OWNER_TAKEN)
        return 0;
    m->state = FT_OWNER_NONE;
    if (msg->version != m->version)
        return 0; /* the image was called off */
    m->latest = m->version;
    *answer = message(FT_DEMAND_ACK, m->generation, m->round, msg->rank, m->version);
    return 1;
}

int ft_demand_owner_wants(const struct ft_demand_owner *m)
{
    return m->state == FT_OWNER_WANTED && !m->begun_only;
}
int ft_demand_owner_ends(const struct ft_demand_owner *m)
{
    return m->state == FT_OWNER_WANTED && m->begun_only;
}

struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version,
                                           int over)
{
    int wants = m->state == FT_OWNER_WANTED;
    if (!wants && (!over || m->state != FT_OWNER_NONE))
        return (struct ft_demand_msg){0};
    m->state = version ? FT_OWNER_TAKEN : FT_OWNER_NONE;
    m->version = version;
    m->wanted_in = 0;
    return wants ? message(FT_DEMAND_TAKEN, m->generation, m->round, rank, version)
                 : (struct ft_demand_msg){0};
}

void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version)
{
    FT_ASSERT(m->state != FT_OWNER_TAKEN);
    m->version = m->latest = version;
}
