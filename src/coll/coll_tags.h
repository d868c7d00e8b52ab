/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_tags.h - the tags of collectives, and errors of members that do not make the same calls.
 */
#ifndef FT_COLL_COLL_TAGS_H
#define FT_COLL_COLL_TAGS_H

#include "coll/coll.h"

/* One for each kind, all below FT_ANY_TAG. Members that call different collectives wait, and do not
 * take each other's data. */
enum ft_coll_tag {
    FT_TAG_BARRIER = -2,
    FT_TAG_BCAST = -3,
    FT_TAG_REDUCE = -4,
    FT_TAG_ALLREDUCE = -5,
    FT_TAG_SCAN = -6,
    FT_TAG_EXSCAN = -7,
    FT_TAG_REDUCE_SCATTER = -8,
    FT_TAG_GATHER = -9,
    FT_TAG_SCATTER = -10,
    FT_TAG_ALLGATHER = -11,
    FT_TAG_ALLTOALL = -12,
};

/* Members passed lengths that do not fit together: ft_coll_mismatch. */
void ft_coll_bad_length(const struct ft_ctx *c, enum ft_coll_tag tag, int src, size_t got,
                        size_t want);
/* The same for bytes that were received: the rest of them is missing. */
void ft_coll_came_short(const struct ft_ctx *c, enum ft_coll_tag tag, int src, void *buf,
                        size_t got, size_t want);

#endif
