/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_errors.c - wrong arguments, through the window's error handler. For a wrong order of calls
 * see rma_epochs.c.
 */
#include "errors.h"

static int told, told_code;

static void handler(MPI_Win *win, int *code, ...)
{
    (void)win;
    told++;
    MPI_Error_class(*code, &told_code);
}

static void arguments(MPI_Win win)
{
    long x = 1;

    WRONG(MPI_Put(&x, 1, MPI_LONG, np, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    WRONG(MPI_Put(&x, 1, MPI_LONG, -7, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    WRONG(MPI_Put(&x, -1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
    WRONG(MPI_Get(&x, 1, MPI_LONG, 0, 0, -1, MPI_LONG, win), MPI_ERR_COUNT);
    WRONG(MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_LONG, win), MPI_ERR_TYPE);
    WRONG(MPI_Put(&x, 1, MPI_LONG, 0, -1, 1, MPI_LONG, win), MPI_ERR_DISP);
    WRONG(MPI_Win_lock(4711, 0, 0, win), MPI_ERR_LOCKTYPE);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, np, 0, win), MPI_ERR_RANK);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 20, win), MPI_ERR_ASSERT);
    WRONG(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
}

static void ranges(MPI_Win win)
{
    long x[2] = {0, 0};

    WRONG(MPI_Put(x, 1, MPI_LONG, 0, 8, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Get(x, 2, MPI_LONG, np - 1, 7, 2, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Accumulate(x, 2, MPI_LONG, np - 1, 7, 2, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Fetch_and_op(x, x + 1, MPI_LONG, 0, 100, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Put(x, 1, MPI_LONG, 0, (MPI_Aint)1 << 61, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
}

static void operations(MPI_Win win)
{
    double x = 1, y;
    MPI_Datatype pair;

    WRONG(MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
    WRONG(MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_OP_NULL, win), MPI_ERR_OP);
    WRONG(MPI_Fetch_and_op(&x, &y, MPI_DOUBLE, 0, 0, MPI_LXOR, win), MPI_ERR_OP);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    WRONG(MPI_Fetch_and_op(&x, &y, pair, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
    MPI_Type_free(&pair);
}

static void handlers(MPI_Win win)
{
    MPI_Errhandler mine, got;
    long x = 1;

    MPI_Win_create_errhandler(handler, &mine);
    MPI_Win_set_errhandler(win, mine);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine); /* the window keeps it */
    CHECK(mine == MPI_ERRHANDLER_NULL);
    WRONG(MPI_Put(&x, 1, MPI_LONG, np, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    CHECK(told == 1 && told_code == MPI_ERR_RANK);
    CHECK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(told == 2 && told_code == MPI_ERR_OTHER);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    WRONG(MPI_Put(&x, 1, MPI_LONG, np, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    CHECK(told == 2);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
}

static void creation(void)
{
    MPI_Win win = MPI_WIN_NULL;
    long x;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    WRONG(MPI_Win_create(&x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    WRONG(MPI_Win_create(&x, sizeof x, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    WRONG(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    win = MPI_WIN_NULL;
    WRONG(MPI_Win_free(&win), MPI_ERR_WIN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    long *mem;
    MPI_Win win;
    MPI_Errhandler got;

    start(&argc, &argv);
    MPI_Win_allocate(8 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    ranges(win);
    operations(win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    arguments(win);
    handlers(win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    creation();
    return finish();
}
