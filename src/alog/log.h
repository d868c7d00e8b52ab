/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log.h - the log of actions that LP and LG are made of (L1, L2): append-only, one writer, readers in other processes.
 *
 *   ft_log_hdr                   ft_log_chunk                              ft_log_chunk
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *   | first, pos... |----------->| next | action | action | LINK |-------->| next | action ...
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *
 * An action is a header of 56 bytes and its data, in steps of 16 bytes: a put of up to 8 bytes takes a cache line. It exists once its
 * sequence number is published, so a writer that dies at any instruction damages nobody. Memory is taken in chunks from a `struct
 * ft_log_mem`: the own arena (LP), or room at the log home (LG); chunks that are trimmed are used again, so that a log in its
 * steady state neither allocates nor enters the kernel.
 *
 * Thread rules: the writer's main thread. A reader reads up to what is published; a chunk that the writer may trim meanwhile must
 * not be read (a recovery: nothing is trimmed while one is under way, since no checkpoint can be committed without the rank that
 * is lost).
 */
#ifndef FT_ALOG_LOG_H
#define FT_ALOG_LOG_H

#include <string.h>

#include "base/base.h"

/* What a replay is compared with (R0) where the records themselves died with their writer: a running hash of
 * envelopes, or (FTRMA_CHECK=data) of the data as well. */
extern int ft_check_data;
static inline uint64_t ft_hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 29;
}
uint64_t ft_hash_bytes(uint64_t h, const void *data, size_t bytes);
/* The other way: h is of one word, or of at most 8 bytes, alone. */
uint64_t ft_unhash_word(uint64_t h);
void ft_unhash_bytes(uint64_t h, void *data, size_t bytes);

/* Version of the checkpoint from whose cut on this process's logs (channels, LP, LG) are whole; 0: from the start. UINT64_MAX:
 * over the budget, records were dropped; the next cut begins anew. Ranks whose logs are not whole are exposed: recovered by a
 * global rollback. */
extern _Atomic uint64_t ft_log_whole_from;

/* Called when any log of this process wants a chunk: what others' latest images cover is dropped, and another one may be asked for
 * (runtime/demand.c). */
extern void (*ft_log_pressed)(uint64_t bytes);

#define FT_LOG_CHUNK (256ull << 10)
#define FT_LOG_FIRST_CHUNK (4ull << 10) /* a log with little in it costs a page */
#define FT_ACT_MAX (64ull << 10)        /* most bytes of data in one action: longer ones go in pieces */

enum ft_act_kind {
    FT_ACT_NONE,    /* in no log */
    FT_ACT_PUT,     /* LP: data lands at off. LG: never */
    FT_ACT_GET,     /* LG: data is what a get has read */
    FT_ACT_ATOMIC,  /* LG: combining operation number `count` (ACC; 0: it changed nothing) at target; stamp: its T; data: the
                       result if FT_ACT_RESULT; lo and what was left behind if FT_ACT_LEFT */
    FT_ACT_LOCK,    /* LG: lock granted; off: 1 exclusive */
    FT_ACT_UNLOCK,  /* LG: about to be released */
    FT_ACT_CLOSE,   /* LG: the epoch towards target (-1: all) is closed; data: the stamps that its puts got (rma/lp.h), if FT_ACT_ONE it was
                       one put: stamp: that, count: its lo, data: its hashes */
    FT_ACT_WILD,    /* LG: wildcard receive or probe number `count` came from rank target */
    FT_ACT_OUTCOME, /* LG: the outcome of a Test, Waitany, Iprobe ...: data are its words. where FT_ACT_CANCELLED: of a Cancel, of
                       the receive that was posted in call `off` as number `count` */
    FT_ACT_TIME,    /* LG: data is what a clock said */
    FT_ACT_ADVANCE, /* LG: round `count` of the nonblocking collective with context `win` and tag `where` is about to send */
    FT_ACT_ATTACH,  /* LG: memory at address off, data: its size, was attached to a dynamic window (where 1) or detached (0) */
    FT_ACT_REACHED, /* LG: the sender of a synchronous message was told that a receive posted in call `off` has it */
    FT_ACT_LINK = 255,
};
enum { FT_ACT_RESULT = 1, FT_ACT_LEFT = 2, FT_ACT_SELF = 4 }; /* flags of FT_ACT_ATOMIC; SELF: at the own window */
enum { FT_ACT_ONE = 1 }; /* of FT_ACT_CLOSE */
enum { FT_ACT_CANCELLED = 1 };

struct ft_act {
    _Atomic uint64_t seq;   /* 1 + its number in the log, once it is there */
    _Atomic uint64_t stamp; /* LP: T at the target, 0 while the epoch is open */
    uint64_t call;          /* LP: lo. LG: calls(p) */
    uint64_t off;           /* bytes from the target's base */
    uint64_t count;
    uint32_t bytes;         /* of data */
    uint32_t win;           /* the window's context id */
    int32_t where;          /* LG: target. LP: the interval, the number of cuts that the writer had made */
    uint16_t kind, flags;
    char data[];
};
_Static_assert(offsetof(struct ft_act, data) == 56, "a put of a word takes one line");

struct ft_log_chunk {
    _Atomic uint64_t next; /* offset in the memory's arena, 0: none */
    uint64_t first;        /* sequence number of its first action */
    uint64_t bytes;
    uint64_t off;          /* its own offset */
    uint64_t pad[4];
};
_Static_assert(sizeof(struct ft_log_chunk) == FT_CACHE_LINE, "one line");

/* Where a reader begins. In shared memory; written by the writer alone, `chunk` last. */
struct ft_log_hdr {
    _Atomic uint64_t chunk; /* offset of the oldest chunk, 0: nothing was ever written */
};

/* A place in a log: the next action's number, and where it will lie. chunk 0: the log had no chunk yet, begin at its header's. */
struct ft_log_place {
    uint64_t seq, chunk, pos;
};

struct ft_log;
struct ft_log_mem {
    /* A chunk of `bytes` bytes whose address is *addr; returns its offset, 0: no room. May enter the kernel. */
    uint64_t (*take)(struct ft_log_mem *m, uint64_t bytes, void **addr);
    void (*give)(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr);
    /* NULL or: drops from the front of l what is needed no more; called before another chunk is taken for it. */
    void (*trim)(struct ft_log *l);
};

struct ft_log {
    struct ft_log_mem *mem;
    struct ft_log_hdr *hdr;
    uint64_t seq;                        /* of the next action */
    struct ft_log_chunk *cur, *oldest;   /* NULL: none yet */
    char *pos, *end;                     /* in cur; end leaves a line for the LINK */
    struct ft_log_chunk *free_list;      /* whole chunks for another time */
    uint64_t bytes;                      /* in chunks that hold actions */
    uint64_t actions;                    /* ever published */
};

/* An empty log whose header (zeroed or of a former writer: it is made anew) lies at hdr. */
void ft_log_init(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, uint64_t seq);
/* Where the chunk has no room for `need` bytes, or there is none: on to another one. 0: no memory. */
int ft_log_more(struct ft_log *l, uint64_t need);
/* Bytes that an action takes. Of small ones the memory that they pass through is most of what they cost, so that a line each would be dear. */
#define FT_ACT_STEP 16ull
static inline uint64_t ft_log_span(uint64_t bytes) { return ft_align_up(sizeof(struct ft_act) + bytes, FT_ACT_STEP); }

/* Room for an action with `bytes` (<= FT_ACT_MAX) of data, its fields zeroed but `bytes`; NULL: no memory. Nothing is there for readers until
 * ft_log_publish, which must follow before the next begin. Both are on the way of every put, hence here. */
static inline struct ft_act *ft_log_begin(struct ft_log *l, uint32_t bytes)
{
    FT_ASSERT(bytes <= FT_ACT_MAX);
    uint64_t need = ft_log_span(bytes);
    if (FT_UNLIKELY((uintptr_t)l->end - (uintptr_t)l->pos < need) && !ft_log_more(l, need)) /* without a chunk both are NULL */
        return NULL;
    struct ft_act *a = (struct ft_act *)(void *)l->pos;
    atomic_store_explicit(&a->stamp, 0, memory_order_relaxed);
    memset(&a->call, 0, sizeof *a - offsetof(struct ft_act, call)); /* but seq, which is 0 since this place became the next one */
    a->bytes = bytes;
    return a;
}

static inline void ft_log_publish(struct ft_log *l, struct ft_act *a)
{
    char *next = (char *)a + ft_log_span(a->bytes);
    FT_ASSERT((char *)a == l->pos && next <= l->end);
    atomic_store_explicit((_Atomic uint64_t *)(void *)next, 0, memory_order_relaxed); /* before readers can come there (log.c) */
    atomic_store_explicit(&a->seq, ++l->seq, memory_order_release);
    l->pos = next;
    l->actions++;
}

/* The last action is there no more, and its number is the next one's; 0: there is none in the present chunk. Nobody else reads meanwhile. */
int ft_log_take_back(struct ft_log *l);
struct ft_log_place ft_log_end(const struct ft_log *l); /* where the next action will be */
/* Chunks all of whose actions are before seq are free for reuse. */
void ft_log_trim(struct ft_log *l, uint64_t seq);
/* Everything goes; numbers go on from seq. */
void ft_log_clear(struct ft_log *l, uint64_t seq);
/* Gives the memory of chunks back that hold nothing. */
void ft_log_give_free(struct ft_log *l);
/* Gives all memory back. */
void ft_log_finish(struct ft_log *l);

/* Reading, in the writer's or another process. base: address of offset 0 of the memory that chunks lie in. */
struct ft_log_reader {
    char *base;
    struct ft_log_chunk *chunk;
    char *pos;
    uint64_t seq;
};
/* From a place on, or (place.chunk 0) from the header's oldest. 0: there is nothing yet (ask again later). */
int ft_log_read_from(struct ft_log_reader *r, char *base, const struct ft_log_hdr *hdr, struct ft_log_place place);
/* The next action that is there, passing it; NULL: none. */
struct ft_act *ft_log_read(struct ft_log_reader *r);
/* Where the reader is. */
struct ft_log_place ft_log_reader_place(const struct ft_log_reader *r);
/* A new writer goes on where a reader has found the end of what a former one wrote; the chunks from the header's oldest on are
 * its own from here on. `at`: address of a chunk's offset for the new writer is base + offset. */
void ft_log_resume(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, char *base, const struct ft_log_reader *end);

#endif
