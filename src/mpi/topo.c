/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topo.c - topologies in general, and Cartesian ones (MPI-3.1, 7.5.1, 7.5.4 to 7.5.8).
 */
#include "mpi/topo.h"

#include <string.h>

#include "base/offheap.h"
#include "mpi/comm_table.h"

struct ft_topo *ft_topo_new(int kind, size_t ints)
{
    size_t bytes = sizeof(struct ft_topo) + ints * sizeof(int);
    struct ft_topo *t = ft_offheap_try(bytes);

    if (t) {
        memset(t, 0, bytes);
        t->refs = 1;
        t->kind = kind;
    }
    return t;
}

struct ft_topo *ft_topo_keep(struct ft_topo *t)
{
    if (t)
        t->refs++;
    return t;
}

void ft_topo_drop(struct ft_topo *t)
{
    if (t && --t->refs == 0)
        ft_offheap_free(t);
}

int ft_topo_neighbors(const struct ft_comm *c, int incoming, const int **ranks)
{
    const struct ft_topo *t = c->topo;

    switch (t ? t->kind : MPI_UNDEFINED) {
    case MPI_CART: {
        int n = 2 * t->cart.ndims, *v = ft_scratch(FT_SCRATCH_SOFFS, (size_t)n * sizeof *v);
        for (int i = 0; i < n; i++)
            v[i] = ft_cart_step(t, c->ctx.rank, i / 2, i % 2 ? 1 : -1);
        *ranks = v;
        return n;
    }
    case MPI_GRAPH: return ft_graph_neighbors(t, c->ctx.rank, ranks);
    case MPI_DIST_GRAPH:
        *ranks = incoming ? t->dist.sources : t->dist.dests;
        return incoming ? t->dist.indegree : t->dist.outdegree;
    }
    return 0;
}

FT_MPI(int, Topo_test, (MPI_Comm comm, int *status))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Topo_test, (comm, status));
    *status = c->topo ? c->topo->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* ---- Cartesian ---- */
static struct ft_topo *new_cart(int ndims)
{
    struct ft_topo *t = ft_topo_new(MPI_CART, 2 * (size_t)ndims);

    if (t) {
        t->cart.ndims = ndims;
        t->cart.dims = t->data;
        t->cart.periods = t->data + ndims;
    }
    return t;
}

/* The number of processes in a grid; -1: the dimensions are invalid, or give more than `most`. */
static int grid_size(int ndims, const int *dims, int most)
{
    int64_t n = 1;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0 || n * dims[i] > most)
            return -1;
        n *= dims[i];
    }
    return (int)n;
}

static int stride_of(const struct ft_topo *t, int dim)
{
    int stride = 1;
    while (++dim < t->cart.ndims)
        stride *= t->cart.dims[dim];
    return stride;
}

static int coord_of(const struct ft_topo *t, int rank, int dim)
{
    return rank / stride_of(t, dim) % t->cart.dims[dim];
}

int ft_cart_step(const struct ft_topo *t, int rank, int dim, int64_t disp)
{
    int n = t->cart.dims[dim], from = coord_of(t, rank, dim);
    int64_t to = from + disp;

    if (t->cart.periods[dim])
        to = (to % n + n) % n;
    return to < 0 || to >= n ? MPI_PROC_NULL : rank + (int)(to - from) * stride_of(t, dim);
}

FT_MPI(int, Cart_create,
       (MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder,
        MPI_Comm *comm_cart))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Cart_create, (comm, ndims, dims, periods, reorder, comm_cart));
    FT_CHECK(ndims >= 0, comm, MPI_ERR_DIMS, "MPI_Cart_create");
    int n = grid_size(ndims, dims, c->ctx.size);
    FT_CHECK(n > 0, comm, MPI_ERR_DIMS, "MPI_Cart_create");

    uint32_t id = ft_comm_agree_context(&c->ctx);
    *comm_cart = MPI_COMM_NULL;
    if (c->ctx.rank >= n)
        return MPI_SUCCESS;
    struct ft_topo *t = new_cart(ndims);
    FT_CHECK(t, comm, MPI_ERR_NO_MEM, "MPI_Cart_create");
    for (int i = 0; i < ndims; i++) {
        t->cart.dims[i] = dims[i];
        t->cart.periods[i] = periods[i] != 0;
    }
    return ft_comm_create(c, id, &(struct ft_members){n, c->ctx.world, 0, NULL}, t, comm_cart,
                          "MPI_Cart_create");
}

FT_MPI(int, Cart_map,
       (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Cart_map, (comm, ndims, dims, periods, newrank));
    FT_CHECK(ndims >= 0, comm, MPI_ERR_DIMS, "MPI_Cart_map");
    int n = grid_size(ndims, dims, c->ctx.size);
    FT_CHECK(n > 0, comm, MPI_ERR_DIMS, "MPI_Cart_map");
    *newrank = c->ctx.rank < n ? c->ctx.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/* Whether two ranks differ only in dimensions that remain. */
static int in_one_part(const struct ft_topo *t, const int *remain, int a, int b)
{
    for (int i = 0; i < t->cart.ndims; i++)
        if (!remain[i] && coord_of(t, a, i) != coord_of(t, b, i))
            return 0;
    return 1;
}

/* Everybody knows the grid, so only the context must be agreed. Ranks of a part keep their
 * order. */
FT_MPI(int, Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cart_sub, (comm, remain_dims, newcomm));
    const struct ft_topo *t = c->topo;
    uint32_t id = ft_comm_agree_context(&c->ctx);
    int *world = ft_scratch(FT_SCRATCH_COMM, (size_t)c->ctx.size * sizeof *world), n = 0, kept = 0;

    for (int i = 0; i < c->ctx.size; i++)
        if (in_one_part(t, remain_dims, c->ctx.rank, i))
            world[n++] = c->ctx.world[i];
    for (int i = 0; i < t->cart.ndims; i++)
        kept += remain_dims[i] != 0;
    struct ft_topo *part = new_cart(kept);
    FT_CHECK(part, comm, MPI_ERR_NO_MEM, "MPI_Cart_sub");
    for (int i = 0, k = 0; i < t->cart.ndims; i++) {
        if (!remain_dims[i])
            continue;
        part->cart.dims[k] = t->cart.dims[i];
        part->cart.periods[k++] = t->cart.periods[i];
    }
    return ft_comm_create(c, id, &(struct ft_members){n, world, 0, NULL}, part, newcomm,
                          "MPI_Cart_sub");
}

FT_MPI(int, Cartdim_get, (MPI_Comm comm, int *ndims))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cartdim_get, (comm, ndims));
    *ndims = c->topo->cart.ndims;
    return MPI_SUCCESS;
}

FT_MPI(int, Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cart_get, (comm, maxdims, dims, periods, coords));
    const struct ft_topo *t = c->topo;
    FT_CHECK(maxdims >= 0, comm, MPI_ERR_ARG, "MPI_Cart_get");
    for (int i = 0; i < maxdims && i < t->cart.ndims; i++) {
        dims[i] = t->cart.dims[i];
        periods[i] = t->cart.periods[i];
        coords[i] = coord_of(t, c->ctx.rank, i);
    }
    return MPI_SUCCESS;
}

FT_MPI(int, Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cart_coords, (comm, rank, maxdims, coords));
    FT_CHECK((unsigned)rank < (unsigned)c->ctx.size, comm, MPI_ERR_RANK, "MPI_Cart_coords");
    FT_CHECK(maxdims >= 0, comm, MPI_ERR_ARG, "MPI_Cart_coords");
    for (int i = 0; i < maxdims && i < c->topo->cart.ndims; i++)
        coords[i] = coord_of(c->topo, rank, i);
    return MPI_SUCCESS;
}

FT_MPI(int, Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cart_rank, (comm, coords, rank));
    const struct ft_topo *t = c->topo;
    int sum = 0;

    for (int i = 0; i < t->cart.ndims;
         i++) { /* a step from rank 0 leads to the coordinate, and wraps around as needed */
        int part = ft_cart_step(t, 0, i, coords[i]);
        FT_CHECK(part != MPI_PROC_NULL, comm, MPI_ERR_ARG, "MPI_Cart_rank");
        sum += part;
    }
    *rank = sum;
    return MPI_SUCCESS;
}

FT_MPI(int, Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_CART, comm, Cart_shift, (comm, direction, disp, rank_source, rank_dest));
    FT_CHECK((unsigned)direction < (unsigned)c->topo->cart.ndims, comm, MPI_ERR_DIMS,
             "MPI_Cart_shift");
    *rank_source = ft_cart_step(c->topo, c->ctx.rank, direction, -(int64_t)disp);
    *rank_dest = ft_cart_step(c->topo, c->ctx.rank, direction, disp);
    return MPI_SUCCESS;
}
