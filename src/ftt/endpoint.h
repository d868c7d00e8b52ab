/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.h - one process's endpoint of the transport (include/ftrma_transport.h). All of it is
 * under one lock, which the program's threads and the helper thread take in turns.
 *
 *   program.c   the program's functions          progress.c  frames in and out, generations
 *   open.c      begin, end, the helper thread    deliver.c   what an item means where it arrives
 *   buffers.c   public memory, put and get       shelf.c     publish and fetch
 *   stall.c     names that others look up by themselves
 *   pieces.c    memory of processes of other nodes
 *
 * What others use lies in this process's arena (transport/dock.h, tables.h). Others' arenas are
 * mapped here a second time, so that the runtime's own mapping may end when it likes.
 */
#ifndef FT_FTT_ENDPOINT_H
#define FT_FTT_ENDPOINT_H

#include <pthread.h>

#include "base/engine.h"
#include "base/failpoint.h"
#include "ftt/parcel.h"
#include "ftt/round.h"
#include "ftt/tables.h"
#include "proto/txn.h"
#include "transport/dock.h"
#include "transport/transport.h"

struct ft_peer {
    int slot, far; /* far: on another node; then what is mapped is its stand-in's */
    int32_t pid;
    char *base; /* of its arena; NULL: not mapped */
    struct ft_dock *dock;
    struct ft_tables *tables; /* NULL: likewise, or of a far one */
    struct ft_lane *in, *out; /* in: in its arena; out: in the own */
    _Atomic uint64_t *taken;  /* there: how far it has read `out` */
    uint64_t read, said, seen; /* seen: *taken, when it was looked at last */
    struct ft_lane_at written;
    uint32_t ack; /* number of an acknowledgement that waits for a frame to go with; 0: none */
    int urgent;   /* it does not wait */
    /* frames that have no room yet; the item's data is found by its id */
    struct ft_pending *first, *last;
    int rang;
};
struct ft_pending {
    struct ft_pending *next;
    struct ft_txn_frame frame;
};

struct ft_endpoint {
    FTT_Transport program;
    pthread_mutex_t lock;
    int rank, n, self_opened; /* self_opened: it has joined the job by itself */
    uint32_t generation, *incarnation, *scratch;
    unsigned char *dead; /* its carrier is known to have ended, and is not replaced yet */
    int *slot;
    _Atomic uint32_t news; /* incremented for each death and each new generation */
    uint32_t heard;
    struct ft_peer *peer; /* [n] */
    struct ft_txn *txn;
    int room;             /* items of the program that may be outstanding */
    struct ft_rounds *rounds;
    struct ft_parcel *events, *events_last, *given; /* given: the program looks at it */
    struct ft_parcel *backlog, *backlog_last;       /* items that the machine has no room for */
    struct ft_parcel *free[3];
    void *free_small; /* fetches, wishes, names, pings, pending frames */
    struct ft_parcel *headers[256]; /* outstanding, by id */
    struct ft_waiting *waiting;
    struct ft_shelf *shelf[256];
    struct ft_pinger *pings, *due;
    uint64_t next_id;
    uint32_t next_serial;
    uint64_t next_stall; /* the last serial in the own stall */
    uint64_t dock_at;
    struct ft_dock *dock;
    struct ft_tables *tables;
    int pollers, helper_on, over, closing; /* closing: FT_CLOSE_*; not 0 in FTT_Close */
    uint64_t told; /* events and fetches that are over, all of them */
    int acks; /* there may be acknowledgements that wait */
    /* The program calls often: the helper thread looks by itself from time to time, and nobody rings
     * it. calls: in a row in which it had to be rung; counted: all of them. */
    int brisk, calls;
    uint64_t counted;
    ptrdiff_t engine;
    uint32_t spin;
};
extern FT_STATE(struct ft_endpoint *, ft_own_endpoint);
#define ft_own_endpoint FT_MY(ft_own_endpoint)

static inline void ft_endpoint_lock(struct ft_endpoint *e) { pthread_mutex_lock(&e->lock); }
static inline void ft_endpoint_unlock(struct ft_endpoint *e) { pthread_mutex_unlock(&e->lock); }
static inline int ft_generation_is_newest(const struct ft_endpoint *e)
{
    return atomic_load_explicit(&e->news, memory_order_acquire) == e->heard;
}
static inline struct ft_endpoint *ft_endpoint_of(FTT_Transport *t)
{
    return (struct ft_endpoint *)(void *)t; /* its first member */
}

/* open.c: called by the agent */
void ft_endpoint_news(void);
extern const struct FTT_Calls ft_endpoint_calls; /* program.c */

#endif
