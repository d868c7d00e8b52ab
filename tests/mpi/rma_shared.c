/* SPDX-License-Identifier: BSD-3-Clause
 * MPI-3.1, 11.2.3: shared windows: loads and stores by all members, contiguous parts, sizes that
 * differ, the query.
 */
#include "check.h"

static MPI_Comm node;

static void attributes(MPI_Win win, const void *mine, MPI_Aint bytes, int unit)
{
    void *base;
    MPI_Aint *size;
    int *number, flag;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && (base == mine || bytes == 0));
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == bytes);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    CHECK(flag && *number == unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == MPI_WIN_FLAVOR_SHARED);
}

static void *query(MPI_Win win, int rank, MPI_Aint *bytes, int *unit)
{
    void *p;
    MPI_Win_shared_query(win, rank, bytes, unit, &p);
    return p;
}

/* Everybody writes all of everybody's part in turn, by stores. */
static void contiguous(MPI_Info info)
{
    enum { N = 700 };
    MPI_Win win;
    int *mine, *all, unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(N * sizeof *mine, sizeof *mine, info, node, &mine, &win);
    attributes(win, mine, N * sizeof *mine, sizeof *mine);
    all = query(win, 0, &bytes, &unit);
    CHECK(unit == (int)sizeof *mine);
    CHECK(bytes == N * sizeof *mine ||
          (info != MPI_INFO_NULL && bytes > (MPI_Aint)(N * sizeof *mine)));
    CHECK(all + (size_t)me * N == mine || info != MPI_INFO_NULL);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int turn = 0; turn < np; turn++) {
        for (int r = 0; me == turn && r < np; r++) {
            int *part = query(win, r, &bytes, &unit);
            CHECK(info != MPI_INFO_NULL || part == all + (size_t)r * N);
            for (int i = 0; i < N; i++)
                part[i] = turn * 100000 + r * 1000 + i;
        }
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        for (int i = 0; i < N; i++)
            CHECK(mine[i] == turn * 100000 + me * 1000 + i);
        MPI_Barrier(node);
    }
    MPI_Win_unlock_all(win);
    /* and by calls */
    int v = me, one = 1, right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Win_fence(0, win);
    MPI_Put(&v, 1, MPI_INT, right, 5, 1, MPI_INT, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 6, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(mine[5] == left);
    int *first = query(win, 0, &bytes, &unit);
    CHECK(first[6] == (np - 1) * 100000 + 6 + np);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Sizes that differ, odd ones, none; units too. */
static void uneven(void)
{
    MPI_Win win;
    char *mine, *at;
    int unit;
    MPI_Aint bytes, size = me % 2 ? 1000 * me + 3 : 0;
    MPI_Win_allocate_shared(size, me + 1, MPI_INFO_NULL, node, &mine, &win);
    attributes(win, mine, size, me + 1);
    memset(mine, me, (size_t)size);
    MPI_Win_fence(0, win);
    char *end = NULL;
    for (int r = 0; r < np; r++) {
        at = query(win, r, &bytes, &unit);
        CHECK(unit == r + 1 && bytes == (r % 2 ? 1000 * r + 3 : 0));
        for (MPI_Aint i = 0; i < bytes; i++)
            CHECK(at[i] == r);
        CHECK(bytes == 0 || !end || at == end);
        if (bytes)
            end = at + bytes;
    }
    at = query(win, MPI_PROC_NULL, &bytes, &unit);
    if (np > 1) {
        void *first = query(win, 1, &size, &unit);
        CHECK(bytes == 1003 && at == first);
    } else {
        CHECK(bytes == 0);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Its memory is that of another window, too: here each part is the predecessor's. */
static void of_shared_memory(void)
{
    enum { N = 600 };
    MPI_Win win, other;
    int *mine, unit, left = (me + np - 1) % np, right = (me + 1) % np;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(N * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &win);
    memset(mine, 0, N * sizeof *mine);
    MPI_Win_create(query(win, left, &bytes, &unit), N * sizeof *mine, sizeof *mine, MPI_INFO_NULL,
                   node, &other);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, other);
    MPI_Barrier(node);
    for (int r = 0; r < np; r++) { /* into my place in everybody's part */
        int v = 1 + me * np + (r + np - 1) % np, seen = 0;
        MPI_Put(&v, 1, MPI_INT, r, N - 1 - me, 1, MPI_INT, other);
        MPI_Accumulate(&v, 1, MPI_INT, r, 0, 1, MPI_INT, MPI_SUM, other);
        MPI_Win_flush(r, other);
        MPI_Get(&seen, 1, MPI_INT, r, N - 1 - me, 1, MPI_INT, other);
        MPI_Win_flush(r, other);
        CHECK(seen == v);
    }
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    int sum = 0;
    for (int r = 0; r < np; r++) {
        CHECK(mine[N - 1 - r] == 1 + r * np + me);
        sum += 1 + r * np + me;
    }
    CHECK(mine[0] == sum && *(int *)query(win, right, &bytes, &unit) != 0);
    MPI_Win_unlock_all(other);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&other);
    MPI_Win_free(&win);
}

static void none_at_all(void)
{
    MPI_Win win;
    char *mine;
    int unit;
    MPI_Aint bytes = 1;
    MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, node, &mine, &win);
    query(win, MPI_PROC_NULL, &bytes, &unit);
    CHECK(bytes == 0);
    MPI_Win_free(&win);
}

static void alone(void)
{
    MPI_Win win;
    double *mine;
    int unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(80, 8, MPI_INFO_NULL, MPI_COMM_SELF, &mine, &win);
    CHECK(query(win, 0, &bytes, &unit) == mine && bytes == 80 && unit == 8);
    MPI_Win_fence(0, win);
    double v = me;
    MPI_Put(&v, 1, MPI_DOUBLE, 0, 9, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(mine[9] == me);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    start(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me); /* of several nodes, each is for itself */
    MPI_Comm_size(node, &np);
    contiguous(MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    contiguous(info);
    MPI_Info_free(&info);
    uneven();
    of_shared_memory();
    none_at_all();
    alone();
    MPI_Comm_free(&node);
    return finish();
}
