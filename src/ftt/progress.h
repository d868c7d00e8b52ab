/* SPDX-License-Identifier: BSD-3-Clause
 *
 * progress.h - what the files of an endpoint ask of each other. All of it under the endpoint's lock.
 */
#ifndef FT_FTT_PROGRESS_H
#define FT_FTT_PROGRESS_H

#include "ftt/endpoint.h"

/* blocks.c */
struct ft_parcel *ft_block_get(struct ft_endpoint *e, size_t bytes);
void ft_block_put(struct ft_endpoint *e, struct ft_parcel *b);
void *ft_small_get(struct ft_endpoint *e);
void ft_small_put(struct ft_endpoint *e, void *p);
/* Makes an event of this kind, with room for `bytes` of data, at the end of the queue. */
struct ft_parcel *ft_event_new(struct ft_endpoint *e, enum FTT_Kind kind, int rank, size_t bytes);
void ft_event_add(struct ft_endpoint *e, struct ft_parcel *b);

/* progress.c. Returns 1 if anything came, or was told. */
int ft_progress(struct ft_endpoint *e);
void ft_progress_acks(struct ft_endpoint *e); /* none waits any more */
int ft_progress_idle(struct ft_endpoint *e); /* nothing has come since */
/* Sends what is to be sent, after something was begun here. */
void ft_progress_out(struct ft_endpoint *e);
/* Takes an item over. 0: there is no room. not_full: then it waits for room, and goes later. */
int ft_item_send(struct ft_endpoint *e, struct ft_parcel *b, int not_full);
/* Who carries this rank now: nothing was said to it, and nothing read. */
void ft_peer_is(struct ft_endpoint *e, int rank);
void ft_peer_map(struct ft_endpoint *e, int rank);
/* Waits until this fetch is done, or (NULL) until an event has come. It gives the lock up
 * meanwhile. Returns 0 if it took longer. */
int ft_endpoint_wait(struct ft_endpoint *e, struct ft_wanting *f, int ms);

/* deliver.c */
void ft_deliver(struct ft_endpoint *e, int from, const struct ft_txn_frame *f,
                const unsigned char *data, uint32_t bytes);
/* A header comes to nothing here: this process is in FTT_Close. */
void ft_answer_closed(struct ft_endpoint *e, int to, uint32_t incarnation, uint64_t id);
void ft_item_acked(struct ft_endpoint *e, struct ft_parcel *b);
void ft_item_gone(struct ft_endpoint *e, struct ft_parcel *b);

/* shelf.c */
void ft_fetch_asked(struct ft_endpoint *e, int from, uint64_t id, const struct ft_wish *w);
void ft_fetch_answered(struct ft_endpoint *e, struct ft_parcel *header, const struct ft_head *h,
                       const unsigned char *data);

#endif
