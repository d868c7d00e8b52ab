/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request.h - the life of a request: got from the pool, started, done, settled (data where the
 * program wants it, accounts closed), and either put back or, when persistent, inactive again.
 */
#ifndef FT_MPI_REQUEST_H
#define FT_MPI_REQUEST_H

#include "mpi/mpi_internal.h"
#include "mpi/p2p.h"

/* ---- request_pool.c ---- */
int ft_request_pool_init(void);
struct ft_request *ft_request_get(void); /* NULL: too many */
void ft_request_put(struct ft_request *q);
void ft_request_orphan(struct ft_request *q); /* freed by the program while active */
void ft_request_await_sends(void);            /* waits until all that orphans send is in the log */
void ft_request_reap(void);                   /* puts back the orphans that are done */
void ft_request_drop_all(void);
/* A message that a matched probe took has a handle of the pool, too; NULL: the host's, or none. */
static inline struct ft_request *ft_message_of(MPI_Message m)
{
    return ft_request_of((MPI_Request)(void *)m);
}

/* ---- request_start.c ---- */
/* A request for these (checked) arguments; peer is a rank of c or MPI_ANY_SOURCE. It is not active
 * yet. */
struct ft_request *ft_request_make(struct ft_comm *c, int is_recv, void *buf, int count,
                                   const struct ft_type *t, int peer, int tag);
/* A new one, started. call: "MPI_X", for errors. */
int ft_request_start_new(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                         const char *call);
/* Makes it a persistent one of the program's. */
int ft_request_persist(struct ft_request *q, const struct ft_type *t, MPI_Request *request,
                       const char *call);
/* A receive of a message that a matched probe has taken, likewise. */
enum ft_status ft_request_start_taken(struct ft_request *q, const struct ft_type *t,
                                      struct ft_inmsg *taken);
/* Makes it active. FT_ERR_NOMEM when a non-contiguous buffer cannot be packed. */
enum ft_status ft_request_start(struct ft_request *q, const struct ft_type *t);

/* ---- part.c: partitioned communication ---- */
void ft_partitioned_start(struct ft_request *q); /* q->part != NULL */
void ft_partitioned_free(struct ft_request *q);  /* what q has of it, if anything */

/* ---- buffered.c ---- */
/* Sends in standard mode without a request: the message is in the log on return, or copied. An MPI
 * error code. */
int ft_send_away(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
                 int tag);
/* A message in buffered mode, arguments checked: it is on its way, or copied, on return. An MPI
 * error code. */
int ft_bsend(struct ft_comm *c, const void *buf, int count, const struct ft_type *t, int dest,
             int tag);
void ft_buffer_reset(int over); /* everybody went back: the buffer is that which body found when it
                                   was first entered */

/* ---- request.c ---- */
/* What stands behind a handle in an array of requests. */
enum ft_request_state { FT_REQUEST_IDLE, FT_REQUEST_OVER, FT_REQUEST_PENDING, FT_REQUEST_FOREIGN };
enum ft_request_state ft_request_state(MPI_Request h);
/* An active request that is done: unpacks and closes its accounts. MPI_SUCCESS or MPI_ERR_TRUNCATE.
 */
int ft_request_settle(struct ft_request *q);
/* Completes a request of ours that is idle or over towards the program: status, handle. Raises
 * nothing; *where (unless NULL) is whose error handler a returned error belongs to. */
int ft_request_complete(MPI_Request *h, MPI_Status *status, MPI_Comm *where);
int ft_request_wait_foreign(MPI_Request *h, MPI_Status *status);
/* Waits until one of ours is over; nothing for others. */
void ft_request_await(MPI_Request h);
/* MPI_Iprobe's answer, noted, for checked arguments that name a process (probe.c). */
int ft_iprobe(struct ft_comm *c, int source, int tag, struct ft_msg_status *s);

/* status is written whatever it is, unless it is to be ignored */
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
