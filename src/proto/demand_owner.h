/* SPDX-License-Identifier: BSD-3-Clause
 *
 * demand_owner.h - the rank that takes an image alone (demand.h).
 */
#ifndef FT_PROTO_DEMAND_OWNER_H
#define FT_PROTO_DEMAND_OWNER_H

#include "proto/demand_msg.h"

enum ft_demand_owner_state { FT_OWNER_NONE, FT_OWNER_WANTED, FT_OWNER_TAKEN };
struct ft_demand_owner {
    enum ft_demand_owner_state state;
    int stream;
    uint32_t generation, round;
    uint64_t wanted_in; /* 1 + the generation that the last TAKE came from, 0: none is open */
    int begun_only;     /* that one asks for what was begun */
    uint64_t version;
    uint64_t latest; /* last flipped to; 0: none */
};
/* A new generation. tag: version of this rank's image in the latest codeword; 0: nobody is left to
 * say it. over: the image that was taken lies over the latest one. Returns 1 when the owner has
 * flipped to m->latest; *answer is to be sent (kind 0: nothing). */
int ft_demand_owner_generation(struct ft_demand_owner *m, uint32_t generation, int rank,
                               uint64_t tag, int over, struct ft_demand_msg *answer);
/* A rollback: whatever is under way is void. */
void ft_demand_owner_drop(struct ft_demand_owner *m);
/* A message has come. Returns 1 when the owner has flipped to m->latest; then, too, *answer is to
 * be sent (kind 0: nothing). */
int ft_demand_owner_msg(struct ft_demand_owner *m, const struct ft_demand_msg *msg,
                        struct ft_demand_msg *answer);
/* Main is to take an image at its next safepoint. */
int ft_demand_owner_wants(const struct ft_demand_owner *m);
/* 1: main has begun to write over the latest image, and is waited for. If main has not begun,
 * nothing is wanted any more: say 0 for it. */
int ft_demand_owner_ends(const struct ft_demand_owner *m);
/* Main has taken the image; version 0: it declines. An answer that has a kind is to be sent. If it
 * has none, the image is void; where it lies over the latest one, it is kept until it is asked
 * for. */
struct ft_demand_msg ft_demand_owner_taken(struct ft_demand_owner *m, int rank, uint64_t version,
                                           int over);
/* The same for an image over the latest one, where the checksum process that had asked for it was
 * lost meanwhile: the owner flips. */
void ft_demand_owner_orphan(struct ft_demand_owner *m, uint64_t version);

#endif
