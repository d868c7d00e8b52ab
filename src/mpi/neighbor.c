/* SPDX-License-Identifier: BSD-3-Clause
 *
 * neighbor.c - collectives among the neighbours of a topology (MPI-3.1, 7.6). All are one exchange:
 * a message for each edge, all in the first round of a schedule; a blocking one waits for it.
 *
 * There may be several edges between the same two processes. Their messages are matched in the
 * order of the edges in the two lists, except in a grid: there a message sent down arrives from
 * above. So the two messages of a dimension are sent in the opposite order of their receives. This
 * matters in a periodic dimension of one or two processes, where both neighbours are the same.
 */
#include "mpi/icoll.h"
#include "mpi/topo.h"

/* One side of the exchange: a part for each neighbour. */
struct side {
    void *buf;
    int count;
    MPI_Datatype type;
    int same;                   /* all parts equal the first: allgather sends it to all */
    const int *counts, *displs; /* for v: instead of count, in extents */
    const MPI_Aint *bytes;      /* for w: displacements in bytes */
    const MPI_Datatype *types;  /* for w: instead of type */
};

struct part {
    struct ft_type store;
    const struct ft_type *t;
    void *buf;
    size_t count;
};

/* Returns MPI_SUCCESS or an error class. */
static int part_of(const struct side *e, int i, struct part *p)
{
    int count = e->counts ? e->counts[i] : e->count;
    ptrdiff_t at = e->same ? 0 : e->displs ? e->displs[i] : (ptrdiff_t)i * e->count;

    p->t = ft_type_of(e->types ? e->types[i] : e->type, &p->store);
    if (!p->t || count < 0)
        return p->t ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    p->count = (size_t)count;
    p->buf = (void *)((uintptr_t)e->buf +
                      (uintptr_t)(e->bytes ? (ptrdiff_t)e->bytes[i] : at * p->t->extent));
    return MPI_SUCCESS;
}

static int check_side(const struct ft_comm *c, const struct side *e, int incoming)
{
    const int *ranks;
    int n = ft_topo_neighbors(c, incoming, &ranks),
        code = e->buf == MPI_IN_PLACE ? MPI_ERR_BUFFER : MPI_SUCCESS;
    struct part p;

    for (int i = 0; i < n && !code; i++)
        if (ranks[i] != MPI_PROC_NULL)
            code = part_of(e, i, &p);
    return code;
}

/* An empty part has no message: both ends know that. */
static int says(const struct part *p, int peer)
{
    return peer != MPI_PROC_NULL && p->count * p->t->size > 0;
}

static void add_sends(struct ft_comm *c, const struct side *from, struct ft_sched *s)
{
    const int *ranks;
    int n = ft_topo_neighbors(c, 0, &ranks), swap = c->topo->kind == MPI_CART;
    struct part p;

    for (int k = 0; k < n; k++) {
        int i = swap ? k ^ 1 : k;
        part_of(from, i, &p);
        if (says(&p, ranks[i]))
            ft_sched_send(s, c->ctx.world[ranks[i]],
                          ft_stage_coll_out(s, p.t, p.buf, p.count, FT_SCRATCH_SEND),
                          p.count * p.t->size);
    }
}

static void add_receives(struct ft_comm *c, const struct side *to, struct ft_sched *s)
{
    const int *ranks;
    int n = ft_topo_neighbors(c, 1, &ranks);
    void **data = ft_scratch(FT_SCRATCH_VIEW, (size_t)n * sizeof *data);
    struct part p;

    for (int i = 0; i < n; i++) {
        part_of(to, i, &p);
        if (!says(&p, ranks[i]))
            continue;
        data[i] = ft_stage_coll_in(s, p.t, p.buf, p.count, FT_SCRATCH_RECV);
        ft_sched_recv(s, c->ctx.world[ranks[i]], data[i], p.count * p.t->size);
    }
    ft_stage_arrived(s);
    for (int i = 0; i < n; i++) {
        part_of(to, i, &p);
        if (says(&p, ranks[i]) && !p.t->contiguous)
            ft_stage_unpack(s, p.t, data[i], p.count * p.t->size, p.buf);
    }
}

/* s NULL: does it at once. */
static int exchange(struct ft_comm *c, const struct side *from, const struct side *to,
                    struct ft_sched *s, const char *call)
{
    FT_CHECK(c->topo, c->handle, MPI_ERR_TOPOLOGY, call);
    int code = check_side(c, from, 0);
    if (!code)
        code = check_side(c, to, 1);
    FT_CHECK(!code, c->handle, code, call);
    if (s) {
        add_sends(c, from, s);
        add_receives(c, to, s);
        return MPI_SUCCESS;
    }
    MPI_Request request;
    struct ft_request *q = ft_icoll_begin(c, "neighbor", call);
    if (!q)
        return MPI_ERR_NO_MEM;
    exchange(c, from, to, q->sched, call);
    ft_icoll_commit(q, MPI_SUCCESS, 0, &request);
    ft_request_await(request);
    code = ft_request_complete(&request, MPI_STATUS_IGNORE, NULL);
    return code ? ft_error(c->handle, code, call) : MPI_SUCCESS;
}

static inline void *bare(const void *buf) { return (void *)(uintptr_t)buf; }

static inline int allgather(struct ft_comm *c, const void *sendbuf, int sendcount,
                            MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, struct ft_sched *s, const char *call)
{
    struct side from = {.buf = bare(sendbuf), .count = sendcount, .type = sendtype, .same = 1};
    struct side to = {.buf = recvbuf, .count = recvcount, .type = recvtype};
    return exchange(c, &from, &to, s, call);
}

static inline int allgatherv(struct ft_comm *c, const void *sendbuf, int sendcount,
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int displs[], MPI_Datatype recvtype, struct ft_sched *s,
                             const char *call)
{
    struct side from = {.buf = bare(sendbuf), .count = sendcount, .type = sendtype, .same = 1};
    struct side to = {.buf = recvbuf, .type = recvtype, .counts = recvcounts, .displs = displs};
    return exchange(c, &from, &to, s, call);
}

static inline int alltoall(struct ft_comm *c, const void *sendbuf, int sendcount,
                           MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, struct ft_sched *s, const char *call)
{
    struct side from = {.buf = bare(sendbuf), .count = sendcount, .type = sendtype};
    struct side to = {.buf = recvbuf, .count = recvcount, .type = recvtype};
    return exchange(c, &from, &to, s, call);
}

static inline int alltoallv(struct ft_comm *c, const void *sendbuf, const int sendcounts[],
                            const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            struct ft_sched *s, const char *call)
{
    struct side from = {
        .buf = bare(sendbuf), .type = sendtype, .counts = sendcounts, .displs = sdispls};
    struct side to = {.buf = recvbuf, .type = recvtype, .counts = recvcounts, .displs = rdispls};
    return exchange(c, &from, &to, s, call);
}

static inline int alltoallw(struct ft_comm *c, const void *sendbuf, const int sendcounts[],
                            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                            const int recvcounts[], const MPI_Aint rdispls[],
                            const MPI_Datatype recvtypes[], struct ft_sched *s, const char *call)
{
    struct side from = {
        .buf = bare(sendbuf), .counts = sendcounts, .bytes = sdispls, .types = sendtypes};
    struct side to = {.buf = recvbuf, .counts = recvcounts, .bytes = rdispls, .types = recvtypes};
    return exchange(c, &from, &to, s, call);
}

FT_COLL_FORMS(Neighbor_allgather, neighbor_allgather, allgather,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))
FT_COLL_FORMS(Neighbor_allgatherv, neighbor_allgatherv, allgatherv,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype))
FT_COLL_FORMS(Neighbor_alltoall, neighbor_alltoall, alltoall,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))
FT_COLL_FORMS(Neighbor_alltoallv, neighbor_alltoallv, alltoallv,
              (const void *sendbuf, const int sendcounts[], const int sdispls[],
               MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
               MPI_Datatype recvtype),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype))
FT_COLL_FORMS(Neighbor_alltoallw, neighbor_alltoallw, alltoallw,
              (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
               const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]),
              (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes))
