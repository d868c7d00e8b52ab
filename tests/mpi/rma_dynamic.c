/* SPDX-License-Identifier: BSD-3-Clause
 * MPI-3.1, 11.2.4: dynamic windows: attach and detach, addresses as displacements, thousands of
 * regions, such as share pages.
 */
#include "check.h"

static int right, left;

static MPI_Aint address(const void *p)
{
    MPI_Aint a;
    MPI_Get_address(p, &a);
    return a;
}

/* What each rank reports about itself to its left neighbour, which accesses it. */
static MPI_Aint of_right(MPI_Aint mine)
{
    MPI_Aint theirs;
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return theirs;
}

static void attributes(MPI_Win win)
{
    void *base = &base;
    MPI_Aint *size;
    int *number, flag;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == MPI_BOTTOM);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == 0);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    CHECK(flag && *number == 1);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
    CHECK(flag && (*number == MPI_WIN_UNIFIED || *number == MPI_WIN_SEPARATE));
}

static void every_call(MPI_Win win)
{
    enum { N = 1000 };
    double *mem = malloc(N * sizeof *mem), v[3], sum = 1.5;
    long counter = 5, one = 1, was, big = 77;
    for (int i = 0; i < N; i++)
        mem[i] = me * 10000 + i;
    MPI_Win_attach(win, mem, N * sizeof *mem);
    MPI_Win_attach(win, &counter, sizeof counter);
    MPI_Aint there = of_right(address(mem)), count = of_right(address(&counter));
    MPI_Win_fence(0, win);
    MPI_Get(v, 3, MPI_DOUBLE, right, MPI_Aint_add(there, 10 * sizeof *mem), 3, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++)
        CHECK(v[i] == right * 10000 + 10 + i);
    MPI_Put(v, 3, MPI_DOUBLE, right, there, 3, MPI_DOUBLE, win);
    MPI_Accumulate(&sum, 1, MPI_DOUBLE, right, there + 8 * (N - 1), 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 3; i++)
        CHECK(mem[i] == me * 10000 + 10 + i);
    CHECK(mem[N - 1] == me * 10000 + N - 1 + 1.5);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Fetch_and_op(&one, &was, MPI_LONG, right, count, MPI_SUM, win);
    MPI_Win_flush(right, win);
    CHECK(was == 5);
    one = 6;
    MPI_Compare_and_swap(&big, &one, &was, MPI_LONG, right, count, win);
    MPI_Win_unlock(right, win);
    CHECK(was == 6);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(counter == 77);
    MPI_Datatype odd;
    MPI_Request req;
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &odd);
    MPI_Type_commit(&odd);
    double four[4] = {me + .1, me + .2, me + .3, me + .4}, back[4] = {0};
    MPI_Win_lock_all(0, win);
    MPI_Rput(four, 4, MPI_DOUBLE, right, there + 8 * 100, 1, odd, win, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget(back, 4, MPI_DOUBLE, right, there + 8 * 100, 1, odd, win, &req);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK(memcmp(back, four, sizeof four) == 0);
    MPI_Get_accumulate(four, 4, MPI_DOUBLE, back, 4, MPI_DOUBLE, right, there + 8 * 100, 1, odd,
                       MPI_SUM, win);
    MPI_Win_unlock_all(win);
    CHECK(back[3] == me + .4);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        CHECK(mem[100 + 3 * i] == 2 * (left + (i + 1) / 10.) ||
              mem[100 + 3 * i] - 2 * (left + (i + 1) / 10.) < 1e-9);
    CHECK(mem[101] == me * 10000 + 101);
    MPI_Type_free(&odd);
    MPI_Win_detach(win, mem);
    MPI_Win_detach(win, &counter);
    free(mem);
}

/* Thousands of small pieces, neighbours on the same pages, every other one is attached; some go,
 * others come. */
static void many(MPI_Win win)
{
    enum { PIECES = 4000, WORDS = 9 };
    long *mem = malloc((size_t)PIECES * WORDS * sizeof *mem), sum = 0, v;
    for (long i = 0; i < PIECES * WORDS; i++)
        mem[i] = -1;
    for (int i = 0; i < PIECES; i += 2)
        MPI_Win_attach(win, &mem[i * WORDS], (WORDS - 1) * sizeof *mem);
    MPI_Aint there = of_right(address(mem));
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    for (long i = 0; i < PIECES; i += 2) {
        v = i + me;
        MPI_Put(&v, 1, MPI_LONG, right, there + (i * WORDS + i % (WORDS - 1)) * (MPI_Aint)sizeof v,
                1, MPI_LONG, win);
        MPI_Win_flush_local(right, win); /* v is free */
    }
    MPI_Win_unlock(right, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < PIECES * WORDS; i++) {
        long piece = i / WORDS, word = i % WORDS;
        CHECK(mem[i] == (piece % 2 == 0 && word == piece % (WORDS - 1) ? piece + left : -1));
    }
    for (int i = 0; i < PIECES; i += 4)
        MPI_Win_detach(win, &mem[i * WORDS]);
    for (int i = 1; i < PIECES; i += 4)
        MPI_Win_attach(win, &mem[i * WORDS], sizeof *mem);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (long i = 1; i < PIECES; i++) {
        if (i % 4 == 0 || i % 4 == 3)
            continue;
        v = 1;
        MPI_Fetch_and_op(&v, &sum, MPI_LONG, right, there + i * WORDS * (MPI_Aint)sizeof v, MPI_SUM,
                         win);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < PIECES; i++) {
        long was = i % (WORDS - 1) == 0 ? i + left : -1;
        CHECK(mem[i * WORDS] == was + (i % 4 == 1 || i % 4 == 2));
    }
    for (int i = 1; i < PIECES; i++)
        if (i % 4 == 1 || i % 4 == 2)
            MPI_Win_detach(win, &mem[i * WORDS]);
    free(mem);
}

/* Regions that touch are as good as one; nothing at all; large ones; static data. */
static void kinds(MPI_Win win)
{
    static int fixed[3000];
    char *mem = malloc(5 << 20);
    int v[3000];
    memset(mem, 9, 5 << 20);
    MPI_Win_attach(win, mem + 100, 50);
    MPI_Win_attach(win, mem, 100);
    MPI_Win_attach(win, mem + 4096, (5 << 20) - 4096);
    MPI_Win_attach(win, fixed, sizeof fixed);
    MPI_Win_attach(win, mem + 200, 0);
    MPI_Aint there = of_right(address(mem)), data = of_right(address(fixed));
    for (int i = 0; i < 3000; i++)
        v[i] = me + i;
    MPI_Win_fence(0, win);
    MPI_Put(v, 100, MPI_CHAR, right, there + 50, 100, MPI_CHAR, win);
    MPI_Put(v, 3000, MPI_INT, right, there + (4 << 20), 3000, MPI_INT, win);
    MPI_Put(v, 3000, MPI_INT, right, data, 3000, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3000; i++) {
        v[i] = left + i;
        CHECK(fixed[i] == left + i);
    }
    CHECK(memcmp(mem + (4 << 20), v, sizeof v) == 0 && memcmp(mem + 50, v, 100) == 0 &&
          mem[49] == 9 && mem[150] == 9);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_detach(win, mem + 200);
    MPI_Win_detach(win, fixed);
    MPI_Win_detach(win, mem);
    MPI_Win_detach(win, mem + 100);
    MPI_Win_detach(win, mem + 4096);
    free(mem);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Info info;
    start(&argc, &argv);
    right = (me + 1) % np;
    left = (me + np - 1) % np;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    attributes(win);
    every_call(win);
    many(win);
    kinds(win);
    every_call(win);
    MPI_Win_free(&win);
    return finish();
}
