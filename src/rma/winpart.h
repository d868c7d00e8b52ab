/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winpart.h - a window's part: the words in its owner's arena that guard it, and what this process
 * knows of it.
 */
#ifndef FT_RMA_WINPART_H
#define FT_RMA_WINPART_H

#include "rma/windows.h"
#include "transport/ctl.h"

#define FT_PIECE 4096u /* bytes: a long accumulate goes in pieces: its undo record is bounded */

/* A region of a dynamic window: [addr, addr + bytes) of the owner's memory lies at off of its
 * arena. The table is sorted by address; empty regions come before others at the same address.
 * version is odd while the table changes (dynamic.c). */
struct ft_attached {
    _Atomic uint64_t addr, bytes, off;
};
struct ft_attached_head {
    _Atomic uint64_t version, table, n; /* table: offset */
};

/* The words of a part, in its owner's arena.
 *
 * crit guards combining operations. Its holder notes the old contents in the undo record, makes its
 * change, clears the record and leaves. If the holder dies, the owner's agent puts the old contents
 * back and frees the word (O2, D3). excl and shared[] are the locks of MPI_Win_lock. They are held
 * by ranks, so a replacement that repeats a lock finds it held by itself. */
struct ft_win_locks {
    FT_ALIGNED_LINE _Atomic uint64_t crit; /* 1 + slot of the process inside; 0: free */
    _Atomic uint32_t undo_len;             /* 0: nothing to undo */
    uint32_t nshared;
    uint64_t undo_off; /* offset in the part; an address if the window is dynamic */
    uint64_t undo_acc; /* 1 + ACC of undo_rank before the change */
    uint32_t undo_rank;
    struct ft_hole undo_hole; /* is not put back */
    char undo_small[16];
    FT_ALIGNED_LINE _Atomic uint64_t excl; /* 1 + rank (in the window) of the holder */
    /* 1 + rank of one that has waited long for excl. A hint: others let it go first */
    _Atomic uint64_t claimant;
    FT_ALIGNED_LINE struct ft_attached_head attached;
    FT_ALIGNED_LINE char undo_large[FT_PIECE];
    /* [size of the window's group], and zeroes up to a whole word. Then as many bytes again: what
     * the owner holds at each target (FT_HELD_*), for a replacement of the target. */
    _Atomic uint8_t shared[];
};
static inline size_t ft_shared_words(uint32_t ranks) { return (ranks + 7) / 8; }
static inline size_t ft_locks_bytes(uint32_t ranks)
{
    return sizeof(struct ft_win_locks) + 16 * ft_shared_words(ranks);
}
static inline _Atomic uint8_t *ft_held_by_owner(struct ft_win_locks *l)
{
    return l->shared + 8 * ft_shared_words(l->nshared);
}

/* What a far target's node says with an answer: calls(q), from before the access, and T. */
struct ft_far_told {
    uint64_t calls, stamp;
};

/* What this process knows of a target's part: bytes `from` to from + bytes of it. That is the
 * entire part (from 0); or, of a dynamic window, the memory around the last access, as it was
 * attached at `version`. */
struct ft_winpart {
    /* address of byte `from`; NULL: not looked up yet, or not mappable (then use the transport's
     * put and get) */
    char *base;
    int known, far;            /* far: its owner is on another node: far_access.h */
    uint64_t off, bytes, from; /* byte i of the part lies at off + i of the arena */
    struct ft_win_locks *locks;
    struct ft_ctl *ctl;
    int disp_unit;
    int slot;                      /* the slot in whose arena it lies */
    int lent;                      /* 1: that is not its owner's slot: block.c */
    int held, found;               /* FT_HELD_*: what this process holds, and what body found */
    int marked, dirty;             /* ft_rma_mark was called; there are puts in the open epoch */
    struct ft_far_told told;       /* for the stamp of an epoch that is being closed */
    const _Atomic uint64_t *calls; /* calls(target) */
    uint64_t lo, lo_at;            /* calls(target) as read last, and ft_acquired at that time */
    uint64_t version;              /* of the target's table of attached memory */
    struct ft_mapped_span *span;   /* the parts of it that are mapped, sorted */
    size_t nspans, cap_spans;
};
static inline int ft_outside(const struct ft_winpart *p, size_t off, size_t len)
{
    size_t rel = off - p->from;
    return rel > p->bytes || len > p->bytes - rel;
}
static inline char *ft_at(const struct ft_winpart *p, size_t off)
{
    return p->base + (off - p->from);
} /* base is not NULL */
enum { FT_HELD_NONE = 0, FT_HELD_SHARED, FT_HELD_EXCL };

/* How often this process acquired: after an acquire it must read calls(q) again (lo, L1). Received
 * messages count, too; reading their sequence number was an acquire load. Data of gets is copied by
 * plain loads, hence the fence. */
static inline uint64_t ft_acquired(void)
{
    return atomic_load_explicit(&ft_wait_progress, memory_order_relaxed);
}
static inline void ft_note_acquired(void)
{
    atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit(&ft_wait_progress, ft_acquired() + 1, memory_order_relaxed);
}
/* Returns calls(target), read again if this process has acquired since. */
static inline uint64_t ft_lo(struct ft_winpart *p)
{
    uint64_t now = ft_acquired() + 1;
    if (p->lo_at != now) {
        p->lo_at = now;
        p->lo = atomic_load_explicit(p->calls, memory_order_acquire);
    }
    return p->lo;
}

#endif
