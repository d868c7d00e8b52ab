/* SPDX-License-Identifier: BSD-3-Clause
 * MPI-3.1, 11.6: misuse of dynamic and shared windows, of post and start: the class that MPI names,
 * and no harm done.
 */
#include <stdint.h>

#include "errors.h"

static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint at;
    long *mem = calloc(1000, sizeof *mem), v = 1;
    void *hole = (void *)(uintptr_t)0x10000;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, mem + 100, 800) == MPI_SUCCESS);
    WRONG(MPI_Win_attach(win, mem + 150, 8), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, mem + 50, 500), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, mem + 50, 4000), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, mem + 100, 800), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, hole, 100), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, NULL, 100), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_attach(win, mem, -1), MPI_ERR_SIZE);
    WRONG(MPI_Win_detach(win, mem + 101), MPI_ERR_RMA_ATTACH);
    CHECK(MPI_Win_attach(win, mem + 200, 80) == MPI_SUCCESS);
    MPI_Get_address(mem, &at);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    CHECK(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 100, 1, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 199, 1, MPI_LONG, win) == MPI_SUCCESS);
    WRONG(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 99, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 100 - 1, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 209 + 1, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Get(&v, 1, MPI_LONG, me, at + 8 * 500, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    WRONG(MPI_Accumulate(&v, 1, MPI_LONG, me, at + 8 * 210, 1, MPI_LONG, MPI_SUM, win),
          MPI_ERR_RMA_RANGE);
    WRONG(MPI_Fetch_and_op(&v, &v, MPI_LONG, me, 8, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(me, win);
    CHECK(mem[99] == 0 && mem[100] == 1 && mem[199] == 1 && mem[210] == 0);
    CHECK(MPI_Win_detach(win, mem + 200) == MPI_SUCCESS);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    WRONG(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 200, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
    CHECK(MPI_Put(&v, 1, MPI_LONG, me, at + 8 * 199, 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_unlock(me, win);
    WRONG(MPI_Win_detach(win, mem + 200), MPI_ERR_RMA_ATTACH);
    WRONG(MPI_Win_shared_query(win, 0, &at, &(int){0}, &hole), MPI_ERR_RMA_FLAVOR);
    MPI_Win_free(&win);
    free(mem);
}

static void shared(void)
{
    MPI_Win win;
    MPI_Aint bytes;
    long *mem;
    int unit;
    MPI_Win_allocate_shared(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    WRONG(MPI_Win_shared_query(win, np, &bytes, &unit, &mem), MPI_ERR_RANK);
    WRONG(MPI_Win_attach(win, mem, 8), MPI_ERR_RMA_FLAVOR);
    WRONG(MPI_Win_detach(win, mem), MPI_ERR_RMA_FLAVOR);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

static void epochs(void)
{
    MPI_Win win;
    MPI_Group all;
    long *mem, v = 0;
    int flag;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    WRONG(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    WRONG(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    WRONG(MPI_Win_post(all, MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    WRONG(MPI_Win_start(all, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK(MPI_Win_post(all, 0, win) == MPI_SUCCESS);
    WRONG(MPI_Win_post(all, 0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Put(&v, 1, MPI_LONG, me, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Win_start(all, 0, win) == MPI_SUCCESS);
    WRONG(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    WRONG(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(MPI_Put(&v, 1, MPI_LONG, 0, me % 10, 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_lock_all(0, win);
    WRONG(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock_all(win);
    MPI_Group some;
    MPI_Group_incl(all, 1, (int[]){0}, &some);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        MPI_Win_post(all, 0, win);
    MPI_Win_start(some, 0, win);
    CHECK(MPI_Put(&v, 1, MPI_LONG, 0, me % 10, 1, MPI_LONG, win) == MPI_SUCCESS);
    if (np > 1)
        WRONG(MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    MPI_Win_complete(win);
    if (me == 0)
        MPI_Win_wait(win);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    dynamic();
    shared();
    epochs();
    return finish();
}
