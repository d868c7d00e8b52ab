/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topology.c - grids, graphs and distributed graphs: queries return what was given, also for
 * duplicates; who is whose neighbour.
 */
#include "errors.h"

static int sum_over(MPI_Comm c, int x)
{
    int sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c);
    return sum;
}

static int kind_of(MPI_Comm c)
{
    int kind = -99;
    MPI_Topo_test(c, &kind);
    return kind;
}

/* ---- grids ---- */
enum { D = 3 };
static const int periods[D] = {1, 0, 7};

static void walk(MPI_Comm c, const int *dims)
{
    int n, rank, got[D], per[D], at[D], coords[D], other;

    MPI_Comm_rank(c, &rank);
    MPI_Cartdim_get(c, &n);
    CHECK(n == D && kind_of(c) == MPI_CART);
    MPI_Cart_get(c, D, got, per, at);
    CHECK(rank == (at[0] * dims[1] + at[1]) * dims[2] + at[2]);
    for (int i = 0; i < D; i++) {
        CHECK(got[i] == dims[i] && !per[i] == !periods[i] && at[i] >= 0 && at[i] < dims[i]);
        for (int disp = -5; disp <= 5; disp++) {
            int from, to, want[D];
            MPI_Cart_shift(c, i, disp, &from, &to);
            memcpy(want, at, sizeof at);
            want[i] += disp;
            if (!periods[i] && (want[i] < 0 || want[i] >= dims[i])) {
                CHECK(to == MPI_PROC_NULL);
                continue;
            }
            MPI_Cart_rank(c, want, &other);
            CHECK(to == other);
            MPI_Cart_coords(c, to, D, coords);
            CHECK((want[i] - coords[i]) % dims[i] == 0 && coords[(i + 1) % D] == at[(i + 1) % D]);
            want[i] -= 2 * disp;
            CHECK((from == MPI_PROC_NULL) == (!periods[i] && (want[i] < 0 || want[i] >= dims[i])));
        }
    }
    got[0] = got[1] = -7;
    MPI_Cart_get(c, 1, got, per, at); /* as much as there is room for */
    CHECK(got[0] == dims[0] && got[1] == -7);
}

static void sub(MPI_Comm c, const int *dims)
{
    int n, rank, world, d[D], p[D], at[D], part[D];
    MPI_Comm s;

    MPI_Cart_get(c, D, d, p, at);
    for (int which = 0; which < 8; which++) {
        int remain[D] = {which & 1, which & 2, which & 4}, size = 1, want = 0, k = 0;
        CHECK(MPI_Cart_sub(c, remain, &s) == MPI_SUCCESS && kind_of(s) == MPI_CART);
        MPI_Cartdim_get(s, &n);
        MPI_Comm_rank(s, &rank);
        if (n > 0)
            MPI_Cart_get(s, n, d, p, part);
        for (int i = 0; i < D; i++) {
            if (!remain[i])
                continue;
            size *= dims[i];
            want = want * dims[i] + at[i];
            CHECK(d[k] == dims[i] && !p[k] == !periods[i] && part[k] == at[i]);
            k++;
        }
        MPI_Comm_size(s, &world);
        CHECK(n == k && world == size && rank == want);
        CHECK(sum_over(s, 1) == size);
        MPI_Comm_free(&s);
    }
}

static void grids(void)
{
    for (int shape = 0; shape < 3; shape++) {
        int dims[D] = {0, 1, 0}, used;
        MPI_Comm c, dup;
        if (shape == 1)
            dims[0] = dims[1] = 1, dims[2] = np;
        else if (shape == 2)
            dims[0] = np > 2 ? 2 : 1, dims[1] = np > 1 ? np / 2 : 1, dims[2] = 1;
        else
            MPI_Dims_create(np, D, dims);
        used = dims[0] * dims[1] * dims[2];
        MPI_Cart_create(MPI_COMM_WORLD, D, dims, periods, 0, &c);
        CHECK((c == MPI_COMM_NULL) == (me >= used));
        if (c == MPI_COMM_NULL)
            continue;
        walk(c, dims);
        MPI_Comm_dup(c, &dup);
        MPI_Comm_free(&c);
        walk(dup, dims);
        sub(dup, dims);
        MPI_Comm_split(dup, 0, 0, &c); /* a split has none */
        CHECK(kind_of(c) == MPI_UNDEFINED);
        MPI_Comm_free(&c);
        MPI_Comm_disconnect(&dup);
        CHECK(dup == MPI_COMM_NULL);
    }
}

static void point(void)
{
    MPI_Comm c;
    int n = -1, rank = -1, none[1] = {0};

    MPI_Cart_create(MPI_COMM_WORLD, 0, none, none, 0, &c);
    CHECK((c == MPI_COMM_NULL) == (me > 0));
    if (me > 0)
        return;
    MPI_Cartdim_get(c, &n);
    MPI_Cart_rank(c, none, &rank);
    CHECK(n == 0 && rank == 0 && kind_of(c) == MPI_CART);
    MPI_Comm_free(&c);
}

/* ---- graphs: a ring, whose rank 0 has an edge to itself, twice ---- */
static void graph(void)
{
    int index[8], edges[32], gi[8], ge[32], k = 0, n, m, *mine, nodes = np > 1 ? np - 1 : 1;
    MPI_Comm c, dup;

    for (int i = 0; i < nodes; i++) {
        for (int twice = 0; i == 0 && twice < 2; twice++)
            edges[k++] = 0;
        edges[k++] = (i + 1) % nodes;
        edges[k++] = (i + nodes - 1) % nodes;
        index[i] = k;
    }
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &c);
    CHECK((c == MPI_COMM_NULL) == (me >= nodes));
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_dup(c, &dup);
    MPI_Comm_free(&c);
    CHECK(kind_of(dup) == MPI_GRAPH);
    MPI_Graphdims_get(dup, &n, &m);
    CHECK(n == nodes && m == k);
    MPI_Graph_get(dup, n, m, gi, ge);
    CHECK(memcmp(gi, index, (size_t)n * sizeof *gi) == 0 &&
          memcmp(ge, edges, (size_t)k * sizeof *ge) == 0);
    for (int r = 0; r < nodes; r++) {
        MPI_Graph_neighbors_count(dup, r, &n);
        mine = edges + (r ? index[r - 1] : 0);
        CHECK(n == (r ? 2 : 4));
        ge[n - 1] = -5;
        MPI_Graph_neighbors(dup, r, n - 1, ge);
        CHECK(memcmp(ge, mine, (size_t)(n - 1) * sizeof *ge) == 0 && ge[n - 1] == -5);
        MPI_Graph_neighbors(dup, r, n, ge);
        CHECK(memcmp(ge, mine, (size_t)n * sizeof *ge) == 0);
    }
    CHECK(sum_over(dup, 1) == nodes);
    MPI_Comm_free(&dup);
}

/* ---- distributed graphs: from each to the next and to all smaller ones ---- */
static int weight(int from, int to) { return 100 * from + to; }

static void check_dist(MPI_Comm c, int weighted, int ordered, int in, const int *from, int out,
                       const int *to)
{
    int i, o, w, src[8], sw[8], dst[8], dw[8], seen_in[8] = {0}, seen_out[8] = {0};

    CHECK(kind_of(c) == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(c, &i, &o, &w);
    CHECK(i == in && o == out && !w == !weighted);
    memset(sw, -1, sizeof sw);
    MPI_Dist_graph_neighbors(c, i, src, weighted ? sw : MPI_UNWEIGHTED, o, dst,
                             weighted ? dw : MPI_UNWEIGHTED);
    for (int k = 0; k < in; k++) {
        CHECK(!ordered || src[k] == from[k]);
        CHECK(!weighted || sw[k] == weight(src[k], me));
        seen_in[src[k]]++;
        seen_in[from[k]]--;
    }
    for (int k = 0; k < out; k++) {
        CHECK(!ordered || dst[k] == to[k]);
        CHECK(!weighted || dw[k] == weight(me, dst[k]));
        seen_out[dst[k]]++;
        seen_out[to[k]]--;
    }
    for (int k = 0; k < np; k++)
        CHECK(seen_in[k] == 0 && seen_out[k] == 0);
}

static void dist(int weighted)
{
    int from[8], to[8], fw[8], tw[8], in = 0, out = 0;
    MPI_Comm c, dup;

    to[out++] = (me + 1) % np;
    for (int r = 0; r < me; r++)
        to[out++] = r;
    from[in++] = (me + np - 1) % np;
    for (int r = np - 1; r > me; r--)
        from[in++] = r;
    for (int k = 0; k < in; k++)
        fw[k] = weight(from[k], me);
    for (int k = 0; k < out; k++)
        tw[k] = weight(me, to[k]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, weighted ? fw : MPI_UNWEIGHTED, out,
                                   to, weighted ? tw : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    check_dist(c, weighted, 1, in, from, out, to);
    MPI_Comm_dup(c, &dup);
    MPI_Comm_free(&c);
    check_dist(dup, weighted, 1, in, from, out, to);
    MPI_Comm_free(&dup);

    /* the same, but said by others: each the edges of the next one, the one to its successor apart
     * from the others */
    int his = (me + 1) % np, sources[2] = {his, his}, degrees[2] = {1, his};
    to[0] = (his + 1) % np;
    tw[0] = weight(his, to[0]);
    for (int r = 0; r < his; r++) {
        to[r + 1] = r;
        tw[r + 1] = weight(his, r);
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, 2, sources, degrees, to, weighted ? tw : MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 0, &c);
    to[0] = (me + 1) % np;
    for (int r = 0; r < me; r++)
        to[r + 1] = r;
    check_dist(c, weighted, 0, in, from, out, to);
    CHECK(sum_over(c, 1) == np);
    MPI_Comm_free(&c);
}

/* Nobody is anybody's neighbour. */
static void lonely(void)
{
    MPI_Comm c;
    int in = -1, out = -1, w = -1;
    int *volatile empty =
        MPI_WEIGHTS_EMPTY; /* gcc takes the constant for an array that is too short */

    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, empty, MPI_INFO_NULL, 0, &c);
    MPI_Dist_graph_neighbors_count(c, &in, &out, &w);
    CHECK(in == 0 && out == 0 && w);
    MPI_Comm_free(&c);
}

static void wrong(void)
{
    int dims[2] = {np, 2}, per[2] = {0, 0}, at[2] = {1, 0}, one[1] = {1}, n, r, s;
    int index[2] = {1, 1}, edges[1] = {np};
    MPI_Comm c = MPI_COMM_SELF, d;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 0, &d) !=
          MPI_SUCCESS); /* too many; MPI names no class */
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, np + 1, index, edges, 0, &d) != MPI_SUCCESS);
    WRONG(MPI_Cart_create(MPI_COMM_NULL, 2, dims, per, 0, &d), MPI_ERR_COMM);
    WRONG(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, at), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Cart_sub(MPI_COMM_WORLD, one, &d), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &r), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &n), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &r, &s), MPI_ERR_TOPOLOGY);
    CHECK(kind_of(MPI_COMM_WORLD) == MPI_UNDEFINED);

    dims[1] = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, per, 1, &c); /* inherits the handler */
    WRONG(MPI_Cart_coords(c, np + 1, 2, at), MPI_ERR_RANK);
    WRONG(MPI_Cart_coords(c, -1, 2, at), MPI_ERR_RANK);
    at[0] = np;
    WRONG(MPI_Cart_rank(c, at, &r), MPI_ERR_ARG);
    WRONG(MPI_Graphdims_get(c, &n, &r), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&c);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    grids();
    point();
    graph();
    dist(0);
    dist(1);
    lonely();
    wrong();
    return finish();
}
