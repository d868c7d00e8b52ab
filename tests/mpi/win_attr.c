/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_attr.c - the properties of windows: attributes with callbacks, names, info, groups, Fortran
 * handles.
 */
#include "check.h"

static int deleted, refuse;

static int delete_fn(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval;
    CHECK(*(int *)extra == 42);
    if (refuse)
        return MPI_ERR_OTHER;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void predefined(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *at;
    MPI_Aint *size;
    int *number, flag;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &at, &flag);
    CHECK(flag && at == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == bytes);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    CHECK(flag && *number == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == flavor);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
    CHECK(flag && (*number == MPI_WIN_UNIFIED || *number == MPI_WIN_SEPARATE));
}

static void keyvals(MPI_Win *win)
{
    int key, second, extra = 42, one = 1, ten = 10, flag, *got;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_fn, &key, &extra);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &second, NULL);
    CHECK(key != second);
    MPI_Win_get_attr(*win, key, &got, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(*win, key, &one);
    MPI_Win_set_attr(*win, second, &ten);
    MPI_Win_get_attr(*win, key, &got, &flag);
    CHECK(flag && got == &one);
    MPI_Win_set_attr(*win, key, &ten); /* deletes the old value */
    CHECK(deleted == 1);
    MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    refuse = 1;
    CHECK(MPI_Win_delete_attr(*win, key) != MPI_SUCCESS);
    refuse = 0;
    MPI_Win_get_attr(*win, key, &got, &flag);
    CHECK(flag && got == &ten);
    CHECK(MPI_Win_delete_attr(*win, key) == MPI_SUCCESS && deleted == 11);
    MPI_Win_get_attr(*win, key, &got, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(*win, key, &one);
    MPI_Win_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID && deleted == 11);
    MPI_Win_free(win); /* deletes what is left, the freed keyval's too */
    CHECK(deleted == 12);
    MPI_Win_free_keyval(&second);
}

static void names_and_info(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME], value[64];
    int len, flag;
    MPI_Info info;

    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, name, &len);
    CHECK(len == 8 && strcmp(name, "a window") == 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "a_key_that_nobody_knows", "x");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "no_locks", (int)sizeof value - 1, value, &flag);
    CHECK(!flag || strcmp(value, "false") == 0);
    MPI_Info_get(info, "accumulate_ordering", (int)sizeof value - 1, value,
                 &flag); /* its default; the host leaves it out */
    CHECK(!flag || strcmp(value, "rar,raw,war,waw") == 0);
    MPI_Info_free(&info);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

static void groups(MPI_Win win)
{
    MPI_Group group, world;
    int same;

    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    long mine[100], *mem;
    MPI_Win win, second;

    start(&argc, &argv);
    MPI_Win_allocate(1000 + 8 * me, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_create(mine, sizeof mine, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    CHECK(win != second);
    predefined(win, mem, 1000 + 8 * me, 8, MPI_WIN_FLAVOR_ALLOCATE);
    predefined(second, mine, sizeof mine, 4, MPI_WIN_FLAVOR_CREATE);
    names_and_info(win);
    groups(second);
    keyvals(&win);
    MPI_Win_free(&second);
    return finish();
}
