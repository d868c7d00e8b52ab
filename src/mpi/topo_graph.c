/* SPDX-License-Identifier: BSD-3-Clause
 *
 * topo_graph.c - graphs that every process gives completely (MPI-3.1, 7.5.3), or of which each
 * gives a part (7.5.4).
 */
#include <string.h>

#include "mpi/comm_table.h"
#include "mpi/topo.h"

static void copy_ints(int *to, const int *from, int n)
{
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static int all_ranks(const int *ranks, int n, int size)
{
    for (int i = 0; i < n; i++)
        if ((unsigned)ranks[i] >= (unsigned)size)
            return 0;
    return 1;
}

/* ---- graphs ---- */
static int check_graph(const struct ft_comm *c, int nnodes, const int *index, const int *edges)
{
    if (nnodes < 0 || nnodes > c->ctx.size)
        return MPI_ERR_ARG;
    for (int i = 0; i < nnodes; i++)
        if (index[i] < (i ? index[i - 1] : 0))
            return MPI_ERR_ARG;
    return nnodes == 0 || all_ranks(edges, index[nnodes - 1], nnodes) ? MPI_SUCCESS : MPI_ERR_ARG;
}

FT_MPI(int, Graph_create,
       (MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder,
        MPI_Comm *comm_graph))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Graph_create, (comm, nnodes, index, edges, reorder, comm_graph));
    int code = check_graph(c, nnodes, index, edges);
    FT_CHECK(!code, comm, code, "MPI_Graph_create");

    uint32_t id = ft_comm_agree_context(&c->ctx);
    *comm_graph = MPI_COMM_NULL;
    if (c->ctx.rank >= nnodes)
        return MPI_SUCCESS;
    int nedges = index[nnodes - 1];
    struct ft_topo *t = ft_topo_new(MPI_GRAPH, (size_t)nnodes + (size_t)nedges);
    FT_CHECK(t, comm, MPI_ERR_NO_MEM, "MPI_Graph_create");
    t->graph.nnodes = nnodes;
    t->graph.nedges = nedges;
    t->graph.index = t->data;
    t->graph.edges = t->data + nnodes;
    copy_ints(t->graph.index, index, nnodes);
    copy_ints(t->graph.edges, edges, nedges);
    return ft_comm_create(c, id, &(struct ft_members){nnodes, c->ctx.world, 0, NULL}, t, comm_graph,
                          "MPI_Graph_create");
}

FT_MPI(int, Graph_map,
       (MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Graph_map, (comm, nnodes, index, edges, newrank));
    int code = check_graph(c, nnodes, index, edges);
    FT_CHECK(!code, comm, code, "MPI_Graph_map");
    *newrank = c->ctx.rank < nnodes ? c->ctx.rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

FT_MPI(int, Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_GRAPH, comm, Graphdims_get, (comm, nnodes, nedges));
    *nnodes = c->topo->graph.nnodes;
    *nedges = c->topo->graph.nedges;
    return MPI_SUCCESS;
}

static int least(int a, int b) { return a < b ? a : b; }

FT_MPI(int, Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_GRAPH, comm, Graph_get, (comm, maxindex, maxedges, index, edges));
    FT_CHECK(maxindex >= 0 && maxedges >= 0, comm, MPI_ERR_ARG, "MPI_Graph_get");
    copy_ints(index, c->topo->graph.index, least(maxindex, c->topo->graph.nnodes));
    copy_ints(edges, c->topo->graph.edges, least(maxedges, c->topo->graph.nedges));
    return MPI_SUCCESS;
}

int ft_graph_neighbors(const struct ft_topo *t, int rank, const int **edges)
{
    int from = rank ? t->graph.index[rank - 1] : 0;
    *edges = t->graph.edges + from;
    return t->graph.index[rank] - from;
}

FT_MPI(int, Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors))
{
    const int *edges;
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_GRAPH, comm, Graph_neighbors_count, (comm, rank, nneighbors));
    FT_CHECK((unsigned)rank < (unsigned)c->ctx.size, comm, MPI_ERR_RANK,
             "MPI_Graph_neighbors_count");
    *nneighbors = ft_graph_neighbors(c->topo, rank, &edges);
    return MPI_SUCCESS;
}

FT_MPI(int, Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
{
    const int *edges;
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_GRAPH, comm, Graph_neighbors, (comm, rank, maxneighbors, neighbors));
    FT_CHECK((unsigned)rank < (unsigned)c->ctx.size, comm, MPI_ERR_RANK, "MPI_Graph_neighbors");
    FT_CHECK(maxneighbors >= 0, comm, MPI_ERR_ARG, "MPI_Graph_neighbors");
    int n = ft_graph_neighbors(c->topo, rank, &edges);
    copy_ints(neighbors, edges, least(maxneighbors, n));
    return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */
static struct ft_topo *new_dist(int indegree, int outdegree, int weighted)
{
    struct ft_topo *t = ft_topo_new(MPI_DIST_GRAPH, 2 * ((size_t)indegree + (size_t)outdegree));

    if (t) {
        t->dist.indegree = indegree;
        t->dist.outdegree = outdegree;
        t->dist.weighted = weighted;
        t->dist.sources = t->data;
        t->dist.sweights = t->dist.sources + indegree;
        t->dist.dests = t->dist.sweights + indegree;
        t->dist.dweights = t->dist.dests + outdegree;
    }
    return t;
}

static struct ft_members members_of(const struct ft_comm *c)
{
    return (struct ft_members){c->ctx.size, c->ctx.world, 0, NULL};
}

static int bad_weights(const int *weights, int n)
{
    for (int i = 0; weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY && i < n; i++)
        if (weights[i] < 0)
            return 1;
    return 0;
}

FT_MPI(int, Dist_graph_create_adjacent,
       (MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
        const int dests[], const int destweights[], MPI_Info info, int reorder, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Dist_graph_create_adjacent,
                     (comm, indegree, sources, sourceweights, outdegree, dests, destweights, info,
                      reorder, newcomm));
    int ok = indegree >= 0 && outdegree >= 0 && all_ranks(sources, indegree, c->ctx.size) &&
             all_ranks(dests, outdegree, c->ctx.size) && !bad_weights(sourceweights, indegree) &&
             !bad_weights(destweights, outdegree) &&
             (sourceweights == MPI_UNWEIGHTED) == (destweights == MPI_UNWEIGHTED);
    FT_CHECK(ok, comm, MPI_ERR_ARG, "MPI_Dist_graph_create_adjacent");

    uint32_t id = ft_comm_agree_context(&c->ctx);
    struct ft_topo *t = new_dist(indegree, outdegree, sourceweights != MPI_UNWEIGHTED);
    FT_CHECK(t, comm, MPI_ERR_NO_MEM, "MPI_Dist_graph_create_adjacent");
    copy_ints(t->dist.sources, sources, indegree);
    copy_ints(t->dist.dests, dests, outdegree);
    if (t->dist.weighted) {
        copy_ints(t->dist.sweights, sourceweights, indegree);
        copy_ints(t->dist.dweights, destweights, outdegree);
    }
    struct ft_members m = members_of(c);
    return ft_comm_create(c, id, &m, t, newcomm, "MPI_Dist_graph_create_adjacent");
}

struct edge {
    int from, to, weight;
};

/* Collects all edges in scratch memory, in the order of the ranks that gave them, then in the order
 * in which they were given. Returns their number. */
static size_t gather_edges(const struct ft_ctx *x, const struct edge *mine, size_t n,
                           struct edge **out)
{
    size_t size = (size_t)x->size, sum = 0;
    size_t *lens = ft_scratch(FT_SCRATCH_RLENS, size * sizeof *lens),
           *offs = ft_scratch(FT_SCRATCH_ROFFS, size * sizeof *offs);
    size_t bytes = n * sizeof *mine;

    ft_allgather(x, &bytes, lens, sizeof bytes);
    for (size_t i = 0; i < size; i++) {
        offs[i] = sum;
        sum += lens[i];
    }
    *out = ft_scratch(FT_SCRATCH_RECV, sum);
    ft_allgatherv(x, mine, bytes, *out, offs, lens);
    return sum / sizeof *mine;
}

/* Selects the edges that begin or end at `me`. */
static struct ft_topo *select_edges(const struct edge *e, size_t n, int me, int weighted)
{
    int in = 0, out = 0;

    for (size_t i = 0; i < n; i++) {
        in += e[i].to == me;
        out += e[i].from == me;
    }
    struct ft_topo *t = new_dist(in, out, weighted);
    in = out = 0;
    for (size_t i = 0; t && i < n; i++) {
        if (e[i].to == me) {
            t->dist.sources[in] = e[i].from;
            t->dist.sweights[in++] = e[i].weight;
        }
        if (e[i].from == me) {
            t->dist.dests[out] = e[i].to;
            t->dist.dweights[out++] = e[i].weight;
        }
    }
    return t;
}

FT_MPI(int, Dist_graph_create,
       (MPI_Comm comm, int n, const int sources[], const int degrees[], const int targets[],
        const int weights[], MPI_Info info, int reorder, MPI_Comm *newcomm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_INTRA_OR_HOST(c, comm, Dist_graph_create,
                     (comm, n, sources, degrees, targets, weights, info, reorder, newcomm));
    int count = 0, size = c->ctx.size, weighted = weights != MPI_UNWEIGHTED;

    FT_CHECK(n >= 0 && all_ranks(sources, n, size), comm, MPI_ERR_ARG, "MPI_Dist_graph_create");
    for (int i = 0; i < n; i++) {
        FT_CHECK(degrees[i] >= 0, comm, MPI_ERR_ARG, "MPI_Dist_graph_create");
        count += degrees[i];
    }
    FT_CHECK(all_ranks(targets, count, size) && !bad_weights(weights, count), comm, MPI_ERR_ARG,
             "MPI_Dist_graph_create");
    struct edge *mine = ft_scratch(FT_SCRATCH_SEND, (size_t)count * sizeof *mine), *edges;
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++)
            mine[k] = (struct edge){sources[i], targets[k], weighted ? weights[k] : 0};
    size_t total = gather_edges(&c->ctx, mine, (size_t)count, &edges);
    uint32_t id = ft_comm_agree_context(&c->ctx);
    struct ft_topo *t = select_edges(edges, total, c->ctx.rank, weighted);
    FT_CHECK(t, comm, MPI_ERR_NO_MEM, "MPI_Dist_graph_create");
    struct ft_members m = members_of(c);
    return ft_comm_create(c, id, &m, t, newcomm, "MPI_Dist_graph_create");
}

FT_MPI(int, Dist_graph_neighbors_count,
       (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_DIST_GRAPH, comm, Dist_graph_neighbors_count,
                    (comm, indegree, outdegree, weighted));
    *indegree = c->topo->dist.indegree;
    *outdegree = c->topo->dist.outdegree;
    *weighted = c->topo->dist.weighted;
    return MPI_SUCCESS;
}

static void copy_weights(const struct ft_topo *t, int *to, const int *from, int n)
{
    if (t->dist.weighted && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY)
        copy_ints(to, from, n);
}

FT_MPI(int, Dist_graph_neighbors,
       (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
        int dests[], int destweights[]))
{
    struct ft_comm *c = ft_comm_of(comm);
    FT_TOPO_OR_HOST(c, MPI_DIST_GRAPH, comm, Dist_graph_neighbors,
                    (comm, maxindegree, sources, sourceweights, maxoutdegree, dests, destweights));
    const struct ft_topo *t = c->topo;
    FT_CHECK(maxindegree >= 0 && maxoutdegree >= 0, comm, MPI_ERR_ARG, "MPI_Dist_graph_neighbors");
    int in = least(maxindegree, t->dist.indegree), out = least(maxoutdegree, t->dist.outdegree);

    copy_ints(sources, t->dist.sources, in);
    copy_weights(t, sourceweights, t->dist.sweights, in);
    copy_ints(dests, t->dist.dests, out);
    copy_weights(t, destweights, t->dist.dweights, out);
    return MPI_SUCCESS;
}
