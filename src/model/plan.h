/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plan.h - the cheapest protection that keeps a job with a wished probability, and what it costs.
 *
 * Cheapest: the fewest checksum processes, for each is a process and two images of memory; then the fewest codewords, for each
 * member sends what changed to each; then the lowest level to be aware of, for groups that are spread wider talk over more of
 * the network. Probabilities are those of FT_PCF_DEALT, an upper bound for the placements that the library makes, and with
 * per_node 0 for any that is aware.
 *
 * While a checkpoint is copied the program stands still; the codewords are computed from the copy while it goes on, and must be
 * done before the next one begins.
 */
#ifndef FT_MODEL_PLAN_H
#define FT_MODEL_PLAN_H

#include "model/pcf.h"

struct ft_plan_ask {
    int ranks;
    int per_node;       /* processes on each node, 0: not known */
    double bytes;       /* an image of one rank */
    int images;         /* of each rank, and codewords of each checksum process, at a time: committed, under way, ... */
    double mtbf;        /* s: of what coordinated checkpoints are for, of the whole job */
    double loss, days;  /* wished: that the job is lost within so many days, at the most; 0 < loss < 1 */
    double copy_rate;   /* bytes/s: a rank's copy of its image */
    double parity_rate; /* bytes/s: a checksum process's, of images taken in */
    double restart;     /* s: until the job goes on after a failure */
    int most_m;         /* 1..FT_MODEL_CODEWORDS */
};

struct ft_plan {
    struct ft_protection protection;
    double lost_job;                         /* the upper bound for the whole time */
    double per_rank, per_checksum, in_total; /* bytes of memory, beyond what the program has itself */
    double pause, parity;                    /* s: the program stands still; from then until the codewords are there */
    double interval, lost_share;             /* s, Daly's, but not less than parity needs; the share of time lost */
};

/* The cheapest plan with m = ask->most_m at the most, and in each[m - 1], unless NULL, the cheapest with exactly m (protection.m
 * is 0 where none will do). FT_ERR_ARG: the reason is in why, and if no protection will do, the best that can be had. */
enum ft_status ft_plan(const struct ft_machine *mc, const struct ft_plan_ask *ask, struct ft_plan *best, struct ft_plan *each,
                       char *why, size_t size);

#endif
