/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_w.c - MPI_Alltoallw: a type for each peer, displacements in bytes. All data goes through
 * scratch memory.
 */
#include "mpi/coll_inter.h"

struct wside {
    char *buf;
    const int *counts, *displs;
    const MPI_Datatype *types;
};

static void *part_at(const struct wside *s, int i)
{
    return (void *)((uintptr_t)s->buf + (uintptr_t)(ptrdiff_t)s->displs[i]);
}

/* Computes lengths and offsets of the packed parts. Returns MPI_SUCCESS or an error class. */
static int lay_out(const struct wside *s, int n, size_t *offs, size_t *lens, size_t *sum)
{
    struct ft_type store;

    *sum = 0;
    for (int i = 0; i < n; i++) {
        const struct ft_type *t = ft_type_of(s->types[i], &store);
        if (!t)
            return MPI_ERR_TYPE;
        if (s->counts[i] < 0)
            return MPI_ERR_COUNT;
        offs[i] = *sum;
        lens[i] = (size_t)s->counts[i] * t->size;
        *sum += lens[i];
    }
    return MPI_SUCCESS;
}

static inline int alltoallw(struct ft_comm *c, const void *sendbuf, const int sendcounts[],
                            const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                            const int recvcounts[], const int rdispls[],
                            const MPI_Datatype recvtypes[], struct ft_sched *s, const char *call)
{
    struct ft_type store;
    int n = c->ctx.size;
    size_t bytes = (size_t)n * sizeof(size_t), ssum, rsum;
    size_t *soffs = ft_scratch(FT_SCRATCH_SOFFS, bytes),
           *slens = ft_scratch(FT_SCRATCH_SLENS, bytes);
    size_t *roffs = ft_scratch(FT_SCRATCH_ROFFS, bytes),
           *rlens = ft_scratch(FT_SCRATCH_RLENS, bytes);
    struct wside to = {recvbuf, recvcounts, rdispls, recvtypes};
    struct wside from = {(void *)(uintptr_t)sendbuf, sendcounts, sdispls, sendtypes};

    FT_CHECK(!c->inter || sendbuf != MPI_IN_PLACE, c->handle, MPI_ERR_BUFFER, call);
    if (sendbuf == MPI_IN_PLACE)
        from = to;
    int code = lay_out(&from, n, soffs, slens, &ssum);
    if (!code)
        code = lay_out(&to, n, roffs, rlens, &rsum);
    FT_CHECK(!code, c->handle, code, call);
    char *out = ft_stage_memory(s, FT_SCRATCH_SEND, ssum),
         *in = ft_stage_memory(s, FT_SCRATCH_RECV, rsum);
    for (int i = 0; i < n; i++)
        ft_stage_pack(s, ft_type_of(from.types[i], &store), part_at(&from, i),
                      (size_t)from.counts[i], out + soffs[i]);
    ft_coll_alltoallv(c, s, out, soffs, slens, in, roffs, rlens);
    ft_stage_arrived(s);
    for (int i = 0; i < n; i++)
        ft_stage_unpack(s, ft_type_of(recvtypes[i], &store), in + roffs[i], rlens[i],
                        part_at(&to, i));
    return MPI_SUCCESS;
}

FT_COLL_FORMS(Alltoallw, alltoallw, alltoallw,
              (const void *sendbuf, const int sendcounts[], const int sdispls[],
               const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
               const int rdispls[], const MPI_Datatype recvtypes[]),
              (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes))
