/* SPDX-License-Identifier: BSD-3-Clause
 *
 * types.c - derived datatypes: gathered at the sender, scattered at the receiver, mixed with basic
 * ones; nonblocking; freed while in use; received in part; MPI_BOTTOM; absolute displacements;
 * negative bounds; type maps out of order.
 */
#include <stddef.h>

#include "check.h"

static int right, left;

static void exchange(const void *out, int no, MPI_Datatype to, void *in, int ni, MPI_Datatype ti,
                     MPI_Status *s)
{
    MPI_Request q[2];
    MPI_Status both[2];

    MPI_Irecv(in, ni, ti, left, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out, no, to, right, 1, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, both);
    *s = both[0];
}

static void vectors(void)
{
    enum { N = 30 };
    double m[N][N], col[N], got[N][N];
    MPI_Datatype column, resized;
    MPI_Status s;

    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            m[i][j] = me * 10000 + i * 100 + j;
            got[i][j] = -1;
        }
    exchange(&m[0][3], 1, column, col, N, MPI_DOUBLE, &s); /* gathered here, contiguous there */
    CHECK(count_in(&s, MPI_DOUBLE) == N && count_in(&s, column) == 1);
    for (int i = 0; i < N; i++)
        CHECK(col[i] == left * 10000 + i * 100 + 3);
    exchange(col, N, MPI_DOUBLE, &got[0][5], 1, column, &s); /* and the other way round */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(got[i][j] == (j == 5 ? (left + np - 1) % np * 10000 + i * 100 + 3 : -1));
    /* a transposition: columns become rows */
    MPI_Type_create_resized(column, 0, sizeof(double), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&column);
    MPI_Sendrecv(m, N, resized, right, 2, got, N * N, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(got[i][j] == left * 10000 + j * 100 + i);
    MPI_Sendrecv_replace(m, N, resized, right, 2, left, 2, MPI_COMM_WORLD, &s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(m[i][j] == left * 10000 + i * 100 + j);
    MPI_Type_free(&resized);
}

struct record {
    char c;
    double d;
    int i[3];
    short s;
};

static void structs(void)
{
    struct record out[5], in[5];
    int lens[] = {1, 1, 3, 1};
    MPI_Aint displs[] = {offsetof(struct record, c), offsetof(struct record, d),
                         offsetof(struct record, i), offsetof(struct record, s)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, raw, t;
    MPI_Status s;

    MPI_Type_create_struct(4, lens, displs, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct record), &t);
    MPI_Type_commit(&t);
    memset(out, 0x11, sizeof out);
    memset(in, 0x22, sizeof in);
    for (int k = 0; k < 5; k++)
        out[k] = (struct record){(char)k, me + 0.5, {me, k, 7}, (short)(me * k)};
    exchange(out, 4, t, in, 5, t, &s);
    CHECK(count_in(&s, t) == 4);
    for (int k = 0; k < 4; k++)
        CHECK(in[k].c == k && in[k].d == left + 0.5 && in[k].i[0] == left && in[k].i[1] == k &&
              in[k].i[2] == 7 && in[k].s == left * k);
    CHECK(*(unsigned char *)&in[0].c == 0 &&
          ((unsigned char *)&in[0])[1] == 0x22); /* the hole is as it was */
    CHECK(((unsigned char *)&in[4])[0] == 0x22);
    MPI_Bcast(out, 5, t, np - 1, MPI_COMM_WORLD);
    CHECK(out[3].d == np - 0.5);
    MPI_Type_free(&raw);
    MPI_Type_free(&t);
}

/* A basic type shuffled: as long as it is wide, yet not in the order of memory. */
static void shuffled(void)
{
    int displs[] = {2, 0, 3, 1}, out[4] = {10, 11, 12, 13}, in[4];
    MPI_Datatype t, nested;
    MPI_Status s;

    MPI_Type_create_indexed_block(4, 1, displs, MPI_INT, &t);
    MPI_Type_contiguous(1, t, &nested);
    MPI_Type_commit(&nested);
    exchange(out, 1, nested, in, 4, MPI_INT, &s);
    CHECK(in[0] == 12 && in[1] == 10 && in[2] == 13 && in[3] == 11);
    exchange(in, 4, MPI_INT, out, 1, nested, &s);
    CHECK(out[0] == 10 && out[1] == 11 && out[2] == 12 && out[3] == 13);
    MPI_Type_free(&nested);
    MPI_Type_free(&t);
}

/* The type is freed between posting and completion, and its handle may be given out again. */
static void freed(void)
{
    int in[20], out[10], n = 0;
    MPI_Datatype t, u;
    MPI_Request q, p;
    MPI_Status s;

    for (int i = 0; i < 20; i++)
        in[i] = -1;
    for (int i = 0; i < 10; i++)
        out[i] = me * 50 + i;
    MPI_Type_vector(10, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Irecv(in, 1, t, left, 3, MPI_COMM_WORLD, &q);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Type_vector(5, 2, 3, MPI_CHAR, &u);
    MPI_Type_commit(&u);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 10, MPI_INT, right, 3, MPI_COMM_WORLD, &p);
    MPI_Wait(&q, &s);
    MPI_Wait(&p, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; i++)
        CHECK(in[i] == (i % 2 ? -1 : left * 50 + n++));
    MPI_Type_free(&u);
    for (int i = 0; i < 300; i++) { /* handles come and go: none may be taken for another */
        char a[40], b[40];
        memset(a, me + i, sizeof a);
        memset(b, 0x7f, sizeof b);
        MPI_Type_vector(4, i % 5 + 1, 8, MPI_CHAR, &t);
        MPI_Type_commit(&t);
        MPI_Sendrecv(a, 1, t, right, 4, b, 1, t, left, 4, MPI_COMM_WORLD, &s);
        for (int k = 0; k < 40; k++)
            CHECK(b[k] == (k < 32 && k % 8 <= i % 5 ? (char)(left + i) : 0x7f));
        MPI_Type_free(&t);
    }
}

/* Fewer bytes than one element has: the rest stays. */
static void partial(void)
{
    int out[5] = {1, 2, 3, 4, 5}, in[12], elements;
    MPI_Datatype t;
    MPI_Status s;

    for (int i = 0; i < 12; i++)
        in[i] = -1;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(out, 5, MPI_INT, in, 2, t, &s); /* 3 + 2 of 3 */
    MPI_Get_elements(&s, t, &elements);
    CHECK(elements == 5 && count_in(&s, t) == MPI_UNDEFINED);
    CHECK(in[0] == 1 && in[1] == -1 && in[2] == 2 && in[4] == 3 && in[5] == 4 && in[6] == -1 &&
          in[7] == 5 && in[9] == -1);
    MPI_Type_free(&t);
}

static void absolute(void)
{
    int a = me, b = me + 1, x = -1, y = -1, lens[] = {1, 1};
    MPI_Aint from[2], to[2];
    MPI_Datatype tf, tt;
    MPI_Status s;

    MPI_Get_address(&a, &from[0]);
    MPI_Get_address(&b, &from[1]);
    MPI_Get_address(&x, &to[0]);
    MPI_Get_address(&y, &to[1]);
    MPI_Type_create_hindexed(2, lens, from, MPI_INT, &tf);
    MPI_Type_create_hindexed(2, lens, to, MPI_INT, &tt);
    MPI_Type_commit(&tf);
    MPI_Type_commit(&tt);
    exchange(MPI_BOTTOM, 1, tf, MPI_BOTTOM, 1, tt, &s);
    CHECK(x == left && y == left + 1);
    MPI_Type_free(&tf);
    MPI_Type_free(&tt);
}

/* Displacements before the buffer's address. */
static void negative(void)
{
    int lens[] = {1, 1}, displs[] = {-1, 1}, out[3] = {me, me + 1, me + 2}, in[3] = {-1, -1, -1};
    MPI_Datatype t;
    MPI_Status s;

    MPI_Type_indexed(2, lens, displs, MPI_INT, &t);
    MPI_Type_commit(&t);
    exchange(out + 1, 1, t, in + 1, 1, t, &s);
    CHECK(in[0] == left && in[1] == -1 && in[2] == left + 2);
    MPI_Type_free(&t);
}

static void add_ends(void *in, void *inout, int *len, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *len; i++) {
        int *a = (int *)((char *)in + i * extent), *b = (int *)((char *)inout + i * extent);
        b[1] += a[1];
        b[3] += a[3];
    }
}

/* A user-defined operation on a type with holes at both ends: the holes are not touched. */
static void reduced(void)
{
    int lens[] = {1, 1}, displs[] = {1, 3}, out[10], in[10], sum = np * (np - 1) / 2;
    MPI_Datatype raw, t;
    MPI_Op op;

    MPI_Type_indexed(2, lens, displs, MPI_INT, &raw);
    MPI_Type_create_resized(raw, 0, 5 * sizeof(int), &t);
    MPI_Type_commit(&t);
    MPI_Op_create(add_ends, 1, &op);
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < 10; i++) {
            out[i] = i % 5 == 1 || i % 5 == 3 ? me * (i + 1) : 1000;
            in[i] = kind == 1 ? out[i] : -5;
        }
        if (kind == 0)
            MPI_Allreduce(out, in, 2, t, op, MPI_COMM_WORLD);
        else if (kind == 1)
            MPI_Allreduce(MPI_IN_PLACE, in, 2, t, op, MPI_COMM_WORLD);
        else if (kind == 2)
            MPI_Reduce(out, in, 2, t, op, 0, MPI_COMM_WORLD);
        else
            MPI_Scan(out, in, 2, t, op, MPI_COMM_WORLD);
        for (int i = 0; i < 10; i++) {
            int want = (kind == 3 ? me * (me + 1) / 2 : sum) * (i + 1),
                hole = kind == 1 ? 1000 : -5;
            if (kind != 2 || me == 0)
                CHECK(in[i] == (i % 5 == 1 || i % 5 == 3 ? want : hole));
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&t);
    MPI_Type_free(&raw);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    right = (me + 1) % np;
    left = (me + np - 1) % np;
    vectors();
    structs();
    shuffled();
    freed();
    partial();
    absolute();
    negative();
    reduced();
    return finish();
}
