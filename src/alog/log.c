/* SPDX-License-Identifier: BSD-3-Clause
 *
 * log.c - appends to an action log. Every logged put passes here, so there is no lock, and no
 * system call unless a new chunk is needed.
 *
 * Readers rely on this: a word at which an action may begin holds its number, or 0 until then. So
 * whoever makes a place the next one (publish, enter_chunk, resume) zeroes its word before readers
 * can come there. Memory may hold anything, also former numbers.
 */
#include "alog/log.h"
#include "alog/log_read.h"

FT_STATE(int, ft_check_data);

static void ignore_pressure(uint64_t bytes) { (void)bytes; }
FT_STATE(__typeof__(void (*)(uint64_t bytes)), ft_log_pressed) = ignore_pressure;

uint64_t ft_hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    const char *p = data;
    uint64_t word;
    for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = ft_hash_word(h, word);
    }
    word = 0;
    memcpy(&word, p, bytes);
    return ft_hash_word(h, word ^ (uint64_t)bytes << 56);
}

uint64_t ft_unhash_word(uint64_t h)
{
    h ^= h >> 29 ^ h >> 58;
    return h * 0xF1DE83E19937733Dull; /* the inverse of the factor */
}

void ft_unhash_bytes(uint64_t h, void *data, size_t bytes)
{
    FT_ASSERT(bytes <= sizeof h);
    uint64_t word = ft_unhash_word(h);
    if (bytes == sizeof word)
        word = ft_unhash_word(word); /* after it came a word of no bytes */
    memcpy(data, &word, bytes);
}

_Static_assert(sizeof(struct ft_log_chunk) +
                       ((sizeof(struct ft_act) + FT_ACT_MAX + FT_ACT_STEP - 1) &
                        ~(FT_ACT_STEP - 1)) +
                       FT_CACHE_LINE <=
                   FT_LOG_CHUNK,
               "the longest action and a LINK fit a chunk");

/* The chunk at offset off, as an address in the memory of chunk c; offset 0 is none. */
static struct ft_log_chunk *from(const struct ft_log_chunk *c, uint64_t off)
{
    return off ? (struct ft_log_chunk *)((uintptr_t)c - c->off + off) : NULL;
}

static struct ft_log_chunk *after(const struct ft_log_chunk *c)
{
    return from(c, atomic_load_explicit(&c->next, memory_order_acquire));
}

static char *first_of(struct ft_log_chunk *c) { return (char *)(c + 1); }
static char *end_of(struct ft_log_chunk *c) { return (char *)c + c->bytes - FT_CACHE_LINE; }

static void clean(char *pos)
{
    atomic_store_explicit((_Atomic uint64_t *)(void *)pos, 0, memory_order_relaxed);
}

void ft_log_init(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, uint64_t seq)
{
    *l = (struct ft_log){.mem = mem, .hdr = hdr, .seq = seq};
    atomic_store_explicit(&hdr->chunk, 0, memory_order_release);
}

static struct ft_log_chunk *take_chunk(struct ft_log *l, uint64_t need)
{
    if (!l->free_list && l->mem->trim)
        l->mem->trim(l);
    struct ft_log_chunk *c = l->free_list;
    if (c) {
        l->free_list = after(c);
        return c;
    }
    uint64_t bytes = FT_LOG_CHUNK;
    if (!l->cur && sizeof *c + need + FT_CACHE_LINE <= FT_LOG_FIRST_CHUNK)
        bytes = FT_LOG_FIRST_CHUNK;
    void *addr = NULL;
    uint64_t off = l->mem->take(l->mem, bytes, &addr);
    if (!off)
        return NULL;
    FT_ASSERT(addr && ((uintptr_t)addr | off) % FT_CACHE_LINE == 0);
    c = addr;
    c->bytes = bytes;
    c->off = off;
    return c;
}

/* The chunk is no longer part of the log. */
static void release_chunk(struct ft_log *l, struct ft_log_chunk *c)
{
    if (c->bytes == FT_LOG_CHUNK) {
        atomic_store_explicit(&c->next, l->free_list ? l->free_list->off : 0, memory_order_relaxed);
        l->free_list = c;
    } else {
        l->mem->give(l->mem, c->off, c->bytes, c);
    }
}

static void enter_chunk(struct ft_log *l, struct ft_log_chunk *c)
{
    atomic_store_explicit(&c->next, 0, memory_order_relaxed);
    c->first = l->cur ? l->seq + 1 : l->seq; /* the LINK has a number too */
    clean(first_of(c));
    if (l->cur) {
        struct ft_act *link = (struct ft_act *)(void *)l->pos;
        link->kind = FT_ACT_LINK;
        link->bytes = 0;
        /* Stored with release for a writer that resumes when there is no LINK: it finds the chunk
         * and may use it (ft_log_resume). */
        atomic_store_explicit(&l->cur->next, c->off, memory_order_release);
        atomic_store_explicit(&link->seq, ++l->seq, memory_order_release);
    } else {
        l->oldest = c;
        atomic_store_explicit(&l->hdr->chunk, c->off, memory_order_release);
    }
    l->cur = c;
    l->pos = first_of(c);
    l->end = end_of(c);
    l->bytes += c->bytes;
}

int ft_log_more(struct ft_log *l, uint64_t need)
{
    struct ft_log_chunk *c = take_chunk(l, need);
    if (c)
        enter_chunk(l, c);
    return c != NULL;
}

int ft_log_take_back(struct ft_log *l)
{
    char *last = NULL;
    if (!l->cur)
        return 0;
    for (char *p = first_of(l->cur); p < l->pos;
         p += ft_log_span(((struct ft_act *)(void *)p)->bytes))
        last = p;
    if (!last)
        return 0;
    clean(last);
    l->pos = last;
    l->seq--;
    l->actions -= l->actions > 0; /* 0: the actions of a former writer */
    return 1;
}

struct ft_log_place ft_log_end(const struct ft_log *l)
{
    if (!l->cur)
        return (struct ft_log_place){.seq = l->seq};
    return (struct ft_log_place){l->seq, l->cur->off,
                                 l->cur->off + (uint64_t)(l->pos - (char *)l->cur)};
}

/* Removes the chunks before `stop` (NULL: all) from the log. The header is changed first, so that
 * no reader comes from there to a reused chunk. */
static void drop_before(struct ft_log *l, struct ft_log_chunk *stop)
{
    struct ft_log_chunk *c = l->oldest;
    l->oldest = stop;
    atomic_store_explicit(&l->hdr->chunk, stop ? stop->off : 0, memory_order_release);
    while (c != stop) {
        struct ft_log_chunk *next = after(c);
        l->bytes -= c->bytes;
        release_chunk(l, c);
        c = next;
    }
}

void ft_log_trim(struct ft_log *l, uint64_t seq)
{
    struct ft_log_chunk *stop = l->oldest;
    while (stop != l->cur && after(stop)->first <= seq)
        stop = after(stop);
    if (stop != l->oldest)
        drop_before(l, stop);
}

void ft_log_clear(struct ft_log *l, uint64_t seq)
{
    drop_before(l, NULL);
    l->seq = seq;
    l->cur = NULL;
    l->pos = l->end = NULL;
}

void ft_log_give_free(struct ft_log *l)
{
    while (l->free_list) {
        struct ft_log_chunk *c = l->free_list;
        l->free_list = after(c);
        l->mem->give(l->mem, c->off, c->bytes, c);
    }
}

void ft_log_finish(struct ft_log *l)
{
    ft_log_clear(l, l->seq);
    ft_log_give_free(l);
}

int ft_log_read_from(struct ft_log_reader *r, char *base, const struct ft_log_hdr *hdr,
                     struct ft_log_place place)
{
    *r = (struct ft_log_reader){.base = base, .seq = place.seq};
    if (place.chunk) {
        r->chunk = (struct ft_log_chunk *)(void *)(base + place.chunk);
        r->pos = base + place.pos;
        return 1;
    }
    uint64_t off = atomic_load_explicit(&hdr->chunk, memory_order_acquire);
    if (!off)
        return 0;
    r->chunk = (struct ft_log_chunk *)(void *)(base + off);
    r->pos = first_of(r->chunk);
    r->seq = r->chunk->first;
    return 1;
}

struct ft_act *ft_log_read(struct ft_log_reader *r)
{
    while (r->chunk) {
        struct ft_act *a = (struct ft_act *)(void *)r->pos;
        if (atomic_load_explicit(&a->seq, memory_order_acquire) != r->seq + 1)
            return NULL;
        r->seq++;
        if (a->kind != FT_ACT_LINK) {
            r->pos += ft_log_span(a->bytes);
            return a;
        }
        r->chunk =
            (struct ft_log_chunk *)(void *)(r->base + atomic_load_explicit(&r->chunk->next,
                                                                           memory_order_relaxed));
        r->pos = first_of(r->chunk);
        FT_ASSERT(r->chunk->first == r->seq);
    }
    return NULL;
}

struct ft_log_place ft_log_reader_place(const struct ft_log_reader *r)
{
    if (!r->chunk)
        return (struct ft_log_place){.seq = r->seq};
    return (struct ft_log_place){r->seq, (uint64_t)((char *)r->chunk - r->base),
                                 (uint64_t)(r->pos - r->base)};
}

void ft_log_resume(struct ft_log *l, struct ft_log_mem *mem, struct ft_log_hdr *hdr, char *base,
                   const struct ft_log_reader *end)
{
    *l = (struct ft_log){.mem = mem, .hdr = hdr, .seq = end->seq};
    uint64_t off = atomic_load_explicit(&hdr->chunk, memory_order_acquire);
    if (!off) {
        FT_ASSERT(!end->chunk);
        return;
    }
    FT_ASSERT(end->chunk); /* otherwise the reader has not looked since the log has content */
    struct ft_log_place place = ft_log_reader_place(end);
    l->oldest = l->cur = (struct ft_log_chunk *)(void *)(base + off);
    l->bytes = l->cur->bytes;
    while (l->cur->off != place.chunk) {
        l->cur = after(l->cur);
        FT_ASSERT(l->cur);
        l->bytes += l->cur->bytes;
    }
    l->pos = base + place.pos;
    l->end = end_of(l->cur);
    clean(l->pos);
    /* The former writer died between the chunk and its LINK, so nobody has seen the chunk. */
    struct ft_log_chunk *unseen = after(l->cur);
    atomic_store_explicit(&l->cur->next, 0, memory_order_relaxed);
    if (unseen)
        release_chunk(l, unseen);
}
