/* SPDX-License-Identifier: BSD-3-Clause
 *
 * file.c - MPI-IO is the host's. A file that one process opens for itself concerns nobody else; the handle of such a communicator
 * is a host communicator of this process alone, which is all that the host needs.
 */
#include "mpi/mpi_internal.h"

FT_MPI(int, File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
{
    struct ft_comm *c = ft_comm_of(comm);

    if (c && c->ctx.size > 1)
        ft_refuse("MPI_File_open on a communicator of several ranks");
    return HOST(File_open)(c && c == ft_comm_world ? MPI_COMM_SELF : comm, filename, amode, info, fh);
}
