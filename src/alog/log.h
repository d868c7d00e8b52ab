/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log.h - the log of actions that put logs and home logs are made of (L1, L2): append-only, one
 * writer, readers in other processes.
 *
 *   ft_log_hdr                   ft_log_chunk                              ft_log_chunk
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *   | first, pos... |----------->| next | action | action | LINK |-------->| next | action ...
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *
 * An action is a header of 56 bytes and its data, in steps of 16 bytes: a put of up to 8 bytes
 * takes a cache line. It exists once its sequence number is published, so a writer that dies at any
 * instruction damages nobody. Memory is taken in chunks from a `struct ft_log_mem`: the own arena
 * (put log), or room at the log home (home log); chunks that are trimmed are used again, so that a
 * log in its steady state neither allocates nor enters the kernel.
 *
 * Thread rules: the writer's main thread. A reader reads up to what is published; a chunk that the
 * writer may trim meanwhile must not be read (a recovery: nothing is trimmed while one is under
 * way, since no checkpoint can be committed without the rank that is lost).
 */
#ifndef FT_ALOG_LOG_H
#define FT_ALOG_LOG_H

#include <string.h>

#include "alog/act.h"
#include "alog/hash.h"
#include "base/base.h"
#include "base/engine.h"

/* Called when any log of this process wants a chunk: what others' latest images cover is dropped,
 * and another one may be asked for (runtime/demand.c). */
extern FT_STATE(__typeof__(void (*)(uint64_t bytes)), ft_log_pressed);
#define ft_log_pressed FT_MY(ft_log_pressed)

#define FT_LOG_CHUNK (256ull << 10)
#define FT_LOG_FIRST_CHUNK (4ull << 10) /* a log with little in it costs a page */
struct ft_log;
struct ft_log_mem {
    /* A chunk of `bytes` bytes whose address is *addr; returns its offset, 0: no room. May enter
     * the kernel. */
    uint64_t (*take)(struct ft_log_mem *m, uint64_t bytes, void **addr);
    void (*give)(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr);
    /* NULL or: drops from the front of l what is needed no more; called before another chunk is
     * taken for it. */
    void (*trim)(struct ft_log *l);
};

struct ft_log {
    struct ft_log_mem *mem;
    struct ft_log_hdr *hdr;
    uint64_t seq;                      /* of the next action */
    struct ft_log_chunk *cur, *oldest; /* NULL: none yet */
    char *pos, *end;                   /* in cur; end leaves a line for the LINK */
    struct ft_log_chunk *free_list;    /* whole chunks for another time */
    uint64_t bytes;                    /* in chunks that hold actions */
    uint64_t actions;                  /* ever published */
};

/* An empty log whose header (zeroed or of a former writer: it is made anew) lies at hdr. */
void ft_log_init(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, uint64_t seq);
/* Where the chunk has no room for `need` bytes, or there is none: on to another one. 0: no memory.
 */
int ft_log_more(struct ft_log *l, uint64_t need);
/* Bytes that an action takes. Of small ones the memory that they pass through is most of what they
 * cost, so that a line each would be dear. */
#define FT_ACT_STEP 16ull
static inline uint64_t ft_log_span(uint64_t bytes)
{
    return ft_align_up(sizeof(struct ft_act) + bytes, FT_ACT_STEP);
}

/* Room for an action with `bytes` (<= FT_ACT_MAX) of data, its fields zeroed but `bytes`; NULL: no
 * memory. Nothing is there for readers until ft_log_publish, which must follow before the next
 * begin. Both are on the way of every put, hence here. */
static inline struct ft_act *ft_log_begin(struct ft_log *l, uint32_t bytes)
{
    FT_ASSERT(bytes <= FT_ACT_MAX);
    uint64_t need = ft_log_span(bytes);
    if (FT_UNLIKELY((uintptr_t)l->end - (uintptr_t)l->pos < need) &&
        !ft_log_more(l, need)) /* without a chunk both are NULL */
        return NULL;
    struct ft_act *a = (struct ft_act *)(void *)l->pos;
    atomic_store_explicit(&a->stamp, 0, memory_order_relaxed);
    memset(&a->call, 0,
           sizeof *a -
               offsetof(struct ft_act,
                        call)); /* but seq, which is 0 since this place became the next one */
    a->bytes = bytes;
    return a;
}

static inline void ft_log_publish(struct ft_log *l, struct ft_act *a)
{
    char *next = (char *)a + ft_log_span(a->bytes);
    FT_ASSERT((char *)a == l->pos && next <= l->end);
    atomic_store_explicit((_Atomic uint64_t *)(void *)next, 0,
                          memory_order_relaxed); /* before readers can come there (log.c) */
    atomic_store_explicit(&a->seq, ++l->seq, memory_order_release);
    l->pos = next;
    l->actions++;
}

/* The last action is there no more, and its number is the next one's; 0: there is none in the
 * present chunk. Nobody else reads meanwhile. */
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

#endif
