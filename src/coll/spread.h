/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spread.h - everybody sends a part to everybody, all at once (alltoall.c).
 */
#ifndef FT_COLL_SPREAD_H
#define FT_COLL_SPREAD_H

#include "coll/coll_tags.h"

/* A part of a member's data that is sent, or received, whole. */
struct ft_coll_part {
    void *at;
    size_t len;
};
/* What goes to `member`, or comes from it. */
typedef struct ft_coll_part ft_coll_parts(const void *arg, int member, int sent);
/* All parts but the own, in all directions at once. None that is received overlaps one
 * that is sent. */
void ft_coll_spread(const struct ft_ctx *c, enum ft_coll_tag tag, ft_coll_parts *parts,
                    const void *arg);

#endif
