/* SPDX-License-Identifier: BSD-3-Clause
 *
 * advice.h - finds the protection with which a job takes the least expected machine time, and its
 * costs.
 *
 * Machine time is processes times wall time, so checksum processes and spares cost, and so does all
 * time that is not work. The size of the groups determines the time for codewords; that and the
 * mean time between failures determine the interval of checkpoints, and that the share of lost time
 * (daly.h). A lost job is started again; a lost attempt is taken to last as long as a successful
 * one. A job is lost by a catastrophic failure (FT_PCF_DEALT, an upper bound for the library's
 * placements; with per_node 0, for any aware placement), by deaths of single processes that meet in
 * a group, or when its spares are used up.
 *
 * While a checkpoint is copied the program stands still; the codewords are computed from the copy
 * while it goes on, and must be done before the next one begins.
 */
#ifndef FT_MODEL_ADVICE_H
#define FT_MODEL_ADVICE_H

#include "model/pcf.h"

struct ft_advice_ask {
    int ranks;
    int per_node; /* processes on each node, 0: not known */
    /* largest number of ranks, checksum processes and spares together; 0: as many as the machine
     * has room for */
    int most_processes;
    double bytes; /* an image of one rank */
    /* images of each rank, and codewords of each checksum process, that exist at a time: committed,
     * under way, ... */
    int images;
    double mtbf; /* s: between failures of any kind of the job; < 0: as the machine's rates say */
    double work; /* s: how long the job would run without failures and checkpoints */
    double loss; /* largest accepted probability that the job is lost; 0 < loss <= 1; 1: any */
    double copy_rate;   /* bytes/s: the rate at which a rank copies its image */
    double parity_rate; /* bytes/s: the rate at which a checksum process takes images in */
    double restart;     /* s: until the job goes on after a failure */
    int most_m;         /* 1..FT_MODEL_CODEWORDS */
};

struct ft_advice {
    struct ft_protection protection;
    int spares;
    double mtbf,
        mtbf_rates; /* s: used for the plan; according to the machine's rates for this job */
    double per_rank, per_checksum,
        in_total; /* bytes of memory, beyond what the program has itself */
    /* s: how long the program stands still; time from then until the codewords are complete */
    double pause, parity;
    double interval,
        lost_share;  /* s, Daly's, but at least what parity needs; the share of time lost */
    double wall;     /* s: of an attempt that succeeds */
    double lost_job; /* upper bound of the probability that an attempt does not */
    /* expected machine time relative to that of the ranks' work alone; this is minimised */
    double machine;
};

/* Finds the best plan with at most m = ask->most_m, and in each[m - 1] (each may be NULL) the best
 * with exactly m (protection.m is 0 if there is none). FT_ERR_ARG or FT_ERR_NOMEM: why holds the
 * reason, and, if no protection suffices, the best possible one. */
enum ft_status ft_advice(const struct ft_machine *mc, const struct ft_advice_ask *ask,
                         struct ft_advice *best, struct ft_advice *each, char *why, size_t size);

#endif
