/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rma_types.c - derived datatypes on either side: vector, indexed, struct, resized, nested; origin
 * and target differing; also for accumulate.
 */
#include <stddef.h>

#include "check.h"

enum { N = 240 };

static int *mem;
static MPI_Win win;

static void fill(void)
{
    MPI_Win_fence(0, win);
    for (int i = 0; i < N; i++)
        mem[i] = -i;
    MPI_Win_fence(0, win);
}

/* Puts origin[] as (count, type) into the right neighbour as (tcount, ttype), gets it back from
 * there, and compares both with what packing says. */
static void both_ways(int count, MPI_Datatype type, int tcount, MPI_Datatype ttype)
{
    int right = (me + 1) % np, left = (me + np - 1) % np, origin[N], back[N], expect[N],
        position = 0, bytes, packed[N];

    MPI_Type_commit(&type);
    MPI_Type_commit(&ttype);
    for (int i = 0; i < N; i++) {
        origin[i] = 1000 * left + i; /* what the left neighbour sends */
        expect[i] = -i;
        back[i] = 7;
    }
    MPI_Pack(origin, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    bytes = position;
    position = 0;
    MPI_Unpack(packed, bytes, &position, expect, tcount, ttype, MPI_COMM_SELF);
    for (int i = 0; i < N; i++)
        origin[i] = 1000 * me + i;
    fill();
    MPI_Put(origin, count, type, right, 0, tcount, ttype, win);
    MPI_Win_fence(0, win);
    CHECK(memcmp(mem, expect, sizeof expect) == 0);
    MPI_Get(back, count, type, right, 0, tcount, ttype, win);
    MPI_Win_fence(0, win);
    position = 0;
    MPI_Pack(origin, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    for (int i = 0; i < N; i++)
        expect[i] = 7;
    position = 0;
    MPI_Unpack(packed, bytes, &position, expect, count, type, MPI_COMM_SELF);
    CHECK(memcmp(back, expect, sizeof expect) == 0);
}

/* The same layouts combine: three times the sum of the origin's. */
static void sums(int count, MPI_Datatype type, int tcount, MPI_Datatype ttype)
{
    int origin[N], expect[N], packed[N], position = 0, bytes, old[N];

    MPI_Type_commit(&type);
    MPI_Type_commit(&ttype);
    for (int i = 0; i < N; i++) {
        origin[i] = i + 1;
        expect[i] = 0;
        old[i] = 0;
    }
    MPI_Pack(origin, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    bytes = position;
    position = 0;
    MPI_Unpack(packed, bytes, &position, expect, tcount, ttype, MPI_COMM_SELF);
    fill();
    MPI_Accumulate(origin, count, type, 0, 0, tcount, ttype, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; me == 0 && i < N; i++)
        CHECK(mem[i] == -i + np * expect[i]);
    MPI_Get_accumulate(origin, count, type, old, count, type, 0, 0, tcount, ttype, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    position = 0;
    memset(packed, 0, sizeof packed);
    MPI_Pack(old, count, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    memset(expect, 0, sizeof expect);
    position = 0;
    MPI_Unpack(packed, bytes, &position, expect, tcount, ttype, MPI_COMM_SELF);
    for (int i = 0; me == 0 && i < N; i++)
        CHECK(expect[i] == 0 || expect[i] == mem[i]);
}

static MPI_Datatype subarray(void)
{
    MPI_Datatype t;
    MPI_Type_create_subarray(2, (int[]){12, 20}, (int[]){3, 5}, (int[]){4, 7}, MPI_ORDER_C, MPI_INT,
                             &t);
    return t;
}

static MPI_Datatype spaced(void)
{
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_INT, 0, 4 * sizeof(int), &t);
    return t;
}

static void layouts(void (*test)(int, MPI_Datatype, int, MPI_Datatype))
{
    MPI_Datatype vector, indexed, nested, tail, fifteen;

    MPI_Type_vector(5, 3, 7, MPI_INT, &vector);
    MPI_Type_indexed(3, (int[]){4, 1, 10}, (int[]){40, 0, 20}, MPI_INT,
                     &indexed); /* out of order */
    MPI_Type_create_hvector(3, 1, 80 * sizeof(int), vector, &nested);
    MPI_Type_create_hindexed(1, (int[]){15}, (MPI_Aint[]){12}, MPI_INT, &tail);
    MPI_Type_contiguous(15, MPI_INT, &fifteen);
    test(15, MPI_INT, 1, vector);
    test(1, vector, 15, MPI_INT);
    test(1, vector, 1, indexed);
    test(1, indexed, 1, subarray());
    test(3, fifteen, 1, nested);
    test(15, spaced(), 1, tail);
    test(1, tail, 15, spaced());
    test(1, subarray(), 1, fifteen);
}

/* Different members: a struct with a hole. */
static void structs(void)
{
    struct rec {
        char c;
        double d;
        int i;
    } mine[4], *at = (void *)mem;
    MPI_Datatype plain, type;
    int right = (me + 1) % np, left = (me + np - 1) % np;

    MPI_Aint at_member[] = {offsetof(struct rec, c), offsetof(struct rec, d),
                            offsetof(struct rec, i)};
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, at_member,
                           (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct rec), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 4; i++) {
        mine[i].c = (char)('a' + me);
        mine[i].d = me + i / 8.0;
        mine[i].i = 10 * me + i;
    }
    MPI_Win_fence(0, win);
    MPI_Put(mine, 4, type, right, 0, 4, type, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        CHECK(at[i].c == 'a' + left && at[i].d == left + i / 8.0 && at[i].i == 10 * left + i);
    MPI_Type_free(&plain);
    MPI_Type_free(&type);
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Win_allocate(N * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    layouts(both_ways);
    layouts(sums);
    structs();
    MPI_Win_free(&win);
    return finish();
}
