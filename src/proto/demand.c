/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand.c - the two sides of a demand checkpoint.
 */
#include "proto/demand.h"

static struct ft_demand_msg message(enum ft_demand_kind kind, uint32_t generation, int rank, uint64_t version)
{
    return (struct ft_demand_msg){.kind = kind, .generation = generation, .rank = rank, .version = version};
}

void ft_demand_ch_reset(struct ft_demand_ch *m, uint32_t generation)
{
    *m = (struct ft_demand_ch){.state = FT_CH_IDLE, .stream = m->stream, .generation = generation};
}

static struct ft_demand_action nothing(void) { return (struct ft_demand_action){.act = FT_DEMAND_NOTHING}; }

static struct ft_demand_action act(const struct ft_demand_ch *m, enum ft_demand_act what, enum ft_demand_kind kind)
{
    return (struct ft_demand_action){what, message(kind, m->generation, m->rank, m->version)};
}

struct ft_demand_action ft_demand_ch_generation(struct ft_demand_ch *m, uint32_t generation, int lost)
{
    int asked = m->state == FT_CH_ASKED || m->state == FT_CH_FOLDING;
    m->generation = generation;
    m->version = 0;
    if (asked && m->stream && !lost) {
        m->state = FT_CH_ASKED;
        return act(m, FT_DEMAND_SEND, FT_DEMAND_TAKE);
    }
    if (asked || m->state == FT_CH_LIFTING)
        ft_bit_set(&m->wanted, m->rank);
    m->state = FT_CH_IDLE;
    return nothing();
}

struct ft_demand_action ft_demand_ch_msg(struct ft_demand_ch *m, const struct ft_demand_msg *msg)
{
    if (msg->kind == FT_DEMAND_ASK) { /* of whatever generation: it is a wish */
        if (m->state == FT_CH_IDLE || msg->rank != m->rank || m->state == FT_CH_TAGGED)
            ft_bit_set(&m->wanted, msg->rank);
        return nothing();
    }
    if (msg->generation != m->generation)
        return nothing();
    if (msg->kind == FT_DEMAND_TAKEN && msg->version &&
        (m->state != FT_CH_ASKED || msg->rank != m->rank)) /* asked before a rollback */
        return (struct ft_demand_action){FT_DEMAND_SEND, message(FT_DEMAND_COMMITTED, m->generation, msg->rank, 0)};
    if (msg->rank != m->rank)
        return nothing();
    if (msg->kind == FT_DEMAND_TAKEN && m->state == FT_CH_ASKED) {
        m->state = msg->version ? FT_CH_FOLDING : FT_CH_IDLE;
        m->version = msg->version;
        return msg->version ? act(m, FT_DEMAND_FOLD, FT_DEMAND_TAKEN) : nothing();
    }
    if (msg->kind == FT_DEMAND_ACK && m->state == FT_CH_TAGGED && msg->version == m->version)
        m->state = FT_CH_IDLE;
    return nothing();
}

struct ft_demand_action ft_demand_ch_ready(struct ft_demand_ch *m, int nranks)
{
    if (m->state != FT_CH_IDLE)
        return nothing();
    for (int i = 1; i <= nranks; i++) {
        int r = (m->rank + i) % nranks; /* in turn */
        if (!ft_bit_get(&m->wanted, r))
            continue;
        ft_bit_clear(&m->wanted, r);
        m->state = m->stream ? FT_CH_LIFTING : FT_CH_ASKED;
        m->rank = r;
        m->version = 0;
        return m->stream ? act(m, FT_DEMAND_LIFT, 0) : act(m, FT_DEMAND_SEND, FT_DEMAND_TAKE);
    }
    return nothing();
}

struct ft_demand_action ft_demand_ch_lifted(struct ft_demand_ch *m, int ok)
{
    if (m->state != FT_CH_LIFTING)
        return nothing();
    m->state = ok ? FT_CH_ASKED : FT_CH_IDLE;
    return ok ? act(m, FT_DEMAND_SEND, FT_DEMAND_TAKE) : nothing();
}

struct ft_demand_action ft_demand_ch_folded(struct ft_demand_ch *m, int ok)
{
    if (m->state != FT_CH_FOLDING)
        return nothing();
    if (!ok) {
        struct ft_demand_action a = {FT_DEMAND_SEND, message(FT_DEMAND_COMMITTED, m->generation, m->rank, 0)};
        m->state = FT_CH_IDLE;
        return a;
    }
    m->state = FT_CH_TAGGED;
    return act(m, FT_DEMAND_TAG, FT_DEMAND_COMMITTED);
}

int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank, uint64_t tag, int over,
                               struct ft_demand_msg *answer)
{
    int taken = m->state == FT_OWNER_TAKEN, flip = taken && (tag == m->version || (over && tag == 0));
    int wanted = m->wanted_in == 1 + (uint64_t)generation;
    *answer = (struct ft_demand_msg){0};
    m->generation = generation;
    if (taken && over && !flip) {
        if (wanted)
            *answer = message(FT_DEMAND_TAKEN, generation, rank, m->version);
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

int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg, struct ft_demand_msg *answer)
{
    *answer = (struct ft_demand_msg){0};
    if (msg->kind == FT_DEMAND_TAKE) {
        if (msg->generation < m->generation)
            return 0;
        m->wanted_in = 1 + (uint64_t)msg->generation;
        if (m->state == FT_OWNER_NONE && msg->generation == m->generation)
            m->state = FT_OWNER_WANTED;
        else if (m->state == FT_OWNER_TAKEN && msg->generation == m->generation)
            *answer = message(FT_DEMAND_TAKEN, m->generation, msg->rank, m->version); /* in the generation before this one */
        return 0;
    }
    if (msg->kind != FT_DEMAND_COMMITTED || msg->generation != m->generation || m->state != FT_OWNER_TAKEN)
        return 0;
    m->state = FT_OWNER_NONE;
    if (msg->version != m->version)
        return 0; /* called off */
    m->latest = m->version;
    *answer = message(FT_DEMAND_ACK, m->generation, msg->rank, m->version);
    return 1;
}

int ft_demand_owner_wants(const struct ft_demand_owner *m) { return m->state == FT_OWNER_WANTED; }

struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version, int over)
{
    int wants = ft_demand_owner_wants(m);
    if (!wants && (!over || m->state != FT_OWNER_NONE))
        return (struct ft_demand_msg){0};
    m->state = version ? FT_OWNER_TAKEN : FT_OWNER_NONE;
    m->version = version;
    m->wanted_in = 0;
    return wants ? message(FT_DEMAND_TAKEN, m->generation, rank, version) : (struct ft_demand_msg){0};
}

void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version)
{
    FT_ASSERT(m->state != FT_OWNER_TAKEN);
    m->version = m->latest = version;
}
