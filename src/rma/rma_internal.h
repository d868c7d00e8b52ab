/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_internal.h - a window, its parts, and the words in a part's arena that guard it.
 */
#ifndef FT_RMA_INTERNAL_H
#define FT_RMA_INTERNAL_H

#include "alog/home.h"
#include "rma/lp.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "transport/wait.h"

#define FT_PIECE 4096u /* a long accumulate goes in pieces, so that its undo record is bounded */

/* In the arena of the part's owner.
 *
 * crit guards whatever combines. Its holder notes the old contents of what it is about to change in the undo record, changes it, clears
 * the record and leaves; when the holder dies, the owner's agent puts the old contents back and frees the word (protocol 3.3).
 * excl and shared[] are the locks of MPI_Win_lock: held by ranks, so a replacement that repeats a lock finds it held by itself. */
struct ft_win_locks {
    FT_ALIGNED_LINE _Atomic uint64_t crit; /* 1 + slot of the process inside, 0: free */
    _Atomic uint32_t undo_len;             /* 0: nothing to undo */
    uint32_t nshared;
    uint64_t undo_off; /* in the part */
    uint64_t undo_acc; /* 1 + ACC of undo_rank before */
    uint32_t undo_rank, pad;
    char undo_small[16];
    FT_ALIGNED_LINE _Atomic uint64_t excl; /* 1 + rank (in the window) of the holder */
    FT_ALIGNED_LINE char undo_large[FT_PIECE];
    /* [size of the window's group]; then as many bytes again: what this part's owner holds at each target (FT_HELD_*), so that a
     * replacement of the target learns of it */
    _Atomic uint8_t shared[];
};
static inline _Atomic uint8_t *ft_held_by_owner(struct ft_win_locks *l) { return l->shared + l->nshared; }

/* What this process knows of a target's part. */
struct ft_part {
    char *base;  /* mapped; NULL: not yet looked up, or not mappable (then only put and get of the transport) */
    int known;
    uint64_t off, bytes;
    struct ft_win_locks *locks;
    struct ft_ctl *ctl;
    int disp_unit;
    int slot;
    int held;         /* FT_HELD_*: by this process */
    int marked;       /* ft_rma_mark was called */
    int dirty;        /* puts in the open epoch */
    int rebound;      /* carried by another process than when it was looked up last */
    uint64_t lo, lo_at; /* calls(target) as last read, and ft_acquired then */
};
enum { FT_HELD_NONE = 0, FT_HELD_SHARED, FT_HELD_EXCL };

struct ft_win {
    struct ft_ctx ctx;
    uint64_t id;
    struct ft_part *part; /* [ctx.size] */
    void *base;
    uint64_t bytes, off, locks_off, alloc_off;
    int entry; /* in ctl.win */
    int lock_all;
    int in_body; /* made inside FTRMA_Run's body */
    int *dirty, ndirty; /* targets with puts in the open epoch */
    int rebuilt;        /* replay: the own part's lock words are as the others hold them */
    struct ft_win *next;
};

extern struct ft_win *ft_windows; /* all of this process's, newest first */
struct ft_part *ft_part_lookup(struct ft_win *w, int target);
struct ft_part *ft_part_try(struct ft_win *w, int target); /* NULL: it is not there (any more, or yet) */
void ft_lock_shared_late(struct ft_win *w, int target);
extern int ft_rma_me, ft_rma_nranks; /* world rank, how many */
extern const int *ft_rma_slots;      /* [ft_rma_nranks]: the carriers */
uint64_t *ft_acc(int rank); /* ACC(me -> rank), world rank */

/* How often this process acquired: what it reads of calls(q) afterwards is new (protocol 6, lo). Received messages count, too. */
static inline uint64_t ft_acquired(void) { return atomic_load_explicit(&ft_wait_progress, memory_order_relaxed); }
static inline void ft_note_acquired(void) { atomic_store_explicit(&ft_wait_progress, ft_acquired() + 1, memory_order_relaxed); }

/* While this is set no recovery begins to read what this process logs (protocol 6): an access sets it and then looks whether its
 * target is still the one that it knows. The agent sets ft_attention, issues a membarrier, and waits for it to clear. */
extern _Atomic int ft_rma_inside;
static inline int ft_enter_access(void)
{
    atomic_store_explicit(&ft_rma_inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return FT_LIKELY((atomic_load_explicit(&ft_attention, memory_order_relaxed) & ~(uint32_t)FT_ATT_REPLAY) == 0);
}
static inline void ft_leave_access(void) { atomic_store_explicit(&ft_rma_inside, 0, memory_order_release); }

/* The part, looked up, and locked if a lock_all epoch has put that off until now. */
static inline struct ft_part *ft_part_for_access(struct ft_win *w, int target)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    struct ft_part *p = &w->part[target];
    if (FT_UNLIKELY(!p->known))
        p = ft_part_lookup(w, target);
    if (FT_UNLIKELY(w->lock_all && p->held == FT_HELD_NONE))
        ft_lock_shared_late(w, target);
    return p;
}

/* Marks both sides when accesses are outside FTRMA_Run's body: not more than one rank at a time can repeat them. */
static inline void ft_note_access(struct ft_win *w, struct ft_part *p, int target)
{
    if (FT_UNLIKELY(ft_rma_outside) && !p->marked && target != w->ctx.rank)
        ft_rma_mark(p);
}

static inline void ft_mark_dirty(struct ft_win *w, struct ft_part *p, int target)
{
    if (!p->dirty) {
        p->dirty = 1;
        w->dirty[w->ndirty++] = target;
    }
}
/* calls(target), read anew after this process has acquired. */
static inline uint64_t ft_lo(struct ft_part *p)
{
    uint64_t now = ft_acquired() + 1;
    if (p->lo_at != now) {
        p->lo_at = now;
        p->lo = atomic_load_explicit(&p->ctl->calls, memory_order_acquire);
    }
    return p->lo;
}
/* Ends the epoch towards target (-1: all): stamps, and a note at the log home. */
void ft_close_epoch(struct ft_win *w, int target);
void ft_set_held(struct ft_win *w, int target, int held); /* FT_HELD_* */
void ft_rebuild_locks(struct ft_win *w); /* replay: the own part's lock words, as the others hold them */

#endif
