/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcf.h - the probability of a catastrophic failure: one group loses more than it has codewords.
 *
 * Source: M. Besta, T. Hoefler, "Fault Tolerance for Remote Memory Access Programming Models", 5.1,
 * 5.2 and 7.1: Eq. 7 to 9 for m = 1. docs/MODEL.md derives the general m, and shows where the
 * paper's worst case is not the worst.
 *
 *   level 1 (nodes)     [][][][] [][][][] [][][][] ...    H_1 elements
 *   level 2 (supplies)  [------] [------] [------] ...    H_2 elements
 *   ...                                                   h levels
 *
 * x elements of level 1 fail on one day with P_1(x) = a exp(-b x), and so on. A day has failures at
 * no more than one level (Eq. 7 adds).
 *
 * A job of N ranks has g groups of N/g ranks and m checksum processes each: |G| = N/g + m, |CH| = g
 * m. It is aware up to level n: at most m processes of a group are on one element of levels 1..n.
 * Above n each failed element counts as catastrophic.
 *
 * P_j(x) are rates: the expected number of times a day that x elements of level j fail together.
 * They may exceed 1. For the paper's machine, where failures are rare, a rate is as good as the
 * probability of a failure on one day.
 *
 * Pure; nothing is allocated or kept.
 */
#ifndef FT_MODEL_PCF_H
#define FT_MODEL_PCF_H

#include <stddef.h>

#include "base/status.h"

#define FT_MODEL_LEVELS 16
#define FT_MODEL_CODEWORDS 8 /* m at the most */
#define FT_MODEL_GROUP 128   /* ranks of a group in a plan, at most (erasure.h) */

struct ft_model_level {
    const char *name;
    int elements; /* H_j */
    double a, b;  /* P_j(x) = a exp(-b x) a day, x = 1..H_j; a >= 0, b > 0 */
};

/* Lowest level first: level[0] is the paper's level 1. */
struct ft_machine {
    int nlevels;
    struct ft_model_level level[FT_MODEL_LEVELS];
    /* days: of two failures of a level within this time the second meets what the first has left.
     * 0: each is repaired at once, as in the paper. */
    double window;
};

struct ft_protection {
    int ranks;     /* N */
    int checksums; /* |CH| = g m */
    int m;         /* codewords of a group */
    int aware;     /* n: 0 (not at all) .. nlevels */
    /* processes of a group that may be on one element of the levels 1..n, 1..m; 0: as few as
     * possible */
    int share;
    /* processes on each element of level 1, filled in order; 0: not known, spread as well as
     * possible */
    int per_node;
};

/* The assumption about the places of groups: how many sets of elements hold a group. */
enum ft_pcf_places {
    /* Eq. 8: D = ceil(H_j / |G|) disjoint sets, and the sum of the probabilities of their pairs */
    FT_PCF_PAPER,
    FT_PCF_ALIGNED, /* the same sets, exactly: what Eq. 8 adds twice is counted once */
    FT_PCF_ANY,     /* g sets, however they overlap: a bound for each aware placement */
    /* a bound where processes are dealt out to the groups in turn (topology/placement.h): with u
     * processes on an element, gcd(g, u) consecutive groups are on the same ones, so g / gcd(g, u)
     * sets */
    FT_PCF_DEALT,
};

/* FT_ERR_ARG and the reason in `why`, if the machine is invalid, or the protection impossible on
 * it. */
enum ft_status ft_machine_check(const struct ft_machine *mc, char *why, size_t size);
enum ft_status ft_protection_check(const struct ft_machine *mc, const struct ft_protection *p,
                                   char *why, size_t size);

int ft_protection_groups(const struct ft_protection *p); /* g */
/* |G| of the largest group, with its checksum processes */
int ft_protection_group_size(const struct ft_protection *p);

/* P_j(x), and its sum over x = 1..H_j. */
double ft_pcf_failures(const struct ft_model_level *l, int x);
double ft_pcf_any_failure(const struct ft_model_level *l);

/* The number of elements of level j that a job of this many processes uses, with at most `on_each`
 * processes on each. With per_node 0 the processes are spread over as many elements as possible. */
struct ft_pcf_use {
    int used, on_each;
};
struct ft_pcf_use ft_pcf_use(const struct ft_machine *mc, int j, int processes, int per_node);

/* Expected number of times a day that x elements fail together, at least one of them used; the same
 * for any x; for all levels. */
double ft_pcf_hits_of(const struct ft_machine *mc, int j, int x, int used);
double ft_pcf_hits_of_level(const struct ft_machine *mc, int j, int processes, int per_node);
double ft_pcf_hits(const struct ft_machine *mc, int processes, int per_node);

/* P_j(x_cf | x): x of the level's elements fail; fatal: at least k elements of one of `blocks` sets
 * of `block` elements each. Eq. 8 with m = 1 has k = 2, block = |G|, blocks = D. Returns the sum
 * over the sets, at most 1. */
double ft_pcf_given(int elements, double blocks, int block, int k, int x);

/* The same exactly for the ceil(elements / block) disjoint sets (the last may be smaller), for x =
 * 0..xmax <= elements. Work: sets * xmax * (k + a few). */
#define FT_PCF_EXACT_X 512 /* xmax at the most */
void ft_pcf_given_aligned(int elements, int block, int k, int xmax, double *out);

/* Eq. 9, expected a day. FT_PCF_ANY and FT_PCF_DEALT count above n only failures that hit the job.
 * part[j] (part may be NULL) is the part of each level. Both arguments have passed their checks.
 * With FT_PCF_ALIGNED more than FT_PCF_EXACT_X simultaneous failures count as fatal. */
double ft_pcf(const struct ft_machine *mc, const struct ft_protection *p, enum ft_pcf_places places,
              double *part);

#endif
