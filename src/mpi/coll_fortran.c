/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_fortran.c - Fortran's MPI_Alltoallw and MPI_Neighbor_alltoallw in all their forms. The
 * host's Fortran layer converts as many types to C handles as the *host's* communicator has
 * members, and the host's communicator of one of our handles has only one.
 */
#include "mpi/fortran.h"
#include "mpi/topo.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

/* Fortran's MPI_IN_PLACE and MPI_BOTTOM are the addresses of these. */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void *address(void *buf)
{
    if (buf == &mpi_fortran_in_place_)
        return MPI_IN_PLACE;
    return buf == &mpi_fortran_bottom_ ? MPI_BOTTOM : buf;
}

static const MPI_Datatype *handles(const MPI_Fint *types, int n, MPI_Datatype *out)
{
    for (int i = 0; i < n; i++)
        out[i] = MPI_Type_f2c(types[i]);
    return out;
}

/* The types of both sides as C handles in scratch memory, and the addresses as C has them. */
struct sides {
    MPI_Comm comm;
    void *send, *recv;
    const MPI_Datatype *from, *to;
};

/* Returns 0 if the communicator is the host's. */
static int sides_of(struct sides *s, int neighbors, MPI_Fint comm, void *sendbuf,
                    const MPI_Fint *sendtypes, void *recvbuf, const MPI_Fint *recvtypes)
{
    _Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts are handed on as they are");
    const int *ranks;
    *s = (struct sides){
        .comm = MPI_Comm_f2c(comm), .send = address(sendbuf), .recv = address(recvbuf)};
    struct ft_comm *c = ft_comm_of(s->comm);

    if (!c)
        return 0;
    int out = neighbors ? ft_topo_neighbors(c, 0, &ranks) : c->ctx.size;
    int in = neighbors ? ft_topo_neighbors(c, 1, &ranks) : c->ctx.size;
    MPI_Datatype *types = ft_scratch(FT_SCRATCH_COMM, (size_t)(out + in) * sizeof *types);
    s->from = s->send == MPI_IN_PLACE ? NULL : handles(sendtypes, out, types);
    s->to = handles(recvtypes, in, types + out);
    return 1;
}

/* ierr is optional in mpi_f08. */
static void tell(MPI_Fint *ierr, int code)
{
    if (ierr)
        *ierr = code;
}

static void tell_request(MPI_Fint *request, MPI_Fint *ierr, const MPI_Request *made, int code)
{
    if (code == MPI_SUCCESS)
        *request = MPI_Request_c2f(*made);
    tell(ierr, code);
}

/* displ: the type of displacements, in Fortran as in C. */
#define PARAMS(displ)                                                                        \
    void *sendbuf, MPI_Fint *sendcounts, displ *sdispls, MPI_Fint *sendtypes, void *recvbuf, \
        MPI_Fint *recvcounts, displ *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm
#define ARGS sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define SIDES(s, neighbors) sides_of(s, neighbors, *comm, sendbuf, sendtypes, recvbuf, recvtypes)
#define C_ARGS s.send, sendcounts, sdispls, s.from, s.recv, recvcounts, rdispls, s.to, s.comm

#define FORMS(X, x, displ, neighbors)                                      \
    FT_FORTRAN(x, (PARAMS(displ), MPI_Fint * ierr))                        \
    {                                                                      \
        struct sides s;                                                    \
        if (SIDES(&s, neighbors))                                          \
            tell(ierr, MPI_##X(C_ARGS));                                   \
        else                                                               \
            HOST_FORTRAN(x)(ARGS, ierr);                                   \
    }                                                                      \
    FT_FORTRAN(i##x, (PARAMS(displ), MPI_Fint * request, MPI_Fint * ierr)) \
    {                                                                      \
        struct sides s;                                                    \
        MPI_Request made;                                                  \
        if (SIDES(&s, neighbors))                                          \
            tell_request(request, ierr, &made, MPI_I##x(C_ARGS, &made));   \
        else                                                               \
            HOST_FORTRAN(i##x)(ARGS, request, ierr);                       \
    }

FORMS(Alltoallw, alltoallw, MPI_Fint, 0)
FORMS(Neighbor_alltoallw, neighbor_alltoallw, MPI_Aint, 1)

#define FORM_INIT(mpi, MPI, X, x, displ, neighbors)                                      \
    FT_FORTRAN_OF(mpi, x##_init,                                                         \
                  (PARAMS(displ), MPI_Fint * info, MPI_Fint * request, MPI_Fint * ierr)) \
    {                                                                                    \
        struct sides s;                                                                  \
        MPI_Request made;                                                                \
        if (SIDES(&s, neighbors))                                                        \
            tell_request(request, ierr, &made,                                           \
                         MPI##_##X##_init(C_ARGS, MPI_Info_f2c(*info), &made));          \
        else                                                                             \
            HOST_FORTRAN_OF(mpi, x##_init)(ARGS, info, request, ierr);                   \
    }
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
FORM_INIT(mpix, MPIX, Alltoallw, alltoallw, MPI_Fint, 0)
FORM_INIT(mpix, MPIX, Neighbor_alltoallw, neighbor_alltoallw, MPI_Aint, 1)
#endif
#ifdef FT_HOST_HAS_COLL_INIT
FORM_INIT(mpi, MPI, Alltoallw, alltoallw, MPI_Fint, 0)
FORM_INIT(mpi, MPI, Neighbor_alltoallw, neighbor_alltoallw, MPI_Aint, 1)
#endif
