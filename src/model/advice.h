/* SPDX-License-Identifier: BSD-3-Clause
 *
 * advice.h - the protection with which a job takes the least expected machine time, and what it
 * costs.
 *
 * Machine time is processes times wall time: checksum processes and spares cost, and so does all
 * time that is not work. From the size of the groups follow the codewords' time, from it and the
 * mean time between failures the interval of checkpoints, and from that the share of time that is
 * lost (daly.h). A job that is lost all the same is begun again; a lost attempt is taken to last as
 * long as one that succeeds. It is lost by a catastrophic failure (FT_PCF_DEALT, an upper bound for
 * the placements that the library makes; with per_node 0 for any that is aware), by the deaths of
 * single processes that meet in a group, or when its spares are used up.
 *
 * While a checkpoint is copied the program stands still; the codewords are computed from the copy
 * while it goes on, and must be done before the next one begins.
 */
#ifndef FT_MODEL_ADVICE_H
#define FT_MODEL_ADVICE_H

#include "model/pcf.h"

struct ft_advice_ask {
    int ranks;
    int per_node;       /* processes on each node, 0: not known */
    int most_processes; /* ranks, checksum processes and spares at the most; 0: as many as the
                           machine has room for */
    double bytes;       /* an image of one rank */
    int images; /* of each rank, and codewords of each checksum process, at a time: committed, under
                   way, ... */
    double mtbf; /* s: between failures of the job, of whatever kind; < 0: those that the machine's
                    rates say */
    double work; /* s: how long the job would run without failures and checkpoints */
    double loss; /* the job may be lost with this probability at the most; 0 < loss <= 1, 1:
                    whatever is best */
    double copy_rate;   /* bytes/s: a rank's copy of its image */
    double parity_rate; /* bytes/s: a checksum process's, of images taken in */
    double restart;     /* s: until the job goes on after a failure */
    int most_m;         /* 1..FT_MODEL_CODEWORDS */
};

struct ft_advice {
    struct ft_protection protection;
    int spares;
    double mtbf,
        mtbf_rates; /* s: what was planned with; what the machine's rates say of this job */
    double per_rank, per_checksum,
        in_total;         /* bytes of memory, beyond what the program has itself */
    double pause, parity; /* s: the program stands still; from then until the codewords are there */
    double interval,
        lost_share;  /* s, Daly's, but not less than parity needs; the share of time lost */
    double wall;     /* s: of an attempt that succeeds */
    double lost_job; /* upper bound of the probability that an attempt does not */
    double machine;  /* expected machine time over that of the ranks' work alone; what is least */
};

/* The best plan with m = ask->most_m at the most, and in each[m - 1], unless NULL, the best with
 * exactly m (protection.m is 0 where none will do). FT_ERR_ARG, or FT_ERR_NOMEM: the reason is in
 * why, and if no protection will do, the best that can be had. */
enum ft_status ft_advice(const struct ft_machine *mc, const struct ft_advice_ask *ask,
                         struct ft_advice *best, struct ft_advice *each, char *why, size_t size);

#endif
