/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_sync.c - synchronisation of windows, and which epochs are open (MPI-3.1, 11.5). Every change
 * of an epoch is noted for images.
 */
#include "mpi/win_access.h"
#include "rma/lock_now.h"

#define FENCE_ASSERTS (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)

FT_MPI(int, Win_fence, (int assert, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_fence, (assert, win));
    FT_WIN_CHECK((assert & ~FENCE_ASSERTS) == 0, w, MPI_ERR_ASSERT, "MPI_Win_fence");
    FT_WIN_CHECK(!(w->open & FT_PASSIVE_ALL) && !ft_win_has_locks(w) && w->started.n < 0 &&
                     w->posted.n < 0,
                 w, MPI_ERR_RMA_SYNC, "MPI_Win_fence");
    ft_win_fence(w->rma);
    ft_win_set_open(w, assert &MPI_MODE_NOSUCCEED ? 0 : FT_OPEN_FENCE);
    return MPI_SUCCESS;
}

/* target must be a rank of the window, or MPI_PROC_NULL, for which nothing is done. */
static int check_target(const struct ft_window *w, int target)
{
    if (FT_LIKELY((unsigned)target < (unsigned)w->size))
        return MPI_SUCCESS;
    return target == MPI_PROC_NULL ? FT_NO_ACCESS : MPI_ERR_RANK;
}

static void note_lock(struct ft_window *w, int target)
{
    w->target[target].open = FT_TARGET_LOCKED;
    w->noted->nlocked++;
    if (FT_UNLIKELY(w->open & FT_OPEN_FENCE))
        ft_win_set_open(w, w->open & ~(uint32_t)FT_OPEN_FENCE);
}

static __attribute__((noinline)) int lock(int type, int target, int assert, MPI_Win win)
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_lock, (type, target, assert, win));
    FT_WIN_CHECK(type == MPI_LOCK_EXCLUSIVE || type == MPI_LOCK_SHARED, w, MPI_ERR_LOCKTYPE,
                 "MPI_Win_lock");
    FT_WIN_CHECK((assert & ~MPI_MODE_NOCHECK) == 0, w, MPI_ERR_ASSERT, "MPI_Win_lock");
    int code = check_target(w, target);
    if (code == FT_NO_ACCESS)
        return MPI_SUCCESS;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_lock");
    FT_WIN_CHECK(!(w->open & FT_OPEN_LOCK_ALL) && !w->target[target].open && w->started.n < 0, w,
                 MPI_ERR_RMA_SYNC, "MPI_Win_lock");
    ft_win_lock(w->rma, target, type == MPI_LOCK_EXCLUSIVE);
    note_lock(w, target);
    ft_looked();
    return MPI_SUCCESS;
}

static void note_unlock(struct ft_window *w, int target)
{
    w->target[target].open = 0;
    FT_ASSERT(w->noted->nlocked > 0);
    w->noted->nlocked--;
    if (FT_UNLIKELY(w->open & FT_OPEN_LATE) && !ft_win_has_locks(w)) {
        ft_win_unlock_all(w->rma);
        ft_win_set_open(w, w->open & ~(uint32_t)FT_OPEN_LATE);
    }
}

static __attribute__((noinline)) int unlock(int target, MPI_Win win)
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_unlock, (target, win));
    int code = check_target(w, target);
    if (code == FT_NO_ACCESS)
        return MPI_SUCCESS;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_unlock");
    FT_WIN_CHECK(w->target[target].open & FT_TARGET_LOCKED || w->open & FT_OPEN_LATE, w,
                 MPI_ERR_RMA_SYNC, "MPI_Win_unlock");
    ft_win_unlock(w->rma, target);
    note_unlock(w, target);
    return MPI_SUCCESS;
}

/* Calls are counted, and come from main. */
static inline int calls_are_plain(void) { return !(ft_uncounted | ft_runtime_threads); }

/* Lock and unlock are as short as calls get. What most of them need is done here without a call of
 * a function, and so without registers to save. Everything else, the check of what is wrong
 * included, is left to lock and unlock: these begin again, since nothing has been done yet. */
FT_MPI(int, Win_lock, (int type, int target, int assert, MPI_Win win))
{
    struct ft_window *w = ft_win_of(win);
    struct ft_winpart *p;
    int exclusive = type == MPI_LOCK_EXCLUSIVE;
    if (FT_LIKELY(calls_are_plain() && w && (exclusive || type == MPI_LOCK_SHARED) &&
                  !(assert & ~MPI_MODE_NOCHECK) && (unsigned)target < (unsigned)w->size &&
                  !w->open && !w->target[target].open && w->started.n < 0 &&
                  ++ft_looks < FT_LOOKS) &&
        (p = ft_lock_part_now(w->rma, target))) {
        int was = ft_mark_call(), locked = ft_lock_now(w->rma, p, target, exclusive);
        if (FT_LIKELY(locked)) {
            w->target[target].open = FT_TARGET_LOCKED;
            w->noted->nlocked++;
        }
        ft_unmark_call(&was);
        if (FT_LIKELY(locked))
            return MPI_SUCCESS;
    }
    return lock(type, target, assert, win);
}

FT_MPI(int, Win_unlock, (int target, MPI_Win win))
{
    struct ft_window *w = ft_win_of(win);
    struct ft_winpart *p;
    if (FT_LIKELY(calls_are_plain() && w && (unsigned)target < (unsigned)w->size && !w->open &&
                  w->target[target].open & FT_TARGET_LOCKED) &&
        (p = ft_unlock_part_now(w->rma, target))) {
        int was = ft_mark_call(), released = ft_unlock_now(w->rma, p, target);
        if (FT_LIKELY(released)) {
            w->target[target].open = 0;
            w->noted->nlocked--;
        }
        ft_unmark_call(&was);
        if (FT_LIKELY(released))
            return MPI_SUCCESS;
    }
    return unlock(target, win);
}

FT_MPI(int, Win_lock_all, (int assert, MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_lock_all, (assert, win));
    FT_WIN_CHECK((assert & ~MPI_MODE_NOCHECK) == 0, w, MPI_ERR_ASSERT, "MPI_Win_lock_all");
    FT_WIN_CHECK(!(w->open & FT_PASSIVE_ALL) && !ft_win_has_locks(w) && w->started.n < 0, w,
                 MPI_ERR_RMA_SYNC, "MPI_Win_lock_all");
    ft_win_lock_all(w->rma);
    if (!(assert & MPI_MODE_NOCHECK))
        ft_win_lock_loads(w->rma);
    ft_win_set_open(w, FT_OPEN_LOCK_ALL);
    return MPI_SUCCESS;
}

FT_MPI(int, Win_unlock_all, (MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_unlock_all, (win));
    FT_WIN_CHECK(w->open & FT_OPEN_LOCK_ALL, w, MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all");
    ft_win_unlock_all(w->rma);
    ft_win_set_open(w, 0);
    ft_looked();
    return MPI_SUCCESS;
}

/* Flushes require a passive epoch to the target. They count as calls only when they close
 * something; MPI_Win_sync never counts. A program that polls its own window may call them any
 * number of times. */
static inline int check_flush(const struct ft_window *w, int target)
{
    int code = check_target(w, target);
    if (FT_UNLIKELY(code != MPI_SUCCESS))
        return code;
    return FT_LIKELY(ft_win_is_passive(w, target)) ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

static inline int check_flush_all(const struct ft_window *w)
{
    return FT_LIKELY(w->open & FT_PASSIVE_ALL || ft_win_has_locks(w)) ? MPI_SUCCESS
                                                                      : MPI_ERR_RMA_SYNC;
}

FT_MPI(int, Win_flush, (int target, MPI_Win win))
{
    ft_door_uncounted();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_flush, (target, win));
    int code = check_flush(w, target);
    if (FT_UNLIKELY(code == FT_NO_ACCESS))
        return MPI_SUCCESS;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_flush");
    ft_win_flush(w->rma, target);
    ft_looked();
    return MPI_SUCCESS;
}

FT_MPI(int, Win_flush_all, (MPI_Win win))
{
    ft_door_uncounted();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_flush_all, (win));
    int code = check_flush_all(w);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_flush_all");
    ft_win_flush_all(w->rma);
    ft_looked();
    return MPI_SUCCESS;
}

/* When an access returns its buffers are free, and results are there but for those of processes of
 * other nodes. */
FT_MPI(int, Win_flush_local, (int target, MPI_Win win))
{
    ft_door_uncounted();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_flush_local, (target, win));
    int code = check_flush(w, target);
    if (FT_UNLIKELY(code == FT_NO_ACCESS))
        return MPI_SUCCESS;
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_flush_local");
    ft_win_flush_local(w->rma, target);
    ft_looked();
    return MPI_SUCCESS;
}

FT_MPI(int, Win_flush_local_all, (MPI_Win win))
{
    ft_door_uncounted();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_flush_local_all, (win));
    int code = check_flush_all(w);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_flush_local_all");
    ft_win_flush_local(w->rma, -1);
    ft_looked();
    return MPI_SUCCESS;
}

FT_MPI(int, Win_sync, (MPI_Win win))
{
    ft_door_uncounted();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_sync, (win));
    ft_win_sync(w->rma);
    return MPI_SUCCESS;
}
