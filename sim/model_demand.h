/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.h - demand checkpoints. The model has carriers (proto/carrier.h, carrier_demand.c),
 * and around them mains that take images and compute codewords, deaths and generations. A group has
 * one checksum process, or two with seeds 3, 4, 7, 8 and so on. Free runs have one group. With odd
 * seeds a rank has a third slot (`bulk`). With even ones it writes over its latest image
 * (`stream`).
 * --starters is one more than the number of checkpoints that are called off and of rollbacks.
 */
#ifndef FT_SIM_MODEL_DEMAND_H
#define FT_SIM_MODEL_DEMAND_H

#include "sim_images.h"

#define DEMAND_MEMBERS IMAGES_MEMBERS
/* processes; the first of them are the checksum processes */
#define DEMAND_GROUP (DEMAND_MEMBERS + 1)
#define DEMAND_COMMITTED 1ull /* the one coordinated checkpoint */

enum demand_lost {
    DEMAND_LOST = 1,
    DEMAND_REPLACED
}; /* its memory is gone; all have voted, and its replacement is not rebuilt yet */

/* Versions of images and codewords are 1, the committed one, or FT_VERSION_MAKE(1, 0, n). */

struct demand_proc {
    struct ft_carrier c;
    /* main */
    int32_t place, replaying;
    uint64_t reached, passed, hold; /* numbers of safepoints; the value of FT_DO_HOLD */
    uint64_t number, answered;
    int32_t command, rank; /* the command that is not answered */
    uint64_t version;
    struct ft_answer answer;
    int32_t news;
    uint64_t next; /* a rank: the number of its next image */
    struct sim_images im;
    /* What the model knows of it. */
    uint32_t seq; /* seq of the last order */
    int32_t step; /* enum ft_order_kind: the step of a coordinated checkpoint or a rollback */
    int32_t park; /* main is to leave body */
    int32_t voted, there; /* it has voted; it has adopted the newest generation */
    uint64_t at_vote;     /* a checksum process: the codeword whose tags were in its vote */
    int32_t lost;         /* enum demand_lost */
    int32_t fresh, gone;  /* in the newest decision: it was replaced; it was replaced, or was not
                           * rebuilt when  all had voted */
    int32_t lead; /* the index of the lead of its group, as far as it knows; the complement: none
                   * was left */
    uint32_t pending; /* timed: bits of acts whose timer is set */
};
struct demand_world {
    uint32_t generation;   /* the newest one that is decided */
    int32_t ballot;        /* 0: there is none, 1: it is open, 2: it is decided */
    int32_t asks, ballots; /* how many are still to come */
    int32_t waits;         /* how many have not voted, or not adopted */
    int32_t orders; /* how many are still to come: checkpoints that are called off, and rollbacks */
    int32_t back;   /* the order of the rollback under way: RECOVER, RESTORE or RESUME; 0: there is
                       none */
    uint64_t taken, ended; /* timed: demand checkpoints, and when the last was over */
    struct demand_proc p[];
};
static inline struct demand_world *demand_world(const struct sim *s)
{
    return (struct demand_world *)s->world;
}
static inline int demand_streams(const struct sim *s) { return s->o.seed % 2 == 0; }
/* the first process of the group */
static inline int demand_ch_of(int p) { return p - p % DEMAND_GROUP; }
static inline int demand_codes(const struct sim *s, int p) /* number of codewords of p's group */
{
    int rest = s->o.n - demand_ch_of(p) - 1, codes = 1 + (int)((s->o.seed - 1) / 2 % 2);
    return codes < rest ? codes : rest < 1 ? 1 : rest;
}
static inline int demand_members(const struct sim *s,
                                 int p) /* number of modelled members of p's group */
{
    int rest = s->o.n - demand_ch_of(p);
    return (rest < DEMAND_GROUP ? rest : DEMAND_GROUP) - demand_codes(s, p);
}
static inline int demand_member(const struct sim *s, int p, int i)
{
    return demand_ch_of(p) + demand_codes(s, p) + i;
}
static inline int demand_is_ch(const struct sim *s, int p)
{
    return p - demand_ch_of(p) < demand_codes(s, p);
}

extern const struct sim_checker sim_check_demand; /* check_demand.c */

#endif
