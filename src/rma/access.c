/* SPDX-License-Identifier: BSD-3-Clause
 *
 * access.c - put, get, and what combines. On the hot way: no system call, no allocation.
 */
#include <string.h>

#include "base/failpoint.h"
#include "rma/rma_internal.h"
#include "transport/wait.h"

static inline int outside(const struct ft_part *p, size_t off, size_t len) { return off > p->bytes || len > p->bytes - off; }

static enum ft_status slow_put(struct ft_part *p, size_t off, const void *buf, size_t len)
{
    return ft_tp->ops->put(ft_tp, p->slot, p->off + off, buf, len);
}

enum ft_status ft_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len)
{
    struct ft_part *p = ft_part_for_access(w, target);
    if (FT_UNLIKELY(outside(p, off, len)))
        return FT_ERR_RANGE;
    ft_note_access(w, p, target);
    ft_failpoint(RMA_PUT_BEFORE);
    if (FT_UNLIKELY(!p->base))
        return len ? slow_put(p, off, buf, len) : FT_OK;
    char *dst = p->base + off;
    if (FT_UNLIKELY(ft_fp_armed[FT_FP_RMA_PUT_HALF])) {
        memcpy(dst, buf, len / 2);
        ft_failpoint(RMA_PUT_HALF);
        memcpy(dst + len / 2, (const char *)buf + len / 2, len - len / 2);
    } else if (len == 8) {
        memcpy(dst, buf, 8);
    } else {
        memcpy(dst, buf, len);
    }
    ft_failpoint(RMA_PUT_AFTER);
    return FT_OK;
}

enum ft_status ft_get(struct ft_win *w, int target, size_t off, void *buf, size_t len)
{
    struct ft_part *p = ft_part_for_access(w, target);
    if (FT_UNLIKELY(outside(p, off, len)))
        return FT_ERR_RANGE;
    ft_note_access(w, p, target);
    if (FT_LIKELY(p->base != NULL))
        memcpy(buf, p->base + off, len);
    else if (len)
        return ft_tp->ops->get(ft_tp, p->slot, p->off + off, buf, len);
    ft_failpoint(RMA_GET);
    return FT_OK;
}

void *ft_win_address(struct ft_win *w, int target, size_t off, size_t len)
{
    struct ft_part *p = ft_part_for_access(w, target);
    if (outside(p, off, len) || !p->base)
        return NULL;
    ft_note_access(w, p, target);
    return p->base + off;
}

/* --- the critical section of what combines --- */

static void enter_slowly(struct ft_win_locks *l, uint64_t me)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    for (;;) {
        uint64_t free = 0;
        if (atomic_load_explicit(&l->crit, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&l->crit, &free, me, memory_order_acquire, memory_order_relaxed))
            break;
        ft_wait(&w); /* a holder that died is put out by the owner's agent; the owner's own death ends this wait */
    }
    ft_wait_end(&w);
}

static inline void enter(struct ft_win_locks *l)
{
    uint64_t free = 0, me = (uint64_t)ft_tp->self + 1;
    if (FT_UNLIKELY(!atomic_compare_exchange_strong_explicit(&l->crit, &free, me, memory_order_acquire, memory_order_relaxed)))
        enter_slowly(l, me);
    ft_failpoint(RMA_ATOMIC_LOCKED);
}

static inline void note_undo(struct ft_win_locks *l, uint64_t off, const void *old, uint32_t len)
{
    memcpy(len <= sizeof l->undo_small ? l->undo_small : l->undo_large, old, len);
    l->undo_off = off;
    atomic_store_explicit(&l->undo_len, len, memory_order_release);
}

static inline void leave(struct ft_win_locks *l)
{
    ft_failpoint(RMA_ATOMIC_APPLIED);
    atomic_store_explicit(&l->undo_len, 0, memory_order_release);
    atomic_store_explicit(&l->crit, 0, memory_order_release);
    ft_failpoint(RMA_ATOMIC_DONE);
}

/* One piece, the critical section held. buf: scratch for a part that is not mapped. */
static enum ft_status combine_piece(struct ft_part *p, size_t off, const char *origin, char *result, size_t count, size_t esize,
                                    const struct ft_reducer *op)
{
    char buf[FT_PIECE];
    size_t len = count * esize;
    char *at = p->base ? p->base + off : buf;
    if (!p->base && ft_tp->ops->get(ft_tp, p->slot, p->off + off, buf, len) != FT_OK)
        return FT_ERR_DEAD;
    if (result)
        memcpy(result, at, len);
    if (!origin)
        return FT_OK;
    note_undo(p->locks, off, at, (uint32_t)len);
    if (op && op->apply)
        op->apply(op->arg, origin, at, count);
    else
        memcpy(at, origin, len);
    return p->base ? FT_OK : ft_tp->ops->put(ft_tp, p->slot, p->off + off, buf, len);
}

enum ft_status ft_accumulate(struct ft_win *w, int target, size_t off, const void *origin, void *result, size_t count, size_t esize,
                             const struct ft_reducer *op)
{
    struct ft_part *p = ft_part_for_access(w, target);
    if (FT_UNLIKELY(outside(p, off, count * esize)))
        return FT_ERR_RANGE;
    FT_ASSERT(esize > 0 && esize <= FT_PIECE);
    ft_note_access(w, p, target);
    size_t step = FT_PIECE / esize;
    enum ft_status st = FT_OK;
    for (size_t i = 0; i < count && st == FT_OK; i += step) {
        size_t n = count - i < step ? count - i : step, at = i * esize;
        enter(p->locks);
        st = combine_piece(p, off + at, origin ? (const char *)origin + at : NULL, result ? (char *)result + at : NULL, n, esize, op);
        leave(p->locks);
    }
    return st;
}

enum ft_status ft_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind, size_t esize, const void *operand,
                             const void *compare, void *result)
{
    struct ft_part *p = ft_part_for_access(w, target);
    if (FT_UNLIKELY(outside(p, off, esize)))
        return FT_ERR_RANGE;
    FT_ASSERT(esize <= 16);
    ft_note_access(w, p, target);
    char old[16], new[16], *at = p->base ? p->base + off : NULL;
    enter(p->locks);
    if (FT_LIKELY(at != NULL))
        memcpy(old, at, esize);
    else if (ft_tp->ops->get(ft_tp, p->slot, p->off + off, old, esize) != FT_OK)
        memset(old, 0, esize);
    int write = kind != FT_FETCH_NOOP && (kind != FT_FETCH_CAS || memcmp(old, compare, esize) == 0);
    if (write) {
        memcpy(new, operand, esize);
        if (kind == FT_FETCH_ADD && esize == 8) {
            uint64_t a, b;
            memcpy(&a, old, 8);
            memcpy(&b, operand, 8);
            a += b;
            memcpy(new, &a, 8);
        } else if (kind == FT_FETCH_ADD) {
            uint32_t a, b;
            FT_ASSERT(esize == 4);
            memcpy(&a, old, 4);
            memcpy(&b, operand, 4);
            a += b;
            memcpy(new, &a, 4);
        }
        note_undo(p->locks, off, old, (uint32_t)esize);
        if (at)
            memcpy(at, new, esize);
        else
            slow_put(p, off, new, esize);
    }
    leave(p->locks);
    memcpy(result, old, esize);
    return FT_OK;
}

enum ft_status ft_compare_and_swap(struct ft_win *w, int target, size_t off, const void *origin, const void *compare, void *result, size_t esize)
{
    return ft_fetch_word(w, target, off, FT_FETCH_CAS, esize, origin, compare, result);
}
