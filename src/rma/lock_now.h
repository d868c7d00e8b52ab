/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lock_now.h - locks and releases that wait for nobody, inline, as these are short and frequent.
 * sync.c has the rest, and says what the words mean.
 */
#ifndef FT_RMA_LOCK_NOW_H
#define FT_RMA_LOCK_NOW_H

#include "base/failpoint.h"
#include "rma/inside.h"
#include "rma/rma_internal.h"

static inline void ft_put_held(struct ft_win *w, struct ft_winpart *p, int target, int held)
{
    p->held = held;
    atomic_store_explicit(&w->holds[target], (uint8_t)held, memory_order_release);
}
/* A replacement on another node asks for no more locks than are held. */
void ft_count_held(struct ft_win *w, int target, int held);
static inline void ft_set_held(struct ft_win *w, int target, int held) /* FT_HELD_* */
{
    if (FT_UNLIKELY(w->over_nodes))
        ft_count_held(w, target, held);
    ft_put_held(w, &w->part[target], target, held);
}

/* Whether no rank shares the part, looked at in words: the time hardly grows with the ranks. */
static inline int ft_nobody_shares(const struct ft_win_locks *l, int ranks)
{
    const uint64_t *word = (const uint64_t *)(const void *)l->shared;
    size_t i = 0, n = ft_shared_words((uint32_t)ranks);
    do
        if (FT_UNLIKELY(__atomic_load_n(&word[i], __ATOMIC_SEQ_CST) != 0))
            return 0;
    while (FT_UNLIKELY(++i < n));
    return 1;
}

static inline void ft_note_held(struct ft_win *w, int target, int exclusive)
{
    ft_set_held(w, target, exclusive ? FT_HELD_EXCL : FT_HELD_SHARED);
    ft_rma_exclusive_held += exclusive != 0;
}

static inline void ft_free_words(const struct ft_win *w, struct ft_win_locks *l, int held)
{
    uint64_t me = (uint64_t)w->ctx.rank + 1;
    if (held == FT_HELD_SHARED)
        atomic_store_explicit(&l->shared[w->ctx.rank], 0, memory_order_release);
    else if (FT_LIKELY(atomic_load_explicit(&l->excl, memory_order_relaxed) == me))
        atomic_store_explicit(&l->excl, 0, memory_order_release); /* only its holder changes it */
}

/* Locks and releases that need nothing else, for MPI_Win_lock and _unlock, which leave it to these
 * to count the call when nothing can come between any more. They call no function, so that no
 * register must be saved. ft_*_part_now: the target's part, if it is on this node, nothing is
 * logged, and no failpoint on the way is armed. ft_*_now: 1 if there was nothing to attend to (a
 * replay and a snapshot are, too), and nobody has the lock. Else 0: ft_win_lock and ft_win_unlock
 * go on from there. A lock's word that was taken stays for it. */
#define FT_FP_IS_ARMED(ID) __atomic_load_n(&ft_fp_armed[FT_FP_##ID], __ATOMIC_RELAXED)
static inline struct ft_winpart *ft_lock_part_now(struct ft_win *w, int target)
{
    struct ft_winpart *p = &w->part[target];
    int slow = ft_homelog_now.on | FT_FP_IS_ARMED(RMA_LOCK_WORD) | FT_FP_IS_ARMED(RMA_LOCK_HELD);
    return FT_LIKELY(!(slow | w->over_nodes) && p->known) ? p : NULL;
}
static inline struct ft_winpart *ft_unlock_part_now(struct ft_win *w, int target)
{
    struct ft_winpart *p = &w->part[target];
    int slow = ft_homelog_now.on | FT_FP_IS_ARMED(RMA_UNLOCK) | w->ndirty;
    return FT_LIKELY(!(slow | w->over_nodes) && p->known && p->held != FT_HELD_NONE) ? p : NULL;
}

static inline int ft_try_now(struct ft_win_locks *l, const struct ft_ctx *ctx, int exclusive)
{
    uint64_t nobody = 0;
    if (FT_UNLIKELY(atomic_load_explicit(&l->claimant, memory_order_relaxed) != 0))
        return 0;
    if (exclusive)
        return atomic_compare_exchange_strong(&l->excl, &nobody, (uint64_t)ctx->rank + 1) &&
               ft_nobody_shares(l, ctx->size);
    if (atomic_load_explicit(&l->excl, memory_order_relaxed) != 0)
        return 0;
    atomic_store_explicit(&l->shared[ctx->rank], 1, memory_order_seq_cst);
    return atomic_load_explicit(&l->excl, memory_order_seq_cst) == 0;
}

static inline int ft_lock_now(struct ft_win *w, struct ft_winpart *p, int target, int exclusive)
{
    if (FT_UNLIKELY(ft_anything_to_attend() || !ft_try_now(p->locks, &w->ctx, exclusive)))
        return 0;
    int quiet = ft_enter_quiet();
    if (FT_LIKELY(quiet)) {
        ft_call_begin();
        ft_put_held(w, p, target, exclusive ? FT_HELD_EXCL : FT_HELD_SHARED);
        ft_rma_exclusive_held += exclusive;
        ft_note_acquired();
    }
    ft_leave_access();
    return quiet;
}

static inline int ft_unlock_now(struct ft_win *w, struct ft_winpart *p, int target)
{
    int held = p->held;
    if (FT_UNLIKELY(ft_anything_to_attend()))
        return 0;
    int quiet = ft_enter_quiet();
    if (FT_LIKELY(quiet)) {
        ft_call_begin();
        ft_rma_exclusive_held -= held == FT_HELD_EXCL;
        ft_free_words(w, p->locks, held);
        ft_put_held(w, p, target, FT_HELD_NONE);
    }
    ft_leave_access();
    return quiet;
}

#endif
