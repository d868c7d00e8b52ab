/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier.h - what a process carries, and what it does about decisions and orders. A machine
 * without I/O: it hears what main says of itself (proto/place.h), what the order machine and the
 * generations ask for, and what was seen of the others, and says what is to be done. It gives main
 * one command at a time. recover/process.h feeds it, and carries nothing out either.
 *
 *   SPARE, SERVING            no rank: idle, or a checksum process at its post
 *   ASSIGNED                  has a position, and its image or codeword is not yet here
 *   SETUP, ENTRY, BODY, HELD, OVER, AFTER, FINALIZE     where main is (proto/place.h)
 *   RETURN                    a replacement at the entry, alone: image, restore, go
 *   PARKING, PARKED, RESTORED a rollback: main is to leave its call; stands; is as in the image
 *   GONE                      was let go
 *
 * A *leaving* command (ft_command_leaves) changes the state when it is given: main is not promised
 * any more. [It is counted as held, and leaves.]
 *
 * Invariants (ft_carrier_check; the simulator and debug builds look after each step):
 *  (1) One command at most is outstanding, one that its place takes. An answer MOVED is never taken
 *      for done.
 *  (2) With a ballot open no order is carried out, and nothing is tagged or flipped: what was voted
 *      stays true.
 *  (3) READY is said once for an order, of the newest seq.
 *  (4) `incomplete` is voted just from ASSIGNED until the image is whole.
 *  (5) RESTORE(v) is given only with v whole here; PROPOSE is not answered in a replay; COPY is
 *      given only while no image that this rank takes alone is under way.
 *  (6) rejoined = g is published only after ATTENTION of g, when nobody here is inside an access.
 *  (7) From PARKING to RESTORED no order but RECOVER, RESTORE, RESUME is carried out, and nothing
 *      is wished, tagged or flipped.
 *  (8) HELD without an order, a hold or a number of its own that is due is released in the same
 *      step.
 *  (9) GONE is final.
 *
 * In a snapshot (C9), (2) means that with a ballot open no image is taken and no marker sent or
 * heard; (5) that COPY is given only when this process has entered and nobody is inside an access
 * to its windows; (7) that a snapshot is void with its generation, and in a rollback.
 */
#ifndef FT_PROTO_CARRIER_H
#define FT_PROTO_CARRIER_H

#include "proto/agree.h"
#include "proto/carrier_state.h"

void ft_carrier_init(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int pos);
/* Each adds to out. `now`: nanoseconds of a clock that does not go back. */
void ft_carrier_main(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     const struct ft_main *m, struct ft_actions *out);
void ft_carrier_seen(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     uint32_t look, uint64_t value, struct ft_actions *out);
/* An order is handed out; it takes the place of the one before it. */
void ft_carrier_order(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                      const struct ft_order_action *order, struct ft_actions *out);
/* A ballot is open: the order under way is forgotten. */
void ft_carrier_ending(struct ft_carrier *c, const struct ft_carrier_cfg *cfg,
                       struct ft_actions *out);
/* A mail DEMAND. */
void ft_carrier_demand(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       const struct ft_demand_msg *msg, struct ft_actions *out);
/* What this process says of itself in a vote; or'ed into d. */
void ft_carrier_vote(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg, int self,
                     struct ft_agree_data *d);
/* A decision is adopted. rollback: all go back; rejoin: replacements run alone; pos: own position
 * from now on. */
struct ft_carrier_news {
    uint32_t generation;
    int pos, rollback, rejoin;
    int told, is_new, bare; /* see struct ft_plan, ft_heir; bare: one of those that are new has no
                             * image */
    uint64_t lacks;         /* of pos */
    const struct ft_agree_data *data;
    /* of the group of pos: the checksum process that leads, by index, or ~ that, if none is left
     * that could say its tag; bits: which of them had whole codewords and live */
    int lead;
    uint32_t there;
    int index;      /* own index among them; -1: a rank, or a spare */
    int members;    /* ranks of the group */
    int lost_owner; /* the rank that demand.ch is at was lost */
};
void ft_carrier_adopted(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                        const struct ft_carrier_news *news, struct ft_actions *out);
void ft_carrier_time(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                     struct ft_actions *out);
void ft_carrier_job_over(struct ft_carrier *c); /* the board says so */
/* A marker of a snapshot has come from a rank. */
void ft_carrier_marker(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t number,
                       int rank, enum ft_snap_marker kind);
/* The answer to FT_DO_SNAPSHOT: what the machine wants. */
void ft_carrier_snapshot(struct ft_carrier *c, const struct ft_snap_actions *todo);
/* The end of each step: goes on with the order, and chooses a command for main. */
void ft_carrier_choose(struct ft_carrier *c, const struct ft_carrier_cfg *cfg, uint64_t now,
                       struct ft_actions *out);
uint64_t ft_carrier_expiry(const struct ft_carrier *c); /* UINT64_MAX: never */
/* What the order machine is to know of main. */
enum ft_milestone ft_carrier_milestone(const struct ft_carrier *c,
                                       const struct ft_carrier_cfg *cfg);
void ft_carrier_check(const struct ft_carrier *c, const struct ft_carrier_cfg *cfg);
int ft_carrier_dump(const struct ft_carrier *c, char *out, int size);

#endif
