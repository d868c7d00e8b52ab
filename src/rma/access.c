/* SPDX-License-Identifier: BSD-3-Clause
 *
 * access.c - put, get, and combining operations. This is the hot path: no system call, no
 * allocation.
 *
 * A put is logged in the put log before it is copied. A get's data is in the home log before the
 * call returns. An atomic's result, its count (ACC), its stamp and the value it left are logged
 * inside its critical section (L1, L2, L4). At another node it is the same (R14; far_access.h). In
 * a replacement (ft_replay) puts of closed epochs are left out, results come from the home log, and
 * what is no longer there is done again (R1 to R3).
 */
#include <string.h>

#include "alog/homelog_replay.h"
#include "base/copy.h"
#include "base/failpoint.h"
#include "rma/dynamic.h"
#include "rma/far_access.h"
#include "rma/far_log.h"
#include "rma/gate.h"
#include "rma/rma_internal.h"
#include "transport/polled.h"

/* A long put is logged and copied piece by piece: the second step reads what the first brought into
 * the cache. */
#define LOG_PIECE (16u << 10)
/* The piece of an accumulate that neither logs nor undo record limit: others wait for some
 * microseconds. */
#define LONG_PIECE (64u << 10)

FT_STATIC(_Atomic uint32_t, nowhere);
FT_STATE(_Atomic uint32_t *, ft_rma_inside) = FT_AT(nowhere);

/* Usually one word, for which a function call takes longer than the copy. */
static inline void copy_small(void *to, const void *from, size_t n)
{
    if (FT_LIKELY(n == 8))
        memcpy(to, from, 8);
    else
        memcpy(to, from, n);
}

static inline int is_same(const void *a, const void *b, size_t n)
{
    return FT_LIKELY(n == 8) ? memcmp(a, b, 8) == 0 : memcmp(a, b, n) == 0;
}

static enum ft_status slow_put(struct ft_win *w, struct ft_winpart *p, size_t off, const void *buf,
                               size_t len)
{
    if (p->far)
        return ft_far_put(w, (int)(p - w->part), off, buf, len);
    return ft_transport->ops->put(ft_transport, p->slot, p->off + off, buf, len);
}

static enum ft_status slow_get(struct ft_win *w, struct ft_winpart *p, size_t off, void *buf,
                               size_t len)
{
    if (p->far)
        return ft_far_get(w, (int)(p - w->part), off, buf, len);
    return ft_transport->ops->get(ft_transport, p->slot, p->off + off, buf, len);
}

/* Returns the part to access, with ft_rma_inside set. It holds [off, off + len) unless that is
 * outside of the part. */
static inline struct ft_winpart *enter_part(struct ft_win *w, int target, size_t off, size_t len,
                                            enum ft_access_kind kind)
{
    for (;;) {
        struct ft_winpart *p = ft_winpart_for_access(w, target);
        if (FT_UNLIKELY(!ft_look_at(w, p, off, len)))
            continue;
        if (FT_LIKELY(ft_enter_gated(w, p, kind)))
            return p;
        ft_stand_back(w, p, kind);
    }
}

/* Ends an access, and clears ft_shadow. */
static inline void leave_part(void)
{
    ft_shadow = NULL;
    ft_leave_access();
}

static inline enum ft_status copy_to(struct ft_win *w, struct ft_winpart *p, size_t off,
                                     const void *buf, size_t len)
{
    if (FT_UNLIKELY(!p->base))
        return len ? slow_put(w, p, off, buf, len) : FT_OK;
    char *dst = ft_at(p, off);
    if (FT_UNLIKELY(ft_fp_armed[FT_FP_RMA_PUT_HALF])) {
        memcpy(dst, buf, len / 2);
        ft_failpoint(RMA_PUT_HALF);
        memcpy(dst + len / 2, (const char *)buf + len / 2, len - len / 2);
    } else {
        copy_small(dst, buf, len);
    }
    return FT_OK;
}

/* Writes to the put log, without a stamp. */
static inline void log_put(int rank, struct ft_win *w, size_t off, const char *buf, uint32_t n,
                           uint64_t lo)
{
    struct ft_act *a = ft_putlog_on ? ft_putlog_begin(rank, (uint32_t)w->id, off, lo, n) : NULL;
    if (FT_LIKELY(a != NULL)) {
        copy_small(a->data, buf, n);
        ft_putlog_publish(rank, a);
    }
}

/* Does both. A long piece goes in one pass: the source is read once, and the log, which is only
 * read after a loss, does not pass through the caches. A reader of the log waits until this process
 * is out of the access (L5), so the order of the two does not matter. */
static inline enum ft_status log_and_copy(int rank, struct ft_win *w, struct ft_winpart *p,
                                          size_t off, const char *buf, uint32_t n, uint64_t lo)
{
    int once = n >= FT_COPY_PAST_FROM && p->base && FT_LIKELY(!ft_fp_armed[FT_FP_RMA_PUT_HALF]);
    struct ft_act *a =
        once && ft_putlog_on ? ft_putlog_begin(rank, (uint32_t)w->id, off, lo, n) : NULL;
    if (a) {
        ft_copy_past_and_to(a->data, ft_at(p, off), buf, n);
        ft_putlog_publish(rank, a);
        return FT_OK;
    }
    log_put(rank, w, off, buf, n, lo);
    return copy_to(w, p, off, buf, n);
}

static uint32_t piece(size_t left) { return left < LOG_PIECE ? (uint32_t)left : LOG_PIECE; }

static enum ft_status put_logged(struct ft_win *w, struct ft_winpart *p, int target, size_t off,
                                 const char *buf, size_t len)
{
    enum ft_status st = FT_OK;
    if (FT_UNLIKELY(p->far))
        return copy_to(w, p, off, buf, len);
    uint64_t lo = ft_lo(p);
    ft_mark_dirty(w, p, target);
    for (size_t at = 0; at < len && st == FT_OK;) {
        uint32_t n = piece(len - at);
        st = log_and_copy(w->ctx.world[target], w, p, off + at, buf + at, n, lo);
        at += n;
    }
    return st;
}

/* R1. Returns 1 if the put's epoch was closed, so the put is not sent. The put log is rebuilt, and
 * gets its stamps from the epoch's note in the home log. */
static int put_again(struct ft_win *w, int target, size_t off, const char *buf, size_t len)
{
    if (ft_replay == FT_PRELUDE)
        ft_replay_drain(); /* does not return */
    if (target == w->ctx.rank || !ft_homelog_closed_ahead((uint32_t)w->id, target))
        return 0;
    if (w->lock_all && w->part[target].held == FT_HELD_NONE)
        ft_lock_shared_late(w, target); /* was noted in the lost process */
    ft_mark_dirty(w, &w->part[target], target);
    for (size_t at = 0; at < len; at += LOG_PIECE)
        log_put(w->ctx.world[target], w, off + at, buf + at, piece(len - at), 0);
    return 1;
}

enum ft_status ft_put(struct ft_win *w, int target, size_t off, const void *buf, size_t len)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    if (FT_UNLIKELY(ft_replay != FT_LIVE) && put_again(w, target, off, buf, len))
        return FT_OK;
    struct ft_winpart *p = enter_part(w, target, off, len, FT_ACCESS_PUT);
    enum ft_status st = FT_ERR_RANGE;
    if (FT_LIKELY(!ft_outside(p, off, len))) {
        ft_note_access(w, p, target);
        ft_failpoint(RMA_PUT_BEFORE);
        if (ft_putlog_on && target != w->ctx.rank)
            st = put_logged(w, p, target, off, buf, len);
        else
            st = copy_to(w, p, off, buf, len);
        if (FT_UNLIKELY(ft_shadow != NULL)) {
            ft_failpoint(SNAPSHOT_SHADOW);
            memcpy(ft_shadow + off, buf, len);
        }
        ft_failpoint(RMA_PUT_AFTER);
    }
    leave_part();
    return st;
}

/* R3: answers as much of a get as the home log has; returns how much. */
static size_t get_again(struct ft_win *w, int target, size_t off, char *buf, size_t len)
{
    if (ft_replay == FT_PRELUDE)
        ft_replay_drain(); /* does not return */
    if (w->lock_all && w->part[target].held == FT_HELD_NONE)
        ft_lock_shared_late(w, target);
    size_t at = 0;
    while (at < len) {
        uint32_t n = piece(len - at);
        const struct ft_act *a =
            ft_homelog_expect(FT_ACT_GET, (uint32_t)w->id, target, off + at, n);
        if (!a)
            break;
        memcpy(buf + at, a->data, n);
        at += n;
    }
    return at;
}

static void log_get(struct ft_win *w, int target, size_t off, const char *buf, size_t len)
{
    if (ft_level < FT_LOG_ALL) {
        ft_homelog_incomplete(FT_UNKEPT_GETS);
        return;
    }
    for (size_t at = 0; at < len;) {
        uint32_t n = piece(len - at);
        ft_homelog_note(FT_ACT_GET, (uint32_t)w->id, target, off + at, buf + at, n);
        at += n;
    }
}

enum ft_status ft_get(struct ft_win *w, int target, size_t off, void *buf, size_t len)
{
    size_t known = 0;
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    if (FT_UNLIKELY(ft_replay != FT_LIVE) && target != w->ctx.rank) {
        known = get_again(w, target, off, buf, len);
        if (known == len && len)
            return FT_OK;
    }
    struct ft_winpart *p = enter_part(w, target, off, len, FT_ACCESS_GET);
    enum ft_status st = FT_OK;
    if (FT_UNLIKELY(ft_outside(p, off, len))) {
        leave_part();
        return FT_ERR_RANGE;
    }
    ft_note_access(w, p, target);
    char *to = (char *)buf + known;
    uint64_t was = 0, is = 1; /* of a flag for which the program waits */
    if (len == sizeof was)
        memcpy(&was, buf, sizeof was);
    if (FT_UNLIKELY(ft_shadow != NULL))
        memcpy(to, ft_shadow + off + known, len - known);
    else if (FT_LIKELY(p->base != NULL))
        copy_small(to, ft_at(p, off + known), len - known);
    else if (len)
        st = slow_get(w, p, off + known, to, len - known);
    leave_part();
    if (FT_UNLIKELY(st != FT_OK)) /* nothing was learnt */
        return st == FT_ERR_AGAIN ? ft_get(w, target, off, buf, len) : st;
    if (target != w->ctx.rank && ft_homelog_logs())
        log_get(w, target, off + known, to, len - known);
    ft_note_acquired(); /* from the own window, too: others put there */
    ft_failpoint(RMA_GET);
    if (len == sizeof is) /* the copy here: so the target's line is read only once */
        memcpy(&is, buf, sizeof is);
    if (FT_UNLIKELY(was == is))
        ft_polled(1);
    return st;
}

void *ft_win_address(struct ft_win *w, int target, size_t off, size_t len)
{
    if ((ft_rma_logs() || ft_replay != FT_LIVE || ft_cut_possible) && target != w->ctx.rank)
        /* it is to be logged; or to pass the gate, should a snapshot begin meanwhile */
        return NULL;
    struct ft_winpart *p = ft_winpart_for_access(w, target);
    if (!ft_look_at(w, p, off, len) || ft_outside(p, off, len) || !p->base)
        return NULL;
    ft_note_access(w, p, target);
    return ft_at(p, off);
}

/* --- the critical section of combining operations --- */

/* Returns 0 if another process carries the target now. */
static int enter_slowly(struct ft_winpart *p, struct ft_win_locks *l, uint64_t me)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    for (;;) {
        uint64_t free = 0;
        if (atomic_load_explicit(&l->crit, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&l->crit, &free, me, memory_order_acquire,
                                                  memory_order_relaxed))
            break;
        /* the owner's agent evicts a holder that died; the owner's own death ends this wait */
        ft_wait(&w);
        if (!p->known) {
            ft_wait_end(&w);
            return 0;
        }
    }
    ft_wait_end(&w);
    return 1;
}

/* Returns the part with its critical section held and ft_rma_inside set. NULL: its owner is on
 * another node, and nothing was done. */
static inline __attribute__((always_inline)) struct ft_winpart *
enter(struct ft_win *w, int target, size_t off, size_t len, enum ft_access_kind kind)
{
    uint64_t me = (uint64_t)ft_transport->self + 1;
    for (;;) {
        struct ft_winpart *p = ft_winpart_for_access(w, target);
        if (FT_UNLIKELY(!ft_look_at(w, p, off, len)))
            continue;
        struct ft_win_locks *l = p->locks;
        uint64_t free = 0;
        int got = atomic_compare_exchange_strong_explicit(&l->crit, &free, me, memory_order_acquire,
                                                          memory_order_relaxed);
        if (FT_UNLIKELY(!got)) {
            if (p->far)
                return NULL;
            if (!enter_slowly(p, l, me))
                continue;
        }
        int in = ft_enter_gated(w, p, kind);
        int other = in && FT_UNLIKELY(ft_shadow != NULL) && !ft_outside(p, off, len) &&
                    !ft_gate_same(p->base ? ft_at(p, off) : NULL, off, len);
        if (FT_LIKELY(in && !other)) {
            ft_failpoint(RMA_ATOMIC_LOCKED);
            return p;
        }
        atomic_store_explicit(&l->crit, 0, memory_order_release);
        ft_stand_back(w, p, kind);
        if (other)
            ft_gate_refuse(p);
    }
}

static inline void leave(struct ft_win_locks *l)
{
    ft_failpoint(RMA_ATOMIC_APPLIED);
    atomic_store_explicit(&l->undo_len, 0, memory_order_release);
    atomic_store_explicit(&l->crit, 0, memory_order_release);
    leave_part();
    ft_failpoint(RMA_ATOMIC_DONE);
}

/* Without records a death of this process takes everybody back, and all windows with them, unless
 * survivors keep their memory. Then a long piece gets no undo record: until the rollback others see
 * only complete elements, in either state. A single element is put back in any case, because it
 * might be torn, and so is a part that is not mapped, whose bytes the transport copies in any
 * order. */
static inline int all_go_back(void) { return !ft_rma_logs() && !ft_told; }
static inline int needs_undo(const struct ft_winpart *p, size_t len)
{
    return len <= sizeof p->locks->undo_small || !p->base || !all_go_back();
}

static inline void note_undo(struct ft_win_locks *l, uint64_t off, const void *old, uint32_t len,
                             struct ft_hole hole, uint32_t rank, uint64_t acc)
{
    copy_small(len <= sizeof l->undo_small ? l->undo_small : l->undo_large, old, len);
    l->undo_off = off;
    l->undo_rank = rank;
    l->undo_hole = hole;
    l->undo_acc = acc + 1;
    atomic_store_explicit(&l->undo_len, len, memory_order_release);
    /* Stored before the change. The record is read only when this process is dead. A processor does
     * not lose a store of an instruction that it has completed, nor keep one of a later
     * instruction. So only the compiler could change the order. */
    atomic_signal_fence(memory_order_seq_cst);
}

/* A combining operation that was done: where, how much, and what to log of it. */
struct combined {
    struct ft_win *w;
    struct ft_winpart *p;
    int target;
    size_t off;
    uint32_t len;
    struct ft_hole hole;
    const void *result;             /* old contents; NULL: not wanted */
    const void *left;               /* new contents; NULL: nothing was changed */
    uint64_t lo;                    /* calls(target), read before the change */
    const struct ft_far_told *told; /* NULL: the target is on this node */
};

/* lo of a change that follows. [It is read after the change: f has seen that in its memory, and has
 * made further calls. f' would look for it for ever, before the record may be applied.] */
static inline uint64_t lo_before(const struct ft_winpart *p)
{
    return ft_rma_logs() ? atomic_load_explicit(p->calls, memory_order_acquire) : 0;
}

static void log_left(struct ft_win *w, int rank, size_t off, const void *left, uint32_t len,
                     struct ft_hole hole, uint64_t lo, uint64_t stamp)
{
    struct ft_act *a = ft_putlog_on ? ft_putlog_begin(rank, (uint32_t)w->id, off, lo, len) : NULL;
    if (!a)
        return;
    copy_small(a->data, left, len);
    a->hole = hole;
    atomic_store_explicit(&a->stamp, stamp, memory_order_relaxed);
    ft_putlog_publish(rank, a);
}

/* Inside the critical section, after the change: logs it with T, put log, home log and ACC. At
 * another node before the change, which is written there, with ACC, when all this is logged. [The
 * gateway combines at once, p dies before its note: p' does it again.] */
static void note_combined(const struct combined *c)
{
    int self = c->target == c->w->ctx.rank, rank = c->w->ctx.world[c->target];
    uint32_t rlen = c->result ? c->len : 0,
             llen = c->left ? c->len + (uint32_t)sizeof(uint64_t) : 0;
    uint64_t t = 0, n = 0, lo = c->lo;
    if (c->left) {
        n = ft_acc(rank) + 1;
        ft_set_acc(rank, n);
    }
    if (c->left && ft_rma_logs()) { /* otherwise there is no record that a stamp could order */
        if (FT_UNLIKELY(c->told != NULL)) {
            lo = c->told->calls;
            t = c->told->stamp;
        } else {
            t = 1 + atomic_fetch_add(&c->p->ctl->stamp, 1);
        }
        if (!self)
            log_left(c->w, rank, c->off, c->left, c->len, c->hole, lo, t);
    }
    struct ft_act *a =
        ft_homelog_begin(FT_ACT_ATOMIC, (uint32_t)c->w->id, c->target, c->off, rlen + llen);
    if (a) {
        a->count = n;
        a->hole = c->hole;
        a->flags = (uint8_t)((rlen ? FT_ACT_RESULT : 0) | (llen ? FT_ACT_LEFT : 0) |
                             (self ? FT_ACT_SELF : 0));
        atomic_store_explicit(&a->stamp, t, memory_order_relaxed);
        if (rlen)
            copy_small(a->data, c->result, rlen);
        if (llen) {
            memcpy(a->data + rlen, &lo, sizeof lo);
            copy_small(a->data + rlen + sizeof lo, c->left, c->len);
        }
        ft_homelog_publish(a);
    }
    if (c->left && !c->told)
        atomic_store_explicit(&c->p->ctl->peer[ft_rma_me].acc, n, memory_order_release);
    ft_note_acquired();
}

/* sign 1: new = old + operand; -1: new = old - operand. */
static inline void add(char *new, const char *old, const void *operand, size_t esize, int sign)
{
    if (esize == 8) {
        uint64_t a, b;
        memcpy(&a, old, 8);
        memcpy(&b, operand, 8);
        a += (uint64_t)sign * b;
        memcpy(new, &a, 8);
    } else {
        uint32_t a, b;
        FT_ASSERT(esize == 4);
        memcpy(&a, old, 4);
        memcpy(&b, operand, 4);
        a += (uint32_t)sign * b;
        memcpy(new, &a, 4);
    }
}

/* What a combining operation does: to one word (kind), or to count elements (op; NULL: replace
 * them). */
struct operation {
    enum { WORD, ELEMENTS } of;
    enum ft_fetch_kind kind;
    const void *origin, *compare; /* origin NULL: nothing is changed */
    const struct ft_reducer *op;
    size_t count, esize;
};

/* Returns 0 if nothing changes. */
static inline int new_word(char *new, enum ft_fetch_kind kind, size_t esize, const char *old,
                           const void *operand, const void *compare)
{
    if (kind == FT_FETCH_NOOP || (kind == FT_FETCH_CAS && !is_same(old, compare, esize)))
        return 0;
    if (kind == FT_FETCH_ADD)
        add(new, old, operand, esize, 1);
    else
        copy_small(new, operand, esize);
    return 1;
}

/* Bytes that hold no value may differ between a replacement and the lost process. [A long double is
 * written as 10 bytes of 16.] left: the bytes to compare, in which these become zero. */
static int same_values(const struct operation *o, char *left, const char *was)
{
    FT_ALIGNED_LINE char then[FT_PIECE];
    size_t len = o->count * o->esize;
    if (o->of == WORD || !o->op || !o->op->clear)
        return 0;
    memcpy(then, was, len);
    o->op->clear(o->op->arg, left, o->count);
    o->op->clear(o->op->arg, then, o->count);
    return memcmp(left, then, len) == 0;
}

/* R0. Compares what the operation would leave, given what the lost process had found, with what
 * that process left; as far as the record has what was found, or it does not matter. */
static void compare_left(const struct ft_act *a, uint32_t win, int target, size_t off,
                         const struct operation *o)
{
    FT_ALIGNED_LINE char left[FT_PIECE];
    size_t len = o->count * o->esize, now = len;
    int found = (a->flags & FT_ACT_RESULT) != 0;
    const char *was = a->data + (found ? len : 0) + sizeof(uint64_t);
    if (o->of == WORD) {
        now = new_word(left, o->kind, o->esize, a->data, o->origin, o->compare) ? len : 0;
    } else if (!o->origin) {
        now = 0;
    } else if (!o->op || !o->op->apply) {
        memcpy(left, o->origin, len);
    } else if (found) {
        memcpy(left, a->data, len);
        o->op->apply(o->op->arg, o->origin, left, o->count);
    } else {
        return;
    }
    size_t then = a->flags & FT_ACT_LEFT ? len : 0;
    struct ft_mismatch mismatch = {0};
    if (now == then && (memcmp(left, was, now) == 0 || same_values(o, left, was)))
        return;
    if (o->of == WORD && o->kind == FT_FETCH_ADD) {
        char added[8];
        add(added, was, a->data, o->esize, -1);
        ft_mismatch_data(&mismatch, "operand", o->origin, now, added, then);
    } else {
        ft_mismatch_data(&mismatch, "left behind", left, now, was, then);
    }
    ft_replay_diverged(a, FT_ACT_ATOMIC, win, target, off, &mismatch);
}

/* R2. Returns 1 if the operation was applied by the lost process; `result` is what it returned. */
static int combine_again(struct ft_win *w, int target, size_t off, void *result,
                         const struct operation *o)
{
    int self = target == w->ctx.rank, rank = w->ctx.world[target];
    uint32_t len = (uint32_t)(o->count * o->esize);
    if (ft_replay == FT_PRELUDE)
        ft_replay_drain(); /* does not return */
    if (w->lock_all && w->part[target].held == FT_HELD_NONE)
        ft_lock_shared_late(w, target);
    const struct ft_act *a = ft_homelog_expect(FT_ACT_ATOMIC, (uint32_t)w->id, target, off, -1);
    if (!a)
        return 0;
    uint32_t rlen = a->flags & FT_ACT_RESULT ? len : 0,
             llen = a->flags & FT_ACT_LEFT ? len + (uint32_t)sizeof(uint64_t) : 0;
    if ((rlen != 0) != (result != NULL) || a->bytes != rlen + llen) {
        struct ft_mismatch mismatch = {0};
        ft_mismatch_number(&mismatch, "bytes with the result", (result ? len : 0) + llen, a->bytes);
        ft_replay_diverged(a, FT_ACT_ATOMIC, (uint32_t)w->id, target, off, &mismatch);
    }
    if (a->count && !self) {
        /* of the process: the window itself may be gone there */
        const struct ft_ctl *ctl = ft_far_log_ctl(rank);
        if (!ctl ||
            a->count > atomic_load_explicit(&ctl->peer[ft_rma_me].acc, memory_order_acquire)) {
            /* the lost process died before the operation counted, and the target has undone it */
            ft_homelog_discard();
            return 0;
        }
    }
    compare_left(a, (uint32_t)w->id, target, off, o);
    if (a->count && !self) {
        uint64_t lo;
        memcpy(&lo, a->data + rlen, sizeof lo);
        log_left(w, rank, off, a->data + rlen + sizeof lo, len, a->hole, lo,
                 atomic_load_explicit(&a->stamp, memory_order_relaxed));
    }
    if (a->count)
        ft_set_acc(rank, a->count);
    if (result)
        memcpy(result, a->data, len);
    /* what it left in the own window comes in the order of stamps, with the operations of others */
    return 1;
}

/* One piece, or a word, at another node. */
static enum ft_status combine_far(struct ft_win *w, int target, size_t off, void *result,
                                  const struct operation *o)
{
    FT_ALIGNED_LINE char old[FT_PIECE], left[FT_PIECE];
    size_t len = o->count * o->esize;
    int change = o->of == WORD ? o->kind != FT_FETCH_NOOP : o->origin != NULL, changed = change;
    struct ft_far_told told;
    enum ft_status st = ft_far_look(w, target, off, len, change, old, &told);
    if (FT_UNLIKELY(st != FT_OK)) {
        if (st != FT_ERR_AGAIN)
            ft_leave_access();
        return st;
    }
    ft_failpoint(RMA_ATOMIC_LOCKED);
    if (o->of == WORD) {
        changed = new_word(left, o->kind, o->esize, old, o->origin, o->compare);
    } else if (o->origin) {
        memcpy(left, o->op && o->op->apply ? old : o->origin, len);
        if (o->op && o->op->apply)
            o->op->apply(o->op->arg, o->origin, left, o->count);
    }
    note_combined(&(struct combined){.w = w,
                                     .p = &w->part[target],
                                     .target = target,
                                     .off = off,
                                     .len = (uint32_t)len,
                                     .hole = ft_hole_of(o->op),
                                     .result = result ? old : NULL,
                                     .left = changed ? left : NULL,
                                     .told = &told});
    ft_failpoint(RMA_ATOMIC_APPLIED);
    if (change)
        st = ft_far_leave(w, target, off, changed ? left : NULL, len, ft_hole_of(o->op),
                          changed ? ft_acc(w->ctx.world[target]) : 0);
    ft_leave_access();
    if (result)
        memcpy(result, old, len);
    ft_failpoint(RMA_ATOMIC_DONE);
    ft_polled(!changed || memcmp(old, left, len) == 0);
    return st;
}

/* Does one piece, with the critical section held. A part that is not mapped, and pairs with a hole,
 * change in buf, and are written from there. */
static enum ft_status combine_piece(struct ft_win *w, struct ft_winpart *p, int target, size_t off,
                                    const char *origin, char *result, size_t count, size_t esize,
                                    const struct ft_reducer *op)
{
    char buf[FT_PIECE];
    size_t len = count * esize;
    struct ft_hole hole = ft_hole_of(op);
    char *there = p->base ? ft_at(p, off) : NULL, *at = there;
    enum ft_status st = there ? FT_OK : slow_get(w, p, off, buf, len);
    if (FT_UNLIKELY(st != FT_OK))
        return st;
    if (FT_UNLIKELY(!there || hole.stride))
        at = there ? memcpy(buf, there, len) : buf;
    if (result)
        memcpy(result, at, len);
    struct combined c = {.w = w,
                         .p = p,
                         .target = target,
                         .off = off,
                         .len = (uint32_t)len,
                         .hole = hole,
                         .result = result,
                         .left = origin ? at : NULL,
                         .lo = lo_before(p)};
    if (origin) {
        if (needs_undo(p, len))
            note_undo(p->locks, off, at, (uint32_t)len, hole, (uint32_t)ft_rma_me,
                      ft_acc(w->ctx.world[target]));
        if (op && op->apply)
            op->apply(op->arg, origin, at, count);
        else
            memcpy(at, origin, len);
        for (size_t k = 0, n; FT_UNLIKELY(at == buf) && (n = ft_hole_data(hole, len, &k)); k += n)
            if ((st = copy_to(w, p, off + k, buf + k, n)) != FT_OK)
                return st;
    }
    note_combined(&c);
    return FT_OK;
}

enum ft_status ft_accumulate(struct ft_win *w, int target, size_t off, const void *origin,
                             void *result, size_t count, size_t esize, const struct ft_reducer *op)
{
    FT_ASSERT(esize > 0 && esize <= FT_PIECE);
    const struct ft_hole hole = ft_hole_of(op);
    size_t n;
    enum ft_status st = FT_OK;
    for (size_t i = 0; i < count && st == FT_OK; i += n) {
        size_t at = i * esize;
        n = ft_min_u64(count - i, FT_PIECE / esize);
        char *res = result ? (char *)result + at : NULL;
        const char *from = origin ? (const char *)origin + at : NULL;
        const struct operation o = {
            .of = ELEMENTS, .origin = from, .op = op, .count = n, .esize = esize};
        if (FT_UNLIKELY(ft_replay != FT_LIVE) && combine_again(w, target, off + at, res, &o))
            continue;
        struct ft_winpart *p =
            enter(w, target, off, count * esize, origin ? FT_ACCESS_ATOMIC : FT_ACCESS_GET);
        if (FT_UNLIKELY(!p)) {
            if (!ft_rma_logs()) {
                st = ft_far_accumulate(w, target, off + at, from, res, count - i, esize, op);
                if (FT_LIKELY(st != FT_ERR_AGAIN))
                    return st;
            } else if (ft_outside(&w->part[target], off, count * esize)) {
                return FT_ERR_RANGE;
            } else {
                st = combine_far(w, target, off + at, res, &o);
            }
            if (FT_UNLIKELY(st == FT_ERR_AGAIN)) { /* this piece, the near way */
                n = 0;
                st = FT_OK;
            }
            continue;
        }
        if (FT_LIKELY(!ft_outside(p, off, count * esize))) {
            ft_note_access(w, p, target);
            if (p->base && all_go_back())
                n = ft_min_u64(count - i, (hole.stride ? FT_PIECE : LONG_PIECE) / esize);
            st = combine_piece(w, p, target, off + at, from, res, n, esize, op);
            if (FT_UNLIKELY(ft_shadow != NULL) && st == FT_OK)
                ft_hole_copy(ft_shadow + off + at, ft_at(p, off + at), n * esize, hole);
        } else {
            st = FT_ERR_RANGE;
        }
        leave(p->locks);
    }
    ft_polled(!origin);
    return st;
}

/* Whether a change of a word needs an undo record, or a log record, in case this process dies.
 * Without records all go back, and what one instruction writes is never torn. */
static inline int is_noted(const char *at, size_t esize)
{
    return ft_rma_logs() || !at || esize > sizeof(uint64_t) || (uintptr_t)at % esize != 0;
}

enum ft_status ft_fetch_word(struct ft_win *w, int target, size_t off, enum ft_fetch_kind kind,
                             size_t esize, const void *operand, const void *compare, void *result)
{
    FT_ASSERT(esize <= 16);
    const struct operation o = {.of = WORD,
                                .kind = kind,
                                .origin = operand,
                                .compare = compare,
                                .count = 1,
                                .esize = esize};
    if (FT_UNLIKELY(ft_replay != FT_LIVE) && combine_again(w, target, off, result, &o))
        return FT_OK;
    struct ft_winpart *p =
        enter(w, target, off, esize, kind == FT_FETCH_NOOP ? FT_ACCESS_GET : FT_ACCESS_ATOMIC);
    enum ft_status st = FT_OK;
    if (FT_UNLIKELY(!p)) {
        st = ft_rma_logs()
                 ? combine_far(w, target, off, result, &o)
                 : ft_far_fetch_word(w, target, off, kind, esize, operand, compare, result);
        return st == FT_ERR_AGAIN
                   ? ft_fetch_word(w, target, off, kind, esize, operand, compare, result)
                   : st;
    }
    char old[16], new[16], *at = NULL;
    if (FT_UNLIKELY(ft_outside(p, off, esize))) {
        leave(p->locks);
        return FT_ERR_RANGE;
    }
    ft_note_access(w, p, target);
    if (FT_LIKELY(p->base != NULL))
        at = ft_at(p, off);
    if (FT_LIKELY(at != NULL))
        copy_small(old, at, esize);
    else
        st = ft_transport->ops->get(ft_transport, p->slot, p->off + off, old, esize);
    if (FT_UNLIKELY(st != FT_OK)) { /* not reached: nothing was done */
        leave(p->locks);
        return st;
    }
    int write = new_word(new, kind, esize, old, operand, compare), noted = is_noted(at, esize);
    uint64_t lo = noted ? lo_before(p) : 0;
    if (write) {
        if (noted)
            note_undo(p->locks, off, old, (uint32_t)esize, FT_NO_HOLE, (uint32_t)ft_rma_me,
                      ft_acc(w->ctx.world[target]));
        if (at)
            copy_small(at, new, esize);
        else
            st = slow_put(w, p, off, new, esize);
        if (FT_UNLIKELY(st != FT_OK)) {
            leave(p->locks);
            return st;
        }
        if (FT_UNLIKELY(ft_shadow != NULL))
            copy_small(ft_shadow + off, new, esize);
    }
    if (noted)
        note_combined(&(struct combined){.w = w,
                                         .p = p,
                                         .target = target,
                                         .off = off,
                                         .len = (uint32_t)esize,
                                         .result = old,
                                         .left = write ? new : NULL,
                                         .lo = lo});
    else
        ft_note_acquired();
    leave(p->locks);
    copy_small(result, old, esize);
    ft_polled(!write || is_same(old, new, esize));
    return FT_OK;
}

enum ft_status ft_compare_and_swap(struct ft_win *w, int target, size_t off, const void *origin,
                                   const void *compare, void *result, size_t esize)
{
    return ft_fetch_word(w, target, off, FT_FETCH_CAS, esize, origin, compare, result);
}
