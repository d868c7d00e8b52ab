/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll.c - every collective, in place and not, contiguous and not, with predefined and user-defined
 * operations, against results computed here.
 */
#include "check.h"

static MPI_Comm comm = MPI_COMM_WORLD;
static MPI_Datatype sparse; /* an int, then a hole of an int */

static int *fresh(int n, int value)
{
    int *p = malloc((size_t)(n + 1) * sizeof(int));
    for (int i = 0; i <= n; i++)
        p[i] = value;
    return p;
}

static void bcast(int n)
{
    for (int root = 0; root < np; root++) {
        int *b = fresh(2 * n, -7);
        for (int i = 0; i < n && me == root; i++)
            b[i] = root * 1000 + i;
        MPI_Bcast(b, n, MPI_INT, root, comm);
        for (int i = 0; i < n; i++)
            CHECK(b[i] == root * 1000 + i);
        for (int i = 0; i < n; i++) {
            b[2 * i] = me == root ? i : -1;
            b[2 * i + 1] = me;
        }
        if (me % 2) { /* the same data, laid out differently */
            MPI_Bcast(b, n, sparse, root, comm);
        } else {
            int *c = fresh(n, -1);
            for (int i = 0; i < n; i++)
                c[i] = b[2 * i];
            MPI_Bcast(c, n, MPI_INT, root, comm);
            for (int i = 0; i < n; i++)
                b[2 * i] = c[i];
            free(c);
        }
        for (int i = 0; i < n; i++)
            CHECK(b[2 * i] == i && b[2 * i + 1] == me);
        free(b);
    }
}

static void gather_scatter(int n)
{
    int *mine = fresh(n, me), *all = fresh(2 * n * np, -1), *back = fresh(n, -1), counts[64],
        displs[64];

    for (int root = 0; root < np; root++) {
        MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, comm);
        for (int i = 0; i < n * np && me == root; i++)
            CHECK(all[i] == i / (n ? n : 1));
        MPI_Scatter(all, n, MPI_INT, back, n, MPI_INT, root, comm);
        for (int i = 0; i < n; i++)
            CHECK(back[i] == me);
        for (int i = 0; i < n && me == root; i++)
            all[me * n + i] = 500 + i;
        if (me == root)
            MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, n, MPI_INT, root, comm);
        else
            MPI_Gather(mine, n, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, comm);
        for (int i = 0; i < n && me == root; i++)
            CHECK(all[me * n + i] == 500 + i);
        if (me == root)
            MPI_Scatter(all, n, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root, comm);
        else
            MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, back, n, MPI_INT, root, comm);
        /* unequal parts, backwards, with a layout */
        for (int r = 0, at = 0; r < np; r++, at += 2 * n) {
            counts[r] = r % 2 ? n : n / 2;
            displs[r] = (np - 1 - r) * n;
        }
        for (int i = 0; i < 2 * n * np; i++)
            all[i] = -1;
        MPI_Gatherv(mine, counts[me], MPI_INT, all, counts, displs, sparse, root, comm);
        for (int r = 0; r < np && me == root; r++)
            for (int i = 0; i < n; i++) {
                CHECK(all[2 * (displs[r] + i)] == (i < counts[r] ? r : -1));
                CHECK(all[2 * (displs[r] + i) + 1] == -1);
            }
        for (int i = 0; i < n; i++)
            back[i] = -2;
        MPI_Scatterv(all, counts, displs, sparse, back, counts[me], MPI_INT, root, comm);
        for (int i = 0; i < n; i++)
            CHECK(back[i] == (i < counts[me] ? me : -2));
    }
    free(mine);
    free(all);
    free(back);
}

static void allgather(int n)
{
    int *mine = fresh(n, me + 1), *all = fresh(2 * n * np, -1), counts[64], displs[64];

    MPI_Allgather(mine, n, MPI_INT, all, n, MPI_INT, comm);
    for (int i = 0; i < n * np; i++)
        CHECK(all[i] == i / (n ? n : 1) + 1);
    for (int i = 0; i < n * np; i++)
        all[i] = i / (n ? n : 1) == me ? me + 9 : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, comm);
    for (int i = 0; i < n * np; i++)
        CHECK(all[i] == i / (n ? n : 1) + 9);
    for (int r = 0; r < np; r++) {
        counts[r] = (r + n) % 3 ? n : 0;
        displs[r] = (np - 1 - r) * n;
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        for (int i = 0; i < 2 * n * np; i++)
            all[i] = -1;
        for (int i = 0; i < counts[me] && in_place; i++)
            all[2 * (displs[me] + i)] = me + 1;
        if (in_place)
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, sparse, comm);
        else
            MPI_Allgatherv(mine, counts[me], MPI_INT, all, counts, displs, sparse, comm);
        for (int r = 0; r < np; r++)
            for (int i = 0; i < n; i++)
                CHECK(all[2 * (displs[r] + i)] == (i < counts[r] ? r + 1 : -1) &&
                      all[2 * (displs[r] + i) + 1] == -1);
    }
    free(mine);
    free(all);
}

static void alltoall(int n)
{
    int *out = fresh(n * np, 0), *in = fresh(n * np, -1), sc[64], sd[64], rc[64], rd[64];
    MPI_Datatype st[64], rt[64];

    for (int r = 0; r < np; r++)
        for (int i = 0; i < n; i++)
            out[r * n + i] = me * 10000 + r * 100 + i;
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
    for (int r = 0; r < np; r++)
        for (int i = 0; i < n; i++)
            CHECK(in[r * n + i] == r * 10000 + me * 100 + i);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, comm);
    CHECK(memcmp(in, out, (size_t)(n * np) * sizeof(int)) == 0);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, comm); /* and back */
    for (int r = 0; r < np; r++) {
        sc[r] = n && (me + r) % 2
                    ? n - 1
                    : n; /* symmetric: what I send to r is as long as what r sends to me */
        rc[r] = sc[r];
        sd[r] = r * n;
        rd[r] = (np - 1 - r) * n;
        st[r] = rt[r] = MPI_INT;
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < n * np; i++)
            in[i] = -1;
        if (kind == 0)
            MPI_Alltoallv(out, sc, sd, MPI_INT, in, rc, rd, MPI_INT, comm);
        for (int r = 0; r < np; r++) {
            sd[r] *= kind ? (int)sizeof(int) : 1;
            rd[r] *= kind ? (int)sizeof(int) : 1;
        }
        if (kind == 1)
            MPI_Alltoallw(out, sc, sd, st, in, rc, rd, rt, comm);
        for (int r = 0; r < np; r++)
            for (int i = 0; i < n; i++)
                CHECK(in[(np - 1 - r) * n + i] == (i < rc[r] ? r * 10000 + me * 100 + i : -1));
    }
    free(out);
    free(in);
}

static void reductions(int n)
{
    double *a = malloc((size_t)(n * np + 1) * sizeof *a),
           *b = malloc((size_t)(n * np + 1) * sizeof *b);
    int sum = np * (np + 1) / 2, counts[64];

    for (int i = 0; i < n * np; i++)
        a[i] = (me + 1) * (i + 1);
    for (int root = 0; root < np; root++) {
        for (int i = 0; i < n; i++)
            b[i] = -1;
        MPI_Reduce(a, me == root ? b : NULL, n, MPI_DOUBLE, MPI_SUM, root, comm);
        for (int i = 0; i < n && me == root; i++)
            CHECK(b[i] == sum * (i + 1));
        memcpy(b, a, (size_t)n * sizeof *b);
        MPI_Reduce(me == root ? MPI_IN_PLACE : (const void *)b, me == root ? b : NULL, n,
                   MPI_DOUBLE, MPI_MAX, root, comm);
        for (int i = 0; i < n && me == root; i++)
            CHECK(b[i] == np * (i + 1));
    }
    MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == sum * (i + 1));
    memcpy(b, a, (size_t)n * sizeof *b);
    MPI_Allreduce(MPI_IN_PLACE, b, n, MPI_DOUBLE, MPI_MIN, comm);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == i + 1);
    MPI_Scan(a, b, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == (me + 1) * (me + 2) / 2 * (i + 1));
    memcpy(b, a, (size_t)n * sizeof *b);
    MPI_Scan(MPI_IN_PLACE, b, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == (me + 1) * (me + 2) / 2 * (i + 1));
    memcpy(b, a, (size_t)n * sizeof *b);
    MPI_Exscan(MPI_IN_PLACE, b, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n && me > 0; i++)
        CHECK(b[i] == me * (me + 1) / 2 * (i + 1));
    MPI_Reduce_scatter_block(a, b, n, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == sum * (me * n + i + 1));
    memcpy(b, a, (size_t)(n * np) * sizeof *b);
    int before = 0;
    for (int r = 0; r < np; r++) {
        counts[r] = r % 2 ? n : n / 2;
        before += r < me ? counts[r] : 0;
    }
    MPI_Reduce_scatter(MPI_IN_PLACE, b, counts, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < counts[me]; i++)
        CHECK(b[i] == sum * (before + i + 1));
    free(a);
    free(b);
}

/* Affine maps x -> p x + q modulo 2^32 under composition: associative, not commutative. */
struct affine {
    unsigned p, q;
};
static void compose(void *in, void *inout, int *len, MPI_Datatype *t)
{
    struct affine *f = in, *g = inout;
    (void)t;
    for (int i = 0; i < *len; i++)
        g[i] = (struct affine){f[i].p * g[i].p, f[i].p * g[i].q + f[i].q};
}

static void user_operation(int n)
{
    MPI_Datatype pair;
    MPI_Op op;
    struct affine *a = malloc((size_t)(n + 1) * sizeof *a),
                  *b = malloc((size_t)(n + 1) * sizeof *b);

    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < n; i++)
        a[i] = (struct affine){(unsigned)(me * 2 + 3), (unsigned)(i + me)};
    for (int kind = 0; kind < 4; kind++) {
        int last = kind == 2 ? me + 1 : kind == 3 ? me : np;
        if (kind == 0)
            MPI_Allreduce(a, b, n, pair, op, comm);
        else if (kind == 1)
            MPI_Reduce(a, b, n, pair, op, np - 1, comm);
        else if (kind == 2)
            MPI_Scan(a, b, n, pair, op, comm);
        else
            MPI_Exscan(a, b, n, pair, op, comm);
        if (last == 0 || (kind == 1 && me != np - 1))
            continue;
        for (int i = 0; i < n; i++) {
            struct affine want = {3, (unsigned)i};
            for (int r = 1; r < last; r++) {
                struct affine g = {(unsigned)(r * 2 + 3), (unsigned)(i + r)};
                want = (struct affine){want.p * g.p, want.p * g.q + want.q};
            }
            CHECK(b[i].p == want.p && b[i].q == want.q);
        }
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(a);
    free(b);
}

static void pairs(int n)
{
    struct {
        double v;
        int where;
    } *a = calloc((size_t)n + 1, sizeof *a), *b = calloc((size_t)n + 1, sizeof *b);

    for (int i = 0; i < n; i++) {
        a[i].v = (me * 7 + i) % np;
        a[i].where = me;
    }
    MPI_Allreduce(a, b, n, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    for (int i = 0; i < n; i++) {
        double best = -1;
        int where = -1;
        for (int r = 0; r < np; r++)
            if ((r * 7 + i) % np > best) {
                best = (r * 7 + i) % np;
                where = r;
            }
        CHECK(b[i].v == best && b[i].where == where);
    }
    int lowest[2] = {10 - me, me};
    MPI_Allreduce(MPI_IN_PLACE, lowest, 1, MPI_2INT, MPI_MINLOC, comm);
    CHECK(lowest[0] == 10 - (np - 1) && lowest[1] == np - 1);
    free(a);
    free(b);
}

static void other_types(void)
{
    int all = 1 << me, any = me == 0;
    long l = me;
    unsigned char c = (unsigned char)me;
    float f = 2;
    long double ld = 2;
    double _Complex z = me + 1.0i;

    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_BOR, comm);
    CHECK(all == (1 << np) - 1);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LAND, comm);
    CHECK(any == (np == 1));
    MPI_Allreduce(MPI_IN_PLACE, &l, 1, MPI_LONG, MPI_MAX, comm);
    CHECK(l == np - 1);
    MPI_Allreduce(MPI_IN_PLACE, &c, 1, MPI_UNSIGNED_CHAR, MPI_MAX, comm);
    CHECK(c == np - 1);
    MPI_Allreduce(MPI_IN_PLACE, &f, 1, MPI_FLOAT, MPI_PROD, comm);
    CHECK(f == (float)(1 << np));
    MPI_Allreduce(MPI_IN_PLACE, &ld, 1, MPI_LONG_DOUBLE, MPI_SUM, comm);
    CHECK(ld == 2 * np);
    MPI_Allreduce(MPI_IN_PLACE, &z, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, comm);
    CHECK(z == np * (np - 1) / 2 + np * 1.0i);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 3, 64, 1000, 20000};
    MPI_Datatype vector;

    start(&argc, &argv);
    MPI_Type_vector(1, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            bcast(lengths[i]);
            gather_scatter(lengths[i]);
            allgather(lengths[i]);
            alltoall(lengths[i] > 1000 ? 2000 : lengths[i]);
            reductions(lengths[i]);
            user_operation(lengths[i]);
            pairs(lengths[i]);
            MPI_Barrier(comm);
        }
        other_types();
        if (turn == 0) { /* once more with the ranks backwards */
            MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
            MPI_Comm_rank(comm, &me);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&sparse);
    MPI_Type_free(&vector);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    return finish();
}
