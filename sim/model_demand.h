/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.h - demand checkpoints (src/proto/demand.h): process 0 is the checksum process, 1 is q, whose logs are long.
 */
#ifndef FT_SIM_MODEL_DEMAND_H
#define FT_SIM_MODEL_DEMAND_H

#include "proto/demand.h"
#include "sim.h"

#define DEMAND_RANKS 4
#define DEMAND_Q 2 /* q's rank */

struct demand_world {
    struct ft_demand_ch ch;
    struct ft_demand_owner q;
    uint64_t next;                                         /* version of q's next image */
    uint64_t slot[3];                                      /* q: what is in its slots; slot[0]: the committed one, version 1 */
    uint64_t tag, folded;                                  /* CH: of q's image; what main is computing or has computed */
    uint64_t made;                                         /* q's main: an image that the agent has not looked at yet */
    int32_t folding;                                       /* CH's main: 1 at it, 2 done, its agent looks later */
    int32_t copying;                                       /* q's main: 1 + the generation that it began in */
    uint32_t generation;                                   /* the newest that is decided */
    int32_t ballot;                                        /* 0 none, 1 open, 2 decided */
    int32_t ch_voted, q_voted, ch_dies, ch_there, q_there; /* there: has adopted */
    int32_t asks, ballots;                                 /* still to come */
    int32_t flipped_to_nothing;
};
static inline struct demand_world *demand_world(const struct sim *s) { return (struct demand_world *)s->world; }

extern const struct sim_checker sim_check_demand; /* check_demand.c */

#endif
