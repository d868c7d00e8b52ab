/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_fence.c - puts, gets and accumulates between fences, with all assertions; zero counts;
 * MPI_PROC_NULL; displacement units.
 */
#include "check.h"

enum { N = 64 };

static void ring(MPI_Win win, double *mem)
{
    int right = (me + 1) % np, left = (me + np - 1) % np;
    double out[N], in[N];

    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = 1000.0 * me + 10.0 * round + i;
            mem[i] = -1.0;
            in[i] = -2.0;
        }
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(out, N, MPI_DOUBLE, right, 0, N, MPI_DOUBLE, win);
        MPI_Win_fence(MPI_MODE_NOSTORE, win);
        for (int i = 0; i < N; i++)
            CHECK(mem[i] == 1000.0 * left + 10.0 * round + i);
        MPI_Get(in, N, MPI_DOUBLE, right, 0, N, MPI_DOUBLE, win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == out[i]);
    }
}

static void sums(MPI_Win win, double *mem)
{
    double one[N];

    for (int i = 0; i < N; i++) {
        mem[i] = i;
        one[i] = me + 1.0;
    }
    MPI_Win_fence(0, win);
    for (int t = 0; t < np; t++)
        MPI_Accumulate(one, N, MPI_DOUBLE, t, 0, N, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < N; i++)
        CHECK(mem[i] == i + np * (np + 1) / 2.0);
}

static void nothing(MPI_Win win, double *mem)
{
    double x = 5.0;

    mem[0] = 7.0;
    MPI_Win_fence(0, win);
    MPI_Put(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
    MPI_Get(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win);
    MPI_Accumulate(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Put(&x, 0, MPI_DOUBLE, (me + 1) % np, 0, 0, MPI_DOUBLE, win);
    MPI_Get(&x, 0, MPI_DOUBLE, (me + 1) % np, 0, 0, MPI_DOUBLE, win);
    MPI_Accumulate(&x, 0, MPI_DOUBLE, (me + 1) % np, 0, 0, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(x == 5.0 && mem[0] == 7.0);
}

/* Each rank has a displacement unit and a size of its own. */
static void units(void)
{
    static const int unit[] = {1, 2, 4, 8};
    char *mem;
    MPI_Win win;
    int right = (me + 1) % np, u = unit[right % 4];

    MPI_Win_allocate(64 * (me + 1), unit[me % 4], MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, 64 * (size_t)(me + 1));
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, right, (64 * (right + 1) - 8) / u, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    int got;
    memcpy(&got, mem + 64 * (me + 1) - 8, sizeof got);
    CHECK(got == (me + np - 1) % np);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

int main(int argc, char **argv)
{
    double *mem;
    MPI_Win win;

    start(&argc, &argv);
    MPI_Win_allocate(N * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    ring(win, mem);
    sums(win, mem);
    nothing(win, mem);
    MPI_Win_free(&win);
    units();
    return finish();
}
