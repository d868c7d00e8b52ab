/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topo.h - process topologies (MPI-3.1, chapter 7). The host would keep them on a communicator of
 * several processes, but one of our handles stands for a communicator of one; so they are kept
 * here. Ranks are never reordered.
 */
#ifndef FT_MPI_TOPO_H
#define FT_MPI_TOPO_H

#include "mpi/mpi_internal.h"

/* Shared by a communicator and its duplicates; never changes. */
struct ft_topo {
    int refs, kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    union {
        struct {
            int ndims, *dims,
                *periods; /* [ndims]; the last dimension varies fastest with the rank */
        } cart;
        struct {
            int nnodes, nedges, *index, *edges; /* as given to MPI_Graph_create */
        } graph;
        struct { /* of this process only */
            int indegree, outdegree, weighted, *sources, *sweights, *dests, *dweights;
        } dist;
    };
    int data[]; /* what the pointers point to */
};

/* Makes a topology with `ints` ints of data and one reference; NULL when there is no memory. */
struct ft_topo *ft_topo_new(int kind, size_t ints);
struct ft_topo *ft_topo_keep(struct ft_topo *t); /* adds a reference; NULL stays NULL */
void ft_topo_drop(struct ft_topo *t);            /* drops a reference */

/* The rank of comm that lies disp steps along dimension dim from `rank`; MPI_PROC_NULL beyond an
 * edge. */
int ft_cart_step(const struct ft_topo *t, int rank, int dim, int64_t disp);

/* Returns the number of neighbours of a rank in a graph, and their list. */
int ft_graph_neighbors(const struct ft_topo *t, int rank, const int **edges);

/* Returns the number of neighbours of this process on incoming or outgoing edges, and their ranks
 * in c, in the order of buffers; in a grid MPI_PROC_NULL beyond its edges. *ranks is valid until
 * the next call. Without a topology there are none. */
int ft_topo_neighbors(const struct ft_comm *c, int incoming, const int **ranks);

/* The topology of comm, which must be of that kind: for calls that exist only for it. */
#define FT_TOPO_OR_HOST(c, kind_, comm, X, args)                                              \
    do {                                                                                      \
        FT_COMM_OR_HOST(c, comm, X, args);                                                    \
        FT_CHECK((c)->topo && (c)->topo->kind == (kind_), comm, MPI_ERR_TOPOLOGY, "MPI_" #X); \
    } while (0)

#endif
