/* SPDX-License-Identifier: BSD-3-Clause
 *
 * block.c - windows of MPI_Win_allocate_shared with several members. All parts lie in sequence in
 * one block of the first member's arena. Each member maps the block at an address of its own that
 * never changes (transport/seen.h).
 *
 * The library does not see loads and stores there, so the loss of a member is a global rollback
 * (O6). The board says who has such a window (shared_until). Each member's image holds its own
 * part. If the first member was among the lost, its replacement has made a new block, and the
 * others map this in place of the old one before they restore (ft_rma_follow_blocks).
 *
 * A window that setup makes, and that was freed before the image, is *gone*. A replacement, which
 * runs setup again, makes it without memory, at addresses that cannot be accessed. Its contents
 * came from others, too, and exist nowhere. So a process that touches it ends the job.
 *
 * Any member's part of such memory may belong to another window (MPI_Win_create). That window's
 * entry says in whose arena it lies (`home`).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/offheap.h"
#include "rma/block.h"
#include "rma/rma_internal.h"

#define OWNER 0

struct ft_block {
    char *at;
    uint64_t bytes;   /* entire pages */
    int apart;        /* each part begins on its own pages; an empty part has no address */
    int slot;         /* whose block is mapped; -1: none yet */
    int gone;         /* nothing is ever mapped */
    uint64_t segment; /* offset of the block in that arena */
    uint64_t off[];   /* [size of the window's group] */
};

FT_STATIC(int, alive); /* number of windows with a block */

/* While a replacement runs setup: the windows that existed at the image's cut, by id. */
struct at_cut {
    int known;
    size_t n;
    uint64_t *id;
};
FT_STATIC(struct at_cut, at_cut);

FT_STATE(__typeof__(void (*)(void)), ft_rma_touched);
FT_STATIC(struct sigaction, before);
FT_STATIC(int, ngone);
#define alive FT_MY(alive)
#define at_cut FT_MY(at_cut)
#define before FT_MY(before)
#define ngone FT_MY(ngone)

static _Atomic uint64_t *exposed_until(void)
{
    return &ft_transport->board->slot[ft_transport->self].testament.shared_until;
}

static int owns(const struct ft_win *w) { return w->ctx.rank == OWNER; }

/* Lays the parts out in the order of ranks. apart: each on its own pages. */
static uint64_t lay_out(const struct ft_win *w, struct ft_block *s, int apart)
{
    uint64_t at = 0, page = ft_page_bytes();
    for (int t = 0; t < w->ctx.size; t++) {
        s->off[t] = at;
        at += apart ? ft_align_up(w->part[t].bytes, page) : w->part[t].bytes;
    }
    return ft_align_up(at, page);
}

void ft_rma_at_cut(const uint64_t *id, size_t n)
{
    FT_ASSERT(id || n == 0);
    ft_offheap_free(at_cut.id);
    at_cut.id = n ? ft_offheap_alloc(n * sizeof *id) : NULL;
    at_cut.n = n;
    at_cut.known = id != NULL;
    if (n)
        memcpy(at_cut.id, id, n * sizeof *id);
}

static int was_freed(const struct ft_win *w)
{
    for (size_t i = 0; i < at_cut.n; i++)
        if (at_cut.id[i] == w->id)
            return 0;
    return at_cut.known && !w->in_body;
}

static void unwatch(void);
static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    const char *p = info->si_addr;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        if (w->block && w->block->gone && p >= w->block->at && p < w->block->at + w->block->bytes)
            ft_rma_touched();
    unwatch(); /* not ours: the fault comes again, and goes to its handler */
}

static void watch(void)
{
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, &before);
}

static void unwatch(void)
{
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
        now.sa_sigaction == on_fault)
        sigaction(SIGSEGV, &before, NULL);
}

int ft_block_gone(const struct ft_win *w) { return w->block && w->block->gone; }

enum ft_status ft_block_begin(struct ft_win *w, int apart)
{
    struct ft_block *s = calloc(1, sizeof *s + (size_t)w->ctx.size * sizeof s->off[0]);
    FT_ASSERT(s);
    s->slot = -1;
    s->apart = apart;
    s->bytes = lay_out(w, s, apart);
    s->gone = was_freed(w);
    if (s->gone && ngone++ == 0)
        watch();
    w->block = s;
    alive++;
    atomic_store(exposed_until(), UINT64_MAX); /* before any process can store there */
    if (s->bytes == 0)
        return FT_OK;
    if (!(s->at = ft_view_take(s->bytes)))
        return FT_ERR_NOMEM;
    w->base = s->at + s->off[w->ctx.rank];
    w->off = FT_MIRROR + (uint64_t)(uintptr_t)w->base;
    if (!owns(w) || s->gone)
        return FT_OK;
    w->alloc_off = ft_arena_take(ft_transport->own, s->bytes);
    return w->alloc_off ? FT_OK : FT_ERR_NOMEM;
}

/* Maps the block of the first member's present carrier. Returns 0 if it has none (yet). */
static int map_block(struct ft_win *w, int slot, enum ft_status *st)
{
    struct ft_win_entry *e = ft_win_entry_at(w, slot);
    if (!e)
        return 0;
    *st = ft_transport->ops->place(ft_transport, slot, e->segment, w->block->bytes, w->block->at);
    if (*st == FT_OK) {
        w->block->slot = slot;
        w->block->segment = e->segment;
    }
    return 1;
}

enum ft_status ft_block_join(struct ft_win *w)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    enum ft_status st = FT_OK;
    if (w->block->bytes == 0 || w->block->gone)
        return FT_OK;
    /* The block exists, unless two replacements make it again: then its owner comes to it without
     * this process. */
    while (!map_block(w, ft_rma_slots[w->ctx.world[OWNER]], &st))
        ft_wait(&wait);
    ft_wait_end(&wait);
    return st;
}

/* What the own part holds lies in the arena of a process that is lost, and goes to the new block.
 * That arena is not given back before all have rejoined. */
static void move_block(struct ft_win *w, int slot, int keep)
{
    enum ft_status st;
    size_t bytes = keep && w->block->slot >= 0 ? w->part[w->ctx.rank].bytes : 0;
    char *part = w->block->at + w->block->off[w->ctx.rank], *held = NULL;
    if (bytes) {
        held = ft_offheap_alloc(bytes);
        memcpy(held, part, bytes);
    }
    if (map_block(w, slot, &st)) {
        FT_ASSERT(st == FT_OK);
        if (bytes)
            memcpy(part, held, bytes);
    }
    ft_offheap_free(held);
}

static void follow(int keep)
{
    for (struct ft_win *w = ft_windows; w; w = w->next) {
        int slot = ft_rma_slots[w->ctx.world[OWNER]];
        /* The block is missing: its owner is lost again, and all will come here again. */
        if (w->block && w->block->bytes && !w->block->gone && w->block->slot != slot)
            move_block(w, slot, keep);
    }
    for (struct ft_win *w = ft_windows; w;
         w = w->next) /* before any process is resumed, and so looks there */
        if (w->lent)
            ft_block_lend(w, &ft_transport->own->ctl->win[w->entry]);
    atomic_store(exposed_until(), alive ? UINT64_MAX : 0);
}

void ft_rma_follow_blocks(void) { follow(0); }

void ft_rma_keep_blocks(void) { follow(1); }

void ft_block_cut(uint64_t version)
{
    if (!alive && atomic_load(exposed_until()) ==
                      UINT64_MAX) /* from here on no process repeats what was stored there */
        atomic_store(exposed_until(), version);
}

char *ft_block_part(const struct ft_win *w, int target)
{
    const struct ft_block *b = w->block;
    return b->at && (w->part[target].bytes || !b->apart) ? b->at + b->off[target] : NULL;
}

static const struct ft_block *block_at(const char *from, size_t bytes)
{
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        if (w->block && bytes && from < w->block->at + w->block->bytes &&
            from + bytes > w->block->at)
            return w->block;
    return NULL;
}

int ft_block_has(const void *p, size_t bytes) { return block_at(p, bytes) != NULL; }

int ft_block_holds(const void *p, size_t bytes)
{
    const char *from = p;
    const struct ft_block *b = block_at(from, bytes);
    return b && from >= b->at && bytes <= (size_t)(b->at + b->bytes - from);
}

void ft_block_lend(const struct ft_win *w, struct ft_win_entry *e)
{
    const struct ft_block *b = block_at(w->base, w->bytes);
    if (!b) /* the shared window was freed first: nothing may be accessed any more */
        return;
    e->segment = b->segment + (uint64_t)((const char *)w->base - b->at);
    e->home = 1 + b->slot;
}

void ft_block_free(struct ft_win *w)
{
    if (w->block->at)
        ft_view_give_back(w->block->at);
    if (w->block->gone && --ngone == 0)
        unwatch();
    free(w->block);
    w->block = NULL;
    alive--;
}
