/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_msg.h - messages about images that a rank takes alone (demand.h).
 */
#ifndef FT_PROTO_DEMAND_MSG_H
#define FT_PROTO_DEMAND_MSG_H

#include "base/base.h"

enum ft_demand_kind {
    FT_DEMAND_ASK = 1,   /* to CH */
    FT_DEMAND_TAKE,      /* to q; version not 0: only the image that it has begun to write over its
                            latest one */
    FT_DEMAND_TAKEN,     /* to CH; version 0: declined */
    FT_DEMAND_COMMITTED, /* to q; version 0: called off */
    FT_DEMAND_ACK,       /* to CH */
    FT_DEMAND_LIFT_IT,   /* the lead to its helpers, and so are the next two */
    FT_DEMAND_FOLD_IT,
    FT_DEMAND_TAG_IT,
    FT_DEMAND_DONE, /* a helper to the lead; version 0: it could not */
    /* The lead, in a new generation. To checksum processes: which image of which rank it has tagged
     * last. To rank q: the version of q's image in its latest codeword. */
    FT_DEMAND_TAG_IS,
    FT_DEMAND_TAG_HEARD, /* a helper to the lead: it goes by that tag */
    /* A rank to a checksum process that is to be rebuilt: the version of its latest image. */
    FT_DEMAND_LATEST_IS,
};
struct ft_demand_msg {
    uint32_t kind, generation;
    int32_t rank; /* whose image it is about: q */
    uint32_t ch;  /* index of the CH that says it, or that it is about */
    uint64_t version;
    uint32_t round, pad; /* how many rollbacks this generation has had */
};

#endif
