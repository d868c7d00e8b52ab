/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carry.h - what the agent carries out: orders, decisions, snapshots, demand checkpoints, saves.
 */
#ifndef FT_RUNTIME_CARRY_H
#define FT_RUNTIME_CARRY_H

#include "runtime/agent.h"

/* orders.c: carrying out orders */
void ft_orders_begin(struct ft_agent *a, const struct ft_order_action *act);
/* goes on with the order under way, as far as main has come */
void ft_orders_poll(struct ft_agent *a);
void ft_orders_clock(struct ft_agent *a, uint64_t now);

void ft_orders_ready(struct ft_agent *a,
                     struct ft_ready r);    /* the order under way is carried out */
void ft_orders_release(struct ft_agent *a); /* main leaves the safepoint that it stands at */
int ft_orders_in_body(const struct ft_agent *a);
int ft_orders_nobody_inside(void); /* no access to a window is under way that began before this was
                                      asked; 0: not known yet */
void ft_orders_ask_root(struct ft_agent *a, enum ft_mail_kind kind, enum ft_order_event_kind event,
                        uint64_t number);

/* snapshot.c: the part of an order PROPOSE, TARGET that is a snapshot's */
void ft_snapshot_start(struct ft_agent *a);  /* the agent's start */
int ft_snapshot_propose(struct ft_agent *a); /* 1: this process sees the snapshot from here on */
void ft_snapshot_poll(struct ft_agent *a);   /* main stands at the target, or has left body */
void ft_snapshot_mail(struct ft_agent *a, const struct ft_marker *m);
void ft_snapshot_end(struct ft_agent *a); /* over, or called off */
/* asks the root to call it off if main has asked for that */
void ft_snapshot_watch(struct ft_agent *a);

/* demand.c */
void ft_demand_mail(struct ft_agent *a, int from, const struct ft_demand_msg *msg);
void ft_demand_poll(struct ft_agent *a);
/* Whatever checksum processes have tagged is seen from here on, also when they are lost. */
void ft_demand_look(struct ft_agent *a);
/* Main is about to be told to take a coordinated image: with `stream` it lies over the latest one.
 * Until that is committed all are exposed. */
void ft_demand_give_up_latest(struct ft_agent *a);
/* a vote may be about to be sent: main begins no image from here on */
void ft_demand_freeze(struct ft_agent *a);
/* A coordinated image is to be taken, main stands: declines what was not begun. 0: something is
 * still under way. */
int ft_demand_settled(struct ft_agent *a);
void ft_demand_void(struct ft_agent *a); /* a rollback begins */
/* mains are parked: what was taken since the checkpoint counts no more */
void ft_demand_forget(struct ft_agent *a);
/* A decision is being adopted, a->map is the new one, rt->slot_of the old one. rank: that this
 * process carries since before, -1: none. in_run: there is an image, and FTRMA_Run is not over. */
void ft_demand_generation(struct ft_agent *a, const struct ft_decision *d, int rank, int rollback,
                          int in_run);

/* For a vote: whether this process exposes others, as it gave up its latest image. */
void ft_demand_exposes(struct ft_agent *a, struct ft_exposers *by);
/* The version of rank's latest image as the lead's tag says it; 0: there is none. */
uint64_t ft_demand_tag(struct ft_agent *a, int rank);
void ft_demand_covered(struct ft_agent *a); /* a commit or a rollback covers all ranks */

/* save.c. ask: root, all have copied for the order under way: this version is to be saved, if it is
 * due. go_back: the first checkpoint, which is from files, is committed; gone_on: all have gone
 * back to it */
void ft_save_ask(struct ft_agent *a);
void ft_save_go_back(struct ft_agent *a);
void ft_save_gone_on(struct ft_agent *a);
/* release.c: who is lost by this decision; then, when all is well again, their arenas are given
 * back */
void ft_release_lost(struct ft_agent *a, const struct ft_decision *d);
void ft_release_poll(struct ft_agent *a);
/* still.c: who waits for whom when nothing moves any more */
void ft_still_start(struct ft_agent *a);
void ft_still_look(struct ft_agent *a, uint64_t now);

/* generation.c: adopting a decision */
void ft_generation_adopt(struct ft_agent *a, const struct ft_decision *d);

#endif
