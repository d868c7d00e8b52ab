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
#include "transport/seen.h"
#include "transport/wait.h"

#define FT_PIECE 4096u /* a long accumulate goes in pieces, so that its undo record is bounded */

/* A region of a dynamic window: [addr, addr + bytes) of the owner's memory lies at off of its arena. The table is sorted by address,
 * and empty regions come before others; version is odd while it changes (dynamic.c). */
struct ft_attached {
    _Atomic uint64_t addr, bytes, off;
};
struct ft_attached_head {
    _Atomic uint64_t version, table, n; /* table: offset */
};

/* In the arena of the part's owner.
 *
 * crit guards whatever combines. Its holder notes the old contents of what it is about to change in the undo record, changes it, clears
 * the record and leaves; when the holder dies, the owner's agent puts the old contents back and frees the word (O2, D3).
 * excl and shared[] are the locks of MPI_Win_lock: held by ranks, so a replacement that repeats a lock finds it held by itself. */
struct ft_win_locks {
    FT_ALIGNED_LINE _Atomic uint64_t crit; /* 1 + slot of the process inside, 0: free */
    _Atomic uint32_t undo_len;             /* 0: nothing to undo */
    uint32_t nshared;
    uint64_t undo_off; /* in the part; an address where the window is dynamic */
    uint64_t undo_acc; /* 1 + ACC of undo_rank before */
    uint32_t undo_rank, pad;
    char undo_small[16];
    FT_ALIGNED_LINE _Atomic uint64_t excl; /* 1 + rank (in the window) of the holder */
    _Atomic uint64_t hungry; /* 1 + rank of one who has waited long for excl: others let it go first. A hint, which may be stale */
    FT_ALIGNED_LINE struct ft_attached_head attached;
    FT_ALIGNED_LINE char undo_large[FT_PIECE];
    /* [size of the window's group]; then as many bytes again: what this part's owner holds at each target (FT_HELD_*), so that a
     * replacement of the target learns of it */
    _Atomic uint8_t shared[];
};
static inline _Atomic uint8_t *ft_held_by_owner(struct ft_win_locks *l) { return l->shared + l->nshared; }

/* What this process knows of a target's part: bytes `from` to from + bytes of it. That is all of it (from 0), or of a dynamic window
 * the memory around the last access, as it was attached at `version`. */
struct ft_part {
    char *base;  /* of byte `from`, mapped; NULL: not yet looked up, or not mappable (then only put and get of the transport) */
    int known;
    uint64_t off, bytes, from; /* byte i of the part lies at off + i of the arena */
    struct ft_win_locks *locks;
    struct ft_ctl *ctl;
    int disp_unit;
    int slot;         /* in whose arena it lies */
    int lent;         /* which is not its owner's: block.c */
    int held;         /* FT_HELD_*: by this process */
    int marked;       /* ft_rma_mark was called */
    int dirty;        /* puts in the open epoch */
    const _Atomic uint64_t *calls; /* calls(target) */
    uint64_t lo, lo_at; /* calls(target) as last read, and ft_acquired then */
    uint64_t version;     /* of the target's table of attached memory */
    struct ft_span *span; /* what of it is mapped, sorted */
    size_t nspans, cap_spans;
};
static inline int ft_outside(const struct ft_part *p, size_t off, size_t len)
{
    size_t rel = off - p->from;
    return rel > p->bytes || len > p->bytes - rel;
}
static inline char *ft_at(const struct ft_part *p, size_t off) { return p->base + (off - p->from); } /* base is not NULL */
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
    int unprotected; /* ft_rma_regions */
    int dynamic;
    int lent;                 /* the own part lies in a shared window's memory */
    int shared;               /* the program's own pages became shared ones for it */
    size_t cap_attached;      /* entries that the own table has room for */
    struct ft_block *block;    /* of MPI_Win_allocate_shared: where all parts lie; NULL: each lies in its owner's arena */
    int *dirty, ndirty; /* targets with puts in the open epoch */
    int rebuilt;        /* replay: the own part's lock words are as the others hold them */
    struct ft_win *next;
};

void ft_win_dispose(struct ft_win *w); /* without a word to the others */
extern struct ft_win *ft_windows; /* all of this process's, newest first */
struct ft_part *ft_part_lookup(struct ft_win *w, int target);
struct ft_part *ft_part_try(struct ft_win *w, int target); /* NULL: it is not there (any more, or yet) */
/* Its locks, also while the window is being made here, and the parts are not known. NULL: as above, or it is not live. */
struct ft_win_locks *ft_locks_of(const struct ft_win *w, int target);
void ft_lock_shared_late(struct ft_win *w, int target);
extern int ft_rma_me, ft_rma_nranks; /* world rank, how many */
extern const int *ft_rma_slots;      /* [ft_rma_nranks]: the carriers */
/* ACC(me -> rank), world rank */
static inline uint64_t ft_acc(int rank)
{
    return atomic_load_explicit(&ft_tp->own->ctl->peer[rank].acc_mine, memory_order_relaxed);
}
static inline void ft_set_acc(int rank, uint64_t n)
{
    atomic_store_explicit(&ft_tp->own->ctl->peer[rank].acc_mine, n, memory_order_release);
}

/* How often this process acquired: what it reads of calls(q) afterwards is new (lo, L1). Received messages count, too; their
 * sequence number was an acquire load. What was got is copied by plain loads, hence the fence. */
static inline uint64_t ft_acquired(void) { return atomic_load_explicit(&ft_wait_progress, memory_order_relaxed); }
static inline void ft_note_acquired(void)
{
    atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit(&ft_wait_progress, ft_acquired() + 1, memory_order_relaxed);
}

/* --- dynamic windows (dynamic.c) --- */
/* p becomes what is attached around [addr, addr + len), or nothing if that is not. 0: the target is carried by another process. */
int ft_focus(struct ft_part *p, uint64_t addr, uint64_t len);
static inline int ft_look_at(const struct ft_win *w, struct ft_part *p, size_t off, size_t len)
{
    if (FT_LIKELY(!w->dynamic) || (!ft_outside(p, off, len) && len &&
                                   p->version == atomic_load_explicit(&p->locks->attached.version, memory_order_acquire)))
        return 1;
    return ft_focus(p, off, len);
}
void ft_forget_spans(struct ft_part *p);
void ft_detach_all(struct ft_win *w);
int ft_is_attached(const struct ft_win *w, uint64_t addr, uint64_t bytes); /* here */
/* All that is attached here, over all windows, each byte once. */
void ft_attached_regions(void (*each)(void *arg, void *addr, size_t bytes, int *unprotected), void *arg);
/* For images: bytes that take what is attached to w, two words a region; and back to it. */
size_t ft_attached_bytes(const struct ft_win *w);
void ft_attached_save(const struct ft_win *w, char *out);
enum ft_status ft_attached_restore(struct ft_win *w, const char *saved, size_t n);

/* --- windows of MPI_Win_allocate_shared (block.c) --- */
/* Whether any of this memory belongs to such a window; whether all of it does, to one: then it may be a part of another window. */
int ft_block_has(const void *p, size_t bytes);
int ft_block_holds(const void *p, size_t bytes);
/* Where w's own part, which is such memory, lies now. */
void ft_block_lend(const struct ft_win *w, struct ft_win_entry *e);
/* Making it: all parts' sizes are known (begin), then all parts are published (join). */
enum ft_status ft_block_begin(struct ft_win *w, int apart);
enum ft_status ft_block_join(struct ft_win *w);
/* It was freed before the image that this process will restore: there is no memory. */
int ft_block_gone(const struct ft_win *w);
/* Where target's part is mapped here. */
char *ft_block_part(const struct ft_win *w, int target);
void ft_block_cut(uint64_t version);
void ft_block_free(struct ft_win *w);

/* The entry of window w in the control block of slot, NULL: not there. */
struct ft_win_entry *ft_win_entry_at(const struct ft_win *w, int slot);

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

/* --- while a snapshot is under way (gate.c) --- */
enum ft_access_kind { FT_ACCESS_GET, FT_ACCESS_PUT, FT_ACCESS_ATOMIC /* that may change something */ };
/* The target's part in its owner's image, where this access is to be made as well; NULL: nowhere. Set by ft_gate_enter, to be
 * cleared with the access's end. */
extern char *ft_shadow;
/* ft_rma_inside is set, and there is nothing to attend to but the wave. 1: go on; 0: leave, and ft_gate_wait (which may not
 * return). */
int ft_gate_enter(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind);
void ft_gate_wait(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind);
/* The part holds at `live` what ft_shadow does. Else ft_gate_refuse, which waits. */
int ft_gate_same(const char *live, size_t off, size_t len);
void ft_gate_refuse(const struct ft_part *p);
/* Behind: waits for the wave's end (locks). */
void ft_gate_until_over(const struct ft_part *p);

static inline int ft_enter_gated(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind)
{
    uint32_t news = ft_begin_access();
    return FT_LIKELY(news == 0) || (news == FT_ATT_WAVE && ft_gate_enter(w, p, kind));
}
/* Not entered. */
static inline void ft_stand_back(struct ft_win *w, struct ft_part *p, enum ft_access_kind kind)
{
    ft_shadow = NULL;
    ft_leave_access();
    if (atomic_load_explicit(&ft_attention, memory_order_relaxed) & ~(uint32_t)(FT_ATT_REPLAY | FT_ATT_WORK | FT_ATT_WAVE | FT_ATT_RELEASE))
        ft_attend();
    else
        ft_gate_wait(w, p, kind);
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
        p->lo = atomic_load_explicit(p->calls, memory_order_acquire);
    }
    return p->lo;
}
/* Ends the epoch towards target (-1: all): stamps, and a note at the log home. */
void ft_close_epoch(struct ft_win *w, int target);
void ft_set_held(struct ft_win *w, int target, int held); /* FT_HELD_* */
void ft_rebuild_locks(struct ft_win *w); /* replay: the own part's lock words, as the others hold them */
void ft_free_left_over(struct ft_win *w); /* at its end: lock words of this rank, at anybody's part, for what it does not hold */

#endif
