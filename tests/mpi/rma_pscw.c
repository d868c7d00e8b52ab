/* SPDX-License-Identifier: BSD-3-Clause
 * MPI-3.1, 11.5.2: post, start, complete, wait, test: groups that differ for each call, empty ones,
 * the process itself, several windows at a time, exposure and access at once.
 */
#include "check.h"

#define CELLS 64

static MPI_Group world;

static MPI_Group group_of(const int *ranks, int n)
{
    MPI_Group g;
    MPI_Group_incl(world, n, ranks, &g);
    return g;
}

/* Everybody puts to its right neighbour, itself if it is alone. */
static void ring(MPI_Win win, int *mem)
{
    int left = (me + np - 1) % np, right = (me + 1) % np;
    MPI_Group from = group_of(&left, 1), to = group_of(&right, 1);
    for (int i = 0; i < 20; i++) {
        int v = 100 * i + me;
        MPI_Win_post(from, i % 2 ? MPI_MODE_NOSTORE : 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&v, 1, MPI_INT, right, i, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        CHECK(mem[i] == 100 * i + left);
    }
    MPI_Group_free(&from);
    MPI_Group_free(&to);
}

/* Round i: rank i % np is accessed by all (including itself), and gets from all; the others do not
 * interact. */
static void one_target(MPI_Win win, int *mem)
{
    int all[16];
    for (int i = 0; i < np; i++)
        all[i] = i;
    MPI_Group everybody = group_of(all, np);
    for (int i = 0; i < 2 * np; i++) {
        int target = i % np, v = 1000 * i + me, one = 1, first = -1;
        MPI_Group to = group_of(&target, 1);
        mem[CELLS - 1] = 7;
        if (me == target)
            MPI_Win_post(everybody, 0, win);
        MPI_Win_start(to, 0, win);
        MPI_Put(&v, 1, MPI_INT, target, me, 1, MPI_INT, win);
        MPI_Accumulate(&one, 1, MPI_INT, target, CELLS - 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Get(&first, 1, MPI_INT, target, 16, 1, MPI_INT, win);
        MPI_Win_complete(win);
        CHECK(first == 16 * 3 + target);
        if (me == target) {
            MPI_Win_wait(win);
            for (int r = 0; r < np; r++)
                CHECK(mem[r] == 1000 * i + r);
            CHECK(mem[CELLS - 1] == 7 + np);
        }
        MPI_Group_free(&to);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&everybody);
}

/* An access epoch on one window inside of one on another; the exposures end in the other order, by
 * test. */
static void two_windows(MPI_Win a, MPI_Win b, int *mem_a, int *mem_b)
{
    int all[16], n = 0, flag;
    for (int i = 0; i < np; i++)
        if (i != me)
            all[n++] = i;
    MPI_Group others = group_of(all, n);
    for (int i = 0; i < 5; i++) {
        int v[2] = {i * 10 + me, i * 20 + me};
        MPI_Win_post(others, 0, a);
        MPI_Win_post(others, MPI_MODE_NOCHECK, b);
        MPI_Barrier(MPI_COMM_WORLD); /* what NOCHECK promises */
        MPI_Win_start(others, MPI_MODE_NOCHECK, b);
        MPI_Win_start(others, 0, a);
        for (int j = 0; j < n; j++) {
            MPI_Put(&v[0], 1, MPI_INT, all[j], me, 1, MPI_INT, a);
            MPI_Put(&v[1], 1, MPI_INT, all[j], me, 1, MPI_INT, b);
        }
        MPI_Win_complete(b);
        MPI_Win_complete(a);
        do
            MPI_Win_test(b, &flag);
        while (!flag);
        for (int j = 0; j < n; j++)
            CHECK(mem_b[all[j]] == i * 20 + all[j]);
        do
            MPI_Win_test(a, &flag);
        while (!flag);
        for (int j = 0; j < n; j++)
            CHECK(mem_a[all[j]] == i * 10 + all[j]);
    }
    MPI_Group_free(&others);
}

/* A test returns no as long as a rank is inside; then yes, which ends the epoch. */
static void test_waits(MPI_Win win, int *mem)
{
    int flag = 1, v = 55;
    if (np < 2)
        return;
    if (me == 0) {
        int other = 1;
        MPI_Group from = group_of(&other, 1);
        mem[3] = 0;
        MPI_Win_post(from, 0, win);
        MPI_Win_test(win, &flag);
        CHECK(!flag); /* rank 1 waits for a message */
        MPI_Send(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        while (!flag)
            MPI_Win_test(win, &flag);
        CHECK(mem[3] == 55);
        MPI_Win_post(from, 0, win);
        MPI_Win_wait(win);
        CHECK(mem[3] == 56);
        MPI_Group_free(&from);
    } else if (me == 1) {
        int other = 0;
        MPI_Group to = group_of(&other, 1);
        MPI_Win_start(to, 0, win);
        MPI_Recv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_complete(win);
        v++;
        MPI_Win_start(to, 0, win);
        MPI_Put(&v, 1, MPI_INT, 0, 3, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Group_free(&to);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void empty_groups(MPI_Win win)
{
    int flag = 0;
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_test(win, &flag);
    CHECK(flag);
}

int main(int argc, char **argv)
{
    int *a, *b;
    MPI_Win wa, wb;
    start(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_allocate(CELLS * sizeof *a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &a, &wa);
    MPI_Win_allocate(CELLS * sizeof *b, sizeof *b, MPI_INFO_NULL, MPI_COMM_WORLD, &b, &wb);
    for (int i = 0; i < CELLS; i++)
        a[i] = b[i] = 3 * i + me;
    a[16] = b[16] = 3 * 16 + me;
    MPI_Barrier(MPI_COMM_WORLD);
    one_target(wa, a);
    ring(wa, a);
    ring(wb, b);
    empty_groups(wa);
    MPI_Barrier(MPI_COMM_WORLD);
    two_windows(wa, wb, a, b);
    test_waits(wb, b);
    /* and fences and locks on the same window */
    int v = me;
    MPI_Win_fence(0, wa);
    MPI_Put(&v, 1, MPI_INT, (me + 1) % np, 40, 1, MPI_INT, wa);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, wa);
    CHECK(a[40] == (me + np - 1) % np);
    ring(wa, a);
    MPI_Win_lock(MPI_LOCK_SHARED, (me + 1) % np, 0, wa);
    MPI_Get(&v, 1, MPI_INT, (me + 1) % np, 40, 1, MPI_INT, wa);
    MPI_Win_unlock((me + 1) % np, wa);
    CHECK(v == me);
    MPI_Group_free(&world);
    MPI_Win_free(&wb);
    MPI_Win_free(&wa);
    return finish();
}
