/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_pscw.c - post, start, complete, wait, test (MPI-3.1, 11.5.2). Assertions are not used:
 * NOCHECK must be given on both sides or on none, and the message that it could save costs less
 * than a hang if it was given on one side only.
 */
#include "mpi/outcome.h"
#include "mpi/win_access.h"

#define POST_ASSERTS (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)

/* Writes the members of `group` as ranks of the window to `out`, which has room for each rank once.
 * Returns an error class. */
static int group_ranks(struct ft_window *w, MPI_Group group, int *out, int *count)
{
    int n;
    if (group == MPI_GROUP_NULL || HOST(Group_size)(group, &n) != MPI_SUCCESS || n > w->size)
        return MPI_ERR_GROUP;
    int *world = ft_scratch(FT_SCRATCH_WIN, ((size_t)n + 1) * sizeof *world);
    ft_group_ranks(group, n, world);
    for (int i = 0; i < n; i++) {
        int r = world[i] < 0 || world[i] >= ft_nranks() ? -1 : ft_comm_rank_of(w->comm, world[i]);
        if (r < 0)
            return MPI_ERR_GROUP;
        out[i] = r;
    }
    *count = n;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_post, (MPI_Group group, int assert, MPI_Win win))
{
    int n = 0;
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_post, (group, assert, win));
    FT_WIN_CHECK((assert & ~POST_ASSERTS) == 0, w, MPI_ERR_ASSERT, "MPI_Win_post");
    FT_WIN_CHECK(w->posted.n < 0, w, MPI_ERR_RMA_SYNC, "MPI_Win_post");
    int code = group_ranks(w, group, w->posted.rank, &n);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_post");
    ft_win_post(w->rma, w->posted.rank, n);
    w->posted.n = n;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_start, (MPI_Group group, int assert, MPI_Win win))
{
    int n = 0;
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_start, (group, assert, win));
    FT_WIN_CHECK((assert & ~MPI_MODE_NOCHECK) == 0, w, MPI_ERR_ASSERT, "MPI_Win_start");
    FT_WIN_CHECK(w->started.n < 0 && !(w->open & ~(uint32_t)FT_OPEN_FENCE) && !ft_win_has_locks(w),
                 w, MPI_ERR_RMA_SYNC, "MPI_Win_start");
    int code = group_ranks(w, group, w->started.rank, &n);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_start");
    ft_win_start(w->rma, w->started.rank, n);
    w->started.n = n;
    for (int i = 0; i < n; i++)
        w->target[w->started.rank[i]].open = FT_TARGET_STARTED;
    ft_win_set_open(w, w->open & ~(uint32_t)FT_OPEN_FENCE);
    return MPI_SUCCESS;
}

FT_MPI(int, Win_complete, (MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_complete, (win));
    FT_WIN_CHECK(w->started.n >= 0, w, MPI_ERR_RMA_SYNC, "MPI_Win_complete");
    ft_win_complete(w->rma, w->started.rank, w->started.n);
    for (int i = 0; i < w->started.n; i++)
        w->target[w->started.rank[i]].open = 0;
    w->started.n = -1;
    return MPI_SUCCESS;
}

static void wait_for_all(struct ft_window *w)
{
    ft_win_wait(w->rma, w->posted.rank, w->posted.n);
    w->posted.n = -1;
}

FT_MPI(int, Win_wait, (MPI_Win win))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_wait, (win));
    FT_WIN_CHECK(w->posted.n >= 0, w, MPI_ERR_RMA_SYNC, "MPI_Win_wait");
    wait_for_all(w);
    return MPI_SUCCESS;
}

FT_MPI(int, Win_test, (MPI_Win win, int *flag))
{
    ft_door();
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_test, (win, flag));
    FT_WIN_CHECK(w->posted.n >= 0, w, MPI_ERR_RMA_SYNC, "MPI_Win_test");
    enum ft_outcome known = ft_outcome_flag();
    if (known == FT_OUTCOME_NONE ||
        (known == FT_OUTCOME_OPEN && !ft_win_completed(w->rma, w->posted.rank, w->posted.n))) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    if (known == FT_OUTCOME_OPEN)
        ft_outcome_note_flag();
    wait_for_all(w);
    *flag = 1;
    return MPI_SUCCESS;
}
