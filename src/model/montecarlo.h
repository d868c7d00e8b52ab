/* SPDX-License-Identifier: BSD-3-Clause
 *
 * montecarlo.h - estimates the probability of a catastrophic failure of one placement by trials.
 * The distributions are those of pcf.h, but a failed element takes the processes that are really on
 * it.
 *
 * Each level is tried alone: x is drawn from P_j(x) / sum of P_j, then x of its elements, all sets
 * being equally probable. It is a hit if some group loses more than m processes. Hits over trials,
 * times the probability that the level fails at all, is the level's part of Eq. 7. So levels that
 * hardly ever fail are known as well as the others.
 */
#ifndef FT_MODEL_MONTECARLO_H
#define FT_MODEL_MONTECARLO_H

#include <stdint.h>

#include "base/prng.h"
#include "model/pcf.h"

/* Where each process is, and its group; the caller owns all arrays. */
struct ft_mc_places {
    int nprocesses, ngroups, m;
    const int *group; /* [nprocesses]: 0..ngroups - 1, or -1: a spare, whose loss costs nothing */
    const int *element[FT_MODEL_LEVELS]; /* [nlevels][nprocesses]: 0..H_j - 1 */
};

struct ft_mc_level {
    uint64_t trials, hits;
    /* p: the level's part of the sum; its interval is Wilson's, FT_MC_CONFIDENCE */
    double p, low, high;
};

struct ft_mc {
    /* of the sum: the levels' intervals combined as squares (Zou and Donner's MOVER) */
    double p, low, high;
    struct ft_mc_level level[FT_MODEL_LEVELS];
};

#define FT_MC_CONFIDENCE 0.99

/* mc has passed ft_machine_check. trials > 0, for each level. FT_ERR_NOMEM; otherwise *out is set.
 * Levels with a = 0 are not tried. */
enum ft_status ft_montecarlo(const struct ft_machine *mc, const struct ft_mc_places *places,
                             uint64_t trials, struct ft_prng *random, struct ft_mc *out);

/* Makes the placement that Eq. 9 takes for the worst (the paper's figure 8, C) on a regular
 * machine: the groups are in sets of |G| neighbours of level `aware`, in as many sets as are full;
 * each element has all its processes in groups of the same set. With aware = 0 the processes of a
 * group follow each other directly, which is the worst case. p must have as many processes of a
 * group everywhere as p->share allows: one (share 0 and |G| <= H_n). node and group have ranks +
 * checksums entries. FT_ERR_ARG: the machine is not regular (each count a multiple of the next), or
 * |G| > H_n. */
enum ft_status ft_mc_place_worst(const struct ft_machine *mc, const struct ft_protection *p,
                                 int *node, int *group);

#endif
