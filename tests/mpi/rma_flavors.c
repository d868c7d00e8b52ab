/* SPDX-License-Identifier: BSD-3-Clause
 * MPI-3.1, 11.2: what all kinds of windows have in common: attributes, names, info, keyvals, error
 * handlers, groups, handles of Fortran; on a communicator of all, of some in another order, and of
 * one; windows on memory of other windows.
 */
#include "check.h"

enum { FLAVORS = 4, BYTES = 400 };
static const int flavors[FLAVORS] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                     MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED};

static char *make(int flavor, MPI_Comm comm, MPI_Aint bytes, MPI_Win *win)
{
    static char room[8192];
    char *p = room;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "false");
    MPI_Info_set(info, "nobody_knows_this", "x");
    if (flavor == MPI_WIN_FLAVOR_CREATE)
        MPI_Win_create(p, bytes, 4, info, comm, win);
    else if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
        MPI_Win_allocate(bytes, 4, info, comm, &p, win);
    else if (flavor == MPI_WIN_FLAVOR_SHARED)
        MPI_Win_allocate_shared(bytes, 4, info, comm, &p, win);
    else
        MPI_Win_create_dynamic(info, comm, win);
    MPI_Info_free(&info);
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC && bytes)
        MPI_Win_attach(*win, p, bytes);
    return p;
}

static int deleted, five = 5;
static int count_deleted(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval;
    deleted += *(int *)value == 5 && extra == &deleted;
    return MPI_SUCCESS;
}

static int told;
static void tell(MPI_Win *win, int *code, ...)
{
    (void)win;
    MPI_Error_class(*code, &told);
}

static void handle(MPI_Win win, int flavor, MPI_Comm comm)
{
    int *number, flag, keyval, *got, len, result;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == flavor);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    CHECK(flag && *number == (flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : 4));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &keyval, &deleted);
    MPI_Win_set_attr(win, keyval, &five);
    MPI_Win_get_attr(win, keyval, &got, &flag);
    CHECK(flag && got == &five);
    deleted = 0;
    MPI_Win_delete_attr(win, keyval);
    CHECK(deleted == 1);
    MPI_Win_set_attr(win, keyval, &five);
    MPI_Win_free_keyval(&keyval);
    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, name, &len);
    CHECK(len == 8 && strcmp(name, "a window") == 0);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    MPI_Group a, b;
    MPI_Win_get_group(win, &a);
    MPI_Comm_group(comm, &b);
    MPI_Group_compare(a, b, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    MPI_Errhandler h, back;
    MPI_Win_create_errhandler(tell, &h);
    MPI_Win_set_errhandler(win, h);
    MPI_Win_get_errhandler(win, &back);
    CHECK(back == h);
    MPI_Errhandler_free(&back);
    MPI_Errhandler_free(&h);
    told = 0;
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(told == MPI_ERR_OTHER);
}

/* Each to the next one, by all the ways to synchronise. */
static void traffic(MPI_Win win, int flavor, MPI_Comm comm, const char *mem)
{
    int rank, size, v, flag = 0;
    MPI_Aint base = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        MPI_Get_address(mem, &base);
        MPI_Sendrecv_replace(&base, 1, MPI_AINT, from, 0, to, 0, comm, MPI_STATUS_IGNORE);
    }
    for (int way = 0; way < 4; way++) {
        MPI_Aint disp = flavor == MPI_WIN_FLAVOR_DYNAMIC ? base + 4 * way : way;
        MPI_Group all;
        v = 100 * rank + way;
        switch (way) {
        case 0:
            MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
            MPI_Put(&v, 1, MPI_INT, to, disp, 1, MPI_INT, win);
            MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE, win);
            break;
        case 1:
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
            MPI_Put(&v, 1, MPI_INT, to, disp, 1, MPI_INT, win);
            MPI_Win_unlock(to, win);
            MPI_Barrier(comm);
            break;
        case 2:
            MPI_Win_lock_all(0, win);
            MPI_Accumulate(&v, 1, MPI_INT, to, disp, 1, MPI_INT, MPI_REPLACE, win);
            MPI_Win_flush_all(win);
            MPI_Win_unlock_all(win);
            MPI_Barrier(comm);
            break;
        default:
            MPI_Comm_group(comm, &all);
            MPI_Win_post(all, 0, win);
            MPI_Win_start(all, 0, win);
            MPI_Put(&v, 1, MPI_INT, to, disp, 1, MPI_INT, win);
            MPI_Win_complete(win);
            while (!flag)
                MPI_Win_test(win, &flag);
            MPI_Group_free(&all);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        memcpy(&v, mem + 4 * way, 4);
        MPI_Win_unlock(rank, win);
        CHECK(v == 100 * from + way);
    }
}

static void on(MPI_Comm comm)
{
    for (int f = 0; f < FLAVORS; f++) {
        MPI_Win win, empty;
        const char *mem = make(flavors[f], comm, BYTES, &win);
        make(flavors[f], comm, 0, &empty);
        MPI_Barrier(comm);
        traffic(win, flavors[f], comm, mem);
        handle(win, flavors[f], comm);
        handle(empty, flavors[f], comm);
        MPI_Win_fence(0, empty);
        MPI_Win_free(&empty);
        deleted = 0;
        MPI_Win_free(&win);
        CHECK(deleted == 1 && win == MPI_WIN_NULL);
    }
}

/* The same memory is in several windows at a time: each sees what was done through another. */
static void overlapping(void)
{
    enum { N = 2000 };
    MPI_Win a, b, c, d;
    int *mem, v = 7 + me, to = (me + 1) % np;
    MPI_Aint base;
    MPI_Win_allocate(N * sizeof *mem, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &a);
    MPI_Win_create(mem, N * sizeof *mem / 2, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &b);
    MPI_Win_create(mem + 100, 400, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &c);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &d);
    MPI_Win_attach(d, mem + 50, 200);
    MPI_Get_address(mem, &base);
    MPI_Sendrecv_replace(&base, 1, MPI_AINT, (me + np - 1) % np, 0, to, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    mem[100] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win w[] = {a, b, c};
    MPI_Aint disp[] = {100, 100, 0};
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w[i]);
        MPI_Put(&v, 1, MPI_INT, to, disp[i], 1, MPI_INT, w[i]);
        MPI_Win_unlock(to, w[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(mem[100] == v - me + (me + np - 1) % np);
        MPI_Barrier(MPI_COMM_WORLD);
        v += 10;
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, d);
    MPI_Put(&v, 1, MPI_INT, to, base + 60 * 4, 1, MPI_INT, d);
    MPI_Win_unlock(to, d);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mem[60] == 37 + (me + np - 1) % np);
    MPI_Win_free(&d);
    MPI_Win_free(&c);
    MPI_Win_free(&b);
    MPI_Win_free(&a);
}

int main(int argc, char **argv)
{
    MPI_Comm backwards;
    start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, np - me, &backwards);
    on(MPI_COMM_WORLD);
    on(backwards);
    on(MPI_COMM_SELF);
    overlapping();
    MPI_Comm_free(&backwards);
    return finish();
}
