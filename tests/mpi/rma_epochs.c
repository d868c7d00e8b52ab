/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_epochs.c - accesses and synchronisation outside of the epochs that they need give
 * MPI_ERR_RMA_SYNC and do nothing.
 */
#include "errors.h"

static void epochs(MPI_Win win)
{
    long x = 1;

    WRONG(MPI_Put(&x, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win) == MPI_SUCCESS);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    if (np > 1)
        WRONG(MPI_Put(&x, 1, MPI_LONG, (me + 1) % np, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_unlock(me, win) == MPI_SUCCESS);
    MPI_Win_lock_all(0, win);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock(me, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    long *mem;
    MPI_Win win;

    start(&argc, &argv);
    MPI_Win_allocate(8 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    mem[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    epochs(win);
    MPI_Win_fence(0, win);
    WRONG(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    WRONG(MPI_Get(&(long){0}, 1, MPI_LONG, me, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK(mem[0] == 0);
    MPI_Win_free(&win);
    return finish();
}
