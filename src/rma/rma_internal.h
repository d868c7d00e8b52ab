/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_internal.h - a window, its parts, and the words in a part's arena that guard it.
 */
#ifndef FT_RMA_INTERNAL_H
#define FT_RMA_INTERNAL_H

#include "rma/rma.h"
#include "rma/windows.h"

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
    char undo_small[16];
    FT_ALIGNED_LINE _Atomic uint64_t excl; /* 1 + rank (in the window) of the holder */
    FT_ALIGNED_LINE char undo_large[FT_PIECE];
    _Atomic uint8_t shared[]; /* [size of the window's group] */
};

/* What this process knows of a target's part. */
struct ft_part {
    char *base;  /* mapped; NULL: not yet looked up, or not mappable (then only put and get of the transport) */
    int known;
    uint64_t off, bytes;
    struct ft_win_locks *locks;
    struct ft_ctl *ctl;
    int disp_unit;
    int slot;
    int held; /* FT_HELD_*: by this process */
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
    struct ft_win *next;
};

extern struct ft_win *ft_windows; /* all of this process's, newest first */
struct ft_part *ft_part_lookup(struct ft_win *w, int target);
void ft_lock_shared_late(struct ft_win *w, int target);

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

/* Marks both sides when accesses are of the kind that message logs cannot replay (outside FTRMA_Run's body). */
static inline void ft_note_access(struct ft_win *w, struct ft_part *p, int target)
{
    if (FT_UNLIKELY(ft_rma_outside) && target != w->ctx.rank)
        ft_rma_mark(p);
}

#endif
