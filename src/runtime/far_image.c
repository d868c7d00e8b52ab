/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_image.c - pieces of a sum of images come from other nodes.
 *
 * A few pieces are under way at a time, each with an entry of its own. An entry that is still TAKEN
 * when it is no longer needed keeps its memory until the gateway is done with it.
 */
#include "runtime/far_image.h"

#include <string.h>

#include "base/near.h"
#include "transport/wait.h"

#define AHEAD 8 /* pieces under way: they pass one node after the other */

_Static_assert(FT_WANTED >= 2 * AHEAD, "some are still under way when all is begun again");

struct far_now {
    uint64_t serial; /* of the last request; of all that this process has made */
    uint64_t asked;  /* all pieces before this place */
    uint32_t generation;
    int entry[AHEAD]; /* piece number n: entry[n % AHEAD] */
    struct {
        uint64_t off; /* of its memory in the own arena; 0: none yet */
        int used;
    } of[FT_WANTED];
};
FT_STATIC(struct far_now, now);
#define now FT_MY(now)

static int is_done(const struct ft_wanted *w)
{
    uint32_t s = atomic_load_explicit(&w->state, memory_order_acquire);
    return s != FT_WANTED_ASKED && s != FT_WANTED_TAKEN;
}

static int is_over(const struct ft_rt *rt)
{
    return atomic_load(&rt->box.generation) != now.generation;
}

static int find_entry(const struct ft_rt *rt)
{
    for (int i = 0; i < FT_WANTED; i++)
        if (!now.of[i].used && is_done(&rt->arena.ctl->wanted[i]))
            return i;
    return -1;
}

/* Those that are still under way come to their end, or their node is out. */
static enum ft_skip_reason take_entry(struct ft_rt *rt, int *out)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    int i;
    while ((i = find_entry(rt)) < 0 && !is_over(rt))
        ft_wait(&w);
    ft_wait_end(&w);
    if (i < 0)
        return FT_SKIP_FAILURE;
    if (!now.of[i].off)
        now.of[i].off = ft_arena_alloc(&rt->arena, FT_IMAGE_PIECE, FT_CACHE_LINE);
    if (!now.of[i].off)
        return FT_SKIP_NOMEM;
    now.of[i].used = 1;
    *out = i;
    return FT_SKIP_NONE;
}

static void ask(struct ft_rt *rt, const struct ft_recipe *r, int i, uint64_t at)
{
    struct ft_wanted *w = &rt->arena.ctl->wanted[i];
    w->nterms = (uint32_t)r->nfar;
    memcpy(w->term, r->far, (size_t)r->nfar * sizeof *r->far);
    w->serial = ++now.serial;
    w->version = r->version;
    w->at = at;
    w->bytes = ft_min_u64(r->far_longest - at, FT_IMAGE_PIECE);
    w->to = now.of[i].off;
    atomic_store_explicit(&w->state, FT_WANTED_ASKED, memory_order_release);
}

/* Asks for the pieces from `at` on that may be under way at once. */
static enum ft_skip_reason ask_ahead(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at)
{
    uint64_t end = ft_min_u64(r->far_longest, at + AHEAD * FT_IMAGE_PIECE), was = now.asked;
    for (; now.asked < end; now.asked += FT_IMAGE_PIECE) {
        int *e = &now.entry[now.asked / FT_IMAGE_PIECE % AHEAD];
        enum ft_skip_reason bad = *e < 0 ? take_entry(rt, e) : FT_SKIP_NONE;
        if (bad != FT_SKIP_NONE)
            return bad;
        ask(rt, r, *e, now.asked);
    }
    if (now.asked == was)
        return FT_SKIP_NONE;
    atomic_fetch_add(&rt->arena.ctl->asked, 1);
    ft_gate_bell_ring(rt->board);
    return FT_SKIP_NONE;
}

void ft_far_begin(struct ft_rt *rt)
{
    ft_far_end(rt); /* [main was called away before it came to its end] */
    now.asked = 0;
    now.generation = atomic_load(&rt->box.generation);
    for (int k = 0; k < AHEAD; k++)
        now.entry[k] = -1;
}

/* Pieces that have come count only in the generation that has asked for them, and only if the
 * images are as long as the recipe says. */
static int counts(struct ft_rt *rt, const struct ft_recipe *r, const struct ft_wanted *w)
{
    return atomic_load_explicit(&w->state, memory_order_acquire) == FT_WANTED_HERE &&
           w->longest == r->far_longest && !is_over(rt);
}

enum ft_skip_reason ft_far_piece(struct ft_rt *rt, const struct ft_recipe *r, uint64_t at,
                                 const void **piece, size_t *bytes)
{
    FT_ASSERT(at % FT_IMAGE_PIECE == 0);
    *piece = "";
    *bytes = r->far_longest > at ? ft_min_u64(r->far_longest - at, FT_IMAGE_PIECE) : 0;
    if (*bytes == 0)
        return is_over(rt) ? FT_SKIP_FAILURE : FT_SKIP_NONE;
    enum ft_skip_reason bad = ask_ahead(rt, r, at);
    if (bad != FT_SKIP_NONE)
        return bad;
    int i = now.entry[at / FT_IMAGE_PIECE % AHEAD];
    const struct ft_wanted *of = &rt->arena.ctl->wanted[i];
    struct ft_waiter w = FT_WAITER_UNRUNG;
    FT_ASSERT(of->at == at && of->version == r->version);
    while (!is_done(of) && !is_over(rt))
        ft_wait(&w);
    ft_wait_end(&w);
    *piece = ft_arena_ptr(&rt->arena, now.of[i].off);
    return counts(rt, r, of) ? FT_SKIP_NONE : FT_SKIP_FAILURE;
}

void ft_far_end(struct ft_rt *rt)
{
    for (int i = 0; i < FT_WANTED; i++) {
        now.of[i].used = 0;
        if (!now.of[i].off || !is_done(&rt->arena.ctl->wanted[i]))
            continue; /* its memory is the gateway's */
        ft_arena_free(&rt->arena, now.of[i].off);
        now.of[i].off = 0;
    }
}
