/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sync.c - flushes, fences, and window locks that survive their holders.
 *
 * A lock is two words at the target: excl names the rank that holds it exclusively, shared[r] says
 * that rank r shares it. A rank that wants to share sets its shared word and then looks at excl; a
 * rank that wants it exclusively takes excl and then looks at shared[]. Both orders are full
 * fences, so one of the two sees the other. Locks belong to ranks: a replacement that repeats a
 * lock finds its rank's word set. A shared word alone proves nothing: its rank may not have looked
 * at excl yet, or it was interrupted then. If the rank asks again, it takes the word back while
 * another rank has excl. A word for which nobody asks again is freed when the replacement is live
 * (ft_free_left_over).
 *
 * The home log gets a note when a lock is granted, before it is released, and when an epoch is
 * closed. A replacement repeats none of these at the target (R5). The note of a release comes
 * first: [f releases, r takes the lock, f dies before its note: f' would free r's lock].
 */
#include <string.h>

#include "alog/homelog_replay.h"
#include "base/failpoint.h"
#include "base/near.h"
#include "rma/far_access.h"
#include "rma/far_log.h"
#include "rma/gate.h"
#include "rma/lock_now.h"
#include "rma/rma_internal.h"
#include "transport/polled.h"

static struct ft_winpart *part(struct ft_win *w, int target)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    return w->part[target].known ? &w->part[target] : ft_winpart_lookup(w, target);
}

void ft_count_held(struct ft_win *w, int target, int held)
{
    _Atomic uint32_t *n = &ft_transport->own->ctl->peer[w->ctx.world[target]].holds;
    int more = (held != FT_HELD_NONE) - (w->part[target].held != FT_HELD_NONE);
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + (uint32_t)more,
                          memory_order_relaxed);
}

/* --- epochs --- */

/* Returns 0, and has done nothing, if the target is on another node now. */
static int stamp_part(struct ft_win *w, int target)
{
    struct ft_winpart *p;
    for (;;) {
        p = part(w, target); /* of a process that is being recovered: waits until it is live */
        if (FT_UNLIKELY(p->far))
            return 0;
        if (FT_LIKELY(ft_enter_access()))
            break;
        ft_leave_access();
        ft_attend();
    }
    ft_putlog_stamp(w->ctx.world[target], (uint32_t)w->id, &p->ctl->stamp);
    ft_leave_access();
    return 1;
}

/* All of the epoch that is dirty gets stamps. A target may change its node meanwhile, in either
 * direction: it is then left to the next round. */
static void stamp_dirty(struct ft_win *w, int target)
{
    int moved;
    do {
        int left = 0;
        moved = 0;
        if (FT_UNLIKELY(ft_transport->board->nodes.n))
            ft_far_stamp(w, target);
        for (int i = 0; i < w->ndirty; i++) {
            int t = w->dirty[i], meant = target < 0 || t == target;
            if (meant && stamp_part(w, t)) {
                w->part[t].dirty = 0;
                continue;
            }
            moved |= meant;
            w->dirty[left++] = t;
        }
        w->ndirty = left;
    } while (FT_UNLIKELY(moved));
}

/* Of an epoch that the lost process had closed. */
static void clean_dirty(struct ft_win *w, int target)
{
    int left = 0;
    for (int i = 0; i < w->ndirty; i++) {
        int t = w->dirty[i];
        if (target < 0 || t == target)
            w->part[t].dirty = 0;
        else
            w->dirty[left++] = t;
    }
    w->ndirty = left;
}

/* R0. The puts of an epoch differ. The target is named as a rank of the window. */
static void puts_differ(const struct ft_win *w, const struct ft_putlog_differs *d)
{
    int target = 0;
    while (target < w->ctx.size && w->ctx.world[target] != d->rank)
        target++;
    ft_replay_diverged(NULL, d->one ? FT_ACT_PUT : FT_ACT_CLOSE, (uint32_t)w->id, target, d->off,
                       &d->mismatch);
}

/* One put, flushed at once, is what many programs do. Then the fields of the action hold its
 * note. */
static void note_one(struct ft_win *w, int target, const struct ft_putlog_one *one)
{
    int both = FT_UNLIKELY(ft_check_data);
    struct ft_act *a = ft_homelog_begin(FT_ACT_CLOSE, (uint32_t)w->id, target, 0, both ? 16 : 8);
    if (!a)
        return;
    a->flags = FT_ACT_ONE;
    a->count = one->lo;
    atomic_store_explicit(&a->stamp, one->stamp, memory_order_relaxed);
    memcpy(a->data, &one->hash[0], 8);
    if (both)
        memcpy(a->data + 8, &one->hash[1], 8);
    ft_homelog_publish(a);
}

static void note_epoch(struct ft_win *w, int target)
{
    const struct ft_putlog_one *one = target >= 0 ? ft_putlog_note_one() : NULL;
    if (one) {
        note_one(w, target, one);
        return;
    }
    uint32_t bytes;
    const char *note = ft_putlog_note(&bytes);
    if (bytes <= FT_ACT_MAX)
        ft_homelog_note(FT_ACT_CLOSE, (uint32_t)w->id, target, 0, note, bytes);
    else
        ft_homelog_incomplete(FT_UNKEPT_LONG);
}

static void stamp_again(struct ft_win *w, const struct ft_act *a, int target)
{
    struct ft_putlog_differs d = {0};
    char of_one[FT_PUTLOG_NOTE_OF_ONE];
    const char *note = a->data;
    uint32_t bytes = a->bytes;
    if (a->flags & FT_ACT_ONE) {
        struct ft_putlog_one one = {.stamp = atomic_load_explicit(&a->stamp, memory_order_relaxed),
                                    .lo = a->count};
        memcpy(one.hash, a->data, bytes < sizeof one.hash ? bytes : sizeof one.hash);
        bytes = ft_putlog_note_of_one(w->ctx.world[target], &one, of_one);
        note = of_one;
    }
    if (!ft_putlog_stamp_again((uint32_t)w->id, note, bytes, &d))
        puts_differ(w, &d);
}

void ft_close_epoch(struct ft_win *w, int target)
{
    if (FT_UNLIKELY(w->asked_far))
        ft_far_await(w, target);
    if (w->ndirty == 0 || (target >= 0 && !w->part[target].dirty))
        return;
    const struct ft_act *again =
        ft_replay == FT_REPLAY ? ft_homelog_expect(FT_ACT_CLOSE, (uint32_t)w->id, target, 0, -1)
                               : NULL;
    ft_putlog_note_begin();
    if (again) {
        clean_dirty(w, target);
        stamp_again(w, again, target);
        return;
    }
    stamp_dirty(w, target);
    ft_failpoint(LOG_STAMPED);
    note_epoch(w, target);
}

/* --- locks --- */

#define CLAIMS_AFTER 64 /* polls */

/* Ranks that come again and again would always be faster than one that looks only from time to
 * time. So a rank that has waited for a while sets `claimant`, and the others stand back until it
 * has the lock, or for so long that it must be gone. */
static int my_turn(struct ft_win_locks *l, uint64_t me, uint32_t polls)
{
    uint64_t who = atomic_load_explicit(&l->claimant, memory_order_relaxed);
    if (FT_LIKELY(who == 0)) {
        if (FT_UNLIKELY(polls >= CLAIMS_AFTER))
            atomic_compare_exchange_strong(&l->claimant, &who, me);
        return 1;
    }
    if (who == me)
        return 1;
    if (polls % (ft_wait_spin() + 1100) !=
        ft_wait_spin() + 1099) /* the last of these polls were sleeps */
        return 0;
    atomic_compare_exchange_strong(&l->claimant, &who, 0);
    return 1;
}

static void drop_claim(struct ft_win_locks *l, uint64_t me)
{
    if (FT_UNLIKELY(atomic_load_explicit(&l->claimant, memory_order_relaxed) == me))
        atomic_store_explicit(&l->claimant, 0, memory_order_relaxed);
}

/* One attempt at the lock of a part on this node. 1: it has it. A word that it has taken stays for
 * the next attempt. */
static inline int try_shared(struct ft_win_locks *l, const struct ft_ctx *ctx, uint32_t polls)
{
    uint64_t me = (uint64_t)ctx->rank + 1,
             excl = atomic_load_explicit(&l->excl, memory_order_relaxed);
    _Atomic uint8_t *mine = &l->shared[ctx->rank];
    if (excl == me || (my_turn(l, me, polls) && excl == 0)) {
        atomic_store_explicit(mine, 1, memory_order_seq_cst);
        ft_failpoint(RMA_LOCK_WORD);
        excl = atomic_load_explicit(&l->excl, memory_order_seq_cst);
        if (FT_LIKELY(excl == 0 || excl == me)) {
            drop_claim(l, me);
            return 1;
        }
    }
    /* [It took the word, heard of a loss, another rank took excl: each would wait for the other.]
     */
    if (excl != 0 && atomic_load_explicit(mine, memory_order_relaxed))
        atomic_store_explicit(mine, 0, memory_order_release);
    return 0;
}

static inline int try_exclusive(struct ft_win_locks *l, const struct ft_ctx *ctx, uint32_t polls)
{
    uint64_t me = (uint64_t)ctx->rank + 1, was = 0;
    /* It may have excl since the attempt before, or since its lost carrier took it. Then the
     * claimant waits for its release. */
    if (atomic_load_explicit(&l->excl, memory_order_acquire) != me) {
        if (!my_turn(l, me, polls) || !atomic_compare_exchange_strong(&l->excl, &was, me))
            return 0;
        ft_failpoint(RMA_LOCK_WORD);
    }
    drop_claim(l, me);
    for (int r = 0; r < ctx->size; r++)
        if (atomic_load_explicit(&l->shared[r], memory_order_seq_cst) && r != ctx->rank)
            return 0;
    return 1;
}

static inline int try_lock(struct ft_win *w, const struct ft_winpart *p, int exclusive,
                           uint32_t polls)
{
    return exclusive ? try_exclusive(p->locks, &w->ctx, polls)
                     : try_shared(p->locks, &w->ctx, polls);
}

/* One look at a lock that somebody else has. Messages go on meanwhile. [Its holder is in MPI_Ssend to
 * this process, which has posted the receive.] */
static void wait_once(struct ft_waiter *wait)
{
    if (ft_wait_messages)
        ft_wait_messages();
    ft_wait(wait);
}

/* These return 0 if another process carries the target now. */
static int wait_for_lock(struct ft_win *w, const struct ft_winpart *p, int exclusive)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    int has = 0;
    for (uint32_t polls = 1; p->known && !has; polls++) {
        wait_once(&wait);
        has = p->known && try_lock(w, p, exclusive, polls);
    }
    ft_wait_end(&wait);
    return has;
}

static int lock_near(struct ft_win *w, const struct ft_winpart *p, int exclusive)
{
    return FT_LIKELY(try_lock(w, p, exclusive, 0)) || wait_for_lock(w, p, exclusive);
}

static int lock_far(struct ft_win *w, const struct ft_winpart *p, int exclusive)
{
    struct ft_waiter wait = FT_WAITER_UNRUNG;
    while (p->known && !ft_far_lock(w, (int)(p - w->part), exclusive))
        wait_once(&wait);
    ft_wait_end(&wait);
    return p->known;
}

/* R5. Returns 1 if the lock was granted to the lost process; the word at the target is still
 * right. */
static int lock_again(struct ft_win *w, int target, int exclusive)
{
    if (ft_replay == FT_REPLAY &&
        !ft_homelog_expect(FT_ACT_LOCK, (uint32_t)w->id, target, (uint64_t)exclusive, 0)) {
        if (target == w->ctx.rank)
            ft_rebuild_locks(w);
        return 0;
    }
    if (target == w->ctx.rank) { /* the own words are new */
        struct ft_win_locks *l = part(w, target)->locks;
        if (exclusive)
            atomic_store(&l->excl, (uint64_t)w->ctx.rank + 1);
        else
            atomic_store(&l->shared[target], 1);
    }
    ft_note_held(
        w, target,
        /* before the image's safepoint: the call is repeated, and the image has its lock */
        exclusive);
    return 1;
}

static void take_lock(struct ft_win *w, int target, int exclusive)
{
    if (FT_UNLIKELY(ft_replay != FT_LIVE) && lock_again(w, target, exclusive))
        return;
    ft_gate_until_over(part(w, target));
    for (;;) {
        const struct ft_winpart *p = part(w, target);
        if (!(FT_UNLIKELY(p->far) ? lock_far(w, p, exclusive) : lock_near(w, p, exclusive)))
            continue;
        if (FT_LIKELY(ft_enter_access())) {
            ft_note_held(w, target, exclusive);
            ft_leave_access();
            break;
        }
        /* perhaps for the target's own loss: its next carrier must find out who holds what */
        ft_leave_access();
        ft_attend();
    }
    ft_note_acquired();
    if (ft_homelog_now.on)
        ft_homelog_note(FT_ACT_LOCK, (uint32_t)w->id, target, (uint64_t)exclusive, NULL, 0);
    ft_failpoint(RMA_LOCK_HELD);
}

void ft_win_lock(struct ft_win *w, int target, int exclusive)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    take_lock(w, target, exclusive);
}

static void release(struct ft_win *w, int target)
{
    int held = w->part[target].held;
    if (held == FT_HELD_NONE)
        return;
    ft_gate_until_over(&w->part[target]);
    ft_rma_exclusive_held -= held == FT_HELD_EXCL;
    int again = ft_replay == FT_REPLAY &&
                ft_homelog_expect(FT_ACT_UNLOCK, (uint32_t)w->id, target, 0, 0) != NULL;
    if (again && target != w->ctx.rank &&
        (ft_homelog_locked_ahead((uint32_t)w->id, target) || !ft_winpart_try(w, target))) {
        /* The word may stand for a lock that was taken after this one, or the window is gone
         * there. At another node its gateway sees that. */
        ft_set_held(w, target, FT_HELD_NONE);
        return;
    }
    if (!again && ft_homelog_now.on)
        ft_homelog_note(FT_ACT_UNLOCK, (uint32_t)w->id, target, 0, NULL, 0);
    for (;;) {
        struct ft_winpart *p = part(w, target);
        if (FT_LIKELY(ft_enter_access())) {
            if (FT_UNLIKELY(p->far))
                ft_far_unlock(w, target);
            else
                ft_free_words(w, p->locks, held);
            ft_set_held(w, target, FT_HELD_NONE);
            ft_leave_access();
            return;
        }
        ft_leave_access();
        ft_attend();
    }
}

void ft_win_unlock(struct ft_win *w, int target)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    ft_failpoint(RMA_UNLOCK);
    /* else the word is what follows the copies, and its release orders them */
    if (FT_UNLIKELY(w->ndirty || w->asked_far)) {
        atomic_thread_fence(memory_order_seq_cst);
        ft_close_epoch(w, target);
    }
    release(w, target);
}

void ft_lock_shared_late(struct ft_win *w, int target) { take_lock(w, target, 0); }

void ft_win_lock_all(struct ft_win *w)
{
    w->lock_all = 1; /* each target's lock is taken with the first access to it */
}

/* [Another rank has the own part exclusively, or one of a shared window, and this one stores there.]
 * All that is else accessed goes through a call, which takes the lock. */
void ft_win_lock_loads(struct ft_win *w)
{
    for (int t = 0; t < w->ctx.size; t++)
        if ((t == w->ctx.rank || w->block) && w->part[t].held == FT_HELD_NONE)
            take_lock(w, t, 0);
}

void ft_win_unlock_all(struct ft_win *w)
{
    ft_failpoint(RMA_UNLOCK);
    atomic_thread_fence(memory_order_seq_cst);
    ft_close_epoch(w, -1);
    w->lock_all = 0;
    for (int t = 0; t < w->ctx.size; t++)
        release(w, t);
}

/* What rank r of the window holds here, as it says itself. A window that was freed there, or that
 * is not made yet: it holds nothing. */
static int held_here(const struct ft_win *w, int r)
{
    int rank = w->ctx.world[r];
    if (!ft_board_near(ft_transport->board, ft_rma_slots[rank]))
        return ft_far_log_held(rank, w->id, w->ctx.rank);
    struct ft_win_locks *its = ft_locks_of(w, r);
    return its ? atomic_load_explicit(&ft_held_by_owner(its)[w->ctx.rank], memory_order_acquire)
               : FT_HELD_NONE;
}

/* Sets the words of the own part to what the others say that they hold. None of that can change
 * while this process is not live. */
void ft_rebuild_locks(struct ft_win *w)
{
    if (w->rebuilt)
        return;
    w->rebuilt = 1;
    struct ft_win_locks *own = ft_arena_ptr(ft_transport->own, w->locks_off);
    for (int r = 0; r < w->ctx.size; r++) {
        if (r == w->ctx.rank)
            continue;
        int held = held_here(w, r);
        if (held == FT_HELD_EXCL)
            atomic_store(&own->excl, (uint64_t)r + 1);
        else if (held == FT_HELD_SHARED)
            atomic_store(&own->shared[r], 1);
    }
}

/* [f takes a word and dies before it can note it; f', which hears of something earlier than f did,
 * does not lock at all.] */
void ft_free_left_over(struct ft_win *w)
{
    for (int t = 0; t < w->ctx.size; t++) {
        struct ft_win_locks *l = ft_locks_of(w, t);
        uint64_t me = (uint64_t)w->ctx.rank + 1;
        if (!l)
            continue;
        if (w->part[t].held != FT_HELD_EXCL)
            atomic_compare_exchange_strong(&l->excl, &me, 0);
        if (w->part[t].held != FT_HELD_SHARED &&
            atomic_load_explicit(&l->shared[w->ctx.rank], memory_order_relaxed))
            atomic_store_explicit(&l->shared[w->ctx.rank], 0, memory_order_release);
    }
}

void ft_win_flush(struct ft_win *w, int target)
{
    /* The copies are at the target already; nothing that follows may pass them. */
    atomic_thread_fence(memory_order_seq_cst);
    if (FT_UNLIKELY(w->asked_far))
        ft_far_await(w, target);
    if (w->ndirty && (target < 0 || w->part[target].dirty)) {
        ft_replay_settle();
        if (!ft_uncounted)
            ft_call_begin();
        if (FT_UNLIKELY(ft_replay == FT_REPLAY))
            ft_replay_drain();
        ft_close_epoch(w, target);
    }
    ft_failpoint(RMA_FLUSH);
}

void ft_win_flush_local(struct ft_win *w, int target)
{
    if (FT_UNLIKELY(w->asked_far))
        ft_far_await(w, target);
}

void ft_win_flush_all(struct ft_win *w) { ft_win_flush(w, -1); }

void ft_win_sync(struct ft_win *w)
{
    (void)w;
    atomic_thread_fence(memory_order_seq_cst);
    ft_note_acquired(); /* lo. [p polls its window for a flag of f's, and puts: f', which polls too,
                           would see all of p's puts at once] */
    ft_polled(1);
}

void ft_win_fence(struct ft_win *w)
{
    atomic_thread_fence(memory_order_seq_cst);
    ft_close_epoch(w, -1);
    ft_failpoint(RMA_FENCE);
    ft_gsync(&w->ctx);
}
