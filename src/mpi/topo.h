/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topo.h - process topologies (MPI-3.1, chapter 7). The host would keep them on a communicator of
 * several processes, and behind a handle of ours there is one only, so they are kept here. Ranks
 * are never reordered.
 */
#ifndef FT_MPI_TOPO_H
#define FT_MPI_TOPO_H

#include "mpi/mpi_internal.h"

/* Shared by a communicator and its duplicates; never changed once made. */
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
        struct { /* mine only */
            int indegree, outdegree, weighted, *sources, *sweights, *dests, *dweights;
        } dist;
    };
    int data[]; /* what the pointers point to */
};

/* One of `ints` ints of data, with one reference; NULL when there is no memory. */
struct ft_topo *ft_topo_new(int kind, size_t ints);
struct ft_topo *ft_topo_keep(struct ft_topo *t); /* one reference more; of NULL: NULL */
void ft_topo_drop(struct ft_topo *t);            /* one less */

/* comm's rank that lies disp steps along dimension dim from `rank`, MPI_PROC_NULL beyond an edge.
 */
int ft_cart_step(const struct ft_topo *t, int rank, int dim, int64_t disp);

/* The neighbours of a rank in a graph: how many, and where they stand. */
int ft_graph_neighbors(const struct ft_topo *t, int rank, const int **edges);

/* The neighbours of this process, where edges come in or go out: how many, and ranks of c, in the
 * order of buffers; in a grid MPI_PROC_NULL beyond its edges. *ranks is valid until the next time.
 * Without a topology: none. */
int ft_topo_neighbors(const struct ft_comm *c, int incoming, const int **ranks);

/* The topology of comm, which must be one of that kind: for calls that no other communicator has.
 */
#define FT_TOPO_OR_HOST(c, kind_, comm, X, args)                                              \
    do {                                                                                      \
        FT_COMM_OR_HOST(c, comm, X, args);                                                    \
        FT_CHECK((c)->topo && (c)->topo->kind == (kind_), comm, MPI_ERR_TOPOLOGY, "MPI_" #X); \
    } while (0)

#endif
