/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll.c - collectives that move data in equal or unequal parts (MPI-3.1, 5.3 to 5.8). MPI describes each side by counts,
 * displacements and a type; the engine wants offsets and lengths in bytes. `struct parts` is the step between.
 */
#include <string.h>

#include "mpi/mpi_internal.h"
#include "mpi/stage.h"

/* One buffer of n parts. counts NULL: each `count` elements, one after the other. */
struct parts {
    const struct ft_type *t;
    void *buf;
    int count;
    const int *counts, *displs;
};
/* The same for the engine; base is the buffer itself (contiguous types) or scratch memory with the parts packed one after the
 * other. */
struct layout {
    char *base;
    size_t *offs, *lens;
    int staged;
};

static int count_of(const struct parts *p, int i) { return p->counts ? p->counts[i] : p->count; }
static ptrdiff_t displ_of(const struct parts *p, int i) { return p->displs ? p->displs[i] : (ptrdiff_t)i * p->count; }
static void *part_at(const struct parts *p, int i)
{
    return (void *)((uintptr_t)p->buf + (uintptr_t)(displ_of(p, i) * p->t->extent));
}

static struct layout lay_out(const struct parts *p, int n, enum ft_scratch_use data, enum ft_scratch_use offs,
                             enum ft_scratch_use lens)
{
    struct layout l = {.offs = ft_scratch(offs, (size_t)n * sizeof(size_t)),
                       .lens = ft_scratch(lens, (size_t)n * sizeof(size_t))};
    ptrdiff_t lowest = 0;
    size_t sum = 0;

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
        l.base = ft_scratch(data, sum);
        return l;
    }
    for (int i = 0; i < n; i++)
        l.offs[i] = (size_t)((displ_of(p, i) - lowest) * p->t->extent);
    l.base = (char *)((uintptr_t)p->buf + (uintptr_t)(lowest * p->t->extent));
    return l;
}

static void pack_parts(const struct parts *p, const struct layout *l, int n)
{
    for (int i = 0; l->staged && i < n; i++)
        ft_pack(p->t, part_at(p, i), (size_t)count_of(p, i), l->base + l->offs[i]);
}

static void unpack_parts(const struct parts *p, const struct layout *l, int n)
{
    for (int i = 0; l->staged && i < n; i++)
        ft_unpack(p->t, l->base + l->offs[i], l->lens[i], part_at(p, i));
}

static struct layout lay_out_send(const struct parts *p, int n)
{
    struct layout l = lay_out(p, n, FT_SCRATCH_SEND, FT_SCRATCH_SOFFS, FT_SCRATCH_SLENS);
    pack_parts(p, &l, n);
    return l;
}

static struct layout lay_out_recv(const struct parts *p, int n)
{
    return lay_out(p, n, FT_SCRATCH_RECV, FT_SCRATCH_ROFFS, FT_SCRATCH_RLENS);
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

FT_MPI(int, Barrier, (MPI_Comm comm))
{
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Barrier, (comm));
    ft_barrier(&c->ctx);
    return MPI_SUCCESS;
}

FT_MPI(int, Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm))
{
    struct ft_type store;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Bcast, (buffer, count, type, root, comm));
    const struct ft_type *t = ft_type_of(type, &store);

    FT_CHECK((unsigned)root < (unsigned)c->ctx.size, comm, MPI_ERR_ROOT, "MPI_Bcast");
    FT_CHECK(count >= 0, comm, MPI_ERR_COUNT, "MPI_Bcast");
    FT_CHECK(t, comm, MPI_ERR_TYPE, "MPI_Bcast");
    size_t bytes = (size_t)count * t->size;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (root == c->ctx.rank) {
        ft_bcast(&c->ctx, (void *)ft_stage_out(t, buffer, (size_t)count, FT_SCRATCH_SEND), bytes, root);
    } else {
        void *data = ft_stage_in(t, buffer, (size_t)count, FT_SCRATCH_RECV);
        ft_bcast(&c->ctx, data, bytes, root);
        ft_stage_in_done(t, data, bytes, buffer);
    }
    return MPI_SUCCESS;
}

/* ---- gather, scatter ---- */
static int gather(struct ft_comm *c, const void *sendbuf, int sendcount, const struct ft_type *st, const struct parts *to,
                  int root, const char *call)
{
    int me = c->ctx.rank, n = c->ctx.size, in_place = sendbuf == MPI_IN_PLACE, code = MPI_SUCCESS;
    struct layout l = {0};

    FT_CHECK((unsigned)root < (unsigned)n, c->handle, MPI_ERR_ROOT, call);
    FT_CHECK(!in_place || me == root, c->handle, MPI_ERR_BUFFER, call);
    if (!in_place)
        code = !st ? MPI_ERR_TYPE : sendcount < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    if (!code && me == root)
        code = check_parts(to, n);
    FT_CHECK(!code, c->handle, code, call);
    if (me != root) {
        ft_gatherv(&c->ctx, ft_stage_out(st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND), (size_t)sendcount * st->size, NULL,
                   NULL, NULL, root);
        return MPI_SUCCESS;
    }
    l = lay_out_recv(to, n);
    const void *mine = l.base + l.offs[me];
    size_t bytes = l.lens[me];
    if (!in_place) {
        mine = ft_stage_out(st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
        bytes = (size_t)sendcount * st->size;
        FT_CHECK(bytes == l.lens[me], c->handle, MPI_ERR_TRUNCATE, call);
    } else if (l.staged) {
        ft_pack(to->t, part_at(to, me), (size_t)count_of(to, me), l.base + l.offs[me]);
    }
    ft_gatherv(&c->ctx, mine, bytes, l.base, l.offs, l.lens, root);
    unpack_parts(to, &l, n);
    return MPI_SUCCESS;
}

static int scatter(struct ft_comm *c, const struct parts *from, void *recvbuf, int recvcount, const struct ft_type *rt, int root,
                   const char *call)
{
    int me = c->ctx.rank, n = c->ctx.size, in_place = recvbuf == MPI_IN_PLACE, code = MPI_SUCCESS;
    struct layout l = {0};

    FT_CHECK((unsigned)root < (unsigned)n, c->handle, MPI_ERR_ROOT, call);
    FT_CHECK(!in_place || me == root, c->handle, MPI_ERR_BUFFER, call);
    if (!in_place)
        code = !rt ? MPI_ERR_TYPE : recvcount < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    if (!code && me == root)
        code = check_parts(from, n);
    FT_CHECK(!code, c->handle, code, call);
    size_t bytes = in_place ? 0 : (size_t)recvcount * rt->size;
    void *data = in_place ? NULL : ft_stage_in(rt, recvbuf, (size_t)recvcount, FT_SCRATCH_RECV);
    if (me == root) {
        l = lay_out_send(from, n);
        if (in_place) { /* its own part stays where it is */
            data = l.base + l.offs[me];
            bytes = l.lens[me];
        } else {
            FT_CHECK(bytes == l.lens[me], c->handle, MPI_ERR_TRUNCATE, call);
        }
    }
    ft_scatterv(&c->ctx, l.base, l.offs, l.lens, data, bytes, root);
    if (!in_place)
        ft_stage_in_done(rt, data, bytes, recvbuf);
    return MPI_SUCCESS;
}

FT_MPI(int, Gather,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
        MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Gather, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    struct parts to = {NULL, recvbuf, recvcount, NULL, NULL};
    to.t = root == c->ctx.rank ? ft_type_of(recvtype, &rstore) : NULL;
    return gather(c, sendbuf, sendcount, sendbuf == MPI_IN_PLACE ? NULL : ft_type_of(sendtype, &sstore), &to, root, "MPI_Gather");
}

FT_MPI(int, Gatherv,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
        MPI_Datatype recvtype, int root, MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Gatherv, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
    struct parts to = {NULL, recvbuf, 0, recvcounts, displs};
    to.t = root == c->ctx.rank ? ft_type_of(recvtype, &rstore) : NULL;
    return gather(c, sendbuf, sendcount, sendbuf == MPI_IN_PLACE ? NULL : ft_type_of(sendtype, &sstore), &to, root,
                  "MPI_Gatherv");
}

FT_MPI(int, Scatter,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
        MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Scatter, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    struct parts from = {NULL, (void *)sendbuf, sendcount, NULL, NULL};
    from.t = root == c->ctx.rank ? ft_type_of(sendtype, &sstore) : NULL;
    return scatter(c, &from, recvbuf, recvcount, recvbuf == MPI_IN_PLACE ? NULL : ft_type_of(recvtype, &rstore), root,
                   "MPI_Scatter");
}

FT_MPI(int, Scatterv,
       (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
        MPI_Datatype recvtype, int root, MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Scatterv, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
    struct parts from = {NULL, (void *)sendbuf, 0, sendcounts, displs};
    from.t = root == c->ctx.rank ? ft_type_of(sendtype, &sstore) : NULL;
    return scatter(c, &from, recvbuf, recvcount, recvbuf == MPI_IN_PLACE ? NULL : ft_type_of(recvtype, &rstore), root,
                   "MPI_Scatterv");
}

/* ---- allgather ---- */
static int allgather(struct ft_comm *c, const void *sendbuf, int sendcount, const struct ft_type *st, const struct parts *to,
                     const char *call)
{
    int me = c->ctx.rank, n = c->ctx.size, code = check_parts(to, n);
    const void *mine;

    if (!code && sendbuf != MPI_IN_PLACE)
        code = !st ? MPI_ERR_TYPE : sendcount < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    FT_CHECK(!code, c->handle, code, call);
    size_t bytes = sendbuf == MPI_IN_PLACE ? (size_t)count_of(to, me) * to->t->size : (size_t)sendcount * st->size;
    FT_CHECK(bytes == (size_t)count_of(to, me) * to->t->size, c->handle, MPI_ERR_TRUNCATE, call);
    if (sendbuf == MPI_IN_PLACE)
        mine = part_at(to, me);
    else
        mine = ft_stage_out(st, sendbuf, (size_t)sendcount, FT_SCRATCH_SEND);
    if (!to->counts && to->t->contiguous) {
        ft_allgather(&c->ctx, mine, to->buf, bytes);
        return MPI_SUCCESS;
    }
    struct layout l = lay_out_recv(to, n);
    if (sendbuf == MPI_IN_PLACE && l.staged) {
        ft_pack(to->t, mine, (size_t)count_of(to, me), l.base + l.offs[me]);
        mine = l.base + l.offs[me];
    }
    ft_allgatherv(&c->ctx, mine, bytes, l.base, l.offs, l.lens);
    unpack_parts(to, &l, n);
    return MPI_SUCCESS;
}

FT_MPI(int, Allgather,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
        MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Allgather, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, recvcount, NULL, NULL};
    return allgather(c, sendbuf, sendcount, sendbuf == MPI_IN_PLACE ? NULL : ft_type_of(sendtype, &sstore), &to, "MPI_Allgather");
}

FT_MPI(int, Allgatherv,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
        MPI_Datatype recvtype, MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Allgatherv, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, 0, recvcounts, displs};
    return allgather(c, sendbuf, sendcount, sendbuf == MPI_IN_PLACE ? NULL : ft_type_of(sendtype, &sstore), &to,
                     "MPI_Allgatherv");
}

/* ---- alltoall ---- */
/* In place: what is sent is a packed copy of what the receive buffer holds. */
static struct layout copy_of(const struct parts *p, int n)
{
    struct layout l = {.offs = ft_scratch(FT_SCRATCH_SOFFS, (size_t)n * sizeof(size_t)),
                       .lens = ft_scratch(FT_SCRATCH_SLENS, (size_t)n * sizeof(size_t))};
    size_t sum = 0;

    for (int i = 0; i < n; i++) {
        l.offs[i] = sum;
        l.lens[i] = (size_t)count_of(p, i) * p->t->size;
        sum += l.lens[i];
    }
    l.base = ft_scratch(FT_SCRATCH_SEND, sum);
    l.staged = 1;
    pack_parts(p, &l, n);
    return l;
}

static int alltoall(struct ft_comm *c, const struct parts *from, const struct parts *to, const char *call)
{
    int n = c->ctx.size, code = check_parts(to, n);

    if (!code && from)
        code = check_parts(from, n);
    FT_CHECK(!code, c->handle, code, call);
    struct layout out = from ? lay_out_send(from, n) : copy_of(to, n);
    struct layout in = lay_out_recv(to, n);
    ft_alltoallv(&c->ctx, out.base, out.offs, out.lens, in.base, in.offs, in.lens);
    unpack_parts(to, &in, n);
    return MPI_SUCCESS;
}

FT_MPI(int, Alltoall,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
        MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Alltoall, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
    int in_place = sendbuf == MPI_IN_PLACE;
    struct parts from = {in_place ? NULL : ft_type_of(sendtype, &sstore), (void *)sendbuf, sendcount, NULL, NULL};
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, recvcount, NULL, NULL};
    return alltoall(c, in_place ? NULL : &from, &to, "MPI_Alltoall");
}

FT_MPI(int, Alltoallv,
       (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
        const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
{
    struct ft_type sstore, rstore;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Alltoallv, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm));
    int in_place = sendbuf == MPI_IN_PLACE;
    struct parts from = {in_place ? NULL : ft_type_of(sendtype, &sstore), (void *)sendbuf, 0, sendcounts, sdispls};
    struct parts to = {ft_type_of(recvtype, &rstore), recvbuf, 0, recvcounts, rdispls};
    return alltoall(c, in_place ? NULL : &from, &to, "MPI_Alltoallv");
}
