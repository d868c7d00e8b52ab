/* SPDX-License-Identifier: BSD-3-Clause
 *
 * latest.h - images that ranks take alone, and codewords over latest images (latest.c); requests
 * for such images (trim.c).
 */
#ifndef FT_RUNTIME_LATEST_H
#define FT_RUNTIME_LATEST_H

#include "proto/place.h"

struct ft_rt;
struct ft_ctl;

/* What main has made so far. */
struct ft_latest {
    uint64_t alone_n;     /* how many images or codewords it has made; this numbers them */
    uint64_t covered_own; /* the latest image to which the own home log was trimmed */
    /* A checksum process: the staged codeword, and the image of a rank that it lacks; the image
     * that was folded in last, and the codeword with it. */
    uint64_t lifted, lifted_image, folded_image, folded_as;
    int lifted_rank, folded_rank;
};

/* latest.c: the version of the latest image or codeword of the process with this control block.
 * That is the committed one or a later one. */
uint64_t ft_latest_of(const struct ft_rt *rt, const struct ft_ctl *ctl);
/* Agent: publishes this process's version, first in its testament, which others read after its
 * death. */
void ft_latest_set(struct ft_rt *rt, uint64_t version);
/* The position of the checksum process that leads a group (proto/demand.h), and whose tags count.
 * there: 0 if it was replaced and no other is left. rt->lead has its index in the group, or in the
 * second case the complement. Either thread. */
int ft_latest_lead(const struct ft_rt *rt, int group, int *there);
/* The version of rank's image in the latest codeword of the checksum process in slot. Either
 * thread. */
uint64_t ft_latest_tag(struct ft_rt *rt, int slot, int rank);
/* main, at a safepoint: takes an image alone if one is wanted and possible */
void ft_latest_take(struct ft_rt *rt);
/* main: trims the own home log to the latest image */
void ft_latest_cover_own(struct ft_rt *rt);
/* Commands that a checksum process carries out. */
struct ft_answer ft_latest_lift(struct ft_rt *rt, int rank);
struct ft_answer ft_latest_fold(struct ft_rt *rt, int rank, uint64_t version);
/* Rebuilds the own latest image or codeword in its slot, from other blocks of the group. */
enum ft_skip_reason ft_latest_rebuild(struct ft_rt *rt, int group, uint64_t version, int slot,
                                      uint64_t *bytes);

/* trim.c, on main: asks for an image when the logs hold more than `above` bytes */
void ft_demand_at_safepoint(struct ft_rt *rt, uint64_t n);
void ft_trim_init(struct ft_rt *rt, uint64_t above);

#endif
