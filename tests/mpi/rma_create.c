/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_create.c - MPI_Win_create on memory of all kinds: heap, stack, static; overlapping windows;
 * small arrays side by side on one page; parts of size zero; MPI_COMM_SELF; a communicator freed
 * while its window lives.
 */
#include "check.h"

static long in_data[100] = {1, 2, 3};
static long in_bss[2000];

/* All put their ranks into element `me` of all parts, and then every part has them all. The rest
 * does not change. */
static void exchange(long *base, MPI_Aint n, MPI_Comm comm)
{
    int rank, size;
    MPI_Win win;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < n; i++)
        base[i] = -i - 1;
    MPI_Win_create(base, n * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, comm, &win);
    for (int i = 0; i < n; i++)
        CHECK(base[i] == -i - 1);
    MPI_Win_fence(0, win);
    for (int t = 0; t < size; t++)
        MPI_Put(&(long){rank}, 1, MPI_LONG, t, rank, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++)
        CHECK(base[i] == (i < size ? i : -i - 1));
    MPI_Win_free(&win);
    for (int i = 0; i < n; i++)
        CHECK(base[i] == (i < size ? i : -i - 1));
}

/* Two small arrays on one page, and a third that no window knows. */
static void neighbours(void)
{
    long *block = malloc(3 * 16 * sizeof *block), *a = block, *b = block + 32,
         *between = block + 16;
    int right = (me + 1) % np, left = (me + np - 1) % np;
    MPI_Win wa, wb;

    for (int i = 0; i < 48; i++)
        block[i] = i;
    MPI_Win_create(a, 16 * sizeof *a, sizeof *a, MPI_INFO_NULL, MPI_COMM_WORLD, &wa);
    MPI_Win_create(b, 16 * sizeof *b, sizeof *b, MPI_INFO_NULL, MPI_COMM_WORLD, &wb);
    between[3] = 1234;
    MPI_Win_fence(0, wa);
    MPI_Win_fence(0, wb);
    MPI_Put(&(long){100 + me}, 1, MPI_LONG, right, 1, 1, MPI_LONG, wa);
    MPI_Put(&(long){200 + me}, 1, MPI_LONG, right, 2, 1, MPI_LONG, wb);
    MPI_Win_fence(0, wb);
    MPI_Win_fence(0, wa);
    for (int i = 0; i < 48; i++)
        CHECK(block[i] == (i == 1 ? 100 + left : i == 34 ? 200 + left : i == 19 ? 1234 : i));
    MPI_Win_free(&wa);
    block[35] = 77; /* memory of a window that still lives */
    CHECK(b[3] == 77);
    MPI_Win_free(&wb);
    free(block);
}

static void overlapping(void)
{
    long *mem = calloc(1024, sizeof *mem), got = 0;
    int right = (me + 1) % np;
    MPI_Win whole, half;

    MPI_Win_create(mem, 1024 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &whole);
    MPI_Win_create(mem + 512, 512 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &half);
    MPI_Win_fence(0, whole);
    MPI_Put(&(long){me + 5}, 1, MPI_LONG, right, 600, 1, MPI_LONG, whole);
    MPI_Win_fence(0, whole);
    MPI_Win_fence(0, half);
    MPI_Get(&got, 1, MPI_LONG, right, 88, 1, MPI_LONG, half);
    MPI_Win_fence(0, half);
    CHECK(got == me + 5);
    MPI_Win_free(&whole);
    MPI_Win_free(&half);
    free(mem);
}

/* Only the last rank exposes memory. */
static void lopsided(void)
{
    long *mem = me == np - 1 ? calloc(64, sizeof *mem) : NULL;
    MPI_Win win;

    MPI_Win_create(mem, mem ? 64 * sizeof *mem : 0, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    MPI_Put(&(long){me + 1}, 1, MPI_LONG, np - 1, me, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    for (int i = 0; mem && i < np; i++)
        CHECK(mem[i] == i + 1);
    MPI_Win_free(&win);
    free(mem);
}

static void freed_communicator(void)
{
    MPI_Comm comm;
    MPI_Win win;
    MPI_Group group;
    long *mem, sum;
    int size;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm); /* in reverse order */
    MPI_Win_allocate(sizeof *mem, 1, MPI_INFO_NULL, comm, &mem, &win);
    MPI_Comm_free(&comm);
    *mem = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&(long){me}, 1, MPI_LONG, np - 1 - me, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(*mem == me);
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    CHECK(size == np);
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    MPI_Allreduce(&(long){me}, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (long)np * (np - 1) / 2);
}

int main(int argc, char **argv)
{
    long on_stack[600], *heap, *huge;

    start(&argc, &argv);
    heap = malloc(100 * sizeof *heap);
    huge = malloc(300000 * sizeof *huge);
    exchange(heap, 100, MPI_COMM_WORLD);
    exchange(huge, 300000, MPI_COMM_WORLD);
    exchange(on_stack, 600, MPI_COMM_WORLD);
    exchange(in_data, 100, MPI_COMM_WORLD);
    exchange(in_bss, 2000, MPI_COMM_WORLD);
    exchange(heap, 100, MPI_COMM_WORLD); /* once more */
    exchange(heap, 50, MPI_COMM_SELF);
    free(huge);
    free(heap);
    neighbours();
    overlapping();
    lopsided();
    freed_communicator();
    return finish();
}
