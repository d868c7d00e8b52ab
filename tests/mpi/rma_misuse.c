/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_misuse.c - errors that only some forms of a call can have: each class comes back through the
 * window's handler, and nothing is done. MPI_PROC_NULL and empty accesses are no errors.
 */
#include "errors.h"

enum { N = 16 };
static double *mem, before[N];
static MPI_Win win;
static MPI_Datatype strided, back, mixed, raw, odd;
static MPI_Op mine;

static void sum(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

/* Each row is a call, with x as origin, r as result, at displacement d of target t. */
static double x[N], r[N];
static MPI_Request q;
#define ACC(count, type, d, op) MPI_Accumulate(x, count, type, t, d, count, type, op, win)
#define GACC(count, type, d, op) \
    MPI_Get_accumulate(x, count, type, r, count, type, t, d, count, type, op, win)

static void wrong_in_lock(int t)
{
    MPI_Datatype null = MPI_DATATYPE_NULL;
    /* beyond either end */
    WRONG(MPI_Put(x, 4, MPI_DOUBLE, t, N - 6, 1, strided, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Get(x, 4, MPI_DOUBLE, t, N - 6, 1, strided, win), MPI_ERR_RMA_RANGE);
    WRONG(ACC(1, strided, N - 6, MPI_SUM), MPI_ERR_RMA_RANGE);
    WRONG(ACC(1, strided, N - 6, MPI_REPLACE), MPI_ERR_RMA_RANGE);
    WRONG(GACC(1, strided, N - 6, MPI_NO_OP), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Put(x, 2, MPI_DOUBLE, t, 1, 1, back, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Accumulate(x, 2, MPI_DOUBLE, t, 1, 1, back, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    WRONG(ACC(N + 1 - 3, MPI_DOUBLE, 3, MPI_SUM), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Rput(x, 2, MPI_DOUBLE, t, N - 1, 2, MPI_DOUBLE, win, &q), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Rget(r, 2, MPI_DOUBLE, t, N - 1, 2, MPI_DOUBLE, win, &q), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_LONG, t, N, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Fetch_and_op(x, r, MPI_DOUBLE_INT, t, N - 1, MPI_REPLACE, win), MPI_ERR_RMA_RANGE);
    /* types */
    WRONG(MPI_Put(x, 1, raw, t, 0, 1, raw, win), MPI_ERR_TYPE);
    WRONG(MPI_Get(x, 2, MPI_DOUBLE, t, 0, 1, raw, win), MPI_ERR_TYPE);
    WRONG(ACC(1, raw, 0, MPI_SUM), MPI_ERR_TYPE);
    WRONG(ACC(1, mixed, 0, MPI_SUM), MPI_ERR_TYPE);
    WRONG(ACC(1, mixed, 0, MPI_REPLACE), MPI_ERR_TYPE);
    WRONG(MPI_Accumulate(x, 1, MPI_DOUBLE, t, 0, 2, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE);
    WRONG(MPI_Accumulate(x, 1, odd, t, 0, 2, MPI_DOUBLE, MPI_SUM, win), MPI_ERR_TYPE);
    WRONG(MPI_Get_accumulate(x, 1, MPI_DOUBLE, r, 1, null, t, 0, 1, MPI_DOUBLE, MPI_SUM, win),
          MPI_ERR_TYPE);
    WRONG(MPI_Get_accumulate(x, 1, MPI_DOUBLE, r, 2, MPI_FLOAT, t, 0, 1, MPI_DOUBLE, MPI_SUM, win),
          MPI_ERR_TYPE);
    WRONG(MPI_Fetch_and_op(x, r, null, t, 0, MPI_SUM, win), MPI_ERR_TYPE);
    WRONG(MPI_Fetch_and_op(x, r, raw, t, 0, MPI_SUM, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, null, t, 0, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_DOUBLE, t, 0, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_FLOAT, t, 0, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_C_DOUBLE_COMPLEX, t, 0, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_2INT, t, 0, win), MPI_ERR_TYPE);
    WRONG(MPI_Compare_and_swap(x, x, r, strided, t, 0, win), MPI_ERR_TYPE);
    /* operations */
    WRONG(ACC(1, MPI_DOUBLE, 0, MPI_NO_OP), MPI_ERR_OP);
    WRONG(MPI_Raccumulate(x, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, MPI_NO_OP, win, &q), MPI_ERR_OP);
    WRONG(ACC(1, MPI_DOUBLE, 0, mine), MPI_ERR_OP);
    WRONG(GACC(1, MPI_DOUBLE, 0, mine), MPI_ERR_OP);
    WRONG(MPI_Fetch_and_op(x, r, MPI_DOUBLE, t, 0, mine, win), MPI_ERR_OP);
    WRONG(ACC(1, strided, 0, MPI_BOR), MPI_ERR_OP);
    WRONG(ACC(0, MPI_DOUBLE, 0, MPI_OP_NULL), MPI_ERR_OP);
    /* counts, ranks, displacements: also where there is nothing to move */
    WRONG(ACC(-1, MPI_DOUBLE, 0, MPI_SUM), MPI_ERR_COUNT);
    WRONG(
        MPI_Get_accumulate(x, 1, MPI_DOUBLE, r, -1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, MPI_SUM, win),
        MPI_ERR_COUNT);
    WRONG(MPI_Put(x, 0, MPI_DOUBLE, np, 0, 0, MPI_DOUBLE, win), MPI_ERR_RANK);
    WRONG(MPI_Get(r, 0, MPI_DOUBLE, MPI_ANY_SOURCE, 0, 0, MPI_DOUBLE, win), MPI_ERR_RANK);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_LONG, np, 0, win), MPI_ERR_RANK);
    WRONG(MPI_Compare_and_swap(x, x, r, MPI_LONG, t, -1, win), MPI_ERR_DISP);
    WRONG(MPI_Fetch_and_op(x, r, MPI_LONG, t, -1, MPI_SUM, win), MPI_ERR_DISP);
    WRONG(MPI_Win_flush(np, win), MPI_ERR_RANK);
    WRONG(MPI_Win_flush_local(-4, win), MPI_ERR_RANK);
    WRONG(MPI_Win_unlock(np, win), MPI_ERR_RANK);
    /* epochs */
    WRONG(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
}

static void wrong_elsewhere(int t)
{
    MPI_Win none = MPI_WIN_NULL;
    int key = MPI_KEYVAL_INVALID;
    MPI_Errhandler null = MPI_ERRHANDLER_NULL;

    WRONG(MPI_Put(x, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, none), MPI_ERR_WIN);
    WRONG(MPI_Rget(r, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, none, &q), MPI_ERR_WIN);
    WRONG(MPI_Fetch_and_op(x, r, MPI_DOUBLE, t, 0, MPI_SUM, none), MPI_ERR_WIN);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, none), MPI_ERR_WIN);
    WRONG(MPI_Win_flush_all(none), MPI_ERR_WIN);
    WRONG(MPI_Win_sync(none), MPI_ERR_WIN);
    WRONG(MPI_Win_set_name(none, "x"), MPI_ERR_WIN);
    WRONG(MPI_Win_set_errhandler(none, MPI_ERRORS_RETURN), MPI_ERR_WIN);
    WRONG(MPI_Win_set_errhandler(win, null), MPI_ERR_ARG);
    WRONG(MPI_Win_set_attr(win, key, NULL), MPI_ERR_KEYVAL);
    WRONG(MPI_Win_set_info(win, MPI_INFO_NULL), MPI_ERR_INFO);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, -3, 0, win), MPI_ERR_RANK);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, t, MPI_MODE_NOSTORE << 10, win), MPI_ERR_ASSERT);
    WRONG(MPI_Win_unlock(t, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
}

/* Requests exist in passive epochs only (11.3.5). */
static void wrong_in_fence(int t)
{
    WRONG(MPI_Rput(x, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, win, &q), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Rget(r, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, win, &q), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Raccumulate(x, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, MPI_SUM, win, &q),
          MPI_ERR_RMA_SYNC);
    WRONG(MPI_Rget_accumulate(x, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, t, 0, 1, MPI_DOUBLE, MPI_SUM, win,
                              &q),
          MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_flush_local(t, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock(t, win), MPI_ERR_RMA_SYNC);
}

static void fine(int t)
{
    MPI_Datatype null = MPI_DATATYPE_NULL;
    int none = MPI_PROC_NULL;
    MPI_Request all[4];
    long a = 1, b = 2;

    CHECK(MPI_Put(x, 1, strided, none, -5, 1, strided, win) == MPI_SUCCESS);
    CHECK(MPI_Get(r, 3, MPI_DOUBLE, none, 1 << 30, 3, MPI_DOUBLE, win) == MPI_SUCCESS);
    CHECK(MPI_Accumulate(x, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Get_accumulate(x, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, MPI_SUM,
                             win) == MPI_SUCCESS);
    CHECK(MPI_Fetch_and_op(x, r, MPI_DOUBLE, none, 0, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Compare_and_swap(&a, &a, &b, MPI_LONG, none, 0, win) == MPI_SUCCESS && b == 2);
    CHECK(MPI_Rput(x, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, win, &all[0]) == MPI_SUCCESS);
    CHECK(MPI_Rget(r, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, win, &all[1]) == MPI_SUCCESS);
    CHECK(MPI_Raccumulate(x, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, MPI_SUM, win, &all[2]) ==
          MPI_SUCCESS);
    CHECK(MPI_Rget_accumulate(x, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, none, 0, 1, MPI_DOUBLE, MPI_SUM,
                              win, &all[3]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(4, all, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Put(x, 0, MPI_DOUBLE, t, 0, 0, MPI_DOUBLE, win) == MPI_SUCCESS);
    CHECK(MPI_Put(NULL, 0, strided, t, N, 0, strided, win) == MPI_SUCCESS); /* at the very end */
    CHECK(ACC(0, MPI_DOUBLE, 0, MPI_SUM) == MPI_SUCCESS);
    CHECK(GACC(0, strided, N, MPI_SUM) == MPI_SUCCESS);
    CHECK(MPI_Rput(x, 0, MPI_DOUBLE, t, 0, 0, MPI_DOUBLE, win, &q) == MPI_SUCCESS);
    CHECK(MPI_Wait(&q, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    /* up to the last byte */
    CHECK(MPI_Get_accumulate(NULL, 0, null, r, 4, MPI_DOUBLE, t, N - 7, 1, strided, MPI_NO_OP,
                             win) == MPI_SUCCESS);
    CHECK(MPI_Get(r, 4, MPI_DOUBLE, t, N - 7, 1, strided, win) == MPI_SUCCESS);
    CHECK(MPI_Get(r, 2, MPI_DOUBLE, t, 2, 1, back, win) == MPI_SUCCESS);
    CHECK(MPI_Get(r, N * 8, MPI_BYTE, t, 0, N, MPI_DOUBLE, win) == MPI_SUCCESS);
    CHECK(MPI_Win_flush(none, win) == MPI_SUCCESS && MPI_Win_flush_local(none, win) == MPI_SUCCESS);
    CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, none, 0, win) == MPI_SUCCESS &&
          MPI_Win_unlock(none, win) == MPI_SUCCESS);
}

static void make_types(void)
{
    int len[2] = {1, 1}, disp[2] = {-2, 0};
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT};

    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_indexed(2, len, disp, MPI_DOUBLE, &back);
    MPI_Type_create_struct(2, len, at, parts, &mixed);
    MPI_Type_contiguous(4, MPI_FLOAT, &odd);
    MPI_Type_contiguous(2, MPI_DOUBLE, &raw);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&back);
    MPI_Type_commit(&mixed);
    MPI_Type_commit(&odd);
    MPI_Op_create(sum, 1, &mine);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    make_types();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_allocate(N * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < N; i++) {
        mem[i] = before[i] = 100 * me + i;
        x[i] = 0.5;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int t = (me + 1) % np;
    wrong_elsewhere(t);
    MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win);
    wrong_in_lock(t);
    fine(t);
    MPI_Win_unlock(t, win);
    MPI_Win_fence(0, win);
    wrong_in_fence(t);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memcmp(mem, before, sizeof before) == 0);
    MPI_Win gone = win;
    MPI_Win_free(&win);
    WRONG(MPI_Win_fence(0, gone), MPI_ERR_WIN);
    MPI_Type_free(&strided);
    MPI_Type_free(&back);
    MPI_Type_free(&mixed);
    MPI_Type_free(&odd);
    MPI_Type_free(&raw);
    MPI_Op_free(&mine);
    return finish();
}
