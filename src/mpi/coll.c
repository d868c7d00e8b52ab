/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll.c - collectives that move data in equal or unequal parts (MPI-3.1, 5.3 to 5.8). MPI
 * describes each side by counts, displacements and a type; the engine takes offsets and lengths in
 * bytes. `struct parts` connects the two. Each collective is written once for its three forms
 * (icoll.h).
 */
#include "coll/isched.h"
#include "mpi/coll_inter.h"

/* One buffer of n parts. counts NULL: `count` elements in each part, in sequence. */
struct parts {
    const struct ft_type *t;
    void *buf;
    int count;
    const int *counts, *displs;
};
/* The same for the engine. base is the buffer itself (contiguous types), or scratch memory that
 * holds the packed parts in sequence. */
struct layout {
    char *base;
    size_t *offs, *lens;
    int staged;
};

static int count_of(const struct parts *p, int i) { return p->counts ? p->counts[i] : p->count; }
static ptrdiff_t displ_of(const struct parts *p, int i)
{
    return p->displs ? p->displs[i] : (ptrdiff_t)i * p->count;
}
static void *part_at(const struct parts *p, int i)
{
    return (void *)((uintptr_t)p->buf + (uintptr_t)(displ_of(p, i) * p->t->extent));
}

static struct layout lay_out(struct ft_sched *s, const struct parts *p, int n,
                             enum ft_scratch_use data, enum ft_scratch_use offs,
                             enum ft_scratch_use lens)
{
    struct layout l = {.offs = ft_scratch(offs, ((size_t)n + 1) * sizeof(size_t)),
                       .lens = ft_scratch(lens, ((size_t)n + 1) * sizeof(size_t))};
    ptrdiff_t lowest = 0;
    size_t sum = 0;

    l.offs[n] = l.lens[n] = 0; /* the part of an intercommunicator's root (ft_coll_rooted) */
    l.staged = !p->t->contiguous;
    for (int i = 0; i < n; i++) {
        l.lens[i] = (size_t)count_of(p, i) * p->t->size;
        if (l.staged) {
            l.offs[i] = sum;
            sum += l.lens[i];
        } else if (displ_of(p, i) < lowest) {
            lowest = displ_of(p, i);
        }
    }
    if (l.staged) {
        l.base = ft_stage_memory(s, data, sum);
        return l;
    }
    for (int i = 0; i < n; i++)
        l.offs[i] = (size_t)((displ_of(p, i) - lowest) * p->t->extent);
    l.base = (char *)((uintptr_t)p->buf + (uintptr_t)(lowest * p->t->extent));
    return l;
}

static void pack_parts(struct ft_sched *s, const struct parts *p, const struct layout *l, int n)
{
    for (int i = 0; l->staged && i < n; i++)
        ft_stage_pack(s, p->t, part_at(p, i), (size_t)count_of(p, i), l->base + l->offs[i]);
}

static void unpack_parts(struct ft_sched *s, const struct parts *p, const struct layout *l, int n)
{
    if (l->staged)
        ft_stage_arrived(s);
    for (int i = 0; l->staged && i < n; i++)
        ft_stage_unpack(s, p->t, l->base + l->offs[i], l->lens[i], part_at(p, i));
}

static struct layout lay_out_send(struct ft_sched *s, const struct parts *p, int n)
{
    struct layout l = lay_out(s, p, n, FT_SCRATCH_SEND, FT_SCRATCH_SOFFS, FT_SCRATCH_SLENS);
    pack_parts(s, p, &l, n);
    return l;
}

static struct layout lay_out_recv(struct ft_sched *s, const struct parts *p, int n)
{
    return lay_out(s, p, n, FT_SCRATCH_RECV, FT_SCRATCH_ROFFS, FT_SCRATCH_RLENS);
}

static int check_parts(const struct parts *p, int n)
{
    if (!p->t)
        return MPI_ERR_TYPE;
    for (int i = 0; i < (p->counts ? n : 1); i++)
        if (count_of(p, i) < 0)
            return MPI_ERR_COUNT;
    return MPI_SUCCESS;
}

/* The type of one side of the call; NULL if the buffer is given in place. */
static const struct ft_type *type_of(const void *buf, MPI_Datatype type, struct ft_type *store)
{
    return buf == MPI_IN_PLACE ? NULL : ft_type_of(type, store);
}

FT_MPI(int, Barrier, (MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Barrier, (comm));
    ft_barrier(&c->all);
    return MPI_SUCCESS;
}

FT_MPI(int, Ibarrier, (MPI_Comm comm, MPI_Request *request))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Ibarrier, (comm, request));
    struct ft_request *q = ft_icoll_begin(c, "barrier", "MPI_Ibarrier");
    if (!q)
        return MPI_ERR_NO_MEM;
    ft_sched_barrier(q->sched, &c->all);
    return ft_icoll_commit(q, MPI_SUCCESS, 0, request);
}

#define BARRIER_INIT(name)                                                                  \
    FT_TAKE_OVER(int, name, P##name, (MPI_Comm comm, MPI_Info info, MPI_Request * request)) \
    {                                                                                       \
        struct ft_comm *c = ft_comm_of(comm);                                               \
        if (FT_UNLIKELY(!c))                                                                \
            return FT_HOST_CALL(P##name)(comm, info, request);                              \
        ft_door_unattended();                                                               \
        struct ft_request *q = ft_icoll_begin(c, "barrier", #name);                         \
        if (!q)                                                                             \
            return MPI_ERR_NO_MEM;                                                          \
        ft_sched_barrier(q->sched, &c->all);                                                \
        return ft_icoll_commit(q, MPI_SUCCESS, 1, request);                                 \
    }
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
BARRIER_INIT(MPIX_Barrier_init)
#endif
#ifdef FT_HOST_HAS_COLL_INIT
BARRIER_INIT(MPI_Barrier_init)
#endif

static inline int bcast(struct ft_comm *c, void *buffer, int count, MPI_Datatype type, int root,
                        struct ft_sched *s, const char *call)
{
    struct ft_type store;
    const struct ft_type *t = ft_type_of(type, &store);
    struct ft_rooted r;
    int code = ft_coll_rooted(c, root, &r);

    FT_CHECK(!code, c->handle, code, call);
    if (r.idle)
        return MPI_SUCCESS;
    FT_CHECK(count >= 0, c->handle, MPI_ERR_COUNT, call);
    FT_CHECK(t, c->handle, MPI_ERR_TYPE, call);
    size_t bytes = (size_t)count * t->size;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (r.root == r.x.rank) {
        const void *data = ft_stage_coll_out(s, t, buffer, (size_t)count, FT_SCRATCH_SEND);
        FT_ENGINE(s, bcast, &r.x, (void *)(uintptr_t)data, bytes, r.root);
    } else {
        void *data = ft_stage_coll_in(s, t, buffer, (size_t)count, FT_SCRATCH_RECV);
        FT_ENGINE(s, bcast, &r.x, data, bytes, r.root);
        ft_stage_coll_done(s, t, data, bytes, buffer);
    }
    return MPI_SUCCESS;
}

FT_COLL_FORMS(Bcast, bcast, bcast, (void *buffer, int count, MPI_Datatype type, int root),
              (buffer, count, type, root))

/* ---- gather, scatter ---- */
/* parts: of the side that is significant at the root only; own and count: of the other side. An
 * intercommunicator's root has no part of its own, which is handled like in place. */
static int check_rooted(const struct ft_comm *c, int root, const struct parts *parts,
                        const struct ft_type *own, int count, int *in_place, struct ft_rooted *r)
{
    int at_root = ft_coll_at_root(c, root), code = ft_coll_rooted(c, root, r);

    if (code || r->idle)
        return code;
    if (at_root && c->inter)
        *in_place = 1;
    if (*in_place && !at_root)
        return MPI_ERR_BUFFER;
    if (!*in_place && (!own || count < 0))
        return own ? MPI_ERR_COUNT : MPI_ERR_TYPE;
    return at_root ? check_parts(parts, c->ctx.size) : MPI_SUCCESS;
}

static int gather_parts(struct ft_comm *c, const void *sendbuf, int sendcount,
                        const struct ft_type *st, const struct parts *to, int root,
                        struct ft_sched *s, const char *call)
{
    int n = c->ctx.size, at_root = ft_coll_at_root(c, root), in_place = sendbuf == MPI_IN_PLACE;
    struct layout l = {0};
    struct ft_rooted r;
    int code = check_rooted(c, root, to, st, sendcount, &in_place, &r), me = r.x.rank;

    FT_CHECK(!code, c->handle, code, call);
    if (r.idle)
        return MPI_SUCCESS;
    if (!at_root) {
        const void *data = ft_stage_coll_out(s, st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
        FT_ENGINE(s, gatherv, &r.x, data, (size_t)sendcount * st->size, NULL, NULL, NULL, r.root);
        return MPI_SUCCESS;
    }
    l = lay_out_recv(s, to, n);
    const void *mine = l.base + l.offs[me];
    size_t bytes = l.lens[me];
    if (!in_place) {
        mine = ft_stage_coll_out(s, st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
        bytes = (size_t)sendcount * st->size;
        FT_CHECK(bytes == l.lens[me], c->handle, MPI_ERR_TRUNCATE, call);
    } else if (l.staged && !c->inter) {
        ft_stage_pack(s, to->t, part_at(to, me), (size_t)count_of(to, me), l.base + l.offs[me]);
    }
    FT_ENGINE(s, gatherv, &r.x, mine, bytes, l.base, l.offs, l.lens, r.root);
    unpack_parts(s, to, &l, n);
    return MPI_SUCCESS;
}

static int scatter_parts(struct ft_comm *c, const struct parts *from, void *recvbuf, int recvcount,
                         const struct ft_type *rt, int root, struct ft_sched *s, const char *call)
{
    int n = c->ctx.size, at_root = ft_coll_at_root(c, root), in_place = recvbuf == MPI_IN_PLACE;
    struct layout l = {0};
    struct ft_rooted r;
    int code = check_rooted(c, root, from, rt, recvcount, &in_place, &r), me = r.x.rank;

    FT_CHECK(!code, c->handle, code, call);
    if (r.idle)
        return MPI_SUCCESS;
    size_t bytes = in_place ? 0 : (size_t)recvcount * rt->size;
    void *data =
        in_place ? NULL : ft_stage_coll_in(s, rt, recvbuf, (size_t)recvcount, FT_SCRATCH_RECV);
    if (at_root) {
        l = lay_out_send(s, from, n);
        if (in_place) { /* its own part stays where it is */
            data = l.base + l.offs[me];
            bytes = l.lens[me];
        } else {
            FT_CHECK(bytes == l.lens[me], c->handle, MPI_ERR_TRUNCATE, call);
        }
    }
    FT_ENGINE(s, scatterv, &r.x, l.base, l.offs, l.lens, data, bytes, r.root);
    if (!in_place)
        ft_stage_coll_done(s, rt, data, bytes, recvbuf);
    return MPI_SUCCESS;
}

static inline int gather(struct ft_comm *c, const void *sendbuf, int sendcount,
                         MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                         int root, struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts to = {NULL, recvbuf, recvcount, NULL, NULL};
    to.t = ft_coll_at_root(c, root) ? ft_type_of(recvtype, &rstore) : NULL;
    return gather_parts(c, sendbuf, sendcount, type_of(sendbuf, sendtype, &sstore), &to, root, s,
                        call);
}

static inline int gatherv(struct ft_comm *c, const void *sendbuf, int sendcount,
                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                          const int displs[], MPI_Datatype recvtype, int root, struct ft_sched *s,
                          const char *call)
{
    struct ft_type sstore, rstore;
    struct parts to = {NULL, recvbuf, 0, recvcounts, displs};
    to.t = ft_coll_at_root(c, root) ? ft_type_of(recvtype, &rstore) : NULL;
    return gather_parts(c, sendbuf, sendcount, type_of(sendbuf, sendtype, &sstore), &to, root, s,
                        call);
}

static inline int scatter(struct ft_comm *c, const void *sendbuf, int sendcount,
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts from = {NULL, (void *)(uintptr_t)sendbuf, sendcount, NULL, NULL};
    from.t = ft_coll_at_root(c, root) ? ft_type_of(sendtype, &sstore) : NULL;
    return scatter_parts(c, &from, recvbuf, recvcount, type_of(recvbuf, recvtype, &rstore), root, s,
                         call);
}

static inline int scatterv(struct ft_comm *c, const void *sendbuf, const int sendcounts[],
                           const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, int root, struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts from = {NULL, (void *)(uintptr_t)sendbuf, 0, sendcounts, displs};
    from.t = ft_coll_at_root(c, root) ? ft_type_of(sendtype, &sstore) : NULL;
    return scatter_parts(c, &from, recvbuf, recvcount, type_of(recvbuf, recvtype, &rstore), root, s,
                         call);
}

FT_COLL_FORMS(Gather, gather, gather,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))

FT_COLL_FORMS(Gatherv, gatherv, gatherv,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root))

FT_COLL_FORMS(Scatter, scatter, scatter,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))

FT_COLL_FORMS(Scatterv, scatterv, scatterv,
              (const void *sendbuf, const int sendcounts[], const int displs[],
               MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
               int root),
              (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root))

/* ---- allgather ---- */
/* For an intercommunicator: each member sends the same to all of the other group. */
static int allgather_across(struct ft_comm *c, const void *sendbuf, int sendcount,
                            const struct ft_type *st, const struct parts *to, struct ft_sched *s)
{
    size_t n = (size_t)c->ctx.size, *offs = ft_scratch(FT_SCRATCH_SOFFS, n * sizeof *offs);
    size_t *lens = ft_scratch(FT_SCRATCH_SLENS, n * sizeof *lens);
    const void *mine = ft_stage_coll_out(s, st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
    struct layout in = lay_out_recv(s, to, c->ctx.size);

    for (size_t i = 0; i < n; i++) {
        offs[i] = 0;
        lens[i] = (size_t)sendcount * st->size;
    }
    ft_coll_alltoallv(c, s, mine, offs, lens, in.base, in.offs, in.lens);
    unpack_parts(s, to, &in, c->ctx.size);
    return MPI_SUCCESS;
}

static int allgather_parts(struct ft_comm *c, const void *sendbuf, int sendcount,
                           const struct ft_type *st, const struct parts *to, struct ft_sched *s,
                           const char *call)
{
    int me = c->ctx.rank, n = c->ctx.size, code = check_parts(to, n);
    const void *mine;

    if (!code && sendbuf != MPI_IN_PLACE)
        code = !st ? MPI_ERR_TYPE : sendcount < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    if (c->inter && sendbuf == MPI_IN_PLACE)
        code = MPI_ERR_BUFFER;
    FT_CHECK(!code, c->handle, code, call);
    if (c->inter)
        return allgather_across(c, sendbuf, sendcount, st, to, s);
    size_t bytes = sendbuf == MPI_IN_PLACE ? (size_t)count_of(to, me) * to->t->size
                                           : (size_t)sendcount * st->size;
    FT_CHECK(bytes == (size_t)count_of(to, me) * to->t->size, c->handle, MPI_ERR_TRUNCATE, call);
    if (sendbuf == MPI_IN_PLACE)
        mine = part_at(to, me);
    else
        mine = ft_stage_coll_out(s, st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
    if (!s && !to->counts && to->t->contiguous) {
        ft_allgather(&c->ctx, mine, to->buf, bytes);
        return MPI_SUCCESS;
    }
    struct layout l = lay_out_recv(s, to, n);
    if (sendbuf == MPI_IN_PLACE && l.staged) {
        ft_stage_pack(s, to->t, mine, (size_t)count_of(to, me), l.base + l.offs[me]);
        mine = l.base + l.offs[me];
    }
    FT_ENGINE(s, allgatherv, &c->ctx, mine, bytes, l.base, l.offs, l.lens);
    unpack_parts(s, to, &l, n);
    return MPI_SUCCESS;
}

static inline int allgather(struct ft_comm *c, const void *sendbuf, int sendcount,
                            MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, recvcount, NULL, NULL};
    return allgather_parts(c, sendbuf, sendcount, type_of(sendbuf, sendtype, &sstore), &to, s,
                           call);
}

static inline int allgatherv(struct ft_comm *c, const void *sendbuf, int sendcount,
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int displs[], MPI_Datatype recvtype, struct ft_sched *s,
                             const char *call)
{
    struct ft_type sstore, rstore;
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, 0, recvcounts, displs};
    return allgather_parts(c, sendbuf, sendcount, type_of(sendbuf, sendtype, &sstore), &to, s,
                           call);
}

FT_COLL_FORMS(Allgather, allgather, allgather,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FT_COLL_FORMS(Allgatherv, allgatherv, allgatherv,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype))

/* ---- alltoall ---- */
/* In place: a packed copy of the receive buffer is sent. */
static struct layout copy_of(struct ft_sched *s, const struct parts *p, int n)
{
    struct layout l = {.offs = ft_scratch(FT_SCRATCH_SOFFS, (size_t)n * sizeof(size_t)),
                       .lens = ft_scratch(FT_SCRATCH_SLENS, (size_t)n * sizeof(size_t))};
    size_t sum = 0;

    for (int i = 0; i < n; i++) {
        l.offs[i] = sum;
        l.lens[i] = (size_t)count_of(p, i) * p->t->size;
        sum += l.lens[i];
    }
    l.base = ft_stage_memory(s, FT_SCRATCH_SEND, sum);
    l.staged = 1;
    pack_parts(s, p, &l, n);
    return l;
}

static int alltoall_parts(struct ft_comm *c, const struct parts *from, const struct parts *to,
                          struct ft_sched *s, const char *call)
{
    int n = c->ctx.size, code = check_parts(to, n);

    if (!code && from)
        code = check_parts(from, n);
    if (c->inter && !from)
        code = MPI_ERR_BUFFER;
    FT_CHECK(!code, c->handle, code, call);
    struct layout out = from ? lay_out_send(s, from, n) : copy_of(s, to, n);
    struct layout in = lay_out_recv(s, to, n);
    ft_coll_alltoallv(c, s, out.base, out.offs, out.lens, in.base, in.offs, in.lens);
    unpack_parts(s, to, &in, n);
    return MPI_SUCCESS;
}

static inline int alltoall(struct ft_comm *c, const void *sendbuf, int sendcount,
                           MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts from = {type_of(sendbuf, sendtype, &sstore), (void *)(uintptr_t)sendbuf, sendcount,
                         NULL, NULL};
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, recvcount, NULL, NULL};
    return alltoall_parts(c, sendbuf == MPI_IN_PLACE ? NULL : &from, &to, s, call);
}

static inline int alltoallv(struct ft_comm *c, const void *sendbuf, const int sendcounts[],
                            const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            struct ft_sched *s, const char *call)
{
    struct ft_type sstore, rstore;
    struct parts from = {type_of(sendbuf, sendtype, &sstore), (void *)(uintptr_t)sendbuf, 0,
                         sendcounts, sdispls};
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, 0, recvcounts, rdispls};
    return alltoall_parts(c, sendbuf == MPI_IN_PLACE ? NULL : &from, &to, s, call);
}

FT_COLL_FORMS(Alltoall, alltoall, alltoall,
              (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype),
              (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FT_COLL_FORMS(Alltoallv, alltoallv, alltoallv,
              (const void *sendbuf, const int sendcounts[], const int sdispls[],
               MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
               MPI_Datatype recvtype),
              (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype))
