/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log.h - the log of actions, of which put logs and home logs consist (L1, L2): append-only, one
 * writer, readers in other processes.
 *
 *   ft_log_hdr                   ft_log_chunk                              ft_log_chunk
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *   | first, pos... |----------->| next | action | action | LINK |-------->| next | action ...
 *   +---------------+            +------+--------+--------+------+         +------+-----
 *
 * An action is a header of 56 bytes and its data, in steps of 16 bytes: a put of up to 8 bytes
 * takes a cache line. It exists once its sequence number is published, so a writer that dies at any
 * instruction damages nobody. Chunks of memory come from a `struct ft_log_mem`: the own arena (put
 * log), or the place of the home log. Trimmed chunks are reused, so a log in its steady state
 * neither allocates nor enters the kernel.
 *
 * Only the writer's main may write. A reader reads up to what is published. A chunk that the writer
 * may trim meanwhile must not be read. During a recovery nothing is trimmed, since no checkpoint
 * can be committed without the lost rank.
 */
#ifndef FT_ALOG_LOG_H
#define FT_ALOG_LOG_H

#include <string.h>

#include "alog/act.h"
#include "alog/hash.h"
#include "base/base.h"
#include "base/engine.h"

/* Called when any log of this process wants a chunk: drops what others' latest images cover, and
 * may ask for another image (runtime/trim.c). */
extern FT_STATE(__typeof__(void (*)(uint64_t bytes)), ft_log_pressed);
#define ft_log_pressed FT_MY(ft_log_pressed)

#define FT_LOG_CHUNK (256ull << 10)
#define FT_LOG_FIRST_CHUNK (4ull << 10) /* a log with few actions costs one page */
struct ft_log;
struct ft_log_mem {
    /* Takes a chunk of `bytes` bytes and stores its address in *addr. Returns its offset; 0: no
     * room. May enter the kernel. */
    uint64_t (*take)(struct ft_log_mem *m, uint64_t bytes, void **addr);
    void (*give)(struct ft_log_mem *m, uint64_t off, uint64_t bytes, void *addr);
    /* NULL, or a function that drops from the front of l what is no longer needed; called before
     * another chunk is taken. */
    void (*trim)(struct ft_log *l);
};

struct ft_log {
    struct ft_log_mem *mem;
    struct ft_log_hdr *hdr;
    uint64_t seq;                      /* number of the next action */
    struct ft_log_chunk *cur, *oldest; /* NULL: none yet */
    char *pos, *end;                   /* in cur; end leaves one line for the LINK */
    struct ft_log_chunk *free_list;    /* full-size chunks for reuse */
    uint64_t bytes;                    /* in chunks that hold actions */
    uint64_t actions;                  /* ever published */
};

/* Makes an empty log whose header lies at hdr. The header may be zeroed or a former writer's; it is
 * initialised. */
void ft_log_init(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, uint64_t seq);
/* Moves on to another chunk if there is none, or if the present one has no room for `need` bytes.
 * Returns 0 if there is no memory. */
int ft_log_more(struct ft_log *l, uint64_t need);
/* Actions take multiples of this many bytes. Most of the cost of small actions is the memory that
 * passes through them, so one line for each would be expensive. */
#define FT_ACT_STEP 16ull
static inline uint64_t ft_log_span(uint64_t bytes)
{
    return ft_align_up(sizeof(struct ft_act) + bytes, FT_ACT_STEP);
}

/* Makes room for an action with `bytes` (<= FT_ACT_MAX) of data; its fields are zero except
 * `bytes`. NULL: no memory. Readers see nothing until ft_log_publish, which must follow before the
 * next begin. Every logged put passes through both, so they are inline. */
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
                        /* all fields but seq, which is 0 since this place became the next one */
                        call));
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

/* Removes the last action; its number becomes the next one's. Returns 0 if the present chunk has
 * none. Nobody else may read meanwhile. */
int ft_log_take_back(struct ft_log *l);
struct ft_log_place ft_log_end(const struct ft_log *l); /* where the next action will be */
/* Frees for reuse the chunks whose actions all have numbers below seq. */
void ft_log_trim(struct ft_log *l, uint64_t seq);
/* Removes everything; numbers go on from seq. */
void ft_log_clear(struct ft_log *l, uint64_t seq);
/* Gives back the memory of chunks that hold nothing. */
void ft_log_give_free(struct ft_log *l);
/* Gives back all memory. */
void ft_log_finish(struct ft_log *l);

#endif
