/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier.h - what a process carries, and what it does about decisions and orders. This is a
 * machine without I/O. It hears what main says of itself (proto/place.h), what the order machine
 * and new generations ask for, and what was seen of other processes. It says what is to be done,
 * and gives main one command at a time. recover/process.h feeds it, and does no I/O either.
 *
 *   SPARE                     carries no rank and no codeword
 *   SERVING                   is a checksum process that has its codewords
 *   ASSIGNED                  has a position, but not yet its image or codeword
 *   SETUP, ENTRY, BODY, HELD, OVER, AFTER, FINALIZE
 *                             is a rank: this is where main is (proto/place.h)
 *   RETURN                    is a replacement at the entry that goes back alone
 *   PARKING                   rollback: main is to leave its call
 *   PARKED                    rollback: main stands
 *   RESTORED                  rollback: memory is as in the image
 *   GONE                      main was allowed to end
 *
 * A *leaving* command (ft_command_leaves) changes the state when it is given, not when it is
 * answered. [A main that is counted as held leaves all the same.]
 *
 * Invariants. ft_carrier_check looks at them after each step, in jobs and in the simulator:
 *  (1) At most one command is outstanding, and main's place takes it. An answer MOVED never counts
 *      as done.
 *  (2) While a ballot is open, no order is carried out, and nothing is tagged or flipped. So what
 *      was voted stays true.
 *  (3) READY is said once for each order, and only for the newest seq.
 *  (4) A process votes `incomplete` from ASSIGNED until its image is whole, and at no other time.
 *  (5) RESTORE(v) is given only if v is whole here. PROPOSE is not answered during a replay. COPY
 *      is given only while this rank takes no image alone.
 *  (6) rejoined = g is published only after ATTENTION of g, when nobody here is inside an access.
 *  (7) From PARKING to RESTORED only the orders RECOVER, RESTORE and RESUME are carried out, and
 *      nothing is wished, tagged or flipped.
 *  (8) If main is HELD without an order, a hold or a number of its own that is due, it is released
 *      in the same step.
 *  (9) GONE is final.
 *
 * For snapshots (C9) this means: (2) while a ballot is open, no image is taken, and no marker is
 * sent or heard; (5) COPY is given only when this process has entered the snapshot and nobody is
 * inside an access to its windows; (7) a new generation or a rollback voids the snapshot.
 */
#ifndef FT_PROTO_CARRIER_H
#define FT_PROTO_CARRIER_H

#include "proto/agree.h"
#include "proto/carrier_state.h"

void ft_carrier_init(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int pos);
/* Each of these appends actions to out. `now` is the time in ns of a clock that never goes back. */
void ft_carrier_main(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     const struct ft_main *m, struct ft_actions *out);
void ft_carrier_seen(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     uint32_t look, uint64_t value, struct ft_actions *out);
/* A new order is handed to this process. It replaces the order before it. */
void ft_carrier_order(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                      const struct ft_order_action *order, struct ft_actions *out);
/* A ballot has opened. The order under way is forgotten. */
void ft_carrier_ending(struct ft_carrier *c, const struct ft_carrier_cfg *cfg,
                       struct ft_actions *out);
/* A mail of kind DEMAND has come. */
void ft_carrier_demand(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       const struct ft_demand_msg *msg, struct ft_actions *out);
/* Merges what this process says of itself in a vote into d. */
void ft_carrier_vote(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int self,
                     struct ft_agree_data *d);
/* A decision is adopted. rollback: all go back. rejoin: replacements run alone. pos: the position
 * of this process from now on. */
struct ft_carrier_news {
    uint32_t generation;
    int pos, rollback, rejoin;
    int told, is_new, bare; /* as in struct ft_plan and ft_heir; bare: some new rank has no image */
    uint64_t lacks;         /* as in struct ft_heir, for pos */
    const struct ft_agree_data *data;
    /* About the group of pos. lead: index of the checksum process that leads; its complement if no
     * living one can say the tag. there: a bit for each one that lives and had whole codewords */
    int lead;
    uint32_t there;
    int index;      /* own index among its checksum processes; -1: this is a rank or a spare */
    int members;    /* number of ranks in the group */
    int lost_owner; /* the rank that demand.ch stages for was lost */
};
void ft_carrier_adopted(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                        const struct ft_carrier_news *news, struct ft_actions *out);
void ft_carrier_time(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     struct ft_actions *out);
void ft_carrier_job_over(struct ft_carrier *c); /* the board says that the job is over */
/* A rank has sent a marker of a snapshot. */
void ft_carrier_marker(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t number,
                       int rank, enum ft_snap_marker kind);
/* The answer to FT_DO_SNAPSHOT: what the snapshot machine wants. */
void ft_carrier_snapshot(struct ft_carrier *c, const struct ft_snap_actions *todo);
/* Called at the end of each step. Continues the order, and chooses a command for main. */
void ft_carrier_choose(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       struct ft_actions *out);
uint64_t ft_carrier_expiry(const struct ft_carrier *c); /* UINT64_MAX: no clock is set */
/* The milestone that the order machine is to hear of. */
enum ft_milestone ft_carrier_milestone(const struct ft_carrier *c,
                                       const struct ft_carrier_cfg *cfg);
void ft_carrier_check(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg);
int ft_carrier_dump(const struct ft_carrier *c, char *out, int size);

#endif
