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
/* The thread that waits for it leaves its call. [Another thread has taken the answer since it has
 * looked: nobody else frees it.] */
static inline void ft_wanting_left(struct ft_endpoint *e, struct ft_wanting *f)
{
    if (f->done)
        ft_small_put(e, f);
    else
        f->to = NULL; /* the answer frees it */
}
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
/* This rank has a new carrier (e->slot), to which nothing was said, and of which nothing was read. */
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
/* The answer to the header `id` of rank `to`, with room for `bytes` of data after its head. */
struct ft_parcel *ft_answer_new(struct ft_endpoint *e, int to, uint64_t id,
                                const struct ft_head *h, size_t bytes);
void ft_item_acked(struct ft_endpoint *e, struct ft_parcel *b);
void ft_item_gone(struct ft_endpoint *e, struct ft_parcel *b);

/* pieces.c: memory of processes of other nodes */
/* n bytes, from `at` on, of what header `id` of rank `to` has asked for; they belong at *data. */
struct ft_parcel *ft_piece_new(struct ft_endpoint *e, int to, uint64_t id, uint64_t at, uint64_t n,
                               char **data);
/* All pieces were sent, or there are none. */
void ft_answer_came(struct ft_endpoint *e, int to, uint64_t id, int status, uint64_t bytes);
void ft_piece_came(struct ft_wanting *f, const struct ft_far_piece *p, const unsigned char *data,
                   uint32_t bytes);
/* STORE, STORED and LOAD have come. */
void ft_reached(struct ft_endpoint *e, int from, uint64_t id, enum ft_what what,
                const unsigned char *data, uint32_t bytes);
/* Copies to memory of another node, or from it. Waits for its owner. */
int ft_far_copy(struct ft_endpoint *e, const FTT_Buffer *h, uint64_t offset, void *here,
                uint64_t bytes, int out);

/* shelf.c */
void ft_fetch_asked(struct ft_endpoint *e, int from, uint64_t id, const struct ft_wish *w);
void ft_fetch_answered(struct ft_endpoint *e, struct ft_parcel *header, const struct ft_head *h,
                       const unsigned char *data);

#endif
