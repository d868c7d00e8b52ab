/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_pool.h - requests, whose handles point into one reserved range of addresses. For their
 * life see request.h.
 */
#ifndef FT_MPI_REQUEST_POOL_H
#define FT_MPI_REQUEST_POOL_H

#include "mpi/comm.h"
#include "msg/msg.h"

#define FT_REQUEST_HOST_BYTES 256
struct ft_sched;
struct ft_partitioned;
enum ft_send_mode { FT_SEND_STANDARD = 0, FT_SEND_SYNC, FT_SEND_BUFFERED };
struct ft_request {
    /* Open MPI's Fortran layer reads the Fortran index from the host's request object. Ours has it
     * at the same place. */
    FT_ALIGNED_LINE int32_t host_shape[FT_REQUEST_HOST_BYTES / 4];
    struct ft_req r;
    struct ft_comm *comm; /* holds one of its references while in use */
    void *buf;            /* of the program */
    int count, peer, tag; /* as the program gave them */
    MPI_Datatype type;
    /* contiguous form of the buffer, or NULL. From base/offheap.h: a replay may free it in another
     * call, since it may know sooner that a send is over */
    void *packed;
    struct ft_sched *sched;      /* of a collective; NULL: a send or receive */
    struct ft_partitioned *part; /* of partitioned communication; NULL: something else (part.c) */
    /* not a request but a message that a matched probe has taken (matched.c) */
    struct ft_inmsg *taken;
    uint8_t in_use, is_recv, persistent, active, orphan;
    uint8_t mode;            /* of a send: enum ft_send_mode */
    uint8_t pinned;          /* what it uses stays alive (free_later.c) */
    uint8_t in_body;         /* was made inside FTRMA_Run's body */
    struct ft_request *next; /* free list, or list of orphans */
    uint64_t pinned_at;      /* how many types and operations had been freed before that */
};
extern FT_STATE(struct ft_request *, ft_request_base);
extern FT_STATE(struct ft_request *, ft_request_end);
#define ft_request_base FT_MY(ft_request_base)
#define ft_request_end FT_MY(ft_request_end)
static inline struct ft_request *ft_request_of(MPI_Request h)
{
    uintptr_t p = (uintptr_t)h;
    return p - (uintptr_t)ft_request_base < (uintptr_t)ft_request_end - (uintptr_t)ft_request_base
               ? (struct ft_request *)p
               : NULL;
}
/* Shared requests that are complete from the start: for any operation that is already over, and for
 * a receive from MPI_PROC_NULL. */
#define FT_REQUEST_DONE ((MPI_Request)(void *)&ft_request_base[0])
#define FT_REQUEST_NULL_RECV ((MPI_Request)(void *)&ft_request_base[1])

#endif
