/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_forms.h - makes another test's blocking collectives nonblocking ones that are waited for
 * (FORM 1), or persistent ones that are started once (FORM 2). Where the host has no persistent
 * ones, FORM 2 is FORM 1.
 */
#ifndef COLL_FORMS_H
#define COLL_FORMS_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#define MPI_Neighbor_allgather(...) FORMED(Ineighbor_allgather, Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) FORMED(Ineighbor_allgatherv, Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) FORMED(Ineighbor_alltoall, Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) FORMED(Ineighbor_alltoallv, Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) FORMED(Ineighbor_alltoallw, Neighbor_alltoallw, __VA_ARGS__)

#endif

static MPI_Request form_request;

static inline int form_wait(int code)
{
    return code == MPI_SUCCESS ? MPI_Wait(&form_request, MPI_STATUS_IGNORE) : code;
}

static inline int form_start(int code)
{
    static int calls;
    if (code == MPI_SUCCESS)
        code = calls++ % 2 ? MPI_Start(&form_request) : MPI_Startall(1, &form_request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&form_request, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS ? MPI_Request_free(&form_request) : code;
}

#if FORM == 2 && defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define FORMED(I, X, ...) form_start(MPIX_##X##_init(__VA_ARGS__, MPI_INFO_NULL, &form_request))
#else
#define FORMED(I, X, ...) form_wait(MPI_##I(__VA_ARGS__, &form_request))
#define MPI_Neighbor_allgather(...) FORMED(Ineighbor_allgather, Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) FORMED(Ineighbor_allgatherv, Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) FORMED(Ineighbor_alltoall, Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) FORMED(Ineighbor_alltoallv, Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) FORMED(Ineighbor_alltoallw, Neighbor_alltoallw, __VA_ARGS__)

#endif

#define MPI_Barrier(...) FORMED(Ibarrier, Barrier, __VA_ARGS__)
#define MPI_Bcast(...) FORMED(Ibcast, Bcast, __VA_ARGS__)
#define MPI_Gather(...) FORMED(Igather, Gather, __VA_ARGS__)
#define MPI_Gatherv(...) FORMED(Igatherv, Gatherv, __VA_ARGS__)
#define MPI_Scatter(...) FORMED(Iscatter, Scatter, __VA_ARGS__)
#define MPI_Scatterv(...) FORMED(Iscatterv, Scatterv, __VA_ARGS__)
#define MPI_Allgather(...) FORMED(Iallgather, Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) FORMED(Iallgatherv, Allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) FORMED(Ialltoall, Alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) FORMED(Ialltoallv, Alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) FORMED(Ialltoallw, Alltoallw, __VA_ARGS__)
#define MPI_Reduce(...) FORMED(Ireduce, Reduce, __VA_ARGS__)
#define MPI_Allreduce(...) FORMED(Iallreduce, Allreduce, __VA_ARGS__)
#define MPI_Scan(...) FORMED(Iscan, Scan, __VA_ARGS__)
#define MPI_Exscan(...) FORMED(Iexscan, Exscan, __VA_ARGS__)
#define MPI_Reduce_scatter(...) FORMED(Ireduce_scatter, Reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
    FORMED(Ireduce_scatter_block, Reduce_scatter_block, __VA_ARGS__)

#define MPI_Neighbor_allgather(...) FORMED(Ineighbor_allgather, Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) FORMED(Ineighbor_allgatherv, Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) FORMED(Ineighbor_alltoall, Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) FORMED(Ineighbor_alltoallv, Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) FORMED(Ineighbor_alltoallw, Neighbor_alltoallw, __VA_ARGS__)

#endif
