/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sync.c - flushes, fences, and window locks that survive their holders.
 *
 * A lock is two words at the target: excl names the rank that has it for itself, shared[r] says that rank r shares it. Who wants to
 * share says so first and looks at excl then; who wants it alone takes excl first and looks at shared[] then: both orders are full
 * fences, so one of two sees the other. Locks belong to ranks: a replacement that repeats a lock finds its rank's word set.
 */
#include <string.h>

#include "base/failpoint.h"
#include "rma/rma_internal.h"
#include "transport/wait.h"

static struct ft_part *part(struct ft_win *w, int target)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    return w->part[target].known ? &w->part[target] : ft_part_lookup(w, target);
}

static void lock_shared(struct ft_win *w, struct ft_part *p)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    uint64_t me = (uint64_t)w->ctx.rank + 1;
    for (;;) {
        struct ft_win_locks *l = p->locks;
        atomic_store_explicit(&l->shared[w->ctx.rank], 1, memory_order_seq_cst);
        uint64_t excl = atomic_load_explicit(&l->excl, memory_order_seq_cst);
        if (excl == 0 || excl == me)
            break;
        atomic_store_explicit(&l->shared[w->ctx.rank], 0, memory_order_release);
        while (p->known && atomic_load_explicit(&p->locks->excl, memory_order_acquire) != 0)
            ft_wait(&wait);
        if (!p->known) /* the target is carried by another process now */
            ft_part_lookup(w, (int)(p - w->part));
    }
    ft_wait_end(&wait);
    p->held = FT_HELD_SHARED;
}

static void lock_exclusive(struct ft_win *w, struct ft_part *p)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    uint64_t me = (uint64_t)w->ctx.rank + 1;
again:
    for (;;) {
        uint64_t was = 0;
        if (atomic_compare_exchange_strong(&p->locks->excl, &was, me) || was == me)
            break;
        ft_wait(&wait);
        if (!p->known)
            ft_part_lookup(w, (int)(p - w->part));
    }
    for (int r = 0; r < w->ctx.size; r++)
        while (r != w->ctx.rank && atomic_load_explicit(&p->locks->shared[r], memory_order_seq_cst)) {
            ft_wait(&wait);
            if (!p->known) {
                ft_part_lookup(w, (int)(p - w->part));
                goto again;
            }
        }
    ft_wait_end(&wait);
    p->held = FT_HELD_EXCL;
    ft_rma_exclusive_held++;
}

void ft_win_lock(struct ft_win *w, int target, int exclusive)
{
    struct ft_part *p = part(w, target);
    if (exclusive)
        lock_exclusive(w, p);
    else
        lock_shared(w, p);
    ft_failpoint(RMA_LOCK_HELD);
}

static void release(struct ft_win *w, struct ft_part *p)
{
    if (p->held == FT_HELD_EXCL) {
        ft_rma_exclusive_held--;
        atomic_store_explicit(&p->locks->excl, 0, memory_order_release);
    } else if (p->held == FT_HELD_SHARED) {
        atomic_store_explicit(&p->locks->shared[w->ctx.rank], 0, memory_order_release);
    }
    p->held = FT_HELD_NONE;
}

void ft_win_unlock(struct ft_win *w, int target)
{
    struct ft_part *p = part(w, target);
    ft_failpoint(RMA_UNLOCK);
    atomic_thread_fence(memory_order_seq_cst);
    release(w, p);
}

void ft_lock_shared_late(struct ft_win *w, int target)
{
    lock_shared(w, part(w, target));
    ft_failpoint(RMA_LOCK_HELD);
}

void ft_win_lock_all(struct ft_win *w)
{
    w->lock_all = 1; /* each target's lock is taken with the first access to it */
}

void ft_win_unlock_all(struct ft_win *w)
{
    ft_failpoint(RMA_UNLOCK);
    atomic_thread_fence(memory_order_seq_cst);
    w->lock_all = 0;
    for (int t = 0; t < w->ctx.size; t++)
        if (w->part[t].held != FT_HELD_NONE)
            release(w, part(w, t));
}

void ft_win_flush(struct ft_win *w, int target)
{
    (void)w, (void)target;
    /* copies are at the target already; nothing that follows may pass them */
    atomic_thread_fence(memory_order_seq_cst);
    ft_failpoint(RMA_FLUSH);
}

void ft_win_flush_all(struct ft_win *w) { ft_win_flush(w, 0); }

void ft_win_sync(struct ft_win *w)
{
    (void)w;
    atomic_thread_fence(memory_order_seq_cst);
}

void ft_win_fence(struct ft_win *w)
{
    atomic_thread_fence(memory_order_seq_cst);
    ft_failpoint(RMA_FENCE);
    ft_barrier(&w->ctx);
}
