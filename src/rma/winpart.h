/* SPDX-License-Identifier: BSD-3-Clause
 *
 * winpart.h - a window's part: the words in its owner's arena that guard it, and what this process
 * knows of it.
 */
#ifndef FT_RMA_WINPART_H
#define FT_RMA_WINPART_H

#include "rma/windows.h"
#include "transport/ctl.h"

#define FT_PIECE 4096u /* a long accumulate goes in pieces, so that its undo record is bounded */

/* A region of a dynamic window: [addr, addr + bytes) of the owner's memory lies at off of its
 * arena. The table is sorted by address, and empty regions come before others; version is odd while
 * it changes (dynamic.c). */
struct ft_attached {
    _Atomic uint64_t addr, bytes, off;
};
struct ft_attached_head {
    _Atomic uint64_t version, table, n; /* table: offset */
};

/* In the arena of the part's owner.
 *
 * crit guards whatever combines. Its holder notes the old contents of what it is about to change in
 * the undo record, changes it, clears the record and leaves; when the holder dies, the owner's
 * agent puts the old contents back and frees the word (O2, D3). excl and shared[] are the locks of
 * MPI_Win_lock: held by ranks, so a replacement that repeats a lock finds it held by itself. */
struct ft_win_locks {
    FT_ALIGNED_LINE _Atomic uint64_t crit; /* 1 + slot of the process inside, 0: free */
    _Atomic uint32_t undo_len;             /* 0: nothing to undo */
    uint32_t nshared;
    uint64_t undo_off; /* in the part; an address where the window is dynamic */
    uint64_t undo_acc; /* 1 + ACC of undo_rank before */
    uint32_t undo_rank, pad;
    char undo_small[16];
    FT_ALIGNED_LINE _Atomic uint64_t excl; /* 1 + rank (in the window) of the holder */
    _Atomic uint64_t claimant; /* 1 + rank of one who has waited long for excl: others let it go
                                first. A hint, which may be stale */
    FT_ALIGNED_LINE struct ft_attached_head attached;
    FT_ALIGNED_LINE char undo_large[FT_PIECE];
    /* [size of the window's group]; then as many bytes again: what this part's owner holds at each
     * target (FT_HELD_*), so that a replacement of the target learns of it */
    _Atomic uint8_t shared[];
};
static inline _Atomic uint8_t *ft_held_by_owner(struct ft_win_locks *l)
{
    return l->shared + l->nshared;
}

/* What this process knows of a target's part: bytes `from` to from + bytes of it. That is all of it
 * (from 0), or of a dynamic window the memory around the last access, as it was attached at
 * `version`. */
struct ft_winpart {
    char *base; /* of byte `from`, mapped; NULL: not yet looked up, or not mappable (then only put
                   and get of the transport) */
    int known;
    uint64_t off, bytes, from; /* byte i of the part lies at off + i of the arena */
    struct ft_win_locks *locks;
    struct ft_ctl *ctl;
    int disp_unit;
    int slot;                      /* in whose arena it lies */
    int lent;                      /* which is not its owner's: block.c */
    int held;                      /* FT_HELD_*: by this process */
    int marked;                    /* ft_rma_mark was called */
    int dirty;                     /* puts in the open epoch */
    const _Atomic uint64_t *calls; /* calls(target) */
    uint64_t lo, lo_at;            /* calls(target) as last read, and ft_acquired then */
    uint64_t version;              /* of the target's table of attached memory */
    struct ft_mapped_span *span;   /* what of it is mapped, sorted */
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

/* How often this process acquired: what it reads of calls(q) afterwards is new (lo, L1). Received
 * messages count, too; their sequence number was an acquire load. What was got is copied by plain
 * loads, hence the fence. */
static inline uint64_t ft_acquired(void)
{
    return atomic_load_explicit(&ft_wait_progress, memory_order_relaxed);
}
static inline void ft_note_acquired(void)
{
    atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit(&ft_wait_progress, ft_acquired() + 1, memory_order_relaxed);
}
/* calls(target), read anew after this process has acquired. */
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
