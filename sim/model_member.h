/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_member.h - what model_member.c and check_member.c share: a job on nodes, each with a
 * keeper, a gateway and its slots.
 */
#ifndef FT_MODEL_MEMBER_H
#define FT_MODEL_MEMBER_H

#include "proto/agree.h"
#include "proto/member.h"
#include "sim.h"

/* MB_NODES: of free runs. In timed runs a slot accesses only the next MB_NODES - 1 nodes after its
 * own. */
enum { MB_NODES = 8, MB_GENERATIONS = 20, MB_LEASE = 8 };
enum {
    MB_TICK,
    MB_ARBITER,
    MB_KEEPER,
    MB_GATEWAY,
    MB_SUBMITS,
    MB_SENDS,
    MB_SEES,
    MB_ANSWERS,
    MB_DIES,
    MB_POWER,
    MB_HANGS,
    MB_BREAKS,
    MB_MENDS,
    MB_REAPED
};

struct mb_node {
    struct ft_lease lease;
    struct ft_fence fence;
    uint64_t keeper_at, gateway_at; /* when they last looked at their clocks */
    uint64_t steps_at_grant;        /* of the arbiter */
    uint8_t hung, dead, said,
        why;      /* its gateway hangs; it has lost its power; the arbiter has said OUT, and why */
    uint8_t deaf; /* what the arbiter sends is lost */
    uint8_t hurt; /* timed: something of it has failed, or its link to another node */
};

struct mb_slot {
    struct ft_agree agree;
    struct ft_decision last;
    uint64_t log[MB_GENERATIONS + 1]; /* hashes of what it has adopted */
    uint8_t ops;                      /* the number that it may still submit */
    uint8_t exited;                   /* its gateway has seen that it ended */
    uint8_t answering;                /* timed: it is about to */
    uint32_t queued; /* submitted, not yet handed to the wire: 1 + class + 2 * node */
    /* of accesses to a node, by its distance from the slot's own (mb_way) */
    uint8_t sent[MB_NODES][FT_FENCE_CLASSES], applied[MB_NODES][FT_FENCE_CLASSES];
};

struct mb_world {
    int nodes, each, faults; /* slots on each node; faults that may still come */
    uint64_t lease;          /* of each node */
    uint64_t now, calm, end; /* from calm on nothing is late, and nothing fails */
    uint64_t arbiter_at, arbiter_steps;
    struct ft_arbiter arbiter;
    struct {
        struct mb_node node;
        struct mb_slot slot[2]; /* `each` of them */
    } place[];
};

static inline struct mb_world *mb_world(const struct sim *s) { return (struct mb_world *)s->world; }
static inline struct mb_node *mb_node(const struct mb_world *w, int node)
{
    return (struct mb_node *)&w->place[node].node;
}
static inline struct mb_slot *mb_slot(const struct mb_world *w, int slot)
{
    return (struct mb_slot *)&w->place[slot / w->each].slot[slot % w->each];
}
static inline int mb_slots(const struct mb_world *w) { return w->nodes * w->each; }
static inline int mb_node_of(const struct mb_world *w, int slot) { return slot / w->each; }
/* Which of sent and applied belongs to a node; >= MB_NODES: nothing was ever sent to it. */
static inline int mb_way(const struct mb_world *w, int slot, int to)
{
    return (to - mb_node_of(w, slot) + w->nodes) % w->nodes;
}
/* Processes of the simulator: the arbiter, then of each node gateway, keeper, slots. */
static inline int mb_gateway(const struct mb_world *w, int node)
{
    return 1 + node * (2 + w->each);
}
static inline int mb_keeper(const struct mb_world *w, int node) { return mb_gateway(w, node) + 1; }
static inline int mb_process(const struct mb_world *w, int slot)
{
    return mb_gateway(w, mb_node_of(w, slot)) + 2 + slot % w->each;
}
/* Of process p, which is not the arbiter: its node; its place there, 0 the gateway, 1 the keeper;
 * its slot, if it is one. */
static inline int mb_node_at(const struct mb_world *w, int p) { return (p - 1) / (2 + w->each); }
static inline int mb_place_at(const struct mb_world *w, int p) { return (p - 1) % (2 + w->each); }
static inline int mb_slot_at(const struct mb_world *w, int p)
{
    return mb_node_at(w, p) * w->each + mb_place_at(w, p) - 2;
}
/* Its gateway works, so others reach it. */
static inline int mb_serves(const struct sim *s, int node)
{
    const struct mb_world *w = mb_world(s);
    return sim_alive(s, mb_gateway(w, node)) && !mb_node(w, node)->hung;
}

/* Whether a slot is asked for its vote and may answer now. */
int mb_is_asked(const struct sim *s, int slot);

/* Of an adopted decision, of what is applied, of nodes that are put out: sim_wrong, if it must not
 * be so. */
void mb_check_adopted(struct sim *s, int slot, const struct ft_decision *d);
void mb_check_applied(struct sim *s, int node, int from);
void mb_check_out(struct sim *s, const struct ft_arbiter_action *a);
extern const struct sim_checker sim_check_member;

#endif
