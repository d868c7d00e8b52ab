/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win.c - windows: creation, lookup of others' parts, freeing, repair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/near.h"
#include "base/reason.h"
#include "rma/block.h"
#include "rma/dynamic.h"
#include "rma/far_access.h"
#include "rma/lock_now.h"
#include "rma/rma_internal.h"
#include "transport/share.h"

FT_STATE(struct ft_win *, ft_windows);
FT_STATE(int, ft_rma_outside) = 1;
FT_STATE(int, ft_rma_exclusive_held);
FT_STATE(uint64_t, ft_rma_made_outside);

struct making {
    struct ft_tp *tp;
    int nranks, myrank;
    int *slot_of;
    /* not in ft_windows yet: if a rollback leaves the making by longjmp, it frees this */
    struct ft_win *making;
};
FT_STATIC(struct making, g);
#define g FT_MY(g)

FT_STATE(int, ft_rma_me);
FT_STATE(int, ft_rma_nranks);
FT_STATE(const int *, ft_rma_slots);

void ft_rma_init(struct ft_tp *tp, int nranks, int myrank, const int *slot_of)
{
    g.tp = tp;
    g.nranks = nranks;
    g.myrank = myrank;
    ft_rma_me = myrank;
    ft_rma_nranks = nranks;
    g.slot_of = ft_need(calloc((size_t)nranks, sizeof *g.slot_of),
                        (size_t)nranks * sizeof *g.slot_of, "the windows' table of ranks");
    memcpy(g.slot_of, slot_of, (size_t)nranks * sizeof *slot_of);
    ft_rma_slots = g.slot_of;
    if (ft_rma_inside != &tp->own->ctl->inside) /* the runtime sets it before there is an agent */
        ft_rma_inside = &tp->own->ctl->inside;
    ft_putlog_init(tp, nranks, myrank);
}

static void forget_part(struct ft_win *w, int target)
{
    struct ft_winpart *p = &w->part[target];
    if (p->known && !w->dynamic && !w->block && !p->lent)
        g.tp->ops->unmap(g.tp, p->slot, p->off, p->base, p->bytes);
    if (w->dynamic) {
        ft_forget_spans(p);
        p->bytes = p->from = 0;
    }
    p->known = p->far = 0;
    p->base = NULL;
    p->lo_at = 0;
    p->marked = 0;
}

void ft_rma_rebind(int rank, int slot)
{
    FT_ASSERT(rank >= 0 && rank < g.nranks);
    int was = g.slot_of[rank];
    g.slot_of[rank] = slot;
    for (struct ft_win *w = ft_windows; w; w = w->next)
        for (int t = 0; t < w->ctx.size; t++)
            if (w->ctx.world[t] == rank || w->part[t].slot == was)
                forget_part(w, t);
}

static struct ft_win_entry *find_entry(struct ft_ctl *ctl, uint64_t id)
{
    for (int i = 0; i < FT_MAX_WINDOWS; i++)
        if (atomic_load_explicit(&ctl->win[i].id, memory_order_acquire) == id)
            return &ctl->win[i];
    return NULL;
}

struct ft_win_entry *ft_win_entry_at(const struct ft_win *w, int slot)
{
    struct ft_ctl *ctl = ft_tp_ctl(g.tp, slot);
    return ctl ? find_entry(ctl, w->id) : NULL;
}

static struct ft_win_locks *locks_at(const struct ft_win *w, int slot)
{
    struct ft_win_entry *e = ft_win_entry_at(w, slot);
    return e ? g.tp->ops->map(g.tp, slot, e->locks, ft_locks_bytes((uint32_t)w->ctx.size),
                              FT_TP_CONTROL)
             : NULL;
}

struct ft_win_locks *ft_locks_of(const struct ft_win *w, int target)
{
    int slot = g.slot_of[w->ctx.world[target]];
    const struct ft_ctl *ctl = ft_tp_ctl(g.tp, slot);
    return ctl && atomic_load_explicit(&ctl->live, memory_order_acquire) ? locks_at(w, slot) : NULL;
}

/* Setup was run again, and has made it with another size. */
static _Noreturn void has_another_size(const struct ft_win *w, int target, uint64_t bytes)
{
    ft_give_up(WINDOW_SIZE, (unsigned)w->id, w->ctx.world[target], (unsigned long long)bytes,
               (unsigned long long)w->part[target].bytes);
}

struct ft_winpart *ft_winpart_try(struct ft_win *w, int target)
{
    struct ft_winpart *p = &w->part[target];
    if (p->known)
        return p;
    p->slot = g.slot_of[w->ctx.world[target]];
    p->ctl = ft_tp_ctl(g.tp, p->slot);
    p->calls = &g.tp->board->slot[p->slot].testament.calls;
    /* A replacement exposes its part to others when it is live. */
    int there = p->ctl && (target == w->ctx.rank ||
                           atomic_load_explicit(&p->ctl->live, memory_order_acquire));
    if (there && !ft_board_near(g.tp->board, p->slot)) {
        ft_far_part(w, p);
        p->known = 1;
        return p;
    }
    struct ft_win_entry *e = there ? find_entry(p->ctl, w->id) : NULL;
    if (!e)
        return NULL;
    if (FT_UNLIKELY(e->bytes != p->bytes))
        has_another_size(w, target, e->bytes);
    p->off = e->base;
    p->locks = g.tp->ops->map(g.tp, p->slot, e->locks, ft_locks_bytes((uint32_t)w->ctx.size),
                              FT_TP_CONTROL);
    if (!p->locks)
        return NULL;
    p->lent = e->home != 0;
    if (p->lent) {
        p->slot = e->home - 1;
        p->off = e->segment;
    }
    p->base = w->block   ? ft_block_part(w, target)
              : p->bytes ? g.tp->ops->map(g.tp, p->slot, p->off, p->bytes, FT_TP_WINDOW)
                         : NULL;
    p->known = 1;
    return p;
}

struct ft_winpart *ft_winpart_lookup(struct ft_win *w, int target)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    struct ft_winpart *p;
    while (!(p = ft_winpart_try(w, target))) {
        if (ft_block_gone(w))
            ft_rma_touched();
        ft_wait(&wait);
    }
    ft_wait_end(&wait);
    return p;
}

void ft_rma_mark(struct ft_winpart *p)
{
    p->marked = 1;
    atomic_store_explicit(&g.tp->board->phase_rma, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* before the access */
}

static int publish_part(struct ft_win *w, int disp_unit)
{
    struct ft_win_locks *l = ft_arena_ptr(g.tp->own, w->locks_off);
    struct ft_ctl *ctl = g.tp->own->ctl;
    memset(l, 0, ft_locks_bytes((uint32_t)w->ctx.size));
    l->nshared = (uint32_t)w->ctx.size;
    w->holds = ft_held_by_owner(l);
    for (int i = 0; i < FT_MAX_WINDOWS; i++) {
        struct ft_win_entry *e = &ctl->win[i];
        if (atomic_load_explicit(&e->id, memory_order_relaxed) == 0) {
            e->base = w->off;
            e->bytes = w->bytes;
            e->locks = w->locks_off;
            e->segment = w->block ? w->alloc_off : 0;
            e->home = 0;
            if (w->lent)
                ft_block_lend(w, e);
            e->disp_unit = disp_unit;
            atomic_store_explicit(&e->image, 0, memory_order_relaxed);
            ft_failpoint(SETUP_WIN);
            atomic_store_explicit(&e->id, w->id, memory_order_release);
            w->entry = i;
            return 1;
        }
    }
    return 0;
}

/* What each member tells the others about its part. They need it when it is gone, as a replacement
 * does that repeats its accesses. */
struct shape {
    uint64_t bytes;
    int32_t disp_unit, status; /* enum ft_status */
};

/* Returns the worst status of all members. */
static enum ft_status exchange_shapes(struct ft_win *w, struct shape mine)
{
    size_t n = (size_t)w->ctx.size;
    enum ft_status worst = FT_OK;
    size_t bytes = n * (sizeof(struct shape) + 2 * sizeof(size_t));
    struct shape *all =
        ft_need(ft_coll_scratch(2, bytes), bytes,
                "a new window"); /* not malloc: the exchange may be left by longjmp */
    size_t *offs = (size_t *)(void *)(all + n), *lens = offs + n;
    for (size_t i = 0; i < n; i++) {
        offs[i] = i * sizeof *all;
        lens[i] = sizeof *all;
    }
    ft_allgatherv(&w->ctx, &mine, sizeof mine, all, offs, lens);
    for (size_t i = 0; i < n; i++) {
        w->part[i].bytes = all[i].bytes;
        w->part[i].disp_unit = all[i].disp_unit;
        if (worst == FT_OK)
            worst = (enum ft_status)all[i].status;
    }
    return worst;
}

static void unlink_win(struct ft_win *w)
{
    for (struct ft_win **p = &ft_windows; *p; p = &(*p)->next)
        if (*p == w) {
            *p = w->next;
            break;
        }
}

/* A replacement must have what the lost process had. If there is no memory for it the job is lost,
 * since this is not an error of the program. */
static uint64_t take(uint64_t bytes, uint64_t align)
{
    return ft_replay == FT_LIVE ? ft_arena_alloc(g.tp->own, bytes, align)
                                : ft_arena_need(g.tp->own, bytes, align);
}

/* Gives back what was taken for a window that failed. */
static void give_back(struct ft_win *w)
{
    g.making = NULL;
    ft_arena_free(g.tp->own, w->locks_off);
    ft_arena_give_back(g.tp->own, w->alloc_off);
    if (w->block)
        ft_block_free(w);
    else if (w->shared)
        ft_arena_unshare(g.tp->own, w->base, w->bytes);
    free(w->part);
    free(w->dirty);
    free(w);
}

/* Either all members publish their parts, or nobody has a window. The window is registered here as
 * soon as others may know it. [f, whose shape p has, waits for another's; p puts, f dies. The put
 * is eligible where f' waits: it was taken for one into a window freed since, and lost.] */
static enum ft_status create(const struct ft_ctx *c, struct ft_win *w, enum ft_status st,
                             int disp_unit, struct ft_win **out)
{
    int ok = st == FT_OK;
    w->shared = ok && w->bytes && !w->alloc_off && !w->lent && !w->block && !w->dynamic;
    if (ok) {
        w->locks_off = take(ft_locks_bytes((uint32_t)c->size), FT_CACHE_LINE);
        ok = w->locks_off != 0 && publish_part(w, disp_unit);
        if (!ok)
            st = FT_ERR_NOMEM;
    }
    if (ok) {
        w->next = ft_windows;
        ft_windows = w;
        g.making = NULL;
    }
    enum ft_status worst =
        exchange_shapes(w, (struct shape){.bytes = w->bytes, .disp_unit = disp_unit, .status = st});
    if (worst == FT_OK) {
        ft_rma_made_outside += ft_rma_outside;
        *out = w;
        return FT_OK;
    }
    unlink_win(w);
    if (ok)
        atomic_store(&g.tp->own->ctl->win[w->entry].id, 0);
    give_back(w);
    return worst;
}

static struct ft_win *new_win(const struct ft_ctx *c)
{
    size_t n = (size_t)c->size;
    struct ft_win *w = ft_need(calloc(1, sizeof *w), sizeof *w, "a window");
    w->ctx = *c;
    w->id = (uint64_t)c->id + 1;
    w->in_body = !ft_rma_outside;
    w->over_nodes = g.tp->board->nodes.n != 0;
    w->part = ft_need(calloc(n, sizeof *w->part), n * sizeof *w->part, "a window");
    w->dirty = ft_need(calloc(n, sizeof *w->dirty), n * sizeof *w->dirty, "a window");
    g.making = w;
    return w;
}

enum ft_status ft_win_allocate(const struct ft_ctx *c, size_t bytes, int disp_unit, void **base,
                               struct ft_win **out)
{
    struct ft_win *w = new_win(c);
    enum ft_status st = FT_OK;
    w->bytes = bytes;
    if (bytes) {
        w->off = w->alloc_off = ft_arena_take(g.tp->own, bytes);
        if (!w->off)
            st = FT_ERR_NOMEM;
    }
    w->base = st == FT_OK && bytes ? ft_arena_ptr(g.tp->own, w->off) : NULL;
    *base = w->base;
    return create(c, w, st, disp_unit, out);
}

void *ft_rma_memory(size_t bytes, int in_body) { return ft_mem_take(bytes, in_body); }
int ft_rma_memory_free(void *p) { return ft_mem_give_back(p); }
int ft_rma_gave(const void *p) { return ft_seen_has(g.tp->own, p); }

enum ft_status ft_win_create(const struct ft_ctx *c, void *base, size_t bytes, int disp_unit,
                             struct ft_win **out)
{
    struct ft_win *w = new_win(c);
    w->bytes = bytes;
    w->base = base;
    enum ft_status st = FT_OK;
    w->lent = ft_block_has(base, bytes);
    if (!w->lent)
        st = ft_arena_share(g.tp->own, base, bytes, &w->off);
    else if (ft_block_holds(base, bytes))
        w->off = FT_MIRROR + (uint64_t)(uintptr_t)base;
    else
        st = FT_ERR_RANGE;
    return create(c, w, st, disp_unit, out);
}

enum ft_status ft_win_create_dynamic(const struct ft_ctx *c, struct ft_win **out)
{
    struct ft_win *w = new_win(c);
    w->dynamic = 1;
    w->off = FT_MIRROR;
    return create(c, w, FT_OK, 1, out);
}

enum ft_status ft_win_allocate_shared(const struct ft_ctx *c, size_t bytes, int disp_unit,
                                      int apart, void **base, struct ft_win **out)
{
    if (c->size == 1)
        return ft_win_allocate(c, bytes, disp_unit, base, out);
    struct ft_win *w = new_win(c);
    w->bytes = bytes;
    (void)exchange_shapes(w, (struct shape){.bytes = bytes, .disp_unit = disp_unit});
    enum ft_status st = ft_block_begin(w, apart);
    *base = w->base;
    st = create(c, w, st, disp_unit, out);
    if (st != FT_OK)
        return st;
    st = exchange_shapes(
        w, (struct shape){.bytes = bytes, .disp_unit = disp_unit, .status = ft_block_join(w)});
    if (st != FT_OK)
        ft_win_dispose(w);
    return st;
}

void *ft_win_shared_base(struct ft_win *w, int target)
{
    return w->block ? ft_block_part(w, target) : w->base;
}

/* Gives back what this process holds for w. */
void ft_win_dispose(struct ft_win *w)
{
    atomic_store_explicit(&g.tp->own->ctl->win[w->entry].id, 0, memory_order_release);
    for (int t = 0; t < w->ctx.size; t++)
        forget_part(w, t);
    if (w->dynamic)
        ft_detach_all(w);
    ft_arena_free(g.tp->own, w->locks_off);
    ft_arena_give_back(g.tp->own, w->alloc_off);
    if (w->block)
        ft_block_free(w);
    else if (!w->alloc_off && !w->lent)
        ft_arena_unshare(g.tp->own, w->base, w->bytes);
    unlink_win(w);
    free(w->part);
    free(w->dirty);
    free(w);
}

void ft_win_free(struct ft_win *w)
{
    ft_close_epoch(w, -1);
    /* accesses are over; when all have entered the second barrier, nobody looks up a part any
     * more */
    ft_barrier(&w->ctx);
    for (int t = 0; t < w->ctx.size; t++)
        forget_part(w, t);
    ft_barrier(&w->ctx);
    ft_win_dispose(w);
}

int ft_win_is_there(const struct ft_win *known)
{
    const struct ft_win *w = ft_windows;
    while (w && w != known)
        w = w->next;
    return w != NULL;
}

int ft_rma_lasting(void)
{
    int n = 0;
    for (const struct ft_win *w = ft_windows; w; w = w->next)
        n += !w->in_body;
    return n;
}

void ft_rma_drop_body_windows(void)
{
    if (g.making)
        give_back(g.making);
    for (struct ft_win *w = ft_windows, *next; w; w = next) {
        next = w->next;
        if (w->in_body)
            ft_win_dispose(w);
    }
}

size_t ft_win_size(struct ft_win *w, int target)
{
    return w->dynamic ? SIZE_MAX / 2 : w->part[target].bytes;
}

int ft_win_disp_unit(struct ft_win *w, int target) { return w->part[target].disp_unit; }

void *ft_win_base(struct ft_win *w) { return w->base; }

static void parts_from(struct ft_win *w,
                       void (*each)(void *arg, void *addr, size_t bytes, int *unprotected),
                       void *arg)
{
    if (!w)
        return;
    parts_from(w->next, each, arg); /* the list has the newest first */
    each(arg, w->base, w->bytes, &w->unprotected);
}

void ft_rma_regions(void (*each)(void *arg, void *addr, size_t bytes, int *unprotected), void *arg)
{
    parts_from(ft_windows, each, arg);
    ft_attached_regions(each, arg);
}

void ft_win_before_entry(void)
{
    for (struct ft_win *w = ft_windows; w; w = w->next)
        for (int t = 0; t < w->ctx.size; t++)
            w->part[t].found = w->part[t].held;
}

/* O3. Sets what this process holds, and its words in the parts that it accesses by loads and
 * stores: in a shared window these are all. held: as saved; NULL: as body found it. */
static void hold_again(struct ft_win *w, const char *held, int all)
{
    for (int t = 0; t < w->ctx.size; t++) {
        int direct = t == w->ctx.rank || all;
        int has = direct && (held ? held[t] : w->part[t].found) == FT_HELD_SHARED;
        struct ft_win_locks *l = direct ? locks_at(w, g.slot_of[w->ctx.world[t]]) : NULL;
        ft_set_held(w, t, has ? FT_HELD_SHARED : FT_HELD_NONE);
        if (l) /* else its process was lost, and all do this again */
            atomic_store(&l->shared[w->ctx.rank], (uint8_t)has);
    }
}

void ft_rma_reset(const char *saved, int alone)
{
    ft_rma_settle_far(1); /* what a rollback before this one asked, which this one overtook */
    for (struct ft_win *w = ft_windows; w; w = w->next) {
        struct ft_win_locks *l = ft_arena_ptr(g.tp->own, w->locks_off);
        atomic_store(&l->crit, 0);
        atomic_store(&l->undo_len, 0);
        atomic_store(&l->excl, 0);
        atomic_store_explicit(&l->claimant, 0, memory_order_relaxed);
        /* each rank sets its words in all parts of a shared window, before or after their owners
         * come here */
        int all = w->block && !alone;
        for (uint32_t i = 0; i < l->nshared && !all; i++)
            atomic_store_explicit(&l->shared[i], 0, memory_order_relaxed);
        w->lock_all = 0;
        w->ndirty = w->asked_far = 0;
        for (int t = 0; t < w->ctx.size; t++) {
            w->part[t].dirty = 0;
            w->part[t].lo_at = 0;
        }
        hold_again(w, saved ? ft_saved_held(saved, w->id) : NULL, all);
    }
    ft_rma_exclusive_held = 0;
}

void ft_rma_repair(struct ft_arena *own, int dead_slot)
{
    for (int i = 0; i < FT_MAX_WINDOWS; i++) {
        struct ft_win_entry *e = &own->ctl->win[i];
        if (!atomic_load_explicit(&e->id, memory_order_acquire))
            continue;
        struct ft_win_locks *l = ft_arena_ptr(own, e->locks);
        if (atomic_load_explicit(&l->crit, memory_order_acquire) != (uint64_t)dead_slot + 1)
            continue;
        uint32_t n = atomic_load(&l->undo_len);
        if (n) {
            uint64_t base = e->base >= FT_MIRROR ? e->base - FT_MIRROR
                                                 : (uint64_t)(uintptr_t)ft_arena_ptr(own, e->base);
            ft_hole_copy((void *)(uintptr_t)(base + l->undo_off),
                         n <= sizeof l->undo_small ? l->undo_small : l->undo_large, n,
                         l->undo_hole);
            if (l->undo_acc)
                atomic_store(&own->ctl->peer[l->undo_rank].acc, l->undo_acc - 1);
            atomic_store(&l->undo_len, 0);
        }
        atomic_store_explicit(&l->crit, 0, memory_order_release);
    }
}
