/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carrier_parts.h - what the files of the carrier share.
 *
 *   carrier.c           what main says, the state, and the choice of a command
 *   carrier_order.c     orders
 *   carrier_loss.c      generations, rollbacks, and ranks that go back alone
 *   carrier_demand.c    images that ranks take alone
 *   carrier_codeword.c  the codewords over these images
 *   carrier_snapshot.c  snapshots
 */
#ifndef FT_PROTO_CARRIER_PARTS_H
#define FT_PROTO_CARRIER_PARTS_H

#include "proto/carrier.h"

/* What each part needs in one step of the carrier. */
struct ft_carry {
    struct ft_carrier *c;
    const struct ft_carrier_cfg *cfg;
    uint64_t now;
    struct ft_actions *out;
};

/* carrier.c */
static inline int ft_carry_is_rank(const struct ft_carry *x)
{
    return ft_carrier_is_rank(x->c, x->cfg);
}
static inline int ft_carry_is_checksum(const struct ft_carry *x)
{
    return ft_carrier_is_checksum(x->c, x->cfg);
}
static inline int ft_carry_busy(const struct ft_carry *x) { return x->c->cmd.kind != FT_CMD_NONE; }
/* Main stands, and has no command. */
static inline int ft_carry_stands(const struct ft_carry *x)
{
    return !ft_carry_busy(x) && ft_place_stands(x->c->heard.place);
}
static inline int ft_carry_rolling(const struct ft_carry *x)
{
    return (x->c->facts & FT_FACT_ROLLING) != 0;
}
/* By what the order machine counts, this rank is in FTRMA_Run, and its body is not over. */
int ft_carry_in_run(const struct ft_carry *x);
void ft_carry_command(const struct ft_carry *x, enum ft_command kind, struct ft_command_arg arg);
void ft_carry_hold(const struct ft_carry *x, uint64_t hold);
void ft_carry_publish(const struct ft_carry *x, enum ft_word word, uint64_t value);
void ft_carry_flags(const struct ft_carry *x);
void ft_carry_event(const struct ft_carry *x, uint32_t event, uint32_t who, int64_t a, int64_t b,
                    uint64_t dur);
void ft_carry_ask_root(const struct ft_carry *x, uint32_t mail, uint64_t number);
uint32_t ft_carry_who(const struct ft_carry *x);
/* Main may go on from the safepoint that it is held at. */
void ft_carry_let_go(const struct ft_carry *x);
/* The image that was copied for the checkpoint under way is void. */
void ft_carry_void_copy(const struct ft_carry *x);
int ft_carry_has(const struct ft_carry *x,
                 uint64_t version);             /* its image or codeword is whole here */
void ft_carry_settle(const struct ft_carry *x); /* computes the state from where main is */

/* carrier_order.c */
void ft_carry_ready(const struct ft_carry *x, struct ft_ready r); /* answers the order under way */
void ft_carry_go_on(
    const struct ft_carry *x); /* continues the order under way, as far as main allows */
void ft_carry_schedule(const struct ft_carry *x);
void ft_carry_logs_long(const struct ft_carry *x, int at_once);
/* Main has answered a command that the order was waiting for. */
void ft_carry_order_answered(const struct ft_carry *x, enum ft_command kind, uint64_t version,
                             const struct ft_answer *a);

/* carrier_loss.c */
void ft_carry_rebuilt(const struct ft_carry *x, uint64_t version, const struct ft_answer *a);
int ft_carry_rebuild(const struct ft_carry *x, uint64_t version); /* 1: the version is here */
int ft_carry_way_back(const struct ft_carry *x); /* 1: it needs main, now or later */
void ft_carry_recover(const struct ft_carry *x);
void ft_carry_restore(const struct ft_carry *x);
void ft_carry_resume(const struct ft_carry *x);
void ft_carry_rejoin(const struct ft_carry *x);
void ft_carry_park(const struct ft_carry *x); /* asks main to park, if it has to */

/* carrier_demand.c, carrier_codeword.c */
void ft_carry_demand_main(const struct ft_carry *x);   /* main's words were copied */
void ft_carry_demand_go_on(const struct ft_carry *x);  /* at the end of a step */
void ft_carry_demand_cover(const struct ft_carry *x);  /* the same, if no other action followed */
int ft_carry_demand_command(const struct ft_carry *x); /* main is free; 1: it was given a command */
void ft_carry_demand_answered(const struct ft_carry *x, uint64_t number, const struct ft_answer *a);
/* Main stands and is to copy. Returns 1 if it may; with `stream` it then copies over the latest
 * image. */
int ft_carry_demand_settled(const struct ft_carry *x);
void ft_carry_demand_gives_up(const struct ft_carry *x); /* gives that latest image up */
void ft_carry_demand_freeze(const struct ft_carry *x);   /* a ballot is open */
void ft_carry_demand_void(const struct ft_carry *x);     /* a rollback begins */
void ft_carry_demand_forget(const struct ft_carry *x);   /* all are parked */
void ft_carry_demand_covered(const struct ft_carry *x);  /* a coordinated image is committed */
void ft_carry_demand_adopted(const struct ft_carry *x, const struct ft_carrier_news *news);
uint32_t ft_carry_demand_looks(const struct ft_carry *x);
void ft_carry_demand_seen(const struct ft_carry *x, uint32_t look, uint64_t value);
/* A checksum process: all ranks of its group have said which images it is to be rebuilt from. */
int ft_carry_demand_all_said(const struct ft_carry *x);
/* The codeword was rebuilt. Returns 0 if some of the images are not the latest ones any more. */
int ft_carry_demand_rebuilt(const struct ft_carry *x);
void ft_carry_demand_check(const struct ft_carry *x);

/* carrier_snapshot.c */
int ft_carry_snapshot_proposed(
    const struct ft_carry *x); /* 1: this process is ready for the snapshot */
void ft_carry_snapshot_target(const struct ft_carry *x, int stuck);
void ft_carry_snapshot_copied(const struct ft_carry *x, const struct ft_answer *a);
void ft_carry_snapshot_go_on(const struct ft_carry *x);
void ft_carry_snapshot_stops(struct ft_carrier *c);    /* a ballot is open */
void ft_carry_snapshot_over(const struct ft_carry *x); /* it is over, called off or void */
uint32_t ft_carry_snapshot_looks(const struct ft_carry *x);
void ft_carry_snapshot_check(const struct ft_carry *x);

#define FT_RETRY_NS 20000000ull

#endif
