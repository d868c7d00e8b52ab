/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_owner.h - the machine of a rank that takes an image alone (demand.h).
 */
#ifndef FT_PROTO_DEMAND_OWNER_H
#define FT_PROTO_DEMAND_OWNER_H

#include "proto/demand_msg.h"

enum ft_demand_owner_state { FT_OWNER_NONE, FT_OWNER_WANTED, FT_OWNER_TAKEN };
struct ft_demand_owner {
    enum ft_demand_owner_state state;
    int stream;
    uint32_t generation, round;
    uint64_t wanted_in; /* 1 + the generation of the last TAKE; 0: none is open */
    int begun_only;     /* that TAKE asks only for what was begun */
    uint64_t version;
    uint64_t latest; /* the image that it flipped to last; 0: none */
};
/* A new generation. tag: the version of this rank's image in the latest codeword; 0: nobody is left
 * who could say it. over: the image that was taken lies over the latest one. Returns 1 when the
 * owner has flipped to m->latest. *answer is to be sent, unless its kind is 0. */
int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank,
                               uint64_t tag, int over, struct ft_demand_msg *answer);
/* A rollback voids whatever is under way. */
void ft_demand_owner_drop(struct ft_demand_owner *m);
/* A message has come. Returns 1 when the owner has flipped to m->latest. In either case *answer is
 * to be sent, unless its kind is 0. */
int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg,
                        struct ft_demand_msg *answer);
/* 1: main is to take an image at its next safepoint. */
int ft_demand_owner_wants(const struct ft_demand_owner *m);
/* 1: CH asks for what main has begun to write over the latest image. If main has not begun, nothing
 * is wanted any more, and the caller reports version 0 for it. */
int ft_demand_owner_ends(const struct ft_demand_owner *m);
/* Main has taken the image; version 0: it declines. If the answer has a kind, it is to be sent. If
 * it has none, the image is void; but an image that lies over the latest one is kept until it is
 * asked for. */
struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version,
                                           int over);
/* The same for an image over the latest one, if the CH that had asked for it was lost meanwhile.
 * The owner flips. */
void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version);

#endif
