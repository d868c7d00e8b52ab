/* SPDX-License-Identifier: BSD-3-Clause
 *
 * model_agree.h - one node's processes that watch each other (src/proto/detect.h) and agree on who
 * died (src/proto/agree.h).
 */
#ifndef FT_SIM_MODEL_AGREE_H
#define FT_SIM_MODEL_AGREE_H

#include "proto/agree.h"
#include "proto/detect.h"
#include "sim.h"

#define AGREE_GENERATIONS 10             /* looked at; a job has no more of them than deaths */
struct agree_info {                      /* of each process, always at hand */
    uint64_t log[AGREE_GENERATIONS + 1]; /* hash of the decision adopted as generation i, 0: none */
    int32_t watching, generation;
    int32_t pending, known; /* F's size */
};
struct agree_proc {
    struct ft_detect detect;
    struct ft_agree agree;
};
struct agree_world {
    uint64_t died_at; /* timed: the first */
    struct ft_bitset crashed;
    struct agree_info info[]; /* n; then the machines, unless they are kept aside (agree_load) */
};
static inline struct agree_world *agree_world(const struct sim *s)
{
    return (struct agree_world *)s->world;
}

/* The machines of p; valid until agree_store of the same p. Where there are many, they are packed
 * in between. */
struct agree_proc *agree_load(struct sim *s, int p);
void agree_store(struct sim *s, int p);

/* What a slot contributes tells who it is and which generation it has carried out: then merged data
 * shows whose vote is missing or old. */
struct ft_agree_data agree_local_of(const struct sim *s, int p, uint32_t generation);

void sim_check_decision(struct sim *s, int p, const struct ft_decision *d); /* p adopts it */
extern const struct sim_checker sim_check_agree;                            /* check_agree.c */

#endif
