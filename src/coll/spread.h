/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spread.h - each member sends a part to every other, all at once (alltoall.c).
 */
#ifndef FT_COLL_SPREAD_H
#define FT_COLL_SPREAD_H

#include "coll/coll_tags.h"

/* A part of a member's data that is sent or received in one message. */
struct ft_coll_part {
    void *at;
    size_t len;
};
/* The part that goes to `member`, or comes from it. */
typedef struct ft_coll_part ft_coll_parts(const void *arg, int member, int sent);
/* Moves all parts but the own, in all directions at once. A received part must not overlap a sent
 * one. */
void ft_coll_spread(const struct ft_ctx *c, enum ft_coll_tag tag, ft_coll_parts *parts,
                    const void *arg);

#endif
