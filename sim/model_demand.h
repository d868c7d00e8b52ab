/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_demand.h - demand checkpoints (src/proto/demand.h): groups of a checksum process and up to DEMAND_MEMBERS ranks whose
 * logs are long. In free runs there is one group. With odd seeds a rank has a third slot (`bulk`), with even ones it writes over
 * its latest image (`stream`).
 */
#ifndef FT_SIM_MODEL_DEMAND_H
#define FT_SIM_MODEL_DEMAND_H

#include "proto/demand.h"
#include "sim.h"

#define DEMAND_MEMBERS 8 /* of a group; process p is the checksum process if p % (DEMAND_MEMBERS + 1) == 0 */

enum demand_lost {
    DEMAND_LOST = 1,
    DEMAND_REPLACED
}; /* what it had is gone; all have voted, its replacement is yet to be rebuilt */

struct demand_proc {
    /* checksum process */
    struct ft_demand_ch ch;
    uint64_t folded;            /* version that main is computing, or has computed */
    int32_t folding;            /* main: 1 at it, 2 done, its agent looks later */
    int32_t lifting, lifted_of; /* stream. lifting: `folding` is that. lifted_of: the process whose image `lifted` it is */
    uint64_t lifted;            /* that the staged codeword is without; 0: none */
    /* member */
    int32_t copying;  /* main: 1 + the generation that it began in */
    int32_t begun;    /* stream. main: it writes */
    int32_t orphaned; /* 1 + the generation in which its checksum process was lost last */
    struct ft_demand_owner q;
    uint64_t next;    /* version of its next image */
    uint64_t slot[3]; /* what is in its slots; slot[0]: the committed one, version 1 */
    uint64_t tag;     /* of its image, at the checksum process; 0: that is being replaced */
    uint64_t made;    /* main: an image that the agent has not looked at yet */
    /* both */
    int32_t voted, there; /* there: has adopted the newest generation */
    int32_t lost;         /* enum demand_lost */
    int32_t flipped_to_nothing;
    uint32_t pending; /* timed: acts that have a timer */
    uint64_t taken;   /* timed: images flipped to */
};
struct demand_world {
    uint32_t generation;   /* the newest that is decided */
    int32_t ballot;        /* 0 none, 1 open, 2 decided */
    int32_t dead;          /* 1 + who was lost and is replaced, 0: somebody elsewhere */
    int32_t asks, ballots; /* still to come */
    int32_t waits;         /* have not voted, or not adopted */
    uint64_t taken, ended; /* timed: demand checkpoints, and when the last was over */
    struct demand_proc p[];
};
static inline struct demand_world *demand_world(const struct sim *s) { return (struct demand_world *)s->world; }
static inline int demand_streams(const struct sim *s) { return s->o.seed % 2 == 0; }
static inline int demand_has(const struct demand_proc *q, uint64_t v)
{
    return q->slot[0] == v || q->slot[1] == v || q->slot[2] == v;
}
static inline uint64_t demand_latest(const struct demand_proc *q) { return q->q.latest ? q->q.latest : 1; }
static inline int demand_ch_of(int p) { return p - p % (DEMAND_MEMBERS + 1); }
static inline int demand_is_ch(int p) { return demand_ch_of(p) == p; }

extern const struct sim_checker sim_check_demand; /* check_demand.c */

#endif
