/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory.c - spans, hashes and things: see memory.h. Nothing here allocates: a replacement must
 * find the heap's addresses again.
 */
#include "image/memory.h"

#include <string.h>

#define FT_MEM_PIECES 1024

/* A heap sort of n elements of `size` bytes, at most 128; qsort may allocate. */
static void swap(char *a, char *b, size_t size)
{
    char t[128];
    memcpy(t, a, size);
    memcpy(a, b, size);
    memcpy(b, t, size);
}

typedef int before_fn(const void *a, const void *b, const void *arg);

static void sift(char *base, size_t at, size_t n, size_t size, before_fn *before, const void *arg)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(base + child * size, base + (child + 1) * size, arg))
            child++;
        if (!before(base + at * size, base + child * size, arg))
            return;
        swap(base + at * size, base + child * size, size);
    }
}

static void sort(void *p, size_t n, size_t size, before_fn *before, const void *arg)
{
    FT_ASSERT(size <= 128);
    for (size_t i = n / 2; i-- > 0;)
        sift(p, i, n, size, before, arg);
    for (size_t i = n; i-- > 1;) {
        swap(p, (char *)p + i * size, size);
        sift(p, 0, i, size, before, arg);
    }
}

/* ---- spans ---- */

static int span_before(const void *a, const void *b, const void *arg)
{
    (void)arg;
    return ((const struct ft_span *)a)->from < ((const struct ft_span *)b)->from;
}

size_t ft_spans_join(struct ft_span *s, size_t n)
{
    size_t out = 0;
    sort(s, n, sizeof *s, span_before, NULL);
    for (size_t i = 0; i < n; i++) {
        if (s[i].from >= s[i].to)
            continue;
        if (out && s[i].from <= s[out - 1].to)
            s[out - 1].to = ft_max_u64(s[out - 1].to, s[i].to);
        else
            s[out++] = s[i];
    }
    return out;
}

int ft_spans_gap(const struct ft_span *s, size_t n, uint64_t at, uint64_t to, struct ft_span *gap)
{
    size_t low = 0, high = n;
    while (low < high) { /* the first that ends after at */
        size_t mid = (low + high) / 2;
        if (s[mid].to <= at)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < n && s[low].from <= at; low++)
        at = s[low].to;
    if (at >= to)
        return 0;
    *gap = (struct ft_span){at, low < n ? ft_min_u64(s[low].from, to) : to};
    return 1;
}

/* ---- hashes ---- */

#define ODD_1 UINT64_C(0x9e3779b97f4a7c15)
#define ODD_2 UINT64_C(0xd1342543de82ef95)

static uint64_t stir(uint64_t x)
{
    x = (x ^ (x >> 32)) * ODD_2;
    x = (x ^ (x >> 29)) * ODD_1;
    return x ^ (x >> 32);
}

/* A lane takes in a word. Each step can be inverted if the word is known, so one changed word
 * always changes the lane. 0 stays 0. */
static inline uint64_t take(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * ODD_1;
    return lane ^ (lane >> 29);
}

uint64_t ft_mem_hash(const void *p, size_t bytes, uint64_t at)
{
    const char *from = p;
    uint64_t lane[4] = {0}, w[4];
    size_t i = 0;
    FT_ASSERT(bytes <= FT_MEM_PAGE);
    for (; i + sizeof w <= bytes; i += sizeof w) {
        memcpy(w, from + i, sizeof w);
        for (int k = 0; k < 4; k++)
            lane[k] = take(lane[k], w[k]);
    }
    if (i < bytes) {
        memset(w, 0, sizeof w);
        memcpy(w, from + i, bytes - i);
        for (int k = 0; k < 4; k++)
            lane[k] = take(lane[k], w[k]);
    }
    uint64_t h = take(take(take(lane[0], lane[1]), lane[2]), lane[3]);
    return h ? stir(h + at * ODD_2) : 0;
}

/* ---- things ---- */

static int thing_before(const void *a, const void *b, const void *arg)
{
    const struct ft_mem_thing *x = a, *y = b;
    (void)arg;
    return x->addr != y->addr ? x->addr < y->addr : x->bytes > y->bytes;
}

size_t ft_mem_settle(struct ft_mem_thing *t, size_t n)
{
    size_t out = 0;
    sort(t, n, sizeof *t, thing_before, NULL);
    for (size_t i = 0; i < n; i++)
        if (t[i].bytes && (!out || t[i].addr >= t[out - 1].addr + t[out - 1].bytes))
            t[out++] = t[i];
    return out;
}

void ft_mem_carry(struct ft_mem_thing *now, size_t n, const struct ft_mem_thing *was, size_t m)
{
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < m && was[k].addr < now[i].addr)
            k++;
        if (k == m || was[k].addr != now[i].addr || was[k].bytes != now[i].bytes ||
            was[k].kind != now[i].kind)
            continue;
        now[i].hash = was[k].hash;
        now[i].shape = was[k].shape;
        now[i].looked = was[k].looked;
        now[i].hashed = was[k].hashed;
        now[i].named = was[k].named;
    }
}

static int looked_at_before(const void *a, const void *b, const void *arg)
{
    const struct ft_mem_thing *t = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    uint64_t x = t[i].whole_bytes < FT_MEM_LEAST ? 0 : t[i].whole_bytes,
             y = t[k].whole_bytes < FT_MEM_LEAST ? 0 : t[k].whole_bytes;
    return x != y ? x > y : i < k;
}

void ft_mem_order(const struct ft_mem_thing *t, size_t n, uint32_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    sort(order, n, sizeof *order, looked_at_before, t);
}

int ft_mem_compare(struct ft_mem_thing *t, uint64_t hash, uint64_t shape, uint64_t looked)
{
    int same = t->hashed && t->shape == shape && t->looked == looked;
    t->changed = same && t->hash != hash;
    t->hash = hash;
    t->shape = shape;
    t->looked = looked;
    t->hashed = 1;
    return t->changed;
}

uint64_t ft_mem_piece(uint64_t bytes)
{
    return ft_max_u64(FT_MEM_LEAST, ft_align_up(bytes / FT_MEM_PIECES + 1, FT_MEM_LEAST));
}

/* ---- blocks of the C library's heap ----
 *
 *   chunk  +0   of the chunk before, if that is free
 *          +8   bytes of this chunk | 1: the one before is in use | 2, 4: not of this heap
 *          +16  what the program was given, up to 8 bytes into the next chunk
 */
#define CHUNK_HEAD 16
#define CHUNK_LEAST 32
#define CHUNK_FENCE (16 | 1) /* the heap continues elsewhere: somebody else has moved the break */

enum ft_status ft_mem_walk(uint64_t from, uint64_t to, uint64_t least, ft_mem_peek *peek,
                           ft_mem_block *each, void *arg)
{
    uint64_t at = from, before = 0; /* before: bytes of the previous chunk that may be handed out */
    if (from % CHUNK_HEAD || from >= to)
        return FT_ERR_RANGE;
    while (at + CHUNK_HEAD <= to) {
        uint64_t head, bytes;
        const char *p = peek(arg, at, CHUNK_HEAD);
        if (!p)
            return FT_ERR_AGAIN;
        memcpy(&head, p + 8, sizeof head);
        if (before && (head & 1))
            each(arg, at - before + CHUNK_HEAD, before - 8);
        if (head == CHUNK_FENCE)
            return FT_OK;
        bytes = head & ~7ull;
        if ((head & 6) || bytes < CHUNK_LEAST || bytes % CHUNK_HEAD || bytes > to - at)
            return FT_ERR_RANGE;
        before = bytes - 8 >= least ? bytes : 0;
        at += bytes;
    }
    return at == to ? FT_OK : FT_ERR_RANGE; /* the last chunk is the free rest of the heap */
}
