/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.h - one process's endpoint of the transport (include/ftrma_transport.h). All of it is
 * under one lock, which the program's threads and the helper thread take in turns.
 *
 *   program.c   the program's functions          progress.c  frames in and out, generations
 *   open.c      begin, end, the helper thread    deliver.c   what an item means where it arrives
 *   buffers.c   public memory, put and get       shelf.c     publish and fetch
 *   stall.c     names that others look up by themselves
 *
 * What others use lies in this process's arena (struct ft_dock), at the place that its control
 * block says: bells, table of buffers, how far lanes were read, and a lane to each rank. Others'
 * arenas are mapped here a second time, so that the runtime's own mapping may end when it likes.
 */
#ifndef FT_FTT_ENDPOINT_H
#define FT_FTT_ENDPOINT_H

#include <pthread.h>

#include "base/engine.h"
#include "base/failpoint.h"
#include "ftt/lane.h"
#include "ftt/round.h"
#include "ftt/stall.h"
#include "transport/transport.h"

#define FTRMA_BUILDING
#include "ftrma_transport.h"

#define FT_BUFFERS 4096
struct ft_public {              /* written by its owner, serial last */
    _Atomic uint32_t serial;    /* 0: free */
    uint32_t is_private;        /* `at` is an address in the owner's own memory; else in its arena */
    uint64_t at, bytes;
};
enum { FT_BELL_HELPER, FT_BELL_PROGRAM };
struct ft_dock {
    /* a sleeper sets its bit in `sleeps`, and sleeps on its bell, a futex */
    FT_ALIGNED_LINE _Atomic uint32_t sleeps;
    _Atomic uint32_t bell[2];
    FT_ALIGNED_LINE struct ft_public buffer[FT_BUFFERS];
    FT_ALIGNED_LINE struct ft_stall stall[FT_STALLS];
    FT_ALIGNED_LINE uint64_t taken_at, lane_at; /* offsets from here */
};
struct ft_taken { /* [n]: ft_lane_taken of the lane from rank i */
    FT_ALIGNED_LINE _Atomic uint64_t far;
};

/* A block of memory: an event, or an item that is outstanding. */
struct ft_parcel {
    struct ft_parcel *next;
    uint32_t size_class, bytes;
    FTT_Event ev;
    /* an item */
    uint64_t id;
    int32_t to;
    uint32_t incarnation;      /* of what it is about */
    uint8_t kind, ack;         /* enum ft_txn_kind; the program wants to know */
    uint8_t acked, ended;      /* a header: it is free when both are set */
    struct ft_wanting *fetch;    /* a header of a fetch */
    /* what travels: struct ft_head, then data */
    FT_ALIGNED_LINE unsigned char data[];
};
enum ft_what { /* what an item is about */
    FT_WHAT_PROGRAM = 1, FT_WHAT_FETCH, FT_WHAT_PUT, FT_WHAT_GET, FT_WHAT_ROUND,
    FT_WHAT_DATA,  /* the answer to a fetch: data follows */
    FT_WHAT_THERE, /* it is in the memory that the header named */
    FT_WHAT_DIFFERS,
    FT_WHAT_CLOSED /* the answer of a process in FTT_Close */
};
struct ft_head {
    uint8_t what, pad[3];
    uint32_t tag, incarnation, pad2; /* PUT, GET: of the owner of the memory */
    uint64_t bytes;                  /* PUT, GET, DIFFERS: how many */
};

struct ft_wanting { /* begun here */
    struct ft_wanting *next;
    uint64_t id;
    void *to;
    uint64_t bytes, bounce; /* offset in the own arena; 0: none */
    int waits, done, status;
    uint64_t there;
};
struct ft_wish { /* the data of a FETCH: then the name */
    uint64_t at, bytes; /* offset in the asker's arena; 0: send it */
    FTT_Part part;      /* item 0: all of it */
    uint32_t name_bytes;
    char name[FTT_NAME_MAX + 1];
};
struct ft_waiting { /* came, and is not published yet */
    struct ft_waiting *next;
    int from;
    uint32_t incarnation;
    uint64_t id;
    struct ft_wish wish;
};
struct ft_shelf {
    struct ft_shelf *next;
    const char *addr;
    size_t bytes;
    uint32_t hash;
    char name[FTT_NAME_MAX + 1];
};
struct ft_pinger {
    struct ft_pinger *next;
    uint64_t id;
    int rank;
    uint32_t incarnation;
    FTT_Death *fn;
    void *arg;
};

struct ft_peer {
    int slot;
    int32_t pid;
    char *base; /* of its arena; NULL: not mapped */
    struct ft_dock *dock;
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

/* blocks.c */
struct ft_parcel *ft_block_get(struct ft_endpoint *e, size_t bytes);
void ft_block_put(struct ft_endpoint *e, struct ft_parcel *b);
void *ft_small_get(struct ft_endpoint *e);
void ft_small_put(struct ft_endpoint *e, void *p);
/* Makes an event of this kind, with room for `bytes` of data, at the end of the queue. */
struct ft_parcel *ft_event_new(struct ft_endpoint *e, enum FTT_Kind kind, int rank, size_t bytes);
void ft_event_add(struct ft_endpoint *e, struct ft_parcel *b);

/* progress.c. Under the lock. Returns 1 if anything came, or was told. */
int ft_progress(struct ft_endpoint *e);
void ft_progress_acks(struct ft_endpoint *e); /* none waits any more */
int ft_progress_idle(const struct ft_endpoint *e); /* nothing has come since */
/* Sends what is to be sent, after something was begun here. */
void ft_progress_out(struct ft_endpoint *e);
/* Takes an item over. 0: there is no room. not_full: then it waits for room, and goes later. */
int ft_item_send(struct ft_endpoint *e, struct ft_parcel *b, int not_full);
void ft_peer_map(struct ft_endpoint *e, int rank);
void ft_wake(struct ft_dock *d, int who);
/* Waits until this fetch is done, or (NULL) until an event has come. Under the lock, which it gives up
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
