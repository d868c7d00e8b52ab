/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request.h - the life of a request: it is taken from the pool, started, done, settled (data where
 * the program wants it, accounts closed), and either put back or, if persistent, inactive again.
 */
#ifndef FT_MPI_REQUEST_H
#define FT_MPI_REQUEST_H

#include "mpi/mpi_internal.h"
#include "mpi/p2p.h"

/* ---- request_pool.c ---- */
int ft_request_pool_init(void);
struct ft_request *ft_request_get(void); /* NULL: there are too many */
void ft_request_put(struct ft_request *q);
void ft_request_orphan(struct ft_request *q); /* freed by the program while active */
/* Types and operations that q uses stay alive until it is unpinned (free_later.c). The third: the
 * pinned request after q; NULL: the first, or there is none. */
void ft_request_pin(struct ft_request *q);
void ft_request_unpin(struct ft_request *q);
struct ft_request *ft_request_next_pinned(const struct ft_request *q);
void ft_request_reap(void);                   /* puts back the orphans that are done */
void ft_request_reap_freed(void);             /* lets messages go on before that */
/* Waits until sends of orphans have left this process: only those in buffered mode, which wait for
 * room in the log alone, or all but synchronous ones. */
void ft_request_await_sends(int only_buffered);
/* Waits until all orphans of c are over, receives and synchronous sends too. */
void ft_request_await_freed(const struct ft_comm *c);
void ft_request_drop_all(void);
/* A message that a matched probe took has a handle of the pool, too. NULL: it is the host's, or
 * MPI_MESSAGE_NULL. */
static inline struct ft_request *ft_message_of(MPI_Message m)
{
    return ft_request_of((MPI_Request)(void *)m);
}

/* ---- request_host.c: requests of the host's, which count as active ---- */
/* The host may have completed or freed one: its handle before that and now. */
void ft_request_host_left(MPI_Request was, MPI_Request now);
void ft_request_host_await_files(void); /* the host writes to the program's memory no more */
void ft_request_host_drop_all(void);

/* ---- request_start.c ---- */
/* Makes a request for these (checked) arguments; peer is a rank of c or MPI_ANY_SOURCE. It is not
 * active yet. */
struct ft_request *ft_request_make(struct ft_comm *c, int is_recv, void *buf, int count,
                                   const struct ft_type *t, int peer, int tag);
/* Starts a new request and returns its handle. call: "MPI_X", for errors. */
int ft_request_start_new(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                         const char *call);
/* Makes it a persistent request of the program. */
int ft_request_persist(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                       const char *call);
/* The same for a receive of a message that a matched probe has taken. */
enum ft_status ft_request_start_taken(struct ft_request *q, const struct ft_type *t,
                                      struct ft_inmsg *taken);
/* Makes it active. FT_ERR_NOMEM when a non-contiguous buffer cannot be packed. */
enum ft_status ft_request_start(struct ft_request *q, const struct ft_type *t);

/* ---- part.c: partitioned communication ---- */
void ft_partitioned_start(struct ft_request *q); /* q->part != NULL */
void ft_partitioned_free(struct ft_request *q);  /* what q has of it, if anything */

/* ---- buffered.c ---- */
/* A send in standard mode without a request: on return the message is in the log, or copied.
 * Returns an MPI error code. */
int ft_send_away(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
                 int tag);
/* A send in buffered mode, with checked arguments: on return the message is in the log, or copied.
 * Returns an MPI error code. */
int ft_bsend(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
             int tag);
/* all went back: the buffer is the one that body found when it was first entered */
void ft_buffer_reset(int over);

/* ---- request.c ---- */
/* What a handle in an array of requests is. */
enum ft_request_state { FT_REQUEST_IDLE, FT_REQUEST_OVER, FT_REQUEST_PENDING, FT_REQUEST_FOREIGN };
enum ft_request_state ft_request_state(MPI_Request h);
/* For an active request that is done: unpacks its data and closes its accounts. MPI_SUCCESS or
 * MPI_ERR_TRUNCATE. */
int ft_request_settle(struct ft_request *q);
/* Completes a request of ours that is idle or over towards the program: status and handle. Raises
 * nothing; *where (unless NULL) is the communicator whose error handler a returned error belongs
 * to. */
int ft_request_complete(MPI_Request *h, MPI_Status *status, MPI_Comm *where);
int ft_request_wait_foreign(MPI_Request *h, MPI_Status *status);
/* Waits until a request of ours is over; returns at once for others. */
void ft_request_await(MPI_Request h);
/* The answer of MPI_Iprobe, noted, for checked arguments that name a process (probe.c). */
int ft_iprobe(struct ft_comm *c, int source, int tag, struct ft_msg_status *s);

/* status may be any pointer; it is written unless it is MPI_STATUS_IGNORE. */
static inline void ft_status_set(MPI_Status *status, int source, int tag, size_t bytes,
                                 int cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->_cancelled = cancelled;
    status->_ucount = bytes;
}

#endif
