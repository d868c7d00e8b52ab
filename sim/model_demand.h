/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.h - demand checkpoints: carriers (proto/carrier.h, with carrier_demand.c), around
 * them mains that take images and compute codewords, deaths, and generations. Groups of one
 * checksum process, or, with seeds 3, 4, 7, 8 ... two. In free runs there is one group. With odd
 * seeds a rank has a third slot (`bulk`), with even ones it writes over its latest image
 * (`stream`). --starters: one more than the checkpoints that are called off, and the rollbacks.
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
}; /* what it had is gone; all have voted, its replacement is yet to be rebuilt */

/* Versions of images and codewords are 1, the committed one, or FT_VERSION_MAKE(1, 0, n). */

struct demand_proc {
    struct ft_carrier c;
    /* main */
    int32_t place, replaying;
    uint64_t reached, passed, hold; /* safepoints; as FT_DO_HOLD says */
    uint64_t number, answered;
    int32_t command, rank; /* the one that is not answered */
    uint64_t version;
    struct ft_answer answer;
    int32_t news;
    uint64_t next; /* number of a rank's next image */
    struct sim_images im;
    /* the world */
    uint32_t seq;         /* of the order that it was given last */
    int32_t step;         /* of a coordinated checkpoint, or of a rollback: enum ft_order_kind */
    int32_t park;         /* main is to leave body */
    int32_t voted, there; /* there: has adopted the newest generation */
    uint64_t at_vote;     /* a checksum process: the codeword whose tags its vote has told */
    int32_t lost;         /* enum demand_lost */
    int32_t fresh, gone;  /* by the newest decision: it was replaced; that, or it had not been
                             rebuilt when all had voted */
    int32_t lead; /* which of its group's checksum processes leads, as it knows; ~ that: none of
                     them was left */
    uint32_t pending; /* timed: acts that have a timer */
};
struct demand_world {
    uint32_t generation;   /* the newest that is decided */
    int32_t ballot;        /* 0 none, 1 open, 2 decided */
    int32_t asks, ballots; /* still to come */
    int32_t waits;         /* have not voted, or not adopted */
    int32_t orders;        /* still to come: checkpoints that are called off, rollbacks */
    int32_t back;          /* RECOVER, RESTORE, RESUME of a rollback under way; 0: none is */
    uint64_t taken, ended; /* timed: demand checkpoints, and when the last was over */
    struct demand_proc p[];
};
static inline struct demand_world *demand_world(const struct sim *s)
{
    return (struct demand_world *)s->world;
}
static inline int demand_streams(const struct sim *s) { return s->o.seed % 2 == 0; }
/* the group's first process */
static inline int demand_ch_of(int p) { return p - p % DEMAND_GROUP; }
static inline int demand_codes(const struct sim *s, int p) /* of p's group */
{
    int rest = s->o.n - demand_ch_of(p) - 1, codes = 1 + (int)((s->o.seed - 1) / 2 % 2);
    return codes < rest ? codes : rest < 1 ? 1 : rest;
}
static inline int demand_members(const struct sim *s, int p) /* of p's group, that are modelled */
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
