/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_topo.c - grids: ranks and coordinates of many against a plain count; then all that one rank
 * can ask of a topology, against the host.
 */
#include "mpi/comm_table.h"
#include "mpi/mock_runtime.h"
#include "mpi/topo.h"

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

enum { DIMS = 4, WORLD = 60 };

/* A communicator of many ranks with a grid, as this process would have it as one of them. */
static struct ft_comm *grid(int ndims, const int *dims, const int *periods, int rank)
{
    static MPI_Comm handle; /* the host has its error handler */
    int everybody[WORLD], n = 1;
    struct ft_topo *t = ft_topo_new(MPI_CART, 2 * (size_t)ndims);

    if (!handle) {
        HOST(Comm_dup)(ft_comm_blank, &handle);
        MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
    }
    t->cart.ndims = ndims;
    t->cart.dims = t->data;
    t->cart.periods = t->data + ndims;
    for (int i = 0; i < ndims; i++) {
        t->cart.dims[i] = dims[i];
        t->cart.periods[i] = periods[i];
        n *= dims[i];
    }
    for (int i = 0; i < n; i++)
        everybody[i] = i;
    mock_rt.nranks = n;
    mock_rt.rank = rank;
    struct ft_comm *c = ft_comm_register(handle, 99, &(struct ft_members){n, everybody, 0, NULL});
    c->topo = t;
    return c;
}

/* The rank at these coordinates by counting all; MPI_PROC_NULL: outside of the grid. */
static int rank_at(int ndims, const int *dims, const int *periods, const long *coords)
{
    int rank = 0;
    for (int i = 0; i < ndims; i++) {
        long at = coords[i];
        while (periods[i] && at < 0)
            at += dims[i];
        while (periods[i] && at >= dims[i])
            at -= dims[i];
        if (at < 0 || at >= dims[i])
            return MPI_PROC_NULL;
        rank = rank * dims[i] + (int)at;
    }
    return rank;
}

static void check_grid(struct ft_comm *c, int ndims, const int *dims, const int *periods, int rank)
{
    int coords[DIMS], got[3][DIMS], from, to, r;
    long away[DIMS];

    assert_int_equal(MPI_Cart_coords(c->handle, rank, DIMS, coords), MPI_SUCCESS);
    assert_int_equal(MPI_Cart_get(c->handle, DIMS, got[0], got[1], got[2]), MPI_SUCCESS);
    for (int i = 0; i < ndims; i++) {
        assert_int_equal(got[0][i], dims[i]);
        assert_int_equal(got[1][i], periods[i]);
        assert_int_equal(got[2][i], coords[i]);
        away[i] = coords[i];
    }
    assert_int_equal(rank_at(ndims, dims, periods, away), rank);
    for (int i = 0; i < ndims; i++) {
        int disp = below(5) ? below(13) - 6 : below(2) ? INT32_MAX : INT32_MIN;
        assert_int_equal(MPI_Cart_shift(c->handle, i, disp, &from, &to), MPI_SUCCESS);
        away[i] = periods[i] ? coords[i] + (long)disp % dims[i] : coords[i] + (long)disp;
        assert_int_equal(to, rank_at(ndims, dims, periods, away));
        away[i] = periods[i] ? coords[i] - (long)disp % dims[i] : coords[i] - (long)disp;
        assert_int_equal(from, rank_at(ndims, dims, periods, away));
        away[i] = coords[i];
    }
    for (int i = 0; i < ndims; i++) {
        coords[i] = below(3 * dims[i]) - dims[i];
        away[i] = coords[i];
    }
    int want = rank_at(ndims, dims, periods, away), code = MPI_Cart_rank(c->handle, coords, &r);
    assert_int_equal(code, want == MPI_PROC_NULL ? MPI_ERR_ARG : MPI_SUCCESS);
    if (code == MPI_SUCCESS)
        assert_int_equal(r, want);
}

/* Neighbours come dimension by dimension, down and up (MPI-3.1, 7.6). */
static void check_neighbors(struct ft_comm *c, int ndims)
{
    const int *ranks;
    int from, to, n = ft_topo_neighbors(c, below(2), &ranks);

    assert_int_equal(n, 2 * ndims);
    for (int i = 0; i < ndims; i++) {
        MPI_Cart_shift(c->handle, i, 1, &from, &to);
        assert_int_equal(ranks[2 * i], from);
        assert_int_equal(ranks[2 * i + 1], to);
    }
}

static void test_grids(void **state)
{
    (void)state;
    for (int k = 0; k < JOB_TIMES(3000); k++) {
        int ndims = below(DIMS + 1), dims[DIMS], periods[DIMS], n = 1;
        for (int i = 0; i < ndims; i++) {
            dims[i] = 1 + below(WORLD / n > 5 ? 5 : WORLD / n);
            n *= dims[i];
            periods[i] = below(2);
        }
        int rank = below(n);
        struct ft_comm *c = grid(ndims, dims, periods, rank);
        check_grid(c, ndims, dims, periods, rank);
        check_neighbors(c, ndims);
        ft_comm_forget_handle(c);
    }
    mock_rt.nranks = 1;
    mock_rt.rank = 0;
}

/* ---- one rank, and the host's topologies of one rank ---- */

static void test_cart_of_one(void **state)
{
    int dims[] = {1, 1, 1}, periods[] = {1, 0, 1}, remain[] = {0, 1, 1}, n[2], v[2][9];
    MPI_Comm a, b, part[2];
    (void)state;

    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &a), MPI_SUCCESS);
    assert_int_equal(HOST(Cart_create)(MPI_COMM_SELF, 3, dims, periods, 1, &b), MPI_SUCCESS);
    for (int side = 0; side < 2; side++) {
        MPI_Comm c = side ? b : a;
        side ? HOST(Cartdim_get)(c, &n[1]) : MPI_Cartdim_get(c, &n[0]);
        side ? HOST(Cart_get)(c, 3, v[1], v[1] + 3, v[1] + 6)
             : MPI_Cart_get(c, 3, v[0], v[0] + 3, v[0] + 6);
        side ? HOST(Cart_sub)(c, remain, &part[1]) : MPI_Cart_sub(c, remain, &part[0]);
    }
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
    MPI_Cartdim_get(part[0], &n[0]);
    HOST(Cartdim_get)(part[1], &n[1]);
    assert_int_equal(n[0], n[1]);
    for (int d = 0; d < 3; d++)
        for (int disp = -2; disp <= 2; disp++) {
            MPI_Cart_shift(a, d, disp, &v[0][0], &v[0][1]);
            HOST(Cart_shift)(b, d, disp, &v[1][0], &v[1][1]);
            assert_memory_equal(v[0], v[1], 2 * sizeof(int));
        }
    /* A dup has the topology, too; a communicator without one reports so. */
    MPI_Comm dup;
    MPI_Comm_dup(a, &dup);
    MPI_Topo_test(dup, &n[0]);
    assert_int_equal(n[0], MPI_CART);
    MPI_Comm_free(&a);
    MPI_Cartdim_get(dup, &n[0]);
    assert_int_equal(n[0], 3);
    assert_int_equal(MPI_Graphdims_get(dup, &n[0], &n[1]), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&dup);
    MPI_Topo_test(MPI_COMM_WORLD, &n[0]);
    assert_int_equal(n[0], MPI_UNDEFINED);
    assert_int_equal(MPI_Cartdim_get(MPI_COMM_WORLD, &n[0]), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&part[0]);
    HOST(Comm_free)(&part[1]);
    HOST(Comm_free)(&b);
}

static void test_wrong_grids(void **state)
{
    int two[] = {2}, none[] = {0}, negative[] = {-1}, one[] = {1}, r;
    int huge[] = {65536, 65536, 65536};
    MPI_Comm a;
    (void)state;

    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 1, two, one, 0, &a), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 1, none, one, 0, &a), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 1, negative, one, 0, &a), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, -1, one, one, 0, &a), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 3, huge, huge, 0, &a), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_map(MPI_COMM_WORLD, 1, two, one, &r), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_map(MPI_COMM_WORLD, 1, one, one, &r), MPI_SUCCESS);
    assert_int_equal(r, 0);
    assert_int_equal(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &a), MPI_SUCCESS);
    assert_int_equal(MPI_Cart_shift(a, 0, 1, &r, &r), MPI_ERR_DIMS);
    assert_int_equal(MPI_Cart_rank(a, NULL, &r), MPI_SUCCESS);
    assert_int_equal(r, 0);
    assert_int_equal(MPI_Cart_coords(a, 1, 0, NULL), MPI_ERR_RANK);
    assert_int_equal(MPI_Cart_coords(a, 0, -1, NULL), MPI_ERR_ARG);
    MPI_Comm_free(&a);
}

/* ---- graphs ---- */

static void test_graphs(void **state)
{
    int index[] = {3}, edges[] = {0, 0, 0}, bad[] = {0, 1, 0}, n[2], v[4];
    MPI_Comm a;
    (void)state;

    assert_int_equal(MPI_Graph_create(MPI_COMM_WORLD, 1, index, bad, 0, &a), MPI_ERR_ARG);
    assert_int_equal(MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &a), MPI_ERR_ARG);
    assert_int_equal(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edges, 0, &a), MPI_ERR_ARG);
    assert_int_equal(MPI_Graph_create(MPI_COMM_WORLD, 0, index, edges, 0, &a), MPI_SUCCESS);
    assert_true(a == MPI_COMM_NULL);
    assert_int_equal(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &a), MPI_SUCCESS);
    MPI_Graphdims_get(a, &n[0], &n[1]);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 3);
    memset(v, 0x55, sizeof v);
    MPI_Graph_neighbors(a, 0, 2, v); /* fewer than there are */
    assert_true(v[0] == 0 && v[1] == 0 && v[2] == 0x55555555);
    MPI_Graph_neighbors_count(a, 0, &n[0]);
    assert_int_equal(n[0], 3);
    assert_int_equal(MPI_Graph_neighbors_count(a, 1, &n[0]), MPI_ERR_RANK);
    assert_int_equal(MPI_Graph_neighbors(a, 0, -1, v), MPI_ERR_ARG);
    MPI_Comm_free(&a);
}

static void test_dist_graphs(void **state)
{
    int to[] = {0, 0}, weights[] = {7, 9}, negative[] = {1, -1}, away[] = {0, 1}, degree[] = {2};
    int in[2], out[2], iw[2], ow[2], n[2], weighted, source[] = {0};
    MPI_Comm a;
    (void)state;

    assert_int_equal(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, to, weights, 2, to, negative,
                                                    MPI_INFO_NULL, 0, &a),
                     MPI_ERR_ARG);
    assert_int_equal(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, away, weights, 2, to,
                                                    weights, MPI_INFO_NULL, 0, &a),
                     MPI_ERR_ARG);
    for (int how = 0; how < 2; how++) {
        int code = how == 0 ? MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, to, weights, 2, to,
                                                             weights, MPI_INFO_NULL, 0, &a)
                            : MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, to, weights,
                                                    MPI_INFO_NULL, 0, &a);
        assert_int_equal(code, MPI_SUCCESS);
        MPI_Dist_graph_neighbors_count(a, &n[0], &n[1], &weighted);
        assert_true(n[0] == 2 && n[1] == 2 && weighted);
        MPI_Dist_graph_neighbors(a, 2, in, iw, 2, out, ow);
        assert_memory_equal(iw, weights, sizeof iw);
        assert_memory_equal(ow, weights, sizeof ow);
        assert_memory_equal(out, to, sizeof out);
        int got[2] = {0}, mine[] = {41};
        MPI_Neighbor_allgather(mine, 1, MPI_INT, got, 1, MPI_INT, a);
        assert_true(got[0] == 41 && got[1] == 41);
        MPI_Comm_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grids),       cmocka_unit_test(test_cart_of_one),
        cmocka_unit_test(test_wrong_grids), cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_dist_graphs),
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
