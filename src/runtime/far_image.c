/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_image.c - pieces of images come from other nodes.
 *
 * Source i of a recipe has two entries, one for the piece that is used now and one for the next. An
 * entry that is still TAKEN when it is no longer needed keeps its memory until the gateway is done
 * with it.
 */
#include "runtime/far_image.h"

#include "base/near.h"
#include "transport/wait.h"

_Static_assert(2 * FT_ERASURE_MAX_MEMBERS <= FT_WANTED, "two entries for each source");

struct far_entry {
    uint64_t off; /* of its memory in the own arena; 0: none yet */
    uint64_t at;  /* the piece that it is for */
    int used;
};
static FT_STATE(__typeof__(struct far_entry[FT_WANTED]), entry);
static FT_STATE(__typeof__(int16_t[FT_ERASURE_MAX_MEMBERS][2]), of_source); /* 1 + entry; 0: none */
#define entry FT_MY(entry)
#define of_source FT_MY(of_source)

static int is_done(const struct ft_wanted *w)
{
    uint32_t s = atomic_load(&w->state);
    return s != FT_WANTED_ASKED && s != FT_WANTED_TAKEN;
}

/* -1: there is no memory, or none that the gateway is done with. */
static int take_entry(struct ft_rt *rt)
{
    for (int i = 0; i < FT_WANTED; i++) {
        struct far_entry *e = &entry[i];
        if (e->used || !is_done(&rt->arena.ctl->wanted[i]))
            continue;
        if (!e->off)
            e->off = ft_arena_alloc(&rt->arena, FT_IMAGE_PIECE, FT_CACHE_LINE);
        if (!e->off)
            return -1;
        e->used = 1;
        return i;
    }
    return -1;
}

static uint64_t part(const struct ft_recipe *r, int i, uint64_t at)
{
    return r->len[i] > at ? ft_min_u64(r->len[i] - at, FT_IMAGE_PIECE) : 0;
}

/* 0: there is no memory. */
static int ask(struct ft_rt *rt, const struct ft_recipe *r, int i, uint64_t at)
{
    uint64_t bytes = part(r, i, at);
    int which = (int)(at / FT_IMAGE_PIECE % 2), n;
    if (bytes == 0)
        return 1;
    if (of_source[i][which])
        n = of_source[i][which] - 1;
    else if ((n = take_entry(rt)) < 0)
        return 0;
    of_source[i][which] = (int16_t)(1 + n);
    struct ft_wanted *w = &rt->arena.ctl->wanted[n];
    entry[n].at = at;
    w->slot = r->slot[i];
    w->version = r->version;
    w->at = at;
    w->bytes = bytes;
    w->to = entry[n].off;
    atomic_store_explicit(&w->state, FT_WANTED_ASKED, memory_order_release);
    return 1;
}

static int ask_all(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at)
{
    for (int i = 0; i < r->n; i++)
        if (!r->src[i] && !ask(rt, r, i, at))
            return 0;
    atomic_fetch_add(&rt->arena.ctl->asked, 1);
    ft_gate_bell_ring(rt->board);
    return 1;
}

/* NULL: it cannot be had. */
static const void *await(struct ft_rt *rt, int i, uint64_t at)
{
    int n = of_source[i][at / FT_IMAGE_PIECE % 2] - 1;
    uint32_t generation = atomic_load(&rt->box.generation);
    struct ft_waiter w = FT_WAITER_UNRUNG;
    FT_ASSERT(n >= 0 && entry[n].at == at);
    while (!is_done(&rt->arena.ctl->wanted[n]) && atomic_load(&rt->box.generation) == generation)
        ft_wait(&w);
    ft_wait_end(&w);
    return atomic_load_explicit(&rt->arena.ctl->wanted[n].state, memory_order_acquire) ==
                   FT_WANTED_HERE
               ? ft_arena_ptr(&rt->arena, entry[n].off)
               : NULL;
}

int ft_far_pieces(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at, uint64_t bytes,
                  const void **src, size_t *len)
{
    FT_ASSERT(bytes <= FT_IMAGE_PIECE && at % FT_IMAGE_PIECE == 0);
    if ((at == 0 && !ask_all(rt, r, 0)) || !ask_all(rt, r, at + FT_IMAGE_PIECE))
        return 0;
    for (int i = 0; i < r->n; i++) {
        len[i] = ft_min_u64(part(r, i, at), bytes);
        src[i] = len[i] == 0 ? (const void *)""
                 : r->src[i] ? (const char *)r->src[i] + at
                             : await(rt, i, at);
        if (!src[i])
            return 0;
    }
    return 1;
}

void ft_far_end(struct ft_rt *rt)
{
    for (int i = 0; i < FT_ERASURE_MAX_MEMBERS; i++)
        for (int k = 0; k < 2; k++) {
            int n = of_source[i][k] - 1;
            of_source[i][k] = 0;
            if (n < 0)
                continue;
            entry[n].used = 0;
            if (!is_done(&rt->arena.ctl->wanted[n]))
                continue; /* its memory is the gateway's */
            ft_arena_free(&rt->arena, entry[n].off);
            entry[n].off = 0;
        }
}
