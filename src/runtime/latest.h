/* SPDX-License-Identifier: BSD-3-Clause
 *
 * latest.h - images that a rank takes alone, and the codewords over the latest images (latest.c);
 * requests for them (trim.c).
 */
#ifndef FT_RUNTIME_LATEST_H
#define FT_RUNTIME_LATEST_H

#include "proto/place.h"

struct ft_rt;
struct ft_ctl;

/* What main has made so far. */
struct ft_latest {
    uint64_t alone_n;     /* number of images or codewords made so far; numbers them */
    uint64_t covered_own; /* the latest image to which the own home log was trimmed */
    /* Of a checksum process: the staged codeword, and the image of a rank that it lacks; the image
     * that was folded in last, and its codeword. */
    uint64_t lifted, lifted_image, folded_image, folded_as;
    int lifted_rank, folded_rank;
};

/* latest.c: the version of the latest image or codeword of the process with this control block: the
 * committed one, or a later one. */
uint64_t ft_latest_of(const struct ft_rt *rt, const struct ft_ctl *ctl);
/* Agent: publishes this process's, first where it is read after its death. */
void ft_latest_set(struct ft_rt *rt, uint64_t version);
/* The position of the checksum process that leads group (proto/demand.h), whose tags count. there:
 * 0 if it was replaced and no other is left. rt->lead has its number in the group, or ~ that number
 * in the second case. Either thread. */
int ft_latest_lead(const struct ft_rt *rt, int group, int *there);
/* The version of rank's image in the latest codeword of the checksum process in slot. Either
 * thread. */
uint64_t ft_latest_tag(struct ft_rt *rt, int slot, int rank);
/* main, at a safepoint: takes an image alone if one is wanted and possible */
void ft_latest_take(struct ft_rt *rt);
/* main: the own home log is trimmed to the latest image */
void ft_latest_cover_own(struct ft_rt *rt);
/* Commands of a checksum process. */
struct ft_answer ft_latest_lift(struct ft_rt *rt, int rank);
struct ft_answer ft_latest_fold(struct ft_rt *rt, int rank, uint64_t version);
/* Rebuilds the own latest image, or codeword, in its slot, from the group's other blocks. */
enum ft_skip_reason ft_latest_rebuild(struct ft_rt *rt, int group, uint64_t version, int slot,
                                      uint64_t *bytes);

/* trim.c, on main: asks for an image when the logs hold more than `above` bytes */
void ft_demand_at_safepoint(struct ft_rt *rt, uint64_t n);
void ft_trim_init(struct ft_rt *rt, uint64_t above);

#endif
