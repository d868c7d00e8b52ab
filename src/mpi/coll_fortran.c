/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_fortran.c - Fortran's MPI_Alltoallw. The host's Fortran layer turns as many of the types into C handles as the *host's*
 * communicator has members, and behind a handle of ours there is only one.
 */
#include "mpi/fortran.h"

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

FT_FORTRAN(alltoallw, (void *sendbuf, MPI_Fint *sendcounts, MPI_Fint *sdispls, MPI_Fint *sendtypes, void *recvbuf,
                       MPI_Fint *recvcounts, MPI_Fint *rdispls, MPI_Fint *recvtypes, MPI_Fint *comm, MPI_Fint *ierr))
{
    _Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts are handed on as they are");
    MPI_Comm handle = MPI_Comm_f2c(*comm);
    struct ft_comm *c = ft_comm_of(handle);

    if (!c) {
        HOST_FORTRAN(alltoallw)(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, ierr);
        return;
    }
    int n = c->ctx.size;
    void *send = address(sendbuf), *recv = address(recvbuf);
    MPI_Datatype *types = ft_scratch(FT_SCRATCH_COMM, 2 * (size_t)n * sizeof *types);
    const MPI_Datatype *from = send == MPI_IN_PLACE ? NULL : handles(sendtypes, n, types), *to = handles(recvtypes, n, types + n);
    int code = MPI_Alltoallw(send, sendcounts, sdispls, from, recv, recvcounts, rdispls, to, handle);
    if (ierr) /* optional in mpi_f08 */
        *ierr = code;
}
