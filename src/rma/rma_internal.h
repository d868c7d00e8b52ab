/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_internal.h - windows, their parts, and the words in a part's arena that guard it.
 */
#ifndef FT_RMA_INTERNAL_H
#define FT_RMA_INTERNAL_H

#include "alog/homelog.h"
#include "base/engine.h"
#include "rma/putlog.h"
#include "rma/rma.h"
#include "rma/windows.h"
#include "rma/winpart.h"
#include "transport/seen.h"
#include "transport/wait.h"

/* What this process does at others is logged. */
static inline int ft_rma_logs(void) { return ft_putlog_on || ft_homelog_logs(); }

struct ft_win {
    struct ft_ctx ctx;
    uint64_t id;
    struct ft_winpart *part; /* [ctx.size] */
    void *base;
    uint64_t bytes, off, locks_off, alloc_off;
    int entry;              /* index in ctl.win */
    int over_nodes;         /* the job runs on several nodes */
    _Atomic uint8_t *holds; /* what this process holds at each target, for others: winpart.h */
    int lock_all;
    int in_body;     /* made inside FTRMA_Run's body */
    int unprotected; /* ft_rma_regions */
    int dynamic;
    int lent;            /* the own part lies in the memory of a shared window */
    int shared;          /* the program's own pages became shared ones for it */
    size_t cap_attached; /* entries that the own table has room for */
    /* of MPI_Win_allocate_shared: the block with all parts; NULL: each part lies in its owner's
     * arena */
    struct ft_block *block;
    int *dirty, ndirty; /* targets with puts in the open epoch */
    int asked_far;      /* something of other nodes was asked for since ft_far_await(-1) */
    int rebuilt;        /* in a replay: the own part's lock words are as the others hold them */
    struct ft_win *next;
};

void ft_win_dispose(struct ft_win *w);        /* without a word to the others */
extern FT_STATE(struct ft_win *, ft_windows); /* all windows of this process, newest first */
#define ft_windows FT_MY(ft_windows)
struct ft_winpart *ft_winpart_lookup(struct ft_win *w, int target);
struct ft_winpart *ft_winpart_try(struct ft_win *w,
                                  int target); /* NULL: it is not there (any more, or yet) */
/* Returns its locks. Works also while the window is being made here, and the parts are not known.
 * NULL: as above, or target is not live. */
struct ft_win_locks *ft_locks_of(const struct ft_win *w, int target);
void ft_lock_shared_late(struct ft_win *w, int target);
/* [size of the window's group]: FT_HELD_*, in a saved state; NULL: the window is not in it. */
const char *ft_saved_held(const char *saved, uint64_t id);
extern FT_STATE(int, ft_rma_me);     /* world rank */
extern FT_STATE(int, ft_rma_nranks); /* number of ranks */
#define ft_rma_me FT_MY(ft_rma_me)
#define ft_rma_nranks FT_MY(ft_rma_nranks)
extern FT_STATE(const int *, ft_rma_slots); /* [ft_rma_nranks]: the present carriers */
#define ft_rma_slots FT_MY(ft_rma_slots)
/* ACC(me -> rank), world rank */
static inline uint64_t ft_acc(int rank)
{
    return atomic_load_explicit(&ft_transport->own->ctl->peer[rank].acc_mine, memory_order_relaxed);
}
static inline void ft_set_acc(int rank, uint64_t n)
{
    atomic_store_explicit(&ft_transport->own->ctl->peer[rank].acc_mine, n, memory_order_release);
}

/* The entry of window w in the control block of slot; NULL: not there. */
struct ft_win_entry *ft_win_entry_at(const struct ft_win *w, int slot);

/* Looks the part up, and locks it if a lock_all epoch has put that off until now. */
static inline struct ft_winpart *ft_winpart_for_access(struct ft_win *w, int target)
{
    FT_ASSERT(target >= 0 && target < w->ctx.size);
    struct ft_winpart *p = &w->part[target];
    if (FT_UNLIKELY(!p->known))
        p = ft_winpart_lookup(w, target);
    if (FT_UNLIKELY(w->lock_all && p->held == FT_HELD_NONE))
        ft_lock_shared_late(w, target);
    return p;
}

/* Marks both sides when an access is outside of FTRMA_Run's body: only one rank at a time can
 * repeat such accesses. */
static inline void ft_note_access(struct ft_win *w, struct ft_winpart *p, int target)
{
    if (FT_UNLIKELY(ft_rma_outside) && !p->marked && target != w->ctx.rank)
        ft_rma_mark(p);
}

static inline void ft_mark_dirty(struct ft_win *w, struct ft_winpart *p, int target)
{
    if (!p->dirty) {
        p->dirty = 1;
        w->dirty[w->ndirty++] = target;
    }
}
/* Ends the epoch to target (-1: all): takes stamps, and writes a note in the home log. */
void ft_close_epoch(struct ft_win *w, int target);
/* In a replay: sets the own part's lock words as the others hold them. */
void ft_rebuild_locks(struct ft_win *w);
/* at the end of a replay: frees lock words of this rank, at any part, for locks that it does not
 * hold */
void ft_free_left_over(struct ft_win *w);

#endif
